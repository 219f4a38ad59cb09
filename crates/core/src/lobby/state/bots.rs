//! What the session wants of bots, and what decisions may expect of them.

use crate::{
    lobby::{BotPlan, BotUse, Lobby, LobbyError, bots::with_unplaced},
    partition::Fill,
};

impl Lobby {
    /// The number of players that the game should have, and of bots on each team.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn bots(&self) -> Result<BotPlan, LobbyError> {
        let game = self.game()?;
        let fill = self.fill()?;
        let most = self.settings.roster.max_roster.as_usize();
        let humans = game.roster.humans().len();
        if !game.has_teams {
            return Ok(BotPlan::for_all(&fill, humans).at_most(most, &[humans]));
        }
        let (sizes, unplaced) = (game.roster.sizes(self.teams), game.roster.unplaced());
        let plan = BotPlan::for_teams(&fill, &sizes, unplaced);
        Ok(plan.at_most(most, &with_unplaced(sizes, unplaced)))
    }

    /// Whether this session acts on bots. This outlasts a game.
    pub fn bot_use(&self) -> BotUse {
        self.bot_use
    }

    pub(in crate::lobby) fn declare_bots(&mut self, acts: bool) {
        self.bot_use.declared = Some(acts);
    }

    pub(in crate::lobby) fn show_bots(&mut self) {
        self.bot_use.shown = true;
    }

    /// What the number of bots depends on, besides the humans, for decisions about teams. Bots are
    /// expected to come or go only if the session acts on bots; otherwise the bots are taken as
    /// they are.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub(in crate::lobby) fn expected_fill(&self) -> Result<Fill, LobbyError> {
        let fill = self.fill()?;
        Ok(Fill {
            on: fill.on && self.bot_use.expects(),
            ..fill
        })
    }

    /// What the number of bots depends on, besides the humans. [`Display`](std::fmt::Display)
    /// explains it in one line.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn fill(&self) -> Result<Fill, LobbyError> {
        Ok(Fill {
            on: self.settings.roster.bots && self.bot_use.declared != Some(false),
            wish: self.wish(),
            map_range: self.map_range()?,
            min_humans: self.settings.roster.min_humans.get(),
        })
    }

    /// The number of players that the session wants, bots included, whatever the map recommends.
    pub fn wish(&self) -> u32 {
        self.min_players
            .unwrap_or(self.settings.roster.min_players.get())
    }

    /// The fewest and the most players that the map recommends, or the configured range.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn map_range(&self) -> Result<(u32, u32), LobbyError> {
        Ok(self
            .game()?
            .map_range
            .unwrap_or_else(|| self.settings.roster.map_range()))
    }
}
