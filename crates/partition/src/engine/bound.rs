//! An upper bound on the evenness of any legal split.

use crate::{balance::Evenness, instance::Instance};

/// An upper bound on the balance of any legal split. O(atoms² × sizes).
///
/// If k teams add up to T, the weakest has at most ⌊T/k⌋ and the strongest at least ⌈T/k⌉. Also,
/// some team has the strongest human: if that team has at least x, the weakest of the others has at
/// most (T − x)/(k − 1). That team may also be the one whose sum starts lowest.
pub(crate) fn upper(instance: &Instance) -> Evenness {
    let counts = &instance.counts;
    let teams = counts.teams as i64;
    let (measure, starts) = (instance.measure, &instance.start[..counts.teams]);
    let lowest = starts.iter().copied().fold(0, i64::min);
    let atoms = instance.atoms.iter().map(|atom| atom.above_bot);
    let above_bot: i64 = atoms.chain(starts.iter().copied()).sum();
    let heaviest = (0..instance.atoms.len())
        .map(|atom| least_with(instance, atom))
        .max();
    let even = counts.humans.div_ceil(counts.teams);
    let bound = |size: usize| {
        let bots = instance.bot * size as i64;
        let total = above_bot + teams * bots;
        let flat = [total, total + teams - 1].map(|total| total.div_euclid(teams));
        let flat = measure.of(flat);
        match heaviest.map(|above_bot| above_bot + bots + lowest) {
            Some(sum) if sum * teams > total => {
                let others = (total - sum).max(0);
                flat.min(measure.of([(others + teams - 2) / (teams - 1), sum]))
            }
            _ => flat,
        }
    };
    let sizes = counts.floor.max(even)..=counts.largest_size();
    sizes.map(bound).max().unwrap_or(Evenness::of([1]))
}

/// A lower bound on the sum above bots of a team that contains this atom. It assumes that the weakest
/// atoms, whole or in parts, fill up the rest of the team.
fn least_with(instance: &Instance, atom: usize) -> i64 {
    let size = instance.atoms[atom].size;
    let [mut needed, mut possible] =
        [instance.counts.least(), instance.counts.most].map(|count| count.saturating_sub(size));
    let mut others: Vec<(i64, i64)> = instance
        .atoms
        .iter()
        .enumerate()
        .filter(|&(other, _)| other != atom)
        .map(|(_, atom)| {
            (
                atom.above_bot.div_euclid(atom.size as i64),
                atom.size as i64,
            )
        })
        .collect();
    others.sort_unstable();
    let mut above_bot = instance.atoms[atom].above_bot;
    for (each, count) in others {
        let wanted = if each < 0 { possible } else { needed };
        let taken = wanted.min(count as usize);
        above_bot += each * taken as i64;
        needed = needed.saturating_sub(taken);
        possible -= taken;
    }
    above_bot
}
