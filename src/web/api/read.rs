//! What programs read: players, weights, leaderboards, matches and running games, as the pages show them.

use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::{
    ApiProblem, Call,
    call::{answer, places},
    game::{Identities, check_name, shown},
};
use crate::{
    learning::BoardQuery,
    model::{Kind, PlayerKey, Ruleset, plain_name},
    web::{
        WebError,
        answer::{NoQuery, Page},
        links::NamedPlayer,
        pages::{
            BoardLine, GamePage, KnownPlayer, LivePage, MatchSummary, PlayerStanding, SEARCH,
            part_of_board, read_recounts,
        },
    },
};

/// How many entries an answer has unless the query states it, and at most.
const USUAL: i64 = 50;
const MOST: i64 = 200;
/// The most players whose weights one request asks for.
const MOST_RATINGS: usize = 100;
/// The last place from which a leaderboard can be read.
const LAST_PLACE: i64 = 5_000_000;

/// A part of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ListPart {
    q: String,
    ruleset: Option<String>,
    kind: Option<String>,
    limit: Option<i64>,
    /// Where the part begins: `next` of the answer before.
    cursor: Option<i64>,
}

impl ListPart {
    fn limit(&self) -> Result<i64, ApiProblem> {
        match self.limit.unwrap_or(USUAL) {
            limit if (1..=MOST).contains(&limit) => Ok(limit),
            _ => Err(ApiProblem::bad(format!("limit: must be 1 to {MOST}"))),
        }
    }

    fn kind(&self) -> Result<Option<Kind>, ApiProblem> {
        let wrong = || ApiProblem::bad("kind: must be human or bot");
        let kind = self.kind.as_ref();
        kind.map(|kind| Kind::parse(kind).ok_or_else(wrong))
            .transpose()
    }

    fn cursor(&self) -> Result<i64, ApiProblem> {
        match self.cursor.unwrap_or(0) {
            cursor if (0..=LAST_PLACE).contains(&cursor) => Ok(cursor),
            _ => Err(ApiProblem::bad("cursor: state the next of an answer")),
        }
    }
}

/// A part of a leaderboard.
#[derive(Debug, Serialize)]
struct BoardPart {
    ruleset: String,
    kind: &'static str,
    /// The number of players, also of those without a place.
    players: i64,
    rows: Vec<BoardLine>,
    next: Option<i64>,
}

/// `GET /v1/leaderboards/{ruleset}`
pub(super) async fn leaderboard(call: Call) -> Result<Response, ApiProblem> {
    let part: ListPart = call.query()?;
    if part.ruleset.is_some() || !part.q.is_empty() {
        return Err(ApiProblem::bad(
            "unknown key \"q\" or \"ruleset\": see /v1/players",
        ));
    }
    answer(&board(&call, call.part("name"), &part).await?)
}

async fn board(call: &Call, ruleset: &str, part: &ListPart) -> Result<BoardPart, ApiProblem> {
    let (limit, kind, skip) = (part.limit()?, part.kind()?, part.cursor()?);
    let kind = kind.unwrap_or(Kind::Human);
    let query = BoardQuery {
        ruleset,
        kind,
        search: &search(&part.q)?,
        away: true,
        skip,
        limit,
    };
    let (rows, size, has_next) = part_of_board(&call.site, query).await?;
    let pages = call.site.pages();
    if size.all == 0
        && pages
            .matches()
            .latest_matches(Some(ruleset), None, 1)
            .await?
            .is_empty()
    {
        return Err(WebError::NoRuleset.into());
    }
    let line = |row| BoardLine::new(&call.site, kind, row, size.placed);
    Ok(BoardPart {
        ruleset: ruleset.to_owned(),
        kind: kind.as_str(),
        players: size.all,
        rows: rows.into_iter().map(line).collect(),
        next: has_next.then_some(skip + limit),
    })
}

fn search(text: &str) -> Result<String, ApiProblem> {
    match text.len() <= SEARCH {
        true => Ok(text.trim().to_lowercase()),
        false => Err(ApiProblem::bad(format!(
            "q: must have at most {SEARCH} bytes"
        ))),
    }
}

/// A player whom a search has found in all rulesets.
#[derive(Debug, Serialize)]
struct FoundPlayers {
    player: NamedPlayer,
    games: i64,
    last_seen: Option<String>,
}

/// `GET /v1/players`
pub(super) async fn players(call: Call) -> Result<Response, ApiProblem> {
    let part: ListPart = call.query()?;
    if let Some(ruleset) = &part.ruleset {
        return answer(&board(&call, ruleset, &part).await?);
    }
    let (text, limit, kind) = (search(&part.q)?, part.limit()?, part.kind()?);
    if text.is_empty() {
        return Err(ApiProblem::bad("state q, a part of a name, or a ruleset"));
    }
    let store = call.site.service().store();
    let found = store.matches().find_players(&text, kind, limit).await?;
    let named: Vec<(PlayerKey, String)> = found
        .iter()
        .map(|one| (one.key.clone(), one.name.clone()))
        .collect();
    let shown = call.site.pages().matches().present(&named).await?;
    // A part of an identity finds nobody here: it would tell whose it is.
    let is_named = |name: &str| plain_name(name).to_lowercase().contains(&text);
    let players: Vec<FoundPlayers> = found
        .into_iter()
        .zip(shown)
        .filter_map(|(found, one)| {
            let handle = one.handle?;
            let name = one.name.filter(|name| handle == text || is_named(name))?;
            Some(FoundPlayers {
                player: NamedPlayer::new(Some(handle), Some(name), found.key.kind),
                games: found.games,
                last_seen: found.last_seen.map(|at| at.to_string()),
            })
        })
        .collect();
    answer(&serde_json::json!({ "players": players }))
}

/// `GET /v1/players/{handle}`
pub(super) async fn player(call: Call) -> Result<Response, ApiProblem> {
    let kind = call.query::<ListPart>()?.kind()?;
    let known = KnownPlayer::read(&call.site, call.part("name"), kind).await?;
    let recounts = read_recounts(&call.site, &known.person.key).await?;
    let line = |line| PlayerStanding::new(&call.site, known.person.key.kind, line);
    let standings: Vec<PlayerStanding> = known.standings.into_iter().map(line).collect();
    let known =
        serde_json::json!({ "player": known.player, "standings": standings, "recounts": recounts });
    answer(&known)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskedRatings {
    ids: String,
    ruleset: String,
}

/// What is known of a player under a ruleset.
#[derive(Debug, Serialize)]
struct PlayerRating<'a> {
    /// As the request names the player.
    id: &'a str,
    handle: Option<String>,
    /// Whether the player has a weight from matches of the ruleset, or of one with fewer mutators.
    known: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<Option<f64>>,
    games: u32,
    division: Option<String>,
}

/// `GET /v1/ratings`
pub(super) async fn ratings(call: Call) -> Result<Response, ApiProblem> {
    let AskedRatings { ids, ruleset } = call.query()?;
    check_name("ruleset", &ruleset)?;
    let asked: Vec<&str> = ids.split(',').filter(|id| !id.is_empty()).collect();
    if asked.is_empty() || asked.len() > MOST_RATINGS {
        return Err(ApiProblem::bad(format!(
            "ids: must be 1 to {MOST_RATINGS} ids"
        )));
    }
    let (site, learning) = (&call.site, call.site.learning());
    if learning.is_starting() {
        let why = "the weights are being derived from the stored matches: try again";
        return Err(ApiProblem::overloaded(why));
    }
    let known = Identities::of(&call, &asked).await?;
    let key = |id: &&str| PlayerKey {
        kind: Kind::Human,
        id: known.get(id),
    };
    let named: Vec<_> = asked.iter().map(|id| (key(id), (*id).to_owned())).collect();
    let present = site.pages().matches().present(&named).await?;
    let stated = Ruleset::parse(&ruleset);
    let mutators: Vec<&str> = stated.mutators().collect();
    let ruleset = learning.rulebook().ruleset(stated.game_type(), &mutators);
    let standings = learning.standings_at(site.now());
    let view = standings.view(&ruleset);
    let numbers = call.is_client() || site.settings.shows_numbers();
    let mut ratings = Vec::with_capacity(asked.len());
    for ((id, (key, _)), one) in asked.into_iter().zip(&named).zip(present) {
        if one.name.is_none() && !call.is_client() {
            continue; // hidden
        }
        if view.awaits(Kind::Human, &key.id) {
            let text = format!("{}: the weight is being derived: try again", shown(id));
            return Err(ApiProblem::overloaded(text));
        }
        let weight = view.human(&key.id);
        let facts = view.facts(&key.id).filter(|_| weight.is_some());
        let rank = learning.displayed_rank(&standings, &ruleset, &key.id, site.now());
        ratings.push(PlayerRating {
            id,
            handle: one.handle,
            known: weight.is_some(),
            weight: numbers.then(|| weight.map(|weight| places(weight, 3))),
            deviation: numbers.then(|| facts.map(|facts| places(facts.deviation, 3))),
            games: facts.map_or(0, |facts| facts.games),
            division: rank.and_then(|rank| rank.division).map(|(name, _)| name),
        });
    }
    answer(&serde_json::json!({ "ruleset": ruleset.to_string(), "ratings": ratings }))
}

/// `GET /v1/matches`
pub(super) async fn matches(call: Call) -> Result<Response, ApiProblem> {
    let part: ListPart = call.query()?;
    if part.kind.is_some() || !part.q.is_empty() {
        return Err(ApiProblem::bad("unknown key \"q\" or \"kind\""));
    }
    let limit = part.limit()?;
    let (pages, ruleset) = (call.site.pages(), part.ruleset.as_deref());
    let lines = (pages.matches()).latest_matches(ruleset, part.cursor, limit + 1);
    let mut lines = lines.await?;
    let has_next = lines.len() as i64 > limit;
    lines.truncate(usize::try_from(limit).unwrap_or(0));
    let next = lines.last().map(|line| line.id).filter(|_| has_next);
    let matches = MatchSummary::list(&call.site, lines);
    answer(&serde_json::json!({ "matches": matches, "next": next }))
}

/// `GET /v1/matches/{n}`
pub(super) async fn game(call: Call) -> Result<Response, ApiProblem> {
    answer(&GamePage::read(&call.site, call.part("name"), &NoQuery {}).await?)
}

/// `GET /v1/live`
pub(super) async fn live(call: Call) -> Result<Response, ApiProblem> {
    answer(&LivePage::read(&call.site, "", &NoQuery {}).await?)
}
