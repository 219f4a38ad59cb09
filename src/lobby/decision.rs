//! A decision together with its question, so that it can be explained, stored and replayed.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Advantage, AutoBalance, Balance, Place, Rebalance, stored::read_older};

/// The inputs of a decision as plain data. The same question and seed give the same answer on any
/// machine at any time.
pub trait Question: Serialize + DeserializeOwned {
    /// The decision.
    type Answer: Serialize + DeserializeOwned + PartialEq;

    /// Whether its parts are consistent. A question asked by a [`Lobby`](super::Lobby) is; one that
    /// was read from a file may not be, and must not be answered then.
    fn is_sound(&self) -> bool;

    /// Decides. Pure.
    fn answer(&self, seed: u64) -> Self::Answer;

    /// Decides, giving up the search for something better once `out_of_time` returns true. Questions
    /// that are answered within a millisecond ignore it.
    fn answer_within(&self, seed: u64, out_of_time: &mut dyn FnMut() -> bool) -> Self::Answer {
        let _ = out_of_time;
        self.answer(seed)
    }

    /// Writes the reasons, one per line, each ended by a line feed.
    ///
    /// # Errors
    /// The formatter's own.
    fn explain(&self, answer: &Self::Answer, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// A question with its answer. [`Display`](fmt::Display) writes the reasons.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "Q: Question")]
pub struct Decided<Q: Question> {
    /// The inputs.
    pub question: Q,
    /// The seed of all random choices.
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

    /// Whether the question still gets the same answer.
    pub fn holds(&self) -> bool {
        self.question.answer(self.seed) == self.answer
    }

    /// Answers the question again; `None` if its parts are inconsistent.
    pub fn again(self, out_of_time: &mut dyn FnMut() -> bool) -> Option<Self> {
        let Self { question, seed, .. } = self;
        question.is_sound().then(|| Self {
            answer: question.answer_within(seed, out_of_time),
            question,
            seed,
        })
    }
}

impl<Q: Question> fmt::Display for Decided<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.question.explain(&self.answer, f)
    }
}

/// Any decision of a lobby, in the form in which it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Decision {
    /// The teams of all humans.
    Balance(Decided<Balance>),
    /// The team of a late arrival.
    Place(Decided<Place>),
    /// The team that needs help.
    Advantage(Decided<Advantage>),
    /// The fewest moves.
    Rebalance(Decided<Rebalance>),
    /// Whether a human who died changes teams.
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
    /// Reads a stored decision of this kind, of this version or an older one.
    ///
    /// # Errors
    /// The JSON is not a decision.
    pub fn parse(kind: &str, json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json).or_else(|error| read_older(kind, json).ok_or(error))
    }

    /// The word that it is stored under.
    pub fn kind(&self) -> &'static str {
        match self {
            Decision::Balance(_) => "balance",
            Decision::Place(_) => "place",
            Decision::Advantage(_) => "advantage",
            Decision::Rebalance(_) => "rebalance",
            Decision::AutoBalance(_) => "auto-balance",
        }
    }

    /// The seed that it was made with.
    pub fn seed(&self) -> u64 {
        each!(self, decided => decided.seed)
    }

    /// Whether a deadline ended the search early, so that a replay may come out differently.
    pub fn cut_short(&self) -> bool {
        matches!(self, Decision::Balance(decided) if decided.answer.cut_short)
    }

    /// Answers its question again; `None` if the question's parts are inconsistent.
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

from_decided!(Balance, Place, Advantage, Rebalance, AutoBalance);
