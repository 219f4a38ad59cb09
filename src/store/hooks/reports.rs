//! The contents of events, read from the rows that they are about.

use crate::{
    domain::{MAX_TEAMS, TeamChances},
    store::{
        FormedReport, FormedSeat, HookEvent, HookKind, HookReport, RecordedReport, StoreError,
        db::*,
        matches::{chances, read_matches::fetch},
    },
};

/// The content of an event; `None` if what it reports is no longer stored.
pub(in crate::store) async fn read(
    tx: &mut Connection,
    event: &HookEvent,
) -> Result<Option<HookReport>, StoreError> {
    let id = event.match_id;
    Ok(match event.kind {
        None => Some(HookReport::Test),
        Some(HookKind::Formed) => formed(tx, id).await?.map(HookReport::Formed),
        Some(HookKind::Hosted) => formed(tx, id).await?.map(HookReport::Hosted),
        Some(HookKind::Recorded) => {
            let recorded = recorded(tx, id).await?;
            recorded.map(|one| HookReport::Recorded(Box::new(one)))
        }
    })
}

async fn formed(tx: &mut Connection, id: i64) -> Result<Option<FormedReport>, StoreError> {
    let query =
        sql("SELECT queue, mode, map, ruleset, chance FROM formed_matches WHERE match_id = $1");
    let Some(row) = query.bind(id).fetch_optional(&mut *tx).await? else {
        return Ok(None);
    };
    let mut report = FormedReport {
        queue: row.get("queue")?,
        mode: row.get("mode")?,
        map: row.get("map")?,
        ruleset: row.get("ruleset")?,
        picked: TeamChances::default(),
        teams: Vec::new(),
    };
    let chance: Option<f64> = row.get("chance")?;
    let query = sql(
        "SELECT s.team, s.player, t.owner, t.ticket FROM formed_seats s
         LEFT JOIN tickets t ON t.number = s.ticket WHERE s.match_id = $1 ORDER BY s.seat",
    );
    for row in query.bind(id).fetch_all(&mut *tx).await? {
        add_seat(&mut report.teams, &row)?;
    }
    let size = |team: &Vec<FormedSeat>| u32::try_from(team.len()).unwrap_or(u32::MAX);
    report.picked = TeamChances {
        win: match (chance, report.teams.len()) {
            (Some(chance), 2) => vec![chance, 1.0 - chance],
            _ => Vec::new(),
        },
        humans: report.teams.iter().map(size).collect(),
        bots: vec![0; report.teams.len()],
    };
    Ok(Some(report))
}

fn add_seat(teams: &mut Vec<Vec<FormedSeat>>, row: &Row) -> Result<(), StoreError> {
    let team: u8 = row.get("team")?;
    let at = usize::from(team);
    if at >= MAX_TEAMS {
        return Err(StoreError::bad("team", &team.to_string()));
    }
    if teams.len() <= at {
        teams.resize_with(at + 1, Vec::new);
    }
    teams[at].push(FormedSeat {
        player: row.get("player")?,
        client: row.get("owner")?,
        ticket: row.get("ticket")?,
    });
    Ok(())
}

async fn recorded(tx: &mut Connection, id: i64) -> Result<Option<RecordedReport>, StoreError> {
    let Some(stored) = fetch(tx, &[id]).await?.pop() else {
        return Ok(None);
    };
    let chances = chances::read_summary(tx, id, stored.record.scores.len()).await?;
    let query = scalar(
        "SELECT queue FROM formed_matches WHERE match_id = $1 OR recorded = $1
         ORDER BY match_id = $1 DESC LIMIT 1",
    );
    let queue = query.bind(id).fetch_optional(tx).await?;
    Ok(Some(RecordedReport {
        queue,
        chances,
        record: stored.record,
    }))
}
