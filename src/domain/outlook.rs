//! How a difference between two teams becomes a chance, as plain data that a decision can store.

use serde::{Deserialize, Serialize};

/// The distribution function that turns an edge into a chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// The normal distribution's.
    Normal,
    /// The logistic one's: the edge is the logarithm of the odds.
    Logistic,
}

/// How fast the effect of one player's strength falls with the number of players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crowding {
    /// It does not.
    None,
    /// With the square root of their number: the noise of a match grows with everybody in it.
    Root,
    /// With their number: a team is as strong as its mean player.
    Mean,
}

/// How a rating system predicts matches of about so many players: what one unit of strength, one more
/// player and the side of the map add to the edge of the first of two teams.
///
/// Strengths are in the rating system's own unit, above an average newcomer's, and add up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    /// What makes a chance of the edge.
    pub link: Link,
    /// The edge per unit of strength, above 0, in a match of `players`.
    pub per_strength: f64,
    /// The players on both teams that it holds for.
    pub players: f64,
    /// How it changes with their number.
    pub crowding: Crowding,
    /// The edge per player that one team has more than the other; 0 where an average player adds nothing.
    pub per_head: f64,
    /// The edge of a team e times as large, as learned; 0 where the rating system learns no such thing.
    pub per_log_size: f64,
    /// The edge of the first team's side of the map.
    pub side: f64,
    /// The strength whose weight is 75.
    pub halfway: f64,
    /// How uncertain the edge is because the players are not known well: a standard deviation.
    pub doubt: f64,
}

/// One of two teams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TeamLoad {
    /// Players on it, bots included.
    pub heads: usize,
    /// Sum of their strengths.
    pub strength: f64,
}

/// A logistic distribution is about as wide as a normal one whose unit is so much larger (Camilli 1994).
const LOGISTIC: f64 = 1.702;

impl Link {
    /// The chance of the team with this edge, 0 to 1.
    pub fn chance(self, edge: f64) -> f64 {
        match self {
            Self::Normal => 0.5 * libm::erfc(-edge * std::f64::consts::FRAC_1_SQRT_2),
            Self::Logistic => 1.0 / (1.0 + libm::exp(-edge)),
        }
    }

    /// The edge for a unit of the logarithm of the odds, near an even chance.
    pub fn per_log_odds(self) -> f64 {
        match self {
            Self::Normal => 1.0 / LOGISTIC,
            Self::Logistic => 1.0,
        }
    }

    /// How even a game with this edge is: the chance of the team behind over that of the team ahead,
    /// 0 to 1.
    pub fn evenness(self, edge: f64) -> f64 {
        let edge = edge.abs();
        match self {
            Self::Normal => {
                let behind = self.chance(-edge);
                behind / (1.0 - behind)
            }
            Self::Logistic => libm::exp(-edge),
        }
    }
}

impl Outlook {
    /// Whether its numbers are finite, and strength counts.
    pub fn is_sound(&self) -> bool {
        let numbers = [self.per_strength, self.players, self.halfway];
        let doubtful = self.doubt >= 0.0 && self.doubt.is_finite();
        let positive = |number: f64| number > 0.0 && number.is_finite();
        doubtful
            && numbers.into_iter().all(positive)
            && [self.per_head, self.per_log_size, self.side]
                .iter()
                .all(|number| number.is_finite())
    }

    /// The doubt where a rating system keeps no deviations: as if every player were known to within half of
    /// [`halfway`](Self::halfway).
    pub fn usual_doubt(per_strength: f64, players: f64, halfway: f64) -> f64 {
        per_strength * libm::sqrt(players) * halfway / 2.0
    }

    /// The edge per unit of strength in a match of so many players.
    pub fn per_strength_at(&self, players: usize) -> f64 {
        let crowd = self.players / players.max(1) as f64;
        self.per_strength
            * match self.crowding {
                Crowding::None => 1.0,
                Crowding::Root => crowd.sqrt(),
                Crowding::Mean => crowd,
            }
    }

    /// The edge of a team of `one` players over `other`, all of equal strength.
    ///
    /// What was learned counts, but no less than odds of `one` to `other`: that is how the ratio of
    /// weights has it, and players expect more of it, rather than less. A team without players counts
    /// a tenth of one.
    pub fn heads(&self, one: usize, other: usize) -> f64 {
        if one == other {
            return 0.0;
        }
        let least = log_size(one.max(other), one.min(other)) * self.link.per_log_odds();
        let sign = if one < other { -1.0 } else { 1.0 };
        sign * least.max(sign * self.learned_heads(one, other))
    }

    /// The same as learned alone.
    pub fn learned_heads(&self, one: usize, other: usize) -> f64 {
        let more = one as f64 - other as f64;
        self.per_head * more + self.per_log_size * log_size(one, other)
    }

    /// The edge of one team over another, sides not counted.
    pub fn edge(&self, one: TeamLoad, other: TeamLoad) -> f64 {
        let players = one.heads + other.heads;
        self.per_strength_at(players) * (one.strength - other.strength)
            + self.heads(one.heads, other.heads)
    }

    /// What a factor of `multiplier` on the weight of a player of this strength adds to the strength:
    /// as much as these points of weight do around the average, where 25 points are
    /// [`halfway`](Self::halfway).
    pub fn multiplied(&self, strength: f64, multiplier: f64) -> f64 {
        ((multiplier - 1.0) * (2.0 * self.halfway + strength)).max(0.0)
    }
}

/// The logarithm of how many times as large one team is as the other. A team without players counts as
/// a tenth of one.
fn log_size(one: usize, other: usize) -> f64 {
    let size = |heads: usize| (heads as f64).max(0.1);
    libm::log(size(one) / size(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook(link: Link, crowding: Crowding) -> Outlook {
        Outlook {
            link,
            per_strength: 0.5,
            players: 8.0,
            crowding,
            per_head: 0.0,
            per_log_size: 0.0,
            side: 0.0,
            halfway: 1.0,
            doubt: 0.0,
        }
    }

    #[test]
    fn evenness_is_the_quotient_of_the_chances() {
        for link in [Link::Normal, Link::Logistic] {
            assert_eq!(link.chance(0.0), 0.5);
            assert_eq!(link.evenness(0.0), 1.0);
            for edge in [-2.0_f64, 0.1, 1.0, 5.0] {
                let (ahead, behind) = (link.chance(edge.abs()), link.chance(-edge.abs()));
                assert!((link.evenness(edge) - behind / ahead).abs() < 1e-12);
            }
        }
        let odds = |p: f64| p / (1.0 - p);
        let edge = Link::Normal.per_log_odds() * 0.2;
        assert!((odds(Link::Normal.chance(edge)).ln() - 0.2).abs() < 0.02);
    }

    #[test]
    fn unknown_teams_are_as_even_as_their_sizes() {
        let logistic = outlook(Link::Logistic, Crowding::Root);
        assert!((logistic.link.evenness(logistic.heads(4, 1)) - 0.25).abs() < 1e-12);
        assert!((logistic.link.evenness(logistic.heads(5, 6)) - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!(logistic.heads(3, 3), 0.0);
        assert_eq!(logistic.heads(2, 5), -logistic.heads(5, 2));
        let learned = Outlook {
            per_head: 1.0,
            ..logistic
        };
        assert_eq!(learned.heads(6, 5), 1.0, "more than ln 1.2");
    }

    #[test]
    fn one_player_counts_less_in_a_crowd() {
        let at = |crowding| outlook(Link::Normal, crowding).per_strength_at(32);
        assert_eq!(at(Crowding::None), 0.5);
        assert_eq!(at(Crowding::Root), 0.25);
        assert_eq!(at(Crowding::Mean), 0.125);
    }
}
