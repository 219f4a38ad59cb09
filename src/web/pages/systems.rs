//! `/systems`: the rating systems compared.

use maud::{Markup, html};
use serde::Serialize;

use super::lists::{as_text, heads, scrolled};
use crate::{
    domain::{Timestamp, counted},
    learning::{BestOfRuleset, SystemMeasures, SystemsReport},
    web::{Site, answer::Page, error::WebError, words},
};

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

/// Reads the last comparison. One that another version has made in another form is left out.
pub(in crate::web) async fn systems(site: &Site) -> Result<SystemsPage, WebError> {
    let row = site.pages().systems_report().await?;
    let report = row.and_then(|row| serde_json::from_str::<SystemsReport>(&row.report).ok());
    Ok(SystemsPage {
        comparison: report.map(SystemsComparison::from),
    })
}

impl Page for SystemsPage {
    fn title(&self) -> String {
        "Rating systems".to_owned()
    }

    fn path(&self) -> String {
        "/systems".to_owned()
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { "Rating systems" }
            @match &self.comparison {
                Some(comparison) => (comparison.body(site)),
                None => p {
                    "The rating systems have not been compared yet. That is done in the background, once there are 32 \
                     matches."
                },
            }
        })
    }
}

impl SystemsComparison {
    fn body(&self, site: &Site) -> Markup {
        html! {
            p {
                "How well each rating system would have predicted the last " (counted(self.matches, "match")) ", from "
                (words::time(self.from)) " to " (words::time(self.to)) ". Each one predicts a match, then learns from it. \
                 Measured are " (counted(self.measured, "match")) " of two teams that one of them won, after the first \
                 fifth. Computed on " (words::time(self.computed)) "."
            }
            p {
                "The weights on these pages come from "
                @match self.configured.as_str() {
                    "auto" => "the system that is best for each ruleset",
                    name => { "the system " strong { (name) } },
                }
                "."
            }
            (scrolled("Rating systems", &self.table()))
            p.note {
                "Log loss is what counts: the mean of −ln of the chance that was given to the result; a coin has 0.693, and \
                 the lower, the better. Brier is the mean squared difference of chance and result; a coin has 0.25. \
                 Calibration is how far chances are from how often they came true. The interval contains, with 95 % \
                 confidence, the log loss minus that of " (self.reference) "; if it contains 0, both are level."
            }
            @if !self.best.is_empty() {
                h2 { "Best by ruleset" }
                (scrolled("Best by ruleset", &best(site, &self.best)))
            }
        }
    }

    fn table(&self) -> Markup {
        html! {
            table {
                thead {
                    tr {
                        th scope="col" { "System" }
                        th.num scope="col" { "Log loss" }
                        th.num scope="col" { "Accuracy" }
                        th.num.wide scope="col" { "Brier" }
                        th.num.wide scope="col" { "Calibration" }
                        th scope="col" { "Beside " (self.reference) }
                        th.num.wide scope="col" { "Interval" }
                    }
                }
                tbody {
                    @for row in &self.systems {
                        tr {
                            th scope="row" { (row.system) }
                            td.num { (format!("{:.4}", row.log_loss)) }
                            td.num { (format!("{:.1} %", 100.0 * row.accuracy)) }
                            td.num.wide { (format!("{:.4}", row.brier)) }
                            td.num.wide { (format!("{:.3}", row.calibration_error)) }
                            td { (words::or_dash(row.beside.clone())) }
                            td.num.wide { (words::or_dash(row.difference.map(interval))) }
                        }
                    }
                }
            }
        }
    }
}

fn interval([low, high]: [f64; 2]) -> String {
    format!("{low:+.4} to {high:+.4}").replace('-', "−")
}

fn best(site: &Site, list: &[BestOfRuleset]) -> Markup {
    html! {
        table {
            (heads(&[("Ruleset", ""), ("System", ""), ("Log loss", "num"), ("Matches", "num")]))
            tbody {
                @for row in list {
                    tr {
                        th scope="row" { a href=(site.links.ruleset(&row.ruleset)) { (words::ruleset(&row.ruleset)) } }
                        td { (row.system) }
                        td.num { (format!("{:.4}", row.log_loss)) }
                        td.num { (row.matches) }
                    }
                }
            }
        }
    }
}
