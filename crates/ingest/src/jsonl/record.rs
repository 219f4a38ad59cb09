//! Reads and writes a match in the interchange format.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::entry::{DateOrMillis, EventEntry, PlayerEntry};
use evenkeel_model::{
    MatchRecord, Outcome, access::Holder, fingerprint::Fingerprint, names::escaped_json,
    record::UNTIMED_MILLIS,
};

/// The version written, and the only one read.
const VERSION: u32 = 1;
/// The longest reason given for a malformed line, in characters.
const MAX_REASON: usize = 200;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatchLine<'a> {
    evenkeel: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    client: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    too_many_new: Option<Holder>,
    start: DateOrMillis,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<DateOrMillis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<u64>,
    game: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    mode: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    map: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    mutators: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    scores: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<OutcomeWord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<u8>,
    #[serde(default)]
    players: Vec<PlayerEntry<'a>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    events: Vec<EventEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OutcomeWord {
    Won,
    Draw,
    Undecided,
    Abandoned,
}

/// Writes a match as one line of the interchange format, without the line's end. `fingerprint` is the
/// one under which the match is stored.
pub fn write_record(record: &MatchRecord, fingerprint: Fingerprint) -> String {
    let own = Fingerprint::of(record);
    let (outcome, winner) = match record.outcome {
        Outcome::Won(team) => (OutcomeWord::Won, Some(team)),
        Outcome::Draw => (OutcomeWord::Draw, None),
        Outcome::Undecided => (OutcomeWord::Undecided, None),
        Outcome::Abandoned => (OutcomeWord::Abandoned, None),
    };
    let line = MatchLine {
        evenkeel: VERSION,
        fingerprint: (fingerprint != own || record.has_waiting()).then(|| fingerprint.to_string()),
        server: Some(record.server.as_str().into()),
        client: record.client.as_str().into(),
        too_many_new: record.too_many_new.clone(),
        start: DateOrMillis::of(record.start),
        end: (!record.untimed).then(|| DateOrMillis::of(record.end)),
        clock: record.clock,
        game: record.game_type.as_str().into(),
        mode: record.mode.as_str().into(),
        map: record.map.as_str().into(),
        mutators: record.mutators.iter().map(|m| m.as_str().into()).collect(),
        scores: record.known_scores(),
        outcome: Some(outcome),
        winner,
        players: record.participants.iter().map(PlayerEntry::of).collect(),
        events: record.events.iter().map(EventEntry::of).collect(),
    };
    // This cannot fail: all keys are text, and every number of a checked record is finite.
    escaped_json(serde_json::to_string(&line).unwrap_or_default())
}

/// Reads a line. The caller must check the record. With a fingerprint, which the line then states, the record is final:
/// all of its time is play.
///
/// # Errors
/// Returns what is wrong with the line.
pub(super) fn read(
    line: &[u8],
    server: &str,
) -> Result<(MatchRecord, Option<Fingerprint>), Cow<'static, str>> {
    let entry: MatchLine<'_> = serde_json::from_slice(line).map_err(|error| reason(&error))?;
    convert(entry, server, false)
}

/// Reads a match that a client reports in this format. It has no fingerprint of its own. The caller must check the
/// record.
///
/// # Errors
/// Returns what is wrong with it.
pub fn read_reported(object: &[u8], server: &str) -> Result<MatchRecord, Cow<'static, str>> {
    let entry: MatchLine<'_> = serde_json::from_slice(object).map_err(|error| reason(&error))?;
    if entry.fingerprint.is_some() {
        return Err("`fingerprint` is for matches that are read from files".into());
    }
    if entry.too_many_new.is_some() {
        return Err("`too_many_new` is for matches that are read from files".into());
    }
    Ok(convert(entry, server, false)?.0)
}

/// Reads a line that [`write_record`] has written, and returns the record that it was given: even one whose stays another
/// program would not be allowed to state. The caller must check the record.
///
/// # Errors
/// Returns what is wrong with the line.
pub fn read_record(line: &[u8]) -> Result<MatchRecord, Cow<'static, str>> {
    let entry: MatchLine<'_> = serde_json::from_slice(line).map_err(|error| reason(&error))?;
    Ok(convert(entry, "", true)?.0)
}

/// The record of a line, and the fingerprint that it states. With `exact`, stays and roles are taken as they are.
fn convert(
    entry: MatchLine<'_>,
    server: &str,
    exact: bool,
) -> Result<(MatchRecord, Option<Fingerprint>), Cow<'static, str>> {
    if entry.evenkeel != VERSION {
        return Err("another version of the format".into());
    }
    let fingerprint = entry.fingerprint.as_deref().map(fingerprint).transpose()?;
    let start = entry.start.read()?;
    let (end, untimed) = match &entry.end {
        Some(end) => (end.read()?, false),
        None => (start, true),
    };
    let millis = match untimed {
        true => UNTIMED_MILLIS,
        false => {
            u64::try_from(end.0.saturating_sub(start.0)).map_err(|_| "it ends before it starts")?
        }
    };
    let (scores, unscored) = scores(&entry.scores)?;
    let outcome = match (entry.outcome, entry.winner) {
        (None, None) if unscored => Outcome::Undecided,
        (None, None) => MatchRecord::outcome_of(&scores),
        (Some(OutcomeWord::Won), Some(team)) => Outcome::Won(team),
        (Some(OutcomeWord::Won), None) => match MatchRecord::outcome_of(&scores) {
            won @ Outcome::Won(_) => won,
            _ => return Err("the winner is missing".into()),
        },
        (Some(OutcomeWord::Draw), None) => Outcome::Draw,
        (Some(OutcomeWord::Undecided), None) => Outcome::Undecided,
        (Some(OutcomeWord::Abandoned), None) => Outcome::Abandoned,
        (_, Some(_)) => return Err("there is a winner, but the outcome is not `won`".into()),
    };
    let mut mutators: Vec<String> = entry.mutators.into_iter().map(Cow::into_owned).collect();
    mutators.sort();
    mutators.dedup();
    let (players, has_teams) = (entry.players.into_iter(), !scores.is_empty());
    let record = MatchRecord {
        server: entry
            .server
            .map_or_else(|| server.to_owned(), Cow::into_owned),
        client: entry.client.into_owned(),
        too_many_new: entry.too_many_new,
        start,
        end,
        clock: entry.clock,
        untimed,
        logged_as: None,
        map: entry.map.into_owned(),
        game_type: entry.game.into_owned(),
        mode: entry.mode.into_owned(),
        mutators,
        scores,
        unscored,
        participants: players
            .map(|p| p.read(millis, has_teams, exact))
            .collect::<Result<_, _>>()?,
        events: entry.events.iter().map(EventEntry::read).collect(),
        outcome,
    };
    Ok((record, fingerprint))
}

/// The scores, with 0 for those that are not known, and whether that are all of them.
fn scores(stated: &[Option<f64>]) -> Result<(Vec<f64>, bool), &'static str> {
    let known: Vec<f64> = stated.iter().copied().flatten().collect();
    match (known.len(), stated.len()) {
        (0, teams @ 1..) => Ok((vec![0.0; teams], true)),
        (some, teams) if some == teams => Ok((known, false)),
        _ => Err("the scores of some teams are null"),
    }
}

/// The parser's message, shortened, and with control characters escaped so that it cannot harm a
/// terminal.
fn reason(error: &serde_json::Error) -> Cow<'static, str> {
    let text: String = error.to_string().chars().take(MAX_REASON).collect();
    text.escape_debug().to_string().replace("\\\"", "\"").into()
}

fn fingerprint(text: &str) -> Result<Fingerprint, &'static str> {
    Fingerprint::parse(text).ok_or("the fingerprint is not 32 hexadecimal digits")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::FORMAT;
    use super::*;
    use crate::{LogItem, only_match, read as read_log};
    use evenkeel_model::{
        Kind, Participant, PlayerKey, Timestamp,
        record::{LeaveReason, Presence, Role, ScoreEvent, Span},
    };

    #[test]
    fn stays_may_be_in_any_order() {
        let line = r#"{"evenkeel":1,"start":"2026-11-20T15:00:00Z","end":"2026-11-20T15:10:00Z","game":"ctf",
            "scores":[3,1],"players":[{"id":"a","stays":[{"team":1,"from":9000,"to":600000},
            {"team":0,"from":0,"to":9000}]},{"id":"b","team":1}]}"#;
        let game = only_match(&FORMAT, &line.replace('\n', ""));
        let stays = &game.participants[0].presence;
        assert_eq!(
            stays.iter().map(|stay| stay.team).collect::<Vec<_>>(),
            [0, 1]
        );
    }

    #[test]
    fn the_least_that_makes_a_match() {
        let line = r#"{"evenkeel":1,"start":"2026-11-20T15:00:00Z","end":"2026-11-20T15:10:00Z",
            "game":"ctf","scores":[3,1],"players":[{"id":"a","team":0},{"id":"b","bot":true,"team":1}]}"#;
        let game = only_match(&FORMAT, &line.replace('\n', ""));
        assert_eq!((game.server.as_str(), game.millis()), ("here", 600_000));
        assert_eq!(game.outcome, Outcome::Won(0));
        let [a, b] = &game.participants[..] else {
            panic!("{game:?}")
        };
        assert_eq!((a.name.as_str(), a.key.kind), ("", Kind::Human));
        assert_eq!((b.name.as_str(), b.key.kind), ("b", Kind::Bot));
        let whole = Span {
            from: 0,
            to: 600_000,
        };
        assert_eq!((b.presence[0].team, b.presence[0].span), (1, whole));
    }

    #[test]
    fn a_line_says_whether_a_name_was_stated() {
        let line = r#"{"evenkeel":1,"start":0,"end":600000,"game":"ctf","scores":[1,0],"players":[
            {"id":"a","team":0},{"id":"b","name":"b","team":0},{"id":"c","name":"Cid","team":1},
            {"id":"d","bot":true,"team":1}]}"#;
        let game = only_match(&FORMAT, &line.replace('\n', ""));
        let names = |game: &MatchRecord| -> Vec<String> {
            let names = game.participants.iter().map(|one| one.name.clone());
            names.collect()
        };
        assert_eq!(names(&game), ["", "b", "Cid", "d"]);
        let again = write_record(&game, Fingerprint::of(&game));
        assert!(again.contains(r#""name":"b""#) && !again.contains(r#""name":"a""#));
        assert_eq!(
            names(&read_record(again.trim().as_bytes()).unwrap()),
            names(&game)
        );
    }

    #[test]
    fn without_teams_a_player_plays_all_of_it() {
        let line = r#"{"evenkeel":1,"start":0,"end":600000,"game":"baseoa.ffa","players":[
            {"id":"a","points":20},{"id":"b","points":3},{"id":"c","stays":[]},
            {"id":"d","stays":[{"team":0,"from":5,"to":9}]},{"id":"e","stays":[{"from":5,"to":9}]}]}"#;
        let game = only_match(&FORMAT, &line.replace('\n', ""));
        let stays = game.participants.iter().map(|one| &one.presence);
        let lengths = stays.map(|stays| stays.iter().map(|stay| stay.span.millis()).sum());
        assert_eq!(lengths.collect::<Vec<u64>>(), [600_000, 600_000, 0, 4, 4]);
    }

    #[test]
    fn scores_that_are_not_known_are_null() {
        let line = |scores: &str| {
            format!(
                r#"{{"evenkeel":1,"start":0,"end":600000,"game":"ctf","scores":{scores},"outcome":"won","winner":1,"players":[{{"id":"a","team":0}},{{"id":"b","team":1}}]}}"#
            )
        };
        let known = only_match(&FORMAT, &line("[0,0]"));
        let game = only_match(&FORMAT, &line("[null,null]"));
        assert_eq!(game.known_scores(), [None, None]);
        assert_eq!((&game.scores, game.unscored), (&known.scores, true));
        let print = Fingerprint::of(&game);
        assert_eq!(
            print,
            Fingerprint::of(&known),
            "as before scores could be null"
        );
        let written = write_record(&game, print);
        assert!(written.contains(r#","scores":[null,null],"#), "{written}");
        assert_eq!(read_record(written.as_bytes()), Ok(game));
        // Nobody has said who won.
        let open = line("[null,null,null]").replace(r#","outcome":"won","winner":1"#, "");
        let open = only_match(&FORMAT, &open);
        assert_eq!((open.outcome, open.scores.len()), (Outcome::Undecided, 3));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let line = |more: &str| format!(r#"{{"evenkeel":1,"start":0,"end":9,"game":"g"{more}}}"#);
        let why = |line: String| match &read_log(&FORMAT, &line)[..] {
            [LogItem::Malformed { why, .. }] => why.to_string(),
            [LogItem::Skipped { reason, .. }] => reason.to_string(),
            other => panic!("{other:?}"),
        };
        for (more, part) in [
            (r#","colour":"red""#, "unknown field `colour`"),
            (
                r#","map":7"#,
                "invalid type: integer `7`, expected a string at line 1 column 50",
            ),
            (
                r#","winner":0"#,
                "there is a winner, but the outcome is not `won`",
            ),
            (r#","outcome":"won""#, "the winner is missing"),
            (
                r#","scores":[null,null],"outcome":"won""#,
                "the winner is missing",
            ),
            (r#","scores":[1,null]"#, "the scores of some teams are null"),
            (
                r#","scores":[null,null],"winner":0,"outcome":"won","events":[{"at":1,"team":0,"points":1}]"#,
                "its scores are known and not known",
            ),
            (
                r#","outcome":"won","winner":0"#,
                "the winner does not exist",
            ),
            (r#","fingerprint":"x""#, "32 hexadecimal digits"),
            (
                r#","players":[{"id":"a","team":0,"stays":[]}]"#,
                "both team and stays",
            ),
            (
                r#","scores":[1,0],"players":[{"id":"a","stays":[{"from":0,"to":9}]}]"#,
                "a stay in a game with teams states no team",
            ),
            (
                r#","players":[{"id":"a","team":1}]"#,
                "a presence is on no team",
            ),
            (
                r#","scores":[1,0],"players":[{"id":"a","stays":[{"team":0,"from":0,"to":9},{"team":1,"from":8,"to":9}]}]"#,
                "a player is on two teams at once",
            ),
            (r#","players":["#, "expected value"),
        ] {
            let reason = why(line(more));
            assert!(reason.contains(part), "{more}: {reason}");
        }
        assert_eq!(
            why(line("").replace(":1", ":2")),
            "another version of the format"
        );
        assert_eq!(
            why(line("").replace(":9", ":-9")),
            "it ends before it starts"
        );
        assert_eq!(
            why(line("").replace(":9", ":\"soon\"")),
            "start or end is not a date"
        );
        let hostile = why(line(&format!(r#","\u001b[2J{}":1"#, "x".repeat(9_999))));
        assert!(
            hostile.len() < 300 && !hostile.contains('\u{1b}'),
            "{hostile}"
        );
    }

    #[test]
    fn a_match_beyond_a_share_is_known_by_its_line_and_none_is_reported_as_such() {
        let line =
            |more: &str| format!(r#"{{"evenkeel":1,"start":0,"end":60000,"game":"g"{more}}}"#);
        let plain = only_match(&FORMAT, &line(""));
        let mut held = plain.clone();
        held.too_many_new = Some(Holder::Client("farm-*".into()));
        let written = write_record(&held, Fingerprint::of(&held));
        let mark = r#""too_many_new":{"client":"farm-*"}"#;
        assert!(written.contains(mark), "{written}");
        assert_eq!(read_record(written.as_bytes()), Ok(held.clone()));
        assert_eq!(
            Fingerprint::of(&held),
            Fingerprint::of(&plain),
            "the same match"
        );
        assert!(!write_record(&plain, Fingerprint::of(&plain)).contains("too_many_new"));
        let reported = read_reported(line(&format!(",{mark}")).as_bytes(), "");
        let why = reported.unwrap_err();
        assert!(why.contains("too_many_new"), "{why}");
        for wrong in [r#"{"server":"a"}"#, r#"{"address":"a"}"#, "true"] {
            let line = line(&format!(r#","too_many_new":{wrong}"#));
            assert!(read_record(line.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_fingerprint_is_told_only_where_it_is_another() {
        let record = only_match(&FORMAT, r#"{"evenkeel":1,"start":0,"end":9,"game":"g"}"#);
        let own = Fingerprint::of(&record);
        assert!(!write_record(&record, own).contains("fingerprint"));
        let other = Fingerprint([0xab; 16]);
        let items = read_log(&FORMAT, &write_record(&record, other));
        assert_eq!(items, [LogItem::Exported(Box::new(record), other)]);
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            "[a-z]{1,5}",
            "\\PC{1,9}",
            Just("\"\\\n\u{1}".to_owned())
        ]
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            (-5i32..90).prop_map(f64::from),
            -1e9..1e9,
            Just(-0.0),
            Just(1e-300)
        ]
    }

    prop_compose! {
        fn player(teams: u8, millis: u64)(
            bot: bool,
            name in text(),
            stays in prop::collection::vec((0..teams, 0..=millis, 0..=millis), 0..4),
            points in prop::option::of(number()),
            counts: (u32, u32),
            share in 0.0..=1.0,
            role in prop::option::of((text(), 0..teams)),
            party in prop::option::of(any::<u32>()),
            left in prop::option::of(prop::sample::select(LeaveReason::ALL.to_vec())),
        ) -> Participant {
            let mut presence: Vec<_> = stays.into_iter().map(|(team, a, b)| Presence {
                team,
                span: Span { from: a.min(b), to: a.max(b) },
            }).collect();
            presence.sort_by_key(|stay| stay.span.from);
            // Nobody is on two teams at once.
            for at in 1..presence.len() {
                let earlier = presence[at - 1].span.to;
                let span = &mut presence[at].span;
                span.from = span.from.max(earlier);
                span.to = span.to.max(span.from);
            }
            Participant {
                key: PlayerKey {
                    kind: if bot { Kind::Bot } else { Kind::Human },
                    id: String::new(),
                },
                name,
                presence,
                points,
                kills: counts.0,
                deaths: counts.1,
                roles: role.map(|(name, team)| Role { name, team, share }).into_iter().collect(),
                party,
                left,
            }
        }
    }

    prop_compose! {
        fn record()(
            teams in prop_oneof![Just(0u8), 2u8..=8],
            millis in 0u64..10_000_000,
        )(
            texts in (text(), text(), text(), "[a-z.]{1,9}"),
            start in prop_oneof![0i64..4_000_000_000_000, -62_167_219_200_000i64..0],
            clock in prop::option::of(any::<u64>()),
            mutators in prop::collection::btree_set(text(), 0..4),
            scores in prop::collection::vec(number(), usize::from(teams)),
            players in prop::collection::vec(player(teams.max(1), millis), 0..5),
            events in prop::collection::vec((0..=millis, 0..teams.max(1), number(), any::<Option<u32>>()), 0..5),
            outcome in 0u8..4,
            too_many_new in prop::option::of(prop_oneof![
                text().prop_map(|name| Holder::Client(name.into())),
                any::<core::net::IpAddr>().prop_map(Holder::Address),
            ]),
            millis in Just(millis),
        ) -> MatchRecord {
            let mut participants = players;
            for (at, participant) in participants.iter_mut().enumerate() {
                participant.key.id = format!("{at}{}", participant.name);
            }
            let count = participants.len() as u32;
            let mut events: Vec<_> = events.into_iter().map(|(at, team, points, by)| ScoreEvent {
                at,
                team,
                points,
                by: by.filter(|_| count > 0).map(|by| by % count),
            }).collect();
            events.sort_by_key(|event| event.at);
            if scores.is_empty() {
                events.clear();
            }
            let won = (!scores.is_empty()).then_some(Outcome::Won(outcome % 2));
            MatchRecord {
                server: texts.0,
                client: texts.2.clone(),
                start: Timestamp(start),
                end: Timestamp(start + millis as i64),
                clock,
                untimed: false,
                unscored: false,
                too_many_new,
                logged_as: None,
                map: texts.1,
                game_type: texts.3,
                mode: texts.2,
                mutators: mutators.into_iter().collect(),
                scores,
                participants,
                events,
                outcome: [Outcome::Draw, Outcome::Undecided, Outcome::Abandoned]
                    .get(usize::from(outcome)).copied().or(won).unwrap_or(Outcome::Draw),
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(record in record()) {
            prop_assert_eq!(record.check(), Ok(()));
            let line = write_record(&record, Fingerprint::of(&record));
            prop_assert!(!line.contains('\n'));
            let items = read_log(&FORMAT, &line);
            let fingerprint = Fingerprint::of(&record);
            let back = match (record.clock, record.has_waiting()) {
                (None, false) => LogItem::Match(Box::new(record)),
                (Some(_), false) => LogItem::Exported(Box::new(record.in_order()), fingerprint),
                (_, true) => LogItem::Exported(Box::new(record), fingerprint),
            };
            prop_assert_eq!(items, [back]);
        }

        /// Also with stays that overlap on two teams, or end in another order than they begin.
        #[test]
        fn what_is_written_can_be_read_exactly(
            mut record in record(),
            ends in prop::collection::vec(0.0..=1.0, 0..20),
            print in any::<[u8; 16]>(),
        ) {
            let millis = record.millis();
            let stays = record.participants.iter_mut().flat_map(|p| &mut p.presence);
            for (stay, end) in stays.zip(ends) {
                let rest = (millis - stay.span.from) as f64;
                stay.span.to = stay.span.from + (rest * end) as u64;
            }
            prop_assert_eq!(record.check(), Ok(()));
            for fingerprint in [Fingerprint(print), Fingerprint::of(&record)] {
                let line = write_record(&record, fingerprint);
                prop_assert_eq!(read_record(line.as_bytes()), Ok(record.clone()));
            }
        }
    }
}
