//! Running games with their players, as pages show them.

use std::{collections::BTreeSet, sync::Arc};

use maud::{Markup, html};
use serde::Serialize;

use super::{Site, error::WebError, name::Player, words};
use crate::{
    domain::{ChanceSummary, Kind, PlayerKey, Ruleset, Timestamp, plain_name},
    session::{LiveGame, LivePlayer},
    store::PresentPlayer,
};

/// A running game, with the players that a page shows.
#[derive(Debug, Serialize)]
pub(super) struct PresentGame {
    pub(super) server: String,
    /// Whether the game server is connected.
    pub(super) connected: bool,
    pub(super) ruleset: String,
    /// Whether there are players with weights under the ruleset.
    #[serde(skip)]
    pub(super) has_board: bool,
    pub(super) map: Option<String>,
    /// When play began; `None` in a warm-up and after the end.
    #[serde(serialize_with = "began")]
    pub(super) began: Option<Timestamp>,
    /// The score of each team in play.
    pub(super) scores: Vec<f64>,
    /// What was predicted of its teams so far, without the score.
    #[serde(skip_serializing_if = "ChanceSummary::is_empty")]
    pub(super) chances: ChanceSummary,
    pub(super) humans: usize,
    pub(super) bots: usize,
    /// The players of each team; empty without teams, and where a page has no room.
    pub(super) teams: Vec<Vec<Player>>,
    /// The players without a team.
    pub(super) others: Vec<Player>,
}

fn began<S: serde::Serializer>(at: &Option<Timestamp>, to: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => to.collect_str(at),
        None => to.serialize_none(),
    }
}

/// The most games, and the most players in all of them together, that a page shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) games: usize,
    pub(super) players: usize,
}

impl Room {
    /// On a page that is about something else.
    pub(super) const BESIDES: Self = Self {
        games: 8,
        players: 100,
    };
}

/// The running games, those with most humans first.
pub(super) fn running(site: &Site) -> Vec<Arc<LiveGame>> {
    let mut games = site.live();
    games.sort_by_key(|game| std::cmp::Reverse(count(game, Kind::Human)));
    games
}

/// The number of players of a kind.
pub(super) fn count(game: &LiveGame, kind: Kind) -> usize {
    let of_kind = |player: &&LivePlayer| player.key.kind == kind;
    game.players.iter().filter(of_kind).count()
}

/// The ruleset of a game.
pub(super) fn ruleset(site: &Site, game: &LiveGame) -> Ruleset {
    let rulebook = site.learning().rulebook();
    rulebook.ruleset(&game.game_type, &game.mutators)
}

/// The identities that the matches of all players of running games count for.
pub(super) fn identities(site: &Site, games: &[Arc<LiveGame>]) -> BTreeSet<PlayerKey> {
    let standings = site.learning().standings();
    let players = games.iter().flat_map(|game| &game.players);
    let counted = players.map(|player| standings.counted_as(&player.key).clone());
    counted.collect()
}

/// The first of these games, as many as `room` allows.
pub(super) async fn present(
    site: &Site,
    games: &[Arc<LiveGame>],
    room: Room,
) -> Result<Vec<PresentGame>, WebError> {
    let games = &games[..games.len().min(room.games)];
    if games.is_empty() {
        return Ok(Vec::new());
    }
    let mut named = Vec::new();
    let mut with_players = 0;
    for game in games {
        if named.len() + game.players.len() > room.players {
            break;
        }
        let players = game.players.iter();
        named.extend(players.map(|player| (player.key.clone(), player.name.clone())));
        with_players += 1;
    }
    let mut shown = site.pages().present(&named).await?.into_iter();
    let boards = site.pages().ruleset_lines().await?;
    let mut list = Vec::with_capacity(games.len());
    for (at, game) in games.iter().enumerate() {
        let ruleset = ruleset(site, game);
        let mut line = line(site, game, &ruleset);
        line.has_board = boards.iter().any(|board| board.ruleset == line.ruleset);
        if at < with_players {
            line.seat(game, &mut shown);
        }
        list.push(line);
    }
    Ok(list)
}

/// A game without its players.
fn line(site: &Site, game: &LiveGame, ruleset: &Ruleset) -> PresentGame {
    PresentGame {
        server: words::server_name(&game.server),
        connected: game.is_connected,
        ruleset: ruleset.to_string(),
        has_board: false,
        map: game.map.as_deref().map(plain_name),
        began: game.began,
        scores: game.scores.clone(),
        chances: match site.settings.shows_numbers() {
            true => game.chances.clone(),
            false => ChanceSummary::default(),
        },
        humans: count(game, Kind::Human),
        bots: count(game, Kind::Bot),
        teams: Vec::new(),
        others: Vec::new(),
    }
}

impl PresentGame {
    /// Puts the players on their teams; `shown` has them in the order of the game.
    fn seat(&mut self, game: &LiveGame, shown: &mut impl Iterator<Item = PresentPlayer>) {
        self.teams.resize_with(usize::from(game.teams), Vec::new);
        for (player, shown) in game.players.iter().zip(shown) {
            let team = player
                .team
                .and_then(|team| self.teams.get_mut(usize::from(team)));
            let list = team.unwrap_or(&mut self.others);
            list.push(Player::new(shown.handle, shown.name, player.key.kind));
        }
    }

    /// The players of all teams, then those without one.
    pub(super) fn players(&self) -> impl Iterator<Item = &Player> {
        self.teams.iter().flatten().chain(&self.others)
    }

    /// The name of the server.
    pub(super) fn server_or_dash(&self) -> &str {
        if self.server.is_empty() {
            "–"
        } else {
            &self.server
        }
    }

    /// The score, or why there is none.
    pub(super) fn score(&self) -> String {
        match (self.began, self.scores.is_empty()) {
            (None, _) => "not in play".to_owned(),
            (Some(_), true) => "in play".to_owned(),
            (Some(_), false) => words::scores(&self.scores),
        }
    }
}

/// The names of players as a list in a line of text, with links.
pub(super) fn names<'a>(site: &Site, players: impl Iterator<Item = &'a Player>) -> Markup {
    html! {
        @for (at, player) in players.enumerate() {
            @if at > 0 { ", " }
            (player.link(&site.links))
        }
    }
}
