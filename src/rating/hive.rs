//! `hive`: the skill system of Natural Selection 2, build 267.
//!
//! The log odds of team 1 are the time-weighted difference of the teams' skills, the same
//! difference of the commanders' skills, and F(side, map, size): the log odds of how often that
//! side has won on that map in games of that size. Each game moves every player along the gradient
//! of its log likelihood. The learning rate of a skill is AdaGrad's, which is high for newcomers,
//! plus a constant, which lets the skill follow a player who changes. The offset per side has only
//! the constant rate.
//!
//! Three of the published formulas cannot be meant as printed and are corrected here: AdaGrad sums
//! *squared* gradients (a sum of signed gradients can be negative, and a root is taken of it); the
//! offset is *added* to; and the record behind F begins with some games at even odds, because
//! log(rate / (1 − rate)) is infinite once one side has won every game.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::{Company, Crowding, Link, Outlook};

use super::{Player, RatedGame, Roll, Scale, Strength, System, normal};
use crate::domain::units::{Amount, PositiveAmount};

/// The tunable parameters of the published system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// c, the constant rate, 0 or more.
    #[serde(rename = "hive_constant")]
    pub constant: Amount,
    /// a, AdaGrad's rate, 0 or more.
    #[serde(rename = "hive_adaptive")]
    pub adaptive: Amount,
    /// ε, above 0. A larger value makes the steps of the first games smaller.
    #[serde(rename = "hive_epsilon")]
    pub epsilon: PositiveAmount,
}

/// Tuned on the first fifth of each measured history. Half or twice these values change little.
impl Default for Settings {
    fn default() -> Self {
        Self {
            constant: const { Amount::of(1.0) },
            adaptive: const { Amount::of(1.0) },
            epsilon: const { PositiveAmount::of(0.02) },
        }
    }
}

/// A skill that moves by gradient steps.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Learnt {
    value: f64,
    /// Sum of squared gradients, for AdaGrad.
    squares: f64,
}

impl Learnt {
    fn step(&mut self, gradient: f64, settings: &Settings) {
        self.squares += gradient * gradient;
        let adaptive = settings.adaptive.get() / libm::sqrt(self.squares + settings.epsilon.get());
        self.value += (settings.constant.get() + adaptive) * gradient;
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Skill {
    playing: Learnt,
    commanding: Learnt,
    /// Added on side 0, subtracted on side 1.
    offset: f64,
}

/// The `hive` system: skills by gradient, one step per game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hive {
    settings: Settings,
    players: Roll<Skill>,
    record: SideRecord,
}

impl Hive {
    /// A system without any games.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            players: Roll::default(),
            record: SideRecord::default(),
        }
    }

    fn known(&self, player: Player) -> Skill {
        self.players.get(player).copied().unwrap_or_default()
    }

    fn log_odds(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        let time = total(game, a, b, |s| s.share);
        let command = total(game, a, b, |s| s.command);
        let mut log_odds = self.record.log_odds(game, a, b);
        for (team, sign) in [(a, 1.0), (b, -1.0)] {
            for seat in game.team(team) {
                let skill = self.known(seat.player);
                let side = if game.sides { sign * skill.offset } else { 0.0 };
                log_odds += sign * seat.share / time * (skill.playing.value + side);
                log_odds += sign * seat.command / command * skill.commanding.value;
            }
        }
        log_odds
    }
}

/// A sum over both teams; 1 if the sum is 0, so that it can be a divisor.
fn total(game: &RatedGame, a: usize, b: usize, of: impl Fn(&super::Seat) -> f64) -> f64 {
    let sum: f64 = game.team(a).iter().chain(game.team(b)).map(of).sum();
    if sum > 0.0 { sum } else { 1.0 }
}

impl System for Hive {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        normal::logistic(self.log_odds(game, a, b))
    }

    fn update(&mut self, game: &RatedGame) {
        for (a, b, result) in game.neighbours() {
            let surprise = 0.5 - 0.5 * f64::from(result as i8) - self.beats(game, a, b);
            let time = total(game, a, b, |s| s.share);
            let command = total(game, a, b, |s| s.command);
            for (team, sign) in [(a, 1.0), (b, -1.0)] {
                for seat in game.team(team).iter().filter(|s| s.learns) {
                    let settings = self.settings;
                    let skill = self.players.enter(seat.player, Skill::default);
                    let gradient = surprise * seat.share / time;
                    skill.playing.step(sign * gradient, &settings);
                    if game.sides {
                        skill.offset += settings.constant.get() * gradient;
                    }
                    if seat.command > 0.0 {
                        let gradient = sign * surprise * seat.command / command;
                        skill.commanding.step(gradient, &settings);
                    }
                }
            }
            self.record.add(game, a, b, result);
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        let skill = self.players.get(player)?;
        Some(Strength::exact(skill.playing.value))
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: 0.0,
            halfway: HALFWAY,
        }
    }

    /// The side is worth F plus the offsets of all players: players on side 0 add theirs, players
    /// on side 1 subtract it.
    fn outlook(&self, game: &RatedGame) -> Outlook {
        let offset = |s: &super::Seat| s.share * self.known(s.player).offset;
        let offsets: f64 = game.seats().iter().map(offset).sum();
        let time = total(game, 0, 1, |s| s.share);
        let side = match game.sides && game.teams() == 2 {
            true => self.record.log_odds(game, 0, 1) + offsets / time,
            false => 0.0,
        };
        Outlook {
            link: Link::Logistic,
            per_strength: 1.0 / time,
            players: time,
            crowding: Crowding::Mean,
            per_head: 0.0,
            per_log_size: 0.0,
            side,
            halfway: HALFWAY,
            doubt: Outlook::usual_doubt(1.0 / time, time, HALFWAY),
            company: Company::default(),
        }
    }

    fn adopt(&mut self, player: Player, known: Strength) {
        let skill = self.players.enter(player, Skill::default);
        skill.playing.value = known.mean;
    }

    fn new_season(&mut self, keep: f64) {
        for skill in self.players.values_mut() {
            for learned in [&mut skill.playing, &mut skill.commanding] {
                learned.value *= keep;
                learned.squares *= keep;
            }
            skill.offset *= keep;
        }
    }
}

/// The counts from which F(side, map, size) is computed: how often side 0 won.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SideRecord {
    sides: BTreeMap<u32, Tried>,
    maps: BTreeMap<(u32, u32, bool), Tried>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Tried {
    won: f64,
    games: f64,
}

impl Tried {
    /// The rate of victories, with `PRIOR` imaginary games at the rate `expected` added.
    fn rate(&self, expected: f64) -> f64 {
        /// The number of imaginary games. After as many real games, record and `expected` count the
        /// same.
        const PRIOR: f64 = 10.0;
        (self.won + PRIOR * expected) / (self.games + PRIOR)
    }

    fn add(&mut self, result: std::cmp::Ordering) {
        self.won += 0.5 - 0.5 * f64::from(result as i8);
        self.games += 1.0;
    }
}

/// A game with more players than this counts as a large one, as in the published example.
const LARGE: usize = 16;
/// The strength above a newcomer's that has the weight 75; see [`Scale`].
const HALFWAY: f64 = 1.6;

impl SideRecord {
    fn key(game: &RatedGame) -> (u32, u32, bool) {
        (game.ruleset, game.map, game.seats().len() > LARGE)
    }

    /// Log odds of team `a` against team `b` from sides and map alone; 0 in a game without sides.
    pub fn log_odds(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        if !game.sides || game.teams() != 2 {
            return 0.0;
        }
        let tried = |found: Option<&Tried>| found.copied().unwrap_or_default();
        let side = tried(self.sides.get(&game.ruleset)).rate(0.5);
        let rate = tried(self.maps.get(&Self::key(game))).rate(side);
        let log_odds = libm::log(rate / (1.0 - rate));
        if a < b { log_odds } else { -log_odds }
    }

    /// Adds the result of a game to the record; a game without sides changes nothing.
    pub fn add(&mut self, game: &RatedGame, a: usize, b: usize, result: std::cmp::Ordering) {
        if game.sides && game.teams() == 2 {
            let result = if a < b { result } else { result.reverse() };
            self.sides.entry(game.ruleset).or_default().add(result);
            self.maps.entry(Self::key(game)).or_default().add(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::{Seat, testing::game};

    #[test]
    fn the_first_game_by_hand() {
        let settings = Settings {
            constant: Amount::of(2.0),
            adaptive: Amount::of(3.0),
            epsilon: PositiveAmount::of(0.01),
        };
        let game = game(&[&[1.0, 0.5], &[1.0]], &[0, 1]);
        let mut system = Hive::new(settings);
        assert_eq!(system.beats(&game, 0, 1), 0.5);
        system.update(&game);
        let skill = |share: f64| {
            let gradient = 0.5 * share / 2.5;
            (2.0 + 3.0 / (gradient * gradient + 0.01_f64).sqrt()) * gradient
        };
        for (player, expected) in [(0, skill(1.0)), (1, skill(0.5)), (2, -skill(1.0))] {
            let got = system.known(Player(player));
            assert!((got.playing.value - expected).abs() < 1e-12, "{got:?}");
            assert_eq!((got.offset, got.commanding.value), (0.0, 0.0));
        }
        let log_odds = (skill(1.0) + 0.5 * skill(0.5) + skill(1.0)) / 2.5;
        let chance = 1.0 / (1.0 + (-log_odds).exp());
        assert!((system.beats(&game, 0, 1) - chance).abs() < 1e-12);
    }

    #[test]
    fn offsets_learn_who_is_better_on_which_side() {
        let mut system = Hive::new(Settings::default());
        // Of four players, two win on side 0 only, and two on side 1 only, whoever the opponent is.
        for n in 0..200 {
            let (ours, theirs) = (n % 4, (n % 4 + 1 + n / 4 % 3) % 4);
            let mut game = RatedGame::new(vec![
                Seat::new(Player(ours), 0),
                Seat::new(Player(theirs), 1),
            ]);
            let won = ours < 2; // a duel of two who prefer the same side goes to the first
            game.places = vec![u16::from(!won), u16::from(won)];
            game.sides = true;
            system.update(&game);
        }
        let offset = |p| system.known(Player(p)).offset;
        for (home, away) in [(0, 2), (0, 3), (1, 2), (1, 3)] {
            assert!(offset(home) > offset(away), "{home} {away}");
        }
        assert!(offset(0) > 0.0 && offset(3) < 0.0);
    }

    #[test]
    fn a_commander_is_rated_apart() {
        let mut system = Hive::new(Settings::default());
        let mut seats = game(&[&[1.0, 1.0], &[1.0, 1.0]], &[0, 1]).seats().to_vec();
        seats[0].command = 1.0;
        let mut game = RatedGame::new(seats);
        game.places = vec![0, 1];
        system.update(&game);
        let step = |gradient: f64| (1.0 + 1.0 / (gradient * gradient + 0.02).sqrt()) * gradient;
        let commander = system.known(Player(0));
        // The result was half a surprise; the commander had a quarter of the play time, and all of
        // the command.
        assert!((commander.playing.value - step(0.125)).abs() < 1e-12);
        assert!((commander.commanding.value - step(0.5)).abs() < 1e-12);
        assert_eq!(system.known(Player(1)).commanding.value, 0.0);
        let log_odds = step(0.5) + step(0.125);
        let chance = 1.0 / (1.0 + (-log_odds).exp());
        assert!((system.beats(&game, 0, 1) - chance).abs() < 1e-12);
    }

    #[test]
    fn a_side_that_always_wins_has_finite_odds() {
        let mut game = game(&[&[1.0], &[1.0]], &[0, 1]);
        game.sides = true;
        let mut record = SideRecord::default();
        for _ in 0..1_000 {
            record.add(&game, 0, 1, std::cmp::Ordering::Less);
        }
        let odds = record.log_odds(&game, 0, 1);
        assert!(odds.is_finite() && odds > 4.0);
        assert_eq!(record.log_odds(&game, 1, 0), -odds);
    }
}
