//! Notices that a correction of history has moved a weight without a match of its player.

use evenkeel_model::worded;

use crate::model::Timestamp;

worded! {
    /// What was corrected.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RecountCause {
        /// Matches were made void.
        Void = "void",
        /// Void matches were made valid again.
        Valid = "valid",
        /// An identity counts as another one.
        Merge = "merge",
        /// An identity counts as itself again.
        Split = "split",
        /// Players start at other weights.
        StartWeight = "start-weight",
        /// A log contains other matches than it did when it was read before.
        Log = "log",
        /// The settings are others, or the version of the program.
        Settings = "settings",
        /// A match arrived late.
        LateMatch = "late-match",
    }
}

/// What was corrected since the derived tables were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Correction {
    /// Nothing: all new matches came in order.
    #[default]
    None,
    /// Late matches, if some are among the new ones.
    IfLate,
    /// This.
    Known(RecountCause),
}

/// What is needed to write notices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recount {
    /// What was corrected.
    pub correction: Correction,
    /// The time now.
    pub at: Timestamp,
    /// The number of changes of players and matches with which the rows were made. If it is another one by now, somebody
    /// may have been forgotten, whom no notice may name.
    pub changes: i64,
}

/// A notice: the weight of a player as it was counted before a correction, and as it was counted after it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecountRow {
    /// The key of the ruleset.
    pub ruleset: String,
    /// When it was counted again.
    pub at: Timestamp,
    /// What was corrected; `None` if a newer version has noted it.
    pub cause: Option<RecountCause>,
    /// The weight before.
    pub then: f64,
    /// The weight after.
    pub now: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_back() {
        for cause in RecountCause::ALL {
            assert_eq!(RecountCause::parse(cause.as_str()), Some(cause));
        }
        assert_eq!(RecountCause::LateMatch.as_str(), "late-match");
        assert_eq!(RecountCause::parse(""), None);
    }
}
