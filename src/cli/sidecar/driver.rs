//! Connects a sidecar to the log, the console, the daemon and the clock.

use std::{
    io::{self, Write},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use tokio::time::MissedTickBehavior;

use super::{
    daemon::{DaemonConnection, DaemonEvent},
    game_log::GameLog,
    way::DaemonWay,
};
use crate::{
    cli::CliError,
    daemon::ShutdownSignal,
    sidecar::{Act, Sidecar},
};

/// How often the log is polled.
const POLL: Duration = Duration::from_millis(100);

/// The remote console of a game server.
#[async_trait]
pub(super) trait RemoteConsole: Send {
    /// Makes the server execute the commands, in this order. Only the log shows whether it has
    /// executed them.
    async fn send(&mut self, commands: &[String]) -> io::Result<()>;

    /// Waits for the next line to show to the operator. Can be dropped before it completes.
    async fn answer(&mut self) -> String;
}

/// A sidecar, and the log that it reads.
struct WatchedGame<S> {
    sidecar: S,
    log: GameLog,
}

/// Connects a sidecar to the console, the daemon and the clock.
pub(super) struct SidecarDriver<S> {
    game: WatchedGame<S>,
    daemon: DaemonConnection,
    /// `None` in a dry run.
    console: Option<Box<dyn RemoteConsole>>,
    began: Instant,
}

impl<S: Sidecar + Send + 'static> SidecarDriver<S> {
    /// Connects to nothing yet. Without a console, it only shows the commands.
    pub(super) fn new(
        sidecar: S,
        log: GameLog,
        daemon: DaemonWay,
        console: Option<Box<dyn RemoteConsole>>,
    ) -> Self {
        Self {
            game: WatchedGame { sidecar, log },
            daemon: DaemonConnection::new(daemon),
            console,
            began: Instant::now(),
        }
    }

    pub(super) async fn run_until_stopped(mut self) -> Result<(), CliError> {
        let mut shutdown = ShutdownSignal::install()?;
        let mut poll = tokio::time::interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        report(&self.game.log.describe())?;
        if self.console.is_none() {
            report("a dry run: commands for the game server are printed, and not sent")?;
        }
        // Read the existing log before the first request; its acts are out of date.
        let now = self.now();
        (self.game, _) = read_log(self.game, now).await?;
        report(&format!("waiting for the daemon at {}", self.daemon.way()))?;
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
                answer = answer_of(self.console.as_mut()) => report(&answer)?,
            }
            self.perform(acts).await?;
        }
        self.daemon.close().await;
        Ok(())
    }

    fn take_daemon_event(&mut self, event: DaemonEvent, acts: &mut Vec<Act>) {
        let now = self.now();
        match event {
            DaemonEvent::Connected => {
                let way = self.daemon.way();
                acts.push(Act::Report(format!("connected to the daemon at {way}")));
                self.game.sidecar.connected(now, acts);
            }
            DaemonEvent::Reply(reply) => self.game.sidecar.reply(reply, now, acts),
            // A sidecar has not asked for any.
            DaemonEvent::Push(_) => {}
            DaemonEvent::Lost(reason) => {
                self.game.sidecar.disconnected();
                let way = self.daemon.way();
                acts.push(Act::Report(format!(
                    "no connection to the daemon at {way}: {reason}"
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
        let sidecar = &mut self.sidecar;
        let each = |line: &[u8]| sidecar.log_line(line, now, &mut *acts);
        if let Err(why) = self.log.read(each) {
            acts.push(Act::Report(why));
        }
    }
}

/// Waits for the game server's next answer; in a dry run there is none, and it waits for ever.
async fn answer_of(console: Option<&mut Box<dyn RemoteConsole>>) -> String {
    match console {
        Some(console) => console.answer().await,
        None => std::future::pending().await,
    }
}

/// Prints a line for the operator, and flushes it in case stdout is a file.
pub(super) fn report(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}
