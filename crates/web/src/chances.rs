//! The chance of a match between two teams, in words and with its score, the same on every page: for running games
//! and for those that are over.

use super::{Site, WebError, words};
use crate::{
    lobby::advantage::{ScoreSoFar, ScoreSpread, usual_length},
    model::{Ruleset, match_chances::TeamChances, team_names::TeamNames},
    session::score_spread,
};

/// The teams that BALANCE, before START, or a queue has chosen.
pub(super) const AS_PICKED: &str = "As picked";
/// The teams at START.
pub(super) const AS_STARTED: &str = "As started";
/// What was predicted with everybody who played.
pub(super) const FORECAST: &str = "Forecast";
/// What a forecast is.
pub(super) const OF_FORECAST: &str = "The forecast is the chance with everybody who played, each for as \
         long as they did, as predicted before the match was learned from.";
/// Of which matches a share of wins is.
pub(super) const OF_DECIDED: &str = "Of the matches that a team won, without draws";
/// What the other chances are.
pub(super) const OF_CHANCES: &str = "The chances are those that were predicted at that time. They do not \
         count the score.";
/// The chance of a team with the score of a running game.
pub(super) fn with_score(chance: f64, names: &TeamNames) -> String {
    let (team, chance) = of_forecast(chance);
    if is_even(chance, 2) {
        return "With the score, both teams are equally likely to win.".to_owned();
    }
    let (team, chance) = (names.name(team.into()), words::chance(chance));
    format!(
        "With the score, {team} has a chance of {chance} to win.",
        team = team,
        chance = chance
    )
}

/// What was predicted of the teams at a moment of a match; `has` is the verb.
pub(super) fn sentence(moment: &str, teams: &TeamChances, has: &str, names: &TeamNames) -> String {
    let sizes = match teams.sizes() {
        sizes if sizes.is_empty() => sizes,
        sizes => format!(" ({sizes})"),
    };
    match teams.favourite() {
        Some((_, chance)) if is_even(chance, teams.win.len()) => {
            format!("{moment}{sizes}: even chances.")
        }
        Some((team, chance)) => {
            let (team, chance) = (names.name(team.into()), words::chance(chance));
            format!(
                "{moment}{sizes}, {team} {has} a chance of {chance} to win.",
                moment = moment,
                sizes = sizes,
                team = team,
                has = has,
                chance = chance
            )
        }
        None => format!(
            "{moment}{sizes}, no chance was predicted.",
            moment = moment,
            sizes = sizes
        ),
    }
}

/// A team of so many and its chance, as in `team 1, 55 %`; `even` without a favourite.
pub(super) fn favourite((team, chance): (u8, f64), teams: usize, names: &TeamNames) -> String {
    match is_even(chance, teams) {
        true => "even".to_owned(),
        false => format!("{}, {}", names.name(team.into()), words::chance(chance)),
    }
}

/// Whether the highest chance among so many teams is everybody's, as far as whole percents show: nobody is the favourite.
pub(super) fn is_even(highest: f64, teams: usize) -> bool {
    let percent = |share: f64| (100.0 * share).round();
    percent(highest) <= percent(1.0 / teams.max(1) as f64)
}

/// The favourite of a forecast between two teams, which is the chance of team 0.
pub(super) fn of_forecast(forecast: f64) -> (u8, f64) {
    match forecast >= 0.5 {
        true => (0, forecast),
        false => (1, 1.0 - forecast),
    }
}

/// What the chance is.
pub(super) const OF_WITH_SCORE: &str = "The chance with the score also counts the score and the time that \
         is left: the game's own clock where the server states it, otherwise the time in which nine in ten of the \
         latest matches were over.";

/// How many steps of equal length the course of a match has, besides its events.
const STEPS: u64 = 40;

/// With more changes of the score than this, the course has only its steps.
const MOST_EVENTS: usize = 200;

/// What the scores of a ruleset's matches are usually like.
#[derive(Clone, Copy, Debug)]
pub(super) struct UsualScores {
    spread: ScoreSpread,
    /// The time after which such a match is over, in milliseconds.
    length: u64,
}

impl UsualScores {
    /// Those of the latest matches.
    pub(super) async fn of(site: &Site, ruleset: &Ruleset) -> Result<Self, WebError> {
        let mut lengths = site
            .pages()
            .matches()
            .latest_lengths(&ruleset.to_string())
            .await?;
        Ok(Self {
            spread: score_spread(&site.learning().standings(), ruleset),
            length: usual_length(&mut lengths),
        })
    }

    /// The chance of team 0 after `elapsed` milliseconds; `before` is its chance without the score, `left` the time
    /// that is left by the game's own clock. `None` unless there are two teams.
    pub(super) fn chance(
        &self,
        before: f64,
        scores: &[f64],
        elapsed: u64,
        left: Option<u64>,
    ) -> Option<f64> {
        let &[one, other] = scores else {
            return None;
        };
        // A game that its clock ends early has little time left, however little was played.
        let whole = left.map_or(0, |left| elapsed.saturating_add(left));
        let so_far = ScoreSoFar {
            scores: [one, other],
            left: left.unwrap_or(self.length.saturating_sub(elapsed)),
            length: self.length.max(whole),
        };
        Some(self.spread.chance(before, so_far))
    }

    /// The chance of team 0 over a match of `millis` milliseconds, as (milliseconds, chance). `before` has its chances
    /// without the score, each with the time from which it holds, and `events` the changes of the score, both in order
    /// of time. Empty unless there are two teams and a chance at the start.
    pub(super) fn prediction_history(
        &self,
        before: &[(u64, f64)],
        events: &[(i64, u8, f64)],
        millis: u64,
    ) -> Vec<(u64, f64)> {
        let shown = if events.len() > MOST_EVENTS {
            &[]
        } else {
            events
        };
        let changes = shown.iter().map(|(at, ..)| u64::try_from(*at).unwrap_or(0));
        let steps = (0..=STEPS).map(|step| millis * step / STEPS);
        let times = steps.chain(changes).chain(before.iter().map(|(at, _)| *at));
        let mut times: Vec<u64> = times.filter(|at| *at <= millis).collect();
        times.sort_unstable();
        times.dedup();
        let (mut scores, mut next, mut prediction_history) =
            ([0.0; 2], events.iter().peekable(), Vec::new());
        for at in times {
            while let Some((_, team, points)) =
                next.next_if(|(time, ..)| u64::try_from(*time).unwrap_or(0) <= at)
            {
                match scores.get_mut(usize::from(*team)) {
                    Some(score) => *score += points,
                    None => return Vec::new(),
                }
            }
            let held = before.iter().rev().find(|(since, _)| *since <= at);
            let chance = held.and_then(|(_, before)| self.chance(*before, &scores, at, None));
            prediction_history.extend(chance.map(|chance| (at, words::rounded(chance, 4))));
        }
        prediction_history
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chance_is_told_with_the_sizes_of_the_teams() {
        let teams = |win: &[f64], humans: &[u32]| TeamChances {
            win: win.to_vec(),
            humans: humans.to_vec(),
            bots: vec![0; humans.len()],
        };
        let said = |win: &[f64], humans: &[u32]| {
            sentence(
                AS_STARTED,
                &teams(win, humans),
                "had",
                &TeamNames::default(),
            )
        };
        assert_eq!(
            said(&[0.45, 0.55], &[7, 6]),
            "As started (7 v 6), team 1 had a chance of 55\u{a0}% to win."
        );
        assert_eq!(said(&[0.5, 0.5], &[]), "As started: even chances.");
        assert_eq!(
            said(&[], &[7, 6]),
            "As started (7 v 6), no chance was predicted."
        );
        let none = TeamNames::default();
        assert_eq!(favourite(of_forecast(0.25), 2, &none), "team 1, 75\u{a0}%");
        assert_eq!(favourite(of_forecast(0.496), 2, &none), "even");
        let named = TeamNames::try_from(vec!["Red".to_owned(), "Blue".to_owned()]).unwrap();
        assert_eq!(favourite(of_forecast(0.25), 2, &named), "Blue, 75\u{a0}%");
        assert_eq!(
            with_score(0.75, &named),
            "With the score, Red has a chance of 75\u{a0}% to win."
        );
    }

    const USUAL: UsualScores = UsualScores {
        spread: ScoreSpread {
            matches: 40.0,
            square: 9.0,
        },
        length: 600_000,
    };

    #[test]
    fn the_course_follows_the_score_and_the_teams() {
        let prediction_history = USUAL.prediction_history(
            &[(0, 0.5), (300_000, 0.3)],
            &[(100_001, 0, 1.0), (400_001, 1, 2.0)],
            600_000,
        );
        let at = |millis| {
            prediction_history
                .iter()
                .find(|(at, _)| *at == millis)
                .unwrap()
                .1
        };
        assert_eq!(at(0), 0.5);
        assert!(at(100_001) > 0.6 && at(100_001) < 0.75);
        assert!(at(300_000) < at(285_000), "the team has become weaker");
        assert!(at(400_001) < 0.3);
        assert_eq!(prediction_history.len(), STEPS as usize + 1 + 2);
        assert!(prediction_history.is_sorted_by(|a, b| a.0 < b.0));
        assert!(
            USUAL
                .prediction_history(&[], &[(5, 0, 1.0)], 100)
                .is_empty()
        );
        assert!(
            USUAL
                .prediction_history(&[(0, 0.5)], &[(5, 2, 1.0)], 100)
                .is_empty(),
            "three teams"
        );
    }
}
