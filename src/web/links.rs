//! The paths of pages.

use maud::{Markup, html};

use super::{encode::path_part, words};

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

    /// The name of a ruleset, with a link to its page.
    pub(super) fn to_ruleset(&self, ruleset: &str) -> Markup {
        html! { a href=(self.ruleset(ruleset)) { (words::ruleset(ruleset)) } }
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
