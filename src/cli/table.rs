//! What commands show on the terminal: tables, in which each column is stated once, and a progress bar for commands
//! that take longer than a second.
//!
//! Names come from players, so control sequences in heads and cells are escaped.

use std::{
    fmt,
    io::{self, Write},
    time::{Duration, Instant},
};

use comfy_table::{CellAlignment, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::CliError;
use crate::server::Service;

/// A table of rows of one kind.
pub(super) struct Table<'a, R> {
    rows: Vec<&'a R>,
    columns: Vec<TableColumn>,
}

struct TableColumn {
    head: String,
    is_number: bool,
    cells: Vec<String>,
}

impl<'a, R> Table<'a, R> {
    /// A table of these rows, without columns yet.
    pub(super) fn of(rows: impl IntoIterator<Item = &'a R>) -> Self {
        let (rows, columns) = (rows.into_iter().collect(), Vec::new());
        Self { rows, columns }
    }

    /// Adds a column of texts, which begin at its left edge.
    pub(super) fn text<C: ToString>(self, head: &str, cell: impl Fn(&'a R) -> C) -> Self {
        self.column(head, false, cell)
    }

    /// Adds a column of numbers, which end at its right edge.
    pub(super) fn num<C: ToString>(self, head: &str, cell: impl Fn(&'a R) -> C) -> Self {
        self.column(head, true, cell)
    }

    /// Removes the last column unless it is shown.
    pub(super) fn only_if(mut self, is_shown: bool) -> Self {
        if !is_shown {
            self.columns.pop();
        }
        self
    }

    fn column<C: ToString>(
        mut self,
        head: &str,
        is_number: bool,
        cell: impl Fn(&'a R) -> C,
    ) -> Self {
        let text = |row: &&'a R| printable(&cell(row).to_string());
        self.columns.push(TableColumn {
            head: printable(head),
            is_number,
            cells: self.rows.iter().map(text).collect(),
        });
        self
    }

    /// Prints the table, or the sentence `none` if there are no rows.
    pub(super) fn print_or(&self, none: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        match self.rows.is_empty() {
            true => writeln!(out, "{none}")?,
            false => writeln!(out, "{self}")?,
        }
        Ok(())
    }
}

impl<R> fmt::Display for Table<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        table.set_header(self.columns.iter().map(|column| &column.head));
        for (column, own) in table.column_iter_mut().zip(&self.columns) {
            if own.is_number {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        for at in 0..self.rows.len() {
            table.add_row(self.columns.iter().map(|column| &column.cells[at]));
        }
        table.fmt(f)
    }
}

/// What may be missing.
pub(super) fn or_dash<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// The text with control characters and direction marks escaped, so that it cannot control a
/// terminal or look like other text.
pub(super) fn printable(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || turns(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// The time after which the bar appears.
const DELAY: Duration = Duration::from_secs(1);

/// A bar on stderr that appears after a second, and only if stderr is a terminal.
pub(super) struct ProgressLine {
    bar: ProgressBar,
    since: Instant,
    shown: bool,
}

impl ProgressLine {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_drive_the_terminal() {
        assert_eq!(
            printable("\u{1b}[2Jéa\u{202e}b\n"),
            "\\u{1b}[2Jéa\\u{202e}b\\u{a}"
        );
    }
}
