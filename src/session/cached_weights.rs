//! The weight of one player: PLAYER and BOT. A session keeps the weights of its game as of its last question, so that
//! the next question takes no lock and allocates nothing.

use std::sync::Arc;

use super::{Session, SessionError};
use crate::{
    learning::View,
    model::{Ident, Kind, Timestamp},
};

/// The weights of one game, and how long they are those that are published.
#[derive(Debug)]
pub struct CachedWeights {
    view: Arc<View>,
    /// The edition of the standings that they are of.
    edition: u64,
    /// The date on which the next season begins.
    until: Option<Timestamp>,
    /// The default weight of the mean bot.
    default_bot: f64,
}

impl CachedWeights {
    /// Fails while the weight of this player is being derived from the stored matches.
    fn is_ready_for(&self, kind: Kind, id: &str) -> Result<(), SessionError> {
        match self.view.awaits(kind, id) {
            true => Err(SessionError::NotReady),
            false => Ok(()),
        }
    }

    /// A human's weight; `None` for a human without games.
    pub fn human(&self, id: &str) -> Option<f64> {
        self.view.human(id)
    }

    /// A bot's weight; the mean for an unknown bot.
    pub fn bot(&self, name: &str) -> f64 {
        let mean = || {
            self.view
                .mean_bot()
                .map_or(self.default_bot, |(mean, _)| mean)
        };
        self.view.expected(Kind::Bot, name).unwrap_or_else(mean)
    }
}

impl Session {
    /// The weights with which a question about this game's players can be answered at once, with the same
    /// weights as by [`player`](Self::player) and [`bot`](Self::bot). `None` if the journal has to be written
    /// first, if a question about `kind` would change the session, if other weights have been published
    /// since the last question, or if those of this player are being derived; the next question fetches them.
    pub fn cached_weights(&self, kind: Kind, id: &str) -> Option<&CachedWeights> {
        let weights = self.state.cached_weights.as_ref()?;
        let lobby = &self.state.lobby;
        let is_ready = !self.owes_end
            && self.state.journal.is_settled()
            && self.sessions.learning.edition() == weights.edition
            && lobby.game().is_ok()
            && (kind == Kind::Human || lobby.bot_use().shown)
            && !weights.view.awaits(kind, id)
            && weights
                .until
                .is_none_or(|date| self.sessions.clock.now() < date);
        is_ready.then_some(weights)
    }

    /// A human's weight in this game; `None` without games of its ruleset, or of its game type with
    /// fewer mutators.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn player(&mut self, id: &Ident) -> Result<Option<f64>, SessionError> {
        let weights = self.cache_weights()?;
        weights.is_ready_for(Kind::Human, id.text())?;
        Ok(weights.human(id.text()))
    }

    /// A bot's weight in this game; the mean for an unknown bot.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn bot(&mut self, name: &Ident) -> Result<f64, SessionError> {
        self.sessions.ready_standings()?;
        self.show_bots()?;
        let weights = self.cache_weights()?;
        weights.is_ready_for(Kind::Bot, name.text())?;
        Ok(weights.bot(name.text()))
    }

    /// Fetches the published weights of this game, and keeps them for the next question.
    fn cache_weights(&mut self) -> Result<&CachedWeights, SessionError> {
        // Read before the standings: at worst, the weights count as older than they are.
        let edition = self.sessions.learning.edition();
        let standings = self.sessions.ready_standings()?;
        let (_, default_bot) = self.state.rules.settings.balance.stated_defaults();
        let view = standings.view(self.ruleset()?);
        let default_bot = view.unknown(default_bot);
        let weights = CachedWeights {
            view,
            edition,
            until: standings.next_season(),
            default_bot,
        };
        Ok(self.state.cached_weights.insert(weights))
    }
}
