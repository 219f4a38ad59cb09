//! What operators do with a database as a whole.
//!
//! - `evenkeel backup` copies it, and `migrate-store` moves it to another one.
//! - `evenkeel check` says whether the database is whole, and whether the weights are those of its matches.
//! - `evenkeel rebuild` derives all weights again from the stored matches.
//! - `evenkeel export` writes the stored matches in the interchange format.

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::Args;
use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;

use crate::{
    cli::{
        CliError, CommonArgs, OutputFile, SettingsArgs, archive,
        ingest::parse_date,
        open, print_json, sqlite_file,
        table::{ProgressLine, printable},
    },
    config::Config,
    ingest::jsonl::write_record,
    learning::{Rebuilt, Verified},
    logs::{self, Archive, LogZone, Reread, RereadZones},
    model::{Timestamp, text::counted},
    server::Service,
    store::{
        self, ContentPart, Cursor, DatabaseUrl, DerivedFrom, SqliteFile, TransferError,
        Transferred,
        postgres::{PoolSettings, PostgresUrl},
    },
};

/// Copy the SQLite database to a new file, also while the daemon runs
///
/// The copy is the database as it is at this moment. It appears whole or not at all, and is on the disk
/// when the command ends. The daemon makes daily backups if `[store] backups` names a folder.
#[derive(Debug, Args)]
pub(super) struct BackupArgs {
    /// The file to write; there must not be one yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run(args: BackupArgs) -> Result<(), CliError> {
    let config = args.common.load()?;
    let busy = config.store.busy_ms.duration();
    let database = store::open_file(&sqlite_file(&config)?, busy).await?;
    store::back_up(&database, &args.file, config.store.file_mode).await?;
    let size = std::fs::metadata(&args.file)?.len();
    let file = args.file.display();
    writeln!(io::stdout(), "{file}: {} kB", size.div_ceil(1_000))?;
    Ok(())
}

/// Check that the SQLite database is whole, and that its weights are those of its matches
///
/// Copies the database to a temporary folder beside it, which takes as much room again, derives all
/// weights there anew, and compares them to the last bit. The database itself is only read; the daemon may
/// run. Exits with 5 if something is wrong.
#[derive(Debug, Args)]
pub(super) struct CheckDatabaseArgs {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// What a check has found.
#[derive(Debug, Serialize)]
struct CheckFindings {
    /// The number of rows in each table.
    rows: Vec<(String, i64)>,
    /// What is wrong, one sentence each.
    faults: Vec<String>,
    /// What was not checked, and why.
    notes: Vec<String>,
}

pub(super) async fn run_check(args: CheckDatabaseArgs) -> Result<(), CliError> {
    let mut config = args.common.load()?;
    let busy = config.store.busy_ms.duration();
    let path = sqlite_file(&config)?;
    let database = store::open_file(&path, busy).await?;
    let mut findings = CheckFindings {
        rows: Vec::new(),
        faults: database.faults().await?,
        notes: Vec::new(),
    };
    // A damaged file is not copied: every other check could only repeat that it is damaged.
    if findings.faults.is_empty() {
        let folder = path.parent().unwrap_or(Path::new("")).join(".");
        let made = TempDir::with_prefix_in("evenkeel-check-", &folder);
        let folder = made.map_err(CliError::in_file(&folder))?;
        let copy = folder.path().join("copy.db");
        store::back_up(&database, &copy, config.store.file_mode).await?;
        let database = store::open_file(&copy, busy).await?;
        findings.rows = database.counts().await?;
        config.store.database = copy;
        derive_again(&config, &database, &mut findings).await?;
    }
    report_faults(&findings, args.json)?;
    match findings.faults.len() {
        0 => Ok(()),
        faults => {
            let (path, faults) = (path.display(), counted(faults, "fault"));
            Err(CliError::damaged(format!("{path}: {faults}")))
        }
    }
}

/// Derives the weights of the copy again, and compares the derived tables with those before.
async fn derive_again(
    config: &Config,
    copy: &SqliteFile,
    findings: &mut CheckFindings,
) -> Result<(), CliError> {
    let service = open(config, false).await?;
    let mut damaged = service.store().orphans().await?;
    damaged.extend(service.store().matches().record_faults().await?);
    if !damaged.is_empty() {
        // Without these rows, nothing can be derived.
        findings.faults.extend(damaged);
        service.close().await;
        return Ok(());
    }
    let before = copy.derived_hashes().await?;
    let from = service.store().learned().derived_from().await?;
    let mut progress = ProgressLine::of_matches(&service).await?;
    let rebuilt = service.learning().rebuild(|done| progress.set(done)).await;
    progress.done();
    let again = service.store().learned().derived_from().await?;
    service.close().await;
    rebuilt?;
    if let Some(why) = incomparable(from.as_ref(), again.as_ref()) {
        findings.notes.push(why);
        return Ok(());
    }
    for (was, is) in before.iter().zip(copy.derived_hashes().await?) {
        if *was != is {
            let table = &was.0;
            findings.faults.push(format!(
                "the table {table} is not what its matches give: `evenkeel rebuild` derives it again"
            ));
        }
    }
    Ok(())
}

/// Why the derived tables may differ from those that were derived again, if they may.
fn incomparable(from: Option<&DerivedFrom>, again: Option<&DerivedFrom>) -> Option<String> {
    let Some((from, again)) = from.zip(again) else {
        return Some("no weights have been derived yet".to_owned());
    };
    if from.settings != again.settings {
        return Some(
            "the weights were derived with another configuration or another version, and were not compared; \
             check with the --config of the daemon"
                .to_owned(),
        );
    }
    let missing = again.matches.saturating_sub(from.matches);
    (missing != 0).then(|| {
        let matches = counted(u64::try_from(missing).unwrap_or(0), "match");
        format!(
            "{matches} came just now; the weights do not contain them yet, and were not compared"
        )
    })
}

fn report_faults(findings: &CheckFindings, json: bool) -> Result<(), CliError> {
    if json {
        return print_json(findings);
    }
    let mut out = io::stdout().lock();
    for (table, rows) in &findings.rows {
        writeln!(out, "{rows:>10} {table}")?;
    }
    for note in &findings.notes {
        writeln!(out, "note: {note}")?;
    }
    for fault in &findings.faults {
        writeln!(out, "fault: {fault}")?;
    }
    if findings.faults.is_empty() && findings.notes.is_empty() {
        writeln!(
            out,
            "the database is whole, and its weights are those of its matches"
        )?;
    }
    Ok(())
}

/// Delete all weights and learn them again from the stored matches
///
/// The result is the same to the last bit as that of learning from each match when it arrived, in
/// whatever order the logs were read. A running daemon uses the new weights within a second.
#[derive(Debug, Args)]
pub(super) struct RebuildArgs {
    /// First read all archived logs again, and replace the matches that came from them. All other
    /// matches stay
    #[arg(long)]
    from_logs: bool,
    /// With --from-logs, the time zone of dates that state none, such as Europe/Berlin or +10:00. By default, that of the
    /// [[follow]] section with the name of the log's server, or else the one in which the log was read before
    #[arg(long, value_name = "ZONE", value_parser = LogZone::named, requires = "from_logs", allow_hyphen_values = true)]
    time_zone: Option<LogZone>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run_rebuild(args: RebuildArgs) -> Result<(), CliError> {
    let config = args.common.load()?;
    let archive =
        match args.from_logs {
            true => Some(archive(&config)?.ok_or_else(|| {
                CliError::input("no logs are archived: ingest.archive is not set")
            })?),
            false => None,
        };
    // With archived logs, even a missing database can be restored.
    let service = open(&config, args.from_logs).await?;
    let logs = match archive {
        Some(archive) => {
            let zones = zones(&config, args.time_zone.clone());
            Some(read_again(&service, &archive, &zones).await?)
        }
        None => None,
    };
    if let Some(reread) = logs.filter(|_| !args.json) {
        write_logs(&reread)?;
    }
    let rebuilt = learn(&service).await?;
    service.close().await;
    if args.json {
        return print_json(&json!({
            "weights": rebuilt.weights,
            "matches": rebuilt.matches,
            "rated": rebuilt.rated,
            "logs": logs.map(logs_json),
        }));
    }
    writeln!(
        io::stdout(),
        "{} from {}, {} of them rated",
        counted(rebuilt.weights, "weight"),
        counted(rebuilt.matches, "match"),
        rebuilt.rated
    )?;
    Ok(())
}

/// The time zones of archived logs, by the configuration unless one is given for all.
fn zones(config: &Config, all: Option<LogZone>) -> RereadZones {
    let followed = config.follows().into_iter();
    let servers = followed.filter_map(|follow| Some((follow.server, follow.zone?)));
    let servers = servers.filter(|(server, _)| !server.is_empty()).collect();
    RereadZones { all, servers }
}

/// Reads the archived logs again.
async fn read_again(
    service: &Service,
    archive: &Arc<Archive>,
    zones: &RereadZones,
) -> Result<Reread, CliError> {
    let mut progress =
        ProgressLine::new(archive.logs()?.len() as u64, "{wide_bar} {pos}/{len} logs");
    let reread = logs::reread(service.store(), archive, zones, |done, _| {
        progress.set(done)
    })
    .await?;
    progress.done();
    Ok(reread)
}

fn logs_json(reread: Reread) -> serde_json::Value {
    let matches = reread.matches;
    json!({
        "read": reread.logs,
        "unknown_format": reread.unknown,
        "matches_as_before": matches.same,
        "matches_removed": matches.removed,
        "matches_added": matches.added,
        "matches_kept": matches.kept,
    })
}

/// Prints which matches changed.
fn write_logs(reread: &Reread) -> io::Result<()> {
    let matches = reread.matches;
    writeln!(
        io::stdout(),
        "{} read again: {} as they were, {} removed, {} added",
        counted(reread.logs, "log"),
        counted(matches.same, "match"),
        matches.removed,
        matches.added
    )?;
    if matches.kept > 0 {
        let kept = matches.kept;
        writeln!(
            io::stdout(),
            "{} kept as before, because a player in them was forgotten",
            counted(kept, "match")
        )?;
    }
    if reread.unknown > 0 {
        let unknown = reread.unknown;
        let have = if unknown == 1 { "has" } else { "have" };
        let logs = counted(unknown, "log");
        writeln!(io::stdout(), "{logs} {have} no known format")?;
    }
    Ok(())
}

/// Folds all stored matches again, with a progress bar.
async fn learn(service: &Service) -> Result<Rebuilt, CliError> {
    let mut progress = ProgressLine::of_matches(service).await?;
    let rebuilt = service.learning().rebuild(|done| progress.set(done)).await;
    progress.done();
    Ok(rebuilt?)
}

/// Move all matches, and all that operators have set, to a new database: from SQLite to PostgreSQL or back
///
/// Stop all daemons first: nobody can write to FROM until the end. TO is a file that does not exist yet, or an empty
/// PostgreSQL database. It gets what `evenkeel export --operator` writes: tickets, and games that have not ended, stay
/// behind. It gets all or, if the command ends too early, nothing; before, it is read again, and must give the same. At the
/// end, FROM gets a mark with which nothing is written to it any more, and the weights are derived from the matches of TO,
/// with the configuration of the daemon. Exits with 5 if they are not those of FROM.
#[derive(Debug, Args)]
pub(super) struct MigrateStoreArgs {
    /// The database to move: the path of an SQLite file, or postgres://USER@HOST/DATABASE
    #[arg(value_name = "FROM")]
    from: String,
    /// Where to move it: a path or a URL, too
    #[arg(value_name = "TO", required_unless_present = "undo")]
    to: Option<String>,
    /// Make FROM usable again, which was moved to another database. It lacks what was written to that one since
    #[arg(long, conflicts_with = "to")]
    undo: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) async fn run_migrate_store(args: MigrateStoreArgs) -> Result<(), CliError> {
    let config = args.settings.load()?;
    let patience = config.store.busy_ms.duration();
    let from = place("FROM", &args.from)?;
    let Some(to) = &args.to else {
        return undo(&from, patience).await;
    };
    let to = place("TO", to)?;
    let mut bar = None;
    let mode = config.store.file_mode;
    let moved = store::transfer(&from, &to, patience, mode, |done, total| {
        bar.get_or_insert_with(|| {
            ProgressLine::new(total, "{wide_bar} {pos}/{len} matches, {eta} to go")
        })
        .set(done);
    });
    let moved = moved.await;
    if let Some(bar) = bar {
        bar.done();
    }
    let moved = moved.map_err(|error| match error {
        TransferError::Differs { .. } => CliError::damaged(error.to_string()),
        error => error.into(),
    })?;
    let matches = counted(moved.matches, "match");
    say(&format!(
        "{to} has {matches} of {from}, and all that operators have set"
    ))?;
    derive(&moved, &config, &from).await
}

/// Derives the weights of the target, and compares them with those of the source.
async fn derive(moved: &Transferred, config: &Config, from: &DatabaseUrl) -> Result<(), CliError> {
    let service = Service::open(moved.to.clone(), config.service())?;
    service.learning().refresh().await?;
    let verified = service.learning().compare_with(&moved.from).await?;
    service.close().await;
    moved.from.close().await;
    match verified {
        Verified::Equal(weights) => {
            let weights = counted(weights, "weight");
            say(&format!(
                "{weights} derived from them: all equal to those of {from}"
            ))
        }
        Verified::Incomparable(why) => say(&format!(
            "note: the weights were derived, but not compared with those of {from}: {why}"
        )),
        Verified::Different(count, one) => Err(CliError::damaged(format!(
            "{} of {from} {} not what its matches give, among them that of {}. The new database has what they give",
            counted(count, "weight"),
            if count == 1 { "is" } else { "are" },
            printable(&one)
        ))),
    }
}

/// Prints a line. The command goes on if nobody reads it, as behind `head`.
fn say(line: &str) -> Result<(), CliError> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Makes the source of an earlier transfer usable again.
async fn undo(from: &DatabaseUrl, patience: Duration) -> Result<(), CliError> {
    let Some(to) = store::take_back(from, patience).await? else {
        return Err(CliError::input(format!("{from} was not moved")));
    };
    writeln!(
        io::stdout(),
        "{from} can be used again; what was written to {to} since is not in it"
    )?;
    Ok(())
}

/// The place that an argument names.
fn place(name: &str, text: &str) -> Result<DatabaseUrl, CliError> {
    match text.contains("://") {
        false => Ok(DatabaseUrl::File(text.into())),
        true => match PostgresUrl::parse(text) {
            Ok(url) => Ok(DatabaseUrl::Server(url, PoolSettings::default())),
            Err(why) => Err(CliError::input(format!("{name} {why}"))),
        },
    }
}

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

pub(super) async fn run_export(args: ExportArgs) -> Result<(), CliError> {
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
