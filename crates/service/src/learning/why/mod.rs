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
    store::{GameOfPerson, as_plain, as_text},
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
    pub matches: Vec<PlayedMatch>,
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

/// A rated match of one player, as pages, `/v1` and commands show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayedMatch {
    /// The id under which the match is stored.
    pub id: i64,
    /// The end of the match.
    #[serde(serialize_with = "as_text")]
    pub ended: Timestamp,
    /// The key of the ruleset.
    pub ruleset: String,
    /// The map, as the game names it.
    #[serde(serialize_with = "as_plain")]
    pub map: String,
    /// 1 for a victory, 0.5 for a draw, 0 for a defeat; `None` without a result.
    pub result: Option<f64>,
    /// The points that the player's team scored while the player was on it; kills without teams. `None` if the scores are
    /// not known.
    pub points_for: Option<f64>,
    /// The points scored against it; deaths without teams.
    pub points_against: Option<f64>,
    /// The chance of the player's team as the match started, if somebody has asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance_as_started: Option<f64>,
    /// The forecast for the player's team, as predicted before the match was learned from; `None` unless it had two teams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<f64>,
    /// What the match has entered into the player's account.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub entry: Option<AccountEntry>,
    /// The player's points on the scoreboard, if somebody has asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<f64>,
    /// The mean of the others' points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points_of_others: Option<f64>,
}

impl PlayedMatch {
    /// The match of a player whose weight an operator has fixed, if `pinned`.
    pub fn new(game: &GameOfPerson, pinned: bool) -> Self {
        Self {
            id: game.id,
            ended: game.ended,
            ruleset: game.ruleset.clone(),
            map: game.map.clone(),
            result: game.result,
            points_for: game.points_for,
            points_against: game.points_against,
            chance_as_started: None,
            forecast: game.expected(),
            entry: game.entry.map(|entry| AccountEntry::new(entry, pinned)),
            points: None,
            points_of_others: None,
        }
    }

    /// The match for those who may not see numbers.
    #[must_use]
    pub fn without_numbers(self) -> Self {
        Self {
            chance_as_started: None,
            forecast: None,
            entry: None,
            ..self
        }
    }
}

/// What a match has entered into a player's account, as pages, `/v1` and commands show it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AccountEntry {
    /// The weight before the match, 0 to 100.
    pub weight_before: f64,
    /// The weight after the match.
    pub weight: f64,
    /// By how much the match has moved it.
    pub change: f64,
    /// What moved it or held it; `None` in systems that keep a number of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<WeightCause>,
    /// Whether an operator has fixed the player's weight: the account goes on beneath it.
    pub pinned: bool,
}

impl AccountEntry {
    /// What a match has entered, with the weight fixed by an operator, if `pinned`.
    pub fn new(entry: WeightEntry, pinned: bool) -> Self {
        Self {
            weight_before: entry.before,
            weight: entry.weight,
            change: entry.change(),
            cause: entry.cause,
            pinned,
        }
    }

    /// The same with three decimals, as visitors see it.
    #[must_use]
    pub fn rounded(self) -> Self {
        let rounded = |number: f64| (number * 1_000.0).round() / 1_000.0;
        Self {
            weight_before: rounded(self.weight_before),
            weight: rounded(self.weight),
            change: rounded(self.change),
            ..self
        }
    }

    /// What moved the weight or held it, such as `won, limited to 3.4`. `None` where nothing is to be said: in rating systems
    /// that keep a number of their own.
    pub fn reason(&self) -> Option<String> {
        let Some(cause) = self.cause else {
            return self.pinned.then(|| "pinned".to_owned());
        };
        let by = self.change.abs();
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
        Some(match self.pinned {
            true => format!("pinned; beneath it: {moved}"),
            false => moved,
        })
    }
}

fn as_word<S: Serializer>(system: &Option<SystemName>, to: S) -> Result<S::Ok, S::Error> {
    system.map(SystemName::as_str).serialize(to)
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
            AccountEntry::new(entry, pinned).reason()
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
