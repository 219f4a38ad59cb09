//! Asks an allocator for game servers, where the instances are not the daemon's to choose.

use super::{Allocation, GameServer, Lifecycle, MAX_INSTANCES, Offer, Stage, Why, due::Due};
use crate::domain::MatchId;

impl Lifecycle {
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
