//! Teiserver's exact search of up to 16 players: beyond-all-reason/teiserver `lib/teiserver/battle/balance/brute_force.ex` at
//! commit 1167f10e (2024).
//!
//! All divisions into equal teams are tried. The one with the lowest score is taken: the difference of the sums of ratings,
//! and 7 for each party that is not on one team. With an odd number of players, or more than 16, it uses `loser_picks`.
//!
//! On a server, each rating is changed at random by up to half a point.

use rand::{RngExt, rngs::ChaCha8Rng};

use super::{
    Assembly, choices,
    loser_picks::{self, fuzzed},
    of_choice, sum_of_choice,
};

/// What a broken party costs.
const BROKEN: f64 = 7.0;
/// The most players.
const MOST: usize = 16;

/// The lowest score and its teams.
fn best(assembly: &Assembly) -> Option<(f64, Vec<u8>)> {
    let players = assembly.len();
    let total: f64 = assembly.ratings.iter().sum();
    let bit = |who: &usize| 1_u32 << (players - 1 - who);
    let parties = assembly.parties.iter();
    let parties: Vec<u32> = parties.map(|party| party.iter().map(bit).sum()).collect();
    // The first player is always on the first team.
    let choices = choices(players, players / 2).take_while(|choice| choice >> (players - 1) == 1);
    let mut best: Option<(f64, u32)> = None;
    for choice in choices {
        let broken = |party: &&u32| ![0, **party].contains(&(choice & **party));
        let broken = parties.iter().filter(broken).count() as f64;
        let apart = (total - 2.0 * sum_of_choice(&assembly.ratings, choice)).abs();
        let score = apart + BROKEN * broken;
        if best.is_none_or(|(least, _)| score < least) {
            best = Some((score, choice));
        }
    }
    best.map(|(score, choice)| (score, of_choice(players, choice)))
}

/// Teams as a server picks them.
pub fn teams(assembly: &Assembly, random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let fuzzed = fuzzed(assembly, random);
    if fuzzed.len() > MOST || !fuzzed.len().is_multiple_of(2) {
        return Some(loser_picks::pick(&fuzzed, || random.random_range(0..2)));
    }
    best(&fuzzed).map(|(_, teams)| teams)
}

#[cfg(test)]
mod tests {
    use super::{super::with_first, *};

    /// "can process expanded_group" in `test/teiserver/battle/brute_force_test.exs`, a real battle.
    #[test]
    fn its_test_with_a_party() {
        let ratings = [
            12.25, 13.98, 18.28, 2.8, 8.89, 20.49, 18.4, 20.42, 8.26, 17.64, 20.06, 3.58,
        ];
        let mut assembly = Assembly::of(&ratings);
        assembly.parties = vec![vec![0, 1]];
        let (_, teams) = best(&assembly).unwrap();
        assert_eq!(teams, with_first(12, &[0, 1, 4, 5, 6, 8]));
    }

    /// "can keep parties together" there, another real battle, with its score.
    #[test]
    fn its_test_with_two_parties() {
        let ratings = [
            23.37, 28.2, 16.14, 32.23, 23.0, 28.32, 4.5, 13.08, 35.62, 14.12,
        ];
        let mut assembly = Assembly::of(&ratings);
        assembly.parties = vec![vec![0, 1, 2, 3], vec![4, 5]];
        let (score, teams) = best(&assembly).unwrap();
        assert_eq!(teams, with_first(10, &[0, 1, 2, 3, 7]));
        assert!((score - 7.46).abs() < 0.05, "{score}");
    }

    /// "can get all combos" in `brute_force_internal_test.exs`: 462 divisions of twelve players.
    #[test]
    fn its_number_of_divisions() {
        let first = |choice: &u32| choice >> 11 == 1;
        assert_eq!(choices(12, 6).take_while(first).count(), 462);
    }
}
