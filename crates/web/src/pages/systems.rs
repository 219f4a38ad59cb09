//! `/systems`: the rating systems compared.

use maud::{Markup, html};
use serde::Serialize;

use super::parts::PageTable;
use crate::{
    Site, WebError,
    answer::{NoQuery, Page},
    learning::{BestOfRuleset, SystemMeasures, SystemsReport},
    model::text::counted,
    words,
};

/// The fewest predicted matches of a ruleset for which a best system is named: of fewer, chance decides.
const FEWEST: usize = 30;

/// The comparison of rating systems.
#[derive(Debug, Serialize)]
pub(crate) struct SystemsPage {
    /// `None` before the first comparison.
    comparison: Option<SystemsReport>,
}

impl Page for SystemsPage {
    type Choice = NoQuery;
    const PATH: &str = "/systems";

    /// Reads the last comparison. One that another version has made in another form is left out.
    async fn read(site: &Site, _: &str, _: &NoQuery) -> Result<Self, WebError> {
        let row = site.pages().learned().systems_report().await?;
        Ok(Self {
            comparison: row.and_then(|row| serde_json::from_str(&row.report).ok()),
        })
    }

    fn title(&self) -> String {
        "Rating systems".to_owned()
    }

    fn description(&self, _: &Site) -> String {
        "How well each rating system would have predicted the latest matches.".to_owned()
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { "Rating systems" }
            @match &self.comparison {
                Some(comparison) => (body(comparison, site)),
                None => p {
                    "The rating systems have not been compared yet. That is done in the \
         background, once there are 32 matches."
                },
            }
        })
    }
}

fn body(report: &SystemsReport, site: &Site) -> Markup {
    html! {
        p {
            (mark!("How well each rating system would have predicted the last {0}, \
     from {1} to {2}. Each one predicts a match, then learns from it. Measured are {3} of two teams that one of \
     them won, after the first fifth. Computed on {4}.",
                { (counted(report.matches, "match")) },
                { (words::time(report.from)) },
                { (words::time(report.to)) },
                { (counted(report.measured, "match")) },
                { (words::time(report.computed)) }
            ))
        }
        p {
            (mark!("The weights on these pages come from {0}.", { @match report.configured.as_str() {
                "auto" => "the system that is best for each game type",
                name => { (mark!("the system {0}", { strong { (name) } })) },
            } }))
        }
        (table(report))
        p.note {
            (mark!("Log loss is what counts: the mean of −ln of the chance that was \
     given to the result; a coin has 0.693, and the lower, the better. Brier is the mean squared difference of \
     chance and result; a coin has 0.25. Calibration is how far chances are from how often they came true. The \
     interval contains, with 95\u{a0}% confidence, the log loss minus that of {0}; if it contains 0, both are level.", { (report.reference) }))
        }
        @if report.best.iter().any(has_enough) {
            h2 { "Best by game type" }
            (best(site, &report.best))
            p.note { (mark!("Game types with at least {0} predicted matches.", { (FEWEST) })) }
        }
    }
}

fn table(report: &SystemsReport) -> PageTable<'_, SystemMeasures> {
    PageTable::of("Rating systems", &report.systems)
        .name("System", |row| &row.system)
        .num("Log loss", |row| format!("{:.4}", row.log_loss))
        .num("Accuracy", |row| {
            format!("{:.1}\u{a0}%", 100.0 * row.accuracy)
        })
        .wide_num("Brier", |row| format!("{:.4}", row.brier))
        .wide_num("Calibration", |row| format!("{:.3}", row.calibration_error))
        .text(&format!("Beside {0}", report.reference), |row| {
            words::or_dash(row.beside.clone())
        })
        .wide_num("Interval", |row| {
            words::or_dash(row.difference.map(interval))
        })
}

fn interval([low, high]: [f64; 2]) -> String {
    format!("{low:+.4} to {high:+.4}", low = low, high = high).replace('-', "−")
}

fn has_enough(row: &BestOfRuleset) -> bool {
    row.matches >= FEWEST
}

fn best<'a>(site: &'a Site, list: &'a [BestOfRuleset]) -> PageTable<'a, BestOfRuleset> {
    PageTable::of(
        "Best by game type",
        list.iter().filter(|row| has_enough(row)),
    )
    .name("Game type", |row| site.links.to_ruleset(&row.ruleset))
    .text("System", |row| &row.system)
    .num("Log loss", |row| format!("{:.4}", row.log_loss))
    .num("Matches", |row| row.matches)
}
