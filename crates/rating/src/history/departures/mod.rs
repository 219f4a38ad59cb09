//! Players who leave a game early of their own accord, and the bots that come after them: how much of the game each
//! missed or played, and its state when a player left.
//!
//! Without this, a player who leaves whenever the team is behind would have a smaller part in defeats than in
//! victories. A player does not count as departed if they came back, if the game server removed them or lost their
//! connection, or if the record states no reason.
//!
//! A bot comes because a player left, and the player may have left because of the score, for which the bot is not to
//! blame. So the bot's rating learns from its own stretch alone. Humans come when they like, so their ratings learn
//! from the whole game, like those of their team mates.

use evenkeel_model::{Kind, LeaveReason, MatchRecord, Participant, Presence, Span};

use super::{
    points::{own_seats, ranks, score_at, share},
    ruling,
};
use crate::{Arrival, Departure, Player, RatedGame, Seat, Tally};

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
        game: part(record, game, seats, score_at(record, at))?,
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

/// The bots that came after the first of the game's departures, each with its stretch of the game. `usual`
/// is the usual length of a game in milliseconds. Empty if a team would have no player without them.
pub(super) fn arrivals(record: &MatchRecord, game: &RatedGame, usual: u64) -> Vec<Arrival> {
    let left = |player| game.departures.iter().any(|d| d.player == player);
    let gone = |(participant, player): (&Participant, Player)| {
        let last = participant.presence.last()?;
        left(player).then_some(last.span.to)
    };
    let Some(first) = rated(record, game).filter_map(gone).min() else {
        return Vec::new();
    };
    let come = rated(record, game).filter_map(|(participant, player)| {
        let (from, to) = (participant.presence.first()?, participant.presence.last()?);
        let own = Span {
            from: from.span.from,
            to: to.span.to,
        };
        let bot = participant.key.kind == Kind::Bot;
        (bot && own.from >= first && own.from < own.to).then_some((player, own))
    });
    let all: Vec<Arrival> = come
        .take(MOST)
        .filter_map(|(player, own)| stretch(record, game, usual, player, own))
        .collect();
    let came = |seat: &Seat| all.iter().any(|arrival| arrival.player == seat.player);
    match (0..game.teams()).any(|team| game.team(team).iter().all(came)) {
        true => Vec::new(),
        false => all,
    }
}

/// The participants whom the game rates, with their numbers.
fn rated<'a>(
    record: &'a MatchRecord,
    game: &'a RatedGame,
) -> impl Iterator<Item = (&'a Participant, Player)> {
    let learning = played(record, game).filter(|(_, tally)| tally.learns);
    learning.map(|(participant, tally)| (participant, tally.player))
}

/// A bot's stretch of the game, which is `own`; `None` if a team had no player during the stretch,
/// or none before it.
fn stretch(
    record: &MatchRecord,
    game: &RatedGame,
    usual: u64,
    player: Player,
    own: Span,
) -> Option<Arrival> {
    let before = as_it_stood(record, game, usual, player, own.from)?;
    let mut seats: Vec<Seat> = Vec::new();
    for (participant, tally) in played(record, game) {
        let then = Participant {
            presence: since(&until(&participant.presence, own.to), own.from),
            ..participant.clone()
        };
        let stays = own_seats(&then, own.millis(), usual, |stay| u16::from(stay.team));
        seats.extend(stays.into_iter().map(|seat| Seat {
            player: tally.player,
            ..seat
        }));
    }
    let scores = score_at(record, own.from);
    let after = match own.to < record.millis() {
        true => score_at(record, own.to),
        false => game.scores.clone(), // includes what happened in the last millisecond
    };
    let scores = after.into_iter().zip(scores);
    let scores = scores.map(|(after, before)| after - before).collect();
    Some(Arrival {
        player,
        since: before.played,
        before: before.game,
        played: own.millis() as f64 / record.millis().max(1) as f64,
        game: part(record, game, seats, scores)?,
    })
}

/// The parts of the stays after the millisecond `from`, with times counted from `from`.
fn since(presence: &[Presence], from: u64) -> Vec<Presence> {
    let after = presence.iter().filter(|stay| stay.span.to > from);
    let cut = after.map(|stay| Presence {
        span: Span {
            from: stay.span.from.saturating_sub(from),
            to: stay.span.to - from,
        },
        ..*stay
    });
    cut.collect()
}

#[cfg(test)]
mod tests;
