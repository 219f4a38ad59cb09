//! Natural Selection 2, the page on its skill system (build 267): "Force Even Teams" with the fewest swaps.
//!
//! Everybody stays on the team on which they stand. Of all pairs of two opponents, that pair changes teams that leaves the
//! smallest difference of the teams' mean skills. This is repeated until no pair makes the difference smaller.
//!
//! The page publishes no example: the test has answers that were worked out by its two steps by hand.

use rand::rngs::ChaCha8Rng;

use super::Assembly;

/// How far the mean skills of the teams are apart.
fn difference(ratings: &[f64], teams: &[u8]) -> f64 {
    let mean = |team: u8| {
        let own = || teams.iter().zip(ratings).filter(move |(t, _)| **t == team);
        own().map(|(_, rating)| rating).sum::<f64>() / own().count().max(1) as f64
    };
    (mean(0) - mean(1)).abs()
}

/// Teams with the fewest swaps.
pub fn teams(assembly: &Assembly, _: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let mut teams = assembly.standing.clone();
    let mut now = difference(&assembly.ratings, &teams);
    loop {
        let mut best: Option<(usize, usize)> = None;
        for one in (0..teams.len()).filter(|who| teams[*who] == 0) {
            for other in (0..teams.len()).filter(|who| teams[*who] == 1) {
                let mut swapped = teams.clone();
                swapped.swap(one, other);
                let left = difference(&assembly.ratings, &swapped);
                if left < now {
                    (now, best) = (left, Some((one, other)));
                }
            }
        }
        match best {
            Some((one, other)) => teams.swap(one, other),
            None => return Some(teams),
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn of(ratings: &[f64]) -> Vec<u8> {
        teams(&Assembly::of(ratings), &mut ChaCha8Rng::seed_from_u64(1)).unwrap()
    }

    /// 15 against 5.5 differ by 9.5. If 6 and 1 change teams, 10 and 10.5 are left; each other pair leaves 1.5 or more. Then
    /// each pair leaves more than 0.5.
    #[test]
    fn the_best_pair_changes_teams() {
        assert_eq!(of(&[6.0, 5.0, 4.0, 1.0, 2.0, 2.5]), [1, 0, 0, 0, 1, 1]);
    }

    /// 34 against 10.5: first 10 and 1 change teams, which leaves 25 against 19.5, then 7 and 4.5, which leaves 22.5 against 22.
    #[test]
    fn a_second_pair_follows() {
        let ratings = [10.0, 9.0, 8.0, 7.0, 1.0, 2.0, 3.0, 4.5];
        assert_eq!(of(&ratings), [1, 0, 0, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn even_teams_stay() {
        assert_eq!(of(&[4.0, 1.0, 3.0, 2.0]), [0, 0, 1, 1]);
    }
}
