//! A decision together with its question, so that it can be explained, stored and replayed.

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use evenkeel_model::Naming;

/// The inputs of a decision as plain data. The same question and seed give the same answer on every
/// machine, at any time.
pub trait Question: Serialize + DeserializeOwned {
    /// The decision itself.
    type Answer: Serialize + DeserializeOwned + PartialEq;

    /// Whether the parts of the question are consistent. A [`Lobby`](super::Lobby) only asks
    /// consistent ones; one that was read from a file may not be, and must then not be answered.
    fn is_sound(&self) -> bool;

    /// The answer, a pure function of the question and the seed.
    fn answer(&self, seed: u64) -> Self::Answer;

    /// Like [`answer`](Self::answer), but stops searching for a better answer once `out_of_time`
    /// returns true. Questions that take less than a millisecond ignore it.
    fn answer_within(&self, seed: u64, out_of_time: &mut dyn FnMut() -> bool) -> Self::Answer {
        let _ = out_of_time;
        self.answer(seed)
    }

    /// Writes the reasons for an answer, one per line, each with a line feed.
    ///
    /// # Errors
    /// Fails only if the formatter does.
    fn explain(
        &self,
        answer: &Self::Answer,
        naming: &Naming,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result;
}

/// A question with its answer. [`Display`](fmt::Display) formats the reasons, one per line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "Q: Question")]
pub struct Decided<Q: Question> {
    /// The inputs of the decision.
    pub question: Q,
    /// The seed of all random choices in the answer.
    pub seed: u64,
    /// The answer to the question.
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

    /// Whether answering the question again gives the same answer.
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

impl<Q: Question> Decided<Q> {
    /// The reasons, one per line, with these names.
    pub fn announced(&self, naming: &Naming) -> impl fmt::Display {
        fmt::from_fn(|f| self.question.explain(&self.answer, naming, f))
    }
}

impl<Q: Question> fmt::Display for Decided<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.announced(&Naming::default()))
    }
}
