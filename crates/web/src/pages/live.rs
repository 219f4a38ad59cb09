//! Running games with their players, as pages show them, and `/live`, which lists them all.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    Site, WebError,
    answer::{NoQuery, Page},
    chances::{
        AS_PICKED, AS_STARTED, OF_CHANCES, OF_WITH_SCORE, UsualScores, sentence, with_score,
    },
    frame,
    links::PlayerLink as _,
    model::{
        Kind, PlayerKey, Ruleset, Timestamp, match_chances::ChanceSummary, names::plain_name,
        team_names::TeamNames, text::counted,
    },
    session::{LiveGame, LivePlayer},
    store::{Player, as_text_or_null},
    words,
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
    #[serde(serialize_with = "as_text_or_null")]
    pub(super) began: Option<Timestamp>,
    /// When the time runs out that the game server has stated; `None` if it has stated none.
    #[serde(serialize_with = "as_text_or_null")]
    pub(super) ends: Option<Timestamp>,
    /// The score of each team in play.
    pub(super) scores: Vec<f64>,
    /// What was predicted of its teams so far, without the score.
    #[serde(skip_serializing_if = "ChanceSummary::is_empty")]
    pub(super) chances: ChanceSummary,
    /// The chance of team 0 with the score; `None` unless two teams have a chance and a score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) chance_with_score: Option<f64>,
    pub(super) humans: usize,
    pub(super) bots: usize,
    /// The players of each team; empty without teams, and where a page has no room.
    pub(super) teams: Vec<Vec<Player>>,
    /// The players without a team.
    pub(super) others: Vec<Player>,
    /// What its teams are called.
    #[serde(skip)]
    pub(super) team_names: TeamNames,
}

/// The most games, and the most players in all of them together, that a page shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct PresentLimits {
    pub(super) games: usize,
    pub(super) players: usize,
}

impl PresentLimits {
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
    let counted = players.map(|player| standings.counted_as(&player.key).into_owned());
    counted.collect()
}

/// The first of these games, as many as `room` allows.
pub(super) async fn present(
    site: &Site,
    games: &[Arc<LiveGame>],
    room: PresentLimits,
) -> Result<Vec<PresentGame>, WebError> {
    let games = &games[..games.len().min(room.games)];
    if games.is_empty() {
        return Ok(Vec::new());
    }
    let (mut named, mut rulesets) = (Vec::new(), Vec::new());
    let mut with_players = 0;
    for game in games {
        if named.len() + game.players.len() > room.players {
            break;
        }
        let players = game.players.iter();
        named.extend(players.map(|player| (player.key.clone(), player.name.clone())));
        rulesets.resize(named.len(), ruleset(site, game).to_string());
        with_players += 1;
    }
    let matches = site.pages().matches();
    let shown = matches.present_in(&named, |at| rulesets.get(at).cloned());
    let mut shown = shown.await?.into_iter();
    let balance = site.balance().unwrap_or_default();
    let mut list = Vec::with_capacity(games.len());
    let mut usual = BTreeMap::new();
    for (at, game) in games.iter().enumerate() {
        let ruleset = ruleset(site, game);
        let mut line = line(site, game, &ruleset);
        line.has_board = balance.has(&line.ruleset);
        if at < with_players {
            line.seat(game, &mut shown);
        }
        if let Some(before) = line.chance_of_teams().filter(|_| game.has_scored) {
            let scores: UsualScores = match usual.get(&line.ruleset) {
                Some(scores) => *scores,
                None => UsualScores::of(site, &ruleset).await?,
            };
            usual.insert(line.ruleset.clone(), scores);
            line.chance_with_score = chance_with_score(&scores, before, game, site.now());
        }
        list.push(line);
    }
    Ok(list)
}

/// The chance of team 0 of a game in play with its score; `before` is the one without it. Rounded, so that the data
/// stay the same for some seconds.
fn chance_with_score(
    usual: &UsualScores,
    before: f64,
    game: &LiveGame,
    now: Timestamp,
) -> Option<f64> {
    let millis =
        |from: Timestamp, to: Timestamp| u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0);
    let elapsed = millis(game.began?, now);
    let left = game.ends.map(|ends| millis(now, ends));
    let chance = usual.chance(before, &game.scores, elapsed, left)?;
    Some(words::rounded(chance, 3))
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
        ends: game.ends,
        scores: game.scores.clone(),
        chance_with_score: None,
        chances: match site.settings.shows_numbers() {
            true => game.chances.clone(),
            false => ChanceSummary::default(),
        },
        humans: count(game, Kind::Human),
        bots: count(game, Kind::Bot),
        teams: Vec::new(),
        others: Vec::new(),
        team_names: site.team_names(&ruleset.to_string()),
    }
}

impl PresentGame {
    /// Puts the players on their teams; `shown` has them in the order of the game.
    fn seat(&mut self, game: &LiveGame, shown: &mut impl Iterator<Item = Player>) {
        self.teams.resize_with(usize::from(game.teams), Vec::new);
        for (player, shown) in game.players.iter().zip(shown) {
            let team = player
                .team
                .and_then(|team| self.teams.get_mut(usize::from(team)));
            let list = team.unwrap_or(&mut self.others);
            list.push(shown);
        }
    }

    /// The chance of team 0 with the players who are there now, without the score.
    fn chance_of_teams(&self) -> Option<f64> {
        let now = self.chances.now.as_ref().or(self.chances.started.as_ref());
        now?.of_first()
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

/// How many games are shown, and how many players they may have together. Further games are only counted.
const ROOM: PresentLimits = PresentLimits {
    games: 30,
    players: 300,
};

/// How many games are shown in a frame of another site.
const CARD: usize = 3;

/// The page of running games.
#[derive(Debug, Serialize)]
pub(crate) struct LivePage {
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
