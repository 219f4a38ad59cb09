//! `/search`: the players and rulesets whose names contain a text.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::{board::SEARCH, table::Table};
use crate::{
    learning::FoundPerson,
    model::{Timestamp, counted},
    web::{
        Site,
        answer::Page,
        encode::path_part,
        error::WebError,
        name::Player,
        words::{self, as_text},
    },
};

/// The most players that are listed.
const LISTED: usize = 50;

/// What a visitor searches.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct SearchChoice {
    q: String,
}

/// What a search has found in all rulesets.
#[derive(Debug, Serialize)]
pub(in crate::web) struct SearchPage {
    search: String,
    players: Vec<FoundLine>,
    rulesets: Vec<String>,
}

/// A player whom the search has found.
#[derive(Debug, Serialize)]
struct FoundLine {
    player: Player,
    games: i64,
    #[serde(serialize_with = "as_text")]
    last_seen: Timestamp,
    /// The ruleset with most of the player's matches.
    ruleset: String,
}

impl From<FoundPerson> for FoundLine {
    fn from(found: FoundPerson) -> Self {
        Self {
            player: Player::new(Some(found.handle), Some(found.name), found.kind),
            games: found.games,
            last_seen: found.last_seen,
            ruleset: found.ruleset,
        }
    }
}

impl Page for SearchPage {
    type Choice = SearchChoice;
    const PATH: &str = "/search";

    /// Searches the names. A part of an identity finds nobody: it would tell whose it is.
    async fn read(site: &Site, _: &str, choice: &SearchChoice) -> Result<Self, WebError> {
        let mut search = choice.q.trim().to_lowercase();
        search.truncate(search.floor_char_boundary(SEARCH));
        let (mut players, mut rulesets) = (Vec::new(), Vec::new());
        if !search.is_empty() {
            players = site.learning().find_persons(&search, LISTED).await?;
            let all = site.rulesets().into_iter();
            rulesets = all
                .map(|own| own.ruleset)
                .filter(|name| name.to_lowercase().contains(&search))
                .collect();
        }
        Ok(Self {
            players: players.into_iter().map(FoundLine::from).collect(),
            rulesets,
            search,
        })
    }

    fn title(&self) -> String {
        text!(common.search).to_owned()
    }

    fn path(&self) -> String {
        format!("/search?q={}", path_part(&self.search))
    }

    fn description(&self, _: &Site) -> String {
        text!(search.players_and_rulesets_by_a_part_of).to_owned()
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { (text!(common.search)) }
            @if self.search.is_empty() { p { (text!(search.type_a_part_of_a_name_above)) } }
            @else if self.players.is_empty() && self.rulesets.is_empty() {
                p { (mark!(search.no_player_and_no_ruleset_has_in_the, { (self.search) })) }
            }
            @if !self.players.is_empty() {
                h2 { (counted(self.players.len(), "player")) }
                (Table::of(text!(common.players), &self.players)
                    .name(text!(common.player), |row| row.player.link(&site.links))
                    .num(text!(common.games), |row| row.games)
                    .text(text!(search.mostly), |row| site.links.to_ruleset(&row.ruleset))
                    .wide_text(text!(common.last_seen), |row| words::day(row.last_seen)))
                @if self.players.len() >= LISTED {
                    p.note { (text!(search.those_with_most_games_are_listed_a)) }
                }
            }
            @if !self.rulesets.is_empty() {
                h2 { (counted(self.rulesets.len(), text!(common.one_game_type))) }
                ul { @for name in &self.rulesets { li { (site.links.to_ruleset(name)) } } }
            }
        })
    }
}
