//! The pool: the tickets of one round, oldest first, with what the rules need to know of each, and what a match of them
//! can be like.
//!
//! A combination is what a match is like (its band of levels, its mode, its map), so that several hard rules hold in any
//! match of the tickets that fit. The fullest come first. Among those that are full enough, the seed of the round draws.
//!
//! A demand says how many players of a kind the hard rules need on each team, such as one captain. Where the tickets
//! have too few of them, no match of these tickets meets the rules, so no search is needed.

use std::{cmp::Ordering, collections::HashMap};

use evenkeel_model::{
    WinModel,
    random::{Stream, StreamPurpose, seeded_hash},
};

use crate::{
    Queue, Ticket,
    columns::{Bits, TicketPeople},
    draw::exponential,
    rules::{PreparedRule, RuleScope, Symbols, TeamShare},
};

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
    pub(crate) fn new(
        queue: &'q Queue,
        tickets: &'q [Ticket],
        win_model: Option<WinModel>,
    ) -> Self {
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
    pub(crate) fn len(&self) -> usize {
        self.people.tickets()
    }

    /// The set of all tickets of the pool.
    pub(crate) fn all(&self) -> Bits {
        Bits::full(self.len())
    }

    /// The number of a player by whose sums the final split makes teams even: the strength, where the
    /// queue's `even_by` is `@weight` and the rating system predicts chances.
    pub(crate) fn even_by(&self, player: usize) -> f64 {
        match self.queue.is_even_by_chance() && self.people.win_model().is_some() {
            true => self.people.strength(player),
            false => self.people.number(self.queue.even_by(), player),
        }
    }

    /// The order of two tickets: first the one that could play with fewer others, then the older one.
    pub(crate) fn by_selectivity(&self, one: u32, other: u32) -> Ordering {
        let selectivity = |ticket: u32| self.selectivity[ticket as usize];
        let fewer = selectivity(one).total_cmp(&selectivity(other));
        fewer.then(one.cmp(&other))
    }

    /// How long a ticket has waited, in seconds.
    pub(crate) fn waited(&self, ticket: u32) -> f64 {
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
    pub(crate) fn of(people: &TicketPeople, prepared: &[&dyn PreparedRule]) -> Self {
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
    fn of_limited(people: &TicketPeople, rules: &[&dyn PreparedRule]) -> Self {
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
    pub(crate) fn get(&self, ticket: u32) -> u32 {
        self.of[ticket as usize]
    }

    /// Number of different signatures.
    pub(crate) fn count(&self) -> usize {
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
    pub(crate) fn likelihood(
        &self,
        rule: usize,
        word: u32,
        tickets: impl Iterator<Item = u32>,
    ) -> f64 {
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

/// The most combinations that are kept after each rule.
const KEEP: usize = 16;

/// The number of tickets with which a combination is full enough: a search looks at no more of them.
pub(crate) const ENOUGH: usize = 512;

/// A choice for each hard rule that has any.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    /// The free tickets that fit, the seed among them.
    pub tickets: Bits,
    /// Number of those tickets.
    pub count: usize,
    /// The word that a rule picks for the match, by the rule's place.
    pub picks: Vec<(usize, u32)>,
    /// How likely it is to be drawn, beside others with as many tickets.
    weight: f64,
    /// Its place among those that are as full, as it was drawn: the lowest first.
    tie_break_key: f64,
}

/// The combinations for one ticket, and how the candidates became fewer.
#[derive(Clone, Debug)]
pub(crate) struct Combinations {
    /// Those that are full enough in the order in which they were drawn, then the fullest first.
    pub all: Vec<Combination>,
    /// The places of the rules that hold in any match of the chosen tickets.
    pub decided_rules: Vec<usize>,
    /// For each of those rules, the most tickets that fit by it and by all rules before it.
    pub narrowed: Vec<(usize, usize)>,
}

impl Pool<'_> {
    /// The combinations for a match with `seed` and of `free` tickets. `random` is the seed of the draw.
    pub(crate) fn combinations(
        &self,
        seed: u32,
        free: &Bits,
        waited: f64,
        random: u64,
    ) -> Combinations {
        let mut combined = Combinations {
            all: vec![Combination {
                tickets: free.clone(),
                count: free.len(),
                picks: Vec::new(),
                weight: 1.0,
                tie_break_key: 0.0,
            }],
            decided_rules: Vec::new(),
            narrowed: Vec::new(),
        };
        let random = seeded_hash(random, seed.to_le_bytes());
        let mut stream = Stream::new(random, StreamPurpose::Picks);
        let rules = self.queue.rules().iter().zip(&self.prepared).enumerate();
        for (at, (rule, prepared)) in rules.filter(|(_, (rule, _))| rule.hard) {
            let Some(choices) = prepared.choices(seed, rule.limit(waited, 0)) else {
                continue;
            };
            let likelihood = |choice: &RuleScope<'_>| {
                let word = choice.word;
                word.map_or(1.0, |word| self.likelihood(at, word, [seed].into_iter()))
            };
            let weights: Vec<f64> = choices.iter().map(likelihood).collect();
            combined.all = narrow(&combined.all, &choices, &weights, at, &mut stream);
            combined.decided_rules.push(at);
            let most = combined
                .all
                .iter()
                .map(|combination| combination.count)
                .max();
            combined.narrowed.push((at, most.unwrap_or(0)));
        }
        combined.all.sort_by(|one, other| {
            let fuller = other.count.min(ENOUGH).cmp(&one.count.min(ENOUGH));
            fuller.then(one.tie_break_key.total_cmp(&other.tie_break_key))
        });
        combined
    }
}

/// A combination with a choice.
struct Narrowed {
    count: usize,
    weight: f64,
    tie_break_key: f64,
    /// The places of the combination and of the choice.
    of: (usize, usize),
}

/// Each combination with each choice: the fullest, at most [`KEEP`]. Among equal counts the stream draws, each
/// with a probability in proportion to its weight (Efraimidis and Spirakis, 2006).
fn narrow(
    all: &[Combination],
    choices: &[RuleScope<'_>],
    weights: &[f64],
    rule: usize,
    stream: &mut Stream,
) -> Vec<Combination> {
    let mut narrowed = fullest(all, choices, weights);
    for one in &mut narrowed {
        one.tie_break_key = exponential(1.0 / one.weight, stream);
    }
    narrowed.sort_by(|one, other| {
        let fuller = other.count.cmp(&one.count);
        fuller.then(one.tie_break_key.total_cmp(&other.tie_break_key))
    });
    narrowed.truncate(KEEP);
    let join = |found: Narrowed| {
        let (combination, choice) = (all.get(found.of.0)?, choices.get(found.of.1)?);
        let mut picks = combination.picks.clone();
        picks.extend(choice.word.map(|word| (rule, word)));
        Some(Combination {
            tickets: combination.tickets.and(&choice.tickets),
            count: found.count,
            picks,
            weight: found.weight,
            tie_break_key: found.tie_break_key,
        })
    };
    narrowed.into_iter().filter_map(join).collect()
}

/// The combinations with choices that are among the [`KEEP`] fullest, and those that are as full as the last of
/// them.
fn fullest(all: &[Combination], choices: &[RuleScope<'_>], weights: &[f64]) -> Vec<Narrowed> {
    let mut narrowed = Vec::with_capacity(all.len() * choices.len());
    for (at, combination) in all.iter().enumerate() {
        for (place, (choice, weight)) in choices.iter().zip(weights).enumerate() {
            narrowed.push(Narrowed {
                count: combination.tickets.len_with(&choice.tickets),
                weight: (combination.weight * weight).max(f64::MIN_POSITIVE),
                tie_break_key: 0.0,
                of: (at, place),
            });
        }
    }
    if narrowed.len() > KEEP {
        let mut counts: Vec<usize> = narrowed.iter().map(|one| one.count).collect();
        let (_, least, _) = counts.select_nth_unstable_by(KEEP - 1, |one, other| other.cmp(one));
        narrowed.retain(|one| one.count >= *least);
    }
    narrowed
}

/// What one hard rule demands of every match.
#[derive(Debug)]
struct RuleDemand {
    /// The place of the rule.
    rule: usize,
    /// Number of players whom it demands on each team.
    each: usize,
    /// The tickets that have such players.
    suppliers: Bits,
}

/// A demand that some tickets cannot meet, whatever the teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lacking {
    /// The place of the rule that demands it.
    pub rule: usize,
    /// Number of players whom the rule demands on each team.
    pub each: usize,
    /// Number of players whom it demands in a match.
    pub needed: usize,
    /// Number of such players whom the tickets can provide. Of one ticket at most `each` count, since it
    /// is on one team.
    pub provided: usize,
}

impl RuleDemand {
    /// The demands of all hard rules of a pool.
    pub(super) fn of(pool: &Pool<'_>) -> Vec<Self> {
        let rules = pool.queue.rules().iter().zip(&pool.prepared).enumerate();
        let demanding = rules.filter(|(_, (rule, prepared))| rule.hard && prepared.demand() > 0);
        let demand = demanding.map(|(at, (_, prepared))| {
            let tickets = 0..pool.len() as u32;
            let suppliers = tickets.filter(|ticket| prepared.supply(*ticket) > 0);
            Self {
                rule: at,
                each: prepared.demand(),
                suppliers: Bits::of(&suppliers.collect::<Vec<_>>(), pool.len()),
            }
        });
        demand.collect()
    }
}

impl Pool<'_> {
    /// The first demand that these tickets cannot meet; `None` if they can meet each of them.
    ///
    /// Each team of a match has as many players as the rule demands. They come from tickets of this
    /// team alone, so the tickets of a match provide at least `needed` players as [`Lacking`] counts
    /// them. With fewer there is no match.
    pub(crate) fn lacking(&self, tickets: &Bits) -> Option<Lacking> {
        self.demands
            .iter()
            .find_map(|demand| self.lacks(demand, tickets))
    }

    fn lacks(&self, demand: &RuleDemand, tickets: &Bits) -> Option<Lacking> {
        let needed = demand.each * self.queue.settings().teams.as_usize();
        if demand.suppliers.len_with(tickets) >= needed {
            return None; // each of them provides at least one player
        }
        let prepared = self.prepared.get(demand.rule)?;
        let suppliers = demand.suppliers.and(tickets);
        let each = suppliers
            .iter()
            .map(|ticket| prepared.supply(ticket).min(demand.each));
        let provided = each.sum();
        (provided < needed).then_some(Lacking {
            rule: demand.rule,
            each: demand.each,
            needed,
            provided,
        })
    }
}
