//! Writes the derived tables: a few rows after a match in one transaction, and many in short ones, so that a match that ends
//! waits for none of them for long.

use std::collections::{BTreeMap, HashSet};

use async_trait::async_trait;

use crate::{
    model::{PlayerKey, Timestamp, weight::WeightCause},
    random,
    store::{
        DerivedFrom, DerivedRows, Lease, NewWeights, Pace, RecountCause, RulingRow, Store,
        StoreError, WeightRow,
        db::{
            query::{Target, insert},
            *,
        },
        learned::{
            self, Learned, RecountNotice,
            persons::{self, Persons},
            read,
        },
        leases, state,
    },
};

/// The most rows that a transaction removes.
const FEW: usize = 128;
/// What the settings of the tables are called while they are written in several transactions. The number of who does that
/// follows: whoever finds another one there stops. Then come the cause that notices name, if there are any, and [`SEASON`].
const UNFINISHED: &str = "unfinished ";
/// Stands there if a season has begun since the former weights.
const SEASON: &str = "season";

impl DerivedFrom {
    /// Whether the tables are being written, or were when a process ended: they are neither old nor new.
    pub fn is_unfinished(&self) -> bool {
        self.settings.starts_with(UNFINISHED)
    }

    /// The number of changes of matches and players with which they were made; `None` while they are being written.
    pub fn changes(&self) -> Option<i64> {
        let (_, changes) = self.settings.split_once(' ')?;
        changes.parse().ok().filter(|_| !self.is_unfinished())
    }

    /// What notices have to say of those weights that were not written before the process ended.
    fn interrupted(&self) -> Option<RecountNotice> {
        let mut words = self.settings.strip_prefix(UNFINISHED)?.split(' ').skip(1);
        let cause = RecountCause::parse(words.next()?)?;
        let goes_on = words.next() == Some(SEASON);
        Some(RecountNotice { cause, goes_on })
    }
}

/// A new name for the settings of the tables while they are written.
fn unfinished_mark(recount: Option<RecountNotice>) -> String {
    // Without randomness, the process tells this from what others write.
    let process = u64::from(std::process::id());
    let number = random::bytes().map_or(process, u64::from_le_bytes);
    let mut mark = format!("{UNFINISHED}{number:016x}");
    if let Some(RecountNotice { cause, goes_on }) = recount {
        mark = format!("{mark} {}", cause.as_str());
        if goes_on {
            mark = format!("{mark} {SEASON}");
        }
    }
    mark
}

impl Learned<'_> {
    /// Replaces the derived tables. If `all` is set, the given rulings and weights replace those on disk. Otherwise each of
    /// them replaces the one on the same match or of the same player, and the others stay; ids are in no order, because a
    /// match of a queue has its id before it is played.
    ///
    /// Many rows are written in several transactions. If the process ends between them, the tables
    /// [say so](DerivedFrom::is_unfinished), and all have to be written.
    ///
    /// Returns `false` if the tables are newer than the new rows: if those were not made from all
    /// matches, and the tables were, or with `all`, were made from more. Without `all`, also if the tables were made
    /// with other settings.
    ///
    /// It also changes nothing if the weights are to be added to others than those in the tables, if notices of a
    /// correction are due and players were changed since the rows were made, or if another process writes meanwhile.
    ///
    /// # Errors
    /// Fails if the lease is lost.
    pub async fn replace_derived(
        self,
        derived: &DerivedRows,
        all: bool,
        lease: Option<&Lease>,
    ) -> Result<bool, StoreError> {
        self.replace_derived_with(derived, all, lease, &mut NothingLearned)
            .await
    }

    /// The same. What is learned meanwhile is written between the transactions. The tables still count as made from what the
    /// first rows were made from, and have more.
    ///
    /// # Errors
    /// Fails if the lease is lost.
    pub async fn replace_derived_with(
        self,
        derived: &DerivedRows,
        all: bool,
        lease: Option<&Lease>,
        meanwhile: &mut dyn Meanwhile,
    ) -> Result<bool, StoreError> {
        let mut tx = self.0.begin().await?;
        let checked = self.check(&mut tx, derived, all, lease).await;
        let recount = match checked {
            Ok(Some(recount)) => recount,
            refused => {
                tx.abandon().await?;
                return refused.map(|_| false);
            }
        };
        if derived.is_few() && !all {
            write_rulings(&mut tx, derived.rulings.latest()).await?;
            write_weights(&mut tx, derived, &derived.weights, recount).await?;
            finish(&mut tx, derived).await?;
            self.0.commit(tx).await?;
            return Ok(true);
        }
        let mark = unfinished_mark(recount);
        note_source(&mut tx, &unfinished(derived, &mark)).await?;
        self.0.commit(tx).await?;
        let writer = Rewriting {
            store: self.0,
            derived,
            lease,
            mark,
            meanwhile,
            ruled: HashSet::new(),
            fresh: FreshRows {
                names: derived.weights.names.iter().cloned().collect(),
                ..FreshRows::default()
            },
            known: LearnedMeanwhile::default(),
        };
        match writer.run(recount, all).await {
            Err(StoreError::Overtaken) => Ok(false),
            done => done.map(|()| true),
        }
    }

    /// Whether the rows may be written, and then what to tell those whose weights have changed; `None` if they may not.
    async fn check(
        self,
        tx: &mut PooledConnection,
        derived: &DerivedRows,
        all: bool,
        lease: Option<&Lease>,
    ) -> Result<Option<Option<RecountNotice>>, StoreError> {
        if let Some(lease) = lease {
            leases::check(tx, lease).await?;
        }
        let before: Option<DerivedFrom> = learned::derived_from().fetch_optional(&mut *tx).await?;
        let interrupted = before.as_ref().and_then(DerivedFrom::interrupted);
        if !self.may_replace(tx, derived, before, all).await? {
            return Ok(None);
        }
        let cause = match interrupted {
            Some(counted) => Some(counted.cause),
            None => learned::cause(tx, derived).await?,
        };
        let Some(cause) = cause else {
            return Ok(Some(None));
        };
        if !learned::is_current(tx, derived.recount).await? {
            return Ok(None);
        }
        let goes_on = interrupted.is_some_and(|counted| counted.goes_on)
            || learned::goes_on(tx, derived).await?;
        Ok(Some(Some(RecountNotice { cause, goes_on })))
    }

    /// Whether rows made from these matches may replace those in the tables, which were made from what was `before`.
    async fn may_replace(
        self,
        tx: &mut PooledConnection,
        derived: &DerivedRows,
        before: Option<DerivedFrom>,
        all: bool,
    ) -> Result<bool, StoreError> {
        let from = &derived.from;
        let since = derived.weights.since.as_ref();
        if since.is_some() && since != before.as_ref() {
            return Ok(false);
        }
        let Some(before) = before.filter(|before| before.settings == from.settings) else {
            return Ok(all);
        };
        let now = self.0.matches().extent_in(tx).await?;
        let is_complete = |from: &DerivedFrom| (from.matches, from.last_match) == now;
        let keeps_up = match all {
            true => from.matches >= before.matches,
            false => !is_complete(&before),
        };
        Ok(keeps_up || is_complete(from))
    }
}

/// What is learned while many rows are written.
#[async_trait]
pub trait Meanwhile: Send + Sync {
    /// The rows that have become known since the last call: rulings on further matches, and the weights that differ then.
    /// `None` if there are none.
    async fn next(&mut self) -> Option<DerivedRows>;
}

/// Nothing is learned meanwhile.
struct NothingLearned;

#[async_trait]
impl Meanwhile for NothingLearned {
    async fn next(&mut self) -> Option<DerivedRows> {
        None
    }
}

/// Writes many rows in several transactions.
struct Rewriting<'a> {
    store: &'a Store,
    derived: &'a DerivedRows,
    lease: Option<&'a Lease>,
    mark: String,
    meanwhile: &'a mut dyn Meanwhile,
    /// The matches whose rulings are written.
    ruled: HashSet<i64>,
    /// What was learned meanwhile, and is not written yet.
    fresh: FreshRows,
    /// What was learned meanwhile: what was to be written instead is old.
    known: LearnedMeanwhile,
}

/// Whose weights were learned while others are written, and of which rulesets the divisions.
#[derive(Default)]
struct LearnedMeanwhile {
    rows: HashSet<(String, PlayerKey)>,
    spans: HashSet<String>,
}

/// Weights that were learned while others are written: the latest of each player.
#[derive(Default)]
struct FreshRows {
    rows: BTreeMap<(String, PlayerKey), WeightRow>,
    /// Those of the first rows as well.
    names: BTreeMap<PlayerKey, String>,
    spans: BTreeMap<String, Vec<(f64, f64)>>,
}

impl FreshRows {
    fn add(&mut self, new: NewWeights) {
        for row in new.rows {
            if let Some(name) = self.names.get_mut(&row.key) {
                name.clone_from(&row.name);
            }
            self.rows
                .insert((row.ruleset.clone(), row.key.clone()), row);
        }
        self.names.extend(new.names);
        self.spans.extend(new.spans);
    }

    /// The weights and the divisions, which are gone then. Names are written last, because each is that of all of the player's
    /// weights.
    fn take(&mut self) -> NewWeights {
        NewWeights {
            rows: std::mem::take(&mut self.rows).into_values().collect(),
            spans: std::mem::take(&mut self.spans).into_iter().collect(),
            ..NewWeights::default()
        }
    }
}

impl Rewriting<'_> {
    async fn run(mut self, recount: Option<RecountNotice>, all: bool) -> Result<(), StoreError> {
        let mut pace = Pace::new();
        let derived = self.derived;
        for part in derived.rulings.parts() {
            let part = part.map_err(StoreError::Temporary)?;
            let mut rest = &part[..];
            while !rest.is_empty() {
                let (some, later) = rest.split_at(pace.next(rest.len()));
                self.rule(some).await?;
                pace.took(some.len());
                self.take_in().await?;
                rest = later;
            }
        }
        self.write_weights(recount, all).await?;
        if all {
            self.remove_others().await?;
        }
        self.take_in().await?;
        let mut last = self.fresh.take();
        last.names.extend(std::mem::take(&mut self.fresh.names));
        let mut tx = self.begin().await?;
        write_weights(&mut tx, derived, &last, recount).await?;
        finish(&mut tx, derived).await?;
        self.store.commit(tx).await
    }

    /// Writes rulings.
    async fn rule(&mut self, some: &[RulingRow]) -> Result<(), StoreError> {
        self.ruled.extend(some.iter().map(|ruling| ruling.match_id));
        let mut tx = self.begin().await?;
        clear_performances(&mut tx, some).await?;
        write_rulings(&mut tx, some).await?;
        self.store.commit(tx).await
    }

    /// Writes the rulings on matches that were learned meanwhile, and keeps their weights: a notice is written before a
    /// weight, and after the performances of all earlier matches.
    async fn take_in(&mut self) -> Result<(), StoreError> {
        if let Some(new) = self.meanwhile.next().await {
            for part in new.rulings.parts() {
                for some in part.map_err(StoreError::Temporary)?.chunks(FEW) {
                    self.rule(some).await?;
                }
            }
            let rows = new.weights.rows.iter();
            let rows = rows.map(|row| (row.ruleset.clone(), row.key.clone()));
            self.known.rows.extend(rows);
            let spans = new.weights.spans.iter();
            self.known
                .spans
                .extend(spans.map(|(ruleset, _)| ruleset.clone()));
            self.fresh.add(new.weights);
        }
        Ok(())
    }

    /// Begins a transaction, if this is still the one who writes.
    async fn begin(&self) -> Result<Write, StoreError> {
        let mut tx = self.store.begin().await?;
        let checked = async {
            if let Some(lease) = self.lease {
                leases::check(&mut tx, lease).await?;
            }
            let from: Option<DerivedFrom> = learned::derived_from().fetch_optional(&mut tx).await?;
            match from.is_some_and(|from| from.settings == self.mark) {
                true => Ok(()),
                false => Err(StoreError::Overtaken),
            }
        };
        match checked.await {
            Ok(()) => Ok(tx),
            Err(error) => {
                tx.abandon().await?;
                Err(error)
            }
        }
    }

    async fn write_weights(
        &mut self,
        recount: Option<RecountNotice>,
        all: bool,
    ) -> Result<(), StoreError> {
        let new = &self.derived.weights;
        let mut pace = Pace::new();
        let (mut rows, mut spans) = (&new.rows[..], &new.spans[..]);
        while !(rows.is_empty() && spans.is_empty()) {
            let (some, later) = rows.split_at(pace.next(rows.len()));
            let (of_some, of_later) = spans.split_at(pace.next(spans.len()));
            let mut part = self.fresh.take();
            let is_old = |row: &&WeightRow| {
                let own = (row.ruleset.clone(), row.key.clone());
                self.known.rows.contains(&own)
            };
            part.rows
                .extend(some.iter().filter(|row| !is_old(row)).cloned());
            let of_some = of_some
                .iter()
                .filter(|(ruleset, _)| !self.known.spans.contains(ruleset));
            part.spans.extend(of_some.cloned());
            let mut tx = self.begin().await?;
            write_weights(&mut tx, self.derived, &part, recount).await?;
            self.store.commit(tx).await?;
            pace.took(part.rows.len() + part.spans.len());
            self.take_in().await?;
            (rows, spans) = (later, of_later);
        }
        let mut gone = new.gone.clone();
        if all {
            gone.extend(self.gone().await?);
        }
        gone.retain(|key| !self.known.rows.contains(key));
        for some in gone.chunks(FEW) {
            let mut tx = self.begin().await?;
            read::remove_weights(&mut tx, some).await?;
            self.store.commit(tx).await?;
        }
        Ok(())
    }

    /// The weights in the table that are not among the new ones.
    async fn gone(&self) -> Result<Vec<(String, PlayerKey)>, StoreError> {
        let new = &self.derived.weights;
        let new = new.rows.iter().map(|row| (row.ruleset.as_str(), &row.key));
        let new: HashSet<(&str, &PlayerKey)> = new.collect();
        let stored = sql("SELECT ruleset, kind, player FROM weights");
        let stored = stored.fetch_all(&self.store.readers).await?;
        let stored = stored
            .iter()
            .map(|row| Ok((row.get::<String>("ruleset")?, row.player()?)));
        let stored: Vec<(String, PlayerKey)> = stored.collect::<Result<_, StoreError>>()?;
        let is_gone =
            |(ruleset, key): &(String, PlayerKey)| !new.contains(&(ruleset.as_str(), key));
        Ok(stored.into_iter().filter(is_gone).collect())
    }

    /// Removes what belongs to no ruling and to no weight any more.
    async fn remove_others(&mut self) -> Result<(), StoreError> {
        let rulings = scalar("SELECT match_id FROM rulings");
        let rulings: Vec<i64> = rulings.fetch_all(&self.store.readers).await?;
        let others = rulings.into_iter().filter(|id| !self.ruled.contains(id));
        self.remove("DELETE FROM rulings WHERE match_id IN ", others.collect())
            .await?;
        let matches = "SELECT DISTINCT match_id FROM performances f
             WHERE NOT EXISTS (SELECT 1 FROM rulings r WHERE r.match_id = f.match_id)";
        let matches = scalar(matches).fetch_all(&self.store.readers).await?;
        self.remove("DELETE FROM performances WHERE match_id IN ", matches)
            .await?;
        // Merged identities stay, so that the handle of one leads to the player it counts as.
        let persons = "SELECT person FROM persons p
             WHERE NOT EXISTS (SELECT 1 FROM performances f WHERE f.person = p.person)
               AND NOT EXISTS (SELECT 1 FROM merged_players m WHERE m.kind = p.kind AND m.player = p.player)";
        let persons = scalar(persons).fetch_all(&self.store.readers).await?;
        self.remove("DELETE FROM persons WHERE person IN ", persons)
            .await?;
        let rulesets = "SELECT DISTINCT ruleset FROM divisions d
             WHERE NOT EXISTS (SELECT 1 FROM weights w WHERE w.ruleset = d.ruleset)";
        let rulesets: Vec<String> = scalar(rulesets).fetch_all(&self.store.readers).await?;
        for ruleset in rulesets {
            let mut tx = self.begin().await?;
            let delete = sql("DELETE FROM divisions WHERE ruleset = $1");
            delete.bind(ruleset).execute(&mut tx).await?;
            self.store.commit(tx).await?;
        }
        Ok(())
    }

    async fn remove(&self, delete: &'static str, found: Vec<i64>) -> Result<(), StoreError> {
        for some in found.chunks(FEW) {
            let mut tx = self.begin().await?;
            let mut query = Sql::new(delete);
            query.list(some.iter().copied());
            query.build().execute(&mut tx).await?;
            self.store.commit(tx).await?;
        }
        Ok(())
    }
}

/// What the tables are made from while they are written.
fn unfinished(derived: &DerivedRows, mark: &str) -> DerivedFrom {
    DerivedFrom {
        settings: mark.to_owned(),
        ..derived.from.clone()
    }
}

async fn finish(tx: &mut PooledConnection, derived: &DerivedRows) -> Result<(), StoreError> {
    replace_seasons(tx, &derived.seasons).await?;
    note_source(tx, &derived.from).await
}

/// Notes what the tables are made from now.
async fn note_source(tx: &mut PooledConnection, from: &DerivedFrom) -> Result<(), StoreError> {
    state::set(
        tx,
        learned::LEARNED,
        Some(from.matches),
        Some(&from.settings),
    )
    .await?;
    state::set(tx, "learned_to", Some(from.last_match), None).await
}

async fn write_weights(
    tx: &mut PooledConnection,
    derived: &DerivedRows,
    new: &NewWeights,
    recount: Option<RecountNotice>,
) -> Result<(), StoreError> {
    if let Some(counted) = recount {
        learned::write_notices(tx, derived.recount.at, new, counted).await?;
    }
    read::write_weights(tx, new, &derived.divisions).await
}

async fn clear_performances(tx: &mut PooledConnection, of: &[RulingRow]) -> Result<(), StoreError> {
    let mut query = Sql::new("DELETE FROM performances WHERE match_id IN ");
    query.list(of.iter().map(|ruling| ruling.match_id));
    query.build().execute(tx).await?;
    Ok(())
}

async fn write_rulings(tx: &mut PooledConnection, rulings: &[RulingRow]) -> Result<(), StoreError> {
    let persons = persons::of(tx, rulings).await?;
    insert_rulings(tx, rulings, &persons).await
}

async fn insert_rulings(
    tx: &mut PooledConnection,
    rulings: &[RulingRow],
    persons: &Persons,
) -> Result<(), StoreError> {
    let target = Target::new(
        "rulings",
        "match_id, ruleset, unrated, chance, ended_at, causes",
    )
    .replacing("match_id");
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
    insert(tx, target, "", rows).await?;
    let target = Target::new(
        "performances",
        "match_id, seat, points_for, points_against, person, ended_ms, team, result, weight_before, weight, deviation,
         cause",
    )
    .replacing("match_id, seat");
    let rows = rulings.iter().flat_map(|ruling| {
        let performances = ruling.performances.iter();
        performances.map(|(seat, own)| {
            values![
                ruling.match_id,
                *seat,
                own.points_for,
                own.points_against,
                persons.get(&own.key).copied(),
                ruling.ended_at.0,
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
    insert(tx, target, "", rows).await
}

async fn replace_seasons(
    tx: &mut PooledConnection,
    seasons: &[Timestamp],
) -> Result<(), StoreError> {
    sql("DELETE FROM seasons").execute(&mut *tx).await?;
    for start in seasons {
        sql("INSERT INTO seasons (starts_at, season) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(*start)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_says_what_notices_have_to_say() {
        let read = |settings: &str| {
            let from = DerivedFrom {
                matches: 1,
                last_match: 1,
                settings: settings.to_owned(),
            };
            let told = from.interrupted();
            told.map(|counted| (counted.cause, counted.goes_on))
        };
        for told in [
            None,
            Some((RecountCause::Void, false)),
            Some((RecountCause::LateMatch, true)),
        ] {
            let counted = told.map(|(cause, goes_on)| RecountNotice { cause, goes_on });
            assert_eq!(read(&unfinished_mark(counted)), told);
        }
        assert_eq!(read("unfinished 0123456789abcdef fire"), None);
        assert_eq!(read("0123456789abcdef 7"), None);
    }
}
