//! Heuristic search for large problems: improves a split until it is even enough, or the time is
//! over.
//!
//! It builds a first split and improves it by swaps. With two teams, it then solves a core of about
//! 36 atoms exactly while the others stay where they are; that is usually close to the optimum.
//! With more teams, it solves the strongest team against the weakest one exactly, and restarts from
//! annealed splits.

use std::{cmp::Reverse, collections::BTreeMap};

use evenkeel_model::random::{Stream, StreamPurpose};

use super::{EngineOrder, Ranked, StepClock, meet, two::TwoTeams};
use crate::{
    MAX_TEAMS,
    balance::Evenness,
    instance::{AtomInstance, Split},
};

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
            anneal(&mut state, &mut self.rng, clock);
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

/// A legal split, with each team's sum above bots and number of humans.
#[derive(Clone)]
struct SearchState<'a> {
    instance: &'a AtomInstance,
    pub split: Split,
    above_bots: [i64; MAX_TEAMS],
    humans: [usize; MAX_TEAMS],
    /// The number of wishes that are satisfied.
    satisfied: usize,
}

/// One change of a [`SearchState`].
#[derive(Clone, Copy)]
enum SplitChange {
    /// Moves an atom to another team.
    Move(usize, u8),
    /// Exchanges two atoms of different teams.
    Swap(usize, usize),
}

impl<'a> SearchState<'a> {
    fn new(instance: &'a AtomInstance, split: Split) -> Self {
        let (mut above_bots, mut humans) = (instance.start, [0; MAX_TEAMS]);
        for (atom, &team) in instance.atoms.iter().zip(&split) {
            above_bots[usize::from(team)] += atom.above_bot;
            humans[usize::from(team)] += atom.size;
        }
        Self {
            instance,
            satisfied: instance.satisfied(&split),
            split,
            above_bots,
            humans,
        }
    }

    /// The evenness of the split.
    fn balance(&self) -> Option<Evenness> {
        self.instance.balance(&self.split)
    }

    /// How much a change adds to the sum of the teams' squared sums; `None` if the change is
    /// illegal. That sum is smallest for even teams, and unlike the ratio it also improves if only
    /// some of several uneven teams do. O(teams).
    fn cost(&self, change: SplitChange) -> Option<f64> {
        let atoms = &self.instance.atoms;
        let (from, to, above_bot, size) = match change {
            SplitChange::Move(atom, to) => (
                self.split[atom],
                to,
                atoms[atom].above_bot,
                atoms[atom].size as i64,
            ),
            SplitChange::Swap(one, other) => (
                self.split[one],
                self.split[other],
                atoms[one].above_bot - atoms[other].above_bot,
                atoms[one].size as i64 - atoms[other].size as i64,
            ),
        };
        let fixed = match change {
            SplitChange::Move(atom, _) => atoms[atom].team.is_some(),
            SplitChange::Swap(one, other) => atoms[one].team.or(atoms[other].team).is_some(),
        };
        if fixed || from == to {
            return None;
        }
        let short = self.satisfied_by(change) < 0
            && self.satisfied_after(change) < self.instance.least_satisfied;
        if short {
            return None;
        }
        let (from, to) = (usize::from(from), usize::from(to));
        if size != 0 {
            let mut humans = self.humans;
            humans[from] = humans[from].checked_add_signed(-size as isize)?;
            humans[to] = humans[to].checked_add_signed(size as isize)?;
            self.instance
                .counts
                .size(&humans[..self.instance.counts.teams])?;
        }
        // (a − d)² + (b + d)² − a² − b² = 2 d (d − (a − b))
        let ahead = self.above_bots[from] - self.above_bots[to];
        Some(2.0 * above_bot as f64 * (above_bot - ahead) as f64)
    }

    /// How many more wishes a change grants; negative if it grants fewer.
    fn satisfied_by(&self, change: SplitChange) -> isize {
        let on = |atom: usize, team: u8| {
            isize::from(self.instance.atoms[atom].wishes[usize::from(team)])
        };
        let moved = |atom: usize, to: u8| on(atom, to) - on(atom, self.split[atom]);
        match change {
            SplitChange::Move(atom, to) => moved(atom, to),
            SplitChange::Swap(one, other) => {
                moved(one, self.split[other]) + moved(other, self.split[one])
            }
        }
    }

    fn satisfied_after(&self, change: SplitChange) -> usize {
        self.satisfied
            .saturating_add_signed(self.satisfied_by(change))
    }

    /// Makes changes that grant more wishes until enough are satisfied, or none helps; each time the one that makes the
    /// teams least uneven. O(atoms² × wishes).
    fn grant(&mut self) {
        while self.satisfied < self.instance.least_satisfied {
            let changes = self.changes();
            let costs = changes.filter(|change| self.satisfied_by(*change) > 0);
            let costs = costs.filter_map(|change| Some((self.cost(change)?, change)));
            let Some((_, change)) = costs.min_by(|(a, _), (b, _)| a.total_cmp(b)) else {
                return;
            };
            self.apply(change);
        }
    }

    /// Makes a change, which must be legal.
    fn apply(&mut self, change: SplitChange) {
        self.satisfied = self.satisfied_after(change);
        match change {
            SplitChange::Move(atom, to) => self.put(atom, to),
            SplitChange::Swap(one, other) => {
                let (team, others) = (self.split[one], self.split[other]);
                self.put(one, others);
                self.put(other, team);
            }
        }
    }

    fn put(&mut self, atom: usize, to: u8) {
        let (from, to) = (usize::from(self.split[atom]), usize::from(to));
        let what = &self.instance.atoms[atom];
        self.above_bots[from] -= what.above_bot;
        self.above_bots[to] += what.above_bot;
        self.humans[from] -= what.size;
        self.humans[to] += what.size;
        self.split[atom] = to as u8;
    }

    /// Makes the change that evens the teams most, repeatedly, until none helps. Few changes
    /// suffice (the Natural Selection 2 page's method of balancing a running game).
    ///
    /// Tries changes between the strongest and the weakest team first, O((atoms/teams)²) each;
    /// these are so few that the clock is not polled. If none of them helps, tries all changes,
    /// O(atoms²).
    fn descend(&mut self, clock: &mut StepClock) {
        // Each change lowers the sum of squares; the limit only guards against rounding.
        for _ in 0..4 * self.split.len() {
            let [weak, strong] = self.extremes();
            let [weaker, stronger] = [weak, strong].map(|team| self.on(team));
            let moves = stronger.iter().map(|&atom| SplitChange::Move(atom, weak));
            let swap = |&one: &usize| {
                weaker
                    .iter()
                    .map(move |&other| SplitChange::Swap(one, other))
            };
            let swaps = stronger.iter().flat_map(swap);
            let Some(change) = self.best(moves.chain(swaps)).or_else(|| {
                let over = clock.spend(self.split.len() * self.split.len());
                if over {
                    None
                } else {
                    self.best(self.changes())
                }
            }) else {
                return;
            };
            self.apply(change);
        }
    }

    /// The atoms on a team, as indices.
    fn on(&self, team: u8) -> Vec<usize> {
        (0..self.split.len())
            .filter(|&atom| self.split[atom] == team)
            .collect()
    }

    /// The weakest and the strongest team, by what they count above bots.
    fn extremes(&self) -> [u8; 2] {
        let teams = 0..self.instance.counts.teams as u8;
        let above_bot = |&team: &u8| self.above_bots[usize::from(team)];
        let weakest = teams.clone().min_by_key(above_bot).unwrap_or(0);
        [weakest, teams.max_by_key(above_bot).unwrap_or(0)]
    }

    /// All possible changes, legal or not.
    fn changes(&self) -> impl Iterator<Item = SplitChange> {
        let (atoms, teams) = (0..self.split.len(), 0..self.instance.counts.teams as u8);
        let moves = atoms
            .clone()
            .flat_map(move |atom| teams.clone().map(move |team| SplitChange::Move(atom, team)));
        moves.chain(atoms.flat_map(|one| (0..one).map(move |other| SplitChange::Swap(one, other))))
    }

    /// The legal change that evens the teams most; `None` if none does.
    fn best(&self, changes: impl Iterator<Item = SplitChange>) -> Option<SplitChange> {
        let costs = changes.filter_map(|change| Some((self.cost(change)?, change)));
        let (cost, change) = costs.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
        (cost < 0.0).then_some(change)
    }
}

/// The most changes tried in one run.
const STEPS: usize = 20_000;

/// Anneals a state: makes a change that worsens it by Δ with probability e^(−Δ/t), while the
/// temperature t falls geometrically from the cost of an average swap to almost 0 (S. Kirkpatrick,
/// C. D. Gelatt and M. P. Vecchi, 1983).
fn anneal(state: &mut SearchState, rng: &mut Stream, clock: &mut StepClock) {
    let atoms = state.split.len();
    if atoms < 2 {
        return;
    }
    let steps = STEPS.min(50 * atoms * atoms);
    let random_change = |rng: &mut Stream| {
        let (one, other) = (rng.wide_index(atoms), rng.wide_index(atoms));
        SplitChange::Swap(one, other)
    };
    let sample = (0..100).filter_map(|_| state.cost(random_change(rng)));
    let hot = sample.map(f64::abs).fold(0.0, f64::max);
    for step in 0..steps {
        if clock.spend(16) {
            return;
        }
        let temperature = hot * libm::exp(-25.0 * step as f64 / steps as f64);
        let change = random_change(rng);
        if let Some(cost) = state.cost(change)
            && (cost <= 0.0 || rng.unit() < libm::exp(-cost / temperature))
        {
            state.apply(change);
        }
    }
}
