//! `evenkeel migrate-store`: transfers a database to another one.

use std::{
    io::{self, Write},
    time::Duration,
};

use clap::Args;

use super::{
    CliError, SettingsArgs,
    progress::Progress,
    table::{Table, printable},
};
use crate::{
    config::Config,
    domain::counted,
    learning::Verified,
    server::Service,
    store::{
        self, DatabaseUrl, TableCompared, Transfer,
        postgres::{PoolSettings, PostgresUrl},
    },
};

/// How many digits of a sum are printed.
const DIGITS: usize = 16;

/// Copy a whole database to an empty one, from SQLite to PostgreSQL or back
///
/// Stop all daemons first: FROM is locked until the end. Its rows are not changed, except that an older database is
/// first brought up to date. At the end, FROM gets a mark with which no daemon starts on it any more. TO is a file that does not exist yet, or an empty PostgreSQL
/// database; it cannot be used before everything is in it. If the command ends too early, run it
/// again, and it goes on. At the end it reads both sides again, compares each table by the SHA-256 of all its
/// rows, and derives all weights from the matches of TO, with the configuration of the daemon. Exits with 5 if something differs.
#[derive(Debug, Args)]
pub(super) struct MigrateStoreArgs {
    /// The database to copy: the path of an SQLite file, or postgres://USER@HOST/DATABASE
    #[arg(value_name = "FROM")]
    from: String,
    /// Where to copy it: a path or a URL, too
    #[arg(value_name = "TO", required_unless_present = "undo")]
    to: Option<String>,
    /// Make FROM usable again, which was copied to another database. It lacks what was written to that one since
    #[arg(long, conflicts_with = "to")]
    undo: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) async fn run(args: MigrateStoreArgs) -> Result<(), CliError> {
    let config = args.settings.load()?;
    let patience = config.store.busy_ms.duration();
    let from = place("FROM", &args.from)?;
    let Some(to) = &args.to else {
        return undo(&from, patience).await;
    };
    let to = place("TO", to)?;
    let mut transfer = Transfer::open(&from, &to, patience).await?;
    let total = transfer.rows().await?;
    copy(&mut transfer, total).await?;
    let compared = compare(&mut transfer, total).await?;
    let mut faults: Vec<String> = compared
        .iter()
        .filter(|table| !table.is_equal())
        .map(|table| format!("the table {} differs", table.table))
        .collect();
    print(&compared)?;
    let changed = compared.iter().map(TableCompared::changed_texts).sum();
    match verify(&transfer, &config).await? {
        Verified::Equal(weights) => {
            let weights = counted(weights, "weight");
            say(&format!("{weights} derived again from {to}: all equal"))?;
        }
        Verified::Incomparable(why) => {
            say(&format!(
                "note: {why}; they were copied, but not derived again"
            ))?;
        }
        Verified::Different(count, one) => faults.push(format!(
            "{} of {to} {} not what its matches give, among them that of {}",
            counted(count, "weight"),
            if count == 1 { "is" } else { "are" },
            printable(&one)
        )),
    }
    if !faults.is_empty() {
        let faults = faults.join("; ");
        return Err(CliError::damaged(format!(
            "{faults}. {to} cannot be used: remove what is in it, and begin again"
        )));
    }
    finish(transfer, changed).await?;
    say(&format!("{to} has all that is in {from}"))
}

/// Prints a line. The transfer goes on if nobody reads it, as behind `head`: otherwise it would end half done.
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

async fn copy(transfer: &mut Transfer, total: u64) -> Result<(), CliError> {
    let mut progress = Progress::new(total, "{wide_bar} {pos}/{len} rows copied, {eta} to go");
    let mut done = 0;
    let copied = transfer.copy(|rows| {
        done += rows;
        progress.set(done);
    });
    let copied = copied.await;
    progress.done();
    Ok(copied?)
}

async fn compare(transfer: &mut Transfer, total: u64) -> Result<Vec<TableCompared>, CliError> {
    let mut progress = Progress::new(total, "{wide_bar} {pos}/{len} rows compared, {eta} to go");
    let mut done = 0;
    let compared = transfer.compare(|rows| {
        done += rows;
        progress.set(done);
    });
    let compared = compared.await;
    progress.done();
    Ok(compared?)
}

/// Derives all weights from the matches of the target, and compares them with those that were copied.
async fn verify(transfer: &Transfer, config: &Config) -> Result<Verified, CliError> {
    let service = Service::open(transfer.target(), config.service())?;
    let mut progress = Progress::of_matches(&service).await?;
    let verified = service.learning().verify(|done| progress.set(done)).await;
    progress.done();
    Ok(verified?)
}

fn print(compared: &[TableCompared]) -> Result<(), CliError> {
    let digits = |sum: String| sum.chars().take(DIGITS).collect::<String>();
    let result = |one: &TableCompared| match one.is_equal() {
        true => "equal".to_owned(),
        false => format!("TO has {}", digits(one.target.to_string())),
    };
    let shown = Table::of(compared)
        .text("table", |one| one.table)
        .num("rows", |one| one.source.rows)
        .num("rows in TO", |one| one.target.rows)
        .text("sum of SHA-256", |one| digits(one.source.to_string()))
        .text("", result);
    say(&shown.to_string())
}

/// Ends the transfer, so that the target can be used.
async fn finish(transfer: Transfer, changed: u64) -> Result<(), CliError> {
    if changed > 0 {
        let texts = counted(changed, "text");
        say(&format!(
            "note: {texts} with the character NUL, which PostgreSQL does not store, have U+FFFD instead; the \
             weights are derived again at the next start"
        ))?;
    }
    Ok(transfer.finish(changed > 0).await?)
}
