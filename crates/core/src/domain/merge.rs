//! Merging of identities: changes a match as if each player had used one identity throughout.

use std::collections::BTreeMap;

use super::{MatchRecord, Participant, PlayerKey, Presence};

impl MatchRecord {
    /// Replaces each identity that is a key of `counts_as` by its value, and returns the former
    /// seat of each remaining participant. If that gives one player two entries, they become one;
    /// where their stays overlap, the earlier stay counts.
    pub fn merge_players(&mut self, counts_as: &BTreeMap<PlayerKey, PlayerKey>) -> Vec<usize> {
        let mut merged: Vec<Participant> = Vec::with_capacity(self.participants.len());
        let mut stood = Vec::with_capacity(self.participants.len());
        let mut new_seat = Vec::with_capacity(self.participants.len());
        let mut seats: BTreeMap<PlayerKey, usize> = BTreeMap::new();
        for (old, mut participant) in self.participants.drain(..).enumerate() {
            if let Some(other) = counts_as.get(&participant.key) {
                // The identity stands for a name that is not known.
                if participant.name == participant.key.id {
                    participant.name.clone_from(&other.id);
                }
                participant.key = other.clone();
            }
            let seat = *seats.entry(participant.key.clone()).or_insert(merged.len());
            new_seat.push(seat as u32);
            match merged.get_mut(seat) {
                Some(first) => first.absorb(participant),
                None => {
                    merged.push(participant);
                    stood.push(old);
                }
            }
        }
        self.participants = merged;
        for event in &mut self.events {
            let seat = event.by.and_then(|by| new_seat.get(by as usize));
            event.by = seat.copied();
        }
        stood
    }
}

impl Participant {
    fn absorb(&mut self, other: Participant) {
        let until = |presence: &[Presence]| presence.last().map(|stay| stay.span.to);
        if until(&other.presence) >= until(&self.presence) {
            self.left = other.left; // the other identity was the last to leave
        }
        self.presence.extend(other.presence);
        self.presence.sort_by_key(|stay| stay.span.from);
        let mut until = 0;
        self.presence.retain_mut(|stay| {
            stay.span.from = stay.span.from.max(until);
            until = until.max(stay.span.to);
            stay.span.from < stay.span.to
        });
        self.points = match (self.points, other.points) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.kills = self.kills.saturating_add(other.kills);
        self.deaths = self.deaths.saturating_add(other.deaths);
        for role in other.roles {
            let same =
                |known: &&mut super::Role| (&known.name, known.team) == (&role.name, role.team);
            match self.roles.iter_mut().find(same) {
                Some(known) => known.share = (known.share + role.share).min(1.0),
                None => self.roles.push(role),
            }
        }
        self.roles
            .sort_by(|a, b| (&a.name, a.team).cmp(&(&b.name, b.team)));
        self.party = self.party.or(other.party);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Kind, Outcome, ScoreEvent, Span, Timestamp};

    #[test]
    fn two_identities_become_one() {
        let key = |id: &str| PlayerKey {
            kind: Kind::Human,
            id: id.into(),
        };
        let stay = |team, from, to| Presence {
            team,
            span: Span { from, to },
        };
        let player = |id: &str, presence| Participant {
            key: key(id),
            name: id.into(),
            presence,
            points: Some(2.0),
            kills: 1,
            deaths: 2,
            roles: vec![],
            party: None,
            left: None,
        };
        let mut record = MatchRecord {
            server: String::new(),
            start: Timestamp(0),
            end: Timestamp(1_000),
            clock: None,
            untimed: false,
            map: String::new(),
            game_type: "ctf".into(),
            mode: String::new(),
            mutators: vec![],
            scores: vec![1.0, 0.0],
            participants: vec![
                player("x", vec![stay(1, 0, 1_000)]),
                player("old", vec![stay(0, 0, 400)]),
                player("new", vec![stay(0, 300, 350), stay(1, 380, 900)]),
            ],
            events: vec![ScoreEvent {
                at: 500,
                team: 0,
                points: 1.0,
                by: Some(2),
            }],
            outcome: Outcome::Won(0),
        };
        let stood = record.merge_players(&[(key("old"), key("new"))].into());
        assert_eq!(stood, [0, 1]);
        assert_eq!(record.check(), Ok(()));
        assert_eq!(record.participants.len(), 2);
        let one = &record.participants[1];
        assert_eq!(
            (&one.key, one.points, one.kills, one.deaths),
            (&key("new"), Some(4.0), 2, 4)
        );
        assert_eq!(one.presence, [stay(0, 0, 400), stay(1, 400, 900)]);
        assert_eq!(record.events[0].by, Some(1));
    }
}
