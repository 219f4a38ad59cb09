//! The scale on which a stored weight is, and its conversion to today's.
//!
//! A new version of the program may have another scale. Until it has derived its own weights, it serves the stored
//! ones, so the database notes the scale of each.

use crate::{
    rating::{Scale, Settings, SystemName},
    store::WeightRow,
};

/// A scale of stored weights. Its number is in databases, so it never gets another meaning; 0 is that of weights
/// whose scale was not noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WeightScale {
    /// That of a rating system whose strengths are weights. It is the same in all versions.
    Own = 1,
    /// 50 ± 50 · x² / (x² + halfway²), where x is the strength above a newcomer's.
    Squares = 2,
}

impl WeightScale {
    /// The scale on which this version converts strengths to weights.
    const TODAY: Self = Self::Squares;

    /// The scale of the weights that this version derives by a rating system.
    pub fn of(system: SystemName) -> Self {
        match has_own(system) {
            true => Self::Own,
            false => Self::TODAY,
        }
    }

    /// The scale with this number. If it was not noted, it is the one of the versions that did not note it, and
    /// the rating system is taken to be the configured one.
    fn noted(number: u8, system: SystemName) -> Self {
        match number {
            1 => Self::Own,
            2 => Self::Squares,
            _ if has_own(system) => Self::Own,
            _ => Self::Squares,
        }
    }
}

/// Whether the strengths of a rating system are weights.
fn has_own(system: SystemName) -> bool {
    system.build(&Settings::default()).scale() == Scale::Weights
}

/// The weight on today's scale that stands for the same strength as this one on the scale `from`.
///
/// **A version with another scale converts the old ones here**: it adds its own to [`WeightScale`] and to
/// [`noted`](WeightScale::noted), makes it [`TODAY`](WeightScale::TODAY), and replaces the arm of `Squares`.
fn today(weight: f64, from: WeightScale) -> f64 {
    match from {
        WeightScale::Own | WeightScale::Squares => weight,
    }
}

/// A stored row with its weights on today's scale. `system` is the configured rating system.
pub(super) fn on_todays_scale(mut row: WeightRow, system: SystemName) -> WeightRow {
    let from = WeightScale::noted(row.scale, system);
    if from == WeightScale::Own || from == WeightScale::TODAY {
        return row;
    }
    let at = |weight: f64| today(weight, from);
    // As `history` computes it: half the difference between the weights one deviation above and below.
    row.deviation = (at(row.weight + row.deviation) - at(row.weight - row.deviation)) / 2.0;
    row.weight = at(row.weight);
    row.roles.sides = row.roles.sides.map(|sides| sides.map(at));
    row.roles.commander = row.roles.commander.map(at);
    row.scale = WeightScale::TODAY as u8;
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{Kind, PlayerKey, RoleWeights, Timestamp},
        rating::SystemName,
    };

    fn row(scale: u8) -> WeightRow {
        WeightRow {
            ruleset: "ctf".into(),
            key: PlayerKey {
                kind: Kind::Human,
                id: "ann".into(),
            },
            name: "ann".into(),
            weight: 81.25,
            scale,
            deviation: 3.5,
            rank: None,
            roles: RoleWeights {
                sides: Some([80.0, 20.0]),
                commander: Some(50.0),
            },
            games: 24,
            last_seen: Timestamp(0),
        }
    }

    #[test]
    fn weights_on_a_scale_that_has_not_changed_are_served_as_they_are() {
        for system in SystemName::ALL {
            let scale = WeightScale::of(system);
            let written = row(scale as u8);
            let served = on_todays_scale(written.clone(), system);
            assert_eq!(served, written, "{system}");
        }
        // Such weights stay, whatever the configured system is now.
        let own = row(WeightScale::Own as u8);
        let served = on_todays_scale(own.clone(), SystemName::Joint);
        assert_eq!(served, own);
    }

    #[test]
    fn a_scale_that_was_not_noted_is_that_of_the_configured_system() {
        let noted = |system| WeightScale::noted(0, system);
        for system in [
            SystemName::Presence,
            SystemName::Scoreboard,
            SystemName::WinRate,
        ] {
            assert_eq!(noted(system), WeightScale::Own);
        }
        assert_eq!(noted(SystemName::Joint), WeightScale::Squares);
        assert_eq!(noted(SystemName::Elo), WeightScale::Squares);
    }
}
