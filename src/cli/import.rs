//! Reads what `evenkeel export --operator` has written: the whole content of another database.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use super::{CliError, progress::Progress};
use crate::{
    ingest::read_record,
    lobby::in_this_form,
    model::counted,
    server::Service,
    store::{
        Part, Parts,
        operator_lines::{FORMAT, OperatorLine},
    },
};

/// The longest line: a match with as many players and events as a record may have fits.
const MAX_LINE: u64 = 64 << 20;
/// How the first line begins.
const BEGIN: &[u8] = b"{\"kind\":\"export\"";
/// What some editors write before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
}

/// Whether a file is such an export.
pub(super) fn is_export(path: &Path) -> bool {
    let length = BYTE_ORDER_MARK.len() + BEGIN.len();
    let mut begin = Vec::with_capacity(length);
    let file = File::open(path)
        .ok()
        .filter(|file| file.metadata().is_ok_and(|m| m.is_file()));
    let read = file.map(|file| file.take(length as u64).read_to_end(&mut begin));
    matches!(read, Some(Ok(_))) && without_mark(&begin).starts_with(BEGIN)
}

/// Fills the database, which must be new, with an export, and learns from its matches. Returns what to say.
pub(super) async fn import(service: &Service, path: &Path) -> Result<String, CliError> {
    let fail = CliError::in_file(path);
    let file = File::open(path).map_err(&fail)?;
    let size = file.metadata().map_err(&fail)?.len();
    let mut lines = Lines {
        path,
        input: BufReader::new(file),
        progress: Progress::new(size, "{wide_bar} {bytes}/{total_bytes}, {eta} to go"),
        number: 0,
        bytes: 0,
        has_numbers: false,
        is_ended: false,
        former: 0,
        matches: 0,
    };
    let matches = service.store().import_all(&mut lines).await?;
    lines.progress.done();
    let former = lines.former;
    service.learning().refresh().await?;
    let mut said = format!(
        "{} read, with all that operators have set",
        counted(matches, "match")
    );
    if former > 0 {
        let weights = counted(former, "weight");
        said +=
            &format!("; {weights} were set on the scale of Evenkeel 0.1, and should be set again");
    }
    Ok(said)
}

/// The lines of an export.
struct Lines<'a> {
    path: &'a Path,
    input: BufReader<File>,
    progress: Progress,
    /// The number of the last line that was read, from 1.
    number: u64,
    bytes: u64,
    /// Whether the last numbers that were given were read.
    has_numbers: bool,
    /// Whether the last line of the export was read.
    is_ended: bool,
    /// Number of weights on the scale of Evenkeel 0.1.
    former: u64,
    /// Number of matches so far.
    matches: u64,
}

impl Parts for &mut Lines<'_> {
    type Error = CliError;

    /// The next part. Fails if a line is not one of an export, or if the last one is missing.
    async fn next(&mut self) -> Result<Option<(u64, Part)>, CliError> {
        self.progress.set(self.bytes);
        let Some(line) = self.line()? else {
            return match self.is_ended {
                true => Ok(None),
                false => Err(self.bad("the end is missing: the file is not whole")),
            };
        };
        if self.is_ended {
            return Err(self.bad("a line follows the end"));
        }
        let number = self.number;
        let part: OperatorLine = self.parsed(serde_json::from_slice(&line))?;
        let part = match part {
            OperatorLine::Match(mut head) => {
                for one in &mut head.decisions {
                    if let Some(own) = in_this_form(&one.decision) {
                        one.decision = own;
                    }
                }
                let line = self.line()?;
                let line = line.ok_or_else(|| self.bad("the match is missing"))?;
                let record = self.parsed(read_record(&line))?;
                self.parsed(record.check())?;
                self.matches += 1;
                Part::Match(Box::new((*head, record)))
            }
            line => {
                self.note(&line)?;
                Part::Line(line)
            }
        };
        Ok(Some((number, part)))
    }

    fn refused(&self, line: u64, why: &str) -> CliError {
        self.bad_at(line, why)
    }
}

impl Lines<'_> {
    /// Notes what a line says about the file. Fails if that does not hold.
    fn note(&mut self, line: &OperatorLine) -> Result<(), CliError> {
        match line {
            OperatorLine::Export(line) if line.format != FORMAT => {
                return Err(self.bad("another version of the format"));
            }
            OperatorLine::Numbers(_) => self.has_numbers = true,
            OperatorLine::Pin(line) => self.former += u64::from(line.former.0),
            OperatorLine::StartWeight(line) => self.former += u64::from(line.former.0),
            OperatorLine::End(_) if !self.has_numbers => {
                return Err(self.bad("the last numbers that were given are missing"));
            }
            OperatorLine::End(end) if end.matches != self.matches => {
                let why = format!(
                    "the file should have {} matches, and has {}",
                    end.matches, self.matches
                );
                return Err(self.bad(&why));
            }
            OperatorLine::End(_) => self.is_ended = true,
            _ => {}
        }
        Ok(())
    }

    /// The next line without its end; `None` at the end of the file.
    fn line(&mut self) -> Result<Option<Vec<u8>>, CliError> {
        let mut line = Vec::new();
        let mut input = (&mut self.input).take(MAX_LINE);
        let read = input.read_until(b'\n', &mut line);
        let read = read.map_err(CliError::in_file(self.path))?;
        self.number += 1;
        self.bytes += read as u64;
        match line.last() {
            None => Ok(None),
            Some(b'\n') => {
                line.pop();
                Ok(Some(match self.number {
                    1 => without_mark(&line).to_vec(),
                    _ => line,
                }))
            }
            Some(_) => Err(self.bad("the line is too long, or has no end")),
        }
    }

    fn parsed<T, E: std::fmt::Display>(&self, parsed: Result<T, E>) -> Result<T, CliError> {
        parsed.map_err(|why| self.bad(&why.to_string()))
    }

    fn bad(&self, why: &str) -> CliError {
        self.bad_at(self.number, why)
    }

    fn bad_at(&self, line: u64, why: &str) -> CliError {
        CliError::input(format!("{}:{line}: {why}", self.path.display()))
    }
}
