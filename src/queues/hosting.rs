//! What the task does for hosted matches: it carries the coordinator's acts to tickets and instances.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rand::{TryRng, rngs::SysRng};

use super::{
    Shared,
    links::{HostNews, Link, OpenSeat, Opening},
    wanted::wanted,
};
use crate::{
    coordinator::{Act, Allocation, Coordinator, HostRefused, Hosted, Offer, Stage, Why},
    domain::{MAX_TEAMS, MatchId, Timestamp},
    matchmaking::Host,
    store::{Store, StoreError},
    tickets::{FormedMatch, Life},
};

/// The most players whose matches are remembered before those that are over are forgotten.
const MAX_PLAYING: usize = 100_000;

/// What an instance asks for. The first text is the instance's name.
#[derive(Debug)]
pub(super) enum HostAsk {
    Join(Box<Offer>, Link),
    Load(String, f64),
    Refuse(String, MatchId),
    /// What the instance needs to open the game of a match.
    Plan(String, MatchId),
    /// The match whose game has this number.
    OfGame(String, i64),
    Ready {
        name: String,
        id: MatchId,
        address: Option<String>,
    },
    Opened {
        name: String,
        id: MatchId,
        game: i64,
        link: Link,
    },
    Began(String, MatchId),
    Ended(MatchId),
    GaveUp(MatchId),
    /// The allocator has answered.
    Allocated {
        id: MatchId,
        allocation: Allocation,
        /// 0 to 1, at random: spreads the times at which matches ask again.
        jitter: f64,
    },
    /// All players of the game of a match in play, each with the team.
    Roster {
        name: String,
        id: MatchId,
        players: Vec<(String, Option<u8>)>,
    },
    /// The number of a team's seats that players of the queue are to fill.
    Seek {
        name: String,
        id: MatchId,
        team: u8,
        seats: u32,
    },
    Arrived {
        name: String,
        id: MatchId,
        player: String,
    },
}

/// The game that an instance opens for a match.
#[derive(Clone, Debug, PartialEq)]
pub struct HostPlan {
    /// The id of the match.
    pub id: MatchId,
    /// The queue that formed it.
    pub queue: String,
    /// The game type, and the mutators.
    pub ruleset: String,
    /// The map of the match, if it has one.
    pub map: Option<String>,
    /// Number of teams.
    pub teams: u8,
    /// The players with their teams and parties.
    pub seats: Vec<OpenSeat>,
    /// The predicted chance that team 0 wins.
    pub chance: Option<f64>,
    /// What the violations of rules cost.
    pub penalty: f64,
}

/// Instances, hosted matches, and the players in matches that are played.
#[derive(Debug, Default)]
pub(super) struct Hosting {
    pub coordinator: Coordinator,
    playing: HashMap<String, MatchId>,
    /// Players who did not come to their match, until that is stored.
    no_shows: Vec<String>,
    /// Acts that are sent once the changes are on disk.
    unsent: Vec<Act>,
}

impl Hosting {
    /// What is on disk.
    pub async fn load(
        shared: &Shared,
        store: &dyn Store,
        life: &mut Life,
        now: Timestamp,
    ) -> Result<Self, StoreError> {
        let rows = store.hosting().await?;
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
        let queue = shared.queue(queue);
        match queue.is_some_and(|queue| queue.settings().backfill) {
            true => self.coordinator.seek_players(name, id, team, seats),
            false => Err(HostRefused::NoBackfill),
        }
    }

    /// What the connection with the game of a match is sent, if the act is for it.
    pub fn game_news(&self, life: &Life, act: &Act) -> Option<(MatchId, HostNews)> {
        match act {
            Act::NoShow(id, players) => Some((*id, HostNews::Dismiss(players.clone()))),
            Act::Admit(id, players) => {
                let seats = life
                    .formed(*id)
                    .map_or(Vec::new(), |formed| self.seats(life, formed));
                let own = seats
                    .into_iter()
                    .filter(|seat| players.contains(&seat.player));
                Some((*id, HostNews::Admit(own.collect())))
            }
            _ => None,
        }
    }

    fn plays(&mut self, life: &Life, id: MatchId) {
        if self.playing.len() > MAX_PLAYING {
            let coordinator = &self.coordinator;
            self.playing
                .retain(|_, id| coordinator.hosted(*id).is_some_and(|one| is_played(&one)));
        }
        let seats = life.formed(id).map(|formed| formed.seats.as_slice());
        for seat in seats.unwrap_or_default() {
            self.playing.insert(seat.player.clone(), id);
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
            let pass = |seat: &crate::tickets::Seat| (seat.player.clone(), draw_pass());
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

    /// Handles an answer of the allocator.
    pub fn allocated(&mut self, id: MatchId, allocation: &Allocation, jitter: f64) {
        let is_used = self.coordinator.answered(id, allocation, jitter);
        if let (false, Allocation::Done(server)) = (is_used, allocation) {
            let (name, unused) = (&server.name, self.coordinator.unused());
            tracing::warn!(match_id = id, name, unused, "a game server is not needed");
        }
    }

    /// Asks the allocator for the game server of a match.
    pub fn allocate(&self, shared: &Shared, id: MatchId) {
        let hosted = self.coordinator.hosted(id);
        if let (Some((allocator, calls)), Some(hosted), Some(wanted)) =
            (&shared.allocator, hosted, self.coordinator.wanted(id))
        {
            let request = allocator.settings().request(id, &hosted.queue, wanted);
            allocator.ask(id, request, calls.clone());
        }
    }

    /// What an instance is sent of a match.
    pub fn opening(&self, life: &Life, id: MatchId) -> Option<Opening> {
        let formed = life.formed(id)?;
        Some(Opening {
            id,
            queue: formed.queue.clone(),
            mode: formed.proposal.mode.clone(),
            map: formed.proposal.map.clone(),
            seats: self.seats(life, formed),
        })
    }

    fn seats(&self, life: &Life, formed: &FormedMatch) -> Vec<OpenSeat> {
        let seat = |seat: &crate::tickets::Seat| {
            let ticket = life.ticket(seat.ticket);
            let is_party = ticket.is_some_and(|ticket| ticket.ticket.players.len() > 1);
            let pass = self.coordinator.pass(formed.id, &seat.player);
            OpenSeat {
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
        let queue = shared.queue(&hosted.queue).ok_or(HostRefused::NotYours)?;
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
        Ok(()) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
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
