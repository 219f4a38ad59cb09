//! tf2pickup.org: tf2pickup-org/server `src/games/utils/pick-teams.ts` at commit 0711a7eb (2020),
//! pick-up games of Team Fortress 2.
//!
//! Each class has as many players in both teams, so only divisions within the classes are tried: one against one, or two
//! against two. The smallest difference of the teams' mean skills wins, and a draw decides among equal ones. If friends are
//! stated, divisions count in which some of them are together on the first team.
//!
//! The recorded games have no such classes: here they are drawn, as in its six against six: four scouts, four soldiers, two
//! demomen, two medics, and so on. Of an odd number, the last one plays alone.

use rand::{RngExt, rngs::ChaCha8Rng, seq::SliceRandom};

use super::{Assembly, with_first};

/// The sizes of the classes of six against six, again and again.
const SIZES: [usize; 4] = [4, 4, 2, 2];

/// The ways to choose those of a class for the first team.
fn ways(class: &[usize]) -> Vec<Vec<usize>> {
    match class {
        [one] => vec![vec![*one], Vec::new()],
        [one, other] => vec![vec![*one], vec![*other]],
        more => {
            let pairs = (0..more.len()).flat_map(|a| (a + 1..more.len()).map(move |b| (a, b)));
            pairs.map(|(a, b)| vec![more[a], more[b]]).collect()
        }
    }
}

/// All first teams with the smallest difference of mean skills.
fn best(ratings: &[f64], classes: &[Vec<usize>], friends: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut firsts: Vec<Vec<usize>> = vec![Vec::new()];
    for class in classes {
        let ways = ways(class);
        let with = |first: &Vec<usize>| {
            ways.iter()
                .map(|way| [&first[..], way].concat())
                .collect::<Vec<_>>()
        };
        firsts = firsts.iter().flat_map(with).collect();
    }
    firsts.retain(|first| !first.is_empty() && first.len() < ratings.len());
    let together = |first: &Vec<usize>| {
        friends
            .iter()
            .any(|f| f.iter().all(|who| first.contains(who)))
    };
    if firsts.iter().any(together) {
        firsts.retain(together);
    }
    let total: f64 = ratings.iter().sum();
    let apart = |first: &Vec<usize>| {
        let sum: f64 = first.iter().map(|who| ratings[*who]).sum();
        let second = (ratings.len() - first.len()) as f64;
        (sum / first.len() as f64 - (total - sum) / second).abs()
    };
    let differences: Vec<f64> = firsts.iter().map(apart).collect();
    let least = differences.iter().copied().fold(f64::INFINITY, f64::min);
    let kept = firsts.into_iter().zip(differences);
    kept.filter(|(_, apart)| *apart <= least)
        .map(|(first, _)| first)
        .collect()
}

/// Teams of players whose classes are drawn.
pub fn teams(assembly: &Assembly, random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let mut left: Vec<usize> = (0..assembly.len()).collect();
    left.shuffle(random);
    let mut classes = Vec::new();
    for size in SIZES.iter().cycle() {
        let even = left.len() - left.len() % 2;
        match even.min(*size) {
            0 => break,
            size => classes.push(left.split_off(left.len() - size)),
        }
    }
    classes.extend((!left.is_empty()).then_some(left));
    let best = best(&assembly.ratings, &classes, &assembly.parties);
    let drawn = random.random_range(0..best.len().max(1));
    Some(with_first(assembly.len(), best.get(drawn)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests of four slots in its `pick-teams.spec.ts`: soldiers of skill 1 to 4, without friends and with 0 and 2.
    #[test]
    fn its_tests_with_four_slots() {
        let soldiers = [vec![0, 1, 2, 3]];
        let ratings = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(best(&ratings, &soldiers, &[]), [[0, 3], [1, 2]]);
        assert_eq!(best(&ratings, &soldiers, &[vec![0, 2]]), [[0, 2]]);
    }

    /// Its tests of twelve slots: the soldier of skill 5 and the medic of skill 3 are not on one team, unless as friends.
    #[test]
    fn its_tests_with_twelve_slots() {
        let classes = [vec![0, 1, 2, 3], vec![4, 5, 6, 7], vec![8, 9], vec![10, 11]];
        let ratings = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 1.0, 1.0, 1.0, 3.0, 1.0];
        let found = best(&ratings, &classes, &[]);
        let apart =
            |first: &Vec<usize>| first.len() == 6 && first.contains(&6) != first.contains(&10);
        assert!(!found.is_empty() && found.iter().all(apart));
        let found = best(&ratings, &classes, &[vec![10, 6]]);
        let together = |first: &Vec<usize>| first.contains(&6) && first.contains(&10);
        assert!(!found.is_empty() && found.iter().all(together));
    }
}
