//! The operator's settings of an agent.

use std::{collections::BTreeSet, str::FromStr};

use crate::sidecar::idtech3::commands::is_plain_name;

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

/// The operator's settings of an agent. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSettings {
    /// The name of the game server in HELLO.
    pub server: String,
    /// The token of the game server, if the daemon requires one.
    pub token: Option<String>,
    /// Where players connect, as INSTANCE states it.
    pub address: String,
    /// The region of the game server, if it has one.
    pub region: Option<String>,
    /// The modes that the game server serves. The first one is played if a match has no mode.
    pub modes: Vec<GameMode>,
    /// The maps that it has; all if there are none. The first one is played if a match has no map.
    pub maps: Vec<String>,
    /// When games end, for all queues or for one.
    pub limits: Vec<Limit>,
    /// Whether clients without a pass are only kept off the teams, and not disconnected.
    pub strangers_watch: bool,
    /// The password of the game server between two matches, which nobody knows; `None` to let
    /// everybody in.
    pub lock: Option<String>,
    /// How long players see the results before the game server is cleared.
    pub intermission: u64,
    /// How long a pass is valid for a player who has not joined.
    pub pass_valid: u64,
}

impl AgentSettings {
    /// The mode of a match; `None` if the game server does not serve it.
    pub(super) fn mode(&self, name: Option<&str>) -> Option<&GameMode> {
        match name {
            None => self.modes.first(),
            Some(name) => self.modes.iter().find(|mode| mode.name == name),
        }
    }

    /// The names of all modes.
    pub(super) fn mode_names(&self) -> BTreeSet<String> {
        self.modes.iter().map(|mode| mode.name.clone()).collect()
    }

    /// The console commands that set the limits of a queue. Limits of one queue come after those of
    /// all.
    pub(super) fn limit_commands(&self, queue: &str) -> Vec<String> {
        let general = self.limits.iter().filter(|limit| limit.queue.is_none());
        let own = self
            .limits
            .iter()
            .filter(|limit| limit.queue.as_deref() == Some(queue));
        general.chain(own).map(Limit::command).collect()
    }
}

/// Parses the name of a map, which must be a plain word.
///
/// # Errors
/// Fails if the name is unsafe in a console command.
pub fn map_name(text: &str) -> Result<String, String> {
    match is_plain_name(text) {
        true => Ok(text.to_owned()),
        false => Err("a map is a word of letters, digits, _, - and .".to_owned()),
    }
}

/// A mode of queues, and the value of `g_gametype` with which it is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameMode {
    /// The name in the queue's configuration.
    pub(super) name: String,
    /// The value of `g_gametype`: a game of two teams.
    pub(super) game_type: u8,
}

/// Parses `NAME`, one of the known modes, or `NAME=NUMBER`.
impl FromStr for GameMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, game_type) = match text.split_once('=') {
            Some((name, number)) => (name, number.parse().ok()),
            None => {
                let known = KNOWN.iter().find(|(name, _)| *name == text);
                (text, known.map(|(_, number)| *number))
            }
        };
        let game_type = game_type.filter(|number| TEAM_TYPES.contains(number));
        match game_type.filter(|_| is_plain_name(name)) {
            Some(game_type) => Ok(Self {
                name: name.to_owned(),
                game_type,
            }),
            None => {
                let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
                Err(format!(
                    "a mode is one of {}, or NAME=NUMBER with the g_gametype of a team game",
                    names.join(", ")
                ))
            }
        }
    }
}

/// What ends a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitKind {
    Time,
    Captures,
    Frags,
}

/// A limit of the games of all queues, or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    queue: Option<String>,
    kind: LimitKind,
    value: u16,
}

impl Limit {
    fn command(&self) -> String {
        let name = match self.kind {
            LimitKind::Time => "timelimit",
            LimitKind::Captures => "capturelimit",
            LimitKind::Frags => "fraglimit",
        };
        format!("set {name} {}", self.value)
    }
}

/// Parses `[QUEUE:]time=MINUTES`, `[QUEUE:]captures=N` or `[QUEUE:]frags=N`.
impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (queue, limit) = match text.rsplit_once(':') {
            Some((queue, limit)) => (Some(queue.to_owned()), limit),
            None => (None, text),
        };
        let (kind, value) = limit.split_once('=').unwrap_or((limit, ""));
        let kind = match kind {
            "time" => Some(LimitKind::Time),
            "captures" => Some(LimitKind::Captures),
            "frags" => Some(LimitKind::Frags),
            _ => None,
        };
        match (kind, value.parse().ok().filter(|value| *value <= 10_000)) {
            (Some(kind), Some(value)) => Ok(Self { queue, kind, value }),
            _ => Err("a limit is [QUEUE:]time=MINUTES, captures=N or frags=N".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_those_of_team_games() {
        let mode = |text: &str| {
            let mode = text.parse::<GameMode>().ok()?;
            Some((mode.name, mode.game_type))
        };
        assert_eq!(mode("ctf"), Some(("ctf".to_owned(), 4)));
        assert_eq!(mode("arena=8"), Some(("arena".to_owned(), 8)));
        for wrong in ["", "ffa", "ffa=0", "x=16", "x=-4", "a b=4", "a;quit=4"] {
            assert_eq!(mode(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn limits_of_one_queue_come_last() {
        let limit = |text: &str| text.parse::<Limit>();
        for wrong in ["", "time", "time=", "time=x", "duel:kills=3", "frags=10001"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
        let limits = ["duel:time=5", "time=20", "other:captures=3", "frags=0"];
        let settings = AgentSettings {
            limits: limits.iter().map(|text| limit(text).unwrap()).collect(),
            ..super::super::tests::settings()
        };
        assert_eq!(
            settings.limit_commands("duel"),
            ["set timelimit 20", "set fraglimit 0", "set timelimit 5"]
        );
    }
}
