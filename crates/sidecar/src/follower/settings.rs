//! The operator's settings that all engines share.

use crate::ChatSettings;

/// The operator's settings of a follower. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowerSettings {
    /// The name of the game server in HELLO.
    pub server: String,
    /// The token of the game server, if the daemon requires one.
    pub token: Option<String>,
    /// Whether bots are sent to the daemon as humans, and placed one by one. Otherwise the daemon
    /// decides how many bots belong on each team.
    pub bots_as_players: bool,
    /// Whether players may be moved during play.
    pub auto_balance: bool,
    /// How long no player must have joined or left before teams are chosen.
    pub settle: u64,
    /// The most times, at least 1, that a move is ordered if it does not take effect.
    pub attempts: u32,
    /// Which commands of players are answered.
    pub chat: ChatSettings,
}
