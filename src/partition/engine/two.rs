//! The case of two teams, laid out for walking: one number a combination, the signed gap.

use crate::partition::instance::{Instance, Split};

/// Two teams. A combination is a mask over the free atoms, a set bit meaning team 0.
///
/// With lifts, the gap between the teams is linear in the mask, `gap + 2 Σ lifts of the set bits`,
/// and the number of humans on team 0 decides only what the two sums add up to.
pub(crate) struct TwoTeams {
    /// The free atoms, as indices of the instance.
    pub atoms: Vec<usize>,
    /// Their lifts.
    pub lifts: Vec<i64>,
    /// Their numbers of humans.
    pub sizes: Vec<usize>,
    /// Team 0's sum less team 1's while all free atoms are on team 1.
    pub gap: i64,
    /// Humans on team 0 then.
    pub humans: usize,
    /// What both sums add up to, by humans on team 0; `None` where that is illegal.
    pub totals: Vec<Option<i64>>,
}

impl TwoTeams {
    pub fn new(instance: &Instance) -> Self {
        let (mut gap, mut humans, mut lift) = (0, 0, 0);
        let mut atoms = Vec::new();
        for (index, atom) in instance.atoms.iter().enumerate() {
            lift += atom.lift;
            match atom.team {
                Some(0) => {
                    gap += atom.lift;
                    humans += atom.size;
                }
                Some(_) => gap -= atom.lift,
                None => {
                    gap -= atom.lift;
                    atoms.push(index);
                }
            }
        }
        let all = instance.counts.humans;
        let total = |on_first| {
            let size = instance.counts.size(&[on_first, all - on_first])?;
            Some(lift + 2 * instance.bot * size as i64)
        };
        Self {
            lifts: atoms
                .iter()
                .map(|&index| instance.atoms[index].lift)
                .collect(),
            sizes: atoms
                .iter()
                .map(|&index| instance.atoms[index].size)
                .collect(),
            atoms,
            gap,
            humans,
            totals: (0..=all).map(total).collect(),
        }
    }

    /// How many combinations are legal. O(atoms × humans).
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

    /// The split that `mask` means.
    pub fn split(&self, instance: &Instance, mask: u128) -> Split {
        let mut split: Split = instance
            .atoms
            .iter()
            .map(|atom| atom.team.unwrap_or(1))
            .collect();
        for (bit, &index) in self.atoms.iter().enumerate() {
            split[index] = u8::from(mask >> bit & 1 == 0);
        }
        split
    }
}
