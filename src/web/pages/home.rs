//! `/`: the rulesets, and the latest matches.

use maud::{Markup, html};
use serde::Serialize;

use super::lists::{MatchSummary, as_text, heads, matches, scrolled};
use crate::{
    domain::Timestamp,
    store::RulesetLine,
    web::{
        Site,
        answer::Page,
        chances::{OF_DECIDED, OF_FORECAST},
        error::WebError,
        present::{PresentGame, Room, names, present, running},
        words,
    },
};

/// The number of matches on the page.
const MATCHES: i64 = 20;
/// How many running games are shown, and how many of their players.
const ROOM: Room = Room {
    games: 8,
    players: 100,
};

/// The home page: rulesets, running games and the latest matches.
#[derive(Debug, Serialize)]
pub(in crate::web) struct Home {
    rulesets: Vec<RulesetSummary>,
    /// The running games with most humans.
    now: Vec<PresentGame>,
    matches: Vec<MatchSummary>,
}

/// A ruleset in the list.
#[derive(Debug, Serialize)]
struct RulesetSummary {
    name: String,
    rated_matches: i64,
    humans: i64,
    bots: i64,
    /// The mean difference between the highest and the lowest score; `None` if no scores were reported.
    mean_gap: Option<f64>,
    /// The share of its matches that were draws.
    draws: Option<f64>,
    /// The share that the favourite of the forecast won, of the matches that a team won.
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
            mean_gap: of.mean_gap(),
            draws: of.draw_share(),
            favourite_won: of.favourite_share(),
            last: line.last.unwrap_or_default(),
        }
    }
}

/// Reads what the home page shows.
pub(in crate::web) async fn home(site: &Site) -> Result<Home, WebError> {
    let rulesets = site.pages().ruleset_lines().await?;
    let lines = site.pages().latest_matches(None, MATCHES).await?;
    let now = present(site, &running(site), ROOM).await?;
    let summary = |line| MatchSummary::from(line).shown(site);
    Ok(Home {
        rulesets: rulesets.into_iter().map(RulesetSummary::from).collect(),
        now,
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
                     team that was more likely to win by the forecast: the closer to 50 % it won, of the matches that \
                     a team won, the more even the teams were. " (OF_FORECAST)
                }
            }
            @if !self.now.is_empty() {
                h2 { a href=(site.links.to("/live")) { "Playing now" } }
                (scrolled("Playing now", &games(site, &self.now)))
            }
            h2 { "Latest matches" }
            (matches(site, &self.matches, true))
        })
    }
}

fn games(site: &Site, list: &[PresentGame]) -> Markup {
    html! {
        table {
            (heads(&[
                ("Server", ""), ("Ruleset", "wide"), ("Map", "wide"), ("Score", "num"),
                ("Players", ""),
            ]))
            tbody {
                @for game in list {
                    tr {
                        th scope="row" { (game.server_or_dash()) }
                        td.wide { (words::ruleset(&game.ruleset)) }
                        td.wide { (words::or_dash(game.map.clone())) }
                        td.num { (game.score()) }
                        td {
                            @match game.players().count() {
                                0 => (game.humans + game.bots),
                                _ => (names(site, game.players())),
                            }
                        }
                    }
                }
            }
        }
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
                    th.num scope="col" { abbr title=(OF_DECIDED) { "Favourite won" } }
                    th.num scope="col" { "Draws" }
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
                        td.num { (words::or_dash(line.favourite_won.map(words::percent))) }
                        td.num { (words::or_dash(line.draws.map(words::percent))) }
                        td.wide { (words::time(line.last)) }
                    }
                }
            }
        }
    }
}
