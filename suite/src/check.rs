//! One target, from its address to its part of the report: recognise, discover, plan, run, judge.

use crate::contracts;
use crate::drivers::http::{HttpDriver, SetupError};
use crate::fixtures::Fixtures;
use crate::judge::fold::{Seen, fold};
use crate::judge::shapes;
use crate::judge::transcript::Transcripts;
use crate::plan::{Case, Filter, Known, inapplicable, missing_stimuli, plan};
use crate::profile::Profile;
use crate::recorder::Recorder;
use crate::runner::run::{self, Progress, Ran};
use crate::runner::session::Session;
use crate::runner::settings::Settings;
use crate::scenario::catalogue::Catalogue;
use crate::scenario::fields::Result as FixtureResult;
use crate::target::{self, Address, Recognised, Wire};
use crate::transcript::Exchange;
use proofmark_reports::model::{Abort, TargetReport};
use proofmark_reports::summary;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is to be checked.
#[derive(Clone, Debug)]
pub struct Target {
    pub address: Address,
    /// How the report names it.
    pub name: String,
    /// Given instead of found out.
    pub contract: Option<String>,
    pub profile: Option<Profile>,
}

/// Every contract of the fixtures, read and checked.
pub fn catalogues(fixtures: &Fixtures) -> FixtureResult<BTreeMap<String, Arc<Catalogue>>> {
    let load = |name: &str| {
        let catalogue = Catalogue::load(fixtures, name)?;
        contracts::check_monitors(&catalogue).map_err(|error| fixtures.with_source(error))?;
        Ok((name.to_owned(), Arc::new(catalogue)))
    };
    fixtures.contracts().into_iter().map(load).collect()
}

/// A checked target with the values that must not be shown.
pub struct Checked {
    pub report: TargetReport,
    pub secrets: Vec<String>,
}

/// Checks one target. What it does or does not do is in the report; an error is the kit's own.
pub async fn check(
    catalogues: &BTreeMap<String, Arc<Catalogue>>,
    target: &Target,
    settings: &Settings,
    filters: &[Filter],
    show_wire: bool,
    progress: &dyn Progress,
) -> Result<Checked, SetupError> {
    let ready = match prepare(catalogues, target, settings, filters).await? {
        Ok(ready) => ready,
        Err(unseen) => return Ok(*unseen),
    };
    let ran = run::run(&ready.session, &ready.cases, progress).await;
    Ok(ready.judge(&ready.cases, &ran, show_wire))
}

/// A target that was recognised, asked what it is, and planned for.
pub struct Ready {
    pub session: Arc<Session>,
    pub cases: Vec<Case>,
    /// Rules that speak of nothing the target has, with the reason.
    inapplicable: BTreeMap<String, String>,
    report: TargetReport,
    /// No filter left anything out.
    whole: bool,
}

/// Everything up to the run. The inner error is the report of a target that cannot be judged.
pub async fn prepare(
    catalogues: &BTreeMap<String, Arc<Catalogue>>,
    target: &Target,
    settings: &Settings,
    filters: &[Filter],
) -> Result<Result<Ready, Box<Checked>>, SetupError> {
    let mut settings = settings.clone();
    settings.headers.extend(target.address.credentials.iter().map(|value| ("authorization".to_owned(), value.clone())));
    let (session, recognised) = open(catalogues, target, &settings).await?;
    let contract = session.catalogue.contract.clone();
    let mut report = empty(target, &contract);
    let described = match &recognised {
        Recognised::Yes(body) => body.clone(),
        _ if target.contract.is_some() && matches!(recognised, Recognised::No(_)) => Value::Null,
        other => {
            report.aborted = target::abort(other, target.contract.is_some().then_some(&*session.catalogue));
            report.contract = target.contract.clone().unwrap_or_default();
            return Ok(Err(Box::new(Checked { report, secrets: contracts::secrets(&[], &settings.headers) })));
        }
    };
    report.description = contracts::description(&described);
    let profile = target.profile.clone().unwrap_or_default();
    let known = contracts::discover(&session, &profile, &described).await;
    let cases = plan(&session.catalogue, filters, &known);
    let inapplicable = inapplicable(&session.catalogue, &known);
    let session = equipped(session, &known, &profile);
    Ok(Ok(Ready { session, cases, inapplicable, report, whole: filters.is_empty() }))
}

impl Ready {
    /// Judges all that was sent.
    pub fn judge(&self, cases: &[Case], ran: &Ran, show_wire: bool) -> Checked {
        let exchanges = self.session.recorder.exchanges();
        let mut checked = self.judge_exchanges(&exchanges, cases, ran, show_wire);
        if self.whole {
            checked.report.missing_stimuli = missing_stimuli(&self.session.catalogue, cases);
        }
        checked
    }

    /// Judges one case by what was sent for it, shapes and monitors included.
    pub fn judge_case(&self, case: &Case, ran: &Ran) -> Checked {
        let exchanges: Vec<_> = self.session.recorder.exchanges().into_iter().filter(|exchange| exchange.case == case.path).collect();
        self.judge_exchanges(&exchanges, std::slice::from_ref(case), ran, false)
    }

    fn judge_exchanges(&self, exchanges: &[Arc<Exchange>], cases: &[Case], ran: &Ran, show_wire: bool) -> Checked {
        let (catalogue, headers) = (&self.session.catalogue, &self.session.settings.headers);
        let secrets = contracts::secrets(exchanges, headers);
        let transcripts = Transcripts::new(exchanges, headers.iter().map(|(name, _)| name.as_str()));
        let folded = fold(&Seen {
            catalogue,
            cases,
            inapplicable: &self.inapplicable,
            results: &ran.results,
            shapes: &shapes::judge(catalogue, exchanges),
            monitors: &contracts::observe(catalogue, exchanges, &secrets),
            transcripts: &transcripts,
            show_wire,
        });
        let report = TargetReport {
            features: summary::features(&folded.requirements),
            requirements: folded.requirements,
            scenarios: folded.scenarios,
            aborted: ran.aborted.clone(),
            ..self.report.clone()
        };
        Checked { report, secrets }
    }
}

/// The plan for a target, without running it.
pub async fn planned(
    catalogues: &BTreeMap<String, Arc<Catalogue>>,
    target: &Target,
    settings: &Settings,
    filters: &[Filter],
) -> Result<Result<(Arc<Catalogue>, Vec<Case>), Abort>, SetupError> {
    let (session, recognised) = open(catalogues, target, settings).await?;
    let described = match &recognised {
        Recognised::Yes(body) => body.clone(),
        other => {
            let abort = target::abort(other, target.contract.is_some().then_some(&*session.catalogue));
            return Ok(abort.map_or_else(|| Ok((session.catalogue.clone(), Vec::new())), Err));
        }
    };
    let known = contracts::discover(&session, &target.profile.clone().unwrap_or_default(), &described).await;
    Ok(Ok((session.catalogue.clone(), plan(&session.catalogue, filters, &known))))
}

/// Finds the contract that the target speaks, among those of its wire.
async fn open(
    catalogues: &BTreeMap<String, Arc<Catalogue>>,
    target: &Target,
    settings: &Settings,
) -> Result<(Arc<Session>, Recognised), SetupError> {
    let fits = |catalogue: &&Arc<Catalogue>| match &target.contract {
        Some(name) => catalogue.contract == *name,
        None => catalogue.operations.grpc == (target.address.wire == Wire::Grpc),
    };
    let mut last = None;
    for catalogue in catalogues.values().filter(fits) {
        let recorder = Arc::new(Recorder::default());
        let http = HttpDriver::new(recorder.clone(), &target.address.base, &settings.reach)?;
        let session = Session::new(catalogue.clone(), settings.clone(), target.address.base.clone(), http, recorder);
        let recognised = target::recognise(&session).await;
        let found = matches!(recognised, Recognised::Yes(_) | Recognised::Silent(_));
        last = Some((Arc::new(session), recognised));
        if found {
            break;
        }
    }
    last.ok_or_else(|| SetupError::new("the fixtures hold no contract for this kind of target"))
}

fn empty(target: &Target, contract: &str) -> TargetReport {
    TargetReport {
        url: target.name.clone(),
        contract: contract.to_owned(),
        description: BTreeMap::new(),
        aborted: None,
        features: Vec::new(),
        requirements: Vec::new(),
        scenarios: Vec::new(),
        missing_stimuli: Vec::new(),
    }
}

fn equipped(session: Arc<Session>, known: &Known, profile: &Profile) -> Arc<Session> {
    match Arc::try_unwrap(session) {
        Ok(mut session) => {
            session.stimuli.clone_from(&known.stimuli);
            session.facts.clone_from(&known.facts);
            session.restart.clone_from(&profile.restart);
            Arc::new(session)
        }
        Err(session) => session,
    }
}
