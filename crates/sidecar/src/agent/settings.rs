//! The operator's settings of an agent.

use std::collections::BTreeSet;

use crate::console::is_plain_name;

/// The largest value of a limit.
const MAX_LIMIT: u16 = 10_000;

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

/// A mode of queues, and the type of game with which it is played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameMode {
    /// The name in the queue's configuration.
    pub(super) name: String,
    /// The type of a game of two teams, as the game server's console takes it.
    pub(super) game_type: String,
}

impl GameMode {
    /// A mode; `None` if its name is unsafe in a command.
    pub(crate) fn new(name: &str, game_type: &str) -> Option<Self> {
        is_plain_name(name).then(|| Self {
            name: name.to_owned(),
            game_type: game_type.to_owned(),
        })
    }
}

/// A limit of the games of all queues, or of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    queue: Option<String>,
    command: &'static str,
    value: u16,
}

impl Limit {
    /// Parses `[QUEUE:]WORD=N`; each word has the command that sets its limit.
    pub(crate) fn parse(text: &str, words: &[(&'static str, &'static str)]) -> Option<Self> {
        let (queue, limit) = match text.rsplit_once(':') {
            Some((queue, limit)) => (Some(queue.to_owned()), limit),
            None => (None, text),
        };
        let (word, value) = limit.split_once('=')?;
        let (_, command) = *words.iter().find(|(known, _)| *known == word)?;
        let value = value.parse().ok().filter(|value| *value <= MAX_LIMIT)?;
        Some(Self {
            queue,
            command,
            value,
        })
    }

    pub(crate) fn command(&self) -> String {
        format!("{} {}", self.command, self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idtech3::host_limit;

    #[test]
    fn limits_of_one_queue_come_last() {
        let limits = ["duel:time=5", "time=20", "other:captures=3", "frags=0"];
        let settings = AgentSettings {
            limits: limits.map(|text| host_limit(text).unwrap()).to_vec(),
            ..super::super::tests::settings()
        };
        assert_eq!(
            settings.limit_commands("duel"),
            ["set timelimit 20", "set fraglimit 0", "set timelimit 5"]
        );
    }
}
