//! The fold on hand-made games and on generated histories.

mod elsewhere;
mod one_match;
mod order;
mod places;
mod rulesets;
mod win_model;

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

use evenkeel_model::{
    Kind, Outcome, Participant,
    access::Holder,
    ident::Nobody,
    match_chances::Cause,
    record::{LeaveReason, Presence, ScoreEvent, Span},
    rulebook::{RulebookSpec, Scoring, Unknown},
    units::{Count, Share},
    weight::{WeightCause, WeightEntry},
    win_model::{LineupPlayer, TeamLoad},
};
use proptest::prelude::*;

use super::*;
use crate::{
    Player, SystemName,
    history::{PART_FROM_ELSEWHERE, Unrated, seats::points},
};

/// Made once: it compiles patterns, which takes longer than to rate a match.
fn rulebook() -> &'static Rulebook {
    static ONCE: LazyLock<Rulebook> = LazyLock::new(|| {
        let mut spec = RulebookSpec::default();
        spec.mutators.gameplay = vec!["insta".into()];
        spec.mutators.unknown = Unknown::Ignore;
        spec.game_types.free_for_all = vec!["ffa".into()];
        spec.game_types.frags = vec!["ffa".into()];
        Rulebook::new(&spec).unwrap()
    });
    &ONCE
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
        too_many_new: None,
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
    let mut fold = Fold::new(rulebook(), settings(system));
    for record in matches {
        assert_eq!(record.check(), Ok(()));
        fold.push(record, Fingerprint::of(record)).unwrap();
    }
    fold
}

fn rated(record: &MatchRecord) -> Result<(), Unrated> {
    let mut fold = Fold::new(rulebook(), settings(SystemName::Presence));
    let ruling = fold.push(record, Fingerprint::of(record)).unwrap();
    assert_eq!(ruling.rated.is_err(), fold.weights().next().is_none());
    ruling.rated.map(drop)
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

/// With a season in the midst of the histories.
fn season_settings(system: SystemName) -> Settings {
    Settings {
        seasons: vec![Timestamp(120_000)],
        ..settings(system)
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
    let mut whole = Fold::new(rulebook(), settings.clone());
    push(&mut whole, &matches[..k]);
    let state = saved(&whole);
    let mut resumed = Fold::restore(rulebook(), settings, &state).unwrap();
    assert_eq!(saved(&resumed), state, "{system}");
    push(&mut whole, &matches[k..]);
    push(&mut resumed, &matches[k..]);
    assert_eq!(bits(&resumed), bits(&whole), "{system}");
    assert_eq!(saved(&resumed), saved(&whole), "{system}");
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

/// Two against two out of eight players of equal strength, of whom one commands half of their teams and
/// then wins nine games of ten.
fn commanded(matches: i64) -> Vec<MatchRecord> {
    use evenkeel_model::{record::Role, team_names::RoleName};
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

/// A player under a ruleset.
type Who = (String, PlayerKey);

/// The entries of a match, each with the participant, and the ruleset.
fn entries<'a>(record: &'a MatchRecord, ruling: &Ruling) -> Vec<(&'a Participant, WeightEntry)> {
    let played = ruling.rated.iter().flatten();
    let entry = |own: &Played| Some((&record.participants[own.participant], own.entry?));
    played.filter_map(entry).collect()
}

/// The sign of the result of a player who was on one team of two only: 1 for a victory, −1 for a defeat.
fn sign(record: &MatchRecord, participant: &Participant) -> Option<f64> {
    let stays = participant.presence.iter();
    let mut teams = stays
        .filter(|stay| stay.span.millis() > 0)
        .map(|stay| stay.team);
    let team = teams.next()?;
    let Outcome::Won(winner) = record.outcome else {
        return None;
    };
    (record.scores.len() == 2 && teams.all(|other| other == team)).then_some(if winner == team {
        1.0
    } else {
        -1.0
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_weight_stands_still_between_own_matches_and_never_moves_against_the_result(
        matches in any_history(),
    ) {
        for system in SystemName::ALL {
            let mut fold = Fold::new(rulebook(), settings(system));
            let mut last: HashMap<Who, f64> = HashMap::new();
            for record in &matches {
                let ruling = fold.push(record, Fingerprint::of(record)).unwrap();
                for (participant, entry) in entries(record, &ruling) {
                    let who = (ruling.ruleset.to_string(), participant.key.clone());
                    if let Some(before) = last.insert(who, entry.weight) {
                        prop_assert_eq!(before.to_bits(), entry.before.to_bits(), "{}", system);
                    }
                    prop_assert!((0.0..=100.0).contains(&entry.weight));
                    prop_assert!(entry.change().abs() <= 8.0 || entry.cause.is_none());
                    if let (Some(sign), Some(_)) = (sign(record, participant), entry.cause) {
                        prop_assert!(sign * entry.change() >= 0.0, "{} {:?}", system, entry);
                    }
                }
                for known in fold.weights() {
                    let who = (known.ruleset.to_string(), known.key.clone());
                    prop_assert_eq!(last.get(&who).map(|w| w.to_bits()), Some(known.weight.to_bits()));
                }
            }
        }
    }
}

/// What others see of a player in a ruleset.
type Seen = (u64, u64, u32, Timestamp, Option<u8>);

fn seen<'a>(fold: &'a Fold, ruleset: &'a Ruleset) -> BTreeMap<&'a PlayerKey, Seen> {
    let weights = fold.weights_on(ruleset, Level::Ruleset);
    let seen = weights.map(|weight| {
        let bits = (weight.weight.to_bits(), weight.deviation.to_bits());
        let division = weight.rank.map(|rank| rank.division);
        (
            weight.key,
            (bits.0, bits.1, weight.games, weight.last_seen, division),
        )
    });
    seen.collect()
}

fn in_divisions(system: SystemName) -> Settings {
    let mut settings = settings(system);
    settings.seasons = vec![Timestamp(120_000)];
    settings.divisions.names = ["Low", "High"]
        .map(|name| name.to_owned().try_into().unwrap())
        .to_vec();
    settings.divisions.calibration_matches = Count::of(1);
    settings
}

/// A duel of two humans, which the first one wins or loses.
fn duel_of(end: i64, winner: &str, loser: &str) -> MatchRecord {
    let mut record = duel(end, [3.0, 1.0]);
    for (player, id) in record.participants.iter_mut().zip([winner, loser]) {
        player.key.id = id.into();
    }
    record
}

#[test]
fn who_has_been_away_for_long_does_not_make_a_division_easier_to_reach() {
    const DAY: i64 = 86_400_000;
    let mut fold = Fold::new(rulebook(), in_divisions(SystemName::Elo));
    let mut number = 0;
    let mut play = |day: i64, winner: &str, loser: &str| {
        number += 1;
        let record = duel_of(day * DAY + number * 200_000, winner, loser);
        fold.push(&record, Fingerprint::of(&record)).unwrap();
    };
    // One summer, forty people lost to guests, twelve times each. Then they stayed away.
    for round in 0..12 {
        for one in 0..40 {
            play(1, &format!("guest {one} {round}"), &format!("weak {one}"));
        }
    }
    for round in 0..24 {
        for pair in 0..20 {
            let (one, other) = (format!("even {pair}"), format!("as even {pair}"));
            match round % 2 {
                0 => play(101, &one, &other),
                _ => play(101, &other, &one),
            }
        }
    }
    let spans = fold.spans(&Ruleset::parse("ctf"));
    let border = 0.5 * (spans[0].1 + spans[1].0);
    assert!((49.0..51.0).contains(&border), "{border} {spans:?}");
}

fn check_changes(now: &Fold, before: &Fold) {
    for ruleset in now.rulesets() {
        let weighed: BTreeSet<_> = now.weighed_since(before, ruleset).collect();
        let old = seen(before, ruleset);
        for (key, own) in seen(now, ruleset) {
            assert!(
                old.get(key) == Some(&own) || weighed.contains(key),
                "{key:?}"
            );
        }
    }
    let renamed: BTreeSet<_> = now.renamed_since(before).collect();
    for weight in now.weights() {
        let (kind, id) = (weight.key.kind, &weight.key.id);
        assert_eq!(now.name_of(kind, id), Some(weight.name));
        let is_same = before.name_of(kind, id) == Some(weight.name);
        assert!(is_same || renamed.contains(weight.key), "{:?}", weight.key);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn who_differs_is_found(matches in any_history(), k in any::<prop::sample::Index>()) {
        let k = k.index(matches.len() + 1);
        for system in SystemName::ALL {
            let mut fold = Fold::new(rulebook(), in_divisions(system));
            let mut before = fold.clone();
            for (number, record) in matches.iter().enumerate() {
                if number == k {
                    before = fold.clone();
                }
                fold.push(record, Fingerprint::of(record)).unwrap();
            }
            check_changes(&fold, &before);
        }
    }
}

#[test]
fn a_match_touches_no_other_ruleset_than_its_own() {
    for system in SystemName::ALL {
        let mut fold = Fold::new(rulebook(), settings(system));
        for (number, players) in (0_i64..).zip([["a", "b"], ["c", "d"], ["a", "c"], ["b", "d"]]) {
            let mut record = duel(200_000 * (number + 1), [3.0, 1.0]);
            record.game_type = format!("type {number}");
            for (player, id) in record.participants.iter_mut().zip(players) {
                player.key.id = id.into();
            }
            let before = fold.clone();
            fold.push(&record, Fingerprint::of(&record)).unwrap();
            let rated: Vec<_> = fold
                .rated_since(&before)
                .map(|own| own.to_string())
                .collect();
            assert_eq!(rated, [record.game_type], "{system}");
        }
        assert_eq!(fold.rated_since(&fold).count(), 0);
    }
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
            let restore = |bytes: &[u8]| Fold::restore(rulebook(), settings(system), bytes);
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
            let mut fold = Fold::new(rulebook(), settings);
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
    let mut fold = Fold::new(rulebook(), settings);
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
    let mut fold = Fold::new(rulebook(), settings).with_starts(starts);
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
    let fresh = || Fold::new(rulebook(), settings(SystemName::Joint)).with_starts(starts.clone());
    let mut whole = fresh();
    let mut first = fresh();
    for record in [&one, &two] {
        whole.push(record, Fingerprint::of(record)).unwrap();
    }
    first.push(&one, Fingerprint::of(&one)).unwrap();
    let state = saved(&first);
    let mut second = Fold::restore(rulebook(), settings(SystemName::Joint), &state)
        .unwrap()
        .with_starts(starts.clone());
    second.push(&two, Fingerprint::of(&two)).unwrap();
    assert_eq!(saved(&second), saved(&whole));
    let weights: Vec<f64> = whole.weights().map(|w| w.weight).collect();
    assert!(weights[0] > 70.0 && weights[1] > 50.0, "{weights:?}");
}
