//! Addresses: the paths of pages, with texts made safe for them and for XML, and the names of players, which are
//! links.

use std::fmt::Write;

use maud::{Markup, html};

use super::words;
use crate::{
    model::names::{coloured_name, plain_name},
    store::Player,
};

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

    /// The name of a map, with a link to its page; `name` is as the game names it. A dash without a map.
    pub(super) fn to_map(&self, name: &str) -> Markup {
        let shown = plain_name(name);
        html! {
            @match name.is_empty() {
                true => "–",
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

/// Percent-encodes a text so that it is one part of a path, or a value in a query.
pub(super) fn path_part(text: &str) -> String {
    let mut part = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'~' => part.push(byte.into()),
            // Two dots would lead to another folder.
            b'.' if text != "." && text != ".." => part.push('.'),
            _ => {
                let _ = write!(part, "%{byte:02X}");
            }
        }
    }
    part
}

/// A text without the characters that XML cannot contain.
pub(super) fn without_controls(text: &str) -> String {
    let fits = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().filter(fits).collect()
}

/// Escapes a text for XML, and leaves out the characters that XML cannot contain.
pub(super) fn xml(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in without_controls(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(c),
        }
    }
    safe
}

/// A player as pages show them.
pub(crate) trait PlayerLink {
    /// The name in its colours.
    fn coloured(&self) -> Markup;
    /// The name with a link to the player's page, and a mark for bots.
    fn link(&self, links: &Links) -> Markup;
}

impl PlayerLink for Player {
    fn coloured(&self) -> Markup {
        let Some(_) = &self.name else {
            return html! { span.gone { "a player" } };
        };
        html! {
            bdi.name {
                @for (colour, text) in coloured_name(&self.raw) {
                    @match colour {
                        Some(colour) => span class=(format!("n{}", colour as u8)) { (text) },
                        None => (text),
                    }
                }
            }
        }
    }

    fn link(&self, links: &Links) -> Markup {
        html! {
            @match &self.handle {
                Some(handle) => a href=(links.player(handle)) { (self.coloured()) },
                None => (self.coloured()),
            }
            @if self.bot { " " span.tag { "bot" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;

    #[test]
    fn parts_of_addresses_cannot_leave_their_place() {
        assert_eq!(
            path_part("baseoa.ctf+g_instantgib"),
            "baseoa.ctf%2Bg_instantgib"
        );
        assert_eq!(
            path_part("../a?b#c d\"<é"),
            "..%2Fa%3Fb%23c%20d%22%3C%C3%A9"
        );
        assert_eq!(path_part(".."), "%2E%2E");
        assert_eq!(
            xml("<a href='x'>&\"\u{0}\u{ffff}"),
            "&lt;a href=&#39;x&#39;&gt;&amp;&quot;"
        );
    }

    #[test]
    fn names_are_escaped() {
        let raw = "^1<script>^7\"&";
        let player = Player::new(Some("ab12".into()), Some(raw.into()), Kind::Human);
        let html = player.link(&Links::new("/s")).into_string();
        assert_eq!(
            html,
            "<a href=\"/s/players/ab12\"><bdi class=\"name\"><span class=\"n1\">&lt;script&gt;</span>\
             <span class=\"n7\">&quot;&amp;</span></bdi></a>"
        );
        let json = serde_json::to_string(&player).unwrap();
        assert_eq!(
            json,
            r#"{"handle":"ab12","name":"<script>\"&","bot":false}"#
        );
        let gone = Player::new(None, None, Kind::Bot);
        let html = gone.link(&Links::new("")).into_string();
        assert_eq!(
            html,
            "<span class=\"gone\">a player</span> <span class=\"tag\">bot</span>"
        );
    }
}
