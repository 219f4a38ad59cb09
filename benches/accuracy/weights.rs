//! What sums of weights predict: `cargo bench --bench accuracy -- weights`.
//!
//! A game server may do its own partition with weights. So the difference of the teams' sums should predict a match nearly as
//! well as it would with strengths, and order the splits of a lobby as the chance does. Both kinds of sums are measured in the
//! same run: of accounts, and of strengths in points from 0 to 100.

use std::collections::BTreeMap;

use evenkeel::{
    model::{
        Kind, MatchRecord, Outcome, Participant, Rulebook, Ruleset, fingerprint::Fingerprint,
        win_model::LineupPlayer,
    },
    rating::history::{Fold, Interval, Settings, interval},
};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};

use crate::Set;

/// The part of a history that is learned from without being measured.
const WARM_UP: f64 = 0.2;
/// The lobbies of a history whose splits are ordered, and the splits of each.
const LOBBIES: usize = 300;
const SPLITS: usize = 40;

/// The differences of two sums before a match, and who won.
struct Trial {
    accounts: f64,
    strengths: f64,
    sides: f64,
    won: bool,
}

/// The ranks of splits by two numbers, about their means, and the products of both.
#[derive(Clone, Copy, Default)]
struct RankSums {
    both: f64,
    one: f64,
    other: f64,
}

pub fn run(set: &Set, matches: Vec<MatchRecord>) {
    let Ok(rulebook) = Rulebook::new(&evenkeel::model::rulebook::RulebookSpec::default()) else {
        return;
    };
    let mut coin = ChaCha8Rng::seed_from_u64(1);
    let settings = Settings {
        sides: set.sides,
        ..Settings::default()
    };
    let mut fold = Fold::new(&rulebook, settings);
    let warm_up = (WARM_UP * matches.len() as f64).ceil() as usize;
    let apart = ((matches.len() - warm_up) / LOBBIES).max(1);
    let (mut trials, mut ranks) = (Vec::new(), BTreeMap::<usize, RankSums>::new());
    for (number, record) in matches.into_iter().enumerate() {
        let record = match !set.sides && coin.random_bool(0.5) {
            true => record.with_teams_exchanged(),
            false => record,
        };
        let ruleset = rulebook.ruleset_of_mode(&record.game_type, &record.mode, &record.mutators);
        if number >= warm_up && record.scores.len() == 2 {
            trials.extend(trial(&fold, &ruleset, &record));
            if number.is_multiple_of(apart) {
                let sums = splits(&fold, &ruleset, &record, &mut coin);
                if let Some((size, sums)) = sums {
                    let all = ranks.entry(size).or_default();
                    all.both += sums.both;
                    all.one += sums.one;
                    all.other += sums.other;
                }
            }
        }
        let _ = fold.push(&record, Fingerprint::of(&record));
    }
    report(set.name, &trials, &ranks);
}

fn report(name: &str, trials: &[Trial], ranks: &BTreeMap<usize, RankSums>) {
    let of = |sum: fn(&Trial) -> f64| losses(trials, sum);
    let (accounts, strengths) = (of(|trial| trial.accounts), of(|trial| trial.strengths));
    let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len().max(1) as f64;
    let more: Vec<f64> = accounts
        .iter()
        .zip(&strengths)
        .map(|(a, s)| a - s)
        .collect();
    let between = interval(&more, 1).map_or_else(String::new, |Interval { low, high }| {
        format!(" ({low:+.4} to {high:+.4})")
    });
    println!(
        "{name:14} {:6} decided  weights {:.4}  strengths {:.4}  difference {:+.4}{between}",
        trials.len(),
        mean(&accounts),
        mean(&strengths),
        mean(&more),
    );
    for (size, RankSums { both, one, other }) in ranks {
        let correlation = both / (one * other).sqrt();
        println!(
            "{:14} splits of {size} v {size}: rank correlation with the chance {correlation:.3}",
            ""
        );
    }
}

/// The weights and the strengths of a player, as a game server would add them up.
fn numbers(fold: &Fold, ruleset: &Ruleset, participant: &Participant) -> (f64, f64) {
    let key = &participant.key;
    match fold.best_weight(ruleset, key.kind, &key.id) {
        Some((own, _)) => (own.weight, own.points.clamp(0.0, 100.0)),
        None => {
            let unknown = fold.unknown_weight(ruleset);
            (unknown, unknown)
        }
    }
}

fn trial(fold: &Fold, ruleset: &Ruleset, record: &MatchRecord) -> Option<Trial> {
    let Outcome::Won(winner) = record.outcome else {
        return None;
    };
    let (mut accounts, mut strengths, mut sides) = (0.0, 0.0, 0.0);
    for participant in &record.participants {
        let (account, strength) = numbers(fold, ruleset, participant);
        for stay in &participant.presence {
            let share = stay.span.millis() as f64 / record.millis().max(1) as f64;
            let sign = if stay.team == 0 { share } else { -share };
            accounts += sign * account;
            strengths += sign * strength;
            sides += sign;
        }
    }
    Some(Trial {
        accounts,
        strengths,
        sides,
        won: winner == 0,
    })
}

/// How some equal splits of a lobby are ordered by sums of weights and by chances, by the size of a team.
fn splits(
    fold: &Fold,
    ruleset: &Ruleset,
    record: &MatchRecord,
    draw: &mut ChaCha8Rng,
) -> Option<(usize, RankSums)> {
    let whole = |p: &&Participant| {
        p.key.kind == Kind::Human
            && p.presence.iter().map(|s| s.span.millis()).sum::<u64>() * 2 > record.millis()
    };
    let mut people: Vec<&Participant> = record.participants.iter().filter(whole).collect();
    let size = people.len() / 2;
    if size < 2 || !people.len().is_multiple_of(2) {
        return None;
    }
    let (mut sums, mut chances) = (Vec::new(), Vec::new());
    for _ in 0..SPLITS {
        people.shuffle(draw);
        let sum = |team: &[&Participant]| -> f64 {
            team.iter().map(|p| numbers(fold, ruleset, p).0).sum()
        };
        let player = |p: &&Participant| LineupPlayer {
            key: p.key.clone(),
            party: None,
            commands: false,
        };
        let (one, other) = people.split_at(size);
        let teams = [one, other].map(|team| team.iter().map(player).collect::<Vec<_>>());
        sums.push(sum(one) - sum(other));
        chances.push(fold.chances(ruleset, "", &teams)[0]);
    }
    let (one, other) = (centred_ranks(&sums), centred_ranks(&chances));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum();
    Some((
        size,
        RankSums {
            both: product(&one, &other),
            one: product(&one, &one),
            other: product(&other, &other),
        },
    ))
}

/// The rank of each number, less the mean rank; equal numbers share theirs.
fn centred_ranks(numbers: &[f64]) -> Vec<f64> {
    let rank = |x: &f64| {
        let below = numbers.iter().filter(|y| *y < x).count() as f64;
        let equal = numbers.iter().filter(|y| *y == x).count() as f64;
        below + 0.5 * equal - 0.5 * numbers.len() as f64
    };
    numbers.iter().map(rank).collect()
}

/// The log loss of each match under a logistic regression on the difference of sums and of heads, which is fitted to the same
/// matches: three coefficients for hundreds of matches.
fn losses(trials: &[Trial], sum: fn(&Trial) -> f64) -> Vec<f64> {
    let row = |trial: &Trial| [1.0, sum(trial) / 10.0, trial.sides];
    let chance = |by: &[f64; 3], row: &[f64; 3]| {
        let edge: f64 = by.iter().zip(row).map(|(b, x)| b * x).sum();
        1.0 / (1.0 + (-edge).exp())
    };
    let mut by = [0.0; 3];
    for _ in 0..30 {
        let mut gradient = by.map(|b: f64| -1e-6 * b);
        let mut curvature = [[0.0; 3]; 3];
        for (at, line) in curvature.iter_mut().enumerate() {
            line[at] = 1e-6;
        }
        for trial in trials {
            let row = row(trial);
            let p = chance(&by, &row);
            let surprise = f64::from(u8::from(trial.won)) - p;
            for i in 0..3 {
                gradient[i] += surprise * row[i];
                for j in 0..3 {
                    curvature[i][j] += p * (1.0 - p) * row[i] * row[j];
                }
            }
        }
        let step = solve(curvature, gradient);
        by.iter_mut().zip(step).for_each(|(b, s)| *b += s);
    }
    let loss = |trial: &Trial| {
        let p = chance(&by, &row(trial));
        -(if trial.won { p } else { 1.0 - p }).max(1e-12).ln()
    };
    trials.iter().map(loss).collect()
}

/// Solves three linear equations with a positive definite matrix by elimination.
fn solve(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> [f64; 3] {
    for at in 0..3 {
        let (above, rest) = matrix.split_at_mut(at + 1);
        let pivot = above[at];
        for (below, row) in (at + 1..).zip(rest) {
            let factor = row[at] / pivot[at];
            for (own, by) in row.iter_mut().zip(pivot).skip(at) {
                *own -= factor * by;
            }
            right[below] -= factor * right[at];
        }
    }
    for at in (0..3).rev() {
        let known: f64 = (at + 1..3)
            .map(|column| matrix[at][column] * right[column])
            .sum();
        right[at] = (right[at] - known) / matrix[at][at];
    }
    right
}
