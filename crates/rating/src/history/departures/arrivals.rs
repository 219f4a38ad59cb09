//! Bots that come after a player has left early, and the stretch of the game that each of them played.
//!
//! Such a bot comes because a player left, and the player may have left because of the score, for
//! which the bot is not to blame. So the bot's rating learns from its own stretch alone. Humans
//! come when they like, so their ratings learn from the whole game, like those of their team mates.

use super::{MOST, as_it_stood, part, played, until};
use crate::history::{points::standing, seats::own_seats};
use crate::{Arrival, Player, RatedGame, Seat};
use evenkeel_model::{Kind, MatchRecord, Participant, Presence, Span};

/// The bots that came after the first of the game's departures, each with its stretch of the game. `usual`
/// is the usual length of a game in milliseconds. Empty if a team would have no player without them.
pub(in crate::history) fn arrivals(
    record: &MatchRecord,
    game: &RatedGame,
    usual: u64,
) -> Vec<Arrival> {
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
    let scores = standing(record, own.from);
    let after = match own.to < record.millis() {
        true => standing(record, own.to),
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
