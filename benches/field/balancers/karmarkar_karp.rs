//! Karmarkar and Karp's differencing, "The Differencing Method of Set Partitioning" (1982).
//!
//! The two largest numbers go to different teams, and their difference takes their place. This is repeated until one number
//! is left, which is the difference of the teams. Nothing keeps the teams of equal size but the size of the ratings, so that
//! an odd number of players is made even here by one of mean rating who does not exist.

use rand::rngs::ChaCha8Rng;

use super::{Assembly, with_first};

/// A difference, and the places that it holds on its own side and on the other.
struct Differenced {
    value: f64,
    own: Vec<usize>,
    other: Vec<usize>,
}

/// The places of the numbers on the larger side. Of equal numbers, the later one counts as the larger.
pub fn larger_side(numbers: &[f64]) -> Vec<usize> {
    let one = |(at, value): (usize, &f64)| Differenced {
        value: *value,
        own: vec![at],
        other: Vec::new(),
    };
    let mut rising: Vec<Differenced> = numbers.iter().enumerate().map(one).collect();
    rising.sort_by(|a, b| a.value.total_cmp(&b.value));
    while rising.len() > 1
        && let (Some(mut larger), Some(smaller)) = (rising.pop(), rising.pop())
    {
        larger.value -= smaller.value;
        larger.own.extend(smaller.other);
        larger.other.extend(smaller.own);
        let at = rising.partition_point(|one| one.value <= larger.value);
        rising.insert(at, larger);
    }
    rising.pop().map_or(Vec::new(), |last| last.own)
}

/// Teams by differencing.
pub fn teams(assembly: &Assembly, _: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let mut numbers = assembly.ratings.clone();
    if !numbers.len().is_multiple_of(2) {
        numbers.push(numbers.iter().sum::<f64>() / numbers.len() as f64);
    }
    Some(with_first(assembly.len(), &larger_side(&numbers)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Korf, "A complete anytime algorithm for number partitioning" (1998), section 2: 8, 7, 6, 5, 4 end with a
    /// difference of 2 in {8, 6} and {7, 5, 4}, although {8, 7} and {6, 5, 4} are even.
    #[test]
    fn the_textbook_example_ends_with_a_difference_of_two() {
        let numbers = [4.0, 5.0, 6.0, 7.0, 8.0];
        let mut larger = larger_side(&numbers);
        larger.sort_unstable();
        assert_eq!(larger, [0, 1, 3]);
        let sum: f64 = larger.iter().map(|at| numbers[*at]).sum();
        assert_eq!(sum, 16.0);
    }

    #[test]
    fn one_number_is_on_the_larger_side() {
        assert_eq!(larger_side(&[3.0]), [0]);
        assert_eq!(larger_side(&[]), [] as [usize; 0]);
    }
}
