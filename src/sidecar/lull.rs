//! Choosing teams while nobody plays: in warm-up, or after a game where there is none.

use std::collections::BTreeMap;

/// How long a move may take before it is ordered again, in milliseconds: a server answers about one
/// command a second.
const PATIENCE: u64 = 3_000;

/// What the daemon chose.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    /// The weaker team over the stronger one.
    pub(super) ratio: f64,
    /// Each identity's team.
    pub(super) teams: BTreeMap<String, u8>,
    /// Bots of each team, where the daemon does not choose for each.
    pub(super) bots: Option<Vec<u32>>,
}

/// What to do next about the teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Wait,
    /// Ask for teams; the first time in this lull or not.
    Ask {
        first: bool,
    },
    /// Look whether everybody is where the daemon wants them.
    Compare,
}

/// See the module. Times are milliseconds of the caller's clock.
#[derive(Debug, Default)]
pub(super) struct Lull {
    /// When somebody last came, went or changed.
    changed: u64,
    /// The identities that teams were asked for.
    asked: Option<Vec<String>>,
    choice: Option<Choice>,
    orders: u32,
    /// Before this, moves that were ordered may still be carried out.
    patience: u64,
    /// Whether the operator knows how it ended.
    pub(super) told: bool,
}

impl Lull {
    pub(super) fn new(now: u64) -> Self {
        Self {
            changed: now,
            ..Self::default()
        }
    }

    pub(super) fn change(&mut self, now: u64) {
        self.changed = now;
    }

    /// What to do, with these people there.
    pub(super) fn step(&self, present: &[String], settle: u64, now: u64) -> Step {
        if present.len() < 2 || now < self.changed.saturating_add(settle) {
            return Step::Wait;
        }
        match &self.choice {
            Some(choice) if choice.teams.keys().eq(present.iter()) => Step::Compare,
            // Somebody who was to go and come back may be on the way.
            _ if now < self.patience => Step::Wait,
            _ if self.asked.as_deref() == Some(present) => Step::Wait,
            _ => Step::Ask {
                first: self.asked.is_none(),
            },
        }
    }

    pub(super) fn ask(&mut self, present: Vec<String>) {
        self.asked = Some(present);
        self.choice = None;
    }

    pub(super) fn choose(&mut self, choice: Choice) {
        self.choice = Some(choice);
        self.orders = 0;
        self.told = false;
    }

    pub(super) fn choice(&self) -> Option<&Choice> {
        self.choice.as_ref()
    }

    pub(super) fn choice_mut(&mut self) -> Option<&mut Choice> {
        self.choice.as_mut()
    }

    /// Whether moves that were ordered may still be carried out.
    pub(super) fn is_patient(&self, now: u64) -> bool {
        now < self.patience
    }

    /// Whether moves may be ordered once more; notes that they are.
    pub(super) fn order(&mut self, attempts: u32, now: u64) -> bool {
        if self.orders >= attempts {
            return false;
        }
        self.orders += 1;
        self.patience = now.saturating_add(PATIENCE);
        true
    }

    /// What was ordered has happened: no reason to wait on.
    pub(super) fn arrive(&mut self) {
        self.patience = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_once_for_the_same_people() {
        let ids = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut lull = Lull::new(1_000);
        assert_eq!(lull.step(&ids("a b"), 500, 1_499), Step::Wait, "too early");
        assert_eq!(lull.step(&ids("a"), 500, 9_000), Step::Wait, "too few");
        assert_eq!(
            lull.step(&ids("a b"), 500, 1_500),
            Step::Ask { first: true }
        );
        lull.ask(ids("a b"));
        assert_eq!(
            lull.step(&ids("a b"), 500, 1_600),
            Step::Wait,
            "no answer yet"
        );
        lull.choose(Choice {
            ratio: 1.0,
            teams: [("a".to_owned(), 0), ("b".to_owned(), 1)].into(),
            bots: None,
        });
        assert_eq!(lull.step(&ids("a b"), 500, 1_600), Step::Compare);
        assert!(lull.order(2, 1_600));
        assert!(lull.is_patient(4_599) && !lull.is_patient(4_600));
        assert_eq!(lull.step(&ids("a"), 500, 4_599), Step::Wait);
        assert!(lull.order(2, 4_600) && !lull.order(2, 9_000));
        assert_eq!(
            lull.step(&ids("a b c"), 500, 7_599),
            Step::Wait,
            "who went may come back"
        );
        assert_eq!(
            lull.step(&ids("a b c"), 500, 7_600),
            Step::Ask { first: false }
        );
    }
}
