//! A decision with all it was made from, so that it can be told, stored, and taken again.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Advantage, AutoBalance, Place, Rebalance};

/// The inputs of a decision as plain data. The same question and seed have the same answer on any
/// machine, whenever they are asked.
pub trait Question: Serialize + DeserializeOwned {
    /// What is decided.
    type Answer: Serialize + DeserializeOwned + PartialEq;

    /// Whether all in it fits together. One that a [`Lobby`](super::Lobby) asked does; one that was
    /// read from somewhere need not, and must not be answered then.
    fn is_sound(&self) -> bool;

    /// Decides. Pure.
    fn answer(&self, seed: u64) -> Self::Answer;

    /// Writes why, a line each, every one ended by a line feed.
    ///
    /// # Errors
    /// The formatter's own.
    fn explain(&self, answer: &Self::Answer, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// A question that has been answered. [`Display`](fmt::Display) tells why, in lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "Q: Question")]
pub struct Decided<Q: Question> {
    /// The inputs.
    pub question: Q,
    /// What chance was made from.
    pub seed: u64,
    /// The decision.
    pub answer: Q::Answer,
}

impl<Q: Question> Decided<Q> {
    pub(super) fn by(question: Q, seed: u64) -> Self {
        let answer = question.answer(seed);
        Self {
            question,
            seed,
            answer,
        }
    }

    /// Whether the question has the same answer today.
    pub fn holds(&self) -> bool {
        self.question.answer(self.seed) == self.answer
    }

    /// The same question, answered today; `None` if it makes no sense.
    pub fn again(self) -> Option<Self> {
        let sound = self.question.is_sound();
        sound.then(|| Self::by(self.question, self.seed))
    }
}

impl<Q: Question> fmt::Display for Decided<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.question.explain(&self.answer, f)
    }
}

/// Any decision of a lobby, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Decision {
    /// The side for a late arrival.
    Place(Decided<Place>),
    /// The team to help.
    Advantage(Decided<Advantage>),
    /// The fewest moves.
    Rebalance(Decided<Rebalance>),
    /// Whether a human who died changes sides.
    AutoBalance(Decided<AutoBalance>),
}

impl Decision {
    /// The word it is stored under.
    pub fn kind(&self) -> &'static str {
        match self {
            Decision::Place(_) => "place",
            Decision::Advantage(_) => "advantage",
            Decision::Rebalance(_) => "rebalance",
            Decision::AutoBalance(_) => "auto-balance",
        }
    }

    /// The seed it was made with.
    pub fn seed(&self) -> u64 {
        match self {
            Decision::Place(decided) => decided.seed,
            Decision::Advantage(decided) => decided.seed,
            Decision::Rebalance(decided) => decided.seed,
            Decision::AutoBalance(decided) => decided.seed,
        }
    }

    /// Takes it again; `None` if its question makes no sense.
    pub fn again(self) -> Option<Self> {
        match self {
            Decision::Place(decided) => decided.again().map(Decision::Place),
            Decision::Advantage(decided) => decided.again().map(Decision::Advantage),
            Decision::Rebalance(decided) => decided.again().map(Decision::Rebalance),
            Decision::AutoBalance(decided) => decided.again().map(Decision::AutoBalance),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Decision::Place(decided) => decided.fmt(f),
            Decision::Advantage(decided) => decided.fmt(f),
            Decision::Rebalance(decided) => decided.fmt(f),
            Decision::AutoBalance(decided) => decided.fmt(f),
        }
    }
}

impl From<Decided<Place>> for Decision {
    fn from(decided: Decided<Place>) -> Self {
        Self::Place(decided)
    }
}

impl From<Decided<Advantage>> for Decision {
    fn from(decided: Decided<Advantage>) -> Self {
        Self::Advantage(decided)
    }
}

impl From<Decided<Rebalance>> for Decision {
    fn from(decided: Decided<Rebalance>) -> Self {
        Self::Rebalance(decided)
    }
}

impl From<Decided<AutoBalance>> for Decision {
    fn from(decided: Decided<AutoBalance>) -> Self {
        Self::AutoBalance(decided)
    }
}
