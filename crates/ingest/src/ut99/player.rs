//! One player of a UT99 game.

use crate::{record::UNKNOWN_TEAM, text};
use evenkeel_model::{MatchRecorder, PlayerKey};

/// What the game calls a player without a name.
const UNNAMED: &str = "Player";

/// One player number. The game gives each out once.
#[derive(Default)]
pub(super) struct Player {
    /// Whether the player is on the server.
    pub(super) there: bool,
    pub(super) bot: bool,
    pub name: Vec<u8>,
    pub team: Option<u8>,
    pub(super) visit: Option<usize>,
    pub(super) points: Option<f64>,
}

impl Player {
    pub fn key(&self) -> PlayerKey {
        text::key_by_name(self.bot, self.name())
    }

    pub fn name(&self) -> String {
        text::name_or(&self.name, UNNAMED)
    }
}

/// Moves a player to their present team in the record; to none once they have left.
pub fn place(player: &mut Player, recorder: &mut MatchRecorder, millis: u64) {
    let team = player.there.then_some(player.team.unwrap_or(UNKNOWN_TEAM));
    player.visit = recorder.place(player.visit, team, millis, || (player.key(), player.name()));
}
