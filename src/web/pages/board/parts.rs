//! Parts of the page of a ruleset.

use maud::{Markup, html};

use super::{Board, SEARCH};
use crate::{
    store::Standing,
    web::{
        Site,
        encode::path_part,
        pages::{board_line::BoardLine, table::Table},
        words,
    },
};

impl Board {
    pub(super) fn regulars(&self, site: &Site) -> String {
        let ruleset = path_part(&self.ruleset);
        site.links
            .to(&format!("/regulars?ruleset={ruleset}&kind={}", self.kind))
    }

    /// The choice between humans and bots, and the search.
    pub(super) fn controls(&self, site: &Site) -> Markup {
        let here = |kind: &str| (self.kind == kind).then_some("true");
        html! {
            div.controls {
                nav.tabs aria-label="Kind of player" {
                    a href=(self.link(site, "human", 1)) aria-current=[here("human")] { "Humans" }
                    a href=(self.link(site, "bot", 1)) aria-current=[here("bot")] { "Bots" }
                }
                form.search role="search" aria-label="In this ruleset" method="get" action=(site.links.ruleset(&self.ruleset)) {
                    input type="hidden" name="kind" value=(self.kind);
                    label for="q" { "Search a name" }
                    input #q type="search" name="q" value=(self.search) maxlength=(SEARCH);
                    button type="submit" { "Search" }
                }
            }
        }
    }

    /// How the players are ordered, and the way to those who are folded away.
    pub(super) fn order(&self, site: &Site) -> Markup {
        let to = |shows_away| {
            let base = format!("/rulesets/{}?kind={}", path_part(&self.ruleset), self.kind);
            let away = if shows_away { "&away=true" } else { "" };
            site.links.to(&format!("{base}{away}"))
        };
        html! {
            @if self.away > 0 && self.search.is_empty() {
                p {
                    @match self.shows_away {
                        true => { a href=(to(false)) { "Hide those who are away" } },
                        false => { a href=(to(true)) { "Show those who are away, too (" (self.away) ")" } },
                    }
                }
            }
            p.note {
                "The order is that of the weight minus its uncertainty: what a player is worth at least. Who has played \
                 fewer than " (Standing::MATCHES_TO_PLACE) " matches, or has an uncertain weight, is being placed; who had not \
                 played for " (Standing::DAYS_AWAY) " days when the latest match was played is away."
            }
        }
    }

    /// A table of the first of the players.
    pub(super) fn table<'a>(&'a self, site: &'a Site, most: usize) -> Table<'a, BoardLine> {
        let player = |row: &BoardLine| {
            html! {
                (row.player.link(&site.links))
                @if row.plays_now { " " span.tag { "plays now" } }
            }
        };
        Table::of("Players", self.rows.iter().take(most))
            .num("Place", BoardLine::place_or_why)
            .only_if(site.settings.shows_numbers())
            .name("Player", player)
            .num("Weight", |row| words::or_dash(row.measure()))
            .only_if(site.settings.shows_numbers())
            .num("Better than", |row| words::or_dash(row.better_than()))
            .text("Division", |row| words::or_dash(row.division.clone()))
            .only_if(self.rows.iter().any(|row| row.division.is_some()))
            .num("Games", |row| row.games)
            .wide_text("Last seen", |row| words::day(row.last_seen))
    }
}
