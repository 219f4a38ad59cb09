//! Properties that hold for any problem, seed and clock.

use super::*;
use crate::settings::Engine;
use crate::settings::Objective;

/// The best ratio, the smallest gap and the number of legal splits with whole parties, computed by
/// the page's formula in plain f64.
fn page(spec: &ProblemSpec) -> (f64, f64, u64) {
    let (n, teams) = (spec.view.humans.len(), spec.teams());
    // Where sums would overflow, small weights are negligible.
    let huge = spec.view.humans.iter().any(|human| human.weight > 1e290);
    let scale = if huge { 1e-9 } else { 1.0 };
    let (mut best, mut least_gap, mut legal) = (-1.0f64, f64::MAX, 0);
    for code in 0..(teams as u64).pow(n as u32) {
        let team = |human: usize| (code / (teams as u64).pow(human as u32)) as usize % teams;
        let together = |party: &Vec<usize>| party.iter().all(|&h| team(h) == team(party[0]));
        let pinned = |h: usize| {
            spec.view.humans[h]
                .pin
                .is_none_or(|pin| usize::from(pin) == team(h))
        };
        let count = |t: usize| (0..n).filter(|&h| team(h) == t).count();
        let counts: Vec<usize> = (0..teams).map(count).collect();
        let (most, least) = (counts.iter().max().unwrap(), counts.iter().min().unwrap());
        let share = ((spec.max_share * n as f64) as usize).max(n.div_ceil(teams));
        let difference = spec
            .max_difference
            .map_or(n, |d| d.max(usize::from(n % teams > 0)));
        let fits = *most <= share && most - least <= difference;
        if !(fits && (0..n).all(pinned) && spec.parties.iter().all(together)) {
            continue;
        }
        legal += 1;
        let (least, most_wanted) = spec.view.fill.map_range;
        let clamped = spec.view.fill.wish.max(least).min(most_wanted) as usize;
        let players = clamped.div_ceil(teams).max(*most) * teams;
        let sum = |t: usize| {
            let own: f64 = (0..n)
                .filter(|&h| team(h) == t)
                .map(|h| spec.view.humans[h].weight * scale)
                .sum();
            own + spec.view.next_bot * scale * (players / teams - counts[t]) as f64
        };
        let sums: Vec<f64> = (0..teams).map(sum).collect();
        let (low, high) = sums
            .iter()
            .fold((f64::MAX, 0.0f64), |(a, b), &s| (a.min(s), b.max(s)));
        best = best.max(if high > 0.0 { low / high } else { 1.0 });
        let handicap = |t: usize| if t == 0 { spec.handicap * scale } else { 0.0 };
        let counted: Vec<f64> = (0..teams).map(|t| sums[t] + handicap(t)).collect();
        let (low, high) = counted
            .iter()
            .fold((f64::MAX, f64::MIN), |(a, b), &s| (a.min(s), b.max(s)));
        least_gap = least_gap.min((high - low) / scale);
    }
    (best, least_gap, legal)
}

/// Checks everything that must hold for one answer.
fn check(
    spec: &ProblemSpec,
    settings: &Settings,
    solution: &Solution,
) -> Result<(), TestCaseError> {
    let (n, teams) = (spec.view.humans.len(), spec.teams());
    prop_assert_eq!(solution.team_of.len(), n);
    prop_assert!(
        solution
            .team_of
            .iter()
            .all(|team| usize::from(*team) < teams)
    );
    let mut humans = vec![0; teams];
    solution
        .team_of
        .iter()
        .for_each(|team| humans[usize::from(*team)] += 1);
    let (most, least) = (*humans.iter().max().unwrap(), *humans.iter().min().unwrap());
    prop_assert!(most <= ((spec.max_share * n as f64) as usize).max(n.div_ceil(teams)));
    if let Some(difference) = spec.max_difference {
        prop_assert!(most - least <= difference.max(usize::from(n % teams > 0)));
    }
    let (least, largest) = spec.view.fill.map_range;
    let wanted = spec.view.fill.wish.clamp(least, largest) as usize;
    let size = wanted.div_ceil(teams).max(most);
    for ((humans, bots), sum) in humans.iter().zip(&solution.bots).zip(&solution.sums) {
        prop_assert_eq!(humans + bots, size);
        prop_assert!(sum.is_finite() && *sum >= 0.0);
    }
    for (human, team) in spec.view.humans.iter().zip(&solution.team_of) {
        prop_assert!(human.pin.is_none_or(|pin| pin == *team));
    }
    let given_up = &solution.given_up;
    for party in &spec.parties {
        let keys: Vec<_> = party
            .iter()
            .map(|&h| spec.view.humans[h].id.clone())
            .collect();
        let whole = party
            .iter()
            .all(|&h| solution.team_of[h] == solution.team_of[party[0]]);
        prop_assert!(whole || given_up.contains(&keys));
    }
    prop_assert!((0.0..=1.0).contains(&solution.ratio) && solution.gap >= 0.0);
    prop_assert!((1..=settings.top.as_usize()).contains(&solution.candidates.len()));
    let chances: f64 = solution.candidates.iter().map(|c| c.probability).sum();
    prop_assert!((chances - 1.0).abs() < 1e-9);
    for candidate in &solution.candidates {
        let numbers = candidate
            .terms
            .named()
            .into_iter()
            .chain(candidate.costs.named());
        prop_assert!(
            numbers
                .into_iter()
                .all(|(_, number)| number.is_finite() && number >= 0.0)
        );
        prop_assert!(candidate.quality.is_finite() && candidate.figures.evenness <= solution.bound);
    }
    let why = solution;
    if let Some(current) = why.current.filter(|_| spec.view.bots.is_empty()) {
        let kept = match settings.objective {
            Objective::Ratio => solution.ratio >= current.ratio,
            Objective::Chance => solution.gap <= current.gap,
        };
        prop_assert!(kept);
    }
    prop_assert_eq!(solution.trials.len(), n);
    let text = solution.to_string() + &serde_json::to_string(solution).unwrap();
    prop_assert!(!text.contains("NaN") && !text.contains("null,\"ratio"));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_is_legal_and_explained(
        spec in specs(12, 2..=5),
        (objective, handicap) in objectives(),
        seed: u64,
        top in 1u32..30,
    ) {
        let spec = ProblemSpec { handicap, ..spec };
        let Ok(problem) = Problem::new(spec.clone()) else { return Ok(()) };
        let settings = Settings {
            objective,
            top: Count::of(top),
            party_multiplier: [1.15, 1.2].map(Factor::of).to_vec(),
            ..Settings::default()
        };
        check(&spec, &settings, &solved(&problem, &settings, seed))?;
    }

    #[test]
    fn without_any_time_there_is_an_answer(spec in specs(12, 2..=8), seed: u64) {
        let Ok(problem) = Problem::new(spec.clone()) else { return Ok(()) };
        let settings = Settings::default();
        check(&spec, &settings, &solve(&problem, &settings, seed, &mut || true).unwrap())?;
    }

    #[test]
    fn nothing_is_more_even_by_the_page(
        spec in specs(8, 2..=3),
        (objective, handicap) in objectives(),
        seed: u64,
    ) {
        let spec = ProblemSpec { handicap, ..without_bots(spec) };
        let Ok(problem) = Problem::new(spec.clone()) else { return Ok(()) };
        let (best, least_gap, legal) = page(&spec);
        let settings = Settings { objective, party_budget: Share::of(1.0), ..Settings::default() };
        let solution = solved(&problem, &settings, seed);
        prop_assert!(solution.exact);
        let first = &solution.candidates[0];
        if legal > 0 && objective == Objective::Chance {
            let humans = spec.view.humans.iter().map(|human| human.weight);
            let largest = humans.chain([handicap.abs(), spec.view.next_bot]).fold(0.0, f64::max);
            prop_assert!((first.figures.gap - least_gap).abs() <= 1e-9 * largest, "{} {least_gap}", first.figures.gap);
        } else if legal > 0 {
            prop_assert!((first.figures.ratio - best).abs() < 1e-9);
        } else {
            prop_assert!(!solution.given_up.is_empty());
        }
    }

    #[test]
    fn the_order_of_the_humans_does_not_matter(
        spec in specs(10, 2..=4),
        order in Just((0..10).collect::<Vec<usize>>()).prop_shuffle(),
        seed: u64,
    ) {
        let n = spec.view.humans.len();
        let order: Vec<usize> = order.into_iter().filter(|&human| human < n).collect();
        let place = |human: usize| order.iter().position(|&other| other == human).unwrap();
        let mut other = spec.clone();
        other.view.humans = order.iter().map(|&human| spec.view.humans[human].clone()).collect();
        for party in &mut other.parties {
            party.iter_mut().for_each(|human| *human = place(*human));
            party.reverse();
        }
        other.parties.reverse();
        other.avoid.iter_mut().for_each(|(a, b)| (*a, *b) = (place(*b), place(*a)));
        let (Ok(one), Ok(other)) = (Problem::new(spec), Problem::new(other)) else { return Ok(()) };
        let (one, other) =
            (solved(&one, &Settings::default(), seed), solved(&other, &Settings::default(), seed));
        let back: Vec<u8> = (0..n).map(|human| other.team_of[place(human)]).collect();
        prop_assert_eq!(&one.team_of, &back);
        prop_assert_eq!(one.pick().terms, other.pick().terms);
        prop_assert_eq!((one.ratio, one.sums, one.bots), (other.ratio, other.sums, other.bots));
    }
}

#[test]
fn large_lobbies_are_legal_at_any_time() {
    let weights: Vec<f64> = (1..=100)
        .map(|index| f64::from(index).sqrt() * 10.0)
        .collect();
    let parties = vec![
        vec![0, 99],
        vec![1, 2, 3],
        vec![50, 60, 70, 80],
        (20..30).collect(),
    ];
    for teams in [2, 4, 7] {
        let mut spec = ProblemSpec {
            parties: parties.clone(),
            ..lobby(&weights)
        };
        spec.view.teams = teams;
        let problem = Problem::new(spec.clone()).unwrap();
        for calls in [0, 1, 3, 10] {
            let mut left = calls;
            let mut clock = || {
                left -= i32::from(left > 0);
                left == 0
            };
            let solution = solve(&problem, &Settings::default(), 3, &mut clock).unwrap();
            check(&spec, &Settings::default(), &solution).unwrap();
            assert!(
                solution.ratio > 0.97,
                "{teams} teams, {calls} calls: {}",
                solution.ratio
            );
        }
    }
}

#[test]
fn memory_is_limited() {
    let weights: Vec<f64> = (1..=36).map(|index| f64::from(index).sqrt()).collect();
    let problem = Problem::new(lobby(&weights)).unwrap();
    let with = |megabytes| {
        solved(
            &problem,
            &Settings {
                memory_mb: Megabytes::of(megabytes),
                ..Settings::default()
            },
            1,
        )
    };
    let (plenty, little) = (with(64), with(1));
    assert_eq!((plenty.engine, plenty.exact), (Engine::Meet, true));
    assert_eq!((little.engine, little.exact), (Engine::Search, false));
    assert!(little.candidates[0].figures.ratio <= plenty.candidates[0].figures.ratio);
    assert!(little.candidates[0].figures.ratio > 0.9999);
}
