//! The weights at which an operator lets players start.

use std::{collections::BTreeMap, sync::Arc};

use super::People;
use crate::{Player, Scale, Strength};
use evenkeel_model::{PlayerKey, StartWeight};

/// The start weights of players, by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Starts(Arc<BTreeMap<PlayerKey, StartWeight>>);

/// The start weights of players, by number; `people` are all players.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartsByNumber<'a> {
    starts: &'a Starts,
    people: &'a People,
}

impl Starts {
    pub fn new(by_key: BTreeMap<PlayerKey, StartWeight>) -> Self {
        Self(Arc::new(by_key))
    }

    /// The start weights by the numbers of these players.
    pub fn among<'a>(&'a self, people: &'a People) -> StartsByNumber<'a> {
        StartsByNumber {
            starts: self,
            people,
        }
    }
}

impl StartsByNumber<'_> {
    /// The start weight of a player.
    pub fn of(self, player: Player) -> Option<StartWeight> {
        let person = self.people.get(player)?;
        self.starts.0.get(&person.key).copied()
    }
}

/// The prior of a start weight whose strength above a newcomer's is `mean`. With twice the deviation, the first
/// matches move an uncertain one four times as far.
pub(super) fn prior(start: StartWeight, mean: f64, scale: Scale) -> Strength {
    let share = match start.uncertain {
        true => Scale::UNCERTAIN,
        false => Scale::SURE,
    };
    let deviation = share * scale.unit();
    Strength { mean, deviation }
}
