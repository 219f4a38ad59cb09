//! `hive`: the skill system of Natural Selection 2, build 267.
//!
//! The log odds of team 1 are the time-weighted difference of the teams' skills, the same
//! difference of the commanders' skills, and F(side, map, size): the log odds of how often that
//! side has won on that map in games of that size. Each game moves every player along the gradient
//! of its log likelihood. The learning rate of a skill is AdaGrad's, which is high for newcomers,
//! plus a constant, which lets the skill follow a player who changes. The offset per side has only
//! the constant rate.
//!
//! Skills are relative to a newcomer's skill, which is learned in the same way. It is the advantage
//! that a team has for each additional player, as in the published model.
//!
//! Three of the published formulas cannot be meant as printed and are corrected here: AdaGrad sums
//! *squared* gradients (a sum of signed gradients can be negative, and a root is taken of it); the
//! offset is *added* to; and the record behind F begins with some games at even odds, because
//! log(rate / (1 − rate)) is infinite once one side has won every game.

use std::{cmp::Ordering, collections::BTreeMap};

use evenkeel_model::{
    WinModel,
    units::{Amount, PositiveAmount},
    win_model::{Crowding, Link},
};
use serde::{Deserialize, Serialize};

use crate::{
    Player, RatedGame, Seat, Strength, System,
    game::{TeamPair, score},
    normal,
    player_map::PlayerMap,
    system::{RoleStrengths, Scale},
};

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
    /// The skill of a newcomer before any game, 0 or more. Games then change it.
    #[serde(rename = "hive_start")]
    pub start: Amount,
}

/// Tuned on the first fifth of each measured history. Half or twice these values change little.
/// A newcomer starts at the mode of the prior of [`hive_history`](super::hive_history).
impl Default for Settings {
    fn default() -> Self {
        Self {
            constant: const { Amount::of(1.0) },
            adaptive: const { Amount::of(1.0) },
            epsilon: const { PositiveAmount::of(0.02) },
            start: const { Amount::of(6.0) },
        }
    }
}

/// The unit of weights, see [`Scale`].
const UNIT: f64 = 1.6;

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
struct HiveSkill {
    playing: Learnt,
    commanding: Learnt,
    /// Added on side 0, subtracted on side 1.
    offset: f64,
}

/// The `hive` system: skills by gradient, one step per game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Hive {
    settings: Settings,
    players: PlayerMap<HiveSkill>,
    /// The skill of a newcomer, to which all other skills are relative. It is the worth of one
    /// player more on a team.
    newcomer: Learnt,
    record: SideRecord,
}

impl Hive {
    /// A system without any games.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            players: PlayerMap::default(),
            newcomer: Learnt {
                value: settings.start.get(),
                squares: 0.0,
            },
            record: SideRecord::default(),
        }
    }

    fn known(&self, player: Player) -> HiveSkill {
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
                let playing = self.newcomer.value + skill.playing.value;
                log_odds += sign * seat.share / time * (playing + side);
                log_odds += sign * seat.command / command * skill.commanding.value;
            }
        }
        log_odds
    }
}

/// The difference between the result of two teams and the expected result.
struct Surprise {
    teams: [usize; 2],
    /// The result of the first team (1, ½ or 0) minus its chance, times the weight of the pair.
    size: f64,
    /// The sum of the time shares of all seats.
    time: f64,
    /// The sum of the time shares of the first team minus that of the second.
    more: f64,
    /// The sum of the shares of command.
    command: f64,
}

impl Hive {
    /// Moves a player who had these seats one step along the sum of the gradients.
    fn learn(&mut self, seats: &[Seat], surprises: &[Surprise], sides: bool) {
        let (mut playing, mut offset, mut commanding) = (0.0, 0.0, 0.0);
        for (seat, surprise) in seats
            .iter()
            .flat_map(|s| surprises.iter().map(move |p| (s, p)))
        {
            let sign = match surprise.teams.map(|team| team == usize::from(seat.team)) {
                [true, _] => 1.0,
                [_, true] => -1.0,
                _ => continue,
            };
            let gradient = surprise.size * seat.share / surprise.time;
            playing += sign * gradient;
            offset += gradient;
            commanding += sign * surprise.size * seat.command / surprise.command;
        }
        let settings = self.settings;
        let skill = self.players.enter(seats[0].player, HiveSkill::default);
        skill.playing.step(playing, &settings);
        if sides {
            skill.offset += settings.constant.get() * offset;
        }
        if commanding != 0.0 {
            skill.commanding.step(commanding, &settings);
        }
    }
}

/// The sum of the time shares of a team.
fn time(team: &[Seat]) -> f64 {
    team.iter().map(|seat| seat.share).sum()
}

/// A sum over both teams; 1 if the sum is 0, so that it can be a divisor.
fn total(game: &RatedGame, a: usize, b: usize, of: impl Fn(&Seat) -> f64) -> f64 {
    let sum: f64 = game.team(a).iter().chain(game.team(b)).map(of).sum();
    if sum > 0.0 { sum } else { 1.0 }
}

impl System for Hive {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        normal::logistic(self.log_odds(game, a, b))
    }

    fn update(&mut self, game: &RatedGame) {
        let pairs = game.neighbours();
        let surprise = |&TeamPair {
                            a,
                            b,
                            result,
                            weight,
                        }: &TeamPair| Surprise {
            teams: [a, b],
            size: (score(result) - self.beats(game, a, b)) * weight,
            time: total(game, a, b, |s| s.share),
            more: time(game.team(a)) - time(game.team(b)),
            command: total(game, a, b, |s| s.command),
        };
        let surprises: Vec<Surprise> = pairs.iter().map(surprise).collect();
        let seats = game.by_player();
        for seats in seats.chunk_by(|a, b| a.player == b.player) {
            if seats[0].learns {
                self.learn(seats, &surprises, game.sides);
            }
        }
        let more = |surprise: &Surprise| surprise.size * surprise.more / surprise.time;
        let gradient: f64 = surprises.iter().map(more).sum();
        if gradient != 0.0 {
            self.newcomer.step(gradient, &self.settings);
        }
        for pair in pairs {
            self.record.add(game, pair.a, pair.b, pair.result);
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        let skill = self.players.get(player)?;
        Some(Strength::exact(skill.playing.value))
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: 0.0,
            unit: UNIT,
        }
    }

    /// The side is worth F plus the offsets of all players: players on side 0 add theirs, players
    /// on side 1 subtract it.
    fn win_model(&self, game: &RatedGame) -> WinModel {
        let offset = |s: &Seat| s.share * self.known(s.player).offset;
        let offsets: f64 = game.seats().iter().map(offset).sum();
        let time = total(game, 0, 1, |s| s.share);
        let side = match game.sides && game.teams() == 2 {
            true => self.record.log_odds(game, 0, 1) + offsets / time,
            false => 0.0,
        };
        WinModel {
            per_head: self.newcomer.value / time,
            side,
            ..WinModel::of_strengths(Link::Logistic, 1.0 / time, time, Crowding::Mean, UNIT)
        }
    }

    /// The commanders' skills are a mean over the commanders, those of players over all players.
    fn command(&self, player: Player, game: &RatedGame) -> f64 {
        let time = total(game, 0, 1, |s| s.share);
        self.known(player).commanding.value * time / total(game, 0, 1, |s| s.command)
    }

    /// The commanding skill is the one of the published system, to which playing does not add.
    fn roles(&self, player: Player) -> RoleStrengths {
        let skill = self.known(player);
        let (playing, offset) = (skill.playing.value, skill.offset);
        RoleStrengths {
            sides: (offset != 0.0).then_some([playing + offset, playing - offset]),
            commander: (skill.commanding.squares > 0.0).then_some(skill.commanding.value),
        }
    }

    fn start(&mut self, player: Player, prior: Strength) {
        let skill = self.players.enter(player, HiveSkill::default);
        skill.playing.value = prior.mean;
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
pub(crate) struct SideRecord {
    sides: BTreeMap<u32, HiveTrial>,
    maps: BTreeMap<(u32, u32, bool), HiveTrial>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct HiveTrial {
    won: f64,
    games: f64,
}

impl HiveTrial {
    /// The rate of victories, with `PRIOR` imaginary games at the rate `expected` added.
    fn rate(&self, expected: f64) -> f64 {
        /// The number of imaginary games. After as many real games, record and `expected` count the
        /// same.
        const PRIOR: f64 = 10.0;
        (self.won + PRIOR * expected) / (self.games + PRIOR)
    }

    fn add(&mut self, result: Ordering) {
        self.won += score(result);
        self.games += 1.0;
    }
}

/// A game with more players than this counts as a large one, as in the published example.
const LARGE: f64 = 16.0;
impl SideRecord {
    fn key(game: &RatedGame) -> (u32, u32, bool) {
        (game.ruleset, game.map, game.shares() > LARGE)
    }

    /// Log odds of team `a` against team `b` from sides and map alone; 0 in a game without sides.
    pub(crate) fn log_odds(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        if !game.sides || game.teams() != 2 {
            return 0.0;
        }
        let tried = |found: Option<&HiveTrial>| found.copied().unwrap_or_default();
        let side = tried(self.sides.get(&game.ruleset)).rate(0.5);
        let rate = tried(self.maps.get(&Self::key(game))).rate(side);
        let log_odds = libm::log(rate / (1.0 - rate));
        if a < b { log_odds } else { -log_odds }
    }

    /// Adds the result of a game to the record; a game without sides changes nothing.
    pub(crate) fn add(&mut self, game: &RatedGame, a: usize, b: usize, result: Ordering) {
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
    use crate::{Player, Seat, testing::game};

    #[test]
    fn the_first_game_by_hand() {
        let settings = Settings {
            constant: Amount::of(2.0),
            adaptive: Amount::of(3.0),
            epsilon: PositiveAmount::of(0.01),
            start: Amount::of(0.0),
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
        // The first team had half a player more, so a newcomer's skill has the gradient 0.5 · 0.5/2.5.
        let newcomer = (2.0 + 3.0 / (0.1_f64 * 0.1 + 0.01).sqrt()) * 0.1;
        assert!((system.newcomer.value - newcomer).abs() < 1e-12);
        let skills = skill(1.0) + 0.5 * skill(0.5) + skill(1.0);
        let log_odds = (skills + 0.5 * newcomer) / 2.5;
        let chance = 1.0 / (1.0 + (-log_odds).exp());
        assert!((system.beats(&game, 0, 1) - chance).abs() < 1e-12);
    }

    #[test]
    fn one_head_more_is_worth_a_newcomer() {
        // Before any game, four newcomers beat three with log odds of 6/7.
        let mut system = Hive::new(Settings::default());
        let uneven = |number: u32| {
            let seat = |i: u32| Seat::new(Player(7 * number + i), u16::from(i >= 4));
            let mut game = RatedGame::new((0..7).map(seat).collect());
            let won = !number.is_multiple_of(4); // three of four games
            game.places = vec![u16::from(!won), u16::from(won)];
            game
        };
        let before = 1.0 / (1.0 + (-6.0_f64 / 7.0).exp());
        assert!((system.beats(&uneven(0), 0, 1) - before).abs() < 1e-12);
        let win_model = system.win_model(&uneven(0));
        assert!((win_model.link.chance(win_model.learned_heads(4, 3)) - before).abs() < 1e-12);
        // Between strangers, who are different ones every time, three of four become ln 3 · 7 = 7.7.
        (0..400).for_each(|number| system.update(&uneven(number)));
        let chance = system.beats(&uneven(400), 0, 1);
        assert!((chance - 0.75).abs() < 0.03, "{chance}");
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
    fn who_changed_teams_takes_one_step_on_the_sum() {
        let seat = |player, team, share| Seat {
            share,
            ..Seat::new(Player(player), team)
        };
        let seats = vec![seat(0, 0, 0.75), seat(0, 1, 0.25), seat(1, 1, 1.0)];
        let mut game = RatedGame::new(seats);
        (game.places, game.sides) = (vec![0, 1], true);
        let mut system = Hive::new(Settings {
            start: Amount::of(0.0),
            ..Settings::default()
        });
        system.update(&game);
        // The surprise is 1/2. Of the skill's gradient (0.75 − 0.25)/4 remains, of the offset's, which is
        // the same on both sides, (0.75 + 0.25)/4; the constant rate is 1.
        let (gradient, offset) = (0.125_f64, 0.25);
        let skill = (1.0 + 1.0 / (gradient * gradient + 0.02).sqrt()) * gradient;
        let got = system.known(Player(0));
        assert!((got.playing.value - skill).abs() < 1e-12, "{got:?}");
        assert!((got.playing.squares - gradient * gradient).abs() < 1e-15);
        assert!((got.offset - offset).abs() < 1e-12);
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
        // Where strengths are added up, the one commander counts as much as there are players.
        let command = system.command(Player(0), &game);
        assert!((command - 4.0 * step(0.5)).abs() < 1e-12);
        let by_strength = system.win_model(&game).per_strength * (4.0 * step(0.125) + command);
        assert!((by_strength - log_odds).abs() < 1e-12);
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

    #[test]
    fn a_large_game_has_many_at_a_time() {
        // Twenty sat on one chair each after the other, two at a time: a game of two.
        let seat = |i: u32| Seat {
            share: 0.1,
            ..Seat::new(Player(i), (i % 2) as u16)
        };
        let game = RatedGame::new((0..20).map(seat).collect());
        assert!(!SideRecord::key(&game).2);
        let all = |i: u32| Seat::new(Player(i), (i % 2) as u16);
        assert!(SideRecord::key(&RatedGame::new((0..18).map(all).collect())).2);
        assert!(!SideRecord::key(&RatedGame::new((0..16).map(all).collect())).2);
    }
}
