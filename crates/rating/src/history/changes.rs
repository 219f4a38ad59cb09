//! Which weights differ from those of an earlier state: a weight changes with its player's own matches, and with a season.

use super::{Fold, Level, Standing, Weight};
use crate::Player;
use evenkeel_model::{Kind, PlayerKey, Ruleset};

impl Fold {
    /// The rulesets with a rated match since an earlier state of this fold; after a season, all.
    pub fn rated_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Ruleset> {
        self.levels().learned_since(before.levels())
    }

    /// At least the players of a ruleset whose weights differ from those of an earlier state of this fold. O(players of the
    /// matches between); after a season, O(players).
    pub fn weighed_since<'a>(
        &'a self,
        before: &Self,
        ruleset: &Ruleset,
    ) -> impl Iterator<Item = &'a PlayerKey> {
        let standing = |fold: &'a Self| fold.levels().standing(ruleset, Level::Ruleset);
        let old = before.levels().standing(ruleset, Level::Ruleset);
        let players = match (standing(self), old) {
            (Some(own), Some(old)) => own.played_since(old),
            (own, _) => own.into_iter().flat_map(Standing::players).collect(),
        };
        self.keys_of(players)
    }

    /// At least the players who are new, or have another name than in an earlier state of this fold.
    pub fn renamed_since<'a>(&'a self, before: &Self) -> impl Iterator<Item = &'a PlayerKey> {
        self.keys_of(self.people().unlike(before.people()))
    }

    fn keys_of(&self, players: Vec<Player>) -> impl Iterator<Item = &PlayerKey> {
        let people = players.into_iter();
        people.filter_map(|player| Some(&self.people().get(player)?.key))
    }

    /// The latest name of a player; `None` for somebody who has not played.
    pub fn name_of(&self, kind: Kind, id: &str) -> Option<&str> {
        let people = self.people();
        Some(people.get(people.number(kind, id)?)?.name())
    }

    /// The weight of a player with a rated game of the ruleset itself.
    pub fn weight_of<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        kind: Kind,
        id: &str,
    ) -> Option<Weight<'a>> {
        let people = self.people();
        let player = people.number(kind, id)?;
        let own = self.levels().standing(ruleset, Level::Ruleset)?;
        own.weight(ruleset, people.get(player)?, player)
    }

    /// Of each division of a ruleset, the weights at which its progress is 0 and 1; none before anybody has one.
    pub fn spans(&self, ruleset: &Ruleset) -> Vec<(f64, f64)> {
        let own = self.levels().standing(ruleset, Level::Ruleset);
        own.map_or(Vec::new(), |own| own.ladder().spans())
    }

    /// The number of players of a ruleset, those without a rated game included.
    pub fn players_of(&self, ruleset: &Ruleset) -> usize {
        let own = self.levels().standing(ruleset, Level::Ruleset);
        own.map_or(0, |own| own.players().count())
    }
}
