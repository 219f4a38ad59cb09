//! An id Tech 3 server as an instance: what an agent reads in its log, and the console commands with which it hosts matches.
//!
//! The game server states in its log which match a game is (`evenkeel_match`). A player sets the variable `password` of
//! their client to the pass. The client sends it to the game server as part of its userinfo, where `dumpuser` shows it. The
//! log does not.

use super::{
    commands::TEAM_NAMES,
    game::LoggedGame,
    slots::{Slot, Slots},
};
use crate::{
    ingest::{
        idtech3::{
            grammar::{self, Event, pairs},
            scoring::{KillScore, TeamPoints},
        },
        stamp,
    },
    sidecar::agent::{AgentMatch, HostClient, HostEngine, HostEvent, HostSetup, Proof},
};

/// The variable of the game server, shown in its log, that names the match of a game.
const MATCH_VARIABLE: &str = "evenkeel_match";
/// How long after its beginning a game is in play that has not announced a warm-up, in milliseconds.
const OPENING: u64 = 1_500;
/// The length of the warm-up once all players are here, in seconds. A game counts a new value only if
/// it differs from the last one.
const COUNTDOWN: u32 = 6;
/// How the game server answers if it does not have a map.
const NO_MAP: &[u8] = b"Can't find map";

/// The engine of an agent.
#[derive(Default)]
pub struct IdTech3Host {
    slots: Slots,
    game: Option<LoggedGame>,
    /// When the game has begun, by the caller's clock, until it is known whether it begins with a warm-up.
    opening: Option<u64>,
}

impl IdTech3Host {
    fn begin_game(&mut self, info: &[u8], at: u64, now: u64, events: &mut Vec<HostEvent>) {
        let game = LoggedGame::new(info, at, now);
        let id = pairs(info).filter(|(key, _)| *key == MATCH_VARIABLE.as_bytes());
        let id = id
            .last()
            .and_then(|(_, value)| std::str::from_utf8(value).ok());
        self.slots = Slots::default();
        events.push(HostEvent::Game(HostSetup {
            match_id: id.and_then(|id| id.parse().ok()),
            map: game.setup.map.clone(),
            teams: game.setup.teams,
        }));
        (self.game, self.opening) = (Some(game), Some(now));
    }

    fn client(&self, number: usize) -> HostClient {
        let empty = Slot::default();
        let slot = self.slots.get(number).unwrap_or(&empty);
        HostClient {
            name: slot.client.name(),
            team: slot.team(),
            bot: slot.is_bot(),
            begun: slot.client.begun,
        }
    }

    /// Handles what happens in a game.
    fn play(&self, event: Event<'_>, events: &mut Vec<HostEvent>) {
        let score = |points: TeamPoints| HostEvent::Score {
            team: points.team,
            points: points.points,
            by: points.by,
        };
        match event {
            Event::Kill {
                killer,
                victim,
                team_change,
            } => {
                let Some(game) = &self.game else { return };
                let team_of = |number| self.slots.team(number);
                let kill = KillScore::of(&game.setup, killer, victim, team_change, team_of);
                let killer = kill.enemy_killed_by;
                events.push(HostEvent::Death { killer, victim });
                events.extend(kill.points.map(score));
            }
            Event::Capture { by, flag } => events.push(score(TeamPoints::of_capture(flag, by))),
            Event::TeamScore { team, total } => {
                let team = u8::try_from(team - 1).ok();
                events.extend(team.map(|team| HostEvent::Total {
                    team,
                    points: total,
                }));
            }
            Event::Result(scores) => events.push(HostEvent::Result(scores)),
            Event::Points { client, points } => {
                let points = points as f64;
                events.push(HostEvent::Points { client, points });
            }
            _ => {}
        }
    }
}

impl HostEngine for IdTech3Host {
    const ALIVE: &'static str = "sv_maxclients";
    const QUIT: &'static str = "quit";

    fn log_line(&mut self, line: &[u8], now: u64, events: &mut Vec<HostEvent>) {
        let line = stamp::bare(line, grammar::has_time);
        let Ok(Some((at, event))) = grammar::read(line, true) else {
            return;
        };
        match event {
            Event::InitGame(info) => return self.begin_game(info, at, now, events),
            Event::Shutdown => return events.push(HostEvent::Ended),
            Event::Disconnect(number) => {
                self.slots.remove(number);
                return events.push(HostEvent::Left(number));
            }
            _ => {}
        }
        if let Some(number) = self.slots.take(&event) {
            events.push(HostEvent::Client(number, self.client(number)));
        }
        let opened = self.game.as_ref().is_some_and(|game| game.has_opened(at));
        if opened && event != Event::Warmup && self.opening.take().is_some() {
            events.push(HostEvent::Start);
        }
        match event {
            Event::Warmup => {
                self.opening = None;
                events.push(HostEvent::WarmUp);
            }
            Event::Exit => events.push(HostEvent::Over),
            event => self.play(event, events),
        }
    }

    fn tick(&mut self, now: u64, events: &mut Vec<HostEvent>) {
        if self
            .opening
            .take_if(|since| now >= *since + OPENING)
            .is_some()
        {
            events.push(HostEvent::Start);
        }
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    fn prepare(&self, hosted: &AgentMatch, limits: Vec<String>) -> Vec<String> {
        let fixed = [
            // Passes replace the password, of which there is one for all.
            "set g_password \"\"",
            // The warm-up lasts until all players are here.
            "set g_doWarmup 1",
            "set g_warmup 3600",
            // The teams are those of the match.
            "set g_teamForceBalance 0",
            "set g_teamAutoJoin 0",
            "set bot_minplayers 0",
            // A vote could load another map.
            "set g_allowVote 0",
        ];
        let mut commands: Vec<String> = fixed.map(str::to_owned).to_vec();
        commands.extend(limits);
        commands.push(format!("set g_gametype {}", hosted.game_type()));
        commands.push(format!("sets {MATCH_VARIABLE} {}", hosted.id()));
        commands
    }

    fn load(&self, map: &str) -> String {
        format!("map {map}")
    }

    fn lacks_map(&self, answer: &[u8]) -> bool {
        answer.starts_with(NO_MAP)
    }

    fn proof(&self, client: usize, _name: &str) -> Proof {
        Proof::Ask(format!("dumpuser {client}"))
    }

    fn shown_pass<'a>(&self, answer: &'a [u8]) -> Option<&'a [u8]> {
        dumped(answer, "name")?;
        Some(dumped(answer, "password").unwrap_or_default())
    }

    fn begin(&self, times: u32) -> Vec<String> {
        vec![format!("set g_warmup {}", COUNTDOWN - times % 2)]
    }

    fn place(&self, client: usize, team: Option<u8>) -> String {
        let team = team.and_then(|team| TEAM_NAMES.get(usize::from(team)));
        format!("forceteam {client} {}", team.unwrap_or(&"spectator"))
    }

    fn kick(&self, client: usize) -> String {
        format!("clientkick {client}")
    }

    fn lock(&self, password: &str) -> String {
        format!("set g_password \"{password}\"")
    }

    fn forget(&self) -> String {
        format!("sets {MATCH_VARIABLE} \"\"")
    }
}

/// The value of a key in an answer to `dumpuser`. `None` if the answer is none or lacks the key.
///
/// The answer has a line for each key, which is followed by blanks and the value.
fn dumped<'a>(answer: &'a [u8], key: &str) -> Option<&'a [u8]> {
    if !answer.starts_with(b"userinfo") {
        return None;
    }
    let lines = answer.split(|&b| b == b'\n');
    let values = lines.filter_map(|line| line.strip_prefix(key.as_bytes())?.strip_prefix(b" "));
    values.map(<[u8]>::trim_ascii).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pass_in_a_real_answer() {
        let answer =
            b"userinfo\n--------\nip                   127.0.0.1\npassword             0c5e8f\n\
            name                 password fake\nrate                 25000\n";
        assert_eq!(dumped(answer, "password"), Some(&b"0c5e8f"[..]));
        assert_eq!(dumped(answer, "name"), Some(&b"password fake"[..]));
        assert_eq!(dumped(answer, "cl_guid"), None);
        assert_eq!(dumped(b"Player 3 is not on the server\n", "password"), None);
        assert_eq!(dumped(b"", "password"), None);
    }
}
