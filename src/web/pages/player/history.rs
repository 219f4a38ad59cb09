//! The weight of a player over time.

use crate::{
    store::{GameOfPerson, StandingLine},
    web::{plot::WeightPoint, words::rounded},
};

/// The most points of a plot. Of more, evenly distributed ones are drawn.
const POINTS: usize = 200;

/// The weights after the matches of a ruleset, the first one first. The last one is the weight of now, which matches
/// of others may have changed since, or an operator, or another choice of the rating system.
pub(super) fn history(games: &[GameOfPerson], standing: &StandingLine) -> Vec<WeightPoint> {
    let own = (games.iter().rev()).filter(|game| game.ruleset == standing.ruleset);
    let point = |at, weight, deviation| WeightPoint {
        at,
        weight: rounded(weight, 3),
        deviation: rounded(deviation, 3),
    };
    let points = own.filter_map(|game| {
        let entry = game.entry?;
        Some(point(game.ended, entry.weight, entry.deviation))
    });
    let mut points: Vec<WeightPoint> = points.collect();
    if let Some(last) = points.last_mut() {
        let at = standing.learned.unwrap_or(last.at).max(last.at);
        let now = point(at, standing.row.weight, standing.row.deviation);
        match (now.weight, now.deviation) == (last.weight, last.deviation) {
            true => {}
            false if at == last.at => *last = now,
            false => points.push(now),
        }
    }
    let count = points.len();
    if count <= POINTS {
        return points;
    }
    // The first and the last one are always among them.
    let place = |at: usize| at * (count - 1) / (POINTS - 1);
    (0..POINTS).map(|at| points[place(at)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{Kind, PlayerKey, Timestamp},
        store::{BoardRow, Standing},
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
                handle: None,
                name: "ann".into(),
                weight,
                deviation: 5.0,
                games: 1,
                last_seen: Timestamp(learned),
                division: None,
            },
        }
    }

    #[test]
    fn the_last_value_is_the_weight_of_now() {
        let games = [game(2, "a", 1.0), game(1, "a", 1.0)];
        let weights = |weight, learned| -> Vec<(i64, f64)> {
            let points = history(&games, &standing("ctf", weight, learned));
            points
                .iter()
                .map(|point| (point.at.0, point.weight))
                .collect()
        };
        assert_eq!(weights(52.0, 9), [(1, 51.0), (2, 52.0)]);
        assert_eq!(weights(47.25, 9), [(1, 51.0), (2, 52.0), (9, 47.25)]);
        assert_eq!(weights(47.25, 2), [(1, 51.0), (2, 47.25)]);
        assert!(history(&[], &standing("ctf", 52.0, 9)).is_empty());
    }

    #[test]
    fn long_histories_keep_their_ends() {
        let games: Vec<_> = (0..1_000).rev().map(|id| game(id, "a", 1.0)).collect();
        let points = history(&games, &standing("ctf", 1_049.0, 2_000));
        assert_eq!(points.len(), POINTS);
        assert_eq!(
            (points[0].weight, points[POINTS - 1].weight),
            (50.0, 1_049.0)
        );
        assert!(points.is_sorted_by(|a, b| a.at < b.at));
        assert!(history(&games, &standing("other", 50.0, 2_000)).is_empty());
    }
}
