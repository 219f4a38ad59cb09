//! What `--json` prints: one JSON value, followed by a line break.

use std::io::{self, Write};

use serde::Serialize;

use super::CliError;

/// Prints one JSON value on the standard output, on lines that people can read.
pub(super) fn print_json(value: &(impl Serialize + ?Sized)) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, value)?;
    Ok(writeln!(out)?)
}

/// Prints one JSON value on one line of the standard output: a value of a stream.
pub(super) fn print_json_line(value: &(impl Serialize + ?Sized)) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    Ok(writeln!(out)?)
}
