//! Two teams, prepared for enumeration: a combination is one number, its gap. Exhaustive search looks at each of them: one atom
//! changes per step, and mirror images are left out.

use super::{StepClock, TopSplits};
use crate::{
    balance::Evenness,
    instance::{Atom, AtomInstance, Split},
};

/// Two teams. A combination is a mask over the free atoms, in which a set bit means the first team.
///
/// Counted above bots, the gap between the teams is linear in the mask: `gap + 2 Σ above_bots of the set bits`.
/// The number of humans on the first team affects only the total of the two sums.
pub(crate) struct TwoTeams {
    /// The free atoms, as indices into the instance.
    atoms: Vec<usize>,
    /// What the free atoms count above bots.
    pub above_bots: Vec<i64>,
    /// What each free atom adds to the count of the first team: its number of humans, and where wishes must be satisfied,
    /// those that it has for this team ([`Counting`]).
    pub sizes: Vec<usize>,
    /// The first team's sum minus the second's if all free atoms are on the second.
    pub gap: i64,
    /// The count of the first team if all free atoms are on the second.
    pub humans: usize,
    /// The total that a gap is relative to ([`Measure::total`]), by the count of the
    /// first team; `None` where that count is illegal.
    pub totals: Vec<Option<i64>>,
    teams: [u8; 2],
    /// The split in which all free atoms are on the second team.
    base: Split,
}

/// The count of a team as one number that adds up over its atoms: the number of humans where no wishes must be satisfied.
/// Otherwise a human counts `stride`, and each wish for the team 1, and each for the other team −1. As there are fewer
/// wishes than half of a stride, the number says both, and the engines need to know of no wishes.
struct Counting {
    stride: usize,
    teams: [usize; 2],
}

impl Counting {
    fn of(instance: &AtomInstance, teams: [u8; 2]) -> Self {
        let all = instance.atoms.iter().flat_map(|atom| atom.wishes);
        let wishes: usize = all.map(usize::from).sum();
        Self {
            stride: match instance.least_satisfied {
                0 => 1,
                _ => 2 * wishes + 1,
            },
            teams: teams.map(usize::from),
        }
    }

    /// What an atom adds to the count of the first team.
    fn count(&self, atom: &Atom) -> usize {
        let [wishes, others] = self.teams.map(|team| usize::from(atom.wishes[team]));
        match self.stride {
            1 => atom.size,
            stride => stride * atom.size + wishes - others,
        }
    }

    /// `totals`, which are by the number of humans, by the count of the first team. `satisfied` wishes are satisfied whoever
    /// is on it, besides those that the count says.
    fn spread(&self, totals: Vec<Option<i64>>, satisfied: usize, least: usize) -> Vec<Option<i64>> {
        if self.stride == 1 {
            return totals;
        }
        let most = self.stride / 2;
        let total = |count: usize| {
            let humans = (count + most) / self.stride;
            let enough = satisfied + count >= least + humans * self.stride;
            totals.get(humans).copied().flatten().filter(|_| enough)
        };
        (0..self.stride * totals.len()).map(total).collect()
    }
}

impl TwoTeams {
    /// Both teams of an instance of two.
    pub(super) fn new(instance: &AtomInstance) -> Self {
        let base: Split = instance
            .atoms
            .iter()
            .map(|atom| atom.team.unwrap_or(1))
            .collect();
        let free = |&atom: &usize| instance.atoms[atom].team.is_none();
        let atoms = (0..base.len()).filter(free).collect();
        Self::core(instance, &base, atoms)
    }

    /// Both teams of an instance of two; all atoms stay as in `split` except these `atoms`.
    pub(super) fn core(instance: &AtomInstance, split: &[u8], atoms: Vec<usize>) -> Self {
        let each = instance.atoms.iter().map(|atom| atom.above_bot);
        let above_bot: i64 = each.chain(instance.start).sum();
        let all = instance.counts.humans;
        let total = |on_first| {
            let size = instance.counts.size(&[on_first, all - on_first])?;
            Some((instance.measure).total(above_bot + 2 * instance.bot * size as i64))
        };
        Self::between(
            instance,
            split,
            [0, 1],
            atoms,
            (0..=all).map(total).collect(),
        )
    }

    /// Two `teams` of any number, which keep their numbers of humans; all atoms stay as in `split`
    /// except these `atoms`.
    pub(super) fn pair(
        instance: &AtomInstance,
        split: &[u8],
        teams: [u8; 2],
        atoms: Vec<usize>,
    ) -> Self {
        let mut humans = [0; crate::MAX_TEAMS];
        let starts = teams.map(|team| instance.start[usize::from(team)]);
        let mut above_bot: i64 = starts.iter().sum();
        for (atom, team) in instance.atoms.iter().zip(split) {
            humans[usize::from(*team)] += atom.size;
            above_bot += if teams.contains(team) {
                atom.above_bot
            } else {
                0
            };
        }
        let size = instance.counts.size(&humans[..instance.counts.teams]);
        let first = humans[usize::from(teams[0])];
        let mut totals = vec![None; first + 1];
        totals[first] =
            size.map(|size| (instance.measure).total(above_bot + 2 * instance.bot * size as i64));
        Self::between(instance, split, teams, atoms, totals)
    }

    fn between(
        instance: &AtomInstance,
        split: &[u8],
        teams: [u8; 2],
        atoms: Vec<usize>,
        totals: Vec<Option<i64>>,
    ) -> Self {
        let mut base = Split::from(split);
        atoms.iter().for_each(|&atom| base[atom] = teams[1]);
        let [first, second] = teams.map(|team| instance.start[usize::from(team)]);
        let counting = Counting::of(instance, teams);
        let (mut gap, mut humans, mut satisfied) = (first - second, 0, 0);
        for (atom, &team) in instance.atoms.iter().zip(&base) {
            // On the first team, what the count says is added.
            let wished_for = if team == teams[0] { teams[1] } else { team };
            satisfied += usize::from(atom.wishes[usize::from(wished_for)]);
            if team == teams[0] {
                gap += atom.above_bot;
                humans += counting.count(atom);
            } else if team == teams[1] {
                gap -= atom.above_bot;
            }
        }
        Self {
            above_bots: atoms
                .iter()
                .map(|&atom| instance.atoms[atom].above_bot)
                .collect(),
            sizes: atoms
                .iter()
                .map(|&atom| counting.count(&instance.atoms[atom]))
                .collect(),
            atoms,
            gap,
            humans,
            totals: counting.spread(totals, satisfied, instance.least_satisfied),
            teams,
            base,
        }
    }

    /// Number of legal combinations. O(atoms × humans).
    pub(super) fn combinations(&self) -> u128 {
        let mut ways = vec![0u128; self.totals.len()];
        if let Some(start) = ways.get_mut(self.humans) {
            *start = 1;
        }
        for &size in &self.sizes {
            for humans in (size..ways.len()).rev() {
                ways[humans] += ways[humans - size];
            }
        }
        let legal = ways
            .iter()
            .zip(&self.totals)
            .filter(|(_, total)| total.is_some());
        legal.map(|(ways, _)| ways).sum()
    }

    /// Converts a combination to a split.
    pub(super) fn split(&self, mask: u128) -> Split {
        let mut split = self.base.clone();
        for (bit, &atom) in self.atoms.iter().enumerate() {
            if mask >> bit & 1 == 1 {
                split[atom] = self.teams[0];
            }
        }
        split
    }
}

/// Steps between two polls of the clock.
const BLOCK: u64 = 1 << 14;

/// Offers to `best` every legal combination that is even enough. Returns false if the time ran out
/// first.
///
/// The reflected binary code (F. Gray, US patent 2632058) changes one bit per step: the one at the
/// lowest set bit of a counter. O(2^atoms). Sums are whole numbers, so they do not drift.
pub(crate) fn walk(two: &TwoTeams, clock: &mut StepClock, best: &mut TopSplits<u128>) -> bool {
    let steps = 1u64 << two.above_bots.len();
    let mut limits = limits(two, best);
    let (mut mask, mut gap, mut humans) = (0u64, two.gap, two.humans);
    let moves: Vec<(i64, usize)> = two
        .above_bots
        .iter()
        .zip(&two.sizes)
        .map(|(above_bot, &size)| (2 * above_bot, size))
        .collect();
    for step in 1..=steps {
        if gap.abs() <= limits[humans]
            && let Some(total) = two.totals[humans]
            && best.offer(Evenness::of_gap(gap.abs(), total), u128::from(mask))
        {
            limits = self::limits(two, best);
        }
        if step % BLOCK == 0 && clock.spend(BLOCK as usize) {
            return step == steps;
        }
        let bit = step.trailing_zeros() as usize;
        let Some(&(above_bot, size)) = moves.get(bit) else {
            break;
        };
        mask ^= 1 << bit;
        if mask >> bit & 1 == 1 {
            gap += above_bot;
            humans += size;
        } else {
            gap -= above_bot;
            humans -= size;
        }
    }
    true
}

/// The largest gap worth offering, by humans on team 0; negative if that number is illegal.
fn limits(two: &TwoTeams, best: &TopSplits<u128>) -> Vec<i64> {
    two.totals
        .iter()
        .map(|total| total.map_or(-1, |total| best.largest_gap(total)))
        .collect()
}
