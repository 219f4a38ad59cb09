//! Simulated annealing over the tickets on the teams, with four moves: add, remove, replace, swap.
//!
//! S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by Simulated Annealing, Science 220
//! (1983). A ticket moves as one piece, so that its players stay together. The seed stays in.

use super::{
    Candidates,
    teams::{Cost, Teams},
};
use evenkeel_model::Stream;

/// The temperature at the start: a hard rule that is violated once more is accepted every third
/// time.
const HOT: f64 = 90.0;
/// The temperature at the end, with soft rules: a violation of 1 is hardly ever accepted.
const COLD: f64 = 0.2;
/// How many moves are made between two questions whether to stop.
const LOOK: usize = 256;

/// A change of the teams that can be undone.
enum SeatMove {
    Add(usize, u32),
    Remove(usize, u32),
    Replace(usize, u32, u32),
    Swap([usize; 2], [u32; 2]),
}

/// Improves the teams by `moves` random moves, and leaves the best that was found. Ends as soon as
/// no rule is violated.
pub(super) fn anneal(
    teams: &mut Teams<'_>,
    candidates: &Candidates,
    moves: usize,
    stream: &mut Stream,
    stop: &dyn Fn() -> bool,
) -> Cost {
    let mut out: Vec<u32> = (0..candidates.len())
        .map(|at| candidates.ticket(at))
        .collect();
    out.retain(|ticket| !teams.seats.iter().any(|team| team.contains(ticket)));
    let mut now = teams.cost();
    let (mut best, mut kept) = (now, teams.seats.clone());
    let cooling = libm::pow(COLD / HOT, 1.0 / moves.max(1) as f64);
    let mut heat = HOT;
    for made in 0..moves {
        if now == Cost::default() || made % LOOK == 0 && stop() {
            break;
        }
        heat *= cooling;
        let Some(change) = draw(teams, candidates.seed, &mut out, stream) else {
            continue;
        };
        let next = teams.cost();
        let worse = next.energy() - now.energy();
        if worse <= 0.0 || stream.unit() < libm::exp(-worse / heat) {
            now = next;
            if now.is_below(best) {
                best = now;
                kept.clone_from(&teams.seats);
            }
        } else {
            undo(teams, change, &mut out);
        }
    }
    restore(teams, &kept);
    best
}

/// Makes a random move and returns it; `None` if the drawn one is impossible.
fn draw(
    teams: &mut Teams<'_>,
    seed: u32,
    out: &mut Vec<u32>,
    stream: &mut Stream,
) -> Option<SeatMove> {
    let count = teams.seats.len();
    let team = stream.index(count);
    let place = |teams: &Teams<'_>, team: usize, stream: &mut Stream| {
        let seats = &teams.seats[team];
        let place = stream.index(seats.len());
        seats
            .get(place)
            .is_some_and(|ticket| *ticket != seed)
            .then_some(place)
    };
    match stream.index(8) {
        0 if !out.is_empty() => {
            let ticket = out.swap_remove(stream.index(out.len()));
            teams.put(team, ticket);
            Some(SeatMove::Add(team, ticket))
        }
        1 => {
            let place = place(teams, team, stream)?;
            let ticket = teams.take_at(team, place)?;
            out.push(ticket);
            Some(SeatMove::Remove(team, ticket))
        }
        2..=5 if !out.is_empty() => {
            let place = place(teams, team, stream)?;
            let ticket = teams.take_at(team, place)?;
            let at = stream.index(out.len());
            let other = std::mem::replace(&mut out[at], ticket);
            teams.put(team, other);
            Some(SeatMove::Replace(team, ticket, other))
        }
        _ => {
            let other = (team + 1 + stream.index(count - 1)) % count;
            let places = [
                stream.index(teams.seats[team].len()),
                stream.index(teams.seats[other].len()),
            ];
            if teams.seats[team].is_empty() || teams.seats[other].is_empty() {
                return None;
            }
            let tickets = [
                teams.take_at(team, places[0])?,
                teams.take_at(other, places[1])?,
            ];
            teams.put(other, tickets[0]);
            teams.put(team, tickets[1]);
            Some(SeatMove::Swap([team, other], tickets))
        }
    }
}

fn undo(teams: &mut Teams<'_>, change: SeatMove, out: &mut Vec<u32>) {
    let leave = |out: &mut Vec<u32>, ticket: u32| {
        if let Some(at) = out.iter().rposition(|other| *other == ticket) {
            out.swap_remove(at);
        }
    };
    match change {
        SeatMove::Add(team, ticket) => {
            teams.take(team, ticket);
            out.push(ticket);
        }
        SeatMove::Remove(team, ticket) => {
            leave(out, ticket);
            teams.put(team, ticket);
        }
        SeatMove::Replace(team, ticket, other) => {
            teams.take(team, other);
            teams.put(team, ticket);
            if let Some(at) = out.iter().position(|out| *out == ticket) {
                out[at] = other;
            }
        }
        SeatMove::Swap([team, other], tickets) => {
            teams.take(other, tickets[0]);
            teams.take(team, tickets[1]);
            teams.put(team, tickets[0]);
            teams.put(other, tickets[1]);
        }
    }
}

/// Makes the teams those of `seats`.
pub(super) fn restore(teams: &mut Teams<'_>, seats: &[Vec<u32>]) {
    for team in 0..teams.seats.len() {
        while !teams.seats[team].is_empty() {
            teams.take_at(team, 0);
        }
    }
    for (team, tickets) in seats.iter().enumerate() {
        for &ticket in tickets {
            teams.put(team, ticket);
        }
    }
}
