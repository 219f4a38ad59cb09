//! Heuristic search for large problems: improves a split until it is even enough, or the time is
//! over.
//!
//! It builds a first split and improves it by swaps. With two teams, it then solves a core of about
//! 36 atoms exactly while the others stay where they are; that is usually close to the optimum.
//! With more teams, it solves the strongest team against the weakest one exactly, and restarts from
//! annealed splits.

mod anneal;
mod place;
mod state;

use super::{Order, bound, meet, ranked::Ranked, two::TwoTeams};
use crate::{
    balance::Evenness,
    clock::StepClock,
    instance::{Instance, Split},
};
use evenkeel_model::{Stream, StreamPurpose};
use state::SearchState;

/// An evenness within a billionth of 1 is good enough to stop.
const ENOUGH: [i64; 2] = [999_999_999, 1_000_000_000];
/// Number of atoms in a core of two teams.
const CORE: usize = 36;
/// The same where wishes must be granted, which multiplies the lists of sums.
const WISHED_CORE: usize = 26;
/// Number of atoms in a core of one pair of more than two teams; smaller, because many pairs are
/// solved.
const PAIR_CORE: usize = 24;
/// Rounds without an improvement after which the search stops.
const ROUNDS: usize = 16;

/// Offers to `best` the splits it finds. Returns the number of combinations considered.
pub(crate) fn solve(
    instance: &Instance,
    order: Order,
    clock: &mut StepClock,
    best: &mut Ranked,
) -> u128 {
    let Some(split) = place::place(instance) else {
        return 0;
    };
    let mut state = SearchState::new(instance, split);
    state.grant();
    state.descend(clock);
    let mut search = ImprovingSearch {
        instance,
        order,
        rng: Stream::new(order.seed, StreamPurpose::Search),
        best,
        considered: 1,
    };
    search.offer(&state.split);
    let goal = bound::upper(instance).min(Evenness::of(ENOUGH));
    let mut idle = 0;
    while idle < ROUNDS && search.best.best().is_none_or(|best| best < goal) && !clock.over() {
        let before = search.best.best();
        state = search.improve(state, idle > 0, clock);
        idle = if search.best.best() > before {
            0
        } else {
            idle + 1
        };
    }
    search.considered
}

struct ImprovingSearch<'a> {
    instance: &'a Instance,
    order: Order,
    rng: Stream,
    best: &'a mut Ranked,
    considered: u128,
}

impl<'a> ImprovingSearch<'a> {
    fn offer(&mut self, split: &[u8]) {
        if let Some(balance) = self.instance.balance(split) {
            self.best.offer(balance, split);
        }
    }

    /// One round; `again` if the last one found no improvement.
    fn improve(
        &mut self,
        mut state: SearchState<'a>,
        again: bool,
        clock: &mut StepClock,
    ) -> SearchState<'a> {
        if self.instance.counts.teams == 2 {
            let most = match self.instance.least_granted {
                0 => CORE,
                _ => WISHED_CORE,
            };
            let core = self.core(&state.split, [0, 1], most, again);
            let two = TwoTeams::core(self.instance, &state.split, core);
            return self.solve_core(state, &two, self.order.keep, clock);
        }
        if again {
            anneal::anneal(&mut state, &mut self.rng, clock);
            state.descend(clock);
            self.offer(&state.split);
        }
        self.pairs(state, clock)
    }

    /// Solves the strongest team against the weakest one, repeatedly, until that does not help.
    fn pairs(&mut self, mut state: SearchState<'a>, clock: &mut StepClock) -> SearchState<'a> {
        while !clock.over() {
            let before = state.balance();
            let teams = state.extremes();
            let core = self.core(&state.split, teams, PAIR_CORE, false);
            let two = TwoTeams::pair(self.instance, &state.split, teams, core);
            state = self.solve_core(state, &two, 1, clock);
            if state.balance() <= before {
                break;
            }
        }
        state
    }

    /// Offers the best placements of a core, and continues from the best of them.
    fn solve_core(
        &mut self,
        mut state: SearchState<'a>,
        two: &TwoTeams,
        keep: usize,
        clock: &mut StepClock,
    ) -> SearchState<'a> {
        let masks = meet::solve(two, keep, self.order.seed, clock).unwrap_or_default();
        let splits: Vec<Split> = masks.iter().map(|&(_, mask)| two.split(mask)).collect();
        splits.iter().for_each(|split| self.offer(split));
        self.considered = self.considered.saturating_add(two.combinations());
        if let Some(split) = splits.into_iter().next() {
            state = SearchState::new(self.instance, split);
        }
        state
    }

    /// At most `most` free atoms of two teams, single humans before parties; chosen at equal
    /// distances in strength, or at random if `random`.
    fn core(&mut self, split: &[u8], teams: [u8; 2], most: usize, random: bool) -> Vec<usize> {
        let atoms = &self.instance.atoms;
        let free = (0..atoms.len())
            .filter(|&atom| atoms[atom].team.is_none() && teams.contains(&split[atom]));
        let (mut core, mut parties): (Vec<_>, Vec<_>) =
            free.partition(|&atom| atoms[atom].size == 1);
        if random {
            self.rng.wide_shuffle(&mut core);
            self.rng.wide_shuffle(&mut parties);
            core.truncate(most);
        } else if core.len() > most {
            core = (0..most)
                .map(|index| core[index * core.len() / most])
                .collect();
        }
        parties.truncate(most - core.len());
        core.extend(parties);
        core.sort_unstable();
        core
    }
}
