//! The fingerprint of a match's content. It prevents a match that is read twice from being stored
//! twice.

use std::{collections::BTreeMap, fmt};

use sha2::{Digest, Sha256};

use serde::{Deserialize, Serialize};

use super::{Kind, MatchRecord, Participant, PlayerKey, from_hex, recorder::joined, to_hex};

/// 128 bits of SHA-256 over what identifies a match.
///
/// If the log has dates: the server, the start to the second, the map, and the participants.
/// Without dates the start is an estimate, so the log's own clock and all events of the game are
/// hashed instead.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fingerprint(pub [u8; 16]);

impl Fingerprint {
    /// The fingerprint of a match. Independent of the order in which the participants are listed. Players whom the
    /// log calls by one identity are one in it, although the record tells them apart.
    pub fn of(record: &MatchRecord) -> Self {
        if let Some(logged_as) = record.logged_as {
            return Self(logged_as);
        }
        match as_logged(&record.participants) {
            None => Self::of_logged(record),
            Some(participants) => Self::of_logged(&MatchRecord {
                participants,
                ..record.clone()
            }),
        }
    }

    fn of_logged(record: &MatchRecord) -> Self {
        let mut hash = FingerprintInput(Sha256::new());
        hash.text("evenkeel match 1");
        hash.text(&record.server);
        hash.text(&record.map);
        let mut order: Vec<usize> = (0..record.participants.len()).collect();
        order.sort_unstable_by_key(|&i| &record.participants[i].key);
        hash.number(order.len() as u64);
        for &i in &order {
            let key = &record.participants[i].key;
            hash.number(u64::from(key.kind == Kind::Bot));
            hash.text(&key.id);
        }
        match record.clock {
            None => hash.number(record.start.0.div_euclid(1_000) as u64),
            Some(clock) => {
                hash.text("clock");
                hash.number(clock);
                hash.timelines(record, &order);
            }
        }
        let mut short = [0; 16];
        short.copy_from_slice(&hash.0.finalize()[..16]);
        Self(short)
    }

    /// Parses 32 hexadecimal digits; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        from_hex(text).map(Self)
    }

    /// A fingerprint from its stored bytes; `None` unless there are 16.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

/// The participants under the identities that the log states, one for each; `None` if they are the same.
fn as_logged(participants: &[Participant]) -> Option<Vec<Participant>> {
    let own: Vec<Option<PlayerKey>> = participants.iter().map(|p| p.key.unsplit()).collect();
    if own.iter().all(Option::is_none) {
        return None;
    }
    let mut logged: Vec<Participant> = Vec::with_capacity(participants.len());
    let mut seats: BTreeMap<PlayerKey, usize> = BTreeMap::new();
    for (participant, own) in participants.iter().zip(own) {
        let key = own.unwrap_or_else(|| participant.key.clone());
        let seat = *seats.entry(key.clone()).or_insert(logged.len());
        match logged.get_mut(seat) {
            Some(first) => {
                first.kills = first.kills.saturating_add(participant.kills);
                first.deaths = first.deaths.saturating_add(participant.deaths);
                first.presence.extend(&participant.presence);
            }
            None => logged.push(Participant {
                key,
                ..participant.clone()
            }),
        }
    }
    for participant in &mut logged {
        participant.presence = joined(std::mem::take(&mut participant.presence));
    }
    Some(logged)
}

/// Formats the fingerprint as 32 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Hashes fields. Each field has a fixed length or starts with its length, so that different
/// sequences of fields never hash the same bytes.
struct FingerprintInput(Sha256);

impl FingerprintInput {
    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text.as_bytes());
    }

    fn timelines(&mut self, record: &MatchRecord, order: &[usize]) {
        self.number(record.millis());
        self.text(&record.game_type);
        for score in &record.scores {
            self.number(score.to_bits());
        }
        self.number(record.events.len() as u64);
        for event in &record.events {
            self.number(event.at);
            self.number(u64::from(event.team));
            self.number(event.points.to_bits());
        }
        for &i in order {
            let participant = &record.participants[i];
            self.number(participant.kills.into());
            self.number(participant.deaths.into());
            for stay in &participant.presence {
                self.number(stay.team.into());
                self.number(stay.span.from);
                self.number(stay.span.to);
            }
        }
    }
}
