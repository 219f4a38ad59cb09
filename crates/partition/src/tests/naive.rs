//! Every combination, without optimisation: the reference for the tests of the other engines.

use crate::{balance::Evenness, engine::StepClock, instance::AtomInstance};

/// Passes every legal split and its evenness to `visit`; interchangeable teams are in the order of
/// their first atoms. Returns false if the time ran out first.
///
/// O(teams^atoms × atoms).
pub(crate) fn walk(
    instance: &AtomInstance,
    clock: &mut StepClock,
    visit: &mut dyn FnMut(Evenness, &[u8]),
) -> bool {
    let free = instance.interchangeable();
    let mut split = vec![0; instance.atoms.len()];
    loop {
        if clock.spend(split.len().max(1)) {
            return false;
        }
        let pinned = |(atom, team): (&crate::instance::Atom, &u8)| {
            atom.team.is_none_or(|wanted| wanted == *team)
        };
        if instance.atoms.iter().zip(&split).all(pinned)
            && in_order(&split, &free)
            && let Some(balance) = instance.balance(&split)
        {
            visit(balance, &split);
        }
        // The next split in counting order; the last atom's team is the lowest digit.
        let Some(place) = split
            .iter()
            .rposition(|&team| usize::from(team) + 1 < free.len())
        else {
            return true;
        };
        split[place] += 1;
        split[place + 1..].fill(0);
    }
}

/// Whether interchangeable teams appear in ascending order.
fn in_order(split: &[u8], free: &[bool]) -> bool {
    let mut next = free.iter().position(|&free| free).unwrap_or(free.len());
    split
        .iter()
        .map(|&team| usize::from(team))
        .filter(|&team| free[team])
        .all(|team| {
            let ordered = team <= next;
            if team == next {
                next = (next + 1..free.len())
                    .find(|&team| free[team])
                    .unwrap_or(free.len());
            }
            ordered
        })
}
