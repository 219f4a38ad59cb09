//! A problem prepared for the engines: atoms on a grid of whole numbers, in an order independent of the caller's.
//!
//! Sums of f64 depend on the order of addition: a sum that is updated step by step drifts, two engines disagree in
//! the last bits, and rounding decides whether 12.1 + 0.2 equals 12.3. On a grid every sum is an exact i64. If the
//! weights have few decimals the grid is decimal: weights in whole numbers or hundredths then have few different
//! sums, which makes [`meet`](crate::engine) fast. Otherwise the grid is so fine that rounding to it loses less than
//! one f64 addition does.

use std::cmp::Reverse;

use evenkeel_model::{Stream, StreamPurpose, seeded_hash};

use crate::{
    ChanceModel, MAX_TEAMS, Objective, Problem, Settings,
    balance::{Evenness, MOST, Measure},
    problem::LegalCounts,
};

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
pub(super) struct AtomInstance {
    pub atoms: Vec<Atom>,
    pub counts: LegalCounts,
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
    pub least_satisfied: usize,
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
    pub fn counted(&self, instance: &AtomInstance) -> impl Iterator<Item = i64> {
        let handicaps = std::iter::once(instance.handicap).chain(std::iter::repeat(0));
        self.sums
            .iter()
            .zip(handicaps)
            .map(|(sum, handicap)| sum + handicap)
    }

    /// The largest sum minus the smallest, handicap included, in the caller's unit.
    pub fn gap(&self, instance: &AtomInstance) -> f64 {
        let sums = || self.counted(instance);
        let gap = sums().max().unwrap_or(0) - sums().min().unwrap_or(0);
        instance.grid.value(gap)
    }
}

impl AtomInstance {
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
            least_satisfied: 0,
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
        let wanted = self.least_satisfied > 0;
        let enough = !wanted || self.satisfied(split) >= self.least_satisfied;
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
    pub fn satisfied(&self, split: &[u8]) -> usize {
        let atoms = self.atoms.iter().zip(split);
        let satisfied = atoms.map(|(atom, &team)| usize::from(atom.wishes[usize::from(team)]));
        satisfied.sum()
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

/// The numbers that an [`AtomInstance`](super::instance::AtomInstance) is made of, in the caller's unit.
pub(super) struct Values<'a> {
    /// What each human counts.
    pub humans: Vec<f64>,
    /// What a mean bot counts that fills a place, or the empty place if no bots come.
    pub bot: f64,
    /// What the bots that are on each team count together; empty if there are none.
    there: Vec<f64>,
    /// What the side of the map of team 0 counts.
    pub handicap: f64,
    /// See [`ProblemSpec::even_total`].
    pub even_total: Option<f64>,
    settings: &'a Settings,
    model: Option<&'a ChanceModel>,
}

impl<'a> Values<'a> {
    /// The strengths if the objective compares chances and there are any, otherwise the weights.
    pub fn of(problem: &'a Problem, settings: &'a Settings) -> Self {
        let (spec, view) = (problem.spec(), &problem.spec().view);
        let by_chance = settings.objective == Objective::Chance;
        let there = problem.bots().iter().map(|team| team.of_bots);
        let Some(model) = view.chance.as_ref().filter(|_| by_chance) else {
            return Self {
                humans: view.humans.iter().map(|human| human.weight).collect(),
                bot: bot_weight(problem),
                there: there.map(|bots| bots.weight).collect(),
                handicap: spec.handicap,
                even_total: spec.even_total,
                settings,
                model: None,
            };
        };
        let win_model = &model.win_model;
        let per_strength = model.per_strength(problem);
        Self {
            humans: model.humans.clone(),
            bot: model.of_place(problem),
            there: there.map(|bots| bots.strength).collect(),
            handicap: match view.teams {
                2 => win_model.side / per_strength,
                _ => 0.0,
            },
            // (t − g)/(t + g) is then nearly the odds of a gap g, e^(−2g/t).
            even_total: Some(2.0 * win_model.link.per_log_odds() / per_strength),
            settings,
            model: Some(model),
        }
    }

    /// What the members of a group count together, in quanta.
    pub fn quanta(&self, grid: Grid, members: &[usize]) -> i64 {
        if self.model.is_some() {
            return grid.quanta(self.group(members));
        }
        // The largest weights can be added up as quanta only.
        let sum: i64 = members
            .iter()
            .map(|&human| grid.quanta(self.humans[human]))
            .sum();
        match self.settings.multiplier(members.len()) {
            1.0 => sum,
            multiplier => (sum as f64 * multiplier).round() as i64,
        }
    }

    /// What the members of a group count together.
    fn group(&self, members: &[usize]) -> f64 {
        if let Some(model) = self.model {
            return model.together(members.iter().copied());
        }
        let sum: f64 = members.iter().map(|&human| self.humans[human]).sum();
        sum * self.settings.multiplier(members.len())
    }

    /// For each team with bots on it, how much its bots count beyond as many mean bots, by the number
    /// of places that humans leave.
    pub fn bots_by_places(&self, problem: &Problem, grid: Grid) -> Vec<Vec<i64>> {
        let of = |(team, &there): (usize, &f64)| {
            let beyond = |places: usize| {
                let bots = problem.bots_on(team, places);
                let sum = bots.sum(there, self.bot);
                grid.quanta(sum - self.bot * bots.count() as f64)
            };
            // With more places, the bots that are there stay, and mean bots come.
            (0..=problem.bots_there(team)).map(beyond).collect()
        };
        self.there.iter().enumerate().map(of).collect()
    }

    /// A grid for what all groups and bots count.
    pub fn grid(&self, groups: &[Vec<usize>], counts: &LegalCounts) -> Grid {
        let mut slots = counts.teams * counts.largest_size();
        let mut weights = vec![self.bot.abs()];
        let mut products = Vec::new();
        if self.model.is_some() {
            weights.extend(groups.iter().map(|group| self.group(group).abs()));
        } else {
            weights.extend(&self.humans);
            let multiplied = groups
                .iter()
                .map(|group| self.settings.multiplier(group.len()));
            // At most 10, the range of the setting.
            slots *= multiplied.fold(1.0, f64::max).ceil() as usize;
            let heavier = groups
                .iter()
                .filter(|g| self.settings.multiplier(g.len()) > 1.0);
            products.extend(heavier.map(|group| self.group(group)));
        }
        if self.handicap != 0.0 {
            weights.push(self.handicap.abs());
            slots += 1;
        }
        weights.extend(self.there.iter().map(|sum| sum.abs()));
        slots += 2 * self.there.len();
        Grid::fit(&weights, &products, slots)
    }
}

/// The weight of a bot; 0 if no split has room for a bot and its weight would make the grid too
/// coarse for the humans' weights.
fn bot_weight(problem: &Problem) -> f64 {
    /// The largest weight of a bot, as a multiple of the largest weight of a human, at which the
    /// grid still gives the humans' weights far more digits than any rating has.
    const COARSE: f64 = 1e6;
    let (view, counts) = (&problem.spec().view, problem.counts());
    let weights = view.humans.iter().map(|human| human.weight);
    let largest = weights.fold(0.0, f64::max);
    let has_room = counts.teams * counts.largest_size() > view.humans.len();
    let weight = view.weight_of_place();
    match has_room || weight <= COARSE * largest {
        true => weight,
        false => 0.0,
    }
}

/// Numbers the teams of splits. Where pins leave a choice, as few humans as possible leave their
/// current teams; equal choices are decided by the seed.
pub(super) struct Labels<'a> {
    problem: &'a Problem,
    /// The numbers to give, in an order from the seed.
    free: Vec<u8>,
    /// The teams of the split that get one of them.
    groups: Vec<u8>,
}

impl<'a> Labels<'a> {
    pub fn new(problem: &'a Problem, instance: &AtomInstance, seed: u64) -> Self {
        let mut free = instance.free_labels.clone();
        Stream::new(seed, StreamPurpose::Labels).wide_shuffle(&mut free);
        Self {
            problem,
            free,
            groups: instance.free_labels.clone(),
        }
    }

    /// Renumbers the teams in `team_of`, which contains each human's team.
    pub fn assign(&self, team_of: &mut [u8]) {
        let mut names: [u8; MAX_TEAMS] = std::array::from_fn(|team| team as u8);
        for (&group, name) in self.groups.iter().zip(self.best(team_of)) {
            names[usize::from(group)] = name;
        }
        for team in team_of {
            *team = names[usize::from(*team)];
        }
    }

    /// The number for each group that keeps the most humans on their teams. Solves the assignment
    /// problem by dynamic programming over sets of numbers: O(teams × 2^teams), at most 2,048.
    fn best(&self, team_of: &[u8]) -> Vec<u8> {
        let mut stay = [[0u32; MAX_TEAMS]; MAX_TEAMS];
        for (human, &team) in self.problem.spec().view.humans.iter().zip(team_of) {
            if let Some(current) = human.team {
                stay[usize::from(team)][usize::from(current)] += 1;
            }
        }
        let count = self.free.len();
        // For each set of numbers given to as many of the last groups: how many humans stay, and
        // the number of the first of these groups.
        let mut best = vec![(0, 0); 1 << count];
        for set in 1usize..1 << count {
            let group = usize::from(self.groups[count - set.count_ones() as usize]);
            let options = (0..count).filter(|name| set >> name & 1 == 1).map(|name| {
                let staying = stay[group][usize::from(self.free[name])];
                (staying + best[set ^ 1 << name].0, std::cmp::Reverse(name))
            });
            if let Some((staying, std::cmp::Reverse(name))) = options.max() {
                best[set] = (staying, name);
            }
        }
        let mut set = (1 << count) - 1;
        (0..count)
            .map(|_| {
                let name = best[set].1;
                set ^= 1 << name;
                self.free[name]
            })
            .collect()
    }
}

/// A fixed-point grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Grid {
    /// `10^digits` quanta per unit.
    Decimal(u32),
    /// `2^exponent` quanta per unit.
    Binary(i32),
}

/// The sum of all players and the handicap is at most 2^59 quanta, so that gaps, and twice a gap,
/// fit in an i64.
const TOTAL_BITS: i32 = 59;
/// The largest total for a decimal grid: up to here f64 distinguishes neighbouring decimals.
const DECIMAL_TOTAL: f64 = (1u64 << 46) as f64;
/// The relative rounding error up to which a multiple of a weight counts as a whole number.
const SLACK: f64 = 8.0 * f64::EPSILON;

impl Grid {
    /// A grid that represents all `weights` and `products`, and on which `slots` of the largest of
    /// them can be added without overflow.
    pub fn fit(weights: &[f64], products: &[f64], slots: usize) -> Self {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        let slots = slots.max(1);
        let decimal = (0..=6).find(|&digits| {
            let scale = f64::from(10u32.pow(digits));
            largest * scale * (slots as f64) <= DECIMAL_TOTAL
                && weights.iter().chain(products).all(|w| {
                    let scaled = w * scale;
                    (scaled - scaled.round()).abs() <= scaled * SLACK
                })
        });
        match decimal {
            Some(digits) => Self::Decimal(digits),
            None => {
                // slots ≤ 2^14, and frexp gives an exponent with largest < 2^exponent.
                let headroom = slots.next_power_of_two().trailing_zeros() as i32;
                Self::Binary(TOTAL_BITS - headroom - libm::frexp(largest).1)
            }
        }
    }

    /// The nearest point of the grid, in quanta.
    pub fn quanta(self, weight: f64) -> i64 {
        match self {
            Self::Decimal(digits) => (weight * f64::from(10u32.pow(digits))).round() as i64,
            Self::Binary(exponent) => libm::ldexp(weight, exponent).round() as i64,
        }
    }

    /// Quanta as a number in the caller's unit; `f64::MAX` if it is larger than that.
    pub fn value(self, quanta: i64) -> f64 {
        let value = match self {
            Self::Decimal(digits) => quanta as f64 / f64::from(10u32.pow(digits)),
            Self::Binary(exponent) => libm::ldexp(quanta as f64, -exponent),
        };
        value.min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let grid = Grid::fit(&[12.1, 0.2, 12.3, 50.0], &[], 64);
        assert_eq!(grid, Grid::Decimal(1));
        assert_eq!(grid.quanta(12.1) + grid.quanta(0.2), grid.quanta(12.3));
        assert_eq!(grid.value(123), 12.3);
    }

    #[test]
    fn any_legal_weight_fits() {
        for largest in [f64::MAX, 1e300, 1.0 / 3.0, f64::MIN_POSITIVE, 5e-324, 0.0] {
            let grid = Grid::fit(&[largest, largest / 3.0], &[], 1 << 14);
            let quanta = grid.quanta(largest);
            assert!((0..1 << 46).contains(&quanta), "{largest}: {quanta}");
            assert!(
                (grid.value(quanta) - largest).abs() <= largest * 1e-13,
                "{largest}"
            );
            assert!(grid.value(quanta << 13).is_finite());
        }
    }
}
