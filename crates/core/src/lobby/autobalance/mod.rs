//! Auto-balance: while the teams are unbalanced, a human of the stronger team who dies may be
//! moved.
//!
//! The rules and their defaults are those of Sector's Edge; see [`AutoBalanceRules`]. Bots count as
//! players, so that a team filled with bots does not count as the smaller one; only humans are
//! moved.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BotInGame, MoveBlock, Question, Snapshot};
use crate::domain::{Ident, Move};

mod assessment;
mod closest;
mod power;
mod rules;

pub use assessment::{Assessment, Calm, Cause};
use closest::closest;
use power::Powers;
pub use rules::{AutoBalanceRules, GapUnit, Lopsided, MoveRule, Power};

/// The parts of a game that the rules depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Situation {
    /// The players and their teams.
    pub snapshot: Snapshot,
    /// The bots that the game server is expected to add, which count like those on a team.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coming: Vec<BotInGame>,
    /// The remaining time of play in milliseconds, if CLOCK has stated it.
    pub left: Option<u64>,
    /// Whether the players choose their teams themselves.
    pub tournament: bool,
    /// The rules when the question was asked.
    pub rules: AutoBalanceRules,
}

/// The question of auto-balance: does this human, who died, change teams?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoBalance {
    /// The game when the human died.
    pub situation: Situation,
    /// The human who died, as an index into the snapshot's humans.
    pub who: usize,
    /// For how many milliseconds the same team has been too strong.
    pub lasted: u64,
}

/// Whether the human changes teams, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoBalanceAnswer {
    /// Whether the teams are balanced.
    #[serde(rename = "verdict")]
    pub assessment: Assessment,
    /// Each team's power, in the unit of the rules.
    pub powers: Vec<f64>,
    /// The result for the human.
    pub fate: Fate,
}

/// The result for a human who died: a change of team, or the reason to stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// They change teams.
    Moves(Move),
    /// They stay, for this reason.
    Stays(StayReason),
}

/// Why a human who died is not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StayReason {
    /// The teams are balanced.
    Balanced,
    /// They are not on the stronger team.
    OtherTeam,
    /// Their team is the stronger one, but the smaller one, too.
    Smaller,
    /// The teams have been unbalanced for less than the delay.
    TooSoon,
    /// The move would split their party.
    Party,
    /// A decision has already moved them in this game.
    Moved,
    /// They must not be moved for another reason.
    Held(MoveBlock),
    /// The move would make the other team too strong.
    Tips,
    /// Moving other humans would bring the teams closer together.
    NotClosest,
    /// Nobody's move would bring the teams closer together.
    NoGain,
}

impl Question for AutoBalance {
    type Answer = AutoBalanceAnswer;

    fn is_sound(&self) -> bool {
        let snapshot = &self.situation.snapshot;
        let coming = &self.situation.coming;
        snapshot.is_sound() && snapshot.are_sound(coming) && self.who < snapshot.humans.len()
    }

    fn answer(&self, _seed: u64) -> AutoBalanceAnswer {
        let powers = self.situation.powers();
        let assessment = self.situation.judge(&powers);
        let fate = match self.fate(&assessment, &powers) {
            Ok(to) => Fate::Moves(Move {
                id: Ident::from_text(&self.situation.snapshot.humans[self.who].id),
                from: self.situation.snapshot.humans[self.who].team,
                to,
            }),
            Err(stay) => Fate::Stays(stay),
        };
        AutoBalanceAnswer {
            assessment,
            powers: powers.teams,
            fate,
        }
    }

    fn explain(&self, answer: &AutoBalanceAnswer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = &self.situation.snapshot.humans[self.who].id;
        match &answer.fate {
            Fate::Moves(step) => writeln!(f, "move {step}")?,
            Fate::Stays(stay) => writeln!(f, "{who} stays: {stay}")?,
        }
        writeln!(f, "{}, for {} s", answer.assessment, self.lasted / 1_000)?;
        for (team, power) in answer.powers.iter().enumerate() {
            writeln!(f, "team {team}: power {power:.3}")?;
        }
        self.situation.snapshot.write_conduct(f)
    }
}

impl AutoBalance {
    /// The team that they change to, or why they stay.
    fn fate(&self, assessment: &Assessment, powers: &Powers) -> Result<u8, StayReason> {
        let Situation {
            snapshot, rules, ..
        } = &self.situation;
        let Assessment::Unbalanced { strong, weak, .. } = *assessment else {
            return Err(StayReason::Balanced);
        };
        if snapshot.humans[self.who].team != Some(strong) {
            return Err(StayReason::OtherTeam);
        }
        let size = |team: u8| powers.sizes[usize::from(team)];
        if size(strong) < size(weak) {
            return Err(StayReason::Smaller);
        }
        if self.lasted < rules.delay_seconds.millis() {
            return Err(StayReason::TooSoon);
        }
        let eligible = self.eligible(strong)?;
        let of = |team: u8| powers.teams[usize::from(team)];
        match rules.choice {
            MoveRule::WhoDies => {
                let power = powers.humans[self.who];
                let by_power = || rules.tips(of(weak) + power, of(strong) - power);
                if self.less_even(weak).unwrap_or_else(by_power) {
                    Err(StayReason::Tips)
                } else {
                    Ok(weak)
                }
            }
            MoveRule::Closest => {
                let chain = match self.situation.by_chance() {
                    Some(teams) => self.closest_by_chance(teams, eligible, (strong, weak)),
                    None => closest(rules, powers, eligible, of(strong), of(weak)),
                };
                match chain.contains(&self.who) {
                    true => Ok(weak),
                    false if chain.is_empty() => Err(StayReason::NoGain),
                    false => Err(StayReason::NotClosest),
                }
            }
        }
    }

    /// The humans of the stronger team who may be moved (`CanBeAutobalanced` of Sector's Edge), or
    /// the reason why the human who died may not.
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
            let held = human.pin.map(|_| MoveBlock::Pinned).or(human.held);
            held.map(StayReason::Held)
        };
        if let Some(stay) = forbidden(self.who) {
            return Err(stay);
        }
        let team =
            (0..snapshot.humans.len()).filter(|&who| snapshot.humans[who].team == Some(strong));
        let movable = team.filter(|&who| forbidden(who).is_none());
        let lower = snapshot.lower_share(movable.collect(), rules.movable_share.get());
        if lower.contains(&self.who) {
            Ok(lower)
        } else {
            Err(StayReason::Held(MoveBlock::Top))
        }
    }
}

impl fmt::Display for StayReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StayReason::Balanced => f.write_str("the teams are balanced"),
            StayReason::OtherTeam => f.write_str("not on the stronger team"),
            StayReason::Smaller => f.write_str("the stronger team is the smaller one"),
            StayReason::TooSoon => {
                f.write_str("the teams have not been unbalanced for long enough")
            }
            StayReason::Party => f.write_str("plays in a party"),
            StayReason::Moved => f.write_str("already moved in this game"),
            StayReason::Held(held) => held.fmt(f),
            StayReason::Tips => f.write_str("the move would make the other team too strong"),
            StayReason::NotClosest => f.write_str("moving others brings the teams closer together"),
            StayReason::NoGain => f.write_str("nobody's move brings the teams closer together"),
        }
    }
}

#[cfg(test)]
mod tests;
