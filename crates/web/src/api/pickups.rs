//! `/v1/pickups`: pick-up matches, whose players are divided into teams, play, and say who has won.
//!
//! The daemon keeps their state, so that a bot that is started again, or a second one, goes on.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Router,
    response::Response,
    routing::{get, post},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    ApiProblem, Call,
    call::answer,
    game::{AskedGame, MOST_PLAYERS, check_name},
    matches::{hash, may_void, report},
    teams::picked,
};
use crate::{
    Site,
    matchmaking::lifecycle::{
        Pickup, PickupEvent, PickupOutcome, PickupRefused, PickupStage, PickupTeams, Said,
    },
    model::access::Right,
    protocol::request::Charge,
    session::{Report, WantedTeams, draw_seed},
    store::{ChangedPickup, PickupRow, Receipt},
};

/// How many pick-up matches a list has unless the query states it, and at most.
const USUAL: usize = 20;
const MOST: usize = 50;

/// The routes of pick-up matches.
pub(super) fn router() -> Router<Arc<Site>> {
    Router::new()
        .route("/pickups", get(list))
        .route("/pickups/{pickup}", get(read).put(make))
        .route("/pickups/{pickup}/again", post(again))
        .route("/pickups/{pickup}/moved", post(moved))
        .route("/pickups/{pickup}/result", post(result))
        .route("/pickups/{pickup}/start", post(start))
        .route("/pickups/{pickup}/void", post(void))
}

/// The name of the client, which needs both rights: teams are asked for, and their results reported.
fn client(call: &Call) -> Result<&str, ApiProblem> {
    call.client(&[Right::Ask])?;
    call.client(&[Right::Report])
}

async fn found(call: &Call) -> Result<PickupRow, ApiProblem> {
    let (client, id) = (client(call)?, call.part("pickup"));
    let row = call.site.service().store().pickup(client, id).await?;
    row.ok_or_else(none)
}

fn none() -> ApiProblem {
    ApiProblem::nothing("you have no pick-up match of this name")
}

/// `GET /v1/pickups/{pickup}`
async fn read(call: Call) -> Result<Response, ApiProblem> {
    answer(&shown(&found(&call).await?))
}

/// `GET /v1/pickups`
async fn list(call: Call) -> Result<Response, ApiProblem> {
    let (client, of): (_, Listed) = (client(&call)?, call.query()?);
    let limit = of.limit.unwrap_or(USUAL);
    if !(1..=MOST).contains(&limit) {
        return Err(ApiProblem::bad(format!("limit: must be 1 to {MOST}")));
    }
    let state = of.state.as_deref().map(stage).transpose()?;
    let store = call.site.service().store();
    let rows = store.pickups(client, of.channel.as_deref()).await?;
    let is_meant = |row: &&PickupRow| {
        let player = of.player.as_deref();
        state.is_none_or(|state| state == row.pickup.stage)
            && player.is_none_or(|player| row.pickup.team_of(player).is_some())
    };
    let rows = rows.iter().filter(is_meant).take(limit);
    let pickups: Vec<Value> = rows.map(shown).collect();
    answer(&json!({ "pickups": pickups }))
}

/// The stage with this word.
fn stage(word: &str) -> Result<PickupStage, ApiProblem> {
    let all = PickupStage::ALL;
    let found = all.into_iter().find(|stage| stage.as_str() == word);
    found.ok_or_else(|| {
        let words = all.map(PickupStage::as_str).join(", ");
        ApiProblem::bad(format!("state: must be one of {words}"))
    })
}

/// `PUT /v1/pickups/{pickup}`
async fn make(call: Call) -> Result<Response, ApiProblem> {
    let (client, id) = (client(&call)?.to_owned(), call.part("pickup"));
    check_name("pickup", id)?;
    let body: Value = call.json()?;
    let asked = hash(&body);
    let store = call.site.service().store();
    if let Some(row) = store.pickup(&client, id).await? {
        return same(&row, asked);
    }
    let AskedPickup {
        channel,
        names,
        mut game,
    } = {
        let asked: AskedPickup = call.json()?;
        asked.check()?;
        asked
    };
    // The same seed finds the teams of every place.
    game.entry("seed").or_insert_with(|| draw_seed().into());
    let question = Value::Object(game);
    let new = PickupRow {
        client,
        id: id.to_owned(),
        asked,
        pickup: Pickup {
            channel,
            picked: pick(&call, &question, 0).await?,
            question,
            names,
            stage: PickupStage::Picked,
            said: Vec::new(),
            outcome: None,
            recorded: None,
            to_move: false,
        },
        made_at: call.site.now(),
        changed_at: call.site.now(),
    };
    same(&store.add_pickup(&new).await?, asked)
}

/// A pick-up match, if this was asked when it was made.
fn same(row: &PickupRow, asked: [u8; 32]) -> Result<Response, ApiProblem> {
    match row.asked == asked {
        true => answer(&shown(row)),
        false => {
            let why = format!("another body was sent as {} before", row.id);
            Err(ApiProblem::other_body(why))
        }
    }
}

/// The teams of a place.
async fn pick(call: &Call, game: &Value, place: u32) -> Result<PickupTeams, ApiProblem> {
    let game = question(game, place)?;
    let found = picked(call, &game).await?;
    let ids = found.teams.iter().map(|team| {
        let ids = team.players.iter().map(|player| player.id.to_owned());
        ids.collect()
    });
    let teams: Vec<Vec<String>> = ids.collect();
    if teams.iter().any(Vec::is_empty) {
        return Err(ApiProblem::bad("game.players: each team needs somebody"));
    }
    let answer = serde_json::to_value(&found).map_err(|_| ApiProblem::internal())?;
    Ok(PickupTeams {
        place,
        teams,
        answer,
    })
}

/// `POST /v1/pickups/{pickup}/again`
async fn again(call: Call) -> Result<Response, ApiProblem> {
    let (row, SeenTeams { place }) = (found(&call).await?, call.json()?);
    let is_now = row.pickup.stage == PickupStage::Picked && row.pickup.picked.place == place;
    let picked = match is_now {
        true => pick(&call, &row.pickup.question, place.saturating_add(1)).await?,
        // Nothing changes, or it is refused.
        false => row.pickup.picked,
    };
    let seen = if is_now { place } else { u32::MAX };
    change(&call, PickupEvent::Again { seen, picked }, None).await
}

/// `POST /v1/pickups/{pickup}/start`
async fn start(call: Call) -> Result<Response, ApiProblem> {
    let SeenTeams { place } = call.json()?;
    change(&call, PickupEvent::Start { place }, None).await
}

/// `POST /v1/pickups/{pickup}/moved`
async fn moved(call: Call) -> Result<Response, ApiProblem> {
    let Moved { state } = call.json()?;
    let stage = stage(&state)?;
    change(&call, PickupEvent::Moved { stage }, None).await
}

/// `POST /v1/pickups/{pickup}/result`
async fn result(call: Call) -> Result<Response, ApiProblem> {
    let (row, asked) = (found(&call).await?, call.json::<AskedResult>()?);
    let outcome = asked.outcome()?;
    check_name("by", &asked.by)?;
    let said = Said {
        by: asked.by,
        organiser: asked.organiser,
        outcome,
    };
    if row.pickup.stage == PickupStage::Picked {
        // Until it begins, its teams may change: there is nothing to record.
        return Err(refused(PickupRefused::NotBegun));
    }
    if let PickupOutcome::Won(team) = outcome
        && usize::from(team) >= row.pickup.picked.teams.len()
    {
        return Err(refused(PickupRefused::NoTeam(team)));
    }
    let client = client(&call)?;
    let body = record(&row, outcome);
    let key = Receipt {
        key: format!("pickup:{}", row.id),
        body: hash(&body),
    };
    let mut report = report(&call, client, body, call.site.now()).await?;
    report.keys = vec![key];
    change(&call, PickupEvent::Say(said), Some(report)).await
}

/// `POST /v1/pickups/{pickup}/void`
async fn void(call: Call) -> Result<Response, ApiProblem> {
    let (row, AskedVoid { by, organiser }) = (found(&call).await?, call.json()?);
    check_name("by", &by)?;
    if let (PickupStage::Recorded, Some(recorded)) = (row.pickup.stage, &row.pickup.recorded) {
        may_void(&call, recorded.id).await?;
    }
    let outcome = PickupOutcome::Void;
    let said = Said {
        by,
        organiser,
        outcome,
    };
    change(&call, PickupEvent::Say(said), None).await
}

/// Applies an event. The answer is the pick-up match as it is then, on disk.
async fn change(
    call: &Call,
    event: PickupEvent,
    result: Option<Report>,
) -> Result<Response, ApiProblem> {
    let (client, id) = (client(call)?, call.part("pickup"));
    call.count(Charge::Report, 1)?;
    let sessions = call.site.service().sessions();
    match sessions.change_pickup(client, id, event, result).await? {
        ChangedPickup::Done(row, _) => answer(&shown(&row)),
        ChangedPickup::None => Err(none()),
        ChangedPickup::Refused(why) => Err(refused(why)),
    }
}

fn refused(why: PickupRefused) -> ApiProblem {
    let text = why.to_string();
    match why {
        PickupRefused::NotInIt(_) => ApiProblem::forbidden(text),
        PickupRefused::NoTeam(_) => ApiProblem::bad(text),
        _ => ApiProblem::conflict(text),
    }
}

/// The body that makes a pick-up match.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedPickup {
    #[serde(default)]
    pub(super) channel: String,
    /// The names of players, by their ids.
    #[serde(default)]
    pub(super) names: BTreeMap<String, String>,
    /// The body of `POST /v1/teams`.
    pub(super) game: Map<String, Value>,
}

impl AskedPickup {
    pub(super) fn check(&self) -> Result<(), ApiProblem> {
        if !self.channel.is_empty() {
            check_name("channel", &self.channel)?;
        }
        if self.names.len() > MOST_PLAYERS {
            return Err(ApiProblem::bad("names: there are too many"));
        }
        for (id, name) in &self.names {
            check_name("names", id)?;
            check_name("names", name)?;
        }
        match self.game.get("top").or(self.game.get("keep")) {
            Some(_) => Err(ApiProblem::bad(
                "game: top and keep are not for this question",
            )),
            None => Ok(()),
        }
    }
}

/// The question of a pick-up match for the teams of a place.
pub(super) fn question(game: &Value, place: u32) -> Result<AskedGame, ApiProblem> {
    let read = serde_path_to_error::deserialize(game);
    let mut game: AskedGame = read.map_err(|error| {
        let why = super::call::wrong_in(&error.inner().to_string());
        super::call::wrong_at(error.path(), why).at("game")
    })?;
    game.keep = true;
    game.wanted = Some(WantedTeams {
        place,
        apart: false,
    });
    Ok(game)
}

/// Which teams a caller has seen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeenTeams {
    pub(super) place: u32,
}

/// In which state of the match its players were moved.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Moved {
    pub(super) state: String,
}

/// Who says it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedVoid {
    pub(super) by: String,
    #[serde(default)]
    pub(super) organiser: bool,
}

/// Who says who has won.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedResult {
    pub(super) by: String,
    #[serde(default)]
    pub(super) organiser: bool,
    winner: Option<u8>,
    #[serde(default)]
    draw: bool,
}

impl AskedResult {
    pub(super) fn outcome(&self) -> Result<PickupOutcome, ApiProblem> {
        match (self.winner, self.draw) {
            (Some(team), false) => Ok(PickupOutcome::Won(team)),
            (None, true) => Ok(PickupOutcome::Draw),
            _ => Err(ApiProblem::bad("state either winner or \"draw\": true")),
        }
    }
}

/// The part of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Listed {
    pub(super) channel: Option<String>,
    pub(super) player: Option<String>,
    pub(super) state: Option<String>,
    pub(super) limit: Option<usize>,
}

/// A result, by words.
#[derive(Debug, Serialize)]
struct ResultWord {
    outcome: &'static str,
    winner: Option<u8>,
}

impl From<PickupOutcome> for ResultWord {
    fn from(outcome: PickupOutcome) -> Self {
        let (outcome, winner) = match outcome {
            PickupOutcome::Won(team) => ("won", Some(team)),
            PickupOutcome::Draw => ("draw", None),
            PickupOutcome::Void => ("void", None),
        };
        Self { outcome, winner }
    }
}

#[derive(Debug, Serialize)]
struct ShownSaid<'a> {
    by: &'a str,
    organiser: bool,
    #[serde(flatten)]
    outcome: ResultWord,
}

impl<'a> From<&'a Said> for ShownSaid<'a> {
    fn from(said: &'a Said) -> Self {
        Self {
            by: &said.by,
            organiser: said.organiser,
            outcome: said.outcome.into(),
        }
    }
}

/// A pick-up match as it is answered.
pub(super) fn shown(row: &PickupRow) -> Value {
    let of = &row.pickup;
    let said: Vec<ShownSaid<'_>> = of.said.iter().map(ShownSaid::from).collect();
    let recorded = of.recorded.as_ref();
    json!({
        "pickup": row.id,
        "channel": of.channel,
        "state": of.stage.as_str(),
        "ruleset": of.question["ruleset"],
        "place": of.picked.place,
        "names": of.names,
        "picked": of.picked.answer,
        "said": said,
        "result": of.outcome.map(ResultWord::from),
        "match": recorded.map(|one| one.id),
        "rated": recorded.map(|one| one.unrated.is_none()),
        "reason": recorded.and_then(|one| one.unrated.clone()),
        "to_move": of.to_move,
        "made_at": row.made_at.to_string(),
        "changed_at": row.changed_at.to_string(),
    })
}

/// The body of `POST /v1/matches` for the result of a pick-up match.
pub(super) fn record(row: &PickupRow, outcome: PickupOutcome) -> Value {
    let of = &row.pickup;
    let player = |id: &String| match of.names.get(id) {
        Some(name) => json!({"id": id, "name": name}),
        None => json!({ "id": id }),
    };
    let team = |team: &Vec<String>| -> Vec<Value> { team.iter().map(player).collect() };
    let teams: Vec<Vec<Value>> = of.picked.teams.iter().map(team).collect();
    let mut body = json!({"ruleset": of.question["ruleset"], "teams": teams});
    if let Some(map) = of.question["map"].as_str() {
        body["map"] = json!(map);
    }
    if let Some(decision) = of.picked.answer["decision"].as_i64() {
        body["decision"] = json!(decision);
    }
    match outcome {
        PickupOutcome::Won(team) => body["winner"] = json!(team),
        PickupOutcome::Draw | PickupOutcome::Void => body["draw"] = json!(true),
    }
    body
}
