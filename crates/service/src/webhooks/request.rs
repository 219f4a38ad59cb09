//! The request of an event: its JSON, its signature by Standard Webhooks 1.0.0, what the answer of the receiver means,
//! and when the request is repeated.

use std::{fmt, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::Sha256;

use crate::{
    model::{
        Kind, MatchRecord, Outcome, Participant, Timestamp, match_chances::ChanceSummary,
        time::Backoff,
    },
    store::{FormedReport, FormedSeat, HookEvent, HookReport, RecordedReport},
};

/// The version of the content. It grows if a key changes its meaning; keys may be added without that.
const VERSION: u32 = 1;
/// The most bytes of a body. A match whose body would be larger is sent without the names of its players.
pub const MAX_BODY: usize = 64 * 1_024;

/// The event as JSON, at most [`MAX_BODY`] bytes long.
pub fn body(event: &HookEvent, report: &HookReport) -> String {
    let whole = text(event, report, true);
    match whole.len() <= MAX_BODY {
        true => whole,
        false => text(event, report, false),
    }
}

fn text(event: &HookEvent, report: &HookReport, with_players: bool) -> String {
    let (name, mut data) = match report {
        HookReport::Test => ("test", json!({ "text": "This is a test of Evenkeel." })),
        HookReport::Formed(formed) => ("match.formed", formed_match(formed, with_players)),
        HookReport::Hosted(formed) => ("match.hosted", formed_match(formed, with_players)),
        HookReport::Recorded(recorded) => {
            ("match.recorded", recorded_match(recorded, with_players))
        }
    };
    if let Value::Object(data) = &mut data
        && *report != HookReport::Test
    {
        data.insert("match".to_owned(), json!(event.match_id));
        if let (HookReport::Hosted(_), Some(address)) = (report, &event.address) {
            data.insert("address".to_owned(), json!(address));
        }
        if !with_players {
            data.insert("players_left_out".to_owned(), json!(true));
        }
    }
    let whole = json!({
        "type": name,
        "version": VERSION,
        "id": event.id,
        "timestamp": time(event.at),
        "data": data,
    });
    whole.to_string()
}

/// An instant as text; `null` outside the calendar.
fn time(at: Timestamp) -> Option<String> {
    at.exact()
}

fn formed_match(formed: &FormedReport, with_players: bool) -> Value {
    let seat = |seat: &FormedSeat| json!({ "player": seat.player, "client": seat.client, "ticket": seat.ticket });
    let team = |team: &Vec<FormedSeat>| {
        let players = team.iter().filter(|_| with_players);
        json!({ "players": players.map(seat).collect::<Vec<_>>() })
    };
    json!({
        "queue": formed.queue,
        "mode": formed.mode,
        "map": formed.map,
        "ruleset": formed.ruleset,
        "chances": ChanceSummary { picked: Some(formed.picked.clone()), ..ChanceSummary::default() },
        "teams": formed.teams.iter().map(team).collect::<Vec<_>>(),
    })
}

fn recorded_match(recorded: &RecordedReport, with_players: bool) -> Value {
    let record = &recorded.record;
    let (outcome, winner) = match record.outcome {
        Outcome::Won(team) => ("won", Some(team)),
        Outcome::Draw => ("draw", None),
        Outcome::Undecided => ("undecided", None),
        Outcome::Abandoned => ("abandoned", None),
    };
    let mutators = record.mutators.iter().filter(|_| with_players);
    json!({
        "queue": recorded.queue,
        "server": record.server,
        "map": stated(&record.map),
        "game_type": record.game_type,
        "mode": stated(&record.mode),
        "mutators": mutators.collect::<Vec<_>>(),
        "started": time(record.start),
        "ended": time(record.end),
        "outcome": outcome,
        "winner": winner,
        "chances": recorded.chances,
        "closeness": closeness(record),
        "teams": teams(record, with_players),
    })
}

/// What a record states; `null` where it states nothing, as for a match that has no map yet.
fn stated(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// The teams with their scores and players. In a match without teams, all players are in one team without
/// a score.
fn teams(record: &MatchRecord, with_players: bool) -> Vec<Value> {
    let count = record.scores.len().max(1);
    let mut players: Vec<Vec<Value>> = vec![Vec::new(); count];
    for participant in record.participants.iter().filter(|_| with_players) {
        let Some(team) = participant.main_team() else {
            continue; // never on a team
        };
        if let Some(team) = players.get_mut(usize::from(team)) {
            team.push(player(participant));
        }
    }
    let scores = record.known_scores();
    let team = |(at, players): (usize, _)| {
        let mut team = Map::new();
        team.insert("score".to_owned(), json!(scores.get(at)));
        team.insert("players".to_owned(), Value::Array(players));
        Value::Object(team)
    };
    players.into_iter().enumerate().map(team).collect()
}

fn player(participant: &Participant) -> Value {
    json!({
        "player": participant.key.id,
        "name": participant.name,
        "bot": participant.key.kind == Kind::Bot,
        "points": participant.points,
        "kills": participant.kills,
        "deaths": participant.deaths,
        "seconds": participant.millis() / 1_000,
    })
}

/// How close the result of a match was: the second highest score divided by the highest, 1 for a draw.
/// `None` if the match was abandoned, has no teams, or has a score below 0, and if somebody has won with a score that is
/// not known.
pub fn closeness(record: &MatchRecord) -> Option<f64> {
    if record.outcome == Outcome::Abandoned || record.scores.len() < 2 {
        return None;
    }
    if record.unscored && record.outcome != Outcome::Draw {
        return None;
    }
    if record.scores.iter().any(|score| *score < 0.0) {
        return None;
    }
    let mut scores = record.scores.clone();
    scores.sort_by(|a, b| b.total_cmp(a));
    match scores[..] {
        [best, second, ..] if best > 0.0 => Some(second / best),
        _ => Some(1.0),
    }
}

/// What a secret begins with.
const PREFIX: &str = "whsec_";
/// The number of bytes that a key may have.
const KEY: std::ops::RangeInclusive<usize> = 24..=64;
/// The most secrets at once: one, and a second while receivers change to it.
const MAX_KEYS: usize = 2;

/// The keys with which the requests to a webhook are signed. They are never printed.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct SigningKeys(Vec<Vec<u8>>);

impl SigningKeys {
    /// Reads one or two secrets such as `whsec_…`, separated by white space.
    ///
    /// # Errors
    /// Fails if a secret has another form, or a key of fewer than 24 or more than 64 bytes. The message
    /// does not contain the secret.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let keys: Option<Vec<Vec<u8>>> = text.split_whitespace().map(signing_key).collect();
        match keys {
            Some(keys) if (1..=MAX_KEYS).contains(&keys.len()) => Ok(Self(keys)),
            Some(keys) if keys.is_empty() => Err("must not be empty"),
            Some(_) => Err("must be one secret, or two while receivers change to the second"),
            None => Err(
                "must be whsec_ and 24 to 64 bytes in base64, as `evenkeel webhook secret` prints",
            ),
        }
    }

    /// A secret with this key, as [`parse`](Self::parse) reads it.
    pub fn secret(key: &[u8; 32]) -> String {
        format!("{PREFIX}{}", STANDARD.encode(key))
    }

    /// The value of the header `webhook-signature`: a signature by each key.
    pub fn sign(&self, id: &str, seconds: i64, body: &str) -> String {
        let sign = |key: &Vec<u8>| {
            let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
            mac.update(format!("{id}.{seconds}.{body}").as_bytes());
            let digest = mac.finalize().into_bytes();
            Some(format!("v1,{}", STANDARD.encode(digest)))
        };
        let all: Vec<String> = self.0.iter().filter_map(sign).collect();
        all.join(" ")
    }
}

fn signing_key(secret: &str) -> Option<Vec<u8>> {
    let key = STANDARD.decode(secret.strip_prefix(PREFIX)?).ok()?;
    KEY.contains(&key.len()).then_some(key)
}

impl TryFrom<String> for SigningKeys {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl fmt::Debug for SigningKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKeys")
    }
}

/// The delays after failed tries.
const DELAYS: Backoff = Backoff::new(Duration::from_secs(1), LONGEST_DELAY);
/// The longest delay without the receiver's own wish.
pub const LONGEST_DELAY: Duration = Duration::from_secs(600);
/// The longest delay that a receiver can ask for.
const LONGEST_WISH: Duration = Duration::from_secs(3_600);
/// How often an event is sent to a receiver that refuses its content.
const REFUSALS: u32 = 5;

/// How a receiver has answered a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// With this HTTP status, and the seconds for which it asks to wait, if it states them.
    Status(u16, Option<u64>),
    /// Not at all, for this reason.
    Failed(String),
}

impl HookAnswer {
    /// The answer in a few words, for logs.
    pub fn describe(&self) -> String {
        match self {
            Self::Status(status @ 300..=399, _) => {
                format!("HTTP {status}: redirects are not followed")
            }
            Self::Status(status, _) => format!("HTTP {status}"),
            Self::Failed(why) => why.clone(),
        }
    }
}

/// What follows from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookVerdict {
    /// The receiver has the event.
    Delivered,
    /// The event is sent again later.
    Again,
    /// The receiver refuses this event: the next one is sent.
    GiveUp,
}

/// What follows from an answer to the request number `tries`, counted from 1. Only a status of 200 to
/// 299 means that the receiver has the event.
pub fn verdict(answer: &HookAnswer, tries: u32) -> HookVerdict {
    match answer {
        HookAnswer::Status(200..=299, _) => HookVerdict::Delivered,
        // The request itself is at fault, so another event may fare better.
        HookAnswer::Status(400 | 413 | 422, _) if tries >= REFUSALS => HookVerdict::GiveUp,
        _ => HookVerdict::Again,
    }
}

/// How long to wait after `tries` failed tries: a second, then twice as long each time, up to
/// [`LONGEST_DELAY`]. `roll`, a random number, shortens it by up to a half, so that receivers are not asked
/// by many daemons at once. A wish of the receiver can make it longer, up to an hour.
pub fn delay(tries: u32, roll: u16, answer: &HookAnswer) -> Duration {
    let own = DELAYS.spread(tries, f64::from(roll) / f64::from(u16::MAX));
    let wish = match answer {
        HookAnswer::Status(_, Some(seconds)) => Duration::from_secs(*seconds).min(LONGEST_WISH),
        _ => Duration::ZERO,
    };
    own.max(wish)
}

#[cfg(test)]
mod tests {
    //! Tests of the JSON of events.

    use serde_json::{Value, json};

    use super::*;
    use crate::{
        model::{
            PlayerKey,
            match_chances::TeamChances,
            record::{Presence, Span},
        },
        store::HookKind,
    };

    fn event(kind: HookKind) -> HookEvent {
        HookEvent {
            number: 7,
            id: "evt_1".to_owned(),
            kind: Some(kind),
            match_id: 42,
            at: Timestamp(1_700_000_000_123),
            address: Some("play.example:27960".to_owned()),
        }
    }

    fn participant(name: &str, stays: &[(u8, u64, u64)]) -> Participant {
        let stay = |&(team, from, to): &(u8, u64, u64)| Presence {
            team,
            span: Span { from, to },
        };
        Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: name.into(),
            },
            name: name.into(),
            presence: stays.iter().map(stay).collect(),
            points: Some(3.0),
            kills: 2,
            deaths: 1,
            roles: vec![],
            party: None,
            left: None,
        }
    }

    fn record(scores: &[f64], participants: Vec<Participant>) -> MatchRecord {
        MatchRecord {
            server: "s".into(),
            start: Timestamp(1_700_000_000_000),
            end: Timestamp(1_700_000_600_000),
            clock: None,
            untimed: false,
            client: String::new(),
            unscored: false,
            too_many_new: None,
            logged_as: None,
            map: "m".into(),
            game_type: "ctf".into(),
            mode: String::new(),
            mutators: vec!["low".into()],
            scores: scores.to_vec(),
            participants,
            events: vec![],
            outcome: MatchRecord::outcome_of(scores),
        }
    }

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn recorded(record: MatchRecord) -> HookReport {
        HookReport::Recorded(Box::new(RecordedReport {
            queue: Some("duel".to_owned()),
            chances: ChanceSummary {
                started: Some(TeamChances {
                    win: vec![0.25, 0.75],
                    humans: vec![1, 2],
                    bots: vec![0, 0],
                }),
                ..ChanceSummary::default()
            },
            record,
        }))
    }

    #[test]
    fn scores_that_are_not_known_are_null() {
        let people = || {
            vec![
                participant("ann", &[(0, 0, 600_000)]),
                participant("bob", &[(1, 0, 600_000)]),
            ]
        };
        for (outcome, closeness) in [
            (Outcome::Won(1), Value::Null),
            (Outcome::Draw, 1.0.into()),
            (Outcome::Undecided, Value::Null),
        ] {
            let record = MatchRecord {
                unscored: true,
                outcome,
                ..record(&[0.0, 0.0], people())
            };
            let whole = read(&body(&event(HookKind::Recorded), &recorded(record)));
            let data = &whole["data"];
            assert_eq!(data["closeness"], closeness, "{outcome:?}");
            for team in 0..2 {
                assert_eq!(data["teams"][team]["score"], Value::Null, "{outcome:?}");
            }
        }
    }

    #[test]
    fn a_recorded_match_has_its_teams_scores_chances_and_closeness() {
        let people = vec![
            participant("ann", &[(0, 0, 400_000), (1, 400_000, 600_000)]),
            participant("bob", &[(1, 0, 600_000)]),
            participant("eve", &[]),
        ];
        let report = recorded(record(&[2.0, 4.0], people));
        let whole = read(&body(&event(HookKind::Recorded), &report));
        assert_eq!(whole["type"], "match.recorded");
        assert_eq!(whole["version"], 1);
        assert_eq!(whole["timestamp"], "2023-11-14T22:13:20.123Z");
        let data = &whole["data"];
        assert_eq!(data["match"], 42);
        assert_eq!(
            (&data["outcome"], &data["winner"]),
            (&"won".into(), &1.into())
        );
        assert_eq!(data["closeness"], 0.5);
        let started = json!({"win": [0.25, 0.75], "humans": [1, 2], "bots": [0, 0]});
        assert_eq!(data["chances"], json!({"picked": null, "started": started}));
        assert_eq!(data["teams"][0]["score"], 2.0);
        assert_eq!(data["teams"][0]["players"][0]["player"], "ann");
        assert_eq!(data["teams"][0]["players"][0]["seconds"], 600);
        assert_eq!(data["teams"][1]["players"].as_array().unwrap().len(), 1);
        assert!(
            data.get("address").is_none(),
            "only where a match is hosted"
        );
    }

    #[test]
    fn a_hosted_match_has_the_address_and_the_teams() {
        let seat = |player: &str| FormedSeat {
            player: player.to_owned(),
            client: Some("bot".to_owned()),
            ticket: Some("t1".to_owned()),
        };
        let formed = FormedReport {
            queue: "duel".to_owned(),
            map: Some("q3dm6".to_owned()),
            teams: vec![vec![seat("ann")], vec![seat("a\"b\n")]],
            ..FormedReport::default()
        };
        let whole = read(&body(
            &event(HookKind::Hosted),
            &HookReport::Hosted(formed.clone()),
        ));
        assert_eq!(whole["data"]["address"], "play.example:27960");
        assert_eq!(whole["data"]["teams"][1]["players"][0]["player"], "a\"b\n");
        let whole = read(&body(&event(HookKind::Formed), &HookReport::Formed(formed)));
        assert!(whole["data"].get("address").is_none());
        assert_eq!(whole["data"]["mode"], Value::Null);
    }

    #[test]
    fn what_a_match_does_not_have_is_null_in_every_event() {
        let bare = MatchRecord {
            map: String::new(),
            ..record(&[1.0, 0.0], vec![])
        };
        for (kind, report) in [
            (HookKind::Recorded, recorded(bare)),
            (
                HookKind::Formed,
                HookReport::Formed(FormedReport::default()),
            ),
        ] {
            let whole = read(&body(&event(kind), &report));
            for key in ["map", "mode"] {
                assert_eq!(whole["data"][key], Value::Null, "{key} of {kind:?}");
            }
        }
    }

    #[test]
    fn a_body_is_bounded() {
        let people = (0..1_024).map(|n| participant(&format!("{n:0>200}"), &[(0, 0, 1)]));
        let mut large = record(&[1.0, 0.0], people.collect());
        large.mutators = (0..256).map(|n| format!("{n:0>255}")).collect();
        let text = body(&event(HookKind::Recorded), &recorded(large));
        assert!(text.len() <= MAX_BODY, "{}", text.len());
        assert_eq!(read(&text)["data"]["players_left_out"], true);
        assert_eq!(read(&text)["data"]["teams"][0]["score"], 1.0);
    }

    #[test]
    fn closeness_compares_the_two_best() {
        let of = |scores: &[f64]| closeness(&record(scores, vec![]));
        assert_eq!(of(&[3.0, 3.0]), Some(1.0));
        assert_eq!(of(&[0.0, 0.0]), Some(1.0));
        assert_eq!(of(&[0.0, 5.0]), Some(0.0));
        assert_eq!(of(&[1.0, 4.0, 2.0]), Some(0.5));
        assert_eq!(of(&[-1.0, 4.0]), None);
        assert_eq!(of(&[]), None);
        let mut left = record(&[1.0, 0.0], vec![]);
        left.outcome = Outcome::Abandoned;
        assert_eq!(closeness(&left), None);
    }

    /// A secret, and what the libraries of Standard Webhooks expect for it in their own tests.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const SIGNED: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    #[test]
    fn the_signature_is_that_of_the_published_libraries() {
        let sign = |text: &str| {
            let keys = SigningKeys::parse(text).unwrap();
            let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
            keys.sign(id, 1_614_265_330, r#"{"test": 2432232314}"#)
        };
        assert_eq!(sign(SECRET), SIGNED);
        let other = SigningKeys::secret(&[7; 32]);
        let both = sign(&format!(" {SECRET}\n{other}\n"));
        assert_eq!(both, format!("{SIGNED} {}", sign(&other)));
    }

    #[test]
    fn other_secrets_are_refused_and_not_printed() {
        let short = format!("whsec_{}", STANDARD.encode([1; 23]));
        let long = format!("whsec_{}", STANDARD.encode([1; 65]));
        let three = [SECRET; 3].join(" ");
        for bad in [
            "",
            " ",
            "hunter2",
            "whsec_",
            "whsec_a b",
            &short,
            &long,
            &three,
        ] {
            let why = SigningKeys::parse(bad).unwrap_err();
            assert!(
                why.starts_with("must") && !why.contains("hunter2"),
                "{bad}: {why}"
            );
        }
        let keys = SigningKeys::parse(SECRET).unwrap();
        assert_eq!(format!("{keys:?}"), "SigningKeys");
    }

    const BROKEN: HookAnswer = HookAnswer::Status(500, None);

    #[test]
    fn delays_grow_to_ten_minutes() {
        let seconds = |tries, roll| delay(tries, roll, &BROKEN).as_secs_f64();
        assert_eq!(seconds(1, 0), 1.0);
        assert_eq!(seconds(1, u16::MAX), 0.5);
        assert_eq!(seconds(4, 0), 8.0);
        assert_eq!(seconds(11, 0), 600.0);
        assert_eq!(seconds(u32::MAX, u16::MAX), 300.0);
        assert_eq!(seconds(0, 0), 1.0);
    }

    #[test]
    fn a_receiver_may_ask_for_an_hour() {
        let wish = |seconds| delay(1, 0, &HookAnswer::Status(429, Some(seconds))).as_secs();
        assert_eq!(wish(0), 1);
        assert_eq!(wish(90), 90);
        assert_eq!(wish(u64::MAX), 3_600);
    }

    #[test]
    fn only_success_is_success() {
        let after = |status, tries| verdict(&HookAnswer::Status(status, None), tries);
        for status in [200, 202, 204, 299] {
            assert_eq!(after(status, 1), HookVerdict::Delivered);
        }
        for status in [100, 301, 302, 308, 401, 404, 410, 429, 500, 503] {
            assert_eq!(after(status, 99), HookVerdict::Again, "{status}");
        }
        for status in [400, 413, 422] {
            assert_eq!(after(status, 4), HookVerdict::Again);
            assert_eq!(after(status, 5), HookVerdict::GiveUp);
        }
        let failed = HookAnswer::Failed("no answer".to_owned());
        assert_eq!(verdict(&failed, 99), HookVerdict::Again);
    }
}
