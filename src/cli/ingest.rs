//! `evenkeel ingest`: finished games out of log files, into the database.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::UNIX_EPOCH,
};

use clap::{Args, builder::PossibleValuesParser};
use comfy_table::Cell;

use super::{CliError, Place, open, progress::Progress, table::table};
use crate::{
    domain::{MatchRecord, Timestamp},
    ingest::{self, Context, Format, HEAD, Item, Reader, Skip},
    service::{Recorded, Service},
};

/// Malformed lines named per file; of a file in which everything is wrong, that is enough.
const NAMED: u64 = 10;
/// The format that is found out.
const AUTO: &str = "auto";

/// Learn from the logs of finished games, also while the daemon runs
#[derive(Debug, Args)]
pub(super) struct IngestArgs {
    /// The logs; one may hold any number of games
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What kind of logs they are; auto finds it out from the content
    #[arg(long, default_value = AUTO, value_parser = format_names())]
    format: String,
    /// The name of the game server that wrote them; the same match of two servers is two matches
    #[arg(long, value_name = "NAME", default_value = "")]
    server: String,
    /// When the first log without dates begins (each follows upon the other), as 2026-11-20 or
    /// 2026-11-20T15:30:00, UTC; unless given, such a log ends when its file was last written
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    date: Option<Timestamp>,
    #[command(flatten)]
    place: Place,
}

/// What `--format` may say.
fn format_names() -> PossibleValuesParser {
    let names = ingest::FORMATS.iter().map(|format| format.name);
    PossibleValuesParser::new([AUTO].into_iter().chain(names))
}

pub(super) async fn run(args: IngestArgs) -> Result<ExitCode, CliError> {
    let config = args.place.load()?;
    let service = open(&config, true).await?;
    let bytes = args
        .files
        .iter()
        .filter_map(|file| file.metadata().ok())
        .map(|m| m.len())
        .sum();
    let template = "{wide_bar} {bytes}/{total_bytes}, {eta} to go";
    let progress = Progress::new(bytes, template);
    let mut run = Run {
        args: &args,
        service: &service,
        progress,
        date: args.date,
        done: 0,
        summary: Summary::default(),
    };
    let mut failed = false;
    for file in &args.files {
        match run.file(file).await {
            Ok(()) => {}
            Err(error @ (CliError::File { .. } | CliError::Input(_))) => {
                run.progress.say(&format!("evenkeel: {error}"));
                failed = true;
            }
            Err(other) => return Err(other),
        }
    }
    let Run {
        progress,
        mut summary,
        ..
    } = run;
    progress.done();
    service.refresh().await?;
    for unrated in service.rulings(&summary.recorded).await? {
        match unrated {
            None => summary.rated += 1,
            Some(reason) => *summary.unrated.entry(reason).or_default() += 1,
        }
    }
    service.close().await;
    summary.print()?;
    Ok(ExitCode::from(if failed { 4 } else { 0 }))
}

struct Run<'a> {
    args: &'a IngestArgs,
    service: &'a Service,
    progress: Progress,
    /// When the next log without dates begins, where that was said.
    date: Option<Timestamp>,
    /// Bytes of all files so far.
    done: u64,
    summary: Summary,
}

impl Run<'_> {
    async fn file(&mut self, path: &Path) -> Result<(), CliError> {
        let fail = |source| CliError::File {
            path: path.to_owned(),
            source,
        };
        let mut file = File::open(path).map_err(fail)?;
        let written = file
            .metadata()
            .and_then(|meta| meta.modified())
            .map_err(fail)?;
        let mut chunk = vec![0; HEAD];
        let mut filled = read_full(&mut file, &mut chunk).map_err(fail)?;
        let format = self.format(path, &chunk[..filled])?;
        let mut reader = Reader::new(
            format,
            &Context {
                server: self.args.server.clone(),
            },
        );
        let found = self.summary.found;
        let mut told = Told {
            path,
            undated: Vec::new(),
            malformed: 0,
        };
        let mut items = Vec::new();
        while filled > 0 {
            reader.feed(&chunk[..filled], &mut items);
            self.take(&mut items, &mut told).await?;
            self.done += filled as u64;
            self.progress.set(self.done);
            filled = read_full(&mut file, &mut chunk).map_err(fail)?;
        }
        let elapsed = reader.finish(&mut items);
        self.take(&mut items, &mut told).await?;
        let elapsed = i64::try_from(elapsed).unwrap_or(0);
        let begin = self.date.unwrap_or_else(|| {
            let written = written
                .duration_since(UNIX_EPOCH)
                .unwrap_or_default()
                .as_millis();
            let written = Timestamp(i64::try_from(written).unwrap_or(i64::MAX));
            written.plus_millis(-elapsed)
        });
        // One log without dates follows upon the other.
        self.date = self.date.map(|date| date.plus_millis(elapsed));
        for mut record in told.undated {
            record.start = record.start.plus_millis(begin.0);
            record.end = record.end.plus_millis(begin.0);
            self.record(&record).await?;
        }
        if self.args.format != AUTO && told.malformed > 0 && self.summary.found == found {
            let (path, format) = (path.display(), &self.args.format);
            return Err(CliError::Input(format!(
                "{path}: nothing in this is a {format} log"
            )));
        }
        if told.malformed > NAMED {
            let (path, more) = (path.display(), told.malformed - NAMED);
            self.progress
                .say(&format!("{path}: {more} more malformed lines"));
        }
        Ok(())
    }

    fn format(&self, path: &Path, head: &[u8]) -> Result<&'static Format, CliError> {
        let format = match self.args.format.as_str() {
            AUTO => ingest::detect(head),
            name => ingest::by_name(name),
        };
        format.ok_or_else(|| {
            let known: Vec<_> = ingest::FORMATS.iter().map(|format| format.name).collect();
            let (path, known) = (path.display(), known.join(", "));
            CliError::Input(format!(
                "{path}: this is no log of any known format ({known})"
            ))
        })
    }

    async fn take(&mut self, items: &mut Vec<Item>, told: &mut Told<'_>) -> Result<(), CliError> {
        for item in items.drain(..) {
            match item {
                // When it was is only known once the log is over.
                Item::Game(record) if record.clock.is_some() => told.undated.push(*record),
                Item::Game(record) => self.record(&record).await?,
                Item::Skipped { line, reason } => self.skipped(told.path, line, reason),
                Item::Malformed { line, why } => {
                    self.summary.malformed += 1;
                    told.malformed += 1;
                    if told.malformed <= NAMED {
                        let path = told.path.display();
                        self.progress.say(&format!("{path}:{line}: {why}"));
                    }
                }
            }
        }
        Ok(())
    }

    async fn record(&mut self, record: &MatchRecord) -> Result<(), CliError> {
        self.summary.found += 1;
        match self.service.record(record).await? {
            Recorded::New(id) => self.summary.recorded.push(id),
            Recorded::Duplicate(_) => self.summary.duplicates += 1,
        }
        Ok(())
    }

    fn skipped(&mut self, path: &Path, line: u64, reason: Skip) {
        self.summary.found += 1;
        *self.summary.skipped.entry(reason.code()).or_default() += 1;
        // Most logs end in a game that doesn't; everything else is worth a word.
        if !matches!(reason, Skip::Unfinished) {
            let path = path.display();
            self.progress
                .say(&format!("{path}:{line}: a game is skipped: {reason}"));
        }
    }
}

/// What one file told that is not dealt with yet.
struct Told<'a> {
    path: &'a Path,
    undated: Vec<MatchRecord>,
    malformed: u64,
}

#[derive(Default)]
struct Summary {
    found: u64,
    recorded: Vec<i64>,
    rated: u64,
    unrated: BTreeMap<String, u64>,
    skipped: BTreeMap<&'static str, u64>,
    duplicates: u64,
    malformed: u64,
}

impl Summary {
    fn print(&self) -> io::Result<()> {
        let mut table = table(&["games", ">"]);
        let mut row = |what: String, count: u64| {
            table.add_row([Cell::new(what), Cell::new(count)]);
        };
        row("found".into(), self.found);
        row("rated".into(), self.rated);
        for (reason, &count) in &self.unrated {
            row(format!("not rated: {reason}"), count);
        }
        for (reason, &count) in &self.skipped {
            row(format!("skipped: {reason}"), count);
        }
        row("duplicates".into(), self.duplicates);
        row("malformed lines".into(), self.malformed);
        writeln!(io::stdout(), "{table}")
    }
}

/// Fills `chunk` unless the file ends; how much of it is filled.
fn read_full(file: &mut File, chunk: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match file.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn parse_date(text: &str) -> Result<Timestamp, String> {
    let instant = text.parse::<jiff::Timestamp>().ok();
    let instant = instant.or_else(|| {
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        jiff::tz::Offset::UTC.to_timestamp(civil).ok()
    });
    let instant = instant.ok_or("expected a date such as 2026-11-20 or 2026-11-20T15:30:00")?;
    Ok(Timestamp(instant.as_millisecond()))
}
