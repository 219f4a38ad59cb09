//! The players and the score of an archived match, from its chunk.

use super::{
    super::{
        archive::fetch,
        persons::{is_forgotten, public_name},
    },
    page_match::PageEvent,
};
use crate::{
    domain::{Participant, PlayerKey, Presence},
    store::{MatchLine, PageMatch, PageSeat, PageStay, StoreError, chunk::ChunkCache, db::*},
};

/// The seats and the events of an archived match. Weights before and after it are not known.
pub(super) async fn parts(
    tx: &mut Connection,
    cache: &ChunkCache,
    line: &MatchLine,
) -> Result<(Vec<PageSeat>, Vec<PageEvent>), StoreError> {
    let mut found = fetch(tx, cache, &[line.id]).await?;
    let Some(stored) = found.pop() else {
        return Ok((Vec::new(), Vec::new()));
    };
    let record = stored.record;
    let has_teams = record.has_teams();
    let participants = record.participants.into_iter();
    let mut participants: Vec<(u32, Participant)> = (0..).zip(participants).collect();
    // The sort keeps the order of equal points; who has none comes last.
    let points = |p: &Participant| p.points.unwrap_or(f64::NEG_INFINITY);
    participants.sort_by(|(_, a), (_, b)| points(b).total_cmp(&points(a)));
    participants.truncate(usize::try_from(PageMatch::MOST_SEATS).unwrap_or(0));
    let is_rated = line.ruleset.is_some() && line.unrated.is_none();
    let mut seats = Vec::with_capacity(participants.len());
    for (number, participant) in participants {
        let team = participant.main_team().filter(|_| has_teams);
        let mut seat = seat(tx, number, participant).await?;
        seat.team = team.filter(|_| is_rated);
        seat.handle = seat.handle.filter(|_| is_rated);
        seats.push(seat);
    }
    let events = record.events.iter();
    let events = events.take(usize::try_from(PageMatch::MOST_EVENTS).unwrap_or(0));
    let event = |event: &crate::domain::ScoreEvent| (millis(event.at), event.team, event.points);
    Ok((seats, events.map(event).collect()))
}

/// A participant as pages show them, with the handle of the identity that they count as now.
async fn seat(
    tx: &mut Connection,
    number: u32,
    participant: Participant,
) -> Result<PageSeat, StoreError> {
    let Participant { key, name, .. } = participant;
    let query = sql(
        "SELECT c.player AS counted, o.handle,
                EXISTS (SELECT 1 FROM hidden_players h WHERE h.kind = $1 AND h.player IN ($2, c.player)) AS hidden
         FROM (SELECT coalesce((SELECT into_player FROM merged_players WHERE kind = $1 AND player = $2),
                               CAST($2 AS TEXT)) AS player) AS c
         LEFT JOIN persons o ON o.kind = $1 AND o.player = c.player",
    );
    let query = query.bind(key.kind.as_str()).bind(&key.id);
    let row = query.fetch_one(tx).await?;
    let gone = row.get("hidden")? || is_forgotten(&key, &name);
    let handle: Option<String> = row.get("handle")?;
    let name = public_name(&key, name);
    let stay = |stay: &Presence| PageStay {
        team: stay.team,
        from: millis(stay.span.from),
        to: millis(stay.span.to),
    };
    Ok(PageSeat {
        seat: number,
        key: PlayerKey {
            id: row.get("counted")?,
            ..key
        },
        handle: handle.filter(|_| !gone),
        name: (!gone).then_some(name),
        team: None,
        points: participant.points,
        kills: i64::from(participant.kills),
        deaths: i64::from(participant.deaths),
        left: participant.left.map(|left| left.as_str().to_owned()),
        entry: None,
        stays: participant.presence.iter().map(stay).collect(),
    })
}

fn millis(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
