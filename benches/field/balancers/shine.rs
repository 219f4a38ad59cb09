//! Shine, a server tool for Natural Selection 2: Person8880/Shine `lua/shine/extensions/voterandom/team_optimiser.lua` at
//! commit e33e41c1, swaps by average and deviation.
//!
//! From the teams as they stand, all swaps of two opponents are looked at, and all moves from the larger team. A swap will
//! do if it makes the difference of the mean skills no larger and that of the deviations smaller, or the difference of the
//! means smaller and that of the deviations larger by less than 40. Of those, it makes the one that leaves the *largest*
//! difference of means, with the smallest one of deviations among them, and begins again until no swap will do.
//!
//! In a move, its mean of the team that gains divides by the number before the move, and so does this one.

use rand::rngs::ChaCha8Rng;

use super::Assembly;

/// By how much the difference of deviations may grow.
const TOLERANCE: f64 = 40.0;
/// The most swaps.
const MOST: usize = 1_000;

/// How unlike two teams are: the differences of their mean skills and of the deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Unlike {
    mean: f64,
    deviation: f64,
}

impl Unlike {
    /// Whether a swap after which the teams are like this will do.
    fn will_do_after(self, before: Self) -> bool {
        if self.mean > before.mean {
            return false;
        }
        let smaller = self.mean < before.mean;
        let within = self.deviation - before.deviation < TOLERANCE;
        self.deviation < before.deviation || smaller && within
    }
}

/// The deviation of skills from a mean.
fn deviation(skills: &[f64], mean: f64) -> f64 {
    let squares = skills.iter().map(|skill| (skill - mean).powi(2));
    match skills.len() {
        0 => 0.0,
        count => (squares.sum::<f64>() / count as f64).sqrt(),
    }
}

/// How unlike teams of these skills are, if their means are computed over so many players.
fn unlike(teams: [&[f64]; 2], counts: [usize; 2]) -> Unlike {
    let mean = |team: usize| teams[team].iter().sum::<f64>() / counts[team].max(1) as f64;
    let means = [mean(0), mean(1)];
    Unlike {
        mean: (means[0] - means[1]).abs(),
        deviation: (deviation(teams[0], means[0]) - deviation(teams[1], means[1])).abs(),
    }
}

/// Two teams as places of players; team `larger` has more of them or as many.
struct Shuffle<'a> {
    ratings: &'a [f64],
    teams: [Vec<usize>; 2],
    larger: usize,
    /// Whether the teams were equally large at the start: then there are no moves.
    equal: bool,
}

impl Shuffle<'_> {
    fn skills(&self, teams: &[Vec<usize>; 2]) -> [Vec<f64>; 2] {
        [0, 1].map(|team| teams[team].iter().map(|who| self.ratings[*who]).collect())
    }

    /// The teams after a swap of the `one`th player of the larger team and the `other`th of the smaller one, or after a
    /// move if there is no such player.
    fn after(&self, one: usize, other: usize) -> [Vec<usize>; 2] {
        let mut teams = self.teams.clone();
        let smaller = 1 - self.larger;
        match teams[smaller].get(other).copied() {
            Some(opponent) => {
                teams[smaller][other] = teams[self.larger][one];
                teams[self.larger][one] = opponent;
            }
            None => {
                let who = teams[self.larger].remove(one);
                teams[smaller].push(who);
            }
        }
        teams
    }

    /// Makes the swap that it chooses; false if none will do.
    fn step(&mut self) -> bool {
        let sizes = |teams: &[Vec<usize>; 2]| [teams[0].len(), teams[1].len()];
        let [first, second] = self.skills(&self.teams);
        let before = unlike([&first, &second], sizes(&self.teams));
        let mut chosen: Option<(Unlike, [Vec<usize>; 2])> = None;
        let smaller = self.teams[1 - self.larger].len();
        for one in 0..self.teams[self.larger].len() {
            for other in 0..smaller + usize::from(!self.equal) {
                let teams = self.after(one, other);
                let mut counts = sizes(&teams);
                if other == smaller {
                    counts[1 - self.larger] -= 1;
                }
                let [first, second] = self.skills(&teams);
                let left = unlike([&first, &second], counts);
                let better = chosen.as_ref().is_none_or(|(best, _)| {
                    left.mean > best.mean
                        || left.mean == best.mean && left.deviation < best.deviation
                });
                if left.will_do_after(before) && better {
                    chosen = Some((left, teams));
                }
            }
        }
        let Some((_, teams)) = chosen else {
            return false;
        };
        if sizes(&teams) != sizes(&self.teams) {
            self.larger = 1 - self.larger;
        }
        self.teams = teams;
        true
    }
}

/// Teams by its swaps.
pub fn teams(assembly: &Assembly, _: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let standing = |team: u8| -> Vec<usize> {
        let on = |who: &usize| assembly.standing[*who] == team;
        (0..assembly.len()).filter(on).collect()
    };
    let teams = [standing(0), standing(1)];
    let mut shuffle = Shuffle {
        ratings: &assembly.ratings,
        larger: usize::from(teams[1].len() > teams[0].len()),
        equal: teams[0].len() == teams[1].len(),
        teams,
    };
    for _ in 0..MOST {
        if !shuffle.step() {
            break;
        }
    }
    Some(super::with_first(assembly.len(), &shuffle.teams[0]))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// The test "SwapPassesRequirements" of its `test/extensions/voterandom/team_optimiser.lua`.
    #[test]
    fn its_test_of_which_swaps_will_do() {
        let unlike = |(mean, deviation)| Unlike { mean, deviation };
        let before = unlike((100.0, 20.0));
        for no in [(120.0, 10.0), (100.0, 20.0), (100.0, 100.0), (90.0, 100.0)] {
            assert!(!unlike(no).will_do_after(before), "{no:?}");
        }
        for yes in [(90.0, 10.0), (100.0, 10.0), (90.0, 30.0)] {
            assert!(unlike(yes).will_do_after(before), "{yes:?}");
        }
    }

    /// Its test "GetAverage": teams of ten with totals of 1,000 and 1,500 swap skills of 50 and 80.
    #[test]
    fn its_test_of_the_mean_after_a_swap() {
        let team = |total: f64, own: f64| [vec![(total - own) / 9.0; 9], vec![own]].concat();
        let mean = |skills: &[f64]| skills.iter().sum::<f64>() / skills.len() as f64;
        assert!((mean(&team(1_030.0, 80.0)) - 103.0).abs() < 1e-9);
        let after = unlike([&team(1_030.0, 80.0), &team(1_470.0, 50.0)], [10, 10]);
        assert!((after.mean - 44.0).abs() < 1e-9);
    }

    /// By hand: means of 2,000 and 1,000, deviations of 100. Two swaps are even, but leave deviations of 400 and 600, which is
    /// too much. The other two leave means of 1,400 and 1,600 with deviations of 500, and after them no swap will do.
    #[test]
    fn unlike_deviations_keep_it_from_even_teams() {
        let assembly = Assembly::of(&[2_100.0, 1_900.0, 1_100.0, 900.0]);
        let teams = teams(&assembly, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        let first = (0..4).filter(|who| teams[*who] == 0);
        assert_eq!(first.map(|who| assembly.ratings[who]).sum::<f64>(), 2_800.0);
    }
}
