//! Parts of the page of a ruleset.

use maud::{Markup, html};

use super::{Board, SEARCH};
use crate::{
    learning::Standing,
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
                nav.tabs aria-label=(text!(board.kind_of_player)) {
                    a href=(self.link(site, "human", 1)) aria-current=[here("human")] { (text!(common.humans)) }
                    a href=(self.link(site, "bot", 1)) aria-current=[here("bot")] { (text!(common.bots)) }
                }
                form.search role="search" aria-label=(text!(board.in_this_ruleset)) method="get" action=(site.links.ruleset(&self.ruleset)) {
                    input type="hidden" name="kind" value=(self.kind);
                    label for="q" { (text!(board.search_a_name)) }
                    input #q type="search" name="q" value=(self.search) maxlength=(SEARCH);
                    button type="submit" { (text!(common.search)) }
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
                        true => { a href=(to(false)) { (text!(board.hide_those_who_are_away)) } },
                        false => { a href=(to(true)) { (mark!(board.show_those_who_are_away_too, { (self.away) })) } },
                    }
                }
            }
            p.note {
                (mark!(board.the_order_is_that_of_the_weight,
                    { (Standing::MATCHES_TO_PLACE) },
                    { (Standing::DAYS_AWAY) }
                ))
            }
        }
    }

    /// A table of the first of the players.
    pub(super) fn table<'a>(&'a self, site: &'a Site, most: usize) -> Table<'a, BoardLine> {
        let player = |row: &BoardLine| {
            html! {
                (row.player.link(&site.links))
                @if row.plays_now { " " span.tag { (text!(board.plays_now)) } }
            }
        };
        Table::of(text!(common.players), self.rows.iter().take(most))
            .num(text!(common.place), BoardLine::place_or_why)
            .only_if(site.settings.shows_numbers())
            .name(text!(common.player), player)
            .num(text!(common.weight), |row| words::or_dash(row.measure()))
            .only_if(site.settings.shows_numbers())
            .num(text!(common.better_than), |row| {
                words::or_dash(row.better_than())
            })
            .text(text!(common.division), |row| {
                words::or_dash(row.division.clone())
            })
            .only_if(self.rows.iter().any(|row| row.division.is_some()))
            .num(text!(common.games), |row| row.games)
            .wide_text(text!(common.last_seen), |row| words::day(row.last_seen))
    }
}
