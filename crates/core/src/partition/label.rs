//! Numbering the teams of a split.

use super::{MAX_TEAMS, Problem, instance::Instance};
use crate::domain::{Stream, StreamPurpose};

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
    pub fn new(problem: &'a Problem, instance: &Instance, seed: u64) -> Self {
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
