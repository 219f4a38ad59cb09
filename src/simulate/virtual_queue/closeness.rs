//! How close a match of a simulation is.

use super::crowd::Crowd;
use crate::matchmaking::{PlannedMatch, Queue, Ticket};

/// The largest minus the smallest sum of a team, of the attribute by which the queue makes teams even.
pub(super) fn gap(queue: &Queue, tickets: &[Ticket], found: &PlannedMatch) -> f64 {
    let players = |place: &usize| tickets.get(*place).into_iter().flat_map(|t| &t.players);
    let number = |player| queue.number_to_even(player);
    let teams = found.teams.iter();
    ends(teams.map(|team| team.iter().flat_map(players).map(number).sum()))
}

/// How far the best team's chance against the worst is from even, by Elo's formula on the means of the
/// players' ratings; `teams` has their strengths.
pub(super) fn chance(teams: impl Iterator<Item = Vec<f64>>) -> f64 {
    let mean = |team: Vec<f64>| {
        let players = team.len().max(1) as f64;
        team.into_iter().map(Crowd::rating).sum::<f64>() / players
    };
    1.0 / (1.0 + libm::pow(10.0, -ends(teams.map(mean)) / 400.0)) - 0.5
}

/// The largest minus the smallest number.
fn ends(numbers: impl Iterator<Item = f64>) -> f64 {
    let ends = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, number| {
        (number.min(ends.0), number.max(ends.1))
    });
    (ends.1 - ends.0).max(0.0)
}
