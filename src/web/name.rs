//! The names of players, in their colours.

use maud::{Markup, html};
use serde::Serialize;

use super::links::Links;
use crate::model::{Kind, coloured_name, plain_name};

/// A player as pages name them. Players who are hidden or were forgotten have no name and no handle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Player {
    /// The public handle; `None` if the player has no page.
    pub(super) handle: Option<String>,
    /// The name without its colours.
    pub(super) name: Option<String>,
    /// Whether the player is a bot.
    pub(super) bot: bool,
    /// The name as the game sent it.
    #[serde(skip)]
    raw: String,
}

impl Player {
    pub(super) fn new(handle: Option<String>, name: Option<String>, kind: Kind) -> Self {
        Self {
            handle,
            name: name.as_deref().map(plain_name),
            bot: kind == Kind::Bot,
            raw: name.unwrap_or_default(),
        }
    }

    /// The name without its colours.
    pub(super) fn plain(&self) -> &str {
        self.name.as_deref().unwrap_or(text!(common.a_player))
    }

    /// The name in its colours.
    pub(super) fn coloured(&self) -> Markup {
        let Some(_) = &self.name else {
            return html! { span.gone { (text!(common.a_player)) } };
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

    /// The name with a link to the player's page, and a mark for bots.
    pub(super) fn link(&self, links: &Links) -> Markup {
        html! {
            @match &self.handle {
                Some(handle) => a href=(links.player(handle)) { (self.coloured()) },
                None => (self.coloured()),
            }
            @if self.bot { " " span.tag { (text!(common.bot)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
