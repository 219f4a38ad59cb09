//! The fold on hand-made games and on generated histories.

mod accounts;
mod elsewhere;
mod parts;

use proptest::prelude::*;

use super::*;
use crate::{
    domain::{
        Cause, Kind, LeaveReason, LineupPlayer, Nobody, Outcome, Participant, Presence,
        RulebookSpec, ScoreEvent, Scoring, Span, TeamLoad, Unknown, WeightCause, WeightEntry,
        units::Share,
    },
    history::{PART_FROM_ELSEWHERE, Unrated, points::points},
    rating::{Player, SystemName},
};

fn rulebook() -> Rulebook {
    let mut spec = RulebookSpec::default();
    spec.mutators.gameplay = vec!["insta".into()];
    spec.mutators.unknown = Unknown::Ignore;
    spec.game_types.free_for_all = vec!["ffa".into()];
    spec.game_types.frags = vec!["ffa".into()];
    Rulebook::new(&spec).unwrap()
}

fn someone(kind: Kind, id: &str, stays: Vec<Presence>) -> Participant {
    Participant {
        key: PlayerKey {
            kind,
            id: id.into(),
        },
        name: format!("{id}!"),
        presence: stays,
        points: None,
        kills: 0,
        deaths: 0,
        roles: vec![],
        party: None,
        left: None,
    }
}

fn stay(team: u8, from: u64, to: u64) -> Presence {
    let span = Span { from, to };
    Presence { team, span }
}

/// A game of 100 seconds that ends at `end`.
fn game(end: i64, scores: &[f64], participants: Vec<Participant>) -> MatchRecord {
    MatchRecord {
        server: "s".into(),
        start: Timestamp(end - 100_000),
        end: Timestamp(end),
        clock: None,
        untimed: false,
        client: String::new(),
        unscored: false,
        logged_as: None,
        map: "m".into(),
        game_type: "ctf".into(),
        mode: String::new(),
        mutators: vec![],
        scores: scores.to_vec(),
        outcome: MatchRecord::outcome_of(scores),
        participants,
        events: vec![],
    }
}

fn duel(end: i64, scores: [f64; 2]) -> MatchRecord {
    let a = someone(Kind::Human, "a", vec![stay(0, 0, 100_000)]);
    let b = someone(Kind::Human, "b", vec![stay(1, 0, 100_000)]);
    game(end, &scores, vec![a, b])
}

fn settings(system: SystemName) -> Settings {
    let rating = rating::Settings {
        system: system.into(),
        ..rating::Settings::default()
    };
    rating.into()
}

fn folded<'a>(matches: impl IntoIterator<Item = &'a MatchRecord>) -> Fold {
    folded_by(SystemName::Presence, matches)
}

fn folded_by<'a>(system: SystemName, matches: impl IntoIterator<Item = &'a MatchRecord>) -> Fold {
    let mut fold = Fold::new(&rulebook(), settings(system));
    for record in matches {
        assert_eq!(record.check(), Ok(()));
        fold.push(record, Fingerprint::of(record)).unwrap();
    }
    fold
}

fn rated(record: &MatchRecord) -> Result<(), Unrated> {
    let mut fold = Fold::new(&rulebook(), settings(SystemName::Presence));
    let ruling = fold.push(record, Fingerprint::of(record)).unwrap();
    assert_eq!(ruling.rated.is_err(), fold.weights().next().is_none());
    ruling.rated.map(drop)
}

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
        let mut fold = Fold::new(&rulebook(), settings(system));
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
    let mut fold = Fold::new(&rulebook(), settings(SystemName::Presence));
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
fn rulesets_and_kinds_are_apart() {
    let mut insta = duel(200_000, [3.0, 1.0]);
    insta.mutators = vec!["Insta".into()];
    let mut with_bot = duel(400_000, [1.0, 3.0]);
    with_bot.mutators = vec!["colours".into()];
    let bot = someone(Kind::Bot, "a", vec![stay(1, 0, 100_000)]);
    with_bot.participants.push(bot);
    let fold = folded([&insta, &with_bot]);
    let seen: Vec<_> = fold
        .weights()
        .map(|w| format!("{} {} {} {:.1}", w.ruleset, w.key.kind, w.key.id, w.weight))
        .collect();
    // In their first ctf game, the humans start from half of what insta says: the prior of a has
    // 56.25 % of 4 / 0.75 points, and they made one of four.
    let expected = [
        "ctf human a 42.9",
        "ctf human b 57.1",
        "ctf bot a 62.5",
        "ctf+insta human a 62.5",
        "ctf+insta human b 37.5",
    ];
    assert_eq!(seen, expected);
    let plain = rulebook().ruleset::<&str>("ctf", &[]);
    assert_eq!(fold.weights_on(&plain, Level::Ruleset).count(), 3);
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
    let ruling = Fold::new(&rulebook(), Settings::default())
        .push(&mixed, Fingerprint::of(&mixed))
        .unwrap();
    let counts = ruling.rated.unwrap().into_iter().map(|p| p.counts);
    assert_eq!(counts.collect::<Vec<_>>(), [false, false, true, true, true]);
}

#[test]
fn a_newcomer_begins_with_what_other_rulesets_know() {
    let insta = |mut record: MatchRecord| {
        record.mutators = vec!["insta".into()];
        record
    };
    let mut plain: Vec<MatchRecord> = (1..=20).map(|i| duel(200_000 * i, [1.0, 0.0])).collect();
    let first = insta(duel(200_000 * 21, [1.0, 0.0]));
    for system in [
        SystemName::Joint,
        SystemName::TrueSkill,
        SystemName::Glicko2,
    ] {
        let known = folded_by(system, &plain);
        let ruleset = rulebook().ruleset("ctf", &["insta"]);
        let teams: Vec<Vec<LineupPlayer>> = first
            .participants
            .iter()
            .map(|p| vec![p.key.clone().into()])
            .collect();
        let chance = |fold: &Fold| fold.chances(&ruleset, "m", &teams)[0];
        assert!(
            chance(&known) > 0.7,
            "{system}: before the first game of its own"
        );
        let best = best_weights(&known, &ruleset);
        assert!(best.iter().all(|(_, level)| *level == Level::FewerMutators));
        plain.push(first.clone());
        let after = folded_by(system, &plain);
        let alone = folded_by(system, [&first]);
        assert!(
            chance(&after) > chance(&alone),
            "{system}: more than one game counts"
        );
        let best = best_weights(&after, &ruleset);
        assert!(best.iter().all(|(_, level)| *level == Level::Ruleset));
        plain.pop();
    }
}

/// The weights in use under a ruleset, ordered by player, and the level from which each comes.
fn best_weights<'a>(fold: &'a Fold, ruleset: &'a Ruleset) -> Vec<(Weight<'a>, Level)> {
    let mut keys: Vec<&PlayerKey> = (0..)
        .map_while(|number| fold.digest.people().get(Player(number)))
        .map(|person| &person.key)
        .collect();
    keys.sort_unstable();
    let keys = keys.into_iter();
    keys.filter_map(|key| fold.best_weight(ruleset, key.kind, &key.id))
        .collect()
}

#[test]
fn levels_of_one_ruleset_are_that_ruleset() {
    let matches = [duel(200_000, [3.0, 1.0]), duel(400_000, [0.0, 2.0])];
    let fold = folded(&matches);
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    let on = |level| {
        let weights = fold.weights_on(&ruleset, level);
        weights.map(|w| w.weight).collect::<Vec<_>>()
    };
    assert_eq!(on(Level::Ruleset).len(), 2);
    assert_eq!(on(Level::Ruleset), on(Level::GameType));
    assert_eq!(on(Level::Ruleset), on(Level::AllGames));
}

#[test]
fn a_season_brings_everyone_nearer_to_a_newcomer() {
    let matches: Vec<MatchRecord> = (1..=9).map(|i| duel(200_000 * i, [5.0, 1.0])).collect();
    for system in [
        SystemName::Joint,
        SystemName::TrueSkill,
        SystemName::Presence,
    ] {
        let spread = |seasons: Vec<Timestamp>| {
            let settings = Settings {
                seasons,
                season_keeps: Share::of(0.3),
                ..settings(system)
            };
            let mut fold = Fold::new(&rulebook(), settings);
            for record in &matches {
                fold.push(record, Fingerprint::of(record)).unwrap();
            }
            let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
            let teams = ["a", "b"].map(|id| {
                let (kind, id) = (Kind::Human, id.into());
                vec![PlayerKey { kind, id }.into()]
            });
            fold.chances(&ruleset, "other", &teams)[0]
        };
        let (without, with) = (spread(vec![]), spread(vec![matches[8].end]));
        assert!(without > with && with > 0.5, "{system}: {without} {with}");
    }
}

#[test]
fn a_season_that_has_begun_is_that_of_the_next_match() {
    let matches: Vec<MatchRecord> = (1..=9).map(|i| duel(200_000 * i, [5.0, 1.0])).collect();
    let start = Timestamp(matches[8].start.0);
    let settings = Settings {
        seasons: vec![start],
        season_keeps: Share::of(0.5),
        ..settings(SystemName::Elo)
    };
    let mut fold = Fold::new(&rulebook(), settings);
    for record in &matches[..8] {
        fold.push(record, Fingerprint::of(record)).unwrap();
    }
    let strengths = |fold: &Fold| fold.weights().map(|w| w.strength).collect::<Vec<f64>>();
    let before = strengths(&fold);
    assert_eq!(fold.next_season(), Some(start));
    let mut later = fold.clone();
    later.begin_seasons(Timestamp(start.0 - 1));
    assert_eq!(strengths(&later), before);
    later.begin_seasons(start);
    // A half of the distance of each is kept, once.
    let halves: Vec<f64> = before.iter().map(|strength| strength * 0.5).collect();
    assert_eq!(strengths(&later), halves);
    assert_eq!(later.next_season(), None);
    for fold in [&mut fold, &mut later] {
        fold.push(&matches[8], Fingerprint::of(&matches[8]))
            .unwrap();
    }
    assert_eq!(strengths(&later), strengths(&fold));
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
            "too-few-humans"
        ]
    );
    for reason in Unrated::ALL {
        assert_eq!(Unrated::parse(reason.as_str()), Some(reason));
    }
}

#[test]
fn a_late_match_changes_nothing() {
    let (first, second) = (duel(200_000, [1.0, 0.0]), duel(400_000, [1.0, 0.0]));
    let mut fold = folded([&second]);
    let before = bits(&fold);
    for late in [&first, &second] {
        assert_eq!(fold.push(late, Fingerprint::of(late)), Err(Late));
        assert_eq!(bits(&fold), before);
    }
}

/// All weights of a fold, comparable to the bit: the weight, its deviation and the strength.
type Bits = Vec<(String, PlayerKey, String, [u64; 3], u32, i64)>;

fn bits(fold: &Fold) -> Bits {
    let line = |w: Weight<'_>| {
        (
            w.ruleset.to_string(),
            w.key.clone(),
            w.name.to_owned(),
            [w.weight, w.deviation, w.strength].map(f64::to_bits),
            w.games,
            w.last_seen.0,
        )
    };
    fold.weights().map(line).collect()
}

/// Any record that passes its check, small enough that the same players meet again.
fn any_record() -> impl Strategy<Value = MatchRecord> {
    let stays = prop::collection::vec((0..3_u8, 0..=100_000_u64, 0..=100_000_u64), 0..4);
    let people = prop::collection::vec((stays, any::<bool>(), any::<(u8, u8)>()), 0..8);
    let points = prop_oneof![-3.0..9.0, Just(0.0), Just(1e9), Just(-1e9)];
    let events = prop::collection::vec((0..=100_000_u64, 0..3_u8, points.clone()), 0..9);
    let teams = prop_oneof![Just(0_usize), Just(2), Just(3)];
    (
        teams,
        prop::collection::vec(points, 3),
        people,
        events,
        0..50_i64,
    )
        .prop_map(|(teams, scores, people, mut events, end)| {
            let mut record = game(100_000 + 1_000 * end, &scores[..teams], vec![]);
            if teams == 0 {
                record.game_type = "ffa".into();
                events.clear();
            }
            let on = |team: u8| team % u8::try_from(teams.max(1)).unwrap();
            for (i, (stays, bot, (kills, deaths))) in people.into_iter().enumerate() {
                let kind = if bot { Kind::Bot } else { Kind::Human };
                let mut stays: Vec<_> = stays
                    .into_iter()
                    .map(|(team, a, b)| stay(on(team), a.min(b), a.max(b)))
                    .collect();
                stays.sort_by_key(|s| s.span.from);
                let mut p = someone(kind, &format!("p{i}"), stays);
                (p.kills, p.deaths) = (kills.into(), deaths.into());
                record.participants.push(p);
            }
            events.sort_by_key(|e| e.0);
            record.events = events
                .into_iter()
                .map(|(at, team, points)| ScoreEvent {
                    at,
                    team: on(team),
                    points,
                    by: None,
                })
                .collect();
            record
        })
}

/// A history without duplicates, in the order of the fold.
fn any_history() -> impl Strategy<Value = Vec<MatchRecord>> {
    prop::collection::vec(any_record(), 0..24).prop_map(in_order)
}

fn in_order(mut matches: Vec<MatchRecord>) -> Vec<MatchRecord> {
    matches.sort_by_key(|m| (m.end, Fingerprint::of(m)));
    matches.dedup_by_key(|m| (m.end, Fingerprint::of(m)));
    matches
}

/// What the matches have entered into the accounts, comparable to the bit: the weight before and after, its deviation, and
/// the cause.
type Entries = BTreeMap<(Timestamp, Fingerprint), Vec<Option<([u64; 3], Option<WeightCause>)>>>;

fn entries(ruling: Ruling) -> Vec<Option<([u64; 3], Option<WeightCause>)>> {
    let played = ruling.rated.into_iter().flatten();
    let bits = |entry: WeightEntry| {
        let numbers = [entry.before, entry.weight, entry.deviation];
        (numbers.map(f64::to_bits), entry.cause)
    };
    played.map(|own| own.entry.map(bits)).collect()
}

/// With a season in the midst of the histories.
fn season_settings(system: SystemName) -> Settings {
    Settings {
        seasons: vec![Timestamp(120_000)],
        ..settings(system)
    }
}

/// Everything that a fold of matches in order gives.
fn in_one_go(system: SystemName, matches: &[MatchRecord]) -> (Bits, Entries) {
    let mut fold = Fold::new(&rulebook(), season_settings(system));
    let push = |record: &MatchRecord| {
        let print = Fingerprint::of(record);
        let ruling = fold.push(record, print).unwrap();
        ((record.end, print), entries(ruling))
    };
    let entries = matches.iter().map(push).collect();
    (bits(&fold), entries)
}

/// The same of matches that arrive in any order: a late one is folded from the checkpoint before it, with all later ones.
fn as_they_arrive(system: SystemName, arriving: &[MatchRecord]) -> (Bits, Entries) {
    let (rulebook, settings) = (rulebook(), season_settings(system));
    let mut fold = Fold::new(&rulebook, settings.clone());
    let mut known: Vec<((Timestamp, Fingerprint), &MatchRecord, Vec<u8>)> = Vec::new();
    let mut entered = Entries::new();
    for record in arriving {
        let place = (record.end, Fingerprint::of(record));
        let at = known.partition_point(|(other, ..)| *other < place);
        let later: Vec<_> = known.drain(at..).collect();
        if let Some((.., state)) = later.first() {
            fold = Fold::restore(&rulebook, settings.clone(), state).unwrap();
        }
        let later = later.into_iter().map(|(_, record, _)| record);
        for record in [record].into_iter().chain(later) {
            let place = (record.end, Fingerprint::of(record));
            known.push((place, record, saved(&fold)));
            let ruling = fold.push(record, place.1).unwrap();
            entered.insert(place, entries(ruling));
        }
    }
    (bits(&fold), entered)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))] // all systems, twice each
    #[test]
    fn every_system_stays_in_range_and_does_not_care_about_arrival(
        (matches, shuffled) in any_history().prop_flat_map(|m| (Just(m.clone()), Just(m).prop_shuffle())),
    ) {
        for system in SystemName::ALL {
            let (bits, entries) = in_one_go(system, &matches);
            for (_, key, _, [weight, ..], ..) in &bits {
                let weight = f64::from_bits(*weight);
                prop_assert!((0.0..=100.0).contains(&weight), "{system}: {key:?} {weight}");
            }
            let arrived = as_they_arrive(system, &shuffled);
            prop_assert_eq!(arrived, (bits, entries), "{}", system);
        }
    }
}

/// The record with its participants listed from the last to the first.
fn listed_backwards(record: &MatchRecord) -> MatchRecord {
    let mut record = record.clone();
    record.participants.reverse();
    let last = record.participants.len().saturating_sub(1) as u32;
    let events = record.events.iter_mut();
    let authors = events.filter_map(|event| event.by.as_mut());
    authors.for_each(|by| *by = last - *by);
    record
}

/// The weights, comparable to the bit, of all but `p0`, whose matches are listed under another name from the start on if
/// `forgotten`. Matches keep the fingerprints under which they are stored.
fn bits_of_others(system: SystemName, recorded: &[MatchRecord], forgotten: bool) -> Bits {
    let mut fold = Fold::new(&rulebook(), season_settings(system));
    for record in recorded {
        let (mut own, print) = (record.clone(), Fingerprint::of(record));
        if forgotten {
            let players = own.participants.iter_mut().map(|own| &mut own.key);
            let he = players.filter(|key| key.id == "p0");
            he.for_each(|key| key.id = "z, who was forgotten".into());
        }
        fold.push(&own, print).unwrap();
    }
    let other = |id: &str| id.starts_with('p') && id != "p0";
    let mut bits = bits(&fold);
    bits.retain(|(_, key, ..)| other(&key.id));
    bits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_order_in_which_a_record_lists_its_participants_changes_no_bit(matches in any_history()) {
        let played = |record: &MatchRecord| record.clone().played();
        let forwards = in_order(matches.iter().map(played).collect());
        let backwards = matches.iter().map(|record| listed_backwards(record).played());
        let backwards = in_order(backwards.collect());
        prop_assert_eq!(&backwards, &forwards);
        for system in SystemName::ALL {
            let (bits, _) = in_one_go(system, &forwards);
            prop_assert_eq!(in_one_go(system, &backwards).0, bits, "{}", system);
        }
    }

    #[test]
    fn forgetting_a_player_leaves_every_other_weight_as_it_is_to_the_last_bit(matches in any_history()) {
        let recorded = in_order(matches.into_iter().map(MatchRecord::played).collect());
        for system in SystemName::ALL {
            let known = bits_of_others(system, &recorded, false);
            prop_assert_eq!(bits_of_others(system, &recorded, true), known, "{}", system);
        }
    }
}

fn saved(fold: &Fold) -> Vec<u8> {
    let mut state = Vec::new();
    fold.save(&mut state).unwrap();
    state
}

/// Folds all matches at once, and again with a save and a restore after the first `k`.
fn with_and_without_a_checkpoint(system: SystemName, matches: &[MatchRecord], k: usize) {
    let settings = season_settings(system);
    let push = |fold: &mut Fold, matches: &[MatchRecord]| {
        for record in matches {
            fold.push(record, Fingerprint::of(record)).unwrap();
        }
    };
    let mut whole = Fold::new(&rulebook(), settings.clone());
    push(&mut whole, &matches[..k]);
    let state = saved(&whole);
    let mut resumed = Fold::restore(&rulebook(), settings, &state).unwrap();
    assert_eq!(saved(&resumed), state, "{system}");
    push(&mut whole, &matches[k..]);
    push(&mut resumed, &matches[k..]);
    assert_eq!(bits(&resumed), bits(&whole), "{system}");
    assert_eq!(saved(&resumed), saved(&whole), "{system}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_checkpoint_changes_no_bit(matches in any_history(), k in any::<prop::sample::Index>()) {
        let k = k.index(matches.len() + 1);
        for system in SystemName::ALL {
            with_and_without_a_checkpoint(system, &matches, k);
        }
    }

    #[test]
    fn bytes_that_are_no_state_are_refused(
        matches in any_history(),
        at in any::<prop::sample::Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        for system in SystemName::ALL {
            let restore = |bytes: &[u8]| Fold::restore(&rulebook(), settings(system), bytes);
            let state = saved(&folded_by(system, &matches));
            prop_assert!(restore(&state[..at.index(state.len())]).is_err(), "truncated");
            prop_assert!(restore(&[state.as_slice(), &[0]].concat()).is_err(), "longer");
            // A number in the bytes may have any value, so these can pass; a length must not be
            // trusted.
            let _ = restore(&noise);
            let mut flipped = state;
            let index = at.index(flipped.len());
            flipped[index] ^= 1 << (index % 8);
            let _ = restore(&flipped);
        }
    }
}

#[test]
fn a_checkpoint_changes_no_bit_in_a_long_history() {
    let matches = sided(700); // past the bank's kept filters and drifts
    for system in SystemName::ALL {
        for k in [100, 300, 600] {
            with_and_without_a_checkpoint(system, &matches, k);
        }
    }
}

proptest! {
    #[test]
    fn points_are_finite_and_never_negative(record in any_record()) {
        prop_assert_eq!(record.check(), Ok(()));
        for scoring in [Scoring::TeamPoints, Scoring::Frags] {
            for points in points(&record, scoring) {
                for x in [points.scored, points.conceded] {
                    prop_assert!(x.is_finite() && x >= 0.0, "{x}");
                }
            }
        }
    }

    #[test]
    fn weights_stay_in_their_range(matches in any_history()) {
        for w in folded(&matches).weights() {
            prop_assert!((0.0..=100.0).contains(&w.weight), "{}", w.weight);
        }
    }

    #[test]
    fn the_order_of_arrival_does_not_matter(
        (matches, shuffled) in any_history().prop_flat_map(|m| (Just(m.clone()), Just(m).prop_shuffle())),
    ) {
        prop_assert_eq!(bits(&folded(&matches)), bits(&folded(&in_order(shuffled))));
    }

    #[test]
    fn one_at_a_time_is_the_whole_at_once(matches in any_history()) {
        let mut fold = folded([]);
        for (i, record) in matches.iter().enumerate() {
            fold.push(record, Fingerprint::of(record)).unwrap();
            prop_assert_eq!(bits(&fold), bits(&folded(&matches[..=i])));
        }
    }
}

/// Four against four or five out of nine players, numbered from the weakest; side 0 is easier.
fn sided(matches: u32) -> Vec<MatchRecord> {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut one = |number: i64| {
        let mut pool: Vec<u32> = (0..9).collect();
        let mut draw = |n: usize| -> Vec<u32> {
            let one = |_| pool.swap_remove(random.random_range(0..pool.len()));
            (0..n).map(one).collect()
        };
        let teams = [draw(4), draw(4 + usize::from(number % 2 == 0))];
        let sum = |team: &[u32]| team.iter().map(|p| 5.0 + f64::from(*p)).sum::<f64>();
        let edge = (sum(&teams[0]) - sum(&teams[1])) / 12.0 + 0.6;
        let won = random.random_bool(rating::normal::cdf(edge));
        let both = teams.iter().zip(0..);
        let people = both.flat_map(|(team, t)| {
            let id = |p: &u32| format!("p{p}");
            team.iter()
                .map(move |p| someone(Kind::Human, &id(p), vec![stay(t, 0, 100_000)]))
        });
        let scores = [f64::from(u8::from(won)), f64::from(u8::from(!won))];
        game(200_000 * number, &scores, people.collect())
    };
    (1..=i64::from(matches)).map(&mut one).collect()
}

#[test]
fn strengths_and_outlook_find_the_split_whose_chance_is_nearest_to_even() {
    let matches = sided(600);
    // A system whose chance depends on the sum of strengths alone finds it exactly; the noise of
    // joint differs slightly between splits.
    for (system, slack) in [
        (SystemName::TrueSkill, 1e-12),
        (SystemName::Hive, 1e-12),
        (SystemName::Joint, 0.004),
    ] {
        let fold = folded_by(system, &matches);
        let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
        let strengths: BTreeMap<&PlayerKey, f64> = fold
            .weights_on(&ruleset, Level::Ruleset)
            .map(|w| (w.key, w.strength))
            .collect();
        let keys: Vec<&PlayerKey> = strengths.keys().copied().take(8).collect();
        let split = |mask: u32| -> Vec<Vec<LineupPlayer>> {
            let team = |t: u32| {
                let own = (0..).zip(&keys).filter(move |(i, _)| mask >> i & 1 == t);
                own.map(|(_, key)| (*key).clone().into()).collect()
            };
            vec![team(0), team(1)]
        };
        let reading = |mask| fold.reading(&ruleset, "m", &split(mask)).unwrap();
        let outlook = reading(0b0000_1111).outlook;
        let load = |team: &[LineupPlayer]| TeamLoad {
            heads: team.len(),
            strength: team.iter().map(|player| strengths[&player.key]).sum(),
        };
        let edge = |mask| {
            let teams = split(mask);
            outlook.edge(load(&teams[0]), load(&teams[1])) + outlook.side
        };
        let odds = |mask| (fold.chances(&ruleset, "m", &split(mask))[0] - 0.5).abs();
        let splits = || (0..256_u32).filter(|mask| mask.count_ones() == 4);
        let gap = |mask: u32| edge(mask).abs();
        let chosen = splits().min_by(|a, b| gap(*a).total_cmp(&gap(*b))).unwrap();
        let best = splits().map(odds).fold(f64::INFINITY, f64::min);
        assert!(
            odds(chosen) <= best + slack,
            "{system}: {} {best}",
            odds(chosen)
        );
        for mask in splits() {
            let chance = fold.chances(&ruleset, "m", &split(mask))[0];
            let by_outlook = outlook.link.chance(edge(mask));
            assert!(
                (chance - by_outlook).abs() < 0.02,
                "{system}: {chance} {by_outlook}"
            );
            let reading = reading(mask);
            assert!((reading.outlook.link.chance(reading.edge) - chance).abs() < 1e-9);
            assert!((reading.strengths[0] - load(&split(mask)[0]).strength).abs() < 1e-9);
        }
        if system != SystemName::TrueSkill {
            assert!(outlook.side > 0.1, "{system} knows the side: {outlook:?}");
        }
    }
}

#[test]
fn one_head_more_counts_what_was_learned_of_it() {
    let matches = sided(600);
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    let outlook = |system| {
        let stranger = PlayerKey {
            kind: Kind::Human,
            id: "nobody".into(),
        };
        let teams = [5, 4].map(|size| vec![stranger.clone().into(); size]);
        let reading = folded_by(system, &matches).reading(&ruleset, "m", &teams);
        reading.unwrap().outlook
    };
    assert_eq!(
        outlook(SystemName::Presence).per_head,
        0.0,
        "it compares with 50"
    );
    let hive = outlook(SystemName::Hive);
    assert!(hive.learned_heads(5, 4) > 0.1, "{hive:?}");
    let joint = outlook(SystemName::Joint);
    assert!(
        joint.learned_heads(5, 4) > 0.1,
        "{joint:?}: it learned something"
    );
    let [five, four] = [5, 4].map(|heads| TeamLoad::alike(heads, 0.0));
    assert!(joint.heads(five, four) >= joint.learned_heads(5, 4));
}

/// Two against two out of eight players of equal strength; the pair that is a party wins three of four.
fn with_friends(matches: i64) -> Vec<MatchRecord> {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut one = |number: i64| {
        let mut pool: Vec<u32> = (0..8).collect();
        let mut person = |seat: usize| {
            let id = format!("p{}", pool.swap_remove(random.random_range(0..pool.len())));
            Participant {
                party: (seat < 2).then_some(7),
                ..someone(
                    Kind::Human,
                    &id,
                    vec![stay(u8::from(seat >= 2), 0, 100_000)],
                )
            }
        };
        let people = (0..4).map(&mut person).collect();
        let won = f64::from(u8::from(random.random_bool(0.75)));
        game(200_000 * number, &[won, 1.0 - won], people)
    };
    (1..=matches).map(&mut one).collect()
}

#[test]
fn a_party_counts_in_predictions_what_was_learned_of_friends() {
    let settings = Settings {
        sides: false,
        ..settings(SystemName::Joint)
    };
    let mut fold = Fold::new(&rulebook(), settings);
    for record in with_friends(200) {
        fold.push(&record, Fingerprint::of(&record)).unwrap();
    }
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    let teams = |party: Option<u32>| -> Vec<Vec<LineupPlayer>> {
        let player = |id: String, party| LineupPlayer {
            party,
            ..someone(Kind::Human, &id, vec![]).key.into()
        };
        let team = |from: u32, party| {
            let ids = (from..from + 2).map(|n| format!("p{n}"));
            ids.map(|id| player(id, party)).collect()
        };
        vec![team(0, party), team(2, None)]
    };
    let chance = |party| fold.chances(&ruleset, "m", &teams(party))[0];
    let (alone, together) = (chance(None), chance(Some(3)));
    assert!(together > alone + 0.005, "{alone} {together}");
    // What the strengths differ by, times the edge per strength, is what the edge differs by; the noise
    // differs slightly, too.
    let reading = |party| fold.reading(&ruleset, "m", &teams(party)).unwrap();
    let (alone, together) = (reading(None), reading(Some(3)));
    let added = together.strengths[0] - alone.strengths[0];
    let per_friend = together.outlook.company.per_friend;
    assert!((added - 2.0 * per_friend).abs() < 1e-12);
    let edge = together.outlook.per_strength * added;
    assert!(
        (together.edge - alone.edge - edge).abs() < 0.02 * edge,
        "{edge}"
    );
}

/// The weight of a player who starts at `start` and has lost `losses` duels; by all systems that can start a
/// player elsewhere than at 50.
fn after_losses(system: SystemName, start: Option<StartWeight>, losses: i64) -> f64 {
    let matches: Vec<_> = (1..=losses)
        .map(|n| duel(200_000 * n, [0.0, 3.0]))
        .collect();
    let key = matches[0].participants[0].key.clone();
    let starts = start
        .map(|start| (key.clone(), start))
        .into_iter()
        .collect();
    let settings = Settings {
        sides: false,
        ..settings(system)
    };
    let mut fold = Fold::new(&rulebook(), settings).with_starts(starts);
    for record in &matches {
        fold.push(record, Fingerprint::of(record)).unwrap();
    }
    let own = fold.weights().find(|weight| *weight.key == key);
    own.unwrap().weight
}

#[test]
fn a_start_weight_is_a_prior_that_games_overrule() {
    let start = |weight, uncertain| Some(StartWeight { weight, uncertain });
    for system in [
        SystemName::Joint,
        SystemName::Elo,
        SystemName::Hive,
        SystemName::Glicko2,
        SystemName::TrueSkill,
        SystemName::PlackettLuce,
        SystemName::ThurstoneMosteller,
    ] {
        let weight = |start, losses| after_losses(system, start, losses);
        let sure: Vec<f64> = [1, 10, 40].map(|n| weight(start(60.0, false), n)).to_vec();
        let more = sure[0] - weight(None, 1);
        assert!(more > 5.0, "{system}: the prior shows: {sure:?}");
        assert!(sure.is_sorted_by(|a, b| a > b), "{system}: {sure:?}");
        assert!(sure[2] < 55.5, "{system}: games overrule it: {sure:?}");
        assert!(
            weight(None, 10) < sure[1],
            "{system}: it counts for a while"
        );
        let uncertain = weight(start(60.0, true), 10);
        assert!(uncertain <= sure[1], "{system}: {uncertain} {sure:?}");
        let low = weight(start(40.0, false), 1);
        assert!(low < weight(None, 1) - 2.0, "{system}: {low}");
    }
    let ten = |uncertain| after_losses(SystemName::Joint, start(60.0, uncertain), 10);
    assert!(ten(true) < ten(false) - 1.5, "the default is pulled faster");
}

#[test]
fn a_start_weight_survives_a_checkpoint_and_concerns_its_player_alone() {
    let one = duel(200_000, [0.0, 3.0]);
    let two = duel(400_000, [0.0, 3.0]);
    let start = StartWeight {
        weight: 90.0,
        uncertain: false,
    };
    let starts: BTreeMap<_, _> = [(one.participants[0].key.clone(), start)].into();
    let fresh = || Fold::new(&rulebook(), settings(SystemName::Joint)).with_starts(starts.clone());
    let mut whole = fresh();
    let mut first = fresh();
    for record in [&one, &two] {
        whole.push(record, Fingerprint::of(record)).unwrap();
    }
    first.push(&one, Fingerprint::of(&one)).unwrap();
    let state = saved(&first);
    let mut second = Fold::restore(&rulebook(), settings(SystemName::Joint), &state)
        .unwrap()
        .with_starts(starts.clone());
    second.push(&two, Fingerprint::of(&two)).unwrap();
    assert_eq!(saved(&second), saved(&whole));
    let weights: Vec<f64> = whole.weights().map(|w| w.weight).collect();
    assert!(weights[0] > 70.0 && weights[1] > 50.0, "{weights:?}");
}

/// Four against four, in groups of eight newcomers who play twelve games; the stronger ones make more
/// points from the first game on.
fn groups_of_newcomers(groups: u32) -> Vec<MatchRecord> {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut one = |number: u32| {
        let mut order: Vec<u32> = (0..8).collect();
        let drawn: Vec<u32> = (0..8)
            .map(|_| order.swap_remove(random.random_range(0..order.len())))
            .collect();
        let sum = |team: &[u32]| team.iter().map(|p| f64::from(*p)).sum::<f64>();
        let edge = (sum(&drawn[..4]) - sum(&drawn[4..])) / 4.0;
        let won = random.random_bool(rating::normal::cdf(edge));
        let person = |(seat, p): (usize, &u32)| Participant {
            points: Some(f64::from(*p)),
            ..someone(
                Kind::Human,
                &format!("g{} p{p}", number / 12),
                vec![stay(u8::from(seat >= 4), 0, 100_000)],
            )
        };
        let scores = [f64::from(u8::from(won)), f64::from(u8::from(!won))];
        let people = drawn.iter().enumerate().map(person).collect();
        game(200_000 * i64::from(number + 1), &scores, people)
    };
    (0..12 * groups).map(&mut one).collect()
}

#[test]
fn newcomers_start_where_their_first_game_points_to_if_there_is_a_variance() {
    let matches = groups_of_newcomers(12);
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    for (system, takes_evidence) in [
        (SystemName::TrueSkill, true),
        (SystemName::Glicko2, true),
        (SystemName::PlackettLuce, true),
        (SystemName::ThurstoneMosteller, true),
        (SystemName::Elo, false),
        (SystemName::Hive, false),
        (SystemName::HiveHistory, false),
        (SystemName::Presence, false),
        (SystemName::Scoreboard, false),
    ] {
        let fold = folded_by(system, &matches);
        assert_eq!(
            !fold.warnings(&ruleset).is_empty(),
            takes_evidence,
            "{system}"
        );
    }
}

/// Two against two out of eight players of equal strength, of whom one commands half of their teams and
/// then wins nine games of ten.
fn commanded(matches: i64) -> Vec<MatchRecord> {
    use crate::domain::{Role, RoleName};
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let mut one = |number: i64| {
        let mut pool: Vec<u32> = (1..8).collect();
        let mut others = || pool.swap_remove(random.random_range(0..pool.len()));
        let ids = [0, others(), others(), others()];
        let commands = number % 2 == 0;
        let person = |(seat, id): (usize, u32)| {
            let team = u8::from(seat >= 2);
            let mut person = someone(Kind::Human, &format!("p{id}"), vec![stay(team, 0, 100_000)]);
            let role = || Role {
                name: RoleName::COMMANDER.into(),
                team,
                share: 1.0,
            };
            person.roles.extend((commands && id == 0).then(role));
            person
        };
        let people = ids.into_iter().enumerate().map(person).collect();
        let won = random.random_bool(if commands { 0.9 } else { 0.5 });
        let won = f64::from(u8::from(won));
        game(200_000 * number, &[won, 1.0 - won], people)
    };
    (1..=matches).map(&mut one).collect()
}

#[test]
fn predictions_count_who_will_command() {
    let matches = commanded(300);
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    let lineup = |commands: bool| -> Vec<Vec<LineupPlayer>> {
        let player = |n: u32| LineupPlayer {
            commands: commands && n == 0,
            ..someone(Kind::Human, &format!("p{n}"), vec![]).key.into()
        };
        vec![(0..2).map(player).collect(), (2..4).map(player).collect()]
    };
    for system in [SystemName::Joint, SystemName::Hive] {
        let settings = Settings {
            sides: false,
            ..settings(system)
        };
        let mut fold = Fold::new(&rulebook(), settings);
        for record in &matches {
            fold.push(record, Fingerprint::of(record)).unwrap();
        }
        let (with, without) = (lineup(true), lineup(false));
        let chance = |teams: &[Vec<LineupPlayer>]| fold.chances(&ruleset, "m", teams)[0];
        let (more, less) = (chance(&with), chance(&without));
        assert!(more > less + 0.01, "{system}: {more} {less}");
        // What the strengths differ by is what the edge differs by, the noise of this lineup aside.
        let key = &with[0][0].key;
        let command = fold.command_strength(&ruleset, &with, key).unwrap();
        let reading = |teams: &[Vec<LineupPlayer>]| fold.reading(&ruleset, "m", teams).unwrap();
        let (with, without) = (reading(&with), reading(&without));
        assert!((with.strengths[0] - without.strengths[0] - command).abs() < 1e-9);
        let edge = with.outlook.per_strength * command;
        let differ = with.edge - without.edge;
        assert!(
            (differ - edge).abs() < 0.1 * edge,
            "{system}: {differ} {edge}"
        );
    }
}
