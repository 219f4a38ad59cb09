//! What points of weight are worth.

use super::{Player, RatedGame, Seat, Settings, Strength, strength::Scale};
use evenkeel_model::win_model::UNITS;

/// The number of players on each team.
const TEAM: u32 = 4;

/// The chance of one of two teams of four to win if one of its players has a weight `points` above 50 and all others
/// have 50, and if all of them are known for certain. `None` for rating systems without strengths.
pub fn worth(settings: &Settings, points: f64) -> Option<f64> {
    let mut system = settings.system.name().build(settings);
    let Scale::Strengths { unit, .. } = system.scale() else {
        return None;
    };
    let seats = (0..2 * TEAM).map(|number| Seat::new(Player(number), (number / TEAM) as u16));
    for number in 0..2 * TEAM {
        let above = if number == 0 { points } else { 0.0 };
        let mean = above / 50.0 * UNITS * unit;
        system.start(Player(number), Strength::exact(mean));
    }
    let game = RatedGame::new(seats.collect());
    Some(system.beats(&game, 0, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SystemName;

    #[test]
    fn points_are_worth_the_same_in_either_direction_and_ten_a_few_percent() {
        let of = |system: SystemName, points| {
            let settings = Settings {
                system: system.into(),
                ..Settings::default()
            };
            worth(&settings, points)
        };
        for system in SystemName::ALL {
            let Some(ten) = of(system, 10.0) else {
                continue;
            };
            let less = of(system, -10.0).unwrap();
            assert!((ten + less - 1.0).abs() < 1e-9, "{system}: {ten} {less}");
            assert!((of(system, 0.0).unwrap() - 0.5).abs() < 1e-12, "{system}");
            assert!(ten > 0.5 && ten < 1.0, "{system}: {ten}");
        }
        // 10 points are 1.2 units of 0.46, and a player counts √(2 / 8) of them.
        let joint = of(SystemName::Joint, 10.0).unwrap();
        let by_hand = crate::normal::cdf(1.2 * 0.46 / 2.0);
        assert!((joint - by_hand).abs() < 1e-3, "{joint} {by_hand}");
        assert_eq!(of(SystemName::Presence, 10.0), None);
    }
}
