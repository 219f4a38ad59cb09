//! `evenkeel rebuild`: all weights anew from the stored matches.

use std::io::{self, Write};

use clap::Args;

use super::{CliError, Place, open, progress::Progress};

/// Delete all weights and learn them again from the stored matches
///
/// The result is the same, to the bit, as learning from one match after the other, in whatever order
/// the logs came in. A running daemon sees it within a second.
#[derive(Debug, Args)]
pub(super) struct RebuildArgs {
    #[command(flatten)]
    place: Place,
}

pub(super) async fn run(args: RebuildArgs) -> Result<(), CliError> {
    let config = args.place.load()?;
    let service = open(&config, false).await?;
    let total = service.match_count().await?;
    let mut progress = Progress::new(total, "{wide_bar} {pos}/{len} matches, {eta} to go");
    let rebuilt = service.rebuild(|done| progress.set(done)).await?;
    progress.done();
    service.close().await;
    writeln!(
        io::stdout(),
        "{} weights from {} matches, {} of them rated",
        rebuilt.weights,
        rebuilt.matches,
        rebuilt.rated
    )?;
    Ok(())
}
