//! The events of instances and matches, and what each of them changes.

use std::collections::BTreeSet;

use super::{
    Act, Coordinator, HostRefused, Hosted, Instance, MAX_INSTANCES, Offer, Provider, Stage, Wanted,
    Why, settings::millis, state::Due,
};
use crate::domain::{MatchId, Timestamp};

impl Coordinator {
    /// Adds a match that needs an instance. A match that is known already changes nothing.
    pub fn host(&mut self, id: MatchId, queue: &str, wanted: Wanted) {
        if self.matches.contains_key(&id) {
            return;
        }
        let until = self.now.plus_millis(wanted.wait);
        self.wanted.insert(id, wanted);
        self.insert(Hosted::new(id, queue, self.now, until));
        self.stale = true;
    }

    /// An instance connects, connects again, or changes what it offers. One that comes back is asked
    /// again to host the matches whose play has not begun.
    ///
    /// # Errors
    /// Fails if there are too many instances.
    pub fn joined(&mut self, offer: Offer) -> Result<(), HostRefused> {
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
            let hosted = self.matches.get(id);
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
            self.settled.push((instance.clone(), id));
            self.acts.push(Act::Close { instance, id, why });
        }
        for id in &matches {
            self.wait_for_coming(*id);
        }
        let open = |id: &MatchId| {
            let hosted = self.matches.get(id);
            hosted.is_some_and(|hosted| hosted.stage.is_before_start())
        };
        let again: Vec<MatchId> = matches.into_iter().filter(open).collect();
        self.acts.extend(again.into_iter().map(|id| Act::Open {
            instance: name.to_owned(),
            id,
        }));
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

    /// An instance is ready to host a match, at its own address or at another one. The players are called.
    /// The same event again changes nothing; with another address, it changes the address.
    ///
    /// # Errors
    /// Fails if the match is not at this instance, or its play has begun.
    pub fn ready(&mut self, name: &str, id: MatchId, at: Option<&str>) -> Result<(), HostRefused> {
        let hosted = self.at_instance(name, id)?;
        let was = (hosted.stage, hosted.address.clone());
        if !hosted.stage.is_before_start() {
            return Err(HostRefused::NotYours);
        }
        let own = match self.settings.provider {
            Provider::Instances => {
                let own = self.instances.get(name);
                own.map(|instance| instance.offer.address.clone())
            }
            // The allocator knows from where players reach the game server.
            Provider::Agones => was.1.clone(),
        };
        let address = at.map(str::to_owned).or(own);
        if was.0 != Stage::Opening && was.1 == address {
            return Ok(());
        }
        if was.0 == Stage::Opening {
            self.enter(id, Stage::Ready, Why::None);
        }
        let until = self.now.plus_millis(millis(self.settings.pass_seconds));
        self.change(id, |hosted| {
            hosted.address = address;
            hosted.passes_until = Some(until);
        });
        self.acts.push(Act::Call(id));
        Ok(())
    }

    /// An instance refuses to host a match. The coordinator looks for another instance.
    ///
    /// # Errors
    /// Fails if the match is not at this instance, or its play has begun.
    pub fn refused(&mut self, name: &str, id: MatchId) -> Result<(), HostRefused> {
        match self.at_instance(name, id)?.stage.is_before_start() {
            true => self.leave(id, Why::Refused),
            false => return Err(HostRefused::NotYours),
        }
        Ok(())
    }

    /// A connection of the instance has the game of a match, which has this number.
    ///
    /// # Errors
    /// Fails if the match is not at this instance, or READY has not come.
    pub fn opened(&mut self, name: &str, id: MatchId, game: i64) -> Result<(), HostRefused> {
        let hosted = self.at_instance(name, id)?;
        let is_same = hosted.game == Some(game) && hosted.parted.is_none();
        match hosted.stage {
            Stage::Joining | Stage::Playing if is_same => return Ok(()),
            Stage::Ready => self.enter(id, Stage::Joining, Why::None),
            Stage::Joining | Stage::Playing => {}
            _ => return Err(HostRefused::NotReady),
        }
        self.change(id, |hosted| {
            hosted.game = Some(game);
            hosted.parted = None;
        });
        self.wait_for_coming(id);
        self.admit_again(id);
        Ok(())
    }

    /// An instance reports a player of a match whose play has not begun.
    pub fn arrived(&mut self, name: &str, id: MatchId, player: &str) {
        let is_here = self.at_instance(name, id).is_ok();
        if let Some(hosted) = self.matches.get_mut(&id).filter(|_| is_here)
            && hosted.stage.is_before_start()
        {
            hosted.present.insert(player.to_owned());
        }
    }

    /// The connection with the game of a match has ended.
    pub fn parted(&mut self, id: MatchId) {
        let now = self.now;
        match self.matches.get(&id).map(|hosted| hosted.stage) {
            Some(Stage::Joining) => self.enter(id, Stage::Ready, Why::Lost),
            Some(Stage::Playing) => self.change(id, |hosted| {
                hosted.parted.get_or_insert(now);
            }),
            _ => {}
        }
    }

    /// Play has begun.
    ///
    /// # Errors
    /// Fails if no connection of the instance has the game.
    pub fn began(&mut self, name: &str, id: MatchId) -> Result<(), HostRefused> {
        match self.at_instance(name, id)?.stage {
            Stage::Joining => {
                self.enter(id, Stage::Playing, Why::None);
                self.acts.push(Act::Begun(id));
                Ok(())
            }
            Stage::Playing => Ok(()),
            _ => Err(HostRefused::NotReady),
        }
    }

    /// The game has ended, and its match is recorded. The same event again changes nothing.
    pub fn ended(&mut self, id: MatchId) {
        if self.matches.get(&id).map(|hosted| hosted.stage) == Some(Stage::Playing) {
            self.enter(id, Stage::Over, Why::None);
            self.free(id);
        }
    }

    /// The game server of a match has begun another game instead.
    pub fn gave_up(&mut self, id: MatchId) {
        match self.matches.get(&id).map(|hosted| hosted.stage) {
            Some(Stage::Playing) => self.fail(id, Why::GivenUp),
            Some(stage) if stage.is_before_start() => self.leave(id, Why::GivenUp),
            _ => {}
        }
    }

    /// The tickets of a match no longer exist, so the match fails.
    pub fn withdraw(&mut self, id: MatchId) {
        if let Some(hosted) = self.matches.get(&id)
            && !hosted.stage.is_final()
        {
            self.close(id, Why::Withdrawn);
            self.fail(id, Why::Withdrawn);
        }
    }

    /// The match, if this instance hosts it or was asked to, and the match is in no final state.
    ///
    /// # Errors
    /// Fails if it is not.
    pub fn at_instance(&self, name: &str, id: MatchId) -> Result<&Hosted, HostRefused> {
        let hosted = self.matches.get(&id).filter(|hosted| {
            hosted.instance.as_deref() == Some(name)
                && hosted.stage != Stage::Reserved
                && !hosted.stage.is_final()
        });
        hosted.ok_or(HostRefused::NotYours)
    }

    /// The time of the last event.
    pub fn now(&self) -> Timestamp {
        self.now
    }
}
