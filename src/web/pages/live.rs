//! `/live`: the running games.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::{Kind, text::counted},
    store::Player,
    web::{
        Site, WebError,
        answer::{NoQuery, Page},
        chances::{AS_PICKED, AS_STARTED, OF_CHANCES, OF_WITH_SCORE, sentence, with_score},
        frame,
        present::{PresentGame, PresentLimits, count, names, present, running},
        words,
    },
};

/// How many games are shown, and how many players they may have together. Further games are only counted.
const ROOM: PresentLimits = PresentLimits {
    games: 30,
    players: 300,
};

/// How many games are shown in a frame of another site.
const CARD: usize = 3;

/// The page of running games.
#[derive(Debug, Serialize)]
pub(in crate::web) struct LivePage {
    /// Number of running games with players, and of the players in them.
    running: usize,
    humans: usize,
    bots: usize,
    /// The games with most humans, as many as the page shows.
    games: Vec<PresentGame>,
}

impl Page for LivePage {
    type Choice = NoQuery;
    const PATH: &str = "/live";

    /// Reads the running games that have players.
    async fn read(site: &Site, _: &str, _: &NoQuery) -> Result<Self, WebError> {
        let games = running(site);
        let all = |kind| games.iter().map(|game| count(game, kind)).sum();
        Ok(Self {
            running: games.len(),
            humans: all(Kind::Human),
            bots: all(Kind::Bot),
            games: present(site, &games, ROOM).await?,
        })
    }

    fn title(&self) -> String {
        "Running games".to_owned()
    }

    fn description(&self, _: &Site) -> String {
        format!(
            "{0} and {1} play in {2} now.",
            counted(self.humans, "human"),
            counted(self.bots, "bot"),
            counted(self.running, "game")
        )
    }

    fn card(&self, site: &Site) -> Option<Markup> {
        Some(html! {
            @if self.running == 0 { p { "Nobody plays at the moment." } }
            @for game in self.games.iter().take(CARD) { (section(site, game)) }
        })
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let more = self.running - self.games.len();
        Ok(html! {
            h1 { "Running games" }
            @if self.running == 0 {
                p { "Nobody plays at the moment." }
            } @else {
                p {
                    (mark!("{0} and {1} play in {2}.",
                        { (counted(self.humans, "human")) },
                        { (counted(self.bots, "bot")) },
                        { (counted(self.running, "game")) }
                    ))
                }
            }
            p.note #updates { "Load this page again to see how the games go on." }
            @for game in &self.games { (section(site, game)) }
            @if more > 0 { p { (mark!("And {0} with fewer players.", { (counted(more, "game")) })) } }
            @if self.games.iter().any(|game| !game.chances.is_empty()) { p.note { (OF_CHANCES) } }
            @if self.games.iter().any(|game| game.chance_with_score.is_some()) { p.note { (OF_WITH_SCORE) } }
            script src=(site.links.to(&frame::LIVE.path)) data-page=(site.links.to("/live")) data-live=(site.links.to("/v1/live"))
                data-follows="This page follows the games by itself." data-old="The games cannot be asked for at the moment; what is shown may be old."
                data-game="A game" data-played=" · {} played" data-left="{} left" defer {}
        })
    }
}

fn section(site: &Site, game: &PresentGame) -> Markup {
    let left_out = game.humans + game.bots > game.players().count();
    html! {
        section.game {
            h2 { (game.server_or_dash()) @if let Some(map) = &game.map { " – " (map) } }
            p {
                @match game.has_board {
                    true => (site.links.to_ruleset(&game.ruleset)),
                    false => (words::ruleset(&game.ruleset)),
                }
                " · " (state(site, game))
                @if !game.connected { " · the game server is away" }
            }
            @if !game.scores.is_empty() {
                (words::coloured_scores(&game.scores, &game.team_names))
            }
            @if let Some(chance) = game.chance_with_score { p { strong { (with_score(chance, &game.team_names)) } } }
            (shown(game))
            @if left_out {
                p { (mark!("{0} and {1} play.", { (counted(game.humans, "human")) }, { (counted(game.bots, "bot")) })) }
            } @else {
                @if !game.teams.is_empty() {
                    div.columns.teams {
                        @for (team, players) in game.teams.iter().enumerate() {
                            div {
                                h3 { span class=(words::team_class(game.team_names.colour(team))) { (game.team_names.title(team)) } }
                                (list(site, players))
                            }
                        }
                    }
                }
                @if !game.others.is_empty() {
                    p { @if !game.teams.is_empty() { "On no team: " } (names(site, game.others.iter())) }
                }
            }
        }
    }
}

/// What was predicted of the teams of a game so far.
fn shown(game: &PresentGame) -> Markup {
    let (chances, names) = (&game.chances, &game.team_names);
    let has = if game.began.is_some() { "had" } else { "has" };
    let moments = [
        (AS_PICKED, &chances.picked, has),
        (AS_STARTED, &chances.started, has),
        ("Now", &chances.now, "has"),
    ];
    html! {
        @for (moment, teams, has) in moments {
            @if let Some(teams) = teams { p { (sentence(moment, teams, has, names)) } }
        }
    }
}

/// Since when a game is in play, and until when. The script of the page lets the clock go on.
fn state(site: &Site, game: &PresentGame) -> Markup {
    let now = site.now();
    html! {
        @match game.began {
            Some(began) => {
                (mark!("in play since {0}", { (words::time(began)) }))
                span.clock data-played=(now.0 - began.0) data-left=[game.ends.map(|ends| ends.0 - now.0)] {}
            },
            None => "not in play",
        }
        @if let Some(ends) = game.ends { (mark!(" · until {0} by the game’s clock", { (words::time(ends)) })) }
    }
}

fn list(site: &Site, players: &[Player]) -> Markup {
    html! {
        @if players.is_empty() { p.note { "nobody" } } @else {
            ul.players { @for player in players { li { (player.link(&site.links)) } } }
        }
    }
}
