//! Picking one of the K best, and its explanation.

use super::*;
use crate::pick::Candidate;
use crate::settings::Factors;
use crate::settings::Objective;
use crate::sums::Fill;

/// The players of the UT2004 page's example, with the bots of its C program.
fn page() -> ProblemSpec {
    let players = [
        (5.0, "Boring John"),
        (3.0, "Silly Billy"),
        (2.0, "Slartibartfast"),
        (7.0, "Chewbacca"),
        (23.0, "Ignoramus"),
        (92.0, "Riddick"),
        (93.0, "Luke Skywalker"),
        (95.0, "Darth Vader"),
        (27.0, "Peter Griffin"),
        (56.0, "Roger"),
        (28.0, "Annoying Git"),
        (99.0, "Cheat"),
        (1.0, "Lame"),
        (23.0, "Twonk"),
        (83.0, "Foogilicious"),
        (41.0, "Flunk Basket"),
        (49.0, "Jack O'Neill"),
    ];
    ProblemSpec {
        view: GameView {
            humans: players
                .map(|(weight, name)| HumanInGame::new(name, weight))
                .to_vec(),
            fill: Fill {
                on: true,
                wish: 8,
                map_range: (6, 12),
                min_humans: 0,
            },
            next_bot: 20.0,
            ..GameView::default()
        },
        ..ProblemSpec::default()
    }
}

/// The best ratio of two teams without bots whose sizes differ by at most one, from all splits.
fn best_ratio(weights: &[f64]) -> f64 {
    let n = weights.len();
    let legal = (0u32..1 << n)
        .filter(|mask| (n / 2..=n.div_ceil(2)).contains(&(mask.count_ones() as usize)));
    let ratios = legal.map(|mask| {
        let sum = |team: u32| -> f64 {
            let own = weights
                .iter()
                .enumerate()
                .filter(|(at, _)| mask >> at & 1 == team);
            own.map(|(_, weight)| weight).sum()
        };
        let (one, other) = (sum(0), sum(1));
        if one.max(other) == 0.0 {
            1.0
        } else {
            one.min(other) / one.max(other)
        }
    });
    ratios.fold(0.0, f64::max)
}

#[test]
fn the_sums_of_stated_weights_are_as_even_as_they_can_be_on_any_scale() {
    let page: Vec<f64> = page()
        .view
        .humans
        .iter()
        .map(|human| human.weight)
        .collect();
    let lists: [&[f64]; 10] = [
        &[5.0, 3.0, 3.0, 2.0, 2.0, 1.0, 1.0],
        &page,
        &[1.0, 1.0],
        &[9.0, 1.0, 1.0],
        &[0.0, 0.0, 0.0, 0.0, 0.0],
        &[0.0, 7.0, 0.0, 3.0, 3.0],
        &[99.0, 1.0, 50.0, 49.0, 2.0, 98.0, 51.0, 48.0],
        &[15.0, 14.0, 16.0, 15.5, 13.25, 17.75, 12.0, 18.0, 15.125],
        &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0],
        &[
            31.0, 41.0, 59.0, 26.0, 53.0, 58.0, 97.0, 93.0, 23.0, 84.0, 62.0,
        ],
    ];
    for list in lists {
        for scale in [1.0, 0.1, 100.0, 1e-7, 1e12] {
            let weights: Vec<f64> = list.iter().map(|weight| weight * scale).collect();
            let spec = ProblemSpec {
                amounts: true,
                ..lobby(&weights)
            };
            for seed in 0..5 {
                let problem = Problem::new(spec.clone()).unwrap();
                let solution = solved(&problem, &Settings::default().by_sums(false), seed);
                let best = best_ratio(&weights);
                assert!(
                    (solution.ratio - best).abs() < 1e-9,
                    "{weights:?}: {}",
                    solution.ratio
                );
                let on_first = solution.team_of.iter().filter(|team| **team == 0).count();
                assert!(
                    on_first.abs_diff(weights.len() - on_first) <= 1,
                    "{weights:?}"
                );
                assert_eq!(solution.stated_sums(), solution.sums);
                assert!(solution.chance.is_none());
            }
        }
    }
    let spec = ProblemSpec {
        amounts: true,
        ..lobby(lists[0])
    };
    let solution = solved(
        &Problem::new(spec).unwrap(),
        &Settings::default().by_sums(false),
        1,
    );
    let why = solution.to_string();
    let sums =
        ["9 to 8", "8 to 9"].map(|sums| format!("the sums of the stated weights decide: {sums}\n"));
    assert!(sums.iter().any(|sums| why.starts_with(sums)), "{why}");
}

/// Settings without costs: the UT2004 page's pick.
fn plain() -> Settings {
    Settings {
        factors: Factors::default(),
        ..Settings::default()
    }
}

#[test]
fn the_page_s_example_has_an_odd_total_and_is_as_even_as_that_can_be() {
    let problem = Problem::new(page()).unwrap();
    let solution = solved(&problem, &plain(), 1);
    // 727 plus a bot of 20 is 747: at best 373 and 374.
    assert_eq!(solution.ratio, 373.0 / 374.0);
    assert_eq!((solution.exact, solution.considered), (true, 24_310));
    assert_eq!(solution.bots.iter().sum::<usize>(), 1);
    assert_eq!(solution.sums.iter().sum::<f64>(), 747.0);
    assert!(
        solution
            .candidates
            .iter()
            .all(|candidate| candidate.figures.ratio == 373.0 / 374.0)
    );
}

#[test]
fn without_factors_chances_are_as_the_ratios() {
    let problem = Problem::new(lobby(&[9.0, 7.0, 4.0, 2.0])).unwrap();
    let solution = solved(&problem, &plain(), 1);
    let ratios: f64 = solution
        .candidates
        .iter()
        .map(|candidate| candidate.figures.ratio)
        .sum();
    assert_eq!(solution.candidates.len(), 3);
    for candidate in &solution.candidates {
        assert_eq!(candidate.quality, candidate.figures.ratio);
        assert!((candidate.probability - candidate.figures.ratio / ratios).abs() < 1e-12);
    }
    let picked = |seed| solved(&problem, &plain(), seed).picked;
    let times = (0..3_000).filter(|&seed| picked(seed) == 0).count() as f64 / 3_000.0;
    assert!(
        (times - solution.candidates[0].probability).abs() < 0.03,
        "{times}"
    );
}

#[test]
fn an_infinite_power_picks_the_best_and_none_any() {
    let problem = Problem::new(lobby(&[9.0, 7.0, 4.0, 2.0])).unwrap();
    let with = |power, seed| {
        solved(
            &problem,
            &Settings {
                power: ChoiceExponent::of(power),
                ..plain()
            },
            seed,
        )
    };
    assert!((0..50).all(|seed| with(f64::INFINITY, seed).ratio == 1.0));
    let solution = with(0.0, 1);
    assert!(
        solution
            .candidates
            .iter()
            .all(|c| (c.probability - 1.0 / 3.0).abs() < 1e-12)
    );
}

#[test]
fn a_factor_turns_the_pick() {
    let weights = [50.0, 49.0, 30.0, 29.0, 28.0, 20.0, 19.0, 12.0];
    let pick = |factors: Factors| {
        let mut spec = lobby(&weights);
        spec.avoid = vec![(0, 3), (0, 3), (3, 0)];
        for (human, last) in spec.view.humans.iter_mut().zip([0, 1, 1, 0, 0, 1, 1, 0]) {
            human.last = Some(last);
        }
        let problem = Problem::new(spec).unwrap();
        let settings = Settings {
            factors,
            power: ChoiceExponent::of(f64::INFINITY),
            top: Count::of(35),
            ..Settings::default()
        };
        solved(&problem, &settings, 1).pick().clone()
    };
    let least = |name: &str, candidate: &Candidate, others: &[Candidate]| {
        let of = |c: &Candidate| {
            c.terms
                .named()
                .into_iter()
                .find(|(n, _)| *n == name)
                .unwrap()
                .1
        };
        others.iter().all(|other| of(candidate) <= of(other))
    };
    let all = {
        let problem = Problem::new(ProblemSpec {
            avoid: vec![(0, 3)],
            ..lobby(&weights)
        })
        .unwrap();
        solved(
            &problem,
            &Settings {
                top: Count::of(35),
                ..plain()
            },
            1,
        )
        .candidates
    };
    assert_eq!(all.len(), 35);
    let best = pick(Factors {
        best_gap: Amount::of(1e6),
        ..Factors::default()
    });
    assert!(least("best_gap", &best, &all) && best.terms.best_gap < 0.021);
    let worst = pick(Factors {
        worst_gap: Amount::of(1e6),
        ..Factors::default()
    });
    assert!(least("worst_gap", &worst, &all) && worst.terms.worst_gap < 0.141);
    let spread = pick(Factors {
        spread_gap: Amount::of(1e6),
        ..Factors::default()
    });
    assert!(least("spread_gap", &spread, &all));
    let apart = pick(Factors {
        avoided_pairs: Amount::of(1e6),
        ..Factors::default()
    });
    assert!(apart.team_of[0] != apart.team_of[3]);
    let together = pick(Factors::default());
    assert_eq!(together.cost, 0.0);
    let mixed = pick(Factors {
        repeated: Amount::of(1e6),
        ..Factors::default()
    });
    // Two of each old team on each new one: 4 of 12 pairs again.
    assert!((mixed.terms.repeated - 4.0 / 12.0).abs() < 1e-12);
}

#[test]
fn as_few_as_possible_leave_their_teams() {
    let mut spec = lobby(&[10.0, 9.0, 8.0, 7.0, 6.0, 5.0]);
    for (human, current) in spec.view.humans.iter_mut().zip([1, 0, 0, 0, 1, 1]) {
        human.team = Some(current);
    }
    let problem = Problem::new(spec).unwrap();
    for seed in 0..20 {
        for candidate in solved(&problem, &Settings::default(), seed).candidates {
            assert!(candidate.terms.moved <= 3.0, "{candidate:?}");
        }
    }
    let settings = Settings {
        factors: Factors {
            moved: Amount::of(1e6),
            ..Factors::default()
        },
        power: ChoiceExponent::of(f64::INFINITY),
        ..Settings::default()
    };
    let solution = solved(&problem, &settings, 1);
    assert_eq!(solution.team_of, [1, 0, 0, 0, 1, 1]);
    assert_eq!(solution.current.map(|now| now.ratio), Some(21.0 / 24.0));
}

#[test]
fn a_party_is_kept_while_that_costs_little() {
    // A party of four against four others.
    let mut spec = lobby(&[
        1955.0, 1842.0, 1515.0, 1480.0, 1920.0, 1850.0, 1510.0, 1470.0,
    ]);
    spec.parties = vec![vec![0, 1, 2, 3]];
    let problem = Problem::new(spec.clone()).unwrap();
    let solution = solved(&problem, &Settings::default(), 1);
    assert_eq!(solution.sums.iter().copied().fold(0.0, f64::max), 6792.0);
    assert!(solution.given_up.is_empty());
    let strict = Settings {
        party_budget: Share::of(0.001),
        ..Settings::default()
    };
    let solution = solved(&problem, &strict, 1);
    assert_eq!(solution.given_up.len(), 1);
    assert_eq!(solution.without_parties, Some(6765.0 / 6777.0));
    // The budget allows what one of two parties costs; the other one is worth keeping.
    spec = lobby(&[100.0, 90.0, 80.0, 20.0, 10.0, 15.0, 12.0, 60.0]);
    spec.parties = vec![vec![0, 1, 2], vec![3, 4]];
    let solution = solved(&Problem::new(spec).unwrap(), &Settings::default(), 1);
    assert_eq!(solution.given_up, [["p0", "p1", "p2"]]);
    assert_eq!(solution.team_of[3], solution.team_of[4]);
}

#[test]
fn parties_that_fit_no_teams_are_given_up_one_by_one() {
    let mut spec = lobby(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    spec.parties = vec![vec![0, 1], vec![2, 3], vec![4, 5]];
    let settings = Settings {
        party_budget: Share::of(1.0),
        ..Settings::default()
    };
    let solution = solved(&Problem::new(spec).unwrap(), &settings, 1);
    // Giving up one of them is enough, and any choice leaves 1 + 2 + 6 against 3 + 4 + 5.
    assert_eq!(solution.given_up.len(), 1);
    assert_eq!(solution.ratio, 9.0 / 12.0);
}

#[test]
fn a_party_may_weigh_more_than_its_members() {
    let mut spec = lobby(&[10.0, 10.0, 11.0, 12.0]);
    spec.parties = vec![vec![0, 1]];
    let settings = Settings {
        party_multiplier: [1.15, 1.2].map(Factor::of).to_vec(),
        ..plain()
    };
    let solution = solved(&Problem::new(spec).unwrap(), &settings, 1);
    assert_eq!(solution.ratio, 1.0);
    assert_eq!(solution.sums, [23.0, 23.0]);
}

#[test]
fn each_human_is_told_what_would_be_elsewhere() {
    let mut spec = lobby(&[8.0, 5.0, 2.0, 1.0]);
    spec.view.next_bot = 1.0;
    let solution = solved(
        &Problem::new(spec).unwrap(),
        &Settings {
            power: ChoiceExponent::of(f64::INFINITY),
            ..plain()
        },
        1,
    );
    // 8 + 1 against 5 + 2; if the 1 changed teams, 8 and two bots against all others.
    assert_eq!(solution.ratio, 7.0 / 9.0);
    let what = &solution.trials[3];
    assert_eq!((what.who.as_str(), what.figures.ratio), ("p3", 8.0 / 10.0));
    assert!(what.team != what.other);
    let lines = solution.to_string();
    assert!(lines.contains("with p3 on team"), "{lines}");
    assert!(lines.lines().all(|line| line.len() < 200));
}

fn by_gap(handicap: f64, weights: &[f64]) -> Solution {
    let spec = ProblemSpec {
        handicap,
        ..lobby(weights)
    };
    let settings = Settings {
        objective: Objective::Chance,
        power: ChoiceExponent::of(f64::INFINITY),
        ..plain()
    };
    solved(&Problem::new(spec).unwrap(), &settings, 1)
}

#[test]
fn a_handicap_says_which_team_is_which() {
    assert_eq!(by_gap(2.0, &[10.0, 8.0]).team_of, [1, 0]);
    assert_eq!(by_gap(-2.0, &[10.0, 8.0]).team_of, [0, 1]);
    let solution = by_gap(3.0, &[10.0, 8.0, 7.0, 6.0]);
    // 6 + 8 and the side's 3 against 10 + 7; the sums exclude the side.
    assert_eq!(
        (&solution.team_of[..], solution.gap),
        (&[1, 0, 1, 0][..], 0.0)
    );
    assert_eq!(
        (&solution.sums[..], solution.ratio),
        (&[14.0, 17.0][..], 14.0 / 17.0)
    );
    assert_eq!((solution.bound, solution.considered), (1.0, 6));
}

#[test]
fn a_gap_and_its_objective_are_explained() {
    let solution = by_gap(2.5, &[10.0, 8.0]);
    let lines = solution.to_string();
    let start = "gap 0.500000, ratio 0.800000\nevenness 0.945946, of at most 0.945946";
    assert!(lines.starts_with(start), "{lines}");
    assert!(
        lines.contains("picked: gap 0.500000, ratio 0.800000, "),
        "{lines}"
    );
    let ratio = solved(&Problem::new(lobby(&[10.0, 8.0])).unwrap(), &plain(), 1);
    assert!(ratio.to_string().starts_with("ratio 0.800000, of"));
}
