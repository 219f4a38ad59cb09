//! Data derived from the matches: rulings, weights, and checkpoints of the learned state.

use super::{
    Store, balances, leases,
    persons::{self, Persons},
    recounts,
    rows::{ROWS, Target, insert},
    weights,
};
use crate::{
    domain::{Kind, PlayerKey, Rank, RoleWeights, Timestamp, WeightCause},
    store::{
        DerivedFrom, DerivedRows, DivisionRow, Lease, RecountCause, RulingRow, StoreError,
        WeightRow, db::*,
    },
};

impl Store {
    /// The input that the derived tables were made from; `None` if they have never been written.
    pub async fn derived_from(&self) -> Result<Option<DerivedFrom>, StoreError> {
        let query = tuple("SELECT matches, last_match, settings FROM derived_from");
        query.fetch_optional(&self.readers).await
    }

    /// The keys of all rulesets that have weights, sorted.
    pub async fn rulesets(&self) -> Result<Vec<String>, StoreError> {
        let query = scalar("SELECT DISTINCT ruleset FROM weight_parts ORDER BY ruleset");
        query.fetch_all(&self.readers).await
    }

    /// The weights of one ruleset and kind, highest first.
    pub async fn weights(&self, ruleset: &str, kind: Kind) -> Result<Vec<WeightRow>, StoreError> {
        let query = tuple(
            "SELECT * FROM weights WHERE ruleset = $1 AND kind = $2 ORDER BY weight DESC, player",
        )
        .bind(ruleset)
        .bind(kind.as_str());
        query.fetch_all(&self.readers).await
    }

    /// The weights of one player, ordered by ruleset.
    pub async fn weights_of(&self, player: &PlayerKey) -> Result<Vec<WeightRow>, StoreError> {
        let query = tuple("SELECT * FROM weights WHERE player = $1 AND kind = $2 ORDER BY ruleset")
            .bind(&player.id)
            .bind(player.kind.as_str());
        query.fetch_all(&self.readers).await
    }

    /// The divisions with which the derived tables were made, the lowest first.
    pub async fn divisions(&self) -> Result<Vec<DivisionRow>, StoreError> {
        let query = tuple("SELECT * FROM divisions ORDER BY division");
        query.fetch_all(&self.readers).await
    }

    /// For each of these matches, in no particular order: the code of the reason why it is not
    /// rated, or `None` if it is rated.
    pub async fn rulings(&self, ids: &[i64]) -> Result<Vec<Option<String>>, StoreError> {
        let mut rulings = Vec::with_capacity(ids.len());
        let mut connection = self.readers.acquire().await?;
        for some in ids.chunks(ROWS) {
            let mut query = Sql::new("SELECT unrated FROM rulings WHERE match_id IN ");
            query.list(some.iter().copied());
            let found: Vec<Option<String>> =
                query.build_scalar().fetch_all(&mut connection).await?;
            rulings.extend(found);
        }
        Ok(rulings)
    }

    /// Replaces the derived tables in one transaction. If `all` is set, the given rulings replace
    /// those on disk, and the checkpoints are deleted. Otherwise each of them replaces the one on the same match, and
    /// the others stay; ids are in no order, because a match of a queue has its id before it is played.
    ///
    /// Returns `false` and changes nothing if the tables are newer than the new rows: if those were not made from all
    /// matches, and the tables were, or with `all`, were made from more. Without `all`, also if the tables were made
    /// with other settings.
    ///
    /// It also changes nothing if the weights are to be added to others than those in the tables, or if notices of a
    /// correction are due and players were changed since the rows were made.
    ///
    /// # Errors
    /// Fails if the lease is lost.
    pub async fn replace_derived(
        &self,
        derived: &DerivedRows,
        all: bool,
        lease: Option<&Lease>,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let before = stored_from(&mut tx).await?;
        match self
            .may_replace(&mut tx, derived, before.as_ref(), all, lease)
            .await
        {
            Ok(true) => {}
            refused => {
                tx.abandon().await?;
                return refused;
            }
        }
        let waiting = before.and_then(|before| before.recount);
        let recount = recounts::cause(&mut tx, derived).await?.or(waiting);
        if recount.is_some() && !recounts::is_current(&mut tx, derived.recount).await? {
            tx.abandon().await?;
            return Ok(false);
        }
        if all {
            delete_rulings(&mut tx).await?;
            persons::clear(&mut tx).await?;
        }
        for part in derived.rulings.parts() {
            let new = &part.map_err(StoreError::Temporary)?;
            if !all {
                balances::subtract(&mut tx, new).await?;
            }
            let persons = persons::of(&mut tx, new).await?;
            insert_rulings(&mut tx, new, &persons).await?;
            if !all {
                balances::add(&mut tx, new).await?;
            }
        }
        if all {
            balances::recount(&mut tx).await?;
        }
        if let Some(new) = &derived.weights {
            if let Some(cause) = recount {
                recounts::write(&mut tx, derived, new, cause).await?;
            }
            weights::write(&mut tx, new).await?;
            replace_divisions(&mut tx, &derived.divisions).await?;
            replace_seasons(&mut tx, &derived.seasons).await?;
        }
        let weighs = derived.weights.is_some();
        note_source(&mut tx, &derived.from, weighs).await?;
        let waits = recount.filter(|_| !weighs);
        if recount.is_some() {
            recounts::note_waiting(&mut tx, waits).await?;
        }
        self.commit(tx).await?;
        Ok(true)
    }

    /// Whether the weights are made from fewer matches than the rulings.
    pub async fn are_behind(&self) -> Result<bool, StoreError> {
        let query = scalar("SELECT matches <> weighed FROM derived_from");
        let behind: Option<bool> = query.fetch_optional(&self.readers).await?;
        Ok(behind.unwrap_or(false))
    }

    /// Whether rows made from these matches may replace those in the tables.
    async fn may_replace(
        &self,
        tx: &mut Connection,
        derived: &DerivedRows,
        before: Option<&StoredFrom>,
        all: bool,
        lease: Option<&Lease>,
    ) -> Result<bool, StoreError> {
        if let Some(lease) = lease {
            leases::check(tx, lease).await?;
        }
        let (from, before) = (&derived.from, before.map(|before| &before.from));
        let since = derived.weights.as_ref().and_then(|new| new.since.as_ref());
        if since.is_some() && since != before {
            return Ok(false);
        }
        let Some(before) = before.filter(|before| before.settings == from.settings) else {
            return Ok(all);
        };
        let now = self.extent_in(tx).await?;
        let is_complete = |from: &DerivedFrom| (from.matches, from.last_match) == now;
        let keeps_up = match all {
            true => from.matches >= before.matches,
            false => !is_complete(before),
        };
        Ok(keeps_up || is_complete(from))
    }
}

/// The input that the derived tables were made from, and what was corrected since the weights were written.
struct StoredFrom {
    from: DerivedFrom,
    recount: Option<RecountCause>,
}

impl FromRow for StoredFrom {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        let recount: Option<&str> = row.get("recount")?;
        Ok(Self {
            from: DerivedFrom::from_row(row)?,
            recount: recount.and_then(RecountCause::parse),
        })
    }
}

/// The same, as this transaction sees it.
async fn stored_from(tx: &mut Connection) -> Result<Option<StoredFrom>, StoreError> {
    let query = tuple("SELECT matches, last_match, settings, recount FROM derived_from");
    query.fetch_optional(tx).await
}

/// Notes what the tables are made from now; `weighs` is whether that includes the weights.
async fn note_source(
    tx: &mut Connection,
    from: &DerivedFrom,
    weighs: bool,
) -> Result<(), StoreError> {
    let query = sql(
        "INSERT INTO derived_from (id, matches, last_match, settings, weighed)
         VALUES (1, $1, $2, $3, CASE WHEN $4 THEN $1 ELSE 0 END)
         ON CONFLICT (id) DO UPDATE SET matches = excluded.matches,
             last_match = excluded.last_match, settings = excluded.settings,
             weighed = CASE WHEN $4 THEN excluded.matches ELSE derived_from.weighed END",
    );
    let query = query.bind(from.matches).bind(from.last_match);
    query.bind(&from.settings).bind(weighs).execute(tx).await?;
    Ok(())
}

/// Deletes all rulings, and the checkpoints: who continues from one counts on the rulings before it.
async fn delete_rulings(tx: &mut Connection) -> Result<(), StoreError> {
    for delete in [
        "DELETE FROM performances",
        "DELETE FROM rulings",
        "DELETE FROM derived_checkpoint",
    ] {
        sql(delete).execute(&mut *tx).await?;
    }
    Ok(())
}

async fn insert_rulings(
    tx: &mut Connection,
    rulings: &[RulingRow],
    persons: &Persons,
) -> Result<(), StoreError> {
    let target = Target::new(
        "rulings",
        "match_id, ruleset, unrated, chance, ended_at, causes",
    );
    let replaced = " ON CONFLICT (match_id) DO UPDATE SET ruleset = excluded.ruleset, unrated = excluded.unrated,
              chance = excluded.chance, ended_at = excluded.ended_at, causes = excluded.causes";
    let rows = rulings.iter();
    let rows = rows.map(|r| {
        let causes = r.causes.map(|causes| i64::from(causes.bits()));
        values![
            r.match_id,
            &r.ruleset,
            r.unrated.as_deref(),
            r.chance,
            r.ended_at,
            causes
        ]
    });
    insert(tx, target, replaced, rows).await?;
    let target = Target::new(
        "performances",
        "match_id, seat, points_for, points_against, person, ended_at, team, result, weight_before, weight, deviation,
         cause",
    );
    let replaced = " ON CONFLICT (match_id, seat) DO UPDATE SET points_for = excluded.points_for,
              points_against = excluded.points_against, person = excluded.person,
              ended_at = excluded.ended_at, team = excluded.team, result = excluded.result,
              weight_before = excluded.weight_before, weight = excluded.weight,
              deviation = excluded.deviation, cause = excluded.cause";
    let rows = rulings.iter().flat_map(|ruling| {
        let performances = ruling.performances.iter();
        performances.map(|(seat, own)| {
            values![
                ruling.match_id,
                *seat,
                own.points_for,
                own.points_against,
                persons.get(&own.key).copied(),
                ruling.ended_at,
                own.team,
                own.result,
                own.entry.map(|entry| entry.before),
                own.entry.map(|entry| entry.weight),
                own.entry.map(|entry| entry.deviation),
                own.entry
                    .and_then(|entry| entry.cause)
                    .map(WeightCause::as_str),
            ]
        })
    });
    insert(tx, target, replaced, rows).await
}

async fn replace_divisions(
    tx: &mut Connection,
    divisions: &[DivisionRow],
) -> Result<(), StoreError> {
    sql("DELETE FROM divisions").execute(&mut *tx).await?;
    for (number, division) in (0_i64..).zip(divisions) {
        sql("INSERT INTO divisions VALUES ($1, $2, $3, $4)")
            .bind(number)
            .bind(&division.name)
            .bind(i64::from(division.decay_after_days))
            .bind(i64::from(division.decay_days))
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

async fn replace_seasons(tx: &mut Connection, seasons: &[Timestamp]) -> Result<(), StoreError> {
    sql("DELETE FROM seasons").execute(&mut *tx).await?;
    for start in seasons {
        sql("INSERT INTO seasons (starts_at, season) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(start.0)
            .bind(name_of_season(*start))
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

/// The name of a season: its date in UTC, with the time of day unless that is midnight.
fn name_of_season(start: Timestamp) -> String {
    let text = start.to_string().replace('T', " ");
    let text = text.trim_end_matches('Z');
    text.strip_suffix(" 00:00:00").unwrap_or(text).to_owned()
}

impl FromRow for WeightRow {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        let kind = row.get("kind")?;
        let kind = Kind::parse(kind).ok_or_else(|| StoreError::BadValue(format!("kind {kind}")))?;
        let division: Option<u8> = row.get("division")?;
        let progress: Option<f64> = row.get("progress")?;
        let rank = division.zip(progress);
        let (side_0, side_1): (Option<f64>, Option<f64>) = (row.get("side_0")?, row.get("side_1")?);
        Ok(WeightRow {
            ruleset: row.get("ruleset")?,
            key: PlayerKey {
                kind,
                id: row.get("player")?,
            },
            name: row.get("name")?,
            weight: row.get("weight")?,
            deviation: row.get("deviation")?,
            rank: rank.map(|(division, progress)| Rank { division, progress }),
            roles: RoleWeights {
                sides: side_0.zip(side_1).map(|(zero, one)| [zero, one]),
                commander: row.get("commander")?,
            },
            games: row.get("games")?,
            last_seen: row.get("last_seen")?,
        })
    }
}
