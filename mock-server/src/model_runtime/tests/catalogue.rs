//! The catalogue: names, sizes, and that everything in it makes a difference when a server is used.

use super::tour::Tour;
use crate::model_runtime::{blueprint, defects, weather};
use crate::running::{Behaviour, StartError};
use std::collections::BTreeSet;

fn behaviour(defect: Option<&str>, weather: &[&str]) -> Behaviour {
    let weather = weather.iter().map(|name| (*name).to_owned()).collect();
    Behaviour { defects: defect.map(str::to_owned).into_iter().collect(), weather, seed: 7, ..Behaviour::default() }
}

#[test]
fn unknown_names_are_errors() {
    assert!(matches!(blueprint(&behaviour(Some("none"), &[])), Err(StartError::UnknownDefect { .. })));
    assert!(matches!(blueprint(&behaviour(None, &["none"])), Err(StartError::UnknownWeather { .. })));
    let (_, ledger) = blueprint(&behaviour(Some("key-ignores-ability"), &["crlf", "bom"])).expect("known names");
    assert_eq!(ledger.totals().into_keys().collect::<Vec<_>>(), ["bom", "crlf", "key-ignores-ability"]);
}

#[test]
fn the_catalogue_is_as_rich_as_promised() {
    let kinds: Vec<_> = defects::all().map(|entry| entry.defect.kind).collect();
    assert!(kinds.len() >= 45);
    assert!(kinds.iter().filter(|kind| **kind != crate::DefectKind::Wire).count() >= 32);
    for entry in defects::all() {
        let breaks = entry.defect.breaks;
        let distinct: BTreeSet<&str> = breaks.iter().copied().collect();
        assert!(!breaks.is_empty() && distinct.len() == breaks.len(), "{}", entry.defect.name);
    }
}

/// How often something was applied during a tour.
async fn applications(behaviour: &Behaviour) -> u64 {
    let (blueprint, ledger) = blueprint(behaviour).expect("a known name");
    let tour = Tour::new(blueprint);
    for part in 0..Tour::PARTS {
        tour.part(part).await;
        if let Some(count) = ledger.totals().into_values().find(|count| *count > 0) {
            return count;
        }
    }
    0
}

#[tokio::test(start_paused = true)]
async fn every_defect_is_applied() {
    let mut idle = Vec::new();
    // Those of restarts need one: they have tests with processes that are killed.
    for entry in defects::all().filter(|entry| entry.defect.kind != crate::DefectKind::Restart) {
        if applications(&behaviour(Some(entry.defect.name), &[])).await == 0 {
            idle.push(entry.defect.name);
        }
    }
    assert!(idle.is_empty(), "never applied: {idle:?}");
}

#[tokio::test(start_paused = true)]
async fn every_weather_is_applied() {
    let mut idle = Vec::new();
    for entry in weather::all() {
        if applications(&behaviour(None, &[entry.weather.name])).await == 0 {
            idle.push(entry.weather.name);
        }
    }
    assert!(idle.is_empty(), "never applied: {idle:?}");
}
