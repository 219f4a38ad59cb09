//! One player on the server.

use super::grammar::PlayerTag;
use crate::text;
use evenkeel_model::{Kind, Nobody, PlayerKey, RoleName, steam};

/// The name recorded for a player without one.
const UNNAMED: &str = "unnamed";

/// One connection to the server.
#[derive(Debug)]
pub struct Client {
    /// The number of the client in events, which is no other client's.
    pub(crate) slot: usize,
    /// The name as the log has it.
    pub name: Vec<u8>,
    pub(super) auth: Vec<u8>,
    /// The number of the connection, as the line that began it states.
    pub(super) uid: Option<u32>,
    /// How many lines have stated the Steam id, minus those that stated another one on the connection.
    pub(super) stated: i64,
    /// Another connection that has had the Steam id, without a line for its end: its number and its name.
    pub(super) former: Option<(u32, Vec<u8>)>,
    /// Whether another connection has the same Steam id at the same time.
    pub(super) shares: bool,
    /// The team; `None` if no line has stated one, or the player watches.
    pub team: Option<u8>,
    /// When the player joined the team, in milliseconds since the log began; `None` if that was before
    /// the log mentioned the player.
    pub(super) since: Option<u64>,
    /// Whether the player has come into the game, and no line has stated a team since.
    pub(super) entered: bool,
    /// Since when the player may have played without a line that says so: since they entered, or if that was within a
    /// round, since the next one began. In milliseconds since the log began.
    pub(super) played: Option<u64>,
    /// When a line last named the player, in milliseconds since the log began.
    pub(super) seen: u64,
    /// When the player last died, in milliseconds since the log began.
    pub(super) died: Option<u64>,
    /// When the player last captured, in milliseconds since the log began.
    pub(super) captured: Option<u64>,
    /// The class that the player last chose or came with.
    pub(super) class: Option<RoleName>,
}

impl Client {
    /// The identity, as a record has it.
    pub fn key(&self) -> PlayerKey {
        let kind = match &self.auth[..] {
            b"BOT" => Kind::Bot,
            _ => Kind::Human,
        };
        let id = match kind {
            Kind::Bot => self.name(),
            Kind::Human if is_identity(&self.auth) => text::name(&self.auth),
            Kind::Human => text::weak_identity(&self.name()),
        };
        let key = PlayerKey { kind, id };
        match self.uid.filter(|_| self.shares) {
            Some(number) => key.split(Nobody::Twice, number as usize),
            None => key,
        }
    }

    /// The connection that has the Steam id so far, if a line states another number and another name for it.
    pub(super) fn other_connection(&self, who: &PlayerTag<'_>) -> Option<(u32, Vec<u8>)> {
        let number = self
            .uid
            .filter(|uid| who.uid.is_some_and(|other| other != *uid))?;
        (self.name != who.name).then(|| (number, self.name.clone()))
    }

    /// Whether a line is of the other connection that has the same Steam id.
    pub(super) fn is_twin_of(&self, who: &PlayerTag<'_>) -> bool {
        let former = self.former.as_ref();
        former.is_some_and(|(number, name)| Some(*number) == who.uid && *name == who.name)
    }

    /// The name as the log has it.
    pub fn name(&self) -> String {
        text::name_or(&self.name, UNNAMED)
    }

    /// The number of the connection, by which commands name the player.
    pub fn number(&self) -> Option<u32> {
        self.uid
    }

    /// The class with which the player plays.
    pub fn role(&self) -> Option<RoleName> {
        self.class.clone()
    }

    /// The team on which the player plays.
    pub fn team(&self) -> Option<u8> {
        self.team
    }
}

/// Whether an authentication id identifies its player, as `STEAM_0:1:2345` and `[U:1:2345]` do, and
/// `STEAM_ID_PENDING`, `STEAM_ID_LAN`, `UNKNOWN` and a part of an id do not.
pub(super) fn is_identity(auth: &[u8]) -> bool {
    std::str::from_utf8(auth).is_ok_and(|auth| steam::account(auth).is_some())
}

/// Whether the id is that of a player whose own one the server does not have yet, or has no more.
pub(super) fn is_passing(auth: &[u8]) -> bool {
    [&b"STEAM_ID_PENDING"[..], b"<none>"].contains(&auth)
}

/// Whether the id is not a player's, but the console's or a relay's for spectators.
pub(super) fn is_nobody(auth: &[u8]) -> bool {
    [&b"Console"[..], b"HLTV", b"CONSOLE"].contains(&auth)
}
