//! Seasons of equals, two of whom leave when it suits them.

mod points;

use evenkeel_model::{
    Outcome, PlayerKey, Rulebook, Timestamp, fingerprint::Fingerprint, record::ScoreEvent,
    rulebook::RulebookSpec,
};

use super::*;
use crate::{
    self as rating, SystemChoice, SystemName,
    history::{Fold, Settings, digest::Digest},
};

const MINUTE: u64 = 60_000;
const PLAYERS: [&str; 8] = ["q", "r", "b", "c", "d", "e", "f", "g"];

fn rulebook() -> Rulebook {
    Rulebook::new(&RulebookSpec::default()).unwrap()
}

fn settings(system: SystemName) -> Settings {
    let rating = rating::Settings {
        system: SystemChoice::Always(system),
        ..rating::Settings::default()
    };
    rating.into()
}

/// Knuth's generator.
struct Coins(u64);

impl Coins {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

/// One game of eleven minutes of four against four, with a goal in each of the first ten.
///
/// `q` and `r` leave, for this reason, as soon as their team is `lead` goals ahead (behind where it is
/// negative). Where `weaker`, a team's chance of a goal is its share of the players, otherwise a half.
fn game(
    coins: &mut Coins,
    at: i64,
    lead: i32,
    left: Option<LeaveReason>,
    weaker: bool,
) -> MatchRecord {
    let mut players = PLAYERS;
    for last in (1..players.len()).rev() {
        players.swap(last, coins.below(last + 1));
    }
    let (mut ahead, mut scores, mut events) = (0_i32, vec![0.0, 0.0], Vec::new());
    let mut until = [11 * MINUTE; 8];
    for minute in 1..=10 {
        let there = |team: usize| {
            let seats = until[4 * team..4 * team + 4].iter();
            seats.filter(|&&until| until > minute * MINUTE).count()
        };
        let chance = if weaker {
            there(0) * 1_000 / (there(0) + there(1))
        } else {
            500
        };
        let team = u8::from(coins.below(1_000) >= chance);
        scores[usize::from(team)] += 1.0;
        ahead += if team == 0 { 1 } else { -1 };
        events.push(ScoreEvent {
            at: minute * MINUTE,
            team,
            points: 1.0,
            by: None,
        });
        for (seat, id) in players.iter().enumerate() {
            let own = if seat < 4 { ahead } else { -ahead };
            let enough = if lead > 0 { own >= lead } else { own <= lead };
            if ["q", "r"].contains(id) && enough {
                until[seat] = until[seat].min(minute * MINUTE + 1);
            }
        }
    }
    let participant = |(seat, id): (usize, &&str)| Participant {
        key: PlayerKey {
            kind: Kind::Human,
            id: (*id).to_owned(),
        },
        name: (*id).to_owned(),
        presence: vec![Presence {
            team: u8::from(seat >= 4),
            span: Span {
                from: 0,
                to: until[seat],
            },
        }],
        points: None,
        kills: 0,
        deaths: 0,
        roles: vec![],
        party: None,
        left: left.filter(|_| until[seat] < 11 * MINUTE),
    };
    MatchRecord {
        server: "s".to_owned(),
        start: Timestamp(at),
        end: Timestamp(at + 11 * MINUTE as i64),
        clock: None,
        untimed: false,
        client: String::new(),
        unscored: false,
        too_many_new: None,
        logged_as: None,
        map: "m".to_owned(),
        game_type: "ctf".to_owned(),
        mode: String::new(),
        mutators: vec![],
        outcome: MatchRecord::outcome_of(&scores),
        scores,
        participants: players.iter().enumerate().map(participant).collect(),
        events,
    }
}

/// Mean weights of the two who leave and of the six who stay, over seasons of 240 games.
fn seasons(
    system: SystemName,
    lead: i32,
    left: Option<LeaveReason>,
    weaker: bool,
    change: impl Fn(&mut MatchRecord),
) -> (f64, f64) {
    const SEASONS: u64 = 8;
    let (mut quitters, mut stayers) = (0.0, 0.0);
    for season in 0..SEASONS {
        let mut coins = Coins(season);
        let mut fold = Fold::new(&rulebook(), settings(system));
        for n in 0..240 {
            let mut record = game(&mut coins, n * 3_600_000, lead, left, weaker);
            change(&mut record);
            assert_eq!(record.check(), Ok(()));
            fold.push(&record, Fingerprint::of(&record)).unwrap();
        }
        for weight in fold.weights() {
            if ["q", "r"].contains(&weight.key.id.as_str()) {
                quitters += weight.weight / 2.0 / SEASONS as f64;
            } else {
                stayers += weight.weight / 6.0 / SEASONS as f64;
            }
        }
    }
    println!(
        "{} lead {lead} {left:?} weaker {weaker}: quitters {quitters:.2}, stayers {stayers:.2}",
        system.as_str()
    );
    (quitters, stayers)
}

const LEFT: Option<LeaveReason> = Some(LeaveReason::Left);

#[test]
fn leaving_early_neither_pays_nor_costs_and_weights_do_not_drift() {
    for weaker in [false, true] {
        for lead in [-2, -1, 2] {
            let (quitters, stayers) = seasons(SystemName::Joint, lead, LEFT, weaker, |_| {});
            // A team that really is weaker without them is so for nobody else's fault.
            let apart = if weaker { 4.0 } else { 2.0 };
            assert!((quitters - stayers).abs() < apart, "{quitters} {stayers}");
            let mean = (2.0 * quitters + 6.0 * stayers) / 8.0;
            assert!((mean - 50.0).abs() < 1.5, "{mean}");
        }
    }
}

#[test]
fn who_did_not_leave_of_their_own_accord_is_not_charged() {
    let plain = seasons(SystemName::Joint, -2, None, false, |_| {});
    for reason in LeaveReason::ALL {
        let charged = seasons(SystemName::Joint, -2, Some(reason), false, |_| {});
        assert_eq!(charged == plain, reason != LeaveReason::Left, "{reason:?}");
    }
    assert!(
        plain.0 > plain.1 + 2.0,
        "the reason for all this: {plain:?}"
    );
}

#[test]
fn leaving_early_pays_in_no_system() {
    for system in SystemName::ALL {
        let (quitters, stayers) = seasons(system, -2, LEFT, false, |_| {});
        assert!(
            quitters < stayers + 3.0,
            "{}: {quitters} {stayers}",
            system.as_str()
        );
    }
}

#[test]
fn without_scores_the_result_counts_in_full() {
    let silent = |record: &mut MatchRecord| {
        record.scores = vec![0.0, 0.0];
        record.events.clear();
        // A draw says nothing here, and no scores none.
        if record.outcome == Outcome::Draw {
            record.outcome = Outcome::Won(0);
        }
    };
    let stayed = |record: &mut MatchRecord| {
        silent(record);
        let end = record.millis();
        for participant in &mut record.participants {
            participant.presence[0].span.to = end;
        }
    };
    let quit = seasons(SystemName::Joint, -2, LEFT, false, silent);
    let stayed = seasons(SystemName::Joint, -2, None, false, stayed);
    assert!((quit.0 - stayed.0).abs() < 1e-6, "{quit:?} {stayed:?}");
}

#[test]
fn a_departure_is_the_game_as_it_stood() {
    let mut record = game(&mut Coins(1), 0, -2, LEFT, false);
    let quitter = record.participants.iter().position(|p| p.left.is_some());
    let quitter = quitter.unwrap();
    let Presence { team, span } = record.participants[quitter].presence[0];
    let rulebook = rulebook();
    let digest = |record: &MatchRecord| {
        let mut digest = Digest::new(&rulebook, &settings(SystemName::Joint));
        digest.digest(record).1.unwrap().game
    };
    let whole = digest(&record);
    let departure = &whole.departures[0];
    assert!((departure.played - span.to as f64 / (11 * MINUTE) as f64).abs() < 1e-12);
    let scores = &departure.game.scores;
    let own = usize::from(team);
    assert_eq!(scores[1 - own] - scores[own], 2.0);
    assert_eq!(departure.game.places[own], 1);
    assert_eq!(departure.game.seats().len(), 8);
    assert!(departure.game.seats().iter().all(|seat| seat.share == 1.0));
    let seats = whole.seats().iter();
    let seat = seats.clone().find(|seat| seat.player == departure.player);
    let seat = seat.unwrap();
    assert!((seat.share - 1.0).abs() < 1e-12 && seat.missed > 0.0);
    assert!(seats.filter(|seat| seat.missed > 0.0).count() <= 2);
    // Who is lost to the server leaves a smaller share, and no departure.
    for participant in &mut record.participants {
        participant.left = participant.left.map(|_| LeaveReason::Timeout);
    }
    let lost = digest(&record);
    assert!(lost.departures.is_empty());
    assert!(lost.seats().iter().any(|seat| seat.share < 1.0));
    // So does who comes back, until the end or not.
    record.participants[quitter].left = None;
    assert!(digest(&record).departures.is_empty());
}

/// A bot comes for each quitter, one minute after they left, and stays.
fn replaced(record: &mut MatchRecord) {
    let end = record.millis();
    let gone: Vec<Participant> = record.participants.clone();
    for (number, quitter) in gone.iter().filter(|p| p.left.is_some()).enumerate() {
        let Presence { team, span } = quitter.presence[0];
        let from = (span.to + MINUTE).min(end - 1);
        record.participants.push(Participant {
            key: PlayerKey {
                kind: Kind::Bot,
                id: format!("{}{number}", ["x", "y"][number]),
            },
            presence: vec![Presence {
                team,
                span: Span { from, to: end },
            }],
            left: None,
            ..quitter.clone()
        });
    }
}

#[test]
fn who_comes_instead_is_not_to_blame_for_what_was_lost_before() {
    let (mut came, mut all) = (0.0, 0.0);
    const SEASONS: u64 = 8;
    for season in 0..SEASONS {
        let mut coins = Coins(season);
        let mut fold = Fold::new(&rulebook(), settings(SystemName::Joint));
        for n in 0..240 {
            let mut record = game(&mut coins, n * 3_600_000, -2, LEFT, false);
            replaced(&mut record);
            assert_eq!(record.check(), Ok(()));
            fold.push(&record, Fingerprint::of(&record)).unwrap();
        }
        let weights: Vec<_> = fold.weights().collect();
        let of = |id: &str| {
            weights
                .iter()
                .find(|weight| weight.key.id == id)
                .unwrap()
                .weight
        };
        came += (of("x0") + of("y1")) / 2.0 / SEASONS as f64;
        let sum: f64 = weights.iter().map(|weight| weight.weight).sum();
        all += sum / weights.len() as f64 / SEASONS as f64;
    }
    println!("who came {came:.2}, all {all:.2}");
    assert!((came - 50.0).abs() < 3.0, "{came}");
    assert!((all - 50.0).abs() < 1.5, "{all}");
}

#[test]
fn an_arrival_is_a_stretch_of_its_own() {
    let mut record = game(&mut Coins(1), 0, -2, LEFT, false);
    replaced(&mut record);
    let rulebook = rulebook();
    let mut digest = Digest::new(&rulebook, &settings(SystemName::Joint));
    let whole = digest.digest(&record).1.unwrap().game;
    let arrival = whole.arrivals.first().unwrap();
    assert!((arrival.since + arrival.played - 1.0).abs() < 1e-12);
    let seats = arrival.game.seats().iter();
    let own = seats.clone().find(|seat| seat.player == arrival.player);
    assert!((own.unwrap().share - 1.0).abs() < 1e-12);
    let sum = |game: &RatedGame| game.scores.iter().sum::<f64>();
    assert_eq!(sum(&arrival.before) + sum(&arrival.game), 10.0);
    assert!(
        seats
            .clone()
            .all(|seat| seat.player != whole.departures[0].player)
    );
    // Nobody came after a departure where none is of anybody's own accord.
    for participant in &mut record.participants {
        participant.left = participant.left.map(|_| LeaveReason::Kicked);
    }
    let whole = digest.digest(&record).1.unwrap().game;
    assert!(whole.arrivals.is_empty() && whole.departures.is_empty());
}
