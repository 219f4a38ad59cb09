//! `/systems`: the rating systems compared.

use maud::{Markup, html};
use serde::Serialize;

use super::parts::Table;
use crate::{
    learning::{BestOfRuleset, SystemMeasures, SystemsReport},
    model::{Timestamp, counted},
    web::{
        Site, WebError,
        answer::{Nothing, Page},
        words::{self, as_text},
    },
};

/// The fewest predicted matches of a ruleset for which a best system is named: of fewer, chance decides.
const FEWEST: usize = 30;

/// The comparison of rating systems.
#[derive(Debug, Serialize)]
pub(in crate::web) struct SystemsPage {
    /// `None` before the first comparison.
    comparison: Option<SystemsComparison>,
}

/// The comparison that was made last.
#[derive(Debug, Serialize)]
struct SystemsComparison {
    #[serde(serialize_with = "as_text")]
    computed: Timestamp,
    /// Number of matches: the latest.
    matches: usize,
    #[serde(serialize_with = "as_text")]
    from: Timestamp,
    #[serde(serialize_with = "as_text")]
    to: Timestamp,
    /// How many of them the measures are taken over.
    measured: usize,
    configured: String,
    reference: String,
    systems: Vec<SystemMeasures>,
    best: Vec<BestOfRuleset>,
}

impl From<SystemsReport> for SystemsComparison {
    fn from(report: SystemsReport) -> Self {
        Self {
            computed: report.computed_at,
            matches: report.compared,
            from: report.from,
            to: report.to,
            measured: report.measured,
            configured: report.configured,
            reference: report.reference,
            systems: report.systems,
            best: report.best,
        }
    }
}

impl Page for SystemsPage {
    type Choice = Nothing;
    const PATH: &str = "/systems";

    /// Reads the last comparison. One that another version has made in another form is left out.
    async fn read(site: &Site, _: &str, _: &Nothing) -> Result<Self, WebError> {
        let row = site.pages().learned().systems_report().await?;
        let report = row.and_then(|row| serde_json::from_str::<SystemsReport>(&row.report).ok());
        Ok(Self {
            comparison: report.map(SystemsComparison::from),
        })
    }

    fn title(&self) -> String {
        text!(systems.rating_systems).to_owned()
    }

    fn description(&self, _: &Site) -> String {
        text!(systems.how_well_each_rating_system_would).to_owned()
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { (text!(systems.rating_systems)) }
            @match &self.comparison {
                Some(comparison) => (comparison.body(site)),
                None => p {
                    (text!(systems.the_rating_systems_have_not_been))
                },
            }
        })
    }
}

impl SystemsComparison {
    fn body(&self, site: &Site) -> Markup {
        html! {
            p {
                (mark!(systems.how_well_each_rating_system_would_2,
                    { (counted(self.matches, "match")) },
                    { (words::time(self.from)) },
                    { (words::time(self.to)) },
                    { (counted(self.measured, "match")) },
                    { (words::time(self.computed)) }
                ))
            }
            p {
                (mark!(systems.the_weights_on_these_pages_come, { @match self.configured.as_str() {
                    "auto" => (text!(systems.the_system_that_is_best_for_each)),
                    name => { (mark!(systems.the_system, { strong { (name) } })) },
                } }))
            }
            (self.table())
            p.note {
                (mark!(systems.log_loss_is_what_counts_the_mean_of, { (self.reference) }))
            }
            @if self.best.iter().any(has_enough) {
                h2 { (text!(systems.best_by_ruleset)) }
                (best(site, &self.best))
                p.note { (mark!(systems.rulesets_with_at_least_predicted, { (FEWEST) })) }
            }
        }
    }

    fn table(&self) -> Table<'_, SystemMeasures> {
        Table::of(text!(systems.rating_systems), &self.systems)
            .name(text!(systems.system), |row| &row.system)
            .num(text!(systems.log_loss), |row| {
                format!("{:.4}", row.log_loss)
            })
            .num(text!(systems.accuracy), |row| {
                format!("{:.1} %", 100.0 * row.accuracy)
            })
            .wide_num(text!(systems.brier), |row| format!("{:.4}", row.brier))
            .wide_num(text!(systems.calibration), |row| {
                format!("{:.3}", row.calibration_error)
            })
            .text(&format!(text!(systems.beside), self.reference), |row| {
                words::or_dash(row.beside.clone())
            })
            .wide_num(text!(systems.interval), |row| {
                words::or_dash(row.difference.map(interval))
            })
    }
}

fn interval([low, high]: [f64; 2]) -> String {
    format!(text!(systems.to), low = low, high = high).replace('-', "−")
}

fn has_enough(row: &BestOfRuleset) -> bool {
    row.matches >= FEWEST
}

fn best<'a>(site: &'a Site, list: &'a [BestOfRuleset]) -> Table<'a, BestOfRuleset> {
    Table::of(
        text!(systems.best_by_ruleset),
        list.iter().filter(|row| has_enough(row)),
    )
    .name(text!(common.ruleset), |row| {
        site.links.to_ruleset(&row.ruleset)
    })
    .text(text!(systems.system), |row| &row.system)
    .num(text!(systems.log_loss), |row| {
        format!("{:.4}", row.log_loss)
    })
    .num(text!(common.matches), |row| row.matches)
}
