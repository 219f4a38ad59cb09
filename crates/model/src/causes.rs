//! What may have made a match one-sided, as the record of the match has it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MatchRecord;

/// Who comes later than this, in milliseconds of play, is late.
const LATE: u64 = 60_000;
/// A player with fewer rated matches of the ruleset is a newcomer.
pub const NEWCOMER: u32 = 10;

/// A thing that may have made a match one-sided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A player came after the first minute.
    LateJoin,
    /// A player left before the end.
    Leaver,
    /// The teams had different numbers of players.
    UnevenSizes,
    /// A player had fewer than [`NEWCOMER`] rated matches of the ruleset.
    Newcomer,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::LateJoin,
        Self::Leaver,
        Self::UnevenSizes,
        Self::Newcomer,
    ];

    /// The name in addresses and data.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LateJoin => "late-joins",
            Self::Leaver => "leavers",
            Self::UnevenSizes => "uneven-sizes",
            Self::Newcomer => "newcomers",
        }
    }

    /// The cause with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == name)
    }

    /// The bit that stands for it in [`Causes::bits`]. Databases contain it: it never changes.
    pub fn bit(self) -> u8 {
        match self {
            Self::LateJoin => 1,
            Self::Leaver => 2,
            Self::UnevenSizes => 4,
            Self::Newcomer => 8,
        }
    }
}

/// The causes that a match has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Causes(u8);

impl Causes {
    /// Those of a match in which these participants were rated; `has_newcomer` is whether one of them was a newcomer.
    pub fn of(
        record: &MatchRecord,
        rated: impl Iterator<Item = usize>,
        has_newcomer: bool,
    ) -> Self {
        let mut sizes: BTreeMap<u8, usize> = BTreeMap::new();
        let mut bits = 0;
        let mut note = |cause: Cause, has| bits |= if has { cause.bit() } else { 0 };
        for one in rated.filter_map(|at| record.participants.get(at)) {
            if let Some(team) = one.main_team() {
                *sizes.entry(team).or_default() += 1;
            }
            let came = one.presence.first().map(|stay| stay.span.from);
            note(Cause::LateJoin, came.is_some_and(|came| came > LATE));
            note(Cause::Leaver, one.left.is_some());
        }
        let mut sizes = sizes.into_values();
        let first = sizes.next();
        note(Cause::UnevenSizes, sizes.any(|size| Some(size) != first));
        note(Cause::Newcomer, has_newcomer);
        Self(bits)
    }

    /// The causes as bits, one for each.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// The causes that these bits stand for.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Whether the match has this cause.
    pub fn has(self, cause: Cause) -> bool {
        self.0 & cause.bit() != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_a_bit_and_a_name_of_its_own() {
        let bits = Cause::ALL.iter().fold(0, |bits, cause| {
            assert_eq!(bits & cause.bit(), 0, "{cause:?}");
            assert_eq!(Cause::parse(cause.as_str()), Some(*cause));
            bits | cause.bit()
        });
        let all = Causes::from_bits(bits);
        assert!(Cause::ALL.iter().all(|cause| all.has(*cause)));
        assert_eq!(Cause::parse("luck"), None);
        assert!(!Causes::default().has(Cause::Leaver));
    }
}
