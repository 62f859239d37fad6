//! Progress on a terminal; nothing in a pipe.

use crate::runner::run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal as _;

pub struct Bar(ProgressBar);

impl Bar {
    /// Draws to standard error if that is a terminal and nobody asked for quiet.
    pub fn new(name: &str, quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template("{prefix} {bar:30} {pos}/{len} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(name.to_owned());
        Self(bar)
    }

    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn planned(&self, cases: usize) {
        self.0.set_length(u64::try_from(cases).unwrap_or(u64::MAX));
    }

    fn ended(&self, path: &str) {
        self.0.inc(1);
        self.0.set_message(path.to_owned());
    }

    fn sweeping(&self, executions: usize) {
        self.0.set_message(format!("reading {executions} executions once more"));
    }
}
