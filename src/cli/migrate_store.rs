//! `evenkeel migrate-store`: transfers a database to another one.

use std::{
    io::{self, Write},
    time::Duration,
};

use clap::Args;

use super::{CliError, SettingsArgs, progress::Progress, table::printable};
use crate::{
    config::Config,
    learning::Verified,
    model::counted,
    server::Service,
    store::{
        self, DatabaseUrl, TransferError, Transferred,
        postgres::{PoolSettings, PostgresUrl},
    },
};

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

pub(super) async fn run(args: MigrateStoreArgs) -> Result<(), CliError> {
    let config = args.settings.load()?;
    let patience = config.store.busy_ms.duration();
    let from = place("FROM", &args.from)?;
    let Some(to) = &args.to else {
        return undo(&from, patience).await;
    };
    let to = place("TO", to)?;
    let mut bar = None;
    let moved = store::transfer(&from, &to, patience, |done, total| {
        bar.get_or_insert_with(|| {
            Progress::new(total, "{wide_bar} {pos}/{len} matches, {eta} to go")
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
