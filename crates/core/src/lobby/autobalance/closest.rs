//! Whose moves bring the teams closest together, by their powers or by their chances to win.

use super::{AutoBalance, AutoBalanceRules, Powers};
use crate::partition::{EQUAL, TeamSums};

/// The most moves in a row that [`MoveRule::Closest`] considers.
const MAX_CHAIN: usize = 16;

impl AutoBalance {
    /// How even the chances to win are, and how even they would be with this human of the first team
    /// on the second. `None` without a chance model; the powers then decide, as in Sector's Edge.
    pub(super) fn chances_of(&self, who: usize, (from, to): (u8, u8)) -> Option<(f64, f64)> {
        let now = self.situation.view.sums();
        now.by_chance().then(|| {
            let after = self.moved(&now, who, (usize::from(from), usize::from(to)));
            (now.evenness_settled(), after.evenness_settled())
        })
    }

    /// The teams with this human of the first team on the second.
    fn moved(&self, teams: &TeamSums, who: usize, (from, to): (usize, usize)) -> TeamSums {
        let counted = self.situation.view.counted(who);
        let mut after = teams.clone();
        after.remove(from, 1, counted);
        after.add(to, 1, counted);
        after
    }

    /// The humans to move from the first team to the second: repeatedly the one after whose move the
    /// chances are most even, until the teams are balanced or no move helps. O(moves · humans).
    pub(super) fn closest_by_chance(
        &self,
        mut teams: TeamSums,
        mut eligible: Vec<usize>,
        (strong, weak): (u8, u8),
    ) -> Vec<usize> {
        let situation = &self.situation;
        let (from, to) = (usize::from(strong), usize::from(weak));
        let mut chain = Vec::new();
        let too_strong = |teams: &TeamSums| {
            let edges = teams.edges_now();
            situation.is_edge(teams, edges[from] - edges[to])
        };
        while too_strong(&teams) && chain.len() < MAX_CHAIN {
            let after = eligible
                .iter()
                .map(|&who| (who, self.moved(&teams, who, (from, to))));
            // Of several who are as good, the one who has died goes, else the first.
            let best = after.reduce(|best, next| {
                let more = next.1.evenness_now() - best.1.evenness_now();
                let goes = more > EQUAL || more > -EQUAL && next.0 == self.who;
                if goes { next } else { best }
            });
            let better =
                best.filter(|(_, after)| after.evenness_now() > teams.evenness_now() + EQUAL);
            let Some((who, after)) = better else { break };
            eligible.retain(|&other| other != who);
            teams = after;
            chain.push(who);
        }
        chain
    }
}

/// The humans to move: repeatedly the one whose move brings the teams closest together, until they
/// are balanced or no move helps. O(moves · humans).
pub(super) fn closest(
    rules: &AutoBalanceRules,
    powers: &Powers,
    mut eligible: Vec<usize>,
    mut strong: f64,
    mut weak: f64,
) -> Vec<usize> {
    let mut chain = Vec::new();
    while rules.is_gap(strong, weak) && chain.len() < MAX_CHAIN {
        let apart = |&who: &usize| (strong - weak - 2.0 * powers.humans[who]).abs();
        let best = eligible
            .iter()
            .copied()
            .min_by(|a, b| apart(a).total_cmp(&apart(b)));
        let Some(best) = best.filter(|best| apart(best) < strong - weak) else {
            break;
        };
        eligible.retain(|&who| who != best);
        strong -= powers.humans[best];
        weak += powers.humans[best];
        chain.push(best);
    }
    chain
}
