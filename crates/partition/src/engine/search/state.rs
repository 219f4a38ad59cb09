//! A split that is changed step by step, and its simulated annealing.

use evenkeel_model::Stream;

use crate::{
    MAX_TEAMS,
    balance::Evenness,
    engine::StepClock,
    instance::{AtomInstance, Split},
};

/// A legal split, with each team's sum above bots and number of humans.
#[derive(Clone)]
pub(super) struct SearchState<'a> {
    instance: &'a AtomInstance,
    pub split: Split,
    above_bots: [i64; MAX_TEAMS],
    humans: [usize; MAX_TEAMS],
    /// The number of wishes that are satisfied.
    satisfied: usize,
}

/// One change of a [`SearchState`].
#[derive(Clone, Copy)]
pub(super) enum SplitChange {
    /// Moves an atom to another team.
    Move(usize, u8),
    /// Exchanges two atoms of different teams.
    Swap(usize, usize),
}

impl<'a> SearchState<'a> {
    pub fn new(instance: &'a AtomInstance, split: Split) -> Self {
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
    pub fn balance(&self) -> Option<Evenness> {
        self.instance.balance(&self.split)
    }

    /// How much a change adds to the sum of the teams' squared sums; `None` if the change is
    /// illegal. That sum is smallest for even teams, and unlike the ratio it also improves if only
    /// some of several uneven teams do. O(teams).
    pub fn cost(&self, change: SplitChange) -> Option<f64> {
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
    pub fn grant(&mut self) {
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
    pub fn apply(&mut self, change: SplitChange) {
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
    pub fn descend(&mut self, clock: &mut StepClock) {
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
    pub fn extremes(&self) -> [u8; 2] {
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
pub(super) fn anneal(state: &mut SearchState, rng: &mut Stream, clock: &mut StepClock) {
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
