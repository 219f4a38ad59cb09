//! What an agent has to know about an engine: how another game's servers are made to host matches.
//!
//! An engine reads the log, of which it makes [`GameEvent`]s, and prints console commands. It needs one file, and a
//! subcommand in `cli/sidecar`. Its console answers one question at a time. The agent decides everything else.
//!
//! The game server must say in its log which match a game is, because an agent that is killed and started again reads the
//! log from its beginning: [`HostEngine::prepare`] makes it do that.

use super::hosted::AgentMatch;
use crate::progress::{LoggedPlayer, LoggedSetup};
use evenkeel_ingest::GameEvent;

/// How an engine says which player of a match a client is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityProof {
    /// By the answer to this command, of which [`HostEngine::shown_pass`] is the pass.
    Ask(String),
    /// By the client's name, which is that of the player.
    Name(String),
}

/// An engine: how its log reads, and which console commands its servers take. No text that a player chose is in a command.
pub trait HostEngine {
    /// A command that changes nothing, and whose answer shows that the game server runs.
    const ALIVE: &'static str;
    /// The command that ends the game server.
    const QUIT: &'static str;

    /// Reads a line of the log, without its end.
    fn log_line(&mut self, line: &[u8], now: u64, events: &mut Vec<GameEvent>);

    /// Lets time pass, several times per second.
    fn tick(&mut self, now: u64, events: &mut Vec<GameEvent>);

    /// The game that the log shows.
    fn setup(&self) -> LoggedSetup;

    /// The player on a client number, as the log describes them.
    fn player(&self, number: usize) -> Option<LoggedPlayer>;

    /// The game server has ended: nothing of what the log has shown holds any more.
    fn clear(&mut self);

    /// The commands that prepare the game server for a match, before its map is loaded.
    fn prepare(&self, hosted: &AgentMatch, limits: Vec<String>) -> Vec<String>;

    /// The command that loads the map of a match. It has an answer.
    fn load(&self, map: &str) -> String;

    /// Whether the answer to `load` says that the game server does not have the map.
    fn lacks_map(&self, _answer: &[u8]) -> bool {
        false
    }

    /// How this client proves who they are.
    fn proof(&self, client: usize, name: &str) -> IdentityProof;

    /// The pass in the answer to [`IdentityProof::Ask`], empty if the client shows none; `None` if the client has left.
    fn shown_pass<'a>(&self, _answer: &'a [u8]) -> Option<&'a [u8]> {
        None
    }

    /// The commands that begin play, once all players are here; `times` counts how often that was tried before.
    fn begin(&self, times: u32) -> Vec<String>;

    /// The command that moves a client to a team, or off the teams.
    fn assign(&self, client: usize, team: Option<u8>) -> String;

    /// The command that disconnects a client.
    fn kick(&self, client: usize) -> String;

    /// The command that lets in only those who know the password; an empty one lets everybody in.
    fn lock(&self, password: &str) -> String;

    /// The command after which games are of no match.
    fn forget(&self) -> String;
}
