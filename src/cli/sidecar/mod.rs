//! `evenkeel sidecar`: balances a game server that cannot use the line protocol, through its log
//! and its remote console. The room `sidecar` makes the decisions; this one provides files, sockets
//! and the clock.

mod agent;
mod chat;
mod common;
mod console;
mod daemon;
mod darkplaces_console;
mod driver;
mod game_log;
mod source;
mod source_console;
mod way;
mod xonotic;

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand};

use super::CliError;
use crate::sidecar::idtech3::{IdTech3, Settings, SpareBot};
pub(super) use agent::{AgentArgs, run as run_agent};
use chat::ChatArgs;
use console::{Console, Password};
use driver::{RemoteConsole, SidecarDriver};
use game_log::GameLog;
use way::DaemonArgs;

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
    Xonotic(Box<xonotic::XonoticArgs>),
}

/// Quake III Arena, OpenArena, Urban Terror and their relatives
#[derive(Debug, Args)]
struct IdTech3Args {
    /// Log that the game server writes (g_log, with g_logsync 1)
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// Address of the game server's remote console
    #[arg(long, value_name = "ADDRESS:PORT")]
    rcon: SocketAddr,
    /// File whose first line is the rcon password [default: the variable EVENKEEL_RCON_PASSWORD]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    #[command(flatten)]
    daemon: DaemonArgs,
    /// Name of this game server in the daemon [default: the address of its console]
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// File whose first line is this game server's token, if the daemon requires one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Folder from which the game server executes files [default: the folder of the log]
    #[arg(long, value_name = "DIR")]
    exec_dir: Option<PathBuf>,
    /// Choose teams when no player has joined or left for this long (0.1 to 60)
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    settle: Duration,
    /// Pick a team for each bot by its own weight, as for a human
    #[arg(long)]
    treat_bots_as_players: bool,
    /// Move players during play, too: late arrivals, and players who die while their team is too
    /// strong
    #[arg(long)]
    auto_balance: bool,
    /// Move humans by !putteam instead of forceteam, for games with admin commands
    #[arg(long)]
    admin: bool,
    /// Bot, with its skill, that may be added and removed to fill the teams; may be repeated
    #[arg(long = "bot", value_name = "NAME:SKILL")]
    bots: Vec<SpareBot>,
    #[command(flatten)]
    chat: ChatArgs,
    /// Print the console commands without sending them
    #[arg(long)]
    dry_run: bool,
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
        EngineArgs::Xonotic(args) => xonotic::run(*args).await,
    }
}

async fn run_idtech3(args: IdTech3Args) -> Result<(), CliError> {
    let token = args.token_file.as_deref().map(secret_in).transpose()?;
    let console: Option<Box<dyn RemoteConsole>> = match args.dry_run {
        true => None,
        false => Some(Box::new(open_console(&args).await?)),
    };
    let settings = Settings {
        server: args.server.clone().unwrap_or_else(|| args.rcon.to_string()),
        token,
        bots_as_players: args.treat_bots_as_players,
        auto_balance: args.auto_balance,
        admin: args.admin,
        settle: args.settle.as_millis().try_into().unwrap_or(u64::MAX),
        attempts: if args.dry_run { 1 } else { ATTEMPTS },
        spare_bots: args.bots.clone(),
        chat: args.chat.settings(),
    };
    let driver = SidecarDriver::new(
        IdTech3::new(settings),
        GameLog::file(&args.log),
        args.daemon.way()?,
        console,
    );
    driver.run_until_stopped().await
}

async fn open_console(args: &IdTech3Args) -> Result<Console, CliError> {
    let password = rcon_password(args.password_file.as_deref())?;
    let folder = exec_folder(args.exec_dir.as_deref(), &args.log);
    Console::open(args.rcon, password, folder).await
}

/// The folder from which the game server executes files.
fn exec_folder<'a>(given: Option<&'a Path>, log: &'a Path) -> &'a Path {
    let of_log = log.parent().filter(|dir| !dir.as_os_str().is_empty());
    given.or(of_log).unwrap_or(Path::new("."))
}

/// The password of the remote console, from a file or the environment.
fn rcon_password(file: Option<&Path>) -> Result<Password, CliError> {
    let password = match file {
        Some(file) => secret_in(file)?,
        None => std::env::var("EVENKEEL_RCON_PASSWORD").unwrap_or_default(),
    };
    Password::new(&password).map_err(|why| CliError::Input(why.to_owned()))
}

/// The first line of a file that contains a secret.
fn secret_in(file: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(file).map_err(|source| CliError::File {
        path: file.to_owned(),
        source,
    })?;
    Ok(text.lines().next().unwrap_or("").to_owned())
}
