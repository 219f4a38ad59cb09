//! The tables of a lifecycle: tickets and matches by what they are looked up by, who holds how many of the tickets that wait,
//! how long tickets waited, and when a match asks an allocator again.
//!
//! Room for tickets is free until it is short, and nobody takes all of it. Each match asks an allocator once, and again some
//! time after an answer that brings no game server. The times between grow and are spread at random, so that many matches do
//! not ask in step.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    fmt,
    sync::Arc,
    time::Duration,
};

use evenkeel_model::{Timestamp, backoff::Backoff, record::MatchId};

use super::{Change, MAX_WAITING, Match, MatchSeat, QueuedPlayer, TicketNumber, TicketRefused};

/// The indexes of all tickets.
#[derive(Debug, Default)]
pub(super) struct TicketIndexes {
    /// Tickets by name of the client and id.
    ids: HashMap<String, HashMap<String, TicketNumber>>,
    /// Tickets that have not ended, by group and player.
    players: HashMap<String, HashMap<String, TicketNumber>>,
    /// The tickets that have ended, by when.
    pub ended: BTreeSet<(Timestamp, TicketNumber)>,
    /// The tickets whose state their client has not been sent, by name of the client.
    pub unsent: BTreeMap<String, BTreeSet<TicketNumber>>,
}

impl TicketIndexes {
    pub(super) fn id(&self, owner: &str, id: &str) -> Option<TicketNumber> {
        self.ids.get(owner)?.get(id).copied()
    }

    pub(crate) fn add_id(&mut self, owner: &str, id: &str, ticket: TicketNumber) {
        let ids = self.ids.entry(owner.to_owned()).or_default();
        ids.insert(id.to_owned(), ticket);
    }

    pub(crate) fn remove_id(&mut self, owner: &str, id: &str) {
        remove(&mut self.ids, owner, id);
    }

    pub(super) fn player(&self, group: &str, player: &str) -> Option<TicketNumber> {
        self.players.get(group)?.get(player).copied()
    }

    /// The tickets of a player that have not ended, at most one of each group.
    pub(super) fn tickets_of<'a>(
        &'a self,
        player: &'a str,
    ) -> impl Iterator<Item = TicketNumber> + 'a {
        let groups = self.players.values();
        groups.filter_map(move |players| players.get(player).copied())
    }

    pub(crate) fn add_player(&mut self, group: &str, player: &str, ticket: TicketNumber) {
        let players = self.players.entry(group.to_owned()).or_default();
        players.insert(player.to_owned(), ticket);
    }

    /// Removes a player who is in this ticket. Returns whether they were in it.
    pub(crate) fn remove_player(
        &mut self,
        group: &str,
        player: &str,
        ticket: TicketNumber,
    ) -> bool {
        let is_in = self.player(group, player) == Some(ticket);
        if is_in {
            remove(&mut self.players, group, player);
        }
        is_in
    }

    /// Removes all players, and returns who was in which ticket, in order.
    pub(crate) fn take_players(&mut self) -> BTreeSet<QueuedPlayer> {
        let groups = std::mem::take(&mut self.players).into_iter();
        let of_group = |(group, players): (String, HashMap<String, TicketNumber>)| {
            let player = move |(player, ticket)| QueuedPlayer {
                group: group.clone(),
                player,
                ticket,
            };
            players.into_iter().map(player)
        };
        groups.flat_map(of_group).collect()
    }

    /// What has changed since `before`, which [`take_players`](Self::take_players) has returned: first who has left.
    pub(crate) fn changes_since(&self, before: BTreeSet<QueuedPlayer>) -> Vec<Change> {
        let mut stays = BTreeSet::new();
        let mut changes = Vec::new();
        for one in before {
            match self.player(&one.group, &one.player) == Some(one.ticket) {
                true => drop(stays.insert(one)),
                false => changes.push(Change::Left(one)),
            }
        }
        for (group, players) in &self.players {
            let entered = players.iter().map(|(player, ticket)| QueuedPlayer {
                group: group.clone(),
                player: player.clone(),
                ticket: *ticket,
            });
            changes.extend(
                entered
                    .filter(|one| !stays.contains(one))
                    .map(Change::Entered),
            );
        }
        changes
    }

    pub(crate) fn add_unsent(&mut self, owner: &str, ticket: TicketNumber) {
        let unsent = self.unsent.entry(owner.to_owned()).or_default();
        unsent.insert(ticket);
    }

    pub(crate) fn remove_unsent(&mut self, owner: &str, ticket: TicketNumber) {
        if let Some(unsent) = self.unsent.get_mut(owner) {
            unsent.remove(&ticket);
            if unsent.is_empty() {
                self.unsent.remove(owner);
            }
        }
    }
}

fn remove(map: &mut HashMap<String, HashMap<String, TicketNumber>>, outer: &str, inner: &str) {
    if let Some(entries) = map.get_mut(outer) {
        entries.remove(inner);
        if entries.is_empty() {
            map.remove(outer);
        }
    }
}

/// All matches that are kept, by id.
#[derive(Debug, Default)]
pub(super) struct KeptMatches {
    all: BTreeMap<MatchId, Match>,
    /// The matches with a seat of each player.
    players: HashMap<String, BTreeSet<MatchId>>,
    /// The matches of each queue.
    queues: HashMap<String, BTreeSet<MatchId>>,
}

impl KeptMatches {
    pub(super) fn get(&self, id: MatchId) -> Option<&Match> {
        self.all.get(&id)
    }

    /// A match, to change anything but its queue and its seats.
    pub(super) fn get_mut(&mut self, id: MatchId) -> Option<&mut Match> {
        self.all.get_mut(&id)
    }

    /// The matches, the one with the lowest id first.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Match> {
        self.all.values()
    }

    pub(super) fn insert(&mut self, formed: Match) {
        self.remove(formed.id);
        for seat in &formed.seats {
            add_match(&mut self.players, &seat.player, formed.id);
        }
        if formed.has_seats() {
            add_match(&mut self.queues, &formed.queue, formed.id);
        }
        self.all.insert(formed.id, formed);
    }

    pub(super) fn remove(&mut self, id: MatchId) -> Option<Match> {
        let formed = self.all.remove(&id)?;
        for seat in &formed.seats {
            remove_match(&mut self.players, &seat.player, id);
        }
        remove_match(&mut self.queues, &formed.queue, id);
        Some(formed)
    }

    /// Adds seats to a match.
    pub(super) fn seat(&mut self, id: MatchId, seats: &[MatchSeat]) {
        let Some(formed) = self.all.get_mut(&id) else {
            return;
        };
        for seat in seats {
            add_match(&mut self.players, &seat.player, id);
        }
        formed.seats.extend_from_slice(seats);
    }

    /// Removes all seats of a match.
    pub(crate) fn clear_seats(&mut self, id: MatchId) {
        if let Some(mut formed) = self.remove(id) {
            formed.seats.clear();
            self.insert(formed);
        }
    }

    /// Removes the seats of a ticket from a match; whether there is such a match.
    pub(super) fn unseat(&mut self, id: MatchId, ticket: TicketNumber) -> bool {
        let Some(mut formed) = self.remove(id) else {
            return false;
        };
        formed.seats.retain(|seat| seat.ticket != ticket);
        self.insert(formed);
        true
    }

    /// The matches of a player that are final, the latest first.
    pub(super) fn of_player(&self, player: &str) -> impl Iterator<Item = &Match> {
        self.latest(self.players.get(player))
    }

    /// The matches of a queue that are final, the latest first.
    pub(crate) fn of_queue(&self, queue: &str) -> impl Iterator<Item = &Match> {
        self.latest(self.queues.get(queue))
    }

    fn latest<'a>(&'a self, ids: Option<&'a BTreeSet<MatchId>>) -> impl Iterator<Item = &'a Match> {
        let ids = ids.into_iter().flat_map(|ids| ids.iter().rev());
        let matches = ids.filter_map(|id| self.get(*id));
        matches.filter(|formed| formed.open_until.is_none())
    }
}

#[cfg(test)]
impl KeptMatches {
    /// Whether the indexes have nothing but the matches.
    pub(crate) fn is_lean(&self) -> bool {
        let mut again = Self::default();
        self.all
            .values()
            .for_each(|formed| again.insert(formed.clone()));
        (&again.players, &again.queues) == (&self.players, &self.queues)
    }
}

fn add_match(index: &mut HashMap<String, BTreeSet<MatchId>>, key: &str, id: MatchId) {
    match index.get_mut(key) {
        Some(ids) => {
            ids.insert(id);
        }
        None => {
            index.insert(key.to_owned(), [id].into());
        }
    }
}

fn remove_match(index: &mut HashMap<String, BTreeSet<MatchId>>, key: &str, id: MatchId) {
    if let Some(ids) = index.get_mut(key) {
        ids.remove(&id);
        if ids.is_empty() {
            index.remove(key);
        }
    }
}

/// How long a match pauses after answers without a game server before it asks again.
const PAUSES: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(15));

/// How a match that waits has asked for a game server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostAsking {
    /// Whether a request is under way.
    is_open: bool,
    /// How many answers in a row brought no game server.
    failed: u32,
    /// When the match asks again.
    again: Timestamp,
}

impl HostAsking {
    /// Whether the match asks now: no request is under way, and it has paused for long enough.
    pub(super) fn begins(&mut self, now: Timestamp) -> bool {
        let begins = !self.is_open && self.again <= now;
        self.is_open |= begins;
        begins
    }

    /// An answer has brought no game server. `jitter`, 0 to 1, is drawn at random. Returns when the match asks
    /// again.
    pub(super) fn failed(&mut self, now: Timestamp, jitter: f64) -> Timestamp {
        self.failed = self.failed.saturating_add(1);
        self.is_open = false;
        let pause = PAUSES.spread(self.failed, 1.0 - jitter);
        self.again = now.plus_millis(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX));
        self.again
    }
}

/// The number of tickets over which the median is taken.
const LAST: usize = 100;

/// The waits of a queue's last matched tickets, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits(VecDeque<i64>);

impl Waits {
    pub(super) fn add(&mut self, millis: i64) {
        if self.0.len() >= LAST {
            self.0.pop_front();
        }
        self.0.push_back(millis);
    }

    /// The median; `None` before the first match. Of an even number, the lower of the middle two.
    pub(super) fn median(&self) -> Option<i64> {
        let mut waits: Vec<i64> = self.0.iter().copied().collect();
        waits.sort_unstable();
        waits.get(waits.len().saturating_sub(1) / 2).copied()
    }
}

/// A client may hold so many times the room that is still free.
const TIMES_FREE: usize = 9;

/// The share that the name of a client counts for.
type ShareOf = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// The tickets in no final state, by share.
#[derive(Default)]
pub(super) struct TicketShares {
    /// `None` if each name has a share of its own.
    of: Option<ShareOf>,
    /// The share of each ticket.
    tickets: HashMap<TicketNumber, Arc<str>>,
    /// Number of tickets of each share.
    held: BTreeMap<Arc<str>, usize>,
}

impl fmt::Debug for TicketShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TicketShares").field(&self.held).finish()
    }
}

impl TicketShares {
    /// No ticket yet, with the share that each name counts for.
    pub(super) fn by(of: ShareOf) -> Self {
        Self {
            of: Some(of),
            ..Self::default()
        }
    }

    /// The number of tickets.
    pub(super) fn len(&self) -> usize {
        self.tickets.len()
    }

    /// Whether there is room for one more ticket of a client.
    ///
    /// # Errors
    /// Fails if the client holds too many of those that wait.
    pub(super) fn check(&self, owner: &str) -> Result<(), TicketRefused> {
        let free = MAX_WAITING.saturating_sub(self.len());
        let held = self.held.get(&*self.share(owner)).copied();
        let held = held.unwrap_or_default();
        match held < TIMES_FREE * free {
            true => Ok(()),
            false => Err(TicketRefused::Full { held, free }),
        }
    }

    /// Notes a ticket.
    pub(super) fn enter(&mut self, number: TicketNumber, owner: &str) {
        let share = self.share(owner);
        *self.held.entry(share.clone()).or_default() += 1;
        self.tickets.insert(number, share);
    }

    /// Notes that a ticket does not wait any more.
    pub(super) fn leave(&mut self, number: TicketNumber) {
        let Some(share) = self.tickets.remove(&number) else {
            return;
        };
        if let Some(held) = self.held.get_mut(&share) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&share);
            }
        }
    }

    fn share(&self, owner: &str) -> Arc<str> {
        match &self.of {
            Some(of) => of(owner).into(),
            None => owner.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All names before a dash are one client.
    fn shares() -> TicketShares {
        let of = |owner: &str| owner.split('-').next().unwrap_or_default().to_owned();
        TicketShares::by(Arc::new(of))
    }

    /// Submits until there is no room. Returns how many have found some.
    fn fill(shares: &mut TicketShares, client: &str) -> usize {
        let before = shares.len();
        for number in 0.. {
            let owner = format!("{client}-{number}");
            if shares.check(&owner).is_err() {
                break;
            }
            shares.enter(shares.len() as TicketNumber, &owner);
        }
        shares.len() - before
    }

    #[test]
    fn nobody_takes_all_room_whatever_names_a_client_has() {
        let mut shares = shares();
        assert_eq!(fill(&mut shares, "rogue"), 45_000);
        let full = TicketRefused::Full {
            held: 45_000,
            free: 5_000,
        };
        assert_eq!(shares.check("rogue-x"), Err(full));
        // Others have room, and each of them leaves some.
        for client in ["a", "b", "c"] {
            let room = MAX_WAITING - shares.len();
            let taken = fill(&mut shares, client);
            assert!(taken >= room * 9 / 10 && taken < room, "{taken} of {room}");
        }
        assert!(shares.check("somebody").is_ok());
        // Once a ticket has ended, its room is free again.
        for number in 0..1_000 {
            shares.leave(number);
        }
        shares.leave(0);
        assert!(shares.check("honest").is_ok());
        assert!(shares.check("rogue-x").is_err());
        assert_eq!(shares.held.values().sum::<usize>(), shares.len());
    }

    #[test]
    fn without_clients_each_name_has_a_share() {
        let mut shares = TicketShares::default();
        shares.enter(1, "a-1");
        shares.enter(2, "a-2");
        assert_eq!(shares.held.len(), 2);
        shares.leave(1);
        shares.leave(2);
        assert!(shares.held.is_empty());
    }
}
