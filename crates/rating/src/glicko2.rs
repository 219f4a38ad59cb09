//! `glicko2`: Glickman, "Example of the Glicko-2 system" (2013), for teams.
//!
//! Each player is rated against one composite opponent: an individual with the mean rating of the
//! opposing team's players. Every game is a rating period of its own; a time share of a game counts
//! as that share of a game, and a player who changed teams has a bout for each team. Time without a
//! game consists of rating periods without a game, which make a rating less certain. The numbers
//! inside are on Glicko-2's scale; strengths are on the original scale around 1500.

use serde::{Deserialize, Serialize};

use evenkeel_model::{
    WinModel,
    win_model::{Crowding, Link},
};

use super::{
    Player, RatedGame, Seat, Strength, System,
    game::{TeamPair, score},
    normal,
    player_map::PlayerMap,
    system::Scale,
};

/// Points on the original scale in one unit of the Glicko-2 scale.
const UNIT: f64 = 173.717_8;
const CENTRE: f64 = 1_500.0;
/// The unit of weights, see [`Scale`].
const WEIGHT_UNIT: f64 = 520.0;
/// A newcomer's deviation, from Glickman's paper.
const DEVIATION: f64 = 350.0 / UNIT;
/// A newcomer's volatility, from Glickman's paper.
const VOLATILITY: f64 = 0.06;
/// The number of days that make one rating period while a player does not play.
const PERIOD: f64 = 7.0;
/// τ, which limits how fast volatility changes.
const TAU: f64 = 0.5;

/// A player on Glicko-2's scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Glicko2Rating {
    mu: f64,
    phi: f64,
    sigma: f64,
}

const NEWCOMER: Glicko2Rating = Glicko2Rating {
    mu: 0.0,
    phi: DEVIATION,
    sigma: VOLATILITY,
};

/// One opponent in a rating period: their rating, the score (0 to 1), and the share of a game that
/// it counts.
struct Bout {
    opponent: Glicko2Rating,
    score: f64,
    share: f64,
}

/// g(φ): the factor by which an opponent's deviation reduces the effect of a game.
fn damping(phi: f64) -> f64 {
    use std::f64::consts::PI;
    1.0 / libm::sqrt(1.0 + 3.0 * phi * phi / (PI * PI))
}

/// The rating after one rating period (steps 3 to 7 of the paper).
fn period(player: Glicko2Rating, bouts: &[Bout]) -> Glicko2Rating {
    let (mut information, mut surprise) = (0.0, 0.0);
    for bout in bouts {
        let g = damping(bout.opponent.phi);
        let expected = normal::logistic(g * (player.mu - bout.opponent.mu));
        information += bout.share * g * g * expected * (1.0 - expected);
        surprise += bout.share * g * (bout.score - expected);
    }
    if information <= 0.0 {
        let phi = libm::sqrt(player.phi * player.phi + player.sigma * player.sigma);
        return Glicko2Rating { phi, ..player };
    }
    let v = 1.0 / information;
    let sigma = volatility(player, v, v * surprise);
    let before = player.phi * player.phi + sigma * sigma;
    let phi = 1.0 / libm::sqrt(1.0 / before + information);
    let mu = player.mu + phi * phi * surprise;
    Glicko2Rating { mu, phi, sigma }
}

/// Step 5 of the paper: the new volatility, by the Illinois variant of regula falsi.
fn volatility(player: Glicko2Rating, v: f64, delta: f64) -> f64 {
    let phi2 = player.phi * player.phi;
    let a = 2.0 * libm::log(player.sigma);
    let f = |x: f64| {
        let e = libm::exp(x);
        let d = phi2 + v + e;
        e * (delta * delta - d) / (2.0 * d * d) - (x - a) / (TAU * TAU)
    };
    let excess = delta * delta - phi2 - v;
    let mut low = a;
    let mut high = if excess > 0.0 {
        libm::log(excess)
    } else {
        let steps = (1..100).map(|k| a - f64::from(k) * TAU);
        steps
            .into_iter()
            .find(|&x| f(x) >= 0.0)
            .unwrap_or(a - 100.0 * TAU)
    };
    let (mut f_low, mut f_high) = (f(low), f(high));
    for _ in 0..100 {
        if (high - low).abs() <= 1e-6 || f_high == f_low {
            break;
        }
        let next = low + (low - high) * f_low / (f_high - f_low);
        let f_next = f(next);
        if f_next * f_high <= 0.0 {
            (low, f_low) = (high, f_high);
        } else {
            f_low /= 2.0;
        }
        (high, f_high) = (next, f_next);
    }
    libm::exp(low / 2.0)
}

/// The `glicko2` system: rating, deviation and volatility per player.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Glicko2 {
    players: PlayerMap<Glicko2Rating>,
    /// The day of each player's last game.
    last: PlayerMap<f64>,
}

impl Glicko2 {
    /// A system without any games.
    pub fn new() -> Self {
        Self::default()
    }

    /// A player's rating on a day. Each period since the last game increases the deviation by the
    /// volatility, up to a newcomer's deviation (step 6 of the paper).
    fn on(&self, player: Player, day: f64) -> Glicko2Rating {
        let Some(&known) = self.players.get(player) else {
            return NEWCOMER;
        };
        let away = self
            .last
            .get(player)
            .map_or(0.0, |last| (day - last).max(0.0));
        let variance = known.phi * known.phi + known.sigma * known.sigma * away / PERIOD;
        let phi = libm::sqrt(variance).min(known.phi.max(DEVIATION));
        Glicko2Rating { phi, ..known }
    }

    /// The composite opponent for a team: means weighted by time shares.
    fn composite(&self, game: &RatedGame, team: usize) -> Glicko2Rating {
        let (mut shares, mut mu, mut square) = (0.0, 0.0, 0.0);
        for seat in game.team(team) {
            let player = self.on(seat.player, game.day);
            shares += seat.share;
            mu += seat.share * player.mu;
            square += seat.share * player.phi * player.phi;
        }
        if shares <= 0.0 {
            return NEWCOMER;
        }
        Glicko2Rating {
            mu: mu / shares,
            phi: libm::sqrt(square / shares),
            sigma: VOLATILITY,
        }
    }
}

impl System for Glicko2 {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        let (a, b) = (self.composite(game, a), self.composite(game, b));
        let g = damping(libm::sqrt(a.phi * a.phi + b.phi * b.phi));
        normal::logistic(g * (a.mu - b.mu))
    }

    fn update(&mut self, game: &RatedGame) {
        let pairs = game.neighbours();
        let teams: Vec<Glicko2Rating> = (0..game.teams())
            .map(|team| self.composite(game, team))
            .collect();
        let bout = |seat: &Seat, pair: &TeamPair| {
            let (opponent, result) = match usize::from(seat.team) {
                t if t == pair.a => (pair.b, pair.result),
                t if t == pair.b => (pair.a, pair.result.reverse()),
                _ => return None,
            };
            Some(Bout {
                opponent: teams[opponent],
                score: score(result),
                share: seat.share * pair.weight,
            })
        };
        let mut changed = Vec::new();
        let seats = game.by_player();
        for seats in seats.chunk_by(|a, b| a.player == b.player) {
            let (player, learns) = (seats[0].player, seats[0].learns);
            let each = |seat| pairs.iter().filter_map(move |pair| bout(seat, pair));
            let bouts: Vec<Bout> = seats.iter().flat_map(each).collect();
            if learns && !bouts.is_empty() {
                changed.push((player, period(self.on(player, game.day), &bouts)));
            }
        }
        for (player, rating) in changed {
            self.players.set(player, rating);
            self.last.set(player, game.day);
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        self.players.get(player).map(|r| Strength {
            mean: CENTRE + UNIT * r.mu,
            deviation: UNIT * r.phi,
        })
    }

    fn win_model(&self, game: &RatedGame) -> WinModel {
        let (a, b) = (self.composite(game, 0), self.composite(game, 1));
        let g = damping(libm::sqrt(a.phi * a.phi + b.phi * b.phi));
        let players = game.shares().max(1.0);
        // Two teams with half of the players each.
        let per_strength = g * 2.0 / (players * UNIT);
        WinModel {
            // The deviation of the difference of two means, each over half of the players.
            deviation: g * libm::sqrt(2.0 * (a.phi * a.phi + b.phi * b.phi) / players),
            ..WinModel::of_strengths(
                Link::Logistic,
                per_strength,
                players,
                Crowding::Mean,
                WEIGHT_UNIT,
            )
        }
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: CENTRE,
            unit: WEIGHT_UNIT,
        }
    }

    fn start(&mut self, player: Player, prior: Strength) {
        let rating = Glicko2Rating {
            mu: prior.mean / UNIT,
            phi: prior.deviation / UNIT,
            sigma: VOLATILITY,
        };
        self.players.set(player, rating);
    }

    fn hint(&mut self, player: Player, evidence: Strength) {
        let Some(rating) = self.players.get_mut(player) else {
            return;
        };
        let known = Strength {
            mean: CENTRE + UNIT * rating.mu,
            deviation: UNIT * rating.phi,
        };
        let after = known.with(evidence);
        (rating.mu, rating.phi) = ((after.mean - CENTRE) / UNIT, after.deviation / UNIT);
    }

    fn newcomer_deviation(&self) -> f64 {
        UNIT * DEVIATION
    }

    fn widen(&mut self, player: Player, least: f64) {
        if let Some(rating) = self.players.get_mut(player) {
            rating.phi = rating.phi.max(least / UNIT);
        }
    }

    fn new_season(&mut self, keep: f64) {
        for rating in self.players.values_mut() {
            let known = Strength {
                mean: rating.mu,
                deviation: rating.phi,
            };
            let later = known.faded(keep, Strength::prior(DEVIATION));
            (rating.mu, rating.phi) = (later.mean, later.deviation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{game, strengths};

    #[test]
    fn the_ratings_are_those_of_glickmans_example() {
        let rating = |r: f64, rd: f64| Glicko2Rating {
            mu: (r - CENTRE) / UNIT,
            phi: rd / UNIT,
            sigma: 0.06,
        };
        let bout = |r, rd, score| Bout {
            opponent: rating(r, rd),
            score,
            share: 1.0,
        };
        let bouts = [
            bout(1_400.0, 30.0, 1.0),
            bout(1_550.0, 100.0, 0.0),
            bout(1_700.0, 300.0, 0.0),
        ];
        let after = period(rating(1_500.0, 200.0), &bouts);
        assert!(
            (CENTRE + UNIT * after.mu - 1_464.05).abs() < 0.02,
            "{after:?}"
        );
        assert!((UNIT * after.phi - 151.52).abs() < 0.02, "{after:?}");
        assert!((after.sigma - 0.059_99).abs() < 1e-5, "{after:?}");
    }

    #[test]
    fn teams_of_one_are_players_and_half_a_game_moves_less() {
        let whole = game(&[&[1.0], &[1.0]], &[0, 1]);
        let mut system = Glicko2::new();
        system.update(&whole);
        let bout = Bout {
            opponent: NEWCOMER,
            score: 1.0,
            share: 1.0,
        };
        let alone = period(NEWCOMER, &[bout]);
        let got = strengths(&system, &whole);
        assert_eq!(got[0], (CENTRE + UNIT * alone.mu, UNIT * alone.phi));
        assert!((got[0].0 + got[1].0 - 2.0 * CENTRE).abs() < 1e-9);
        let half = game(&[&[0.5], &[1.0]], &[0, 1]);
        let mut system = Glicko2::new();
        system.update(&half);
        let less = strengths(&system, &half)[0];
        assert!(less.0 > CENTRE && less.0 < got[0].0 && less.1 > got[0].1);
    }

    #[test]
    fn a_hint_is_weighed_by_how_sure_it_is() {
        let duel = game(&[&[1.0], &[1.0]], &[0, 1]);
        let mut system = Glicko2::new();
        system.update(&duel);
        let (mean, deviation) = strengths(&system, &duel)[0];
        // Equally sure: the mean of both, and half of the variance.
        let evidence = Strength {
            mean: mean + 100.0,
            deviation,
        };
        system.hint(Player(0), evidence);
        let after = strengths(&system, &duel)[0];
        assert!((after.0 - mean - 50.0).abs() < 1e-9, "{after:?}");
        assert!((after.1 - deviation / 2.0_f64.sqrt()).abs() < 1e-9);
        system.hint(Player(9), evidence);
        assert_eq!(system.strength(Player(9)), None, "a player without games");
    }

    #[test]
    fn who_changed_teams_has_one_period_with_both_bouts() {
        let seat = |player, team, share| Seat {
            share,
            ..Seat::new(Player(player), team)
        };
        let seats = vec![
            seat(0, 0, 0.75),
            seat(1, 0, 1.0),
            seat(0, 1, 0.25),
            seat(2, 1, 1.0),
        ];
        let mut game = RatedGame::new(seats);
        game.places = vec![0, 1];
        let mut system = Glicko2::new();
        system.update(&game);
        // All are newcomers, so both composites are one. Three quarters of a victory and one quarter of a
        // defeat: with g = 1/√(1 + 3φ²/π²), φ = 350/173.7178, the information is g²/4, the surprise
        // g · (0.75 − 0.25)/2, φ′² = 1/(1/(φ² + σ²) + g²/4), and μ′ = φ′² · g/4.
        let phi2 = (350.0_f64 / 173.717_8).powi(2);
        let g = 1.0 / (1.0 + 3.0 * phi2 / std::f64::consts::PI.powi(2)).sqrt();
        let after = 1.0 / (1.0 / (phi2 + 0.06 * 0.06) + g * g / 4.0);
        let got = strengths(&system, &game)[0];
        // The volatility changes by less than a millionth here.
        assert!(
            (got.0 - (CENTRE + UNIT * after * g / 4.0)).abs() < 1e-3,
            "{got:?}"
        );
        assert!((got.1 - UNIT * after.sqrt()).abs() < 1e-3, "{got:?}");
    }

    #[test]
    fn days_without_a_game_make_a_rating_less_certain() {
        let mut duel = game(&[&[1.0], &[1.0]], &[0, 1]);
        let mut system = Glicko2::new();
        (0..50).for_each(|_| system.update(&duel));
        let known = *system.players.get(Player(0)).unwrap();
        assert_eq!(system.on(Player(0), 0.0), known);
        // Ten weeks are ten periods: φ² + 10 σ².
        let by_hand = (known.phi * known.phi + 10.0 * known.sigma * known.sigma).sqrt();
        assert!((system.on(Player(0), 70.0).phi - by_hand).abs() < 1e-12);
        assert_eq!(system.on(Player(0), 1e9).phi, DEVIATION);
        duel.day = 70.0;
        let mut rested = system.clone();
        rested.update(&duel);
        duel.day = 0.0;
        system.update(&duel);
        let deviation = |system: &Glicko2| strengths(system, &duel)[0].1;
        assert!(deviation(&rested) > deviation(&system));
    }
}
