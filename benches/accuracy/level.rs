//! The level of weights in closed worlds, and what a newcomer does to a chance where newcomers are as strong as others:
//! `cargo bench --bench accuracy -- level`.

use evenkeel::{
    model::{Kind, Rulebook, Ruleset, fingerprint::Fingerprint, rulebook::RulebookSpec},
    rating::history::{Fold, Settings},
};

use crate::worlds::{Score, World};

/// The worlds of each kind.
const SEEDS: u64 = 36;
/// The numbers of matches after which the level is measured.
const AT: [usize; 2] = [300, 2_000];

/// Prints the lowest and the highest mean of the regulars' weights over all seeds, and the outermost weights.
pub fn run() {
    let Ok(rulebook) = Rulebook::new(&RulebookSpec::default()) else {
        return;
    };
    println!(
        "\nthe mean weight of 30 regulars over {SEEDS} worlds, and the outermost weight of anybody"
    );
    for spread in [0.5, 1.0] {
        for score in Score::ALL {
            let mut means = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
            let mut outermost = [f64::INFINITY, f64::NEG_INFINITY];
            for seed in 1..=SEEDS {
                let world = World::closed(seed, AT[1], spread, score);
                let mut fold = Fold::new(&rulebook, Settings::default());
                let ruleset = rulebook.ruleset::<&str>("t.ctf", &[]);
                for (number, record) in world.play().matches.iter().enumerate() {
                    let _ = fold.push(record, Fingerprint::of(record));
                    if let Some(at) = AT.iter().position(|at| *at == number + 1) {
                        let weights = weights(&fold, &ruleset, world.regulars);
                        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
                        widen(&mut means[at], mean);
                        weights
                            .into_iter()
                            .for_each(|weight| widen(&mut outermost, weight));
                    }
                }
            }
            for (at, [low, high]) in AT.into_iter().zip(means) {
                println!(
                    "spread {spread} score {score:?} after {at:5} matches: {low:.1} to {high:.1}"
                );
            }
            println!(
                "{:14}outermost {:.1} and {:.1}",
                "", outermost[0], outermost[1]
            );
        }
    }
    newcomers(&rulebook);
}

/// Prints what an average newcomer in the place of an average regular adds to a chance, where both are drawn from the same
/// strengths: by the forecast, in truth, and the difference, the largest of each over all seeds.
fn newcomers(rulebook: &Rulebook) {
    println!(
        "\nwhat a newcomer in the place of a regular adds to the chance of 4 v 4, in 2,000 matches"
    );
    let ruleset = rulebook.ruleset::<&str>("t.ctf", &[]);
    for spread in [0.5, 1.0] {
        for score in Score::ALL {
            let mut largest = [0.0f64; 3];
            for seed in 1..=SEEDS {
                let world = World {
                    guests: Some(0.0),
                    ..World::closed(seed, 2_000, spread, score)
                };
                let mut fold = Fold::new(rulebook, Settings::default());
                let played = world.play();
                let mut worst = [0.0f64; 3];
                for (number, record) in played.matches.iter().enumerate() {
                    let _ = fold.push(record, Fingerprint::of(record));
                    if [300, 1_000, 2_000].contains(&(number + 1)) {
                        let [model, truth] = played.newcomer_adds(&fold, &ruleset, &world);
                        let at = [model, truth, model - truth];
                        worst
                            .iter_mut()
                            .zip(at)
                            .for_each(|(worst, at)| *worst = worst.max(at.abs()));
                    }
                }
                largest
                    .iter_mut()
                    .zip(worst)
                    .for_each(|(all, one)| *all = all.max(one));
            }
            let [model, truth, apart] = largest;
            println!(
                "spread {spread} score {score:?}: forecast {model:.3}, truth {truth:.3}, apart {apart:.3}"
            );
        }
    }
}

fn widen([low, high]: &mut [f64; 2], number: f64) {
    (*low, *high) = (low.min(number), high.max(number));
}

fn weights(fold: &Fold, ruleset: &Ruleset, regulars: usize) -> Vec<f64> {
    let known = |number| fold.best_weight(ruleset, Kind::Human, &World::regular(number));
    let known = (0..regulars).filter_map(known);
    known.map(|(own, _)| own.weight).collect()
}
