//! The hosted matches of the task: who plays in them, and what their instances are sent.

use std::collections::{BTreeSet, HashMap};

use rand::{TryRng, rngs::SysRng};

use super::{HostPlan, Shared, parts::Part, wanted::wanted};
use crate::{
    coordinator::{Act, Allocation, Coordinator, HostRefused, Hosted, Stage},
    domain::{MAX_TEAMS, MatchId, Timestamp, to_hex},
    matchmaking::Host,
    protocol::{HostSeat, HostSession},
    store::{Store, StoreError},
    tickets::{FormedMatch, Life},
};

/// The most players whose matches are remembered before those that are over are forgotten.
const MAX_PLAYING: usize = 100_000;

/// Instances, hosted matches, and the players in matches that are played.
#[derive(Debug, Default)]
pub(super) struct Hosting {
    pub coordinator: Coordinator,
    playing: HashMap<String, MatchId>,
    /// Players who did not come to their match, until that is stored.
    pub(super) no_shows: Vec<String>,
    /// Acts that are sent once the changes are on disk.
    pub(super) unsent: Vec<Act>,
}

impl Hosting {
    /// What is on disk.
    pub async fn load(
        shared: &Shared,
        store: &Store,
        slot: i64,
        life: &mut Life,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let rows = store.hosting(slot).await?;
        let known = |hosted: &Hosted| {
            let formed = life.formed(hosted.id)?;
            Some(wanted(shared, life, formed))
        };
        let coordinator = Coordinator::restore(
            shared.hosting.clone(),
            rows.offers,
            rows.matches,
            rows.owed,
            now,
            known,
            |id| rows.recorded.contains(&id),
        );
        let mut hosting = Self {
            coordinator,
            ..Self::default()
        };
        for id in life.hosted() {
            let hosted = hosting.coordinator.hosted(id);
            if hosted.is_none_or(|hosted| hosted.stage.is_final()) {
                life.unhost(id, &BTreeSet::new());
            }
        }
        let playing = hosting.coordinator.matches().filter(is_played);
        let playing: Vec<MatchId> = playing.map(|hosted| hosted.id).collect();
        for id in playing {
            hosting.plays(life, id);
        }
        Ok(hosting)
    }

    /// The match that a player plays in now.
    pub fn plays_in(&self, player: &str) -> Option<MatchId> {
        let id = *self.playing.get(player)?;
        let hosted = self.coordinator.hosted(id).filter(is_played);
        hosted.map(|hosted| hosted.id)
    }

    /// The players of a match in play: others may queue again.
    pub fn roster(&mut self, name: &str, id: MatchId, players: Vec<(String, Option<u8>)>) {
        let here = self.coordinator.at_instance(name, id);
        if !here.is_ok_and(|hosted| hosted.stage == Stage::Playing) {
            return;
        }
        self.playing.retain(|_, at| *at != id);
        for (player, _) in &players {
            self.playing.insert(player.clone(), id);
        }
        self.coordinator.report_roster(name, id, players);
    }

    /// The game server states how many seats of a team players of the queue are to fill.
    ///
    /// # Errors
    /// Fails for the reasons of [`Coordinator::seek_players`], and if the queue does not allow it.
    pub fn seek(
        &mut self,
        shared: &Shared,
        name: &str,
        id: MatchId,
        (team, seats): (u8, u32),
    ) -> Result<u32, HostRefused> {
        let queue = &self.coordinator.at_instance(name, id)?.queue;
        let queue = shared.queue(queue).ok_or(HostRefused::NoQueue)?;
        match queue.settings().backfill {
            true => self.coordinator.seek_players(name, id, team, seats),
            false => Err(HostRefused::NoBackfill),
        }
    }

    /// Notes who plays in a match: the players whom its game server has reported, or else those of its
    /// tickets.
    pub(super) fn plays(&mut self, life: &Life, id: MatchId) {
        if self.playing.len() > MAX_PLAYING {
            let coordinator = &self.coordinator;
            self.playing
                .retain(|_, id| coordinator.hosted(*id).is_some_and(|one| is_played(&one)));
        }
        let hosted = self.coordinator.hosted(id);
        if let Some(hosted) = hosted.filter(|hosted| hosted.roster.is_some()) {
            let here = hosted.present_players();
            self.playing
                .extend(here.map(|(player, _)| (player.to_owned(), id)));
            return;
        }
        let seats = life.formed(id).map(|formed| formed.seats.as_slice());
        for seat in seats.unwrap_or_default() {
            self.playing.insert(seat.player.clone(), id);
        }
    }

    /// Handles an answer of the allocator.
    pub fn allocated(&mut self, id: MatchId, allocation: &Allocation, jitter: f64) {
        let is_used = self.coordinator.answered(id, allocation, jitter);
        if let (false, Allocation::Done(server)) = (is_used, allocation) {
            let (name, unused) = (&server.name, self.coordinator.unused());
            tracing::warn!(match_id = id, name, unused, "a game server is not needed");
        }
    }

    /// Asks the allocator for the game server of a match.
    pub fn allocate(&self, part: &Part, id: MatchId) {
        let hosted = self.coordinator.hosted(id);
        if let (Some(allocator), Some(hosted), Some(wanted)) =
            (&part.shared.allocator, hosted, self.coordinator.wanted(id))
        {
            let request = allocator.settings().request(id, &hosted.queue, wanted);
            allocator.ask(id, request, part.calls.clone());
        }
    }

    /// What an instance is sent of a match.
    pub fn session(&self, life: &Life, id: MatchId) -> Option<HostSession> {
        let formed = life.formed(id)?;
        Some(HostSession {
            id,
            queue: formed.queue.clone(),
            mode: formed.proposal.mode.clone(),
            map: formed.proposal.map.clone(),
            seats: self.seats(life, formed),
        })
    }

    pub(super) fn seats(&self, life: &Life, formed: &FormedMatch) -> Vec<HostSeat> {
        let seat = |seat: &crate::tickets::Seat| {
            let ticket = life.ticket(seat.ticket);
            let is_party = ticket.is_some_and(|ticket| ticket.ticket.players.len() > 1);
            let pass = self.coordinator.pass(formed.id, &seat.player);
            HostSeat {
                player: seat.player.clone(),
                team: seat.team,
                pass: pass.cloned().unwrap_or_default(),
                party: is_party.then(|| seat.ticket.to_string()),
            }
        };
        formed.seats.iter().map(seat).collect()
    }

    /// The game that an instance opens for a match.
    ///
    /// # Errors
    /// Fails if the instance does not host the match.
    pub fn plan(
        &self,
        shared: &Shared,
        life: &Life,
        name: &str,
        id: MatchId,
    ) -> Result<HostPlan, HostRefused> {
        let hosted = self.coordinator.at_instance(name, id)?;
        let formed = life.formed(id).ok_or(HostRefused::NotYours)?;
        let queue = shared.queue(&hosted.queue).ok_or(HostRefused::NoQueue)?;
        let teams = u8::try_from(formed.proposal.teams.len().min(MAX_TEAMS)).unwrap_or(2);
        Ok(HostPlan {
            id,
            queue: hosted.queue.clone(),
            ruleset: queue.settings().ruleset.clone(),
            map: formed.proposal.map.clone(),
            teams: teams.max(2),
            seats: self.seats(life, formed),
            chance: formed.proposal.chance,
            penalty: formed.proposal.penalty,
        })
    }
}

fn is_played(hosted: &&Hosted) -> bool {
    hosted.stage == Stage::Playing
}

/// A pass of 128 random bits.
pub(super) fn draw_pass() -> String {
    let mut bytes = [0u8; 16];
    match SysRng.try_fill_bytes(&mut bytes) {
        Ok(()) => to_hex(&bytes),
        // Without randomness there is no secret: a pass that no instance accepts is better.
        Err(_) => String::new(),
    }
}

impl Shared {
    /// Whether any queue needs instances.
    pub(super) fn has_hosts(&self) -> bool {
        let queues = self.queues();
        let mut queues = queues.values();
        queues.any(|queue| queue.settings().host == Host::Required)
    }
}
