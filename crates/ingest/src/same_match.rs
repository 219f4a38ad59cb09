//! Recognises records of one match: its two halves, which a log contains as two games and which are joined here, and what
//! two observers have recorded of it, the game server's line and the server's log.
//!
//! Leagues play a map twice and change sides in between. The server writes two games, often to two log
//! files. They are one match if the second begins within [`PAUSE`] of the first's end, with the same
//! players on the same teams, or on exchanged sides.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_model::{MatchRecord, Participant, PlayerKey, ident::are_mostly_the_same};

/// The longest pause between two halves, in milliseconds: half an hour.
pub const PAUSE: i64 = 30 * 60 * 1_000;

/// The share of players that both halves must have in common: one in four may have been substituted.
const SAME: f64 = 0.75;

/// Joins two games into one match, if `second` is the second half of `first`; returns `None`
/// otherwise. The match has the teams of the first half, and lasts as long as both halves together:
/// the pause between them is removed, so the match ends earlier than the second half did.
pub fn join_halves(first: &MatchRecord, second: &MatchRecord) -> Option<MatchRecord> {
    let has_clock = (first.clock, second.clock) != (None, None);
    if has_clock || is_whole(first) || !may_follow(first, second) {
        return None;
    }
    let changed = sides(first, second)?;
    // Without the name of the map, only the change of sides shows that it is the same one.
    if first.map.is_empty() && !changed {
        return None;
    }
    join(first, second, changed)
}

/// Whether the game is known to write a line at the end of a match, so that what it has ended is no
/// half: Counter-Strike since Global Offensive; and Team Fortress 2, unless the same map shows that the
/// match goes on. In a log that names no map, the next map of a series looks like a second half: the
/// people change sides for it, too.
fn is_whole(record: &MatchRecord) -> bool {
    let game = record.game_type.split('.').next().unwrap_or_default();
    let is_tf2 = game.starts_with("tf") && game != "tfc";
    ["csgo", "cs2"].contains(&game) || (is_tf2 && record.map.is_empty())
}

/// Whether a game of the same kind between two teams begins soon enough after another.
pub(super) fn may_follow(first: &MatchRecord, second: &MatchRecord) -> bool {
    let same = |r: &MatchRecord| (r.server.clone(), r.map.clone(), r.game_type.clone());
    let pause = second.start.0.saturating_sub(first.end.0);
    same(first) == same(second)
        && first.mutators == second.mutators
        && (first.scores.len(), second.scores.len()) == (2, 2)
        && (0..=PAUSE).contains(&pause)
}

/// Joins two halves of one match, in which the teams have changed sides or not. The match has the
/// teams of the first half.
pub(super) fn join(
    first: &MatchRecord,
    second: &MatchRecord,
    changed: bool,
) -> Option<MatchRecord> {
    let length = first.millis();
    let side = |team: u8| if changed { 1 - team.min(1) } else { team };
    let mut match_ = first.clone();
    for (team, score) in (0u8..).zip(&second.scores) {
        match_.scores[usize::from(side(team))] += score;
    }
    let mut seats: BTreeMap<PlayerKey, usize> = BTreeMap::new();
    for (seat, participant) in first.participants.iter().enumerate() {
        seats.insert(participant.key.clone(), seat);
    }
    let mut now_at = Vec::with_capacity(second.participants.len());
    for participant in &second.participants {
        let mut half = participant.clone();
        for stay in &mut half.presence {
            stay.team = side(stay.team);
            stay.span.from += length;
            stay.span.to += length;
        }
        half.roles
            .iter_mut()
            .for_each(|role| role.team = side(role.team));
        let seat = match seats.get(&half.key) {
            Some(&seat) => {
                append(&mut match_.participants[seat], half);
                seat
            }
            None => {
                match_.participants.push(half);
                match_.participants.len() - 1
            }
        };
        now_at.push(u32::try_from(seat).unwrap_or(u32::MAX));
    }
    match_.events.extend(second.events.iter().map(|event| {
        let mut event = *event;
        event.at += length;
        event.team = side(event.team);
        event.by = event.by.and_then(|by| now_at.get(by as usize).copied());
        event
    }));
    let millis = length.saturating_add(second.millis());
    match_.end = first
        .start
        .plus_millis(i64::try_from(millis).unwrap_or(i64::MAX));
    match_.outcome = MatchRecord::outcome_of(&match_.scores);
    match_.too_many_new = match_.too_many_new.or_else(|| second.too_many_new.clone());
    match_.check().ok().map(|()| match_)
}

/// Whether the teams changed sides; `None` if they are not the same teams.
pub(super) fn sides(first: &MatchRecord, second: &MatchRecord) -> Option<bool> {
    let (one, two) = (teams(first), teams(second));
    let most = one.len().max(two.len());
    let on = |side: u8| {
        let there = one.iter().filter(|(who, _)| two.contains_key(*who));
        let same = there.filter(|(who, team)| two.get(*who) == Some(&(**team ^ side)));
        same.count() as f64
    };
    let enough = SAME * most as f64;
    let both_sides = |teams: &BTreeMap<_, u8>| (0..2).all(|t| teams.values().any(|&x| x == t));
    if !(both_sides(&one) && both_sides(&two)) {
        return None;
    }
    [false, true]
        .into_iter()
        .find(|&changed| on(u8::from(changed)) >= enough)
}

/// Each player's team: the one on which the player was for longer.
fn teams(record: &MatchRecord) -> BTreeMap<&PlayerKey, u8> {
    let team = |participant: &Participant| {
        let on = |team: u8| {
            let stays = participant.presence.iter().filter(|stay| stay.team == team);
            stays.map(|stay| stay.span.millis()).sum::<u64>()
        };
        u8::from(on(1) > on(0))
    };
    let all = record.participants.iter();
    all.map(|participant| (&participant.key, team(participant)))
        .collect()
}

/// Adds a player's second half to the first.
fn append(first: &mut Participant, second: Participant) {
    if !second.name.is_empty() {
        first.name = second.name;
    }
    for stay in second.presence {
        match first.presence.last_mut() {
            // The player ended the first half and began the second on the same team.
            Some(last) if last.team == stay.team && last.span.to == stay.span.from => {
                last.span.to = stay.span.to;
            }
            _ => first.presence.push(stay),
        }
    }
    first.points = match (first.points, second.points) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    };
    first.kills = first.kills.saturating_add(second.kills);
    first.deaths = first.deaths.saturating_add(second.deaths);
    for role in second.roles {
        let known = (first.roles.iter_mut()).find(|r| (&r.name, r.team) == (&role.name, role.team));
        match known {
            Some(known) => known.share = (known.share + role.share) / 2.0,
            None => first.roles.push(role),
        }
    }
    first
        .roles
        .sort_by(|a, b| (&a.name, a.team).cmp(&(&b.name, b.team)));
}

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
    use evenkeel_model::{
        Kind, Outcome, Timestamp,
        record::{Presence, ScoreEvent, Span},
    };

    const LENGTH: u64 = 900_000;

    /// A half of these two teams that begins `minute` minutes after the epoch.
    fn half(minute: i64, teams: [&str; 2], scores: [f64; 2]) -> MatchRecord {
        let player = |team: u8, id: char| Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: id.into(),
            },
            name: id.into(),
            presence: vec![Presence {
                team,
                span: Span {
                    from: 0,
                    to: LENGTH,
                },
            }],
            points: None,
            kills: 1,
            deaths: 2,
            roles: vec![],
            party: None,
            left: None,
        };
        let side = |team: u8| {
            teams[usize::from(team)]
                .chars()
                .map(move |id| player(team, id))
        };
        let start = Timestamp(minute * 60_000);
        MatchRecord {
            server: "s".into(),
            start,
            end: start.plus_millis(LENGTH as i64),
            clock: None,
            untimed: false,
            client: String::new(),
            unscored: false,
            too_many_new: None,
            logged_as: None,
            map: "m".into(),
            game_type: "tfc".into(),
            mode: String::new(),
            mutators: vec![],
            scores: scores.to_vec(),
            participants: side(0).chain(side(1)).collect(),
            events: vec![ScoreEvent {
                at: 5,
                team: 0,
                points: 1.0,
                by: Some(0),
            }],
            outcome: MatchRecord::outcome_of(&scores),
        }
    }

    #[test]
    fn the_sides_change() {
        let one = half(0, ["abcd", "efgh"], [1.0, 5.0]);
        let two = half(20, ["efgh", "abcx"], [2.0, 10.0]);
        let joined = join_halves(&one, &two).unwrap();
        assert_eq!(
            (&joined.scores[..], joined.outcome),
            (&[11.0, 7.0][..], Outcome::Won(0))
        );
        assert_eq!((joined.start, joined.millis()), (one.start, 2 * LENGTH));
        let players: Vec<_> = joined
            .participants
            .iter()
            .map(|p| {
                (
                    p.name.as_str(),
                    p.kills,
                    p.presence[0].team,
                    p.presence[0].span.to,
                )
            })
            .collect();
        assert_eq!(players.len(), 9);
        assert_eq!(
            (players[0], players[3]),
            (("a", 2, 0, 2 * LENGTH), ("d", 1, 0, LENGTH))
        );
        assert_eq!(players[8], ("x", 1, 0, 2 * LENGTH));
        let event = joined.events[1];
        assert_eq!((event.at, event.team, event.by), (LENGTH + 5, 1, Some(4)));
    }

    #[test]
    fn teams_can_be_exchanged() {
        let one = half(0, ["abcd", "efgh"], [1.0, 5.0]);
        let other = one.clone().with_teams_exchanged();
        assert_eq!(
            (&other.scores[..], other.outcome),
            (&[5.0, 1.0][..], Outcome::Won(0))
        );
        let team = |record: &MatchRecord, seat: usize| record.participants[seat].presence[0].team;
        assert_eq!(
            (team(&other, 0), team(&other, 7), other.events[0].team),
            (1, 0, 1)
        );
        assert_eq!(other.with_teams_exchanged(), one);
    }

    #[test]
    fn what_is_no_second_half() {
        let one = half(0, ["abcd", "efgh"], [1.0, 5.0]);
        let fine = half(15, ["abcd", "efgh"], [1.0, 0.0]);
        assert_eq!(join_halves(&one, &fine).unwrap().scores, [2.0, 5.0]);
        let others = [
            half(46, ["abcd", "efgh"], [1.0, 0.0]),
            half(14, ["abcd", "efgh"], [1.0, 0.0]),
            half(20, ["abef", "cdgh"], [1.0, 0.0]),
            half(20, ["abcz", "efxy"], [1.0, 0.0]),
            half(20, ["", "abcdefgh"], [1.0, 0.0]),
            MatchRecord {
                map: "other".into(),
                ..fine.clone()
            },
            MatchRecord {
                server: "other".into(),
                ..fine.clone()
            },
        ];
        // A game of its own, because this game writes when a match is over.
        let whole = |half: &MatchRecord| MatchRecord {
            game_type: "csgo.de".into(),
            ..half.clone()
        };
        assert_eq!(join_halves(&whole(&one), &whole(&fine)), None);
        for (at, other) in others.iter().enumerate() {
            assert_eq!(join_halves(&one, other), None, "{at}");
        }
        assert_eq!(join_halves(&half(20, ["a", "b"], [0.0, 0.0]), &one), None);
    }

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
