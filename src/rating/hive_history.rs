//! `hive-history`: Natural Selection 2's full solve over the whole history.
//!
//! The log odds are those of [`hive`](super::hive), without offsets and commanders. Instead of one
//! step per game, it finds the skills that make all games together most likely, under a Gamma prior
//! that keeps each skill above 0. The published iteration, s ← s + (k−1)/s − 1/θ + Σ gradients, has
//! no step size and can jump below 0. Here each skill in turn takes a Newton step on the same log
//! posterior, which is concave, until no skill moves any more.
//!
//! Solving after each game would take quadratic time over a history. So all skills are solved each
//! time the history has grown by an eighth; between these solves, each game moves only its own
//! players.

use serde::{Deserialize, Serialize};

use crate::domain::{Company, Crowding, Link, Outlook};

use super::{Player, RatedGame, Roll, Scale, Strength, System, hive::SideRecord, normal};

/// Shape k and scale θ of the Gamma prior: the mode is (k − 1)θ = 6; one player in six is above
/// about 12.
const K: f64 = 4.0;
const THETA: f64 = 2.0;
/// The mode of the prior: the skill of a player without games.
const MODE: f64 = (K - 1.0) * THETA;
/// The strength above a newcomer's that has the weight 75; see [`Scale`].
const HALFWAY: f64 = 2.05;
/// The most sweeps over all players in one solve. A Newton step converges quadratically, but the
/// skills of team mates depend on each other.
const SWEEPS: usize = 50;
/// The change of a skill below which a sweep counts it as converged.
const CONVERGED: f64 = 1e-6;

/// Two teams that played each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Meeting {
    /// Players with their time shares, normalised; negative for the second team.
    parts: Vec<(Player, f64)>,
    /// Log odds from sides, maps and sizes, as of that game.
    offset: f64,
    /// 1 for a victory of the first team, 0 for a defeat, ½ for a tie.
    result: f64,
    /// The offset plus Σ share · skill over all parts.
    log_odds: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Skill {
    value: f64,
    /// Indices of the player's meetings, each with the player's part in it.
    meetings: Vec<(usize, f64)>,
}

/// The `hive-history` system: the most likely skills over the whole history.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HiveHistory {
    players: Roll<Skill>,
    meetings: Vec<Meeting>,
    solved: usize,
    record: SideRecord,
}

impl HiveHistory {
    /// A system without any games.
    pub fn new() -> Self {
        Self::default()
    }

    fn value(&self, player: Player) -> f64 {
        self.players.get(player).map_or(MODE, |s| s.value)
    }

    /// The players of both teams with their normalised time shares, those of team `b` negative.
    fn parts(game: &RatedGame, a: usize, b: usize) -> Vec<(Player, f64)> {
        let both = [(a, 1.0), (b, -1.0)];
        let seats = both.into_iter();
        let seats = seats.flat_map(|(team, sign)| game.team(team).iter().map(move |s| (s, sign)));
        let total: f64 = seats.clone().map(|(s, _)| s.share).sum();
        let total = if total > 0.0 { total } else { 1.0 };
        seats
            .map(|(s, sign)| (s.player, sign * s.share / total))
            .collect()
    }

    fn enter(&mut self, game: &RatedGame, a: usize, b: usize, result: f64) {
        let parts = Self::parts(game, a, b);
        let offset = self.record.log_odds(game, a, b);
        let own = |(player, x): &(Player, f64)| x * self.value(*player);
        let log_odds = offset + parts.iter().map(own).sum::<f64>();
        let number = self.meetings.len();
        for &(player, part) in &parts {
            let fresh = || Skill {
                value: MODE,
                meetings: Vec::new(),
            };
            let skill = self.players.enter(player, fresh);
            skill.meetings.push((number, part));
        }
        self.meetings.push(Meeting {
            parts,
            offset,
            result,
            log_odds,
        });
    }

    /// Takes one Newton step of one skill, and returns the change.
    fn step(&mut self, player: Player) -> f64 {
        let Some(skill) = self.players.get(player) else {
            return 0.0;
        };
        let s = skill.value;
        let mut slope = (K - 1.0) / s - 1.0 / THETA;
        let mut curve = (K - 1.0) / (s * s);
        for &(number, part) in &skill.meetings {
            let meeting = &self.meetings[number];
            let p = normal::logistic(meeting.log_odds);
            slope += part * (meeting.result - p);
            curve += part * part * p * (1.0 - p);
        }
        let next = (s + slope / curve).max(s / 4.0); // stays above 0, where the prior's density is 0
        let change = next - s;
        for &(number, part) in &skill.meetings {
            self.meetings[number].log_odds += part * change;
        }
        if let Some(skill) = self.players.get_mut(player) {
            skill.value = next;
        }
        change
    }

    /// Sweeps over all players until no skill moves. O(sweeps · parts).
    fn solve(&mut self) {
        let everyone: Vec<Player> = self.players.players().collect();
        for _ in 0..SWEEPS {
            let mut most = 0.0_f64;
            for &player in &everyone {
                most = most.max(self.step(player).abs());
            }
            if most < CONVERGED {
                break;
            }
        }
        // Incremental sums accumulate rounding errors: recompute them before the next growth.
        for number in 0..self.meetings.len() {
            let meeting = &self.meetings[number];
            let own = |(player, x): &(Player, f64)| x * self.value(*player);
            let log_odds = meeting.offset + meeting.parts.iter().map(own).sum::<f64>();
            self.meetings[number].log_odds = log_odds;
        }
        self.solved = self.meetings.len();
    }
}

impl System for HiveHistory {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        let own = |(player, x): &(Player, f64)| x * self.value(*player);
        let skills: f64 = Self::parts(game, a, b).iter().map(own).sum();
        normal::logistic(skills + self.record.log_odds(game, a, b))
    }

    fn update(&mut self, game: &RatedGame) {
        for (a, b, result) in game.neighbours() {
            self.enter(game, a, b, 0.5 - 0.5 * f64::from(result as i8));
            self.record.add(game, a, b, result);
        }
        if self.meetings.len() > self.solved + self.solved / 8 {
            self.solve();
        } else {
            for seat in game.seats().iter().filter(|s| s.learns) {
                self.step(seat.player);
            }
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        let skill = self.players.get(player)?;
        Some(Strength::exact(skill.value))
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: MODE,
            halfway: HALFWAY,
        }
    }

    fn outlook(&self, game: &RatedGame) -> Outlook {
        let players = game.shares().max(1.0);
        Outlook {
            link: Link::Logistic,
            per_strength: 1.0 / players,
            players,
            crowding: Crowding::Mean,
            per_head: MODE / players,
            per_log_size: 0.0,
            side: self.record.log_odds(game, 0, 1),
            halfway: HALFWAY,
            doubt: Outlook::usual_doubt(1.0 / players, players, HALFWAY),
            company: Company::default(),
        }
    }

    /// Ignored: only the history counts in this system.
    fn adopt(&mut self, _: Player, _: Strength) {}

    /// Ignored: the solve weighs all games alike, however old.
    fn new_season(&mut self, _: f64) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::testing::game;

    /// The slope of the log posterior at a player's skill, computed from scratch.
    fn slope(system: &HiveHistory, player: Player) -> f64 {
        let skill = system.players.get(player).unwrap();
        let own = |(number, part): &(usize, f64)| {
            let meeting = &system.meetings[*number];
            let parts = meeting.parts.iter();
            let x: f64 = parts.map(|(p, x)| x * system.value(*p)).sum();
            part * (meeting.result - 1.0 / (1.0 + (-x - meeting.offset).exp()))
        };
        let games: f64 = skill.meetings.iter().map(own).sum();
        (K - 1.0) / skill.value - 1.0 / THETA + games
    }

    #[test]
    fn solved_means_no_slope_is_left() {
        let mut system = HiveHistory::new();
        for places in [[0, 1], [0, 1], [1, 0], [0, 0], [0, 1]] {
            system.update(&game(&[&[1.0, 0.5], &[1.0, 1.0]], &places));
            system.update(&game(&[&[1.0], &[0.3, 1.0]], &places));
        }
        system.solve();
        for player in (0..4).map(Player) {
            assert!(slope(&system, player).abs() < 1e-6, "{player:?}");
            assert!(system.value(player) > 0.0);
        }
        assert!(system.value(Player(0)) > system.value(Player(2)));
    }

    #[test]
    fn the_larger_team_is_believed_to_win() {
        let system = HiveHistory::new();
        let uneven = game(&[&[1.0, 1.0, 1.0], &[1.0, 1.0]], &[]);
        let log_odds = MODE / 5.0;
        let chance = 1.0 / (1.0 + (-log_odds).exp());
        assert!((system.beats(&uneven, 0, 1) - chance).abs() < 1e-12);
    }
}
