//! Nobody plays in two matches at once: who says so of a player is believed in the first one only.

use super::*;

/// A match of a client that lasts from one second to another, with each of these humans there on a team all the time.
fn reported(client: &str, from: u64, to: u64, humans: &[(&str, u8)]) -> MatchRecord {
    let millis = (to - from) * 1_000;
    let human = |&(id, team): &(&str, u8)| someone(Kind::Human, id, vec![stay(team, 0, millis)]);
    MatchRecord {
        client: client.into(),
        start: Timestamp(from as i64 * 1_000),
        ..game(
            to as i64 * 1_000,
            &[1.0, 0.0],
            humans.iter().map(human).collect(),
        )
    }
}

/// In the order of the fold.
fn sorted(mut matches: Vec<MatchRecord>) -> Vec<MatchRecord> {
    matches.sort_by_key(|record| (record.end, Fingerprint::of(record)));
    matches.dedup_by_key(|record| (record.end, Fingerprint::of(record)));
    matches
}

/// Whom each match is rated for, or why for nobody.
fn ruled(matches: &[MatchRecord]) -> Vec<Result<Vec<String>, Unrated>> {
    let mut fold = Fold::new(rulebook(), settings(SystemName::Joint));
    let rule = |record: &MatchRecord| {
        let ruling = fold.push(record, Fingerprint::of(record)).unwrap();
        ruling.rated.map(|played| {
            let counted = played.iter().filter(|own| own.counts);
            let key = |own: &crate::history::Played| &record.participants[own.participant].key;
            counted.map(|own| key(own).id.clone()).collect()
        })
    };
    matches.iter().map(rule).collect()
}

fn ids(ids: &[&str]) -> Result<Vec<String>, Unrated> {
    Ok(ids.iter().map(|id| (*id).to_owned()).collect())
}

#[test]
fn a_liar_is_believed_once() {
    let names: Vec<String> = (0..200).map(|number| format!("x{number}")).collect();
    let matches = names.iter().map(|name| {
        let mut record = reported("liar", 0, 900, &[("victim", 1), (name, 0)]);
        record.server = format!("server of {name}");
        record
    });
    let matches = sorted(matches.collect());
    let rated = ruled(&matches);
    assert_eq!(
        rated
            .iter()
            .filter(|ids| ids.as_ref().is_ok_and(|ids| ids.len() == 2))
            .count(),
        1
    );
    assert!(rated.iter().all(Result::is_ok), "the others are rated");
    let fold = folded_by(SystemName::Joint, &matches);
    let weight = |fold: &Fold, id: &str| {
        let ruleset = Ruleset::parse("ctf");
        let weight = fold.weight_of(&ruleset, Kind::Human, id).unwrap();
        (weight.games, weight.weight)
    };
    let once = folded_by(SystemName::Joint, &matches[..1]);
    assert_eq!(weight(&fold, "victim"), weight(&once, "victim"));
}

#[test]
fn a_match_in_which_no_team_keeps_a_human_is_not_rated() {
    let both: &[(&str, u8)] = &[("a", 0), ("b", 1)];
    let mut matches = vec![
        reported("c", 0, 600, both),
        reported("c", 0, 601, both),
        reported("d", 0, 602, both),
        reported("c", 1_000, 1_600, both),
    ];
    assert_eq!(
        ruled(&matches),
        [
            ids(&["a", "b"]),
            Err(Unrated::TwoPlaces),
            ids(&["a", "b"]),
            ids(&["a", "b"])
        ],
        "between clients all are rated"
    );
    // One that is not rated was in no other's way.
    matches[0].outcome = Outcome::Abandoned;
    assert_eq!(
        ruled(&matches)[..2],
        [Err(Unrated::Abandoned), ids(&["a", "b"])]
    );
    // Bots are at any number of places.
    let bot = someone(Kind::Bot, "bot", vec![stay(1, 0, 600_000)]);
    let with_bot = |to| {
        let mut record = reported("c", 0, to, &[("a", 0), ("b", 1)]);
        record.participants.push(bot.clone());
        record
    };
    let matches = [with_bot(600), with_bot(601)];
    assert_eq!(
        ruled(&matches),
        [ids(&["a", "b", "bot"]), Err(Unrated::TwoPlaces)]
    );
}

#[test]
fn a_log_counts_for_its_server_and_a_match_of_unknown_length_for_nothing() {
    let both: &[(&str, u8)] = &[("a", 0), ("b", 1)];
    let pair = |change: fn(&mut MatchRecord)| {
        let mut matches = vec![
            reported("ingest", 0, 600, both),
            reported("ingest", 0, 601, both),
        ];
        matches
            .iter_mut()
            .for_each(|record| record.server = "one".into());
        change(&mut matches[1]);
        ruled(&matches)[1].clone()
    };
    assert_eq!(pair(|_| ()), Err(Unrated::TwoPlaces));
    assert_eq!(
        pair(|record| record.client = "follow".into()),
        Err(Unrated::TwoPlaces)
    );
    assert_eq!(
        pair(|record| record.server = "other".into()),
        ids(&["a", "b"])
    );
    assert_eq!(pair(|record| record.clock = Some(5)), ids(&["a", "b"]));
    let untimed = |record: &mut MatchRecord| {
        (record.untimed, record.start) = (true, record.end);
    };
    assert_eq!(pair(untimed), ids(&["a", "b"]));
}

proptest! {
    #[test]
    fn who_is_rated_is_as_defined(
        drawn in prop::collection::vec(
            (0..2_usize, 0..40_u64, 1..20_u64, prop::sample::subsequence(vec!["a", "b", "c", "d"], 2..=4)),
            1..12,
        ),
    ) {
        let matches = drawn.into_iter().map(|(client, from, minutes, humans)| {
            let humans: Vec<_> = humans.into_iter().zip([0, 1, 0, 1]).collect();
            let (from, to) = (60 * from, 60 * (from + minutes));
            reported(["c", "d"][client], from, to, &humans)
        });
        let matches = sorted(matches.collect());
        let mut visits: Vec<(&str, &str, i64, i64)> = Vec::new();
        for (record, rated) in matches.iter().zip(ruled(&matches)) {
            let (start, end) = (record.start.0, record.end.0);
            let mut expected = Vec::new();
            for participant in &record.participants {
                let id = participant.key.id.as_str();
                let is_at_once = |&(client, other, from, to): &(&str, &str, i64, i64)| {
                    let both = to.min(end) - from.max(start);
                    let shorter = (to - from).min(end - start);
                    client == record.client && other == id && both > 60_000 && 2 * both > shorter
                };
                if !visits.iter().any(is_at_once) {
                    expected.push(id);
                }
            }
            visits.extend(expected.iter().map(|id| (record.client.as_str(), *id, start, end)));
            let expected = match expected.is_empty() {
                true => Err(Unrated::TwoPlaces),
                false => ids(&expected),
            };
            prop_assert_eq!(rated, expected);
        }
    }
}
