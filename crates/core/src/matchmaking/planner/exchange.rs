//! Between the searches of a round: tickets that are left take the places of younger ones.
//!
//! Searches begin with the tickets that fit the fewest others, so an older ticket can be left while a
//! younger one has a place. Here each ticket that is left, the oldest first, takes the place of a
//! younger one with the same signature, if the match still meets every hard rule and costs no more.
//! Of several it takes the place of that which fits the most others, since the tickets that are left
//! then find more matches among themselves.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{Cores, PlanRound};

/// How many places are tried for one ticket.
const TRIES: usize = 64;

/// Who has a place.
struct Seats {
    /// The match of each ticket.
    of: Vec<Option<usize>>,
    /// By signature, the tickets that have a place, those that fit the most others first.
    alike: Vec<Vec<u32>>,
}

impl PlanRound<'_> {
    /// Lets the tickets that are left take the places of younger ones, which then have another turn.
    pub(super) fn exchange(&mut self, cores: &dyn Cores, cancelled: &AtomicBool) {
        let mut seats = self.seats();
        let left: Vec<u32> = self.free.iter().collect();
        for older in left {
            if cancelled.load(Ordering::Relaxed) {
                break;
            }
            self.seat(older, &mut seats);
        }
        self.again(cores, cancelled);
    }

    fn seats(&self) -> Seats {
        let pool = self.pool;
        let mut seats = Seats {
            of: vec![None; pool.len()],
            alike: vec![Vec::new(); pool.mirrors.count()],
        };
        for (at, found) in self.matches.iter().enumerate() {
            for ticket in found.tickets() {
                seats.of[ticket as usize] = Some(at);
                seats.alike[pool.mirrors.get(ticket) as usize].push(ticket);
            }
        }
        for alike in &mut seats.alike {
            alike.sort_by(|one, other| pool.by_selectivity(*other, *one));
        }
        seats
    }

    /// Gives a ticket that is left the place of a younger one, if one fits.
    fn seat(&mut self, older: u32, seats: &mut Seats) {
        let (pool, of) = (self.pool, &mut seats.of);
        let alike = &mut seats.alike[pool.mirrors.get(older) as usize];
        let all = alike.iter().copied().enumerate();
        let mut younger = all.filter(|(_, ticket)| *ticket > older).take(TRIES);
        let found = younger.find_map(|(place, younger)| {
            let at = of[younger as usize]?;
            let found = self.matches[at].with(pool, older, younger)?;
            Some((place, younger, at, found))
        });
        let Some((place, younger, at, found)) = found else {
            return;
        };
        alike.remove(place);
        let place = alike.partition_point(|ticket| pool.by_selectivity(older, *ticket).is_lt());
        alike.insert(place, older);
        of[older as usize] = Some(at);
        of[younger as usize] = None;
        self.free.remove(older);
        self.free.insert(younger);
        self.matches[at] = found;
    }
}
