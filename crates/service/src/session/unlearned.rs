//! How much of what a client reports over HTTP may wait to be learned.
//!
//! Storing a match is quicker than learning from it. So a client that stores as fast as it can would make everybody wait for
//! their weights: all new matches are learned together. It decides and counts, and reads no clock.

use std::collections::BTreeMap;

use parking_lot::Mutex;

/// The players of a client's matches that may wait to be learned. A report of more waits until none does.
///
/// Two thousand are learned and written within a tenth of a second; a club that reports its matches one by one never has
/// that many.
const MOST: usize = 2_000;

/// The players of reported matches that no pass of the fold has learned, by client.
#[derive(Debug, Default)]
pub(super) struct Unlearned(BTreeMap<String, Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// Those of matches that are being stored.
    storing: usize,
    /// Those that are on disk, with the pass that learns them.
    stored: Vec<(u64, usize)>,
}

impl Waiting {
    fn players(&self) -> usize {
        let stored = self.stored.iter().map(|(_, players)| *players);
        stored.fold(self.storing, usize::saturating_add)
    }
}

impl Unlearned {
    /// Takes room for a report with so many players, if there is some after this pass of the fold. [`UnlearnedRoom`] gives it
    /// back.
    pub fn enter(&mut self, client: &str, players: usize, learned: u64) -> bool {
        let own = self.0.entry(client.to_owned()).or_default();
        own.stored.retain(|(pass, _)| *pass > learned);
        let waiting = own.players();
        let has_room = waiting == 0 || waiting.saturating_add(players) <= MOST;
        if has_room {
            own.storing = own.storing.saturating_add(players);
        }
        self.0.retain(|_, own| own.players() > 0);
        has_room
    }

    /// Notes that a report is stored and is learned by this pass; with `None`, that it was not stored.
    fn leave(&mut self, client: &str, players: usize, pass: Option<u64>) {
        let own = self.0.entry(client.to_owned()).or_default();
        own.storing = own.storing.saturating_sub(players);
        own.stored.extend(pass.map(|pass| (pass, players)));
        self.0.retain(|_, own| own.players() > 0);
    }
}

/// The room of a report that is being stored. When it is dropped, also by a panic, the report waits for a pass of the fold, or
/// was not stored.
pub(super) struct UnlearnedRoom<'a> {
    pub unlearned: &'a Mutex<Unlearned>,
    pub client: String,
    pub players: usize,
    /// The pass that learns the report; `None` as long as it is not stored.
    pub learned_by: Option<u64>,
}

impl Drop for UnlearnedRoom<'_> {
    fn drop(&mut self) {
        let mut unlearned = self.unlearned.lock();
        unlearned.leave(&self.client, self.players, self.learned_by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_reports_never_wait_and_large_ones_wait_for_each_other() {
        let mut unlearned = Unlearned::default();
        for _ in 0..100 {
            assert!(unlearned.enter("club", 20, 0));
            unlearned.leave("club", 20, Some(1));
        }
        assert!(!unlearned.enter("club", 20, 0), "2,000 wait");
        assert!(unlearned.enter("other", 4_000, 0), "somebody else");
        assert!(unlearned.enter("club", 4_000, 1), "all are learned");
        assert!(!unlearned.enter("club", 1, 1), "it is being stored");
        unlearned.leave("club", 4_000, None);
        assert!(unlearned.enter("club", 1, 1), "it was not stored");
        unlearned.leave("club", 1, Some(3));
        unlearned.leave("other", 4_000, Some(2));
        assert!(!unlearned.enter("other", 1, 1) && unlearned.enter("other", 1, 2));
        unlearned.leave("other", 1, None);
        assert!(unlearned.enter("nobody", 0, 3) && unlearned.0.len() == 1);
    }
}
