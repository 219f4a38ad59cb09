//! A scramble, as most games have one: `mp_scrambleteams` of Team Fortress 2, `shuffleteams` of many others.
//!
//! All are dealt out at random into two teams of equal size. With an odd number, team 0 has one more. No rating is used.

use rand::{rngs::ChaCha8Rng, seq::SliceRandom};

use super::Assembly;

/// Teams at random.
pub fn teams(assembly: &Assembly, random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let half = assembly.len().div_ceil(2);
    let mut teams: Vec<u8> = (0..assembly.len()).map(|at| u8::from(at >= half)).collect();
    teams.shuffle(random);
    Some(teams)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::SeedableRng;

    use super::*;

    /// Of four players there are six divisions, so 6,000 scrambles have each about 1,000 times: 4.5 standard deviations
    /// of 29 are 130.
    #[test]
    fn every_division_is_as_likely() {
        let assembly = Assembly::of(&[1.0, 2.0, 3.0, 4.0]);
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut seen: BTreeMap<Vec<u8>, i32> = BTreeMap::new();
        for _ in 0..6_000 {
            *seen
                .entry(teams(&assembly, &mut random).unwrap())
                .or_default() += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(
            seen.values().all(|times| (times - 1_000).abs() < 130),
            "{seen:?}"
        );
    }
}
