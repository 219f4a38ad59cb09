//! The weight of a player over time.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    domain::Timestamp,
    store::GameOfPerson,
    web::{
        error::WebError,
        pages::lists::as_text,
        plot::{self, WeightPoint},
    },
};

/// The most points of a plot. Of more, evenly distributed ones are drawn.
const POINTS: usize = 200;

/// The weight after a match.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct HistoryPoint {
    #[serde(serialize_with = "as_text")]
    at: Timestamp,
    weight: f64,
    deviation: f64,
}

/// The weights after the matches of a ruleset, the first one first.
pub(super) fn history(games: &[GameOfPerson], ruleset: &str) -> Vec<HistoryPoint> {
    let own = games.iter().rev().filter(|game| game.ruleset == ruleset);
    let points = own.filter_map(|game| {
        let (weight, deviation) = game.after?;
        let rounded = |number: f64| (number * 1_000.0).round() / 1_000.0;
        Some(HistoryPoint {
            at: game.ended,
            weight: rounded(weight),
            deviation: rounded(deviation),
        })
    });
    let points: Vec<HistoryPoint> = points.collect();
    let count = points.len();
    if count <= POINTS {
        return points;
    }
    // The first and the last one are always among them.
    let place = |at: usize| at * (count - 1) / (POINTS - 1);
    (0..POINTS).map(|at| points[place(at)]).collect()
}

/// Draws the weight under a ruleset; `label` describes the plot to people who do not see it.
pub(super) fn plot(label: &str, history: &[HistoryPoint]) -> Result<Markup, WebError> {
    let point = |point: &HistoryPoint| WeightPoint {
        at: point.at,
        weight: point.weight,
        deviation: point.deviation,
    };
    let points: Vec<WeightPoint> = history.iter().map(point).collect();
    let plot = plot::weights(label, &points)?;
    Ok(html! { (plot) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::pages::player::tests::game;

    #[test]
    fn long_histories_keep_their_ends() {
        let games: Vec<_> = (0..1_000).rev().map(|id| game(id, "a", 1.0)).collect();
        let points = history(&games, "ctf");
        assert_eq!(points.len(), POINTS);
        assert_eq!(
            (points[0].weight, points[POINTS - 1].weight),
            (50.0, 1_049.0)
        );
        assert!(points.is_sorted_by(|a, b| a.at < b.at));
        assert!(history(&games, "other").is_empty());
    }
}
