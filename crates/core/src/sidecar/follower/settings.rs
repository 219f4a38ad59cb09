//! The operator's settings that engines share.

use super::CommandTemplate;

/// The operator's settings. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
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
    /// The console command that moves one player.
    pub move_command: CommandTemplate,
    /// The console command that sets the number of bots; if absent, bots only change teams.
    pub bots_command: Option<CommandTemplate>,
}
