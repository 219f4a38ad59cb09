//! Teeworlds 0.7, through the server's output and its external console.
//!
//! Teams are chosen in the warm-up of a map and while the server shows the final score. The room `ingest` follows the
//! games; the settings that the output does not state, such as the limits that end a match, are asked for.
//!
//! [`TeeworldsHost`] is such a server as an instance: what an agent reads in its output, and the console commands with which
//! it hosts matches. The agent makes the server print which match the next map is for (`echo`). Players are known by their
//! names alone, as everywhere in this game: who has the name of a player of the match is that player.

use evenkeel_ingest::{
    GameEvent,
    live::teeworlds::{GAME, GameStage, OutputLine, Stated, TeeworldsPlay, TeeworldsPlayer},
};

use crate::{
    agent::{AgentMatch, GameMode, HostEngine, IdentityProof, Limit},
    chat::ChatCommand,
    engine::{Engine, TeamChanges, TeamOrders, in_turns},
    follower::{FollowedServer, LogTime},
    progress::{ConnectionKey, GamePhase, LoggedPlayer, LoggedSetup},
};

/// What the sidecar asks for.
const QUESTIONS: [&str; 4] = ["sv_map", "sv_gametype", "sv_scorelimit", "sv_timelimit"];
/// How long an answer may take before the sidecar asks again, in milliseconds; it doubles with each question.
const FIRST_PATIENCE: u64 = 3_000;
/// The longest time between two questions.
const LONGEST_PATIENCE: u64 = 600_000;
/// How long after the beginning of a vote it may change a setting, in milliseconds: it takes 25 seconds.
const VOTE: u64 = 27_000;

/// The engine of one game server.
#[derive(Default)]
pub struct Teeworlds {
    output: Output,
    asking: SettingsTimer,
}

/// When the settings are asked for.
struct SettingsTimer {
    /// When to ask for them next; `None` if they are known.
    at: Option<u64>,
    patience: u64,
    /// Until when a vote may change them.
    voting: u64,
}

impl Default for SettingsTimer {
    fn default() -> Self {
        Self {
            voting: 0,
            at: Some(0),
            patience: FIRST_PATIENCE,
        }
    }
}

impl SettingsTimer {
    /// Asks for the settings again: they may be others in the next match.
    fn again(&mut self, now: u64) {
        self.at = Some(now);
        self.patience = FIRST_PATIENCE;
    }

    /// Whether to ask now; notes that this happens.
    fn is_due(&mut self, now: u64) -> bool {
        let due = self.at.is_some_and(|at| now >= at);
        if due {
            self.at = Some(now.saturating_add(self.patience));
            if now >= self.voting {
                self.patience = (self.patience * 2).min(LONGEST_PATIENCE);
            }
        }
        due
    }

    /// Takes what the output states of the settings.
    fn note(&mut self, play: &TeeworldsPlay, stated: Stated<'_>, server: &mut FollowedServer) {
        if stated.is_value() {
            if play.knows_limits() && setup(play).is_some() && server.now() >= self.voting {
                self.at = None;
            }
            if !server.has_game() {
                warm_up(play, server);
            }
        } else if stated.is_vote() {
            self.again(server.now());
            self.voting = server.now().saturating_add(VOTE);
        }
    }

    fn take(&mut self, play: &TeeworldsPlay, event: GameEvent, server: &mut FollowedServer) {
        match event {
            GameEvent::Game => {
                server.leave_map();
                warm_up(play, server);
                self.again(server.now());
            }
            GameEvent::Client(_) | GameEvent::Left(_) => server.sync(players(play)),
            GameEvent::Start => {
                self.again(server.now());
                if let Some(setup) = setup(play) {
                    server.start(setup);
                    server.sync(players(play));
                }
            }
            other => server.take(other),
        }
    }
}

/// The setup of the game, once the map and the type are known.
fn setup(play: &TeeworldsPlay) -> Option<LoggedSetup> {
    (!play.map.is_empty() && !play.kind.is_empty()).then(|| LoggedSetup {
        game_type: format!("{GAME}.{}", play.kind),
        mutators: Vec::new(),
        map: play.map.clone(),
        teams: play.teams,
        match_id: None,
    })
}

/// All players, as the output describes them.
fn players(play: &TeeworldsPlay) -> Vec<(ConnectionKey, LoggedPlayer)> {
    let players = play.players.iter();
    players
        .map(|(slot, player)| described(play, slot, player))
        .collect()
}

/// A player, as the output describes them.
fn described(
    play: &TeeworldsPlay,
    slot: usize,
    player: &TeeworldsPlayer,
) -> (ConnectionKey, LoggedPlayer) {
    let logged = LoggedPlayer {
        key: play.players.key(slot, player),
        name: player.name.clone(),
        number: u32::try_from(slot).ok(),
        side: player.team,
        free: player.team.is_some(),
        begun: true,
        role: None,
    };
    (ConnectionKey::of(slot), logged)
}

/// Announces a game in its warm-up.
fn warm_up(play: &TeeworldsPlay, server: &mut FollowedServer) {
    if play.stage == GameStage::WarmUp
        && let Some(setup) = setup(play)
    {
        server.begin(setup);
        server.warm_up();
        server.sync(players(play));
    }
}

/// Handles a line of the chat, from the number of the player on.
fn hear(play: &TeeworldsPlay, slot: usize, rest: &[u8], server: &mut FollowedServer) {
    let name = play.players.raw_name(slot);
    let text = name.and_then(|name| rest.strip_prefix(name)?.strip_prefix(b": "));
    if let Some(command) = text.and_then(ChatCommand::parse) {
        server.hear(slot, command);
    }
}

impl Engine for Teeworlds {
    /// Players stay on their teams between two matches on a map.
    const BETWEEN_GAMES: bool = true;

    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let Some(line) = OutputLine::read(line) else {
            return;
        };
        let (now, asking) = (server.now(), &mut self.asking);
        let take = |play: &TeeworldsPlay, event| asking.take(play, event, server);
        let Some(stated) = self.output.read(&line, now, take) else {
            return;
        };
        match stated.said() {
            Some((slot, rest)) => hear(&self.output.play, slot, rest, server),
            None => asking.note(&self.output.play, stated, server),
        }
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        let (now, asking) = (server.now(), &mut self.asking);
        let take = |play: &TeeworldsPlay, event| asking.take(play, event, server);
        self.output.tick(now, take);
        if self.asking.is_due(now) {
            server.ask(&QUESTIONS);
        }
    }

    fn may_choose_teams(&self, phase: GamePhase) -> bool {
        matches!(phase, GamePhase::WarmUp | GamePhase::Ended)
    }

    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders {
        let numbered = changes.moves.iter();
        let numbered = numbered.filter_map(|(player, side)| Some((player.number?, *side)));
        let moves: Vec<(u32, u8)> = numbered.collect();
        let moves = in_turns(&moves).into_iter();
        let commands = moves.map(|(slot, side)| format!("set_team {slot} {side}"));
        let commands: Vec<String> = commands.collect();
        TeamOrders {
            count: commands.len(),
            commands,
            removed: Vec::new(),
        }
    }
}

/// What is known of a server's games by its output.
#[derive(Default)]
struct Output {
    play: TeeworldsPlay,
    time: LogTime,
}

impl Output {
    /// Reads a line, and calls `take` with each event that it means. Returns what the line states.
    fn read<'a>(
        &mut self,
        line: &OutputLine<'a>,
        now: u64,
        mut take: impl FnMut(&TeeworldsPlay, GameEvent),
    ) -> Option<Stated<'a>> {
        let stated = line.stated()?;
        self.time.read(line.date, now);
        let now = self.time.at(now);
        self.pass(Some(&stated), now, &mut take);
        let mut events = Vec::new();
        self.play.take(stated, now, &mut events);
        for event in events {
            take(&self.play, event);
        }
        Some(stated)
    }

    /// Lets time pass.
    fn tick(&mut self, now: u64, mut take: impl FnMut(&TeeworldsPlay, GameEvent)) {
        self.pass(None, self.time.at(now), &mut take);
    }

    fn pass(
        &mut self,
        next: Option<&Stated<'_>>,
        now: u64,
        take: &mut impl FnMut(&TeeworldsPlay, GameEvent),
    ) {
        let mut events = Vec::new();
        self.play.pass_until(next, now, &mut events);
        for event in events {
            take(&self.play, event);
        }
    }
}

/// What the server is made to print before the map of a match is loaded.
const MATCH: &str = "evenkeel_match";
/// How the server says that it does not have a map.
const NO_MAP: &[u8] = b"failed to load map. ";
/// The length of the warm-up once all players are here, in seconds.
const COUNTDOWN: u32 = 5;
/// The types of games of two teams.
const MODES: [&str; 3] = ["ctf", "tdm", "lts"];
/// The limits of games, with the commands that set them.
const LIMITS: [(&str, &str); 2] = [("time", "sv_timelimit"), ("score", "sv_scorelimit")];

/// Parses a mode: `ctf`, `tdm` or `lts`, or `NAME=TYPE` with one of them.
///
/// # Errors
/// Fails if it is no mode of a team game.
pub fn host_mode(text: &str) -> Result<GameMode, String> {
    let (name, kind) = text.split_once('=').unwrap_or((text, text));
    let mode = MODES.contains(&kind).then(|| GameMode::new(name, kind));
    let form = "a mode is ctf, tdm or lts, or NAME=TYPE with one of them";
    mode.flatten().ok_or_else(|| form.to_owned())
}

/// Parses `[QUEUE:]time=MINUTES` or `[QUEUE:]score=N`.
///
/// # Errors
/// Fails if it is no limit.
pub fn host_limit(text: &str) -> Result<Limit, String> {
    let form = "a limit is [QUEUE:]time=MINUTES or score=N";
    Limit::parse(text, &LIMITS).ok_or_else(|| form.to_owned())
}

/// The engine of an agent.
#[derive(Default)]
pub struct TeeworldsHost {
    output: Output,
    shown: AgentOrders,
}

/// What the agent was told.
#[derive(Default)]
struct AgentOrders {
    /// The match for which the next map is.
    next: Option<i64>,
    setup: LoggedSetup,
    /// Whether the game of the map is over: the next one is of no match.
    over: bool,
}

impl AgentOrders {
    fn take(&mut self, play: &TeeworldsPlay, event: GameEvent, events: &mut Vec<GameEvent>) {
        match event {
            GameEvent::Game => {
                let id = self.next.take();
                self.begin(play, id, events);
            }
            GameEvent::Start => {
                if self.over {
                    self.begin(play, None, events);
                    let all = play.players.iter();
                    events.extend(all.map(|(client, _)| GameEvent::Client(client)));
                }
                events.push(GameEvent::Start);
            }
            other => {
                self.over |= other == GameEvent::Over;
                events.push(other);
            }
        }
    }

    /// A game begins in its warm-up, with nobody on it yet.
    fn begin(&mut self, play: &TeeworldsPlay, match_id: Option<i64>, events: &mut Vec<GameEvent>) {
        self.over = false;
        self.setup = LoggedSetup {
            map: play.map.clone(),
            // All modes are team games, and the log does not say what a map is for before play starts.
            teams: true,
            match_id,
            ..LoggedSetup::default()
        };
        events.extend([GameEvent::Game, GameEvent::WarmUp]);
    }
}

impl HostEngine for TeeworldsHost {
    const ALIVE: &'static str = "sv_max_clients";
    const QUIT: &'static str = "shutdown";

    fn log_line(&mut self, line: &[u8], now: u64, events: &mut Vec<GameEvent>) {
        let Some(line) = OutputLine::read(line) else {
            return;
        };
        match line.source {
            b"Console" => {
                if let Some(id) = line.text.strip_prefix(MATCH.as_bytes()) {
                    let id = std::str::from_utf8(id).ok();
                    self.shown.next = id.and_then(|id| id.trim().parse().ok());
                }
            }
            b"server" if line.text.starts_with(NO_MAP) => events.push(GameEvent::NoMap),
            _ => {}
        }
        let shown = &mut self.shown;
        self.output
            .read(&line, now, |play, event| shown.take(play, event, events));
    }

    fn tick(&mut self, now: u64, events: &mut Vec<GameEvent>) {
        let shown = &mut self.shown;
        self.output
            .tick(now, |play, event| shown.take(play, event, events));
    }

    fn setup(&self) -> LoggedSetup {
        self.shown.setup.clone()
    }

    fn player(&self, number: usize) -> Option<LoggedPlayer> {
        let play = &self.output.play;
        let known = play.players.get(number)?;
        Some(described(play, number, known).1)
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    fn prepare(&self, hosted: &AgentMatch, limits: Vec<String>) -> Vec<String> {
        let fixed = [
            // The warm-up lasts until all players are here, or for as long as the server permits.
            "sv_warmup 1000",
            "sv_player_ready_mode 0",
            // The teams are those of the match.
            "sv_teambalance_time 0",
            "sv_match_swap 0",
            "sv_tournament_mode 0",
            // Nothing but a limit ends the match, or takes a player from it.
            "sv_maprotation \"\"",
            "sv_vote_kick 0",
            "sv_vote_spectate 0",
            "password \"\"",
        ];
        let mut commands: Vec<String> = fixed.map(str::to_owned).to_vec();
        commands.extend(limits);
        commands.push(format!("sv_gametype {}", hosted.game_type()));
        // The end of a match follows from its limits, so the server is made to print them.
        commands.extend(["sv_scorelimit", "sv_timelimit"].map(str::to_owned));
        commands.push(format!("echo {MATCH} {}", hosted.id()));
        commands
    }

    fn load(&self, map: &str) -> String {
        format!("sv_map {map}; reload; sv_map")
    }

    fn proof(&self, _client: usize, name: &str) -> IdentityProof {
        IdentityProof::Name(name.to_owned())
    }

    fn begin(&self, _times: u32) -> Vec<String> {
        vec![format!("restart {COUNTDOWN}")]
    }

    fn assign(&self, client: usize, team: Option<u8>) -> String {
        let team = team.map_or(-1, i32::from);
        format!("set_team {client} {team}")
    }

    fn kick(&self, client: usize) -> String {
        format!("kick {client} \"you are in no match here\"")
    }

    fn lock(&self, password: &str) -> String {
        format!("password \"{password}\"")
    }

    fn forget(&self) -> String {
        format!("echo {MATCH} none")
    }
}

#[cfg(test)]
mod tests;
