//! The order in which a match is recorded: that of the participants' keys.
//!
//! Who is listed first means nothing, but sums of numbers depend on the order in their last bits. So the order is that of
//! the keys when a match is recorded, and stays from then on: if it followed the keys that are stored, forgetting a player,
//! which changes a key, would move the last bits of others.

use crate::{MatchChances, MatchRecord};

impl MatchRecord {
    /// The match with its participants in the order of their keys.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        let seats = self.seats_in_order();
        self.participants.sort_by(|a, b| a.key.cmp(&b.key));
        let authors = self.events.iter_mut().filter_map(|event| event.by.as_mut());
        authors.for_each(|by| *by = moved(*by, &seats));
        self
    }

    /// For each participant, the seat in the order of the keys.
    fn seats_in_order(&self) -> Vec<u32> {
        let mut order: Vec<usize> = (0..self.participants.len()).collect();
        order.sort_by_key(|&seat| &self.participants[seat].key);
        let mut seats = vec![0; order.len()];
        for (seat, before) in (0..).zip(order) {
            seats[before] = seat;
        }
        seats
    }
}

impl MatchChances {
    /// The course with the seats that the players of this match, which is as it was reported, have in the order of their
    /// keys.
    #[must_use]
    pub(super) fn in_order_of(mut self, record: &MatchRecord) -> Self {
        let seats = record.seats_in_order();
        let players = self.changes.iter_mut();
        let players = players.filter_map(|change| change.who.as_mut());
        players.for_each(|who| *who = moved(*who, &seats));
        self
    }
}

/// The seat of the participant who had this one; one that does not exist stays as it is, and fails the check.
fn moved(seat: u32, seats: &[u32]) -> u32 {
    seats.get(seat as usize).copied().unwrap_or(seat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Participant, PlayerKey, ScoreEvent, TeamCause, TeamChances, TeamChange};

    #[test]
    fn seats_follow_their_participants() {
        let player = |id: &str| Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: id.into(),
            },
            name: id.to_uppercase(),
            presence: vec![],
            points: None,
            kills: 0,
            deaths: 0,
            roles: vec![],
            party: None,
            left: None,
        };
        let event = |by| ScoreEvent {
            at: 0,
            team: 0,
            points: 1.0,
            by,
        };
        let record = MatchRecord {
            participants: ["c", "a", "b"].map(player).into(),
            events: [Some(0), None, Some(2), Some(3)].map(event).into(),
            ..MatchRecord::default()
        };
        let change = |who| TeamChange {
            at: 0,
            cause: TeamCause::Join,
            who,
            from: None,
            to: Some(0),
            teams: TeamChances::default(),
        };
        let announced = MatchChances {
            changes: [Some(1), None, Some(0)].map(change).into(),
            ..MatchChances::default()
        };
        let who = |announced: MatchChances| announced.changes.into_iter().map(|change| change.who);
        let moved: Vec<_> = who(announced.played(&record)).collect();
        assert_eq!(moved, [Some(0), None, Some(2)]);
        let ordered = record.played();
        let names: Vec<_> = ordered.participants.iter().map(|p| &*p.name).collect();
        assert_eq!(names, ["A", "B", "C"]);
        let by: Vec<_> = ordered.events.iter().map(|event| event.by).collect();
        assert_eq!(by, [Some(2), None, Some(1), Some(3)]);
        assert_eq!(ordered.clone().played(), ordered);
    }
}
