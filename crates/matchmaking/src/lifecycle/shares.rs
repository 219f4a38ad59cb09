//! Who holds how many of the tickets that wait: room is free until it is short, and nobody takes all of it.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use super::{MAX_WAITING, TicketNumber, TicketRefused};

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
