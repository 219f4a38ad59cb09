//! The groups of humans that are placed as a whole: kept parties, and every other human alone.

use super::{MAX_TEAMS, Problem};
use crate::domain::seeded_hash;

/// The kept parties of two or more, then every other human alone.
pub(super) fn groups(problem: &Problem, kept: &[bool]) -> Vec<Vec<usize>> {
    let spec = problem.spec();
    let mut solo = vec![true; spec.humans.len()];
    let mut groups = Vec::new();
    for (party, &kept) in spec.parties.iter().zip(kept) {
        if kept && party.len() > 1 {
            // Sorted by key, so that sums round the same whatever the caller's order.
            let mut members = party.clone();
            members.sort_by(|&a, &b| spec.humans[a].key.cmp(&spec.humans[b].key));
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
pub(super) fn wishes(problem: &Problem, members: &[usize]) -> [u8; MAX_TEAMS] {
    let mut wishes = [0; MAX_TEAMS];
    let teams = members
        .iter()
        .map(|&human| problem.spec().humans[human].wish);
    teams.flatten().for_each(|team| wishes[team] += 1);
    wishes
}

/// The sort key of equally strong groups: a hash of the keys and the seed, then the keys.
pub(super) fn lot(problem: &Problem, members: &[usize], seed: u64) -> Option<(u64, String)> {
    let keys = members
        .iter()
        .map(|&human| &problem.spec().humans[human].key);
    keys.map(|key| (seeded_hash(seed, key.bytes()), key.clone()))
        .min()
}
