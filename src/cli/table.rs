//! Tables on the terminal. Names come from players, so control sequences in them are escaped.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, Row, Table, presets};

use super::CliError;

/// An empty table with these column heads. A `>` before a head aligns its column to the right, for
/// numbers.
pub(super) fn table(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(heads.iter().map(|head| head.trim_start_matches('>')));
    for (column, head) in table.column_iter_mut().zip(heads) {
        if head.starts_with('>') {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Prints a table of these rows, or the sentence `none` if there are none.
pub(super) fn print_rows<T, R: Into<Row>>(
    rows: &[T],
    none: &str,
    heads: &[&str],
    cells: impl FnMut(&T) -> R,
) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    if rows.is_empty() {
        return Ok(writeln!(out, "{none}")?);
    }
    let mut shown = table(heads);
    shown.add_rows(rows.iter().map(cells));
    Ok(writeln!(out, "{shown}")?)
}

/// A cell for text from outside, such as a player's name.
pub(super) fn name_cell(name: &str) -> Cell {
    Cell::new(printable(name))
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
