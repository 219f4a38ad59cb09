//! Recognises one match in what two observers have recorded of it: the game server's line, and the server's log.

use std::collections::BTreeSet;

use evenkeel_model::{MatchRecord, ident::are_mostly_the_same};

/// Whether two records are of the same match: on the same server, map and game type as far as both state them, with play
/// that overlaps for half of the shorter one at least, and at least half of the people of each in the other. Bots of one
/// record may be humans of the other, as a sidecar can report them.
pub fn is_same_match(one: &MatchRecord, other: &MatchRecord) -> bool {
    let same = |one: &str, other: &str| {
        one.is_empty() || other.is_empty() || one.eq_ignore_ascii_case(other)
    };
    same(&one.server, &other.server)
        && same(&one.map, &other.map)
        && one.game_type.eq_ignore_ascii_case(&other.game_type)
        && overlap(one, other).is_some()
        && are_mostly_the_same(&people(one), &people(other))
}

/// For how many milliseconds both records last at the same time; `None` if that is less than half of the shorter one.
pub fn overlap(one: &MatchRecord, other: &MatchRecord) -> Option<i64> {
    let lasts = |record: &MatchRecord| record.end.0.saturating_sub(record.start.0).max(1);
    let both = one.end.0.min(other.end.0) - one.start.0.max(other.start.0);
    (both > 0 && 2 * both >= lasts(one).min(lasts(other))).then_some(both)
}

fn people(record: &MatchRecord) -> BTreeSet<&str> {
    let all = record.participants.iter();
    all.map(|one| one.key.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::{Kind, Participant, PlayerKey, Timestamp};

    fn record(from: i64, to: i64, people: &str) -> MatchRecord {
        let person = |id: &str| Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: id.to_owned(),
            },
            name: id.to_owned(),
            presence: Vec::new(),
            roles: Vec::new(),
            points: None,
            kills: 0,
            deaths: 0,
            party: None,
            left: None,
        };
        MatchRecord {
            server: "one".into(),
            map: "ctf1".into(),
            game_type: "ctf".into(),
            start: Timestamp(from),
            end: Timestamp(to),
            participants: people.split_terminator("").skip(1).map(person).collect(),
            ..MatchRecord::default()
        }
    }

    #[test]
    fn a_match_is_known_by_its_server_its_time_and_its_people() {
        let line = record(1_000, 301_000, "abcd");
        assert!(is_same_match(&line, &line));
        for (other, same) in [
            (record(3_000, 299_000, "abcd"), true),
            (record(150_000, 450_000, "abcd"), true),
            (record(152_000, 452_000, "abcd"), false),
            (record(301_000, 600_000, "abcd"), false),
            (record(100_000, 110_000, "abcd"), true),
            (record(1_000, 301_000, "ab"), true),
            (record(1_000, 301_000, "abefg"), false),
            (record(1_000, 301_000, "efgh"), false),
            (record(1_000, 301_000, ""), false),
        ] {
            assert_eq!(is_same_match(&line, &other), same, "{other:?}");
            assert_eq!(is_same_match(&other, &line), same, "{other:?}");
        }
        let other = |change: fn(&mut MatchRecord)| {
            let mut other = line.clone();
            change(&mut other);
            is_same_match(&line, &other)
        };
        assert!(other(|r| r.server.clear()));
        assert!(!other(|r| r.server = "two".into()));
        assert!(!other(|r| r.map = "ctf2".into()));
        assert!(!other(|r| r.game_type = "tdm".into()));
        assert!(other(|r| r.participants[0].key.kind = Kind::Bot));
    }
}
