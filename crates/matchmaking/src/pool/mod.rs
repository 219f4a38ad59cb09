//! The pool: the tickets of one round, oldest first, with what the rules need to know of each.

mod combine;
mod demand;
mod lately;
mod signature;

use std::cmp::Ordering;

use super::{Queue, Ticket, bits::Bits, people::People, rules::PreparedRule};
pub(super) use combine::{Combination, Combinations, ENOUGH};
pub(super) use demand::Lacking;
use demand::RuleDemand;
use evenkeel_model::Outlook;
pub use lately::{PLAYER_MATCHES, QUEUE_MATCHES};
use signature::Signatures;

/// The tickets of one round. Tickets have the numbers of their order: 0 has waited longest. What is known of each is
/// indexed by these numbers. A number of another pool is a fault: it panics, which costs the search its round.
pub(super) struct Pool<'q> {
    pub queue: &'q Queue,
    pub people: People,
    /// The tickets as the caller states them.
    pub tickets: Vec<&'q Ticket>,
    /// The maps of the queue's last matches, the latest match first.
    pub played: &'q [String],
    /// The queue's rules, prepared for the tickets.
    pub prepared: Vec<Box<dyn PreparedRule>>,
    /// How long each ticket has waited, in seconds.
    pub waited: Vec<f64>,
    /// The place of each ticket in the caller's list.
    pub places: Vec<usize>,
    /// What each ticket adds to a team that other teams need, too.
    pub mirrors: Signatures,
    /// The same by the strict hard rules alone, which no other tickets can make up for.
    pub strict: Signatures,
    /// Which tickets have the same values of those that hard rules limit.
    pub limited: Signatures,
    /// The share of the tickets that each ticket could play with, about.
    selectivity: Vec<f64>,
    /// The place of the first strict rule.
    pub strict_rule: Option<usize>,
    /// How many players of a kind the hard rules demand.
    demands: Vec<RuleDemand>,
}

impl<'q> Pool<'q> {
    /// Sorts the tickets by their wait. Those with the same wait keep the order of the list: the first
    /// who came is first.
    pub fn new(queue: &'q Queue, tickets: &'q [Ticket], outlook: Option<Outlook>) -> Self {
        let mut places: Vec<usize> = (0..tickets.len()).collect();
        let waited = |place: usize| tickets[place].waited;
        places.sort_by(|&one, &other| {
            let longer = waited(other).total_cmp(&waited(one));
            longer.then(one.cmp(&other))
        });
        let sorted: Vec<&'q Ticket> = places.iter().map(|place| &tickets[*place]).collect();
        let people = People::of(queue.columns(), &sorted, outlook);
        let prepared: Vec<_> = queue
            .rules()
            .iter()
            .map(|rule| rule.rule.prepare(&people))
            .collect();
        let is_strict = |at: &usize| {
            // What it says of the first ticket, it says of all.
            let mirror = sorted.first().and_then(|_| prepared[*at].mirror(0));
            queue.rules()[*at].hard && mirror.is_some_and(|mirror| mirror.strict)
        };
        let strict: Vec<usize> = (0..prepared.len()).filter(is_strict).collect();
        let own = |at: &usize| prepared.get(*at).map(AsRef::as_ref);
        let hard = (0..prepared.len()).filter(|at| queue.rules()[*at].hard);
        let hard: Vec<&dyn PreparedRule> = hard.filter_map(|at| own(&at)).collect();
        let selectivity = (0..sorted.len() as u32).map(|ticket| {
            let rules = queue
                .rules()
                .iter()
                .zip(&prepared)
                .filter(|(rule, _)| rule.hard);
            let each =
                rules.map(|(rule, prepared)| prepared.selectivity(ticket, rule.limit(0.0, 0)));
            each.product()
        });
        let mut pool = Self {
            selectivity: selectivity.collect(),
            queue,
            waited: sorted.iter().map(|ticket| ticket.waited).collect(),
            mirrors: Signatures::of(
                &people,
                &prepared.iter().map(AsRef::as_ref).collect::<Vec<_>>(),
            ),
            strict: Signatures::of(&people, &strict.iter().filter_map(own).collect::<Vec<_>>()),
            limited: Signatures::of_limited(&people, &hard),
            strict_rule: strict.first().copied(),
            people,
            prepared,
            places,
            demands: Vec::new(),
            tickets: sorted,
            played: &[],
        };
        pool.demands = RuleDemand::of(&pool);
        pool
    }

    /// Number of tickets.
    pub fn len(&self) -> usize {
        self.people.tickets()
    }

    /// The set of all tickets of the pool.
    pub fn all(&self) -> Bits {
        Bits::full(self.len())
    }

    /// The number of a player by whose sums the final split makes teams even: the strength, where the
    /// queue's `even_by` is `@weight` and the rating system predicts chances.
    pub fn even_by(&self, player: usize) -> f64 {
        match self.queue.is_even_by_chance() && self.people.outlook().is_some() {
            true => self.people.strength(player),
            false => self.people.number(self.queue.even_by(), player),
        }
    }

    /// The order of two tickets: first the one that could play with fewer others, then the older one.
    pub fn by_selectivity(&self, one: u32, other: u32) -> Ordering {
        let selectivity = |ticket: u32| self.selectivity[ticket as usize];
        let fewer = selectivity(one).total_cmp(&selectivity(other));
        fewer.then(one.cmp(&other))
    }

    /// How long a ticket has waited, in seconds.
    pub fn waited(&self, ticket: u32) -> f64 {
        self.waited[ticket as usize]
    }
}
