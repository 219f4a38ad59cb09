//! How even some matches were, as lines of a table.

use maud::html;
use serde::Serialize;

use crate::{
    rating::history::Closeness,
    web::{
        chances::OF_DECIDED,
        pages::table::Table,
        words::{known, percent, tenths},
    },
};

/// How even some matches were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(in crate::web::pages) struct BalanceLine {
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
pub(in crate::web::pages) struct NamedBalance {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) line: BalanceLine,
    /// The chance of team 0 between equally strong teams; only of a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) between_equals: Option<f64>,
    /// What team 0 is called, where it is not the same in all lines of a table.
    #[serde(skip)]
    pub(super) team_0: Option<String>,
}

impl NamedBalance {
    pub(in crate::web::pages) fn new(name: String, of: Closeness) -> Self {
        let line = of.into();
        Self {
            name,
            line,
            between_equals: None,
            team_0: None,
        }
    }

    /// The same with a name of team 0 of its own.
    pub(in crate::web::pages) fn called(mut self, team_0: String) -> Self {
        self.team_0 = Some(team_0);
        self
    }

    /// How often team 0 won.
    fn team_0_won(&self) -> String {
        let share = known(self.line.team_0_won, percent);
        match &self.team_0 {
            Some(name) => format!("{name} {share}"),
            None => share,
        }
    }
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
pub(super) const WEEK_OF: &str = text!(balance.week_of);

/// A table of these lines, without those that have no match.
pub(in crate::web::pages) fn table<'a>(
    label: &str,
    first: &str,
    lines: impl IntoIterator<Item = &'a NamedBalance>,
    team_0: &str,
) -> Table<'a, NamedBalance> {
    let is_date = first == WEEK_OF;
    let lines = lines.into_iter().filter(|of| of.line.matches > 0);
    let lines: Vec<&NamedBalance> = lines.collect();
    let any_side = lines.iter().any(|of| of.between_equals.is_some());
    Table::of(label, lines)
        .name(
            first,
            move |own| html! { span.date[is_date] { (own.name) } },
        )
        .num(text!(common.matches), |of| of.line.matches)
        .num(text!(common.mean_difference), |of| {
            known(of.line.mean_gap, tenths)
        })
        .wide_num(&format!(text!(balance.won), team_0 = team_0), |of| {
            of.team_0_won()
        })
        .wide_num(
            &format!(text!(balance.equal_teams), team_0 = team_0),
            |of| known(of.between_equals, percent),
        )
        .explained(text!(balance.the_chance_between_equally_strong))
        .only_if(any_side)
        .num(text!(common.favourite_won), |of| {
            known(of.line.favourite_won, percent)
        })
        .explained(OF_DECIDED)
        .wide_num(text!(common.draws), |of| known(of.line.draws, percent))
}
