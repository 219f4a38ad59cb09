//! Random orders of events, with crashes of instances and of the daemon.

use std::collections::{BTreeMap, BTreeSet};

use proptest::{collection::vec, prelude::*};

use super::*;

const NAMES: [&str; 3] = ["a", "b", "c"];
const SLOTS: [u32; 3] = [1, 2, 3];

#[derive(Clone, Debug)]
enum Event {
    Host,
    Join(usize),
    /// The connection is lost; with `true`, the process is gone, too.
    Lose(usize, bool),
    Load(usize, u8),
    Ready(usize, u8),
    Refuse(usize, u8),
    Opened(usize, u8),
    Parted(u8),
    Began(usize, u8),
    Ended(u8),
    GaveUp(u8),
    Withdraw(u8),
    Drain(u8),
    /// The allocator answers one of its requests: with a game server, or with none.
    Allocated(u8, usize),
    NoneFree(u8),
    /// The allocator answers for any match, as if its request had been under way for long.
    Late(u8, usize),
    /// The game server reports these players: each of four with a team, or absent.
    Roster(usize, u8, [u8; 4]),
    Seek(usize, u8, u8, u32),
    /// The game server sends one of the players on their way away.
    SendAway(usize, u8),
    /// A round has found players for the match, as many as it seeks at most.
    Fill(u8),
    Pass(i64),
    Write,
    /// What is not written is lost; with `true`, also what was to be sent after a write.
    Crash(bool),
}

fn event() -> impl Strategy<Value = Event> {
    let pair = || (0usize..3, any::<u8>());
    prop_oneof![
        5 => Just(Event::Host),
        4 => (0usize..3).prop_map(Event::Join),
        2 => (0usize..3, any::<bool>()).prop_map(|(at, gone)| Event::Lose(at, gone)),
        1 => pair().prop_map(|(at, load)| Event::Load(at, load)),
        8 => pair().prop_map(|(at, id)| Event::Ready(at, id)),
        1 => pair().prop_map(|(at, id)| Event::Refuse(at, id)),
        8 => pair().prop_map(|(at, id)| Event::Opened(at, id)),
        1 => any::<u8>().prop_map(Event::Parted),
        8 => pair().prop_map(|(at, id)| Event::Began(at, id)),
        5 => any::<u8>().prop_map(Event::Ended),
        1 => any::<u8>().prop_map(Event::GaveUp),
        1 => any::<u8>().prop_map(Event::Withdraw),
        1 => (0u8..8).prop_map(Event::Drain),
        8 => pair().prop_map(|(at, id)| Event::Allocated(id, at)),
        2 => any::<u8>().prop_map(Event::NoneFree),
        2 => pair().prop_map(|(at, id)| Event::Late(id, at)),
        3 => (0usize..3, any::<u8>(), [0u8..3, 0u8..3, 0u8..3, 0u8..3])
            .prop_map(|(at, id, teams)| Event::Roster(at, id, teams)),
        4 => (0usize..3, any::<u8>(), 0u8..3, 0u32..4)
            .prop_map(|(at, id, team, seats)| Event::Seek(at, id, team, seats)),
        4 => any::<u8>().prop_map(Event::Fill),
        1 => pair().prop_map(|(at, id)| Event::SendAway(at, id)),
        3 => (0i64..60_000).prop_map(Event::Pass),
        8 => Just(Event::Write),
        1 => any::<bool>().prop_map(Event::Crash),
    ]
}

/// What the client of a ticket was told last of its match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Announced {
    Matched,
    Called,
    Begun,
    Requeued,
}

/// The state, its disk, and the world around it.
struct World {
    life: Lifecycle,
    disk: Disk,
    /// The matches that each process believes to host.
    holds: BTreeMap<String, BTreeSet<MatchId>>,
    connected: BTreeSet<String>,
    /// What was told of each ticket that a match was formed of.
    announced: BTreeMap<(MatchId, TicketNumber), Announced>,
    /// The tickets that have joined a match in play.
    joined: BTreeSet<TicketNumber>,
    /// Where each match was begun, as an instance knows it.
    begun: BTreeMap<MatchId, String>,
    /// The requests that the allocator has not answered.
    requests: Vec<MatchId>,
    provider: Provider,
    next: MatchId,
    next_player: u32,
    /// The players who are on their way to each match, as its game server was told.
    called: BTreeMap<MatchId, BTreeSet<String>>,
    /// Those of them whom it has reported since the last write.
    came: Vec<(MatchId, String)>,
    /// How long each of them could come since the game server was last away, in milliseconds.
    could_come: BTreeMap<String, i64>,
    /// The matches whose game has a connection.
    games: BTreeSet<MatchId>,
}

impl World {
    fn new(provider: Provider) -> Self {
        Self {
            life: begin(settings(provider), queues(), 0),
            disk: Disk::default(),
            holds: BTreeMap::new(),
            connected: BTreeSet::new(),
            announced: BTreeMap::new(),
            joined: BTreeSet::new(),
            begun: BTreeMap::new(),
            requests: Vec::new(),
            provider,
            next: 1,
            next_player: 0,
            called: BTreeMap::new(),
            came: Vec::new(),
            could_come: BTreeMap::new(),
            games: BTreeSet::new(),
        }
    }

    /// The players on their way to a match.
    fn coming(&self, id: MatchId) -> Vec<String> {
        let hosted = self.life.hosted(id);
        let coming = hosted.into_iter().flat_map(|hosted| hosted.expected.keys());
        coming.cloned().collect()
    }

    /// The game of a match has no connection, or its instance is lost: who is on the way has the whole time
    /// again.
    fn is_away(&mut self, id: MatchId) {
        for player in self.coming(id) {
            self.could_come.insert(player, 0);
        }
    }

    /// Moves the time on. Nobody is a no-show who could not come for the whole time.
    fn pass(&mut self, millis: i64) {
        for id in self.life.live.clone() {
            let name = self.life.hosted(id).unwrap().instance.clone();
            let here = name.is_some_and(|name| self.connected.contains(&name));
            if !(here && self.games.contains(&id)) {
                self.is_away(id);
                continue;
            }
            for player in self.coming(id) {
                *self.could_come.entry(player).or_default() += millis;
            }
        }
        let before = self.life.effects.count.len();
        let now = self.life.now().plus_millis(millis);
        self.life.at(now);
        for happened in &self.life.effects.count[before..] {
            if let Happened::NoShow { players, .. } = happened {
                for player in players {
                    assert!(self.could_come[player] >= 60_000, "{player} could not come");
                }
            }
        }
    }

    fn id(&self, at: u8) -> MatchId {
        1 + MatchId::from(at) % self.next
    }

    fn step(&mut self, event: &Event) {
        let life = &mut self.life;
        match *event {
            Event::Host => {
                host(life, self.next);
                self.next += 1;
            }
            Event::Join(at) => {
                let name = NAMES[at];
                life.joined(offer(name, name, SLOTS[at])).unwrap();
                self.connected.insert(name.to_owned());
            }
            Event::Lose(at, gone) => {
                life.lost(NAMES[at]);
                self.connected.remove(NAMES[at]);
                if gone {
                    self.holds.remove(NAMES[at]);
                }
                for id in 1..self.next {
                    let hosted = self.life.hosted(id);
                    if hosted.is_some_and(|one| one.instance.as_deref() == Some(NAMES[at])) {
                        self.is_away(id);
                    }
                }
            }
            Event::Load(at, load) => {
                let _ = life.load(NAMES[at], f64::from(load) / 255.0);
            }
            Event::Ready(at, id) => {
                self.answer(at, id, |world, name, id| world.life.ready(name, id, None))
            }
            Event::Refuse(at, id) => self.answer(at, id, |world, name, id| {
                world.life.refused(name, id)?;
                world.holds.entry(name.to_owned()).or_default().remove(&id);
                Ok(())
            }),
            Event::Opened(at, id) => self.answer(at, id, |world, name, id| {
                world.life.opened(name, id, 1_000 + id)?;
                world.games.insert(id);
                Ok(())
            }),
            Event::Began(at, id) => self.answer(at, id, |world, name, id| {
                world.life.began(name, id)?;
                let other = world.begun.insert(id, name.to_owned());
                assert!(other.is_none_or(|other| other == name), "{id} began twice");
                Ok(())
            }),
            Event::Parted(id) => {
                let id = self.id(id);
                self.life.parted(id);
                self.games.remove(&id);
                self.is_away(id);
            }
            Event::Ended(id) => self.life.ended(self.id(id)),
            Event::GaveUp(id) => {
                let id = self.id(id);
                self.life.gave_up(id);
                for holds in self.holds.values_mut() {
                    holds.remove(&id);
                }
            }
            Event::Withdraw(id) => self.life.withdraw(self.id(id)),
            Event::Drain(bits) => {
                let drains = NAMES
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| (bits >> at) & 1 == 1);
                life.drain(&drains.map(|(_, name)| (*name).to_owned()).collect());
            }
            Event::Allocated(at, name) => {
                if let Some(id) = self.request(at) {
                    self.allocated(id, name);
                }
            }
            Event::NoneFree(at) => {
                if let Some(id) = self.request(at) {
                    self.life
                        .answered(id, &Allocation::NoneFree, f64::from(at) / 255.0);
                }
            }
            Event::Late(id, name) => {
                let id = self.id(id);
                if id < self.next {
                    self.requests.retain(|one| *one != id);
                    self.allocated(id, name);
                }
            }
            Event::Roster(at, id, teams) => {
                let id = self.id(id);
                let life = &mut self.life;
                let coming: Vec<String> = life
                    .hosted(id)
                    .into_iter()
                    .flat_map(|hosted| hosted.expected.keys().cloned())
                    .collect();
                let here = teams.iter().enumerate().filter(|(_, team)| **team < 2);
                let mut roster: Vec<_> = here
                    .map(|(n, team)| (format!("p{n}"), Some(*team)))
                    .collect();
                // Sometimes, one of those who were called comes.
                if let Some(player) = coming.first().filter(|_| teams[0] == 2) {
                    roster.push((player.clone(), Some(teams[1] % 2)));
                }
                life.report_roster(NAMES[at], id, roster);
                let hosted = life.hosted(id);
                let here = |player: &&String| {
                    let on = hosted.map_or(0, |one| {
                        one.present_players().filter(|(id, _)| id == player).count()
                    });
                    on > 0
                };
                let came = coming.iter().filter(here).cloned();
                self.came.extend(came.map(|player| (id, player)));
            }
            Event::Seek(at, id, team, seats) => {
                let id = self.id(id);
                let life = &mut self.life;
                let known = life.seek_players(NAMES[at], id, team, seats);
                if let Ok(sought) = known {
                    assert!(team < 2 && sought <= seats.min(2));
                    assert_eq!(life.seek_players(NAMES[at], id, team, seats), Ok(sought));
                }
            }
            Event::Fill(at) => {
                let seeking = life.seeking();
                let one = seeking.get(usize::from(at) % seeking.len().max(1));
                let Some((id, free)) = one.map(|(hosted, free)| (hosted.id, free.clone())) else {
                    return;
                };
                let team = free.iter().position(|free| *free > 0).unwrap();
                let version = life.hosted(id).unwrap().version;
                self.next_player += 1;
                // Two players come together where two seats are free.
                let player = |part: usize| format!("n{}.{part}", self.next_player);
                let players: Vec<String> = (0..free[team]).map(player).collect();
                let players: Vec<&str> = players.iter().map(String::as_str).collect();
                let ticket = submit(life, &format!("n{}", self.next_player), &players);
                let filling = Filling {
                    id,
                    version,
                    seats: vec![(ticket, team as u8)],
                    why: Vec::new(),
                };
                assert!(life.fill(filling, || "pass".to_owned()));
            }
            Event::SendAway(at, id) => {
                let id = self.id(id);
                let refused = self.life.send_away(NAMES[at], id, "p0");
                assert!(!refused, "p0 was never on the way");
                if let Some(player) = self.coming(id).first()
                    && self.life.send_away(NAMES[at], id, player)
                {
                    let hosted = self.life.hosted(id).unwrap();
                    assert!(hosted.sent_away.contains(player) && !hosted.has(player));
                    let party = player.split('.').next().unwrap();
                    let mut others = hosted.expected.keys();
                    assert!(!others.any(|one| one.starts_with(&format!("{party}."))));
                }
            }
            Event::Pass(millis) => {
                self.pass(millis);
                let life = &mut self.life;
                for name in &self.connected {
                    life.alive(name, life.now());
                }
            }
            Event::Write => self.write(true),
            Event::Crash(after_write) => self.crash(after_write),
        }
    }

    /// Takes one of the requests that the allocator has not answered.
    fn request(&mut self, at: u8) -> Option<MatchId> {
        let count = self.requests.len();
        (count > 0).then(|| self.requests.swap_remove(usize::from(at) % count))
    }

    /// The allocator marks a game server with the match, which it then believes to host.
    fn allocated(&mut self, id: MatchId, name: usize) {
        if self.provider == Provider::Agones {
            self.holds
                .entry(NAMES[name].to_owned())
                .or_default()
                .insert(id);
            self.life.answered(id, &done(NAMES[name]), 0.5);
        }
    }

    /// A connected instance sends something about a match. If it is refused, the match is not its own.
    fn answer(
        &mut self,
        at: usize,
        id: u8,
        send: impl FnOnce(&mut Self, &str, MatchId) -> Result<(), HostRefused>,
    ) {
        let (name, id) = (NAMES[at], self.id(id));
        if !self.connected.contains(name) {
            return;
        }
        if send(self, name, id) == Err(HostRefused::NotYours)
            && let Some(holds) = self.holds.get_mut(name)
        {
            holds.remove(&id);
        }
    }

    /// Writes the changes, and then sends what is to be sent.
    fn write(&mut self, deliver: bool) {
        let ready = take(&mut self.life);
        let mut over = Vec::new();
        for change in ready.write {
            match &change {
                Change::Seated { seats, .. } => {
                    self.joined.extend(seats.iter().map(|seat| seat.ticket));
                }
                Change::Unseated { ticket, .. } => drop(self.joined.remove(ticket)),
                Change::Became { ticket, state, .. } => self.hear(*ticket, *state),
                Change::Hosted(hosted) if hosted.stage.is_final() => over.push(hosted.id),
                _ => {}
            }
            self.disk.apply(change);
        }
        for id in ready.allocate.into_iter().filter(|_| deliver) {
            assert_eq!(self.provider, Provider::Agones);
            assert!(!self.requests.contains(&id), "{id} asks twice at once");
            self.requests.push(id);
        }
        for message in ready.send {
            self.send(message, deliver);
        }
        // Who has come before the call was written is called and has come at once.
        for (id, player) in self.came.drain(..) {
            self.called.entry(id).or_default().remove(&player);
        }
        for id in over {
            self.called.remove(&id);
        }
    }

    /// The client of a ticket is told of its new state, which follows from the one before.
    fn hear(&mut self, ticket: TicketNumber, state: State) {
        let before = self.disk.tickets[&ticket].state.match_id();
        let Some(id) = state
            .match_id()
            .or(before)
            .filter(|_| !self.joined.contains(&ticket))
        else {
            return;
        };
        let announced = self.announced.get(&(id, ticket)).copied();
        let (announced, follows) = match state {
            State::Hosted(_) => (
                Announced::Matched,
                matches!(announced, None | Some(Announced::Called)),
            ),
            State::Called(_) => (
                Announced::Called,
                matches!(announced, Some(Announced::Matched | Announced::Called)),
            ),
            State::Matched(_) => (Announced::Begun, announced == Some(Announced::Called)),
            _ => (
                Announced::Requeued,
                matches!(announced, Some(Announced::Matched | Announced::Called)),
            ),
        };
        // A ticket whose joining was taken back has never been in a match of its own.
        if announced != Announced::Requeued || self.announced.contains_key(&(id, ticket)) {
            assert!(follows, "{ticket} in {id}: {state:?}");
            self.announced.insert((id, ticket), announced);
        }
    }

    /// What is sent may be lost.
    fn send(&mut self, message: Message, deliver: bool) {
        match message {
            Message::Open { instance, id } if deliver => {
                let known = self.life.instances.get(&instance);
                if known.is_some_and(|known| known.away.is_none()) {
                    self.holds.entry(instance).or_default().insert(id);
                }
            }
            Message::Close { instance, id, .. } if deliver => {
                if let Some(holds) = self.holds.get_mut(&instance) {
                    holds.remove(&id);
                }
            }
            Message::Open { .. } | Message::Close { .. } => {}
            Message::Admit(id, players) => {
                self.called.entry(id).or_default().extend(players);
            }
            Message::Dismiss(id, players) => {
                for player in players {
                    self.called.entry(id).or_default().remove(&player);
                }
            }
        }
    }

    fn crash(&mut self, after_write: bool) {
        if after_write {
            self.write(false);
        }
        let now = self.life.now();
        let settings = settings(self.provider);
        self.requests.clear();
        self.came.clear();
        self.life = Lifecycle::restore(settings, queues(), self.disk.stored(), now, |_| true);
        // A match whose forming was not written is lost with it.
        let announced = &self.announced;
        let has_begun = |id: MatchId| {
            let mut all = announced.range((id, 0)..(id + 1, 0));
            all.any(|(_, announced)| *announced == Announced::Begun)
        };
        self.begun.retain(|id, _| has_begun(*id));
        self.connected.clear();
        self.games.clear();
        for id in 1..self.next {
            self.is_away(id);
        }
        let blames = |happened: &Happened| matches!(happened, Happened::NoShow { .. });
        assert!(!self.life.effects.count.iter().any(blames));
        // Who sends READY or START for a match that is not its own is refused, and drops it.
        for (name, holds) in &mut self.holds {
            holds.retain(|id| self.life.at_instance(name, *id).is_ok());
        }
    }

    fn check(&self) {
        let mut at: BTreeMap<MatchId, &str> = BTreeMap::new();
        for instance in self.life.instances() {
            let name = instance.offer.name.as_str();
            assert!(
                instance.matches.len() <= instance.offer.slots as usize,
                "{name}"
            );
            for id in &instance.matches {
                assert_eq!(at.insert(*id, name), None, "{id} is at two instances");
                let hosted = self.life.hosted(*id).unwrap();
                assert_eq!(hosted.instance.as_deref(), Some(name));
                assert!(!hosted.stage.is_final() && hosted.stage != Stage::Reserved);
            }
        }
        for hosted in self.life.hosted_matches() {
            assert!(hosted.stage == Stage::Playing || hosted.expected.is_empty());
            let deserted = hosted.roster.as_ref().is_some_and(Vec::is_empty);
            assert!(!deserted || hosted.expected.is_empty(), "{hosted:?}");
            for team in 0..2u8 {
                let coming = hosted
                    .expected
                    .values()
                    .filter(|one| one.team == team)
                    .count();
                let asked = hosted.asked.get(&team).copied().unwrap_or(0);
                assert!(asked <= 2 && coming <= 2, "{hosted:?}");
                let here = hosted.present_players().filter(|(_, on)| *on == Some(team));
                let full = coming > 0 && here.count() + coming > 2;
                assert!(!full, "{hosted:?}: no seat is free for who is on the way");
            }
            for seat in &hosted.seats {
                let ticket = self.life.ticket(seat.ticket).unwrap();
                assert!(
                    hosted.agrees(ticket.number, ticket.state),
                    "{ticket:?} {hosted:?}"
                );
            }
            let taken = at.get(&hosted.id).copied();
            let instance = hosted
                .instance
                .as_deref()
                .filter(|_| !hosted.stage.is_final());
            let known = instance.filter(|name| self.life.instances.contains_key(*name));
            assert_eq!(taken, known, "{hosted:?}");
        }
    }

    /// After a write: what was told is true, and nobody holds what another instance was given.
    fn check_written(&self) {
        for hosted in self.life.hosted_matches() {
            let allowed: &[Announced] = match hosted.stage {
                Stage::Reserved | Stage::Opening => &[Announced::Matched],
                Stage::Ready | Stage::Joining => &[Announced::Called],
                Stage::Playing | Stage::Over => &[Announced::Begun],
                Stage::Failed => &[Announced::Begun, Announced::Requeued],
                Stage::Proposed | Stage::Formed => unreachable!(),
            };
            for (_, announced) in self.announced.range((hosted.id, 0)..(hosted.id + 1, 0)) {
                assert!(allowed.contains(announced), "{announced:?} {hosted:?}");
            }
        }
        for (id, called) in &self.called {
            let hosted = self.life.hosted(*id);
            let coming: BTreeSet<String> = hosted
                .into_iter()
                .flat_map(|hosted| hosted.expected.keys().cloned())
                .collect();
            assert_eq!(*called, coming, "{hosted:?}");
        }
        for (name, holds) in &self.holds {
            for id in holds.iter().filter(|_| self.connected.contains(name)) {
                let hosted = self.life.hosted(*id);
                let own = hosted.is_none_or(|hosted| {
                    hosted.stage.is_final() || hosted.instance.as_deref() == Some(name)
                });
                assert!(own, "{name} holds {hosted:?}");
            }
        }
    }
}

/// Plays a history, and then lets time pass without any instance and any answer of the allocator.
fn play(provider: Provider, events: &[Event]) {
    let mut world = World::new(provider);
    for event in events {
        world.step(event);
        world.check();
        if let Event::Write = event {
            world.check_written();
        }
    }
    // A match that waits does not forget to ask.
    let now = world.life.now();
    world.life.at(now.plus_millis(15_000));
    world.write(true);
    for hosted in world.life.hosted_matches() {
        let asks = world.requests.contains(&hosted.id);
        let waits = hosted.stage == Stage::Reserved && provider == Provider::Agones;
        assert!(asks || !waits, "{hosted:?}");
    }
    // Without any instance, every match reaches a final state.
    for name in NAMES {
        world.life.lost(name);
    }
    world.connected.clear();
    for id in 1..world.next {
        world.life.parted(id);
    }
    for _ in 0..40 {
        let now = world.life.now();
        world.life.at(now.plus_millis(30_000));
        world.write(true);
        world.check();
        world.check_written();
    }
    for hosted in world.life.hosted_matches() {
        assert!(hosted.stage.is_final(), "{hosted:?}");
    }
    assert_eq!(world.life.instances().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_must_hold_always_holds(events in vec(event(), 1..120)) {
        play(Provider::Instances, &events);
    }

    #[test]
    fn what_must_hold_holds_with_an_allocator(events in vec(event(), 1..120)) {
        play(Provider::Agones, &events);
    }
}
