//! Why a player has their weight: what is stored about it, and sentences that say it.
//!
//! [`Learning::why`] reads the facts. [`WhyRating::sentences`] makes the sentences of them: it is a pure function,
//! which the command line and the pages share. They contain neither names nor identities. What one match has done to
//! a weight is said in a few words.

mod read;
mod sentences;

use serde::{Serialize, Serializer};

#[cfg(doc)]
use super::Learning;
use crate::{
    model::{
        PlayerKey, Timestamp,
        weight::{StartWeight, WeightCause, WeightEntry},
    },
    rating::SystemName,
    store::GameOfPerson,
};

/// Whose weights to explain, and under which rulesets.
#[derive(Clone, Copy, Debug)]
pub struct WhyQuestion<'a> {
    /// The identity that the player's matches count for.
    pub player: &'a PlayerKey,
    /// The number of the person; see [`PersonRow`](crate::store::PersonRow).
    pub person: i64,
    /// The player's latest rated matches in all rulesets, the last one first.
    pub games: &'a [GameOfPerson],
    /// All weights of the player.
    pub weights: &'a [WeightHere],
    /// Only this ruleset; else those with most matches.
    pub ruleset: Option<&'a str>,
    /// The most rulesets.
    pub most: usize,
    /// The time of the question.
    pub now: Timestamp,
}

/// A player's weight under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightHere {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The weight, 0 to 100.
    pub weight: f64,
    /// Its standard deviation.
    pub deviation: f64,
    /// Number of rated matches.
    pub games: u32,
}

/// What a player's weight under one ruleset follows from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WhyRating {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The weight, 0 to 100.
    pub weight: f64,
    /// Its standard deviation; 0 if the rating system has none.
    pub deviation: f64,
    /// Number of rated matches behind it.
    pub games: u32,
    /// The rating system that gives the weight, and that predicted the matches; `None` if the weights in the database
    /// were derived with another configuration.
    #[serde(serialize_with = "as_word")]
    pub system: Option<SystemName>,
    /// The weight that an operator has fixed.
    pub pinned: Option<f64>,
    /// The weight at which an operator has let the player start.
    pub start: Option<StartWeight>,
    /// Number of other identities whose matches count for the player.
    pub merged: usize,
    /// The weight with which the player's first match here was begun; `None` if that is not known any more.
    pub first_weight: Option<f64>,
    /// What was known from other rulesets before the first match under this one.
    pub earlier: Vec<EarlierGames>,
    /// Whether all rated matches of the player were looked at.
    pub is_whole: bool,
    /// Number of seasons that began after the first match that was looked at.
    pub seasons: usize,
    /// The part of the distance from 50 that a season leaves.
    pub season_keeps: f64,
    /// The latest matches, the last one first.
    pub matches: Vec<WeighedMatch>,
}

/// The matches of a player under another ruleset, before the first one under this.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EarlierGames {
    /// The key of the other ruleset.
    pub ruleset: String,
    /// Number of matches.
    pub games: usize,
    /// The weight after the last of them.
    pub weight: Option<f64>,
    /// Whether that weight counts as it is: it is of the same game type with fewer mutators.
    pub is_near: bool,
}

/// A rated match of the player.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WeighedMatch {
    /// The id under which the match is stored.
    pub id: i64,
    /// The end of the match.
    #[serde(serialize_with = "as_text")]
    pub ended: Timestamp,
    /// The chance of the player's team, as predicted before the match was learned from; `None` unless it had two
    /// teams.
    pub expected: Option<f64>,
    /// 1 for a victory, 0.5 for a draw, 0 for a defeat; `None` without a result.
    pub result: Option<f64>,
    /// What the match has entered into the player's account: the weight before it and after it, and why.
    #[serde(flatten, serialize_with = "as_entry")]
    pub entry: Option<WeightEntry>,
    /// The points that the player's team scored while the player was on it; kills without teams.
    pub points_for: f64,
    /// The points scored against it; deaths without teams.
    pub points_against: f64,
    /// The player's points on the scoreboard.
    pub points: Option<f64>,
    /// The mean of the others' points.
    pub points_of_others: Option<f64>,
}

fn as_word<S: Serializer>(system: &Option<SystemName>, to: S) -> Result<S::Ok, S::Error> {
    system.map(SystemName::as_str).serialize(to)
}

/// The keys that a match has for its entry, also without one.
#[derive(Serialize)]
struct ShownEntry {
    weight_before: Option<f64>,
    weight: Option<f64>,
    change: Option<f64>,
    cause: Option<WeightCause>,
}

fn as_entry<S: Serializer>(entry: &Option<WeightEntry>, to: S) -> Result<S::Ok, S::Error> {
    let shown = ShownEntry {
        weight_before: entry.map(|entry| entry.before),
        weight: entry.map(|entry| entry.weight),
        change: entry.map(|entry| entry.change()),
        cause: entry.and_then(|entry| entry.cause),
    };
    shown.serialize(to)
}

fn as_text<S: Serializer>(at: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(at)
}

/// What moved the weight or held it, such as `won, limited to 3.4`. With `pinned`, an operator has fixed the weight, and
/// the match has entered only the account beneath it. `None` where nothing is to be said: in rating systems that keep a
/// number of their own.
pub fn reason(entry: &WeightEntry, pinned: bool) -> Option<String> {
    let Some(cause) = entry.cause else {
        return pinned.then(|| "pinned".to_owned());
    };
    let by = entry.change().abs();
    let limited = |result: &str| format!("{result}, limited to {by:.1}");
    let moved = match cause {
        WeightCause::Won => "won".to_owned(),
        WeightCause::WonLimited => limited("won"),
        WeightCause::WonHeld => "won, by less than expected".to_owned(),
        WeightCause::Lost => "lost".to_owned(),
        WeightCause::LostLimited => limited("lost"),
        WeightCause::LostHeld => "lost, no weaker than the weight".to_owned(),
        WeightCause::Drew => "draw".to_owned(),
        WeightCause::DrewLimited => limited("draw"),
        WeightCause::DrewAsFavourite => "draw as the favourite".to_owned(),
        WeightCause::DrewAsOutsider => "draw as the outsider".to_owned(),
        WeightCause::ChangedTeams => "changed teams".to_owned(),
        WeightCause::NoResult => "no result".to_owned(),
    };
    Some(match pinned {
        true => format!("pinned; beneath it: {moved}"),
        false => moved,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_says_what_moved_the_weight_or_held_it() {
        let said = |before, weight, cause: Option<&str>, pinned| {
            let entry = WeightEntry {
                before,
                weight,
                deviation: 5.0,
                cause: cause.map(|code| WeightCause::parse(code).unwrap()),
            };
            reason(&entry, pinned)
        };
        let of = |weight, cause| said(60.0, weight, Some(cause), false).unwrap();
        assert_eq!(of(61.0, "won"), "won");
        assert_eq!(of(63.4, "won-limited"), "won, limited to 3.4");
        assert_eq!(of(60.0, "won-held"), "won, by less than expected");
        assert_eq!(of(57.0, "lost-limited"), "lost, limited to 3.0");
        assert_eq!(of(60.0, "lost-held"), "lost, no weaker than the weight");
        assert_eq!(of(60.0, "drew-as-favourite"), "draw as the favourite");
        assert_eq!(of(60.0, "drew-as-outsider"), "draw as the outsider");
        assert_eq!(of(60.0, "changed-teams"), "changed teams");
        let beneath = said(60.0, 60.0, Some("won-held"), true).unwrap();
        assert_eq!(beneath, "pinned; beneath it: won, by less than expected");
        assert_eq!(said(60.0, 61.0, None, false), None);
        assert_eq!(said(60.0, 61.0, None, true).unwrap(), "pinned");
    }
}
