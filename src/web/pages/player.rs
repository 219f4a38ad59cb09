//! `/players/ID`: one player.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::{
    board::BoardLine,
    companions::{Companions, companions},
    lists::{as_text, scrolled},
};
use crate::{
    domain::{Kind, Timestamp, plain_name},
    store::{GameOfPerson, StandingLine},
    web::{
        Site,
        answer::Page,
        error::WebError,
        name::Player,
        plot::{self, WeightPoint},
        words,
    },
};

/// How many of the latest matches are read.
const GAMES: i64 = 1_000;
/// How many of them are listed.
const LISTED: usize = 20;
/// How many of them are the form.
const FORM: usize = 10;
/// The most points of a plot. Of more, evenly distributed ones are drawn.
const POINTS: usize = 200;
/// The fewest games on a map that count for the best and the worst maps.
const ON_MAP: i64 = 3;
/// How many maps, of the best and of the worst.
const MAPS: usize = 5;
/// The most rulesets with a plot.
const PLOTS: usize = 3;

/// What a visitor chooses on this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct KindChoice {
    kind: Option<String>,
}

/// The page of a player.
#[derive(Debug, Serialize)]
pub(in crate::web) struct PlayerPage {
    player: Player,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<String>,
    standings: Vec<PlayerStandingLine>,
    /// The results of the last matches, the latest first: `W`, `D` or `L`.
    form: Vec<char>,
    games: Vec<PlayedGame>,
    best_maps: Vec<MapResult>,
    worst_maps: Vec<MapResult>,
    companions: Companions,
}

/// A player's standing under a ruleset.
#[derive(Debug, Serialize)]
struct PlayerStandingLine {
    ruleset: String,
    players: i64,
    #[serde(flatten)]
    line: BoardLine,
    /// The weight after each of the latest matches, the first one first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    history: Vec<HistoryPoint>,
}

/// The weight after a match.
#[derive(Clone, Copy, Debug, Serialize)]
struct HistoryPoint {
    #[serde(serialize_with = "as_text")]
    at: Timestamp,
    weight: f64,
    deviation: f64,
}

/// A match of the player.
#[derive(Debug, Serialize)]
struct PlayedGame {
    id: i64,
    #[serde(serialize_with = "as_text")]
    ended: Timestamp,
    ruleset: String,
    map: String,
    /// 1 for a win, 0.5 for a draw, 0 for a loss.
    result: Option<f64>,
    points_for: f64,
    points_against: f64,
    /// The predicted chance of the player's team.
    #[serde(skip_serializing_if = "Option::is_none")]
    chance: Option<f64>,
    /// The change of the weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<f64>,
}

/// The results on one map.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct MapResult {
    map: String,
    games: i64,
    won: f64,
}

/// Reads the page of the player with this handle or identity.
pub(in crate::web) async fn player(
    site: &Site,
    text: &str,
    choice: KindChoice,
) -> Result<PlayerPage, WebError> {
    let kind = choice.kind.as_deref().and_then(Kind::parse);
    let person = site.pages().person(text, kind).await?;
    let person = person.ok_or(WebError::NoPlayer)?;
    let kind = person.key.kind;
    let standings = site.pages().standings_of(&person).await?;
    let games = site.pages().games_of(person.person, GAMES).await?;
    let latest = standings.iter().max_by_key(|line| line.row.last_seen);
    let name = latest.map(|line| line.row.name.clone());
    let (best_maps, worst_maps) = maps(&games);
    let numbers = site.settings.shows_numbers();
    let standing = |line: StandingLine| PlayerStandingLine {
        history: match numbers {
            true => history(&games, &line.ruleset),
            false => Vec::new(),
        },
        ruleset: line.ruleset,
        players: line.of,
        line: BoardLine::new(site, kind, line.row),
    };
    Ok(PlayerPage {
        standings: standings.into_iter().map(standing).collect(),
        companions: companions(site, person.person, &games).await?,
        form: games
            .iter()
            .filter_map(|game| game.result)
            .map(letter)
            .take(FORM)
            .collect(),
        games: listed(&games, numbers),
        best_maps,
        worst_maps,
        identity: site.settings.show_ids.then_some(person.key.id),
        player: Player::new(Some(person.handle), name, kind),
    })
}

fn letter(result: f64) -> char {
    match result {
        result if result > 0.5 => 'W',
        result if result < 0.5 => 'L',
        _ => 'D',
    }
}

/// The weights after the matches of a ruleset, the first one first.
fn history(games: &[GameOfPerson], ruleset: &str) -> Vec<HistoryPoint> {
    let own = games.iter().rev().filter(|game| game.ruleset == ruleset);
    let points = own.filter_map(|game| {
        let (weight, deviation) = game.after?;
        let rounded = |number: f64| (number * 1_000.0).round() / 1_000.0;
        Some(HistoryPoint {
            at: game.ended,
            weight: rounded(weight),
            deviation: rounded(deviation),
        })
    });
    let points: Vec<HistoryPoint> = points.collect();
    let count = points.len();
    if count <= POINTS {
        return points;
    }
    // The first and the last one are always among them.
    let place = |at: usize| at * (count - 1) / (POINTS - 1);
    (0..POINTS).map(|at| points[place(at)]).collect()
}

/// The latest matches, each with the change of the weight since the match before in the same ruleset.
fn listed(games: &[GameOfPerson], numbers: bool) -> Vec<PlayedGame> {
    let mut list = Vec::new();
    for (at, game) in games.iter().enumerate().take(LISTED) {
        let before = games[at + 1..]
            .iter()
            .find(|other| other.ruleset == game.ruleset);
        let before = before.and_then(|before| Some(before.after?.0));
        let after = game.after.map(|(weight, _)| weight);
        let chance = match game.team {
            Some(0) => game.forecast,
            Some(1) => game.forecast.map(|chance| 1.0 - chance),
            _ => None,
        };
        list.push(PlayedGame {
            id: game.id,
            ended: game.ended,
            ruleset: game.ruleset.clone(),
            map: plain_name(&game.map),
            result: game.result,
            points_for: game.points_for,
            points_against: game.points_against,
            chance: chance.filter(|_| numbers),
            change: after
                .zip(before)
                .map(|(after, before)| after - before)
                .filter(|_| numbers),
        });
    }
    list
}

/// The best maps, and the worst ones that are not among them.
fn maps(games: &[GameOfPerson]) -> (Vec<MapResult>, Vec<MapResult>) {
    let mut by_map: BTreeMap<&str, (i64, f64)> = BTreeMap::new();
    for game in games {
        if let Some(result) = game.result {
            let (games, won) = by_map.entry(&game.map).or_default();
            (*games, *won) = (*games + 1, *won + result);
        }
    }
    let enough = by_map
        .into_iter()
        .filter(|(_, (games, _))| *games >= ON_MAP);
    let mut maps: Vec<MapResult> = enough
        .map(|(map, (games, won))| MapResult {
            map: plain_name(map),
            games,
            won: won / games as f64,
        })
        .collect();
    maps.sort_by(|a, b| b.won.total_cmp(&a.won).then(b.games.cmp(&a.games)));
    let best = maps.len().div_ceil(2).min(MAPS);
    let mut worst = maps.split_off(best);
    worst.reverse();
    worst.truncate(MAPS);
    (maps, worst)
}

impl PlayerPage {
    fn standings(&self, site: &Site) -> Markup {
        let numbers = site.settings.shows_numbers();
        let divisions = self.standings.iter().any(|row| row.line.division.is_some());
        html! {
            table {
                thead {
                    tr {
                        th scope="col" { "Ruleset" }
                        @if numbers { th.num scope="col" { "Weight" } }
                        @if divisions { th scope="col" { "Division" } }
                        th.num scope="col" { "Place" }
                        th.num scope="col" { "Games" }
                        th.wide scope="col" { "Last seen" }
                    }
                }
                tbody {
                    @for row in &self.standings {
                        tr {
                            th scope="row" { a href=(site.links.ruleset(&row.ruleset)) { (words::ruleset(&row.ruleset)) } }
                            @if numbers { td.num { (words::or_dash(row.line.measure())) } }
                            @if divisions { td { (words::or_dash(row.line.division.clone())) } }
                            td.num { (row.line.place) " of " (row.players) }
                            td.num { (row.line.games) }
                            td.wide { (words::day(row.line.last_seen)) }
                        }
                    }
                }
            }
        }
    }

    /// A plot of the weight for each of the rulesets with most matches.
    fn plots(&self) -> Result<Markup, WebError> {
        let many = self.standings.iter().filter(|row| row.history.len() > 1);
        let mut plots = Vec::new();
        for row in many.take(PLOTS) {
            let point = |point: &HistoryPoint| WeightPoint {
                at: point.at,
                weight: point.weight,
                deviation: point.deviation,
            };
            let points: Vec<WeightPoint> = row.history.iter().map(point).collect();
            let label = format!(
                "Weight of {} in {} over time",
                self.player.plain(),
                row.ruleset
            );
            plots.push((&row.ruleset, plot::weights(&label, &points)?));
        }
        Ok(html! {
            @for (ruleset, plot) in plots {
                figure {
                    figcaption { "Weight in " (words::ruleset(ruleset)) ", with its uncertainty" }
                    (plot)
                }
            }
        })
    }

    fn games(&self, site: &Site) -> Markup {
        let numbers = site.settings.shows_numbers();
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
                            th.num scope="col" { "Chance" }
                            th.num.wide scope="col" { "Change" }
                        }
                    }
                }
                tbody {
                    @for game in &self.games {
                        tr {
                            td { a href=(site.links.game(game.id)) { (words::time(game.ended)) } }
                            td { (game.map) }
                            td.wide { (words::ruleset(&game.ruleset)) }
                            td { (result_word(game.result)) }
                            td.num { (words::scores(&[game.points_for, game.points_against])) }
                            @if numbers {
                                td.num { (words::or_dash(game.chance.map(words::chance))) }
                                td.num.wide { (words::or_dash(game.change.map(words::signed))) }
                            }
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

fn map_table(title: &str, list: &[MapResult]) -> Markup {
    html! {
        section {
            h3 { (title) }
            table {
                thead { tr { th scope="col" { "Map" } th.num scope="col" { "Won" } th.num scope="col" { "Games" } } }
                tbody {
                    @for row in list {
                        tr { th scope="row" { (row.map) } td.num { (words::percent(row.won)) } td.num { (row.games) } }
                    }
                }
            }
        }
    }
}

impl Page for PlayerPage {
    fn title(&self) -> String {
        self.player.plain().to_owned()
    }

    fn path(&self) -> String {
        format!(
            "/players/{}",
            self.player.handle.as_deref().unwrap_or_default()
        )
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { (self.player.coloured()) @if self.player.bot { " " span.tag { "bot" } } }
            @if let Some(identity) = &self.identity { p { "Identity: " bdi { (identity) } } }
            @if !self.form.is_empty() {
                p {
                    "Last results, the latest first: "
                    span.form { @for result in &self.form { span class=(form_class(*result)) { (result) } " " } }
                }
            }
            (scrolled("Standings", &self.standings(site)))
            (self.plots()?)
            @if site.settings.shows_numbers() {
                p.note { "The band is one standard deviation: how far off the weight may easily be. A newcomer has 50." }
            }
            h2 { "Latest matches" }
            (scrolled("Matches", &self.games(site)))
            p.note {
                "Points are those of the player's team, and those against it, while the player was on it."
                @if site.settings.shows_numbers() {
                    " The chance is that of the player's team, by the weights before the match."
                }
            }
            @if !self.best_maps.is_empty() {
                h2 { "Maps" }
                div.columns {
                    (map_table("Best", &self.best_maps))
                    @if !self.worst_maps.is_empty() { (map_table("Worst", &self.worst_maps)) }
                }
                p.note { "Maps with at least " (ON_MAP) " games, of the last " (GAMES) "." }
            }
            (self.companions.body(site))
        })
    }
}

fn form_class(result: char) -> &'static str {
    match result {
        'W' => "won",
        'L' => "lost",
        _ => "draw",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(id: i64, map: &str, result: f64) -> GameOfPerson {
        GameOfPerson {
            id,
            ended: Timestamp(id),
            ruleset: "ctf".into(),
            map: map.into(),
            team: Some(1),
            result: Some(result),
            forecast: Some(0.25),
            after: Some((50.0 + id as f64, 5.0)),
            points_for: 3.0,
            points_against: 1.0,
        }
    }

    #[test]
    fn maps_are_in_one_list_only() {
        let results = [("a", 1.0), ("b", 0.0), ("c", 0.5), ("d", 1.0)];
        let mut games: Vec<_> = results
            .iter()
            .flat_map(|(map, r)| vec![game(1, map, *r); 3])
            .collect();
        games.push(game(1, "once", 1.0));
        let (best, worst) = maps(&games);
        let names = |list: &[MapResult]| list.iter().map(|m| m.map.clone()).collect::<Vec<_>>();
        assert_eq!(names(&best), ["a", "d"]);
        assert_eq!(names(&worst), ["b", "c"]);
        assert_eq!((worst[1].games, worst[1].won), (3, 0.5));
    }

    #[test]
    fn games_have_the_chance_of_the_own_team_and_the_change() {
        let games = [game(3, "a", 1.0), game(1, "a", 0.0)];
        let list = listed(&games, true);
        assert_eq!(list[0].chance, Some(0.75));
        assert_eq!((list[0].change, list[1].change), (Some(2.0), None));
        assert_eq!(listed(&games, false)[0].chance, None);
    }

    #[test]
    fn long_histories_keep_their_ends() {
        let games: Vec<_> = (0..1_000).rev().map(|id| game(id, "a", 1.0)).collect();
        let points = history(&games, "ctf");
        assert_eq!(points.len(), POINTS);
        assert_eq!(
            (points[0].weight, points[POINTS - 1].weight),
            (50.0, 1_049.0)
        );
        assert!(points.is_sorted_by(|a, b| a.at < b.at));
        assert!(history(&games, "other").is_empty());
    }
}
