//! Wishes for a side: which count for this game, and which for the next.
//!
//! With `[lobby] wish_seconds`, the wishes of the first seconds after GAME count together, so that nobody gains by being
//! the first or the last to state one. Later ones count for the next game. BALANCE does not wait.

use super::{Lobby, LobbyError, roster::Human};
use evenkeel_model::Ident;

impl Lobby {
    /// Notes the wish that JOIN states. A human who is `new` in the game has the wish that came late in the last game.
    pub(super) fn note_wish(
        &mut self,
        id: &Ident,
        stated: Option<Option<u8>>,
        new: bool,
    ) -> Result<(), LobbyError> {
        let kept = self.memory.of(id.text()).wish.filter(|_| new);
        let late = self.is_late_to_wish()?;
        if let Some(wish) = stated.filter(|_| late) {
            self.memory.entry(id.text()).next_wish = wish;
        }
        let human = self.game_mut()?.roster.human_mut(id)?;
        match stated.filter(|_| !late) {
            Some(wish) => human.wish = wish,
            None => human.wish = kept.or(human.wish),
        }
        Ok(())
    }

    /// Whether wishes count for the next game now.
    fn is_late_to_wish(&self) -> Result<bool, LobbyError> {
        let open = self.settings.roster.wish_seconds.millis();
        let passed = self.now.saturating_sub(self.game()?.began);
        Ok(open > 0 && passed > open)
    }

    /// Whether everybody is on the team that BALANCE chose, and one of them because they wished for it. Such teams may be
    /// less even than others, which is no reason to move anybody.
    pub(super) fn stands_by_wishes(&self) -> bool {
        let Some(game) = &self.game else { return false };
        let humans = game.roster.humans();
        let last = game.balanced.as_ref();
        let granted = |human: &Human| human.team.is_some() && self.wish_of(human) == human.team;
        let teams = humans.iter().map(|human| (human.id.text(), human.team));
        humans.iter().any(granted) && last.is_some_and(|last| last.holds(teams))
    }

    /// The team for which a human wishes, if it exists.
    pub(super) fn wish_of(&self, human: &Human) -> Option<u8> {
        human.wish.filter(|&team| team < self.teams)
    }

    /// The humans in the game whose wish came late.
    pub(super) fn late_wishes(&self) -> Result<Vec<String>, LobbyError> {
        let ids = self.game()?.roster.humans().iter();
        let ids = ids.map(|human| human.id.text());
        let late = ids.filter(|id| self.memory.of(id).next_wish.is_some());
        Ok(late.map(str::to_owned).collect())
    }
}

/// The line about somebody whose wish came late.
pub(super) fn late_wish(who: &str) -> String {
    format!("the wish of {who} came late, and counts for the next game")
}
