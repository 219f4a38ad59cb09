//! The settings of sessions.

use serde::Deserialize;

use crate::{
    lobby::LobbySettings,
    model::units::{Millis, PlayerWeight, Seconds, UpToADay},
    partition::{self, SizeLimits},
};

/// The settings of every game, which it has from its GAME on.
#[derive(Clone, Debug, PartialEq)]
pub struct GameSettings {
    /// Rules of the running game: roster, bots, late arrivals, advantage, moves.
    pub lobby: LobbySettings,
    /// How BALANCE chooses teams.
    pub balance: BalanceSettings,
    /// Patterns of game types in which auto-balance moves no one.
    pub tournament: Vec<String>,
}

/// The settings of every session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The settings of the games that begin before others are stated.
    pub games: GameSettings,
    /// How long a parked game waits for its server.
    pub resume_grace: UpToADay,
    /// How long a connection that reports a game server may be silent before another one takes its place.
    pub heartbeat: Seconds<1, 3_600>,
    /// How many connections there may be, so that the games of all of them can be parked.
    pub connections: usize,
    /// How many decisions are stored; 0 stores none.
    pub keep_decisions: u32,
}

/// The default weight that stands for a newcomer's, which is learned.
const LEARNED: f64 = 50.0;

/// How BALANCE chooses teams.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct BalanceSettings {
    /// How many candidates are compared, and how one of them is picked.
    #[serde(flatten)]
    pub partition: partition::Settings,
    /// How much the teams may differ in size.
    #[serde(flatten)]
    pub limits: SizeLimits,
    /// Weight of a human without rated games; 50 stands for what newcomers turned out to be.
    pub default_weight: PlayerWeight,
    /// The same of a bot while no bot has a weight.
    pub default_bot_weight: PlayerWeight,
    /// The time limit for waiting for a core and choosing teams together.
    pub deadline_ms: Millis<1, 60_000>,
}

impl BalanceSettings {
    /// The weights that an operator has stated for an unknown human and an unknown bot; `None` where newcomers count as
    /// what they turned out to be.
    pub fn stated_defaults(&self) -> (Option<f64>, Option<f64>) {
        let stated = |weight: PlayerWeight| Some(weight.get()).filter(|weight| *weight != LEARNED);
        (stated(self.default_weight), stated(self.default_bot_weight))
    }
}
