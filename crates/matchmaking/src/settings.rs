//! The settings of a queue, the section `[queue.NAME]` of the configuration, and of its rules, the sections
//! `[[queue.NAME.rule]]`.

use std::collections::BTreeMap;

use evenkeel_model::units::{Amount, Count, Seconds, Share, UpToADay};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::attribute::Attribute;

/// The most players of a match.
pub const MAX_MATCH: usize = 128;

/// The settings of one queue. `teams`, `size` and `ruleset` are required; all else has a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSettings {
    /// Number of teams of a match.
    pub teams: Count<2, 8>,
    /// Number of players that a team should have.
    pub size: Count<1, 64>,
    /// Smaller sizes, each with the seconds that the oldest ticket must have waited for it.
    #[serde(default)]
    pub smaller: Vec<(f64, u32)>,
    /// How long a ticket waits before it expires.
    #[serde(default = "ttl")]
    pub ttl: Seconds<1, 86_400>,
    /// The ruleset whose weights the `@` attributes are.
    pub ruleset: String,
    /// Whether a match needs an instance that hosts it.
    #[serde(default)]
    pub host: Host,
    /// How long a match waits for a free instance before its tickets go back.
    #[serde(default = "host_wait")]
    pub host_wait: UpToADay,
    /// Which instances are near enough; without it, all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Whether players who wait may be sent to matches in play whose game servers seek players.
    #[serde(default = "yes")]
    pub backfill: bool,
    /// How long players have to accept a match; 0 for no ready check.
    #[serde(default = "no_wait")]
    pub ready_check: UpToADay,
    /// The penalty that a match may have; without it, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept: Option<Accept>,
    /// The attribute by whose sums the final split makes teams even; `@weight` if the key is
    /// missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub even_by: Option<String>,
    /// A player is in one waiting ticket among the queues of a group; queues without the key form one
    /// group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The part of the queues that one daemon runs at a time.
    #[serde(default = "main_partition", skip_serializing_if = "is_main")]
    pub partition: String,
    /// The part of its probability that a map keeps that was just played; 1 forgets what was played.
    #[serde(default = "repeat_maps")]
    pub repeat_maps: Share,
    /// What players state of themselves, by name.
    #[serde(default)]
    pub attributes: BTreeMap<String, Attribute>,
    /// What a match must be like.
    #[serde(default, rename = "rule")]
    pub rules: Vec<RuleSettings>,
}

/// Whether a match needs an instance that hosts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// A match waits for an instance.
    #[default]
    Required,
    /// A match is final as soon as it is formed.
    None,
}

/// The penalty that a match may have, by the wait of its oldest ticket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// The penalty that is accepted at once.
    pub start: Amount,
    /// How much more is accepted for each second of waiting.
    pub per_second: Amount,
    /// The most that is ever accepted.
    pub max: Amount,
}

impl Accept {
    /// The penalty that a match may have whose oldest ticket has waited this many seconds.
    pub fn limit(&self, waited: f64) -> f64 {
        let grown = self.start.get() + self.per_second.get() * waited;
        grown.min(self.max.get())
    }
}

/// Where the latencies of players are, and how long they may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// The attribute of the type `map num` with the player's latency to each region.
    pub of: String,
    /// The worst latency that a player may have; any if the key is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Amount>,
}

/// The partition of queues whose configuration names none.
pub const MAIN_PARTITION: &str = "main";

fn main_partition() -> String {
    MAIN_PARTITION.to_owned()
}

fn is_main(partition: &str) -> bool {
    partition == MAIN_PARTITION
}

fn yes() -> bool {
    true
}

fn ttl() -> Seconds<1, 86_400> {
    const { Seconds::of(600) }
}

fn host_wait() -> UpToADay {
    const { Seconds::of(120) }
}

fn repeat_maps() -> Share {
    const { Share::of(0.1) }
}

fn no_wait() -> UpToADay {
    const { Seconds::of(0) }
}

/// The settings of a rule: what all rules have, and the keys of its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleSettings {
    /// The name of the rule in explanations, unique in its queue.
    pub name: String,
    /// The type of the rule, such as `spread`.
    pub rule: String,
    /// Whether the rule holds in every match that is formed.
    #[serde(default)]
    pub hard: bool,
    /// What a violation of 1 costs.
    #[serde(default = "one")]
    pub weight: Amount,
    /// Whether the square of the violation costs, instead of the violation.
    #[serde(default)]
    pub square: bool,
    /// The other keys. [`Queue::new`](crate::Queue::new) checks them by the type.
    #[serde(flatten)]
    pub keys: Map<String, Value>,
}

/// The name of the type that is about the size of teams.
pub(crate) const FULL: &str = "full";
/// The keys that rules of all types have.
const COMMON: &str = "name, rule, hard, weight, square";

fn one() -> Amount {
    const { Amount::of(1.0) }
}

/// Larger values of `at_most`, each with the seconds that the oldest ticket must have waited.
pub(crate) type Relax = Vec<(f64, f64)>;

/// The keys of a type that has none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoKeys {}

/// The keys of a type that is only about an attribute.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OfKeys {
    pub of: String,
}

impl RuleSettings {
    /// The rule that a queue has if none of its own `rules` is a hard one of the type `full`.
    pub(crate) fn full(rules: &[Self]) -> Self {
        let mut name = "full teams".to_owned();
        while rules.iter().any(|rule| rule.name == name) {
            name.push('\'');
        }
        Self {
            name,
            rule: FULL.to_owned(),
            hard: true,
            weight: one(),
            square: false,
            keys: Map::new(),
        }
    }

    /// Whether the rule is a hard one that all teams have the wanted size.
    pub(crate) fn is_full(&self) -> bool {
        self.hard && self.rule == FULL
    }

    /// Reads the keys of the rule's type.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, QueueError> {
        let keys = Value::Object(self.keys.clone());
        serde_path_to_error::deserialize(keys).map_err(|error: serde_path_to_error::Error<_>| {
            let (key, why) = (error.path().to_string(), error.into_inner());
            self.refused(key, why.to_string().trim())
        })
    }

    /// An error in the words of the documentation.
    fn refused(&self, key: String, why: &str) -> QueueError {
        if let Some(missing) = why.strip_prefix("missing field ") {
            return QueueError::new(missing.replace('`', ""), "is missing");
        }
        match why.strip_prefix("unknown field ") {
            Some(unknown) => {
                let known = unknown
                    .split_once(", expected ")
                    .map_or("", |(_, known)| known);
                let known = known.trim_start_matches("one of ").replace('`', "");
                let own = if known.is_empty() {
                    known
                } else {
                    format!("{known}, ")
                };
                let kind = &self.rule;
                let why =
                    format!("is not used by rules of the type {kind}: its keys are {own}{COMMON}");
                QueueError::new(key, why)
            }
            None => QueueError::new(key, why),
        }
    }
}

/// Why the settings of a queue contradict themselves or refer to what does not exist. The message
/// is a predicate or a sentence about the key that [`key`](Self::key) names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} {why}")]
pub struct QueueError {
    /// The path of the key below `[queue.NAME]`, such as `rule[2].of`.
    pub key: String,
    /// What is wrong, as a predicate whose subject is the key.
    pub why: String,
}

impl QueueError {
    pub(crate) fn new(key: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            why: why.into(),
        }
    }
}
