//! The latest matches of a player.

use std::collections::HashMap;

use serde::Serialize;

use super::form::{letter, result_word};
use crate::{
    model::{TeamChances, Timestamp, plain_name},
    store::GameOfPerson,
    web::{
        Site,
        error::WebError,
        pages::{
            entry::Entry,
            lists::{chance_head, match_link},
            table::Table,
        },
        words::{self, as_text, known},
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
    /// What the match has entered into the player's account.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    entry: Option<Entry>,
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

/// The latest matches, each with the chance as started. With `pinned`, an operator has fixed the player's weight.
pub(super) async fn read(
    site: &Site,
    games: &[GameOfPerson],
    pinned: bool,
) -> Result<Vec<PlayedGame>, WebError> {
    let ids: Vec<i64> = games.iter().take(LISTED).map(|game| game.id).collect();
    let started = site.pages().matches().started_teams(&ids).await?;
    let numbers = site.settings.shows_numbers();
    Ok(listed(games, &started, numbers, pinned))
}

/// The latest matches, each with the change of the weight.
fn listed(
    games: &[GameOfPerson],
    started: &HashMap<i64, TeamChances>,
    numbers: bool,
    pinned: bool,
) -> Vec<PlayedGame> {
    let mut list = Vec::new();
    for game in games.iter().take(LISTED) {
        let team = game.team.map(usize::from);
        let started = started.get(&game.id).zip(team);
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
            entry: (game.entry.filter(|_| numbers)).map(|entry| Entry::new(&entry, pinned)),
        });
    }
    list
}

/// A table of the player's latest matches.
pub(super) fn table<'a>(site: &'a Site, games: &'a [PlayedGame]) -> Table<'a, PlayedGame> {
    let numbers = site.settings.shows_numbers();
    // A column has one kind of chance.
    let as_started = games.iter().any(|game| game.chance_as_started.is_some());
    let (head, means) = chance_head(as_started);
    let points = |game: &PlayedGame| words::scores(&[game.points_for, game.points_against]);
    Table::of(text!(common.matches), games)
        .text(text!(common.match), |game| {
            match_link(site, game.id, game.ended)
        })
        .text(text!(common.map), |game| &game.map)
        .wide_text(text!(common.ruleset), |game| words::ruleset(&game.ruleset))
        .text(text!(common.result), |game| {
            game.result.map_or("–", |of| result_word(letter(of)))
        })
        .wide_num(text!(common.points), points)
        .num(head, move |game| {
            known(game.chance(as_started), words::chance)
        })
        .explained(means)
        .only_if(numbers)
        .num(text!(common.change), |game| {
            known(game.entry.as_ref().map(Entry::change), words::signed)
        })
        .only_if(numbers)
        .text(text!(common.reason), |game| {
            words::or_dash(game.entry.as_ref().and_then(Entry::reason))
        })
        .only_if(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::pages::player::tests::game;

    #[test]
    fn games_have_the_chance_of_the_own_team_and_the_change() {
        let games = [game(3, "a", 1.0), game(1, "a", 0.0)];
        let teams = TeamChances {
            win: vec![0.625, 0.375],
            humans: vec![1, 1],
            bots: vec![0, 0],
        };
        let started = HashMap::from([(3, teams)]);
        let list = listed(&games, &started, true, false);
        assert_eq!(list[0].forecast, Some(0.75));
        assert_eq!(list[0].chance_as_started, Some(0.375));
        let told = |game: &PlayedGame| {
            let entry = game.entry.as_ref().unwrap();
            (entry.change(), entry.reason().unwrap())
        };
        assert_eq!(told(&list[0]), (1.0, "won".to_owned()));
        let pinned = listed(&games, &started, true, true);
        assert_eq!(told(&pinned[1]).1, "pinned; beneath it: won");
        assert_eq!(list[1].chance_as_started, None);
        let hidden = listed(&games, &started, false, false);
        assert!(hidden[0].entry.is_none());
        assert_eq!(
            (hidden[0].chance(true), hidden[0].chance(false)),
            (None, None)
        );
    }
}
