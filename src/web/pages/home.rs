//! `/`: the rulesets, and the latest matches.

use maud::{Markup, html};
use serde::Serialize;

use super::{
    lists::{MatchSummary, matches},
    table::Table,
};
use crate::{
    domain::Timestamp,
    store::RulesetLine,
    web::{
        Site,
        answer::Page,
        chances::{OF_DECIDED, OF_FORECAST},
        error::WebError,
        page_request::Nothing,
        present::{PresentGame, Room, names, present, running},
        words::{self, as_text, known, percent, tenths},
    },
};

/// The number of matches on the page.
const MATCHES: i64 = 20;

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

impl Page for Home {
    type Choice = Nothing;
    const PATH: &str = "/";

    /// Reads what the home page shows.
    async fn read(site: &Site, _: &str, _: &Nothing) -> Result<Self, WebError> {
        let rulesets = site.pages().ruleset_lines().await?;
        let lines = site.pages().latest_matches(None, MATCHES).await?;
        let now = present(site, &running(site), Room::BESIDES).await?;
        Ok(Self {
            rulesets: rulesets.into_iter().map(RulesetSummary::from).collect(),
            now,
            matches: MatchSummary::list(site, lines),
        })
    }

    fn title(&self) -> String {
        "Rulesets and matches".to_owned()
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { "Rulesets" }
            @if self.rulesets.is_empty() {
                p { "No match has been rated yet. Weights are learned from finished matches." }
            } @else {
                (rulesets(site, &self.rulesets))
                p.note {
                    "The difference is that between the highest and the lowest score of a match. The favourite is the \
                     team that was more likely to win by the forecast: the closer to 50 % it won, of the matches that \
                     a team won, the more even the teams were. " (OF_FORECAST)
                }
            }
            @if !self.now.is_empty() {
                h2 { a href=(site.links.to("/live")) { "Playing now" } }
                (games(site, &self.now))
            }
            h2 { "Latest matches" }
            (matches(site, &self.matches, true))
        })
    }
}

fn games<'a>(site: &'a Site, list: &'a [PresentGame]) -> Table<'a, PresentGame> {
    let players = |game: &PresentGame| match game.players().count() {
        0 => html! { (game.humans + game.bots) },
        _ => names(site, game.players()),
    };
    Table::of("Playing now", list)
        .name("Server", PresentGame::server_or_dash)
        .wide_text("Ruleset", |game| words::ruleset(&game.ruleset))
        .wide_text("Map", |game| words::or_dash(game.map.clone()))
        .num("Score", PresentGame::score)
        .text("Players", players)
}

fn rulesets<'a>(site: &'a Site, list: &'a [RulesetSummary]) -> Table<'a, RulesetSummary> {
    Table::of("Rulesets", list)
        .name("Ruleset", |line| site.links.to_ruleset(&line.name))
        .num("Matches", |line| line.rated_matches)
        .wide_num("Humans", |line| line.humans)
        .wide_num("Bots", |line| line.bots)
        .num("Mean difference", |line| known(line.mean_gap, tenths))
        .num("Favourite won", |line| known(line.favourite_won, percent))
        .explained(OF_DECIDED)
        .num("Draws", |line| known(line.draws, percent))
        .wide_text("Last match", |line| words::time(line.last))
}
