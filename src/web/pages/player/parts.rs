//! Parts of the page of a player.

use maud::{Markup, html};

use super::{
    GAMES, PLOTS, PlayerPage, games,
    maps::{ON_MAP, map_table},
};
use crate::web::{
    Site, answer::Page, encode::path_part, error::WebError, pages::span::Span, plot, words,
};

impl PlayerPage {
    /// Where the player is among all players of the ruleset with most matches.
    pub(super) fn distribution(&self) -> Result<Markup, WebError> {
        let (Some(distribution), Some(row)) = (&self.distribution, self.standings.first()) else {
            return Ok(html! {});
        };
        let worth = row.line.weight.zip(row.line.deviation);
        let own = worth.map(|(weight, deviation)| (self.player.plain(), weight - deviation));
        distribution.body(&row.ruleset, own)
    }

    /// A plot of the weight for each of the rulesets with most matches.
    pub(super) fn plots(&self, site: &Site) -> Result<Markup, WebError> {
        let many = self.standings.iter().filter(|row| row.history.len() > 1);
        let mut plots = Vec::new();
        for row in many.clone().take(PLOTS) {
            let name = self.player.plain();
            let label = format!("Weight of {name} in {} over time", row.ruleset);
            let points = self.span.part_of(&row.history);
            plots.push((&row.ruleset, plot::weights(&label, points)?));
        }
        let path = site.links.to(&self.path());
        Ok(html! {
            @if many.clone().any(|row| Span::Month.part_of(&row.history).len() < row.history.len()) {
                (self.span.tabs("Time of the plots", |name| format!("{path}?span={name}")))
            }
            @for (ruleset, plot) in plots {
                figure {
                    figcaption { "Weight in " (words::ruleset(ruleset)) ", with its uncertainty" }
                    (plot)
                }
            }
        })
    }

    pub(super) fn maps(&self) -> Markup {
        html! {
            @if !self.best_maps.is_empty() {
                h2 { "Maps" }
                div.columns {
                    (map_table("Best", &self.best_maps))
                    @if !self.worst_maps.is_empty() { (map_table("Worst", &self.worst_maps)) }
                }
                p.note { "Maps with at least " (ON_MAP) " games, of the last " (GAMES) "." }
            }
        }
    }

    pub(super) fn matches(&self, site: &Site) -> Markup {
        let all = format!("/matches?player={}", path_part(self.handle()));
        html! {
            h2 { "Latest matches" }
            (games::table(site, &self.games))
            p { a href=(site.links.to(&all)) { "All matches" } }
            p.note {
                "Points are those of the player's team, and those against it, while the player was on it."
                @if site.settings.shows_numbers() {
                    " The chance is that of the player's team."
                }
            }
        }
    }

    /// Why the weights are what they are.
    pub(super) fn why(&self) -> Markup {
        html! {
            @if !self.why.is_empty() {
                h2 { "Why this rating" }
                @for why in &self.why {
                    @if self.why.len() > 1 { h3 { (words::ruleset(&why.ruleset)) } }
                    ul { @for sentence in &why.sentences { li { (sentence) } } }
                }
            }
        }
    }
}
