//! The candidates of one start: the tickets that may play with the seed, grouped by what they
//! mirror.

use crate::{
    bits::Bits,
    pool::{ENOUGH, Pool},
    rules::{PreparedRule, Symbols, TeamShare},
};

/// The most candidates of one start: the oldest.
const MOST: usize = ENOUGH;

/// If this many of the oldest candidates cannot fill the teams by the rules that limit values, most of them
/// have the same values.
const CROWD: usize = 128;

/// How many times the players that a rule demands are candidates beyond the oldest, so that a few
/// who fit nobody do not matter.
const SPARE: usize = 2;

/// What a candidate is for the hard rules that demand players of some kind on each team, such as a
/// medic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// The match needs it.
    Demanded,
    /// It has nothing that a rule demands.
    Plain,
    /// Older candidates have enough of what it has.
    Surplus,
}

/// What hard rules demand of the candidates, and what is still lacking.
struct Demands<'p> {
    lacking: Vec<(&'p dyn PreparedRule, usize)>,
}

impl<'p> Demands<'p> {
    /// What a match with the seed lacks, `times` over.
    fn of(pool: &'p Pool<'_>, seed: u32, times: usize) -> Self {
        let teams = pool.queue.settings().teams.as_usize();
        let rules = pool.queue.rules().iter().zip(&pool.prepared);
        let demanding = rules.filter(|(rule, prepared)| rule.hard && prepared.demand() > 0);
        let lacking = demanding.map(|(_, prepared)| {
            let all = prepared.demand() * teams * times;
            (prepared.as_ref(), all.saturating_sub(prepared.supply(seed)))
        });
        Self {
            lacking: lacking.collect(),
        }
    }

    /// What the next ticket is, and counts it.
    fn take(&mut self, ticket: u32) -> Use {
        let mut found = Use::Plain;
        for (prepared, lacking) in &mut self.lacking {
            let own = prepared.supply(ticket);
            found = match own {
                0 => found,
                _ if *lacking > 0 => Use::Demanded,
                _ if found == Use::Plain => Use::Surplus,
                _ => found,
            };
            *lacking = lacking.saturating_sub(own);
        }
        found
    }
}

/// What hard rules leave to be filled that limit how many players of one value a team has. If most of
/// the oldest tickets have the same value, they cannot fill the teams alone.
struct ValueLimits<'p> {
    pool: &'p Pool<'p>,
    /// The players of the matches that the candidates should be able to fill.
    needed: usize,
    rules: Vec<LimitedRule<'p>>,
}

/// One rule that limits how many players of one value may play.
struct LimitedRule<'p> {
    symbols: &'p Symbols,
    /// The most players with one value who count towards what is needed.
    most: usize,
    /// The players who were counted, by value.
    counts: Vec<usize>,
    /// The players who can be seated, of those who were counted.
    seated: usize,
}

impl<'p> ValueLimits<'p> {
    /// What a match with the seed needs, `times` over.
    fn of(pool: &'p Pool<'p>, seed: u32, times: usize) -> Self {
        let teams = pool.queue.settings().teams.as_usize();
        let size = pool.queue.settings().size.as_usize();
        let rules = pool.queue.rules().iter().zip(&pool.prepared);
        let limited = rules
            .filter(|(rule, _)| rule.hard)
            .filter_map(|(rule, prepared)| {
                let limit = rule.limit(pool.waited(seed), size);
                let (symbols, TeamShare::Limited { most }) = prepared.share(teams, limit)? else {
                    return None;
                };
                Some(LimitedRule {
                    symbols,
                    most: usize::try_from(most).unwrap_or(0) * times,
                    counts: vec![0; symbols.count()],
                    seated: 0,
                })
            });
        let mut limits = Self {
            pool,
            needed: teams * size * times,
            rules: limited.collect(),
        };
        limits.take(seed);
        limits
    }

    /// Counts the next ticket if it helps to fill the teams; whether some rule needs it for that.
    fn take(&mut self, ticket: u32) -> bool {
        let size = self.pool.people.size(ticket);
        let mut is_needed = false;
        for rule in &mut self.rules {
            if rule.seated >= self.needed {
                continue;
            }
            let own = rule.symbols.of_ticket(ticket);
            let before = rule.seated;
            rule.seated += size.saturating_sub(own.len());
            for &symbol in own {
                let count = &mut rule.counts[symbol as usize];
                if *count < rule.most {
                    *count += 1;
                    rule.seated += 1;
                }
            }
            is_needed |= rule.seated > before;
        }
        is_needed
    }

    /// Whether the tickets that were counted can fill the teams by each rule.
    fn are_met(&self) -> bool {
        self.rules.iter().all(|rule| rule.seated >= self.needed)
    }
}

/// The tickets that may play with the seed, without the seed.
pub(super) struct CandidateTickets {
    pub seed: u32,
    tickets: Vec<u32>,
    /// The places of the tickets with each signature, by signature: sorted.
    groups: Vec<usize>,
    /// The first place in `groups` of each signature that occurs, ascending by signature.
    starts: Vec<(u32, usize)>,
    priority: Vec<usize>,
    uses: Vec<Use>,
    is_crowded: bool,
}

impl CandidateTickets {
    /// The oldest of the tickets that fit, with those that mirror the seed. Parties that no other
    /// ticket mirrors, where a strict rule demands it, are left out.
    pub fn of(pool: &Pool<'_>, seed: u32, fitting: &Bits) -> Self {
        let strict = pool.strict.get(seed);
        let mut tickets = Vec::new();
        let mut demands = Demands::of(pool, seed, SPARE);
        let mut limits = ValueLimits::of(pool, seed, SPARE);
        let mut is_crowded = false;
        for ticket in fitting.iter().filter(|ticket| *ticket != seed) {
            let demanded = demands.take(ticket) == Use::Demanded;
            let demanded = limits.take(ticket) || demanded;
            let mirrors = pool.strict.get(ticket) == strict && tickets.len() < 2 * MOST;
            if tickets.len() < MOST || mirrors || demanded {
                tickets.push(ticket);
                is_crowded |= tickets.len() == CROWD && !limits.are_met();
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
        let mut demands = Demands::of(pool, seed, 1);
        let uses: Vec<Use> = tickets.iter().map(|ticket| demands.take(*ticket)).collect();
        let mut priority: Vec<usize> = (0..tickets.len()).collect();
        // What rules demand comes first, and more of it last: other matches need it. Then larger
        // parties, since they find mates less often, then those with fewer choices.
        priority.sort_by(|one, other| {
            let size = |at: &usize| pool.people.size(tickets[*at]);
            let larger = size(other).cmp(&size(one));
            let uses = uses.get(*one).cmp(&uses.get(*other));
            uses.then(larger)
                .then(pool.by_selectivity(tickets[*one], tickets[*other]))
        });
        Self {
            seed,
            tickets,
            groups,
            starts,
            priority,
            uses,
            is_crowded,
        }
    }

    /// Whether the oldest [`CROWD`] candidates cannot fill the teams by the rules that limit values: most of them have
    /// the same values.
    pub fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// Whether other matches need the candidate more than this one, which can have enough players
    /// of its kind without it.
    pub fn is_surplus(&self, at: usize) -> bool {
        self.uses.get(at) == Some(&Use::Surplus)
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.tickets.len()
    }

    /// The ticket of a candidate.
    pub fn ticket(&self, at: usize) -> u32 {
        self.tickets[at]
    }

    /// The candidate at a place in the order in which they are tried.
    pub fn by_priority(&self, place: usize) -> usize {
        self.priority[place]
    }

    /// The candidates with a signature, the oldest first.
    pub fn group(&self, signature: u32) -> &[usize] {
        let Ok(at) = self
            .starts
            .binary_search_by_key(&signature, |start| start.0)
        else {
            return &[];
        };
        let (_, first) = self.starts[at];
        let next = self.starts.get(at + 1);
        &self.groups[first..next.map_or(self.groups.len(), |start| start.1)]
    }

    /// Number of players of all candidates and the seed.
    pub fn players(&self, pool: &Pool<'_>) -> usize {
        let sizes = self.tickets.iter().chain([&self.seed]);
        sizes.map(|ticket| pool.people.size(*ticket)).sum()
    }
}
