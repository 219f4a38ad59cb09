//! What an operator can choose.

use super::SpareBot;

/// What an operator can choose. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The name of the game server, for HELLO.
    pub server: String,
    /// The token of the game server, where the daemon requires one.
    pub token: Option<String>,
    /// Whether the daemon learns of bots as if they were humans, and places each by itself. Otherwise
    /// it states how many bots belong on each team.
    pub bots_as_players: bool,
    /// Whether players may be moved while play is on.
    pub auto_balance: bool,
    /// Whether humans are moved by the game's admin command `!putteam` instead of `forceteam`.
    pub admin: bool,
    /// How long no player has joined or left before teams are chosen.
    pub settle: u64,
    /// How often a move that is not carried out is ordered; at least once.
    pub attempts: u32,
    /// Bots that may be added and removed to reach the daemon's numbers. If empty, bots only change
    /// teams.
    pub spare_bots: Vec<SpareBot>,
}
