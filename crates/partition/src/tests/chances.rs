//! Choosing teams by the chances that follow from the players' strengths.

use super::*;
use evenkeel_model::{Company, SAME_CHANCE, WinModel};

fn win_model(side: f64) -> WinModel {
    WinModel {
        side,
        ..super::games::win_model()
    }
}

/// A lobby of two teams without bots, of players with these strengths.
fn strengths(side: f64, strengths: &[f64]) -> ProblemSpec {
    let weight = |strength: &f64| (50.0 + 50.0 * strength / 6.0).clamp(0.0, 100.0);
    let weights: Vec<f64> = strengths.iter().map(weight).collect();
    let mut spec = lobby(&weights);
    spec.view.fill.on = false;
    spec.view.chance = Some(ChanceModel {
        win_model: win_model(side),
        humans: strengths.to_vec(),
        bots: Vec::new(),
        next_bot: 0.0,
        deviations: Vec::new(),
        party_multiplier: Vec::new(),
    });
    spec
}

/// Puts bots on the teams: for each team their number, and the sums of their weights and strengths.
fn put_bots(spec: &mut ProblemSpec, bots: [(usize, f64, f64); 2]) {
    let model = spec.view.chance.as_mut().unwrap();
    for (team, (count, weight, strength)) in (0u8..).zip(bots) {
        spec.view.bots.extend(bots_on(team, (count, weight)));
        let each = strength / count as f64;
        model.bots.extend(std::iter::repeat_n(each, count));
    }
}

fn by_chance() -> Settings {
    Settings {
        objective: Objective::Chance,
        ..Settings::default()
    }
}

fn pick(spec: &ProblemSpec, seed: u64) -> Solution {
    solved(&Problem::new(spec.clone()).unwrap(), &by_chance(), seed)
}

/// The chance of team 0, from the formula of the documentation, without the types of this room.
/// `bots` are the numbers and the sums of the strengths of the bots on each team.
fn chance_by_hand(side: f64, humans: &[f64], bots: [(usize, f64); 2], team_of: &[u8]) -> f64 {
    let (mut sums, mut heads) = (bots.map(|b| b.1), bots.map(|b| b.0 as f64));
    for (strength, &team) in humans.iter().zip(team_of) {
        sums[usize::from(team)] += strength;
        heads[usize::from(team)] += 1.0;
    }
    let per_strength = 0.5 * (8.0 / (heads[0] + heads[1])).sqrt();
    let more = heads[0] - heads[1];
    // If all were as strong as their mean, the larger team would have at least the odds of its size.
    let of_equals = per_strength * more * (sums[0] + sums[1]) / (heads[0] + heads[1]);
    let least = (heads[0].max(0.1) / heads[1].max(0.1)).ln() / 1.702 - of_equals;
    let learned = 0.2 * more;
    let by_heads = if heads[0] == heads[1] {
        0.0
    } else if heads[0] > heads[1] {
        least.max(learned)
    } else {
        least.min(learned)
    };
    let edge = per_strength * (sums[0] - sums[1]) + by_heads + side;
    0.5 * libm::erfc(-edge / 2f64.sqrt())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_legal_split_is_more_even(
        humans in prop::collection::vec(-3.0..3.0f64, 2..9),
        side in prop_oneof![Just(0.0), -0.5..0.5f64],
        bots in prop_oneof![Just([(0, 0.0); 2]), [(0usize..3, -2.0..2.0f64), (0usize..3, -2.0..2.0f64)]],
        seed: u64,
    ) {
        let bots = bots.map(|(count, sum)| (count, if count == 0 { 0.0 } else { sum }));
        let mut spec = strengths(side, &humans);
        put_bots(&mut spec, bots.map(|(count, sum)| (count, 50.0 * count as f64, sum)));
        let solution = pick(&spec, seed);
        let n = humans.len();
        let off = |team_of: &[u8]| (chance_by_hand(side, &humans, bots, team_of) - 0.5).abs();
        let all = (0u32..1 << n).filter(|m| [n / 2, n.div_ceil(2)].contains(&(m.count_ones() as usize)));
        let all = all.map(|m| -> Vec<u8> { (0..n).map(|p| (m >> p & 1) as u8).collect() });
        let best = all.map(|team_of| off(&team_of)).fold(1.0, f64::min);
        prop_assert!(solution.exact);
        let first = solution.candidates.iter().map(|c| off(&c.team_of)).fold(1.0, f64::min);
        // Bots count as heads of their own, so that an odd number of humans is compared nearly exactly.
        let near = if n % 2 == 1 && bots[0].0 != bots[1].0 { 0.05 } else { 1e-9 };
        prop_assert!(first <= best + near, "{first} {best}");
        for candidate in &solution.candidates {
            let by_hand = chance_by_hand(side, &humans, bots, &candidate.team_of);
            prop_assert!((candidate.figures.chance.unwrap() - by_hand).abs() < 1e-9);
            let even = by_hand.min(1.0 - by_hand) / by_hand.max(1.0 - by_hand);
            prop_assert!((candidate.figures.evenness - even).abs() < 1e-9);
        }
    }

    #[test]
    fn picks_that_count_as_equal_are_within_the_deviation(
        humans in prop::collection::vec(-2.0..2.0f64, 5..11),
        side in -0.3..0.3f64,
        seed: u64,
    ) {
        let mut spec = strengths(side, &humans);
        let exactly = pick(&spec, seed);
        let best = exactly.candidates.iter().map(|c| c.figures.chance.unwrap());
        let best = best.map(|chance| (chance - 0.5).abs()).fold(1.0, f64::min);
        spec.equal_within = Some(SAME_CHANCE);
        let solution = pick(&spec, seed);
        let off = (solution.chance.unwrap() - 0.5).abs();
        let allowed = if best <= SAME_CHANCE { SAME_CHANCE } else { best + SAME_CHANCE };
        prop_assert!(off <= allowed + 1e-9, "{off} {best}");
    }
}

#[test]
fn a_giant_has_fewer_team_mates_however_one_sided_the_game_is() {
    // Chances of 2 % and 4 % differ by no more than 48 % and 50 %, but one is twice the other.
    let mut spec = strengths(0.0, &[4.0, 0.0, 0.0, 0.0, 0.0]);
    spec.equal_within = Some(SAME_CHANCE);
    for seed in 0..30 {
        let teams = pick(&spec, seed).team_of;
        let mates = teams[1..].iter().filter(|team| **team == teams[0]);
        assert_eq!(mates.count(), 1, "{teams:?}");
    }
}

#[test]
fn a_strong_human_goes_to_the_weak_bots() {
    let mut spec = strengths(0.0, &[1.0, 0.0]);
    put_bots(&mut spec, [(2, 130.0, 0.5), (2, 70.0, -0.5)]);
    let solution = pick(&spec, 1);
    assert_eq!(solution.team_of, [1, 0]);
    assert_eq!(solution.chance, Some(0.5));
    // 130 and 50 against 70 and 58⅓.
    let by_hand = (70.0 + 50.0 + 50.0 / 6.0) / 180.0;
    assert!(
        (solution.ratio - by_hand).abs() < 1e-9,
        "{}",
        solution.ratio
    );
}

#[test]
fn bots_that_come_make_up_for_bots_that_are_there() {
    // Six players are wanted: one more bot comes to team 0, which has one, and none to team 1.
    let mut spec = strengths(0.0, &[0.0, 0.0]);
    spec.view.fill = Fill {
        on: true,
        wish: 6,
        map_range: (0, 32),
        min_humans: 0,
    };
    spec.view.next_bot = 50.0;
    put_bots(&mut spec, [(1, 50.0, 0.0), (2, 100.0, 0.0)]);
    let solution = pick(&spec, 1);
    assert_eq!((solution.chance, solution.ratio), (Some(0.5), 1.0));
}

#[test]
fn strengths_beyond_the_scale_of_weights_count_in_full() {
    // By weights, 100 and 50 against 100 and 50 is even; 20 and 0 against 9 and 11 really is.
    let solution = pick(&strengths(0.0, &[20.0, 9.0, 0.0, 11.0]), 3);
    assert_eq!(solution.team_of[0], solution.team_of[2]);
    assert_eq!(solution.chance, Some(0.5));
}

#[test]
fn picks_vary_among_chances_that_count_as_equal() {
    let mut spec = strengths(0.1, &[0.31, 0.22, 0.13, 0.04, -0.05, -0.16, -0.27, -0.38]);
    let different = |spec: &ProblemSpec| {
        let picks = (0..30).map(|seed| pick(spec, seed).team_of);
        picks.collect::<std::collections::BTreeSet<_>>().len()
    };
    let best = different(&spec);
    spec.equal_within = Some(SAME_CHANCE);
    let varied = different(&spec);
    assert!(best <= 5 && varied >= 6, "{best} {varied}");
}

#[test]
fn newcomers_are_spread_where_the_forecast_cannot_tell() {
    for newcomers in [2, 4, 6] {
        let mut spec = strengths(0.15, &[0.0; 12]);
        let known = spec.view.chance.as_mut().unwrap();
        for (at, strength) in known.humans.iter_mut().enumerate().skip(newcomers) {
            *strength = 0.06 * at as f64 - 0.5;
        }
        spec.view.humans[..newcomers]
            .iter_mut()
            .for_each(|human| human.newcomer = true);
        spec.equal_within = Some(SAME_CHANCE);
        for seed in 0..30 {
            let teams = pick(&spec, seed).team_of;
            let on_first = teams[..newcomers].iter().filter(|team| **team == 0).count();
            assert!(
                on_first.abs_diff(newcomers - on_first) <= 1,
                "{newcomers}: {teams:?}"
            );
        }
    }
}

#[test]
fn the_weaker_side_is_taken_in_turns() {
    // Team 1 has the weaker side.
    let mut spec = strengths(0.05, &[0.0; 8]);
    spec.equal_within = Some(0.05);
    spec.view.humans[..4]
        .iter_mut()
        .for_each(|human| human.weak_sides = 1.0);
    let again = (0..100).map(|seed| {
        let teams = pick(&spec, seed).team_of;
        teams[..4].iter().filter(|team| **team == 1).count()
    });
    let again: usize = again.sum();
    assert!(again < 150, "{again} of 400, of which chance makes 200");
}

#[test]
fn parties_count_what_their_friends_add() {
    let mut spec = strengths(0.0, &[0.0; 4]);
    spec.parties = vec![vec![0, 1]];
    let known = spec.view.chance.as_mut().unwrap();
    known.win_model.company = Company {
        per_friend: 0.2,
        learned: 1.0,
    };
    let settings = Settings {
        party_budget: Share::of(1.0),
        ..by_chance()
    };
    let solution = solved(&Problem::new(spec).unwrap(), &settings, 1);
    let together = usize::from(solution.team_of[0]);
    let by_hand = 0.5 * libm::erfc(-0.5 * 2f64.sqrt() * 0.4 / 2f64.sqrt());
    let chance = solution.chance.unwrap();
    let own = if together == 0 { chance } else { 1.0 - chance };
    assert!((own - by_hand).abs() < 1e-9, "{own} {by_hand}");
}

#[test]
fn of_splits_as_even_those_share_out_the_uncertain() {
    let mut spec = strengths(0.0, &[0.0; 8]);
    spec.equal_within = Some(0.02);
    let known = spec.view.chance.as_mut().unwrap();
    known.deviations = vec![2.0, 0.3, 2.0, 0.3, 2.0, 0.3, 2.0, 0.3];
    let problem = Problem::new(spec).unwrap();
    let picked = |cost: f64| {
        let mut settings = by_chance();
        settings.factors.uncertain = Amount::of(cost);
        let shared = |seed: u64| {
            let teams = solved(&problem, &settings, seed).team_of;
            let uncertain = [0, 2, 4, 6].iter().filter(|who| teams[**who] == 0).count();
            usize::from(uncertain == 2)
        };
        (0..100).map(shared).sum::<usize>()
    };
    // 36 of 70 splits have two of the four on each team.
    let (without, with) = (picked(0.0), picked(5.0));
    assert!((30..75).contains(&without), "{without}");
    assert!(with > 84, "{with}");
}

/// All splits of so many humans into teams of nearly equal size.
fn splits(humans: usize) -> impl Iterator<Item = Vec<u8>> {
    let sizes = [humans / 2, humans.div_ceil(2)];
    let all = (0u32..1 << humans).filter(move |set| sizes.contains(&(set.count_ones() as usize)));
    all.map(move |set| (0..humans).map(|at| (set >> at & 1) as u8).collect())
}

/// How likely the weaker team wins, by hand.
fn weaker(side: f64, humans: &[f64], team_of: &[u8]) -> f64 {
    let chance = chance_by_hand(side, humans, [(0, 0.0); 2], team_of);
    chance.min(1.0 - chance)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn of_few_nobody_is_always_on_the_same_side_if_that_costs_little(
        humans in prop::collection::vec(-1.0..1.0f64, 2..5),
        side in prop_oneof![-0.3..0.3f64, -0.1..0.1f64],
        seed: u64,
    ) {
        let mut spec = strengths(side, &humans);
        spec.equal_within = Some(SAME_CHANCE);
        let solution = pick(&spec, seed);
        let chance = |team_of: &[u8]| weaker(side, &humans, team_of);
        let best = splits(humans.len()).map(|split| chance(&split)).fold(0.0, f64::max);
        prop_assert!(chance(&solution.team_of) >= best - 0.05 - 1e-9);
        for human in 0..humans.len() {
            for team in [0, 1] {
                let mut cheap = splits(humans.len()).filter(|split| split[human] == team);
                let can = cheap.any(|split| chance(&split) >= best - 0.05 + 1e-9);
                let mut found = solution.candidates.iter();
                let is = found.any(|found| found.team_of[human] == team && found.probability > 0.05);
                prop_assert!(!can || is, "{human} {team} {:?}", solution.candidates);
            }
        }
    }

    #[test]
    fn sides_are_drawn_only_among_few_and_only_if_somebody_is_always_on_one(
        humans in prop::collection::vec(-1.0..1.0f64, 2..9),
        side in -0.3..0.3f64,
        seed: u64,
    ) {
        let mut spec = strengths(side, &humans);
        spec.equal_within = Some(SAME_CHANCE);
        let solution = pick(&spec, seed);
        let chances: Vec<f64> = solution.candidates.iter().map(|found| weaker(side, &humans, &found.team_of)).collect();
        let best = chances.iter().copied().fold(0.0, f64::max);
        let least = crate::reader::least(best / (1.0 - best), SAME_CHANCE);
        let equal = |at: &usize| chances[*at] / (1.0 - chances[*at]) >= least - 1e-9;
        let (equal, drawn): (Vec<usize>, Vec<usize>) = (0..chances.len()).partition(equal);
        prop_assert_eq!(solution.drawn, !drawn.is_empty());
        prop_assert!(drawn.is_empty() || humans.len() <= 4);
        let side_of = |at: usize, human: usize| solution.candidates[at].team_of[human];
        let always = |human: &usize| equal.iter().all(|at| side_of(*at, *human) == side_of(equal[0], *human));
        let always: Vec<usize> = (0..humans.len()).filter(always).collect();
        for at in drawn {
            let turns = |human: &usize| side_of(at, *human) != side_of(equal[0], *human);
            prop_assert!(always.iter().any(turns));
        }
    }
}

#[test]
fn of_two_and_of_four_the_seed_draws_who_has_the_better_side() {
    for humans in [vec![0.1, -0.05], vec![0.3, 0.1, 0.05, -0.3]] {
        let mut spec = strengths(0.06, &humans);
        spec.equal_within = Some(SAME_CHANCE);
        let picks: Vec<Solution> = (0..20).map(|seed| pick(&spec, seed)).collect();
        for human in 0..humans.len() {
            let first = picks.iter().filter(|pick| pick.team_of[human] == 0).count();
            assert!((1..20).contains(&first), "{human}: {first} of 20");
        }
        let announced = picks.iter().filter(|pick| {
            let why = pick.to_string();
            why.contains("the sides are drawn")
        });
        assert!(announced.count() == 20 || humans.len() == 4);
        // Where no two chances count as equal, the best is picked, or one of those that the operator or the client has asked for.
        spec.equal_within = None;
        let settings = Settings {
            top: Count::of(1),
            ..by_chance()
        };
        let problem = Problem::new(spec).unwrap();
        let best = splits(humans.len())
            .map(|split| weaker(0.06, &humans, &split))
            .fold(0.0, f64::max);
        for seed in 0..20 {
            let exact = solved(&problem, &settings, seed).team_of;
            assert!(weaker(0.06, &humans, &exact) >= best - 1e-9);
        }
    }
}
