//! Reads all that `evenkeel export --operator` writes.

use std::collections::HashMap;

use futures_util::TryStreamExt;

use super::state;
use crate::store::{
    Cursor, Store, StoreError, Stored,
    db::*,
    matches::{numbers::last_number, read_matches::matches_after},
    operator_lines::{
        Bytes, Cells, ChanceLine, DecisionLine, EndLine, ExportLine, HandleKeyLine, MatchHead,
        NumbersLine, OperatorLine as Line, Part, ReporterLine,
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
        to: impl AsyncFnMut(Part) -> Result<(), E>,
    ) -> Result<(), E> {
        export(&mut self.readers.snapshot().await?, to).await
    }
}

/// Does what [`Store::export_all`] does, with the database as `tx` sees it.
pub(in crate::store) async fn export<E: From<StoreError>>(
    tx: &mut Connection,
    mut to: impl AsyncFnMut(Part) -> Result<(), E>,
) -> Result<(), E> {
    to(Part::Line(Line::Export(ExportLine::own()))).await?;
    to(Part::Line(Line::Numbers(numbers(tx).await?))).await?;
    let key = Bytes(state::handle_key(tx).await?);
    to(Part::Line(Line::HandleKey(HandleKeyLine { key }))).await?;
    for (query, line) in TABLES {
        let mut rows = tx.stream(sql(*query).into_statement());
        while let Some(row) = rows.try_next().await? {
            to(Part::Line(line(&row)?)).await?;
        }
    }
    let (mut cursor, mut count) = (Cursor::START, 0);
    loop {
        let (matches, next) = matches_after(tx, cursor, MATCHES).await?;
        if matches.is_empty() {
            return to(Part::Line(Line::End(EndLine { matches: count }))).await;
        }
        let mut beside = Beside::of(tx, &matches).await?;
        for stored in matches {
            count += 1;
            let head = beside.take(&stored);
            to(Part::Match(Box::new((head, stored.record)))).await?;
        }
        cursor = next;
    }
}

async fn numbers(tx: &mut Connection) -> Result<NumbersLine, StoreError> {
    Ok(NumbersLine {
        matches: last_number(tx, "matches", "id").await?,
        decisions: last_number(tx, "decisions", "id").await?,
        events: last_number(tx, "webhook_events", "number").await?,
        changes: state::number(tx, state::PLAYER_CHANGES).await?,
    })
}

/// The lines of some matches, by their numbers.
struct Beside(HashMap<i64, MatchHead>);

impl Beside {
    async fn of(tx: &mut Connection, matches: &[Stored]) -> Result<Self, StoreError> {
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

    fn take(&mut self, stored: &Stored) -> MatchHead {
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
