//! Zero-K: ZeroK-RTS/Zero-K-Infrastructure `ZkLobbyServer/SpringieInterface/PartitionBalance.cs` at commit
//! 0d95b3c3, meeting in the middle.
//!
//! Parties are units. All subsets of each half of the units are listed by sum, and two pointers find the pair of subsets
//! whose sum is nearest to half of all from below. A million is added to each rating, so that teams become equally large, and
//! an odd number of players is made even by one of mean rating who does not exist.
//!
//! If parties leave a difference above 70, or do not fit, everybody is alone. The first file of that name, `Balancer.cs`,
//! has an older search, which is not this one.

use rand::rngs::ChaCha8Rng;

use super::Assembly;

/// What is added to each rating.
const HEAD: f64 = 1e6;
/// The difference that parties may leave.
const MOST: f64 = 70.0;

/// All subsets of these numbers as bits, with their sums, by sum.
fn subsets(numbers: &[f64]) -> Vec<(f64, u64)> {
    let mut all = vec![(0.0, 0)];
    for (bit, number) in numbers.iter().enumerate() {
        let with: Vec<(f64, u64)> = all
            .iter()
            .map(|(sum, set)| (sum + number, set | 1 << bit))
            .collect();
        all.extend(with);
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// The subset whose sum is nearest to half of all from below, and the difference that it leaves.
fn nearest(numbers: &[f64]) -> (f64, u64) {
    let (first, second) = numbers.split_at(numbers.len() / 2);
    let total: f64 = numbers.iter().sum();
    let (mut best, mut chosen) = (f64::INFINITY, 0);
    let seconds = subsets(second);
    let mut left = seconds.len();
    for (sum, set) in subsets(first) {
        while left > 0 && sum + seconds[left - 1].0 > total / 2.0 {
            left -= 1;
        }
        let Some((other, rest)) = left.checked_sub(1).map(|at| seconds[at]) else {
            break;
        };
        let apart = total - 2.0 * (sum + other);
        if apart < best {
            (best, chosen) = (apart, set | rest << first.len());
        }
    }
    (best, chosen)
}

/// The most even teams of these units, and the difference that they leave. A unit of nobody is the one who does not exist.
fn divide(assembly: &Assembly, mut units: Vec<Vec<usize>>) -> (f64, Vec<u8>) {
    let ratings = &assembly.ratings;
    let mean = ratings.iter().sum::<f64>() / ratings.len() as f64;
    let value = |unit: &Vec<usize>| match unit.is_empty() {
        true => HEAD + mean,
        false => unit.iter().map(|who| HEAD + ratings[*who]).sum(),
    };
    if !ratings.len().is_multiple_of(2) {
        units.push(Vec::new());
    }
    let (apart, set) = nearest(&units.iter().map(value).collect::<Vec<f64>>());
    let mut teams = vec![0; ratings.len()];
    for (bit, unit) in units.iter().enumerate() {
        unit.iter()
            .for_each(|who| teams[*who] = (set >> bit & 1) as u8);
    }
    (apart, teams)
}

/// Teams as in a room for team games, which keeps parties and clans together.
pub fn teams(assembly: &Assembly, _: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let size = assembly.len().div_ceil(2);
    let units = assembly.units();
    if units.len() > 1 && units.iter().all(|unit| unit.len() <= size) {
        let (apart, teams) = divide(assembly, units);
        if apart <= MOST {
            return Some(teams);
        }
    }
    let alone = (0..assembly.len()).map(|who| vec![who]).collect();
    Some(divide(assembly, alone).1)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn of(ratings: &[f64], parties: &[&[usize]]) -> Vec<u8> {
        let mut assembly = Assembly::of(ratings);
        assembly.parties = parties.iter().map(|party| party.to_vec()).collect();
        teams(&assembly, &mut ChaCha8Rng::seed_from_u64(1)).unwrap()
    }

    fn apart(ratings: &[f64], teams: &[u8]) -> f64 {
        let sign = |team: &u8| if *team == 0 { 1.0 } else { -1.0 };
        let signed = ratings
            .iter()
            .zip(teams)
            .map(|(rating, team)| sign(team) * rating);
        signed.sum::<f64>().abs()
    }

    /// A real game in its issue 948: 2160, 1720 and 1466 against 1890, 1872 and 1612.
    #[test]
    fn the_real_game_of_issue_948() {
        let teams = of(&[2160.0, 1890.0, 1872.0, 1720.0, 1612.0, 1466.0], &[]);
        assert_eq!(
            teams.iter().map(|team| team ^ teams[0]).collect::<Vec<_>>(),
            [0, 1, 1, 0, 1, 0]
        );
    }

    /// The other lineup there. Kept together, the clan leaves a difference of 42, which is not too much; all alone leave 12.
    #[test]
    fn the_clan_of_issue_948_stays_together() {
        let ratings = [
            1955.0, 1842.0, 1515.0, 1480.0, 1920.0, 1850.0, 1510.0, 1470.0,
        ];
        let kept = of(&ratings, &[&[0, 1, 2, 3]]);
        assert!(kept[..4].iter().all(|team| *team == kept[0]), "{kept:?}");
        assert_eq!(apart(&ratings, &kept), 42.0);
        assert_eq!(apart(&ratings, &of(&ratings, &[])), 12.0);
    }

    /// By its rules: 100 more for the clan are too much, so it is divided.
    #[test]
    fn a_clan_that_is_too_strong_is_divided() {
        let ratings = [
            2055.0, 1842.0, 1515.0, 1480.0, 1920.0, 1850.0, 1510.0, 1470.0,
        ];
        let teams = of(&ratings, &[&[0, 1, 2, 3]]);
        assert!(teams[..4].contains(&0) && teams[..4].contains(&1));
    }

    /// By its rules: of 1, 2 and 6, one who does not exist has 3, so the best plays alone against both others.
    #[test]
    fn an_odd_player_is_beside_one_who_does_not_exist() {
        let teams = of(&[1.0, 2.0, 6.0], &[]);
        assert_eq!(
            teams.iter().map(|team| team ^ teams[0]).collect::<Vec<_>>(),
            [0, 1, 0]
        );
    }
}
