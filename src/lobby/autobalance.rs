//! Auto-balance: a human who dies may be moved while the teams are unbalanced.
//!
//! The rules and their defaults are those of Sector's Edge; see [`AutoBalanceRules`]. Bots count as
//! players, so that a team they fill up isn't the smaller one; only humans are moved.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Held, Question, Snapshot, snapshot::lower_share};
use crate::domain::{Ident, Move};

mod assessment;
mod power;
mod rules;

pub use assessment::{Assessment, Calm, Cause};
use power::Powers;
pub use rules::{AutoBalanceRules, GapUnit, Lopsided, MoveRule, Power};

/// The most moves of one chain of [`MoveRule::Closest`]; more would be a new game.
const MAX_CHAIN: usize = 16;

/// A game, as far as the rules look at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Situation {
    /// Who plays where.
    pub snapshot: Snapshot,
    /// Play left in milliseconds, if CLOCK told.
    pub left: Option<u64>,
    /// Whether the teams are the players' own affair.
    pub tournament: bool,
    /// The rules.
    pub rules: AutoBalanceRules,
}

/// The question: does this human, who died, change sides?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoBalance {
    /// The game.
    pub situation: Situation,
    /// Who died: an index into its humans.
    pub who: usize,
    /// For how long the same team has been too strong, in milliseconds.
    pub lasted: u64,
}

/// What the rules say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoBalanceAnswer {
    /// About the teams.
    pub verdict: Assessment,
    /// Each team's power.
    pub powers: Vec<f64>,
    /// About the human.
    pub fate: Fate,
}

/// What happens to whoever died.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// They change sides.
    Moves(Move),
    /// They stay.
    Stays(StayReason),
}

/// Why somebody stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StayReason {
    /// The teams are balanced.
    Balanced,
    /// They are not of the stronger team.
    OtherTeam,
    /// The teams have not been unbalanced for long enough.
    TooSoon,
    /// Their party would be torn.
    Party,
    /// They have been moved in this game.
    Moved,
    /// Something else forbids it.
    Held(Held),
    /// The other team would be too strong then.
    Tips,
    /// Others would bring the teams closer.
    NotClosest,
}

impl Question for AutoBalance {
    type Answer = AutoBalanceAnswer;

    fn is_sound(&self) -> bool {
        let snapshot = &self.situation.snapshot;
        snapshot.is_sound() && self.who < snapshot.humans.len()
    }

    fn answer(&self, _seed: u64) -> AutoBalanceAnswer {
        let powers = self.situation.powers();
        let verdict = self.situation.judge(&powers);
        let fate = match self.fate(&verdict, &powers) {
            Ok(to) => Fate::Moves(Move {
                id: Ident::from_text(&self.situation.snapshot.humans[self.who].id),
                from: self.situation.snapshot.humans[self.who].team,
                to,
            }),
            Err(stay) => Fate::Stays(stay),
        };
        AutoBalanceAnswer {
            verdict,
            powers: powers.teams,
            fate,
        }
    }

    fn explain(&self, answer: &AutoBalanceAnswer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = &self.situation.snapshot.humans[self.who].id;
        match &answer.fate {
            Fate::Moves(step) => writeln!(f, "{step}")?,
            Fate::Stays(stay) => writeln!(f, "{who} stays: {stay}")?,
        }
        writeln!(f, "{}, for {} s", answer.verdict, self.lasted / 1_000)?;
        for (team, power) in answer.powers.iter().enumerate() {
            writeln!(f, "team {team}: power {power:.3}")?;
        }
        self.situation.snapshot.write_conduct(f)
    }
}

impl AutoBalance {
    /// The team they go to, or why they stay.
    fn fate(&self, verdict: &Assessment, powers: &Powers) -> Result<u8, StayReason> {
        let Situation {
            snapshot, rules, ..
        } = &self.situation;
        let Assessment::Unbalanced { strong, weak, .. } = *verdict else {
            return Err(StayReason::Balanced);
        };
        if snapshot.humans[self.who].team != Some(strong) {
            return Err(StayReason::OtherTeam);
        }
        if self.lasted < rules.delay_seconds.millis() {
            return Err(StayReason::TooSoon);
        }
        let eligible = self.eligible(strong)?;
        let of = |team: u8| powers.teams[usize::from(team)];
        match rules.choice {
            MoveRule::WhoDies => {
                let power = powers.humans[self.who];
                let tips = rules.is_gap(of(weak) + power, of(strong) - power);
                if tips {
                    Err(StayReason::Tips)
                } else {
                    Ok(weak)
                }
            }
            MoveRule::Closest => {
                let chain = closest(rules, powers, eligible, of(strong), of(weak));
                let chosen = chain.contains(&self.who);
                chosen.then_some(weak).ok_or(StayReason::NotClosest)
            }
        }
    }

    /// Those of the stronger team who may be moved (the page's `CanBeAutobalanced`), or why the one
    /// who died may not.
    fn eligible(&self, strong: u8) -> Result<Vec<usize>, StayReason> {
        let Situation {
            snapshot, rules, ..
        } = &self.situation;
        let forbidden = |who: usize| {
            let human = &snapshot.humans[who];
            if snapshot.in_party(who) {
                return Some(StayReason::Party);
            }
            if rules.once && human.moved {
                return Some(StayReason::Moved);
            }
            let held = human.pin.map(|_| Held::Pinned).or(human.held);
            held.map(StayReason::Held)
        };
        if let Some(stay) = forbidden(self.who) {
            return Err(stay);
        }
        let team =
            (0..snapshot.humans.len()).filter(|&who| snapshot.humans[who].team == Some(strong));
        let movable = team.filter(|&who| forbidden(who).is_none());
        let points = movable.map(|who| (who, snapshot.humans[who].points));
        let lower = lower_share(points.collect(), rules.movable_share.get());
        if lower.contains(&self.who) {
            Ok(lower)
        } else {
            Err(StayReason::Held(Held::Top))
        }
    }
}

/// Whoever brings the teams closest, again until they are no longer unbalanced or nothing helps.
/// O(moves · humans).
fn closest(
    rules: &AutoBalanceRules,
    powers: &Powers,
    mut eligible: Vec<usize>,
    mut strong: f64,
    mut weak: f64,
) -> Vec<usize> {
    let mut chain = Vec::new();
    while rules.is_gap(strong, weak) && chain.len() < MAX_CHAIN {
        let apart = |&who: &usize| (strong - weak - 2.0 * powers.humans[who]).abs();
        let best = eligible
            .iter()
            .copied()
            .min_by(|a, b| apart(a).total_cmp(&apart(b)));
        let Some(best) = best.filter(|best| apart(best) < strong - weak) else {
            break;
        };
        eligible.retain(|&who| who != best);
        strong -= powers.humans[best];
        weak += powers.humans[best];
        chain.push(best);
    }
    chain
}

impl fmt::Display for StayReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StayReason::Balanced => f.write_str("the teams are balanced"),
            StayReason::OtherTeam => f.write_str("not of the stronger team"),
            StayReason::TooSoon => {
                f.write_str("the teams have not been unbalanced for long enough")
            }
            StayReason::Party => f.write_str("in a party"),
            StayReason::Moved => f.write_str("moved before"),
            StayReason::Held(held) => held.fmt(f),
            StayReason::Tips => f.write_str("the other team would be too strong then"),
            StayReason::NotClosest => f.write_str("others bring the teams closer"),
        }
    }
}

#[cfg(test)]
mod tests;
