//! The candidates of one start: the tickets that may play with the seed, grouped by what they
//! mirror.

use crate::matchmaking::{bits::Bits, pool::Pool};

/// The most candidates of one start: the oldest.
const MOST: usize = 512;

/// The tickets that may play with the seed, without the seed.
pub(super) struct Candidates {
    pub seed: u32,
    tickets: Vec<u32>,
    /// The places of the tickets with each signature, by signature: sorted.
    groups: Vec<usize>,
    /// The first place in `groups` of each signature that occurs, ascending by signature.
    starts: Vec<(u32, usize)>,
    priority: Vec<usize>,
}

impl Candidates {
    /// The oldest of the tickets that fit, with those that mirror the seed. Parties that no other
    /// ticket mirrors, where a strict rule demands it, are left out.
    pub fn of(pool: &Pool<'_>, seed: u32, fitting: &Bits) -> Self {
        let strict = pool.strict.get(seed);
        let mut tickets = Vec::new();
        for ticket in fitting.iter().filter(|ticket| *ticket != seed) {
            if tickets.len() < MOST || pool.strict.get(ticket) == strict && tickets.len() < 2 * MOST
            {
                tickets.push(ticket);
            }
        }
        let teams = pool.queue.settings().teams.as_usize();
        let mut having = vec![0_usize; pool.strict.count()];
        for ticket in tickets.iter().chain([&seed]) {
            having[pool.strict.get(*ticket) as usize] += 1;
        }
        tickets.retain(|ticket| {
            let alone = pool.strict_rule.is_none() || pool.people.size(*ticket) == 1;
            alone || having[pool.strict.get(*ticket) as usize] >= teams
        });
        let mut groups: Vec<usize> = (0..tickets.len()).collect();
        groups.sort_by_key(|at| (pool.mirrors.get(tickets[*at]), *at));
        let mut starts: Vec<(u32, usize)> = Vec::new();
        for (place, at) in groups.iter().enumerate() {
            let signature = pool.mirrors.get(tickets[*at]);
            if starts.last().is_none_or(|last| last.0 != signature) {
                starts.push((signature, place));
            }
        }
        let mut priority: Vec<usize> = (0..tickets.len()).collect();
        // Larger parties first, since they find mates less often, then those with fewer choices.
        priority.sort_by(|one, other| {
            let size = |at: &usize| pool.people.size(tickets[*at]);
            let breadth = |at: &usize| {
                pool.breadth
                    .get(tickets[*at] as usize)
                    .copied()
                    .unwrap_or(1.0)
            };
            let larger = size(other).cmp(&size(one));
            larger
                .then(breadth(one).total_cmp(&breadth(other)))
                .then(one.cmp(other))
        });
        Self {
            seed,
            tickets,
            groups,
            starts,
            priority,
        }
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.tickets.len()
    }

    /// The ticket of a candidate.
    pub fn ticket(&self, at: usize) -> u32 {
        self.tickets.get(at).copied().unwrap_or(self.seed)
    }

    /// The candidate at a place in the order in which they are tried.
    pub fn by_priority(&self, place: usize) -> usize {
        self.priority.get(place).copied().unwrap_or(0)
    }

    /// The candidates with a signature, the oldest first.
    pub fn group(&self, signature: u32) -> &[usize] {
        let Ok(at) = self
            .starts
            .binary_search_by_key(&signature, |start| start.0)
        else {
            return &[];
        };
        let first = self.starts.get(at).map_or(0, |start| start.1);
        let end = self
            .starts
            .get(at + 1)
            .map_or(self.groups.len(), |start| start.1);
        self.groups.get(first..end).unwrap_or(&[])
    }

    /// Number of players of all candidates and the seed.
    pub fn players(&self, pool: &Pool<'_>) -> usize {
        let sizes = self.tickets.iter().chain([&self.seed]);
        sizes.map(|ticket| pool.people.size(*ticket)).sum()
    }
}
