//! `/maps/NAME` and `/servers/NAME`: the matches on a map, and those of a game server.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde::Serialize;

use super::{
    balance::{NamedBalance, balance_table},
    lists::{MatchSummary, matches},
};
use crate::{
    model::{TeamNames, plain_name},
    rating::history::RulesetTotals,
    store::MatchFilter,
    web::{Site, answer::Page, encode::path_part, error::WebError, page_request::Nothing, words},
};

/// The number of matches on these pages.
const MATCHES: usize = 20;
/// The most rulesets on the page of a map.
const RULESETS: usize = 50;

/// The page of a map.
#[derive(Debug, Serialize)]
pub(in crate::web) struct MapPage {
    map: String,
    /// How even its matches are, by ruleset.
    rulesets: Vec<NamedBalance>,
    /// Whether they are being counted again.
    #[serde(skip)]
    is_counting: bool,
    /// What team 0 is called, if it is the same in all of them.
    #[serde(skip)]
    first_team: String,
    matches: Vec<MatchSummary>,
    /// The name as the game sent it.
    #[serde(skip)]
    raw: String,
}

/// The page of a game server.
#[derive(Debug, Serialize)]
pub(in crate::web) struct ServerPage {
    server: String,
    matches: Vec<MatchSummary>,
    #[serde(skip)]
    raw: String,
}

/// The latest matches that a filter leaves.
async fn latest(site: &Site, filter: MatchFilter<'_>) -> Result<Vec<MatchSummary>, WebError> {
    let list = site
        .pages()
        .matches()
        .filtered_matches(&filter, MATCHES)
        .await?;
    let lines = list.lines;
    match lines.is_empty() {
        true => Err(WebError::NotFound),
        false => Ok(MatchSummary::list(site, lines)),
    }
}

/// The list of matches, and the way to all of them.
fn list(site: &Site, name: &str, raw: &str, found: &[MatchSummary]) -> Markup {
    let all = format!("/matches?{name}={}", path_part(raw));
    html! {
        h2 { (text!(common.latest_matches)) }
        (matches(site, found, true))
        p { a href=(site.links.to(&all)) { (text!(common.all_its_matches)) } }
    }
}

impl Page for MapPage {
    type Choice = Nothing;
    const PATH: &str = "/maps/{name}";

    async fn read(site: &Site, name: &str, _: &Nothing) -> Result<Self, WebError> {
        let filter = MatchFilter {
            map: Some(name),
            ..MatchFilter::default()
        };
        let matches = latest(site, filter).await?;
        let balance = site.balance();
        let is_counting = balance.is_none();
        let rulesets = balance.unwrap_or_default().on_map(name, RULESETS);
        let title = |of: &RulesetTotals| site.team_names(&of.ruleset).title(0);
        let called: BTreeSet<String> = rulesets.iter().map(title).collect();
        let line = |of: RulesetTotals| {
            let team_0 = title(&of);
            let line = NamedBalance::new(of.ruleset, of.closeness);
            match called.len() {
                0 | 1 => line,
                _ => line.called(team_0),
            }
        };
        Ok(Self {
            map: plain_name(name),
            first_team: match called.first() {
                Some(only) if called.len() == 1 => only.clone(),
                _ => TeamNames::default().title(0),
            },
            rulesets: rulesets.into_iter().map(line).collect(),
            is_counting,
            matches,
            raw: name.to_owned(),
        })
    }

    fn title(&self) -> String {
        format!(text!(venues.map), self.map)
    }

    fn path(&self) -> String {
        format!("/maps/{}", path_part(&self.raw))
    }

    fn description(&self, _: &Site) -> String {
        format!(text!(venues.the_matches_on_and_how_even_they), self.map)
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { (self.title()) }
            @if self.is_counting { p { (words::COUNTING) } }
            @if !self.rulesets.is_empty() {
                (balance_table(text!(common.rulesets), text!(common.ruleset), &self.rulesets, &self.first_team))
                p.note { (words::OF_MAPS) }
            }
            (list(site, "map", &self.raw, &self.matches))
        })
    }
}

impl Page for ServerPage {
    type Choice = Nothing;
    const PATH: &str = "/servers/{name}";

    async fn read(site: &Site, name: &str, _: &Nothing) -> Result<Self, WebError> {
        let filter = MatchFilter {
            server: Some(name),
            ..MatchFilter::default()
        };
        Ok(Self {
            server: plain_name(name),
            matches: latest(site, filter).await?,
            raw: name.to_owned(),
        })
    }

    fn title(&self) -> String {
        format!(text!(venues.server), self.server)
    }

    fn path(&self) -> String {
        format!("/servers/{}", path_part(&self.raw))
    }

    fn description(&self, _: &Site) -> String {
        format!(text!(venues.the_latest_matches_on_the_server), self.server)
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { (self.title()) }
            (list(site, "server", &self.raw, &self.matches))
        })
    }
}
