//! What a profile would have to provide, as TOML ready to paste.

use super::page::{DIM, Line, PLAIN, Page, YELLOW};
use crate::model::{MissingStimulus, TargetReport};

pub(super) fn missing(page: &mut Page, target: &TargetReport) {
    if target.missing_stimuli.is_empty() {
        return;
    }
    page.section(YELLOW, "MISSING STIMULI", "to paste into a profile (--profile FILE) and adapt to this target");
    for stimulus in &target.missing_stimuli {
        page.gap();
        snippet(page, stimulus);
    }
}

/// From the first column on and never cut, for it is meant for a file.
fn snippet(page: &mut Page, stimulus: &MissingStimulus) {
    let waiting = if stimulus.cases == 1 { "1 case waits".to_owned() } else { format!("{} cases wait", stimulus.cases) };
    page.whole(Line::new().with(DIM, format!("# {} ({waiting} for it)", stimulus.about)));
    stimulus.toml.trim_end().lines().for_each(|line| page.whole(Line::new().with(PLAIN, line)));
}
