//! Reads matches, in lists and one by one.

use std::collections::HashMap;

use super::{
    Matches,
    chances::{self, told_columns, told_tables},
    page_match::{MatchLine, PageMatch, PageSeat, PageStay},
    read_matches::fetch,
};
use crate::{
    model::{LeaveReason, MatchRecord, Participant, PlayerKey, Presence},
    store::{
        StoreError,
        db::*,
        learned::names::{is_forgotten, public_name},
    },
};

/// Selects the columns of a [`MatchLine`] from matches `m` and their rulings `r`.
macro_rules! lines {
    ($from:literal, $rest:literal) => {
        concat!(
            "SELECT m.id, m.started_at AS started, m.ended_at AS ended, m.untimed, m.map, m.server, m.game_type, m.mode, m.outcome, m.winner, r.ruleset, r.unrated,
                    r.chance AS forecast, ",
            told_columns!(),
            ", m.scores, m.humans, m.bots ",
            $from,
            told_tables!(),
            $rest
        )
    };
}

pub(super) use lines;

impl Matches<'_> {
    /// The latest matches of a ruleset, or of all, the last one first; or those from the match on that is next to the one
    /// with the id `before`.
    pub async fn latest_matches(
        self,
        ruleset: Option<&str>,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<MatchLine>, StoreError> {
        self.latest(ruleset, before, "", limit).await
    }

    /// The latest ones without those that were abandoned.
    pub async fn latest_finished(
        self,
        ruleset: Option<&str>,
        limit: i64,
    ) -> Result<Vec<MatchLine>, StoreError> {
        self.latest(ruleset, None, "abandoned", limit).await
    }

    /// The latest of those with another outcome than this one.
    async fn latest(
        self,
        ruleset: Option<&str>,
        before: Option<i64>,
        without: &str,
        limit: i64,
    ) -> Result<Vec<MatchLine>, StoreError> {
        let (text, end, tie) = match ruleset {
            Some(_) => (
                lines!(
                    "FROM rulings r JOIN matches m ON m.id = r.match_id ",
                    "WHERE m.outcome <> "
                ),
                "r.ended_at",
                "id",
            ),
            None => (
                lines!(
                    "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
                    "WHERE m.outcome <> "
                ),
                "m.ended_at",
                "fingerprint",
            ),
        };
        let mut query = Sql::new(text);
        query.push_bind(without);
        if let Some(ruleset) = ruleset {
            query.push(" AND r.ruleset = ").push_bind(ruleset);
        }
        if let Some(before) = before {
            query.push(format!(
                " AND ({end}, m.{tie}) < ((SELECT ended_at FROM matches WHERE id = "
            ));
            query.push_bind(before);
            query.push(format!("), (SELECT {tie} FROM matches WHERE id = "));
            query.push_bind(before).push("))");
        }
        query.push(format!(" ORDER BY {end} DESC, m.{tie} DESC LIMIT "));
        query.push_bind(limit);
        query.build_tuple().fetch_all(&self.0.pages).await
    }

    /// The matches with these ids, in the same order, without those that there are not.
    pub async fn match_lines(self, ids: &[i64]) -> Result<Vec<MatchLine>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = Sql::new(lines!(
            "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
            "WHERE m.id IN "
        ));
        query.list(ids.iter().copied());
        let mut found = HashMap::new();
        let lines: Vec<MatchLine> = query.build_tuple().fetch_all(&self.0.pages).await?;
        found.extend(lines.into_iter().map(|line| (line.id, line)));
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// One match.
    pub async fn page_match(self, id: i64) -> Result<Option<PageMatch>, StoreError> {
        let mut tx = self.0.pages.snapshot().await?;
        let query = sql(lines!(
            "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
            "WHERE m.id = $1"
        ));
        let Some(row) = query.bind(id).fetch_optional(&mut tx).await? else {
            return Ok(None);
        };
        let balance = "SELECT decision FROM decisions
                       WHERE match_id = $1 AND kind = 'balance' AND length(decision) < 100000
                       ORDER BY id DESC LIMIT 1";
        let balance = scalar(balance).bind(id);
        let line = MatchLine::from_row(&row)?;
        let changes = chances::read_changes(&mut tx, id, line.scores.len()).await?;
        let Some(stored) = fetch(&mut tx, &[id]).await?.pop() else {
            return Ok(None);
        };
        let mut record = stored.record;
        record.mutators.truncate(PageMatch::MOST_MUTATORS);
        let seats = seats(&mut tx, id, &record).await?;
        let events = record.events.iter().take(PageMatch::MOST_EVENTS);
        let events = events.map(|event| (millis(event.at), event.team, event.points));
        Ok(Some(PageMatch {
            line,
            changes,
            seats,
            events: events.collect(),
            game_type: record.game_type,
            mode: record.mode,
            mutators: record.mutators,
            balance: balance.fetch_optional(&mut tx).await?,
        }))
    }
}

/// The players of a match, those with most points first.
async fn seats(
    tx: &mut Connection,
    id: i64,
    record: &MatchRecord,
) -> Result<Vec<PageSeat>, StoreError> {
    let query = sql(
        "SELECT p.seat, p.kind, p.player, p.name, p.team, f.weight_before, f.weight, f.deviation, f.cause, o.handle,
                o.player AS counted,
                EXISTS (SELECT 1 FROM player_settings h WHERE h.kind = p.kind AND h.player IN (p.player, o.player) AND h.hidden)
                    AS hidden
         FROM match_players p
         LEFT JOIN performances f ON f.match_id = p.match_id AND f.seat = p.seat
         LEFT JOIN persons o ON o.person = f.person
         WHERE p.match_id = $1 ORDER BY p.points DESC NULLS LAST, p.seat LIMIT $2",
    );
    let query = query.bind(id).bind(PageMatch::MOST_SEATS);
    let rows = query.fetch_all(tx).await?;
    rows.iter().map(|row| seat(row, record)).collect()
}

/// A player as pages show them.
fn seat(row: &Row, record: &MatchRecord) -> Result<PageSeat, StoreError> {
    let seat: u32 = row.get("seat")?;
    let participant = record.participants.get(seat as usize);
    let participant: &Participant =
        participant.ok_or_else(|| StoreError::bad("seat", &seat.to_string()))?;
    let key = row.player()?;
    let name: String = row.get("name")?;
    let gone = row.get("hidden")? || is_forgotten(&key, &name);
    let handle: Option<String> = row.get("handle")?;
    let counted: Option<String> = row.get("counted")?;
    let name = public_name(&key, name);
    let stay = |stay: &Presence| PageStay {
        team: stay.team,
        from: millis(stay.span.from),
        to: millis(stay.span.to),
    };
    let stays = participant.presence.iter().take(PageMatch::MOST_STAYS);
    Ok(PageSeat {
        seat,
        key: PlayerKey {
            id: counted.unwrap_or(key.id),
            ..key
        },
        handle: handle.filter(|_| !gone),
        name: (!gone).then_some(name),
        team: row.get("team")?,
        points: participant.points,
        kills: i64::from(participant.kills),
        deaths: i64::from(participant.deaths),
        left: participant
            .left
            .map(|left| LeaveReason::as_str(left).to_owned()),
        entry: row.get("entry")?,
        stays: stays.map(stay).collect(),
    })
}

fn millis(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}
