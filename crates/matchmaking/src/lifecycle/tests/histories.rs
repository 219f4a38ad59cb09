//! Random histories with cancels, declines, crashes, new configurations and clocks that are set.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};

use super::{super::*, changes, disk::Disk, queues};
use evenkeel_model::{Timestamp, record::MatchId};

const OWNERS: [&str; 2] = ["me", "you"];
const QUEUES: [&str; 4] = ["plain", "checked", "other", "gone"];

#[derive(Clone, Debug)]
enum Event {
    Submit(usize, u8, usize, Vec<u8>),
    /// The same ticket again, of those that were submitted.
    Resend(u8),
    Cancel(usize, u8),
    /// A search sees the queue now; its result comes after some more events.
    Search(usize, u8),
    Found,
    Accept(u8),
    AcceptAll,
    Decline(u8),
    /// The oldest tickets of a queue, at most the second number, join one of its matches in play.
    Later(u8, usize),
    /// The players of a match that they have joined in play come, do not come, or it ends.
    Came(u8),
    Missed(u8),
    Released(u8),
    Over(u8),
    Pass(i64),
    SetClock(i64),
    /// The changes since the last write are lost.
    Crash,
    Write,
    Tell,
    /// Only these queues are left, and then all again.
    Configure(u8),
}

fn event() -> impl Strategy<Value = Event> {
    let players = vec(0u8..24, 1..4);
    prop_oneof![
        8 => (0usize..2, 0u8..20, 0usize..4, players)
            .prop_map(|(owner, id, queue, players)| Event::Submit(owner, id, queue, players)),
        2 => any::<u8>().prop_map(Event::Resend),
        3 => (0usize..2, 0u8..20).prop_map(|(owner, id)| Event::Cancel(owner, id)),
        5 => (0usize..3, any::<u8>()).prop_map(|(queue, seed)| Event::Search(queue, seed)),
        5 => Just(Event::Found),
        3 => any::<u8>().prop_map(Event::Accept),
        2 => Just(Event::AcceptAll),
        2 => any::<u8>().prop_map(Event::Decline),
        4 => (any::<u8>(), 1usize..3).prop_map(|(at, count)| Event::Later(at, count)),
        2 => any::<u8>().prop_map(Event::Came),
        1 => any::<u8>().prop_map(Event::Missed),
        1 => any::<u8>().prop_map(Event::Released),
        1 => any::<u8>().prop_map(Event::Over),
        3 => (0i64..100_000).prop_map(Event::Pass),
        1 => (-100_000_000i64..100_000_000).prop_map(Event::SetClock),
        2 => Just(Event::Crash),
        4 => Just(Event::Write),
        2 => Just(Event::Tell),
        1 => any::<u8>().prop_map(Event::Configure),
    ]
}

/// A state, its disk, and what has been observed.
struct World {
    life: Lifecycle,
    disk: Disk,
    clock: i64,
    next_match: MatchId,
    searches: Vec<(usize, Vec<Proposal>)>,
    submitted: Vec<Submission>,
    /// Tickets whose SUBMIT was answered: the changes are on disk.
    answered: BTreeMap<TicketNumber, (Submission, Timestamp)>,
    finals: BTreeMap<TicketNumber, State>,
}

impl World {
    fn new() -> Self {
        let mut disk = Disk::default();
        let mut life = disk.restore(queues(), 0);
        disk.write(changes(&mut life));
        Self {
            life,
            disk,
            clock: 0,
            next_match: 1,
            searches: Vec::new(),
            submitted: Vec::new(),
            answered: BTreeMap::new(),
            finals: BTreeMap::new(),
        }
    }

    fn step(&mut self, event: Event) {
        let life = &mut self.life;
        life.at(Timestamp(self.clock));
        match event {
            Event::Submit(owner, id, queue, players) => {
                let players: BTreeSet<String> = players.iter().map(|p| format!("p{p}")).collect();
                let ticket = Submission {
                    owner: OWNERS[owner].to_owned(),
                    id: format!("t{id}"),
                    queue: QUEUES[queue].to_owned(),
                    spec: std::sync::Arc::default(),
                    players: players.into_iter().collect(),
                };
                if life.submit(ticket.clone()).is_ok() {
                    self.submitted.push(ticket);
                }
            }
            Event::Resend(at) => {
                if let Some(ticket) = self
                    .submitted
                    .get(usize::from(at) % self.submitted.len().max(1))
                {
                    // A crash may have lost it, and its id may belong to another one now.
                    let known = life.find(&ticket.owner, &ticket.id);
                    let same = known
                        .clone()
                        .is_ok_and(|known| life.tickets[&known].ticket == *ticket);
                    let again = life.submit(ticket.clone());
                    assert!(known.is_err() || (again == known) == same, "{again:?}");
                }
            }
            Event::Cancel(owner, id) => {
                let _ = life.cancel(OWNERS[owner], &format!("t{id}"));
            }
            Event::Search(queue, seed) => self.search(queue, seed),
            Event::Found => {
                if !self.searches.is_empty() {
                    let (queue, found) = self.searches.remove(0);
                    let count = found.len() as i64;
                    self.life.propose(QUEUES[queue], found, self.next_match);
                    self.next_match += count;
                }
            }
            Event::Accept(at) => {
                if let Some((owner, id, player)) = self.seat(at) {
                    self.life.accept(&owner, id, &player).unwrap();
                }
            }
            Event::AcceptAll => {
                let open: Vec<_> = life
                    .matches
                    .iter()
                    .filter(|m| m.open_until.is_some())
                    .cloned()
                    .collect();
                if let Some(formed) = open.first() {
                    for seat in &formed.seats {
                        let owner = life.tickets[&seat.ticket].ticket.owner.clone();
                        life.accept(&owner, formed.id, &seat.player).unwrap();
                    }
                }
            }
            Event::Decline(at) => {
                if let Some((owner, id, player)) = self.seat(at) {
                    self.life.decline(&owner, id, &player).unwrap();
                }
            }
            Event::Later(at, count) => self.later(at, count),
            Event::Came(at) => {
                if let Some((id, players)) = self.coming(at) {
                    self.life.came(id, &players);
                }
            }
            Event::Missed(at) => {
                if let Some((id, players)) = self.coming(at) {
                    self.life.missed(id, &players);
                }
            }
            Event::Released(at) => {
                if let Some((id, players)) = self.coming(at) {
                    self.life.send_back(id, &players[..1]);
                }
            }
            Event::Over(at) => {
                if let Some((id, _)) = self.coming(at) {
                    self.life.dismiss_expected(id);
                }
            }
            Event::Pass(millis) => self.clock += millis,
            Event::SetClock(to) => self.clock = to,
            Event::Crash => {
                self.life = self.disk.restore(queues(), self.clock);
                self.write();
            }
            Event::Write => self.write(),
            Event::Tell => {
                self.write();
                for owner in OWNERS {
                    for ticket in self.life.unsent(owner) {
                        self.life.sent(ticket);
                    }
                }
            }
            Event::Configure(mask) => {
                let left = queues()
                    .into_iter()
                    .enumerate()
                    .filter(|(at, _)| mask & (1 << at) != 0);
                let left: Vec<_> = left.map(|(_, queue)| queue).collect();
                life.configure(left, |record| record.number % 7 != i64::from(mask % 7));
                life.configure(queues(), |_| true);
            }
        }
    }

    /// Pairs up the tickets of a queue, in an order that depends on the seed.
    fn search(&mut self, queue: usize, seed: u8) {
        let mut tickets: Vec<_> = self.life.queued(QUEUES[queue]).map(|t| t.number).collect();
        let len = tickets.len();
        if len > 0 {
            tickets.rotate_left(usize::from(seed) % len);
        }
        let pair = |pair: &[TicketNumber]| Proposal {
            teams: pair.iter().map(|ticket| vec![*ticket]).collect(),
            ..Proposal::default()
        };
        let found = tickets.chunks_exact(2).map(pair).collect();
        self.searches.push((queue, found));
    }

    /// Lets tickets join a match, also such that have left their queue.
    fn later(&mut self, at: u8, count: usize) {
        let ids: Vec<MatchId> = self.life.matches.iter().map(|one| one.id).collect();
        let Some(&id) = ids.get(usize::from(at) % ids.len().max(1)) else {
            return;
        };
        let queue = self.life.formed(id).unwrap().queue.clone();
        let mut tickets: Vec<_> = self
            .life
            .queued(&queue)
            .map(|one| (one.number, 1))
            .collect();
        if at.is_multiple_of(5) {
            tickets = self
                .life
                .tickets
                .keys()
                .map(|number| (*number, 0))
                .collect();
        }
        tickets.truncate(count);
        let before = self.life.formed(id).unwrap().seats.len();
        let joined = self.life.join(id, &tickets, vec!["why".to_owned()]);
        let after = self.life.formed(id).unwrap().seats.len();
        assert_eq!(after - before, joined.map_or(0, |players| players.len()));
    }

    /// A match with players who are on their way to it, and those players.
    fn coming(&self, at: u8) -> Option<(MatchId, Vec<String>)> {
        let called = |record: &&TicketRecord| matches!(record.state, State::Called(_));
        let called: Vec<_> = self.life.tickets.values().filter(called).collect();
        let record = called.get(usize::from(at) % called.len().max(1))?;
        let id = record.state.match_id()?;
        Some((id, record.ticket.players.clone()))
    }

    fn seat(&self, at: u8) -> Option<(String, MatchId, String)> {
        let open = self
            .life
            .matches
            .iter()
            .filter(|formed| formed.open_until.is_some());
        let seats: Vec<_> = open
            .flat_map(|m| m.seats.iter().map(|seat| (m.id, seat)))
            .collect();
        let (id, seat) = seats.get(usize::from(at) % seats.len().max(1))?;
        let owner = self.life.tickets[&seat.ticket].ticket.owner.clone();
        Some((owner, *id, seat.player.clone()))
    }

    fn write(&mut self) {
        let changes = changes(&mut self.life);
        for change in &changes {
            match change {
                Change::Became { ticket, state, .. } if state.is_final() => {
                    self.finals.insert(*ticket, *state);
                }
                // From here on, a later daemon may give another ticket this number.
                Change::Forgotten(ticket) => {
                    assert!(
                        self.finals.remove(ticket).is_some(),
                        "{ticket} had not ended"
                    );
                    self.answered.remove(ticket);
                }
                _ => {}
            }
        }
        self.disk.write(changes);
        assert_eq!(self.disk.tickets, self.life.tickets);
        assert!(self.disk.matches.values().eq(self.life.matches.iter()));
        for record in self.life.tickets.values() {
            let answer = (record.ticket.clone(), record.submitted_at);
            let before = self.answered.insert(record.number, answer.clone());
            assert!(
                before.is_none_or(|before| before == answer),
                "place and time are kept"
            );
            if record.state.is_final() {
                let before = self.finals.insert(record.number, record.state);
                assert!(
                    before.is_none_or(|before| before == record.state),
                    "{before:?} {record:?}"
                );
            }
        }
        for (number, (ticket, _)) in &self.answered {
            assert!(self.life.tickets.contains_key(number), "{ticket:?} is lost");
        }
    }

    fn check(&self) {
        let life = &self.life;
        let mut in_match: BTreeMap<TicketNumber, MatchId> = BTreeMap::new();
        for formed in life.matches.iter() {
            let mut players = BTreeSet::new();
            for ticket in formed.tickets() {
                assert!(
                    in_match.insert(ticket, formed.id).is_none(),
                    "in two matches"
                );
                let Some(record) = life.tickets.get(&ticket) else {
                    continue;
                };
                let state = match formed.open_until {
                    Some(_) => State::Proposed(formed.id),
                    None => State::Matched(formed.id),
                };
                let joins = formed.is_later(ticket) && record.state == State::Called(formed.id);
                assert!(joins || record.state == state, "{record:?}");
                let seats = formed.seats.iter().filter(|seat| seat.ticket == ticket);
                let teams: BTreeSet<u8> = seats.clone().map(|seat| seat.team).collect();
                assert_eq!(teams.len(), 1, "a ticket is on one team");
                let seated: Vec<_> = seats.map(|seat| seat.player.clone()).collect();
                assert_eq!(seated, record.ticket.players, "no player is torn off");
                players.extend(seated);
            }
            assert!(
                formed
                    .accepted
                    .iter()
                    .all(|p| players.contains(p) || formed.open_until.is_none())
            );
        }
        let mut waiting = BTreeSet::new();
        let mut count = 0;
        for record in life.tickets.values() {
            if let Some(id) = record.state.match_id() {
                assert_eq!(in_match.get(&record.number), Some(&id), "{record:?}");
            }
            assert_eq!(
                life.find(&record.ticket.owner, &record.ticket.id),
                Ok(record.number)
            );
            if !record.state.is_final() {
                count += 1;
                let group = &life.queues[&record.ticket.queue].group;
                for player in &record.ticket.players {
                    assert!(waiting.insert((group, player)), "{player} waits twice");
                }
            }
        }
        assert_eq!(life.waiting(), count);
        self.check_latest();
    }

    /// The latest matches of each player and of each queue are those that a look at all matches finds.
    fn check_latest(&self) {
        let life = &self.life;
        let all = || life.latest_matches();
        for player in (0..24).map(|player| format!("p{player}")) {
            let plays = |formed: &&Match| formed.seats.iter().any(|seat| seat.player == player);
            assert!(life.latest_of_player(&player).eq(all().filter(plays)));
        }
        for queue in QUEUES {
            let own = all().filter(|formed| formed.queue == queue);
            assert!(life.latest_of_queue(queue).eq(own));
        }
        assert!(life.matches.is_lean(), "no index outlives its matches");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 300 } else { 20_000 }))]

    #[test]
    fn nothing_is_lost_and_nothing_happens_twice(events in vec(event(), 1..120)) {
        let mut world = World::new();
        for event in events {
            world.step(event);
            world.check();
        }
        while let Some((id, _)) = world.coming(0) {
            world.life.dismiss_expected(id);
            world.check();
        }
        world.write();
        // In the end, every ticket reaches a final state, and a day later nothing is left.
        let end = world.life.now().plus_millis(600_000 + 30_000);
        world.life.at(end);
        world.life.at(end.plus_millis(30_000));
        world.check();
        prop_assert!(world.life.tickets.values().all(|ticket| ticket.state.is_final()));
        world.write();
        world.life.at(end.plus_millis(30_000 + KEEP_MILLIS));
        world.write();
        prop_assert!(world.disk == Disk::default());
    }
}
