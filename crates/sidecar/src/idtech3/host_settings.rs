//! The modes and limits of matches on an id Tech 3 server, as the operator of an agent states them.

use crate::agent::{GameMode, Limit};

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
