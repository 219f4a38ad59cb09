//! The factors on the weights of parties: as configured, and as matches have shown.
//!
//! The configured factor is what is assumed before matches show anything. As they do, what the rating
//! system has learned of friends takes its place, in proportion to how much it has learned.

use std::fmt;

use super::{Lobby, LobbyError, Weights};
use evenkeel_model::{Outlook, UNITS, units::Factor};
use evenkeel_partition::party_factor;

/// The largest party with a factor of its own, if something has been learned; larger ones have the same.
const LARGEST: usize = 8;

/// The factors on the weights of parties in a game.
#[derive(Clone, Debug, PartialEq)]
pub struct PartyFactors {
    /// One for parties of 2, 3 and so on, the last one for all larger parties. Empty stands for 1.
    pub factors: Vec<Factor>,
    /// How much of them is learned from matches, 0 to 1; the rest is configured.
    pub learned: f64,
}

impl PartyFactors {
    fn new(configured: &[Factor], outlook: Option<&Outlook>) -> Self {
        let learned = outlook.map_or(0.0, |outlook| outlook.company.learned);
        let factors = match outlook.filter(|_| learned > 0.0) {
            Some(outlook) => (2..=LARGEST)
                .map(|size| blended(outlook, size, party_factor(configured, size)))
                .collect(),
            None => configured.to_vec(),
        };
        Self { factors, learned }
    }

    /// The factor on the weight of each member of a party of this size.
    pub(super) fn of(&self, size: usize) -> f64 {
        party_factor(&self.factors, size)
    }
}

/// The factor that adds as much to the weight of an average player as friends add: what was learned of their strength,
/// and the part of the configured factor that was not learned. Friends who are weaker together have 1.
fn blended(outlook: &Outlook, size: usize, configured: f64) -> Factor {
    let friends = size.saturating_sub(1) as f64;
    let learned = outlook.company.per_friend * friends / (UNITS * outlook.unit);
    let assumed = (1.0 - outlook.company.learned) * (configured - 1.0);
    let most = Factor::of(10.0);
    Factor::try_from((1.0 + learned + assumed).clamp(1.0, most.get())).unwrap_or(most)
}

/// The line for EXPLAIN.
impl fmt::Display for PartyFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.learned;
        write!(
            f,
            "parties: two friends count {:.3} times their weights, three {:.3} times; {percent:.0} % of that is \
             learned from matches, the rest is party_multiplier",
            self.of(2),
            self.of(3)
        )
    }
}

impl Lobby {
    /// The factors on the weights of parties in the current game; `None` if no two players of it are in
    /// one party.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn party_factors(&self, weights: &dyn Weights) -> Result<Option<PartyFactors>, LobbyError> {
        let humans = self.team_game()?.roster.humans();
        let has_friend = humans.iter().enumerate().any(|(index, human)| {
            human.party.is_some() && humans[..index].iter().any(|h| h.party == human.party)
        });
        if !has_friend {
            return Ok(None);
        }
        let outlook = weights.outlook(&self.lineup()?);
        let configured = &self.settings.party_multiplier;
        Ok(Some(PartyFactors::new(configured, outlook.as_ref())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::outlook;
    use evenkeel_model::Company;

    fn factors(per_friend: f64, learned: f64) -> PartyFactors {
        let configured = [1.15, 1.2].map(Factor::of);
        let company = Company {
            per_friend,
            learned,
        };
        PartyFactors::new(
            &configured,
            Some(&Outlook {
                company,
                ..outlook()
            }),
        )
    }

    #[test]
    fn what_is_configured_gives_way_to_what_is_learned() {
        let sizes = |found: &PartyFactors| [1, 2, 3, 4, 9].map(|size| found.of(size));
        assert_eq!(sizes(&factors(0.0, 0.0)), [1.0, 1.15, 1.2, 1.2, 1.2]);
        // With a unit of 1, a strength of 0.1 is a sixtieth of the weight 50.
        let near = |found: PartyFactors, by_hand: [f64; 5]| {
            let found = sizes(&found);
            let close = found
                .iter()
                .zip(by_hand)
                .all(|(x, y)| (x - y).abs() < 1e-12);
            assert!(close, "{found:?} {by_hand:?}");
        };
        let learned = [0.0, 1.0, 2.0, 3.0, 7.0].map(|friends| friends / 60.0);
        near(factors(0.1, 1.0), learned.map(|learned| 1.0 + learned));
        let half = [0.0, 0.075, 0.1, 0.1, 0.1];
        near(
            factors(0.1, 0.5),
            [0, 1, 2, 3, 4].map(|at| 1.0 + half[at] + learned[at]),
        );
        near(factors(-0.1, 1.0), [1.0; 5]);
        near(factors(1e9, 1.0), [1.0, 10.0, 10.0, 10.0, 10.0]);
        let without = PartyFactors::new(&[], None);
        assert_eq!(sizes(&without), [1.0; 5]);
    }
}
