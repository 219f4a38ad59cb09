//! Where each participant sat in a match, the points that their teams scored and conceded meanwhile, and who left or came
//! in the middle of it.
//!
//! Of players who leave a game early of their own accord, and of the bots that come after them, it says how much of the
//! game each missed or played, and its state when a player left. Without this, a player who leaves whenever the team is behind would have a
//! smaller part in defeats than in victories. A player does not count as departed if they came back, if the game server removed them or lost their
//! connection, or if the record states no reason.
//!
//! A bot comes because a player left, and the player may have left because of the score, for which the bot is not to
//! blame. So the bot's rating learns from its own stretch alone. Humans come when they like, so their ratings learn
//! from the whole game, like those of their team mates.

use evenkeel_model::{
    Kind, MatchRecord, Outcome, Participant,
    record::{LeaveReason, Presence, Span},
    rulebook::Scoring,
    team_names::RoleName,
};

use super::ruling;
use crate::{
    Player, RatedGame, Seat,
    game::{Arrival, Departure, Tally},
    presence::Points,
};

/// For each participant, in the order of the record: F, the points that their teams scored while
/// they were on them, and A, the points scored against those teams in that time.
///
/// A stay includes an event at its first millisecond and excludes one at its last, except that an
/// event at the end of the game counts for every player who stayed to the end: the capture that
/// ends a game has that time. Points of a final score that no event accounts for are spread evenly
/// over the game. If a team's events add up to *more* than its final score, they are scaled down to
/// it. A negative sum (some games subtract points) counts as 0. A victory without any points counts
/// as one point. The record must pass [`MatchRecord::check`].
///
/// Complexity: O((events + stays) · teams + stays · log events).
pub(super) fn points(record: &MatchRecord, scoring: Scoring) -> Vec<Points> {
    if scoring == Scoring::Frags {
        let frags = record.participants.iter().map(|p| Points {
            scored: p.kills.into(),
            conceded: p.deaths.into(),
        });
        return frags.collect();
    }
    let points = PointsOverTime::of(record);
    let of_one = |p| points.points_of(p);
    record.participants.iter().map(of_one).collect()
}

/// Each team's score after `at` milliseconds of play, as [`points`] counts it. O(events · teams).
pub(super) fn score_at(record: &MatchRecord, at: u64) -> Vec<f64> {
    let points = PointsOverTime::of(record);
    let behind = record.events.partition_point(|event| event.at < at);
    let counted = &points.before[behind * points.rate.len()..];
    let rates = points.rate.iter().zip(counted);
    rates
        .map(|(rate, counted)| rate * at as f64 + counted)
        .collect()
}

/// How each team's score grew during a game.
struct PointsOverTime<'a> {
    record: &'a MatchRecord,
    /// Per team: the points per millisecond that no event accounts for.
    rate: Vec<f64>,
    /// Each team's sum of events before each event, and after the last one; one row of teams per
    /// event.
    before: Vec<f64>,
}

impl<'a> PointsOverTime<'a> {
    fn of(record: &'a MatchRecord) -> Self {
        let scores = final_scores(record);
        let mut event_sum = vec![0.0; scores.len()];
        for event in &record.events {
            event_sum[usize::from(event.team)] += event.points;
        }
        // At least one millisecond, because the rate divides by it.
        let millis = record.millis().max(1) as f64;
        let pairs = || scores.iter().zip(&event_sum);
        let rate = pairs().map(|(score, event_sum)| (score - event_sum).max(0.0) / millis);
        let scale = pairs().map(|(&score, &event_sum)| {
            if event_sum > score && event_sum > 0.0 {
                score.max(0.0) / event_sum
            } else {
                1.0
            }
        });
        let scale: Vec<f64> = scale.collect();
        let mut before = vec![0.0; scores.len()];
        for event in &record.events {
            let last = before.len() - scores.len();
            before.extend_from_within(last..);
            let team = usize::from(event.team);
            let sum = last + scores.len() + team;
            before[sum] += event.points * scale[team];
        }
        Self {
            record,
            rate: rate.collect(),
            before,
        }
    }

    fn points_of(&self, participant: &Participant) -> Points {
        let end = self.record.millis();
        let events = &self.record.events;
        let mut sum = Points::default();
        for stay in &participant.presence {
            let millis = stay.span.millis() as f64;
            let first = events.partition_point(|e| e.at < stay.span.from);
            let after = |at| at < stay.span.to || (at == end && stay.span.to == end);
            let behind = events.partition_point(|e| after(e.at)).max(first);
            for (team, rate) in self.rate.iter().enumerate() {
                let before = |event: usize| self.before[event * self.rate.len() + team];
                let event_sum = before(behind) - before(first);
                let side = if team == usize::from(stay.team) {
                    &mut sum.scored
                } else {
                    &mut sum.conceded
                };
                *side += rate * millis + event_sum;
            }
        }
        Points {
            scored: sum.scored.max(0.0),
            conceded: sum.conceded.max(0.0),
        }
    }
}

/// The final scores. A team that won a game without points gets one point.
fn final_scores(record: &MatchRecord) -> Vec<f64> {
    let mut scores = record.scores.clone();
    if let Outcome::Won(team) = record.outcome
        && scores.iter().all(|score| *score == 0.0)
        && record.events.is_empty()
    {
        scores[usize::from(team)] = 1.0;
    }
    scores
}

/// The smallest share of a game. A smaller one carries no information, and a share of 0 would make
/// a rating system divide by zero.
const LEAST_SHARE: f64 = 1e-6;

/// One seat for each team that the participant was on; the caller fills in the player number.
pub(super) fn own_seats(
    participant: &Participant,
    millis: u64,
    usual: u64,
    team: impl Fn(&Presence) -> u16,
) -> Vec<Seat> {
    let mut seats: Vec<Seat> = Vec::new();
    for stay in participant.presence.iter().filter(|p| p.span.millis() > 0) {
        let share = share(stay, millis, usual);
        let team = team(stay);
        match seats.iter_mut().find(|s| s.team == team) {
            Some(seat) => seat.share += share,
            None => seats.push(Seat {
                share,
                command: command(participant, stay.team),
                party: party_number(participant.party),
                ..Seat::new(Player(0), team)
            }),
        }
    }
    for seat in &mut seats {
        seat.share = seat.share.clamp(LEAST_SHARE, 1.0);
    }
    seats
}

/// The number of a party in [`Seat::party`], in which 0 means no party.
pub(super) fn party_number(party: Option<u32>) -> u32 {
    party.map_or(0, |party| party.saturating_add(1))
}

fn command(participant: &Participant, team: u8) -> f64 {
    let roles = participant.roles.iter();
    let own = roles.filter(|r| r.name == RoleName::COMMANDER && r.team == team);
    own.map(|r| r.share).sum::<f64>().min(1.0)
}

/// The weighted share of a game that a stay covers, see [`Span::early_share`](evenkeel_model::record::Span).
pub(super) fn share(stay: &Presence, millis: u64, usual: u64) -> f64 {
    stay.span.early_share(millis, usual)
}

/// The rank of each number, 0 for the highest; equal numbers share the better rank.
pub(super) fn ranks(numbers: &[f64]) -> Vec<u16> {
    let above = |x: &f64| numbers.iter().filter(|y| *y > x).count();
    let rank = |x| u16::try_from(above(x)).unwrap_or(u16::MAX);
    numbers.iter().map(rank).collect()
}

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
