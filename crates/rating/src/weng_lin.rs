//! `weng-lin-pl` and `weng-lin-tm`: Weng and Lin, "A Bayesian approximation method for online ranking"
//! (2011), models Plackett-Luce (algorithm 4) and Thurstone-Mosteller with full pairs (algorithm 3).
//!
//! As in TrueSkill, each player has a Gaussian of their own; the update is one step along the
//! gradient, without messages. A team is the sum of its players, here weighted by their time
//! shares.

use serde::{Deserialize, Serialize};

use evenkeel_model::{
    WinModel,
    win_model::{Crowding, Link},
};

use super::{
    Player, RatedGame, Seat, Strength, System, normal, player_map::PlayerMap, system::Scale,
};

/// A newcomer's mean, as in the paper.
const MEAN: f64 = 25.0;
/// The unit of weights, see [`Scale`].
const UNIT: f64 = 7.5;
/// A newcomer's deviation, as in the paper.
const DEVIATION: f64 = 25.0 / 3.0;
/// Standard deviation of a performance around the strength.
const BETA: f64 = 25.0 / 6.0;
/// Drift before each game; its square is added to the variance, as in TrueSkill.
const DRIFT: f64 = 25.0 / 300.0;
/// The least share of a variance that remains after a game.
const KAPPA: f64 = 0.0001;
/// Thurstone-Mosteller's tie margin.
const EPSILON: f64 = 0.1;

/// The probability model for the order of the teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Model {
    /// Draws places from the top, each team with a chance proportional to exp(strength / c).
    PlackettLuce,
    /// Compares two normal performances for each pair of teams.
    ThurstoneMosteller,
}

/// The `weng-lin-pl` and `weng-lin-tm` systems: a Gaussian per player.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WengLin {
    model: Model,
    players: PlayerMap<Strength>,
}

/// A team's mean and variance.
#[derive(Clone, Copy)]
struct TeamStrength {
    mean: f64,
    variance: f64,
}

/// How far a team's mean moves (Ω), and the share of its variance that it loses (Δ).
#[derive(Clone, Copy, Default)]
struct MeanStep {
    omega: f64,
    delta: f64,
}

impl WengLin {
    /// A system without any games.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            players: PlayerMap::default(),
        }
    }

    /// The estimate of a player before the next game, drift included.
    fn before(&self, player: Player) -> Strength {
        let known = *self.players.get(player).unwrap_or(&NEWCOMER);
        Strength {
            mean: known.mean,
            deviation: libm::sqrt(known.variance() + DRIFT * DRIFT),
        }
    }

    fn team(&self, game: &RatedGame, team: usize) -> TeamStrength {
        let mut sum = TeamStrength {
            mean: 0.0,
            variance: 0.0,
        };
        for seat in game.team(team) {
            let player = self.before(seat.player);
            sum.mean += seat.share * player.mean;
            sum.variance += seat.share * seat.share * player.variance();
        }
        sum
    }
}

const NEWCOMER: Strength = Strength {
    mean: MEAN,
    deviation: DEVIATION,
};

/// Algorithm 4 of the paper, in O(teams²).
fn plackett_luce(teams: &[TeamStrength], places: &[u16]) -> Vec<MeanStep> {
    let c = luce_scale(teams);
    // Relative to the best team, so that no exponential overflows.
    let best = teams.iter().map(|t| t.mean).fold(f64::MIN, f64::max);
    let raw = |t: &TeamStrength| libm::exp((t.mean - best) / c);
    let mut steps = vec![MeanStep::default(); teams.len()];
    for (q, place) in places.iter().enumerate() {
        let rest = || teams.iter().zip(places).filter(|(_, p)| *p >= place);
        let sum: f64 = rest().map(|(t, _)| raw(t)).sum();
        let ties = places.iter().filter(|p| *p == place).count() as f64;
        for (i, (team, p)) in teams.iter().zip(places).enumerate() {
            if p >= place {
                let quotient = raw(team) / sum;
                let own = if i == q { 1.0 } else { 0.0 };
                steps[i].omega += (own - quotient) / ties * team.variance / c;
                let gamma = libm::sqrt(team.variance) / c;
                let share = team.variance / (c * c);
                steps[i].delta += gamma * share * quotient * (1.0 - quotient) / ties;
            }
        }
    }
    steps
}

/// c, with c² = Σ over teams of variance + β².
fn luce_scale(teams: &[TeamStrength]) -> f64 {
    libm::sqrt(teams.iter().map(|t| t.variance + BETA * BETA).sum())
}

/// c of a pair of teams, with c² = the sum of their variances + 2β².
fn pair_scale(a: TeamStrength, b: TeamStrength) -> f64 {
    libm::sqrt(a.variance + b.variance + 2.0 * BETA * BETA)
}

/// Algorithm 3 of the paper, in O(teams²).
fn thurstone_mosteller(teams: &[TeamStrength], places: &[u16]) -> Vec<MeanStep> {
    let step = |i: usize| {
        let mut step = MeanStep::default();
        for q in (0..teams.len()).filter(|q| *q != i) {
            let c = pair_scale(teams[i], teams[q]);
            let (x, margin) = ((teams[i].mean - teams[q].mean) / c, EPSILON / c);
            let moments = normal::truncated(x, margin, places[i].cmp(&places[q]));
            let variance = teams[i].variance;
            let gamma = libm::sqrt(variance) / c;
            step.omega += variance / c * moments.v;
            step.delta += gamma * variance / (c * c) * moments.w;
        }
        step
    };
    (0..teams.len()).map(step).collect()
}

/// A player's estimate after a game in which they had these seats: one step along the sum of the
/// gradients. A player's share of a team's change is their share of its variance.
fn moved<'a>(
    before: Strength,
    seats: impl Iterator<Item = &'a Seat>,
    teams: &[TeamStrength],
    steps: &[MeanStep],
) -> Strength {
    let (mut mean, mut left) = (before.mean, 1.0);
    for seat in seats {
        let (team, step) = (teams[usize::from(seat.team)], steps[usize::from(seat.team)]);
        let part = before.variance() / team.variance.max(f64::MIN_POSITIVE);
        mean += seat.share * part * step.omega;
        left -= seat.share * seat.share * part * step.delta;
    }
    Strength {
        mean,
        deviation: before.deviation * libm::sqrt(left.max(KAPPA)),
    }
}

impl System for WengLin {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        let net = game.net();
        let game = net.as_ref().unwrap_or(game);
        let (a, b) = (self.team(game, a), self.team(game, b));
        match self.model {
            Model::PlackettLuce => normal::logistic((a.mean - b.mean) / luce_scale(&[a, b])),
            Model::ThurstoneMosteller => normal::cdf((a.mean - b.mean) / pair_scale(a, b)),
        }
    }

    fn update(&mut self, game: &RatedGame) {
        if game.places.len() != game.teams() {
            return;
        }
        let net = game.net();
        let game = net.as_ref().unwrap_or(game);
        let teams: Vec<TeamStrength> = (0..game.teams()).map(|t| self.team(game, t)).collect();
        let steps = match self.model {
            Model::PlackettLuce => plackett_luce(&teams, &game.places),
            Model::ThurstoneMosteller => thurstone_mosteller(&teams, &game.places),
        };
        let seats = game.by_player();
        for seats in seats.chunk_by(|a, b| a.player == b.player) {
            let (player, learns) = (seats[0].player, seats[0].learns);
            let seats = seats.iter().filter(|seat| seat.share > 0.0);
            if learns && seats.clone().next().is_some() {
                let before = self.before(player);
                let after = moved(before, seats, &teams, &steps);
                self.players.set(player, after);
            }
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        self.players.get(player).copied()
    }

    fn win_model(&self, game: &RatedGame) -> WinModel {
        let (a, b) = (self.team(game, 0), self.team(game, 1));
        let (link, noise) = match self.model {
            Model::PlackettLuce => (Link::Logistic, luce_scale(&[a, b])),
            Model::ThurstoneMosteller => (Link::Normal, pair_scale(a, b)),
        };
        let players = game.shares().max(1.0);
        WinModel {
            per_head: MEAN / noise, // a team is the sum of its players
            deviation: libm::sqrt(a.variance + b.variance) / noise,
            ..WinModel::of_strengths(link, 1.0 / noise, players, Crowding::Root, UNIT)
        }
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: MEAN,
            unit: UNIT,
        }
    }

    fn start(&mut self, player: Player, prior: Strength) {
        let mean = MEAN + prior.mean;
        self.players.set(player, Strength { mean, ..prior });
    }

    fn hint(&mut self, player: Player, evidence: Strength) {
        if let Some(known) = self.players.get_mut(player) {
            *known = known.with(evidence);
        }
    }

    fn newcomer_deviation(&self) -> f64 {
        NEWCOMER.deviation
    }

    fn widen(&mut self, player: Player, least: f64) {
        if let Some(known) = self.players.get_mut(player) {
            known.deviation = known.deviation.max(least);
        }
    }

    fn new_season(&mut self, keep: f64) {
        for strength in self.players.values_mut() {
            *strength = strength.faded(keep, NEWCOMER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{game, strengths};

    fn two_against_two(model: Model) -> Vec<(f64, f64)> {
        let game = game(&[&[1.0, 1.0], &[1.0, 1.0]], &[0, 1]);
        let mut system = WengLin::new(model);
        system.update(&game);
        strengths(&system, &game)
    }

    #[test]
    fn plackett_luce_as_elsewhere() {
        let got = two_against_two(Model::PlackettLuce);
        let (up, down) = (26.964_294_621_803_063, 23.035_705_378_196_937);
        for (player, mean) in got.iter().zip([up, up, down, down]) {
            assert!((player.1 - 8.177_962_604_389_991).abs() < 1e-12, "{got:?}");
            assert!((player.0 - mean).abs() < 1e-12, "{got:?}");
        }
    }

    #[test]
    fn thurstone_mosteller_as_elsewhere() {
        let got = two_against_two(Model::ThurstoneMosteller);
        let s = 7.930_218_70;
        let expected = [28.148_721_66, 28.148_721_66, 21.851_278_34, 21.851_278_34];
        for (player, mean) in got.iter().zip(expected) {
            let near = (player.0 - mean).abs() < 1e-7 && (player.1 - s).abs() < 1e-7;
            assert!(near, "{got:?}");
        }
    }

    #[test]
    fn who_changed_teams_takes_one_step_with_the_difference_of_the_shares() {
        let seat = |player, team, share| Seat {
            share,
            ..Seat::new(Player(player), team)
        };
        let with = |seats: Vec<Seat>| {
            let mut game = RatedGame::new(seats);
            game.places = vec![0, 1];
            game
        };
        let changed = with(vec![
            seat(0, 0, 0.75),
            seat(1, 0, 1.0),
            seat(0, 1, 0.25),
            seat(2, 1, 1.0),
        ]);
        // What one team has of the player and the other has, too, cancels: half a game remains.
        let half = with(vec![seat(0, 0, 0.5), seat(1, 0, 1.0), seat(2, 1, 1.0)]);
        for model in [Model::PlackettLuce, Model::ThurstoneMosteller] {
            let [mut one, mut other] = [WengLin::new(model), WengLin::new(model)];
            for _ in 0..3 {
                assert_eq!(one.beats(&changed, 0, 1), other.beats(&half, 0, 1));
                one.update(&changed);
                other.update(&half);
            }
            assert_eq!(strengths(&one, &half), strengths(&other, &half));
        }
    }

    #[test]
    fn a_hint_is_weighed_by_how_sure_it_is() {
        let duel = game(&[&[1.0], &[1.0]], &[0, 1]);
        let mut system = WengLin::new(Model::PlackettLuce);
        system.update(&duel);
        let (mean, deviation) = strengths(&system, &duel)[0];
        // Evidence of twice the deviation has a fifth of the say: 1/4 against 1.
        let evidence = Strength {
            mean: mean + 10.0,
            deviation: 2.0 * deviation,
        };
        system.hint(Player(0), evidence);
        let after = strengths(&system, &duel)[0];
        assert!((after.0 - mean - 2.0).abs() < 1e-9, "{after:?}");
        assert!((after.1 * after.1 - 0.8 * deviation * deviation).abs() < 1e-9);
    }

    #[test]
    fn overwhelming_strength_stays_finite() {
        for model in [Model::PlackettLuce, Model::ThurstoneMosteller] {
            let mut system = WengLin::new(model);
            let crowd = vec![1.0; 400];
            for places in [[0, 1], [1, 0], [0, 0]] {
                let game = game(&[&crowd, &[1.0]], &places);
                system.update(&game);
                for (mean, deviation) in strengths(&system, &game) {
                    assert!(mean.is_finite() && deviation > 0.0, "{mean} {deviation}");
                }
            }
        }
    }
}
