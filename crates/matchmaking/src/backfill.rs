//! Backfill: the choice of tickets for the free seats of a match in play.
//!
//! The players who are in the match stay where they are. The tickets that wait are tried in the order of
//! their waits: each alone on each team with free seats, and then together with younger ones, because two
//! tickets can meet a rule that mirrors teams where one cannot. An addition is allowed if
//!
//! - no hard rule is violated more than without it;
//! - once no seat is free any more, all hard rules that the full roster can satisfy hold;
//! - the penalty is accepted, or is lower than without the addition;
//! - the sizes of the teams do not become more different, unless the smaller teams seek nobody.
//!
//! Of the first eight additions, those whose oldest ticket has waited at least half as long as the
//! first one's compete. The one with which the hard rules are violated least is taken; of equal ones, that
//! with the most even teams; of those, that with the oldest ticket. So a ticket that fits is passed over
//! only for others that have waited nearly as long, and not for ever.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    PlanInput, RuleReport, Ticket,
    planner::reports,
    pool::Pool,
    rules::{PreparedRule, QueueRule, RuleTally},
};

/// A match in play that seeks players.
#[derive(Clone, Debug, Default)]
pub struct OpenMatch {
    /// The tickets of each team with those of their players who are in the match, or on their way to it.
    pub teams: Vec<Vec<Ticket>>,
    /// Number of seats of each team that are to be filled.
    pub free: Vec<usize>,
    /// Number of players on each team, with those who are not of the queue.
    pub heads: Vec<usize>,
    /// Number of players of a full team.
    pub size: usize,
    /// How long its oldest ticket had waited when the match was formed, in seconds.
    pub waited: f64,
    /// What the rules picked for the match, such as its `mode` and its `map`.
    pub picks: BTreeMap<String, String>,
    /// The places of tickets that must not join.
    pub barred: BTreeSet<usize>,
}

/// Tickets that join a match in play.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    /// The place of each ticket in the caller's list, and its team.
    pub seats: Vec<(usize, usize)>,
    /// What the violations of rules that are not hard cost together, with these tickets.
    pub penalty: f64,
    /// What each rule finds in the teams with these tickets, computed from scratch.
    pub reports: Vec<RuleReport>,
}

impl PlanInput<'_> {
    /// Finds tickets for the free seats of each match. Returns the additions of each match in order; no ticket is in
    /// two of them.
    pub fn backfill(&self, matches: &[OpenMatch]) -> Vec<Vec<Addition>> {
        let mut all: Vec<Ticket> = self.tickets.to_vec();
        let mut seated = Vec::new();
        for open in matches {
            let mut teams = Vec::new();
            for team in &open.teams {
                let from = all.len();
                // They come after the tickets that wait in the pool's order.
                all.extend(team.iter().cloned().map(|ticket| Ticket {
                    waited: -1.0,
                    ..ticket
                }));
                teams.push(from..all.len());
            }
            seated.push(teams);
        }
        let pool = Pool::new(self.queue, &all, self.win_model);
        let mut numbers = vec![0u32; all.len()];
        for (number, place) in (0u32..).zip(&pool.places) {
            numbers[*place] = number;
        }
        let mut taken = BTreeSet::new();
        let mut found = Vec::new();
        for (open, seated) in matches.iter().zip(seated) {
            let team = |places: &std::ops::Range<usize>| numbers[places.clone()].to_vec();
            let mut game = FillingMatch {
                pool: &pool,
                open,
                waiting: self.tickets.len(),
                teams: seated.iter().map(team).collect(),
                free: open.free.clone(),
                heads: open.heads.clone(),
            };
            found.push(game.fill(&mut taken));
        }
        found
    }
}

/// The most additions that compete.
const CHOICE: usize = 8;
/// The most additions of a match that are looked at.
const STEPS: usize = 4_000;
/// The most tickets of one addition.
const TOGETHER: usize = 4;

impl<'p> FillingMatch<'p> {
    /// Fills as many seats as tickets are found for; these are added to `taken`.
    pub fn fill(&mut self, taken: &mut BTreeSet<u32>) -> Vec<Addition> {
        let mut found = Vec::new();
        while self.free.iter().any(|free| *free > 0) {
            let Some(best) = self.best(taken) else {
                break;
            };
            for &(ticket, team) in &best.seats {
                let size = self.pool.people.size(ticket);
                taken.insert(ticket);
                self.teams[team].push(ticket);
                self.free[team] -= size;
                self.heads[team] += size;
            }
            found.push(self.addition(&best));
        }
        found
    }

    fn addition(&self, best: &Allowed) -> Addition {
        let waited = self.waited(best);
        Addition {
            seats: best
                .seats
                .iter()
                .map(|&(ticket, team)| (self.index_of(ticket), team))
                .collect(),
            penalty: best.soft,
            reports: reports(self.pool, &self.teams, waited, self.open.size),
        }
    }

    /// The place of a ticket in the caller's list.
    fn index_of(&self, ticket: u32) -> usize {
        self.pool.places[ticket as usize]
    }

    /// The longest wait: of the match's oldest ticket when it was formed, and of the added ones.
    fn waited(&self, best: &Allowed) -> f64 {
        let waits = best
            .seats
            .iter()
            .map(|(ticket, _)| self.pool.waited(*ticket));
        waits.fold(self.open.waited, f64::max)
    }

    /// The best addition with as few tickets as possible.
    fn best(&self, taken: &BTreeSet<u32>) -> Option<Allowed> {
        let tickets: Vec<u32> = (0..self.pool.len() as u32)
            .filter(|ticket| !taken.contains(ticket) && self.admits(*ticket))
            .collect();
        let most = self.free.iter().sum::<usize>().min(TOGETHER);
        let mut trial = self.trial(&tickets);
        let mut numbers = 1..=most;
        numbers.find_map(|number| self.best_of(&mut trial, number))
    }

    /// The best of the first additions of `number` tickets that are allowed.
    fn best_of(&self, trial: &mut FillTrial<'_, 'p>, number: usize) -> Option<Allowed> {
        trial.steps = STEPS.max(trial.tickets.len() * self.teams.len());
        let mut best: Option<(f64, Allowed)> = None;
        let mut found = 0;
        for (at, &ticket) in trial.tickets.iter().enumerate() {
            let waited = self.pool.waited(ticket);
            if trial.steps == 0
                || found >= CHOICE
                || best.as_ref().is_some_and(|(first, _)| waited < first / 2.0)
            {
                break;
            }
            trial.wait(waited.max(self.open.waited));
            trial.extend(at, number);
            let Some(next) = trial.best.take() else {
                continue;
            };
            found += 1;
            let key = |one: &Allowed| (one.hard, one.gap);
            best = Some(match best {
                None => (waited, next),
                Some((first, old)) if key(&next) < key(&old) => (first, next),
                Some(old) => old,
            });
        }
        best.map(|(_, best)| best)
    }

    /// Whether a ticket waits, and may join the match as far as a look at the ticket alone shows.
    fn admits(&self, ticket: u32) -> bool {
        let place = self.index_of(ticket);
        let waits = place < self.waiting && !self.open.barred.contains(&place);
        let size = self.pool.people.size(ticket);
        waits && self.free.iter().any(|free| *free >= size) && self.has_picks(ticket)
    }

    /// Whether the ticket's players have what the rules picked for the match: its mode and its map.
    fn has_picks(&self, ticket: u32) -> bool {
        let mut rules = self.pool.queue.rules().iter().filter(|rule| rule.hard);
        rules.all(|rule| {
            let pick = rule
                .picks
                .as_ref()
                .and_then(|name| self.open.picks.get(name));
            pick.is_none_or(|pick| rule.rule.admits(&self.pool.people, ticket, pick))
        })
    }

    /// A search among these tickets, which have waited for as long as the match's own when it was formed.
    fn trial<'g>(&'g self, tickets: &'g [u32]) -> FillTrial<'g, 'p> {
        FillTrial {
            game: self,
            limits: self.limits(self.open.waited),
            terms: self.terms(self.open.waited),
            tickets,
            accepted: self.pool.queue.accepts(self.open.waited),
            free: self.free.clone(),
            heads: self.heads.clone(),
            chosen: Vec::new(),
            steps: 0,
            best: None,
        }
    }
}

/// A match while its seats are filled.
struct FillingMatch<'p> {
    pub pool: &'p Pool<'p>,
    pub open: &'p OpenMatch,
    /// Number of tickets that wait; they have the first places of the caller's list.
    pub waiting: usize,
    pub teams: Vec<Vec<u32>>,
    pub free: Vec<usize>,
    pub heads: Vec<usize>,
}

/// A rule with the violation of the teams as they are being filled.
struct RuleTerm<'p> {
    pub rule: &'p QueueRule,
    pub prepared: &'p dyn PreparedRule,
    pub tally: Box<dyn RuleTally + 'p>,
    /// The violation without any addition.
    pub before: f64,
}

impl<'p> FillingMatch<'p> {
    /// The limits of all rules after a wait.
    pub fn limits(&self, waited: f64) -> Vec<f64> {
        let rules = self.pool.queue.rules().iter();
        rules
            .map(|rule| rule.limit(waited, self.open.size))
            .collect()
    }

    /// The rules but those about the size of teams, which the numbers of free seats stand for.
    pub fn terms(&self, waited: f64) -> Vec<RuleTerm<'p>> {
        let rules = self.pool.queue.rules().iter().zip(&self.pool.prepared);
        let terms = rules
            .filter(|(rule, _)| !rule.kind.is_size())
            .map(|(rule, prepared)| {
                let mut tally =
                    prepared.tally(self.teams.len(), rule.limit(waited, self.open.size));
                for (at, team) in self.teams.iter().enumerate() {
                    team.iter().for_each(|ticket| tally.put(at, *ticket));
                }
                RuleTerm {
                    rule,
                    prepared: prepared.as_ref(),
                    before: tally.violation(),
                    tally,
                }
            });
        terms.collect()
    }
}

/// An addition that is allowed.
struct Allowed {
    pub seats: Vec<(u32, usize)>,
    pub hard: f64,
    pub soft: f64,
    pub gap: f64,
}

/// The search for additions to the match as it is.
struct FillTrial<'g, 'p> {
    pub game: &'g FillingMatch<'p>,
    /// The limits with which the terms were made.
    pub limits: Vec<f64>,
    pub terms: Vec<RuleTerm<'p>>,
    /// The tickets that may be added, the oldest first.
    pub tickets: &'g [u32],
    pub accepted: f64,
    pub free: Vec<usize>,
    pub heads: Vec<usize>,
    pub chosen: Vec<(u32, usize)>,
    /// How many more additions may be looked at.
    pub steps: usize,
    pub best: Option<Allowed>,
}

impl FillTrial<'_, '_> {
    /// Goes on with the limits that hold after a wait.
    pub fn wait(&mut self, waited: f64) {
        self.accepted = self.game.pool.queue.accepts(waited);
        let limits = self.game.limits(waited);
        if limits != self.limits {
            (self.terms, self.limits) = (self.game.terms(waited), limits);
        }
    }

    /// Tries the ticket at a place on each team, and with it younger ones, `number` tickets in all.
    pub fn extend(&mut self, at: usize, number: usize) {
        let Some(&ticket) = self.tickets.get(at) else {
            return;
        };
        let size = self.game.pool.people.size(ticket);
        for team in 0..self.free.len() {
            if self.free[team] < size || self.steps == 0 {
                continue;
            }
            self.steps -= 1;
            self.seat(ticket, team, size);
            if !self.grows_worse() {
                if number == 1 {
                    self.judge();
                } else if self.free.iter().any(|free| *free > 0) {
                    let mut younger = at + 1..self.tickets.len();
                    younger.any(|next| {
                        self.extend(next, number - 1);
                        self.steps == 0 || self.best.is_some()
                    });
                }
            }
            self.unseat(ticket, team, size);
        }
    }

    fn seat(&mut self, ticket: u32, team: usize, size: usize) {
        self.free[team] -= size;
        self.heads[team] += size;
        self.chosen.push((ticket, team));
        for term in &mut self.terms {
            term.tally.put(team, ticket);
        }
    }

    fn unseat(&mut self, ticket: u32, team: usize, size: usize) {
        self.free[team] += size;
        self.heads[team] -= size;
        self.chosen.pop();
        for term in &mut self.terms {
            term.tally.take(team, ticket);
        }
    }

    /// Whether a hard rule is violated more than before, and no further ticket can make it hold again.
    fn grows_worse(&self) -> bool {
        let mut hard = self.terms.iter().filter(|term| term.rule.hard);
        hard.any(|term| term.prepared.is_monotone() && term.tally.violation() > term.before)
    }

    /// Keeps the present addition if it is allowed and better than the best one.
    fn judge(&mut self) {
        let complete = self.free.iter().all(|free| *free == 0);
        let (mut hard, mut soft, mut soft_before) = (0.0, 0.0, 0.0);
        for term in &self.terms {
            let after = term.tally.violation();
            if !term.rule.hard {
                soft += term.rule.cost(after);
                soft_before += term.rule.cost(term.before);
                continue;
            }
            hard += term.rule.cost(after);
            let must_hold = complete && term.prepared.is_met_by_more();
            if after > 0.0 && (after > term.before || must_hold) {
                return;
            }
        }
        if (soft > self.accepted && soft >= soft_before) || self.is_lopsided() {
            return;
        }
        let gap = self.gap();
        if self
            .best
            .as_ref()
            .is_none_or(|best| (hard, gap, soft) < (best.hard, best.gap, best.soft))
        {
            let seats = self.chosen.clone();
            self.best = Some(Allowed {
                seats,
                hard,
                soft,
                gap,
            });
        }
    }

    /// Whether the sizes of the teams differ more than before while a smaller team still seeks players.
    fn is_lopsided(&self) -> bool {
        let spread = |heads: &[usize]| {
            let most = heads.iter().max().copied().unwrap_or(0);
            most - heads.iter().min().copied().unwrap_or(0)
        };
        let most = self.heads.iter().max().copied().unwrap_or(0);
        let mut teams = self.heads.iter().zip(&self.free);
        spread(&self.heads) > spread(&self.game.heads)
            && teams.any(|(heads, free)| *heads < most && *free > 0)
    }

    /// The largest sum of the queue's `even_by` on a team minus the smallest.
    fn gap(&self) -> f64 {
        let pool = self.game.pool;
        let mut sums = Vec::with_capacity(self.game.teams.len());
        for (at, team) in self.game.teams.iter().enumerate() {
            let added = self.chosen.iter().filter(|(_, team)| *team == at);
            let tickets: Vec<u32> = team
                .iter()
                .copied()
                .chain(added.map(|(ticket, _)| *ticket))
                .collect();
            let players = pool.people.all(&tickets);
            sums.push(players.map(|player| pool.even_by(player)).sum::<f64>());
        }
        let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
        (most - least).max(0.0)
    }
}
