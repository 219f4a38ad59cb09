//! `evenkeel sidecar`: balances a game server that cannot speak the line protocol, from its log and
//! over its console. The thinking is in the room `sidecar`; here are the files, sockets and the clock.

mod console;
mod daemon;

use std::{
    io::{self, Write},
    net::SocketAddr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::{Args, Subcommand};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::MissedTickBehavior,
};

use super::CliError;
use crate::{
    ingest::{Framed, Lines, MAX_LINE},
    logs::{Tail, Tailed},
    sidecar::{Act, Settings, Sidecar, SpareBot},
};
use console::{Console, Password};
use daemon::{Daemon, News};

/// How often the log is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How much of the log is read at once.
const CHUNK: usize = 64 * 1024;
/// How often a move that did not happen is ordered.
const ATTEMPTS: u32 = 3;

/// Balance a game server that cannot speak the protocol, from its log and over its remote console
#[derive(Debug, Args)]
pub(super) struct SidecarArgs {
    #[command(subcommand)]
    game: Game,
}

#[derive(Debug, Subcommand)]
enum Game {
    Idtech3(Box<IdTech3Args>),
}

/// Quake III Arena, OpenArena, Urban Terror and their relatives
#[derive(Debug, Args)]
struct IdTech3Args {
    /// The log that the game server writes (g_log; with g_logsync 1)
    #[arg(long, value_name = "FILE")]
    log: PathBuf,
    /// Where the game server takes remote commands
    #[arg(long, value_name = "ADDRESS:PORT")]
    rcon: SocketAddr,
    /// A file that holds rconpassword; otherwise it is in EVENKEEL_RCON_PASSWORD
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// Where Evenkeel's daemon listens
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7997")]
    daemon: SocketAddr,
    /// The name that the daemon knows this game server by; the address of its console unless given
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// A file that holds the token of this game server, where the daemon asks for one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Where the game server finds what it is told to exec; the folder of the log unless given
    #[arg(long, value_name = "DIR")]
    exec_dir: Option<PathBuf>,
    /// Seconds without anybody coming or going, after which teams are chosen; 0.1 to 60
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    settle: Duration,
    /// Let each bot be weighed and placed by itself, as if it were a player
    #[arg(long)]
    treat_bots_as_players: bool,
    /// Move people also while play is on: late arrivals, and those who die on a team that is too strong
    #[arg(long)]
    auto_balance: bool,
    /// Move humans by !putteam in place of forceteam, where the game's admin commands are on
    #[arg(long)]
    admin: bool,
    /// A bot that may be added or removed as the daemon wishes, with its skill; may be repeated
    #[arg(long = "bot", value_name = "NAME:SKILL")]
    bots: Vec<SpareBot>,
    /// Print what would be done, and move nobody
    #[arg(long)]
    dry_run: bool,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|s: &f64| (0.1..=60.0).contains(s));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "0.1 to 60 seconds".to_owned())
}

pub(super) async fn run(args: SidecarArgs) -> Result<(), CliError> {
    let Game::Idtech3(args) = args.game;
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
    };
    let run = Run {
        sidecar: Sidecar::new(settings),
        tail: Tail::new(&args.log),
        lines: Lines::new(MAX_LINE),
        daemon: Daemon::new(args.daemon),
        console,
        began: Instant::now(),
        unreadable: false,
    };
    run.until_stopped().await
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

/// The first line of a small file.
fn secret_in(file: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(file).map_err(|source| CliError::File {
        path: file.to_owned(),
        source,
    })?;
    Ok(text.lines().next().unwrap_or("").to_owned())
}

struct Run {
    sidecar: Sidecar,
    tail: Tail,
    lines: Lines,
    daemon: Daemon,
    /// `None` in a dry run.
    console: Option<Console>,
    began: Instant,
    /// Whether the operator knows that the log cannot be read.
    unreadable: bool,
}

impl Run {
    async fn until_stopped(mut self) -> Result<(), CliError> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // What the log tells of the past is known before the daemon is spoken to.
        let mut acts = Vec::new();
        self.read_log(&mut acts);
        self.daemon.connect();
        loop {
            let mut acts = Vec::new();
            tokio::select! {
                _ = terminate.recv() => break,
                _ = interrupt.recv() => break,
                _ = look.tick() => {
                    self.read_log(&mut acts);
                    let now = self.now();
                    self.sidecar.tick(now, &mut acts);
                }
                news = self.daemon.news() => {
                    let now = self.now();
                    match news {
                        News::Connected => self.sidecar.connected(now, &mut acts),
                        News::Line(line) => self.sidecar.reply(&line, now, &mut acts),
                        News::Lost(why) => {
                            self.sidecar.disconnected();
                            acts.push(Act::Tell(format!("no connection to the daemon: {why}")));
                        }
                    }
                }
                answer = answer_of(&self.console) => tell(&answer)?,
            }
            self.perform(acts).await?;
        }
        self.daemon.close().await;
        Ok(())
    }

    fn now(&self) -> u64 {
        self.began
            .elapsed()
            .as_millis()
            .try_into()
            .unwrap_or(u64::MAX)
    }

    fn read_log(&mut self, acts: &mut Vec<Act>) {
        let now = self.now();
        let mut chunk = vec![0; CHUNK];
        loop {
            match self.tail.read(&mut chunk) {
                Ok(Tailed::Bytes(count)) => self.lines.feed(&chunk[..count], |framed| {
                    if let Framed::Line(line) = framed {
                        self.sidecar.line(line.bytes, now, acts);
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
                        acts.push(Act::Tell(format!(
                            "cannot read {path}: {error}; trying again"
                        )));
                    }
                    return;
                }
            }
        }
    }

    async fn perform(&mut self, acts: Vec<Act>) -> Result<(), CliError> {
        for act in acts {
            match act {
                Act::Say(line) => self.daemon.say(line),
                Act::Tell(text) => tell(&text)?,
                Act::Console(commands) => match &mut self.console {
                    None => {
                        for command in &commands {
                            tell(&format!("would do: {command}"))?;
                        }
                    }
                    Some(console) => {
                        tell(&format!("{} commands to the game server", commands.len()))?;
                        if let Err(error) = console.send(&commands).await {
                            tell(&format!("the game server cannot be told: {error}"))?;
                        }
                    }
                },
            }
        }
        Ok(())
    }
}

/// What the game server says, for ever waiting in a dry run.
async fn answer_of(console: &Option<Console>) -> String {
    match console {
        Some(console) => console.answer().await,
        None => std::future::pending().await,
    }
}

/// A line for the operator, at once, also where nobody but a file listens.
fn tell(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
