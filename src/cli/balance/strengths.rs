//! The strengths that the weights of a list stand for, so that the chances to win can decide.

use crate::{
    partition::{self, Objective, ProblemSpec, Strengths},
    rating::{self, Player, RatedGame, Scale, Seat},
};

/// The weight of an average newcomer, whose strength is 0.
const NEWCOMER: f64 = 50.0;
/// The largest weight that `evenkeel weights` prints.
const LARGEST: f64 = 100.0;

/// Gives the problem the strengths of its players if the chances to win are to decide. The ratio decides instead if the
/// configured rating system has no strengths.
pub(super) fn decide(
    spec: &mut ProblemSpec,
    settings: &mut partition::Settings,
    rating: &rating::Settings,
) {
    if settings.objective == Objective::Ratio {
        return;
    }
    spec.strengths = strengths(spec, settings, rating);
    if spec.strengths.is_none() {
        settings.objective = Objective::Ratio;
    }
}

/// The strengths of the players, and the outlook of the rating system before any match for a game of as many.
fn strengths(
    spec: &ProblemSpec,
    settings: &partition::Settings,
    rating: &rating::Settings,
) -> Option<Strengths> {
    let system = rating.system.name().build(rating);
    let Scale::Strengths { .. } = system.scale() else {
        return None;
    };
    let outlook = system.outlook(&game(spec));
    let strength = |weight: f64| outlook.range() * (weight - NEWCOMER) / LARGEST;
    let sound = outlook.is_sound();
    sound.then(|| Strengths {
        outlook,
        humans: spec
            .humans
            .iter()
            .map(|human| strength(human.weight))
            .collect(),
        bot: strength(spec.bots.weight),
        bots_there: Vec::new(),
        doubts: Vec::new(),
        party_multiplier: settings.party_multiplier.clone(),
    })
}

/// A game of newcomers with as many players on each team as there will be.
fn game(spec: &ProblemSpec) -> RatedGame {
    let bots = spec.bots;
    let wanted = match bots.fill {
        true => bots.target.clamp(bots.min, bots.max.max(bots.min)),
        false => 0,
    };
    let size = spec.humans.len().max(wanted).div_ceil(spec.teams).max(1);
    let teams = (0u16..).take(spec.teams);
    let seats = teams.flat_map(|team| (0..size).map(move |_| team));
    RatedGame::new(
        (0u32..)
            .zip(seats)
            .map(|(number, team)| Seat::new(Player(number), team))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        partition::{Bots, Problem, WeightedHuman},
        rating::{SystemChoice, SystemName},
    };

    fn spec(weights: &[f64]) -> ProblemSpec {
        let human = |(n, &weight): (usize, &f64)| WeightedHuman::new(format!("p{n}"), weight);
        ProblemSpec {
            humans: weights.iter().enumerate().map(human).collect(),
            bots: Bots {
                fill: false,
                ..Bots::default()
            },
            ..ProblemSpec::default()
        }
    }

    fn by_chance() -> partition::Settings {
        partition::Settings {
            objective: Objective::Chance,
            ..partition::Settings::default()
        }
    }

    #[test]
    fn weights_become_strengths_on_the_scale_of_weights() {
        for name in SystemName::ALL {
            let rating = rating::Settings {
                system: SystemChoice::Always(name),
                ..rating::Settings::default()
            };
            let (mut spec, mut settings) = (spec(&[100.0, 50.0, 0.0]), by_chance());
            decide(&mut spec, &mut settings, &rating);
            let Some(strengths) = &spec.strengths else {
                assert_eq!(settings.objective, Objective::Ratio, "{name:?}");
                continue;
            };
            let six = 6.0 * strengths.outlook.unit;
            let by_hand = strengths.humans.iter().zip([six, 0.0, -six]);
            assert!(
                by_hand
                    .into_iter()
                    .all(|(s, by_hand)| (s - by_hand).abs() < 1e-9)
            );
            assert_eq!(settings.objective, Objective::Chance);
            assert!(Problem::new(spec).is_ok());
        }
    }
}
