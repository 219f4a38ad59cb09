//! Events as JSON.

use serde_json::{Map, Value, json};

use crate::{
    model::{ChanceSummary, Kind, MatchRecord, Outcome, Participant, Timestamp},
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

#[cfg(test)]
mod tests;
