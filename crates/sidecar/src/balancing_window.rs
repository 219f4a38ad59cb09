//! Decides when to choose teams. A balancing window is the time in which a sidecar may do so: a warm-up, the time
//! after a game, or the time in which a server waits for players.

use std::collections::BTreeMap;

use super::Act;
use evenkeel_model::ident::Ident;

/// The time that a move may take before it is ordered again, in milliseconds. A game server
/// executes about one remote command per second.
const PATIENCE: u64 = 3_000;

/// The teams that the daemon chose.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChosenTeams {
    /// The ratio of the chosen teams, 0 to 1.
    pub(super) ratio: f64,
    /// The team of each identity.
    pub(super) teams: BTreeMap<String, u8>,
    /// The number of bots on each team; `None` if the daemon places each bot itself.
    pub(super) bots: Option<Vec<u32>>,
}

impl ChosenTeams {
    /// The teams of a reply to BALANCE, with the number of bots on each team if the daemon decides it.
    pub(super) fn of(ratio: f64, humans: &[(Ident, u8)], bots: Option<Vec<u32>>) -> Self {
        let teams = humans.iter();
        let teams = teams.map(|(id, team)| (id.text().to_owned(), *team));
        Self {
            ratio,
            teams: teams.collect(),
            bots,
        }
    }
}

/// What to do next in a balancing window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowStep {
    /// Do nothing now.
    Wait,
    /// Ask the daemon for teams.
    Ask {
        /// Whether this is the first request in this window.
        first: bool,
    },
    /// Compare the teams on the game server with those chosen.
    Compare,
}

/// The state of one balancing window. Times are milliseconds of the caller's clock.
#[derive(Debug, Default)]
pub(super) struct BalancingWindow {
    /// When a player last joined, left or changed teams.
    changed: u64,
    /// The identities in the last request for teams.
    asked: Option<Vec<String>>,
    chosen: Option<ChosenTeams>,
    /// How often moves to the chosen teams were ordered.
    orders: u32,
    /// The time until which ordered moves can still take effect.
    patience: u64,
    /// Whether the outcome has been reported to the operator.
    reported: bool,
}

impl BalancingWindow {
    pub(super) fn new(now: u64) -> Self {
        Self {
            changed: now,
            ..Self::default()
        }
    }

    pub(super) fn change(&mut self, now: u64) {
        self.changed = now;
    }

    /// The next step if these identities, sorted, are on the game server. Waits until `settle`
    /// milliseconds after the last change, and with fewer than two players.
    pub(super) fn step(&self, present: &[String], settle: u64, now: u64) -> WindowStep {
        if present.len() < 2 || !self.is_settled(settle, now) {
            return WindowStep::Wait;
        }
        match &self.chosen {
            Some(chosen) if chosen.teams.keys().eq(present.iter()) => WindowStep::Compare,
            // A bot that was kicked, to be added to the other team, may not be back yet.
            _ if now < self.patience => WindowStep::Wait,
            _ if self.asked.as_deref() == Some(present) => WindowStep::Wait,
            _ => WindowStep::Ask {
                first: self.asked.is_none(),
            },
        }
    }

    /// Whether nobody has come, gone or changed teams for `settle` milliseconds.
    pub(super) fn is_settled(&self, settle: u64, now: u64) -> bool {
        now >= self.changed.saturating_add(settle)
    }

    pub(super) fn ask(&mut self, present: Vec<String>) {
        self.asked = Some(present);
        self.chosen = None;
    }

    pub(super) fn choose(&mut self, chosen: ChosenTeams) {
        self.chosen = Some(chosen);
        self.orders = 0;
        self.reported = false;
    }

    pub(super) fn chosen(&self) -> Option<&ChosenTeams> {
        self.chosen.as_ref()
    }

    pub(super) fn chosen_mut(&mut self) -> Option<&mut ChosenTeams> {
        self.chosen.as_mut()
    }

    /// Counts another order of the moves. Returns false if all `attempts` are used.
    fn order(&mut self, attempts: u32, now: u64) -> bool {
        if self.orders >= attempts {
            return false;
        }
        self.orders += 1;
        self.patience = now.saturating_add(PATIENCE);
        true
    }

    /// Decides what to do about the `moves` that are left from the teams on the game server to the chosen
    /// ones. Returns whether to order them now. Reports to the operator, once, that the teams are as
    /// chosen, or that the moves have failed `attempts` times.
    pub(super) fn compare(
        &mut self,
        moves: usize,
        attempts: u32,
        now: u64,
        acts: &mut Vec<Act>,
    ) -> bool {
        let Some(chosen) = &self.chosen else {
            return false;
        };
        let text = if moves == 0 {
            self.patience = 0;
            format!("the teams are as chosen, ratio {:.3}", chosen.ratio)
        } else if now < self.patience {
            // The ordered moves may still take effect.
            return false;
        } else if self.order(attempts, now) {
            self.reported = false;
            return true;
        } else if moves == 1 {
            "1 move was ordered and not carried out".to_owned()
        } else {
            format!("{moves} moves were ordered and not carried out")
        };
        if !std::mem::replace(&mut self.reported, true) {
            acts.push(Act::Report(text));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_once_for_the_same_people() {
        let ids = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut window = BalancingWindow::new(1_000);
        assert_eq!(
            window.step(&ids("a b"), 500, 1_499),
            WindowStep::Wait,
            "too early"
        );
        assert_eq!(
            window.step(&ids("a"), 500, 9_000),
            WindowStep::Wait,
            "too few"
        );
        assert_eq!(
            window.step(&ids("a b"), 500, 1_500),
            WindowStep::Ask { first: true }
        );
        window.ask(ids("a b"));
        assert_eq!(
            window.step(&ids("a b"), 500, 1_600),
            WindowStep::Wait,
            "no answer yet"
        );
        window.choose(ChosenTeams {
            ratio: 1.0,
            teams: [("a".to_owned(), 0), ("b".to_owned(), 1)].into(),
            bots: None,
        });
        assert_eq!(window.step(&ids("a b"), 500, 1_600), WindowStep::Compare);
        assert!(window.compare(1, 2, 1_600, &mut Vec::new()));
        assert!(
            !window.compare(1, 2, 4_599, &mut Vec::new()),
            "moves take time"
        );
        assert_eq!(window.step(&ids("a"), 500, 4_599), WindowStep::Wait);
        assert!(window.compare(1, 2, 4_600, &mut Vec::new()));
        assert_eq!(
            window.step(&ids("a b c"), 500, 7_599),
            WindowStep::Wait,
            "who went may come back"
        );
        assert_eq!(
            window.step(&ids("a b c"), 500, 7_600),
            WindowStep::Ask { first: false }
        );
        let mut reports = Vec::new();
        assert!(!window.compare(2, 2, 9_000, &mut reports), "ordered twice");
        assert!(!window.compare(2, 2, 9_500, &mut reports));
        let text = "2 moves were ordered and not carried out";
        assert_eq!(reports, [Act::Report(text.to_owned())], "reported once");
    }
}
