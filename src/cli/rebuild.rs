//! `evenkeel rebuild`: all weights anew from the stored matches.

use std::io::{self, Write};

use clap::Args;

use super::{CliError, Place, archive, open, progress::Progress};
use crate::{logs, service::Service};

/// Delete all weights and learn them again from the stored matches
///
/// The result is the same, to the bit, as learning from one match after the other, in whatever order
/// the logs came in. A running daemon sees it within a second.
#[derive(Debug, Args)]
pub(super) struct RebuildArgs {
    /// Read all archived logs again first, and let what they tell now take the place of what they
    /// told before; matches that no archived log told of stay
    #[arg(long)]
    from_logs: bool,
    #[command(flatten)]
    place: Place,
}

pub(super) async fn run(args: RebuildArgs) -> Result<(), CliError> {
    let config = args.place.load()?;
    let archive = match args.from_logs {
        true => Some(archive(&config)?.ok_or_else(|| {
            CliError::Input("no logs are archived: ingest.archive is not set".to_owned())
        })?),
        false => None,
    };
    // An archive outlives its database.
    let service = open(&config, args.from_logs).await?;
    if let Some(archive) = archive {
        let mut progress =
            Progress::new(archive.logs()?.len() as u64, "{wide_bar} {pos}/{len} logs");
        let reread = logs::reread(service.store(), &archive, |done, _| progress.set(done)).await?;
        progress.done();
        let matches = reread.matches;
        writeln!(
            io::stdout(),
            "{} logs read again: {} matches as they were, {} removed, {} added",
            reread.logs,
            matches.same,
            matches.removed,
            matches.added
        )?;
        if matches.kept > 0 {
            let kept = matches.kept;
            writeln!(
                io::stdout(),
                "{kept} matches kept, since somebody in them is forgotten"
            )?;
        }
        if reread.unknown > 0 {
            let unknown = reread.unknown;
            writeln!(
                io::stdout(),
                "{unknown} logs are of no format that is known"
            )?;
        }
    }
    learn(&service).await?;
    service.close().await;
    Ok(())
}

async fn learn(service: &Service) -> Result<(), CliError> {
    let (total, _) = service.store().extent().await?;
    let total = u64::try_from(total).unwrap_or(0);
    let mut progress = Progress::new(total, "{wide_bar} {pos}/{len} matches, {eta} to go");
    let rebuilt = service
        .learning()
        .rebuild(|done| progress.set(done))
        .await?;
    progress.done();
    writeln!(
        io::stdout(),
        "{} weights from {} matches, {} of them rated",
        rebuilt.weights,
        rebuilt.matches,
        rebuilt.rated
    )?;
    Ok(())
}
