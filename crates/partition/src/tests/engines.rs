//! All exact engines give the same answer.

use super::*;
use crate::settings::Engine;
use crate::settings::Objective;

fn ratios(solution: &Solution) -> Vec<f64> {
    solution
        .candidates
        .iter()
        .map(|candidate| candidate.figures.ratio)
        .collect()
}

/// Compares what exact engines answer with what the naive one does.
pub(super) fn check_agreement(
    spec: ProblemSpec,
    engines: &[Engine],
    (objective, handicap): (Objective, f64),
    (seed, top): (u64, u32),
) -> Result<(), TestCaseError> {
    let Ok(problem) = Problem::new(ProblemSpec { handicap, ..spec }) else {
        return Ok(());
    };
    let run = |engine: Option<Engine>| {
        let settings = Settings {
            engine,
            naively: engine.is_none(),
            objective,
            top: Count::of(top),
            ..Settings::default()
        };
        solved(&problem, &settings, seed)
    };
    let naive = run(None);
    prop_assert!(naive.exact);
    for &engine in engines {
        let other = run(Some(engine));
        prop_assert!(other.exact);
        prop_assert_eq!(ratios(&naive), ratios(&other));
        prop_assert_eq!(&naive.candidates, &other.candidates);
        prop_assert_eq!(&naive.team_of, &other.team_of);
        prop_assert_eq!(&naive.wishes, &other.wishes);
        // Branching leaves out splits that cannot be among the best.
        prop_assert!(engine == Engine::Branch || naive.considered == other.considered);
    }
    Ok(())
}

/// The engines that divide players into two teams exactly.
pub(super) const OF_TWO: &[Engine] = &[Engine::Exhaustive, Engine::Meet];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn two_team_engines_agree(
        spec in specs(9, 2..=2),
        objective in objectives(),
        seed: u64,
        top in 1u32..40,
    ) {
        check_agreement(spec, OF_TWO, objective, (seed, top))?;
    }

    #[test]
    fn branching_agrees_with_naive(
        spec in specs(7, 3..=4),
        objective in objectives(),
        seed: u64,
        top in 1u32..40,
    ) {
        check_agreement(spec, &[Engine::Branch], objective, (seed, top))?;
    }

    /// The total of two teams is constant while the limit makes them equally large.
    #[test]
    fn objectives_agree_on_teams_of_one_size(spec in specs(9, 2..=2), seed: u64, top in 1u32..40) {
        let spec = ProblemSpec { max_difference: Some(1), ..without_bots(spec) };
        let Ok(problem) = Problem::new(spec) else { return Ok(()) };
        let run = |objective| {
            let settings = Settings { objective, top: Count::of(top), ..Settings::default() };
            solved(&problem, &settings, seed)
        };
        let (ratio, gap) = (run(Objective::Ratio), run(Objective::Chance));
        prop_assert_eq!(&ratio.candidates, &gap.candidates);
        prop_assert_eq!(&ratio.team_of, &gap.team_of);
        prop_assert_eq!(ratio.bound, gap.bound);
    }
}

proptest! {
    // The search runs until it stops improving, which is slow without optimisation.
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_bound_holds_and_a_search_is_legal(
        spec in specs(8, 2..=4),
        (objective, handicap) in objectives(),
        seed: u64,
    ) {
        let spec = ProblemSpec { handicap, ..spec };
        let Ok(problem) = Problem::new(spec) else { return Ok(()) };
        let run = |engine: Option<Engine>| {
            let settings = Settings {
                engine,
                naively: engine.is_none(),
                objective,
                party_budget: Share::of(1.0),
                ..Settings::default()
            };
            solved(&problem, &settings, seed)
        };
        let (naive, search) = (run(None), run(Some(Engine::Search)));
        prop_assert!(naive.given_up == search.given_up);
        let best = naive.candidates[0].figures.evenness;
        prop_assert!(search.bound >= best, "{} {best}", search.bound);
        prop_assert!(search.candidates[0].figures.evenness <= best);
        if search.exact {
            prop_assert_eq!(search.candidates[0].figures.evenness, best);
        }
    }
}
