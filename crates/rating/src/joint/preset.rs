//! What is known of a game before its first match: how far apart its players are.
//!
//! The bank weighs filters with several spreads by evidence, and a hundred matches hardly tell them apart. Who knows
//! the kind of game can say so, and the weights begin where the matches of such a game brought them.

use serde::{Deserialize, Serialize};

/// The number of spreads that the bank tries.
pub(super) const SPREADS: usize = 5;

/// Settings of `joint`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The kind of game.
    #[serde(rename = "joint_preset")]
    pub preset: Preset,
}

/// A kind of game, which decides what weights the spreads begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Nothing is known: all spreads begin with the same weight.
    #[default]
    Any,
    /// Capture the flag in a small arena, four against four, in a league: TagPro.
    ArenaCtf,
    /// Pick-up games of a shooter, seven against seven: Tribes: Ascend.
    Shooter,
    /// Two against two at beach volleyball, in tournaments.
    Volleyball,
}

impl Preset {
    /// The weight that each spread begins with, from the smallest spread to the largest.
    ///
    /// How they were got: the first fifth of a recorded history of the game was begun anew every 20 matches. After
    /// 100 matches, each spread had a weight by its evidence alone; these are the means over the starts (26 of TagPro, 10
    /// of Tribes, 97 of beach volleyball). `docs/internals/figures.md` has what they change in the other four fifths.
    pub(super) fn weights(self) -> [f64; SPREADS] {
        match self {
            Self::Any => [0.2; SPREADS],
            Self::ArenaCtf => [0.09, 0.15, 0.35, 0.32, 0.09],
            Self::Shooter => [0.05, 0.07, 0.15, 0.29, 0.44],
            Self::Volleyball => [0.17, 0.20, 0.25, 0.25, 0.13],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_shares() {
        for preset in [
            Preset::Any,
            Preset::ArenaCtf,
            Preset::Shooter,
            Preset::Volleyball,
        ] {
            let sum: f64 = preset.weights().iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{preset:?}");
        }
    }
}
