//! TrueSkill Through Time: Dangauthier, Herbrich, Minka and Graepel, "TrueSkill Through Time:
//! Revisiting the History of Chess" (2007), with the parameters of Landfried and Mocskos, "TrueSkill
//! Through Time: the Julia, Python and R packages".
//!
//! Each player has a skill at each of their matches, which drifts from one to the next. Messages along
//! the matches, forwards and backwards, give each skill what all matches up to now say about it. A
//! prediction uses what the matches before it say and nothing of what comes later.

use crate::peers::{Game, Peer, assert_published, normal_cdf, normal_density, whole_game};

// The defaults of the packages.
const SIGMA: f64 = 6.0;
const BETA: f64 = 1.0;
const GAMMA: f64 = 0.03;

/// Whenever a history has grown by this part, all messages are sent again, so often. From the first
/// matches on that is after each match. Sending them after every match of a long history would take its
/// length squared.
const GROWTH: usize = 100;
const SWEEPS: usize = 3;

/// A normal distribution by its precision, and its precision times its mean. Products are sums.
#[derive(Clone, Copy, Debug, Default)]
struct Normal {
    precision: f64,
    shift: f64,
}

impl Normal {
    fn new(mean: f64, variance: f64) -> Self {
        Self {
            precision: 1.0 / variance,
            shift: mean / variance,
        }
    }

    fn mean(self) -> f64 {
        self.shift / self.precision
    }

    fn variance(self) -> f64 {
        1.0 / self.precision
    }

    fn times(self, other: Self) -> Self {
        Self {
            precision: self.precision + other.precision,
            shift: self.shift + other.shift,
        }
    }

    /// After a drift with this variance.
    fn drifted(self, variance: f64) -> Self {
        let kept = 1.0 / (1.0 + self.precision * variance);
        Self {
            precision: kept * self.precision,
            shift: kept * self.shift,
        }
    }
}

/// A player's skill in one match, by the messages that reach it.
#[derive(Clone, Copy, Debug, Default)]
struct Skill {
    /// What the matches before this one say.
    before: Normal,
    /// What the matches after it say.
    after: Normal,
    /// What this match says.
    here: Normal,
}

/// A seat: the player, and the number of the skill in the player's list.
type Place = (usize, usize);

/// A decided match: the places of the winners and of the losers.
type Played = [Vec<Place>; 2];

/// TrueSkill Through Time.
#[derive(Debug)]
pub struct ThroughTime {
    /// Whether messages also go backwards.
    backwards: bool,
    drift: f64,
    players: Vec<Vec<Skill>>,
    matches: Vec<Played>,
    /// The number of matches when all messages were last sent.
    sent: usize,
}

impl ThroughTime {
    /// With `backwards` as in the paper; otherwise only forwards, which is TrueSkill with these
    /// parameters.
    pub fn new(backwards: bool) -> Self {
        Self {
            backwards,
            drift: GAMMA * GAMMA,
            players: Vec::new(),
            matches: Vec::new(),
            sent: 0,
        }
    }

    /// What is known of a player's next skill.
    fn next(&self, player: usize) -> Normal {
        let last = self.players.get(player).and_then(|skills| skills.last());
        match last {
            Some(skill) => skill.before.times(skill.here).drifted(self.drift),
            None => Normal::new(0.0, SIGMA * SIGMA),
        }
    }

    /// Sends the messages of a match to the skills of its players.
    fn play(&mut self, number: usize) {
        let own = |(player, at): Place| self.players[player][at];
        let mut moments = [(0.0, 0.0); 2];
        for (team, (mean, variance)) in self.matches[number].iter().zip(&mut moments) {
            for &place in team {
                let skill = own(place).before.times(own(place).after);
                *mean += skill.mean();
                *variance += skill.variance() + BETA * BETA;
            }
        }
        let difference = moments[0].0 - moments[1].0;
        let variance = moments[0].1 + moments[1].1;
        // The difference is above 0: its moments when the rest is cut off.
        let at = difference / variance.sqrt();
        let shift = match at > -30.0 {
            true => normal_density(at) / normal_cdf(at),
            false => -at,
        };
        let cut_mean = difference + variance.sqrt() * shift;
        let cut = (shift * (shift + at)).clamp(1e-9, 1.0 - 1e-9);
        let cut_variance = variance * (1.0 - cut);
        let said = Normal {
            precision: 1.0 / cut_variance - 1.0 / variance,
            shift: cut_mean / cut_variance - difference / variance,
        };
        for (team, sign) in [(0, 1.0), (1, -1.0)] {
            for seat in 0..self.matches[number][team].len() {
                let (player, at) = self.matches[number][team][seat];
                let skill = &mut self.players[player][at];
                let known = skill.before.times(skill.after);
                let others = difference - sign * known.mean();
                let spread = said.variance() + variance - known.variance();
                skill.here = Normal::new(sign * (said.mean() - others), spread);
            }
        }
    }

    /// Sends all messages, from the last match to the first and back.
    fn sweep(&mut self) {
        for number in (0..self.matches.len()).rev() {
            for (player, at) in self.matches[number].concat() {
                let skills = &mut self.players[player];
                let after = skills.get(at + 1).map(|s| s.after.times(s.here));
                skills[at].after = after.map_or(Normal::default(), |s| s.drifted(self.drift));
            }
            self.play(number);
        }
        for number in 0..self.matches.len() {
            for (player, at) in self.matches[number].concat() {
                let skills = &mut self.players[player];
                if let Some(last) = at.checked_sub(1).map(|last| skills[last]) {
                    skills[at].before = last.before.times(last.here).drifted(self.drift);
                }
            }
            self.play(number);
        }
    }
}

impl Peer for ThroughTime {
    fn chance(&self, game: &Game) -> f64 {
        let (mut difference, mut variance) = (0.0, 0.0);
        for (team, sign) in [(0, 1.0), (1, -1.0)] {
            for player in game.present(team) {
                let skill = self.next(player);
                difference += sign * skill.mean();
                variance += skill.variance() + BETA * BETA;
            }
        }
        normal_cdf(difference / variance.sqrt())
    }

    /// Learns nothing from a tie, whose probability is 0 by default.
    fn learn(&mut self, game: &Game) {
        if game.result == 0.5 {
            return;
        }
        let winner = usize::from(game.result == 0.0);
        let played = [winner, 1 - winner].map(|team| {
            let players = game.present(team).into_iter();
            let enter = |player: usize| {
                let before = self.next(player);
                let most = self.players.len().max(player + 1);
                self.players.resize(most, Vec::new());
                self.players[player].push(Skill {
                    before,
                    ..Skill::default()
                });
                (player, self.players[player].len() - 1)
            };
            players.map(enter).collect()
        });
        self.matches.push(played);
        self.play(self.matches.len() - 1);
        if self.backwards && self.matches.len() > self.sent + self.sent / GROWTH {
            (0..SWEEPS).for_each(|_| self.sweep());
            self.sent = self.matches.len();
        }
    }
}

/// The examples of the package's README: one match of two against two, and three players who each beat
/// the next, without drift.
pub fn check() {
    let published = |what, skill: Normal, mean, deviation| {
        assert_published(what, skill.mean(), mean, 3);
        assert_published(what, skill.variance().sqrt(), deviation, 3);
    };
    let full = |s: &Skill| s.before.times(s.here).times(s.after);
    let mut pairs = ThroughTime::new(false);
    let game = whole_game([&[0, 1], &[2, 3]], 0, 1.0);
    assert_published("evidence of two against two", pairs.chance(&game), 0.5, 3);
    pairs.learn(&game);
    published("two against two", full(&pairs.players[0][0]), 2.361, 5.516);
    let circle = |backwards| {
        let mut ttt = ThroughTime {
            drift: 0.0,
            ..ThroughTime::new(backwards)
        };
        for (winner, loser) in [(0, 1), (1, 2), (2, 0)] {
            ttt.learn(&whole_game([&[winner], &[loser]], 0, 1.0));
        }
        ttt
    };
    let forward = circle(false);
    published("a, forwards", full(&forward.players[0][0]), 3.339, 4.985);
    published("a, forwards", full(&forward.players[0][1]), -2.688, 3.779);
    published("b, forwards", full(&forward.players[1][1]), 0.059, 4.218);
    let mut whole = circle(true);
    (0..30).for_each(|_| whole.sweep());
    for player in 0..3 {
        published("whole circle", full(&whole.players[player][1]), 0.0, 2.395);
    }
}
