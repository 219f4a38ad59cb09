//! Rights: what a client may do.

use std::fmt;

use serde::Deserialize;

use super::worded;

worded! {
    /// One right of a client. The words are part of the configuration.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Right {
        /// To ask for weights, teams and other decisions.
        Ask = "ask",
        /// To report what happens in a game; the reports become a stored match.
        Report = "report",
        /// To use the queues.
        Queue = "queue",
        /// To host matches of queues.
        Instance = "instance",
        /// To operate the daemon. No verb of this version needs it, only some calls over HTTP.
        Admin = "admin",
    }
}

/// A set of rights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights(u8);

impl Rights {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// What the operator's own machine may do if no clients are configured: all but `admin`.
    pub const USUAL: Self = Self::of(&[Right::Ask, Right::Report, Right::Queue, Right::Instance]);

    /// The set of these rights.
    pub const fn of(rights: &[Right]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < rights.len() {
            bits |= 1 << rights[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the right is in the set.
    pub const fn has(self, right: Right) -> bool {
        self.0 & (1 << right as u8) != 0
    }

    /// Whether the two sets have a right in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Writes the rights with ` or ` between them.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for right in Right::ALL.into_iter().filter(|right| self.has(*right)) {
            write!(f, "{between}{}", right.as_str())?;
            between = " or ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_in() {
        for bits in 0u8..32 {
            let chosen = |right: &Right| bits & (1 << *right as u8) != 0;
            let rights: Vec<Right> = Right::ALL.into_iter().filter(chosen).collect();
            let set = Rights::of(&rights);
            for right in Right::ALL {
                assert_eq!(set.has(right), rights.contains(&right));
                assert_eq!(set.meets(Rights::of(&[right])), set.has(right));
            }
            assert_eq!(set.is_empty(), rights.is_empty());
        }
        assert!(!Rights::USUAL.has(Right::Admin));
        let two = Rights::of(&[Right::Report, Right::Ask]);
        assert_eq!(two.to_string(), "ask or report");
    }
}
