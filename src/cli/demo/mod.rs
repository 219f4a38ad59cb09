//! `evenkeel demo`: shows what the program does on recorded matches, without any preparation.
//!
//! The bundled history contains 60 capture-the-flag matches that bots of known skill played on a
//! real OpenArena server, in the interchange format. The demo ingests it as `evenkeel ingest` does,
//! with the default configuration. It does not read the environment or touch the user's database.
//! The same binary always prints the same text.

mod held_out;
mod story;
mod teams;

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use tempfile::TempDir;

use super::{CliError, config_file::FOLDER_FILE, open};
use crate::{
    config::Config,
    daemon::ShutdownSignal,
    logs::Ingest,
    model::{Kind, MatchRecord},
    server::Service,
    store::WeightRow,
};
use held_out::HeldOut;
use teams::PickedTeams;

/// The recorded matches, as `evenkeel export` wrote them.
const HISTORY: &[u8] = include_bytes!("openarena-ctf.jsonl.gz");

/// The ruleset that all of them were played under.
const RULESET: &str = "baseoa.ctf";

/// The file name of the demo's database.
const DATABASE: &str = "evenkeel.db";

/// The file name of the configuration that `--keep` writes beside the database.
const CONFIG: &str = FOLDER_FILE;

/// The exit code after a signal: what shells report for Ctrl-C.
const INTERRUPTED: u8 = 130;

/// How long a demo that was interrupted may take to stop, and then to remove its folder.
const LEAVE: Duration = Duration::from_secs(5);

/// Show what Evenkeel does, on 60 recorded matches that come with the program
///
/// Learns from the matches, prints the leaderboard, picks teams, explains them, and measures how
/// well it predicts matches that it has not seen. Works in a temporary folder, which is removed at
/// the end, and reads no configuration.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Leave the database and a configuration in FOLDER, for `evenkeel serve --dir FOLDER`. The folder is created
    /// when missing; existing files are not overwritten
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// Returns [`INTERRUPTED`] if Ctrl-C or SIGTERM ends it.
pub(super) async fn run(args: DemoArgs) -> Result<ExitCode, CliError> {
    let mut shutdown = ShutdownSignal::install()?;
    let kept = args.keep.as_deref().map(Kept::prepare).transpose()?;
    // Removes itself when it goes out of scope, on errors, too.
    let folder = TempDir::with_prefix("evenkeel-demo-")?;
    let database = folder.path().join(DATABASE);
    let (path, opened) = (folder.path().to_owned(), database.clone());
    // A task of its own: it computes for seconds without noticing a signal.
    let mut showing = tokio::spawn(async move { show(&path, &opened).await });
    tokio::select! {
        shown = &mut showing => shown??,
        () = shutdown.wait() => {
            showing.abort();
            let _ = tokio::time::timeout(LEAVE, showing).await;
            remove(folder).await;
            return Ok(ExitCode::from(INTERRUPTED));
        }
    }
    if let Some(kept) = &kept {
        kept.fill(&database)?;
    }
    folder.close()?;
    story::next(&mut io::stdout().lock(), kept.as_ref())?;
    Ok(ExitCode::SUCCESS)
}

/// Removes the folder, although the database may still be creating files in it.
///
/// Removing fails when a file appears in the meantime, and is then tried again. Once the folder is
/// gone, nothing can appear in it.
async fn remove(folder: TempDir) {
    let path = folder.keep();
    let removing = async {
        while fs::remove_dir_all(&path).is_err() && path.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let _ = tokio::time::timeout(LEAVE, removing).await;
}

/// Learns in `folder` and prints everything but the last section.
async fn show(folder: &Path, database: &Path) -> Result<(), CliError> {
    let mut config = Config::load("", [])?;
    config.store.database = database.to_owned();
    let service = open(&config, true).await?;
    let shown = show_with(folder, &service, &config).await;
    service.close().await;
    shown
}

async fn show_with(folder: &Path, service: &Service, config: &Config) -> Result<(), CliError> {
    let history = folder.join("openarena-ctf.jsonl.gz");
    fs::write(&history, HISTORY)?;
    Ingest::new(service.store())
        .file(&history, &mut |_| ())
        .await?;
    service.learning().refresh().await?;
    let matches: Vec<MatchRecord> = service.learning().matches().await?;
    let weights: Vec<WeightRow> = service
        .store()
        .learned()
        .weights(RULESET, Kind::Bot)
        .await?;
    let lobby = PickedTeams::choose(service, config, &weights)?;
    let forecast = HeldOut::of(&matches, service.learning().rulebook(), config);
    let mut out = io::stdout().lock();
    story::leaderboard(&mut out, &matches, &weights)?;
    story::teams(&mut out, &lobby)?;
    story::reasons(&mut out, &lobby)?;
    Ok(story::predictions(&mut out, &forecast)?)
}

/// The two files that `--keep` writes, with absolute paths.
struct Kept {
    database: PathBuf,
    config: PathBuf,
    /// The folder of both.
    folder: PathBuf,
}

impl Kept {
    /// Creates the folder.
    ///
    /// # Errors
    /// Fails if the folder cannot be created or contains one of the files already.
    fn prepare(folder: &Path) -> Result<Self, CliError> {
        let fail = CliError::in_file(folder);
        fs::create_dir_all(folder).map_err(fail)?;
        let folder = std::path::absolute(folder).map_err(fail)?;
        let kept = Self {
            database: folder.join(DATABASE),
            config: folder.join(CONFIG),
            folder,
        };
        for path in [&kept.database, &kept.config] {
            // A dangling symbolic link counts as existing, too.
            if path.symlink_metadata().is_ok() {
                let path = path.display();
                let why = format!("{path} exists and is not overwritten; name another folder");
                return Err(CliError::input(why));
            }
        }
        Ok(kept)
    }

    /// Copies the closed database and writes a configuration for it.
    ///
    /// # Errors
    /// Fails if the disk does, or if one of the files has appeared meanwhile; that file stays
    /// unchanged.
    fn fill(&self, database: &Path) -> Result<(), CliError> {
        create(&self.database, |to| {
            io::copy(&mut File::open(database)?, to).map(drop)
        })?;
        create(&self.config, |to| to.write_all(story::config().as_bytes())).inspect_err(|_| {
            let _ = fs::remove_file(&self.database);
        })
    }
}

/// Writes a new file, and removes it again if writing fails.
fn create(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), CliError> {
    let fail = CliError::in_file(path);
    let mut file = File::create_new(path).map_err(fail)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written.map_err(fail)
}
