//! The weights of one game, as its lobby sees them.

use std::sync::Arc;

use crate::{
    domain::{Kind, Outlook, PlayerKey, Ruleset},
    learning::{Standings, View},
    lobby::{BotWeight, ScoreSpread, Weights},
};

/// The weights in one game; unknown players have the defaults.
pub(super) struct GameWeights {
    pub(super) standings: Arc<Standings>,
    pub(super) view: Arc<View>,
    pub(super) ruleset: Ruleset,
    pub(super) map: String,
    /// A human's weight, and the mean bot's, where nothing is known.
    pub(super) defaults: (f64, f64),
}

impl Weights for GameWeights {
    fn human(&self, id: &str) -> f64 {
        self.view
            .expected(Kind::Human, id)
            .unwrap_or(self.defaults.0)
    }

    fn human_strength(&self, id: &str) -> f64 {
        let known = self.view.strength(Kind::Human, id);
        known.unwrap_or_else(|| self.standings.strength_at(&self.ruleset, self.defaults.0))
    }

    fn mean_bot_strength(&self) -> f64 {
        match self.view.mean_bot() {
            Some(_) => self.view.mean_bot_strength(),
            None => self.standings.strength_at(&self.ruleset, self.defaults.1),
        }
    }

    fn bot(&self, name: &str) -> Option<BotWeight> {
        let weight = self.view.expected(Kind::Bot, name)?;
        let in_mean = self.view.is_in_mean(name);
        let strength = self.view.strength(Kind::Bot, name)?;
        Some(BotWeight {
            weight,
            strength,
            in_mean,
        })
    }

    fn mean_bot(&self) -> (f64, usize) {
        self.view.mean_bot().unwrap_or((self.defaults.1, 0))
    }

    fn typical_bots(&self) -> Vec<&str> {
        self.view.typical_bots()
    }

    fn outlook(&self, teams: &[Vec<PlayerKey>]) -> Option<Outlook> {
        let reading = self.standings.reading(&self.ruleset, &self.map, teams)?;
        let players = || teams.iter().flatten();
        let pinned = players().filter(|key| self.view.is_pinned(key.kind, &key.id));
        let open = 1.0 - pinned.count() as f64 / players().count().max(1) as f64;
        let outlook = Outlook {
            doubt: reading.outlook.doubt * libm::sqrt(open),
            ..reading.outlook
        };
        Some(outlook).filter(Outlook::is_sound)
    }

    fn spread(&self) -> ScoreSpread {
        let spread = self.standings.spread(&self.ruleset);
        ScoreSpread {
            matches: spread.matches,
            square: spread.square(),
        }
    }

    /// What the rating system predicts for this very lineup, with what decisions count otherwise than
    /// it does added to the edge.
    fn chance(&self, teams: &[Vec<PlayerKey>], strengths: &[f64]) -> Option<f64> {
        let predicted = || self.standings.chance(&self.ruleset, &self.map, teams);
        let (one, other) = match teams {
            [one, other] if !one.is_empty() && !other.is_empty() => (one, other),
            _ => return predicted(),
        };
        let reading = self.standings.reading(&self.ruleset, &self.map, teams)?;
        let outlook = reading.outlook;
        let counted = match strengths {
            &[counted, against] if outlook.is_sound() => {
                (counted - reading.strengths[0]) - (against - reading.strengths[1])
            }
            _ => return predicted(),
        };
        let (one, other) = (one.len(), other.len());
        let learned = outlook.learned_heads(one, other);
        let edge = reading.edge
            + outlook.per_strength_at(one + other) * counted
            + (outlook.heads(one, other) - learned);
        Some(outlook.link.chance(edge))
    }
}
