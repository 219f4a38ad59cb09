use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::history::{Played, Unrated};
use evenkeel_model::{
    Cause, Causes, DAY, Kind, Outcome, Participant, PlayerKey, Presence, Ruleset, Span,
};

/// A match as the fold has ruled on it.
#[derive(Clone, Debug)]
struct Folded {
    record: MatchRecord,
    ruling: Ruling,
}

fn player(team: u8) -> Participant {
    Participant {
        key: PlayerKey {
            kind: Kind::Human,
            id: format!("of {team}"),
        },
        name: "a".into(),
        presence: vec![Presence {
            team,
            span: Span { from: 0, to: 1 },
        }],
        points: None,
        kills: 0,
        deaths: 0,
        roles: vec![],
        party: None,
        left: None,
    }
}

/// A match at this day, with these scores, forecast and causes.
fn folded(
    (ruleset, map): (&str, &str),
    day: i64,
    (scores, outcome): (&[f64], Outcome),
    (chance, causes): (Option<f64>, Option<Causes>),
) -> Folded {
    let record = MatchRecord {
        map: map.into(),
        start: Timestamp(day * DAY),
        end: Timestamp(day * DAY + 1_234_567),
        scores: scores.to_vec(),
        outcome,
        participants: (0..scores.len()).map(|team| player(team as u8)).collect(),
        ..MatchRecord::default()
    };
    let played = |participant| Played {
        participant,
        scored: 0.0,
        conceded: 0.0,
        counts: true,
        entry: None,
    };
    let ruling = Ruling {
        ruleset: Ruleset::parse(ruleset),
        rated: Ok((0..scores.len()).map(played).collect()),
        chance,
        causes,
    };
    Folded { record, ruling }
}

fn balance(all: &[Folded]) -> BalanceStatistics {
    let mut balance = BalanceStatistics::default();
    for one in all {
        balance.push(&one.record, &one.ruling);
    }
    balance
}

fn some_match() -> impl Strategy<Value = Folded> {
    let names = (prop::sample::select(vec!["ctf", "tdm"]), 0..4_u8);
    let days = -400..400_i64;
    let scores = prop::collection::vec(0..6_u8, 0..4).prop_filter("one score", |s| s.len() != 1);
    let outcome = prop_oneof![
        3 => (0..3_u8).prop_map(Outcome::Won),
        1 => Just(Outcome::Draw),
        1 => Just(Outcome::Undecided),
    ];
    let told = (prop::option::of(0.0..=1.0_f64), 0..16_u8);
    let is_rated = prop::bool::weighted(0.9);
    let all = (names, days, scores, outcome, told, is_rated);
    all.prop_map(
        |((ruleset, map), day, scores, outcome, (chance, causes), is_rated)| {
            let scores: Vec<f64> = scores
                .into_iter()
                .map(|score| f64::from(score) / 3.0)
                .collect();
            let has_teams = !scores.is_empty();
            let outcome = match outcome {
                Outcome::Won(team) if usize::from(team) >= scores.len() => Outcome::Undecided,
                outcome => outcome,
            };
            let causes = has_teams.then(|| Causes::from_bits(causes));
            let chance = chance.filter(|_| scores.len() == 2);
            let map = format!("map{map}");
            let told = (chance, causes);
            let mut one = folded((ruleset, &map), day, (&scores, outcome), told);
            if !is_rated {
                one.ruling.rated = Err(Unrated::TooShort);
            }
            one
        },
    )
}

/// The rated matches of a ruleset.
fn rated<'a>(all: &'a [Folded], ruleset: &str) -> Vec<&'a Folded> {
    let own = all.iter().filter(|one| one.ruling.rated.is_ok());
    own.filter(|one| one.ruling.ruleset.to_string() == ruleset)
        .collect()
}

fn won(one: &Folded) -> Option<f64> {
    match one.record.outcome {
        Outcome::Won(0) => Some(1.0),
        Outcome::Won(_) => Some(0.0),
        Outcome::Draw => Some(0.5),
        _ => None,
    }
}

/// The sums of some matches, by their definitions.
fn naive(all: &[&Folded]) -> Closeness {
    let count = |is: &dyn Fn(&Folded) -> bool| all.iter().filter(|one| is(one)).count() as i64;
    let sum = |of: &dyn Fn(&Folded) -> Option<f64>| all.iter().filter_map(|one| of(one)).sum();
    let teams = |one: &Folded| one.record.has_teams();
    let predicted = |one: &Folded| one.ruling.chance.zip(won(one));
    Closeness {
        rated: all.len() as i64,
        matches: count(&teams),
        draws: count(&|one| teams(one) && one.record.outcome == Outcome::Draw),
        scored: count(&|one| one.record.score_gap().is_some()),
        gap: sum(&|one| one.record.score_gap()),
        minutes: sum(&|one| teams(one).then_some(1_234_567.0 / 60_000.0)),
        untimed: 0,
        first_won: count(&|one| one.record.outcome == Outcome::Won(0)),
        decided: count(&|one| matches!(one.record.outcome, Outcome::Won(_))),
        predicted: count(&|one| predicted(one).is_some()),
        predicted_won: count(&|one| predicted(one).is_some_and(|(_, won)| won != 0.5)),
        favoured: count(&|one| {
            predicted(one)
                .is_some_and(|(chance, won)| won != 0.5 && (chance >= 0.5) == (won == 1.0))
        }),
        brier: sum(&|one| predicted(one).map(|(chance, won)| (chance - won).powi(2))),
    }
}

/// Whether sums are the same but for what was rounded before it was added up.
fn is_same(is: Closeness, should: Closeness) -> bool {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-4;
    let parts = close(is.gap, should.gap)
        && close(is.minutes, should.minutes)
        && close(is.brier, should.brier);
    let whole = Closeness {
        gap: is.gap,
        minutes: is.minutes,
        brier: is.brier,
        ..should
    };
    parts && is == whole
}

proptest! {
    #[test]
    fn all_numbers_are_those_that_are_counted_by_hand(
        all in prop::collection::vec(some_match(), 0..80),
        limit in 0..5_usize,
    ) {
        let balance = balance(&all);
        let totals = balance.rulesets(10);
        prop_assert_eq!(balance.rulesets(1), totals.iter().take(1).cloned().collect::<Vec<_>>());
        let sizes: Vec<i64> = totals.iter().map(|own| own.closeness.rated).collect();
        prop_assert!(sizes.is_sorted_by(|a, b| a >= b));
        for name in ["ctf", "tdm"] {
            let own = rated(&all, name);
            let of = balance.of(name);
            let total = totals.iter().find(|of| of.ruleset == name);
            prop_assert_eq!(total.is_some(), !own.is_empty());
            if let Some(total) = total {
                prop_assert!(is_same(total.closeness, naive(&own)));
                // The times of the matches are in no order here; the last one counts.
                let of_ruleset = |one: &&Folded| one.ruling.ruleset.to_string() == name;
                let last = all.iter().rev().find(of_ruleset).unwrap();
                prop_assert_eq!(total.last, last.record.end);
                prop_assert_eq!(of.weeks().into_iter().map(|week| week.closeness).sum::<Closeness>(), total.closeness);
            }
            for week in of.weeks() {
                let end = week.begins.0 + 7 * DAY;
                let inside = own.iter().filter(|one| (week.begins.0..end).contains(&one.record.end.0));
                prop_assert!(is_same(week.closeness, naive(&inside.copied().collect::<Vec<_>>())));
            }
            let mut maps: BTreeMap<&str, Vec<&Folded>> = BTreeMap::new();
            for one in &own {
                maps.entry(&one.record.map).or_default().push(one);
            }
            maps.retain(|_, own| naive(own).matches > 0);
            let listed = of.maps(10);
            prop_assert_eq!(listed.len(), maps.len());
            prop_assert!(listed.is_sorted_by(|a, b| (b.closeness.matches, &a.map) <= (a.closeness.matches, &b.map)));
            prop_assert_eq!(of.maps(limit), listed.iter().take(limit).cloned().collect::<Vec<_>>());
            for map in listed {
                prop_assert!(is_same(map.closeness, naive(&maps[map.map.as_str()])));
                let there = balance.on_map(&map.map, 10);
                let there = there.iter().find(|own| own.ruleset == name).unwrap();
                prop_assert_eq!(there.closeness, map.closeness);
            }
            let gaps = own.iter().filter_map(|one| one.record.score_gap());
            let gaps: Vec<i64> = gaps.map(|gap| gap.round() as i64).collect();
            for (gap, matches) in of.gaps() {
                prop_assert_eq!(gaps.iter().filter(|own| **own == gap).count() as i64, matches);
            }
            prop_assert_eq!(of.gaps().iter().map(|(_, matches)| *matches).sum::<i64>(), gaps.len() as i64);
            let steps = of.chances();
            prop_assert!(steps.is_sorted_by(|a, b| a.chance < b.chance));
            prop_assert_eq!(steps.iter().map(|step| step.matches).sum::<i64>(), naive(&own).predicted);
            let latest = own.iter().rev().take(limit).map(|one| one.record.scores.len() as i64);
            prop_assert_eq!(of.sizes(limit), latest.filter(|players| *players > 0).collect::<Vec<_>>());
            let since = Timestamp(17 * DAY);
            let late: Vec<&Folded> = own.iter().copied().filter(|one| one.record.end >= begin_of_week(since)).collect();
            let groups = of.gaps_by_causes(since);
            let matches: i64 = groups.iter().map(|group| group.matches).sum();
            prop_assert_eq!(matches, naive(&late).scored);
            for cause in Cause::ALL {
                let with = late.iter().filter(|one| one.ruling.causes.is_some_and(|causes| causes.has(cause)));
                let gaps: Vec<f64> = with.filter_map(|one| one.record.score_gap()).collect();
                let groups = groups.iter().filter(|group| group.causes.has(cause));
                let squares: f64 = groups.map(|group| group.squares).sum();
                prop_assert!((squares - gaps.iter().map(|gap| gap * gap).sum::<f64>()).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn sums_have_the_same_bits_in_any_order_and_copies_do_not_change(
        all in prop::collection::vec(some_match(), 1..60),
        at in any::<prop::sample::Index>(),
    ) {
        let at = at.index(all.len());
        let mut own = balance(&all[..at]);
        let copy = own.clone();
        let before = postcard::to_stdvec(&copy).unwrap();
        for one in &all[at..] {
            own.push(&one.record, &one.ruling);
        }
        prop_assert_eq!(postcard::to_stdvec(&copy).unwrap(), before);
        let whole = balance(&all);
        let bytes = postcard::to_stdvec(&whole).unwrap();
        prop_assert_eq!(postcard::to_stdvec(&own).unwrap(), bytes.clone());
        let read: BalanceStatistics = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(read.rulesets(10), whole.rulesets(10));
        prop_assert_eq!(read.on_map("map1", 10), whole.on_map("map1", 10));
        let mut backwards = all.clone();
        backwards.reverse();
        let backwards = balance(&backwards);
        for name in ["ctf", "tdm"] {
            let (one, other) = (whole.of(name), backwards.of(name));
            prop_assert_eq!(one.weeks(), other.weeks());
            prop_assert_eq!(one.maps(10), other.maps(10));
            prop_assert_eq!(one.gaps(), other.gaps());
            prop_assert_eq!(one.chances(), other.chances());
            let since = Timestamp(i64::MIN);
            prop_assert_eq!(one.gaps_by_causes(since), other.gaps_by_causes(since));
        }
    }
}

#[test]
fn a_line_has_48_bytes() {
    assert_eq!(size_of::<CompactMatch>(), 48);
}

#[test]
fn a_match_without_scores_has_no_difference() {
    let won = |scores: [f64; 2], team| {
        folded(("ctf", "m"), 1, (&scores, Outcome::Won(team)), (None, None))
    };
    let draw = folded(("ctf", "m"), 1, (&[0.0, 0.0], Outcome::Draw), (None, None));
    let of = |all: &[Folded]| balance(all).of("ctf").weeks()[0].closeness;
    assert_eq!(
        of(&[won([0.0, 0.0], 0), won([0.0, 0.0], 1)]).mean_gap(),
        None
    );
    assert_eq!(of(&[won([0.0, 0.0], 0), draw.clone()]).mean_gap(), None);
    assert_eq!(of(&[won([3.0, 0.0], 0), draw]).mean_gap(), Some(1.5));
}

#[test]
fn weeks_begin_on_mondays_also_before_1970_and_at_the_ends_of_time() {
    let day = |text: &str| Timestamp::parse(text).unwrap();
    assert_eq!(begin_of_week(day("2026-11-29")), day("2026-11-23"));
    assert_eq!(begin_of_week(day("2026-11-23")), day("2026-11-23"));
    assert_eq!(begin_of_week(day("1970-01-01")), day("1969-12-29"));
    assert_eq!(begin_of_week(day("1969-12-28")), day("1969-12-22"));
    for end in [i64::MIN, i64::MAX] {
        let begins = begin_of_week(Timestamp(end));
        assert_eq!(begin_of_week(begins), begins);
    }
}

#[test]
fn many_invented_names_are_all_found() {
    let mut balance = BalanceStatistics::default();
    for number in 0..5_000 {
        let _kept = balance.clone(); // as it is published
        let name = format!("r{number}");
        let one = folded(
            (&name, &name),
            number,
            (&[1.0, 0.0], Outcome::Won(0)),
            (None, None),
        );
        balance.push(&one.record, &one.ruling);
    }
    assert_eq!(balance.rulesets(9_000).len(), 5_000);
    assert_eq!(balance.of("r4711").maps(2)[0].map, "r4711");
    assert_eq!(balance.on_map("r17", 5)[0].ruleset, "r17");
    assert!(balance.on_map("r5000", 5).is_empty());
}
