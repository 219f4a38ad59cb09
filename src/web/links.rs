//! The paths of pages.

use super::encode::path_part;

/// Makes links below the base path.
#[derive(Clone, Debug)]
pub(super) struct Links {
    base: String,
}

impl Links {
    pub(super) fn new(base: &str) -> Self {
        Self {
            base: base.to_owned(),
        }
    }

    /// A path that begins with a slash, below the base path.
    pub(super) fn to(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub(super) fn ruleset(&self, ruleset: &str) -> String {
        format!("{}/rulesets/{}", self.base, path_part(ruleset))
    }

    pub(super) fn player(&self, handle: &str) -> String {
        format!("{}/players/{}", self.base, path_part(handle))
    }

    pub(super) fn game(&self, id: i64) -> String {
        format!("{}/matches/{id}", self.base)
    }

    pub(super) fn balance(&self, ruleset: &str) -> String {
        format!("{}/balance?ruleset={}", self.base, path_part(ruleset))
    }
}
