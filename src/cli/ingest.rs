//! `evenkeel ingest`: finished games out of log files, into the database.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, builder::PossibleValuesParser};
use comfy_table::Cell;

use super::{CliError, CommonArgs, archive, open, progress::Progress, table::table};
use crate::{
    domain::{Timestamp, counted},
    ingest::{Format, Skip},
    logs::{Heard, Ingest, LogError, Tally, format_names, format_of},
};

/// The format that is found out.
const AUTO: &str = "auto";

/// Learn from the logs of finished games, also while the daemon runs
#[derive(Debug, Args)]
pub(super) struct IngestArgs {
    /// The logs, compressed (gzip) or not; one may hold any number of games
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    origin: Origin,
    /// When the first log without dates begins (each follows upon the other), as 2026-11-20 or
    /// 2026-11-20T15:30:00, UTC; unless given, such a log ends when its file was last written
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    date: Option<Timestamp>,
    #[command(flatten)]
    common: CommonArgs,
}

/// What logs do not say of themselves.
#[derive(Debug, Args)]
pub(super) struct Origin {
    /// What kind of logs they are; auto finds it out from the content
    #[arg(long, default_value = AUTO, value_parser = formats())]
    format: String,
    /// The name of the game server that wrote them; the same match of two servers is two matches
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(super) server: String,
}

impl Origin {
    /// The format, where it was said.
    pub(super) fn format(&self) -> Option<&'static Format> {
        format_of(&self.format)
    }
}

/// What `--format` may say.
fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new([AUTO].into_iter().chain(format_names()))
}

pub(super) async fn run(args: IngestArgs) -> Result<ExitCode, CliError> {
    let config = args.common.load()?;
    let service = open(&config, true).await?;
    let archive = archive(&config)?;
    let sizes = args.files.iter().filter_map(|file| file.metadata().ok());
    let bytes = sizes.map(|meta| meta.len()).sum();
    let template = "{wide_bar} {bytes}/{total_bytes}, {eta} to go";
    let mut progress = Progress::new(bytes, template);
    let mut ingest = Ingest::new(service.store());
    ingest.server.clone_from(&args.origin.server);
    ingest.format = args.origin.format();
    ingest.date = args.date;
    ingest.archive = archive;
    let (mut failed, mut done) = (false, 0);
    for file in &args.files {
        let mut of_file = 0;
        let mut hear = |heard: Heard<'_>| {
            if let Heard::Bytes(bytes) = heard {
                of_file = bytes;
                progress.set(done + bytes);
            } else if let Some(line) = said(file, &heard) {
                progress.print_line(&line);
            }
        };
        match ingest.file(file, &mut hear).await {
            Ok(()) => {}
            Err(error @ (LogError::Store(_) | LogError::Task(_))) => return Err(error.into()),
            Err(error) => {
                progress.print_line(&format!("evenkeel: {error}"));
                failed = true;
            }
        }
        done += of_file;
    }
    let tally = ingest.tally;
    progress.done();
    service.learning().refresh().await?;
    let rulings = service.store().rulings(&tally.recorded).await?;
    service.close().await;
    print(&tally, rulings)?;
    Ok(ExitCode::from(if failed { 4 } else { 0 }))
}

/// What is worth a line.
pub(super) fn said(path: &Path, heard: &Heard<'_>) -> Option<String> {
    let path = path.display();
    match heard {
        // Most logs end in a game that doesn't; everything else is worth a word.
        Heard::Bytes(_)
        | Heard::Skipped {
            reason: Skip::Unfinished,
            ..
        } => None,
        Heard::Skipped { line, reason } => {
            Some(format!("{path}:{line}: a game is skipped: {reason}"))
        }
        Heard::Malformed { line, why } => Some(format!("{path}:{line}: {why}")),
        Heard::More(more) => Some(format!("{path}: {}", counted(*more, "more malformed line"))),
        Heard::Repeated {
            line,
            first,
            dropped,
        } => Some(match dropped {
            true => format!("{path}:{line}: the line is the same as line {first} and is dropped"),
            false => format!(
                "{path}:{line}: the line is the same as line {first}; it is kept, since it has no time of day"
            ),
        }),
        Heard::MoreRepeated(more) => Some(format!(
            "{path}: {} same as an earlier one",
            match *more {
                1 => "1 more line is the".to_owned(),
                more => format!("{more} more lines are the"),
            }
        )),
        Heard::OutOfOrder(matches) => Some(format!(
            "{path}: not in order of time: {} before the one above; all are sorted",
            match *matches {
                1 => "1 match ended".to_owned(),
                matches => format!("{matches} matches ended"),
            }
        )),
    }
}

fn print(tally: &Tally, rulings: Vec<Option<String>>) -> io::Result<()> {
    let (mut rated, mut unrated) = (0u64, BTreeMap::<String, u64>::new());
    for ruling in rulings {
        match ruling {
            None => rated += 1,
            Some(reason) => *unrated.entry(reason).or_default() += 1,
        }
    }
    let mut table = table(&["games", ">"]);
    let mut row = |what: String, count: u64| {
        table.add_row([Cell::new(what), Cell::new(count)]);
    };
    row("found".into(), tally.found);
    row("rated".into(), rated);
    for (reason, count) in unrated {
        row(format!("not rated: {reason}"), count);
    }
    if tally.halves > 0 {
        row("second halves, joined".into(), tally.halves);
    }
    for (reason, &count) in &tally.skipped {
        row(format!("skipped: {reason}"), count);
    }
    row("duplicates".into(), tally.duplicates);
    row("malformed lines".into(), tally.malformed);
    if tally.repeated > 0 {
        row("identical lines, kept".into(), tally.repeated);
    }
    writeln!(io::stdout(), "{table}")
}

pub(super) fn parse_date(text: &str) -> Result<Timestamp, String> {
    let expected = "expected a date such as 2026-11-20 or 2026-11-20T15:30:00";
    Timestamp::parse(text).ok_or_else(|| expected.to_owned())
}
