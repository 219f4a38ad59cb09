//! What callers state about pick-up matches, and how these are answered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    Problem,
    game::{AskedGame, MOST_PLAYERS, check_name},
};
use crate::{
    matchmaking::lifecycle::{PickupOutcome, Said},
    session::Wanted,
    store::PickupRow,
};

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
    pub(super) fn check(&self) -> Result<(), Problem> {
        if !self.channel.is_empty() {
            check_name("channel", &self.channel)?;
        }
        if self.names.len() > MOST_PLAYERS {
            return Err(Problem::bad("names: there are too many"));
        }
        for (id, name) in &self.names {
            check_name("names", id)?;
            check_name("names", name)?;
        }
        match self.game.get("top").or(self.game.get("keep")) {
            Some(_) => Err(Problem::bad("game: top and keep are not for this question")),
            None => Ok(()),
        }
    }
}

/// The question of a pick-up match for the teams of a place.
pub(super) fn question(game: &Value, place: u32) -> Result<AskedGame, Problem> {
    let read = serde_path_to_error::deserialize(game);
    let mut game: AskedGame = read.map_err(|error| {
        let why = super::body::wrong_in(&error.inner().to_string());
        super::body::wrong_at(error.path(), why).at("game")
    })?;
    game.keep = true;
    game.wanted = Some(Wanted {
        place,
        apart: false,
    });
    Ok(game)
}

/// Which teams a caller has seen.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Seen {
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
    pub(super) fn outcome(&self) -> Result<PickupOutcome, Problem> {
        match (self.winner, self.draw) {
            (Some(team), false) => Ok(PickupOutcome::Won(team)),
            (None, true) => Ok(PickupOutcome::Draw),
            _ => Err(Problem::bad("state either winner or \"draw\": true")),
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
struct Outcome {
    outcome: &'static str,
    winner: Option<u8>,
}

impl From<PickupOutcome> for Outcome {
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
    outcome: Outcome,
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
        "result": of.outcome.map(Outcome::from),
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
