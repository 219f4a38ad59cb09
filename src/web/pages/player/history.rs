//! The weight of a player over time.

use crate::{
    learning::StandingLine,
    model::Timestamp,
    store::GameOfPerson,
    web::{
        plot::{WeightPoint, peak},
        words::rounded,
    },
};

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
    let season = since.seasons.iter().filter(|start| **start > last.at).max();
    let at = season.copied().or(standing.learned);
    let now = WeightPoint {
        pinned: since.pinned,
        ..point(
            at.map_or(last.at, |at| at.max(last.at)),
            standing.row.weight,
            standing.row.deviation,
        )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        learning::{BoardRow, Standing},
        model::{Kind, PlayerKey},
        web::pages::player::tests::game,
    };

    /// The standing of a player with this weight, learned from matches until `learned`.
    fn standing(ruleset: &str, weight: f64, learned: i64) -> StandingLine {
        let key = PlayerKey {
            kind: Kind::Human,
            id: "ann".into(),
        };
        StandingLine {
            ruleset: ruleset.to_owned(),
            of: 1,
            learned: Some(Timestamp(learned)),
            row: BoardRow {
                standing: Standing::Placed,
                place: Some(1),
                key,
                handle: "a".into(),
                name: "ann".into(),
                weight,
                deviation: 5.0,
                games: 1,
                last_seen: Timestamp(learned),
                division: None,
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
}
