//! How far the fold is: its passes, so that somebody can wait until what they have stored is learned, and what the
//! published weights lack as long as the stored matches are still being folded.
//!
//! Nothing is answered with less than will be known a moment later: a player of a stored match whom these weights
//! do not contain is not unknown, but not known yet.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::RwLock;
use tokio::sync::watch;

use super::{Learning, LearningError};

use crate::model::{Kind, MatchRecord, PlayerKey, merge::CountsAs};

/// What published weights lack that are not those of all stored matches by the present settings.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    participants: Arc<Participants>,
    /// Whether the ranks are those of the configured divisions.
    pub has_ranks: bool,
}

/// Whoever is in a match that is rated or newer than the weights, and the other identities of these players.
#[derive(Debug)]
struct Participants {
    counts_as: Arc<CountsAs>,
    ids: RwLock<Ids>,
}

#[derive(Debug, Default)]
struct Ids {
    humans: HashSet<String>,
    bots: HashSet<String>,
}

impl Ids {
    fn of(&mut self, kind: Kind) -> &mut HashSet<String> {
        match kind {
            Kind::Human => &mut self.humans,
            Kind::Bot => &mut self.bots,
        }
    }
}

impl Participants {
    /// Adds players with all their identities.
    fn add<'a>(&self, players: impl Iterator<Item = &'a PlayerKey>) {
        let mut ids = self.ids.write();
        for key in players {
            let into = self.counts_as.of(key);
            for key in [key, &*into] {
                let of_kind = ids.of(key.kind);
                if !of_kind.contains(&key.id) {
                    of_kind.insert(key.id.clone());
                }
            }
        }
        for (alias, into) in self.counts_as.merged() {
            if ids.of(into.kind).contains(&into.id) {
                ids.of(alias.kind).insert(alias.id.clone());
            }
        }
    }
}

impl Gaps {
    /// Whether the player is in a stored match, so that a complete fold may know more.
    pub fn has(&self, kind: Kind, id: &str) -> bool {
        let into = self.participants.counts_as.get(kind, id);
        let ids = self.participants.ids.read();
        let has = |id: &str| match kind {
            Kind::Human => ids.humans.contains(id),
            Kind::Bot => ids.bots.contains(id),
        };
        has(id) || into.is_some_and(|into| has(&into.id))
    }

    /// Whether any bot is in a stored match.
    pub fn has_bots(&self) -> bool {
        !self.participants.ids.read().bots.is_empty()
    }
}

impl Learning {
    /// What weights lack that are served while the matches on disk are folded. `last` is the last match of which they are.
    pub(super) async fn gaps(
        &self,
        counts_as: &Arc<CountsAs>,
        last: i64,
    ) -> Result<Gaps, LearningError> {
        let participants = Participants {
            counts_as: counts_as.clone(),
            ids: RwLock::default(),
        };
        participants.add(self.store.matches().participants(last).await?.iter());
        let stored = self.store.learned().divisions().await?;
        let stored = stored.iter().map(|division| division.name.as_str());
        let names = &self.settings.history.divisions.names;
        Ok(Gaps {
            participants: Arc::new(participants),
            has_ranks: stored.eq(names.iter().map(|name| name.as_str())),
        })
    }

    /// Notes who was in a match that this process has recorded: from now on, these players are known or waited
    /// for.
    pub fn note_participants(&self, record: &MatchRecord) {
        if let Some(gaps) = self.standings().gaps() {
            let players = record.participants.iter();
            gaps.participants.add(players.map(|player| &player.key));
        }
    }
}

/// Each pass learns from all matches that were stored before it began.
#[derive(Debug, Default)]
pub(super) struct Passes {
    begun: AtomicU64,
    /// The last pass whose weights are published.
    learned: watch::Sender<u64>,
}

impl Passes {
    /// Begins a pass. Returns its number.
    pub fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Notes that the weights of a pass are published.
    pub fn learned(&self, pass: u64) {
        self.learned.send_if_modified(|last| {
            let is_new = pass > *last;
            *last = pass.max(*last);
            is_new
        });
    }

    /// The pass that learns from what is stored by now.
    pub fn next(&self) -> u64 {
        self.begun.load(Ordering::Acquire) + 1
    }

    /// The last pass whose weights are published, now and from now on.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.learned.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_in_a_match_is_waited_for_under_every_identity() {
        let key = |id: &str| PlayerKey {
            kind: Kind::Human,
            id: id.into(),
        };
        let merged = [("anna", "ann"), ("annie", "ann"), ("bobby", "bob")];
        let merged = merged.map(|(alias, into)| (key(alias), key(into)));
        let participants = Arc::new(Participants {
            counts_as: Arc::new(merged.into_iter().collect()),
            ids: RwLock::default(),
        });
        let gaps = Gaps {
            participants: participants.clone(),
            has_ranks: true,
        };
        participants.add([key("anna"), key("cid")].iter());
        for id in ["ann", "anna", "annie", "cid"] {
            assert!(gaps.has(Kind::Human, id), "{id}");
            assert!(!gaps.has(Kind::Bot, id));
        }
        assert!(!gaps.has(Kind::Human, "bob") && !gaps.has(Kind::Human, "bobby"));
        participants.add([key("bob")].iter());
        assert!(gaps.has(Kind::Human, "bobby"));
        assert!(!gaps.has_bots());
        let bot = PlayerKey {
            kind: Kind::Bot,
            id: "x".into(),
        };
        participants.add([bot].iter());
        assert!(gaps.has_bots() && gaps.has(Kind::Bot, "x"));
    }
}
