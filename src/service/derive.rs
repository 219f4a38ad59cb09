//! From matches to weights: the fold over all that is stored, and noticing when it is due.

use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};

use super::{Service, ServiceError, Settings};
use crate::{
    domain::{Fingerprint, Kind, MatchRecord, PatternError, Rulebook},
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

/// All matches folded so far, and how far that is.
pub(super) struct Learned {
    fold: Fold,
    /// Behind the last match folded.
    cursor: Cursor,
    matches: i64,
    /// The highest of their ids.
    last_match: i64,
    /// Rulings that are not on disk yet.
    pending: Vec<RulingRow>,
    rated: u64,
}

/// What is done beyond learning what is new.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Written too, unless that would undo what another configuration wrote.
    InMemory,
    /// Written too.
    AndWrite,
    /// All is forgotten first.
    Anew,
}

impl Learned {
    /// What it was made from.
    fn source(&self, settings_key: &str) -> DerivedFrom {
        DerivedFrom {
            matches: self.matches,
            last_match: self.last_match,
            settings: settings_key.to_owned(),
        }
    }

    pub(super) fn nothing(service: &Settings) -> Result<Self, PatternError> {
        let rulebook = Rulebook::new(&service.rulebook)?;
        Ok(Self {
            fold: Fold::new(&rulebook, service.history.clone()),
            cursor: Cursor::START,
            matches: 0,
            last_match: 0,
            pending: Vec::new(),
            rated: 0,
        })
    }

    /// CPU-heavy, and so for a thread of its own.
    fn push_all(&mut self, records: &[(i64, MatchRecord)]) {
        for (id, record) in records {
            self.last_match = self.last_match.max(*id);
            match self.fold.push(record, Fingerprint::of(record)) {
                Ok(ruling) => {
                    self.rated += u64::from(ruling.rated.is_ok());
                    self.pending.push(ruling_row(*id, record, &ruling));
                }
                // The store gives them in order, each once; a fingerprint changed by hand ends here.
                Err(Late) => tracing::warn!(match_id = id, "match out of order, left out"),
            }
        }
    }
}

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
    /// Learns from the matches that are not known yet, in memory and on disk. Whether there was
    /// anything to write: new matches, or another configuration.
    ///
    /// Matches later than all known ones are learned one by one; one that belongs in between means
    /// that all are learned anew. The bits are the same.
    ///
    /// # Errors
    /// The database's.
    pub async fn refresh(&self) -> Result<bool, ServiceError> {
        self.learn(How::AndWrite, |_| ()).await
    }

    /// Deletes all that is derived and makes it again. `progress` is told the matches done so far.
    ///
    /// # Errors
    /// The database's.
    pub async fn rebuild(&self, progress: impl FnMut(u64)) -> Result<Rebuilt, ServiceError> {
        self.learn(How::Anew, progress).await?;
        let learned = self.learned.lock().await;
        let Some(learned) = learned.as_ref() else {
            return Ok(Rebuilt::default());
        };
        Ok(Rebuilt {
            matches: u64::try_from(learned.matches).unwrap_or(0),
            rated: learned.rated,
            weights: learned.fold.weights().count(),
        })
    }

    /// Number of matches on disk.
    ///
    /// # Errors
    /// The database's.
    pub async fn match_count(&self) -> Result<u64, ServiceError> {
        let (matches, _) = self.store.extent().await?;
        Ok(u64::try_from(matches).unwrap_or(0))
    }

    /// The weights of one ruleset and kind as they are on disk, strongest first.
    ///
    /// # Errors
    /// The database's.
    pub async fn weights(&self, ruleset: &str, kind: Kind) -> Result<Vec<WeightRow>, ServiceError> {
        Ok(self.store.weights(ruleset, kind).await?)
    }

    /// Every ruleset that weights are known of.
    ///
    /// # Errors
    /// The database's.
    pub async fn rulesets(&self) -> Result<Vec<String>, ServiceError> {
        Ok(self.store.rulesets().await?)
    }

    /// Keeps what is known in memory as new as what is on disk, until dropped. Learns by itself when
    /// another process has written matches and gone away without doing so.
    ///
    /// # Errors
    /// The database's.
    pub async fn watch(&self) -> Result<(), ServiceError> {
        let mut watcher = self.store.watcher().await?;
        // Unlike any version, so that what came before the first look is not missed.
        let mut seen = None;
        let mut changed = Instant::now();
        let mut behind = true;
        loop {
            let version = watcher.version().await?;
            if seen != Some(version) {
                (seen, changed, behind) = (Some(version), Instant::now(), true);
            }
            // An ingest under way is waited for: it learns once, at its end.
            if behind && (self.is_derived().await? || changed.elapsed() >= ABANDONED) {
                self.follow().await?;
                behind = false;
            }
            sleep(POLL).await;
        }
    }

    /// Learns what is new. What another configuration has derived on disk is left as it is: two that
    /// share a database would undo each other's work for ever.
    async fn follow(&self) -> Result<(), ServiceError> {
        let derived = self.store.derived_from().await?;
        if derived.is_some_and(|derived| derived.settings != self.settings_key) {
            tracing::warn!("the weights on disk were made with another configuration");
        }
        if self.learn(How::InMemory, |_| ()).await? {
            tracing::info!("matches nobody had learned from found, and learned from");
        }
        Ok(())
    }

    /// Whether what is derived on disk knows all matches, by whatever configuration.
    async fn is_derived(&self) -> Result<bool, ServiceError> {
        let derived = self.store.derived_from().await?;
        let extent = self.store.extent().await?;
        Ok(derived.is_some_and(|derived| (derived.matches, derived.last_match) == extent))
    }

    async fn learn(&self, how: How, mut progress: impl FnMut(u64)) -> Result<bool, ServiceError> {
        // One at a time; and what is taken out is only put back whole.
        let mut slot = self.learned.lock().await;
        loop {
            let (stored, _) = self.store.extent().await?;
            let before = self.store.derived_from().await?;
            // Rulings of another configuration are all replaced, and so all needed.
            let other = before
                .as_ref()
                .is_none_or(|b| b.settings != self.settings_key);
            let all = how == How::Anew || (other && how == How::AndWrite);
            let mut learned = match slot.take() {
                Some(learned) if !all => learned,
                _ => Learned::nothing(&self.settings)?,
            };
            let known = learned.matches;
            learned = self.catch_up(learned, &mut progress).await?;
            if learned.matches < stored {
                continue; // one of them belongs in between: all anew
            }
            let from = learned.source(&self.settings_key);
            let due = all || (before.as_ref() != Some(&from) && !other);
            if due && !self.write(&mut learned, from, all).await? {
                continue; // somebody else has another configuration, just now
            }
            learned.pending.clear();
            if learned.matches != known || due {
                self.publish(&learned.fold);
            }
            *slot = Some(learned);
            return Ok(due);
        }
    }

    /// Folds whatever comes behind the cursor.
    async fn catch_up(
        &self,
        mut learned: Learned,
        progress: &mut impl FnMut(u64),
    ) -> Result<Learned, ServiceError> {
        loop {
            let (records, next) = self.store.matches(learned.cursor, CHUNK).await?;
            if records.is_empty() {
                return Ok(learned);
            }
            learned.cursor = next;
            learned.matches += records.len() as i64;
            let folded = tokio::task::spawn_blocking(move || {
                learned.push_all(&records);
                learned
            });
            learned = folded.await?;
            progress(u64::try_from(learned.matches).unwrap_or(0));
        }
    }

    /// Writes what was learned; `false` when matches have come since.
    async fn write(
        &self,
        learned: &mut Learned,
        from: DerivedFrom,
        all: bool,
    ) -> Result<bool, ServiceError> {
        let rulings = std::mem::take(&mut learned.pending);
        let weights = learned.fold.weights().map(weight_row).collect();
        let derived = Derived {
            from,
            rulings,
            weights,
        };
        let written = self.store.replace_derived(&derived, all).await;
        learned.pending = derived.rulings;
        Ok(written?)
    }
}

/// What of the configuration the weights depend on, as a short key.
pub(super) fn settings_key(settings: &Settings) -> String {
    let (rulebook, history) = (&settings.rulebook, &settings.history);
    let all = format!("{FOLD_VERSION} {rulebook:?} {history:?}");
    let digest = Sha256::digest(all.as_bytes());
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
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
