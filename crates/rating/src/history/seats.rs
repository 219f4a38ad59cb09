//! A participant's seats in a game as rating systems see it, and the places that scores give.

use crate::{Player, Seat};
use evenkeel_model::{Participant, Presence, RoleName};

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

/// The weighted share of a game that a stay covers, see [`Span::early_share`](evenkeel_model::Span).
pub(super) fn share(stay: &Presence, millis: u64, usual: u64) -> f64 {
    stay.span.early_share(millis, usual)
}

/// The rank of each number, 0 for the highest; equal numbers share the better rank.
pub(super) fn ranks(numbers: &[f64]) -> Vec<u16> {
    let above = |x: &f64| numbers.iter().filter(|y| *y > x).count();
    let rank = |x| u16::try_from(above(x)).unwrap_or(u16::MAX);
    numbers.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::Span;

    #[test]
    fn early_time_counts_more() {
        let share = |from, to, millis| {
            let span = Span { from, to };
            share(&Presence { team: 0, span }, millis, 1_000)
        };
        assert_eq!(share(0, 1_000, 1_000), 1.0);
        assert!((share(0, 500, 1_000) - 2.0 / 3.0).abs() < 1e-12);
        assert!((share(500, 1_000, 1_000) - 1.0 / 3.0).abs() < 1e-12);
        // The factor does not depend on how far this game exceeded the usual length.
        assert!((share(0, 500, 4_000) / share(500, 1_000, 4_000) - 2.0).abs() < 1e-12);
        assert_eq!(share(0, 0, 0), 1.0);
    }

    #[test]
    fn ranks_share_places() {
        assert_eq!(ranks(&[1.0, 5.0, 1.0, 0.0]), [1, 0, 1, 3]);
    }
}
