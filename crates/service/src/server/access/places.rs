//! The places of connections: as long as there are free ones, everybody has one. If they run short, a connection without a
//! running game gives up its place to a new one.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
};

use super::AddressKey;

/// A connection is taken for a silent one only after these nanoseconds: most send their first line at once.
const YOUNG: u64 = 5_000_000_000;

/// What a connection has shown of itself.
#[derive(Debug, Default)]
pub struct ConnectionSigns {
    /// A [`ConnectionProgress`].
    progress: AtomicU8,
    has_game: AtomicBool,
    /// The time of its last line.
    heard: AtomicU64,
}

/// How far a connection has come. The first one gives up its place first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ConnectionProgress {
    /// It has sent no line.
    Silent,
    /// It has sent lines, and neither HELLO nor GAME.
    Unknown,
    /// It has sent HELLO or GAME.
    Known,
}

impl ConnectionSigns {
    /// Notes a line.
    pub fn heard(&self, now: u64) {
        self.heard.store(now, Ordering::Relaxed);
        self.reach(ConnectionProgress::Unknown);
    }

    /// Notes how far it has come.
    pub fn reach(&self, progress: ConnectionProgress) {
        self.progress.fetch_max(progress as u8, Ordering::Relaxed);
    }

    /// Notes whether it has a running game.
    pub fn set_game(&self, has_game: bool) {
        self.has_game.store(has_game, Ordering::Relaxed);
    }

    fn has_game(&self) -> bool {
        self.has_game.load(Ordering::Relaxed)
    }
}

/// The places that are taken. `T` is by what a connection is told that it has to give up its place.
#[derive(Debug)]
pub struct Places<T> {
    most: usize,
    next: u64,
    taken: BTreeMap<u64, TakenPlace<T>>,
}

#[derive(Debug)]
struct TakenPlace<T> {
    address: AddressKey,
    since: u64,
    shown: Arc<ConnectionSigns>,
    tell: T,
}

/// The order in which the connections of one address give up their places: those that have said nothing, those that have
/// said nothing of use, those that have hardly had time to, the oldest first, and the others by how long they are idle.
type GivingOrder = (u8, ConnectionProgress, u64, u64);

impl<T> TakenPlace<T> {
    fn turn(&self, number: u64, now: u64) -> GivingOrder {
        let progress = match self.shown.progress.load(Ordering::Relaxed) {
            0 => ConnectionProgress::Silent,
            1 => ConnectionProgress::Unknown,
            _ => ConnectionProgress::Known,
        };
        let is_young = now.saturating_sub(self.since) < YOUNG;
        let rank = match progress {
            ConnectionProgress::Known => 2,
            _ if is_young => 1,
            _ => 0,
        };
        let heard = self.shown.heard.load(Ordering::Relaxed).max(self.since);
        match rank {
            1 => (rank, ConnectionProgress::Silent, self.since, number),
            _ => (rank, progress, heard, number),
        }
    }
}

impl<T> Places<T> {
    /// This many places, all free.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            next: 0,
            taken: BTreeMap::new(),
        }
    }

    /// Gives a place to a new connection: a free one, or that of a connection without a running game, of the address that
    /// has most of these. Returns the number of the place, and by what the other connection is told; `None` if all
    /// connections have a running game.
    pub fn enter(
        &mut self,
        address: AddressKey,
        shown: Arc<ConnectionSigns>,
        tell: T,
        now: u64,
    ) -> Option<(u64, Option<T>)> {
        let told = match self.taken.len() < self.most {
            true => None,
            false => {
                let number = self.first_to_go(now)?;
                Some(self.taken.remove(&number)?.tell)
            }
        };
        let number = self.next;
        self.next += 1;
        let place = TakenPlace {
            address,
            since: now,
            shown,
            tell,
        };
        self.taken.insert(number, place);
        Some((number, told))
    }

    /// Frees a place, unless another connection has it by now.
    pub fn leave(&mut self, number: u64) {
        self.taken.remove(&number);
    }

    /// The number of places that are taken.
    pub fn taken(&self) -> usize {
        self.taken.len()
    }

    fn first_to_go(&self, now: u64) -> Option<u64> {
        let mut addresses: BTreeMap<AddressKey, (usize, GivingOrder)> = BTreeMap::new();
        for (number, place) in self.taken.iter().filter(|(_, one)| !one.shown.has_game()) {
            let turn = place.turn(*number, now);
            let entry = addresses.entry(place.address).or_insert((0, turn));
            *entry = (entry.0 + 1, entry.1.min(turn));
        }
        // Of two addresses with as many, the one with the connection that would go first.
        let most = addresses
            .into_values()
            .max_by(|(count, turn), (others, other)| count.cmp(others).then(other.cmp(turn)));
        most.map(|(_, (.., number))| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn at(last: u8) -> AddressKey {
        AddressKey::of([10, 0, 0, last].into())
    }

    /// Places, and what each connection shows.
    struct Room {
        places: Places<usize>,
        shown: Vec<Arc<ConnectionSigns>>,
        numbers: Vec<u64>,
    }

    impl Room {
        fn new(most: usize) -> Self {
            Self {
                places: Places::new(most),
                shown: Vec::new(),
                numbers: Vec::new(),
            }
        }

        /// Lets one in. Returns which one has to go for it, if one has to.
        fn enter(&mut self, address: AddressKey, now: u64) -> Result<Option<usize>, ()> {
            let shown: Arc<ConnectionSigns> = Arc::default();
            let entered = self
                .places
                .enter(address, shown.clone(), self.shown.len(), now);
            let (number, gone) = entered.ok_or(())?;
            self.shown.push(shown);
            self.numbers.push(number);
            Ok(gone)
        }
    }

    #[test]
    fn room_is_free_until_it_is_short_and_then_who_does_nothing_goes_first() {
        let mut room = Room::new(6);
        for _ in 0..6 {
            assert_eq!(room.enter(at(1), 0), Ok(None));
        }
        // 0 is idle, 1 plays, 2 only talks, 3 is silent, 4 has said HELLO later than 0, 5 is silent.
        for known in [0, 1, 4] {
            room.shown[known].heard(SECOND * known as u64);
            room.shown[known].reach(ConnectionProgress::Known);
        }
        room.shown[1].set_game(true);
        room.shown[2].heard(90 * SECOND);
        let now = 100 * SECOND;
        let gone: Vec<_> = (0..5).map(|_| room.enter(at(2), now)).collect();
        let order = [3, 5, 2, 0, 4].map(|one| Ok(Some(one)));
        assert_eq!(gone[..3], order[..3]);
        // Now both addresses have three; the other one has two without a game.
        assert_eq!(
            gone[3],
            Ok(Some(6)),
            "the silent one of the address with most"
        );
        room.shown[8].set_game(true);
        room.shown[9].set_game(true);
        room.shown[10].set_game(true);
        assert_eq!(room.enter(at(3), now), order[3]);
        assert_eq!(room.places.taken(), 6);
    }

    #[test]
    fn nobody_with_a_running_game_goes() {
        let mut room = Room::new(2);
        for one in 0..2 {
            room.enter(at(1), 0).unwrap();
            room.shown[one].set_game(true);
        }
        assert_eq!(room.enter(at(2), 1_000 * SECOND), Err(()));
        room.places.leave(room.numbers[0]);
        assert_eq!(room.enter(at(2), 1_000 * SECOND), Ok(None));
        // A connection whose place was given away leaves nobody else's.
        room.shown[1].set_game(false);
        assert_eq!(room.enter(at(1), 2_000 * SECOND), Ok(Some(1)));
        room.places.leave(room.numbers[1]);
        assert_eq!(room.places.taken(), 2);
    }

    /// Whatever an attacker does without a game, from the same address or from another one.
    #[test]
    fn forty_game_servers_behind_one_address_get_in_beside_256_that_do_nothing() {
        for (says_ping, attacker, is_new) in [
            (false, 1, false),
            (true, 1, false),
            (false, 2, false),
            (true, 2, false),
            (false, 1, true),
            (true, 1, true),
            (false, 2, true),
            (true, 2, true),
        ] {
            let mut room = Room::new(256);
            let now = 7_200 * SECOND;
            for one in 0..256 {
                let came = if is_new { now - SECOND } else { 0 };
                room.enter(at(attacker), came).unwrap();
                if says_ping {
                    room.shown[one].heard(now);
                }
            }
            // All come at once, and say HELLO and GAME a moment later.
            for _ in 0..40 {
                let gone = room.enter(at(1), now).unwrap();
                assert!(gone.is_some_and(|one| one < 256), "{gone:?}");
            }
            for server in 256..296 {
                room.shown[server].heard(now + 1);
                room.shown[server].reach(ConnectionProgress::Known);
                room.shown[server].set_game(true);
            }
            // The others come again, for hours.
            for again in 0..2_000 {
                let gone = room.enter(at(attacker), now + again * SECOND / 10).unwrap();
                assert!(
                    !gone.is_some_and(|one| (256..296).contains(&one)),
                    "{gone:?}"
                );
            }
        }
    }
}
