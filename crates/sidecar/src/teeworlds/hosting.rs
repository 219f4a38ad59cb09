//! A Teeworlds server as an instance: what an agent reads in its output, and the console commands with which it hosts matches.
//!
//! The agent makes the server print which match the next map is for (`echo`). Players are known by their names alone, as
//! everywhere in this game: who has the name of a player of the match is that player.

use super::{Output, described};
use crate::{
    agent::{AgentMatch, GameMode, HostEngine, IdentityProof, Limit},
    progress::{LoggedPlayer, LoggedSetup},
};
use evenkeel_ingest::{GameEvent, teeworlds::play::TeeworldsPlay};

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
        let Some(line) = super::split(line) else {
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
mod tests {
    use super::*;

    #[test]
    fn modes_and_limits_are_those_of_team_games() {
        assert_eq!(host_mode("ctf").ok(), GameMode::new("ctf", "ctf"));
        assert_eq!(host_mode("rounds=lts").ok(), GameMode::new("rounds", "lts"));
        for wrong in ["", "dm", "lms", "x=dm", "a b=ctf", "a;shutdown=ctf"] {
            assert!(host_mode(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            host_limit("duel:score=20").unwrap().command(),
            "sv_scorelimit 20"
        );
        for wrong in ["", "captures=3", "time", "score=-1"] {
            assert!(host_limit(wrong).is_err(), "{wrong}");
        }
    }
}
