//! Which instance hosts a match: one that the daemon chooses, or a game server that an allocator is asked for.

use std::collections::BTreeMap;

use super::{
    Allocation, GameServer, Instance, Lifecycle, MAX_INSTANCES, Match, Message, Offer, Provider,
    Stage, Wanted, Why, clocks::Due,
};
use crate::{domain::MatchId, matchmaking::Raw};

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
        self.settle(name, id);
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
    pub(super) fn wanted_by(&self, formed: &Match) -> Wanted {
        let terms = self.queues.get(&formed.queue);
        let latency = terms.and_then(|terms| terms.latency.as_ref());
        Wanted {
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
            self.absent(Offer {
                name: server.name.clone(),
                address: server.address.clone(),
                region: server.region.clone(),
                slots: 1,
                ..Offer::default()
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
