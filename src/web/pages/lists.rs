//! Lists of matches, and what each has entered into a player's account. Teams are counted from 0, as in the line
//! protocol.

use maud::{Markup, html};
use serde::Serialize;

use super::parts::PageTable;
use crate::{
    learning,
    model::{
        ChanceSummary, TeamChances, TeamNames, Timestamp, WeightCause, WeightEntry, plain_name,
    },
    store::MatchLine,
    web::{
        Site,
        chances::{
            AS_STARTED, FORECAST, OF_CHANCES, OF_FORECAST, favourite as favourite_words,
            of_forecast,
        },
        words::{self, as_text, rounded, server_name},
    },
};

/// A match in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(in crate::web) struct MatchSummary {
    pub(in crate::web) id: i64,
    #[serde(serialize_with = "as_text")]
    pub(in crate::web) started: Timestamp,
    #[serde(serialize_with = "as_text")]
    pub(in crate::web) ended: Timestamp,
    /// Whether its length is not known: `started` and `ended` are then one instant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::web) untimed: bool,
    pub(in crate::web) ruleset: Option<String>,
    pub(in crate::web) map: String,
    pub(in crate::web) server: String,
    /// Map and server as the game names them.
    #[serde(skip)]
    pub(super) raw_map: String,
    #[serde(skip)]
    pub(super) raw_server: String,
    pub(in crate::web) scores: Vec<Option<f64>>,
    /// `won`, `draw`, `undecided` or `abandoned`.
    pub(in crate::web) outcome: String,
    /// The team that won; `None` if none did.
    pub(in crate::web) winner: Option<u8>,
    pub(in crate::web) humans: i64,
    pub(in crate::web) bots: i64,
    /// What was predicted of its teams while it was played.
    #[serde(skip_serializing_if = "ChanceSummary::is_empty")]
    pub(in crate::web) chances: ChanceSummary,
    /// The forecast: the chance of team 0 with everybody who played, before the match was learned from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::web) forecast: Option<f64>,
    pub(in crate::web) unrated: Option<String>,
    /// What its teams are called.
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
        let numbers = site.settings.shows_numbers();
        let forecast = line.forecast.filter(|_| numbers && line.scores.len() == 2);
        let names = line
            .ruleset
            .as_deref()
            .map(|ruleset| site.team_names(ruleset));
        Self {
            team_names: names.unwrap_or_default(),
            id: line.id,
            started: line.started,
            ended: line.ended,
            untimed: line.untimed,
            ruleset: line.ruleset,
            map: plain_name(&line.map),
            server: server_name(&line.server),
            raw_map: line.map,
            raw_server: line.server,
            chances: if numbers {
                line.chances
            } else {
                ChanceSummary::default()
            },
            forecast,
            scores: line.scores,
            outcome: line.outcome,
            winner: line.winner,
            humans: line.humans,
            bots: line.bots,
            unrated: line.unrated,
        }
    }

    /// The scores; `None` without teams, or if they are not known.
    pub(super) fn known_scores(&self) -> Option<Vec<f64>> {
        let scores: Option<Vec<f64>> = self.scores.iter().copied().collect();
        scores.filter(|scores| !scores.is_empty())
    }

    pub(in crate::web) fn ruleset_or_dash(&self) -> &str {
        self.ruleset.as_deref().unwrap_or("–")
    }

    /// How the match ended, in a few words.
    pub(super) fn result(&self) -> String {
        match (self.outcome.as_str(), self.winner) {
            (_, Some(team)) => format!("{0} won", self.team_names.name(team.into())),
            ("draw", _) => "draw".to_owned(),
            ("abandoned", _) => "abandoned".to_owned(),
            _ => "–".to_owned(),
        }
    }

    /// The favourite, and its chance: as started, else by the forecast.
    fn expected(&self) -> Option<(u8, f64)> {
        let started = self
            .chances
            .started
            .as_ref()
            .and_then(TeamChances::favourite);
        started.or(self.forecast.map(of_forecast))
    }

    /// How surprising it is who won; `None` if no team won, or nothing was predicted.
    pub(super) fn surprise(&self) -> Option<String> {
        let (favourite, chance) = self.expected()?;
        let won = self.winner?;
        // With more than two teams, the chances of the others are not known here.
        let chance = match (favourite == won, self.scores.len()) {
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
        match (self.winner, expected) {
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
                let result = match self.outcome.as_str() {
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
            true => self.chances.started.as_ref()?.favourite(),
            false => self.forecast.map(of_forecast),
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
    let as_started = list.iter().any(|line| line.chances.started.is_some());
    let (head, means) = chance_head(as_started);
    let numbers = site.settings.shows_numbers();
    let table = PageTable::of("Matches", list)
        .text("Match", |line| match_link(site, line.id, line.ended))
        .text("Map", |line| site.links.to_map(&line.raw_map))
        .wide_text("Game type", |line| ruleset_link(site, line))
        .only_if(with_ruleset)
        .num("Score", |line| {
            words::or_dash(line.known_scores().map(|scores| words::scores(&scores)))
        })
        .wide_text("Result", MatchSummary::result)
        .wide_num(head, |line| words::or_dash(line.favourite(as_started)))
        .explained(means)
        .only_if(numbers)
        .wide_num("Players", |line| line.humans + line.bots);
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
pub(super) fn ruleset_link(site: &Site, line: &MatchSummary) -> Markup {
    match &line.ruleset {
        Some(ruleset) if line.unrated.is_none() => site.links.to_ruleset(ruleset),
        Some(ruleset) => words::ruleset(ruleset),
        None => html! { "–" },
    }
}

/// What a match has entered into a player's account.
#[derive(Debug, Serialize)]
pub(super) struct AccountEntry {
    weight_before: f64,
    weight: f64,
    change: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<WeightCause>,
    /// Whether an operator has fixed the player's weight: the account goes on beneath it.
    pinned: bool,
    /// What moved the weight or held it, in a few words.
    #[serde(skip)]
    reason: Option<String>,
}

impl AccountEntry {
    pub(super) fn new(entry: &WeightEntry, pinned: bool) -> Self {
        Self {
            weight_before: rounded(entry.before, 3),
            weight: rounded(entry.weight, 3),
            change: rounded(entry.change(), 3),
            cause: entry.cause,
            pinned,
            reason: learning::reason(entry, pinned),
        }
    }

    /// The weight before the match.
    pub(super) fn before(&self) -> f64 {
        self.weight_before
    }

    /// By how much the match has moved the weight.
    pub(super) fn change(&self) -> f64 {
        self.change
    }

    /// What moved the weight or held it, in a few words.
    pub(super) fn reason(&self) -> Option<String> {
        self.reason.clone()
    }
}
