//! `evenkeel sidecar`: balances a game server that cannot use the line protocol, through its log
//! and its remote console. The room `sidecar` makes the decisions, and the drivers of the room `client` carry them out.

mod agent;
mod chat;
mod common;
mod daemon;
mod place;
mod server;
mod source;
mod teeworlds;
mod xonotic;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand};

use super::CliError;
use crate::{
    client::drivers::{DaemonConnection, Driver, GameLog, IdTech3Console, RemoteConsole},
    daemon::ShutdownSignal,
    sidecar::{
        engine::Engine,
        follower::{Follower, FollowerSettings},
        idtech3::{IdTech3, SpareBot},
    },
};
pub(super) use agent::{
    AgentArgs, TeeworldsAgentArgs, run as run_agent, run_teeworlds as run_teeworlds_agent,
};
use chat::ChatArgs;
use common::FollowerArgs;

/// How often the command for a move is sent before the sidecar gives up on the move.
const ATTEMPTS: u32 = 3;

/// Balance a game server that cannot speak the protocol, by its log and its remote console
#[derive(Debug, Args)]
pub(super) struct SidecarArgs {
    #[command(subcommand)]
    engine: EngineArgs,
}

#[derive(Debug, Subcommand)]
enum EngineArgs {
    Idtech3(Box<IdTech3Args>),
    Source(Box<source::SourceArgs>),
    Teeworlds(Box<teeworlds::TeeworldsArgs>),
    Xonotic(Box<xonotic::XonoticArgs>),
}

/// Quake III Arena, OpenArena, Urban Terror and their relatives
#[derive(Debug, Args)]
struct IdTech3Args {
    /// Log that the game server writes (g_log, with g_logsync 1)
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    #[command(flatten)]
    common: FollowerArgs,
    /// Folder from which the game server executes files [default: the folder of the log]
    #[arg(long, value_name = "FOLDER")]
    exec_dir: Option<PathBuf>,
    /// Move humans by !putteam instead of forceteam, for games with admin commands
    #[arg(long)]
    admin: bool,
    /// Bot, with its skill, that may be added and removed to fill the teams; may be repeated
    #[arg(long = "bot", value_name = "NAME:SKILL")]
    bots: Vec<SpareBot>,
    #[command(flatten)]
    chat: ChatArgs,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|s: &f64| (0.1..=60.0).contains(s));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "must be 0.1 to 60 seconds".to_owned())
}

pub(super) async fn run(args: SidecarArgs) -> Result<(), CliError> {
    match args.engine {
        EngineArgs::Idtech3(args) => run_idtech3(*args).await,
        EngineArgs::Source(args) => source::run(*args).await,
        EngineArgs::Teeworlds(args) => teeworlds::run(*args).await,
        EngineArgs::Xonotic(args) => xonotic::run(*args).await,
    }
}

async fn run_idtech3(args: IdTech3Args) -> Result<(), CliError> {
    let log = GameLog::file(&args.log)?;
    let settings = FollowerSettings {
        chat: args.chat.settings(),
        ..args.common.settings()?
    };
    let console: Option<Box<dyn RemoteConsole>> = match args.common.dry_run {
        true => None,
        false => Some(Box::new(open_console(&args).await?)),
    };
    let engine = IdTech3::new(args.admin, args.bots);
    follow(engine, settings, log, &args.common, console).await
}

async fn open_console(args: &IdTech3Args) -> Result<IdTech3Console, CliError> {
    let server = &args.common.server;
    let password = server.password()?;
    let folder = exec_folder(args.exec_dir.as_deref(), &args.log);
    let console = IdTech3Console::open(server.rcon, password, folder).await?;
    Ok(console.checked().await)
}

/// Runs the sidecar of a game server with this engine until a signal stops it.
async fn follow(
    engine: impl Engine,
    settings: FollowerSettings,
    log: GameLog,
    common: &FollowerArgs,
    console: Option<Box<dyn RemoteConsole>>,
) -> Result<(), CliError> {
    let server = &common.server;
    let daemon = DaemonConnection::new(server.daemon.endpoint()?);
    let mut shutdown = ShutdownSignal::install()?;
    let sidecar = Follower::new(engine, settings);
    let sidecar = match common.dry_run {
        true => sidecar.without_reports(),
        false => sidecar.with_source(place::source(server.rcon)),
    };
    let driver = Driver::new(sidecar, log, daemon, console, report);
    Ok(driver.run_until(shutdown.wait()).await?)
}

/// Prints a line for the operator, and flushes it in case stdout is a file.
fn report(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// The folder from which the game server executes files.
fn exec_folder<'a>(given: Option<&'a Path>, log: &'a Path) -> &'a Path {
    let of_log = log.parent().filter(|dir| !dir.as_os_str().is_empty());
    given.or(of_log).unwrap_or(Path::new("."))
}
