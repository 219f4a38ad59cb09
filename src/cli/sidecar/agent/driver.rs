//! Connects an agent to the log, the console, the daemon, the game server's process and the clock.

use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval, sleep};

use super::{asking::Questions, kept::KeptMatch, process::ServerProcess};
use crate::{
    cli::{
        CliError,
        sidecar::{
            RemoteConsole,
            console::Console,
            daemon::{DaemonConnection, DaemonEvent},
            driver::report,
            game_log::GameLog,
        },
    },
    daemon::ShutdownSignal,
    sidecar::idtech3::agent::{AgentAct, IdTech3Agent},
};

/// How often the log is polled.
const POLL: Duration = Duration::from_millis(100);
/// A part of the answer with which the game server reports that it executes a file; it is not printed.
const EXECUTING: &str = ": execing ";
/// How long a game server that the agent has started may be silent before it is killed.
const HANGS: u64 = 60_000;
/// How long a game server may take to quit before it is killed.
const QUIT: Duration = Duration::from_secs(5);

/// An agent, and the log that it reads.
struct Watched {
    agent: IdTech3Agent,
    log: GameLog,
}

impl Watched {
    fn read(&mut self, now: u64, acts: &mut Vec<AgentAct>) {
        let agent = &mut self.agent;
        let each = |line: &[u8]| agent.log_line(line, now, &mut *acts);
        if let Err(why) = self.log.read(each) {
            acts.push(AgentAct::Report(why));
        }
    }
}

/// Runs an agent until it is stopped.
pub(super) struct AgentDriver {
    watched: Watched,
    daemon: DaemonConnection,
    console: Console,
    questions: Questions,
    kept: KeptMatch,
    server: Option<ServerProcess>,
    began: Instant,
}

impl AgentDriver {
    pub(super) fn new(
        agent: IdTech3Agent,
        log: GameLog,
        daemon: DaemonConnection,
        console: (Console, Questions),
        kept: KeptMatch,
        server: Option<ServerProcess>,
    ) -> Self {
        let (console, questions) = console;
        Self {
            watched: Watched { agent, log },
            daemon,
            console,
            questions,
            kept,
            server,
            began: Instant::now(),
        }
    }

    pub(super) async fn run_until_stopped(mut self) -> Result<(), CliError> {
        let mut shutdown = ShutdownSignal::install()?;
        let mut poll = interval(POLL);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        report(&self.watched.log.describe())?;
        // Read the existing log before the first request; its acts are out of date.
        self.read_log().await?;
        if let Some(kept) = self.kept.read()? {
            self.watched.agent.restore(kept);
        }
        report(&format!("waiting for the daemon at {}", self.daemon.way()))?;
        self.daemon.connect();
        loop {
            let mut acts = Vec::new();
            tokio::select! {
                () = shutdown.wait() => break,
                _ = poll.tick() => {
                    acts = self.read_log().await?;
                    self.watch_server(&mut acts)?;
                    let now = self.now();
                    self.watched.agent.tick(now, &mut acts);
                }
                event = self.daemon.next_event() => self.take_daemon_event(event, &mut acts),
                (id, text) = self.questions.next() => {
                    let now = self.now();
                    self.watched.agent.answer(id, text.as_deref(), now, &mut acts);
                }
                line = self.console.answer() => {
                    if !line.contains(EXECUTING) {
                        report(&line)?;
                    }
                }
            }
            self.perform(acts).await?;
        }
        self.stop().await
    }

    /// Starts the game server if it does not run, and kills it if it hangs.
    fn watch_server(&mut self, acts: &mut Vec<AgentAct>) -> Result<(), CliError> {
        let now = self.now();
        let Some(server) = &mut self.server else {
            return Ok(());
        };
        if let Some(text) = server.ended() {
            acts.push(AgentAct::Report(text));
            self.watched.agent.server_ended(now, acts);
            server.start(now)?;
        } else if !server.runs() {
            if self.watched.agent.needs_server(now) && server.start(now)? {
                acts.push(AgentAct::Report("the game server is started".to_owned()));
            }
        } else if self.watched.agent.silent_for(now) >= HANGS {
            server.kill();
        }
        Ok(())
    }

    fn take_daemon_event(&mut self, event: DaemonEvent, acts: &mut Vec<AgentAct>) {
        let (now, agent) = (self.now(), &mut self.watched.agent);
        match event {
            DaemonEvent::Connected => {
                let text = format!("connected to the daemon at {}", self.daemon.way());
                acts.push(AgentAct::Report(text));
                agent.connected(now, acts);
            }
            DaemonEvent::Reply(reply) => agent.reply(reply, now, acts),
            DaemonEvent::Push(push) => agent.push(&push, now, acts),
            DaemonEvent::Lost(reason) => {
                agent.disconnected();
                let way = self.daemon.way();
                let text = format!("no connection to the daemon at {way}: {reason}");
                acts.push(AgentAct::Report(text));
            }
        }
    }

    async fn perform(&mut self, acts: Vec<AgentAct>) -> Result<(), CliError> {
        for act in acts {
            match act {
                AgentAct::Send(request) => self.daemon.send(request),
                AgentAct::Report(text) => report(&text)?,
                AgentAct::Ask { id, command } => self.questions.ask(id, &command),
                AgentAct::Console(commands) => {
                    if let Err(error) = self.console.send(&commands).await {
                        report(&format!("cannot send commands to the game server: {error}"))?;
                    }
                }
                AgentAct::Keep(kept) => {
                    // The match goes on without the file, as long as the agent does.
                    if let Err(error) = self.kept.keep(kept.as_ref()) {
                        report(&format!("the match is not kept: {error}"))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads what is new in the log, and returns the acts.
    async fn read_log(&mut self) -> Result<Vec<AgentAct>, CliError> {
        let now = self.now();
        let mut acts = Vec::new();
        tokio::task::block_in_place(|| self.watched.read(now, &mut acts));
        Ok(acts)
    }

    /// Ends the conversation, and the game server if this agent has started it.
    async fn stop(mut self) -> Result<(), CliError> {
        let mut acts = Vec::new();
        let owned = self.server.as_ref().is_some_and(ServerProcess::runs);
        self.watched.agent.stop(owned, &mut acts);
        self.perform(acts).await?;
        if let Some(mut server) = self.server.take().filter(|_| owned) {
            self.questions.ask(0, "quit");
            let began = Instant::now();
            while server.ended().is_none() {
                if began.elapsed() >= QUIT {
                    server.kill();
                }
                sleep(POLL).await;
            }
        }
        self.daemon.close().await;
        Ok(())
    }

    fn now(&self) -> u64 {
        let elapsed = self.began.elapsed().as_millis();
        elapsed.try_into().unwrap_or(u64::MAX)
    }
}
