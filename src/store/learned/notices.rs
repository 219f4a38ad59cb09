//! Writes and reads notices that a correction of history has moved a weight without a match of its player.

use super::{Learned, persons::is_forgotten};
use crate::{
    model::{PlayerKey, Timestamp},
    store::{
        Correction, DerivedRows, NewWeights, Recount, RecountCause, RecountRow, RulingRow,
        StoreError, WeightRow,
        db::*,
        sql::{
            rows::{ROWS, with_given},
            state,
        },
    },
};

/// A match that was recorded later than this after its end is late: the ends of matches of several servers may come in
/// another order.
const LATE: i64 = 3_600_000;

/// Writes the notices, before the tables get the new weights and after they got the new performances. What is counted of
/// the matches up to the last one of the former weight is compared, since the new weight may also be made from later ones.
/// A weight that an operator has set is not counted.
const NOTICES: &str = "INSERT INTO recounts (ruleset, kind, player, recounted_at, cause, weight_then, weight_now)
     SELECT in_ruleset, of_kind, who, counted_at, cause, weight_then, weight_now
     FROM (SELECT given.in_ruleset, given.of_kind, given.who, given.counted_at, given.cause, was.weight AS weight_then,
               CASE WHEN given.goes_on > 0 OR given.last_seen > was.last_seen THEN
                   (SELECT f.weight FROM persons o
                    JOIN performances f ON f.person = o.person
                    JOIN rulings r ON r.match_id = f.match_id
                    WHERE o.kind = was.kind AND o.player = was.player AND r.ended_at <= was.last_seen
                      AND r.ruleset = was.ruleset AND f.weight IS NOT NULL
                    ORDER BY f.ended_ms DESC, f.match_id DESC LIMIT 1)
               ELSE given.weight END AS weight_now
           FROM {given}
           JOIN weights was ON was.ruleset = given.in_ruleset AND was.kind = given.of_kind
               AND was.player = given.who AND NOT was.pinned) AS counted
     WHERE abs(weight_now - weight_then) >= 0.05
     ON CONFLICT (player, kind, {ruleset}, recounted_at)
     DO UPDATE SET cause = excluded.cause, weight_now = excluded.weight_now";

/// What notices say of weights that are counted again.
#[derive(Clone, Copy)]
pub(in crate::store) struct RecountNotice {
    pub cause: RecountCause,
    /// Whether a season has begun since the former weights.
    pub goes_on: bool,
}

/// What was corrected according to the new rows; `None` if nothing was, or if that is noted already.
pub(in crate::store) async fn cause(
    tx: &mut PooledConnection,
    derived: &DerivedRows,
) -> Result<Option<RecountCause>, StoreError> {
    let Recount { correction, at, .. } = derived.recount;
    match correction {
        Correction::None => Ok(None),
        Correction::Known(cause) => Ok(Some(cause)),
        Correction::IfLate => {
            let late = has_late(tx, derived, at).await?;
            Ok(late.then_some(RecountCause::LateMatch))
        }
    }
}

/// Whether a match without a ruling in the tables, which ended long ago, comes before one with a ruling.
async fn has_late(
    tx: &mut PooledConnection,
    derived: &DerivedRows,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let mut is_after_new = false;
    for part in derived.rulings.parts() {
        for some in part.map_err(StoreError::Temporary)?.chunks(ROWS) {
            let mut query = Sql::new("SELECT match_id FROM rulings WHERE match_id IN ");
            query.list(some.iter().map(|ruling| ruling.match_id));
            let known = query.build().fetch_all(&mut *tx).await?;
            let known = known.iter().map(|row| row.get("match_id"));
            let known: Vec<i64> = known.collect::<Result<_, _>>()?;
            let is_old = |ruling: &RulingRow| at.0 - ruling.ended_at.0 > LATE;
            for ruling in some {
                match known.contains(&ruling.match_id) {
                    true if is_after_new => return Ok(true),
                    true => {}
                    false => is_after_new |= is_old(ruling),
                }
            }
        }
    }
    Ok(false)
}

/// Whether nobody was forgotten since the rows were made, and nothing else was changed.
pub(super) async fn is_current(
    tx: &mut PooledConnection,
    recount: Recount,
) -> Result<bool, StoreError> {
    let changes = state::number(tx, state::PLAYER_CHANGES).await?;
    Ok(changes == recount.changes)
}

/// Whether a season has begun since the weights in the table, which has moved the new ones, too.
pub(super) async fn goes_on(
    tx: &mut PooledConnection,
    derived: &DerivedRows,
) -> Result<bool, StoreError> {
    let before = scalar("SELECT max(last_seen) FROM weights");
    let before: Option<Timestamp> = before.fetch_one(tx).await?;
    let now = derived.weights.rows.iter().map(|row| row.last_seen).max();
    let has_begun = |season: &Timestamp| before < Some(*season) && Some(*season) <= now;
    Ok(derived.seasons.iter().any(has_begun))
}

/// Writes the notices of a correction at this time, before the weights are written.
pub(in crate::store) async fn write(
    tx: &mut PooledConnection,
    at: Timestamp,
    new: &NewWeights,
    RecountNotice { cause, goes_on }: RecountNotice,
) -> Result<(), StoreError> {
    let is_counted = |row: &&WeightRow| !row.is_pinned && !is_forgotten(&row.key, &row.name);
    let given = new.rows.iter().filter(is_counted).map(|row| {
        values![
            &row.ruleset,
            row.key.kind,
            &row.key.id,
            row.weight,
            row.last_seen,
            at,
            cause.as_str(),
            i64::from(goes_on)
        ]
    });
    let columns = "in_ruleset text, of_kind text, who text, weight double precision, last_seen text, counted_at text,
         cause text, goes_on bigint";
    with_given(tx, columns, NOTICES, given).await?;
    Ok(())
}

/// Gives the notices of a player to the identity that the player counts as from now on.
pub(in crate::store) async fn merge(
    tx: &mut PooledConnection,
    player: &PlayerKey,
    into: &PlayerKey,
) -> Result<(), StoreError> {
    for statement in [
        "INSERT INTO recounts (ruleset, kind, player, recounted_at, cause, weight_then, weight_now)
         SELECT ruleset, kind, CAST($3 AS TEXT), recounted_at, cause, weight_then, weight_now FROM recounts
         WHERE kind = $1 AND player = $2 AND player <> $3 ON CONFLICT DO NOTHING",
        "DELETE FROM recounts WHERE kind = $1 AND player = $2 AND player <> $3",
    ] {
        let query = sql(statement).bind(player.kind.as_str());
        query.bind(&player.id).bind(&into.id).execute(&mut *tx).await?;
    }
    Ok(())
}

impl Learned<'_> {
    /// The latest notices to a player, the last one first.
    pub async fn recounts_of(
        self,
        player: &PlayerKey,
        most: i64,
    ) -> Result<Vec<RecountRow>, StoreError> {
        let query = tuple(
            "SELECT ruleset, recounted_at, cause, weight_then, weight_now FROM recounts
             WHERE player = $1 AND kind = $2 ORDER BY recounted_at DESC, ruleset LIMIT $3",
        );
        let query = query.bind(&player.id).bind(player.kind.as_str());
        query.bind(most).fetch_all(&self.0.pages).await
    }
}

impl FromRow for RecountRow {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            ruleset: row.get("ruleset")?,
            at: row.get("recounted_at")?,
            cause: RecountCause::parse(row.get("cause")?),
            then: row.get("weight_then")?,
            now: row.get("weight_now")?,
        })
    }
}
