//! Balancers of others, each in a file of its own, written anew from its published description or from facts that its
//! source shows.
//!
//! They share nothing with this project's way to choose teams. Each gets what it would know: a rating of each player on
//! the scale that it is made for, who came together, and where everybody stands. It answers with teams, or with nothing
//! where its own rules do.

pub mod brute_force;
pub mod captains;
pub mod faf;
pub mod karmarkar_karp;
pub mod loser_picks;
pub mod ns2;
pub mod pubobot2;
pub mod scramble;
pub mod shine;
pub mod snake;
pub mod spads;
pub mod squadjs;
pub mod tf2pickup;
pub mod ut2004;
pub mod zero_k;

use rand::rngs::ChaCha8Rng;

/// The people who are to be divided into two teams.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// Each player's rating, on the scale of the balancer.
    pub ratings: Vec<f64>,
    /// How many matches each has played.
    pub games: Vec<u32>,
    /// Those who came together, by their places.
    pub parties: Vec<Vec<usize>>,
    /// The team on which each stands before, 0 or 1.
    pub standing: Vec<u8>,
}

/// The teams of an assembly by player, 0 or 1; `None` if the balancer's own rules have no answer. What it draws by lot comes
/// from the random numbers.
pub type Balancer = fn(&Assembly, &mut ChaCha8Rng) -> Option<Vec<u8>>;

impl Assembly {
    /// People without parties, who stand on no team of their choice: the first half on team 0.
    #[cfg(test)]
    pub fn of(ratings: &[f64]) -> Self {
        let half = ratings.len().div_ceil(2);
        Self {
            ratings: ratings.to_vec(),
            games: vec![100; ratings.len()],
            parties: Vec::new(),
            standing: (0..ratings.len()).map(|at| u8::from(at >= half)).collect(),
        }
    }

    /// The number of players.
    pub fn len(&self) -> usize {
        self.ratings.len()
    }

    /// Everybody as units that come together: the parties, then each of the others alone, in order.
    pub fn units(&self) -> Vec<Vec<usize>> {
        let alone = (0..self.len()).filter(|who| !self.parties.iter().any(|p| p.contains(who)));
        let mut units = self.parties.clone();
        units.extend(alone.map(|who| vec![who]));
        units
    }

    /// The places of the players, the best rating first. Equal ratings stay in order.
    pub fn best_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|a, b| self.ratings[*b].total_cmp(&self.ratings[*a]));
        order
    }
}

/// The teams in which `first` are on team 0, and all others of `players` on team 1.
pub fn with_first(players: usize, first: &[usize]) -> Vec<u8> {
    let team = |who| u8::from(!first.contains(&who));
    (0..players).map(team).collect()
}

/// All choices of `size` of `players`, at most 31, in the order of the list of their places: 012, 013, 023, 123. A choice
/// is a number whose highest bit stands for the first player.
pub fn choices(players: usize, size: usize) -> impl Iterator<Item = u32> {
    assert!(players < 32 && size <= players);
    let all = (1_u32 << players) - 1;
    // Those who are left out, from the smallest number to the largest (Gosper's hack).
    let mut left_out = Some((1_u32 << (players - size)) - 1);
    std::iter::from_fn(move || {
        let now = left_out?;
        let lowest = now & now.wrapping_neg();
        left_out = (lowest > 0).then(|| {
            let ripple = now + lowest;
            ripple | (((now ^ ripple) >> 2) / lowest)
        });
        left_out = left_out.filter(|next| *next <= all);
        Some(all ^ now)
    })
}

/// The teams of a [choice](choices), whose players are on team 0.
pub fn of_choice(players: usize, choice: u32) -> Vec<u8> {
    let team = |who: usize| u8::from(choice >> (players - 1 - who) & 1 == 0);
    (0..players).map(team).collect()
}

/// The sum of the ratings of a [choice](choices).
pub fn sum_of_choice(ratings: &[f64], choice: u32) -> f64 {
    let places = (0..ratings.len()).rev();
    let chosen = places
        .zip(ratings)
        .filter(|(bit, _)| choice >> bit & 1 == 1);
    chosen.map(|(_, rating)| rating).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_come_in_the_order_of_their_places() {
        let of_three: Vec<Vec<u8>> = choices(4, 3).map(|choice| of_choice(4, choice)).collect();
        let expected = [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]];
        assert_eq!(of_three, expected);
        assert_eq!(choices(16, 8).count(), 12_870);
        assert_eq!(choices(3, 3).collect::<Vec<_>>(), [7]);
        assert_eq!(choices(2, 0).collect::<Vec<_>>(), [0]);
        assert_eq!(sum_of_choice(&[1.0, 2.0, 4.0], 0b101), 5.0);
    }
}
