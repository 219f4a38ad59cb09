//! The weights at which an operator lets players start.

use std::{collections::BTreeMap, sync::Arc};

use super::digest::Person;
use crate::{
    domain::{PlayerKey, StartWeight},
    rating::{Player, RatedGame, Scale, Strength},
};

/// The deviation of a start weight, in [units](Scale) of weights. For the systems with
/// deviations, it is about half of a newcomer's, so that an operator counts more than the first ten
/// matches and less than the first fifty.
const SURE: f64 = 0.45;
/// The same for an uncertain start weight: about a newcomer's. With twice the deviation, the first matches
/// move it four times as far.
const UNCERTAIN: f64 = 0.9;

/// The start weights of players, by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts(Arc<BTreeMap<PlayerKey, StartWeight>>);

/// The start weights of the players of one game.
pub(super) type StartsOfGame = Vec<(Player, StartWeight)>;

impl Starts {
    pub fn new(by_key: BTreeMap<PlayerKey, StartWeight>) -> Self {
        Self(Arc::new(by_key))
    }

    /// The start weights of the players of a game; `people` are all players by number.
    pub fn of_game(&self, game: &RatedGame, people: &[Person]) -> StartsOfGame {
        if self.0.is_empty() {
            return Vec::new();
        }
        let players = game.tallies.iter().map(|tally| tally.player);
        let start = |player: Player| {
            let person = people.get(player.index())?;
            Some((player, *self.0.get(&person.key)?))
        };
        players.filter_map(start).collect()
    }
}

/// The prior of a start weight whose strength above a newcomer's is `mean`.
pub(super) fn prior(start: StartWeight, mean: f64, scale: Scale) -> Strength {
    let share = if start.uncertain { UNCERTAIN } else { SURE };
    let deviation = match scale {
        Scale::Weights => 0.0,
        Scale::Strengths { unit, .. } => share * unit,
    };
    Strength { mean, deviation }
}
