//! Measures the terms of splits.

use super::{GameView, Problem, Terms, instance::Instance};

/// Measures the terms of splits of one problem.
pub(super) struct Scorer<'a> {
    problem: &'a Problem,
    /// Humans sorted by key, so that sums round the same whatever the caller's order.
    order: Vec<usize>,
    /// Weights relative to the largest one, or strengths relative to the range of weights; the bots'
    /// is the last entry.
    shares: Vec<f64>,
    /// The pairs to keep apart, each once.
    avoid: Vec<(usize, usize)>,
}

impl<'a> Scorer<'a> {
    pub fn new(problem: &'a Problem, instance: &Instance) -> Self {
        let spec = problem.spec();
        let mut avoid: Vec<_> = spec
            .avoid
            .iter()
            .map(|&(a, b)| (a.min(b), a.max(b)))
            .collect();
        avoid.sort_unstable();
        avoid.dedup();
        Self {
            problem,
            order: instance
                .atoms
                .iter()
                .flat_map(|atom| &atom.members)
                .copied()
                .collect(),
            shares: shares(&spec.view),
            avoid,
        }
    }

    /// The terms of a split, given each human's team. O(humans + pairs to avoid).
    pub fn terms(&self, team_of: &[u8], evenness: f64) -> Terms {
        let spec = self.problem.spec();
        let [best_gap, worst_gap, spread_gap] = self.gaps(team_of);
        let together = |&(a, b): &(usize, usize)| team_of[a] == team_of[b];
        let broken = |party: &&Vec<usize>| party.iter().any(|&h| team_of[h] != team_of[party[0]]);
        let elsewhere = |&(human, team): &(&super::HumanInGame, &u8)| {
            human.wish.is_some_and(|wish| wish != *team)
        };
        let moves = |&(human, team): &(&super::HumanInGame, &u8)| {
            human.team.is_some_and(|now| now != *team)
        };
        Terms {
            ratio_gap: 1.0 - evenness,
            best_gap,
            worst_gap,
            spread_gap,
            broken_parties: spec.parties.iter().filter(broken).count() as f64,
            avoided_pairs: self.avoid.iter().filter(|pair| together(pair)).count() as f64,
            moved: spec.view.humans.iter().zip(team_of).filter(moves).count() as f64,
            repeated: self.repeated(team_of),
            weak_again: self.weak_again(team_of),
            newcomers: self.newcomers(team_of),
            wishes: spec
                .view
                .humans
                .iter()
                .zip(team_of)
                .filter(elsewhere)
                .count() as f64,
            uncertain: self.uncertain(team_of),
        }
    }

    /// The share of the turns at the weaker side that have been taken by those who are on it again.
    fn weak_again(&self, team_of: &[u8]) -> f64 {
        let spec = self.problem.spec();
        let Some(weaker) = spec.weaker_side() else {
            return 0.0;
        };
        let turns = || {
            self.order
                .iter()
                .map(|&human| spec.view.humans[human].weak_sides)
        };
        let all: f64 = turns().sum();
        let again = self.order.iter().zip(turns());
        let again = again.filter(|(human, _)| team_of[**human] == weaker);
        let again: f64 = again.map(|(_, turns)| turns).sum();
        if all > 0.0 { again / all } else { 0.0 }
    }

    /// By how many more than one the teams differ in humans of whom nothing is known.
    fn newcomers(&self, team_of: &[u8]) -> f64 {
        let spec = self.problem.spec();
        let mut unknown = [0u32; super::MAX_TEAMS];
        for (human, &team) in spec.view.humans.iter().zip(team_of) {
            unknown[usize::from(team)] += u32::from(human.newcomer);
        }
        let unknown = unknown[..spec.teams()].iter().copied();
        let most = unknown.clone().max().unwrap_or(0);
        let fewest = unknown.min().unwrap_or(0);
        f64::from((most - fewest).saturating_sub(1))
    }

    /// By how much the teams differ in the sums of variances, as a share of all.
    fn uncertain(&self, team_of: &[u8]) -> f64 {
        let spec = self.problem.spec();
        let Some(known) = &spec.view.chance else {
            return 0.0;
        };
        let mut sums = [0.0; super::MAX_TEAMS];
        for &human in &self.order {
            let doubt = known.doubts.get(human).copied().unwrap_or(0.0);
            sums[usize::from(team_of[human])] += doubt * doubt;
        }
        let sums = &sums[..spec.teams()];
        let (least, most) = (sums.iter()).fold((f64::MAX, 0.0f64), |(least, most), sum| {
            (least.min(*sum), most.max(*sum))
        });
        let all: f64 = sums.iter().sum();
        if all > 0.0 { (most - least) / all } else { 0.0 }
    }

    /// The largest minus the smallest over the teams, of their best weights, of their lowest, and of their
    /// deviations.
    fn gaps(&self, team_of: &[u8]) -> [f64; 3] {
        let teams = self.problem.spec().view.teams;
        let bot = self.shares[self.shares.len() - 1];
        let (mut best, mut spread) = ((f64::MAX, 0.0), (f64::MAX, 0.0));
        // Below a usual player, strengths are negative, and the weakest ones are.
        let mut worst = (f64::MAX, f64::MIN);
        let widen = |range: (f64, f64), value: f64| (range.0.min(value), range.1.max(value));
        for team in 0..teams {
            let shares = || {
                let members = self
                    .order
                    .iter()
                    .filter(move |&&human| team_of[human] == team);
                members.map(|&human| self.shares[human])
            };
            let count = shares().count().max(1) as f64;
            let mean = shares().sum::<f64>() / count;
            let variance = shares().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
            best = widen(best, shares().reduce(f64::max).unwrap_or(bot));
            worst = widen(worst, shares().reduce(f64::min).unwrap_or(bot));
            spread = widen(spread, variance.sqrt());
        }
        [best, worst, spread].map(|(least, most)| most - least)
    }

    /// The share of pairs from the last game that are together again.
    fn repeated(&self, team_of: &[u8]) -> f64 {
        let mut then = [0u32; super::MAX_TEAMS];
        let mut again = [[0u32; super::MAX_TEAMS]; super::MAX_TEAMS];
        for (human, &team) in self.problem.spec().view.humans.iter().zip(team_of) {
            if let Some(last) = human.last {
                then[usize::from(last)] += 1;
                again[usize::from(last)][usize::from(team)] += 1;
            }
        }
        let pairs = |count: &u32| count * count.saturating_sub(1) / 2;
        let all: u32 = then.iter().map(pairs).sum();
        let kept: u32 = again.iter().flatten().map(pairs).sum();
        f64::from(kept) / f64::from(all.max(1))
    }
}

/// What each human, and then a bot, counts beside the largest weight or the range of weights.
fn shares(view: &GameView) -> Vec<f64> {
    if let Some(model) = &view.chance {
        let range = model.outlook.range();
        let all = model.humans.iter().chain([&model.next_bot]);
        return all.map(|strength| strength / range).collect();
    }
    let weights = || {
        let humans = view.humans.iter().map(|human| human.weight);
        humans.chain([view.weight_of_place()])
    };
    let largest = weights().fold(0.0, f64::max);
    let share = |weight: f64| if largest > 0.0 { weight / largest } else { 0.0 };
    weights().map(share).collect()
}
