//! One player of a UT2004 game.

use crate::text;
use evenkeel_model::{Kind, PlayerKey};

/// What the game calls a player without a name.
const UNNAMED: &str = "Player";

/// One player number. The game gives each out once, counting up, so that a lower one joined earlier.
#[derive(Default)]
pub(super) struct Player {
    pub(super) connected: bool,
    pub(super) bot: bool,
    /// The hash by which the server knows the player (`GetPlayerIDHash`); only OLStats writes it.
    pub(super) hash: Vec<u8>,
    /// The hash by which the statistics site knows the player.
    pub(super) login: Vec<u8>,
    pub name: Vec<u8>,
    pub team: Option<u8>,
    /// When the player joined, in milliseconds since play began.
    pub(super) joined: u64,
    pub(super) visit: Option<usize>,
    pub(super) points: f64,
}

impl Player {
    pub fn key(&self) -> PlayerKey {
        let kind = if self.bot { Kind::Bot } else { Kind::Human };
        let strong = [&self.hash, &self.login].into_iter().find(|id| is_hash(id));
        let id = match strong {
            _ if self.bot => self.name(),
            Some(hash) => text::name(hash),
            None => text::weak_identity(&self.name()),
        };
        PlayerKey { kind, id }
    }

    pub fn name(&self) -> String {
        text::name_or(&self.name, UNNAMED)
    }
}

/// 32 hexadecimal digits, not all zero.
pub(super) fn is_hash(id: &[u8]) -> bool {
    id.len() == 32 && id.iter().all(u8::is_ascii_hexdigit) && id.iter().any(|&b| b != b'0')
}
