//! `evenkeel check`: whether the database is whole, and the weights are those of its matches.

use std::{
    io::{self, Write},
    path::Path,
};

use clap::Args;
use serde::Serialize;
use tempfile::TempDir;

use super::{CliError, CommonArgs, open, print_json, progress::Progress, sqlite_file};
use crate::{
    config::Config,
    model::counted,
    store::{self, DerivedFrom, SqliteFile},
};

/// Check that the SQLite database is whole, and that its weights are those of its matches
///
/// Copies the database to a temporary folder beside it, which takes as much room again, derives all
/// weights there anew, and compares them to the last bit. The database itself is only read; the daemon may
/// run. Exits with 5 if something is wrong.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// What a check has found.
#[derive(Debug, Serialize)]
struct Findings {
    /// The number of rows in each table.
    rows: Vec<(String, i64)>,
    /// What is wrong, one sentence each.
    faults: Vec<String>,
    /// What was not checked, and why.
    notes: Vec<String>,
}

pub(super) async fn run(args: CheckArgs) -> Result<(), CliError> {
    let mut config = args.common.load()?;
    let busy = config.store.busy_ms.duration();
    let path = sqlite_file(&config)?;
    let database = store::open_file(&path, busy).await?;
    let mut findings = Findings {
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
        store::back_up(&database, &copy).await?;
        let database = store::open_file(&copy, busy).await?;
        findings.rows = database.counts().await?;
        config.store.database = copy;
        derive_again(&config, &database, &mut findings).await?;
    }
    report(&findings, args.json)?;
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
    findings: &mut Findings,
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
    let mut progress = Progress::of_matches(&service).await?;
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

fn report(findings: &Findings, json: bool) -> Result<(), CliError> {
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
