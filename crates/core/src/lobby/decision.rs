//! A decision of any kind, in the form in which it is stored.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Advantage, AutoBalance, Balance, Decided, Place, Rebalance};
use crate::domain::Naming;

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
