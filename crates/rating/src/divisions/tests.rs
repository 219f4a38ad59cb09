//! Divisions, as players would tell of them, and their properties.

use proptest::{collection::vec, prelude::*};

use super::*;
use evenkeel_model::units::{Amount, Count, Percentile};

fn settings(names: &[&str]) -> Settings {
    let name = |name: &&str| DivisionName::try_from((*name).to_owned()).unwrap();
    Settings {
        names: names.iter().map(name).collect(),
        ..Settings::default()
    }
}

/// Bronze, Silver and Gold, of which 40 % of the players are in Bronze and 20 % in Gold.
fn metals() -> Settings {
    Settings {
        percentiles: vec![Percentile::of(40.0), Percentile::of(80.0)],
        ..settings(&["Bronze", "Silver", "Gold"])
    }
}

/// A thousand players with weights from 30 to 70.
fn town() -> impl Iterator<Item = f64> {
    (0..1_000).map(|i| 30.0 + 40.0 * f64::from(i) / 1_000.0)
}

/// Days as milliseconds.
fn days(days: i64) -> i64 {
    days * 86_400_000
}

#[test]
fn i_won_my_first_match_and_was_not_called_gold() {
    let metals = metals();
    assert!(!metals.is_calibrated(1, 5.0));
    assert!(!metals.is_calibrated(9, 2.0));
    assert!(metals.is_calibrated(10, 5.0), "ten are enough");
}

#[test]
fn i_play_in_large_teams_and_am_calibrated_later_but_not_never() {
    let metals = metals();
    assert!(!metals.is_calibrated(10, 9.0));
    assert!(!metals.is_calibrated(29, 9.0));
    assert!(metals.is_calibrated(30, 9.0));
    let eager = Settings {
        calibration_matches: Count::of(0),
        ..metals
    };
    assert!(eager.is_calibrated(0, 90.0));
}

#[test]
fn half_of_us_are_below_silver_s_middle() {
    let borders = Borders::of(&metals(), town());
    let place = |weight| borders.division_of(weight, None);
    assert_eq!([30.0, 45.0, 47.0, 61.0, 63.0].map(place), [0, 0, 1, 1, 2]);
}

#[test]
fn we_are_five_and_the_best_of_us_is_not_at_the_top_at_once() {
    let borders = Borders::of(&metals(), [48.0, 49.0, 50.0, 51.0, 53.0]);
    assert_eq!(borders.division_of(53.0, None), 1);
    assert_eq!(borders.division_of(70.0, None), 2, "but can get there");
}

#[test]
fn i_win_one_and_lose_one_at_the_border_and_stay() {
    let borders = Borders::of(&metals(), town());
    let border = borders.marks[1];
    let held = borders.division_of(border + 0.2, None);
    assert_eq!(held, 1);
    for evening in 0..20 {
        let weight = border + [-0.5, 0.5][evening % 2];
        assert_eq!(borders.division_of(weight, Some(held)), held);
        assert_eq!(
            borders.division_of(weight, Some(0)),
            0,
            "nor does my friend below it"
        );
    }
    assert_eq!(
        borders.division_of(border - 0.8, Some(1)),
        0,
        "a losing streak"
    );
    assert_eq!(
        borders.division_of(border + 0.8, Some(0)),
        1,
        "a winning streak"
    );
}

#[test]
fn i_was_promoted_when_the_bar_was_full_and_one_loss_did_not_take_it_back() {
    let borders = Borders::of(&metals(), town());
    let promotion = borders.rises_from(0);
    assert!(borders.rank(0, promotion - 1e-6).progress > 0.999);
    let silver = borders.division_of(promotion, Some(0));
    assert_eq!(silver, 1);
    let progress = borders.rank(1, promotion).progress;
    assert!((0.02..0.2).contains(&progress), "{progress}");
    assert_eq!(borders.division_of(promotion - 1.0, Some(1)), 1);
}

#[test]
fn i_am_far_stronger_and_skip_a_division() {
    let borders = Borders::of(&metals(), town());
    assert_eq!(borders.division_of(68.0, Some(0)), 2);
    assert_eq!(borders.division_of(31.0, Some(2)), 0);
}

#[test]
fn a_professional_came_and_i_did_not_fall() {
    let without = Borders::of(&metals(), town());
    let with = Borders::of(&metals(), town().chain([99.9]));
    for mark in 1..3 {
        assert!((without.marks[mark] - with.marks[mark]).abs() < 0.1);
    }
}

#[test]
fn we_are_all_alike_and_nobody_minds() {
    let borders = Borders::of(&metals(), [50.0; 500]);
    let places: Vec<u8> = (0..500).map(|_| borders.division_of(50.0, None)).collect();
    assert!(places.iter().all(|place| *place == places[0]));
    assert!(borders.rank(places[0], 50.0).progress.is_finite());
}

#[test]
fn i_am_the_best_and_the_worst_and_the_bar_says_so() {
    let borders = Borders::of(&metals(), town());
    assert!(borders.rank(2, 70.0).progress > 0.95);
    assert_eq!(borders.rank(2, 99.0).progress, 1.0);
    assert_eq!(borders.rank(0, 0.0).progress, 0.0);
}

#[test]
fn i_stayed_away_with_my_gold_and_it_tarnished_until_i_came_back() {
    let metals = metals();
    let gold = Rank {
        division: 2,
        progress: 0.5,
    };
    let away = |days_away| metals.displayed(gold, days(days_away));
    assert_eq!(away(0), gold);
    assert_eq!(away(30), gold, "a month is nothing");
    assert_eq!(away(-5), gold, "a clock that is wrong");
    assert_eq!(away(45).division, 2);
    assert_eq!(away(60).division, 1);
    assert_eq!(away(90).division, 0);
    let lowest = Rank {
        division: 0,
        progress: 0.0,
    };
    assert_eq!(away(3_650), lowest);
    let kept = Settings {
        decay_days: Count::of(0),
        ..metals
    };
    assert_eq!(kept.displayed(gold, days(3_650)), gold);
}

#[test]
fn without_names_there_are_none_and_one_name_is_everybody_s() {
    assert!(!Settings::default().is_on());
    let one = Borders::of(&settings(&["Sailor"]), town());
    assert_eq!(
        [one.division_of(0.0, None), one.division_of(100.0, Some(0))],
        [0, 0]
    );
    assert!((one.rank(0, 50.0).progress - 0.5).abs() < 0.02);
}

#[test]
fn names_are_short_and_plain() {
    let name = |name: &str| DivisionName::try_from(name.to_owned()).is_ok();
    assert!(name("Gold II") && name("Órfão") && name(&"x".repeat(32)));
    for bad in ["", "-", " Gold", "Gold ", "a\nb", &"x".repeat(33)] {
        assert!(!name(bad), "{bad:?}");
    }
}

fn any_settings() -> impl Strategy<Value = Settings> {
    (1_usize..8, 0.0..6.0_f64).prop_map(|(divisions, hysteresis)| Settings {
        hysteresis: Amount::try_from(hysteresis).unwrap(),
        ..settings(&["a", "b", "c", "d", "e", "f", "g", "h"][..divisions])
    })
}

fn any_borders() -> impl Strategy<Value = Borders> {
    let weights = vec(0.0..=100.0_f64, 0..60);
    (any_settings(), weights).prop_map(|(settings, weights)| Borders::of(&settings, weights))
}

proptest! {
    #[test]
    fn a_higher_weight_is_never_ranked_lower(
        borders in any_borders(),
        a in 0.0..=100.0_f64,
        b in 0.0..=100.0_f64,
        held in prop::option::of(0_u8..8),
    ) {
        let rank = |weight| borders.rank(borders.division_of(weight, held), weight);
        let (low, high) = (rank(a.min(b)), rank(a.max(b)));
        prop_assert!(low.division <= high.division);
        prop_assert!(low.position() <= high.position() + 1e-12, "{low:?} {high:?}");
        prop_assert!((0.0..=1.0).contains(&low.progress));
        prop_assert!(usize::from(high.division) <= borders.top());
    }

    /// Whoever stays within the margins of one border changes at most once, to the side where they are.
    #[test]
    fn nobody_flickers_within_the_hysteresis(
        borders in any_borders(),
        at in any::<prop::sample::Index>(),
        steps in vec(-0.999..0.999_f64, 1..50),
        first in prop::option::of(0_u8..8),
    ) {
        prop_assume!(borders.top() > 0);
        let border = 1 + at.index(borders.top());
        let weights = steps.iter().map(|s| borders.mark(border) + s * borders.margin(border));
        let mut held = first;
        let mut places = Vec::new();
        for weight in weights {
            let place = borders.division_of(weight, held);
            held = Some(place);
            places.push(place);
        }
        prop_assert!(places.windows(2).all(|two| two[0] == two[1]), "{places:?}");
    }

    #[test]
    fn what_is_displayed_only_falls_with_time(
        settings in any_settings(),
        division in 0_u8..8,
        progress in 0.0..=1.0_f64,
        a in 0_i64..400,
        b in 0_i64..400,
    ) {
        let rank = Rank { division, progress };
        let (sooner, later) = (a.min(b), a.max(b));
        let at = |away| settings.displayed(rank, days(away));
        prop_assert!(at(later).position() <= at(sooner).position());
        prop_assert!(at(later).division <= at(sooner).division);
        prop_assert!(at(later).progress >= 0.0 && at(later).progress <= 1.0);
        prop_assert_eq!(at(0), rank);
        prop_assert_eq!(settings.displayed(rank, i64::MIN), rank);
        prop_assert!(settings.displayed(rank, i64::MAX).position() >= 0.0);
    }

    #[test]
    fn a_rank_s_division_is_the_one_that_is_held(borders in any_borders(), weight in 0.0..=100.0_f64) {
        let held = borders.division_of(weight, None);
        prop_assert_eq!(borders.division_of(weight, Some(held)), held, "a placement is final");
    }
}

fn measured(player: u32, weight: f64, games: u32) -> MeasuredPlayer {
    MeasuredPlayer {
        player: Player(player),
        weight,
        deviation: 5.0,
        games,
    }
}

#[test]
fn a_division_comes_with_the_tenth_match_and_changes_with_one_s_own_matches_only() {
    let (settings, mut ladder) = (settings(&["Bronze", "Silver", "Gold"]), Ladder::default());
    let town: Vec<_> = (0..100)
        .map(|i| measured(i, 30.0 + 0.4 * f64::from(i), 20))
        .collect();
    let newcomer = measured(200, 60.0, 9);
    let mut play = |who: MeasuredPlayer| {
        ladder.learn(&settings, [who].into_iter(), || town.clone());
        ladder.rank(who.player, who.weight)
    };
    assert_eq!(play(newcomer), None, "calibrating");
    let rank = play(measured(200, 60.0, 10)).unwrap();
    assert_eq!(rank.division, 2);
    for _ in 0..200 {
        play(measured(7, 45.0, 30));
    }
    let rank = |weight| ladder.rank(Player(200), weight).unwrap();
    assert_eq!(rank(60.0).division, 2);
    assert_eq!(rank(40.0).division, 2, "until the next match");
    assert_eq!(rank(40.0).progress, 0.0);
    ladder.learn(&settings, [measured(200, 40.0, 11)].into_iter(), || {
        town.clone()
    });
    assert_eq!(ladder.rank(Player(200), 40.0).unwrap().division, 0);
}

#[test]
fn borders_are_set_again_ever_less_often() {
    let (settings, mut ladder) = (settings(&["Bronze", "Silver", "Gold"]), Ladder::default());
    let mut set = 0;
    for _ in 0..10_000 {
        ladder.learn(&settings, std::iter::empty(), || {
            set += 1;
            Vec::new()
        });
    }
    assert!((50..200).contains(&set), "{set}");
    assert!(ladder.rank_of_weight(50.0).is_some());
    assert!(ladder.rank(Player(0), 50.0).is_none());
}
