//! FAForever/server `server/matchmaker/algorithm/team_matchmaker.py` at commit 0e484122
//! (2020): `make_teams`, Karmarkar–Karp on parties.
//!
//! A party that fills a team is one. A party that lacks one player gets that single player with whom it comes nearest to
//! the mean of all. All others are divided by differencing of the parties' sums, to each of which 5,000 for each member is
//! added, so that the teams become equally large.
//!
//! If they do not, FAF starts no match. It never has an odd number of players.

use rand::rngs::ChaCha8Rng;

use super::{Assembly, karmarkar_karp::larger_side, with_first};

/// What is added for each player.
const HEAD: f64 = 5_000.0;

/// The members of a party with the single player who fits it best: those below the mean are tried from the worst player on,
/// those above it from the best one, until the next one is farther off.
fn filled(ratings: &[f64], party: &[usize], singles: &[usize]) -> Option<Vec<usize>> {
    let mean = |who: &[usize]| who.iter().map(|w| ratings[*w]).sum::<f64>() / who.len() as f64;
    let everybody: Vec<usize> = (0..ratings.len()).collect();
    let target = mean(&everybody);
    let mut tried = singles.to_vec();
    tried.sort_by(|a, b| ratings[*a].total_cmp(&ratings[*b]));
    if target >= mean(party) {
        tried.reverse();
    }
    let with = |single: usize| [party, &[single]].concat();
    let off = |single: usize| (target - mean(&with(single))).abs();
    let mut tried = tried.into_iter();
    let mut chosen = tried.next()?;
    for next in tried {
        if off(next) > off(chosen) {
            break;
        }
        chosen = next;
    }
    Some(with(chosen))
}

/// FAF's teams; `None` where it starts no match.
pub fn teams(assembly: &Assembly, _: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let (players, ratings) = (assembly.len(), &assembly.ratings);
    let size = players / 2;
    if !players.is_multiple_of(2) {
        return None;
    }
    let units = assembly.units();
    let of_size = |size: usize| units.iter().rfind(|unit| unit.len() == size);
    let first = match (of_size(size), of_size(size - 1)) {
        (Some(party), _) => party.clone(),
        (None, Some(party)) => {
            let singles = units
                .iter()
                .filter(|unit| unit.len() == 1 && *unit != party);
            filled(
                ratings,
                party,
                &singles.map(|unit| unit[0]).collect::<Vec<_>>(),
            )?
        }
        (None, None) => {
            let sum = |unit: &Vec<usize>| unit.iter().map(|who| HEAD + ratings[*who]).sum();
            let sums: Vec<f64> = units.iter().map(sum).collect();
            let larger = larger_side(&sums).into_iter();
            larger.flat_map(|unit| units[unit].clone()).collect()
        }
    };
    (first.len() == size).then(|| with_first(players, &first))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Asserts that these are the teams in `tests/unit_tests/test_matchmaker_algorithm_team_matchmaker.py`: `first` is its
    /// `team_a`, and parties are in its order.
    fn assert_teams(ratings: &[f64], parties: &[&[usize]], first: Option<&[usize]>) {
        let mut assembly = Assembly::of(ratings);
        assembly.parties = parties.iter().map(|party| party.to_vec()).collect();
        let teams = teams(&assembly, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(
            teams,
            first.map(|first| with_first(ratings.len(), first)),
            "{ratings:?}"
        );
    }

    /// `test_team_matchmaker_make_teams` and `…_3`.
    #[test]
    fn its_tests_with_single_players() {
        let ratings = [910.0, 1030.0, 1170.0, 1430.0, 1700.0, 1650.0, 1490.0, 520.0];
        assert_teams(&ratings, &[], Some(&[0, 1, 3, 5]));
        let ratings = [
            925.0, 1084.0, 1015.0, 1094.0, 1403.0, 1526.0, 1637.0, 1718.0,
        ];
        assert_teams(&ratings, &[], Some(&[1, 2, 4, 7]));
    }

    /// `test_team_matchmaker_make_teams_2`, `…_4`, and the one with negative ratings.
    #[test]
    fn its_tests_with_parties() {
        let ratings = [1310.0, 620.0, 1230.0, 1070.0, 1180.0, 1090.0, 800.0, 1060.0];
        assert_teams(&ratings, &[&[7, 6, 5], &[4, 3]], Some(&[5, 6, 7, 2]));
        let ratings = [
            925.0, 1084.0, 1015.0, 1526.0, 1637.0, 1718.0, 1094.0, 1403.0,
        ];
        assert_teams(&ratings, &[&[7, 6]], Some(&[1, 4, 6, 7]));
        let ratings = [625.0, -184.0, -15.0, 94.0, 403.0, 526.0, 637.0, -218.0];
        assert_teams(&ratings, &[&[7, 6]], Some(&[0, 1, 3, 4]));
    }

    /// The tests with a full and an almost full party, and `test_handle_impossible_team_splits`.
    #[test]
    fn its_tests_with_large_parties() {
        let ratings = [
            925.0, 1084.0, 1015.0, 1094.0, 1403.0, 1526.0, 1637.0, 1718.0,
        ];
        assert_teams(&ratings, &[&[7, 6, 5, 4]], Some(&[4, 5, 6, 7]));
        let ratings = [1415.0, 125.0, 1294.0, 584.0, 1303.0, 1526.0, 1237.0, 1218.0];
        assert_teams(&ratings, &[&[7, 6, 5]], Some(&[5, 6, 7, 3]));
        assert_teams(&ratings, &[&[7, 6, 5], &[4, 3, 2], &[1, 0]], None);
    }
}
