//! `POST /v1/matches`: records finished matches.

use axum::{
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{
    Call, Problem,
    body::{json, wrong_at, wrong_in},
    call::answer,
    identities::Identities,
    short::ShortMatch,
};
use crate::{
    ingest::read_reported,
    lobby::{Decision, LobbyError},
    model::{Ident, Kind, MatchChances, MatchRecord, Participant, Right, TeamChances, Timestamp},
    protocol::Charge,
    session::Report,
    store::{Receipt, Reported},
};

/// The most matches in one request.
const MOST: usize = 100;
/// The longest key of a match, in bytes.
const KEY: usize = 255;

/// What became of a match.
#[derive(Debug, Serialize)]
struct Answer {
    r#match: i64,
    rated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// `POST /v1/matches`
pub(super) async fn record(call: Call) -> Result<Response, Problem> {
    let client = call.client(&[Right::Report])?.to_owned();
    let body: Value = json(&call.body)?;
    let key = idempotency_key(&call.fields)?;
    let whole = hash(&body);
    let (list, is_list) = match body {
        Value::Array(list) if list.is_empty() || list.len() > MOST => {
            return Err(Problem::bad(format!("send 1 to {MOST} matches")));
        }
        Value::Array(list) => (list, true),
        one => (vec![one], false),
    };
    call.count(Charge::Report, list.len())?;
    let now = call.site.now();
    let mut reports = Vec::with_capacity(list.len());
    for (at, one) in list.into_iter().enumerate() {
        // Those without a time keep their order.
        let now = now.plus_millis(i64::try_from(at).unwrap_or(0));
        let read = report(&call, &client, one, now).await;
        let mut report = read.map_err(|problem| match is_list {
            true => problem.at(&format!("[{at}]")),
            false => problem,
        })?;
        report.keys.extend(key.iter().map(|key| Receipt {
            key: format!("header:{key}#{at}"),
            body: whole,
        }));
        reports.push(report);
    }
    let recorded = write(&call, &client, reports).await?;
    let answers = recorded.into_iter().map(|(id, unrated)| Answer {
        r#match: id,
        rated: unrated.is_none(),
        reason: unrated,
    });
    let answers: Vec<Answer> = answers.collect();
    let told = match (is_list, answers.first()) {
        (false, Some(one)) => answer(one)?,
        _ => answer(&answers)?,
    };
    Ok((StatusCode::CREATED, told).into_response())
}

/// Records one match in either form. Returns its number, and why it is not rated.
pub(in crate::web) async fn record_one(
    call: &Call,
    body: Value,
) -> Result<(i64, Option<String>), Problem> {
    let client = call.client(&[Right::Report])?;
    call.count(Charge::Report, 1)?;
    let report = report(call, client, body, call.site.now()).await?;
    let recorded = write(call, client, vec![report]).await?;
    let none = || Problem::bad("nothing was sent");
    recorded.into_iter().next().ok_or_else(none)
}

async fn write(
    call: &Call,
    client: &str,
    reports: Vec<Report>,
) -> Result<Vec<(i64, Option<String>)>, Problem> {
    let sessions = call.site.service().sessions();
    match sessions.record_reported(client, reports).await? {
        Reported::Recorded(recorded) => Ok(recorded),
        Reported::OtherBody(key) => {
            let key = key.split_once(':').map_or("", |(_, key)| key);
            let key = key.rsplit_once('#').map_or(key, |(key, _)| key);
            let why = format!("another body was sent under the key {key} before");
            Err(Problem::other_body(why))
        }
    }
}

/// The key of the whole request.
fn idempotency_key(fields: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(field) = fields.get("idempotency-key") else {
        return Ok(None);
    };
    let key = field.to_str().unwrap_or_default().trim();
    match (1..=KEY).contains(&key.len()) {
        true => Ok(Some(key.to_owned())),
        false => Err(Problem::bad(format!(
            "Idempotency-Key: must have 1 to {KEY} visible characters"
        ))),
    }
}

/// A hash of JSON, whatever the white space in it.
pub(super) fn hash(value: &Value) -> [u8; 32] {
    Sha256::digest(value.to_string().as_bytes()).into()
}

/// One match of a request, in either form.
pub(super) async fn report(
    call: &Call,
    client: &str,
    value: Value,
    now: Timestamp,
) -> Result<Report, Problem> {
    let body = hash(&value);
    let Value::Object(mut object) = value else {
        return Err(Problem::bad("a match must be an object"));
    };
    let key: Option<String> = taken(&mut object, "id")?;
    let decision: Option<i64> = taken(&mut object, "decision")?;
    let keys = match key {
        Some(key) if key.is_empty() || key.len() > KEY => {
            return Err(Problem::bad(format!("id: must have 1 to {KEY} bytes")));
        }
        key => key.map(|key| Receipt {
            key: format!("id:{key}"),
            body,
        }),
    };
    let record = match (object.contains_key("players"), object.contains_key("teams")) {
        (true, false) => long(call, client, object, now).await?,
        (false, true) => {
            let short: ShortMatch = stated(Value::Object(object))?;
            let known = Identities::of(call, &short.ids()).await?;
            let record = short.record(client, now, &known)?;
            Identities::check_apart(call, &short.humans(&known)).await?;
            record
        }
        _ => return Err(Problem::bad("a match has either players or teams")),
    };
    record
        .check()
        .map_err(|why| Problem::bad(why.to_string()))?;
    let is_nobody = |one: &Participant| {
        one.key.kind == Kind::Human && Ident::from_text(&one.key.id).is_nobody()
    };
    if record.participants.iter().any(is_nobody) {
        return Err(Problem::bad(LobbyError::SharedId.to_string()));
    }
    if record.start.is_ahead_of(now) {
        return Err(Problem::bad("start: is in the future"));
    }
    if record.end.is_ahead_of(now) {
        return Err(Problem::bad("end: is in the future"));
    }
    let record = record.played();
    let chances = match decision {
        Some(decision) => picked(call, client, decision, &record).await?,
        None => MatchChances::default(),
    };
    Ok(Report {
        record,
        keys: keys.into_iter().collect(),
        chances,
        decision,
    })
}

/// A match in the interchange format. It need not state the version, and without a start it ends now.
async fn long(
    call: &Call,
    client: &str,
    mut object: Map<String, Value>,
    now: Timestamp,
) -> Result<MatchRecord, Problem> {
    object.entry("evenkeel").or_insert(1.into());
    let instant = || now.exact().unwrap_or_default().into();
    object.entry("start").or_insert_with(instant);
    let bytes = Value::Object(object).to_string();
    let read = read_reported(bytes.as_bytes(), client);
    let mut record = read.map_err(|why| {
        let why = wrong_in(&why);
        Problem::bad(why.split(" at line").next().unwrap_or_default())
    })?;
    let participants = &mut record.participants;
    let ids: Vec<&str> = participants.iter().map(|one| one.key.id.as_str()).collect();
    let known = Identities::of(call, &ids).await?;
    for one in participants {
        one.key.id = known.get(&one.key.id);
    }
    Ok(record)
}

/// What was predicted of the teams of a stored decision of this client, which picked the teams of a match.
async fn picked(
    call: &Call,
    client: &str,
    number: i64,
    record: &MatchRecord,
) -> Result<MatchChances, Problem> {
    let row = call
        .site
        .service()
        .store()
        .decisions()
        .decision(number)
        .await?;
    let row = row.filter(|row| row.server == client);
    let none = || Problem::bad(format!("decision: you have no decision {number}"));
    let row = row.ok_or_else(none)?;
    let (Some(chance), 2) = (row.chance, record.scores.len()) else {
        return Ok(MatchChances::default());
    };
    let Ok(Decision::Balance(decided)) = serde_json::from_str(&row.decision) else {
        return Ok(MatchChances::default());
    };
    let teams = &decided.answer.team_of;
    let on = |team: u8| teams.iter().filter(|on| **on == team).count();
    let humans = [on(0), on(1)].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let picked = TeamChances {
        win: vec![chance, 1.0 - chance],
        humans: humans.to_vec(),
        bots: vec![0, 0],
    };
    Ok(MatchChances {
        picked: Some(picked).filter(TeamChances::is_sound),
        ..MatchChances::default()
    })
}

/// Takes a key out of an object.
fn taken<T: DeserializeOwned>(
    object: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<T>, Problem> {
    let Some(value) = object.remove(key) else {
        return Ok(None);
    };
    stated(value).map(Some).map_err(|problem| problem.at(key))
}

/// Reads a value that has been parsed.
fn stated<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(value)
        .map_err(|error| wrong_at(error.path(), wrong_in(&error.inner().to_string())))
}
