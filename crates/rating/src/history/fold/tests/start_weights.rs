//! Weights at which operators let players start.

use super::*;

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
