//! What players say about their weight. Each test is a story as they would tell it.

use evenkeel::{
    model::{
        Kind, MatchRecord, Participant, PlayerKey, Rulebook, Ruleset, Timestamp,
        fingerprint::Fingerprint,
        record::{LeaveReason, Presence, ScoreEvent, Span},
        units::Share,
        weight::{StartWeight, WeightCause, WeightEntry},
    },
    rating::history::{Fold, Settings},
    rating::{self, SystemName},
};

use crate::common::{
    game, player,
    worlds::{Score, World},
};

const MILLIS: u64 = 20 * 60_000;

fn rulebook() -> Rulebook {
    Rulebook::new(&crate::common::config("").rulebook()).unwrap()
}

/// A server with the default rating system.
struct Server {
    fold: Fold,
    ruleset: Ruleset,
    minute: i64,
    /// What the last match entered, by identity.
    entries: Vec<(String, WeightEntry)>,
}

impl Server {
    fn new(settings: Settings) -> Self {
        let rulebook = rulebook();
        Self {
            fold: Fold::new(&rulebook, settings),
            ruleset: rulebook.ruleset::<&str>("ctf", &[]),
            minute: 0,
            entries: Vec::new(),
        }
    }

    /// Learns from a match in the order in which it was played.
    fn learn(&mut self, record: &MatchRecord) {
        let ruling = self.fold.push(record, Fingerprint::of(record)).unwrap();
        let played = ruling.rated.unwrap().into_iter();
        let entry = |own: evenkeel::rating::history::Played| {
            let id = record.participants[own.participant].key.id.clone();
            Some((id, own.entry?))
        };
        self.entries = played.filter_map(entry).collect();
    }

    /// The next match of twenty minutes, before anything is changed in it.
    fn next(&mut self, red: &[&str], blue: &[&str], scores: [f64; 2]) -> MatchRecord {
        self.minute += 30;
        let mut record = game(self.minute, &[], &[], scores);
        record.end = record.start.plus_millis(MILLIS as i64);
        let of = |team: u8, ids: &[&str]| -> Vec<Participant> {
            ids.iter()
                .map(|id| player(Kind::Human, id, team, MILLIS))
                .collect()
        };
        record.participants = [of(0, red), of(1, blue)].concat();
        record.events = Vec::new();
        record
    }

    fn play(&mut self, red: &[&str], blue: &[&str], scores: [f64; 2]) {
        let record = self.next(red, blue, scores);
        self.learn(&record);
    }

    fn weight(&self, id: &str) -> f64 {
        let known = self.fold.best_weight(&self.ruleset, Kind::Human, id);
        known.map_or_else(
            || self.fold.unknown_weight(&self.ruleset),
            |(own, _)| own.weight,
        )
    }

    fn entry(&self, id: &str) -> WeightEntry {
        self.entries.iter().find(|(who, _)| who == id).unwrap().1
    }
}

/// Three are strong, and have shown it against everybody.
const STRONG: [&str; 4] = ["ann", "bea", "cid", "dan"];
const WEAK: [&str; 4] = ["eve", "fay", "gus", "hal"];

fn after_an_evening() -> Server {
    let mut server = Server::new(Settings::default());
    for number in 0..30 {
        let (red, blue) = if number % 2 == 0 {
            (STRONG, WEAK)
        } else {
            (WEAK, STRONG)
        };
        let scores = if number % 2 == 0 {
            [4.0, 1.0]
        } else {
            [1.0, 4.0]
        };
        server.play(&red, &blue, scores);
    }
    server
}

#[test]
fn it_was_my_first_evening_and_we_lost_so_i_did_not_rise() {
    let mut server = after_an_evening();
    let begun = server.weight("new");
    server.play(&["new", "eve", "fay", "gus"], &STRONG, [1.0, 4.0]);
    assert!(
        server.weight("new") <= begun,
        "{begun} {}",
        server.weight("new")
    );
    // And who wins a first match does not fall.
    server.play(&["lucky", "ann", "bea", "cid"], &WEAK, [4.0, 1.0]);
    let lucky = server.entry("lucky");
    assert!(lucky.change() >= 0.0 && lucky.change() <= 8.0, "{lucky:?}");
}

#[test]
fn we_were_the_favourites_and_won_by_a_hair_so_nothing_moved_much() {
    let mut server = after_an_evening();
    server.play(&STRONG, &WEAK, [2.0, 1.0]);
    let ann = server.entry("ann");
    assert!((0.0..1.0).contains(&ann.change()), "{ann:?}");
    assert!(server.entry("eve").change() <= 0.0);
    // Losing to them costs more than winning against them brings.
    server.play(&WEAK, &STRONG, [4.0, 1.0]);
    let lost = server.entry("ann");
    assert!(lost.change() < -1.0, "{lost:?}");
}

#[test]
fn i_did_not_play_tonight_and_my_weight_is_where_i_left_it() {
    let mut server = after_an_evening();
    let before = STRONG.map(|id| server.weight(id).to_bits());
    for number in 0..40 {
        let guests = ["ida", "joe", "kim", "leo"].map(|id| format!("{id}{}", number % 7));
        let guests: Vec<&str> = guests.iter().map(String::as_str).collect();
        server.play(&guests, &WEAK, [f64::from(number % 5), 2.0]);
    }
    assert_eq!(STRONG.map(|id| server.weight(id).to_bits()), before);
}

#[test]
fn a_guest_won_his_first_match_and_the_thirty_of_us_stayed_as_we_were() {
    let world = World::closed(3, 300, 1.0, Score::Same);
    let rulebook = rulebook();
    let mut fold = Fold::new(&rulebook, Settings::default());
    let played = world.play().matches;
    for record in &played {
        fold.push(record, Fingerprint::of(record)).unwrap();
    }
    let ruleset = rulebook.ruleset::<&str>("t.ctf", &[]);
    let weights = |fold: &Fold| -> Vec<u64> {
        let own = |number| fold.best_weight(&ruleset, Kind::Human, &World::regular(number));
        (0..30)
            .map(|number| own(number).unwrap().0.weight.to_bits())
            .collect()
    };
    let before = weights(&fold);
    let mut last = played.last().unwrap().clone();
    last.end = last.end.plus_millis(3_600_000);
    last.start = last.start.plus_millis(3_600_000);
    last.participants[0].key.id = "guest".into();
    (last.scores, last.outcome) = (vec![3.0, 1.0], MatchRecord::outcome_of(&[3.0, 1.0]));
    fold.push(&last, Fingerprint::of(&last)).unwrap();
    let there = |number: &usize| {
        let name = World::regular(*number);
        last.participants.iter().any(|one| one.key.id == name)
    };
    let after = weights(&fold);
    for number in (0..30).filter(|number| !there(number)) {
        assert_eq!(before[number], after[number], "{number}");
    }
    let (guest, _) = fold.best_weight(&ruleset, Kind::Human, "guest").unwrap();
    assert!(
        guest.weight >= 50.0 - 15.0 && guest.weight < 60.0,
        "{}",
        guest.weight
    );
}

#[test]
fn i_came_ten_seconds_before_we_lost_five_to_nil_and_it_cost_me_nothing_to_speak_of() {
    let mut server = after_an_evening();
    let mut record = server.next(&["eve", "fay", "gus", "hal", "late"], &STRONG, [0.0, 5.0]);
    let late = record
        .participants
        .iter_mut()
        .find(|one| one.key.id == "late")
        .unwrap();
    late.presence[0].span = Span {
        from: MILLIS - 10_000,
        to: MILLIS,
    };
    server.learn(&record);
    let late = server.entry("late");
    assert!(late.change() <= 0.0 && late.change() > -0.1, "{late:?}");
}

#[test]
fn we_were_the_favourites_and_drew_so_nobody_of_us_rose() {
    let mut server = after_an_evening();
    server.play(&STRONG, &WEAK, [2.0, 2.0]);
    for id in STRONG {
        assert!(server.entry(id).change() <= 0.0, "{:?}", server.entry(id));
    }
    for id in WEAK {
        assert!(server.entry(id).change() >= 0.0, "{:?}", server.entry(id));
    }
}

#[test]
fn he_left_when_they_were_behind_and_pays_for_the_rest() {
    let mut server = after_an_evening();
    let leave = |record: &mut MatchRecord, at: u64| {
        let eve = record
            .participants
            .iter_mut()
            .find(|one| one.key.id == "eve")
            .unwrap();
        eve.presence[0].span.to = at;
        eve.left = Some(LeaveReason::Left);
        record.events = vec![ScoreEvent {
            at: 60_000,
            team: 1,
            points: 1.0,
            by: None,
        }];
    };
    // His team lost: he does not rise. It won without him: he does not fall.
    let mut lost = server.next(&WEAK, &STRONG, [0.0, 1.0]);
    leave(&mut lost, 120_000);
    server.learn(&lost);
    assert!(server.entry("eve").change() <= 0.0);
    let mut won = server.next(&WEAK, &STRONG, [4.0, 1.0]);
    leave(&mut won, 120_000);
    server.learn(&won);
    assert!(
        server.entry("eve").change() >= 0.0,
        "{:?}",
        server.entry("eve")
    );
}

#[test]
fn i_was_on_both_teams_for_the_same_time_and_the_result_is_not_mine() {
    let mut server = after_an_evening();
    let mut record = server.next(&STRONG, &WEAK, [4.0, 1.0]);
    // Early time counts more: these halves weigh the same.
    let half = (0..MILLIS).step_by(1_000).find(|at| {
        let share = |from, to| Span { from, to }.early_share(MILLIS, MILLIS);
        share(0, *at) >= share(*at, MILLIS)
    });
    let half = half.unwrap();
    let stay = |team, from, to| Presence {
        team,
        span: Span { from, to },
    };
    record.participants[0].presence = vec![stay(0, 0, half), stay(1, half, MILLIS)];
    server.learn(&record);
    let ann = server.entry("ann");
    assert!(ann.change().abs() < 0.02, "{ann:?}");
}

#[test]
fn a_streak_of_defeats_costs_a_few_points_each_and_nobody_stands_at_a_limit() {
    let mut server = Server::new(Settings::default());
    for _ in 0..150 {
        server.play(&STRONG, &WEAK, [9.0, 0.0]);
        for id in STRONG.into_iter().chain(WEAK) {
            assert!(server.entry(id).change().abs() <= 8.0);
        }
    }
    for id in STRONG {
        let weight = server.weight(id);
        assert!(weight > 55.0 && weight < 99.9, "{weight}");
    }
    for id in WEAK {
        let weight = server.weight(id);
        assert!(weight < 45.0 && weight > 0.1, "{weight}");
    }
}

#[test]
fn a_new_season_took_a_fifth_of_my_lead_and_not_a_point_more() {
    let settings = Settings {
        seasons: vec![Timestamp(i64::MAX / 2)],
        season_keeps: Share::of(0.8),
        ..Settings::default()
    };
    let mut server = Server::new(settings);
    for _ in 0..10 {
        server.play(&STRONG, &WEAK, [4.0, 1.0]);
    }
    let before = server.weight("ann");
    server.fold.begin_seasons(Timestamp(i64::MAX / 2));
    let after = server.weight("ann");
    assert!(
        (after - (50.0 + 0.8 * (before - 50.0))).abs() < 1e-12,
        "{before} {after}"
    );
}

#[test]
fn the_best_of_eight_can_fall_too() {
    let rating = rating::Settings {
        system: SystemName::Elo.into(),
        ..rating::Settings::default()
    };
    for settings in [Settings::default(), Settings::from(rating)] {
        let mut server = Server::new(settings);
        server.ruleset = rulebook().ruleset::<&str>("dm", &[]);
        let everybody = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let free_for_all = |server: &mut Server, order: &[&str]| {
            let mut record = server.next(order, &[], [0.0, 0.0]);
            record.game_type = "dm".into();
            record.scores = Vec::new();
            record.outcome = MatchRecord::outcome_of(&[]);
            for (place, one) in record.participants.iter_mut().enumerate() {
                one.points = Some(40.0 - 5.0 * place as f64);
            }
            server.learn(&record);
        };
        for _ in 0..20 {
            free_for_all(&mut server, &everybody);
        }
        assert!(server.weight("a") > server.weight("d") && server.weight("d") > server.weight("h"));
        let mut upside_down = everybody;
        upside_down.reverse();
        free_for_all(&mut server, &upside_down);
        let (a, h) = (server.entry("a"), server.entry("h"));
        assert!(a.change() < 0.0 && h.change() > 0.0, "{a:?} {h:?}");
        let causes = [a.cause, h.cause].map(Option::unwrap);
        assert!(matches!(
            causes[0],
            WeightCause::Lost | WeightCause::LostLimited
        ));
        assert!(matches!(
            causes[1],
            WeightCause::Won | WeightCause::WonLimited
        ));
    }
}

#[test]
fn the_operator_said_seventy_and_so_i_began_there() {
    let key = PlayerKey {
        kind: Kind::Human,
        id: "pro".into(),
    };
    let start = StartWeight {
        weight: 70.0,
        uncertain: false,
    };
    let mut server = after_an_evening();
    let fold = std::mem::replace(
        &mut server.fold,
        Fold::new(&rulebook(), Settings::default()),
    );
    server.fold = fold.with_starts([(key, start)].into());
    server.play(
        &["pro", "eve", "fay", "gus"],
        &["hal", "ann", "bea", "cid"],
        [1.0, 4.0],
    );
    let pro = server.entry("pro");
    assert_eq!(pro.before, 70.0);
    assert!(pro.change() <= 0.0 && pro.weight > 60.0, "{pro:?}");
}
