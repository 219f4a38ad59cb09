//! `evenkeel backup`: copies the database.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;

use super::{CliError, CommonArgs, sqlite_file};
use crate::store;

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
    store::back_up(&database, &args.file).await?;
    let size = std::fs::metadata(&args.file)?.len();
    let file = args.file.display();
    writeln!(io::stdout(), "{file}: {} kB", size.div_ceil(1_000))?;
    Ok(())
}
