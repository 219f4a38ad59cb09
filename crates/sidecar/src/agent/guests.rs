//! The clients on the game server, and which of them are players of the match.

use std::collections::BTreeMap;

/// The shortest time between two questions about the same client, in milliseconds.
const AGAIN: u64 = 2_000;
/// The time that an order about a client may take before it is given again.
const PATIENCE: u64 = 3_000;

/// Who a client is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GuestKind {
    /// Not known yet.
    Unknown,
    /// The player on this seat of the match.
    Player(usize),
    /// A client without a valid pass.
    Stranger,
}

/// A client on the game server.
#[derive(Clone, Debug)]
pub(super) struct Guest {
    pub(super) kind: GuestKind,
    /// Distinguishes clients that have had the same client number.
    pub(super) visit: u64,
    /// Whether it is to be found out who the client is, perhaps once more.
    pub(super) doubtful: bool,
    asked: Option<u64>,
    ordered: Option<u64>,
}

impl Guest {
    /// Whether to ask about the client now.
    fn is_due(&self, now: u64) -> bool {
        self.doubtful && self.asked.is_none_or(|at| now >= at + AGAIN)
    }

    /// Whether to give an order about the client now. Notes that it was given.
    pub(super) fn order(&mut self, now: u64) -> bool {
        let due = self.ordered.is_none_or(|at| now >= at + PATIENCE);
        if due {
            self.ordered = Some(now);
        }
        due
    }
}

/// The clients on the game server, by client number.
#[derive(Debug, Default)]
pub(super) struct Guests {
    guests: BTreeMap<usize, Guest>,
    visits: u64,
}

impl Guests {
    /// A line of the log concerns this client: it may be new, or have sent something else of itself.
    pub(super) fn saw(&mut self, number: usize) {
        let visits = &mut self.visits;
        let guest = self.guests.entry(number).or_insert_with(|| {
            *visits += 1;
            Guest {
                kind: GuestKind::Unknown,
                visit: *visits,
                doubtful: true,
                asked: None,
                ordered: None,
            }
        });
        guest.doubtful |= !matches!(guest.kind, GuestKind::Player(_));
    }

    /// A client has left. Returns who it was.
    pub(super) fn left(&mut self, number: usize) -> Option<GuestKind> {
        self.guests.remove(&number).map(|guest| guest.kind)
    }

    /// A game begins, for which the log names all clients again. Client numbers may have got other
    /// clients in between, so all passes are read again.
    pub(super) fn doubt_all(&mut self) {
        for guest in self.guests.values_mut() {
            guest.doubtful = true;
            guest.asked = None;
        }
    }

    /// Forgets who the clients are, because the match is another one.
    pub(super) fn forget_players(&mut self) {
        for guest in self.guests.values_mut() {
            (guest.kind, guest.doubtful) = (GuestKind::Unknown, true);
            (guest.asked, guest.ordered) = (None, None);
        }
    }

    /// The client to ask about next: the one that was not asked about for longest.
    pub(super) fn next_doubtful(&self, now: u64) -> Option<(usize, u64)> {
        let due = self.guests.iter().filter(|(_, guest)| guest.is_due(now));
        let next = due.min_by_key(|(number, guest)| (guest.asked, **number));
        next.map(|(number, guest)| (*number, guest.visit))
    }

    /// Notes that a question about a client was sent.
    pub(super) fn asked(&mut self, number: usize, now: u64) {
        if let Some(guest) = self.guests.get_mut(&number) {
            guest.asked = Some(now);
        }
    }

    /// The client of this number, if it is still the same visit.
    pub(super) fn visitor(&mut self, number: usize, visit: u64) -> Option<&mut Guest> {
        let guest = self.guests.get_mut(&number);
        guest.filter(|guest| guest.visit == visit)
    }

    /// The client number of the player on this seat.
    pub(super) fn number_of(&self, seat: usize) -> Option<usize> {
        let mut guests = self.guests.iter();
        let found = guests.find(|(_, guest)| guest.kind == GuestKind::Player(seat));
        found.map(|(number, _)| *number)
    }

    /// All clients, with their numbers.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut Guest)> {
        self.guests
            .iter_mut()
            .map(|(number, guest)| (*number, guest))
    }

    /// Whether some client may be a player who is not recognised yet.
    pub(super) fn has_doubtful(&self) -> bool {
        let mut guests = self.guests.values();
        guests.any(|guest| guest.doubtful && guest.kind == GuestKind::Unknown)
    }

    /// The numbers of all clients.
    pub(super) fn numbers(&self) -> Vec<usize> {
        self.guests.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_asked_about_in_turn() {
        let mut guests = Guests::default();
        guests.saw(3);
        guests.saw(1);
        assert_eq!(guests.next_doubtful(0), Some((1, 2)));
        guests.asked(1, 0);
        assert_eq!(guests.next_doubtful(0), Some((3, 1)));
        guests.asked(3, 0);
        assert_eq!(guests.next_doubtful(1_999), None);
        assert!(guests.visitor(3, 2).is_none(), "another visit");
        let guest = guests.visitor(3, 1).unwrap();
        (guest.kind, guest.doubtful) = (GuestKind::Player(0), false);
        guests.saw(3);
        assert_eq!(guests.next_doubtful(9_000), Some((1, 2)));
        assert_eq!(guests.number_of(0), Some(3));
        guests.doubt_all();
        assert_eq!(guests.left(3), Some(GuestKind::Player(0)));
        guests.saw(3);
        assert_eq!(
            guests.visitor(3, 3).map(|g| g.kind),
            Some(GuestKind::Unknown)
        );
    }
}
