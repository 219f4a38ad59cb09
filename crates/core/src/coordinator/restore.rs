//! The state after a restart, from what is on disk.

use std::collections::BTreeSet;

use super::{
    Coordinator, CoordinatorSettings, Hosted, Instance, MAX_INSTANCES, Offer, Stage, Wanted, Why,
    settings::millis, state::Due,
};
use crate::domain::{MatchId, Timestamp};

impl Coordinator {
    /// Restores the state from these instances and matches. No instance is connected yet: each has as much
    /// time to come back as after a lost connection, and so has each game in play.
    ///
    /// `wanted` returns what a match in no final state needs of an instance; `None` if its tickets no
    /// longer exist, so that the match fails. `is_recorded` returns whether the result of a match is on
    /// disk: the daemon was then killed after END, before it stored the match's new state.
    pub fn restore(
        settings: CoordinatorSettings,
        offers: Vec<Offer>,
        matches: Vec<Hosted>,
        owed: Vec<(String, MatchId, Why)>,
        now: Timestamp,
        wanted: impl Fn(&Hosted) -> Option<Wanted>,
        is_recorded: impl Fn(MatchId) -> bool,
    ) -> Self {
        let now = matches
            .iter()
            .map(|one| one.since)
            .fold(now, Timestamp::max);
        let mut restored = Self::new(settings, now);
        for offer in offers.into_iter().take(MAX_INSTANCES) {
            restored.absent(offer);
        }
        let (mut gone, mut over) = (BTreeSet::new(), BTreeSet::new());
        for mut hosted in matches {
            let id = hosted.id;
            if !hosted.stage.is_final() {
                match wanted(&hosted) {
                    Some(wanted) => {
                        restored.wanted.insert(id, wanted);
                    }
                    None if hosted.stage == Stage::Playing => {}
                    None => {
                        gone.insert(id);
                    }
                }
                if hosted.stage == Stage::Playing && is_recorded(id) {
                    over.insert(id);
                }
                restored.begins_again(&mut hosted);
                restored.occupy(&hosted);
            }
            restored.insert(hosted);
        }
        for (name, id, why) in owed {
            restored.owed.entry(name).or_default().insert(id, why);
        }
        restored.is_clean();
        for id in over {
            restored.ended(id);
        }
        for id in gone {
            restored.withdraw(id);
        }
        restored.at(now);
        restored.stale = true;
        restored
    }

    /// Starts the time limit of a match's current step again.
    fn begins_again(&self, hosted: &mut Hosted) {
        let back = self.now.plus_millis(millis(self.settings.return_seconds));
        match hosted.stage {
            Stage::Reserved => hosted.until = hosted.until.max(back),
            Stage::Opening | Stage::Ready => hosted.since = self.now,
            Stage::Joining => (hosted.stage, hosted.since) = (Stage::Ready, self.now),
            Stage::Playing => hosted.parted = Some(self.now),
            Stage::Over | Stage::Failed => {}
        }
    }

    /// Adds an instance that is not connected.
    pub(super) fn absent(&mut self, offer: Offer) {
        let mut instance = Instance::new(offer, self.now);
        instance.away = Some(self.now);
        // Every line that its next connection sends is later than this.
        instance.heard = Timestamp(0);
        let at = self.now.plus_millis(millis(self.settings.return_seconds));
        let name = instance.offer.name.clone();
        self.due.insert((at, Due::Instance(name.clone())));
        self.instances.insert(name, instance);
    }

    /// Notes that a match is at its instance.
    fn occupy(&mut self, hosted: &Hosted) {
        let Some(name) = hosted
            .instance
            .as_ref()
            .filter(|_| hosted.stage != Stage::Reserved)
        else {
            return;
        };
        if !self.instances.contains_key(name) {
            self.absent(Offer {
                name: name.clone(),
                address: hosted.address.clone().unwrap_or_default(),
                slots: 1,
                ..Offer::default()
            });
        }
        if let Some(instance) = self.instances.get_mut(name) {
            instance.matches.insert(hosted.id);
        }
    }
}
