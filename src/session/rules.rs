//! The settings that a game has from its GAME on: a configuration that is read again counts for each server's next
//! game.

use std::sync::Arc;

use parking_lot::RwLock;

use super::GameSettings;
use crate::{
    lobby::Lobby,
    model::{PatternError, Patterns},
};

/// The settings of a game.
#[derive(Debug)]
pub(super) struct GameRules {
    pub(super) settings: GameSettings,
    /// The game types in which auto-balance moves no one.
    pub(super) tournament: Patterns,
}

impl GameRules {
    /// # Errors
    /// Fails if `tournament` contains an invalid pattern.
    pub(super) fn new(settings: GameSettings) -> Result<Self, PatternError> {
        Ok(Self {
            tournament: Patterns::new("tournament", &settings.tournament)?,
            settings,
        })
    }

    /// A lobby without a game that has these settings.
    pub(super) fn lobby(&self) -> Lobby {
        Lobby::new(self.settings.lobby.clone())
    }
}

/// The settings of the games that begin now.
#[derive(Debug)]
pub(super) struct NewestRules(RwLock<Arc<GameRules>>);

impl NewestRules {
    pub(super) fn new(rules: GameRules) -> Self {
        Self(RwLock::new(Arc::new(rules)))
    }

    pub(super) fn get(&self) -> Arc<GameRules> {
        self.0.read().clone()
    }

    /// Replaces them. Returns whether the new ones are others.
    ///
    /// # Errors
    /// Fails if `tournament` contains an invalid pattern; nothing changes then.
    pub(super) fn set(&self, settings: GameSettings) -> Result<bool, PatternError> {
        let mut newest = self.0.write();
        if newest.settings == settings {
            return Ok(false);
        }
        *newest = Arc::new(GameRules::new(settings)?);
        Ok(true)
    }
}
