//! Reads all that `evenkeel export --operator` writes, and fills a new database with it.

use std::collections::{HashMap, HashSet};

use futures_util::TryStreamExt;

use crate::{
    model::{MatchRecord, PlayerKey, fingerprint::Fingerprint, steam, text::to_hex},
    store::{
        Cursor, Store, StoreError, StoredMatch,
        db::{
            query::{Target, insert},
            *,
        },
        learned::persons::handle,
        matches::{
            chances::{self, STEPS},
            insert::insert_all_as,
            last_number,
            read_matches::matches_after,
            set_last_number,
        },
        operator_lines::{
            Cells, ChanceLine, ContentPart, DecisionLine, EndLine, ExportLine, HandleKeyLine,
            MatchHead, MergeLine, NumbersLine, OperatorLine as Line, ReporterLine,
        },
        shown::Bytes,
        state,
    },
};

/// Number of matches read at a time.
const MATCHES: u32 = 256;

/// What a row becomes.
type ToLine = fn(&Row) -> Result<Line, StoreError>;

/// The tables whose rows are lines, in the order of these, each with which rows and in which order.
macro_rules! tables {
    ($($line:ident: $table:literal $rows:literal;)+) => {
        const TABLES: &[(&str, ToLine)] = &[$((
            concat!("SELECT * FROM ", $table, " ", $rows),
            |row| Ok(Line::$line(FromRow::from_row(row)?)),
        ),)+];

        /// The table and the row of a line; `None` if it has none.
        pub(super) fn row(line: &Line) -> Option<(&'static str, Cells)> {
            match line {
                $(Line::$line(line) => Some(($table, line.cells())),)+
                Line::Export(_) | Line::Numbers(_) | Line::HandleKey(_) | Line::Match(_) | Line::End(_) => None,
            }
        }
    };
}

// The later ones may refer to matches by their numbers.
tables! {
    Merge: "merged_players" "WHERE NOT automatic ORDER BY kind, player";
    Pin: "player_settings" "WHERE pinned_weight IS NOT NULL ORDER BY kind, player";
    StartWeight: "player_settings" "WHERE start_weight IS NOT NULL ORDER BY kind, player";
    Hidden: "player_settings" "WHERE hidden ORDER BY kind, player";
    Void: "voided_fingerprints" "ORDER BY fingerprint";
    Forgotten: "forgotten_lately" "ORDER BY handle";
    Recount: "recounts" "ORDER BY ruleset, kind, player, recounted_at";
    Link: "links" "ORDER BY player";
    Behaviour: "behaviour" "ORDER BY player, reporter, day";
    Webhook: "webhooks" "ORDER BY name";
    Event: "webhook_events" "ORDER BY number";
    Receipt: "receipts" "ORDER BY client, key";
    SignIn: "sign_ins" "ORDER BY secret";
    Pickup: "pickups" "ORDER BY client, pickup";
    Experiment: "experiments" "ORDER BY number";
    Arm: "drawn_arms" "ORDER BY experiment, asker, people, number";
}

impl Store {
    /// Gives `to` all that this database contains and that cannot be derived again, as it is at one moment: what
    /// operators have set, then the matches in the order in which they ended, each after its [`MatchHead`]. Tickets and
    /// games that have not ended are left out, and what is kept of them for some time. Only a few matches are in memory
    /// at a time. On both databases, the same content gives the same lines.
    ///
    /// # Errors
    /// Fails if `to` does, or if rows are not valid.
    pub async fn export_all<E: From<StoreError>>(
        &self,
        to: impl AsyncFnMut(ContentPart) -> Result<(), E>,
    ) -> Result<(), E> {
        export(&mut self.readers.snapshot().await?, to).await
    }
}

/// Does what [`Store::export_all`] does, with the database as `tx` sees it.
pub(in crate::store) async fn export<E: From<StoreError>>(
    tx: &mut PooledConnection,
    mut to: impl AsyncFnMut(ContentPart) -> Result<(), E>,
) -> Result<(), E> {
    to(ContentPart::Line(Line::Export(ExportLine::own()))).await?;
    to(ContentPart::Line(Line::Numbers(numbers(tx).await?))).await?;
    let key = Bytes(state::handle_key(tx).await?);
    to(ContentPart::Line(Line::HandleKey(HandleKeyLine { key }))).await?;
    for (query, line) in TABLES {
        let mut rows = tx.stream(sql(*query).into_statement());
        while let Some(row) = rows.try_next().await? {
            to(ContentPart::Line(line(&row)?)).await?;
        }
    }
    let (mut cursor, mut count) = (Cursor::START, 0);
    loop {
        let (matches, next) = matches_after(tx, cursor, MATCHES).await?;
        if matches.is_empty() {
            return to(ContentPart::Line(Line::End(EndLine { matches: count }))).await;
        }
        let mut beside = Beside::of(tx, &matches).await?;
        for stored in matches {
            count += 1;
            let head = beside.take(&stored);
            to(ContentPart::Match(Box::new((head, stored.record)))).await?;
        }
        cursor = next;
    }
}

async fn numbers(tx: &mut PooledConnection) -> Result<NumbersLine, StoreError> {
    Ok(NumbersLine {
        matches: last_number(tx, "matches", "id").await?,
        decisions: last_number(tx, "decisions", "id").await?,
        events: last_number(tx, "webhook_events", "number").await?,
        experiments: last_number(tx, "experiments", "number").await?,
        changes: state::number(tx, state::PLAYER_CHANGES).await?,
    })
}

/// The lines of some matches, by their numbers.
struct Beside(HashMap<i64, MatchHead>);

impl Beside {
    async fn of(tx: &mut PooledConnection, matches: &[StoredMatch]) -> Result<Self, StoreError> {
        let lines = matches.iter();
        let lines = lines.map(|stored| (stored.id, MatchHead::of(stored)));
        let mut beside = Self(lines.collect());
        let ids: Vec<i64> = matches.iter().map(|stored| stored.id).collect();
        for (query, end, fill) in PARTS {
            let mut query = Sql::new(query);
            query.list(ids.iter().copied()).push(end);
            for row in query.build().fetch_all(&mut *tx).await? {
                if let Some(line) = beside.0.get_mut(&row.get("match_id")?) {
                    fill(line, &row)?;
                }
            }
        }
        Ok(beside)
    }

    fn take(&mut self, stored: &StoredMatch) -> MatchHead {
        let line = self.0.remove(&stored.id);
        line.unwrap_or_else(|| MatchHead::of(stored))
    }
}

/// Rows about matches: the query before and after the list of their numbers, and what a row adds to the line of its match.
type Query = (
    &'static str,
    &'static str,
    fn(&mut MatchHead, &Row) -> Result<(), StoreError>,
);

const PARTS: [Query; 6] = [
    (
        "SELECT id AS match_id, game FROM matches WHERE id IN ",
        "",
        |line, row| {
            line.game = row.get("game")?;
            Ok(())
        },
    ),
    (
        "SELECT id AS match_id, client, reported_at AS recorded_at FROM matches WHERE id IN ",
        " AND reported_at IS NOT NULL",
        |line, row| {
            line.reporter = Some(ReporterLine::from_row(row)?);
            Ok(())
        },
    ),
    (
        "SELECT * FROM match_chances WHERE match_id IN ",
        " ORDER BY match_id, step",
        |line, row| {
            line.chances.push(ChanceLine::from_row(row)?);
            Ok(())
        },
    ),
    (
        "SELECT match_id, fingerprint FROM match_halves WHERE match_id IN ",
        " ORDER BY fingerprint",
        |line, row| {
            line.halves.push(row.get::<Bytes>("fingerprint")?);
            Ok(())
        },
    ),
    (
        "SELECT match_id, log FROM log_matches WHERE match_id IN ",
        " ORDER BY log",
        |line, row| {
            line.logs.push(row.get::<Bytes>("log")?);
            Ok(())
        },
    ),
    // The teams are those of the last BALANCE before the start; the page of the match has the reasons of the last one.
    (
        "SELECT d.* FROM decisions d JOIN matches m ON m.id = d.match_id
         WHERE d.kind = 'balance'
           AND (d.id = (SELECT max(b.id) FROM decisions b WHERE b.match_id = m.id AND b.kind = 'balance')
             OR d.id = (SELECT max(b.id) FROM decisions b
                        WHERE b.match_id = m.id AND b.kind = 'balance' AND b.made_at <= m.started_at))
           AND d.match_id IN ",
        " ORDER BY d.id",
        |line, row| {
            line.decisions.push(DecisionLine::from_row(row)?);
            Ok(())
        },
    ),
];

/// The most matches that are written at a time.
const BATCH: usize = 512;

/// Where the parts come from.
pub trait PartSource {
    /// Why there are no more.
    type Error: From<StoreError>;

    /// The next part, and the number of its line.
    ///
    /// # Errors
    /// Fails if there is none, and the last one was not the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<(u64, ContentPart)>, Self::Error>>;

    /// The error of a line that the database refuses.
    fn refused(&self, line: u64, why: &str) -> Self::Error;
}

/// A match and the number of its line.
type NumberedMatch = (u64, (MatchHead, MatchRecord));

impl Store {
    /// Writes all parts that there are, in one transaction. Returns the number of matches.
    ///
    /// # Errors
    /// Fails, and writes nothing, if this database is not a new one, if `parts` fail, or if they contradict each other.
    pub async fn import_all<P: PartSource>(&self, mut parts: P) -> Result<u64, P::Error> {
        let mut tx = self.begin_alone().await?;
        let imported = import(&mut tx, &mut parts).await;
        match imported {
            Ok(matches) => {
                self.commit(tx).await?;
                Ok(matches)
            }
            Err(error) => {
                tx.abandon().await?;
                Err(error)
            }
        }
    }
}

/// Writes all parts that there are, as [`Store::import_all`] does.
pub(in crate::store) async fn import<P: PartSource>(
    tx: &mut PooledConnection,
    parts: &mut P,
) -> Result<u64, P::Error> {
    refuse_used(tx).await?;
    // A daemon may have noted the configured webhooks: no event of them is kept.
    for table in ["DELETE FROM webhook_events", "DELETE FROM webhooks"] {
        sql(table).execute(&mut *tx).await?;
    }
    let (mut matches, mut count) = (Vec::with_capacity(BATCH), 0);
    // Triggers would make events of the matches once there are webhooks.
    let mut last = Vec::new();
    let mut merges = Merges::default();
    while let Some((number, part)) = parts.next().await? {
        match part {
            ContentPart::Match(one) => {
                count += 1;
                matches.push((number, *one));
                if matches.len() == BATCH {
                    write_batch(tx, parts, &matches).await?;
                    matches.clear();
                }
            }
            ContentPart::Line(line @ (Line::Webhook(_) | Line::Event(_) | Line::Numbers(_))) => {
                last.push((number, line));
            }
            ContentPart::Line(line) => {
                let added = merges.add(&line);
                of_line(parts, number, added)?;
                let written = write_line(tx, &line, &merges).await;
                of_line(parts, number, written)?;
            }
        }
    }
    write_batch(tx, parts, &matches).await?;
    // The events before the webhooks, and the numbers after what has them.
    last.sort_by_key(|(_, line)| match line {
        Line::Event(_) => 0,
        Line::Webhook(_) => 1,
        _ => 2,
    });
    for (number, line) in last {
        let written = write_line(tx, &line, &merges).await;
        of_line(parts, number, written)?;
    }
    Ok(count)
}

/// The error of a line, if it is the line's fault.
fn of_line<P: PartSource>(
    parts: &P,
    number: u64,
    written: Result<(), StoreError>,
) -> Result<(), P::Error> {
    written.map_err(|error| match error.refusal() {
        Some(why) => parts.refused(number, &why),
        None => error.into(),
    })
}

/// Writes matches. If the database refuses them, writes them one by one, until it is known which.
async fn write_batch<P: PartSource>(
    tx: &mut PooledConnection,
    parts: &P,
    matches: &[NumberedMatch],
) -> Result<(), P::Error> {
    tx.execute_text("SAVEPOINT batch").await?;
    let Err(error) = write_matches(tx, matches).await else {
        tx.execute_text("RELEASE SAVEPOINT batch").await?;
        return Ok(());
    };
    if error.refusal().is_some() {
        tx.execute_text("ROLLBACK TO SAVEPOINT batch").await?;
        for one in matches {
            let written = write_matches(tx, std::slice::from_ref(one)).await;
            of_line(parts, one.0, written)?;
        }
    }
    Err(error.into())
}

/// The merges so far. Whoever an identity counts as counts as nobody else.
#[derive(Default)]
struct Merges {
    players: HashSet<PlayerKey>,
    into: HashSet<PlayerKey>,
    /// Whether 0.2 has written the lines, which did not tell the merges of an operator from those of the configuration.
    is_mixed: bool,
}

impl Merges {
    /// Takes the next line. Fails if it makes a chain with an earlier one, of which a cycle is one.
    fn add(&mut self, line: &Line) -> Result<(), StoreError> {
        let MergeLine { who, into_player } = match line {
            Line::Merge(line) => line,
            Line::Export(line) => {
                self.is_mixed = line.version.starts_with("0.2.");
                return Ok(());
            }
            _ => return Ok(()),
        };
        let into = PlayerKey {
            kind: who.kind(),
            id: into_player.clone(),
        };
        let player = who.key();
        let chain = |through: &PlayerKey| {
            let id = &through.id;
            StoreError::BadValue(format!(
                "{id:?} counts as another player, and a player counts as {id:?}: merge both into one"
            ))
        };
        if self.players.contains(&into) {
            return Err(chain(&into));
        }
        if self.into.contains(&player) {
            return Err(chain(&player));
        }
        self.players.insert(player);
        self.into.insert(into);
        Ok(())
    }
}

/// Refuses a database that has matches, or in which an operator has set something.
pub(in crate::store) async fn refuse_used(tx: &mut PooledConnection) -> Result<(), StoreError> {
    let query = scalar(
        "SELECT EXISTS (SELECT 1 FROM matches) OR (SELECT number > 0 FROM state WHERE name = 'player_changes')",
    );
    match query.fetch_one(tx).await? {
        true => Err(StoreError::NotNew),
        false => Ok(()),
    }
}

/// Writes the row of a line.
async fn write_line(
    tx: &mut PooledConnection,
    line: &Line,
    merges: &Merges,
) -> Result<(), StoreError> {
    match line {
        Line::Match(_) => return Err(StoreError::BadValue("a line without its match".to_owned())),
        Line::Numbers(numbers) => return write_numbers(tx, numbers).await,
        Line::HandleKey(line) => {
            // A database has a key from its first moment on.
            return state::set(tx, "handle_key", None, Some(&to_hex(&line.key.0))).await;
        }
        _ => {}
    }
    let Some((table, mut cells)) = row(line) else {
        return Ok(());
    };
    match line {
        Line::Merge(line) => cells.push(automatic(tx, line, merges.is_mixed).await?),
        Line::Pin(_) => return write_setting(tx, cells, "pinned_weight IS NULL").await,
        Line::StartWeight(_) => return write_setting(tx, cells, "start_weight IS NULL").await,
        Line::Hidden(_) => {
            cells.push(("hidden", true.into()));
            return write_setting(tx, cells, "hidden = FALSE").await;
        }
        _ => {}
    }
    write_row(tx, table, cells).await
}

async fn write_row(tx: &mut PooledConnection, table: &str, cells: Cells) -> Result<(), StoreError> {
    row_sql(table, cells).build().execute(tx).await.map(drop)
}

/// Adds what is set for a player to what other lines have set. `free` holds as long as no line has set the same.
async fn write_setting(
    tx: &mut PooledConnection,
    cells: Cells,
    free: &'static str,
) -> Result<(), StoreError> {
    let set = cells.iter();
    let set: Vec<String> = set
        .map(|(column, _)| format!("{column} = excluded.{column}"))
        .collect();
    let mut query = row_sql("player_settings", cells);
    query
        .push(" ON CONFLICT (kind, player) DO UPDATE SET ")
        .push(set.join(", "))
        .push(" WHERE player_settings.")
        .push(free);
    match query.build().execute(tx).await? {
        0 => Err(StoreError::BadValue(
            "what another line has set for the same player".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn row_sql(table: &str, cells: Cells) -> Sql {
    let (columns, values): (Vec<_>, Vec<_>) = cells.into_iter().unzip();
    let columns = columns.join(", ");
    let mut query = Sql::new(format!("INSERT INTO {table} ({columns}) "));
    query.rows([values]);
    query
}

/// Whether an identity counts as another one by the configuration. Gives it the handle that the other database had given:
/// links to its page lead to that of the other one.
async fn automatic(
    tx: &mut PooledConnection,
    line: &MergeLine,
    is_mixed: bool,
) -> Result<(&'static str, SqlValue), StoreError> {
    let key = state::handle_key(tx).await?;
    let player = line.who.key();
    let person = vec![
        ("kind", player.kind.into()),
        ("player", (&player.id).into()),
        ("handle", handle(&key, &player)?.into()),
    ];
    write_row(tx, "persons", person).await?;
    // No operator has said that a form of a Steam id is the account.
    let account = steam::canonical_key(player.kind, &player.id);
    let automatic = is_mixed && account.is_some_and(|account| account.id == line.into_player);
    Ok(("automatic", automatic.into()))
}

/// The highest number that is read: there is room for as many again.
const HIGHEST: i64 = i64::MAX / 2;

/// No number of the other database is given again.
async fn write_numbers(tx: &mut PooledConnection, numbers: &NumbersLine) -> Result<(), StoreError> {
    for (table, column, last) in [
        ("matches", "id", numbers.matches),
        ("decisions", "id", numbers.decisions),
        ("webhook_events", "number", numbers.events),
        ("experiments", "number", numbers.experiments),
    ] {
        let highest = scalar(format!("SELECT coalesce(max({column}), 0) FROM {table}"));
        let highest: i64 = highest.fetch_one(&mut *tx).await?;
        if last.max(highest) > HIGHEST || numbers.changes > HIGHEST {
            return Err(StoreError::BadValue(format!("a number of {table}")));
        }
        set_last_number(tx, table, column, last.max(highest)).await?;
    }
    state::set(
        tx,
        state::PLAYER_CHANGES,
        Some(numbers.changes.max(1)),
        None,
    )
    .await
}

async fn write_matches(
    tx: &mut PooledConnection,
    matches: &[NumberedMatch],
) -> Result<(), StoreError> {
    let mut records = Vec::with_capacity(matches.len());
    for (_, (head, record)) in matches {
        if head.id < 1 {
            return Err(StoreError::BadValue(format!("match number {}", head.id)));
        }
        let fingerprint = Fingerprint::from_slice(&head.fingerprint.0);
        let bad = || StoreError::BadValue(format!("the fingerprint of match {}", head.id));
        check_chances(head, record)?;
        let mut record = record.clone();
        if let (true, Some(by)) = (record.client.is_empty(), &head.reporter) {
            record.client.clone_from(&by.client); // the records of 0.2 do not have it
        }
        records.push((record, fingerprint.ok_or_else(bad)?, head.id));
    }
    insert_all_as(tx, &records).await?;
    let heads = || matches.iter().map(|(_, (head, _))| head);
    for head in heads() {
        if let Some(game) = head.game {
            let query = sql("UPDATE matches SET game = $2 WHERE id = $1").bind(head.id);
            query.bind(game).execute(&mut *tx).await?;
        }
        if let Some(by) = &head.reporter {
            let query = sql("UPDATE matches SET reported_at = $2 WHERE id = $1").bind(head.id);
            query.bind(by.recorded_at).execute(&mut *tx).await?;
        }
    }
    insert(tx, STEPS, "", heads().flat_map(steps)).await?;
    let halves = heads().flat_map(|head| prints(&head.halves, head.id));
    insert(
        tx,
        Target::new("match_halves", "fingerprint, match_id"),
        "",
        halves,
    )
    .await?;
    let logs = heads().flat_map(|head| prints(&head.logs, head.id));
    insert(tx, Target::new("log_matches", "log, match_id"), "", logs).await?;
    let target = Target::new(
        "decisions",
        "match_id, kind, id, made_at, server, ruleset, game, seed, chance, decision",
    );
    insert(tx, target, "", heads().flat_map(decisions)).await
}

/// Fails if what was predicted of the teams has a player whom the record does not have, or anything else that could not be
/// read again.
fn check_chances(head: &MatchHead, record: &MatchRecord) -> Result<(), StoreError> {
    for line in &head.chances {
        let is_there =
            |seat: i64| usize::try_from(seat).is_ok_and(|at| at < record.participants.len());
        let is_team = |team: &Option<i64>| team.is_none_or(|team| u8::try_from(team).is_ok());
        let fault = if line.seat.is_some_and(|seat| !is_there(seat)) {
            "a seat that does not exist"
        } else if ![line.from_team, line.to_team].iter().all(is_team) {
            "a team that does not exist"
        } else if line.step < 0 || line.at_ms.is_some_and(|at| at < 0) {
            "a time before the first"
        } else {
            chances::check(
                line.chances.as_deref(),
                [line.humans.as_deref(), line.bots.as_deref()],
            )?;
            continue;
        };
        let step = line.step;
        return Err(StoreError::BadValue(format!(
            "step {step} of the chances has {fault}"
        )));
    }
    Ok(())
}

fn prints(prints: &[Bytes], id: i64) -> impl Iterator<Item = Vec<SqlValue>> + Send {
    prints.iter().map(move |print| values![&print.0, id])
}

fn steps(head: &MatchHead) -> impl Iterator<Item = Vec<SqlValue>> + Send {
    let steps = head.chances.iter();
    steps.map(|step| with_values(values![head.id], step.cells()))
}

fn decisions(head: &MatchHead) -> impl Iterator<Item = Vec<SqlValue>> + Send {
    let decisions = head.decisions.iter();
    decisions.map(|one| with_values(values![head.id, "balance"], one.cells()))
}

fn with_values(mut values: Vec<SqlValue>, cells: Cells) -> Vec<SqlValue> {
    values.extend(cells.into_iter().map(|(_, value)| value));
    values
}
