//! `evenkeel sidecar`: balances a game server that cannot use the line protocol, through its log
//! and its remote console. The room `sidecar` makes the decisions; this one provides files, sockets
//! and the clock.

mod chat;
mod console;
mod daemon;

use std::{
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::{Args, Subcommand};
use tokio::time::MissedTickBehavior;

use super::CliError;
use crate::{
    daemon::ShutdownSignal,
    ingest::{Framed, Lines, MAX_LINE},
    logs::{Tail, Tailed},
    sidecar::{
        Act, Sidecar,
        idtech3::{IdTech3, Settings, SpareBot},
    },
};
use chat::ChatArgs;
use console::{Console, Password};
use daemon::{DaemonConnection, DaemonEvent};

/// How often the log is polled.
const POLL: Duration = Duration::from_millis(100);
/// The most bytes of the log per read.
const CHUNK: usize = 64 * 1024;
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
    /// Address of Evenkeel's daemon
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7997")]
    daemon: SocketAddr,
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
    let EngineArgs::Idtech3(args) = args.engine;
    let token = args.token_file.as_deref().map(secret_in).transpose()?;
    let console = match args.dry_run {
        true => None,
        false => Some(open_console(&args).await?),
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
    let driver = SidecarDriver {
        game: WatchedGame {
            sidecar: IdTech3::new(settings),
            tail: Tail::new(&args.log),
            lines: Lines::new(MAX_LINE),
            unreadable: false,
        },
        daemon: DaemonConnection::new(args.daemon),
        console,
        began: Instant::now(),
    };
    driver.run_until_stopped().await
}

async fn open_console(args: &IdTech3Args) -> Result<Console, CliError> {
    let password = match &args.password_file {
        Some(file) => secret_in(file)?,
        None => std::env::var("EVENKEEL_RCON_PASSWORD").unwrap_or_default(),
    };
    let password = Password::new(&password).map_err(|why| CliError::Input(why.to_owned()))?;
    let of_log = args.log.parent().filter(|dir| !dir.as_os_str().is_empty());
    let folder = args
        .exec_dir
        .as_deref()
        .or(of_log)
        .unwrap_or(Path::new("."));
    Console::open(args.rcon, password, folder).await
}

/// The first line of a file that contains a secret.
fn secret_in(file: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(file).map_err(|source| CliError::File {
        path: file.to_owned(),
        source,
    })?;
    Ok(text.lines().next().unwrap_or("").to_owned())
}

/// A sidecar, and the log that it reads.
struct WatchedGame<S> {
    sidecar: S,
    tail: Tail,
    lines: Lines,
    /// Whether the operator has been warned that the log cannot be read.
    unreadable: bool,
}

/// Connects a sidecar to the console, the daemon and the clock.
struct SidecarDriver<S> {
    game: WatchedGame<S>,
    daemon: DaemonConnection,
    /// `None` in a dry run.
    console: Option<Console>,
    began: Instant,
}

impl<S: Sidecar + Send + 'static> SidecarDriver<S> {
    async fn run_until_stopped(mut self) -> Result<(), CliError> {
        let mut shutdown = ShutdownSignal::install()?;
        let mut poll = tokio::time::interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Read the existing log before the first request; its acts are out of date.
        let now = self.now();
        (self.game, _) = read_log(self.game, now).await?;
        self.daemon.connect();
        loop {
            let mut acts = Vec::new();
            tokio::select! {
                () = shutdown.wait() => break,
                _ = poll.tick() => {
                    let now = self.now();
                    (self.game, acts) = read_log(self.game, now).await?;
                    let now = self.now();
                    self.game.sidecar.tick(now, &mut acts);
                }
                event = self.daemon.next_event() => self.take_daemon_event(event, &mut acts),
                answer = answer_of(self.console.as_ref()) => report(&answer)?,
            }
            self.perform(acts).await?;
        }
        self.daemon.close().await;
        Ok(())
    }

    fn take_daemon_event(&mut self, event: DaemonEvent, acts: &mut Vec<Act>) {
        let now = self.now();
        match event {
            DaemonEvent::Connected => self.game.sidecar.connected(now, acts),
            DaemonEvent::Reply(reply) => self.game.sidecar.reply(reply, now, acts),
            DaemonEvent::Lost(reason) => {
                self.game.sidecar.disconnected();
                acts.push(Act::Report(format!(
                    "no connection to the daemon: {reason}"
                )));
            }
        }
    }

    fn now(&self) -> u64 {
        self.began
            .elapsed()
            .as_millis()
            .try_into()
            .unwrap_or(u64::MAX)
    }

    async fn perform(&mut self, acts: Vec<Act>) -> Result<(), CliError> {
        for act in acts {
            match act {
                Act::Send(request) => self.daemon.send(request),
                Act::Report(text) => report(&text)?,
                Act::Console(commands) => match &mut self.console {
                    None => {
                        for command in &commands {
                            report(&format!("would do: {command}"))?;
                        }
                    }
                    Some(console) => {
                        report(&format!("{} commands to the game server", commands.len()))?;
                        if let Err(error) = console.send(&commands).await {
                            report(&format!("cannot send commands to the game server: {error}"))?;
                        }
                    }
                },
            }
        }
        Ok(())
    }
}

/// Reads what is new in the log, on a thread that may block, and returns the game and its acts. `now` is in
/// milliseconds.
async fn read_log<S: Sidecar + Send + 'static>(
    mut game: WatchedGame<S>,
    now: u64,
) -> Result<(WatchedGame<S>, Vec<Act>), CliError> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut acts = Vec::new();
        game.read(now, &mut acts);
        (game, acts)
    });
    Ok(reading.await?)
}

impl<S: Sidecar> WatchedGame<S> {
    fn read(&mut self, now: u64, acts: &mut Vec<Act>) {
        let mut chunk = vec![0; CHUNK];
        loop {
            match self.tail.read(&mut chunk) {
                Ok(Tailed::Bytes(count)) => self.lines.feed(&chunk[..count], |framed| {
                    if let Framed::Line(line) = framed {
                        self.sidecar.log_line(line.bytes, now, acts);
                    }
                }),
                Ok(Tailed::Fresh) => self.lines.interrupt(),
                Ok(Tailed::Nothing) => {
                    self.unreadable = false;
                    return;
                }
                Err(error) => {
                    if !std::mem::replace(&mut self.unreadable, true) {
                        let path = self.tail.path().display();
                        let text = format!("cannot read {path}: {error}; trying again");
                        acts.push(Act::Report(text));
                    }
                    return;
                }
            }
        }
    }
}

/// Waits for the game server's next answer; in a dry run there is none, and it waits for ever.
async fn answer_of(console: Option<&Console>) -> String {
    match console {
        Some(console) => console.answer().await,
        None => std::future::pending().await,
    }
}

/// Prints a line for the operator, and flushes it in case stdout is a file.
fn report(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
