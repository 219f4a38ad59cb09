//! Heuristic search for large problems: improves a split until it is even enough, or the time is
//! over.
//!
//! It builds a first split and improves it by swaps. With two teams, it then solves a core of about
//! 36 atoms exactly while the others stay where they are; that is usually close to the optimum.
//! With more teams, it solves the strongest team against the weakest one exactly, and restarts from
//! annealed splits.

mod state;

use std::{cmp::Reverse, collections::BTreeMap};

use evenkeel_model::{Stream, StreamPurpose};

use super::{EngineOrder, StepClock, meet, two::TwoTeams};
use crate::{
    MAX_TEAMS,
    balance::Evenness,
    best::Ranked,
    instance::{AtomInstance, Split},
};

use state::SearchState;

/// An evenness within a billionth of 1 is good enough to stop.
const ENOUGH: [i64; 2] = [999_999_999, 1_000_000_000];
/// Number of atoms in a core of two teams.
const CORE: usize = 36;
/// The same where wishes must be satisfied, which multiplies the lists of sums.
const WISHED_CORE: usize = 26;
/// Number of atoms in a core of one pair of more than two teams; smaller, because many pairs are
/// solved.
const PAIR_CORE: usize = 24;
/// Rounds without an improvement after which the search stops.
const ROUNDS: usize = 16;

/// Offers to `best` the splits it finds. Returns the number of combinations considered.
pub(crate) fn solve(
    instance: &AtomInstance,
    order: EngineOrder,
    clock: &mut StepClock,
    best: &mut Ranked,
) -> u128 {
    let Some(split) = place(instance) else {
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
    let goal = super::upper(instance).min(Evenness::of(ENOUGH));
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
    instance: &'a AtomInstance,
    order: EngineOrder,
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
            let most = match self.instance.least_satisfied {
                0 => CORE,
                _ => WISHED_CORE,
            };
            let core = self.core(&state.split, [0, 1], most, again);
            let two = TwoTeams::core(self.instance, &state.split, core);
            return self.solve_core(state, &two, self.order.keep, clock);
        }
        if again {
            state::anneal(&mut state, &mut self.rng, clock);
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

/// How many different human counts are tracked while parties are placed. Two teams have at most
/// 129; with more teams, dropping some can miss the only legal ones.
const WIDTH: usize = 4096;

type Counts = [usize; MAX_TEAMS];

/// A partial placement of the parties: their teams so far, and each team's sum above bots.
#[derive(Clone)]
struct Partial {
    teams: Vec<u8>,
    above_bots: [i64; MAX_TEAMS],
}

/// A legal split. Places parties so that single humans can complete the teams; then places the
/// humans from the strongest down, each on the weakest team that has room (R. L. Graham's longest
/// processing time rule). `None` if it finds no legal split.
fn place(instance: &AtomInstance) -> Option<Split> {
    let mut split: Split = instance
        .atoms
        .iter()
        .map(|atom| atom.team.unwrap_or(0))
        .collect();
    let free = |party: bool| {
        let atoms = instance.atoms.iter().enumerate();
        atoms.filter(move |(_, atom)| atom.team.is_none() && (atom.size > 1) == party)
    };
    let mut parties: Vec<usize> = free(true).map(|(place, _)| place).collect();
    parties.sort_by_key(|&place| Reverse(instance.atoms[place].size));
    let singles: Vec<usize> = free(false).map(|(place, _)| place).collect();

    let (mut room, party) = place_parties(instance, &parties, singles.len())?;
    for (&place, &team) in parties.iter().zip(&party.teams) {
        split[place] = team;
    }
    let mut above_bots = party.above_bots;
    for place in singles {
        let open = (0..instance.counts.teams).filter(|&team| room[team] > 0);
        let team = open.min_by_key(|&team| above_bots[team])?;
        room[team] -= 1;
        above_bots[team] += instance.atoms[place].above_bot;
        split[place] = team as u8;
    }
    Some(split)
}

/// A team for each party, and how many of the `singles` each team gets.
fn place_parties(
    instance: &AtomInstance,
    parties: &[usize],
    singles: usize,
) -> Option<(Counts, Partial)> {
    let teams = instance.counts.teams;
    let (mut humans, mut above_bots) = ([0; MAX_TEAMS], instance.start);
    for atom in &instance.atoms {
        if let Some(team) = atom.team {
            humans[usize::from(team)] += atom.size;
            above_bots[usize::from(team)] += atom.above_bot;
        }
    }
    let start = Partial {
        teams: Vec::new(),
        above_bots,
    };
    let mut reached = BTreeMap::from([(humans, start)]);
    for &place in parties {
        let atom = &instance.atoms[place];
        let mut next: BTreeMap<Counts, Partial> = BTreeMap::new();
        for (humans, partial) in reached {
            for team in 0..teams {
                let mut humans = humans;
                humans[team] += atom.size;
                if humans[team] > instance.counts.most {
                    continue;
                }
                let mut partial = partial.clone();
                partial.teams.push(team as u8);
                partial.above_bots[team] += atom.above_bot;
                let known = next.get(&humans);
                if known.is_none_or(|known| spread(&partial, teams) < spread(known, teams)) {
                    next.insert(humans, partial);
                }
            }
        }
        reached = widest(next, teams);
    }
    let filled = reached.into_iter().filter_map(|(humans, partial)| {
        let room = fill_up(humans, singles, teams);
        let full: Vec<usize> = (0..teams).map(|team| humans[team] + room[team]).collect();
        instance.counts.size(&full)?;
        Some((room, partial))
    });
    filled.min_by_key(|(_, partial)| spread(partial, teams))
}

/// The [`WIDTH`] entries with the most even human counts.
fn widest(mut all: BTreeMap<Counts, Partial>, teams: usize) -> BTreeMap<Counts, Partial> {
    if all.len() > WIDTH {
        let mut entries: Vec<_> = all.into_iter().collect();
        entries.sort_by_key(|(humans, _)| humans[..teams].iter().map(|h| h * h).sum::<usize>());
        entries.truncate(WIDTH);
        all = entries.into_iter().collect();
    }
    all
}

fn spread(partial: &Partial, teams: usize) -> i64 {
    let above_bots = || partial.above_bots[..teams].iter().copied();
    above_bots().max().unwrap_or(0) - above_bots().min().unwrap_or(0)
}

/// Distributes `singles` humans, each to the team with the fewest, and returns how many each gets.
fn fill_up(mut humans: Counts, singles: usize, teams: usize) -> Counts {
    let mut room = [0; MAX_TEAMS];
    for _ in 0..singles {
        if let Some(team) = (0..teams).min_by_key(|&team| humans[team]) {
            humans[team] += 1;
            room[team] += 1;
        }
    }
    room
}
