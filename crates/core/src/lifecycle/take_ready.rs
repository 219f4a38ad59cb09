//! Takes what has come up since the last time as one [`Ready`].

use std::collections::BTreeMap;

use super::{Change, Lifecycle, Message, Ready, Seat};
use crate::domain::MatchId;

impl Lifecycle {
    /// What is to be done after the events since the last call. Finds instances for the matches that wait. If all
    /// changes can wait, they are left for a later call, unless `all` of them are asked for. Each call of `pass`
    /// returns another secret, by which an instance recognises a player.
    pub fn take_ready(&mut self, all: bool, pass: impl Fn() -> String) -> Ready {
        if std::mem::take(&mut self.stale) {
            self.allocate();
        }
        let mut send = std::mem::take(&mut self.pending.send);
        // The instance may have refused the match after the message was added.
        send.retain(|message| match message {
            Message::Open { instance, id } => self
                .at_instance(instance, *id)
                .is_ok_and(|hosted| hosted.stage.is_before_start()),
            _ => true,
        });
        for message in &send {
            if let Message::Open { id, .. } = message {
                self.issue(*id, &pass);
            }
        }
        let must_write = !self.pending.hosted.is_empty() || self.have_tickets_changed();
        Ready {
            write: match all || must_write {
                true => self.take_changes(),
                false => Vec::new(),
            },
            send,
            allocate: std::mem::take(&mut self.pending.allocate),
            count: std::mem::take(&mut self.pending.count),
        }
    }

    /// Whether tickets have come, gone or changed their state since the last write.
    pub fn have_tickets_changed(&self) -> bool {
        let mut changes = self.pending.changes.iter();
        changes.any(|change| !change.can_wait())
    }

    /// Draws the passes of a match that has none.
    fn issue(&mut self, id: MatchId, pass: impl Fn() -> String) {
        let Some(hosted) = self.matches.get(id).filter(|one| one.passes.is_empty()) else {
            return;
        };
        let issued = |seat: &Seat| (seat.player.clone(), pass());
        let passes: BTreeMap<_, _> = hosted.seats.iter().map(issued).collect();
        self.change(id, |hosted| hosted.passes = passes);
    }

    fn take_changes(&mut self) -> Vec<Change> {
        let pending = std::mem::take(&mut self.pending);
        (self.pending.send, self.pending.allocate) = (pending.send, pending.allocate);
        self.pending.count = pending.count;
        let hosted = |id: MatchId| {
            let hosted = self.matches.get(id).filter(|one| one.stage.is_hosted())?;
            Some(Change::Hosted(Box::new(hosted.clone())))
        };
        let instance = |name: String| match self.instances.get(&name) {
            Some(instance) => Change::Instance(Box::new(instance.clone())),
            None => Change::InstanceGone(name),
        };
        let owed = |(instance, id, why)| Change::Owed { instance, id, why };
        let settled = |(instance, id)| Change::Settled { instance, id };
        let mut changes = pending.changes;
        changes.extend(pending.hosted.into_iter().filter_map(hosted));
        let forgotten = pending.hosting_forgotten.into_iter();
        changes.extend(forgotten.map(Change::HostingForgotten));
        changes.extend(pending.instances.into_iter().map(instance));
        changes.extend(pending.owed.into_iter().map(owed));
        // What was owed and settled in the same batch is settled.
        changes.extend(pending.settled.into_iter().map(settled));
        changes
    }
}
