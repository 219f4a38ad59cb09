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
            let label = format!(
                text!(player.weight_of_in_over_time),
                row.ruleset,
                name = name
            );
            let points = self.span.part_of(&row.history);
            plots.push((&row.ruleset, plot::weights(&label, points)?));
        }
        let path = site.links.to(&self.path());
        Ok(html! {
            @if many.clone().any(|row| Span::Month.part_of(&row.history).len() < row.history.len()) {
                (self.span.tabs(text!(player.time_of_the_plots), |name| format!("{path}?span={name}")))
            }
            @for (ruleset, plot) in plots {
                figure {
                    figcaption { (mark!(player.weight_in_with_its_uncertainty, { (words::ruleset(ruleset)) })) }
                    (plot)
                }
            }
        })
    }

    pub(super) fn maps(&self) -> Markup {
        html! {
            @if !self.best_maps.is_empty() {
                h2 { (text!(player.maps)) }
                div.columns {
                    (map_table(text!(player.best), &self.best_maps))
                    @if !self.worst_maps.is_empty() { (map_table(text!(player.worst), &self.worst_maps)) }
                }
                p.note { (mark!(player.maps_with_at_least_games_of_the, { (ON_MAP) }, { (GAMES) })) }
            }
        }
    }

    pub(super) fn matches(&self, site: &Site) -> Markup {
        let all = format!("/matches?player={}", path_part(self.handle()));
        html! {
            h2 { (text!(common.latest_matches)) }
            (games::table(site, &self.games))
            p { a href=(site.links.to(&all)) { (text!(common.all_matches)) } }
            p.note {
                (text!(player.points_are_those_of_the_player_s))
                @if site.settings.shows_numbers() {
                    (text!(player.the_chance_is_that_of_the_player_s)) (text!(player.change_is))
                }
            }
        }
    }

    /// Why the weights are what they are.
    pub(super) fn why(&self) -> Markup {
        html! {
            @if !self.why.is_empty() {
                h2 { (text!(player.why_this_rating)) }
                @for why in &self.why {
                    @if self.why.len() > 1 { h3 { (words::ruleset(&why.ruleset)) } }
                    ul { @for sentence in &why.sentences { li { (sentence) } } }
                }
            }
        }
    }
}
