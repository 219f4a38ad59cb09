//! What programs read: whatever the pages show, and the weights of some players.

use std::sync::Arc;

use axum::{Router, response::Response, routing::get};
use serde::{Deserialize, Serialize};

use super::{
    ApiProblem, Call,
    call::{answer, fresh_answer, places},
    game::{Identities, check_name, shown},
};
use crate::{
    Site, WebError,
    answer::Page,
    learning::BoardQuery,
    model::{Kind, PlayerKey, Ruleset},
    pages::{
        BalancePage, BoardPart, ExperimentPage, GamePage, LivePage, MapPage, MatchesChoice,
        MatchesPart, PlayerPage, QueuesPage, RegularsPage, RulesetSummary, SEARCH, SystemsPage,
        VersusPage, kind,
    },
};

/// How many entries an answer has unless the query states it, and at most.
const USUAL: i64 = 50;
const MOST: i64 = 200;
/// The most players whose weights one request asks for.
const MOST_RATINGS: usize = 100;
/// The last place from which a leaderboard can be read.
const LAST_PLACE: i64 = 5_000_000;

/// The routes that everybody may read.
pub(super) fn router() -> Router<Arc<Site>> {
    Router::new()
        .route(
            "/balance",
            get(|call| page::<BalancePage>(call, &["ruleset", "date", "span"])),
        )
        .route(
            "/experiments",
            get(|call| page::<ExperimentPage>(call, &[])),
        )
        .route("/leaderboards/{name}", get(leaderboard))
        .route("/live", get(|call| page::<LivePage>(call, &[])))
        .route("/maps/{name}", get(map))
        .route("/matches", get(matches))
        .route("/matches/{name}", get(|call| page::<GamePage>(call, &[])))
        .route("/players", get(players))
        .route(
            "/players/{name}",
            get(|call| page::<PlayerPage>(call, &["kind"])),
        )
        .route("/queues", get(queues))
        .route("/ratings", get(ratings))
        .route(
            "/regulars",
            get(|call| page::<RegularsPage>(call, &["ruleset", "kind"])),
        )
        .route("/rulesets", get(rulesets))
        .route("/systems", get(|call| page::<SystemsPage>(call, &[])))
        .route("/versus", get(|call| page::<VersusPage>(call, &["a", "b"])))
}

/// What a page shows; the query has no other keys than these.
async fn page<P: Page + Serialize>(call: Call, keys: &[&str]) -> Result<Response, ApiProblem> {
    let choice = call.query_of(keys)?;
    fresh_answer(
        &call,
        &P::read(&call.site, call.part("name"), &choice).await?,
    )
}

/// A part of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ListPart {
    q: String,
    #[serde(deserialize_with = "kind")]
    kind: Option<Kind>,
    /// Whether those who are away are listed, too; they are unless it is false.
    away: Option<bool>,
    limit: Option<i64>,
    /// Where the part begins: `next` of the answer before.
    cursor: Option<i64>,
}

impl ListPart {
    /// The text of a search.
    fn search(&self) -> Result<String, ApiProblem> {
        match self.q.len() <= SEARCH {
            true => Ok(self.q.trim().to_owned()),
            false => Err(ApiProblem::bad(format!(
                "q: must have at most {SEARCH} bytes"
            ))),
        }
    }

    fn cursor(&self) -> Result<i64, ApiProblem> {
        match self.cursor.unwrap_or(0) {
            cursor if (0..=LAST_PLACE).contains(&cursor) => Ok(cursor),
            _ => Err(ApiProblem::bad("cursor: state the next of an answer")),
        }
    }
}

/// The number of entries of an answer.
fn limit(stated: Option<i64>) -> Result<i64, ApiProblem> {
    match stated.unwrap_or(USUAL) {
        limit if (1..=MOST).contains(&limit) => Ok(limit),
        _ => Err(ApiProblem::bad(format!("limit: must be 1 to {MOST}"))),
    }
}

/// `GET /v1/leaderboards/{ruleset}`
async fn leaderboard(call: Call) -> Result<Response, ApiProblem> {
    let part: ListPart = call.query_of(&["q", "kind", "away", "limit", "cursor"])?;
    let (ruleset, search) = (call.part("name"), part.search()?);
    let query = BoardQuery {
        ruleset,
        kind: part.kind.unwrap_or(Kind::Human),
        search: &search,
        away: part.away.unwrap_or(true),
        skip: part.cursor()?,
        limit: limit(part.limit)?,
    };
    let part = BoardPart::read(&call.site, query).await?;
    let matches = call.site.pages().matches();
    if part.players == 0 && (matches.latest_matches(Some(ruleset), 1).await?).is_empty() {
        return Err(WebError::NoRuleset.into());
    }
    fresh_answer(&call, &part)
}

/// `GET /v1/players`
async fn players(call: Call) -> Result<Response, ApiProblem> {
    let part: ListPart = call.query_of(&["q", "kind", "limit"])?;
    let (text, limit) = (part.search()?, limit(part.limit)?);
    if text.is_empty() {
        return Err(ApiProblem::bad("q: state a part of a name"));
    }
    let limit = usize::try_from(limit).unwrap_or(0);
    let learning = call.site.learning();
    let players = learning.find_persons(&text, part.kind, limit).await?;
    fresh_answer(&call, &serde_json::json!({ "players": players }))
}

/// `GET /v1/rulesets`
async fn rulesets(call: Call) -> Result<Response, ApiProblem> {
    let text = call.query_of::<ListPart>(&["q"])?.search()?;
    let rulesets = RulesetSummary::all(&call.site).await?;
    let mut rulesets = rulesets.ok_or(WebError::Counting)?;
    rulesets.retain(|one| one.is_called(&text));
    fresh_answer(&call, &serde_json::json!({ "rulesets": rulesets }))
}

/// `GET /v1/maps/{map}`
async fn map(call: Call) -> Result<Response, ApiProblem> {
    let page = MapPage::read(&call.site, call.part("name"), &call.query_of(&[])?).await?;
    match page.is_counting {
        true => Err(WebError::Counting.into()),
        false => fresh_answer(&call, &page),
    }
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
async fn ratings(call: Call) -> Result<Response, ApiProblem> {
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
    let known = Identities::of(site.service(), &asked).await?;
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

/// `GET /v1/queues`
async fn queues(call: Call) -> Result<Response, ApiProblem> {
    match call.site.queues().names().is_empty() {
        true => fresh_answer(&call, &QueuesPage::default()),
        false => page::<QueuesPage>(call, &[]).await,
    }
}

/// The keys of a list of matches.
const MATCHES: [&str; 11] = [
    "ruleset", "map", "server", "player", "with", "against", "picked", "cause", "since", "limit",
    "cursor",
];

/// `GET /v1/matches`
async fn matches(call: Call) -> Result<Response, ApiProblem> {
    let choice: MatchesChoice = call.query_of(&MATCHES)?;
    let limit = usize::try_from(limit(choice.limit)?).unwrap_or(0);
    fresh_answer(
        &call,
        &MatchesPart::read(&call.site, &choice, true, limit).await?,
    )
}
