//! Wishes for a team: the engines agree, and all that is decided is compared with all splits, one by one.

use super::{
    engines::{OF_TWO, check_agreement},
    wishes_oracle::{Oracle, check_reasons},
    *,
};
use evenkeel_model::chance_of_weaker;

prop_compose! {
    /// Lobbies in which some humans wish for a team, and some must be on one.
    fn wishful(most: usize, teams: std::ops::RangeInclusive<usize>)(
        spec in specs(most, teams),
        wishes in prop::collection::vec(prop::option::weighted(0.5, 0usize..8), 12),
        tolerance in prop::option::of((0.8..1.0, 0.0..0.2)),
    ) -> ProblemSpec {
        let mut spec = spec;
        let teams = spec.teams();
        for (human, wish) in spec.view.humans.iter_mut().zip(wishes) {
            human.wish = wish.map(|team| (team % teams) as u8);
        }
        spec.tolerance = tolerance.map(|(enough, slack)| Tolerance { enough, slack });
        spec
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn two_team_engines_agree_with_wishes(
        spec in wishful(9, 2..=2),
        objective in objectives(),
        seed: u64,
        top in 1u32..40,
    ) {
        check_agreement(spec, OF_TWO, objective, (seed, top))?;
    }

    #[test]
    fn branching_agrees_with_naive_with_wishes(
        spec in wishful(7, 3..=4),
        objective in objectives(),
        seed: u64,
        top in 1u32..40,
    ) {
        check_agreement(spec, &[Engine::Branch], objective, (seed, top))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// The candidates are all splits, and no others, that grant as many wishes as are worth it; so the pick is the same, too.
    /// Whose wish was refused is told the reason that follows from all splits.
    #[test]
    fn what_is_granted_is_what_all_splits_say(
        spec in wishful(7, 2..=3),
        seed: u64,
        budget in prop_oneof![Just(0.03), Just(0.0), 0.0..0.3],
        worth in prop_oneof![Just(0.02), Just(0.0), 0.0..0.2],
    ) {
        let mut spec = without_bots(spec);
        for human in &mut spec.view.humans {
            (human.team, human.weight) = (None, human.weight.min(1e6));
        }
        spec.view.next_bot = spec.view.next_bot.round();
        let Ok(problem) = Problem::new(spec.clone()) else { return Ok(()) };
        let wishes = spec.view.humans.iter().filter(|human| human.wish.is_some()).count();
        let mut settings = Settings {
            top: Count::of(4096),
            wish_budget: Share::of(budget),
            ..Settings::default()
        };
        settings.factors.wishes = Amount::of(worth);
        let solution = solved(&problem, &settings, seed);
        let why = &solution;
        let oracle = Oracle::of(&spec, &why.given_up, budget);
        let Some(announced) = &why.wishes else {
            prop_assert_eq!(wishes, 0);
            return Ok(())
        };
        let (satisfied, best) = oracle.satisfied(wishes, worth);
        prop_assert!(announced.satisfied >= satisfied, "{} {satisfied}", announced.satisfied);
        let first = solution.candidates[0].figures.evenness;
        prop_assert!((first - best).abs() < 1e-9, "{first} {best}");
        if let (2, Some(limit)) = (spec.teams(), spec.tolerance) {
            let floor = match oracle.cost(best) > 0.0 {
                true => chance_of_weaker(oracle.without) - budget,
                false => chance_of_weaker(oracle.free),
            };
            let legal = |(_, even, count): &&(Vec<u8>, f64, usize)| {
                *count >= satisfied && *even >= limit.least(best) - 1e-9 && chance_of_weaker(*even) >= floor - 1e-9
            };
            let mut expected: Vec<&Vec<u8>> = oracle.splits.iter().filter(legal).map(|(of, ..)| of).collect();
            let mut found: Vec<&Vec<u8>> = solution.candidates.iter().map(|one| &one.team_of).collect();
            expected.sort();
            found.sort();
            prop_assert_eq!(found, expected);
        }
        check_reasons(&spec, &solution, &oracle)?;
    }
}

/// The splits that are found before the time is over count, also if a later search has no time to find as even ones.
#[test]
fn wherever_the_time_ends_there_are_teams() {
    for teams in 2..=4 {
        let weights: Vec<f64> = (0..28).map(|n| f64::from(n * 37 % 101)).collect();
        let mut spec = ProblemSpec {
            tolerance: Some(Tolerance {
                enough: 0.95,
                slack: 0.01,
            }),
            ..lobby(&weights)
        };
        spec.view.teams = teams;
        for (at, human) in (0u8..).zip(&mut spec.view.humans).step_by(3) {
            human.wish = Some(at % teams);
        }
        let problem = Problem::new(spec).unwrap();
        for looks in [0, 1, 2, 3, 5, 8, 13, 21, 34] {
            let mut left = looks;
            let mut out_of_time = || {
                left -= 1;
                left < 0
            };
            let solution = solve(&problem, &Settings::default(), 3, &mut out_of_time).unwrap();
            assert_eq!(solution.team_of.len(), weights.len());
        }
    }
}

/// Two giants and two others.
fn giants() -> ProblemSpec {
    let mut spec = lobby(&[95.0, 94.0, 20.0, 21.0]);
    (spec.view.humans[0].wish, spec.view.humans[1].wish) = (Some(0), Some(0));
    spec
}

#[test]
fn a_wish_that_would_break_the_game_is_refused_and_its_cost_is_said() {
    let problem = Problem::new(giants()).unwrap();
    let solution = solved(&problem, &Settings::default(), 1);
    let lines = solution.to_string();
    assert!(
        lines.contains("wishes for a team: 1 of 2 granted"),
        "{lines}"
    );
    let cost = "ratio 0.216931 at best, instead of ratio 1.000000 without any wish";
    assert!(lines.contains(cost), "{lines}");
    let refusals = solution.refusals();
    let beside = "beside the wishes that are granted";
    assert_eq!(
        refusals,
        [format!("{beside}, the teams would be too uneven: {cost}")]
    );
}

#[test]
fn wishes_together_may_cost_what_one_alone_may_not() {
    // With p0 and p1 on one team, the ratio is 59/63 at best: a share of 0.4836 of the weight.
    let mut spec = lobby(&[30.0, 33.0, 31.0, 28.0]);
    spec.view.humans[0].wish = Some(0);
    spec.view.humans[1].pin = Some(0);
    let satisfied = |spec: &ProblemSpec, budget: f64, worth: f64| {
        let mut settings = Settings {
            wish_budget: Share::of(budget),
            ..Settings::default()
        };
        settings.factors.wishes = Amount::of(worth);
        let problem = Problem::new(spec.clone()).unwrap();
        solved(&problem, &settings, 7).wishes.unwrap().satisfied
    };
    assert_eq!(satisfied(&spec, 0.03, 0.02), 1);
    assert_eq!(
        satisfied(&spec, 0.03, 0.01),
        0,
        "it is worth less than it costs"
    );
    assert_eq!(
        satisfied(&spec, 0.01, 0.02),
        0,
        "it costs more than the budget"
    );
    // The only teams that suit p0 suit p3, too.
    spec.view.humans[3].wish = Some(1);
    assert_eq!(satisfied(&spec, 0.03, 0.01), 2);
}

#[test]
fn forty_players_with_wishes_are_divided_in_time() {
    let weights: Vec<f64> = (0..40)
        .map(|n| 30.0 + f64::from(n * 37 % 40) + 0.123 * f64::from(n))
        .collect();
    let mut spec = lobby(&weights);
    for (at, human) in spec.view.humans.iter_mut().enumerate() {
        human.wish = (at % 3 == 0).then_some((at % 2) as u8);
    }
    let problem = Problem::new(spec).unwrap();
    let mut polls = 8_000; // some thirty steps of a microsecond each
    let mut out_of_time = || {
        polls -= 1;
        polls < 0
    };
    let solution = solve(&problem, &Settings::default(), 3, &mut out_of_time).unwrap();
    let announced = solution.wishes.unwrap();
    assert_eq!((announced.satisfied, announced.refused.len()), (14, 0));
    assert!(solution.ratio > 0.99, "{}", solution.ratio);
}
