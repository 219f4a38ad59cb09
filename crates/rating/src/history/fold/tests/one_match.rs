//! Which matches are rated, and what one of them teaches.

use super::*;

#[test]
fn nothing_is_learned_about_nobody() {
    let nobody = |number, team| {
        let key = PlayerKey {
            kind: Kind::Human,
            id: "Bob".into(),
        };
        let id = key.of_nobody(Nobody::Twice, number).id;
        someone(Kind::Human, &id, vec![stay(team, 0, 100_000)])
    };
    let mut record = duel(200_000, [3.0, 1.0]);
    record.participants.extend([nobody(1, 0), nobody(2, 1)]);
    for system in [SystemName::Presence, SystemName::Hive, SystemName::Joint] {
        let mut fold = Fold::new(rulebook(), settings(system));
        let ruling = fold.push(&record, Fingerprint::of(&record)).unwrap();
        let counts: Vec<bool> = ruling.rated.unwrap().iter().map(|own| own.counts).collect();
        assert_eq!(counts, [true, true, false, false]);
        let weights: Vec<_> = fold.weights().map(|w| w.key.id.clone()).collect();
        assert_eq!(weights, ["a", "b"], "{system:?}");
    }
}

#[test]
fn two_games_by_hand() {
    let fold = folded([&duel(200_000, [3.0, 1.0]), &duel(400_000, [0.0, 2.0])]);
    let weights: Vec<_> = fold.weights().collect();
    let old = 0.5_f64.powf(0.1); // one game ago, with a half-life of ten
    let by_hand = |f: f64, a: f64| 100.0 * (f + 2.0) / (f + a + 4.0);
    assert_eq!(weights.len(), 2);
    assert!((weights[0].weight - by_hand(3.0 * old, 2.0 + old)).abs() < 1e-12);
    assert!((weights[1].weight - by_hand(2.0 + old, 3.0 * old)).abs() < 1e-12);
    assert_eq!((weights[0].name, weights[0].games), ("a!", 2));
    assert_eq!(weights[0].last_seen, Timestamp(400_000));
}

#[test]
fn what_may_have_made_a_match_one_sided_is_read_from_its_record() {
    let mut fold = Fold::new(rulebook(), settings(SystemName::Presence));
    let mut causes = |record: &MatchRecord| {
        let ruling = fold.push(record, Fingerprint::of(record)).unwrap();
        let causes = ruling.causes?;
        let has = Cause::ALL.into_iter().filter(|cause| causes.has(*cause));
        Some(has.collect::<Vec<_>>())
    };
    for number in 1..=10 {
        let found = causes(&duel(200_000 * number, [3.0, 1.0]));
        assert_eq!(found, Some(vec![Cause::Newcomer]), "match {number}");
    }
    let mut next = duel(4_000_000, [3.0, 1.0]);
    assert_eq!(causes(&next), Some(vec![]), "both have had ten matches");
    next.end = Timestamp(5_000_000);
    next.participants[0].left = Some(LeaveReason::Timeout);
    next.participants[1].presence[0].span.from = 60_001;
    assert_eq!(causes(&next), Some(vec![Cause::LateJoin, Cause::Leaver]));
    let c = someone(Kind::Human, "c", vec![stay(1, 60_000, 100_000)]);
    let mut uneven = duel(6_000_000, [3.0, 1.0]);
    uneven.participants.push(c);
    assert_eq!(
        causes(&uneven),
        Some(vec![Cause::UnevenSizes, Cause::Newcomer]),
        "who comes after 60 seconds is not late yet"
    );
    let mut abandoned = duel(7_000_000, [3.0, 1.0]);
    abandoned.outcome = Outcome::Abandoned;
    assert_eq!(causes(&abandoned), None);
}

#[test]
fn an_identity_in_the_place_of_a_name_replaces_no_name() {
    let unnamed = |end| {
        let mut record = duel(end, [3.0, 1.0]);
        for participant in &mut record.participants {
            participant.name.clone_from(&participant.key.id);
        }
        record
    };
    let name = |matches: &[&MatchRecord]| {
        let fold = folded(matches.iter().copied());
        fold.weights().next().unwrap().name.to_owned()
    };
    let (first, named, last) = (
        unnamed(200_000),
        duel(400_000, [3.0, 1.0]),
        unnamed(600_000),
    );
    assert_eq!(name(&[&first]), "a");
    assert_eq!(name(&[&first, &named]), "a!");
    assert_eq!(name(&[&first, &named, &last]), "a!");
}

#[test]
fn why_a_match_is_not_rated() {
    assert_eq!(rated(&duel(200_000, [1.0, 0.0])), Ok(()));
    let mut no_time = duel(200_000, [1.0, 0.0]);
    no_time.end = no_time.start;
    for p in &mut no_time.participants {
        p.presence[0].span.to = 0;
    }
    assert_eq!(rated(&no_time), Err(Unrated::NoPlayTime));
    assert_eq!(
        rated(&game(200_000, &[1.0, 0.0], vec![])),
        Err(Unrated::NoPlayTime)
    );
    let mut no_scores = duel(200_000, [1.0, 0.0]);
    no_scores.scores.clear();
    no_scores.outcome = Outcome::Undecided;
    no_scores.participants[1].presence[0].team = 0;
    assert_eq!(rated(&no_scores), Err(Unrated::NoScores));
    let mut one_side = duel(200_000, [1.0, 0.0]);
    one_side.participants[1].presence[0].team = 0;
    assert_eq!(rated(&one_side), Err(Unrated::TeamEmpty));
    let mut alone = no_scores.clone();
    alone.game_type = "FFA".into();
    assert_eq!(rated(&alone), Ok(()));
    alone.participants.pop();
    assert_eq!(rated(&alone), Err(Unrated::NoOpponent));
}

#[test]
fn short_and_broken_off_games_are_not_rated() {
    let mut short = duel(200_000, [1.0, 0.0]);
    short.end = short.start.plus_millis(59_999);
    for p in &mut short.participants {
        p.presence[0].span.to = 59_999;
    }
    assert_eq!(rated(&short), Err(Unrated::TooShort));
    let mut abandoned = duel(200_000, [1.0, 0.0]);
    abandoned.outcome = Outcome::Abandoned;
    assert_eq!(rated(&abandoned), Err(Unrated::Abandoned));
}

#[test]
fn humans_among_mostly_bots_are_not_rated_and_the_bots_are() {
    let bot = |i: u8| someone(Kind::Bot, &format!("bot{i}"), vec![stay(i % 2, 0, 100_000)]);
    let mut mixed = duel(200_000, [3.0, 1.0]);
    mixed.participants.extend((0..2).map(bot));
    let everyone = |fold: &Fold| fold.weights().count();
    assert_eq!(everyone(&folded([&mixed])), 4);
    mixed.participants.push(bot(2));
    for system in SystemName::ALL {
        let fold = folded_by(system, [&mixed]);
        assert!(fold.weights().all(|w| w.key.kind == Kind::Bot), "{system}");
        let expected = if system == SystemName::Scoreboard {
            0
        } else {
            3
        };
        assert_eq!(everyone(&fold), expected, "{system}"); // no tally has points
    }
    let ruling = Fold::new(rulebook(), Settings::default())
        .push(&mixed, Fingerprint::of(&mixed))
        .unwrap();
    let counts = ruling.rated.unwrap().into_iter().map(|p| p.counts);
    assert_eq!(counts.collect::<Vec<_>>(), [false, false, true, true, true]);
}

#[test]
fn codes_of_reasons_are_stable() {
    let codes: Vec<_> = Unrated::ALL.iter().map(|r| r.as_str()).collect();
    assert_eq!(
        codes,
        [
            "no-play-time",
            "too-short",
            "abandoned",
            "no-scores",
            "team-empty",
            "no-opponent",
            "too-few-humans",
            "too-many-new",
            "two-places"
        ]
    );
    for reason in Unrated::ALL {
        assert_eq!(Unrated::parse(reason.as_str()), Some(reason));
    }
}

#[test]
fn a_match_beyond_the_share_of_its_sender_teaches_nothing() {
    let mut record = duel(200_000, [1.0, 0.0]);
    record.too_many_new = Some(Holder::Client("liar".into()));
    assert_eq!(rated(&record), Err(Unrated::TooManyNew));
    let fold = folded([&record]);
    assert_eq!((fold.players(), fold.rulesets().count()), (0, 0));
    record.outcome = Outcome::Abandoned;
    assert_eq!(rated(&record), Err(Unrated::Abandoned), "as without it");
}

#[test]
fn before_any_match_chances_are_even_whatever_the_numbers() {
    let on = |id: &str, team| someone(Kind::Human, id, vec![stay(team, 0, 100_000)]);
    let two_to_one = |end| game(end, &[3.0, 1.0], vec![on("a", 0), on("b", 0), on("c", 1)]);
    let mut fold = Fold::new(rulebook(), settings(SystemName::Joint));
    let mut chance = |end| {
        let record = two_to_one(end);
        fold.push(&record, Fingerprint::of(&record)).unwrap().chance
    };
    assert_eq!(chance(200_000), Some(0.5));
    assert!(chance(400_000).unwrap() > 0.6);
}
