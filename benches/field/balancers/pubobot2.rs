//! PUBobot2, Leshaka/PUBobot2 `bot/match/match.py` at commit 0875b99b: pick-up games on Discord, teams by "matchmaking".
//!
//! All choices of half of the players are tried, in the order in which they joined. The team is taken whose sum of ratings
//! is nearest to half of the sum of all. Of equally good ones, it is the first. Its queues have an even number of players.

use rand::rngs::ChaCha8Rng;

use super::{Assembly, choices, of_choice, sum_of_choice};

/// Teams of an even number of players.
pub fn teams(assembly: &Assembly, random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let even = assembly.len().is_multiple_of(2);
    even.then(|| most_even(assembly, random)).flatten()
}

/// The most even teams by the sum of ratings.
pub fn most_even(assembly: &Assembly, _: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let players = assembly.len();
    let half = assembly.ratings.iter().sum::<f64>() / 2.0;
    let mut best: Option<(f64, u32)> = None;
    for choice in choices(players, players / 2) {
        let off = (sum_of_choice(&assembly.ratings, choice) - half).abs();
        if best.is_none_or(|(least, _)| off < least) {
            best = Some((off, choice));
        }
    }
    best.map(|(_, choice)| of_choice(players, choice))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::{super::with_first, *};

    /// What the expression of its `init_teams` gives in Python 3, with ids for players. For each list `r`:
    /// `min(combinations(range(len(r)), len(r)//2), key=lambda team: abs(sum([r[m] for m in team])-sum(r)/2))`.
    #[test]
    fn its_own_expression_gives_the_same_teams() {
        let answers: [(&[f64], &[usize]); 4] = [
            (&[1500.0, 1432.0, 1610.0, 1389.0], &[0, 1]),
            (
                &[
                    1210.0, 1840.0, 1555.0, 1555.0, 1402.0, 1333.0, 1718.0, 1490.0,
                ],
                &[0, 2, 3, 6],
            ),
            (
                &[2160.0, 1720.0, 1466.0, 1890.0, 1872.0, 1612.0],
                &[0, 1, 2],
            ),
            (&[1500.0, 1600.0, 1700.0, 1800.0, 1900.0], &[3, 4]),
        ];
        for (ratings, first) in answers {
            let random = &mut ChaCha8Rng::seed_from_u64(1);
            let teams = most_even(&Assembly::of(ratings), random).unwrap();
            assert_eq!(teams, with_first(ratings.len(), first));
        }
    }
}
