//! The judge: a logistic regression of who won on who played, which shares nothing with the rating
//! systems that it judges.
//!
//! The logarithm of the odds that the first team wins is the difference of the sums of its players'
//! strengths, plus the worth of the first side, plus a factor times the logarithm of the ratio of
//! the teams' sizes. All coefficients are shrunk towards 0 (ridge); how much is chosen by
//! cross-validation. Ties are left out.

use std::collections::BTreeMap;

/// A finished game: the players of two teams, each with the share of the game that they played.
#[derive(Clone, Debug)]
pub struct Game {
    pub teams: [Vec<(String, f64)>; 2],
    /// Whether the first team won; `None` for a tie.
    pub won: Option<bool>,
}

/// The penalties that are tried, in the unit of 1 / variance of a strength.
const PENALTIES: [f64; 7] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
/// The penalty of the side and of the sizes, of which every game says something.
const SHARED: f64 = 0.5;
/// The parts of the cross-validation. Each is a stretch of consecutive games, because the same teams
/// often play several games in a row.
const FOLDS: usize = 5;
const STEPS: usize = 12;

/// The coefficients after learning from games.
#[derive(Debug)]
pub struct Judge {
    numbers: BTreeMap<String, usize>,
    strengths: Vec<f64>,
    side: f64,
    size: f64,
    /// The penalty that the cross-validation has chosen.
    penalty: f64,
}

/// One decided game as a row of the regression: columns with their factors, and the result.
struct Row {
    entries: Vec<(usize, f64)>,
    won: bool,
}

impl Judge {
    /// Learns from games. `sides` says whether the first team is a side of the map that may be easier
    /// to win on.
    pub fn fit(games: &[Game], sides: bool) -> Self {
        let mut numbers = BTreeMap::new();
        for (player, _) in games.iter().flat_map(|game| game.teams.iter().flatten()) {
            let next = numbers.len();
            numbers.entry(player.clone()).or_insert(next);
        }
        let players = numbers.len();
        let row = |game: &Game| {
            let won = game.won?;
            let mut entries = Vec::new();
            let mut sizes = [0.0; 2];
            for (team, sign) in [(0, 1.0), (1, -1.0)] {
                for (player, share) in &game.teams[team] {
                    entries.push((numbers[player], sign * share));
                    sizes[team] += share;
                }
            }
            if sides {
                entries.push((players, 1.0));
            }
            if let Some(size) = log_ratio(sizes) {
                entries.push((players + 1, size));
            }
            Some(Row { entries, won })
        };
        let rows: Vec<Row> = games.iter().filter_map(row).collect();
        let loss = |penalty: &f64| cross_validated(&rows, players + 2, *penalty);
        let losses: Vec<f64> = PENALTIES.iter().map(loss).collect();
        let best = (0..losses.len()).min_by(|a, b| losses[*a].total_cmp(&losses[*b]));
        let penalty = PENALTIES[best.unwrap_or(0)];
        let all: Vec<&Row> = rows.iter().collect();
        let mut strengths = regress(&all, players + 2, penalty);
        let size = strengths.pop().unwrap_or(0.0);
        let side = strengths.pop().unwrap_or(0.0);
        Self {
            numbers,
            strengths,
            side,
            size,
            penalty,
        }
    }

    /// The penalty that the cross-validation has chosen, between 0.5 and 32.
    pub fn penalty(&self) -> f64 {
        self.penalty
    }

    /// What the judge knows of these players; an unknown one has the strength 0.
    pub fn of<'a>(&self, players: impl Iterator<Item = &'a str>) -> Opinion {
        let known = |id| self.numbers.get(id).map(|number| self.strengths[*number]);
        Opinion {
            strengths: players.map(|id| known(id).unwrap_or(0.0)).collect(),
            side: self.side,
            size: self.size,
        }
    }
}

/// What a judge knows of some players.
#[derive(Debug)]
pub struct Opinion {
    strengths: Vec<f64>,
    side: f64,
    size: f64,
}

impl Opinion {
    /// The chance that team 0 wins, if each player is on the team of the same index.
    pub fn chance(&self, teams: &[u8]) -> f64 {
        let (mut edge, mut sizes) = (self.side, [0.0; 2]);
        for (strength, &team) in self.strengths.iter().zip(teams) {
            edge += if team == 0 { *strength } else { -strength };
            sizes[usize::from(team)] += 1.0;
        }
        logistic(edge + self.size * log_ratio(sizes).unwrap_or(0.0))
    }

    /// How far that chance is from one half.
    pub fn off(&self, teams: &[u8]) -> f64 {
        (self.chance(teams) - 0.5).abs()
    }
}

fn log_ratio(sizes: [f64; 2]) -> Option<f64> {
    let [one, other] = sizes;
    (one > 0.0 && other > 0.0).then(|| (one / other).ln())
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The mean log loss of games that were left out.
fn cross_validated(rows: &[Row], columns: usize, penalty: f64) -> f64 {
    let mut loss = 0.0;
    for fold in 0..FOLDS {
        let part = |left_out: bool| {
            let numbered = rows.iter().enumerate();
            let part =
                numbered.filter(move |(at, _)| (at * FOLDS / rows.len() == fold) == left_out);
            part.map(|(_, row)| row).collect::<Vec<_>>()
        };
        let learned = regress(&part(false), columns, penalty);
        for row in part(true) {
            let chance = logistic(product(row, &learned));
            let given = if row.won { chance } else { 1.0 - chance };
            loss -= given.max(1e-12).ln();
        }
    }
    loss / rows.len().max(1) as f64
}

fn product(row: &Row, coefficients: &[f64]) -> f64 {
    row.entries.iter().map(|&(c, x)| x * coefficients[c]).sum()
}

/// Ridge logistic regression by Newton's method: O(steps · columns³).
fn regress(rows: &[&Row], columns: usize, penalty: f64) -> Vec<f64> {
    let mut found = vec![0.0; columns];
    let penalty = |column: usize| {
        if column + 2 < columns {
            penalty
        } else {
            SHARED
        }
    };
    for _ in 0..STEPS {
        let mut curvature = vec![0.0; columns * columns];
        let mut slope = vec![0.0; columns];
        for column in 0..columns {
            curvature[column * columns + column] = penalty(column);
            slope[column] = -penalty(column) * found[column];
        }
        for row in rows {
            let chance = logistic(product(row, &found));
            let beyond = f64::from(u8::from(row.won)) - chance;
            let weight = chance * (1.0 - chance);
            for &(i, x) in &row.entries {
                slope[i] += x * beyond;
                for &(j, y) in row.entries.iter().filter(|(j, _)| *j <= i) {
                    curvature[i * columns + j] += weight * x * y;
                }
            }
        }
        let step = solve(curvature, slope, columns);
        let longest = step.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (x, step) in found.iter_mut().zip(&step) {
            *x += step;
        }
        if longest < 1e-6 {
            break;
        }
    }
    found
}

/// Solves a·x = b for a positive definite matrix, of which the lower half is given (Cholesky).
fn solve(mut a: Vec<f64>, mut b: Vec<f64>, n: usize) -> Vec<f64> {
    for i in 0..n {
        let (above, rest) = a.split_at_mut(i * n);
        let row = &mut rest[..n];
        for j in 0..i {
            let other = &above[j * n..j * n + n];
            let sum: f64 = row[..j].iter().zip(&other[..j]).map(|(x, y)| x * y).sum();
            row[j] = (row[j] - sum) / other[j];
        }
        let sum: f64 = row[..i].iter().map(|x| x * x).sum();
        row[i] = (row[i] - sum).max(1e-12).sqrt();
    }
    for i in 0..n {
        let known: f64 = (0..i).map(|j| a[i * n + j] * b[j]).sum();
        b[i] = (b[i] - known) / a[i * n + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| a[j * n + i] * b[j]).sum();
        b[i] = (b[i] - known) / a[i * n + i];
    }
    b
}
