//! Why a store cannot be used: where, what, and how to mend it.

use std::path::PathBuf;

/// Why a store was not opened. Whatever lies in its folder was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the folder {} cannot be used as a store: {problem}", path.display())]
    Folder { path: PathBuf, problem: std::io::Error },
    #[error("the store {} is open in another process", path.display())]
    InUse { path: PathBuf },
    /// Another program's file, under our name.
    #[error("{} is not a store of this server: {what}", path.display())]
    Foreign { path: PathBuf, what: String },
    #[error("the store {} was written by a newer version of this program: its form is {found}, and this version knows {known}", path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("the store {} is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("the store {} cannot be opened: {problem}", path.display())]
    Unusable { path: PathBuf, problem: String },
}

impl StoreError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Folder { .. } => "give a folder that can be written, or one that can be made",
            Self::InUse { .. } => "stop the other server, or give this one a folder of its own",
            Self::Foreign { .. } => "give another folder, or move the file away; it was not touched",
            Self::Newer { .. } => "use the newer version, or give another folder; the store was not touched",
            Self::Damaged { .. } => {
                "put back a copy of the folder, or move the folder away to begin with an empty store; nothing was changed"
            }
            Self::Unusable { .. } => "see that the folder and its files can be read and written, and that the disk has room",
        }
    }
}
