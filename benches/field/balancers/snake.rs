//! A snake draft by rating: 1-2-2-2…, as drafts of many sports have it, and team plugins that deal players out by score.
//!
//! The players stand in the order of their ratings. The first goes to one team, the next two to the other, the next two to
//! the first one, and so on. So the order of picks turns round after each round, ABBA.
//!
//! FAForever/server gives the same teams for four players in the comment of `_distribute` in
//! `server/matchmaker/algorithm/bucket_teams.py`: the best and the worst against the two in the middle.

use rand::rngs::ChaCha8Rng;

use super::Assembly;

/// Teams by a snake draft.
pub fn teams(assembly: &Assembly, _: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let mut teams = vec![0; assembly.len()];
    for (place, who) in assembly.best_first().into_iter().enumerate() {
        teams[who] = u8::from([1, 2].contains(&(place % 4)));
    }
    Some(teams)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// The example in that comment: positions 1 to 4 become [1, 4] and [2, 3].
    #[test]
    fn the_best_and_the_worst_play_the_two_in_the_middle() {
        let positions = Assembly::of(&[1.0, 2.0, 3.0, 4.0]);
        let teams = teams(&positions, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        assert_eq!(teams, [0, 1, 1, 0]);
    }

    #[test]
    fn the_order_turns_round_after_each_round() {
        let seven = Assembly::of(&[7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        let teams = teams(&seven, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        assert_eq!(teams, [0, 1, 1, 0, 0, 1, 1]);
    }
}
