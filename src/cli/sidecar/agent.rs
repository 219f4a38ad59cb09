//! `evenkeel hosting idtech3` and `hosting teeworlds`: make a game server an instance, which hosts matches of queues.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, ValueEnum};

use super::{
    common::{ServerArgs, millis},
    exec_folder, report,
};
use crate::{
    cli::{CliError, random},
    client::drivers::{
        DaemonConnection, Driver, GameLog, IdTech3Console, KeptMatch, RemoteConsole, ServerProcess,
        TeeworldsConsole,
    },
    daemon::ShutdownSignal,
    model::to_hex,
    sidecar::{
        agent::{Agent, AgentSettings, GameMode, HostEngine, Limit, map_name},
        idtech3::{self, IdTech3Host},
        teeworlds::{self, TeeworldsHost},
    },
};

/// The largest delay between two attempts to connect to the daemon. An instance that stays away for
/// longer than `[coordinator] return_seconds` loses its match.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What happens to clients who are no players of the match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Strangers {
    /// They are disconnected.
    Kick,
    /// They are kept off the teams.
    Watch,
}

/// Make a game server host matches of queues: OpenArena, Quake III Arena and their relatives
#[derive(Debug, Args)]
pub(in crate::cli) struct AgentArgs {
    /// Log that the game server writes (g_log, with g_logsync 1)
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
    /// Folder from which the game server executes files [default: the folder of the log]
    #[arg(long, value_name = "FOLDER")]
    exec_dir: Option<PathBuf>,
    /// Modes that it serves: tdm, ctf, oneflag, overload, harvester, elimination, ctfelimination,
    /// domination, or NAME=NUMBER with the g_gametype of a team game. A match without a mode gets the
    /// first one
    #[arg(
        long,
        value_name = "MODE,…",
        value_delimiter = ',',
        default_value = "ctf",
        value_parser = idtech3::host_mode
    )]
    modes: Vec<GameMode>,
    /// When games end: [QUEUE:]time=MINUTES, captures=N or frags=N; may be repeated
    #[arg(long = "limit", value_name = "LIMIT", value_parser = idtech3::host_limit)]
    limits: Vec<Limit>,
    #[command(flatten)]
    hosting: AgentMatchArgs,
}

/// Make a game server host matches of queues: Teeworlds 0.7
///
/// Players are recognised by their names: who has the name of a player of the match is that player.
#[derive(Debug, Args)]
pub(in crate::cli) struct TeeworldsAgentArgs {
    /// File with what the game server prints
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
    /// Modes that it serves: ctf, tdm and lts, or NAME=TYPE with one of them. A match without a mode gets the first one
    #[arg(
        long,
        value_name = "MODE,…",
        value_delimiter = ',',
        default_value = "ctf",
        value_parser = teeworlds::host_mode
    )]
    modes: Vec<GameMode>,
    /// When games end: [QUEUE:]time=MINUTES or score=N; may be repeated
    #[arg(long = "limit", value_name = "LIMIT", value_parser = teeworlds::host_limit)]
    limits: Vec<Limit>,
    #[command(flatten)]
    hosting: AgentMatchArgs,
}

/// What an agent needs beside its engine's own options.
#[derive(Debug, Args)]
struct AgentMatchArgs {
    /// Where players connect [default: the address of the console]
    #[arg(long, value_name = "ADDRESS:PORT")]
    address: Option<String>,
    /// Region of the game server, a word for which players state their latency
    #[arg(long, value_name = "NAME")]
    region: Option<String>,
    /// Maps that it has; without them, it is asked for any map. A match without a map gets the first
    /// one, or the map that is running
    #[arg(long, value_name = "MAP,…", value_delimiter = ',', value_parser = map_name)]
    maps: Vec<String>,
    /// What happens to clients who are no players of the match: they are disconnected, or only kept off the teams
    #[arg(long, value_enum, default_value_t = Strangers::Kick)]
    strangers: Strangers,
    /// Let all clients in between two matches, instead of locking the game server
    #[arg(long)]
    open_between: bool,
    /// How long players see the results before the next match (0 to 600)
    #[arg(long, value_name = "SECONDS", default_value = "8", value_parser = super::common::parse_opening)]
    intermission: Duration,
    /// How long passes are valid; [coordinator] pass_seconds of the daemon
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pass_seconds: u32,
    /// File for the match in play, from which an agent that was killed goes on [default:
    /// evenkeel-PORT.match in the folder of the log, or of --exec-dir]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Game server to start, if it does not run, with its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl AgentMatchArgs {
    fn settings(
        &self,
        server: &ServerArgs,
        modes: Vec<GameMode>,
        limits: Vec<Limit>,
    ) -> Result<AgentSettings, CliError> {
        let lock = match self.open_between {
            true => None,
            false => Some(draw_password()?),
        };
        let rcon = || server.rcon.to_string();
        Ok(AgentSettings {
            server: server.name(),
            token: server.token()?,
            address: self.address.clone().unwrap_or_else(rcon),
            region: self.region.clone(),
            modes,
            maps: self.maps.clone(),
            limits,
            strangers_watch: self.strangers == Strangers::Watch,
            lock,
            intermission: millis(self.intermission),
            pass_valid: u64::from(self.pass_seconds) * 1_000,
        })
    }

    /// The file for the match in play.
    fn kept(&self, folder: &Path, server: &ServerArgs) -> KeptMatch {
        let name = format!("evenkeel-{}.match", server.rcon.port());
        let file = self.state.clone().unwrap_or_else(|| folder.join(name));
        KeptMatch::new(file)
    }
}

/// A password of 128 random bits.
fn draw_password() -> Result<String, CliError> {
    Ok(to_hex(&random::<16>()?))
}

pub(in crate::cli) async fn run(args: AgentArgs) -> Result<(), CliError> {
    let AgentArgs {
        server, hosting, ..
    } = &args;
    let log = GameLog::file(&args.log)?;
    let settings = hosting.settings(server, args.modes.clone(), args.limits.clone())?;
    let folder = exec_folder(args.exec_dir.as_deref(), &args.log);
    let console = IdTech3Console::open(server.rcon, server.password()?, folder)
        .await?
        .asking(server.rcon);
    let agent = Agent::new(IdTech3Host::default(), settings);
    let kept = hosting.kept(folder, server);
    host(agent, log, Box::new(console), kept, server, hosting).await
}

pub(in crate::cli) async fn run_teeworlds(args: TeeworldsAgentArgs) -> Result<(), CliError> {
    let TeeworldsAgentArgs {
        server, hosting, ..
    } = &args;
    let log = GameLog::file(&args.log)?;
    let settings = hosting.settings(server, args.modes.clone(), args.limits.clone())?;
    let console = TeeworldsConsole::open(server.rcon, server.password()?);
    let agent = Agent::new(TeeworldsHost::default(), settings);
    let kept = hosting.kept(exec_folder(None, &args.log), server);
    host(agent, log, Box::new(console), kept, server, hosting).await
}

/// Runs an agent until a signal stops it.
async fn host(
    agent: Agent<impl HostEngine>,
    log: GameLog,
    console: Box<dyn RemoteConsole>,
    kept: KeptMatch,
    server: &ServerArgs,
    hosting: &AgentMatchArgs,
) -> Result<(), CliError> {
    let endpoint = server.daemon.endpoint()?;
    let daemon = DaemonConnection::new(endpoint).with_longest_pause(LONGEST_PAUSE);
    let mut shutdown = ShutdownSignal::install()?;
    let driver = Driver::new(agent, log, daemon, Some(console), report)
        .hosting(kept, ServerProcess::new(&hosting.program));
    Ok(driver.run_until(shutdown.wait()).await?)
}
