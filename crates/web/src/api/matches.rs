//! Finished matches: `POST /v1/matches` records them, also in a short form that says only who played on which team,
//! and who won. `POST /v1/matches/{n}/void` leaves one out of the ratings, and `…/unvoid` no longer.

use axum::{
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::{
    ApiProblem, Call,
    call::{answer, json, wrong_at, wrong_in},
    game::{Identities, check_name},
};
use crate::{
    ingest::jsonl::read_reported,
    lobby::{Decision, LobbyError},
    model::{
        Kind, MatchRecord, Outcome, Participant, PlayerKey, Ruleset, Timestamp,
        access::Right,
        ident::Ident,
        match_chances::{MatchChances, TeamChances},
        names::name_of_id,
        record::{Presence, Role, Span},
        team_names::RoleName,
        text::counted,
        time::DAY,
    },
    protocol::request::Charge,
    session::{Report, Reporter},
    store::{Receipt, Reported},
};

/// The most matches in one request.
const MOST: usize = 100;
/// The longest key of a match, in bytes.
const KEY: usize = 255;

/// What became of a match.
#[derive(Debug, Serialize)]
struct MatchAnswer {
    r#match: i64,
    rated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// `POST /v1/matches`
pub(super) async fn record(call: Call) -> Result<Response, ApiProblem> {
    let client = call.client(&[Right::Report])?.to_owned();
    let body: Value = json(&call.body)?;
    let key = idempotency_key(&call.fields)?;
    let whole = hash(&body);
    let (list, is_list) = match body {
        Value::Array(list) if list.is_empty() || list.len() > MOST => {
            return Err(ApiProblem::bad(format!("send 1 to {MOST} matches")));
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
        let read = read.and_then(|report| match too_old(&call, &report.record) {
            Some(problem) => Err(problem),
            None => Ok(report),
        });
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
    let recorded = write(&call, &client, Reporter::Program, reports).await?;
    let answers = recorded.into_iter().map(|(id, unrated)| MatchAnswer {
        r#match: id,
        rated: unrated.is_none(),
        reason: unrated,
    });
    let answers: Vec<MatchAnswer> = answers.collect();
    let told = match (is_list, answers.first()) {
        (false, Some(one)) => answer(one)?,
        _ => answer(&answers)?,
    };
    Ok((StatusCode::CREATED, told).into_response())
}

/// Refuses a match that ended too long ago.
fn too_old(call: &Call, record: &MatchRecord) -> Option<ApiProblem> {
    let days = call.site.api.as_ref()?.settings.oldest_match_days.get();
    let oldest = call.site.now().plus_millis(-DAY * i64::from(days));
    (days > 0 && record.end < oldest).then(|| {
        ApiProblem::bad(format!(
            "start: it ended more than {} ago ([api] oldest_match_days): read it from a file with `evenkeel ingest`",
            counted(u64::from(days), "day")
        ))
    })
}

/// Records one match in either form. Returns its number, and why it is not rated.
pub(crate) async fn record_one(
    call: &Call,
    body: Value,
) -> Result<(i64, Option<String>), ApiProblem> {
    let client = call.client(&[Right::Report])?;
    call.count(Charge::Report, 1)?;
    let report = report(call, client, body, call.site.now()).await?;
    let recorded = write(call, client, Reporter::Person, vec![report]).await?;
    let none = || ApiProblem::bad("nothing was sent");
    recorded.into_iter().next().ok_or_else(none)
}

async fn write(
    call: &Call,
    client: &str,
    reporter: Reporter,
    reports: Vec<Report>,
) -> Result<Vec<(i64, Option<String>)>, ApiProblem> {
    let sessions = call.site.service().sessions();
    match sessions.record_reported(client, reporter, reports).await? {
        Reported::Recorded(recorded) => Ok(recorded),
        Reported::OtherBody(key) => {
            let key = key.split_once(':').map_or("", |(_, key)| key);
            let key = key.rsplit_once('#').map_or(key, |(key, _)| key);
            let why = format!("another body was sent under the key {key} before");
            Err(ApiProblem::other_body(why))
        }
    }
}

/// The key of the whole request.
fn idempotency_key(fields: &HeaderMap) -> Result<Option<String>, ApiProblem> {
    let Some(field) = fields.get("idempotency-key") else {
        return Ok(None);
    };
    let key = field.to_str().unwrap_or_default().trim();
    match (1..=KEY).contains(&key.len()) {
        true => Ok(Some(key.to_owned())),
        false => Err(ApiProblem::bad(format!(
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
) -> Result<Report, ApiProblem> {
    let body = hash(&value);
    let Value::Object(mut object) = value else {
        return Err(ApiProblem::bad("a match must be an object"));
    };
    let key: Option<String> = taken(&mut object, "id")?;
    let decision: Option<i64> = taken(&mut object, "decision")?;
    let keys = match key {
        Some(key) if key.is_empty() || key.len() > KEY => {
            return Err(ApiProblem::bad(format!("id: must have 1 to {KEY} bytes")));
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
            let known = Identities::of(call.site.service(), &short.ids()).await?;
            let record = short.record(client, now, (&known, call.caller.ids_are_names()))?;
            Identities::check_apart(call.site.service(), &short.humans(&known)).await?;
            record
        }
        _ => return Err(ApiProblem::bad("a match has either players or teams")),
    };
    record
        .check()
        .map_err(|why| ApiProblem::bad(why.to_string()))?;
    let is_nobody = |one: &Participant| {
        one.key.kind == Kind::Human && Ident::from_text(&one.key.id).is_nobody()
    };
    if record.participants.iter().any(is_nobody) {
        return Err(ApiProblem::bad(LobbyError::SharedId.to_string()));
    }
    if record.start.is_ahead_of(now) {
        return Err(ApiProblem::bad("start: is in the future"));
    }
    if record.end.is_ahead_of(now) {
        return Err(ApiProblem::bad("end: is in the future"));
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
) -> Result<MatchRecord, ApiProblem> {
    object.entry("evenkeel").or_insert(1.into());
    let instant = || now.exact().unwrap_or_default().into();
    object.entry("start").or_insert_with(instant);
    let bytes = Value::Object(object).to_string();
    let read = read_reported(bytes.as_bytes(), client);
    let mut record = read.map_err(|why| {
        let why = wrong_in(&why);
        ApiProblem::bad(why.split(" at line").next().unwrap_or_default())
    })?;
    let participants = &mut record.participants;
    let ids: Vec<&str> = participants.iter().map(|one| one.key.id.as_str()).collect();
    let known = Identities::of(call.site.service(), &ids).await?;
    for one in participants {
        let id = known.get(&one.key.id);
        // A handle in the place of an identity is no name.
        if call.caller.ids_are_names() && one.name.is_empty() && id == one.key.id {
            name_of_id(&id).clone_into(&mut one.name);
        }
        one.key.id = id;
    }
    Ok(record)
}

/// What was predicted of the teams of a stored decision of this client, which picked the teams of a match.
async fn picked(
    call: &Call,
    client: &str,
    number: i64,
    record: &MatchRecord,
) -> Result<MatchChances, ApiProblem> {
    let row = call
        .site
        .service()
        .store()
        .decisions()
        .decision(number)
        .await?;
    let row = row.filter(|row| row.server == client);
    let none = || ApiProblem::bad(format!("decision: you have no decision {number}"));
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
) -> Result<Option<T>, ApiProblem> {
    let Some(value) = object.remove(key) else {
        return Ok(None);
    };
    stated(value).map(Some).map_err(|problem| problem.at(key))
}

/// Reads a value that has been parsed.
fn stated<T: DeserializeOwned>(value: Value) -> Result<T, ApiProblem> {
    serde_path_to_error::deserialize(value)
        .map_err(|error| wrong_at(error.path(), wrong_in(&error.inner().to_string())))
}

/// A match in the short form.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShortMatch {
    ruleset: String,
    teams: Vec<Vec<ShortPlayer>>,
    winner: Option<u8>,
    #[serde(default)]
    draw: bool,
    scores: Option<Vec<f64>>,
    start: Option<String>,
    end: Option<String>,
    /// How long it lasted, in seconds.
    duration: Option<f64>,
    #[serde(default)]
    map: String,
    #[serde(default)]
    mode: String,
}

/// A player, as an id or with more.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
struct ShortPlayer(StatedPlayer);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatedPlayer {
    id: String,
    name: Option<String>,
    /// Whether nothing but an id was stated, which is then the name.
    #[serde(skip)]
    is_name: bool,
    #[serde(default)]
    bot: bool,
    points: Option<f64>,
    #[serde(default)]
    kills: u32,
    #[serde(default)]
    deaths: u32,
    role: Option<String>,
    /// The share of the match for which the player was there, from its start.
    share: Option<f64>,
    party: Option<u32>,
}

impl TryFrom<Value> for ShortPlayer {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        let is_name = value.is_string();
        let stated = match value {
            Value::String(id) => serde_json::json!({ "id": id }),
            stated => stated,
        };
        let stated = serde_json::from_value(stated)?;
        Ok(Self(StatedPlayer { is_name, ..stated }))
    }
}

/// The longest that a match may last.
const LONGEST: f64 = 7.0 * 86_400.0;

impl ShortMatch {
    /// The ids that it names.
    pub(super) fn ids(&self) -> Vec<&str> {
        let players = self.teams.iter().flatten();
        players
            .map(|ShortPlayer(player)| player.id.as_str())
            .collect()
    }

    /// The identities of the humans that it names, and where it names them.
    pub(super) fn humans(&self, known: &Identities) -> Vec<(String, String)> {
        let teams = self.teams.iter().enumerate();
        let players = teams.flat_map(|(team, players)| {
            let players = players.iter().enumerate();
            players
                .map(move |(at, ShortPlayer(player))| (format!("teams[{team}][{at}].id"), player))
        });
        let humans = players.filter(|(_, player)| !player.bot);
        let named = humans.map(|(place, player)| (known.get(&player.id), place));
        named.collect()
    }

    /// The record of the match, which the caller must check.
    pub(super) fn record(
        &self,
        server: &str,
        now: Timestamp,
        (known, ids_are_names): (&Identities, bool),
    ) -> Result<MatchRecord, ApiProblem> {
        check_name("ruleset", &self.ruleset)?;
        if !(2..=8).contains(&self.teams.len()) {
            return Err(ApiProblem::bad("teams: must be 2 to 8 lists of players"));
        }
        let (scores, outcome) = self.result()?;
        let (start, end, untimed) = self.times(now)?;
        let ruleset = Ruleset::parse(&self.ruleset);
        let mut mutators: Vec<String> = ruleset.mutators().map(str::to_owned).collect();
        mutators.sort();
        let mut record = MatchRecord {
            server: server.to_owned(),
            start,
            end,
            clock: None,
            untimed,
            client: String::new(),
            too_many_new: None,
            logged_as: None,
            map: self.map.clone(),
            game_type: ruleset.game_type().to_owned(),
            mode: self.mode.clone(),
            mutators,
            unscored: self.scores.is_none(),
            scores,
            participants: Vec::new(),
            events: Vec::new(),
            outcome,
        };
        let millis = record.millis();
        for (team, players) in (0u8..).zip(&self.teams) {
            for (at, ShortPlayer(player)) in players.iter().enumerate() {
                let place = format!("teams[{team}][{at}]");
                let one = participant(player, &place, team, millis, (known, ids_are_names))?;
                if record.participants.iter().any(|other| other.key == one.key) {
                    let why = format!("{place}.id: {} is there twice", player.id);
                    return Err(ApiProblem::bad(why));
                }
                record.participants.push(one);
            }
        }
        Ok(record)
    }

    /// The final scores, and who has won.
    fn result(&self) -> Result<(Vec<f64>, Outcome), ApiProblem> {
        let teams = self.teams.len();
        let scores = match &self.scores {
            Some(scores) if scores.len() != teams => {
                return Err(ApiProblem::bad("scores: must be one number for each team"));
            }
            scores => scores.clone().unwrap_or_else(|| vec![0.0; teams]),
        };
        let outcome = match (self.winner, self.draw, &self.scores) {
            (Some(_), true, _) => return Err(ApiProblem::bad("draw: there is a winner")),
            (Some(team), false, _) if usize::from(team) >= teams => {
                return Err(ApiProblem::bad(format!("winner: there is no team {team}")));
            }
            (Some(team), false, _) => Outcome::Won(team),
            (None, true, _) => Outcome::Draw,
            (None, false, Some(scores)) => MatchRecord::outcome_of(scores),
            (None, false, None) => {
                return Err(ApiProblem::bad("state winner, \"draw\": true or scores"));
            }
        };
        Ok((scores, outcome))
    }

    /// When the match began and ended, and whether its length is not known.
    fn times(&self, now: Timestamp) -> Result<(Timestamp, Timestamp, bool), ApiProblem> {
        let read = |place: &str, text: &Option<String>| match text {
            Some(text) => match Timestamp::parse(text) {
                Some(at) => Ok(Some(at)),
                None => Err(ApiProblem::bad(format!("{place}: is not a date"))),
            },
            None => Ok(None),
        };
        let (start, end) = (read("start", &self.start)?, read("end", &self.end)?);
        let length = match self.duration {
            Some(seconds) if !(0.0..=LONGEST).contains(&seconds) => {
                return Err(ApiProblem::bad("duration: must be 0 to 604800 seconds"));
            }
            seconds => seconds.map(|seconds| (seconds * 1_000.0).round() as i64),
        };
        match (start, end, length) {
            (Some(_), Some(_), Some(_)) => {
                Err(ApiProblem::bad("duration: follows from start and end"))
            }
            (Some(start), Some(end), None) => Ok((start, end, false)),
            (Some(start), None, Some(length)) => Ok((start, start.plus_millis(length), false)),
            (None, end, Some(length)) => {
                let end = end.unwrap_or(now);
                Ok((end.plus_millis(-length), end, false))
            }
            (at, None, None) | (None, at, None) => {
                let at = at.unwrap_or(now);
                Ok((at, at, true))
            }
        }
    }
}

fn participant(
    player: &StatedPlayer,
    place: &str,
    team: u8,
    millis: u64,
    (known, ids_are_names): (&Identities, bool),
) -> Result<Participant, ApiProblem> {
    check_name(&format!("{place}.id"), &player.id)?;
    let share = player.share.unwrap_or(1.0);
    if !(0.0..=1.0).contains(&share) {
        return Err(ApiProblem::bad(format!("{place}.share: must be 0 to 1")));
    }
    let role = |name: &String| {
        let wrong = || ApiProblem::bad(format!("{place}.role: is no name of a role"));
        let name = RoleName::read(name).ok_or_else(wrong)?;
        Ok::<_, ApiProblem>(Role {
            name: name.as_str().to_owned(),
            team,
            share,
        })
    };
    let (kind, id) = match player.bot {
        true => (Kind::Bot, player.id.clone()),
        false => (Kind::Human, known.get(&player.id)),
    };
    let to = (share * millis as f64).round() as u64;
    let name = match &player.name {
        Some(name) => name.clone(),
        None if player.bot => id.clone(),
        // A handle in the place of an identity is no name.
        None if (player.is_name || ids_are_names) && id == player.id => name_of_id(&id).to_owned(),
        None => String::new(),
    };
    Ok(Participant {
        name,
        key: PlayerKey { kind, id },
        presence: vec![Presence {
            team,
            span: Span { from: 0, to },
        }],
        points: player.points,
        kills: player.kills,
        deaths: player.deaths,
        roles: player.role.iter().map(role).collect::<Result<_, _>>()?,
        party: player.party,
        left: None,
    })
}

/// Whether a match is left out of the ratings.
#[derive(Debug, Serialize)]
struct Void {
    r#match: i64,
    void: bool,
    changed: bool,
}

/// `POST /v1/matches/{n}/void` and `…/unvoid`
pub(super) async fn change_void(call: Call, void: bool) -> Result<Response, ApiProblem> {
    call.client(&[Right::Admin, Right::Report])?;
    let id: i64 = call.part("name").parse().map_err(|_| no_match())?;
    let changed = set_void(&call, id, void).await?;
    answer(&Void {
        r#match: id,
        void,
        changed,
    })
}

fn no_match() -> ApiProblem {
    ApiProblem::nothing("no match has this number")
}

/// Leaves a match out of the ratings, or no longer. Returns whether that changes anything.
pub(crate) async fn set_void(call: &Call, id: i64, void: bool) -> Result<bool, ApiProblem> {
    may_void(call, id).await?;
    let store = call.site.service().store();
    Ok(store.corrections().set_void(&[id], void).await? > 0)
}

/// Refuses a caller who may not leave a match out of the ratings.
pub(super) async fn may_void(call: &Call, id: i64) -> Result<(), ApiProblem> {
    let client = call.client(&[Right::Admin, Right::Report])?;
    call.count(Charge::Report, 1)?;
    let store = call.site.service().store();
    store.matches().start_of(id).await?.ok_or_else(no_match)?;
    if !call.caller.has(Right::Admin) {
        let since = call.site.now().plus_millis(-DAY);
        let own = store.matches().reporter_of(id).await?;
        if !own.is_some_and(|(name, at)| name == client && at >= since) {
            let why = "with the right report, only your own matches of the last 24 hours";
            return Err(ApiProblem::forbidden(why));
        }
    }
    Ok(())
}
