//! The strengths that the weights of a list stand for, so that the chances to win can decide.

use crate::{
    partition::{self, ChanceModel, GameView, Objective, ProblemSpec},
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
    spec.view.chance = model(&spec.view, settings, rating);
    if spec.view.chance.is_none() {
        settings.objective = Objective::Ratio;
    }
}

/// The strengths of the players, and the outlook of the rating system before any match for a game of as many.
fn model(
    view: &GameView,
    settings: &partition::Settings,
    rating: &rating::Settings,
) -> Option<ChanceModel> {
    let system = rating.system.name().build(rating);
    let Scale::Strengths { .. } = system.scale() else {
        return None;
    };
    let outlook = system.outlook(&game(view));
    let strength = |weight: f64| outlook.range() * (weight - NEWCOMER) / LARGEST;
    let sound = outlook.is_sound();
    let humans = view.humans.iter().map(|human| strength(human.weight));
    sound.then(|| ChanceModel {
        outlook,
        humans: humans.collect(),
        bots: Vec::new(),
        next_bot: strength(view.weight_of_place()),
        doubts: Vec::new(),
        party_multiplier: settings.party_multiplier.clone(),
    })
}

/// A game of newcomers with as many players on each team as there will be.
fn game(view: &GameView) -> RatedGame {
    let bots = view.filling();
    let wanted = if bots.on { bots.players() } else { 0 };
    let players = view.humans.len().max(wanted as usize);
    let size = players.div_ceil(usize::from(view.teams)).max(1);
    let teams = (0u16..).take(usize::from(view.teams));
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
        partition::{HumanInGame, Problem},
        rating::{SystemChoice, SystemName},
    };

    fn spec(weights: &[f64]) -> ProblemSpec {
        let human = |(n, &weight): (usize, &f64)| HumanInGame::new(format!("p{n}"), weight);
        let mut view = GameView {
            humans: weights.iter().enumerate().map(human).collect(),
            ..GameView::default()
        };
        view.fill.on = false;
        ProblemSpec {
            view,
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
            let Some(model) = &spec.view.chance else {
                assert_eq!(settings.objective, Objective::Ratio, "{name:?}");
                continue;
            };
            let six = 6.0 * model.outlook.unit;
            let by_hand = model.humans.iter().zip([six, 0.0, -six]);
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
