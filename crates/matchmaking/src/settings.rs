//! The settings of a queue: the section `[queue.NAME]` of the configuration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Attribute, RuleSettings};
use evenkeel_model::units::{Amount, Count, Seconds, Share, UpToADay};

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
