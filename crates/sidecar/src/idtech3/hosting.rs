//! An id Tech 3 server as an instance: what an agent reads in its log, and the console commands with which it hosts matches.
//!
//! The game server states in its log which match a game is (`evenkeel_match`). A player sets the variable `password` of
//! their client to the pass. The client sends it to the game server as part of its userinfo, where `dumpuser` shows it. The
//! log does not.

use evenkeel_ingest::{GameEvent, live::idtech3::MATCH_VARIABLE};

use super::{LiveLog, TEAM_NAMES};
use crate::{
    agent::{AgentMatch, GameMode, HostEngine, IdentityProof, Limit},
    progress::{LoggedPlayer, LoggedSetup},
};

/// The length of the warm-up once all players are here, in seconds. A game counts a new value only if
/// it differs from the last one.
const COUNTDOWN: u32 = 6;
/// How the game server answers if it does not have a map.
const NO_MAP: &[u8] = b"Can't find map";

/// The engine of an agent.
#[derive(Default)]
pub struct IdTech3Host {
    log: LiveLog,
}

impl HostEngine for IdTech3Host {
    const ALIVE: &'static str = "sv_maxclients";
    const QUIT: &'static str = "quit";

    fn log_line(&mut self, line: &[u8], now: u64, events: &mut Vec<GameEvent>) {
        self.log.read(line, now, events);
    }

    fn tick(&mut self, now: u64, events: &mut Vec<GameEvent>) {
        self.log.tick(now, events);
    }

    fn setup(&self) -> LoggedSetup {
        self.log.setup().unwrap_or_default()
    }

    fn player(&self, number: usize) -> Option<LoggedPlayer> {
        self.log.player(number)
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

    fn proof(&self, client: usize, _name: &str) -> IdentityProof {
        IdentityProof::Ask(format!("dumpuser {client}"))
    }

    fn shown_pass<'a>(&self, answer: &'a [u8]) -> Option<&'a [u8]> {
        dumped(answer, "name")?;
        Some(dumped(answer, "password").unwrap_or_default())
    }

    fn begin(&self, times: u32) -> Vec<String> {
        vec![format!("set g_warmup {}", COUNTDOWN - times % 2)]
    }

    fn assign(&self, client: usize, team: Option<u8>) -> String {
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

/// The lowest and highest `g_gametype` of a game of two teams.
const TEAM_TYPES: std::ops::RangeInclusive<u8> = 3..=15;
/// The modes with a name of their own, with their values of `g_gametype`: those of OpenArena.
const KNOWN: [(&str, u8); 8] = [
    ("tdm", 3),
    ("ctf", 4),
    ("oneflag", 5),
    ("overload", 6),
    ("harvester", 7),
    ("elimination", 8),
    ("ctfelimination", 9),
    ("domination", 12),
];
/// The limits of games, with the commands that set them.
const LIMITS: [(&str, &str); 3] = [
    ("time", "set timelimit"),
    ("captures", "set capturelimit"),
    ("frags", "set fraglimit"),
];

/// Parses a mode: `NAME`, one of the known ones, or `NAME=NUMBER`.
///
/// # Errors
/// Fails if it is no mode of a team game.
pub fn host_mode(text: &str) -> Result<GameMode, String> {
    let (name, game_type) = match text.split_once('=') {
        Some((name, number)) => (name, number.parse().ok()),
        None => {
            let known = KNOWN.iter().find(|(name, _)| *name == text);
            (text, known.map(|(_, number)| *number))
        }
    };
    let game_type = game_type.filter(|number| TEAM_TYPES.contains(number));
    game_type
        .and_then(|number| GameMode::new(name, &number.to_string()))
        .ok_or_else(|| {
            let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            let names = names.join(", ");
            format!("a mode is one of {names}, or NAME=NUMBER with the g_gametype of a team game")
        })
}

/// Parses `[QUEUE:]time=MINUTES`, `[QUEUE:]captures=N` or `[QUEUE:]frags=N`.
///
/// # Errors
/// Fails if it is no limit.
pub fn host_limit(text: &str) -> Result<Limit, String> {
    let form = "a limit is [QUEUE:]time=MINUTES, captures=N or frags=N";
    Limit::parse(text, &LIMITS).ok_or_else(|| form.to_owned())
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

    #[test]
    fn modes_are_those_of_team_games() {
        let mode = |text: &str| host_mode(text).ok();
        assert_eq!(mode("ctf"), GameMode::new("ctf", "4"));
        assert_eq!(mode("arena=8"), GameMode::new("arena", "8"));
        for wrong in ["", "ffa", "ffa=0", "x=16", "x=-4", "a b=4", "a;quit=4"] {
            assert_eq!(mode(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn limits_are_commands() {
        for wrong in ["", "time", "time=", "time=x", "duel:kills=3", "frags=10001"] {
            assert!(host_limit(wrong).is_err(), "{wrong}");
        }
        for (text, command) in [
            ("duel:time=5", "set timelimit 5"),
            ("frags=0", "set fraglimit 0"),
            ("captures=8", "set capturelimit 8"),
        ] {
            assert_eq!(host_limit(text).unwrap().command(), command);
        }
    }
}
