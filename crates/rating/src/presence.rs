//! `presence`: points scored by, and against, a player's team while they were on it.
//!
//! The system of the UT2004 balancing page. In game types like Capture the Flag, kills predict
//! little, but the points that a team scores while a player is on it predict much. For each game, F
//! counts the points that a player's team scored while they were on it, A those scored against it
//! in that time. Over the last [`window`](Settings::window) games, where a game j games ago counts
//! 0.5^(j / half-life), the weight is
//!
//! ```text
//! 100 · (ΣF + prior/2) / (ΣF + ΣA + prior)
//! ```
//!
//! The prior pulls newcomers to 50: with 4 points, one 3:0 win gives 71, ten of them 94. Of whom something
//! is known before the first game, the points of the prior are divided in that proportion, and there are up to
//! four times as many. In a game without teams F counts kills and A deaths.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use evenkeel_model::{
    WinModel,
    units::{Amount, Count, HalfLife},
};

use super::{
    Player, RatedGame, Strength, System,
    baselines::{Slope, edge, edges},
    player_map::PlayerMap,
    system::Scale,
};

/// Settings of the `presence` formula.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// How many of a player's last games count.
    pub window: Count<1, 1_000>,
    /// The number of later games of a player after which a game counts half; the weight of games
    /// falls exponentially.
    pub half_life: HalfLife,
    /// Imaginary points, half scored and half conceded.
    pub prior: Amount,
}

/// The UT2004 balancing page recommends 30 games. With a half-life of 10 and a prior of 4, the
/// weight of a newcomer moves at once, and that of a regular player by a few points per game.
impl Default for Settings {
    fn default() -> Self {
        Self {
            window: const { Count::of(30) },
            half_life: const { HalfLife::of(10.0) },
            prior: const { Amount::of(4.0) },
        }
    }
}

/// Points that a player's teams scored and conceded while the player was on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// F in the [module](self)'s formula, 0 or more.
    pub scored: f64,
    /// A in the [module](self)'s formula, 0 or more.
    pub conceded: f64,
}

impl Points {
    /// Points of which this share was scored.
    fn divided(all: f64, share: f64) -> Self {
        Self {
            scored: all * share,
            conceded: all * (1.0 - share),
        }
    }

    /// Moves the division towards equal parts: the share `keep` of the distance remains.
    fn evened(self, keep: f64) -> Self {
        let (all, more) = (self.scored + self.conceded, self.scored - self.conceded);
        Self {
            scored: 0.5 * (all + keep * more),
            conceded: 0.5 * (all - keep * more),
        }
    }
}

/// The weight, 0 to 100, of a player with these games, newest first; `recency` is the factor of
/// each.
fn weight<'a>(
    newest_first: impl Iterator<Item = &'a Points>,
    recency: &[f64],
    prior: Points,
) -> f64 {
    let mut sum = prior;
    for (points, recency) in newest_first.zip(recency) {
        sum.scored += recency * points.scored;
        sum.conceded += recency * points.conceded;
    }
    let all = sum.scored + sum.conceded;
    if all > 0.0 {
        (100.0 * sum.scored / all).clamp(0.0, 100.0)
    } else {
        50.0 // neither a prior nor points
    }
}

/// The `presence` system: the points of each player's last games.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PresenceSystem {
    settings: Settings,
    /// Newest first, at most `window` per player.
    games: PlayerMap<VecDeque<Points>>,
    /// The imaginary points of players of whom something was known before their first game.
    priors: PlayerMap<Points>,
    /// The factor of a game, by how many games ago it was; as long as the longest history.
    recency: Vec<f64>,
    slope: Slope,
}

impl PresenceSystem {
    /// A system without any games.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            games: PlayerMap::default(),
            priors: PlayerMap::default(),
            recency: Vec::new(),
            slope: Slope::default(),
        }
    }

    fn weight(&self, player: Player) -> Option<f64> {
        let (games, prior) = (self.games.get(player), self.priors.get(player));
        if games.is_none() && prior.is_none() {
            return None;
        }
        let newcomers = || Points::divided(self.settings.prior.get(), 0.5);
        let prior = prior.copied().unwrap_or_else(newcomers);
        Some(weight(games.into_iter().flatten(), &self.recency, prior))
    }
}

impl System for PresenceSystem {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        self.slope.chance(edge(game, a, b, |p| self.weight(p)))
    }

    fn update(&mut self, game: &RatedGame) {
        let edges = edges(game, |p| self.weight(p));
        self.slope.learn(&edges);
        for tally in game.tallies.iter().filter(|t| t.learns) {
            let games = self.games.enter(tally.player, VecDeque::new);
            games.push_front(Points {
                scored: tally.scored,
                conceded: tally.conceded,
            });
            games.truncate(self.settings.window.as_usize());
            for ago in self.recency.len()..games.len() {
                let half_lives = ago as f64 / self.settings.half_life.get();
                self.recency.push(libm::exp2(-half_lives));
            }
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        self.weight(player).map(Strength::exact)
    }

    fn win_model(&self, game: &RatedGame) -> WinModel {
        self.slope.win_model(game)
    }

    fn scale(&self) -> Scale {
        Scale::Weights
    }

    /// Divides the points of the prior.
    fn start(&mut self, player: Player, prior: Strength) {
        let points = self.settings.prior.get() * self.scale().times_uncertain(prior);
        let share = ((50.0 + prior.mean) / 100.0).clamp(0.0, 1.0);
        self.priors.set(player, Points::divided(points, share));
    }

    /// Scales the points down, which moves the weight towards the prior, and evens the prior.
    fn new_season(&mut self, keep: f64) {
        for prior in self.priors.values_mut() {
            *prior = prior.evened(keep);
        }
        for points in self.games.values_mut().flatten() {
            points.scored *= keep;
            points.conceded *= keep;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weight_by_hand() {
        let mut system = PresenceSystem::new(Settings {
            window: Count::of(2),
            half_life: HalfLife::of(1.0),
            prior: Amount::of(4.0),
        });
        assert_eq!(system.weight(Player(0)), None);
        for (scored, conceded) in [(0.0, 100.0), (0.0, 2.0), (3.0, 0.0)] {
            let mut game = RatedGame::default();
            game.tallies.push(crate::game::Tally {
                scored,
                conceded,
                ..crate::game::Tally::new(Player(0))
            });
            system.update(&game);
        }
        // F = 3, A = 2/2, and the first game is out of the window: 100 · (3 + 2) / (3 + 1 + 4).
        assert_eq!(system.weight(Player(0)), Some(62.5));
        assert_eq!(weight([].iter(), &[], Points::divided(4.0, 0.5)), 50.0);
        assert_eq!(weight([].iter(), &[], Points::default()), 50.0);
    }

    #[test]
    fn a_prior_divides_the_imaginary_points() {
        let mut system = PresenceSystem::new(Settings::default());
        let prior = |deviation| Strength {
            mean: 25.0,
            deviation,
        };
        system.start(Player(0), prior(22.5));
        system.start(Player(1), prior(11.25));
        assert_eq!(system.weight(Player(0)), Some(75.0));
        assert_eq!(system.weight(Player(1)), Some(75.0));
        let mut game = RatedGame::default();
        game.tallies.extend([0, 1].map(|player| crate::game::Tally {
            scored: 4.0,
            ..crate::game::Tally::new(Player(player))
        }));
        system.update(&game);
        // Three of four points and four of four; twelve of sixteen and four of four.
        assert_eq!(system.weight(Player(0)), Some(87.5));
        assert_eq!(system.weight(Player(1)), Some(80.0));
        system.new_season(0.0);
        assert_eq!(system.weight(Player(0)), Some(50.0));
    }
}
