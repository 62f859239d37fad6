//! Options that several commands share, as typed on the command line, and what they resolve to.

use super::CommandError;
use crate::check::{Target, catalogues};
use crate::drivers::tls::Trust;
use crate::fixtures::Fixtures;
use crate::plan::{Filter, Known, plan};
use crate::profile::Profile;
use crate::runner::settings::{Reach, Settings};
use crate::scenario::catalogue::Catalogue;
use crate::scenario::diagnostic::suggestion;
use crate::scenario::references;
use crate::target::{Address, Wire};
use clap::Args;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Which target, and how it is reached.
#[derive(Args, Clone, Debug, Default)]
pub struct TargetArgs {
    /// The target: http://, https://, grpc:// or grpcs://; a base path is kept. Repeatable; without it the built-in reference server is checked
    #[arg(long = "target", value_name = "URL", env = "PROOFMARK_TARGET", value_delimiter = ' ')]
    pub targets: Vec<String>,
    /// harness-runtime, model-runtime, agentsessions; found out by asking when not given
    #[arg(long, value_name = "NAME", env = "PROOFMARK_CONTRACT")]
    pub contract: Option<String>,
    /// Stimuli and facts of this target (TOML)
    #[arg(long, value_name = "FILE", env = "PROOFMARK_PROFILE")]
    pub profile: Option<PathBuf>,
    /// `K: V`, sent with every request; the value never appears in any output
    #[arg(long = "header", value_name = "K: V")]
    pub headers: Vec<String>,
    /// `K=VAR`: like --header, with the value of the environment variable VAR
    #[arg(long = "header-env", value_name = "K=VAR")]
    pub header_envs: Vec<String>,
    /// A root to believe besides the usual ones (PEM; several in one file are taken too)
    #[arg(long, value_name = "FILE", env = "PROOFMARK_CA_CERT")]
    pub ca_cert: Option<PathBuf>,
    /// Believe any certificate
    #[arg(long, conflicts_with = "ca_cert")]
    pub insecure: bool,
    /// Speak HTTP/2 over plain TCP from the first byte on (h2c); over TLS HTTP/2 is chosen by ALPN without it
    #[arg(long)]
    pub http2_prior_knowledge: bool,
    /// Bound of one wait
    #[arg(long, value_name = "D", default_value = "10s", value_parser = duration, env = "PROOFMARK_TIMEOUT")]
    pub timeout: Duration,
    /// Wait so long until the target answers
    #[arg(long, value_name = "D", default_value = "10s", value_parser = duration, env = "PROOFMARK_WAIT_READY")]
    pub wait_ready: Duration,
    /// Fixtures from this folder instead of the embedded ones
    #[arg(long, value_name = "DIR", env = "PROOFMARK_FIXTURES")]
    pub fixtures: Option<PathBuf>,
}

/// How much at once, and for how long.
#[derive(Args, Clone, Debug)]
pub struct PaceArgs {
    /// Scenarios at once
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = at_least_one, env = "PROOFMARK_JOBS")]
    pub jobs: usize,
    /// Executions of the kit alive on the target at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = at_least_one, env = "PROOFMARK_IN_FLIGHT")]
    pub in_flight: usize,
    /// Bound of the whole run
    #[arg(long, value_name = "D", default_value = "10m", value_parser = duration, env = "PROOFMARK_DEADLINE")]
    pub deadline: Duration,
    /// Order, jitter and generated data; from the clock when not given
    #[arg(long, value_name = "N", env = "PROOFMARK_SEED")]
    pub seed: Option<u64>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least 1".to_owned()),
        Ok(n) => Ok(n),
        Err(_) => Err("a whole number is expected".to_owned()),
    }
}

/// `500ms`, `10s`, `2m`, `1h`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let parsed = text.parse::<jiff::SignedDuration>().map_err(|_| "a duration is expected, such as 500ms, 10s or 2m".to_owned())?;
    let duration = Duration::try_from(parsed).map_err(|_| "a duration cannot be negative".to_owned())?;
    if duration.is_zero() { Err("a duration must be longer than nothing".to_owned()) } else { Ok(duration) }
}

/// The fixtures and what they say, read before anything is sent.
pub struct Loaded {
    pub fixtures: Fixtures,
    pub catalogues: BTreeMap<String, Arc<Catalogue>>,
}

impl TargetArgs {
    pub fn load(&self) -> Result<Loaded, CommandError> {
        let fixtures = match &self.fixtures {
            Some(dir) => Fixtures::from_dir(dir)?,
            None => Fixtures::embedded(),
        };
        let catalogues = catalogues(&fixtures)?;
        if catalogues.is_empty() {
            let dir = self.fixtures.clone().unwrap_or_default();
            let message = format!("{} holds no contract", dir.display());
            return Err(CommandError::usage(message, Some("each contract is a folder with a requirements.yaml".to_owned())));
        }
        Ok(Loaded { fixtures, catalogues })
    }

    pub fn settings(&self, pace: &PaceArgs) -> Result<Settings, CommandError> {
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| u64::from(d.subsec_nanos()) ^ d.as_secs());
        Ok(Settings {
            jobs: pace.jobs,
            in_flight: pace.in_flight,
            timeout: self.timeout,
            deadline: pace.deadline,
            wait_ready: self.wait_ready,
            seed: pace.seed.unwrap_or_else(|| clock() % 1_000_000),
            headers: self.credentials()?,
            reach: self.reach()?,
            ..Settings::default()
        })
    }

    fn reach(&self) -> Result<Reach, CommandError> {
        let trust = match &self.ca_cert {
            _ if self.insecure => Trust::Anyone,
            None => Trust::WebPki,
            Some(path) => {
                let pem = fs::read(path).map_err(|problem| CommandError::Read { path: path.clone(), problem })?;
                Trust::from_pem(&pem).map_err(|error| {
                    let hint = "a root certificate in PEM begins with -----BEGIN CERTIFICATE-----".to_owned();
                    CommandError::usage(format!("--ca-cert {}: {error}", path.display()), Some(hint))
                })?
            }
        };
        Ok(Reach { trust, prior_knowledge: self.http2_prior_knowledge })
    }

    fn credentials(&self) -> Result<Vec<(String, String)>, CommandError> {
        let mut headers = Vec::new();
        for text in &self.headers {
            let Some((name, value)) = text.split_once(':') else {
                return Err(CommandError::usage(
                    "--header needs a name and a value",
                    Some("--header 'authorization: Bearer ...'".to_owned()),
                ));
            };
            headers.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        for text in &self.header_envs {
            let Some((name, variable)) = text.split_once('=') else {
                let hint = Some("--header-env authorization=MY_TOKEN".to_owned());
                return Err(CommandError::usage("--header-env needs a name and a variable", hint));
            };
            let value = std::env::var(variable)
                .map_err(|_| CommandError::usage(format!("--header-env: the environment has no variable {variable}"), None))?;
            headers.push((name.trim().to_owned(), value));
        }
        for (name, value) in &headers {
            let valid = http::HeaderName::from_bytes(name.as_bytes()).is_ok() && http::HeaderValue::from_str(value).is_ok();
            if !valid {
                return Err(CommandError::usage(format!("`{name}` with this value cannot be sent as a header"), None));
            }
        }
        Ok(headers)
    }

    /// The targets that were named, each with its contract and profile as far as they are given.
    pub fn targets(&self, loaded: &Loaded) -> Result<Vec<Target>, CommandError> {
        if let Some(contract) = self.contract.as_ref().filter(|name| !loaded.catalogues.contains_key(*name)) {
            let hint = suggestion(contract, loaded.catalogues.keys().map(String::as_str));
            return Err(CommandError::usage(format!("there is no contract `{contract}`"), hint));
        }
        if let Some(profile) = self.profile.as_ref().filter(|_| self.targets.is_empty()) {
            let message = format!("--profile {} is for a target, and none is named", profile.display());
            return Err(CommandError::usage(
                message,
                Some("--target http://127.0.0.1:4310; the built-in server has its own profile".to_owned()),
            ));
        }
        let profile = self.read_profile(loaded)?;
        let contract = self.contract.clone().or_else(|| profile.as_ref().map(|p| p.contract.clone()));
        self.targets
            .iter()
            .map(|text| {
                let address = Address::parse(text)?;
                let wrong = contract
                    .as_ref()
                    .and_then(|name| loaded.catalogues.get(name))
                    .filter(|catalogue| catalogue.operations.grpc != (address.wire == Wire::Grpc));
                if let Some(catalogue) = wrong {
                    let message = format!("{} does not run over the wire of {}", catalogue.contract, address.base);
                    return Err(CommandError::usage(
                        message,
                        Some("HTTP contracts take http:// or https://, gRPC ones grpc:// or grpcs://".to_owned()),
                    ));
                }
                let name = address.base.clone();
                Ok(Target { address, name, contract: contract.clone(), profile: profile.clone() })
            })
            .collect()
    }

    fn read_profile(&self, loaded: &Loaded) -> Result<Option<Profile>, CommandError> {
        let Some(path) = &self.profile else { return Ok(None) };
        let text = fs::read_to_string(path).map_err(|problem| CommandError::Read { path: path.clone(), problem })?;
        read_profile(&text, &path.display().to_string(), loaded, self.contract.as_deref()).map(Some)
    }
}

/// Reads a profile against the stimuli of its contract.
pub fn read_profile(text: &str, file: &str, loaded: &Loaded, wanted: Option<&str>) -> Result<Profile, CommandError> {
    let (contract, at) = Profile::contract_of(text, file)?;
    if let Some(wanted) = wanted.filter(|wanted| *wanted != contract) {
        return Err(CommandError::usage(format!("{file} is a profile for {contract}, not for {wanted}"), None));
    }
    let Some(catalogue) = loaded.catalogues.get(&contract) else {
        let known = loaded.catalogues.keys().map(String::as_str);
        return Err(references::unknown(&at, "contract", &contract, known).with_source(text).into());
    };
    Ok(Profile::read(text, file, &catalogue.stimuli)?)
}

/// Filters, each of which must match something in the fixtures.
pub fn filters(texts: &[String], loaded: &Loaded) -> Result<Vec<Filter>, CommandError> {
    let filters: Vec<Filter> = texts.iter().map(|text| Filter::new(text)).collect();
    for filter in &filters {
        let matches = |catalogue: &Arc<Catalogue>| !plan(catalogue, std::slice::from_ref(filter), &Known::default()).is_empty();
        if !loaded.catalogues.values().any(matches) {
            return Err(matches_nothing(filter.text(), loaded));
        }
    }
    Ok(filters)
}

fn matches_nothing(filter: &str, loaded: &Loaded) -> CommandError {
    let message = format!("the filter `{filter}` matches nothing");
    if loaded.catalogues.values().any(|catalogue| catalogue.requirement(filter).is_some()) {
        let hint = format!("no scenario checks {filter} by itself; `proofmark explain {filter}` says how it is seen");
        return CommandError::usage(message, Some(hint));
    }
    let mut known: Vec<String> = Vec::new();
    for catalogue in loaded.catalogues.values() {
        known.extend(catalogue.requirements.iter().map(|r| r.id.clone()));
        for case in plan(catalogue, &[], &Known::default()) {
            known.push(case.path.to_string());
            known.extend(case.path.match_indices('/').map(|(at, _)| case.path[..at].to_owned()));
        }
    }
    let hint = suggestion(filter, known.iter().map(String::as_str));
    let hint = hint.or_else(|| Some("`proofmark list` shows the paths; `**` stands for any number of parts".to_owned()));
    CommandError::usage(message, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Ok(Duration::from_mins(2)));
        assert!(duration("ten").is_err());
        assert!(duration("0s").is_err());
        assert!(duration("-1s").is_err());
    }
}
