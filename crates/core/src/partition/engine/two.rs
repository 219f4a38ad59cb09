//! Two teams, prepared for enumeration: a combination is one number, its gap.

use crate::partition::instance::{Instance, Split};

/// Two teams. A combination is a mask over the free atoms, in which a set bit means the first team.
///
/// With lifts, the gap between the teams is linear in the mask: `gap + 2 Σ lifts of the set bits`.
/// The number of humans on the first team affects only the total of the two sums.
pub(crate) struct TwoTeams {
    /// The free atoms, as indices into the instance.
    atoms: Vec<usize>,
    /// The lifts of the free atoms.
    pub lifts: Vec<i64>,
    /// The numbers of humans of the free atoms.
    pub sizes: Vec<usize>,
    /// The first team's sum minus the second's if all free atoms are on the second.
    pub gap: i64,
    /// The number of humans on the first team if all free atoms are on the second.
    pub humans: usize,
    /// The total that a gap is relative to ([`Measure::total`]), by the number of humans on the
    /// first team; `None` where that number is illegal.
    pub totals: Vec<Option<i64>>,
    teams: [u8; 2],
    /// The split in which all free atoms are on the second team.
    base: Split,
}

impl TwoTeams {
    /// Both teams of an instance of two.
    pub fn new(instance: &Instance) -> Self {
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
    pub fn core(instance: &Instance, split: &[u8], atoms: Vec<usize>) -> Self {
        let each = instance.atoms.iter().map(|atom| atom.lift);
        let lift: i64 = each.chain(instance.start).sum();
        let all = instance.counts.humans;
        let total = |on_first| {
            let size = instance.counts.size(&[on_first, all - on_first])?;
            Some((instance.measure).total(lift + 2 * instance.bot * size as i64))
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
    pub fn pair(instance: &Instance, split: &[u8], teams: [u8; 2], atoms: Vec<usize>) -> Self {
        let mut humans = [0; crate::partition::MAX_TEAMS];
        let starts = teams.map(|team| instance.start[usize::from(team)]);
        let mut lift: i64 = starts.iter().sum();
        for (atom, team) in instance.atoms.iter().zip(split) {
            humans[usize::from(*team)] += atom.size;
            lift += if teams.contains(team) { atom.lift } else { 0 };
        }
        let size = instance.counts.size(&humans[..instance.counts.teams]);
        let first = humans[usize::from(teams[0])];
        let mut totals = vec![None; first + 1];
        totals[first] =
            size.map(|size| (instance.measure).total(lift + 2 * instance.bot * size as i64));
        Self::between(instance, split, teams, atoms, totals)
    }

    fn between(
        instance: &Instance,
        split: &[u8],
        teams: [u8; 2],
        atoms: Vec<usize>,
        totals: Vec<Option<i64>>,
    ) -> Self {
        let mut base = Split::from(split);
        atoms.iter().for_each(|&atom| base[atom] = teams[1]);
        let [first, second] = teams.map(|team| instance.start[usize::from(team)]);
        let (mut gap, mut humans) = (first - second, 0);
        for (atom, &team) in instance.atoms.iter().zip(&base) {
            if team == teams[0] {
                gap += atom.lift;
                humans += atom.size;
            } else if team == teams[1] {
                gap -= atom.lift;
            }
        }
        Self {
            lifts: atoms
                .iter()
                .map(|&atom| instance.atoms[atom].lift)
                .collect(),
            sizes: atoms
                .iter()
                .map(|&atom| instance.atoms[atom].size)
                .collect(),
            atoms,
            gap,
            humans,
            totals,
            teams,
            base,
        }
    }

    /// Number of legal combinations. O(atoms × humans).
    pub fn combinations(&self) -> u128 {
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
    pub fn split(&self, mask: u128) -> Split {
        let mut split = self.base.clone();
        for (bit, &atom) in self.atoms.iter().enumerate() {
            if mask >> bit & 1 == 1 {
                split[atom] = self.teams[0];
            }
        }
        split
    }
}
