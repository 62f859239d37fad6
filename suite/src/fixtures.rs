//! The fixture files as text, embedded or from a folder. Owns no meaning.

use crate::scenario::diagnostic::Diagnostic;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/fixtures.rs"));

/// Text by path below the fixtures folder, `/` between parts.
#[derive(Clone, Debug, Default)]
pub struct Fixtures {
    files: BTreeMap<String, String>,
}

#[derive(Debug, thiserror::Error)]
#[error("the fixtures in {} cannot be read: {problem}", path.display())]
pub struct FixturesError {
    pub path: PathBuf,
    pub problem: io::Error,
}

impl Fixtures {
    pub fn embedded() -> Self {
        Self { files: EMBEDDED.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect() }
    }

    /// Every `*.yaml` and `*.toml` below `dir`.
    pub fn from_dir(dir: &Path) -> Result<Self, FixturesError> {
        let mut fixtures = Self::default();
        fixtures.collect(dir, dir)?;
        Ok(fixtures)
    }

    pub fn from_texts<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self { files: files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect() }
    }

    fn collect(&mut self, root: &Path, dir: &Path) -> Result<(), FixturesError> {
        let failed = |problem| FixturesError { path: dir.to_owned(), problem };
        for entry in fs::read_dir(dir).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                self.collect(root, &path)?;
            } else if path.extension().is_some_and(|e| e == "yaml" || e == "toml") {
                let text = fs::read_to_string(&path).map_err(|problem| FixturesError { path: path.clone(), problem })?;
                let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                self.files.insert(name, text);
            }
        }
        Ok(())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// Attaches the text that the place of a mistake lies in, so that it can be shown.
    pub fn with_source(&self, error: Box<Diagnostic>) -> Box<Diagnostic> {
        match self.get(&error.place.file) {
            Some(text) => error.with_source(text),
            None => error,
        }
    }

    /// Folders that hold a `requirements.yaml`: the contracts.
    pub fn contracts(&self) -> Vec<&str> {
        self.files.keys().filter_map(|name| name.strip_suffix("/requirements.yaml")).collect()
    }

    /// The files of one contract, name without folder.
    pub fn of_contract<'a>(&'a self, contract: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files.iter().filter_map(move |(name, text)| {
            let file = name.strip_prefix(contract)?.strip_prefix('/')?;
            Some((file, text.as_str()))
        })
    }
}
