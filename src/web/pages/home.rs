//! `/`: the rulesets, and the latest matches.

use maud::{Markup, html};
use serde::Serialize;

use super::lists::{MatchSummary, as_text, matches, scrolled};
use crate::{
    domain::Timestamp,
    store::RulesetLine,
    web::{Site, answer::Page, error::WebError, words},
};

/// The number of matches on the page.
const MATCHES: i64 = 20;

/// The first page.
#[derive(Debug, Serialize)]
pub(in crate::web) struct Home {
    rulesets: Vec<RulesetSummary>,
    matches: Vec<MatchSummary>,
}

/// A ruleset in the list.
#[derive(Debug, Serialize)]
struct RulesetSummary {
    name: String,
    rated_matches: i64,
    humans: i64,
    bots: i64,
    /// The mean difference between the highest and the lowest score.
    mean_gap: Option<f64>,
    /// The share of draws.
    draws: Option<f64>,
    /// The share of predicted matches that the team with the higher chance won.
    favourite_won: Option<f64>,
    #[serde(serialize_with = "as_text")]
    last: Timestamp,
}

impl From<RulesetLine> for RulesetSummary {
    fn from(line: RulesetLine) -> Self {
        let of = line.closeness;
        Self {
            name: line.ruleset,
            rated_matches: of.rated,
            humans: line.humans,
            bots: line.bots,
            mean_gap: words::mean(of.gap, of.matches),
            draws: words::mean(of.draws as f64, of.matches),
            favourite_won: words::mean(of.favoured as f64, of.predicted),
            last: line.last.unwrap_or_default(),
        }
    }
}

/// Reads the first page.
pub(in crate::web) async fn home(site: &Site) -> Result<Home, WebError> {
    let rulesets = site.pages().ruleset_lines().await?;
    let lines = site.pages().latest_matches(None, MATCHES).await?;
    let summary = |line| MatchSummary::from(line).shown(site);
    Ok(Home {
        rulesets: rulesets.into_iter().map(RulesetSummary::from).collect(),
        matches: lines.into_iter().map(summary).collect(),
    })
}

impl Page for Home {
    fn title(&self) -> String {
        "Rulesets and matches".to_owned()
    }

    fn path(&self) -> String {
        "/".to_owned()
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { "Rulesets" }
            @if self.rulesets.is_empty() {
                p { "No match has been rated yet. Weights are learned from finished matches." }
            } @else {
                (scrolled("Rulesets", &rulesets(site, &self.rulesets)))
                p.note {
                    "The difference is that between the highest and the lowest score of a match. The favourite is the \
                     team that was more likely to win by the weights before the match: the closer to 50 % it won, the \
                     more even the teams were."
                }
            }
            h2 { "Latest matches" }
            (matches(site, &self.matches, true))
        })
    }
}

fn rulesets(site: &Site, list: &[RulesetSummary]) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th scope="col" { "Ruleset" }
                    th.num scope="col" { "Matches" }
                    th.num.wide scope="col" { "Humans" }
                    th.num.wide scope="col" { "Bots" }
                    th.num scope="col" { "Mean difference" }
                    th.num.wide scope="col" { "Draws" }
                    th.num scope="col" { "Favourite won" }
                    th.wide scope="col" { "Last match" }
                }
            }
            tbody {
                @for line in list {
                    tr {
                        th scope="row" { a href=(site.links.ruleset(&line.name)) { (words::ruleset(&line.name)) } }
                        td.num { (line.rated_matches) }
                        td.num.wide { (line.humans) }
                        td.num.wide { (line.bots) }
                        td.num { (words::or_dash(line.mean_gap.map(words::tenths))) }
                        td.num.wide { (words::or_dash(line.draws.map(words::percent))) }
                        td.num { (words::or_dash(line.favourite_won.map(words::percent))) }
                        td.wide { (words::time(line.last)) }
                    }
                }
            }
        }
    }
}
