//! Why a player left a running game.

use serde::{Deserialize, Serialize};

use super::worded;

worded! {
    /// The reason that LEAVE states.
    ///
    /// The set is closed, because each reason either counts against the player or does not. A word that
    /// is none of these is [`Other`](Self::Other), which does not: a game server that states a reason
    /// does not mean that the player simply left.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LeaveReason {
        /// The player left of their own accord. This is what LEAVE without a reason means.
        #[default]
        Left = "left",
        /// An admin or a vote removed the player.
        Kicked = "kicked",
        /// The player's connection was lost.
        Timeout = "timeout",
        /// The game server sent the player to another game.
        Moved = "moved",
        /// The game server stated another reason.
        Other = "other",
    }
}

impl LeaveReason {
    /// The longest word that [`read`](Self::read) accepts, in bytes.
    const MAX_WORD: usize = 32;

    /// The reason that a game server states: one of the words of [`as_str`](Self::as_str) in upper
    /// or lower case, or `quit` for `left`. Any other word of up to 32 letters, digits, hyphens and
    /// underscores is [`Other`](Self::Other); any other text is `None`.
    pub fn read(word: &str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if word.is_empty() || word.len() > Self::MAX_WORD || !word.bytes().all(plain) {
            return None;
        }
        let word = word.to_ascii_lowercase();
        Some(match word.as_str() {
            "quit" => Self::Left,
            known => Self::parse(known).unwrap_or(Self::Other),
        })
    }

    /// Whether the player could have stayed, so that the rest of the game counts for them.
    pub fn is_own_choice(self) -> bool {
        self == Self::Left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_read_from_their_words() {
        for reason in LeaveReason::ALL {
            assert_eq!(LeaveReason::parse(reason.as_str()), Some(reason));
            assert_eq!(LeaveReason::read(reason.as_str()), Some(reason));
        }
        assert_eq!(LeaveReason::read("Quit"), Some(LeaveReason::Left));
        assert_eq!(LeaveReason::read("TIMEOUT"), Some(LeaveReason::Timeout));
        assert_eq!(LeaveReason::read("bored"), Some(LeaveReason::Other));
        assert_eq!(LeaveReason::parse("bored"), None);
        let long = "a".repeat(33);
        for none in ["", "no words", "\u{e9}", long.as_str()] {
            assert_eq!(LeaveReason::read(none), None);
        }
    }
}
