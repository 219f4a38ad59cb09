//! The weights of one game, as its lobby sees them.

use std::sync::Arc;

use crate::{
    domain::{Kind, PlayerKey, Ruleset},
    learning::{Standings, View},
    lobby::{BotWeight, TeamBonus, Weights},
};

/// The weights in one game. Unknown players have the defaults.
pub(super) struct GameWeights {
    pub(super) standings: Arc<Standings>,
    pub(super) view: Arc<View>,
    pub(super) ruleset: Ruleset,
    pub(super) map: String,
    pub(super) teams: u8,
    /// A human's weight, and the mean bot's, where nothing is known.
    pub(super) defaults: (f64, f64),
}

impl Weights for GameWeights {
    fn human(&self, id: &str) -> f64 {
        self.view
            .expected(Kind::Human, id)
            .unwrap_or(self.defaults.0)
    }

    fn human_worth(&self, id: &str) -> f64 {
        let worth = self.view.worth(Kind::Human, id);
        worth.unwrap_or(self.defaults.0)
    }

    fn mean_bot_worth(&self) -> f64 {
        self.view.mean_bot_worth().unwrap_or(self.defaults.1)
    }

    fn bot(&self, name: &str) -> Option<BotWeight> {
        let weight = self.view.expected(Kind::Bot, name)?;
        let in_mean = self.view.is_in_mean(name);
        Some(BotWeight { weight, in_mean })
    }

    fn mean_bot(&self) -> (f64, usize) {
        self.view.mean_bot().unwrap_or((self.defaults.1, 0))
    }

    /// The chance that the rating system gives one stranger there against one on each other side.
    fn side(&self, team: u8) -> f64 {
        let stranger = PlayerKey {
            kind: Kind::Human,
            id: String::new(),
        };
        let teams = vec![vec![stranger]; usize::from(self.teams)];
        let chances = self.standings.chances(&self.ruleset, &self.map, &teams);
        let chance = chances.and_then(|chances| chances.get(usize::from(team)).copied());
        chance.map_or(1.0, |chance| chance * f64::from(self.teams))
    }

    fn typical_bots(&self) -> Vec<&str> {
        self.view.typical_bots()
    }

    fn chance(&self, teams: &[Vec<PlayerKey>]) -> Option<f64> {
        self.standings.chance(&self.ruleset, &self.map, teams)
    }

    fn bonus(&self, teams: &[Vec<PlayerKey>]) -> TeamBonus {
        let field = self.standings.field(&self.ruleset, &self.map, teams);
        TeamBonus {
            side: field.side,
            empty: field.empty,
        }
    }
}
