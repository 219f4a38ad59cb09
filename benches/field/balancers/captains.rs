//! A captains' draft by rating, as in pick-up games. The order of the picks is that of the Tribes: Ascend pick-up games in
//! Dylan-B-D/ta-pug-trueskill-statistics (2019 to 2023), whose records name who was picked when.
//!
//! The two best players are the captains, and the weaker one picks first. They pick by turns, one player each time. Each
//! picks the best who is left.

use rand::rngs::ChaCha8Rng;

use super::Assembly;

/// The team that gets the pick of this number: 0 has the first, third and fifth pick, 1 the second, fourth and sixth.
fn picks(number: usize) -> u8 {
    u8::from(number.is_multiple_of(2))
}

/// Teams by a draft; team 0 is that of the weaker captain.
pub fn teams(assembly: &Assembly, _: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let mut teams = vec![0; assembly.len()];
    for (place, who) in assembly.best_first().into_iter().enumerate() {
        teams[who] = match place {
            0 => 1,
            1 => 0,
            later => picks(later - 1),
        };
    }
    Some(teams)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// The first record of the history: the roles of its teams are `captain pick1 pick3 … pick11` and `captain pick2 pick4 …
    /// pick12`.
    #[test]
    fn the_picks_alternate_as_in_the_history() {
        let of = |team: u8| -> Vec<usize> { (1..=12).filter(|n| picks(*n) == team).collect() };
        assert_eq!(of(0), [1, 3, 5, 7, 9, 11]);
        assert_eq!(of(1), [2, 4, 6, 8, 10, 12]);
    }

    #[test]
    fn the_best_who_is_left_is_picked() {
        let assembly = Assembly::of(&[10.0, 60.0, 50.0, 40.0, 30.0, 20.0]);
        let teams = teams(&assembly, &mut ChaCha8Rng::seed_from_u64(1)).unwrap();
        // Captains 60 and 50; 50 picks 40, 60 picks 30, 50 picks 20, and 10 is left for 60.
        assert_eq!(teams, [1, 1, 0, 0, 1, 0]);
    }
}
