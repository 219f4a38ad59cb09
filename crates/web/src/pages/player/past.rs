//! What lies behind a player: matches, what came of them, and the weight over time.
//!
//! - What was won and lost beside what was expected, the streak, the best win, and how the weight has moved.
//! - Notices of corrections of history, which have moved the weight without a match of the player.

use std::collections::HashMap;

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    Site, WebError,
    learning::{AccountEntry, PlayedMatch, StandingLine},
    model::{PlayerKey, Timestamp, match_chances::TeamChances, text::counted, weight::WeightEntry},
    pages::standing::LineWords as _,
    pages::{
        parts::{PageTable, chance_head, match_link},
        player::{PlayerStanding, letter, result_word},
    },
    plot::{WeightPoint, peak},
    store::{GameOfPerson, RecountCause, RecountRow, as_text},
    words::{self, known, rounded, tenths},
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
pub(super) struct WeightProgress {
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
            wins @ 2.. => Some(format!("{wins} won in a row", wins = wins)),
            losses @ ..=-2 => Some(format!("{0} lost in a row", -losses)),
            _ => None,
        };
        html! {
            dl.facts {
                div { dt { "Won, lost, drawn" } dd { (self.won) " : " (self.lost) " : " (self.drawn) } }
                @if let Some(streak) = streak { div { dt { "Streak" } dd { (streak) } } }
                @if let Some(above) = self.above_expected {
                    div { dt { "Won beyond the forecasts" } dd { (words::signed(above)) } }
                }
                @if let Some(best) = &self.best_win {
                    div { dt { "Best win" } dd {
                        (mark!("with a chance of {0}, {1}",
                            { (words::chance(best.forecast)) },
                            { (match_link(site, best.id, best.ended)) }
                        ))
                    } }
                }
            }
            p.note {
                (mark!("Rated matches, the last {0} at most. A forecast counts as that part \
         of a win; a draw is half a win.", { (most) }))
            }
        }
    }
}

impl WeightProgress {
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
    progress: Option<&WeightProgress>,
    pinned: bool,
) -> Markup {
    let better = row.own.line.better_than();
    html! {
        p.odds {
            strong { (known(row.own.line.weight, tenths)) }
            @if let Some(deviation) = row.own.line.deviation.filter(|deviation| *deviation > 0.0) {
                " ± " (tenths(deviation))
            }
            (mark!(" in {0}{1}{2}.", { (site.links.to_ruleset(&row.own.ruleset)) }, { @match row.own.line.place {
                Some(place) => { (mark!(", place {0} of {1}", { (place) }, { (row.own.players) })) },
                None => { ", " (row.own.line.place_or_why()) },
            } }, { @if let Some(better) = better { (mark!(", ahead of {0} of the others", { (better) })) } }))
            @if pinned { " An operator has fixed it." }
            @if let Some(progress) = progress {
                (mark!(" Over the last {0}: {1}. Peak: {2} after {3}.",
                    { (counted(progress.matches, "match")) },
                    { (words::signed(progress.change)) },
                    { (tenths(progress.peak)) },
                    { (match_link(site, progress.peak_match, progress.peak_ended)) }
                ))
            }
        }
    }
}

/// The most points of a plot. Of more, evenly distributed ones are drawn.
const POINTS: usize = 200;

/// What may have moved a weight since its player's last match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Since<'a> {
    /// Whether an operator has fixed the weight.
    pub(super) pinned: bool,
    /// When seasons have begun.
    pub(super) seasons: &'a [Timestamp],
}

/// The weights after the matches of a ruleset, as the matches have entered them, the first one first. If the weight of now
/// is another one, it is a point of its own: an operator has fixed it, or a season has begun.
pub(super) fn history(
    games: &[GameOfPerson],
    standing: &StandingLine,
    since: Since<'_>,
) -> Vec<WeightPoint> {
    let own = (games.iter().rev()).filter(|game| game.ruleset == standing.ruleset);
    let point = |at, weight, deviation| WeightPoint {
        at,
        weight: rounded(weight, 3),
        deviation: rounded(deviation, 3),
        pinned: false,
    };
    let points = own.filter_map(|game| {
        let entry = game.entry?;
        Some(point(game.ended, entry.weight, entry.deviation))
    });
    let points: Vec<WeightPoint> = points.collect();
    let Some(last) = points.last().copied() else {
        return points;
    };
    let (Some(weight), Some(deviation)) = (standing.line.weight, standing.line.deviation) else {
        return points;
    };
    let season = since.seasons.iter().filter(|start| **start > last.at).max();
    let at = season.copied().or(standing.learned);
    let now = WeightPoint {
        pinned: since.pinned,
        ..point(at.map_or(last.at, |at| at.max(last.at)), weight, deviation)
    };
    let is_other = since.pinned || (now.weight, now.deviation) != (last.weight, last.deviation);
    let mut points = drawn(points);
    points.extend(is_other.then_some(now));
    points
}

/// Evenly distributed ones of these points, at most [`POINTS`]: among them are always the first one, the last one and the
/// peak.
fn drawn(points: Vec<WeightPoint>) -> Vec<WeightPoint> {
    let count = points.len();
    if count <= POINTS {
        return points;
    }
    let place = |at: usize| at * (count - 1) / (POINTS - 1);
    let mut places: Vec<usize> = (0..POINTS).map(place).collect();
    let peak = peak(&points).unwrap_or(0);
    if !places.contains(&peak) {
        // The one that comes next takes its place, unless that is the last one.
        let next = places.partition_point(|at| *at < peak);
        places[next.min(POINTS - 2)] = peak;
    }
    places.into_iter().map(|at| points[at]).collect()
}

/// How many matches are listed.
const LISTED: usize = 20;

/// The latest matches, each with the chance as started. With `pinned`, an operator has fixed the player's weight.
pub(super) async fn read_games(
    site: &Site,
    games: &[GameOfPerson],
    pinned: bool,
) -> Result<Vec<PlayedMatch>, WebError> {
    let ids: Vec<i64> = games.iter().take(LISTED).map(|game| game.id).collect();
    let started = site.pages().matches().started_teams(&ids).await?;
    let numbers = site.settings.shows_numbers();
    Ok(listed(games, &started, numbers, pinned))
}

/// The latest matches, each with the change of the weight.
fn listed(
    games: &[GameOfPerson],
    started: &HashMap<i64, TeamChances>,
    numbers: bool,
    pinned: bool,
) -> Vec<PlayedMatch> {
    let shown = |game: &GameOfPerson| {
        let team = game.team.map(usize::from);
        let started = started.get(&game.id).zip(team);
        let mut own = PlayedMatch::new(game, pinned);
        own.chance_as_started = started.and_then(|(teams, team)| teams.win.get(team).copied());
        own.entry = own.entry.map(AccountEntry::rounded);
        match numbers {
            true => own,
            false => own.without_numbers(),
        }
    };
    games.iter().take(LISTED).map(shown).collect()
}

/// The chance of the player's team: as started, or by the forecast.
fn chance(game: &PlayedMatch, as_started: bool) -> Option<f64> {
    match as_started {
        true => game.chance_as_started,
        false => game.forecast,
    }
}

/// A table of the player's latest matches.
pub(super) fn games_table<'a>(
    site: &'a Site,
    games: &'a [PlayedMatch],
) -> PageTable<'a, PlayedMatch> {
    let numbers = site.settings.shows_numbers();
    // A column has one kind of chance.
    let as_started = games.iter().any(|game| game.chance_as_started.is_some());
    let (head, means) = chance_head(as_started);
    let points = |game: &PlayedMatch| {
        let known = game.points_for.zip(game.points_against);
        words::or_dash(known.map(|(own, others)| words::scores(&[own, others])))
    };
    PageTable::of("Matches", games)
        .text("Match", |game| match_link(site, game.id, game.ended))
        .text("Map", |game| site.links.to_map(&game.map))
        .only_if(games.iter().any(|game| !game.map.is_empty()))
        .wide_text("Game type", |game| words::ruleset(&game.ruleset))
        .text("Result", |game| {
            game.result.map_or("–", |of| result_word(letter(of)))
        })
        .wide_num("Points", points)
        .only_if(games.iter().any(|game| game.points_for.is_some()))
        .num(head, move |game| {
            known(chance(game, as_started), words::chance)
        })
        .explained(means)
        .only_if(numbers)
        .num("Change", |game| {
            known(game.entry.map(|entry| entry.change), words::signed)
        })
        .only_if(numbers)
        .text("Reason", |game| {
            words::or_dash(game.entry.and_then(|entry| entry.reason()))
        })
        .only_if(numbers)
}

/// The most notices that are shown.
const SHOWN: i64 = 10;

/// A notice.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Recounted {
    ruleset: String,
    #[serde(serialize_with = "as_text")]
    at: Timestamp,
    /// The code of what was corrected.
    #[serde(serialize_with = "code")]
    cause: Option<RecountCause>,
    /// The weight after the same match, as it was counted before the correction and after it.
    then: f64,
    now: f64,
}

fn code<S: serde::Serializer>(cause: &Option<RecountCause>, to: S) -> Result<S::Ok, S::Error> {
    cause.map(RecountCause::as_str).serialize(to)
}

impl From<RecountRow> for Recounted {
    fn from(row: RecountRow) -> Self {
        Self {
            ruleset: row.ruleset,
            at: row.at,
            cause: row.cause,
            then: rounded(row.then, 3),
            now: rounded(row.now, 3),
        }
    }
}

/// Reads the latest notices to a player; none where numbers are not shown.
pub(super) async fn read_recounts(
    site: &Site,
    player: &PlayerKey,
) -> Result<Vec<Recounted>, WebError> {
    if !site.settings.shows_numbers() {
        return Ok(Vec::new());
    }
    let rows = site.pages().learned().recounts_of(player, SHOWN).await?;
    Ok(rows.into_iter().map(Recounted::from).collect())
}

/// The list of the notices.
pub(super) fn recounts_list(recounts: &[Recounted]) -> Markup {
    html! {
        @if !recounts.is_empty() {
            h2 { "Counted again" }
            ul {
                @for one in recounts {
                    li {
                        (format!("recounted: {0} ({1}, {2})", words::signed(one.now - one.then), because(one.cause),
                            words::day(one.at)))
                        " (" (words::ruleset(&one.ruleset)) ")"
                    }
                }
            }
            p.note { "After a correction of history, all weights are counted again in the order of \
         the matches, those before a player's last match included." }
        }
    }
}

fn because(cause: Option<RecountCause>) -> &'static str {
    match cause {
        Some(RecountCause::Void) => "a match was made void",
        Some(RecountCause::Valid) => "a void match counts again",
        Some(RecountCause::Admitted) => "matches were admitted",
        Some(RecountCause::Merge) => "two identities are one player",
        Some(RecountCause::Split) => "two identities are two players again",
        Some(RecountCause::StartWeight) => "a start weight was changed",
        Some(RecountCause::Log) => "a log was read again",
        Some(RecountCause::Settings) => "the settings or the program changed",
        Some(RecountCause::LateMatch) => "a match arrived late",
        None => "history was corrected",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learning::BoardLine,
        model::{Kind, PlayerKey, weight::Standing},
        pages::player::tests::game,
        store::Player,
    };

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
        let progress = WeightProgress::of(&games, "ctf", 69.0).unwrap();
        assert_eq!((progress.matches, progress.change), (12, 12.0));
        assert_eq!((progress.peak, progress.peak_match), (69.0, 19));
        let few = WeightProgress::of(&games[17..], "ctf", 52.0).unwrap();
        assert_eq!((few.matches, few.change), (3, 3.0));
        let one = WeightProgress::of(&games[19..], "ctf", 50.0).unwrap();
        assert_eq!((one.matches, one.change), (1, 1.0));
        assert_eq!(WeightProgress::of(&games, "other", 60.0), None);
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
            let progress = WeightProgress::of(&held, "ctf", now).unwrap();
            (progress.change, progress.peak, progress.peak_match)
        };
        assert_eq!(told(69.0), (9.0, 69.0, 19));
        assert_eq!(told(64.0), (4.0, 69.0, 19));
        assert_eq!(told(70.0), (10.0, 70.0, 22));
    }

    /// The standing of a player with this weight, learned from matches until `learned`.
    fn standing(ruleset: &str, weight: f64, learned: i64) -> StandingLine {
        let key = PlayerKey {
            kind: Kind::Human,
            id: "ann".into(),
        };
        StandingLine {
            ruleset: ruleset.to_owned(),
            players: 1,
            learned: Some(Timestamp(learned)),
            line: BoardLine {
                standing: Standing::Placed,
                place: Some(1),
                key,
                player: Player::new(Some("a".into()), Some("ann".into()), Kind::Human),
                weight: Some(weight),
                deviation: Some(5.0),
                percentile: None,
                games: 1,
                last_seen: Timestamp(learned),
                division: None,
                progress: None,
                plays_now: false,
            },
        }
    }

    const NOTHING: Since<'_> = Since {
        pinned: false,
        seasons: &[],
    };

    #[test]
    fn a_weight_that_no_match_has_given_is_a_point_of_its_own() {
        let games = [game(2, "a", 1.0), game(1, "a", 1.0)];
        let weights = |weight, learned, since| -> Vec<(i64, f64, bool)> {
            let points = history(&games, &standing("ctf", weight, learned), since);
            let told = |point: &WeightPoint| (point.at.0, point.weight, point.pinned);
            points.iter().map(told).collect()
        };
        let own = [(1, 51.0, false), (2, 52.0, false)];
        assert_eq!(weights(52.0, 9, NOTHING), own);
        let pinned = Since {
            pinned: true,
            ..NOTHING
        };
        let with = |point| [own[0], own[1], point];
        assert_eq!(weights(47.25, 9, pinned), with((9, 47.25, true)));
        assert_eq!(weights(52.0, 2, pinned), with((2, 52.0, true)));
        let season = Since {
            seasons: &[Timestamp(1), Timestamp(5)],
            ..NOTHING
        };
        assert_eq!(weights(51.0, 2, season), with((5, 51.0, false)));
        assert!(history(&[], &standing("ctf", 52.0, 9), NOTHING).is_empty());
    }

    #[test]
    fn long_histories_keep_their_ends_and_their_peak() {
        let mut games: Vec<_> = (0..1_000).rev().map(|id| game(id, "a", 1.0)).collect();
        for (at, peak) in [(1, 998), (997, 2), (421, 578), (998, 1)] {
            let entry = games[at].entry.as_mut().unwrap();
            let before = std::mem::replace(&mut entry.weight, 2_000.0);
            let points = history(&games, &standing("ctf", 1_049.0, 2_000), NOTHING);
            assert_eq!(points.len(), POINTS);
            let ends = (points[0].weight, points[POINTS - 1].weight);
            assert_eq!(ends, (50.0, 1_049.0));
            assert!(points.is_sorted_by(|a, b| a.at < b.at));
            let highest = points.iter().find(|point| point.weight == 2_000.0);
            assert_eq!(highest.map(|point| point.at), Some(Timestamp(peak)));
            games[at].entry.as_mut().unwrap().weight = before;
        }
        assert!(history(&games, &standing("other", 50.0, 2_000), NOTHING).is_empty());
    }

    #[test]
    fn games_have_the_chance_of_the_own_team_and_the_change() {
        let games = [game(3, "a", 1.0), game(1, "a", 0.0)];
        let teams = TeamChances {
            win: vec![0.625, 0.375],
            humans: vec![1, 1],
            bots: vec![0, 0],
        };
        let started = HashMap::from([(3, teams)]);
        let list = listed(&games, &started, true, false);
        assert_eq!(list[0].forecast, Some(0.75));
        assert_eq!(list[0].chance_as_started, Some(0.375));
        let told = |game: &PlayedMatch| {
            let entry = game.entry.unwrap();
            (entry.change, entry.reason().unwrap())
        };
        assert_eq!(told(&list[0]), (1.0, "won".to_owned()));
        let pinned = listed(&games, &started, true, true);
        assert_eq!(told(&pinned[1]).1, "pinned; beneath it: won");
        assert_eq!(list[1].chance_as_started, None);
        let hidden = listed(&games, &started, false, false);
        assert!(hidden[0].entry.is_none());
        assert_eq!(
            (chance(&hidden[0], true), chance(&hidden[0], false)),
            (None, None)
        );
    }

    #[test]
    fn a_notice_says_by_how_much_why_and_when() {
        assert_eq!(recounts_list(&[]).into_string(), "");
        let row = |cause, now| RecountRow {
            ruleset: "ctf".into(),
            at: Timestamp(1_795_188_516_000),
            cause,
            then: 52.0,
            now,
        };
        let rows = [row(Some(RecountCause::Void), 51.7), row(None, 52.1)];
        let list = recounts_list(&rows.map(Recounted::from)).into_string();
        assert!(
            list.contains("−0.3 (a match was made void, 2026-11-20)"),
            "{list}"
        );
        assert!(
            list.contains("+0.1 (history was corrected, 2026-11-20)"),
            "{list}"
        );
    }
}
