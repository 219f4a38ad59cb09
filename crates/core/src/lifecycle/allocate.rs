//! What a match needs of an instance, and which instance it gets.

use std::collections::BTreeMap;

use super::{Instance, Lifecycle, Match, Message, Provider, Stage, Wanted, Why};
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
}
