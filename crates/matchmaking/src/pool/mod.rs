//! The pool: the tickets of one round, oldest first, with what the rules need to know of each.

mod combine;

pub(super) use combine::{Combination, Combinations, ENOUGH, Lacking};

use std::{cmp::Ordering, collections::HashMap};

use evenkeel_model::WinModel;

use crate::{
    Queue, Ticket,
    bits::Bits,
    people::TicketPeople,
    rules::{PreparedRule, Symbols, TeamShare},
};

use combine::RuleDemand;

/// The tickets of one round. Tickets have the numbers of their order: 0 has waited longest. What is known of each is
/// indexed by these numbers. A number of another pool is a fault: it panics, which costs the search its round.
pub(super) struct Pool<'q> {
    pub queue: &'q Queue,
    pub people: TicketPeople,
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
    pub fn new(queue: &'q Queue, tickets: &'q [Ticket], win_model: Option<WinModel>) -> Self {
        let mut places: Vec<usize> = (0..tickets.len()).collect();
        let waited = |place: usize| tickets[place].waited;
        places.sort_by(|&one, &other| {
            let longer = waited(other).total_cmp(&waited(one));
            longer.then(one.cmp(&other))
        });
        let sorted: Vec<&'q Ticket> = places.iter().map(|place| &tickets[*place]).collect();
        let people = TicketPeople::of(queue.columns(), &sorted, win_model);
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
        match self.queue.is_even_by_chance() && self.people.win_model().is_some() {
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

/// A small number for each ticket. Two tickets have the same if one makes up for the other, when
/// they are on different teams: they have the same number of players, and add the same values to
/// their teams, by the rules that compare teams.
#[derive(Debug)]
pub(crate) struct Signatures {
    of: Vec<u32>,
    count: usize,
}

impl Signatures {
    /// The signatures by those of the rules that mirror.
    pub fn of(people: &TicketPeople, prepared: &[&dyn PreparedRule]) -> Self {
        let mut known = HashMap::new();
        let signature = |ticket: u32| {
            let mut keys = vec![people.size(ticket) as u64];
            let mirrors = prepared.iter().filter_map(|rule| rule.mirror(ticket));
            for mirror in mirrors {
                keys.push(mirror.keys.len() as u64);
                keys.extend(mirror.keys);
            }
            let next = known.len() as u32;
            *known.entry(keys).or_insert(next)
        };
        let of = (0..people.tickets() as u32).map(signature).collect();
        Self {
            of,
            count: known.len(),
        }
    }

    /// The signatures by the values that hard rules count and limit, whatever the limits are.
    pub fn of_limited(people: &TicketPeople, rules: &[&dyn PreparedRule]) -> Self {
        let symbols = rules.iter().filter_map(|rule| match rule.share(1, 0.0) {
            Some((symbols, TeamShare::Limited { .. })) => Some(symbols),
            _ => None,
        });
        let symbols: Vec<&Symbols> = symbols.collect();
        let mut known: HashMap<Vec<&[u32]>, u32> = HashMap::new();
        let signature = |ticket: u32| {
            let own = symbols.iter().map(|symbols| symbols.of_ticket(ticket));
            let next = known.len() as u32;
            *known.entry(own.collect()).or_insert(next)
        };
        let of = (0..people.tickets() as u32).map(signature).collect();
        Self {
            of,
            count: known.len(),
        }
    }

    /// The signature of a ticket.
    pub fn get(&self, ticket: u32) -> u32 {
        self.of[ticket as usize]
    }

    /// Number of different signatures.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// How many of a player's last matches count.
pub const PLAYER_MATCHES: usize = 4;
/// How many of a queue's last matches count.
pub const QUEUE_MATCHES: usize = 16;

/// What a rule must pick so that it counts how lately that was played.
const MAP: &str = "map";

impl Queue {
    /// Whether a map that was played lately is less likely: a hard rule picks the map, and `repeat_maps` is
    /// below 1.
    pub fn remembers_maps(&self) -> bool {
        (0..self.rules().len()).any(|at| self.rarer(at).is_some())
    }

    /// By what part of its probability the map of the last match is less likely, where the rule at this place picks
    /// the map; `None` if nothing makes one less likely.
    fn rarer(&self, rule: usize) -> Option<f64> {
        let rule = self.rules().get(rule)?;
        let rarer = 1.0 - self.settings().repeat_maps.get();
        let counts = rule.hard && rule.picks.as_deref() == Some(MAP) && rarer > 0.0;
        counts.then_some(rarer)
    }
}

impl Pool<'_> {
    /// How likely a word is when the rule at this place picks it for these tickets: 1 if none of their players
    /// has played it lately, nor the queue.
    ///
    /// The map of a player's last match is less likely by `1 - repeat_maps`, that of the match before by half of
    /// that, and so on. Of several players the mean counts. A map that all of the last matches of the queue were
    /// played on is less likely by `1 - repeat_maps`, too; one that some of them were played on, by that share.
    pub fn likelihood(&self, rule: usize, word: u32, tickets: impl Iterator<Item = u32>) -> f64 {
        let Some(rarer) = self.queue.rarer(rule) else {
            return 1.0;
        };
        let map = self.people.word(word);
        let (mut sum, mut players) = (0.0, 0);
        let tickets = tickets.map(|ticket| self.tickets[ticket as usize]);
        for player in tickets.flat_map(|ticket| &ticket.players) {
            let mut last = player.known.maps.iter().take(PLAYER_MATCHES);
            let since = last.position(|played| played == map);
            sum += since.map_or(1.0, |matches| 1.0 - rarer / f64::from(1_u32 << matches));
            players += 1;
        }
        let last = self.played.iter().take(QUEUE_MATCHES);
        let share = last.filter(|played| *played == map).count() as f64 / QUEUE_MATCHES as f64;
        sum / f64::from(players.max(1)) * (1.0 - rarer * share)
    }
}
