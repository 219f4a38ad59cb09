//! The steps of hosted matches, from the search for an instance to the end.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_model::{Timestamp, record::MatchId};

use super::{
    Allocation, Change, GameServer, Happened, HostRefused, Instance, InstanceOffer, Lifecycle,
    MAX_INSTANCES, MAX_TRIES, Match, Message, Provider, Reason, Stage, State, WantedInstance, Why,
    millis, state::Due,
};
use crate::attribute::Raw;

impl Lifecycle {
    /// Seeks an instance for a match that is final, if its queue needs one.
    pub(super) fn begin_hosting(&mut self, id: MatchId) {
        let Some(formed) = self.matches.get(id) else {
            return;
        };
        if !self
            .queues
            .get(&formed.queue)
            .is_some_and(|terms| terms.hosted)
        {
            return;
        }
        let (wanted, now) = (self.wanted_by(formed), self.now);
        self.change(id, |hosted| {
            (hosted.stage, hosted.since) = (Stage::Reserved, now);
            hosted.wait_until = now.plus_millis(wanted.wait);
            hosted.wanted = wanted;
        });
        self.hold_others(id);
        self.stale = true;
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
        self.put_all(id, State::Called(id));
        Ok(())
    }

    /// An instance refuses to host a match. The coordinator looks for another instance.
    ///
    /// # Errors
    /// Fails if the match is not at this instance, or its play has begun.
    pub fn refused(&mut self, name: &str, id: MatchId) -> Result<(), HostRefused> {
        match self.at_instance(name, id)?.stage.is_before_start() {
            true => self.leave_instance(id, Why::Refused),
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
        self.wait_for_expected(id);
        self.admit_again(id);
        Ok(())
    }

    /// An instance reports a player of a match whose play has not begun.
    pub fn arrived(&mut self, name: &str, id: MatchId, player: &str) {
        let is_here = self.at_instance(name, id).is_ok();
        if let Some(hosted) = self.matches.get_mut(id).filter(|_| is_here)
            && hosted.stage.is_before_start()
        {
            hosted.present.insert(player.to_owned());
        }
    }

    /// The connection with the game of a match has ended.
    pub fn parted(&mut self, id: MatchId) {
        let now = self.now;
        match self.matches.get(id).map(|hosted| hosted.stage) {
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
                // A client that was sent the call is sent nothing more.
                for number in self.members(id) {
                    self.end_in_match(number, id);
                }
                self.plays(id);
                Ok(())
            }
            Stage::Playing => Ok(()),
            _ => Err(HostRefused::NotReady),
        }
    }

    /// The game has ended, and its match is recorded. The same event again changes nothing.
    pub fn ended(&mut self, id: MatchId) {
        if self.matches.get(id).map(|hosted| hosted.stage) == Some(Stage::Playing) {
            self.enter(id, Stage::Over, Why::None);
            self.free(id);
        }
    }

    /// The game server of a match has begun another game instead.
    pub fn gave_up(&mut self, id: MatchId) {
        match self.matches.get(id).map(|hosted| hosted.stage) {
            Some(Stage::Playing) => self.fail(id, Why::GivenUp),
            Some(stage) if stage.is_before_start() => self.leave_instance(id, Why::GivenUp),
            _ => {}
        }
    }

    /// The tickets of a match no longer exist, so the match fails.
    pub fn withdraw(&mut self, id: MatchId) {
        if let Some(hosted) = self.matches.get(id)
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
    pub fn at_instance(&self, name: &str, id: MatchId) -> Result<&Match, HostRefused> {
        let hosted = self.matches.get(id).filter(|hosted| {
            hosted.instance.as_deref() == Some(name)
                && hosted.stage != Stage::Reserved
                && !hosted.stage.is_final()
        });
        hosted.ok_or(HostRefused::NotYours)
    }

    /// Puts a hosted match into a state now.
    pub(super) fn enter(&mut self, id: MatchId, stage: Stage, why: Why) {
        let now = self.now;
        if stage.is_final() {
            self.dismiss_expected(id);
            self.plays_no_longer(id);
        }
        self.change(id, |hosted| {
            (hosted.stage, hosted.since, hosted.why) = (stage, now, why);
            hosted.parted = None;
            if stage.is_final() {
                hosted.passes.clear();
                hosted.passes_until = None;
                hosted.asked.clear();
                hosted.expected.clear();
                hosted.sent_away.clear();
            }
        });
    }

    /// Notes who plays in a match.
    pub(super) fn plays(&mut self, id: MatchId) {
        let players = self.matches.get(id).map_or(Vec::new(), Match::players);
        let players = players.into_iter().map(|player| (player, id));
        self.playing.extend(players);
        self.hold_others(id);
    }

    /// Nobody plays in a match any more.
    pub(super) fn plays_no_longer(&mut self, id: MatchId) {
        for player in self.matches.get(id).map_or(Vec::new(), Match::players) {
            if self.plays_in(&player) == Some(id) {
                self.playing.remove(&player);
            }
        }
    }

    /// Sends CLOSE to the instance of a match: now, or when the instance connects again.
    pub(super) fn close(&mut self, id: MatchId, why: Why) {
        let Some(name) = self.matches.get(id).and_then(|one| one.instance.clone()) else {
            return;
        };
        self.close_at(&name, id, why);
    }

    /// Sends CLOSE for a match to this instance: now, or when the instance connects.
    fn close_at(&mut self, name: &str, id: MatchId, why: Why) {
        let instance = name.to_owned();
        let connected = self.instances.get(name).filter(|one| one.away.is_none());
        match connected {
            Some(_) => self.effects.send.push(Message::Close { instance, id, why }),
            None => {
                let owed = self.owed.entry(instance.clone()).or_default();
                owed.insert(id, why);
                self.effects.write.push(Change::Owed { instance, id, why });
            }
        }
    }

    /// Takes a match whose play has not begun from its instance. The match then waits for another
    /// instance, or fails if it has no time or no tries left.
    pub(super) fn leave_instance(&mut self, id: MatchId, why: Why) {
        let Some(hosted) = self.matches.get(id) else {
            return;
        };
        let (called, tries) = (hosted.stage.is_called(), hosted.tries);
        // A match whose players were called had an instance in time, so its wait begins again.
        let until = match called {
            true => self.now.plus_millis(hosted.wanted.wait),
            false => hosted.wait_until,
        };
        let instance = hosted.instance.clone();
        self.free(id);
        if let Some(name) = instance
            && let Some(instance) = self.instances.get_mut(&name)
        {
            let rests_until = self.now.plus_millis(millis(self.settings.rest_seconds));
            instance.rests_until = rests_until;
            self.due.insert((rests_until, Due::Allocate));
        }
        self.enter(id, Stage::Reserved, why);
        self.change(id, |hosted| {
            hosted.wait_until = until;
            (hosted.instance, hosted.address, hosted.game) = (None, None, None);
            hosted.passes.clear();
            hosted.passes_until = None;
            hosted.present.clear();
        });
        if tries >= MAX_TRIES || until <= self.now {
            self.fail(id, why);
        } else if called {
            self.put_all(id, State::Hosted(id));
        }
        self.stale = true;
    }

    /// Ends a match. If its play has not begun, its tickets go back.
    pub(super) fn fail(&mut self, id: MatchId, why: Why) {
        let stage = self.matches.get(id).map(|hosted| hosted.stage);
        self.free(id);
        self.enter(id, Stage::Failed, why);
        if stage != Some(Stage::Playing) {
            self.requeue(id, why);
        }
    }

    /// Ends a match whose play has not begun. The tickets of players who did not come leave the queue, and the
    /// others go back to their places.
    fn requeue(&mut self, id: MatchId, why: Why) {
        let formed = self.formed(id);
        let absent = formed.map_or(Vec::new(), |formed| self.absent_from(formed, why));
        let seats = formed.map_or(&[][..], |formed| formed.seats.as_slice());
        let out = seats.iter().filter(|seat| absent.contains(&seat.player));
        let out = out.map(|seat| seat.ticket).collect();
        let happened = Happened::NotHosted { id, why, absent };
        self.effects.count.push(happened);
        self.dissolve(id, &out, Reason::NoShow, Reason::Unhosted);
    }

    /// The players who did not come to an instance whose game did not begin in time. If it has reported nobody, it is
    /// not known who came. Whom the daemon has sent to another match could not come.
    fn absent_from(&self, formed: &Match, why: Why) -> Vec<String> {
        let present = &formed.present;
        if why != Why::NotStarted || present.is_empty() {
            return Vec::new();
        }
        let missing = formed.seats.iter().filter(|seat| {
            let elsewhere = self.is_sent_elsewhere(formed.id, &seat.player, seat.ticket);
            !present.contains(&seat.player) && !elsewhere
        });
        let absent: BTreeSet<&String> = missing.map(|seat| &seat.player).collect();
        absent.into_iter().cloned().collect()
    }

    /// Frees the slot of a match.
    pub(super) fn free(&mut self, id: MatchId) {
        let Some(name) = self.matches.get(id).and_then(|one| one.instance.clone()) else {
            return;
        };
        if let Some(instance) = self.instances.get_mut(&name)
            && instance.matches.remove(&id)
        {
            self.stale = true;
            self.instance_changed(&name);
        }
    }
}

impl Lifecycle {
    /// Finds instances for the matches that wait, or lets these matches ask for one.
    pub(super) fn allocate(&mut self) {
        match self.settings.provider {
            Provider::Instances => self.choose_all(),
            Provider::Agones => self.ask(),
        }
    }

    /// Chooses instances for the matches that wait, the oldest match first. Takes time in proportion to
    /// the matches that wait times the instances.
    fn choose_all(&mut self) {
        let mut machines = self.machines();
        for id in self.reserved.iter().copied().collect::<Vec<_>>() {
            if !self.instances.values().any(|one| one.is_free(self.now)) {
                return;
            }
            if let Some(name) = self.choose(id, &machines) {
                self.assign(id, &name, None);
                if let Some(instance) = self.instances.get(&name) {
                    *machines
                        .entry(instance.offer.machine().to_owned())
                        .or_default() += 1;
                }
            }
        }
    }

    /// How many matches each machine hosts.
    fn machines(&self) -> BTreeMap<String, usize> {
        let mut machines = BTreeMap::new();
        for instance in self.instances.values() {
            *machines
                .entry(instance.offer.machine().to_owned())
                .or_default() += instance.matches.len();
        }
        machines
    }

    /// The name of the best instance for a match: in the region with the lowest worst latency, the
    /// least busy one; of those, on the machine with the fewest matches; of those, the first by name.
    fn choose(&self, id: MatchId, machines: &BTreeMap<String, usize>) -> Option<String> {
        let wanted = &self.matches.get(id)?.wanted;
        let fit = |instance: &&Instance| instance.is_free(self.now) && wanted.fits(instance);
        let key = |instance: &Instance| {
            let latency = wanted.latency(instance).unwrap_or(f64::INFINITY);
            let on_machine = machines.get(instance.offer.machine()).copied();
            (latency, instance.busy(), on_machine.unwrap_or(0))
        };
        let better = |one: &&Instance, other: &&Instance| {
            let (one, other) = (key(one), key(other));
            let latency = one.0.total_cmp(&other.0);
            latency
                .then(one.1.total_cmp(&other.1))
                .then(one.2.cmp(&other.2))
        };
        // Of equal ones, `min_by` takes the first, and the map is in the order of names.
        let best = self.instances.values().filter(fit).min_by(better);
        best.map(|instance| instance.offer.name.clone())
    }

    /// Gives a match to an instance, and asks the instance to host it. Players connect at `address`, or
    /// without one at the address that the instance offers.
    pub(super) fn assign(&mut self, id: MatchId, name: &str, address: Option<String>) {
        let Some(instance) = self.instances.get_mut(name) else {
            return;
        };
        instance.matches.insert(id);
        let address = address.unwrap_or_else(|| instance.offer.address.clone());
        self.instance_changed(name);
        self.finalise(name, id);
        self.enter(id, Stage::Opening, Why::None);
        self.change(id, |hosted| {
            hosted.instance = Some(name.to_owned());
            hosted.address = Some(address);
            hosted.tries += 1;
        });
        self.effects.send.push(Message::Open {
            instance: name.to_owned(),
            id,
        });
    }

    /// What a match needs: its mode, its map, and the latencies that its players state.
    pub(super) fn wanted_by(&self, formed: &Match) -> WantedInstance {
        let terms = self.queues.get(&formed.queue);
        let latency = terms.and_then(|terms| terms.latency.as_ref());
        WantedInstance {
            mode: formed.proposal.mode.clone(),
            map: formed.proposal.map.clone(),
            latencies: latency.map_or(BTreeMap::new(), |latency| self.worst(formed, &latency.of)),
            ceiling: latency.and_then(|latency| latency.at_most.map(|most| most.get())),
            teams: terms.map_or(0, |terms| terms.teams),
            size: formed.proposal.size,
            wait: terms.map_or(0, |terms| terms.host_wait),
        }
    }

    /// The largest number of all players for each word of a `map num` that all of them state.
    fn worst(&self, formed: &Match, attribute: &str) -> BTreeMap<String, f64> {
        let tickets = formed.tickets().into_iter();
        let records = tickets.filter_map(|number| self.tickets.get(&number));
        let mut all: Option<BTreeMap<String, f64>> = None;
        for player in records.flat_map(|record| &record.ticket.spec.players) {
            let own = match player.attributes.get(attribute) {
                Some(Raw::Map(own)) => own.clone(),
                _ => BTreeMap::new(),
            };
            all = Some(match all {
                None => own,
                Some(others) => {
                    let both = others.into_iter().filter_map(|(word, worst)| {
                        let number = own.get(&word)?;
                        Some((word, worst.max(*number)))
                    });
                    both.collect()
                }
            });
        }
        all.unwrap_or_default()
    }

    /// Lets each match ask that waits, has no request under way and has paused for long enough.
    pub(super) fn ask(&mut self) {
        let now = self.now;
        for id in &self.reserved {
            if self.asking.entry(*id).or_default().begins(now) {
                self.effects.allocate.push(*id);
            }
        }
    }

    /// The allocator has answered for a match. `jitter`, 0 to 1, is drawn at random; it spreads the times
    /// after which matches ask again. Returns whether the match has a game server by this answer.
    ///
    /// A game server that the match cannot use is sent CLOSE as soon as it is connected: the match no longer
    /// waits, or the game server hosts as many matches as it can.
    pub fn answered(&mut self, id: MatchId, allocation: &Allocation, jitter: f64) -> bool {
        let server = match allocation {
            Allocation::Done(server) => server,
            Allocation::NoneFree | Allocation::Failed(_) => {
                self.ask_later(id, jitter);
                return false;
            }
        };
        let hosted = self.hosted(id);
        let waits = hosted.is_some_and(|hosted| hosted.stage == Stage::Reserved);
        if waits && self.has_room(&server.name) {
            self.take(id, server);
            return true;
        }
        let is_there = self.at_instance(&server.name, id).is_ok();
        if !is_there {
            self.turn_down(id, server);
        }
        if waits {
            self.ask_later(id, jitter);
        }
        is_there
    }

    /// How many game servers were allocated and could not be used.
    pub fn unused(&self) -> u64 {
        self.unused
    }

    fn ask_later(&mut self, id: MatchId, jitter: f64) {
        let Some(asking) = self.asking.get_mut(&id) else {
            return;
        };
        let again = asking.failed(self.now, jitter);
        self.due.insert((again, Due::Allocate));
    }

    /// Whether a game server can host one more match. One that has not connected hosts one.
    fn has_room(&self, name: &str) -> bool {
        match self.instances.get(name) {
            Some(one) => !one.drains && one.matches.len() < one.offer.slots as usize,
            None => self.instances.len() < MAX_INSTANCES,
        }
    }

    /// Gives a match to the game server that was allocated for it. One that is not connected has as much
    /// time to connect as an instance has to come back.
    fn take(&mut self, id: MatchId, server: &GameServer) {
        if !self.instances.contains_key(&server.name) {
            self.absent(InstanceOffer {
                name: server.name.clone(),
                address: server.address.clone(),
                region: server.region.clone(),
                slots: 1,
                ..InstanceOffer::default()
            });
        }
        self.assign(id, &server.name, Some(server.address.clone()));
    }

    /// Sends CLOSE to a game server that was allocated for nothing, now or when it connects. The reason is
    /// that of the match, if it has failed.
    fn turn_down(&mut self, id: MatchId, server: &GameServer) {
        self.unused = self.unused.saturating_add(1);
        if let Some(hosted) = self.hosted(id) {
            let why = match hosted.why {
                Why::None => Why::Lost,
                why => why,
            };
            self.close_at(&server.name, id, why);
        }
    }
}

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
