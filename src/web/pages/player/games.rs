//! The latest matches of a player.

use maud::{Markup, html};
use serde::Serialize;

use super::letter;
use crate::{
    domain::{Timestamp, plain_name},
    store::GameOfPerson,
    web::{
        Site,
        chances::{AS_STARTED, FORECAST, OF_CHANCES, OF_FORECAST},
        pages::lists::as_text,
        words,
    },
};

/// How many matches are listed.
const LISTED: usize = 20;

/// A match of the player.
#[derive(Debug, Serialize)]
pub(super) struct PlayedGame {
    id: i64,
    #[serde(serialize_with = "as_text")]
    ended: Timestamp,
    ruleset: String,
    map: String,
    /// 1 for a win, 0.5 for a draw, 0 for a loss.
    result: Option<f64>,
    points_for: f64,
    points_against: f64,
    /// The chance of the player's team as the match started.
    #[serde(skip_serializing_if = "Option::is_none")]
    chance_as_started: Option<f64>,
    /// The forecast for the player's team.
    #[serde(skip_serializing_if = "Option::is_none")]
    forecast: Option<f64>,
    /// The change of the weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<f64>,
}

impl PlayedGame {
    /// The chance of the player's team: as started, or by the forecast.
    fn chance(&self, as_started: bool) -> Option<f64> {
        match as_started {
            true => self.chance_as_started,
            false => self.forecast,
        }
    }
}

/// The latest matches, each with the change of the weight since the match before in the same ruleset.
pub(super) fn listed(games: &[GameOfPerson], numbers: bool) -> Vec<PlayedGame> {
    let mut list = Vec::new();
    for (at, game) in games.iter().enumerate().take(LISTED) {
        let before = games[at + 1..]
            .iter()
            .find(|other| other.ruleset == game.ruleset);
        let before = before.and_then(|before| Some(before.after?.0));
        let after = game.after.map(|(weight, _)| weight);
        let team = game.team.map(usize::from);
        let started = game.started.as_ref().zip(team);
        let started = started.and_then(|(teams, team)| teams.win.get(team).copied());
        list.push(PlayedGame {
            id: game.id,
            ended: game.ended,
            ruleset: game.ruleset.clone(),
            map: plain_name(&game.map),
            result: game.result,
            points_for: game.points_for,
            points_against: game.points_against,
            chance_as_started: started.filter(|_| numbers),
            forecast: game.expected().filter(|_| numbers),
            change: after
                .zip(before)
                .map(|(after, before)| after - before)
                .filter(|_| numbers),
        });
    }
    list
}

/// A table of the player's latest matches.
pub(super) fn table(site: &Site, games: &[PlayedGame]) -> Markup {
    let numbers = site.settings.shows_numbers();
    // A column has one kind of chance.
    let as_started = (games.iter()).any(|game| game.chance_as_started.is_some());
    let (head, means) = match as_started {
        true => (AS_STARTED, OF_CHANCES),
        false => (FORECAST, OF_FORECAST),
    };
    html! {
        table {
            thead {
                tr {
                    th scope="col" { "Match" }
                    th scope="col" { "Map" }
                    th.wide scope="col" { "Ruleset" }
                    th scope="col" { "Result" }
                    th.num scope="col" { "Points" }
                    @if numbers {
                        th.num scope="col" { abbr title=(means) { (head) } }
                        th.num.wide scope="col" { "Change" }
                    }
                }
            }
            tbody {
                @for game in games {
                    tr {
                        td { a href=(site.links.game(game.id)) { (words::time(game.ended)) } }
                        td { (game.map) }
                        td.wide { (words::ruleset(&game.ruleset)) }
                        td { (result_word(game.result)) }
                        td.num { (words::scores(&[game.points_for, game.points_against])) }
                        @if numbers {
                            td.num { (words::or_dash(game.chance(as_started).map(words::chance))) }
                            td.num.wide { (words::or_dash(game.change.map(words::signed))) }
                        }
                    }
                }
            }
        }
    }
}

fn result_word(result: Option<f64>) -> &'static str {
    match result.map(letter) {
        Some('W') => "won",
        Some('L') => "lost",
        Some(_) => "draw",
        None => "–",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::pages::player::tests::game;

    #[test]
    fn games_have_the_chance_of_the_own_team_and_the_change() {
        let games = [game(3, "a", 1.0), game(1, "a", 0.0)];
        let list = listed(&games, true);
        assert_eq!(list[0].forecast, Some(0.75));
        assert_eq!(list[0].chance_as_started, Some(0.375));
        assert_eq!((list[0].change, list[1].change), (Some(2.0), None));
        let hidden = listed(&games, false);
        assert_eq!(
            (hidden[0].chance(true), hidden[0].chance(false)),
            (None, None)
        );
    }
}
