//! A problem prepared for the engines: atoms on a grid, in an order independent of the caller's.

use std::cmp::Reverse;

use super::{
    MAX_TEAMS, Objective, Problem, Settings,
    balance::{Evenness, MOST, Measure},
    counts::Counts,
    grid::Grid,
    values::Values,
};
use crate::domain::seeded_hash;

/// A group that is placed as a whole: a single human, or a kept party.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    /// What it counts, minus the bots it replaces, in quanta. So a team's sum is `above_bots + size of
    /// the team × what a bot counts`, whatever its number of humans.
    pub above_bot: i64,
    /// Number of humans, at least 1.
    pub size: usize,
    /// The team that the atom is pinned to.
    pub team: Option<u8>,
    /// The humans, by the caller's indices.
    pub members: Vec<usize>,
    /// How many of them wish for each team.
    pub wishes: [u8; MAX_TEAMS],
}

/// The atoms of a problem, given which parties are kept; strongest first.
///
/// The order of equally strong atoms depends on the seed and their keys. So an engine that prefers
/// the first of equals is unbiased, and the caller's order does not matter.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub atoms: Vec<Atom>,
    pub counts: Counts,
    pub grid: Grid,
    /// What a mean bot counts, in quanta.
    pub bot: i64,
    /// What each human counts, in quanta, in the caller's order.
    pub weights: Vec<i64>,
    /// How teams are compared.
    pub measure: Measure,
    /// What each team's sum starts from: the handicap of team 0, and how far the bots on each team
    /// are from mean bots if all teams have the same number of humans.
    pub start: [i64; MAX_TEAMS],
    /// The handicap of team 0.
    pub handicap: i64,
    /// How far the bots on each team are from as many mean bots, in quanta, by the number of places
    /// that humans leave. Empty if no bots are there.
    bots: Vec<Vec<i64>>,
    /// The teams without pins and wishes whose sums start from 0, and whose numbers can thus be exchanged.
    pub free_labels: Vec<u8>,
    /// The fewest wishes for a team that a legal split grants.
    pub least_granted: usize,
}

/// The sums and sizes of the teams of one split.
pub(super) struct TeamTally {
    /// Each team's weight in quanta, bots included, handicap excluded.
    pub sums: Vec<i64>,
    /// Each team's number of humans.
    pub humans: Vec<usize>,
    /// The size of every team, bots included.
    pub size: usize,
}

/// A team for every atom, in the instance's order.
pub(super) type Split = Box<[u8]>;

impl TeamTally {
    /// The smallest of the sums over the largest.
    pub fn ratio(&self) -> f64 {
        Evenness::of(self.sums.iter().copied()).evenness()
    }

    /// The sums with the handicap.
    pub fn counted(&self, instance: &Instance) -> impl Iterator<Item = i64> {
        let handicaps = std::iter::once(instance.handicap).chain(std::iter::repeat(0));
        self.sums
            .iter()
            .zip(handicaps)
            .map(|(sum, handicap)| sum + handicap)
    }

    /// The largest sum minus the smallest, handicap included, in the caller's unit.
    pub fn gap(&self, instance: &Instance) -> f64 {
        let sums = || self.counted(instance);
        let gap = sums().max().unwrap_or(0) - sums().min().unwrap_or(0);
        instance.grid.value(gap)
    }
}

impl Instance {
    /// The instance in which the parties with a true entry in `kept` are atoms, and the members of
    /// the others are single humans.
    pub fn new(problem: &Problem, settings: &Settings, kept: &[bool], seed: u64) -> Self {
        let (spec, counts) = (problem.spec(), problem.counts().clone());
        let groups = groups(problem, kept);
        let values = Values::of(problem, settings);
        let grid = values.grid(&groups, &counts);
        let bot = grid.quanta(values.bot);
        let atom = |members: Vec<usize>| Atom {
            above_bot: values.quanta(grid, &members) - members.len() as i64 * bot,
            size: members.len(),
            team: members
                .iter()
                .find_map(|&human| spec.view.humans[human].pin),
            wishes: wishes(problem, &members),
            members,
        };
        let mut atoms: Vec<Atom> = groups.into_iter().map(atom).collect();
        atoms.sort_by_cached_key(|atom| {
            let lot = lot(problem, &atom.members, seed);
            (Reverse(atom.above_bot), atom.size, lot)
        });
        let measure = match settings.objective {
            Objective::Ratio => Measure::Ratio,
            Objective::Chance => {
                let even = counts.floor.max(counts.humans.div_ceil(counts.teams));
                let above_bot: i64 = atoms.iter().map(|atom| atom.above_bot).sum();
                let two_teams = 2 * above_bot / counts.teams as i64 + 2 * bot * even as i64;
                let total = values.even_total.map(|total| grid.quanta(total).min(MOST));
                Measure::Gap(total.unwrap_or(two_teams).max(1))
            }
        };
        let mut instance = Self {
            weights: values.humans.iter().map(|w| grid.quanta(*w)).collect(),
            bots: values.bots_by_places(problem, grid),
            handicap: grid.quanta(values.handicap),
            start: [0; MAX_TEAMS],
            atoms,
            counts,
            grid,
            bot,
            measure,
            free_labels: Vec::new(),
            least_granted: 0,
        };
        instance.begin();
        instance
    }

    /// Finds what the teams' sums start from, and which teams can be exchanged.
    fn begin(&mut self) {
        let counts = &self.counts;
        let size = counts.floor.max(counts.humans.div_ceil(counts.teams));
        for team in 0..counts.teams {
            // The places for bots on a smaller and on a larger team, if the humans are divided equally.
            let most = size - counts.humans / counts.teams;
            let least = size - counts.humans.div_ceil(counts.teams);
            self.start[team] = (self.beyond(team, most) + self.beyond(team, least)) / 2;
        }
        self.start[0] += self.handicap;
        let free = (0u8..).zip(self.interchangeable());
        self.free_labels = free
            .filter_map(|(team, free)| free.then_some(team))
            .collect();
        // If no team differs from another, fix the first atom to the first team, which excludes the
        // mirror images of all combinations.
        if self.symmetric()
            && let Some(first) = self.atoms.first_mut()
        {
            first.team = Some(0);
        }
    }

    /// How much the bots of a team with this many places for them count beyond as many mean bots.
    fn beyond(&self, team: usize, places: usize) -> i64 {
        let Some(by_places) = self.bots.get(team) else {
            return 0;
        };
        let last = by_places.len().saturating_sub(1);
        by_places.get(places.min(last)).copied().unwrap_or(0)
    }

    /// The evenness of a split; `None` if its counts are illegal, or it grants too few wishes. O(atoms).
    pub fn balance(&self, split: &[u8]) -> Option<Evenness> {
        let wanted = self.least_granted > 0;
        let enough = !wanted || self.granted(split) >= self.least_granted;
        enough.then(|| self.balance_of_any(split)).flatten()
    }

    /// The evenness of a split, however few wishes it grants; `None` if its counts are illegal. O(atoms).
    pub fn balance_of_any(&self, split: &[u8]) -> Option<Evenness> {
        let mut above_bots = self.start;
        let mut humans = [0; MAX_TEAMS];
        for (atom, &team) in self.atoms.iter().zip(split) {
            above_bots[usize::from(team)] += atom.above_bot;
            humans[usize::from(team)] += atom.size;
        }
        let teams = self.counts.teams;
        let size = self.counts.size(&humans[..teams])?;
        let sums = above_bots[..teams].iter();
        Some((self.measure).of(sums.map(|above_bot| above_bot + self.bot * size as i64)))
    }

    /// The split in which each human has the team in `team_of`; `None` if it breaks a pin or a kept
    /// party.
    pub fn split_of_humans(&self, team_of: &[u8]) -> Option<Split> {
        let team = |atom: &Atom| {
            let team = team_of[atom.members[0]];
            let whole = atom.members.iter().all(|&member| team_of[member] == team);
            let pin = atom.team.filter(|_| !self.symmetric());
            (whole && pin.is_none_or(|pin| pin == team)).then_some(team)
        };
        self.atoms.iter().map(team).collect()
    }

    /// Whether the numbers of all teams can be exchanged.
    fn symmetric(&self) -> bool {
        self.free_labels.len() == self.counts.teams
    }

    /// The sums and sizes of the teams in `team_of`, which need not be legal; the members of a
    /// broken party count singly. O(humans).
    pub fn tally(&self, team_of: &[u8]) -> TeamTally {
        let mut sums = vec![0; self.counts.teams];
        let mut humans = vec![0; self.counts.teams];
        for atom in &self.atoms {
            let first = usize::from(team_of[atom.members[0]]);
            if atom
                .members
                .iter()
                .all(|&member| usize::from(team_of[member]) == first)
            {
                sums[first] += atom.above_bot;
                humans[first] += atom.size;
                continue;
            }
            for &member in &atom.members {
                let team = usize::from(team_of[member]);
                sums[team] += self.weights[member] - self.bot;
                humans[team] += 1;
            }
        }
        let size = humans.iter().copied().fold(self.counts.floor, usize::max);
        for (team, sum) in sums.iter_mut().enumerate() {
            *sum += self.bot * size as i64 + self.beyond(team, size - humans[team]);
        }
        TeamTally { sums, humans, size }
    }

    /// For each team, whether it is interchangeable with the others: no atom is pinned to it, nobody
    /// wishes for it, and its sum starts from 0.
    pub fn interchangeable(&self) -> Vec<bool> {
        let starts = self.start[..self.counts.teams].iter();
        let mut free: Vec<bool> = starts.map(|start| *start == 0).collect();
        for team in self.atoms.iter().filter_map(|atom| atom.team) {
            free[usize::from(team)] = false;
        }
        for atom in &self.atoms {
            for (free, wishes) in free.iter_mut().zip(atom.wishes) {
                *free &= wishes == 0;
            }
        }
        free
    }

    /// The number of wishes for a team that a split grants. O(atoms).
    pub fn granted(&self, split: &[u8]) -> usize {
        let atoms = self.atoms.iter().zip(split);
        let granted = atoms.map(|(atom, &team)| usize::from(atom.wishes[usize::from(team)]));
        granted.sum()
    }

    /// Each human's team in `split`, in the caller's order.
    pub fn teams_of_humans(&self, split: &[u8]) -> Vec<u8> {
        let mut teams = vec![0; self.counts.humans];
        for (atom, &team) in self.atoms.iter().zip(split) {
            for &member in &atom.members {
                teams[member] = team;
            }
        }
        teams
    }
}

/// The kept parties of two or more, then every other human alone.
fn groups(problem: &Problem, kept: &[bool]) -> Vec<Vec<usize>> {
    let spec = problem.spec();
    let mut solo = vec![true; spec.view.humans.len()];
    let mut groups = Vec::new();
    for (party, &kept) in spec.parties.iter().zip(kept) {
        if kept && party.len() > 1 {
            // Sorted by key, so that sums round the same whatever the caller's order.
            let mut members = party.clone();
            members.sort_by(|&a, &b| spec.view.humans[a].id.cmp(&spec.view.humans[b].id));
            members.iter().for_each(|&member| solo[member] = false);
            groups.push(members);
        }
    }
    groups.extend(
        (0..solo.len())
            .filter(|&human| solo[human])
            .map(|human| vec![human]),
    );
    groups
}

/// How many of these humans wish for each team.
fn wishes(problem: &Problem, members: &[usize]) -> [u8; MAX_TEAMS] {
    let mut wishes = [0; MAX_TEAMS];
    let teams = members
        .iter()
        .map(|&human| problem.spec().view.humans[human].wish);
    teams
        .flatten()
        .for_each(|team| wishes[usize::from(team)] += 1);
    wishes
}

/// The sort key of equally strong groups: a hash of the keys and the seed, then the keys.
pub(super) fn lot(problem: &Problem, members: &[usize], seed: u64) -> Option<(u64, String)> {
    let keys = members
        .iter()
        .map(|&human| &problem.spec().view.humans[human].id);
    keys.map(|key| (seeded_hash(seed, key.bytes()), key.clone()))
        .min()
}
