//! Tests of the room's properties against oracles.

mod chances;
mod engines;
mod errors;
pub(crate) mod games;
mod invariants;
pub(crate) mod naive;
mod picks;
mod specs;
mod ties;
mod wishes;
mod wishes_oracle;

use crate::settings::Objective;
use crate::sums::Fill;
use proptest::prelude::*;

use crate::*;
use evenkeel_model::units::{Amount, ChoiceExponent, Count, Factor, Megabytes, Share};

/// Solves without a time limit.
fn solved(problem: &Problem, settings: &Settings, seed: u64) -> Solution {
    solve(problem, settings, seed, &mut || false).unwrap()
}

/// Humans with these weights and the keys p0, p1, ….
fn humans(weights: &[f64]) -> Vec<HumanInGame> {
    weights
        .iter()
        .enumerate()
        .map(|(index, &weight)| HumanInGame::new(format!("p{index}"), weight))
        .collect()
}

/// A lobby of two teams without bots.
fn lobby(weights: &[f64]) -> ProblemSpec {
    ProblemSpec {
        view: GameView {
            humans: humans(weights),
            ..GameView::default()
        },
        ..ProblemSpec::default()
    }
}

/// The same problem without the bots that are there.
fn without_bots(mut spec: ProblemSpec) -> ProblemSpec {
    spec.view.bots.clear();
    spec
}

/// Bots on a team: their number, and the sum of their weights.
fn bots_on(team: u8, (count, weight): (usize, f64)) -> impl Iterator<Item = BotInGame> {
    let bot = move |at| BotInGame {
        name: format!("bot {team} {at}"),
        weight: weight / count as f64,
        team,
        points: 0.0,
    };
    (0..count).map(bot)
}

/// An objective, and a handicap it can count: none, whole, any, or larger than all weights.
fn objectives() -> impl Strategy<Value = (Objective, f64)> {
    let gap = |handicap| (Objective::Chance, handicap);
    prop_oneof![
        Just((Objective::Ratio, 0.0)),
        Just(gap(0.0)),
        (-9i32..9).prop_map(move |handicap| gap(f64::from(handicap))),
        (-50.0..50.0).prop_map(gap),
        prop_oneof![Just(-1e300), Just(1e6), Just(f64::MAX)].prop_map(gap),
    ]
}

prop_compose! {
    fn bots_on_a_team()(count in 0usize..5, weight in 0u32..300) -> (usize, f64) {
        (count, f64::from(weight))
    }
}

prop_compose! {
    /// Lobbies with ties, zeros, huge weights, parties, pins and every limit.
    fn specs(most: usize, teams: std::ops::RangeInclusive<usize>)(
        teams in teams,
        weights in prop_oneof![
            prop::collection::vec((0u32..8).prop_map(f64::from), 0..=most),
            prop::collection::vec((0u32..10_000).prop_map(|w| f64::from(w) / 100.0), 0..=most),
            prop::collection::vec(0.0..100.0, 0..=most),
            prop::collection::vec(prop_oneof![Just(0.0), Just(f64::MAX), Just(1e300), Just(5e-324), 0.0..1e9], 0..=most),
        ],
        bot in prop_oneof![Just(0.0), Just(2.0), 0.0..60.0],
        (min, more, target) in (0u32..12, 0u32..12, 0u32..30),
        max_share in prop_oneof![Just(18.0 / 32.0), 0.3..1.0],
        max_difference in prop_oneof![Just(Some(1)), Just(None), Just(Some(0)), Just(Some(2))],
        parties in prop::collection::vec(prop::collection::vec(0usize..12, 0..4), 0..3),
        pins in prop::collection::vec(prop::option::weighted(0.1, 0usize..8), 12),
        current in prop::collection::vec(prop::option::weighted(0.95, 0usize..8), 12),
        last in prop::collection::vec(prop::option::weighted(0.5, 0usize..8), 12),
        avoid in prop::collection::vec((0usize..12, 0usize..12), 0..3),
        bots_there in prop::bool::weighted(0.2),
        there in prop::collection::vec(bots_on_a_team(), 8),
    ) -> ProblemSpec {
        let count = weights.len();
        let exists = |team: usize| (team % teams) as u8;
        let human = |(index, weight): (usize, f64)| HumanInGame {
            pin: pins[index].map(exists),
            team: current[index].map(exists),
            last: last[index].map(exists),
            newcomer: weight == 0.0,
            weak_sides: (index % 3) as f64,
            ..HumanInGame::new(format!("p{index}"), weight)
        };
        let mut seen = std::collections::BTreeSet::new();
        let mut fresh = |human: &usize| *human < count && seen.insert(*human);
        let mut keep = |party: Vec<usize>| -> Vec<usize> { party.into_iter().filter(|h| fresh(h)).collect() };
        ProblemSpec {
            view: GameView {
                humans: weights.into_iter().enumerate().map(human).collect(),
                teams: teams as u8,
                fill: Fill { on: true, wish: target, map_range: (min, min + more), min_humans: 0 },
                next_bot: bot,
                bots: (0u8..).zip(there).take(if bots_there { teams } else { 0 }).flat_map(|(team, there)| bots_on(team, there)).collect(),
                ..GameView::default()
            },
            max_share,
            max_difference,
            parties: parties.into_iter().map(&mut keep).collect(),
            avoid: avoid.into_iter().filter(|&(a, b)| a != b && a.max(b) < count).collect(),
            ..ProblemSpec::default()
        }
    }
}
