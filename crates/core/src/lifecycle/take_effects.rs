//! Takes what has come up since the last time as [`Effects`].

use std::collections::BTreeMap;

use super::{Change, Effects, Lifecycle, Message, Seat};
use crate::domain::MatchId;

impl Lifecycle {
    /// What is to be done after the events since the last call. Finds instances for the matches that wait. If all
    /// changes can wait, they are left for a later call, unless `all` of them are asked for. Each call of `pass`
    /// returns another secret, by which an instance recognises a player.
    pub fn take_effects(&mut self, all: bool, pass: impl Fn() -> String) -> Effects {
        if std::mem::take(&mut self.stale) {
            self.allocate();
        }
        let mut effects = std::mem::take(&mut self.effects);
        // The instance may have refused the match after the message was added.
        effects.send.retain(|message| match message {
            Message::Open { instance, id } => self
                .at_instance(instance, *id)
                .is_ok_and(|hosted| hosted.stage.is_before_start()),
            _ => true,
        });
        for message in &effects.send {
            if let Message::Open { id, .. } = message {
                self.issue(*id, &pass);
            }
        }
        if all || !self.rehosted.is_empty() || effects.must_write() {
            self.add_hosting(&mut effects.write);
        } else {
            self.effects.write = std::mem::take(&mut effects.write);
        }
        effects
    }

    /// Whether tickets have come, gone or changed their state since the last write.
    pub fn have_tickets_changed(&self) -> bool {
        self.effects.must_write()
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

    /// Adds what has changed of the hosting of matches and of the instances, each once as it is now.
    fn add_hosting(&mut self, changes: &mut Vec<Change>) {
        let hosted = |id: MatchId| {
            let hosted = self.matches.get(id).filter(|one| one.stage.is_hosted())?;
            Some(Change::Hosted(Box::new(hosted.clone())))
        };
        let rehosted = std::mem::take(&mut self.rehosted);
        changes.extend(rehosted.into_iter().filter_map(hosted));
        let instance = |name: String| match self.instances.get(&name) {
            Some(instance) => Change::Instance(Box::new(instance.clone())),
            None => Change::InstanceGone(name),
        };
        let changed = std::mem::take(&mut self.changed_instances);
        changes.extend(changed.into_iter().map(instance));
    }
}
