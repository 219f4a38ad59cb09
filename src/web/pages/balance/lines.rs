//! How even some matches were, as lines of a table.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    store::Closeness,
    web::{chances::OF_DECIDED, pages::lists::scrolled, words},
};

/// How even some matches were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct BalanceLine {
    pub(super) matches: i64,
    /// `None` if no scores were reported.
    pub(super) mean_gap: Option<f64>,
    pub(super) draws: Option<f64>,
    /// The share that team 0 won, of the matches that a team won.
    pub(super) team_0_won: Option<f64>,
    /// The number of matches with a forecast and a result.
    pub(super) predicted: i64,
    /// The share that the favourite of the forecast won, of the matches that a team won.
    pub(super) favourite_won: Option<f64>,
    /// The mean squared difference between forecast and result: 0.25 for a coin.
    pub(super) brier: Option<f64>,
    pub(super) mean_minutes: Option<f64>,
}

/// A line and its name.
#[derive(Debug, Serialize)]
pub(super) struct NamedBalance {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) line: BalanceLine,
}

impl From<Closeness> for BalanceLine {
    fn from(of: Closeness) -> Self {
        Self {
            matches: of.matches,
            mean_gap: of.mean_gap(),
            draws: of.draw_share(),
            team_0_won: of.first_share(),
            predicted: of.predicted,
            favourite_won: of.favourite_share(),
            brier: of.mean_brier(),
            mean_minutes: of.mean_minutes(),
        }
    }
}

/// The heading of a column of dates, which are not broken into two lines.
pub(super) const WEEK_OF: &str = "Week of";

/// A table with a line for each name.
pub(super) fn table(label: &str, first: &str, lines: &[(&str, &BalanceLine)]) -> Markup {
    scrolled(
        label,
        &html! {
            table {
                thead {
                    tr {
                        th scope="col" { (first) }
                        th.num scope="col" { "Matches" }
                        th.num scope="col" { "Mean difference" }
                        th.num.wide scope="col" { "Team 0 won" }
                        th.num scope="col" { abbr title=(OF_DECIDED) { "Favourite won" } }
                        th.num scope="col" { "Draws" }
                        th.num.wide scope="col" { abbr title="Mean squared difference between forecast and result" { "Brier" } }
                        th.num.wide scope="col" { "Minutes" }
                    }
                }
                tbody {
                    @for (name, line) in lines {
                        tr {
                            th.date[first == WEEK_OF] scope="row" { (name) }
                            td.num { (line.matches) }
                            td.num { (words::or_dash(line.mean_gap.map(words::tenths))) }
                            td.num.wide { (words::or_dash(line.team_0_won.map(words::percent))) }
                            td.num { (words::or_dash(line.favourite_won.map(words::percent))) }
                            td.num { (words::or_dash(line.draws.map(words::percent))) }
                            td.num.wide { (words::or_dash(line.brier.map(|brier| format!("{brier:.3}")))) }
                            td.num.wide { (words::or_dash(line.mean_minutes.map(words::tenths))) }
                        }
                    }
                }
            }
        },
    )
}

/// The lines with their names, for a table.
pub(super) fn named(list: &[NamedBalance]) -> Vec<(&str, &BalanceLine)> {
    list.iter()
        .map(|own| (own.name.as_str(), &own.line))
        .collect()
}
