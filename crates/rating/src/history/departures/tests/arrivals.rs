//! Bots that come for quitters.

use super::*;

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
