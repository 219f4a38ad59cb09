//! `hive-history`: Natural Selection 2's full solve over the whole history.
//!
//! The log odds are those of [`hive`](super::hive), without offsets and commanders. Instead of one
//! step per game, it finds the skills that make all games together most likely, under a Gamma prior
//! that keeps each skill above 0. The published iteration, s ← s + (k−1)/s − 1/θ + Σ gradients, has
//! no step size and can jump below 0. Here all skills take a step at once on the same log posterior,
//! which is concave, until no skill moves any more. Each step allows for those of the others in its
//! games, so that all together do not go too far. (If one skill moved after another, equal players would
//! part, by the order of their numbers.)
//!
//! Solving after each game would take quadratic time over a history. So all skills are solved each
//! time the history has grown by an eighth; between these solves, each game moves only its own
//! players.
//!
//! With three teams or more, the teams of a place meet those of the next place as one, with the mean of
//! their parts. Those who share a place do not meet each other.
//!
//! The published system has no seasons. Here the history starts again with each season: the
//! estimate of each player at that time, moved towards a newcomer's, becomes that player's prior.

use evenkeel_model::{
    WinModel,
    units::{GammaShape, PositiveAmount},
    win_model::{Crowding, Link},
};
use serde::{Deserialize, Serialize};

use crate::{
    Player, RatedGame, Seat, Strength, System,
    game::{Comparison, score},
    hive::SideRecord,
    normal,
    player_map::PlayerMap,
    system::Scale,
};

/// The unit of weights per variance of the prior, see [`Scale`].
const UNIT: f64 = 2.05 / 12.0;
/// The least mode of a prior, as a share of a newcomer's.
const LEAST: f64 = 0.125;
/// The most sweeps over all players in one solve.
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

/// A player's part in one meeting.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Attendance {
    /// Index of the meeting.
    meeting: usize,
    /// The player's part in it, as in [`Meeting::parts`].
    part: f64,
    /// Whether the result counts for the player's skill.
    learns: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct HistorySkill {
    value: f64,
    prior: Gamma,
    meetings: Vec<Attendance>,
    /// Whether anything is known of this player: a game of any season, or a prior.
    known: bool,
}

/// The derivatives of the log posterior at a skill.
struct Derivatives {
    /// The first one.
    slope: f64,
    /// The negative of the second one.
    curve: f64,
    /// The amounts in this skill's row of the matrix of second derivatives, added up: the parts of a meeting add up to 1
    /// at most. No curve is larger in any direction (Gershgorin), so that steps of all skills at once which are divided by
    /// it do not go too far.
    together: f64,
}

/// The `hive-history` system: the most likely skills over the whole history.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HiveHistory {
    /// The prior of a player without games.
    newcomer: Gamma,
    players: PlayerMap<HistorySkill>,
    meetings: Vec<Meeting>,
    solved: usize,
    record: SideRecord,
}

impl HiveHistory {
    /// A system without any games.
    pub fn new(settings: Settings) -> Self {
        Self {
            newcomer: settings.prior(),
            players: PlayerMap::default(),
            meetings: Vec::new(),
            solved: 0,
            record: SideRecord::default(),
        }
    }

    fn value(&self, player: Player) -> f64 {
        let skill = self.players.get(player);
        skill.map_or(self.newcomer.mode(), |s| s.value)
    }

    fn unit(&self) -> f64 {
        UNIT * self.newcomer.strength().variance()
    }

    /// A player's entry, which is made if there is none.
    fn skill(&mut self, player: Player) -> &mut HistorySkill {
        let prior = self.newcomer;
        self.players.enter(player, || HistorySkill {
            value: prior.mode(),
            prior,
            meetings: Vec::new(),
            known: false,
        })
    }

    fn enter(&mut self, game: &RatedGame, Comparison { sides, result }: &Comparison) {
        let [one, other] = sides;
        let parts = parts(game, [one, other]);
        let offset = self.record.log_odds(game, one[0], other[0]);
        let own = |part: &HivePart| part.share * self.value(part.player);
        let log_odds = offset + parts.iter().map(own).sum::<f64>();
        for part in &parts {
            let meeting = self.meetings.len();
            self.skill(part.player).meetings.push(Attendance {
                meeting,
                part: part.share,
                learns: part.learns,
            });
        }
        self.meetings.push(Meeting {
            parts: parts.iter().map(|p| (p.player, p.share)).collect(),
            offset,
            result: score(*result),
            log_odds,
        });
        self.record.add(game, one[0], other[0], *result);
    }

    /// The derivatives of the log posterior at a skill.
    fn derivatives(&self, skill: &HistorySkill) -> Derivatives {
        let (s, Gamma { excess, rate }) = (skill.value, skill.prior);
        let curve = excess / (s * s);
        let mut sum = Derivatives {
            slope: excess / s - rate,
            curve,
            together: curve,
        };
        for attendance in skill.meetings.iter().filter(|a| a.learns) {
            let (part, meeting) = (attendance.part, &self.meetings[attendance.meeting]);
            let p = normal::logistic(meeting.log_odds);
            sum.slope += part * (meeting.result - p);
            sum.curve += part * part * p * (1.0 - p);
            sum.together += part.abs() * p * (1.0 - p);
        }
        sum
    }

    /// Where a step takes a skill while the skills of others take theirs; `None` without a game, at the mode of the
    /// prior.
    fn next(&self, player: Player) -> Option<f64> {
        let skill = self.players.get(player);
        let skill = skill.filter(|skill| !skill.meetings.is_empty())?;
        let (
            s,
            Derivatives {
                slope, together, ..
            },
        ) = (skill.value, self.derivatives(skill));
        Some((s + slope / together).max(s / 4.0)) // stays above 0, where the prior's density is 0
    }

    /// Takes a step of these skills at once, and returns the largest change.
    fn step(&mut self, players: &[Player]) -> f64 {
        let next = players.iter().map(|&player| (player, self.next(player)));
        let mut most = 0.0_f64;
        for (player, next) in next.collect::<Vec<_>>() {
            if let Some(next) = next {
                most = most.max((next - self.value(player)).abs());
                self.set(player, next);
            }
        }
        most
    }

    /// Sets the skill of a player who has an entry.
    fn set(&mut self, player: Player, value: f64) {
        if let Some(skill) = self.players.get_mut(player) {
            let change = value - skill.value;
            skill.value = value;
            for attendance in &skill.meetings {
                self.meetings[attendance.meeting].log_odds += attendance.part * change;
            }
        }
    }

    /// Steps of all players until no skill moves. O(sweeps · parts).
    fn solve(&mut self) {
        let everyone: Vec<Player> = self.players.players().collect();
        for _ in 0..SWEEPS {
            if self.step(&everyone) < CONVERGED {
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
        let parts = parts(game, [&[a], &[b]]);
        let own = |part: &HivePart| part.share * self.value(part.player);
        let skills: f64 = parts.iter().map(own).sum();
        normal::logistic(skills + self.record.log_odds(game, a, b))
    }

    fn update(&mut self, game: &RatedGame) {
        if game.places.is_empty() {
            return;
        }
        for comparison in &game.comparisons() {
            self.enter(game, comparison);
        }
        let seats = game.seats().iter().filter(|s| s.learns);
        let players: Vec<Player> = seats.map(|seat| seat.player).collect();
        for &player in &players {
            self.skill(player).known = true; // also where all share a place
        }
        if self.meetings.len() > self.solved + self.solved / 8 {
            self.solve();
        } else {
            self.step(&players);
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        let skill = self.players.get(player).filter(|skill| skill.known)?;
        Some(Strength::exact(skill.value))
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: self.newcomer.mode(),
            unit: self.unit(),
        }
    }

    fn win_model(&self, game: &RatedGame) -> WinModel {
        let players = game.shares().max(1.0);
        let unit = self.unit();
        WinModel {
            per_head: self.newcomer.mode() / players,
            side: self.record.log_odds(game, 0, 1),
            ..WinModel::of_strengths(Link::Logistic, 1.0 / players, players, Crowding::Mean, unit)
        }
    }

    /// The prior is a Gamma distribution with this mode, which is above 0.
    fn start(&mut self, player: Player, prior: Strength) {
        let mode = self.newcomer.mode();
        let prior = Gamma::around(Strength {
            mean: (mode + prior.mean).max(LEAST * mode),
            deviation: prior.deviation.max(Scale::SURE * self.unit()),
        });
        let skill = self.skill(player);
        (skill.prior, skill.known) = (prior, true);
        self.set(player, prior.mode());
    }

    /// That of the prior, though strengths are given without one.
    fn newcomer_deviation(&self) -> f64 {
        self.newcomer.strength().deviation
    }

    /// Replaces the meetings by a prior for each player: the skill and its uncertainty, both moved
    /// towards a newcomer's.
    fn new_season(&mut self, keep: f64) {
        let newcomer = self.newcomer.strength();
        let priors = self.players.players().filter_map(|player| {
            let skill = self.players.get(player)?;
            let known = Strength {
                mean: skill.value,
                deviation: 1.0 / libm::sqrt(self.derivatives(skill).curve),
            };
            Some((player, Gamma::around(known.faded(keep, newcomer))))
        });
        let priors: Vec<(Player, Gamma)> = priors.collect();
        for (player, prior) in priors {
            if let Some(skill) = self.players.get_mut(player) {
                skill.value = prior.mode();
                skill.prior = prior;
                skill.meetings.clear();
            }
        }
        self.meetings.clear();
        self.solved = 0;
    }
}

/// A player's part in a game: the normalised time share on the first of two sides minus that on the
/// second.
struct HivePart {
    player: Player,
    share: f64,
    learns: bool,
}

/// The parts of all players of two sides, ordered by player. On a side of several teams, a share counts in part.
fn parts(game: &RatedGame, sides: [&[usize]; 2]) -> Vec<HivePart> {
    let factor = |side: usize| 1.0 / sides[side].len() as f64;
    let own = |seat: &Seat| {
        let side = sides
            .iter()
            .position(|side| side.contains(&seat.team.into()))?;
        Some((*seat, [factor(side), -factor(side)][side]))
    };
    let seats: Vec<(Seat, f64)> = game.by_player().iter().filter_map(own).collect();
    let total: f64 = seats
        .iter()
        .map(|(seat, factor)| seat.share * factor.abs())
        .sum();
    let total = if total > 0.0 { total } else { 1.0 };
    let part = |seats: &[(Seat, f64)]| HivePart {
        player: seats[0].0.player,
        share: seats
            .iter()
            .map(|(seat, factor)| seat.share * factor)
            .sum::<f64>()
            / total,
        learns: seats[0].0.learns,
    };
    seats
        .chunk_by(|(x, _), (y, _)| x.player == y.player)
        .map(part)
        .collect()
}

/// The prior on skills. Only the ratio of skills to the noise of a game matters, so both keys
/// change how far apart the skills of players are expected to be before they have played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// k, the shape of the Gamma prior. A larger value makes very low skills rarer.
    #[serde(rename = "hive_k")]
    pub shape: GammaShape,
    /// θ, the scale of the Gamma prior. A smaller value makes very high skills rarer.
    #[serde(rename = "hive_theta")]
    pub scale: PositiveAmount,
}

/// The mode is (k − 1)θ = 6; one player in six is above about 12.
impl Default for Settings {
    fn default() -> Self {
        Self {
            shape: const { GammaShape::of(4.0) },
            scale: const { PositiveAmount::of(2.0) },
        }
    }
}

impl Settings {
    /// The prior of a player without games.
    fn prior(&self) -> Gamma {
        Gamma {
            excess: self.shape.get() - 1.0,
            rate: 1.0 / self.scale.get(),
        }
    }
}

/// A Gamma distribution of a skill. Its logarithm is excess · ln(s) − rate · s, and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Gamma {
    /// k − 1, above 0.
    excess: f64,
    /// 1/θ, above 0.
    rate: f64,
}

impl Gamma {
    /// The distribution with this mode, above 0, and this variance there.
    fn around(Strength { mean, deviation }: Strength) -> Self {
        let rate = mean / (deviation * deviation);
        Self {
            excess: mean * rate,
            rate,
        }
    }

    /// The most likely skill.
    fn mode(self) -> f64 {
        self.excess / self.rate
    }

    /// The mode, with the deviation of the Gaussian that has the same curvature there.
    fn strength(self) -> Strength {
        Strength {
            mean: self.mode(),
            deviation: libm::sqrt(self.excess) / self.rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_model::win_model::TeamLoad;

    use super::*;
    use crate::{
        Seat,
        testing::{game, strengths},
    };

    const MODE: f64 = 6.0;

    fn system() -> HiveHistory {
        HiveHistory::new(Settings::default())
    }

    /// The slope of the log posterior at a player's skill, computed from scratch.
    fn slope(system: &HiveHistory, player: Player) -> f64 {
        let skill = system.players.get(player).unwrap();
        let own = |attendance: &Attendance| {
            let meeting = &system.meetings[attendance.meeting];
            let parts = meeting.parts.iter();
            let x: f64 = parts.map(|(p, x)| x * system.value(*p)).sum();
            attendance.part * (meeting.result - 1.0 / (1.0 + (-x - meeting.offset).exp()))
        };
        let games: f64 = skill.meetings.iter().map(own).sum();
        3.0 / skill.value - 0.5 + games
    }

    #[test]
    fn solved_means_no_slope_is_left() {
        let mut system = system();
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
        let system = system();
        let uneven = game(&[&[1.0, 1.0, 1.0], &[1.0, 1.0]], &[]);
        let log_odds = MODE / 5.0;
        let chance = 1.0 / (1.0 + (-log_odds).exp());
        assert!((system.beats(&uneven, 0, 1) - chance).abs() < 1e-12);
        // Teams by chance count a head as the prediction does, here 6/5, in a match of any size.
        let win_model = system.win_model(&uneven);
        let [three, two] = [3, 2].map(|heads| TeamLoad::alike(heads, 0.0));
        assert!((win_model.heads(three, two) - log_odds).abs() < 1e-12);
        assert!((win_model.link.chance(win_model.heads(three, two)) - chance).abs() < 1e-12);
    }

    #[test]
    fn a_player_who_changed_teams_has_the_difference_of_the_shares() {
        let seat = |player, team, share| Seat {
            share,
            ..Seat::new(Player(player), team)
        };
        // Player 0 was on the first team for three quarters of the game, then on the second.
        let mut game = RatedGame::new(vec![seat(0, 0, 0.75), seat(0, 1, 0.25), seat(1, 1, 1.0)]);
        game.places = vec![0, 1];
        let mut system = system();
        system.enter(&game, &game.comparisons()[0]);
        // Parts: (0.75 − 0.25)/2 = 1/4 and −1/2; the log odds are 6/4 − 6/2 = −1.5. One step:
        let p = 1.0 / (1.0 + 1.5_f64.exp());
        let together = 3.0 / 36.0 + p * (1.0 - p) / 4.0;
        let by_hand = MODE + (1.0 - p) / 4.0 / together; // the prior's slope at its mode is 0
        assert!((system.meetings[0].log_odds + 1.5).abs() < 1e-12);
        system.step(&[Player(0)]);
        assert!((system.value(Player(0)) - by_hand).abs() < 1e-12);
    }

    #[test]
    fn who_does_not_learn_stays() {
        let seats = game(&[&[1.0], &[1.0]], &[]).seats().to_vec();
        let seat = |mut seat: Seat| {
            seat.learns = seat.player == Player(1);
            seat
        };
        let mut game = RatedGame::new(seats.into_iter().map(seat).collect());
        game.places = vec![0, 1];
        let mut system = system();
        for _ in 0..20 {
            system.update(&game);
        }
        assert_eq!(system.strength(Player(0)), None);
        assert_eq!(system.value(Player(0)), MODE);
        assert!(system.value(Player(1)) < 5.0);
    }

    #[test]
    fn a_season_keeps_a_share_of_the_distance() {
        let mut system = system();
        let duel = game(&[&[1.0], &[1.0]], &[0, 1]);
        for _ in 0..10 {
            system.update(&duel);
        }
        system.solve();
        let before = strengths(&system, &duel)[0].0;
        // The curve is (k − 1)/s² + 10 · (1/2)² · p(1 − p), the variance its inverse. A season that
        // keeps a half leaves a quarter of it, and three quarters of a newcomer's 36/3.
        let skills = [0, 1].map(|player| system.value(Player(player)));
        let p = 1.0 / (1.0 + ((skills[1] - skills[0]) / 2.0).exp());
        let variance = 1.0 / (3.0 / (before * before) + 2.5 * p * (1.0 - p));
        let (mode, variance) = (MODE + (before - MODE) / 2.0, variance / 4.0 + 9.0);
        system.new_season(0.5);
        assert!(before > 7.0);
        assert!((system.value(Player(0)) - mode).abs() < 1e-12);
        let prior = system.players.get(Player(0)).unwrap().prior.strength();
        assert!((prior.mean - mode).abs() < 1e-12, "{prior:?}");
        assert!(
            (prior.variance() - variance).abs() < 1e-9,
            "{prior:?} {variance}"
        );
        // A game of the next season moves the skill from there, along that prior.
        let p = 1.0 / (1.0 + ((system.value(Player(1)) - mode) / 2.0).exp());
        system.enter(&duel, &duel.comparisons()[0]);
        system.step(&[Player(0)]);
        let by_hand = mode + (1.0 - p) / 2.0 / (1.0 / variance + p * (1.0 - p) / 2.0);
        assert!((system.value(Player(0)) - by_hand).abs() < 1e-9);
        system.new_season(0.0);
        assert!((system.value(Player(0)) - MODE).abs() < 1e-12);
    }
}
