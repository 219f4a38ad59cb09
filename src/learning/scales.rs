//! The scale on which a stored weight is, and its conversion to today's.
//!
//! A new version of the program may have another scale. Until it has derived its own weights, it serves the stored
//! ones, so the database notes the scale of each.

use crate::{
    domain::{ClanTags, PlayerKey, UNITS},
    rating::{Scale, Settings, SystemName},
    store::{OperatorOverrides, WeightRow},
};

/// A scale of stored weights. Its number is in databases, so it never gets another meaning; 0 is that of weights
/// whose scale was not noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WeightScale {
    /// That of a rating system whose strengths are weights. It is the same in all versions.
    Own = 1,
    /// 50 ± 50 · x² / (x² + unit²), where x is the strength above a newcomer's.
    Squares = 2,
    /// 50 + 50 · x / (6 units), limited to 0 to 100.
    Linear = 3,
}

impl WeightScale {
    /// The scale on which this version converts strengths to weights.
    const TODAY: Self = Self::Linear;

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
            3 => Self::Linear,
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
        WeightScale::Own | WeightScale::Linear => weight,
        WeightScale::Squares => {
            let above = weight.clamp(0.0, 100.0) - 50.0;
            let part = above.abs() / 50.0;
            let units = libm::copysign(libm::sqrt(part / (1.0 - part)), above);
            (50.0 + 50.0 * units / UNITS).clamp(0.0, 100.0)
        }
    }
}

/// The operator's overrides with all weights on today's scale: a weight that was set on an older one keeps its
/// strength. `system` is the configured rating system. What is set for a name with tags is set for its player; what is set
/// for the name without them comes last, and counts.
pub(super) fn todays_overrides(
    mut overrides: OperatorOverrides,
    system: SystemName,
    tags: &ClanTags,
) -> OperatorOverrides {
    let from = WeightScale::noted(0, system);
    let former = std::mem::take(&mut overrides.former_pinned);
    for (key, weight) in &mut overrides.pinned {
        if former.contains(key) {
            *weight = today(*weight, from);
        }
    }
    let former = std::mem::take(&mut overrides.former_starts);
    for (key, start) in &mut overrides.starts {
        if former.contains(key) {
            start.weight = today(start.weight, from);
        }
    }
    without_tags(&mut overrides.pinned, tags);
    without_tags(&mut overrides.starts, tags);
    overrides
}

fn without_tags<T>(set: &mut Vec<(PlayerKey, T)>, tags: &ClanTags) {
    let bare = |(key, value): (PlayerKey, T)| match tags.without(key.kind, &key.id) {
        Some(bare) => (false, (bare, value)),
        None => (true, (key, value)),
    };
    let mut all: Vec<_> = std::mem::take(set).into_iter().map(bare).collect();
    all.sort_by_key(|(is_own, _)| *is_own);
    set.extend(all.into_iter().map(|(_, one)| one));
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
        domain::{Kind, PlayerKey, RoleWeights, StartWeight, Timestamp},
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

    #[test]
    fn a_weight_on_the_scale_of_squares_keeps_its_strength() {
        let converted = on_todays_scale(row(0), SystemName::Joint);
        // 31.25 of 50 points: x² / (x² + 1) = 0.625.
        let units = (0.625_f64 / 0.375).sqrt();
        assert!((converted.weight - (50.0 + 50.0 * units / 6.0)).abs() < 1e-12);
        assert_eq!(converted.scale, WeightScale::Linear as u8);
        assert_eq!(
            on_todays_scale(converted.clone(), SystemName::Joint),
            converted
        );
        let ends = [0.0, 50.0, 75.0, 100.0].map(|weight| today(weight, WeightScale::Squares));
        assert_eq!(ends, [0.0, 50.0, 50.0 + 50.0 / 6.0, 100.0]);
    }

    #[test]
    fn weights_that_an_operator_has_set_keep_their_strength() {
        let key = |id: &str| PlayerKey {
            kind: Kind::Human,
            id: id.into(),
        };
        let start = |weight| StartWeight {
            weight,
            uncertain: true,
        };
        let overrides = OperatorOverrides {
            pinned: vec![(key("ann"), 25.0), (key("bob"), 25.0)],
            starts: vec![(key("cid"), start(75.0)), (key("dan"), start(75.0))],
            former_pinned: [key("ann")].into(),
            former_starts: [key("cid")].into(),
            ..OperatorOverrides::default()
        };
        let today = todays_overrides(overrides.clone(), SystemName::Joint, &ClanTags::default());
        let unit = 50.0 / 6.0;
        assert_eq!(
            today.pinned,
            [(key("ann"), 50.0 - unit), (key("bob"), 25.0)]
        );
        assert_eq!(
            today.starts,
            [(key("cid"), start(50.0 + unit)), (key("dan"), start(75.0))]
        );
        let own = todays_overrides(
            overrides.clone(),
            SystemName::Presence,
            &ClanTags::default(),
        );
        assert_eq!(
            (own.pinned, own.starts),
            (overrides.pinned, overrides.starts)
        );
    }
}
