//! How far the fold is: its passes, so that somebody can wait until what they have stored is learned, and what the
//! published weights lack as long as the stored matches are still being folded.
//!
//! Nothing is answered with less than will be known a moment later: a player of a stored match whom these weights
//! do not contain is not unknown, but not known yet.
//!
//! A pass that late matches cause costs processor time. Each client that reports them over HTTP has a budget of it, so that one
//! alone does not keep the daemon from learning what others report. Budgets decide and count, and read no clock: a time is an
//! argument, in milliseconds since any fixed moment.

use std::{
    collections::{BTreeMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
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

/// The processor time that a client may use in a minute, and at once after a pause.
const BUDGET: Duration = Duration::from_secs(10);
const MINUTE: f64 = 60.0;

/// The budgets of all clients.
#[derive(Debug, Default)]
pub(super) struct LateBudgets {
    /// How many late matches of each client no replay has learned yet.
    waiting: BTreeMap<String, u32>,
    /// What each client has used of its budget, in seconds, and when.
    used: BTreeMap<String, (f64, u64)>,
}

impl LateBudgets {
    /// How long a client has to wait before it may cause another replay; `None` if it may now.
    pub fn wait(&self, client: &str, now: u64) -> Option<Duration> {
        let over = self.used(client, now) - BUDGET.as_secs_f64();
        (over >= 0.0)
            .then(|| Duration::from_secs_f64((over * MINUTE / BUDGET.as_secs_f64()).max(1.0)))
    }

    /// Notes that a client has reported a late match.
    pub fn note(&mut self, client: &str) {
        let waiting = self.waiting.entry(client.to_owned()).or_default();
        *waiting = waiting.saturating_add(1);
    }

    /// Divides the processor time of a replay among those whose late matches it has learned, by the number of these.
    pub fn charge(&mut self, cost: Duration, now: u64) {
        let waiting = std::mem::take(&mut self.waiting);
        let all: f64 = waiting.values().map(|count| f64::from(*count)).sum();
        for (client, count) in waiting {
            let used = self.used(&client, now) + cost.as_secs_f64() * f64::from(count) / all;
            self.used.insert(client, (used, now));
        }
        // Who has used nothing lately is as good as new.
        let is_used = |used: f64, at: u64| remaining(used, at, now) > 0.0;
        self.used.retain(|_, (used, at)| is_used(*used, *at));
    }

    /// A replay has learned them that was made for another reason.
    pub fn forgive(&mut self) {
        self.waiting.clear();
    }

    fn used(&self, client: &str, now: u64) -> f64 {
        let used = self.used.get(client);
        used.map_or(0.0, |&(used, at)| remaining(used, at, now))
    }
}

/// What is left of `used` seconds: they are forgotten as fast as the budget comes back.
fn remaining(used: f64, at: u64, now: u64) -> f64 {
    let passed = now.saturating_sub(at) as f64 / 1_000.0;
    (used - passed * BUDGET.as_secs_f64() / MINUTE).max(0.0)
}

/// The processor time that this thread has used.
#[cfg(unix)]
pub fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

/// The time on the clock, where threads tell no other.
#[cfg(not(unix))]
pub fn processor_time() -> Duration {
    static BEGAN: std::sync::LazyLock<tokio::time::Instant> =
        std::sync::LazyLock::new(tokio::time::Instant::now);
    BEGAN.elapsed()
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

#[cfg(test)]
mod late_tests {
    use super::*;

    const SECOND: u64 = 1_000;

    #[test]
    fn a_budget_is_ten_seconds_and_comes_back_within_a_minute() {
        let mut budgets = LateBudgets::default();
        let cost = Duration::from_secs;
        budgets.note("a");
        budgets.charge(cost(9), 0);
        assert_eq!(budgets.wait("a", 0), None);
        budgets.note("a");
        budgets.charge(cost(4), 0);
        assert_eq!(budgets.wait("a", 0), Some(Duration::from_secs(18)));
        assert_eq!(budgets.wait("a", 12 * SECOND), Some(Duration::from_secs(6)));
        assert_eq!(budgets.wait("a", 18 * SECOND + 1), None);
        assert_eq!(budgets.wait("b", 0), None);
        // Who has waited for a minute and more has the whole budget.
        budgets.note("a");
        budgets.charge(cost(9), 200 * SECOND);
        assert_eq!(budgets.wait("a", 200 * SECOND), None);
        budgets.charge(cost(100), 400 * SECOND);
        assert!(budgets.used.is_empty() && budgets.waiting.is_empty());
    }

    #[test]
    fn a_replay_is_paid_by_those_who_are_late() {
        let mut budgets = LateBudgets::default();
        for client in ["a", "b", "a", "a"] {
            budgets.note(client);
        }
        budgets.charge(Duration::from_secs(20), 0);
        assert_eq!(
            budgets.wait("a", 0),
            Some(Duration::from_secs(30)),
            "15 s of it"
        );
        assert_eq!(budgets.wait("b", 0), None, "5 s of it");
        budgets.note("b");
        budgets.forgive();
        budgets.charge(Duration::from_secs(20), 0);
        assert_eq!(budgets.wait("b", 0), None, "history was corrected");
    }
}
