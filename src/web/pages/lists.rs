//! Lists of matches. Teams are counted from 0, as in the line protocol.

use maud::{Markup, html};
use serde::Serialize;

use super::parts::PageTable;
use crate::{
    model::{Timestamp, match_chances::TeamChances, team_names::TeamNames},
    store::MatchLine,
    web::{
        Site,
        chances::{
            AS_STARTED, FORECAST, OF_CHANCES, OF_FORECAST, favourite as favourite_words,
            of_forecast,
        },
        words,
    },
};

/// A match in a list, and what its teams are called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(in crate::web) struct MatchSummary {
    #[serde(flatten)]
    pub(in crate::web) line: MatchLine,
    #[serde(skip)]
    pub(super) team_names: TeamNames,
}

impl MatchSummary {
    /// The matches as a site shows them.
    pub(in crate::web) fn list(site: &Site, lines: Vec<MatchLine>) -> Vec<Self> {
        lines
            .into_iter()
            .map(|line| Self::new(site, line))
            .collect()
    }

    /// A match as a site shows it: without chances if it shows no numbers.
    pub(in crate::web) fn new(site: &Site, line: MatchLine) -> Self {
        let ruleset = line.ruleset.as_deref();
        let names = ruleset.map(|ruleset| site.team_names(ruleset));
        Self {
            team_names: names.unwrap_or_default(),
            line: match site.settings.shows_numbers() {
                true => line,
                false => line.without_numbers(),
            },
        }
    }

    /// The scores; `None` without teams, or if they are not known.
    pub(super) fn known_scores(&self) -> Option<Vec<f64>> {
        let scores: Option<Vec<f64>> = self.line.scores.iter().copied().collect();
        scores.filter(|scores| !scores.is_empty())
    }

    pub(in crate::web) fn ruleset_or_dash(&self) -> &str {
        self.line.ruleset.as_deref().unwrap_or("–")
    }

    /// How the match ended, in a few words.
    pub(super) fn result(&self) -> String {
        match (self.line.outcome.as_str(), self.line.winner) {
            (_, Some(team)) => format!("{0} won", self.team_names.name(team.into())),
            ("draw", _) => "draw".to_owned(),
            ("abandoned", _) => "abandoned".to_owned(),
            _ => "–".to_owned(),
        }
    }

    /// The favourite, and its chance: as started, else by the forecast.
    fn expected(&self) -> Option<(u8, f64)> {
        let started = self
            .line
            .chances
            .started
            .as_ref()
            .and_then(TeamChances::favourite);
        started.or(self.line.forecast.map(of_forecast))
    }

    /// How surprising it is who won; `None` if no team won, or nothing was predicted.
    pub(super) fn surprise(&self) -> Option<String> {
        let (favourite, chance) = self.expected()?;
        let won = self.line.winner?;
        // With more than two teams, the chances of the others are not known here.
        let chance = match (favourite == won, self.line.scores.len()) {
            (true, _) => chance,
            (false, 2) => 1.0 - chance,
            (false, _) => return None,
        };
        let in_hundred = words::percent(chance);
        Some(match chance {
            chance if chance < 0.2 => {
                format!(
                    "A great upset: that happens in {in_hundred} of such matches.",
                    in_hundred = in_hundred
                )
            }
            chance if chance < 0.4 => {
                format!(
                    "An upset: that happens in {in_hundred} of such matches.",
                    in_hundred = in_hundred
                )
            }
            chance if chance <= 0.6 => "It could have gone either way.".to_owned(),
            _ => format!(
                "That happens in {in_hundred} of such matches.",
                in_hundred = in_hundred
            ),
        })
    }

    /// How the match ended, beside what was expected, in a sentence.
    pub(in crate::web) fn headline(&self) -> String {
        let scores = self.known_scores();
        let scores = scores.map_or(String::new(), |scores| {
            format!(" {}", words::scores(&scores))
        });
        let expected = self
            .expected()
            .map(|(team, chance)| (team, words::chance(chance)));
        let name = |team: u8| self.team_names.name(team.into());
        let title = |team: u8| self.team_names.title(team.into());
        match (self.line.winner, expected) {
            (Some(won), Some((team, chance))) if won == team => {
                format!(
                    "{0} won{scores}, as expected with {chance}",
                    title(won),
                    scores = scores,
                    chance = chance
                )
            }
            (Some(won), Some((team, chance))) => {
                let (won, team) = (title(won), name(team));
                format!(
                    "{won} won{scores}, against {team} with a chance of {chance}",
                    won = won,
                    scores = scores,
                    team = team,
                    chance = chance
                )
            }
            (Some(won), None) => format!("{0} won{scores}", title(won), scores = scores),
            (None, expected) => {
                let result = match self.line.outcome.as_str() {
                    "draw" => "Draw",
                    "abandoned" => "Abandoned",
                    _ => "Played",
                };
                let favourite = expected.map_or(String::new(), |(team, chance)| {
                    format!(
                        ", {0} had a chance of {chance}",
                        name(team),
                        chance = chance
                    )
                });
                format!("{result}{scores}{favourite}")
            }
        }
    }

    /// The team that was most likely to win, and its chance: as started or, in a list without such matches, by the
    /// forecast.
    fn favourite(&self, as_started: bool) -> Option<String> {
        let favourite = match as_started {
            true => self.line.chances.started.as_ref()?.favourite(),
            false => self.line.forecast.map(of_forecast),
        };
        favourite.map(|favourite| favourite_words(favourite, &self.team_names))
    }
}

/// A table of matches. The ruleset has a column only where it is not that of the page.
pub(super) fn matches(site: &Site, list: &[MatchSummary], with_ruleset: bool) -> Markup {
    if list.is_empty() {
        return html! { p { "No matches yet." } };
    }
    // A column has one kind of chance.
    let as_started = list.iter().any(|of| of.line.chances.started.is_some());
    let (head, means) = chance_head(as_started);
    let numbers = site.settings.shows_numbers();
    let table = PageTable::of("Matches", list)
        .text("Match", |of| match_link(site, of.line.id, of.line.ended))
        .text("Map", |of| site.links.to_map(&of.line.map))
        .wide_text("Game type", |of| ruleset_link(site, &of.line))
        .only_if(with_ruleset)
        .num("Score", |of| {
            words::or_dash(of.known_scores().map(|scores| words::scores(&scores)))
        })
        .wide_text("Result", MatchSummary::result)
        .wide_num(head, |of| words::or_dash(of.favourite(as_started)))
        .explained(means)
        .only_if(numbers)
        .wide_num("Players", |of| of.line.humans + of.line.bots);
    html! {
        (table)
        @if numbers { p.note.wide { "“" (head) "”: " (means) } }
    }
}

/// The head of a column of chances, and what they are: as started, or the forecast.
pub(super) fn chance_head(as_started: bool) -> (&'static str, &'static str) {
    match as_started {
        true => (AS_STARTED, OF_CHANCES),
        false => (FORECAST, OF_FORECAST),
    }
}

/// When a match ended, with a link to its page.
pub(super) fn match_link(site: &Site, id: i64, ended: Timestamp) -> Markup {
    html! { a href=(site.links.game(id)) { (words::time(ended)) } }
}

/// The ruleset of a match, with a link if the match is rated.
pub(super) fn ruleset_link(site: &Site, line: &MatchLine) -> Markup {
    match &line.ruleset {
        Some(ruleset) if line.unrated.is_none() => site.links.to_ruleset(ruleset),
        Some(ruleset) => words::ruleset(ruleset),
        None => html! { "–" },
    }
}
