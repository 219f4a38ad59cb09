//! The tables of webhooks: the events that wait, how far each webhook is, and what each event reports.

use evenkeel_model::worded;
use serde::Deserialize;

use super::{
    Store, StoreError,
    db::*,
    learned::persons::{is_forgotten, nameless},
    matches::{chances, read_matches::fetch},
};
use crate::model::{
    MatchRecord, Participant, PlayerKey, Timestamp,
    match_chances::{ChanceSummary, TeamChances},
    names::own_name,
    record::MAX_TEAMS,
};

/// The tables of webhooks.
#[derive(Clone, Copy, Debug)]
pub struct Hooks<'a>(&'a Store);

impl Store {
    /// The tables of webhooks.
    pub fn hooks(&self) -> Hooks<'_> {
        Hooks(self)
    }
}

worded! {
    /// The kind of an event, as the key `events` of a webhook names it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum HookKind {
        /// A queue has formed a match.
        Formed = "formed",
        /// The players of a match can connect to an instance.
        Hosted = "hosted",
        /// A match was stored.
        Recorded = "recorded",
    }
}

made! {
    HookKind: &'r str = HookKind::parse,
}

columns! {
    /// An event, without its content.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct HookEvent {
        /// The number of the event: the order in which events were committed.
        pub number: i64,
        /// The id by which receivers recognise an event that they get twice.
        pub id: String,
        /// What kind of event it is; `None` for a test.
        pub kind: Option<HookKind>,
        /// The match that it is about.
        pub match_id: i64,
        /// When it happened.
        pub at: Timestamp,
        /// The address of the instance, if the match is hosted.
        pub address: Option<String>,
    }
}

/// The content of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum HookReport {
    /// Whether a webhook works.
    Test,
    /// A queue has formed this match.
    Formed(FormedReport),
    /// This match is hosted, at the event's address.
    Hosted(FormedReport),
    /// This match was stored.
    Recorded(Box<RecordedReport>),
}

/// A match that a queue has formed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormedReport {
    /// The queue that has formed the match.
    pub queue: String,
    /// The mode of the match, if a rule picks one.
    pub mode: Option<String>,
    /// The map of the match, if a rule picks one.
    pub map: Option<String>,
    /// The ruleset for which the chances are predicted.
    pub ruleset: String,
    /// The teams as the queue has picked them, with their predicted chances.
    pub picked: TeamChances,
    /// The players of each team.
    pub teams: Vec<Vec<FormedSeat>>,
}

/// A player of a match that a queue has formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormedSeat {
    /// The player's identity.
    pub player: String,
    /// The client that has queued the player; `None` if the ticket is no longer kept.
    pub client: Option<String>,
    /// The client's id of the ticket.
    pub ticket: Option<String>,
}

/// A stored match.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedReport {
    /// The queue that had formed the match, if one had.
    pub queue: Option<String>,
    /// What was predicted of the teams.
    pub chances: ChanceSummary,
    /// The match itself.
    pub record: MatchRecord,
}

/// What became of the events up to a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookNote {
    /// The number of the last event that was sent or given up.
    pub position: i64,
    /// How many events were sent since the last note.
    pub delivered: u64,
    /// How many events were given up since the last note.
    pub dropped: u64,
    /// Failed tries of the event that waits.
    pub tries: u32,
    /// When the last try failed, and how; `None` after a try that did not.
    pub failure: Option<(Timestamp, String)>,
}

/// The bounds of the events that wait for a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookWaits {
    /// Events that happened before this are dropped.
    pub since: Timestamp,
    /// The most events that wait: older ones are dropped.
    pub most: u32,
}

/// A webhook, as operators see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRow {
    /// The name of the webhook.
    pub name: String,
    /// The kinds of its events.
    pub kinds: Vec<HookKind>,
    /// How many events wait.
    pub waiting: i64,
    /// When the oldest of them happened.
    pub oldest: Option<Timestamp>,
    /// How many events were sent.
    pub delivered: i64,
    /// How many events were dropped.
    pub dropped: i64,
    /// Failed tries of the event that waits.
    pub tries: i64,
    /// When the last try failed, and how; `None` after a try that did not.
    pub failure: Option<(Timestamp, String)>,
}

impl Hooks<'_> {
    /// Sets which webhooks there are. A new one is sent the events from now on, and events that no
    /// webhook waits for are removed.
    pub async fn set_webhooks(self, hooks: &[(String, Vec<HookKind>)]) -> Result<(), StoreError> {
        let query = tuple("SELECT name, kinds FROM webhooks ORDER BY name");
        let known: Vec<(String, String)> = query.fetch_all(&self.0.readers).await?;
        let mut wanted: Vec<(String, String)> = hooks
            .iter()
            .map(|(name, kinds)| (name.clone(), words(kinds)))
            .collect();
        wanted.sort();
        if known == wanted {
            return Ok(());
        }
        let mut tx = self.0.begin().await?;
        // Also if it has been removed; 0 if there was none.
        let last = match tx.dialect() {
            Dialect::Sqlite => {
                "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'webhook_events'"
            }
            Dialect::Postgres => {
                "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM webhook_events_number_seq"
            }
        };
        let last: i64 = scalar(last).fetch_one(&mut tx).await?;
        for (name, _) in &known {
            if !wanted.iter().any(|(other, _)| other == name) {
                let query = sql("DELETE FROM webhooks WHERE name = $1").bind(name);
                query.execute(&mut tx).await?;
            }
        }
        for (name, kinds) in &wanted {
            let query = sql(
                "INSERT INTO webhooks (name, kinds, position) VALUES ($1, $2, $3)
                 ON CONFLICT (name) DO UPDATE SET kinds = excluded.kinds",
            );
            query
                .bind(name)
                .bind(kinds)
                .bind(last)
                .execute(&mut tx)
                .await?;
        }
        trim(&mut tx).await?;
        tx.commit().await
    }

    /// The number of the latest event, 0 before the first.
    pub async fn last_event(self) -> Result<i64, StoreError> {
        let query = scalar("SELECT coalesce(max(number), 0) FROM webhook_events");
        query.fetch_one(&self.0.readers).await
    }

    /// The next events for a webhook after the event with the number `after`, at most `limit`.
    pub async fn next_events(
        self,
        hook: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<HookEvent>, StoreError> {
        let query = tuple(
            "SELECT e.number, e.event_id AS id, e.kind, e.match_id, e.at, e.address
             FROM webhooks h JOIN webhook_events e
             ON e.number > h.position AND e.number > $2 AND instr(h.kinds, e.kind) > 0
             WHERE h.name = $1 ORDER BY e.number LIMIT $3",
        );
        let query = query.bind(hook).bind(after).bind(limit);
        query.fetch_all(&self.0.readers).await
    }

    /// The content of an event; `None` if what it reports is no longer stored.
    ///
    /// # Errors
    /// Fails if it contains a value that no version of Evenkeel writes.
    pub async fn hook_report(self, event: &HookEvent) -> Result<Option<HookReport>, StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
        read(&mut tx, event).await
    }

    /// Drops the events of a webhook that are beyond its bounds. Returns how many those were since the
    /// last call, and the number of the last event that the webhook is done with.
    pub async fn bound_events(
        self,
        hook: &str,
        waits: HookWaits,
    ) -> Result<(u64, i64), StoreError> {
        let (position, last, missing) = cutoff(self.0, hook, waits).await?;
        if last <= position && missing == 0 {
            return Ok((0, position));
        }
        let last = last.max(position + missing);
        let mut tx = self.0.begin().await?;
        let query = scalar(
            "SELECT count(*) FROM webhook_events e JOIN webhooks h ON instr(h.kinds, e.kind) > 0
             WHERE h.name = $1 AND e.number > h.position AND e.number <= $2",
        );
        let found: i64 = query.bind(hook).bind(last).fetch_one(&mut tx).await?;
        let dropped = found.saturating_add(missing);
        let query =
            sql("UPDATE webhooks SET position = $2, dropped = dropped + $3 WHERE name = $1");
        let query = query.bind(hook).bind(last).bind(dropped);
        query.execute(&mut tx).await?;
        trim(&mut tx).await?;
        tx.commit().await?;
        Ok((u64::try_from(dropped).unwrap_or(0), last))
    }

    /// Stores how far a webhook is, and removes the events that no webhook waits for.
    pub async fn note_hook(self, hook: &str, note: &HookNote) -> Result<(), StoreError> {
        let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let mut tx = self.0.begin().await?;
        // A task that is stopped during this write notes the same once more.
        sql(
            "UPDATE webhooks SET position = CASE WHEN position > $2 THEN position ELSE $2 END,
                    delivered = delivered + CASE WHEN position < $2 THEN $3 ELSE 0 END,
                    dropped = dropped + CASE WHEN position < $2 THEN $4 ELSE 0 END,
                    tries = $5, failed_at = $6, failure = $7
             WHERE name = $1",
        )
        .bind(hook)
        .bind(note.position)
        .bind(count(note.delivered))
        .bind(count(note.dropped))
        .bind(i64::from(note.tries))
        .bind(note.failure.as_ref().map(|(at, _)| *at))
        .bind(note.failure.as_ref().map(|(_, why)| why))
        .execute(&mut tx)
        .await?;
        trim(&mut tx).await?;
        tx.commit().await
    }

    /// All webhooks, by name.
    pub async fn hook_rows(self) -> Result<Vec<HookRow>, StoreError> {
        let query = sql(
            "SELECT h.*, count(e.number) AS waiting, min(e.at) AS oldest FROM webhooks h
             LEFT JOIN webhook_events e ON e.number > h.position AND instr(h.kinds, e.kind) > 0
             GROUP BY h.name ORDER BY h.name",
        );
        let rows = query.fetch_all(&self.0.readers).await?;
        rows.iter().map(hook_row).collect()
    }
}

/// The position of a webhook; the number of the last event that is too old or beyond the number of events
/// that may wait; and how many events after the position were removed because no daemon ran.
async fn cutoff(
    store: &Store,
    hook: &str,
    waits: HookWaits,
) -> Result<(i64, i64, i64), StoreError> {
    let query = tuple(
        "SELECT h.position,
                coalesce((SELECT max(e.number) FROM webhook_events e
                           WHERE e.number > h.position AND e.at < $2), 0),
                coalesce((SELECT e.number FROM webhook_events e
                           WHERE e.number > h.position AND instr(h.kinds, e.kind) > 0
                           ORDER BY e.number DESC LIMIT 1 OFFSET $3), 0),
                coalesce((SELECT min(number) FROM webhook_events), 0) - 1 - h.position
         FROM webhooks h WHERE h.name = $1",
    );
    let query = query
        .bind(hook)
        .bind(waits.since)
        .bind(i64::from(waits.most));
    let found: Option<(i64, i64, i64, i64)> = query.fetch_optional(&store.readers).await?;
    let (position, old, superfluous, missing) = found.unwrap_or_default();
    Ok((position, old.max(superfluous), missing.max(0)))
}

/// Removes the events that no webhook waits for.
async fn trim(tx: &mut PooledConnection) -> Result<(), StoreError> {
    let delete = "DELETE FROM webhook_events
                  WHERE number <= coalesce((SELECT min(position) FROM webhooks), 9223372036854775807)";
    sql(delete).execute(tx).await?;
    Ok(())
}

fn words(kinds: &[HookKind]) -> String {
    let words = HookKind::ALL
        .into_iter()
        .filter(|kind| kinds.contains(kind));
    words.map(HookKind::as_str).collect::<Vec<_>>().join(" ")
}

fn hook_row(row: &Row) -> Result<HookRow, StoreError> {
    let kinds: String = row.get("kinds")?;
    let failed_at: Option<Timestamp> = row.get("failed_at")?;
    let failure: Option<String> = row.get("failure")?;
    Ok(HookRow {
        name: row.get("name")?,
        kinds: kinds.split(' ').filter_map(HookKind::parse).collect(),
        waiting: row.get("waiting")?,
        oldest: row.get("oldest")?,
        delivered: row.get("delivered")?,
        dropped: row.get("dropped")?,
        tries: row.get("tries")?,
        failure: failed_at.zip(failure),
    })
}

/// The content of an event; `None` if what it reports is no longer stored.
async fn read(
    tx: &mut PooledConnection,
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

async fn formed(tx: &mut PooledConnection, id: i64) -> Result<Option<FormedReport>, StoreError> {
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

/// Gives the humans of a match without a name what they are called on its page.
async fn name_nameless(
    tx: &mut PooledConnection,
    id: i64,
    record: &mut MatchRecord,
) -> Result<(), StoreError> {
    let mut unnamed: Vec<&mut Participant> = record
        .participants
        .iter_mut()
        .filter(|one| !is_forgotten(&one.key, &one.name))
        .filter(|one| own_name(&one.key, one.name.clone()).is_none())
        .collect();
    if unnamed.is_empty() {
        return Ok(());
    }
    let ruleset = scalar("SELECT ruleset FROM rulings WHERE match_id = $1").bind(id);
    let ruleset: Option<String> = ruleset.fetch_optional(&mut *tx).await?;
    let keys: Vec<PlayerKey> = unnamed.iter().map(|one| one.key.clone()).collect();
    let keys = keys.iter().collect();
    let names = nameless(tx, ruleset.as_deref(), &keys).await?;
    for one in &mut unnamed {
        one.name = names.get(&one.key).cloned().unwrap_or_default();
    }
    Ok(())
}

async fn recorded(
    tx: &mut PooledConnection,
    id: i64,
) -> Result<Option<RecordedReport>, StoreError> {
    let Some(stored) = fetch(tx, &[id]).await?.pop() else {
        return Ok(None);
    };
    let mut record = stored.record;
    name_nameless(tx, id, &mut record).await?;
    let chances = chances::read_summary(tx, id).await?;
    let query = scalar(
        "SELECT queue FROM formed_matches WHERE match_id = $1 OR recorded = $1
         ORDER BY match_id = $1 DESC LIMIT 1",
    );
    let queue = query.bind(id).fetch_optional(tx).await?;
    Ok(Some(RecordedReport {
        queue,
        chances,
        record,
    }))
}
