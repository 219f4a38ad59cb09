//! Carries the coordinator's acts to tickets and instances.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Shared,
    hosting::{Hosting, draw_pass},
    wanted::wanted,
};
use crate::{
    coordinator::{Act, Why},
    domain::MatchId,
    protocol::HostNotice,
    tickets::{Life, Seat},
};

impl Hosting {
    /// What the connection with the game of a match is sent, if the act is for it.
    pub fn game_notice(&self, life: &Life, act: &Act) -> Option<(MatchId, HostNotice)> {
        match act {
            Act::NoShow(id, players) | Act::Release(id, players) => {
                Some((*id, HostNotice::Dismiss(players.clone())))
            }
            Act::Admit(id, players) => {
                let seats = life
                    .formed(*id)
                    .map_or(Vec::new(), |formed| self.seats(life, formed));
                let own = seats
                    .into_iter()
                    .filter(|seat| players.contains(&seat.player));
                Some((*id, HostNotice::Admit(own.collect())))
            }
            _ => None,
        }
    }

    /// Carries out what the coordinator asks for, as far as it concerns tickets.
    pub fn act(&mut self, shared: &Shared, life: &mut Life) {
        for id in life.take_unhosted() {
            if let Some(formed) = life.formed(id) {
                let (queue, wanted) = (formed.queue.clone(), wanted(shared, life, formed));
                self.coordinator.host(id, &queue, wanted);
            }
        }
        loop {
            let acts = self.coordinator.take_acts();
            if acts.is_empty() {
                return;
            }
            for act in acts {
                match act {
                    Act::Call(id) => life.called(id),
                    Act::Seek(id) => life.seek(id),
                    Act::Begun(id) => {
                        life.begun(id);
                        self.plays(life, id);
                    }
                    Act::Requeue(id, why) => {
                        let absent = self.absent(life, id, why);
                        let (why, gone) = (why.as_str(), absent.len());
                        tracing::info!(match_id = id, why, gone, "a match is not hosted");
                        life.unhost(id, &absent);
                        self.no_shows.extend(absent);
                    }
                    Act::Open { id, .. } => {
                        self.issue(life, id);
                        self.unsent.push(act);
                    }
                    Act::Allocate(_) | Act::Close { .. } | Act::Admit(..) => self.unsent.push(act),
                    Act::Came(id, players) => life.came(id, &players),
                    Act::NoShow(id, ref players) => {
                        tracing::info!(match_id = id, ?players, "players have not come");
                        life.missed(id, players);
                        self.no_shows.extend(players.iter().cloned());
                        self.unsent.push(act);
                    }
                    Act::Release(id, ref players) => {
                        tracing::info!(match_id = id, ?players, "players need not come");
                        life.release(id, players);
                        self.unsent.push(act);
                    }
                    Act::Dismiss(id) => life.dismiss(id),
                }
            }
        }
    }

    /// The players who did not come to an instance whose game did not begin in time. If it has reported
    /// nobody, it is not known who came.
    fn absent(&self, life: &Life, id: MatchId, why: Why) -> BTreeSet<String> {
        let present = self.coordinator.hosted(id).map(|hosted| &hosted.present);
        let (Some(present), Some(formed)) = (present, life.formed(id)) else {
            return BTreeSet::new();
        };
        if why != Why::NotStarted || present.is_empty() {
            return BTreeSet::new();
        }
        let players = formed.seats.iter().map(|seat| &seat.player);
        let absent = players.filter(|player| !present.contains(*player));
        absent.cloned().collect()
    }

    /// Draws the passes of a match that has none.
    fn issue(&mut self, life: &Life, id: MatchId) {
        let Some(hosted) = self.coordinator.hosted(id) else {
            return;
        };
        if hosted.passes.is_empty()
            && let Some(formed) = life.formed(id)
        {
            let pass = |seat: &Seat| (seat.player.clone(), draw_pass());
            let passes: BTreeMap<_, _> = formed.seats.iter().map(pass).collect();
            self.coordinator.issue(id, passes);
        }
    }

    /// The players who did not come to their matches, since the last call.
    pub fn take_no_shows(&mut self) -> Vec<String> {
        std::mem::take(&mut self.no_shows)
    }

    /// The acts for instances since the last call.
    pub fn take_unsent(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.unsent)
    }
}
