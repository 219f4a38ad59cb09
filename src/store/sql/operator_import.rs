//! Fills a new database with what `evenkeel export --operator` has written.

use super::{
    Store,
    chances::STEPS,
    insert::{MATCH_GAMES, insert_all_as},
    numbers::set_last_number,
    persons::handle,
    rows::{Target, insert},
};
use crate::{
    domain::{Fingerprint, Kind, MatchRecord, PlayerKey, steam},
    store::{
        StoreError,
        db::*,
        operator_lines::{Bytes, MatchHead, NumbersLine, OperatorLine as Line, Whom},
    },
};

/// The most matches, or other lines, that are written at a time.
const BATCH: usize = 512;

/// A part of the content of a database.
#[derive(Clone, Debug, PartialEq)]
pub enum Imported {
    /// A line of its own.
    Line(Line),
    /// A match, and what is known beside its record.
    Match(Box<(MatchHead, MatchRecord)>),
}

impl Store {
    /// Writes all parts that `next` gives until it has no more, in one transaction. Returns the number of matches.
    ///
    /// # Errors
    /// Fails, and writes nothing, if this database is not a new one, if `next` fails, or if the parts contradict each
    /// other.
    pub async fn import_all<E: From<StoreError>>(
        &self,
        next: impl FnMut() -> Result<Option<Imported>, E> + Send,
    ) -> Result<u64, E> {
        let mut tx = self.begin_alone().await?;
        let imported = import(&mut tx, next).await;
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

async fn import<E: From<StoreError>>(
    tx: &mut Connection,
    mut next: impl FnMut() -> Result<Option<Imported>, E> + Send,
) -> Result<u64, E> {
    refuse_used(tx).await?;
    // A daemon may have noted the configured webhooks: no event of them is kept.
    for table in ["DELETE FROM webhook_events", "DELETE FROM webhooks"] {
        sql(table).execute(&mut *tx).await?;
    }
    let (mut matches, mut count) = (Vec::with_capacity(BATCH), 0);
    // Triggers would make events of the matches once there are webhooks.
    let mut last = Vec::new();
    let mut has_numbers = false;
    while let Some(part) = next()? {
        has_numbers |= matches!(part, Imported::Line(Line::Numbers(_)));
        match part {
            Imported::Match(one) => {
                count += 1;
                matches.push(*one);
                if matches.len() == BATCH {
                    write_matches(tx, &matches).await?;
                    matches.clear();
                }
            }
            Imported::Line(line @ (Line::Webhook(_) | Line::Event(_) | Line::Numbers(_))) => {
                last.push(line);
            }
            Imported::Line(line) => write_line(tx, &line).await?,
        }
    }
    write_matches(tx, &matches).await?;
    if !has_numbers {
        return Err(StoreError::BadValue("an export without its numbers".to_owned()).into());
    }
    // The events before the webhooks, and the numbers after what has them.
    last.sort_by_key(|line| match line {
        Line::Event(_) => 0,
        Line::Webhook(_) => 1,
        _ => 2,
    });
    for line in last {
        write_line(tx, &line).await?;
    }
    Ok(count)
}

/// Refuses a database that has matches, or in which an operator has set something.
async fn refuse_used(tx: &mut Connection) -> Result<(), StoreError> {
    let query =
        scalar("SELECT EXISTS (SELECT 1 FROM matches) OR (SELECT changes > 0 FROM player_changes)");
    match query.fetch_one(tx).await? {
        true => Err(StoreError::NotNew),
        false => Ok(()),
    }
}

fn kind(who: &Whom) -> Kind {
    match who.bot {
        true => Kind::Bot,
        false => Kind::Human,
    }
}

/// Writes one row.
async fn row(
    tx: &mut Connection,
    table: &'static str,
    columns: &'static str,
    values: Vec<Value>,
) -> Result<(), StoreError> {
    insert(tx, Target::new(table, columns), "", [values].into_iter()).await
}

async fn write_line(tx: &mut Connection, line: &Line) -> Result<(), StoreError> {
    let (table, columns, values): (_, _, Vec<Value>) = match line {
        Line::Export(_) | Line::End(_) => return Ok(()),
        Line::Match(_) => return Err(StoreError::BadValue("a line without its match".to_owned())),
        Line::Numbers(numbers) => return write_numbers(tx, numbers).await,
        Line::HandleKey(line) => {
            let query = sql("UPDATE handle_key SET key = $1").bind(&line.key.0);
            return query.execute(tx).await.map(drop);
        }
        Line::Merge(line) => {
            let who = &line.who;
            // Links to the page of who counts as another one lead to that one's.
            add_person(tx, who).await?;
            // No operator has said that a form of a Steam id is the account.
            let account = steam::canonical_key(kind(who), &who.player);
            let automatic = account.is_some_and(|account| account.id == line.into_player);
            (
                "merged_players",
                "kind, player, into_player, automatic",
                values![kind(who), &who.player, &line.into_player, automatic],
            )
        }
        Line::Pin(line) => (
            "pinned_weights",
            "kind, player, weight",
            values![kind(&line.who), &line.who.player, line.weight.0],
        ),
        Line::StartWeight(line) => (
            "start_weights",
            "kind, player, weight, uncertain",
            values![
                kind(&line.who),
                &line.who.player,
                line.weight.0,
                line.uncertain
            ],
        ),
        Line::Hidden(line) => (
            "hidden_players",
            "kind, player",
            values![kind(&line.who), &line.who.player],
        ),
        Line::Void(line) => (
            "voided_fingerprints",
            "fingerprint",
            values![&line.fingerprint.0],
        ),
        Line::Forgotten(line) => (
            "forgotten_lately",
            "handle, instead, at",
            values![&line.handle, &line.instead, line.at],
        ),
        Line::Recount(line) => (
            "recounts",
            "ruleset, kind, player, recounted_at, cause, weight_then, weight_now",
            values![
                &line.ruleset,
                kind(&line.who),
                &line.who.player,
                line.recounted_at,
                &line.cause,
                line.weight_then.0,
                line.weight_now.0
            ],
        ),
        Line::Link(line) => (
            "links",
            "player, into_player, client, asked_at, confirmed_by, confirmed_at",
            values![
                &line.player,
                &line.into_player,
                &line.client,
                line.asked_at,
                &line.confirmed_by,
                line.confirmed_at
            ],
        ),
        Line::Behaviour(line) => (
            "behaviour",
            "player, reporter, day, at, points, reports, no_shows",
            values![
                &line.player,
                &line.reporter,
                line.day,
                line.at,
                line.points.0,
                line.reports,
                line.no_shows
            ],
        ),
        Line::Webhook(line) => (
            "webhooks",
            "name, kinds, position, delivered, dropped, tries, failed_at, failure",
            values![
                &line.name,
                &line.kinds,
                line.position,
                line.delivered,
                line.dropped,
                line.tries,
                line.failed_at,
                &line.failure
            ],
        ),
        Line::Event(line) => (
            "webhook_events",
            "number, event_id, kind, match_id, at, address",
            values![
                line.number,
                &line.event_id,
                &line.event,
                line.match_id,
                line.at,
                &line.address
            ],
        ),
        Line::Receipt(line) => (
            "receipts",
            "client, key, body, match_id, unrated, made_at",
            values![
                &line.client,
                &line.key,
                &line.body.0,
                line.match_id,
                &line.unrated,
                line.made_at
            ],
        ),
        Line::SignIn(line) => (
            "sign_ins",
            "secret, client, token, made_at",
            values![&line.secret.0, &line.client, &line.token.0, line.made_at],
        ),
        Line::Pickup(line) => (
            "pickups",
            "client, pickup, asked, channel, stage, content, made_at, changed_at",
            values![
                &line.client,
                &line.pickup,
                &line.asked.0,
                &line.channel,
                &line.stage,
                &line.content,
                line.made_at,
                line.changed_at
            ],
        ),
    };
    row(tx, table, columns, values).await
}

/// Gives a player the handle that the other database had given.
async fn add_person(tx: &mut Connection, who: &Whom) -> Result<(), StoreError> {
    let key = scalar("SELECT key FROM handle_key");
    let key: Vec<u8> = key.fetch_one(&mut *tx).await?;
    let player = PlayerKey {
        kind: kind(who),
        id: who.player.clone(),
    };
    let values = values![player.kind, &player.id, handle(&key, &player)?];
    row(tx, "persons", "kind, player, handle", values).await
}

/// The highest number that is read: there is room for as many again.
const HIGHEST: i64 = i64::MAX / 2;

/// No number of the other database is given again.
async fn write_numbers(tx: &mut Connection, numbers: &NumbersLine) -> Result<(), StoreError> {
    for (table, column, last) in [
        ("matches", "id", numbers.matches),
        ("decisions", "id", numbers.decisions),
        ("webhook_events", "number", numbers.events),
    ] {
        let highest = scalar(format!("SELECT coalesce(max({column}), 0) FROM {table}"));
        let highest: i64 = highest.fetch_one(&mut *tx).await?;
        if last.max(highest) > HIGHEST || numbers.changes > HIGHEST {
            return Err(StoreError::BadValue(format!("a number of {table}")));
        }
        set_last_number(tx, table, column, last.max(highest)).await?;
    }
    let changes = "UPDATE player_changes SET changes = $1";
    let query = sql(changes).bind(numbers.changes.max(1));
    query.execute(tx).await.map(drop)
}

async fn write_matches(
    tx: &mut Connection,
    matches: &[(MatchHead, MatchRecord)],
) -> Result<(), StoreError> {
    let mut records = Vec::with_capacity(matches.len());
    for (head, record) in matches {
        if head.id < 1 {
            return Err(StoreError::BadValue(format!("match number {}", head.id)));
        }
        let fingerprint = Fingerprint::from_slice(&head.fingerprint.0);
        let bad = || StoreError::BadValue(format!("the fingerprint of match {}", head.id));
        records.push((record.clone(), fingerprint.ok_or_else(bad)?, head.id));
    }
    insert_all_as(tx, &records).await?;
    let heads = || matches.iter().map(|(head, _)| head);
    let games = heads().filter_map(|head| Some(values![head.game?, head.id]));
    insert(tx, MATCH_GAMES, "", games).await?;
    let reporters = heads().filter_map(|head| {
        let by = head.reporter.as_ref()?;
        Some(values![head.id, &by.client, by.recorded_at])
    });
    let target = Target::new("client_matches", "match_id, client, recorded_at");
    insert(tx, target, "", reporters).await?;
    insert(tx, STEPS, "", heads().flat_map(chances)).await?;
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
        "id, made_at, server, ruleset, game, match_id, kind, seed, chance, decision",
    );
    insert(tx, target, "", heads().flat_map(decisions)).await
}

fn prints(prints: &[Bytes], id: i64) -> impl Iterator<Item = Vec<Value>> + Send {
    prints.iter().map(move |print| values![&print.0, id])
}

fn chances(head: &MatchHead) -> impl Iterator<Item = Vec<Value>> + Send {
    head.chances.iter().map(|step| {
        values![
            head.id,
            step.step,
            &step.cause,
            step.at_ms,
            step.seat,
            step.from_team,
            step.to_team,
            step.chance.map(|chance| chance.0),
            &step.chances,
            &step.humans,
            &step.bots,
            &step.ruleset
        ]
    })
}

fn decisions(head: &MatchHead) -> impl Iterator<Item = Vec<Value>> + Send {
    head.decisions.iter().map(|one| {
        values![
            one.id,
            one.made_at,
            &one.server,
            &one.ruleset,
            one.game,
            head.id,
            "balance",
            &one.seed,
            one.chance.map(|chance| chance.0),
            &one.decision
        ]
    })
}
