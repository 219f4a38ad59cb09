//! The paths of pages.

use maud::{Markup, html};

use super::{encode::path_part, words};
use crate::model::plain_name;

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

    /// The name of a map, with a link to its page; `name` is as the game names it.
    pub(super) fn to_map(&self, name: &str) -> Markup {
        let shown = plain_name(name);
        html! {
            @match name.is_empty() {
                true => (shown),
                false => a href=(format!("{}/maps/{}", self.base, path_part(name))) { (shown) },
            }
        }
    }

    /// The page of a game server; `name` is as it names itself.
    pub(super) fn server(&self, name: &str) -> String {
        format!("{}/servers/{}", self.base, path_part(name))
    }

    pub(super) fn balance(&self, ruleset: &str) -> String {
        format!("{}/balance?ruleset={}", self.base, path_part(ruleset))
    }
}
