//! A progress bar for commands that take longer than a second.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::CliError;
use crate::server::Service;

/// The time after which the bar appears.
const DELAY: Duration = Duration::from_secs(1);

/// A bar on stderr that appears after a second, and only if stderr is a terminal.
pub(super) struct Progress {
    bar: ProgressBar,
    since: Instant,
    shown: bool,
}

impl Progress {
    /// A bar of `total` steps; `template` uses indicatif's syntax.
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

    /// A bar of all stored matches.
    pub(super) async fn of_matches(service: &Service) -> Result<Self, CliError> {
        let (total, _) = service.store().matches().extent().await?;
        let total = u64::try_from(total).unwrap_or(0);
        Ok(Self::new(
            total,
            "{wide_bar} {pos}/{len} matches, {eta} to go",
        ))
    }

    /// Moves the bar to `done` steps.
    pub(super) fn set(&mut self, done: u64) {
        if !self.shown && self.since.elapsed() >= DELAY {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.shown = true;
        }
        self.bar.set_position(done);
    }

    /// Prints a line on stderr above the bar.
    pub(super) fn print_line(&self, line: &str) {
        if self.shown && !self.bar.is_hidden() {
            self.bar.suspend(|| print_error_line(line));
        } else {
            print_error_line(line);
        }
    }

    /// Removes the bar from the terminal.
    pub(super) fn done(self) {
        self.bar.finish_and_clear();
    }
}

/// Prints a line on stderr. A failure, on a full disk for instance, is ignored: the work goes on.
pub(super) fn print_error_line(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}
