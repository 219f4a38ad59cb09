//! The events of instances: they come, are silent, and go.

use std::collections::BTreeSet;

use super::{
    Change, HostRefused, Instance, InstanceOffer, Lifecycle, MAX_INSTANCES, Message, Stage, Why,
    millis, state::Due,
};
use evenkeel_model::{Timestamp, record::MatchId};

impl Lifecycle {
    /// An instance connects, connects again, or changes what it offers. One that comes back is asked
    /// again to host the matches whose play has not begun.
    ///
    /// # Errors
    /// Fails if there are too many instances.
    pub fn joined(&mut self, offer: InstanceOffer) -> Result<(), HostRefused> {
        let name = offer.name.clone();
        if !self.instances.contains_key(&name) && self.instances.len() >= MAX_INSTANCES {
            return Err(HostRefused::TooMany);
        }
        let now = self.now;
        let new = Instance::new(offer.clone(), now);
        let instance = self.instances.entry(name.clone()).or_insert(new);
        instance.offer = offer;
        instance.heard = now;
        // An instance that was given up may come back with a game in play.
        let hosts = |id: &&MatchId| {
            let hosted = self.matches.get(**id);
            hosted.is_some_and(|hosted| hosted.instance.as_ref() == Some(&name))
        };
        instance.matches.extend(self.live.iter().filter(hosts));
        self.came_back(&name);
        Ok(())
    }

    /// An instance has sent a line at this time, which may be after the last event.
    pub fn alive(&mut self, name: &str, at: Timestamp) {
        let Some(instance) = self.instances.get_mut(name) else {
            return;
        };
        if at > instance.heard {
            instance.heard = at;
            if instance.away.is_some() {
                self.came_back(name);
            }
        }
    }

    /// Handles an instance that is connected again: sends it what it has missed.
    fn came_back(&mut self, name: &str) {
        let Some(instance) = self.instances.get_mut(name) else {
            return;
        };
        instance.away = None;
        let matches = instance.matches.clone();
        let at = instance
            .heard
            .plus_millis(millis(self.settings.heartbeat_seconds));
        self.due.insert((at, Due::Instance(name.to_owned())));
        for (id, why) in self.owed.remove(name).unwrap_or_default() {
            let instance = name.to_owned();
            let finalised = Change::Finalised {
                instance: instance.clone(),
                id,
            };
            self.effects.write.push(finalised);
            self.effects.send.push(Message::Close { instance, id, why });
        }
        for id in &matches {
            self.wait_for_expected(*id);
        }
        let open = |id: &MatchId| {
            let hosted = self.matches.get(*id);
            hosted.is_some_and(|hosted| hosted.stage.is_before_start())
        };
        let again: Vec<MatchId> = matches.into_iter().filter(open).collect();
        let open = |id| Message::Open {
            instance: name.to_owned(),
            id,
        };
        self.effects.send.extend(again.into_iter().map(open));
        self.stale = true;
        self.instance_changed(name);
    }

    /// An instance states how busy it is, 0 to 1.
    ///
    /// # Errors
    /// Fails if it is not known.
    pub fn load(&mut self, name: &str, load: f64) -> Result<(), HostRefused> {
        let instance = self.instances.get_mut(name).ok_or(HostRefused::NotYours)?;
        instance.load = load.clamp(0.0, 1.0);
        self.instance_changed(name);
        Ok(())
    }

    /// The instances with these names get no further matches, and all others do. Returns whether this
    /// has changed anything.
    pub fn drain(&mut self, names: &BTreeSet<String>) -> bool {
        let mut changed = false;
        for (name, instance) in &mut self.instances {
            let drains = names.contains(name);
            changed |= instance.drains != drains;
            self.stale |= instance.drains && !drains;
            instance.drains = drains;
        }
        changed
    }

    /// The connection of an instance is lost. Its matches wait for a while for it to come back.
    pub fn lost(&mut self, name: &str) {
        let now = self.now;
        let Some(instance) = self.instances.get_mut(name) else {
            return;
        };
        if instance.away.is_none() {
            instance.away = Some(now);
            let at = now.plus_millis(millis(self.settings.return_seconds));
            self.due.insert((at, Due::Instance(name.to_owned())));
            self.instance_changed(name);
        }
    }

    /// Removes an instance. Its matches whose play has not begun go to other instances.
    pub(super) fn remove_instance(&mut self, name: &str) {
        let Some(instance) = self.instances.get(name) else {
            return;
        };
        for id in instance.matches.clone() {
            let stage = self.matches.get(id).map(|hosted| hosted.stage);
            if stage.is_some_and(Stage::is_before_start) {
                self.close(id, Why::Lost);
                self.leave_instance(id, Why::Lost);
            }
        }
        self.instances.remove(name);
        self.instance_changed(name);
    }

    /// Adds an instance that is not connected.
    pub(super) fn absent(&mut self, offer: InstanceOffer) {
        let mut instance = Instance::new(offer, self.now);
        instance.away = Some(self.now);
        // Every line that its next connection sends is later than this.
        instance.heard = Timestamp(0);
        let at = self.now.plus_millis(millis(self.settings.return_seconds));
        let name = instance.offer.name.clone();
        self.due.insert((at, Due::Instance(name.clone())));
        self.instances.insert(name, instance);
    }
}
