//! The choice of an instance for a match.

use std::collections::BTreeMap;

use super::{Instance, Lifecycle, Message, Provider, Stage, Why};
use crate::domain::MatchId;

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
        self.pending.send.push(Message::Open {
            instance: name.to_owned(),
            id,
        });
    }
}
