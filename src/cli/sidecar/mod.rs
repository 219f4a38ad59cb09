//! `evenkeel sidecar`: balances a game server that cannot use the line protocol, through its log
//! and its remote console. The room `sidecar` makes the decisions, and the drivers of the room `client` carry them out.

mod agent;
mod common;

pub(super) use agent::{
    AgentArgs, TeeworldsAgentArgs, run as run_agent, run_teeworlds as run_teeworlds_agent,
};

use std::{
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand};

use super::CliError;
use crate::{
    client::drivers::{
        DaemonConnection, DarkPlacesConsole, Driver, GameLog, IdTech3Console, RemoteConsole,
        Security, SourceConsole, TeeworldsConsole,
    },
    daemon::ShutdownSignal,
    sidecar::{
        engine::Engine,
        follower::{CommandTemplate, Follower, FollowerSettings, TemplateCommands},
        idtech3::{IdTech3, SpareBot},
        source::Source,
        teeworlds::Teeworlds,
        xonotic::Xonotic,
    },
};

use common::{BotsArgs, ChatArgs, FollowerArgs, millis, parse_opening, parse_with, secret_in};

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
    Source(Box<SourceArgs>),
    Teeworlds(Box<TeeworldsArgs>),
    Xonotic(Box<XonoticArgs>),
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
        EngineArgs::Source(args) => run_source(*args).await,
        EngineArgs::Teeworlds(args) => run_teeworlds(*args).await,
        EngineArgs::Xonotic(args) => run_xonotic(*args).await,
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
        false => sidecar.with_source(common::source(server.rcon)),
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

/// Team Fortress 2, Counter-Strike: Source, Counter-Strike: Global Offensive and their relatives
#[derive(Debug, Args)]
struct SourceArgs {
    /// Log that the game server writes (log on, sv_logflush 1), or the folder of its logs
    #[arg(long, value_name = "PATH", required_unless_present = "log_udp")]
    log: Option<PathBuf>,
    /// Address on which to receive the log, in place of --log (logaddress_add)
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "log", value_parser = parse_log)]
    log_udp: Option<SocketAddr>,
    /// File whose first line is the sv_logsecret of the game server
    #[arg(long, value_name = "FILE", requires = "log_udp")]
    log_secret_file: Option<PathBuf>,
    #[command(flatten)]
    common: FollowerArgs,
    #[command(flatten)]
    bots: BotsArgs,
    /// Console command of a plugin that moves a player: {player} is the userid, {number} the team
    /// (2 or 3), {team} its name (red, blue, t, ct) [the default is that of SourceMod's SwapTeam]
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "sm_team \"#{player}\" {number}",
        value_parser = CommandTemplate::of_move
    )]
    move_command: CommandTemplate,
    /// Time after the first player has joined a map in which the server waits for others, a little
    /// longer than mp_waitingforplayers_time (0 to 600)
    #[arg(long, value_name = "SECONDS", default_value = "40", value_parser = parse_opening)]
    opening: Duration,
    /// Folder of the game, such as tf or cstrike, if the log does not state it
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
}

fn parse_log(text: &str) -> Result<SocketAddr, String> {
    parse_with(text, 27_500)
}

async fn run_source(args: SourceArgs) -> Result<(), CliError> {
    let common = &args.common;
    let server = &common.server;
    let settings = common.settings()?;
    let console: Option<Box<dyn RemoteConsole>> = match common.dry_run {
        true => None,
        false => Some(Box::new(SourceConsole::open(
            server.rcon,
            server.password()?,
        ))),
    };
    let log = match (&args.log, args.log_udp) {
        (_, Some(listen)) => {
            let secret = args.log_secret_file.as_deref().map(secret_in).transpose()?;
            GameLog::datagrams(listen, server.rcon.ip(), secret)?
        }
        (Some(path), None) => GameLog::file_or_folder(path),
        (None, None) => return Err(CliError::input("--log or --log-udp is missing")),
    };
    let commands = TemplateCommands {
        move_command: args.move_command,
        bots_command: args.bots.bots_command,
    };
    let engine = Source::new(commands, args.game, millis(args.opening));
    follow(engine, settings, log, common, console).await
}

/// Teeworlds 0.7
#[derive(Debug, Args)]
struct TeeworldsArgs {
    /// File with what the game server prints [default: what its external console prints]
    #[arg(long, value_name = "FILE", required_if_eq("dry_run", "true"))]
    log: Option<PathBuf>,
    #[command(flatten)]
    common: FollowerArgs,
    #[command(flatten)]
    chat: ChatArgs,
}

async fn run_teeworlds(args: TeeworldsArgs) -> Result<(), CliError> {
    let common = &args.common;
    let server = &common.server;
    let settings = FollowerSettings {
        chat: args.chat.settings(),
        ..common.settings()?
    };
    let console: Option<Box<dyn RemoteConsole>> = match common.dry_run {
        true => None,
        false => Some(Box::new(TeeworldsConsole::open(
            server.rcon,
            server.password()?,
        ))),
    };
    let log = match &args.log {
        Some(path) => GameLog::file(path)?,
        None => GameLog::console(),
    };
    let engine = Teeworlds::default();
    follow(engine, settings, log, common, console).await
}

/// Xonotic and Nexuiz
#[derive(Debug, Args)]
struct XonoticArgs {
    /// Event log that the game server writes (sv_eventlog 1, sv_eventlog_files 1), or the folder of its
    /// logs
    #[arg(long, value_name = "PATH")]
    log: PathBuf,
    #[command(flatten)]
    common: FollowerArgs,
    #[command(flatten)]
    bots: BotsArgs,
    /// How to prove that the password is known: 0 by sending it, 1 by a code of the time, 2 by a code
    /// of a text that the server chooses; the server's rcon_secure or more
    #[arg(long, value_name = "0|1|2", default_value = "2", value_parser = parse_security)]
    rcon_secure: Security,
    /// Console command that moves a player: {player} is the player's number on the server, {team} the
    /// name of the team; for Nexuiz, "sv_cmd movetoteam {player} {team}"
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "sv_cmd moveplayer {player} {team}",
        value_parser = CommandTemplate::of_move
    )]
    move_command: CommandTemplate,
    /// Choose teams in the warm-up before each game (g_warmup), until the map restarts
    #[arg(long)]
    warm_up: bool,
    /// Without --warm-up: time after the first player has joined a game in which teams are chosen, that
    /// of g_start_delay (0 to 600)
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = parse_opening)]
    opening: Duration,
}

fn parse_security(text: &str) -> Result<Security, String> {
    match text {
        "0" => Ok(Security::Password),
        "1" => Ok(Security::Time),
        "2" => Ok(Security::Challenge),
        _ => Err("must be 0, 1 or 2".to_owned()),
    }
}

async fn run_xonotic(args: XonoticArgs) -> Result<(), CliError> {
    let common = &args.common;
    let server = &common.server;
    let settings = common.settings()?;
    let console: Option<Box<dyn RemoteConsole>> = match common.dry_run {
        true => None,
        false => {
            let password = server.password()?;
            let console = DarkPlacesConsole::open(server.rcon, password, args.rcon_secure).await?;
            Some(Box::new(console))
        }
    };
    let commands = TemplateCommands {
        move_command: args.move_command,
        bots_command: args.bots.bots_command,
    };
    let engine = Xonotic::new(commands, args.warm_up, millis(args.opening));
    let log = GameLog::file_or_folder(&args.log);
    follow(engine, settings, log, common, console).await
}
