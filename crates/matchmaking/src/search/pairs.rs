//! The start of a search: teams built from tickets that mirror each other, so that the rules that
//! compare teams hold from the beginning.

use super::{
    CandidateTickets,
    teams::{Cost, TeamsInSearch},
};
use crate::pool::Pool;

/// How many mates are tried for one ticket.
const MATES: usize = 8;
/// How many tickets are tried for one step, once none fits.
const TRIES: usize = 24;
/// How many of these may have the same values by the rules that limit values, if most candidates have: where
/// a team has no room for one more of a kind, those of other kinds have their turn.
const ALIKE: usize = 8;
/// The same among the mates of one ticket.
const ALIKE_MATES: usize = 3;

/// Builds teams of `size` players around the seed. The result may be incomplete or violate rules.
pub(super) fn build(
    pool: &Pool<'_>,
    teams: &mut TeamsInSearch<'_>,
    candidates: &CandidateTickets,
    size: usize,
) {
    Builder::new(pool, teams, candidates, true).build(size);
}

/// Builds teams of at most `size` players, without tickets for which the rules cost more.
pub(super) fn build_whole(
    pool: &Pool<'_>,
    teams: &mut TeamsInSearch<'_>,
    candidates: &CandidateTickets,
    size: usize,
) {
    Builder::new(pool, teams, candidates, false).build(size);
}

/// How many tickets were tried, by their values that rules limit. There are few of these at a time.
#[derive(Default)]
struct TriedTickets(Vec<(u32, usize)>);

impl TriedTickets {
    /// Counts one more ticket with these values; `false` if `most` were tried before.
    fn is_next(&mut self, values: u32, most: usize) -> bool {
        match self.0.iter_mut().find(|(known, _)| *known == values) {
            Some((_, tried)) if *tried >= most => false,
            Some((_, tried)) => {
                *tried += 1;
                true
            }
            None => {
                self.0.push((values, 1));
                true
            }
        }
    }
}

struct Builder<'a, 'p, 't> {
    pool: &'a Pool<'p>,
    teams: &'a mut TeamsInSearch<'t>,
    candidates: &'a CandidateTickets,
    used: Vec<bool>,
    count: usize,
    /// Whether tickets are added for which the rules cost more.
    may_strain: bool,
}

impl<'a, 'p, 't> Builder<'a, 'p, 't> {
    fn new(
        pool: &'a Pool<'p>,
        teams: &'a mut TeamsInSearch<'t>,
        candidates: &'a CandidateTickets,
        may_strain: bool,
    ) -> Self {
        Self {
            pool,
            count: teams.seats.len(),
            teams,
            candidates,
            used: vec![false; candidates.len()],
            may_strain,
        }
    }

    fn build(&mut self, size: usize) {
        self.place_seed();
        let mut from = 0;
        while self.room(size) > 0 && self.step(&mut from, size) {}
    }

    /// Number of players that every team still lacks.
    fn room(&self, size: usize) -> usize {
        let most = (0..self.count).map(|team| self.teams.heads(team)).max();
        size.saturating_sub(most.unwrap_or(0))
    }

    /// Puts the seed on the first team, and on each other team a ticket that mirrors it: exactly if
    /// there is one, else by the strict rules.
    fn place_seed(&mut self) {
        let seed = self.candidates.seed;
        self.teams.put(0, seed);
        for team in 1..self.count {
            let exact = self.candidates.group(self.pool.mirrors.get(seed));
            let mate = self.best_mate(exact, team).or_else(|| {
                let strict = self.pool.strict.get(seed);
                let alike = (0..self.candidates.len())
                    .filter(|&at| self.pool.strict.get(self.candidates.ticket(at)) == strict);
                let alike: Vec<usize> = alike.collect();
                self.best_mate(&alike, team)
            });
            let strains = |cost: Cost| cost != Cost::default();
            if let Some((at, _)) = mate.filter(|(_, cost)| self.may_strain || !strains(*cost)) {
                self.used[at] = true;
                self.teams.put(team, self.candidates.ticket(at));
            }
        }
    }

    /// The unused candidate of a group whose cost on the team is the least; the first without any
    /// ends the search.
    fn best_mate(&mut self, group: &[usize], team: usize) -> Option<(usize, Cost)> {
        let mut best: Option<(usize, Cost)> = None;
        let mut tried = 0;
        let mut alike = TriedTickets::default();
        for &at in group.iter().filter(|at| !self.used[**at]) {
            let ticket = self.candidates.ticket(at);
            if self.candidates.is_crowded()
                && !alike.is_next(self.pool.limited.get(ticket), ALIKE_MATES)
            {
                continue;
            }
            self.teams.put(team, ticket);
            let cost = self.teams.strain();
            self.teams.take(team, ticket);
            if best.is_none_or(|(_, least)| cost.is_below(least)) {
                best = Some((at, cost));
            }
            tried += 1;
            if cost == Cost::default() || tried >= MATES {
                break;
            }
        }
        best
    }

    /// Adds one ticket to each team. Returns whether there were any that fit.
    fn step(&mut self, from: &mut usize, size: usize) -> bool {
        let (room, before) = (self.room(size), self.teams.strain());
        let mut best: Option<(Vec<usize>, Cost)> = None;
        let mut tried = 0;
        let mut alike = TriedTickets::default();
        let mut first = true;
        for place in *from..self.candidates.len() {
            let at = self.candidates.by_priority(place);
            if self.used[at] {
                *from += usize::from(first);
                continue;
            }
            first = false;
            let ticket = self.candidates.ticket(at);
            if self.pool.people.size(ticket) > room || !self.has_mates(ticket) {
                continue;
            }
            if self.candidates.is_crowded() && !alike.is_next(self.pool.limited.get(ticket), ALIKE)
            {
                continue;
            }
            for turn in 0..self.count {
                let Some((tuple, cost)) = self.tuple(at, turn) else {
                    continue;
                };
                if best.as_ref().is_none_or(|(_, least)| cost.is_below(*least)) {
                    best = Some((tuple, cost));
                }
                if !before.is_below(cost) {
                    break;
                }
            }
            tried += 1;
            let good = best
                .as_ref()
                .is_some_and(|(_, cost)| !before.is_below(*cost));
            if good || tried >= TRIES {
                break;
            }
        }
        let sound = |cost: Cost| self.may_strain || !before.is_below(cost);
        let Some((tuple, _)) = best.filter(|(_, cost)| sound(*cost)) else {
            return false;
        };
        for (team, at) in tuple.into_iter().enumerate() {
            self.used[at] = true;
            self.teams.put(team, self.candidates.ticket(at));
        }
        true
    }

    /// Whether there are enough unused tickets that mirror this one.
    fn has_mates(&self, ticket: u32) -> bool {
        let group = self.candidates.group(self.pool.mirrors.get(ticket));
        let mut unused = group.iter().filter(|at| !self.used[**at]);
        unused.nth(self.count - 1).is_some()
    }

    /// The ticket on the team `turn` and a mate on each other team, by team, with their cost.
    fn tuple(&mut self, at: usize, turn: usize) -> Option<(Vec<usize>, Cost)> {
        let ticket = self.candidates.ticket(at);
        let candidates = self.candidates;
        let group = candidates.group(self.pool.mirrors.get(ticket));
        self.used[at] = true;
        self.teams.put(turn, ticket);
        let mut tuple = vec![at; self.count];
        let mut last = Some(Cost::default());
        for team in (0..self.count).filter(|team| *team != turn) {
            match self.best_mate(group, team) {
                Some((mate, cost)) => {
                    self.used[mate] = true;
                    self.teams.put(team, self.candidates.ticket(mate));
                    tuple[team] = mate;
                    last = Some(cost);
                }
                None => last = None,
            }
        }
        for (team, &at) in tuple.iter().enumerate() {
            self.used[at] = false;
            self.teams.take(team, self.candidates.ticket(at));
        }
        last.map(|cost| (tuple, cost))
    }
}
