//! Teeworlds 0.7, through the server's output and its external console.
//!
//! Teams are chosen in the warm-up of a map and while the server shows the final score. The room `ingest` follows the
//! games; the settings that the output does not state, such as the limits that end a match, are asked for.

#[cfg(test)]
mod tests;

use super::{
    chat::ChatCommand,
    engine::{Engine, TeamChanges, TeamOrders, in_turns},
    follower::{ConnectionKey, FollowedServer, FollowedSetup, LogTime, LoggedPlayer},
    progress::GamePhase,
};
use crate::ingest::{
    stamp,
    teeworlds::{
        GAME,
        grammar::{self, Event},
        play::Play,
        steps::{Stage, Step},
    },
};

/// What the sidecar asks for.
const QUESTIONS: [&str; 4] = ["sv_map", "sv_gametype", "sv_scorelimit", "sv_timelimit"];
/// How long an answer may take before the sidecar asks again, in milliseconds; it doubles with each question.
const FIRST_PATIENCE: u64 = 3_000;
/// The longest time between two questions.
const LONGEST_PATIENCE: u64 = 600_000;

/// The engine of one game server.
pub struct Teeworlds {
    play: Play,
    time: LogTime,
    /// When to ask for the settings next; `None` if they are known.
    ask: Option<u64>,
    patience: u64,
    steps: Vec<Step>,
}

impl Default for Teeworlds {
    fn default() -> Self {
        Self {
            play: Play::default(),
            time: LogTime::default(),
            ask: Some(0),
            patience: FIRST_PATIENCE,
            steps: Vec::new(),
        }
    }
}

impl Teeworlds {
    /// The setup of the game, once the map and the type are known.
    fn setup(&self) -> Option<FollowedSetup> {
        let play = &self.play;
        (!play.map.is_empty() && !play.kind.is_empty()).then(|| FollowedSetup {
            game_type: format!("{GAME}.{}", play.kind),
            mutators: Vec::new(),
            map: play.map.clone(),
            teams: play.teams,
        })
    }

    /// All players, as the output describes them.
    fn players(&self) -> Vec<(ConnectionKey, LoggedPlayer)> {
        let players = &self.play.players;
        let all = players.iter().map(|(slot, player)| {
            let logged = LoggedPlayer {
                key: players.key(slot, player),
                name: player.name.clone(),
                number: Some(slot),
                side: player.team.filter(|_| self.play.teams),
                free: player.team.is_some(),
            };
            (ConnectionKey::numbered(slot), logged)
        });
        all.collect()
    }

    /// Asks for the settings again: they may be others in the next match.
    fn ask_again(&mut self, now: u64) {
        self.ask = Some(now);
        self.patience = FIRST_PATIENCE;
    }

    fn take(&mut self, steps: &mut Vec<Step>, server: &mut FollowedServer) {
        for step in steps.drain(..) {
            self.step(step, server);
        }
    }

    fn step(&mut self, step: Step, server: &mut FollowedServer) {
        match step {
            Step::Map => {
                server.leave_map();
                self.warm_up(server);
                self.ask_again(server.now());
            }
            Step::Setting => {
                if self.play.knows_limits() && self.setup().is_some() {
                    self.ask = None;
                }
                if !server.has_game() {
                    self.warm_up(server);
                }
            }
            Step::Roster => server.sync(self.players()),
            Step::Start => {
                self.ask_again(server.now());
                if let Some(setup) = self.setup() {
                    server.start(setup);
                    server.sync(self.players());
                }
            }
            Step::Score(change) => {
                let by = change.by.map(ConnectionKey::numbered);
                server.side_score(change.side, change.points, by.as_ref());
            }
            Step::Death { killer, victim } => {
                let victim = ConnectionKey::numbered(victim);
                if let Some(killer) = killer {
                    server.kill(&ConnectionKey::numbered(killer), &victim);
                }
                server.death(&victim);
            }
            Step::Over(_) => self.over(server),
            Step::Aborted => {}
        }
    }

    /// Announces a game in its warm-up.
    fn warm_up(&self, server: &mut FollowedServer) {
        if self.play.stage == Stage::WarmUp
            && let Some(setup) = self.setup()
        {
            server.begin(setup);
            server.warm_up();
            server.sync(self.players());
        }
    }

    fn over(&self, server: &mut FollowedServer) {
        server.over();
        let known: Vec<ConnectionKey> = server.known_players().cloned().collect();
        for player in known {
            if let Some(slot) = player.0 {
                server.points(&player, self.play.points(slot));
            }
        }
        server.end();
    }

    /// Handles a line of the chat, from the number of the player on.
    fn hear(&self, slot: u32, rest: &[u8], server: &mut FollowedServer) {
        let name = self.play.players.raw_name(slot);
        let text = name.and_then(|name| rest.strip_prefix(name)?.strip_prefix(b": "));
        if let Some(command) = text.and_then(ChatCommand::parse) {
            server.hear(slot as usize, command);
        }
    }
}

impl Engine for Teeworlds {
    /// Players stay on their teams between two matches on a map.
    const BETWEEN_GAMES: bool = true;

    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let line = stamp::bare(line, |line| grammar::split(line).is_some());
        let Some(line) = grammar::split(line) else {
            return;
        };
        let Ok(event) = grammar::read(&line) else {
            return;
        };
        self.time.read(line.date, server.now());
        let now = self.time.at(server.now());
        let mut steps = std::mem::take(&mut self.steps);
        self.play.pass(Some(&event), now, &mut steps);
        self.take(&mut steps, server);
        // A line that contradicts itself changes nothing.
        let _ = self.play.event(event, now, &mut steps);
        self.take(&mut steps, server);
        self.steps = steps;
        if let Event::Said { slot, rest } = event {
            self.hear(slot, rest, server);
        }
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        let now = server.now();
        let mut steps = std::mem::take(&mut self.steps);
        self.play.pass(None, self.time.at(now), &mut steps);
        self.take(&mut steps, server);
        self.steps = steps;
        if self.ask.is_some_and(|at| now >= at) {
            server.ask(&QUESTIONS);
            self.ask = Some(now.saturating_add(self.patience));
            self.patience = (self.patience * 2).min(LONGEST_PATIENCE);
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
        }
    }
}
