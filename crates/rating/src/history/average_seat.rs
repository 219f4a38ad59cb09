//! The average seat of a standing: whom the weight 50 stands for.
//!
//! All players share some effects, such as that of being new, each with factors of their own ([`Effects`]). What the
//! effects add for everybody says nothing about a player, so a weight compares a player's factors with the mean factors of
//! those who played: one seat for each player who learned from a rated match, human or bot, however long they played.
//! The mean forgets old matches, so that it follows a community that ages.

use serde::{Deserialize, Serialize};

use crate::Effects;

/// The seats after which what was there counts half: some sixty matches of four against four.
const HALF_LIFE: f64 = 500.0;

/// The mean factors of those who played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct AverageSeat {
    /// The number of seats, in which older ones count less.
    seats: f64,
    /// The sums of their factors.
    sums: Effects,
}

impl AverageSeat {
    /// Adds the seats of a match, by the factors of their players after it.
    pub fn add(&mut self, match_seats: &[Effects]) {
        let kept = libm::exp2(-(match_seats.len() as f64) / HALF_LIFE);
        self.seats *= kept;
        self.sums = self.sums.map(|sum| sum * kept);
        for factors in match_seats {
            self.seats += 1.0;
            for (sum, factor) in self.sums.iter_mut().zip(factors) {
                *sum += factor;
            }
        }
    }

    /// The mean factors; `None` before any match.
    pub fn factors(&self) -> Option<Effects> {
        (self.seats > 0.0).then(|| self.sums.map(|sum| sum / self.seats))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_seats_count_half_after_five_hundred() {
        let mut average = AverageSeat::default();
        assert_eq!(average.factors(), None);
        average.add(&[[1.0, 0.0, 0.5], [0.0, 2.0, -0.5]]);
        assert_eq!(average.factors(), Some([0.5, 1.0, 0.0]));
        average.add(&[]);
        assert_eq!(average.factors(), Some([0.5, 1.0, 0.0]));
        // Two seats with 0.5 count as one after 500 others with 0.
        (0..125).for_each(|_| average.add(&[[0.0; 3]; 4]));
        let by_hand = 0.5
            / (1.0
                + (0..125)
                    .map(|n| 4.0 * 0.5_f64.powf(f64::from(n) * 4.0 / 500.0))
                    .sum::<f64>());
        let newness = average.factors().unwrap()[0];
        assert!((newness - by_hand).abs() < 1e-12, "{newness} {by_hand}");
    }
}
