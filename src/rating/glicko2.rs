//! `glicko2`: Glickman, "Example of the Glicko-2 system" (2013), for teams.
//!
//! Each player is rated against one composite opponent: an individual with the mean rating of the
//! opposing team's players. Every game is a rating period of its own; a time share of a game counts
//! as that share of a game. The numbers inside are on Glicko-2's scale; strengths are on the
//! original scale around 1500.

use serde::{Deserialize, Serialize};

use crate::domain::{Company, Crowding, Link, Outlook};

use super::{Player, RatedGame, Roll, Scale, Seat, Strength, System, normal};

/// Points on the original scale in one unit of the Glicko-2 scale.
const UNIT: f64 = 173.717_8;
const CENTRE: f64 = 1_500.0;
/// The strength above a newcomer's that has the weight 75; see [`Scale`].
const HALFWAY: f64 = 520.0;
/// A newcomer's deviation, from Glickman's paper.
const DEVIATION: f64 = 350.0 / UNIT;
/// A newcomer's volatility, from Glickman's paper.
const VOLATILITY: f64 = 0.06;
/// τ, which limits how fast volatility changes.
const TAU: f64 = 0.5;

/// A player on Glicko-2's scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Rating {
    mu: f64,
    phi: f64,
    sigma: f64,
}

const NEWCOMER: Rating = Rating {
    mu: 0.0,
    phi: DEVIATION,
    sigma: VOLATILITY,
};

/// One opponent in a rating period: their rating, the score (0 to 1), and the share of a game that
/// it counts.
struct Bout {
    opponent: Rating,
    score: f64,
    share: f64,
}

/// g(φ): the factor by which an opponent's deviation reduces the effect of a game.
fn damping(phi: f64) -> f64 {
    use std::f64::consts::PI;
    1.0 / libm::sqrt(1.0 + 3.0 * phi * phi / (PI * PI))
}

/// The rating after one rating period (steps 3 to 7 of the paper).
fn period(player: Rating, bouts: &[Bout]) -> Rating {
    let (mut information, mut surprise) = (0.0, 0.0);
    for bout in bouts {
        let g = damping(bout.opponent.phi);
        let expected = normal::logistic(g * (player.mu - bout.opponent.mu));
        information += bout.share * g * g * expected * (1.0 - expected);
        surprise += bout.share * g * (bout.score - expected);
    }
    if information <= 0.0 {
        let phi = libm::sqrt(player.phi * player.phi + player.sigma * player.sigma);
        return Rating { phi, ..player };
    }
    let v = 1.0 / information;
    let sigma = volatility(player, v, v * surprise);
    let before = player.phi * player.phi + sigma * sigma;
    let phi = 1.0 / libm::sqrt(1.0 / before + information);
    let mu = player.mu + phi * phi * surprise;
    Rating { mu, phi, sigma }
}

/// Step 5 of the paper: the new volatility, by the Illinois variant of regula falsi.
fn volatility(player: Rating, v: f64, delta: f64) -> f64 {
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
    players: Roll<Rating>,
}

impl Glicko2 {
    /// A system without any games.
    pub fn new() -> Self {
        Self::default()
    }

    fn known(&self, player: Player) -> Rating {
        *self.players.get(player).unwrap_or(&NEWCOMER)
    }

    /// The composite opponent for a team: means weighted by time shares.
    fn composite(&self, team: &[Seat]) -> Rating {
        let (mut shares, mut mu, mut square) = (0.0, 0.0, 0.0);
        for seat in team {
            let player = self.known(seat.player);
            shares += seat.share;
            mu += seat.share * player.mu;
            square += seat.share * player.phi * player.phi;
        }
        if shares <= 0.0 {
            return NEWCOMER;
        }
        Rating {
            mu: mu / shares,
            phi: libm::sqrt(square / shares),
            sigma: VOLATILITY,
        }
    }
}

impl System for Glicko2 {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        let (a, b) = (self.composite(game.team(a)), self.composite(game.team(b)));
        let g = damping(libm::sqrt(a.phi * a.phi + b.phi * b.phi));
        normal::logistic(g * (a.mu - b.mu))
    }

    fn update(&mut self, game: &RatedGame) {
        let pairs = game.neighbours();
        let teams: Vec<Rating> = (0..game.teams())
            .map(|t| self.composite(game.team(t)))
            .collect();
        let mut changed = Vec::new();
        for seat in game.seats().iter().filter(|s| s.learns) {
            let team = usize::from(seat.team);
            let bout = |&(a, b, result): &(usize, usize, std::cmp::Ordering)| {
                let (opponent, result) = match team {
                    t if t == a => (b, result),
                    t if t == b => (a, result.reverse()),
                    _ => return None,
                };
                Some(Bout {
                    opponent: teams[opponent],
                    score: 0.5 - 0.5 * f64::from(result as i8),
                    share: seat.share,
                })
            };
            let bouts: Vec<Bout> = pairs.iter().filter_map(bout).collect();
            if !bouts.is_empty() {
                changed.push((seat.player, period(self.known(seat.player), &bouts)));
            }
        }
        for (player, rating) in changed {
            *self.players.enter(player, || rating) = rating;
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        self.players.get(player).map(|r| Strength {
            mean: CENTRE + UNIT * r.mu,
            deviation: UNIT * r.phi,
        })
    }

    fn outlook(&self, game: &RatedGame) -> Outlook {
        let (a, b) = (self.composite(game.team(0)), self.composite(game.team(1)));
        let g = damping(libm::sqrt(a.phi * a.phi + b.phi * b.phi));
        let players = game.shares().max(1.0);
        Outlook {
            link: Link::Logistic,
            per_strength: g * 2.0 / (players * UNIT), // two teams with half of the players each
            players,
            crowding: Crowding::Mean,
            per_head: 0.0,
            per_log_size: 0.0,
            side: 0.0,
            halfway: HALFWAY,
            // The deviation of the difference of two means, each over half of the players.
            doubt: g * libm::sqrt(2.0 * (a.phi * a.phi + b.phi * b.phi) / players),
            company: Company::default(),
        }
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: CENTRE,
            halfway: HALFWAY,
        }
    }

    fn adopt(&mut self, player: Player, known: Strength) {
        let rating = Rating {
            mu: (known.mean - CENTRE) / UNIT,
            phi: known.deviation / UNIT,
            sigma: VOLATILITY,
        };
        self.players.set(player, rating);
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
    use crate::rating::testing::{game, strengths};

    #[test]
    fn glickmans_example() {
        let rating = |r: f64, rd: f64| Rating {
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
}
