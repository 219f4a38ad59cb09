//! A progress bar for what takes longer than one cares to wait in the dark.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is over sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on stderr that shows itself after a second, and never where nobody is looking.
pub(super) struct Progress {
    bar: ProgressBar,
    since: Instant,
    shown: bool,
}

impl Progress {
    /// Of `total` steps, in this template of indicatif's.
    pub(super) fn new(total: u64, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self {
            bar,
            since: Instant::now(),
            shown: false,
        }
    }

    /// So many steps are done.
    pub(super) fn set(&mut self, done: u64) {
        if !self.shown && self.since.elapsed() >= PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        self.bar.set_position(done);
    }

    /// Prints a line without tearing the bar.
    pub(super) fn say(&self, line: &str) {
        if self.shown && !self.bar.is_hidden() {
            self.bar.suspend(|| eprintln!("{line}"));
        } else {
            eprintln!("{line}");
        }
    }

    /// The bar goes away.
    pub(super) fn done(self) {
        self.bar.finish_and_clear();
    }
}
