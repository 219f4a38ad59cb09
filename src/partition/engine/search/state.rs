//! A split that is changed little by little.

use crate::partition::{
    MAX_TEAMS,
    balance::Balance,
    clock::Clock,
    instance::{Instance, Split},
};

/// A legal split, with each team's lifts and humans.
#[derive(Clone)]
pub(super) struct State<'a> {
    instance: &'a Instance,
    pub split: Split,
    pub lifts: [i64; MAX_TEAMS],
    humans: [usize; MAX_TEAMS],
}

/// A change of a state.
#[derive(Clone, Copy)]
pub(super) enum Change {
    /// An atom goes to another team.
    Move(usize, u8),
    /// Two atoms of different teams change places.
    Swap(usize, usize),
}

impl<'a> State<'a> {
    pub fn new(instance: &'a Instance, split: Split) -> Self {
        let (mut lifts, mut humans) = ([0; MAX_TEAMS], [0; MAX_TEAMS]);
        for (atom, &team) in instance.atoms.iter().zip(&split) {
            lifts[usize::from(team)] += atom.lift;
            humans[usize::from(team)] += atom.size;
        }
        Self {
            instance,
            split,
            lifts,
            humans,
        }
    }

    /// How even the split is.
    pub fn balance(&self) -> Option<Balance> {
        self.instance.balance(&self.split)
    }

    /// How much a change adds to the sum of the teams' squared sums, which is least when they are
    /// even, and which unlike the ratio tells which of several uneven teams get better; `None` when
    /// the change is illegal. O(teams).
    pub fn cost(&self, change: Change) -> Option<f64> {
        let atoms = &self.instance.atoms;
        let (from, to, lift, size) = match change {
            Change::Move(atom, to) => (
                self.split[atom],
                to,
                atoms[atom].lift,
                atoms[atom].size as i64,
            ),
            Change::Swap(one, other) => (
                self.split[one],
                self.split[other],
                atoms[one].lift - atoms[other].lift,
                atoms[one].size as i64 - atoms[other].size as i64,
            ),
        };
        let fixed = match change {
            Change::Move(atom, _) => atoms[atom].team.is_some(),
            Change::Swap(one, other) => atoms[one].team.or(atoms[other].team).is_some(),
        };
        if fixed || from == to {
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
        let ahead = self.lifts[from] - self.lifts[to];
        Some(2.0 * lift as f64 * (lift - ahead) as f64)
    }

    /// Carries out a change.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Move(atom, to) => self.put(atom, to),
            Change::Swap(one, other) => {
                let (team, others) = (self.split[one], self.split[other]);
                self.put(one, others);
                self.put(other, team);
            }
        }
    }

    fn put(&mut self, atom: usize, to: u8) {
        let (from, to) = (usize::from(self.split[atom]), usize::from(to));
        let what = &self.instance.atoms[atom];
        self.lifts[from] -= what.lift;
        self.lifts[to] += what.lift;
        self.humans[from] -= what.size;
        self.humans[to] += what.size;
        self.split[atom] = to as u8;
    }

    /// Carries out the change that evens the teams most, again and again until none does: few
    /// changes go far (the Natural Selection 2 page's way of balancing a running game).
    /// O(atoms²) a change.
    pub fn descend(&mut self, clock: &mut Clock) {
        // Each one lowers the sum of squares; the limit only guards against rounding.
        for _ in 0..4 * self.split.len() {
            if clock.spend(self.split.len() * self.split.len()) {
                return;
            }
            let atoms = 0..self.split.len();
            let teams = 0..self.instance.counts.teams as u8;
            let moves = atoms
                .clone()
                .flat_map(|a| teams.clone().map(move |t| Change::Move(a, t)));
            let pairs = atoms
                .clone()
                .flat_map(|a| (0..a).map(move |b| Change::Swap(a, b)));
            let costs = moves.chain(pairs).filter_map(|c| Some((self.cost(c)?, c)));
            match costs.min_by(|(a, _), (b, _)| a.total_cmp(b)) {
                Some((cost, change)) if cost < 0.0 => self.apply(change),
                _ => return,
            }
        }
    }
}
