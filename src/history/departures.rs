//! Players who leave a game early of their own accord: what they missed, and the game as it stood then.
//!
//! Without this, a player who leaves whenever the team is behind would have a smaller part in defeats
//! than in victories. It does not concern players who came back, whom the game server removed or lost,
//! or of whom the log does not state why they left.

use super::{
    digest::{own_seats, ranks, share},
    ruling,
};
use crate::{
    domain::{Kind, LeaveReason, MatchRecord, Participant, Presence, Span},
    rating::{Departure, Game, Player, Seat, presence},
};

/// The most departures of one game that count. Real games have far fewer; the limit bounds the cost of
/// a hostile record.
const MOST: usize = 64;

/// The last stay of a human who left a team game early of their own accord; `None` for any other
/// participant.
fn last_stay<'a>(record: &MatchRecord, participant: &'a Participant) -> Option<&'a Presence> {
    let own = participant.left.is_some_and(LeaveReason::is_own_choice);
    let last = participant.presence.last()?;
    let early = last.span.to < record.millis();
    let counts = own && early && record.has_teams() && participant.key.kind == Kind::Human;
    counts.then_some(last)
}

/// The team that a participant left early, and the weighted share of the game that they missed, 0 to 1;
/// `None` for a participant who did not leave early.
pub(super) fn missed(
    record: &MatchRecord,
    participant: &Participant,
    usual: u64,
) -> Option<(u8, f64)> {
    let last = last_stay(record, participant)?;
    let span = Span {
        from: last.span.to,
        to: record.millis(),
    };
    let rest = Presence {
        team: last.team,
        span,
    };
    Some((last.team, share(&rest, record.millis(), usual)))
}

/// The players who left early, each with the game as it stood then. `game` is the whole game, and
/// `usual` the usual length of a game in milliseconds.
pub(super) fn departures(record: &MatchRecord, game: &Game, usual: u64) -> Vec<Departure> {
    if game.places.is_empty() {
        return Vec::new(); // nothing to learn from
    }
    let players = record.participants.iter();
    let players = players.filter(|participant| ruling::has_played(participant));
    let leavers = players.zip(&game.tallies).filter_map(|(participant, tally)| {
        let stay = last_stay(record, participant)?;
        tally.learns.then_some((tally.player, stay.span.to))
    });
    let of = |(player, at)| match game.scores.is_empty() {
        true => Some(as_if_they_had_stayed(game, player)),
        false => as_it_stood(record, game, usual, player, at),
    };
    leavers.take(MOST).filter_map(of).collect()
}

/// The whole game. Where the scores do not decide the outcome, the record does not contain who was
/// behind, so that the outcome counts in full.
fn as_if_they_had_stayed(game: &Game, player: Player) -> Departure {
    let mut whole = game.to_the_end();
    whole.tallies.clear();
    Departure {
        player,
        played: 1.0,
        game: whole,
    }
}

/// The game up to the millisecond `at`; `None` where a team had no player until then.
fn as_it_stood(
    record: &MatchRecord,
    game: &Game,
    usual: u64,
    player: Player,
    at: u64,
) -> Option<Departure> {
    let mut seats: Vec<Seat> = Vec::new();
    let players = record.participants.iter();
    let players = players.filter(|participant| ruling::has_played(participant));
    for (participant, tally) in players.zip(&game.tallies) {
        let until = Participant {
            presence: until(&participant.presence, at),
            ..participant.clone()
        };
        let own = own_seats(&until, at, usual, |stay| u16::from(stay.team));
        seats.extend(own.into_iter().map(|seat| Seat {
            player: tally.player,
            ..seat
        }));
    }
    let mut part = Game::new(seats);
    if part.teams() != record.scores.len() {
        return None;
    }
    part.scores = presence::standing(record, at);
    part.places = ranks(&part.scores);
    (part.ruleset, part.map) = (game.ruleset, game.map);
    (part.sides, part.day) = (game.sides, game.day);
    let played = at as f64 / record.millis().max(1) as f64;
    Some(Departure {
        player,
        played,
        game: part,
    })
}

/// The stays, cut off at a millisecond.
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
