//! The planner: from the tickets of one round to matches, and a reason for each ticket that is left.
//!
//! A few of the oldest tickets have their turn first, then those that fit the fewest others: the
//! tickets that fit many fill the matches of those that fit few, and still find each other at the end.
//! An old ticket that is left takes the place of a younger one where it can (`exchange`).
//!
//! The searches of one batch see the same free tickets, so they may run on several cores; their
//! matches are committed in the order of their turns, and a match that has lost a ticket to an earlier
//! one is searched for again. The size of a batch is fixed, so the number of cores changes nothing but
//! the time.

mod refine;
mod why;

pub use crate::{
    pool::{PLAYER_MATCHES, QUEUE_MATCHES},
    search::Cores,
};
pub use why::Explanation;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicBool,
};

use evenkeel_model::{
    WinModel,
    random::{Stream, StreamPurpose, seeded_hash},
    text::counted,
};

use crate::{
    Queue, Ticket,
    columns::Bits,
    pool::Pool,
    rules::{PreparedRule, QueueRule},
    search::{self, Budget, Failure, MatchProposal, MatchSearch},
};

/// The searches of one batch.
const BATCH: usize = 4;
/// Of so many tickets, one of the oldest has its turn before those that fit the fewest others. So the
/// oldest ticket is in a match if there is one for it, and every other ticket gets there in time.
const OLDEST: usize = 32;

/// Forms matches of the tickets, where no rating system predicts chances.
///
/// `cancelled` ends the searches early; the matches found until then are returned.
pub fn plan(
    queue: &Queue,
    tickets: &[Ticket],
    seed: u64,
    effort: Effort,
    cores: &dyn Cores,
    cancelled: &AtomicBool,
) -> Plan {
    let input = PlanInput {
        seed,
        effort,
        ..PlanInput::new(queue, tickets)
    };
    input.plan(cores, cancelled)
}

impl PlanInput<'_> {
    /// Forms matches of the tickets.
    ///
    /// `cancelled` ends the searches early; the matches found until then are returned.
    pub fn plan(&self, cores: &dyn Cores, cancelled: &AtomicBool) -> Plan {
        let pool = self.pool();
        let mut round = PlanRound::new(&pool, self.seed, self.effort);
        round.run(cores, cancelled);
        round.exchange(cores, cancelled);
        let tries = self.effort.tries(round.matches.len(), pool.len());
        round.refine(tries, cores, cancelled);
        round.exchange(cores, cancelled);
        let picks = Picks::new(&pool, self.seed);
        reported(&picks, round.matches, &round.failures)
    }
}

/// The state of one round.
struct PlanRound<'p> {
    pool: &'p Pool<'p>,
    seed: u64,
    effort: Effort,
    free: Bits,
    /// The tickets that have not had their turn, the next one last.
    waiting: Vec<u32>,
    matches: Vec<MatchProposal>,
    failures: Vec<(u32, Failure)>,
}

impl<'p> PlanRound<'p> {
    fn new(pool: &'p Pool<'p>, seed: u64, effort: Effort) -> Self {
        Self {
            pool,
            seed,
            effort,
            free: pool.all(),
            waiting: turns(pool),
            matches: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Gives the tickets that have lost their places another turn.
    fn again(&mut self, cores: &dyn Cores, cancelled: &AtomicBool) {
        let failed: BTreeSet<u32> = self.failures.iter().map(|(ticket, _)| *ticket).collect();
        self.waiting = self
            .free
            .iter()
            .filter(|ticket| !failed.contains(ticket))
            .collect();
        self.waiting.reverse();
        self.run(cores, cancelled);
    }

    fn run(&mut self, cores: &dyn Cores, cancelled: &AtomicBool) {
        loop {
            self.end_if_lacking();
            let batch = self.batch();
            if batch.is_empty() {
                return;
            }
            let free = &self.free;
            let (pool, seed, budget) = (self.pool, self.seed, self.effort.budget());
            let own = cores.share(batch.len());
            let search = |at: usize| {
                let ticket = *batch.get(at)?;
                let search = MatchSearch::new(pool, ticket, free, budget, seed);
                Some((ticket, search.run(&*own, cancelled)))
            };
            let results = search::collect(cores, batch.len(), &search);
            self.commit(results.into_iter().flatten());
        }
    }

    /// Ends the searches if all free tickets together have too few players of whom a hard rule demands
    /// some on each team. No match could be formed of them, whichever ticket a search starts from.
    fn end_if_lacking(&mut self) {
        let Some(lacking) = self.pool.lacking(&self.free) else {
            return;
        };
        while let Some(ticket) = self.waiting.pop() {
            if self.free.contains(ticket) {
                let failure = Failure {
                    lacking: Some(lacking),
                    ..Failure::default()
                };
                self.failures.push((ticket, failure));
            }
        }
    }

    /// The next tickets that are free and have not had their turn.
    fn batch(&mut self) -> Vec<u32> {
        let mut batch = Vec::new();
        while batch.len() < BATCH
            && let Some(ticket) = self.waiting.pop()
        {
            if self.free.contains(ticket) {
                batch.push(ticket);
            }
        }
        batch
    }

    fn commit(&mut self, results: impl Iterator<Item = (u32, Result<MatchProposal, Failure>)>) {
        let mut again = Vec::new();
        for (ticket, result) in results {
            if !self.free.contains(ticket) {
                continue;
            }
            match result {
                Err(failure) => self.failures.push((ticket, failure)),
                Ok(found) if found.tickets().all(|ticket| self.free.contains(ticket)) => {
                    for ticket in found.tickets() {
                        self.free.remove(ticket);
                    }
                    self.matches.push(found);
                }
                Ok(_) => again.push(ticket),
            }
        }
        self.waiting.extend(again.into_iter().rev());
    }
}

/// The tickets in the order of their turns, the first one last.
fn turns(pool: &Pool<'_>) -> Vec<u32> {
    let oldest = pool.len().div_ceil(OLDEST) as u32;
    let mut others: Vec<u32> = (oldest..pool.len() as u32).collect();
    others.sort_by(|one, other| pool.by_selectivity(*one, *other).reverse());
    others.extend((0..oldest).rev());
    others
}

/// The matches and the tickets that are left.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The matches, in the order in which they were committed.
    pub matches: Vec<PlannedMatch>,
    /// The other tickets, the oldest first.
    pub left: Vec<Left>,
}

/// A match that meets every hard rule.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedMatch {
    /// The places in the caller's list of the tickets on each team, ascending.
    pub teams: Vec<Vec<usize>>,
    /// Number of players of each team.
    pub size: usize,
    /// What the rules picked for the match, such as its `mode` and its `map`.
    pub picks: BTreeMap<String, String>,
    /// What the violations of rules that are not hard cost together.
    pub penalty: f64,
    /// How long the oldest ticket has waited, in seconds.
    pub waited: f64,
}

/// A ticket that is in no match.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// Its place in the caller's list.
    pub ticket: usize,
    /// Why, in one sentence.
    pub reason: String,
    /// For each hard rule that chooses candidates, its name, and how many candidates it and the rules
    /// before it left for the fullest match, the ticket included.
    pub candidates: Vec<(String, usize)>,
}

fn reported(picks: &Picks<'_>, matches: Vec<MatchProposal>, failures: &[(u32, Failure)]) -> Plan {
    let pool = picks.pool;
    let mut left = pool.all();
    for ticket in matches.iter().flat_map(MatchProposal::tickets) {
        left.remove(ticket);
    }
    let failures: BTreeMap<u32, &Failure> = failures.iter().map(|(at, why)| (*at, why)).collect();
    let left = left.iter().map(|ticket| {
        let failure = failures.get(&ticket).copied();
        Left {
            ticket: pool.places[ticket as usize],
            reason: reason(pool, ticket, failure),
            candidates: failure.map_or_else(Vec::new, |failure| candidates(pool, failure)),
        }
    });
    Plan {
        left: left.collect(),
        matches: matches.iter().map(|found| planned(picks, found)).collect(),
    }
}

/// How many candidates each hard rule left, by its name.
fn candidates(pool: &Pool<'_>, failure: &Failure) -> Vec<(String, usize)> {
    let rules = pool.queue.rules();
    let named = failure.narrowed.iter().filter_map(|(at, count)| {
        let rule = rules.get(*at)?;
        Some((rule.name.clone(), *count))
    });
    named.collect()
}

fn planned(picks: &Picks<'_>, found: &MatchProposal) -> PlannedMatch {
    let pool = picks.pool;
    let team = |team: &Vec<u32>| {
        let places = team.iter().map(|ticket| pool.places[*ticket as usize]);
        let mut places: Vec<usize> = places.collect();
        places.sort_unstable();
        places
    };
    PlannedMatch {
        teams: found.teams.iter().map(team).collect(),
        size: found.size,
        picks: picks.draw(found),
        penalty: found.cost.soft,
        waited: found.waited(pool),
    }
}

/// The draws of a round.
struct Picks<'p> {
    pub pool: &'p Pool<'p>,
    seed: u64,
}

impl<'p> Picks<'p> {
    /// The draws that follow from the seed of a round.
    pub(crate) fn new(pool: &'p Pool<'p>, seed: u64) -> Self {
        let seed = seeded_hash(seed, *b"picks");
        Self { pool, seed }
    }

    /// What each hard rule that picks something picks for a match, by the name of that.
    pub(crate) fn draw(&self, found: &MatchProposal) -> BTreeMap<String, String> {
        let oldest = found.tickets().min().unwrap_or(0);
        let seed = seeded_hash(self.seed, oldest.to_le_bytes());
        let mut stream = Stream::new(seed, StreamPurpose::Picks);
        let people = &self.pool.people;
        let rules = self.pool.queue.rules().iter().enumerate();
        let picks = rules
            .filter(|(_, rule)| rule.hard)
            .filter_map(|(at, rule)| {
                let name = rule.picks.clone()?;
                let words = rule.rule.words(people, &found.teams);
                let weight = |word: &u32| self.pool.likelihood(at, *word, found.tickets());
                let weights: Vec<f64> = words.iter().map(weight).collect();
                let word = words.get(drawn(&weights, &mut stream))?;
                Some((name, people.word(*word).to_owned()))
            });
        picks.collect()
    }
}

/// A place in the list, each with a probability in proportion to its weight; all the same where no weight is
/// above 0.
fn drawn(weights: &[f64], stream: &mut Stream) -> usize {
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return stream.index(weights.len());
    }
    let mut left = sum * stream.unit();
    let mut last = 0;
    for (at, weight) in weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0.0)
    {
        last = at;
        left -= weight;
        if left < 0.0 {
            break;
        }
    }
    last
}

/// What one rule finds in a match.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleReport {
    /// The name of the rule.
    pub rule: String,
    /// Whether it holds in every match that is formed.
    pub hard: bool,
    /// How much the match violates it; 0 if it holds.
    pub violation: f64,
    /// What the violation costs.
    pub cost: f64,
    /// What the rule finds, in one sentence.
    pub sentence: String,
}

impl RuleReport {
    /// The report in one line: `tier spread: tier ranges from 7 to 8; 1 apart is allowed`.
    pub fn line(&self) -> String {
        let Self {
            rule,
            violation,
            cost,
            sentence,
            ..
        } = self;
        match *violation > 0.0 {
            true => format!("{rule}: {sentence}; violation {violation:.3}, cost {cost:.3}"),
            false => format!("{rule}: {sentence}"),
        }
    }

    /// The rule and the cost in such a line; `None` for other lines about a match.
    pub fn cost_in(line: &str) -> Option<(&str, f64)> {
        let (rule, rest) = line.split_once(": ")?;
        let cost = match rest.rsplit_once(", cost ") {
            Some((before, cost)) if before.contains("; violation ") => cost.parse().ok()?,
            _ => 0.0,
        };
        Some((rule, cost))
    }
}

impl Queue {
    /// What each rule finds in a match of some tickets, computed from scratch, where no rating system
    /// predicts chances.
    pub fn explain(&self, tickets: &[Ticket], found: &PlannedMatch) -> Vec<RuleReport> {
        PlanInput::new(self, tickets).explain(found)
    }
}

impl PlanInput<'_> {
    /// What each rule finds in a match of the tickets, computed from scratch.
    pub fn explain(&self, found: &PlannedMatch) -> Vec<RuleReport> {
        let own = |place: &usize| self.tickets.get(*place).cloned();
        let seated: Vec<Ticket> = found.teams.iter().flatten().filter_map(own).collect();
        let pool = Pool::new(self.queue, &seated, self.win_model);
        let mut teams = vec![Vec::new(); found.teams.len()];
        let ends = found.teams.iter().scan(0, |end, team| {
            *end += team.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        for (ticket, place) in (0..).zip(&pool.places) {
            let team = ends.partition_point(|end| *end <= *place);
            teams[team].push(ticket);
        }
        reports(&pool, &teams, found.waited, found.size)
    }
}

/// What each rule finds in these teams.
pub(crate) fn reports(
    pool: &Pool<'_>,
    teams: &[Vec<u32>],
    waited: f64,
    size: usize,
) -> Vec<RuleReport> {
    let report = |rule: &QueueRule, prepared: &dyn PreparedRule| {
        let evaluated = prepared.evaluate(teams, rule.limit(waited, size));
        let violation = evaluated.violation;
        RuleReport {
            rule: rule.name.clone(),
            hard: rule.hard,
            violation,
            cost: rule.cost(violation),
            sentence: rule.rule.sentence(&pool.people, teams, evaluated),
        }
    };
    let rules = pool.queue.rules().iter().zip(&pool.prepared);
    let reports = rules.map(|(rule, prepared)| report(rule, prepared.as_ref()));
    reports.collect()
}

/// Why the search for this ticket has found no match, in one sentence. Names the rule that left too
/// few candidates, or the rules that the best teams violate, for example.
fn reason(pool: &Pool<'_>, ticket: u32, failure: Option<&Failure>) -> String {
    let Some(failure) = failure else {
        return "the search was cancelled".to_owned();
    };
    let reasons = FailureReasons {
        pool,
        ticket,
        failure,
    };
    let found = reasons
        .own_fault()
        .or_else(|| reasons.no_mirror())
        .or_else(|| reasons.lacking())
        .or_else(|| reasons.violated())
        .or_else(|| reasons.unfilled());
    found.unwrap_or_else(|| reasons.too_few())
}

/// The possible reasons why the search for a ticket has failed. `reason` returns the first one that applies.
struct FailureReasons<'a> {
    pool: &'a Pool<'a>,
    ticket: u32,
    failure: &'a Failure,
}

impl FailureReasons<'_> {
    fn rules(&self) -> &[QueueRule] {
        self.pool.queue.rules()
    }

    fn name(&self, at: usize) -> &str {
        &self.rules()[at].name
    }

    /// The limit that a rule has for the ticket after its wait, in a match with teams of this size.
    fn limit(&self, at: usize, size: usize) -> f64 {
        let waited = self.pool.waited(self.ticket);
        let rule = self.rules().get(at);
        rule.map_or(0.0, |rule| rule.limit(waited, size))
    }

    /// The ticket violates a rule by itself, without other tickets.
    fn own_fault(&self) -> Option<String> {
        let mut narrowed = self.failure.narrowed.iter();
        let (at, _) = narrowed.find(|(_, count)| *count == 0)?;
        let limit = self.limit(*at, self.pool.queue.settings().size.as_usize());
        let alone = [vec![self.ticket]];
        let rule = self.rules().get(*at).zip(self.pool.prepared.get(*at));
        let found = rule.map(|(rule, prepared)| {
            let evaluated = prepared.evaluate(&alone, limit);
            rule.rule.sentence(&self.pool.people, &alone, evaluated)
        });
        Some(format!(
            "{}: the ticket itself cannot meet it: {}",
            self.name(*at),
            found.unwrap_or_default()
        ))
    }

    /// A rule demands a ticket that mirrors this one, and there is none.
    fn no_mirror(&self) -> Option<String> {
        let at = self.failure.unmirrored?;
        let narrowed = self.failure.narrowed.iter().map(|(_, count)| *count);
        let most = narrowed.min().unwrap_or(self.pool.len());
        let most = counted(most as u32, "candidate");
        Some(format!(
            "{}: none of {most} mirrors the ticket",
            self.name(at)
        ))
    }

    /// A rule demands players whom the candidates do not have.
    fn lacking(&self) -> Option<String> {
        let lacking = self.failure.lacking.as_ref()?;
        Some(format!(
            "{}: a match needs {} for it, {} on each team; the candidates can provide {}",
            self.name(lacking.rule),
            counted(lacking.needed as u32, "player"),
            lacking.each,
            lacking.provided
        ))
    }

    /// The best teams violate rules.
    fn violated(&self) -> Option<String> {
        let found = self.failure.best.as_ref()?;
        let people = &self.pool.people;
        let rules = self.rules().iter().zip(&self.pool.prepared).enumerate();
        let violated = rules.filter_map(|(at, (rule, prepared))| {
            let evaluated = prepared.evaluate(&found.teams, self.limit(at, found.size));
            let counts = evaluated.violation > 0.0 && (rule.hard || found.cost.hard == 0.0);
            let sentence = || rule.rule.sentence(people, &found.teams, evaluated);
            counts.then(|| format!("{}: {}", rule.name, sentence()))
        });
        Some(match violated.collect::<Vec<_>>().join("; ") {
            none if none.is_empty() => "no full teams".to_owned(),
            violated => violated,
        })
    }

    /// A rule allows too few of the candidates to play in one match.
    fn unfilled(&self) -> Option<String> {
        let unfilled = self.failure.unfilled.as_ref()?;
        Some(format!(
            "{}: of the candidates, at most {} can play in one match, which needs {}",
            self.name(unfilled.rule),
            unfilled.most,
            unfilled.needed
        ))
    }

    /// There are too few candidates. Names the rule that leaves the fewest.
    fn too_few(&self) -> String {
        let fewest = self.failure.narrowed.iter().min_by_key(|(_, count)| *count);
        match fewest {
            Some((at, count)) => format!(
                "too few candidates: {} leaves {}",
                self.name(*at),
                counted(*count as u32, "ticket")
            ),
            None => {
                let all = counted(self.pool.len() as u32, "ticket");
                format!("too few candidates: {all}")
            }
        }
    }
}

/// A budget of search. The default is 1; with more, a round finds matches for more tickets and takes
/// longer, about in proportion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort(u32);

/// The tickets of a small pool, in which matches are formed again at least [`TRIES`] times.
const FEW: usize = 64;
/// With more, small pools hardly have more matches (`docs/internals/figures.md`).
const TRIES: usize = 16;
/// The matches of a round of a few thousand tickets, three tries for every four of which are worth
/// their time. Where there are more, hardly a ticket is left.
const MATCHES: usize = 400;

impl Effort {
    /// The largest effort.
    pub const MOST: u32 = 1_000;

    /// The effort `effort`, 1 to [`MOST`](Self::MOST).
    pub fn new(effort: u32) -> Self {
        Self(effort.clamp(1, Self::MOST))
    }

    /// The effort as it was given, 1 to [`MOST`](Self::MOST).
    pub fn get(self) -> u32 {
        self.0
    }

    fn budget(self) -> Budget {
        let effort = self.0 as usize;
        Budget {
            starts: 2 + 2 * effort.min(7),
            moves: 1_000,
            nodes: 20_000,
        }
    }

    /// The budget of a search for a match that is formed again.
    fn refining() -> Budget {
        Budget {
            starts: 3,
            moves: 500,
            nodes: 2_000,
        }
    }

    /// How often some of the matches of a round are formed again for the tickets that are left. In a
    /// pool of few `tickets`, every match counts, and a try takes little time.
    fn tries(self, matches: usize, tickets: usize) -> usize {
        let least = match matches {
            1.. if tickets <= FEW => TRIES,
            _ => 0,
        };
        self.0 as usize * least.max(matches / 4).max(matches.min(MATCHES) * 3 / 4)
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self(1)
    }
}

/// What the planner works on. The same input gives the same matches, on any number of cores.
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// The queue, with the rules that a match must meet.
    pub queue: &'a Queue,
    /// The tickets that wait.
    pub tickets: &'a [Ticket],
    /// How the rating system turns the players' `@strength` into chances; `None` before its first rated
    /// match.
    pub win_model: Option<WinModel>,
    /// The maps of the queue's last matches, the latest match first. The first
    /// [`QUEUE_MATCHES`] count.
    pub played: &'a [String],
    /// The seed of all random numbers.
    pub seed: u64,
    /// How much to search.
    pub effort: Effort,
}

impl<'a> PlanInput<'a> {
    /// Tickets of a queue, with the seed 0, the default effort and no rating system.
    pub fn new(queue: &'a Queue, tickets: &'a [Ticket]) -> Self {
        Self {
            queue,
            tickets,
            win_model: None,
            played: &[],
            seed: 0,
            effort: Effort::default(),
        }
    }

    /// The pool of the tickets.
    fn pool(&self) -> Pool<'a> {
        let mut pool = Pool::new(self.queue, self.tickets, self.win_model);
        pool.played = self.played;
        pool
    }
}
