//! `trueskill`: Herbrich, Minka, Graepel, "TrueSkill: a Bayesian skill rating system" (2006).
//!
//! Each player's strength is a Gaussian independent of the others (mean-field). A player's
//! performance adds noise β; a team's performance is the sum of its players' performances, weighted
//! by their time shares (partial play). A game reveals the order of these sums. Two teams have a
//! closed form, which allocates nothing; more are solved by expectation propagation over
//! neighbouring places. A place that several teams share has a level, of which nothing is known before the game:
//! each of its teams ties with the level, and the level is above that of the next place. In a chain of the
//! teams, as in the paper, the first and the last of those who share a place would learn more than others.

use std::cmp::Ordering;

use evenkeel_model::{
    WinModel,
    units::{Amount, PositiveAmount, ShareBelowOne},
    win_model::{Crowding, Link},
};
use serde::{Deserialize, Serialize};

use crate::{
    Player, RatedGame, Seat, Strength, System,
    normal::{self, Moments},
    system::Scale,
};

/// The unit of weights in deviations of a newcomer, see [`Scale`].
const UNIT: f64 = 0.9;

/// The variance of the level of a shared place before the game, in variances of a performance: nothing is known of it.
const UNKNOWN: f64 = 1e6;
/// The margin between a team and the level of its place, in margins of a tie of two: if two teams are each within it,
/// their difference has the variance that a tie of two gives it.
const TO_LEVEL: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The `trueskill` system: an independent Gaussian per player.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TrueSkill {
    settings: Settings,
    /// β², the variance of a performance.
    noise: f64,
    /// The variance of the drift before each game.
    drift: f64,
    /// Φ⁻¹((1 + ties)/2)·β: the tie margin is this times √(number of players).
    margin: f64,
    newcomer: Rated,
    /// Indexed by player number; unused numbers hold a newcomer, so that a look-up needs no branch.
    players: Vec<Rated>,
}

/// A player's estimate; `seen` is false in unused numbers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Rated {
    mean: f64,
    variance: f64,
    seen: bool,
}

impl Rated {
    fn strength(&self) -> Strength {
        Strength {
            mean: self.mean,
            deviation: libm::sqrt(self.variance),
        }
    }
}

impl TrueSkill {
    /// A system without any games.
    pub fn new(settings: Settings) -> Self {
        let (beta, drift) = (settings.beta.get(), settings.drift.get());
        Self {
            settings,
            noise: beta * beta,
            drift: drift * drift,
            margin: normal::quantile(0.5 + 0.5 * settings.ties.get()) * beta,
            newcomer: Rated {
                mean: settings.mean,
                variance: settings.deviation * settings.deviation,
                seen: false,
            },
            players: Vec::new(),
        }
    }

    fn known(&self, player: Player) -> &Rated {
        self.players.get(player.index()).unwrap_or(&self.newcomer)
    }

    fn enter(&mut self, player: Player) -> &mut Rated {
        let index = player.index();
        if index >= self.players.len() {
            self.players.resize(index + 1, self.newcomer);
        }
        &mut self.players[index]
    }

    /// The distribution of a team's performance, drift and noise included.
    fn team(&self, seats: &[Seat]) -> Gaussian {
        let noise = self.noise + self.drift; // the drift precedes the game
        let (mut mean, mut variance) = (0.0, 0.0);
        for seat in seats {
            let player = self.known(seat.player);
            mean += seat.share * player.mean;
            variance += seat.share * seat.share * (player.variance + noise);
        }
        Gaussian { mean, variance }
    }

    /// Updates every player of a team. The team's performance has standard deviation `c`; the
    /// moments are the change of its mean in units of `c` and the share of its variance that it
    /// loses.
    fn learn(&mut self, seats: &[Seat], c: f64, moments: Moments) {
        let (v, w, drift) = (moments.v / c, moments.w / (c * c), self.drift);
        for seat in seats.iter().filter(|s| s.learns && s.share > 0.0) {
            let player = self.enter(seat.player);
            let before = player.variance + drift;
            let gain = seat.share * before;
            player.mean += gain * v;
            player.variance = before - gain * gain * w;
            player.seen = true;
        }
    }

    /// Learns from a game of two teams: the difference of their performances is one truncated
    /// Gaussian.
    fn two(&mut self, game: &RatedGame, result: Ordering) {
        let net = game.net();
        let game = net.as_ref().unwrap_or(game);
        let (ours, theirs) = (game.team(0), game.team(1));
        let (a, b) = (self.team(ours), self.team(theirs));
        let c = libm::sqrt(a.variance + b.variance);
        if c > 0.0 {
            let heads = ours.len() + theirs.len();
            let margin = self.margin * libm::sqrt(heads as f64) / c;
            let moments = normal::truncated((a.mean - b.mean) / c, margin, result);
            self.learn(ours, c, moments);
            self.learn(theirs, c, moments.mirrored());
        }
    }

    /// Learns from a game of any number of teams.
    fn many(&mut self, game: &RatedGame) {
        let priors: Vec<Gaussian> = (0..game.teams()).map(|t| self.team(game.team(t))).collect();
        let heads: Vec<f64> = (0..game.teams())
            .map(|t| game.team(t).len() as f64)
            .collect();
        let posteriors = self.links(game.groups(), &priors, &heads).propagate();
        let step = |(prior, posterior): (&Gaussian, Gaussian)| {
            let variance = prior.variance.max(f64::MIN_POSITIVE);
            Moments {
                v: (posterior.mean - prior.mean) / variance,
                w: (1.0 - posterior.variance / prior.variance) / variance,
            }
        };
        let steps: Vec<Moments> = priors.iter().zip(posteriors).map(step).collect();
        let seats = game.by_player();
        for seats in seats.chunk_by(|a, b| a.player == b.player) {
            if seats[0].learns {
                self.learn_once(seats, &steps);
            }
        }
    }

    /// The order of a game's places, as [links](ResultGraph) between its teams and the levels of the places that several
    /// teams share.
    fn links(&self, groups: Vec<Vec<usize>>, priors: &[Gaussian], heads: &[f64]) -> ResultGraph {
        let mut links = ResultGraph::between(priors);
        let mut above: Option<(usize, f64)> = None;
        for group in groups {
            let mean = |of: &dyn Fn(usize) -> f64| {
                let sum: f64 = group.iter().map(|&team| of(team)).sum();
                sum / group.len() as f64
            };
            let size = mean(&|team| heads[team]);
            let own = match group[..] {
                [team] => team,
                _ => links.add(Gaussian {
                    mean: mean(&|team| priors[team].mean),
                    variance: UNKNOWN * mean(&|team| priors[team].variance),
                }),
            };
            for &team in group.iter().filter(|team| **team != own) {
                let margin = self.margin * libm::sqrt(heads[team] + size);
                links.join(team, own, Ordering::Equal, margin * TO_LEVEL);
            }
            if let Some((above, other)) = above {
                let margin = self.margin * libm::sqrt(other + size);
                links.join(above, own, Ordering::Less, margin);
            }
            above = Some((own, size));
        }
        links
    }

    /// Updates a player who had these seats by one step, from the [`step`](Self::learn) of each team.
    fn learn_once(&mut self, seats: &[Seat], steps: &[Moments]) {
        /// The share of a variance that at least remains.
        const LEAST: f64 = 1e-4;
        let drift = self.drift;
        let player = self.enter(seats[0].player);
        let before = player.variance + drift;
        let mut lost = 0.0;
        for seat in seats {
            let step = &steps[usize::from(seat.team)];
            let gain = seat.share * before;
            player.mean += gain * step.v;
            lost += gain * gain * step.w;
        }
        player.variance = (before - lost).max(LEAST * before);
        player.seen = true;
    }
}

impl System for TrueSkill {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        let net = game.net();
        let game = net.as_ref().unwrap_or(game);
        let (a, b) = (self.team(game.team(a)), self.team(game.team(b)));
        let c = libm::sqrt(a.variance + b.variance);
        if c > 0.0 {
            normal::cdf((a.mean - b.mean) / c)
        } else {
            0.5
        }
    }

    fn update(&mut self, game: &RatedGame) {
        match (game.teams(), game.result(0, 1)) {
            (2, Some(result)) => self.two(game, result),
            (_, Some(_)) => self.many(game),
            (_, None) => {}
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        let known = self.known(player);
        known.seen.then(|| known.strength())
    }

    fn win_model(&self, game: &RatedGame) -> WinModel {
        let team = |team| self.team(game.team(team)).variance;
        let per_strength = 1.0 / libm::sqrt((team(0) + team(1)).max(f64::MIN_POSITIVE));
        let variance = |seat: &Seat| self.known(seat.player).variance;
        let (players, unit) = (game.shares().max(1.0), UNIT * self.settings.deviation);
        WinModel {
            per_head: per_strength * self.settings.mean, // a team is the sum of its players
            deviation: per_strength * libm::sqrt(game.seats().iter().map(variance).sum()),
            ..WinModel::of_strengths(Link::Normal, per_strength, players, Crowding::Root, unit)
        }
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: self.settings.mean,
            unit: UNIT * self.settings.deviation,
        }
    }

    fn start(&mut self, player: Player, prior: Strength) {
        *self.enter(player) = Rated {
            mean: self.newcomer.mean + prior.mean,
            variance: prior.variance(),
            seen: true,
        };
    }

    fn hint(&mut self, player: Player, evidence: Strength) {
        let rated = self.enter(player);
        let after = rated.strength().with(evidence);
        (rated.mean, rated.variance) = (after.mean, after.variance());
    }

    fn newcomer_deviation(&self) -> f64 {
        self.settings.deviation
    }

    fn widen(&mut self, player: Player, least: f64) {
        let rated = self.enter(player);
        rated.variance = rated.variance.max(least * least);
    }

    fn new_season(&mut self, keep: f64) {
        let newcomer = self.newcomer.strength();
        for player in self.players.iter_mut().filter(|p| p.seen) {
            let later = player.strength().faded(keep, newcomer);
            (player.mean, player.variance) = (later.mean, later.variance());
        }
    }
}

/// A team's performance, or the level of a place.
#[derive(Clone, Copy, Debug)]
struct Gaussian {
    mean: f64,
    variance: f64,
}

/// A Gaussian by precision and precision times mean: multiplying two densities adds these.
#[derive(Clone, Copy, Debug, Default)]
struct Natural {
    precision: f64,
    weighted: f64,
}

impl Natural {
    fn of(g: Gaussian) -> Self {
        Self {
            precision: 1.0 / g.variance,
            weighted: g.mean / g.variance,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            precision: self.precision + other.precision,
            weighted: self.weighted + other.weighted,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            precision: self.precision - other.precision,
            weighted: self.weighted - other.weighted,
        }
    }

    fn gaussian(self) -> Gaussian {
        Gaussian {
            mean: self.weighted / self.precision,
            variance: 1.0 / self.precision,
        }
    }
}

/// Teams and levels, and the results between them. No results form a circle.
#[derive(Clone, Debug)]
struct ResultGraph {
    priors: Vec<Gaussian>,
    pairs: Vec<(usize, usize, Ordering)>,
    margins: Vec<f64>,
}

impl ResultGraph {
    /// These teams, without results.
    fn between(teams: &[Gaussian]) -> Self {
        Self {
            priors: teams.to_vec(),
            pairs: Vec::new(),
            margins: Vec::new(),
        }
    }

    /// Adds a level, and returns its number.
    fn add(&mut self, level: Gaussian) -> usize {
        self.priors.push(level);
        self.priors.len() - 1
    }

    /// Adds a result.
    fn join(&mut self, a: usize, b: usize, result: Ordering, margin: f64) {
        self.pairs.push((a, b, result));
        self.margins.push(margin);
    }

    /// Expectation propagation: repeats each result's messages to its two ends until none changes. Returns the
    /// teams, and then the levels. O(sweeps · results).
    fn propagate(&self) -> Vec<Gaussian> {
        /// The most sweeps. Each reduces the change about tenfold; many ties need the most.
        const SWEEPS: usize = 100;
        /// So small that it does not show in which order the teams of a place were listed.
        const SETTLED: f64 = 1e-13;
        let Self {
            priors,
            pairs,
            margins,
        } = self;
        let mut teams: Vec<Natural> = priors.iter().copied().map(Natural::of).collect();
        let mut messages = vec![(Natural::default(), Natural::default()); pairs.len()];
        for _ in 0..SWEEPS {
            let mut change = 0.0_f64;
            let forth = 0..pairs.len();
            for k in forth.clone().chain(forth.rev()) {
                let (a, b, result) = pairs[k];
                let (left, right) = (teams[a].minus(messages[k].0), teams[b].minus(messages[k].1));
                let (l, r) = (left.gaussian(), right.gaussian());
                let (mean, variance) = (l.mean - r.mean, l.variance + r.variance);
                let c = libm::sqrt(variance);
                let moments = normal::truncated(mean / c, margins[k] / c, result);
                // First the message about the difference d, then those about its ends: left = d +
                // right.
                let kept = (1.0 - moments.w).max(1e-9);
                let d = Natural {
                    precision: (1.0 / kept - 1.0).max(1e-12) / variance,
                    weighted: ((mean + c * moments.v) / kept - mean) / variance,
                }
                .gaussian();
                let to_left = Natural::of(Gaussian {
                    mean: r.mean + d.mean,
                    variance: r.variance + d.variance,
                });
                let to_right = Natural::of(Gaussian {
                    mean: l.mean - d.mean,
                    variance: l.variance + d.variance,
                });
                change = change.max((to_left.weighted - messages[k].0.weighted).abs());
                messages[k] = (to_left, to_right);
                (teams[a], teams[b]) = (left.plus(to_left), right.plus(to_right));
            }
            if change < SETTLED {
                break;
            }
        }
        teams.into_iter().map(Natural::gaussian).collect()
    }
}

/// The settings of the paper, on its scale around 25.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Mean strength of a newcomer.
    #[serde(default = "mean")]
    pub mean: f64,
    /// Standard deviation of a newcomer's strength, above 0.
    #[serde(default = "deviation")]
    pub deviation: f64,
    /// Standard deviation of a performance around the strength, above 0.
    #[serde(rename = "trueskill_beta")]
    pub beta: PositiveAmount,
    /// Standard deviation of the drift before each game, 0 or more.
    #[serde(rename = "trueskill_drift")]
    pub drift: Amount,
    /// The share of games that two equal players tie, 0 to below 1.
    #[serde(rename = "trueskill_ties")]
    pub ties: ShareBelowOne,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mean: mean(),
            deviation: deviation(),
            beta: const { PositiveAmount::of(25.0 / 6.0) },
            drift: const { Amount::of(25.0 / 300.0) },
            ties: const { ShareBelowOne::of(0.1) },
        }
    }
}

/// The paper's mean; no key of the configuration changes it.
fn mean() -> f64 {
    25.0
}

/// The paper's deviation; no key of the configuration changes it.
fn deviation() -> f64 {
    25.0 / 3.0
}

#[cfg(test)]
mod tests {
    use evenkeel_model::units::ShareBelowOne;

    use super::*;
    use crate::testing::{game, strengths};

    /// The strengths after one game between newcomers with these time shares and places.
    fn after(shares: &[&[f64]], places: &[u16]) -> Vec<(f64, f64)> {
        let mut system = TrueSkill::new(Settings::default());
        let game = game(shares, places);
        system.update(&game);
        strengths(&system, &game)
    }

    fn close(got: &[(f64, f64)], expected: &[(f64, f64)]) {
        for (g, e) in got.iter().zip(expected) {
            // The reference values come from an erfc with seven digits.
            let near = (g.0 - e.0).abs() < 1e-5 && (g.1 - e.1).abs() < 1e-5;
            assert!(near, "{got:?} instead of {expected:?}");
        }
        assert_eq!(got.len(), expected.len());
    }

    #[test]
    fn two_teams_as_elsewhere() {
        let one: &[f64] = &[1.0];
        let two: &[f64] = &[1.0, 1.0];
        let four: &[f64] = &[1.0; 4];
        let s = 7.171_475_59;
        close(
            &after(&[one, one], &[0, 1]),
            &[(29.395_832_02, s), (20.604_167_98, s)],
        );
        close(
            &after(&[one, one], &[1, 0]),
            &[(20.604_167_98, s), (29.395_832_02, s)],
        );
        close(&after(&[one, one], &[0, 0]), &[(25.0, 6.457_519_66); 2]);
        let s = 7.774_363_35;
        let (up, down) = ((28.108_322_63, s), (21.891_677_37, s));
        close(&after(&[two, two], &[0, 1]), &[up, up, down, down]);
        let down = (16.269_328_75, 7.317_365_25);
        close(
            &after(&[one, two], &[0, 1]),
            &[(33.730_671_25, 7.317_365_25), down, down],
        );
        let won = after(&[four, four], &[0, 1]);
        close(&won[..1], &[(27.197_916_01, 8.058_911_66)]);
    }

    #[test]
    fn partial_play_counts_as_in_other_programs() {
        let shares: [&[f64]; 2] = [&[1.0, 0.5], &[1.0]];
        let expected = [
            (26.764_250_24, 7.685_468_73),
            (25.882_125_12, 8.176_499_81),
            (23.235_749_76, 7.685_468_73),
        ];
        close(&after(&shares, &[0, 1]), &expected);
    }

    #[test]
    fn three_for_themselves_as_elsewhere() {
        let one: &[f64] = &[1.0];
        let expected = [
            (31.675_352_42, 6.655_985_38),
            (25.0, 6.207_896_64),
            (18.324_647_58, 6.655_985_38),
        ];
        let got = after(&[one, one, one], &[0, 1, 2]);
        for (g, e) in got.iter().zip(expected) {
            // The reference values come from messages stopped at a change of 1e-4.
            assert!(
                (g.0 - e.0).abs() < 2e-4 && (g.1 - e.1).abs() < 2e-4,
                "{got:?}"
            );
        }
    }

    #[test]
    fn two_teams_are_many_teams() {
        let shares: [&[f64]; 2] = [&[1.0, 0.5, 1.0], &[1.0, 0.2]];
        for places in [[0, 1], [1, 0], [0, 0]] {
            let game = game(&shares, &places);
            let mut by_messages = TrueSkill::new(Settings::default());
            by_messages.many(&game);
            close(&strengths(&by_messages, &game), &after(&shares, &places));
        }
    }

    #[test]
    fn who_changed_teams_takes_one_step_with_the_difference_of_the_shares() {
        let seat = |player, team, share| Seat {
            share,
            ..Seat::new(Player(player), team)
        };
        let seats = vec![seat(0, 0, 0.75), seat(0, 1, 0.25), seat(1, 1, 1.0)];
        let mut game = RatedGame::new(seats);
        game.places = vec![0, 1];
        let settings = Settings {
            ties: ShareBelowOne::of(0.0),
            ..Settings::default()
        };
        let mut system = TrueSkill::new(settings);
        // The performances are 0.5 · s₀ and s₁, with variances of V = (25/3)² + (25/300)² + (25/6)² each:
        // c² = 1.25 V, and t = −12.5/c.
        let before = (25.0_f64 / 3.0).powi(2) + (25.0_f64 / 300.0).powi(2);
        let c = (1.25 * (before + (25.0_f64 / 6.0).powi(2))).sqrt();
        let t = -12.5 / c;
        assert!((system.beats(&game, 0, 1) - normal::cdf(t)).abs() < 1e-12);
        let v = normal::pdf(t) / normal::cdf(t);
        let mean = 25.0 + 0.5 * before * v / c;
        let variance = before - (0.5 * before / c).powi(2) * v * (v + t);
        system.update(&game);
        close(&strengths(&system, &game)[..1], &[(mean, variance.sqrt())]);
    }

    #[test]
    fn a_hint_is_weighed_by_how_sure_it_is() {
        let mut system = TrueSkill::new(Settings::default());
        system.update(&game(&[&[1.0], &[1.0]], &[0, 0]));
        let before = system.strength(Player(0)).unwrap();
        let evidence = Strength {
            mean: 35.0,
            deviation: before.deviation,
        };
        system.hint(Player(0), evidence);
        let after = system.strength(Player(0)).unwrap();
        assert!((after.mean - 30.0).abs() < 1e-9);
        assert!((after.variance() - before.variance() / 2.0).abs() < 1e-9);
    }

    #[test]
    fn nobody_is_learned_of_without_wanting() {
        let mut seats = game(&[&[1.0], &[1.0]], &[0, 1]).seats().to_vec();
        seats[0].learns = false;
        let mut game = RatedGame::new(seats);
        game.places = vec![0, 1];
        let mut system = TrueSkill::new(Settings::default());
        system.update(&game);
        assert_eq!(system.strength(Player(0)), None);
        assert!(system.strength(Player(1)).is_some());
    }
}
