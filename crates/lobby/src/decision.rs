//! A decision of any kind, in the form in which it is stored.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Advantage, AutoBalance, Balance, Decided, Place, Rebalance};
use evenkeel_model::Naming;

/// A decision of any kind, in the form in which it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Decision {
    /// BALANCE: the teams of all humans.
    Balance(Box<Decided<Balance>>),
    /// PLACE: the team of a late arrival.
    Place(Decided<Place>),
    /// ADVANTAGE: the team that needs help.
    Advantage(Decided<Advantage>),
    /// REBALANCE: the fewest moves that make the teams even enough.
    Rebalance(Decided<Rebalance>),
    /// Auto-balance: whether a human who died changes teams.
    AutoBalance(Decided<AutoBalance>),
}

/// Evaluates an expression for the [`Decided`] of any kind of decision.
macro_rules! each {
    ($decision:expr, $decided:ident => $do:expr) => {
        match $decision {
            Decision::Balance($decided) => $do,
            Decision::Place($decided) => $do,
            Decision::Advantage($decided) => $do,
            Decision::Rebalance($decided) => $do,
            Decision::AutoBalance($decided) => $do,
        }
    };
}

impl Decision {
    /// The name of the kind in the database.
    pub fn kind(&self) -> &'static str {
        match self {
            Decision::Balance(_) => "balance",
            Decision::Place(_) => "place",
            Decision::Advantage(_) => "advantage",
            Decision::Rebalance(_) => "rebalance",
            Decision::AutoBalance(_) => "auto-balance",
        }
    }

    /// The seed with which the decision was made.
    pub fn seed(&self) -> u64 {
        each!(self, decided => decided.seed)
    }

    /// Whether a deadline ended the search early, so that a replay may give another answer.
    pub fn cut_short(&self) -> bool {
        matches!(self, Decision::Balance(decided) if decided.answer.cut_short)
    }

    /// The reasons, one per line, with these names.
    pub fn told(&self, naming: &Naming) -> impl fmt::Display {
        fmt::from_fn(|f| each!(self, decided => write!(f, "{}", decided.told(naming))))
    }

    /// Makes the decision again; `None` if the parts of the question are inconsistent.
    pub fn again(self, out_of_time: &mut dyn FnMut() -> bool) -> Option<Self> {
        each!(self, decided => decided.again(out_of_time).map(Self::from))
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        each!(self, decided => decided.fmt(f))
    }
}

macro_rules! from_decided {
    ($($question:ident),*) => {
        $(impl From<Decided<$question>> for Decision {
            fn from(decided: Decided<$question>) -> Self {
                Self::$question(decided)
            }
        })*
    };
}

impl From<Decided<Balance>> for Decision {
    fn from(decided: Decided<Balance>) -> Self {
        Self::Balance(Box::new(decided))
    }
}

from_decided!(Place, Advantage, Rebalance, AutoBalance);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::{by_chance, view};
    use crate::{
        AdvantageSettings, AutoBalanceRules, PlaceSettings, RebalanceSettings, ScoreSpread,
        Situation,
        advantage::{Basis, Known, TeamState},
    };

    /// One decision of each kind except BALANCE, which has a test of its own.
    fn decisions() -> [Decision; 4] {
        let waiting = by_chance(view(2, &[(50.0, 0), (40.0, 9)]));
        let game = by_chance(view(2, &[(50.0, 0), (40.0, 0), (30.0, 0), (20.0, 1)]));
        let team = TeamState {
            players: 1,
            weight: 50.0,
            score: 0.0,
            strength: 0.0,
        };
        let place = Place {
            view: waiting,
            who: 1,
            settings: PlaceSettings::default(),
            stays: false,
            late: false,
        };
        let advantage = Advantage {
            teams: vec![team, team],
            elapsed: 0,
            left: None,
            scored: false,
            settings: AdvantageSettings::default(),
            basis: Basis {
                known: Known::Weights,
                spread: ScoreSpread::default(),
                last: Vec::new(),
                ago: 0,
            },
        };
        let rebalance = Rebalance {
            view: game.clone(),
            settings: RebalanceSettings::default(),
        };
        let auto_balance = AutoBalance {
            situation: Situation {
                view: game,
                coming: Vec::new(),
                left: None,
                tournament: false,
                rules: AutoBalanceRules::default(),
            },
            who: 0,
            lasted: 30_000,
            died: Vec::new(),
        };
        [
            Decided::by(place, 1).into(),
            Decided::by(advantage, 1).into(),
            Decided::by(rebalance, 1).into(),
            Decided::by(auto_balance, 1).into(),
        ]
    }

    #[test]
    fn decisions_are_read_as_they_were_stored_and_replayed() {
        for decision in decisions() {
            let stored = serde_json::to_string(&decision).unwrap();
            let read: Decision = serde_json::from_str(&stored).unwrap();
            assert_eq!(read, decision);
            assert_eq!(read.again(&mut || false).as_ref(), Some(&decision));
        }
    }

    #[test]
    fn what_is_no_decision_of_this_version_is_an_error() {
        for json in ["", "{}", "{\"kind\":\"place\"}", "[]"] {
            assert!(serde_json::from_str::<Decision>(json).is_err(), "{json}");
        }
        for decision in decisions() {
            let now = serde_json::to_string(&decision).unwrap();
            for (new, before) in [
                ("\"rejoin_grace_seconds\":300", "\"rejoin_grace\":300000"),
                ("\"usual_seconds\":1200", "\"usual_length\":1200000"),
                ("\"cooldown_seconds\":300", "\"cooldown\":300000"),
                ("\"quiet_end_seconds\":180", "\"quiet_end\":180000"),
                ("\"points_reported\":true,", ""),
                ("\"basis\":{", "\"base\":{"),
                (",\"doubts\":[", ",\"doubt\":["),
                ("\"unit\":", "\"halfway\":"),
                ("\"ask_seconds\":0", "\"asked\":0"),
                ("\"max_difference\":1", "\"max_difference\":null"),
            ] {
                let old = now.replace(new, before);
                let read = serde_json::from_str::<Decision>(&old);
                assert!(old == now || read.is_err(), "{} {before}", decision.kind());
            }
        }
    }
}
