//! What is known of one player under a ruleset, and which players are perhaps another account of a known player.

use super::{CHUNK, Learning, LearningError};
use crate::{
    model::{Timestamp, weight::Rank},
    rating::history::{AtOnce, AtOnceFinder, Level, Suspect, Weight, unrated},
    store::Cursor,
};

/// One player's weight in a [`View`](super::View).
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewWeight {
    pub(super) weight: f64,
    /// The strength above a newcomer's, see [`Weight::strength`].
    pub(super) strength: f64,
    /// The deviation of the weight, see [`Weight::deviation`].
    pub(super) deviation: f64,
    /// The deviation of the strength, see [`Weight::strength_deviation`].
    pub(super) strength_deviation: f64,
    /// Whether it comes only from games of other rulesets.
    pub(super) is_guess: bool,
    /// Whether it comes from games of this ruleset, or of one with fewer mutators.
    pub(super) is_near: bool,
    /// Whether the operator has fixed it.
    pub(super) is_pinned: bool,
    pub(super) reached: Reached,
}

/// What is known of a human under a ruleset, as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerFacts {
    /// The weight that decisions use, 0 to 100.
    pub weight: f64,
    /// The strength that decisions use, minus a newcomer's.
    pub strength: f64,
    /// The deviation of the weight; 0 if the rating system has none, or the operator set the weight.
    pub deviation: f64,
    /// Number of rated matches from which the weight was learned.
    pub games: u32,
    /// The number of the division, 0 for the lowest; `None` while calibrating.
    pub division: Option<u8>,
    /// Time played in these matches, in hours.
    pub hours: f64,
    /// The end of the first of these matches; `None` without any.
    pub first_seen: Option<Timestamp>,
}

/// The division that a player has reached in a [`View`], and the time from which on the displayed
/// one may fall.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reached {
    /// The rank; `None` while the player is calibrating, and for weights from games of other rulesets.
    pub(super) rank: Option<Rank>,
    /// The number of rated matches from which the weight was learned.
    pub(super) games: u32,
    /// The end of the last of these matches.
    pub(super) last_seen: Timestamp,
    /// The end of the first of these matches; `None` without any.
    pub(super) first_seen: Option<Timestamp>,
    /// Time played in these matches, in hours.
    pub(super) hours: f64,
}

impl Reached {
    /// The value for a player who has not played, whose rank therefore does not fall.
    pub(super) const NEVER: Self = Self {
        rank: None,
        games: 0,
        last_seen: Timestamp(i64::MAX),
        first_seen: None,
        hours: 0.0,
    };
}

impl ViewWeight {
    pub(super) fn from(weight: &Weight<'_>, level: Level) -> Self {
        let is_guess = !level.is_near();
        let reached = Reached {
            rank: weight.rank.filter(|_| !is_guess),
            games: weight.games,
            last_seen: weight.last_seen,
            first_seen: Some(weight.first_seen),
            hours: weight.hours,
        };
        Self {
            weight: weight.weight,
            strength: weight.strength,
            deviation: weight.deviation,
            strength_deviation: weight.strength_deviation,
            is_guess,
            is_near: !is_guess,
            is_pinned: false,
            reached,
        }
    }
}

impl Learning {
    /// The humans who play far above a newcomer with few matches, in all rulesets. It leaves out players
    /// whom the operator has given a weight: those are known. Learns from new matches first, and does not
    /// replace weights that another configuration has derived.
    pub async fn suspects(&self) -> Result<Vec<Suspect>, LearningError> {
        self.learn(false, &mut |_| ()).await?;
        let learned = self.learned.lock().await;
        let Some((_, learned)) = learned.as_ref() else {
            return Ok(Vec::new());
        };
        let knowledge = &learned.knowledge;
        let known = |suspect: &Suspect| {
            knowledge.pinned.contains_key(&suspect.key)
                || knowledge.starts.contains_key(&suspect.key)
        };
        let all = knowledge.suspects().into_iter();
        Ok(all.filter(|suspect| !known(suspect)).collect())
    }

    /// The humans whom two clients, or logs of two game servers, say were in two rated matches at once. Reads all matches.
    pub async fn at_once(&self) -> Result<Vec<AtOnce>, LearningError> {
        self.learn(false, &mut |_| ()).await?;
        let learned = self.learned.lock().await;
        let Some((_, learned)) = learned.as_ref() else {
            return Ok(Vec::new());
        };
        let (mut finder, mut cursor) = (AtOnceFinder::default(), Cursor::START);
        loop {
            let (matches, next) = self.store.matches().after(cursor, CHUNK).await?;
            if matches.is_empty() {
                return Ok(finder.finish());
            }
            cursor = next;
            for stored in matches {
                let id = stored.id;
                let mut record = learned.rated_record(stored);
                record.merge_players(&learned.knowledge.counts_as);
                let rules = &self.settings.history.rules;
                if unrated(&record, &self.rulebook, rules).is_none() {
                    finder.push(id, &record);
                }
            }
        }
    }
}
