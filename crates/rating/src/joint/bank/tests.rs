//! Weights by evidence, those of presets, and calibration.

use super::*;

#[test]
fn evidence_weighs_and_who_falls_behind_is_dropped() {
    let mut bank = Bank::new(Preset::Any);
    for (member, evidence) in bank.members.iter_mut().zip([-8.1, -1.0, 0.0, -7.9, -9.0]) {
        member.evidence = evidence;
    }
    bank.weigh();
    let weights = bank.weights();
    assert!((weights[1] / weights[2] - libm::exp(-1.0)).abs() < 1e-15);
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
    bank.prune(1);
    let skills = |bank: &Bank| {
        bank.members
            .iter()
            .map(|m| m.prior.skill)
            .collect::<Vec<_>>()
    };
    assert_eq!(skills(&bank), [0.2, 0.4, 0.8]);
    bank.try_points();
    bank.try_points();
    assert_eq!(bank.members.len(), 6);
}

#[test]
fn a_preset_is_where_the_weights_begin() {
    let same = |(a, b): (f64, f64)| (a - b).abs() < 1e-12;
    for preset in [Preset::Any, Preset::Shooter, Preset::ArenaCtf] {
        let mut bank = Bank::new(preset);
        assert!(
            bank.weights()
                .iter()
                .copied()
                .zip(preset.weights())
                .all(same)
        );
        bank.prune(1);
        assert_eq!(bank.members.len(), SPREADS, "none is dropped at once");
    }
}

#[test]
fn points_that_come_late_are_compared_for_thousands_of_matches() {
    let mut bank = Bank::new(Preset::Any);
    bank.members.truncate(1);
    bank.prune(16_384);
    bank.try_points();
    (16_385..20_480).for_each(|matches| bank.prune(matches));
    assert_eq!(bank.members.len(), 2);
    bank.members[1].evidence = 1.0;
    bank.prune(32_768);
    assert_eq!(bank.members.len(), 1);
    assert!(bank.members[0].points, "the better one");
    bank.try_points();
    assert_eq!(bank.members.len(), 1, "only once");
}

#[test]
fn the_best_of_both_kinds_stays_until_points_are_known() {
    let mut bank = Bank::new(Preset::Any);
    bank.try_points();
    for (number, member) in bank.members.iter_mut().enumerate() {
        member.evidence = if number < 5 {
            0.0
        } else {
            -10.0 - number as f64
        };
    }
    let kinds = |bank: &Bank| bank.members.iter().map(|m| m.points).collect::<Vec<_>>();
    bank.prune(1);
    assert_eq!(kinds(&bank), [false, false, false, false, false, true]);
    assert_eq!(
        bank.members[5].evidence, -15.0,
        "the best of those with points"
    );
    bank.prune(BOTH_KINDS - 1);
    assert_eq!(bank.members.len(), 6);
    bank.prune(BOTH_KINDS);
    assert_eq!(kinds(&bank), [false; 3], "so many are kept from here on");
}

#[test]
fn drifts_are_tried_once_the_players_are_known() {
    let mut bank = Bank::new(Preset::Any);
    let drift = bank.members[0].prior.drift;
    bank.members[0].evidence = 1.0;
    bank.members[1].evidence = -2.0; // exactly 3 behind
    bank.members[2].evidence = -2.5; // more than 3 behind
    bank.members[4].evidence = -2.6; // the fourth
    bank.members[3].evidence = -7.5; // more than 8 behind
    (1..DRIFTING).for_each(|matches| bank.prune(matches));
    assert_eq!(bank.members.len(), 4);
    let before = bank.weights().to_vec();
    bank.prune(DRIFTING);
    let drifts = |bank: &Bank| -> Vec<f64> { bank.members.iter().map(|m| m.prior.drift).collect() };
    let each = [drift, 0.5 * drift, 2.0 * drift, drift];
    assert_eq!(drifts(&bank)[..4], each, "of the best one");
    let next = bank.members[4].prior.skill;
    assert_eq!(next, SKILLS[1], "and of one that is nearly as good");
    let next = bank.members[8].prior.skill;
    assert_eq!((next, bank.members.len()), (SKILLS[2], 4 + 4 + 1));
    let after: Vec<f64> = bank.weights().chunks(4).map(|w| w.iter().sum()).collect();
    let shared = after[0] / after[1] - before[0] / before[1];
    assert!(shared.abs() < 1e-9, "the evidence is shared");
    bank.members[1].evidence += 1.0;
    (DRIFTING + 1..16_385).for_each(|matches| bank.prune(matches));
    assert_eq!(bank.members.len(), 1);
    assert_eq!(bank.members[0].prior.drift, 0.5 * drift);
}

#[test]
fn there_are_never_more_than_the_array_holds() {
    for late in [1, DRIFTING - 1, DRIFTING, DRIFTING + 1, 1_500] {
        let mut bank = Bank::new(Preset::Any); // all level: as many as can be
        for matches in 1..5_000 {
            if matches == late {
                bank.try_points();
            }
            assert!(bank.members.len() <= MOST, "{matches}");
            bank.prune(matches);
        }
    }
}

#[test]
fn too_many_leave_the_best_of_each_kind() {
    let mut bank = Bank::new(Preset::Any);
    bank.try_points();
    let evidence = |number: usize| -0.1 * number as f64;
    let members = bank.members.iter_mut().enumerate();
    members.for_each(|(number, m)| m.evidence = evidence(number));
    bank.drop_to(3, true);
    let left = bank.members.iter().map(|m| (m.points, m.evidence));
    let by_hand = [0, 1, 5].map(|number| (number == 5, evidence(number)));
    assert_eq!(left.collect::<Vec<_>>(), by_hand);
    bank.drop_to(2, false);
    assert!(bank.members.iter().all(|m| !m.points));
}

#[test]
fn absence_blurs_up_to_somebody_unknown() {
    let mut member = Bank::new(Preset::Any).members.swap_remove(3);
    let known = Strength {
        mean: 1.0,
        deviation: 0.1,
    };
    (0..3).for_each(|_| member.filter.add(known));
    member.drift([(0, 0.0), (1, 7.0), (2, 1e9)].into_iter());
    let step = member.prior.drift * member.prior.drift;
    let variances = [0, 1, 2].map(|c| member.filter.variance(c));
    let expected = [0.01 + step, 0.01 + 2.0 * step, 0.64];
    for (got, expected) in variances.into_iter().zip(expected) {
        assert!((got - expected).abs() < 1e-6, "{got} {expected}");
    }
}

#[test]
fn weights_are_shares() {
    for preset in [
        Preset::Any,
        Preset::ArenaCtf,
        Preset::Shooter,
        Preset::Volleyball,
    ] {
        let sum: f64 = preset.weights().iter().sum();
        assert!((sum - 1.0).abs() < 1e-12, "{preset:?}");
    }
}

/// A latent difference of which the standardised one is `z`.
fn latent(z: f64) -> Latent {
    Latent {
        mean: 2.0 * z,
        variance: 3.0,
    }
}

#[test]
fn it_starts_at_one_and_is_symmetric() {
    let fresh = Calibration::default();
    assert_eq!(fresh.factor(3), 1.0);
    assert_eq!(fresh.chance(3, latent(0.0)), 0.5);
    let (a, b) = (fresh.chance(3, latent(0.7)), fresh.chance(3, latent(-0.7)));
    assert!((a + b - 1.0).abs() < 1e-15);
    assert!((a - normal::cdf(0.7)).abs() < 3e-3);
    let (mut won, mut lost) = (fresh.clone(), fresh);
    won.learn(3, latent(0.7), 1.0);
    lost.learn(3, latent(-0.7), -1.0);
    assert_eq!(won.factor(3), lost.factor(3));
    assert!(won.factor(3) > 1.0);
}

/// The favourite, of standardised difference 0.5, wins `wins` of a hundred games, a thousand games long.
fn after(wins: u32) -> Calibration {
    let mut calibration = Calibration::default();
    for at in 0..1_000_u32 {
        let won = (at * 37) % 100 < wins;
        calibration.learn(3, latent(0.5), if won { 1.0 } else { -1.0 });
    }
    calibration
}

#[test]
fn it_follows_the_outcomes_both_ways() {
    // Φ(0.5) = 0.69.
    for (wins, chance) in [(80, 0.80), (60, 0.60)] {
        let learned = after(wins).chance(3, latent(0.5));
        assert!((learned - chance).abs() < 0.035, "{wins} {learned}");
    }
    assert!((after(69).factor(3) - 1.0).abs() < 0.02);
}

#[test]
fn an_upset_raises_their_share_and_hardly_moves_the_factor() {
    // λ = 0.005 and Φ(3) = 0.99865 (κ is uncertain, which makes it 0.9979): 0.0025 + 0.995 · 0.9979.
    let mut calibration = Calibration::default();
    let deviation = libm::sqrt(1.0 + 0.0125 * 9.0);
    let favourite = 0.0025 + 0.995 * normal::cdf(3.0 / deviation);
    assert!((calibration.chance(3, latent(3.0)) - favourite).abs() < 1e-12);
    assert!((favourite - 0.9953).abs() < 1e-3, "{favourite}");
    // A coin has decided with the chance 0.0025 / (1 − 0.9953), about a half.
    let coin = 0.0025 / (1.0 - favourite);
    calibration.learn(3, latent(3.0), -1.0);
    assert!((calibration.upset() - (0.5 + coin) / 101.0).abs() < 1e-12);
    assert!((0.4..0.7).contains(&coin), "{coin}");
    assert!(calibration.factor(3) > 0.93, "{}", calibration.factor(3));
    // However strong the favourite, the chance is not surer than the share allows.
    assert!(calibration.chance(3, latent(9.0)) < 1.0 - 0.5 * calibration.upset() + 1e-12);
    // It is 0.0102 now. Expected outcomes make it smaller.
    for _ in 0..1_000 {
        calibration.learn(3, latent(3.0), 1.0);
    }
    assert!(calibration.upset() < 0.004, "{}", calibration.upset());
}

#[test]
fn another_ruleset_gets_most_of_it() {
    let learned = after(80);
    let (own, other) = (learned.factor(3), learned.factor(4));
    assert!(1.2 < other && other < own, "{own} {other}");
}
