//! The trait of rating systems, and what follows from it.

use serde::Serialize;

use super::{Effects, Player, RatedGame, RoleStrengths, Scale, Strength, StrengthParts};
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
