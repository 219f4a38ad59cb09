//! What one start chooses from, and what it has chosen: the tickets that may play with the seed, grouped by what they
//! mirror, and the teams of the match, with the cost of every rule that the choice of the candidates has not settled.

use crate::{
    columns::Bits,
    pool::{ENOUGH, Pool},
    rules::{PreparedRule, QueueRule, RuleTally, Symbols, TeamShare},
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
    pub(super) fn of(pool: &Pool<'_>, seed: u32, fitting: &Bits) -> Self {
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
    pub(super) fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// Whether other matches need the candidate more than this one, which can have enough players
    /// of its kind without it.
    pub(super) fn is_surplus(&self, at: usize) -> bool {
        self.uses.get(at) == Some(&Use::Surplus)
    }

    /// Number of candidates.
    pub(super) fn len(&self) -> usize {
        self.tickets.len()
    }

    /// The ticket of a candidate.
    pub(super) fn ticket(&self, at: usize) -> u32 {
        self.tickets[at]
    }

    /// The candidate at a place in the order in which they are tried.
    pub(super) fn by_priority(&self, place: usize) -> usize {
        self.priority[place]
    }

    /// The candidates with a signature, the oldest first.
    pub(super) fn group(&self, signature: u32) -> &[usize] {
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
    pub(super) fn players(&self, pool: &Pool<'_>) -> usize {
        let sizes = self.tickets.iter().chain([&self.seed]);
        sizes.map(|ticket| pool.people.size(*ticket)).sum()
    }
}

/// What the violations cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// The sum over the hard rules; a match is only formed if it is 0.
    pub hard: f64,
    /// The sum over the other rules.
    pub soft: f64,
}

/// How much more a hard rule costs while teams are being improved.
const HARD: f64 = 100.0;

impl Cost {
    /// One number to compare while teams are being improved.
    pub(crate) fn energy(self) -> f64 {
        self.hard * HARD + self.soft
    }

    /// Whether this is better: first by the hard rules, then by the others.
    pub(crate) fn is_below(self, other: Self) -> bool {
        (self.hard, self.soft) < (other.hard, other.soft)
    }
}

/// The teams of a match while they are being chosen.
pub(super) struct TeamsInSearch<'p> {
    pub seats: Vec<Vec<u32>>,
    heads: Vec<usize>,
    terms: Vec<TeamTerm<'p>>,
    pool: &'p Pool<'p>,
}

struct TeamTerm<'p> {
    rule: &'p QueueRule,
    tally: Box<dyn RuleTally + 'p>,
}

impl<'p> TeamsInSearch<'p> {
    /// Empty teams for `size` players each. The rules at the places `decided_rules` cost nothing.
    pub(super) fn new(
        pool: &'p Pool<'p>,
        size: usize,
        waited: f64,
        decided_rules: &[usize],
    ) -> Self {
        let count = pool.queue.settings().teams.as_usize();
        let rules = pool.queue.rules().iter().zip(&pool.prepared).enumerate();
        let open = rules.filter(|(at, (rule, _))| !decided_rules.contains(at) && rule.weight > 0.0);
        let terms = open.map(|(_, (rule, prepared))| TeamTerm {
            rule,
            tally: prepared.tally(count, rule.limit(waited, size)),
        });
        Self {
            seats: vec![Vec::new(); count],
            heads: vec![0; count],
            terms: terms.collect(),
            pool,
        }
    }

    /// Adds a ticket to a team.
    pub(super) fn put(&mut self, team: usize, ticket: u32) {
        self.seats[team].push(ticket);
        self.heads[team] += self.pool.people.size(ticket);
        for term in &mut self.terms {
            term.tally.put(team, ticket);
        }
    }

    /// Removes the ticket at a place of a team, and returns it.
    pub(super) fn take_at(&mut self, team: usize, place: usize) -> Option<u32> {
        let seats = &mut self.seats[team];
        if place >= seats.len() {
            return None;
        }
        let ticket = seats.swap_remove(place);
        self.heads[team] -= self.pool.people.size(ticket);
        for term in &mut self.terms {
            term.tally.take(team, ticket);
        }
        Some(ticket)
    }

    /// Removes a ticket from a team.
    pub(super) fn take(&mut self, team: usize, ticket: u32) {
        if let Some(place) = self.seats[team].iter().rposition(|other| *other == ticket) {
            self.take_at(team, place);
        }
    }

    /// Number of players on a team.
    pub(super) fn heads(&self, team: usize) -> usize {
        self.heads[team]
    }

    /// The cost of all rules.
    pub(super) fn cost(&self) -> Cost {
        self.sum(|_| true)
    }

    /// The cost of all rules but those about the size of teams.
    pub(super) fn strain(&self) -> Cost {
        self.sum(|rule| !rule.kind.is_size())
    }

    /// The cost of the hard rules that more tickets can only violate more.
    pub(super) fn growing(&self, grows: &[bool]) -> Cost {
        let mut cost = Cost::default();
        for (term, _) in self.terms.iter().zip(grows).filter(|(_, grows)| **grows) {
            add(&mut cost, term);
        }
        cost
    }

    /// For each rule that has a cost here, whether more tickets can only violate it more.
    pub(super) fn grows(&self) -> Vec<bool> {
        let rules = self.pool.queue.rules();
        let grows = |term: &TeamTerm<'_>| {
            let at = rules.iter().position(|rule| std::ptr::eq(rule, term.rule));
            let prepared = at.and_then(|at| self.pool.prepared.get(at));
            prepared.is_some_and(|prepared| prepared.is_monotone())
        };
        self.terms.iter().map(grows).collect()
    }

    fn sum(&self, counts: impl Fn(&QueueRule) -> bool) -> Cost {
        let mut cost = Cost::default();
        for term in self.terms.iter().filter(|term| counts(term.rule)) {
            add(&mut cost, term);
        }
        cost
    }
}

fn add(cost: &mut Cost, term: &TeamTerm<'_>) {
    let violation = term.tally.violation();
    if violation > 0.0 {
        let own = term.rule.cost(violation);
        match term.rule.hard {
            true => cost.hard += own,
            false => cost.soft += own,
        }
    }
}
