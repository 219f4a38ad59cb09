//! What is found about the settings of a queue that are valid, but cannot be meant.

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// No match can ever be formed.
    Contradiction,
    /// Matches can be formed, but a part of the settings has no effect.
    Warning,
}

/// Something about a queue's settings that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The rule, attribute or key that it is about.
    pub about: String,
    /// What is wrong, in one sentence.
    pub why: String,
}

impl Finding {
    /// A part of the settings without effect.
    pub(super) fn warning(about: &str, why: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            about: about.to_owned(),
            why: why.into(),
        }
    }

    /// What keeps all matches from being formed.
    pub(super) fn contradiction(about: &str, why: impl Into<String>) -> Self {
        Self {
            severity: Severity::Contradiction,
            ..Self::warning(about, why)
        }
    }
}
