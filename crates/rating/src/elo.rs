//! `elo` for teams, after the World of Tanks Blitz balancer.
//!
//! A player's expected score compares their rating with the opponents' total minus the rest of
//! their own team, which is the difference of the teams' totals. The published description leaves
//! three details open, which are decided here as follows. Totals add up distances from the mean, so
//! that a team with one player more is not 1,500 points stronger. A player far from the mean moves
//! away from it more slowly. And a player's share of a change depends on their place on the team's
//! scoreboard: the best winner gains four times as much as the worst winner (+40 and +10), and the
//! best loser loses a quarter of what the worst loser loses.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use evenkeel_model::{
    WinModel,
    win_model::{Crowding, Link},
};

use super::{
    Player, RatedGame, Strength, System, game::score, player_map::PlayerMap, system::Scale,
};
use evenkeel_model::units::{Amount, Factor, PositiveAmount};

/// Settings of the `elo` formula.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The most rating points that a player of average performance wins or loses by a game, above
    /// 0.
    #[serde(rename = "elo_k")]
    pub k: PositiveAmount,
    /// The factor on `k` for the best player of a winning team and the worst of a losing one, 0 or
    /// more.
    #[serde(rename = "elo_best")]
    pub best: Amount,
    /// The factor on `k` for the worst player of a winning team and the best of a losing one, 0 to
    /// `best`.
    #[serde(rename = "elo_worst")]
    pub worst: Amount,
    /// The distance from the mean, in rating points, at which a player moves half as fast.
    #[serde(rename = "elo_slowdown")]
    pub slowdown: PositiveAmount,
    /// The factor on `k` in a player's first ten games of each season, which calibrate the rating.
    #[serde(rename = "elo_calibration")]
    pub calibration: Factor,
}

/// 12 is half of a common K for duels: in a team game, a result says less about each player. 1.6
/// and 0.4 are the published +40 and +10, divided by their middle of 25.
impl Default for Settings {
    fn default() -> Self {
        Self {
            k: const { PositiveAmount::of(12.0) },
            best: const { Amount::of(1.6) },
            worst: const { Amount::of(0.4) },
            slowdown: const { PositiveAmount::of(400.0) },
            calibration: const { Factor::of(2.0) },
        }
    }
}

/// Every player's first rating, and the mean of all ratings.
const MEAN: f64 = 1_500.0;
/// The unit of weights, see [`Scale`].
const UNIT: f64 = 60.0;
/// The difference of rating points that makes the odds ten to one.
const DECADE: f64 = 400.0;

/// The games in which a rating is calibrated.
const CALIBRATION: u32 = 10;

/// One player's rating.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct EloRating {
    /// The distance from [`MEAN`].
    distance: f64,
    /// Number of games of this season.
    games: u32,
}

/// The `elo` system: one rating per player, without deviations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Elo {
    settings: Settings,
    players: PlayerMap<EloRating>,
}

impl Elo {
    /// A system without any games.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            players: PlayerMap::default(),
        }
    }

    fn known(&self, player: Player) -> f64 {
        self.players.get(player).map_or(0.0, |r| r.distance)
    }

    /// The most that a player of average performance wins or loses by the next game.
    fn step(&self, player: Player) -> f64 {
        let rating = self.players.get(player).copied().unwrap_or_default();
        let factor = match rating.games < CALIBRATION {
            true => self.settings.calibration.get(),
            false => 1.0,
        };
        self.settings.k.get() * factor * self.slowed(rating.distance)
    }

    fn total(&self, game: &RatedGame, team: usize) -> f64 {
        let seats = game.team(team).iter();
        seats.map(|s| s.share * self.known(s.player)).sum()
    }

    /// The factor by which a change shrinks for a player at this distance from the mean.
    fn slowed(&self, distance: f64) -> f64 {
        let half = self.settings.slowdown.get();
        half / (half + distance.abs())
    }

    /// The factor on a change for the player's performance. `rank` is the place on the team's
    /// scoreboard: 0 for the worst, 1 for the best.
    fn bonus(&self, place: f64, won: bool) -> f64 {
        let (best, worst) = (self.settings.best.get(), self.settings.worst.get());
        let well = if won { place } else { 1.0 - place };
        worst + (best - worst) * well
    }
}

/// The expected score, 0 to 1, at a difference of the teams' totals.
fn expected(difference: f64) -> f64 {
    1.0 / (1.0 + libm::exp10(-difference / DECADE))
}

/// A player's place on their own team's scoreboard, 0 (worst) to 1 (best); ½ where the log contains
/// no points.
fn rank(game: &RatedGame, team: usize, player: Player) -> f64 {
    let points = |p: Player| {
        let tally = game.tallies.iter().find(|t| t.player == p);
        tally.and_then(|t| t.points)
    };
    let Some(own) = points(player) else {
        return 0.5;
    };
    let (mut below, mut others) = (0.0, 0.0);
    for seat in game.team(team).iter().filter(|s| s.player != player) {
        if let Some(theirs) = points(seat.player) {
            others += 1.0;
            below += match theirs.partial_cmp(&own) {
                Some(Ordering::Less) => 1.0,
                Some(Ordering::Equal) => 0.5,
                _ => 0.0,
            };
        }
    }
    if others > 0.0 { below / others } else { 0.5 }
}

impl System for Elo {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        expected(self.total(game, a) - self.total(game, b))
    }

    fn update(&mut self, game: &RatedGame) {
        let mut changes = Vec::new();
        for pair in game.neighbours() {
            let surprise = score(pair.result) - self.beats(game, pair.a, pair.b);
            for (team, surprise) in [(pair.a, surprise), (pair.b, -surprise)] {
                for seat in game.team(team).iter().filter(|s| s.learns) {
                    let change = self.step(seat.player) * seat.share * surprise;
                    let bonus = self.bonus(rank(game, team, seat.player), surprise > 0.0);
                    changes.push((seat.player, change * bonus * pair.weight));
                }
            }
        }
        for &(player, change) in &changes {
            self.players.enter(player, EloRating::default).distance += change;
        }
        // Of a player who changed teams there are several changes, and one game.
        changes.sort_unstable_by_key(|(player, _)| *player);
        changes.dedup_by_key(|(player, _)| *player);
        for (player, _) in changes {
            self.players.enter(player, EloRating::default).games += 1;
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        let rating = self.players.get(player)?;
        Some(Strength::exact(MEAN + rating.distance))
    }

    fn win_model(&self, game: &RatedGame) -> WinModel {
        let (per_strength, players) = (std::f64::consts::LN_10 / DECADE, game.shares().max(1.0));
        WinModel::of_strengths(Link::Logistic, per_strength, players, Crowding::None, UNIT)
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: MEAN,
            unit: UNIT,
        }
    }

    fn start(&mut self, player: Player, prior: Strength) {
        let distance = prior.mean;
        self.players.set(player, EloRating { distance, games: 0 });
    }

    fn new_season(&mut self, keep: f64) {
        for rating in self.players.values_mut() {
            rating.distance *= keep;
            rating.games = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{game::Tally, testing::game};

    fn distances(system: &Elo, game: &RatedGame) -> Vec<f64> {
        let seats = game.seats().iter();
        seats.map(|s| system.known(s.player)).collect()
    }

    #[test]
    fn a_game_of_equals_by_hand() {
        let game = game(&[&[1.0, 1.0], &[1.0, 0.5]], &[1, 0]);
        let mut system = Elo::new(Settings::default());
        assert_eq!(system.beats(&game, 0, 1), 0.5);
        system.update(&game);
        // A surprise of 1/2 of a K of 12, twice as much in the first games.
        assert_eq!(distances(&system, &game), [-12.0, -12.0, 12.0, 6.0]);
        let chance = 1.0 / (1.0 + 10_f64.powf((12.0 + 3.0 + 24.0) / 400.0));
        assert!((system.beats(&game, 0, 1) - chance).abs() < 1e-12);
    }

    #[test]
    fn ten_games_of_a_season_calibrate() {
        let mut system = Elo::new(Settings::default());
        let steps = |system: &Elo| [0, 1, 2].map(|player| system.step(Player(player)));
        let equals = game(&[&[1.0], &[1.0]], &[0, 0]); // a tie, which moves no rating
        (0..9).for_each(|_| system.update(&equals));
        assert_eq!(steps(&system), [24.0; 3]);
        system.update(&equals);
        assert_eq!(steps(&system), [12.0, 12.0, 24.0]);
        system.new_season(1.0);
        assert_eq!(steps(&system), [24.0; 3]);
        // Who changed teams has played one game.
        let seats = [(0, 0), (0, 1), (1, 1), (2, 0)];
        let seat = |(player, team)| crate::Seat::new(Player(player), team);
        let mut changed = RatedGame::new(seats.into_iter().map(seat).collect());
        changed.places = vec![0, 1];
        system.update(&changed);
        assert_eq!(system.players.get(Player(0)).map(|r| r.games), Some(1));
    }

    #[test]
    fn who_played_well_gains_four_times_as_much() {
        let mut game = game(&[&[1.0, 1.0], &[1.0, 1.0]], &[0, 1]);
        let tally = |(player, points)| Tally {
            points: Some(points),
            ..Tally::new(Player(player))
        };
        game.tallies = [(0, 9.0), (1, 1.0), (2, 5.0), (3, 2.0)].map(tally).to_vec();
        let mut system = Elo::new(Settings {
            k: PositiveAmount::of(50.0),
            calibration: Factor::of(1.0),
            ..Settings::default()
        });
        system.update(&game);
        let got = distances(&system, &game);
        for (got, expected) in got.iter().zip([40.0, 10.0, -10.0, -40.0]) {
            assert!((got - expected).abs() < 1e-12, "{got}");
        }
    }

    #[test]
    fn the_far_move_slower_both_ways() {
        let system = Elo::new(Settings::default());
        assert_eq!(system.slowed(0.0), 1.0);
        assert_eq!(system.slowed(400.0), 0.5);
        assert_eq!(system.slowed(-400.0), 0.5);
    }

    #[test]
    fn what_one_team_gains_the_other_loses() {
        let mut system = Elo::new(Settings::default());
        let games = [
            game(&[&[1.0, 1.0], &[1.0, 1.0]], &[0, 1]),
            game(&[&[1.0, 1.0], &[1.0, 1.0]], &[1, 0]),
        ];
        for game in games.iter().chain(&games[..1]) {
            system.update(game);
            let sum: f64 = distances(&system, game).iter().sum();
            assert!(sum.abs() < 1e-12, "{sum}");
        }
    }
}
