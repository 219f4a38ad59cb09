//! What late matches cost: the processor time of the replays that they cause, by the client that has reported them over
//! HTTP. Each client has a budget of it, so that one alone does not keep the daemon from learning what others report.
//!
//! It decides and counts, and reads no clock: a time is an argument, in milliseconds since any fixed moment.

use std::{collections::BTreeMap, time::Duration};

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
