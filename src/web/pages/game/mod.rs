//! `/matches/N`: one match.

mod chances;
mod course;
mod fairest;
mod seats;

use maud::{Markup, html};
use serde::Serialize;

use super::{
    lists::{MatchSummary, ruleset_link},
    reasons::{Reasons, reasons},
};
use crate::{
    learning::Swaps,
    model::{UNTIMED_MILLIS, counted, plain_name},
    web::{
        Site,
        answer::Page,
        chances::{AS_PICKED, AS_STARTED, FORECAST, OF_FORECAST, favourite, of_forecast, sentence},
        error::WebError,
        page_request::Nothing,
        share::share,
        words,
    },
};

use chances::{GameChange, table};
use course::Course;
use fairest::{FairestExchange, other_teams};
use seats::{GameSeat, players, weights_before};

/// The page of a match.
#[derive(Debug, Serialize)]
pub(in crate::web) struct GamePage {
    #[serde(flatten)]
    summary: MatchSummary,
    /// The changes of its teams in play, with what was predicted after each.
    changes: Vec<GameChange>,
    mutators: Vec<String>,
    teams: Vec<GameTeam>,
    /// Players who were on no team, or in a game without teams.
    others: Vec<GameSeat>,
    #[serde(flatten)]
    course: Course,
    /// The exchange of two players that would have made the teams most even.
    #[serde(skip_serializing_if = "Option::is_none")]
    fairest: Option<FairestExchange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<Reasons>,
}

/// A team and its players.
#[derive(Debug, Serialize)]
struct GameTeam {
    number: usize,
    /// `None` if it is not known.
    score: Option<f64>,
    players: Vec<GameSeat>,
}

impl GamePage {
    fn millis(&self) -> i64 {
        if self.summary.untimed {
            return i64::try_from(UNTIMED_MILLIS).unwrap_or(i64::MAX);
        }
        (self.summary.ended.0 - self.summary.started.0).max(0)
    }

    /// What was expected, and what happened.
    fn verdict(&self) -> Markup {
        let told = &self.summary.chances;
        let told = (told.started.as_ref().map(|teams| (AS_STARTED, teams)))
            .or(told.picked.as_ref().map(|teams| (AS_PICKED, teams)));
        let expected = told.map(|(moment, teams)| {
            sentence(moment, teams, text!(chances.had), &self.summary.team_names)
        });
        let happened = match (self.summary.outcome.as_str(), self.summary.winner) {
            (_, Some(team)) => format!(
                text!(common.one_has_won),
                self.summary.team_names.title(team.into())
            ),
            ("draw", _) => text!(game.it_was_a_draw).to_owned(),
            ("abandoned", _) => text!(common.it_was_abandoned).to_owned(),
            _ => String::new(),
        };
        html! {
            p {
                @if let Some(sentence) = &expected { (sentence) " " }
                (happened)
                @if let Some(surprise) = self.summary.surprise() { " " (surprise) }
                @if let Some(code) = &self.summary.unrated { (mark!(game.the_match_does_not_count, { (words::unrated(code)) })) }
            }
        }
    }

    fn facts(&self, site: &Site) -> Markup {
        let line = &self.summary;
        html! {
            dl.facts {
                div { dt { (text!(common.map)) } dd { (site.links.to_map(&line.raw_map)) } }
                @if line.ruleset.is_some() { div { dt { (text!(common.ruleset)) } dd { (ruleset_link(site, line)) } } }
                div { dt { (text!(game.began)) } dd { (words::time(line.started)) } }
                div { dt { (text!(common.played)) } dd {
                    @match line.untimed {
                        true => "–",
                        false => { (mark!(game.min, { (words::length(self.millis())) })) },
                    }
                } }
                @if !line.server.is_empty() { div { dt { (text!(common.server)) } dd { a href=(site.links.server(&line.raw_server)) { (line.server) } } } }
                @if !self.mutators.is_empty() { div { dt { (text!(game.mutators)) } dd { (self.mutators.join(", ")) } } }
            }
        }
    }
}

impl Page for GamePage {
    type Choice = Nothing;
    const PATH: &str = "/matches/{name}";

    /// Reads the match with this number.
    async fn read(site: &Site, number: &str, _: &Nothing) -> Result<Self, WebError> {
        let id: i64 = number.parse().map_err(|_| WebError::NoMatch)?;
        let found = site.pages().matches().page_match(id).await?;
        let found = found.ok_or(WebError::NoMatch)?;
        let numbers = site.settings.shows_numbers();
        let rulebook = site.learning().rulebook();
        let ruleset = rulebook.ruleset_of_mode(&found.game_type, &found.mode, &found.mutators);
        let swapped = match numbers {
            true => other_teams(site, &found, &ruleset),
            false => Swaps::default(),
        };
        let summary = MatchSummary::new(site, found.line.clone());
        let course = Course::read(site, &found, &ruleset).await?;
        let fairest = swapped
            .fairest
            .and_then(|exchange| FairestExchange::of(exchange, &found.seats));
        let balance = found.balance.as_deref().filter(|_| numbers);
        let team = |(number, score): (usize, &Option<f64>)| GameTeam {
            number,
            score: *score,
            players: Vec::new(),
        };
        let mut page = Self {
            changes: found
                .changes
                .iter()
                .filter(|_| numbers)
                .map(|change| GameChange::new(change, &found.seats))
                .collect(),
            mutators: found.mutators.iter().map(|name| plain_name(name)).collect(),
            teams: found.line.scores.iter().enumerate().map(team).collect(),
            others: Vec::new(),
            reasons: balance.and_then(reasons),
            course,
            fairest,
            summary,
        };
        let pinned = site.learning().pinned().await?;
        for (at, seat) in found.seats.into_iter().enumerate() {
            let team = seat
                .team
                .and_then(|team| page.teams.get_mut(usize::from(team)));
            let other_side = swapped.other_side.get(at).copied().flatten();
            let pinned = pinned.contains_key(&seat.key);
            let seat = GameSeat::new(seat, numbers, pinned, other_side);
            match team {
                Some(team) => team.players.push(seat),
                None => page.others.push(seat),
            }
        }
        Ok(page)
    }

    fn title(&self) -> String {
        format!(text!(game.match_on), self.summary.id, self.summary.map)
    }

    fn path(&self) -> String {
        format!("/matches/{}", self.summary.id)
    }

    fn description(&self, _: &Site) -> String {
        let line = &self.summary;
        format!(
            text!(game.on),
            line.headline(),
            line.ruleset_or_dash(),
            words::minute(line.ended),
            counted(line.humans + line.bots, "player")
        )
    }

    fn card(&self, site: &Site) -> Option<Markup> {
        Some(html! {
            @if let Some(scores) = self.summary.known_scores() {
                (words::coloured_scores(&scores, &self.summary.team_names))
            }
            (self.verdict())
            (self.facts(site))
        })
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let other = |list: &[GameSeat]| list.iter().any(|seat| seat.other_side.is_some());
        let names = &self.summary.team_names;
        let any_other = self.teams.iter().any(|team| other(&team.players));
        Ok(html! {
            h1 { (self.title()) }
            @if let Some(scores) = self.summary.known_scores() {
                (words::coloured_scores(&scores, &self.summary.team_names))
            }
            (self.verdict())
            (self.facts(site))
            @if !self.teams.is_empty() {
                div.columns.teams {
                    @for (at, team) in self.teams.iter().enumerate() {
                        section {
                            h2 { span class=(words::team_class(names.colour(at))) { (names.title(at)) } @if let Some(score) = team.score { " – " (words::number(score)) } }
                            p.note {
                                (counted(team.players.len(), "player"))
                                @if let Some(sum) = weights_before(&team.players) { (mark!(game.weights_before, { (words::tenths(sum)) })) }
                            }
                            (players(site, &names.title(at), &team.players, self.millis(), other(&team.players)))
                        }
                    }
                }
            }
            @if !self.others.is_empty() {
                h2 { @if self.teams.is_empty() { (text!(common.players)) } @else { (text!(game.on_no_team)) } }
                (players(site, text!(common.players), &self.others, self.millis(), false))
            }
            @if let Some(forecast) = self.summary.forecast {
                p.note { (FORECAST) ": " (favourite(of_forecast(forecast), &self.summary.team_names)) ". " (OF_FORECAST) }
            }
            @if any_other {
                p.note {
                    (text!(game.of_the_columns)) " " (text!(game.other_side_is_the_forecast_for_the))
                }
            }
            @if let Some(fairest) = &self.fairest { (fairest.body(site, &self.summary.team_names)) }
            (self.course.body(&self.summary, self.millis())?)
            (table(site, &self.summary, &self.changes))
            @if let Some(reasons) = &self.reasons {
                h2 { (text!(common.why_these_teams)) }
                (reasons.body())
            }
            (share(site, &self.path(), false, false))
        })
    }
}
