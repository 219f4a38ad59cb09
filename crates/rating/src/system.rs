//! The trait of rating systems, and the strengths that they estimate, with their units.

use serde::{Deserialize, Serialize};

use super::{Player, RatedGame};
use evenkeel_model::WinModel;

/// A rating system: predicts the result of a lineup, learns from one finished game at a time, and
/// estimates each player's strength.
pub trait System: Persist + Send + Sync {
    /// The chance, 0 to 1, that team `a` of a game beats team `b`, given that they do not tie.
    /// Reads the seats, the map and the sides, never the result, so that it can predict a lineup
    /// before it plays.
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64;

    /// Learns from a finished game. The caller passes games in time order.
    fn update(&mut self, game: &RatedGame);

    /// The estimate of a player's strength, in the units of [`scale`](Self::scale). `None` for a
    /// player this system has not seen.
    fn strength(&self, player: Player) -> Option<Strength>;

    /// The units of this system's strengths, and how they convert to weights.
    fn scale(&self) -> Scale;

    /// Turns strengths into the chance that the first of two teams wins a game like this one: with
    /// the same number of players, on the same map, and with the same uncertainty about the
    /// players.
    ///
    /// For systems whose chance depends on sums of strengths, it gives the same chance as
    /// [`beats`](Self::beats). For systems that compare means, it gives nearly the same if the
    /// teams have equal sizes.
    fn win_model(&self, game: &RatedGame) -> WinModel;

    /// The win model, and the chance that team 0 beats team 1. For systems that find both with less work
    /// than one after the other.
    fn win_model_and_chance(&self, game: &RatedGame) -> (WinModel, f64) {
        (self.win_model(game), self.beats(game, 0, 1))
    }

    /// Starts a player from a prior other than a newcomer's: one who has no game from which this system
    /// has learned. The mean of `prior` is what the player is above a newcomer. Another prior replaces it,
    /// as long as there is no such game.
    fn start(&mut self, player: Player, prior: Strength);

    /// The same with what other rulesets say. The same system rated the player there, so the units are the same.
    fn adopt(&mut self, player: Player, prior: Strength) {
        self.start(player, prior);
    }

    /// The strength that a player adds by commanding throughout a game like this one, in the units of
    /// [`scale`](Self::scale); 0 where commanders are not rated apart.
    fn command(&self, _player: Player, _game: &RatedGame) -> f64 {
        0.0
    }

    /// A player's strengths on each side and as a commander. Empty where they are not rated apart.
    fn roles(&self, _player: Player) -> RoleStrengths {
        RoleStrengths::default()
    }

    /// What a player's [`strength`](Self::strength) and [`roles`](Self::roles) are computed from, together with the
    /// [`effects`](Self::effects).
    fn parts(&self, player: Player) -> Option<StrengthParts> {
        Some(StrengthParts {
            own: self.strength(player)?,
            roles: self.roles(player),
            factors: Effects::default(),
        })
    }

    /// The effects that all players share.
    fn effects(&self) -> Effects {
        Effects::default()
    }

    /// Combines a player's estimate with evidence other than games; the deviation of `evidence` is
    /// its uncertainty. Systems without deviations ignore it.
    fn hint(&mut self, _player: Player, _evidence: Strength) {}

    /// The standard deviation of a newcomer's estimate; 0 in systems without deviations.
    fn newcomer_deviation(&self) -> f64 {
        0.0
    }

    /// Raises the deviation of a player's estimate to `least` if it is smaller. Systems without deviations ignore it.
    fn widen(&mut self, _player: Player, _least: f64) {}

    /// Starts a new season: each player's distance from a newcomer shrinks to the share `keep` (0
    /// to 1), and their deviation moves towards a newcomer's.
    fn new_season(&mut self, keep: f64);

    /// A warning for the operator about the state of this system, for example that it has reached a
    /// limit.
    fn warning(&self) -> Option<String> {
        None
    }
}

/// Copying and serialising, which every rating system gets because its state is plain data.
pub trait Persist {
    /// An independent copy, behind the trait.
    fn boxed_clone(&self) -> Box<dyn System>;

    /// The whole state, to the bit; [`SystemName::restore`](super::SystemName::restore) reads it. Only the version of the
    /// program that wrote it can read it.
    ///
    /// # Errors
    /// Never fails in practice; the encoder's signature has an error.
    fn save(&self) -> Result<Vec<u8>, postcard::Error>;
}

impl<T: System + Clone + Serialize + 'static> Persist for T {
    fn boxed_clone(&self) -> Box<dyn System> {
        Box::new(self.clone())
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }
}

/// The chance of each team to come first; they sum to 1. For two teams this is [`System::beats`];
/// for more it is the mean over each team's chances against every other, normalised.
pub fn chances(system: &dyn System, game: &RatedGame) -> Vec<f64> {
    let teams = game.teams();
    let mut chances = vec![0.0; teams];
    for a in 0..teams {
        for b in a + 1..teams {
            let chance = system.beats(game, a, b);
            chances[a] += chance;
            chances[b] += 1.0 - chance;
        }
    }
    let pairs = (teams * teams.saturating_sub(1) / 2).max(1) as f64;
    chances.iter().map(|sum| sum / pairs).collect()
}

/// An estimate of a strength and its deviation, in the units of a [`Scale`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// The mean of the estimate.
    pub mean: f64,
    /// The standard deviation of the estimate; 0 in systems that have none.
    pub deviation: f64,
}

impl Strength {
    /// The estimate for a player without games: mean 0, and the standard deviation between players.
    pub fn prior(deviation: f64) -> Self {
        Self {
            mean: 0.0,
            deviation,
        }
    }

    /// The estimate of a system that has no deviations.
    pub fn exact(mean: f64) -> Self {
        Self {
            mean,
            deviation: 0.0,
        }
    }

    /// The square of the deviation.
    pub fn variance(&self) -> f64 {
        self.deviation * self.deviation
    }

    /// This estimate, combined with independent evidence: the product of the two Gaussians.
    pub fn with(self, evidence: Strength) -> Self {
        let part = self.variance() / (self.variance() + evidence.variance());
        Self {
            mean: self.mean + part * (evidence.mean - self.mean),
            deviation: self.deviation * libm::sqrt(1.0 - part),
        }
    }

    /// This estimate one season later, when the player keeps the share `keep` of their distance
    /// from `newcomer`: one step of an Ornstein-Uhlenbeck process whose stationary distribution is
    /// `newcomer`.
    pub(crate) fn faded(self, keep: f64, newcomer: Strength) -> Self {
        let square = keep * keep;
        let variance = square * self.variance() + (1.0 - square) * newcomer.variance();
        Self {
            mean: newcomer.mean + keep * (self.mean - newcomer.mean),
            deviation: libm::sqrt(variance),
        }
    }
}

/// A player's strengths in the parts of a game that a system rates apart, in the units of a
/// [`Scale`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoleStrengths {
    /// The strengths on side 0 and on side 1.
    pub sides: Option<[f64; 2]>,
    /// The strength as a commander.
    pub commander: Option<f64>,
}

/// The effects that all players of a system share, and the factors of one player on them.
pub type Effects = [f64; 3];

/// The factors of a player without a match: new, without experience and without a record.
pub(crate) const NEWCOMER_FACTORS: Effects = [1.0, 0.0, 0.0];

/// The strength of a player with this part of their own.
pub(crate) fn with_effects(own: f64, effects: Effects, factors: Effects) -> f64 {
    own + (effects[0] * factors[0] + effects[1] * factors[1] + effects[2] * factors[2])
}

/// What a player's strengths are computed from by `with_effects`. A game of others changes it less often than the
/// strengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrengthParts {
    /// The player's own part of the strength, and the deviation of the strength.
    pub own: Strength,
    /// The own parts of the strengths by role.
    pub roles: RoleStrengths,
    /// The factors on the shared effects.
    pub factors: Effects,
}

/// The units of a system's strengths, and their conversion to weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Strengths are weights already: 0 to 100, with 50 for an average newcomer.
    Weights,
    /// A scale of the system's own, on which the strengths of a team add up.
    Strengths {
        /// The strength of an average newcomer.
        newcomer: f64,
        /// The unit of weights: a sixth of the strength from the weight 50 to the weight 100. It is a constant of
        /// the system, so that no other player's games move a weight. Its size is about three times what a
        /// newcomer gains in a first victory in four against four.
        unit: f64,
    },
}

impl Scale {
    /// The deviation of an uncertain prior in units of weights: about that of an unknown player.
    pub const UNCERTAIN: f64 = 0.9;
    /// The deviation of a sure prior in units of weights: about half of that of an unknown player. It counts more
    /// than the first ten matches and less than the first fifty.
    pub const SURE: f64 = 0.45;
    /// The unit of strengths that are weights: the results of a few games are this far apart by chance.
    const OF_WEIGHTS: f64 = 25.0;

    /// The strength of an average newcomer.
    pub fn newcomer(self) -> f64 {
        match self {
            Scale::Weights => 50.0,
            Scale::Strengths { newcomer, .. } => newcomer,
        }
    }

    /// The unit of strengths.
    pub fn unit(self) -> f64 {
        match self {
            Scale::Weights => Self::OF_WEIGHTS,
            Scale::Strengths { unit, .. } => unit,
        }
    }

    /// How many times as many earlier games a prior counts as an uncertain one, 1 to 4. The more games a share is
    /// taken of, the smaller is its variance, in proportion.
    pub(crate) fn times_uncertain(self, prior: Strength) -> f64 {
        let uncertain = Self::UNCERTAIN * self.unit();
        (uncertain * uncertain / prior.variance()).clamp(1.0, 4.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surer_prior_counts_more_games() {
        let times = |deviation| Scale::Weights.times_uncertain(Strength::prior(deviation));
        assert_eq!(times(22.5), 1.0);
        assert_eq!(times(11.25), 4.0);
        assert_eq!((times(0.0), times(100.0)), (4.0, 1.0));
        assert!((times(15.0) - 2.25).abs() < 1e-12);
    }

    #[test]
    fn seasons_tend_to_a_newcomer() {
        let newcomer = Strength {
            mean: 25.0,
            deviation: 8.0,
        };
        let veteran = Strength {
            mean: 35.0,
            deviation: 1.0,
        };
        let later = veteran.faded(0.8, newcomer);
        assert!((later.mean - 33.0).abs() < 1e-12);
        assert!((later.variance() - (0.64 + 0.36 * 64.0)).abs() < 1e-12);
        assert_eq!(veteran.faded(1.0, newcomer), veteran);
        assert_eq!(veteran.faded(0.0, newcomer), newcomer);
    }
}
