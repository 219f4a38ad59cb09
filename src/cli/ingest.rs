//! Reads matches into the database.
//!
//! - `evenkeel ingest` reads complete logs and exports. It also reads what `evenkeel export --operator` has written:
//!   the whole content of another database.
//! - `evenkeel follow` reads logs while they are written.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, builder::PossibleValuesParser};
use serde::Serialize;
use tokio::sync::watch;

use super::{
    CliError, CommonArgs, archive, log_to_stderr, open, print_json,
    table::{ProgressLine, Table},
};
use crate::{
    daemon::{self, ShutdownSignal},
    ingest::{Format, read_record},
    learning::LearningError,
    lobby::in_this_form,
    logs::{
        Follow, Ingest, IngestCounts, IngestEvent, LogError, LogZone, format_names, format_of,
        is_game_name, log_files,
    },
    model::{Nobody, Timestamp, counted},
    server::Service,
    store::{
        ContentPart, PartSource,
        operator_lines::{FORMAT, OperatorLine},
    },
};

/// What a name of a game looks like.
const GAME_NAME: &str = "expected letters, digits, - and _, 64 at the most";

/// The file that is standard input, for `-`.
const STDIN: &str = "/dev/stdin";

/// The value of `--format` that requests detection.
const AUTO: &str = "auto";

/// Record the matches of complete logs and learn from them
///
/// The daemon may run at the same time, and uses the new weights within a second. A match that is
/// stored already is not recorded again.
#[derive(Debug, Args)]
pub(super) struct IngestArgs {
    /// Logs, compressed with gzip or not, or folders of logs; each may contain any number of games. - is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    origin: OriginArgs,
    /// When the first log without dates begins, in UTC, such as 2026-11-20 or 2026-11-20T15:30:00;
    /// each further log begins where the one before it ends. By default, a log without dates ends
    /// when its file was last written
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    date: Option<Timestamp>,
    /// Show every malformed line, and what is wrong with it; and of each kind of event that is not
    /// known, the first lines and their number
    #[arg(long, short)]
    verbose: bool,
    /// Print a JSON object with the counts
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// Properties of logs that the logs do not contain.
#[derive(Debug, Args)]
pub(super) struct OriginArgs {
    /// The format of the logs; auto detects it from the content
    #[arg(long, default_value = AUTO, value_parser = formats())]
    format: String,
    /// The name of the game server that wrote the logs; the same log under two names counts as the
    /// matches of two servers
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(super) server: String,
    /// The name of the game in game types, instead of that in the logs: with tf, tf.ctf; only for
    /// formats whose game types begin with the name of the game (idtech3, source, teeworlds, xonotic)
    #[arg(long, value_name = "NAME", default_value = "", value_parser = parse_game)]
    pub(super) game: String,
    /// The time zone of dates that state none, such as Europe/Berlin, +10:00 or local, which is this machine's. By default,
    /// they count as UTC for ingest, and in this machine's time zone for follow
    #[arg(long, value_name = "ZONE", value_parser = LogZone::named, allow_hyphen_values = true)]
    pub(super) time_zone: Option<LogZone>,
}

impl OriginArgs {
    /// The format; `None` to detect it.
    pub(super) fn format(&self) -> Option<&'static Format> {
        format_of(&self.format)
    }
}

/// The possible values of `--format`.
fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new([AUTO].into_iter().chain(format_names()))
}

pub(super) async fn run(mut args: IngestArgs) -> Result<ExitCode, CliError> {
    for path in args.paths.iter_mut().filter(|path| path.as_os_str() == "-") {
        *path = STDIN.into();
    }
    let config = args.common.load()?;
    let service = open(&config, true).await?;
    if let [path] = args.paths.as_slice()
        && is_export(path)
    {
        let said = import(&service, path).await;
        service.close().await;
        writeln!(io::stdout(), "{}", said?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut ingest = Ingest::new(service.store());
    ingest.server.clone_from(&args.origin.server);
    ingest.game.clone_from(&args.origin.game);
    ingest.format = args.origin.format();
    ingest.date = args.date;
    ingest.zone.clone_from(&args.origin.time_zone);
    ingest.now = Some(service.sessions().clock().now());
    ingest.archive = archive(&config)?;
    ingest.verbose = args.verbose;
    // Learns while it records: each of the two keeps one core busy.
    let (part, recorded) = watch::channel(0.0);
    let (learning, before) = (
        service.learning().clone(),
        service.store().matches().extent().await?.0,
    );
    let learning = tokio::spawn(async move { learning.learn_ahead(before, recorded).await });
    let all_read = record(&args, &mut ingest, part).await?;
    if !learning.await.map_err(LearningError::from)? {
        tracing::debug!("what was learned while matches were recorded cannot be continued");
    }
    let counts = ingest.counts;
    service.learning().refresh().await?;
    let rulings = service.store().learned().rulings(&counts.recorded).await?;
    service.close().await;
    let report = IngestReport::new(counts, rulings);
    match args.json {
        true => print_json(&report)?,
        false => report.write(&mut io::stdout().lock())?,
    }
    Ok(ExitCode::from(if all_read { 0 } else { 4 }))
}

/// Records the matches of all files, and sends which part of their bytes is recorded. Returns whether all of them could
/// be read, and each folder had a log.
async fn record(
    args: &IngestArgs,
    ingest: &mut Ingest<'_>,
    part: watch::Sender<f64>,
) -> Result<bool, CliError> {
    let of_path = |at: usize| {
        log_files(&args.paths[at])
            .into_iter()
            .map(move |file| (at, file))
    };
    let files: Vec<(usize, PathBuf)> = (0..args.paths.len()).flat_map(of_path).collect();
    let sizes = files.iter().filter_map(|(_, file)| file.metadata().ok());
    let all = sizes.map(|meta| meta.len()).sum();
    let template = "{wide_bar} {bytes}/{total_bytes}, {eta} to go";
    let mut progress = ProgressLine::new(all, template);
    let (mut all_read, mut done) = (true, 0);
    let mut logs = vec![0u64; args.paths.len()];
    for (at, file) in &files {
        let mut of_file = 0;
        let mut on_event = |event: IngestEvent<'_>| {
            if let IngestEvent::Bytes(bytes) = event {
                of_file = bytes;
                progress.set(done + bytes);
                // Nobody receives it once learning has stopped.
                let _ = part.send((done + bytes) as f64 / all as f64);
            } else if let Some(line) = line_of(file, &event, args.verbose) {
                progress.print_line(&line);
            }
        };
        match ingest.file(file, &mut on_event).await {
            Ok(()) => logs[*at] += 1,
            Err(error @ (LogError::Store(_) | LogError::Task(_))) => return Err(error.into()),
            Err(error) => {
                progress.print_line(&format!("evenkeel: {error}"));
                // A folder may contain files that are not logs.
                let is_no_log = matches!(
                    error,
                    LogError::Unknown { .. } | LogError::NotRead { .. } | LogError::Empty { .. }
                );
                all_read &= is_no_log && !args.paths.contains(file);
            }
        }
        done += of_file;
    }
    for (path, _) in args.paths.iter().zip(&logs).filter(|(_, logs)| **logs == 0) {
        if path.is_dir() {
            let path = path.display();
            progress.print_line(&format!("evenkeel: {path}: there is no log in this folder"));
            all_read = false;
        }
    }
    progress.done();
    Ok(all_read)
}

/// The line to print for an event, if any; with `verbose`, it shows a malformed line.
pub(super) fn line_of(path: &Path, event: &IngestEvent<'_>, verbose: bool) -> Option<String> {
    let path = path.display();
    match event {
        IngestEvent::Bytes(_) => None,
        IngestEvent::Skipped { line, last, reason } => {
            Some(format!("{path}:{line}-{last}: a game is skipped: {reason}"))
        }
        IngestEvent::SharedId { line, id, players } => Some(format!(
            "{path}:{line}: {players} players have the id {id}; in this match their names are their ids"
        )),
        IngestEvent::Malformed { line, why, text } => Some(match verbose {
            true => format!("{path}:{line}: {why}: {text}"),
            false => format!("{path}:{line}: {why}"),
        }),
        IngestEvent::Unknown { line, kind, text } => {
            Some(format!("{path}:{line}: not understood, {kind}: {text}"))
        }
        IngestEvent::UnknownCount { kind, count } => Some(format!(
            "{path}: not understood, {kind}: {}",
            counted(*count, "line")
        )),
        IngestEvent::MoreMalformed(more) => {
            Some(format!("{path}: {}", counted(*more, "more malformed line")))
        }
        IngestEvent::Repeated {
            line,
            first,
            dropped,
        } => Some(match dropped {
            true => format!("{path}:{line}: the line is the same as line {first} and is dropped"),
            false => format!(
                "{path}:{line}: the line is the same as line {first}; it is kept, since it has no time of day"
            ),
        }),
        IngestEvent::MoreRepeated(more) => Some(format!(
            "{path}: {} same as an earlier one",
            match *more {
                1 => "1 more line is the".to_owned(),
                more => format!("{more} more lines are the"),
            }
        )),
        IngestEvent::OutOfOrder(matches) => Some(format!(
            "{path}: not in order of time: {} before the match of an earlier line; all are sorted by time",
            match *matches {
                1 => "1 match ended".to_owned(),
                matches => format!("{matches} matches ended"),
            }
        )),
        of_matches => line_of_matches(&path, of_matches),
    }
}

/// The line to print for an event of the matches of a log, or of its lack of them.
fn line_of_matches(path: &std::path::Display<'_>, event: &IngestEvent<'_>) -> Option<String> {
    Some(match event {
        IngestEvent::Nobody {
            start,
            id,
            why: Nobody::Twice,
            players,
        } => format!(
            "{path}: the match of {start}: {players} players had the name or id {id} at the same time; the match does not \
             count for them"
        ),
        IngestEvent::Nobody { start, id, .. } => format!(
            "{path}: the match of {start}: {id} is a name that everybody has; the match does not count for who had it"
        ),
        IngestEvent::MoreNobody(more) => {
            format!("{path}: {}", counted(*more, "more such line"))
        }
        IngestEvent::NoZone => format!(
            "{path}: its dates state no time zone and count as UTC; --time-zone NAME sets another"
        ),
        IngestEvent::InFuture {
            start,
            minutes,
            is_local,
        } => format!(
            "{path}: the match of {start} ends {} in the future: {}",
            counted(*minutes, "minute"),
            match is_local {
                true =>
                    "the log is in another time zone, which --time-zone sets (time_zone in a [[follow]] section)",
                false => "its date, or the clock of this machine, is wrong",
            }
        ),
        IngestEvent::NoGame(format) => format!(
            "{path}: no game was found: the file has the format {format}, and none of its lines begins or ends a game"
        ),
        IngestEvent::MoreUnsupported(more) => format!(
            "{path}: {}",
            match *more {
                1 => "1 more game that is not supported".to_owned(),
                more => format!("{more} more games that are not supported"),
            }
        ),
        _ => return None,
    })
}

/// How many games were found, and how many of them were recorded, rated or skipped. The field names are the keys of
/// `--json`.
#[derive(Debug, Serialize)]
struct IngestReport {
    games: u64,
    rated: u64,
    /// The matches that are not rated, by the reason.
    not_rated: BTreeMap<String, u64>,
    joined_halves: u64,
    /// The games that make no match, by the reason.
    skipped: BTreeMap<&'static str, u64>,
    duplicates: u64,
    malformed_lines: u64,
    identical_lines_kept: u64,
    /// The ids of the matches that were recorded.
    matches: Vec<i64>,
}

impl IngestReport {
    fn new(counts: IngestCounts, rulings: Vec<Option<String>>) -> Self {
        let (mut rated, mut not_rated) = (0u64, BTreeMap::<String, u64>::new());
        for ruling in rulings {
            match ruling {
                None => rated += 1,
                Some(reason) => *not_rated.entry(reason).or_default() += 1,
            }
        }
        Self {
            games: counts.found,
            rated,
            not_rated,
            joined_halves: counts.halves,
            skipped: counts.skipped,
            duplicates: counts.duplicates,
            malformed_lines: counts.malformed,
            identical_lines_kept: counts.repeated,
            matches: counts.recorded,
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut rows = Vec::new();
        let mut row = |what: String, count: u64| rows.push((what, count));
        row("found".into(), self.games);
        row("rated".into(), self.rated);
        for (reason, count) in &self.not_rated {
            row(format!("not rated: {reason}"), *count);
        }
        if self.joined_halves > 0 {
            row("second halves, joined".into(), self.joined_halves);
        }
        for (reason, &count) in &self.skipped {
            row(format!("skipped: {reason}"), count);
        }
        row("duplicates".into(), self.duplicates);
        row("malformed lines".into(), self.malformed_lines);
        if self.identical_lines_kept > 0 {
            row("identical lines, kept".into(), self.identical_lines_kept);
        }
        let table = Table::of(&rows).text("games", |(what, _)| what);
        writeln!(out, "{}", table.num("", |(_, count)| count))
    }
}

/// Parses the name of a game.
fn parse_game(text: &str) -> Result<String, String> {
    is_game_name(text)
        .then(|| text.to_owned())
        .ok_or_else(|| GAME_NAME.to_owned())
}

/// Parses a date, or a date and time, in UTC.
pub(super) fn parse_date(text: &str) -> Result<Timestamp, String> {
    let expected = "expected a date such as 2026-11-20 or 2026-11-20T15:30:00";
    Timestamp::parse(text).ok_or_else(|| expected.to_owned())
}

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
fn is_export(path: &Path) -> bool {
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
    let mut lines = ExportLines {
        path,
        input: BufReader::new(file),
        progress: ProgressLine::new(size, "{wide_bar} {bytes}/{total_bytes}, {eta} to go"),
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
struct ExportLines<'a> {
    path: &'a Path,
    input: BufReader<File>,
    progress: ProgressLine,
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

impl PartSource for &mut ExportLines<'_> {
    type Error = CliError;

    /// The next part. Fails if a line is not one of an export, or if the last one is missing.
    async fn next(&mut self) -> Result<Option<(u64, ContentPart)>, CliError> {
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
                ContentPart::Match(Box::new((*head, record)))
            }
            line => {
                self.note(&line)?;
                ContentPart::Line(line)
            }
        };
        Ok(Some((number, part)))
    }

    fn refused(&self, line: u64, why: &str) -> CliError {
        self.bad_at(line, why)
    }
}

impl ExportLines<'_> {
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

/// Learn from logs while they are written, until SIGTERM or Ctrl-C
///
/// Each match is recorded once, as it ends. A log may be rotated or truncated, and need not exist
/// yet. The daemon does the same for the logs that [[follow]] names in its configuration.
#[derive(Debug, Args)]
pub(super) struct FollowArgs {
    /// Logs, or folders of logs
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    origin: OriginArgs,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run_follow(args: FollowArgs) -> Result<(), CliError> {
    if args.paths.iter().any(|path| path.as_os_str() == "-") {
        let why =
            "follow reads files, not standard input: use `evenkeel ingest -`, or name the file ./-";
        return Err(CliError::input(why));
    }
    let config = args.common.load()?;
    log_to_stderr(&config.log)?;
    let mut shutdown = ShutdownSignal::install()?;
    let service = open(&config, true).await?;
    service.learning().refresh().await?;
    let follow = |path: &PathBuf| Follow {
        path: path.clone(),
        format: args.origin.format(),
        server: args.origin.server.clone(),
        game: args.origin.game.clone(),
        zone: args.origin.time_zone.clone(),
    };
    let follows = args.paths.iter().map(follow).collect();
    let follower = daemon::follow(&config, &service, follows)?;
    let interval = config.ingest.interval();
    follower.run(interval, shutdown.wait()).await;
    service.close().await;
    tracing::info!("stopped");
    Ok(())
}
