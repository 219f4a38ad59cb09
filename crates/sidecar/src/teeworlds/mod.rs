//! Teeworlds 0.7, through the server's output and its external console.
//!
//! Teams are chosen in the warm-up of a map and while the server shows the final score. The room `ingest` follows the
//! games; the settings that the output does not state, such as the limits that end a match, are asked for. `hosting` is
//! such a server as an instance.

mod hosting;

pub use hosting::{TeeworldsHost, host_limit, host_mode};

use evenkeel_ingest::{
    GameEvent, stamp,
    teeworlds::{
        GAME,
        grammar::{self, OutputLine, TeeworldsEvent},
        play::{GameStage, TeeworldsPlay},
        players::TeeworldsPlayer,
    },
};

use crate::{
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
    fn note(
        &mut self,
        play: &TeeworldsPlay,
        event: TeeworldsEvent<'_>,
        server: &mut FollowedServer,
    ) {
        match event {
            TeeworldsEvent::Value(_) => {
                if play.knows_limits() && setup(play).is_some() && server.now() >= self.voting {
                    self.at = None;
                }
                if !server.has_game() {
                    warm_up(play, server);
                }
            }
            TeeworldsEvent::Voted => {
                self.again(server.now());
                self.voting = server.now().saturating_add(VOTE);
            }
            _ => {}
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
        let Some(line) = split(line) else {
            return;
        };
        let (now, asking) = (server.now(), &mut self.asking);
        let take = |play: &TeeworldsPlay, event| asking.take(play, event, server);
        match self.output.read(&line, now, take) {
            Some(TeeworldsEvent::Said { slot, rest }) => {
                hear(&self.output.play, slot, rest, server)
            }
            Some(event) => asking.note(&self.output.play, event, server),
            None => {}
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
    ) -> Option<TeeworldsEvent<'a>> {
        let event = grammar::read(line).ok()?;
        self.time.read(line.date, now);
        let now = self.time.at(now);
        self.pass(Some(&event), now, &mut take);
        let mut events = Vec::new();
        // A line that contradicts itself changes nothing.
        let _ = self.play.event(event, now, &mut events);
        for event in events {
            take(&self.play, event);
        }
        Some(event)
    }

    /// Lets time pass.
    fn tick(&mut self, now: u64, mut take: impl FnMut(&TeeworldsPlay, GameEvent)) {
        self.pass(None, self.time.at(now), &mut take);
    }

    fn pass(
        &mut self,
        event: Option<&TeeworldsEvent<'_>>,
        now: u64,
        take: &mut impl FnMut(&TeeworldsPlay, GameEvent),
    ) {
        let mut events = Vec::new();
        self.play.pass(event, now, &mut events);
        for event in events {
            take(&self.play, event);
        }
    }
}

/// Splits a line, which may have a time stamp before it; `None` if it has another form.
fn split(line: &[u8]) -> Option<OutputLine<'_>> {
    grammar::split(stamp::bare(line, |line| grammar::split(line).is_some()))
}

#[cfg(test)]
mod tests;
