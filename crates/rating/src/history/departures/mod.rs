//! Players who leave a game early of their own accord: how much of it they missed, and the state of
//! the game when they left.
//!
//! Without this, a player who leaves whenever the team is behind would have a smaller part in
//! defeats than in victories. A player does not count as departed if they came back, if the game
//! server removed them or lost their connection, or if the record states no reason.

pub(super) mod arrivals;

use super::{
    points::standing,
    ruling,
    seats::{own_seats, ranks, share},
};
use crate::{Departure, Player, RatedGame, Seat, Tally};
use evenkeel_model::{Kind, LeaveReason, MatchRecord, Participant, Presence, Span};

/// The most departures, and the most arrivals, of one game that count. Real games have far fewer; the
/// limit bounds the cost of a hostile record.
const MOST: usize = 64;

/// What a departed participant missed: the team that they left, and the weighted share of the first
/// `until` milliseconds of the game for which they were gone, 0 to 1. `None` if they did not leave
/// early of their own accord, and in a game without teams. `usual` is the usual length of a game in
/// milliseconds.
pub(super) fn missed(
    record: &MatchRecord,
    participant: &Participant,
    until: u64,
    usual: u64,
) -> Option<(u8, f64)> {
    let own = participant.left.is_some_and(LeaveReason::is_own_choice);
    let last = participant.presence.last()?;
    let early = last.span.to < until;
    if !own || !early || !record.has_teams() || participant.key.kind != Kind::Human {
        return None;
    }
    let span = Span {
        from: last.span.to,
        to: until,
    };
    let team = last.team;
    Some((team, share(&Presence { team, span }, until, usual)))
}

/// Adds what the player missed to the seat, if the seat is on the team that the player left.
pub(super) fn with_missed(seat: Seat, missed: Option<(u8, f64)>) -> Seat {
    match missed {
        Some((team, missed)) if u16::from(team) == seat.team => Seat {
            share: (seat.share + missed).min(1.0),
            missed,
            ..seat
        },
        _ => seat,
    }
}

/// The players who left early, each with the state of the game when they left. `game` is the whole
/// game, and `usual` the usual length of a game in milliseconds. Empty if the scores do not decide
/// the outcome, because the record then does not show which team was behind.
pub(super) fn departures(record: &MatchRecord, game: &RatedGame, usual: u64) -> Vec<Departure> {
    if game.scores.is_empty() {
        return Vec::new();
    }
    let leavers = played(record, game).filter_map(|(participant, tally)| {
        missed(record, participant, record.millis(), usual)?;
        let last = participant.presence.last()?;
        tally.learns.then_some((tally.player, last.span.to))
    });
    leavers
        .take(MOST)
        .filter_map(|(player, at)| as_it_stood(record, game, usual, player, at))
        .collect()
}

/// The participants who have played, each with their counts.
fn played<'a>(
    record: &'a MatchRecord,
    game: &'a RatedGame,
) -> impl Iterator<Item = (&'a Participant, &'a Tally)> {
    let players = record.participants.iter();
    let players = players.filter(|participant| ruling::has_played(participant));
    players.zip(&game.tallies)
}

/// The part of `game` with these seats and these scores; `None` if a team has no player in it.
fn part(
    record: &MatchRecord,
    game: &RatedGame,
    seats: Vec<Seat>,
    scores: Vec<f64>,
) -> Option<RatedGame> {
    let mut part = RatedGame::new(seats);
    part.places = ranks(&scores);
    part.scores = scores;
    part.extent = game.extent;
    (part.ruleset, part.mode, part.map) = (game.ruleset, game.mode, game.map);
    (part.no_map, part.sides, part.day) = (game.no_map, game.sides, game.day);
    (part.teams() == record.scores.len()).then_some(part)
}

/// The game up to the millisecond `at`, when `player` left or came; `None` if a team had no player by
/// then.
fn as_it_stood(
    record: &MatchRecord,
    game: &RatedGame,
    usual: u64,
    player: Player,
    at: u64,
) -> Option<Departure> {
    let mut seats: Vec<Seat> = Vec::new();
    for (participant, tally) in played(record, game) {
        let then = Participant {
            presence: until(&participant.presence, at),
            ..participant.clone()
        };
        // Players who had left by then count as if they had stayed, as in the whole game.
        let missed = missed(record, participant, at, usual);
        let own = own_seats(&then, at, usual, |stay| u16::from(stay.team));
        seats.extend(own.into_iter().map(|seat| Seat {
            player: tally.player,
            ..with_missed(seat, missed)
        }));
    }
    Some(Departure {
        player,
        played: at as f64 / record.millis().max(1) as f64,
        game: part(record, game, seats, standing(record, at))?,
    })
}

/// The parts of the stays before the millisecond `at`.
fn until(presence: &[Presence], at: u64) -> Vec<Presence> {
    let before = presence.iter().filter(|stay| stay.span.from < at);
    let cut = before.map(|stay| Presence {
        span: Span {
            to: stay.span.to.min(at),
            ..stay.span
        },
        ..*stay
    });
    cut.collect()
}

#[cfg(test)]
mod tests;
