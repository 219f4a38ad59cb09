//! The settings of the coordinator: the section `[coordinator]` of the configuration.

use serde::Deserialize;

use super::{AgonesSettings, Provider};
use evenkeel_model::units::{Seconds, UpToADay};

/// Where instances come from, and how long each step of a hosted match may take.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinatorSettings {
    /// Where the instances come from.
    pub provider: Provider,
    /// How the allocator is asked, if instances come from one.
    pub agones: AgonesSettings,
    /// The longest time between two lines of an instance.
    pub heartbeat_seconds: Seconds<1, 3_600>,
    /// How long an instance that is lost may take to come back before its matches go to others.
    pub return_seconds: UpToADay,
    /// The longest time from SESSION to READY, and from READY to the connection with the game.
    pub open_seconds: Seconds<1, 3_600>,
    /// The longest time from the connection with the game to START.
    pub join_seconds: Seconds<1, 86_400>,
    /// The longest time from START to END.
    pub play_seconds: Seconds<1, 604_800>,
    /// How long a pass is valid after GO.
    pub pass_seconds: Seconds<1, 86_400>,
    /// How long a player who was sent to a match in play may take to come.
    pub backfill_seconds: Seconds<1, 3_600>,
    /// How long an instance gets no match after it has refused one or has not answered.
    pub rest_seconds: UpToADay,
    /// How long a game in play may be without a connection: what `[server] resume_grace_seconds` is.
    #[serde(skip, default = "resume_grace")]
    pub resume_grace: UpToADay,
}

fn resume_grace() -> UpToADay {
    const { Seconds::of(120) }
}

impl CoordinatorSettings {
    /// How long a game in play may be without a connection, in milliseconds: a little longer than its
    /// session keeps it.
    pub(super) fn resume_millis(&self) -> i64 {
        millis(self.resume_grace).saturating_add(2_000)
    }
}

impl Default for CoordinatorSettings {
    fn default() -> Self {
        Self {
            provider: Provider::Instances,
            agones: AgonesSettings::default(),
            heartbeat_seconds: const { Seconds::of(30) },
            return_seconds: const { Seconds::of(15) },
            open_seconds: const { Seconds::of(30) },
            join_seconds: const { Seconds::of(300) },
            play_seconds: const { Seconds::of(14_400) },
            pass_seconds: const { Seconds::of(600) },
            backfill_seconds: const { Seconds::of(60) },
            rest_seconds: const { Seconds::of(10) },
            resume_grace: resume_grace(),
        }
    }
}

/// A number of seconds in milliseconds.
pub(super) fn millis<const MIN: u32, const MAX: u32>(seconds: Seconds<MIN, MAX>) -> i64 {
    i64::from(seconds.get()) * 1_000
}
