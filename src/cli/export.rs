//! `evenkeel export`: writes the stored matches in the interchange format.

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::Args;

use super::{CliError, CommonArgs, OutputFile, ingest::parse_date, open, table::ProgressLine};
use crate::{
    ingest::write_record,
    model::Timestamp,
    server::Service,
    store::{ContentPart, Cursor},
};

/// Write the stored matches as JSON objects, one per line
///
/// `evenkeel ingest` reads the file into another database. Matches are written in full. The
/// operator's settings for players (merged identities, fixed weights) are not part of the matches
/// and are only written with `--operator`.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The file to write; - is standard output
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Only matches that ended at this time (UTC) or later, such as 2026-11-20 or 2026-11-20T15:30:00
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    since: Option<Timestamp>,
    /// Only matches that ended before this time
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    until: Option<Timestamp>,
    /// Also write all that operators have set, and what else the matches do not contain: the way to a later version of
    /// Evenkeel. The file contains secrets, so it must be new, and only its owner can read it
    #[arg(long, conflicts_with_all = ["since", "until"])]
    operator: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// Number of matches read per query.
const CHUNK: u32 = 256;

pub(super) async fn run(args: ExportArgs) -> Result<(), CliError> {
    let to_stdout = args.file == Path::new("-");
    if args.operator && to_stdout {
        let why = "--operator needs the name of a new file, since what it writes contains secrets";
        return Err(CliError::usage(why));
    }
    if let (Some(since), Some(until)) = (args.since, args.until)
        && since >= until
    {
        return Err(CliError::input("--since must be before --until"));
    }
    let service = open(&args.common.load()?, false).await?;
    let done = if args.operator {
        all_to_file(&service, &args.file).await
    } else if to_stdout {
        let mut out = BufWriter::new(io::stdout().lock());
        write(&service, &args, &mut out, CliError::from).await
    } else {
        to_file(&service, &args).await
    };
    service.close().await;
    done
}

/// Writes to a file: the export appears whole or not at all.
async fn to_file(service: &Service, args: &ExportArgs) -> Result<(), CliError> {
    let path = &args.file;
    let fail = CliError::in_file(path);
    let mut file = BufWriter::new(OutputFile::create(path).map_err(fail)?);
    write(service, args, &mut file, fail).await?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error);
    file.and_then(OutputFile::commit).map_err(fail)
}

/// Writes the matches; `fail` is what a write that fails makes the command fail with.
async fn write(
    service: &Service,
    args: &ExportArgs,
    out: &mut impl Write,
    fail: impl Fn(io::Error) -> CliError,
) -> Result<(), CliError> {
    let store = service.store();
    let mut progress = ProgressLine::of_matches(service).await?;
    let mut cursor = args.since.map_or(Cursor::START, Cursor::since);
    let mut done = 0;
    'all: loop {
        let (matches, next) = store.matches().after(cursor, CHUNK).await?;
        cursor = next;
        if matches.is_empty() {
            break;
        }
        for stored in matches {
            if args.until.is_some_and(|until| stored.record.end >= until) {
                break 'all;
            }
            let line = write_record(&stored.record, stored.fingerprint);
            writeln!(out, "{line}").map_err(&fail)?;
            done += 1;
        }
        progress.set(done);
    }
    progress.done();
    out.flush().map_err(fail)
}

/// Writes all that the database contains to a private file, which appears whole or not at all.
async fn all_to_file(service: &Service, path: &Path) -> Result<(), CliError> {
    let fail = CliError::in_file(path);
    let mut progress = ProgressLine::of_matches(service).await?;
    let mut file = BufWriter::new(OutputFile::create_private(path).map_err(fail)?);
    let mut done = 0;
    let written = service.store().export_all(async |part| {
        if let ContentPart::Match(_) = part {
            done += 1;
            progress.set(done);
        }
        let text = part.text().map_err(CliError::failed)?;
        writeln!(file, "{text}").map_err(fail)
    });
    written.await?;
    progress.done();
    let file = file.into_inner().map_err(io::IntoInnerError::into_error);
    file.and_then(OutputFile::commit).map_err(fail)
}
