//! From matches to weights: the fold over all that is stored, and noticing when it is due.

use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};

use super::{Service, ServiceError};
use crate::{
    domain::{Fingerprint, MatchRecord},
    history::{Fold, Late, Ruling, Weight},
    store::{Cursor, Derived, DerivedFrom, Performance, RulingRow, WeightRow},
};

/// Part of the settings' key: change it when the fold itself changes, and every database is rebuilt.
const FOLD_VERSION: u32 = 1;
/// Matches read at once.
const CHUNK: u32 = 512;
/// How often other processes' changes are looked for: new weights are seen within a second.
const POLL: Duration = Duration::from_millis(250);
/// An ingest that has written nothing for so long has died before its fold; the daemon then folds.
const ABANDONED: Duration = Duration::from_secs(10);

/// What a rebuild went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Matches folded.
    pub matches: u64,
    /// Of them rated.
    pub rated: u64,
    /// Weights that came out.
    pub weights: usize,
}

impl Service {
    /// Folds the matches anew if there are any the weights do not know, or if the configuration has
    /// changed. Whether it did.
    ///
    /// # Errors
    /// The database's.
    pub async fn refresh(&self) -> Result<bool, ServiceError> {
        let stale = self.is_stale().await?;
        if stale {
            self.fold_all(false, |_| ()).await?;
        }
        Ok(stale)
    }

    /// Deletes all that is derived and makes it again. `progress` is told the matches done so far.
    ///
    /// # Errors
    /// The database's.
    pub async fn rebuild(&self, progress: impl FnMut(u64)) -> Result<Rebuilt, ServiceError> {
        self.fold_all(true, progress).await
    }

    /// Number of matches on disk.
    ///
    /// # Errors
    /// The database's.
    pub async fn match_count(&self) -> Result<u64, ServiceError> {
        let (matches, _) = self.store.extent().await?;
        Ok(u64::try_from(matches).unwrap_or(0))
    }

    /// All weights as they are on disk.
    ///
    /// # Errors
    /// The database's.
    pub async fn weight_rows(&self) -> Result<Vec<WeightRow>, ServiceError> {
        Ok(self.store.weights().await?)
    }

    /// Keeps the weights in memory as new as those on disk, until dropped. Folds by itself when
    /// another process has written matches and gone away without doing so.
    ///
    /// # Errors
    /// The database's.
    pub async fn watch(&self) -> Result<(), ServiceError> {
        let mut watcher = self.store.watcher().await?;
        let mut seen = watcher.version().await?;
        let mut changed = Instant::now();
        loop {
            sleep(POLL).await;
            let version = watcher.version().await?;
            if version != seen {
                seen = version;
                changed = Instant::now();
                self.reload().await?;
            } else if changed.elapsed() >= ABANDONED {
                changed = Instant::now();
                if self.refresh().await? {
                    tracing::info!("matches without weights found; weights are derived anew");
                }
            }
        }
    }

    async fn is_stale(&self) -> Result<bool, ServiceError> {
        let (matches, last_match) = self.store.extent().await?;
        let now = DerivedFrom {
            matches,
            last_match,
            settings: self.settings_key(),
        };
        Ok(self.store.derived_from().await? != Some(now))
    }

    async fn fold_all(
        &self,
        all: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<Rebuilt, ServiceError> {
        let _one_at_a_time = self.folding.lock().await;
        loop {
            let (matches, last_match) = self.store.extent().await?;
            let from = DerivedFrom {
                matches,
                last_match,
                settings: self.settings_key(),
            };
            let (derived, rebuilt) = self.fold_once(from, &mut progress).await?;
            // Matches that came in meanwhile are folded too, in their place.
            if self.store.replace_derived(&derived, all).await? {
                self.reload().await?;
                return Ok(rebuilt);
            }
        }
    }

    async fn fold_once(
        &self,
        from: DerivedFrom,
        progress: &mut impl FnMut(u64),
    ) -> Result<(Derived, Rebuilt), ServiceError> {
        let mut fold = Fold::new(&self.rulebook, self.settings.rating);
        let mut rebuilt = Rebuilt::default();
        let mut rulings = Vec::new();
        let mut cursor = Cursor::START;
        loop {
            let (records, next) = self.store.matches(cursor, CHUNK).await?;
            if records.is_empty() {
                break;
            }
            cursor = next;
            let folded = tokio::task::spawn_blocking(move || push_all(fold, &records));
            let (back, rows) = folded.await?;
            fold = back;
            rebuilt.matches += rows.len() as u64;
            rebuilt.rated += rows.iter().filter(|row| row.unrated.is_none()).count() as u64;
            rulings.extend(rows);
            progress(rebuilt.matches);
        }
        let weights: Vec<WeightRow> = fold.weights().map(weight_row).collect();
        rebuilt.weights = weights.len();
        Ok((
            Derived {
                from,
                rulings,
                weights,
            },
            rebuilt,
        ))
    }

    /// What of the configuration the weights depend on, as a short key.
    fn settings_key(&self) -> String {
        let all = format!(
            "{FOLD_VERSION} {:?} {:?}",
            self.settings.rulebook, self.settings.rating
        );
        let digest = Sha256::digest(all.as_bytes());
        digest[..8]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// CPU-heavy, and so off the async threads.
fn push_all(mut fold: Fold, records: &[(i64, MatchRecord)]) -> (Fold, Vec<RulingRow>) {
    let mut rows = Vec::with_capacity(records.len());
    for (id, record) in records {
        match fold.push(record, Fingerprint::of(record)) {
            Ok(ruling) => rows.push(ruling_row(*id, record, &ruling)),
            // The store gives them in order, each once; a fingerprint changed by hand ends here.
            Err(Late) => tracing::warn!(match_id = id, "match out of order, left out"),
        }
    }
    (fold, rows)
}

fn ruling_row(match_id: i64, record: &MatchRecord, ruling: &Ruling) -> RulingRow {
    let none = Performance {
        points_for: 0.0,
        points_against: 0.0,
    };
    let mut performances = Vec::new();
    if let Ok(played) = &ruling.rated {
        performances = vec![none; record.participants.len()];
        for p in played {
            performances[p.participant] = Performance {
                points_for: p.scored,
                points_against: p.conceded,
            };
        }
    }
    RulingRow {
        match_id,
        ruleset: ruling.ruleset.to_string(),
        unrated: ruling.rated.as_ref().err().map(|why| why.as_str()),
        performances,
    }
}

fn weight_row(weight: Weight<'_>) -> WeightRow {
    WeightRow {
        ruleset: weight.ruleset.to_string(),
        key: weight.key.clone(),
        name: weight.name.to_owned(),
        weight: weight.weight,
        games: weight.games,
        last_seen: weight.last_seen,
    }
}
