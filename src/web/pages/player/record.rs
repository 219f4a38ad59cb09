//! What a player has achieved: won and lost beside what was expected, streak, best win, and how the weight has moved.

use maud::{Markup, html};
use serde::Serialize;

use super::PlayerStanding;
use crate::{
    model::{Timestamp, WeightEntry, counted},
    store::GameOfPerson,
    web::{
        Site,
        pages::lists::match_link,
        words::{self, as_text, known, tenths},
    },
};

/// Over how many of the latest matches progress is stated.
const PROGRESS: usize = 12;

/// The results of a player.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Record {
    won: usize,
    lost: usize,
    drawn: usize,
    /// The number of equal results at the end: wins above 0, losses below.
    streak: i64,
    /// The wins above those that were forecast, a draw being half a win; `None` without forecasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    above_expected: Option<f64>,
    /// The win with the lowest forecast.
    #[serde(skip_serializing_if = "Option::is_none")]
    best_win: Option<BestWin>,
}

/// A win against the odds.
#[derive(Debug, PartialEq, Serialize)]
struct BestWin {
    id: i64,
    #[serde(serialize_with = "as_text")]
    ended: Timestamp,
    forecast: f64,
}

/// How the weight under the ruleset with most matches has moved.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Progress {
    /// The number of matches over which it is taken.
    matches: usize,
    /// By how much the weight has changed over them.
    change: f64,
    /// The highest weight after a match, and the first match that has given it.
    peak: f64,
    peak_match: i64,
    #[serde(serialize_with = "as_text")]
    peak_ended: Timestamp,
}

impl Record {
    /// Counts the games, of which the latest is the first.
    pub(super) fn of(games: &[GameOfPerson], numbers: bool) -> Self {
        let results = || games.iter().filter_map(|game| game.result);
        let count = |wanted: fn(f64) -> bool| results().filter(|result| wanted(*result)).count();
        let mut last = results();
        let first = last.next();
        let same = results()
            .take_while(|result| Some(*result) == first)
            .count() as i64;
        let forecasts = games
            .iter()
            .filter_map(|game| Some((game, game.expected()?, game.result?)))
            .filter(|_| numbers);
        let above: Vec<f64> = forecasts
            .clone()
            .map(|(_, expected, result)| result - expected)
            .collect();
        let wins = forecasts.filter(|(_, expected, result)| *result > 0.5 && *expected < 0.5);
        let best = wins.min_by(|a, b| a.1.total_cmp(&b.1));
        Self {
            won: count(|result| result > 0.5),
            lost: count(|result| result < 0.5),
            drawn: count(|result| result == 0.5),
            streak: match first {
                Some(result) if result > 0.5 => same,
                Some(result) if result < 0.5 => -same,
                _ => 0,
            },
            above_expected: (!above.is_empty()).then(|| words::rounded(above.iter().sum(), 3)),
            best_win: best.map(|(game, forecast, _)| BestWin {
                id: game.id,
                ended: game.ended,
                forecast,
            }),
        }
    }

    /// The results as facts, with `most`, the number of matches that are looked at.
    pub(super) fn body(&self, site: &Site, most: i64) -> Markup {
        let streak = match self.streak {
            wins @ 2.. => Some(format!(text!(player.won_in_a_row), wins = wins)),
            losses @ ..=-2 => Some(format!(text!(player.lost_in_a_row), -losses)),
            _ => None,
        };
        html! {
            dl.facts {
                div { dt { (text!(player.won_lost_drawn)) } dd { (self.won) " : " (self.lost) " : " (self.drawn) } }
                @if let Some(streak) = streak { div { dt { (text!(player.streak)) } dd { (streak) } } }
                @if let Some(above) = self.above_expected {
                    div { dt { (text!(player.won_beyond_the_forecasts)) } dd { (words::signed(above)) } }
                }
                @if let Some(best) = &self.best_win {
                    div { dt { (text!(player.best_win)) } dd {
                        (mark!(player.with_a_chance_of,
                            { (words::chance(best.forecast)) },
                            { (match_link(site, best.id, best.ended)) }
                        ))
                    } }
                }
            }
            p.note {
                (mark!(player.rated_matches_the_last_at_most_a, { (most) }))
            }
        }
    }
}

impl Progress {
    /// The progress to the weight of `now` under a ruleset, as the matches have entered it; `None` without a match.
    pub(super) fn of(games: &[GameOfPerson], ruleset: &str, now: f64) -> Option<Self> {
        let own = games.iter().filter(|game| game.ruleset == ruleset);
        let entered: Vec<(&GameOfPerson, WeightEntry)> =
            own.filter_map(|game| Some((game, game.entry?))).collect();
        let latest = entered.get(..PROGRESS).unwrap_or(&entered);
        let ((last, _), (_, first)) = (entered.first()?, latest.last()?);
        let weights = entered.iter().map(|(game, entry)| (*game, entry.weight));
        let peak = weights.max_by(|a, b| a.1.total_cmp(&b.1))?;
        // A season may have brought the weight closer to 50 since the last match.
        let peak = if now > peak.1 { (*last, now) } else { peak };
        Some(Self {
            matches: latest.len(),
            change: words::rounded(now - first.before, 3),
            peak: words::rounded(peak.1, 3),
            peak_match: peak.0.id,
            peak_ended: peak.0.ended,
        })
    }
}

/// How strong, how sure and how fast rising a player is, in a line.
pub(super) fn in_a_line(
    site: &Site,
    row: &PlayerStanding,
    progress: Option<&Progress>,
    pinned: bool,
) -> Markup {
    let better = row.line.better_than();
    html! {
        p.odds {
            strong { (known(row.line.weight, tenths)) }
            @if let Some(deviation) = row.line.deviation.filter(|deviation| *deviation > 0.0) {
                " ± " (tenths(deviation))
            }
            (mark!(player.in, { (site.links.to_ruleset(&row.ruleset)) }, { @match row.line.place {
                Some(place) => { (mark!(player.place_of, { (place) }, { (row.players) })) },
                None => { ", " (row.line.place_or_why()) },
            } }, { @if let Some(better) = better { (mark!(player.ahead_of_of_the_others, { (better) })) } }))
            @if pinned { (text!(player.an_operator_has_fixed_it)) }
            @if let Some(progress) = progress {
                (mark!(player.over_the_last_peak_after,
                    { (counted(progress.matches, "match")) },
                    { (words::signed(progress.change)) },
                    { (tenths(progress.peak)) },
                    { (match_link(site, progress.peak_match, progress.peak_ended)) }
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::pages::player::tests::game;

    #[test]
    fn results_stand_beside_what_was_forecast() {
        // Each was forecast with 75 % for the player's team.
        let games = [
            game(4, "a", 1.0),
            game(3, "a", 1.0),
            game(2, "a", 0.0),
            game(1, "a", 0.5),
        ];
        let record = Record::of(&games, true);
        assert_eq!(
            (record.won, record.lost, record.drawn, record.streak),
            (2, 1, 1, 2)
        );
        assert_eq!(record.above_expected, Some(-0.5));
        assert_eq!(record.best_win, None, "they were favourites");
        let upset = GameOfPerson {
            forecast: Some(0.9),
            ..game(9, "a", 1.0)
        };
        let best = Record::of(std::slice::from_ref(&upset), true)
            .best_win
            .unwrap();
        assert!(best.id == 9 && (best.forecast - 0.1).abs() < 1e-9);
        assert_eq!(
            Record::of(std::slice::from_ref(&upset), false).above_expected,
            None
        );
        assert_eq!(Record::of(&[], true), Record::default());
    }

    #[test]
    fn progress_is_taken_over_twelve_matches_and_the_peak_over_all() {
        let games: Vec<_> = (0..20).rev().map(|id| game(id, "a", 1.0)).collect();
        // The weight after match n is 50 + n, and before it one less.
        let progress = Progress::of(&games, "ctf", 69.0).unwrap();
        assert_eq!((progress.matches, progress.change), (12, 12.0));
        assert_eq!((progress.peak, progress.peak_match), (69.0, 19));
        let few = Progress::of(&games[17..], "ctf", 52.0).unwrap();
        assert_eq!((few.matches, few.change), (3, 3.0));
        let one = Progress::of(&games[19..], "ctf", 50.0).unwrap();
        assert_eq!((one.matches, one.change), (1, 1.0));
        assert_eq!(Progress::of(&games, "other", 60.0), None);
        // Three matches later, in which nothing moved; then a season that brings the weight closer to 50.
        let held = |id| GameOfPerson {
            entry: games[0].entry.map(|entry| WeightEntry {
                before: entry.weight,
                ..entry
            }),
            ..game(id, "a", 1.0)
        };
        let held: Vec<_> = [22, 21, 20].map(held).into_iter().chain(games).collect();
        let told = |now| {
            let progress = Progress::of(&held, "ctf", now).unwrap();
            (progress.change, progress.peak, progress.peak_match)
        };
        assert_eq!(told(69.0), (9.0, 69.0, 19));
        assert_eq!(told(64.0), (4.0, 69.0, 19));
        assert_eq!(told(70.0), (10.0, 70.0, 22));
    }
}
