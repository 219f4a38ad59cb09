//! What a game's teams were predicted: notes, while commands are applied, who has come to which team, and asks the
//! weights for the chances of the teams that result.

use super::{Command, Lobby, LobbyError, Weights, roster::to_u32, state::RunningGame};
use evenkeel_model::{
    Kind,
    ident::Ident,
    match_chances::{ChanceSummary, TeamCause, TeamChances, TeamChange},
};

/// The teams before a command that may change them.
pub(super) enum TeamsBefore {
    /// The team of the one player whom it concerns.
    Of(TeamCause, Kind, Ident, Option<u8>),
    /// The teams of all humans.
    All(Vec<Option<u8>>),
}

impl Lobby {
    /// The teams before a command that may change them; `None` for any other command, and unless the game is in play
    /// in teams.
    pub(super) fn teams_before(&self, command: &Command) -> Option<TeamsBefore> {
        let game = self.game.as_ref()?;
        if !game.has_teams || !game.recorder.is_running() {
            return None;
        }
        let (cause, kind, id) = match command {
            Command::Join { id, .. } => (TeamCause::Join, Kind::Human, id),
            Command::Leave { id, .. } => (TeamCause::Leave, Kind::Human, id),
            Command::Place { id, .. } => (TeamCause::Place, Kind::Human, id),
            Command::Move { id, .. } => (TeamCause::Move, Kind::Human, id),
            Command::AutoMove { id, .. } => (TeamCause::AutoMove, Kind::Human, id),
            Command::BotJoin { name, .. } => (TeamCause::Join, Kind::Bot, name),
            Command::BotLeave { name } => (TeamCause::Leave, Kind::Bot, name),
            Command::Assign { .. } => return Some(TeamsBefore::All(game.human_teams())),
            _ => return None,
        };
        let from = game.team_of(kind, id);
        Some(TeamsBefore::Of(cause, kind, id.clone(), from))
    }

    /// Adds a change of the teams to the record of the match, if a command was one.
    pub(super) fn note_change(&mut self, before: TeamsBefore) {
        let teams = self.teams;
        let Some(game) = &mut self.game else { return };
        let (cause, who, from, to) = match before {
            TeamsBefore::All(before) if before == game.human_teams() => return,
            TeamsBefore::All(_) => (TeamCause::Balance, None, None, None),
            TeamsBefore::Of(cause, kind, id, from) => {
                let to = game.team_of(kind, &id);
                let cause = match cause {
                    _ if from == to => return,
                    TeamCause::Join if from.is_some() => TeamCause::Move,
                    cause => cause,
                };
                (cause, game.recorder.timeline_of(kind, id.text()), from, to)
            }
        };
        let change = TeamChange {
            at: game.recorder.last(),
            cause,
            who: who.and_then(|who| u32::try_from(who).ok()),
            from,
            to,
            teams: game.team_sizes(teams),
        };
        game.recorder.chances.change(change);
    }

    /// Takes the chances of the teams as they are now: in play those after START or after the last change, otherwise
    /// those of the teams that BALANCE has picked.
    ///
    /// # Errors
    /// Fails if there is no game, or if the numbers are impossible.
    pub(super) fn announce_chances(&mut self, announced: &TeamChances) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        if !announced.is_sound() {
            return Err(LobbyError::BadChances);
        }
        match game.recorder.is_running() {
            true => game.recorder.chances.announce(announced),
            false => game.recorder.chances.pick(announced),
        }
        Ok(())
    }

    /// Predicts the chances of the teams after START, or after a change of who is on which team, for the record of the
    /// match. Call it after every command that [changes the teams](Command::changes_teams), and after START. Predicts
    /// nothing twice, and nothing once as many changes are noted as a match keeps.
    pub fn note_chances(&mut self, weights: &dyn Weights) {
        let due = |game: &RunningGame| game.has_teams && game.recorder.chances.is_due();
        if !self.game.as_ref().is_some_and(due) {
            return;
        }
        // The game is in play in teams, so nothing here can fail.
        let announced = self.chances_of_present(weights);
        let _ = announced.and_then(|announced| self.change(Command::Chances(announced)));
    }

    /// The chances of the teams with the players who are there now. A team without players has no chance that could be
    /// predicted.
    fn chances_of_present(&self, weights: &dyn Weights) -> Result<TeamChances, LobbyError> {
        let sizes = self.team_game()?.team_sizes(self.teams);
        let mut present = sizes.humans.iter().zip(&sizes.bots);
        match present.any(|(humans, bots)| humans + bots == 0) {
            true => Ok(sizes),
            false => self.team_chances(weights, &sizes.bots),
        }
    }

    /// The chances of the game in short: those of the match in play; before START, of the teams that BALANCE has
    /// picked.
    pub fn chance_summary(&self) -> ChanceSummary {
        let game = self.game.as_ref().filter(|game| game.has_teams);
        let summary =
            |game: &RunningGame| game.recorder.chances.summary(game.recorder.is_running());
        game.map(summary).unwrap_or_default()
    }
}

impl RunningGame {
    /// The numbers of humans and bots on each of `teams` teams.
    pub(super) fn team_sizes(&self, teams: u8) -> TeamChances {
        let humans = self.roster.sizes(teams).into_iter().map(to_u32).collect();
        let mut bots = vec![0; usize::from(teams)];
        for bot in self.roster.bots() {
            if let Some(bots) = bots.get_mut(usize::from(bot.team)) {
                *bots += 1;
            }
        }
        TeamChances {
            win: Vec::new(),
            humans,
            bots,
        }
    }

    /// The team that a player is on.
    fn team_of(&self, kind: Kind, id: &Ident) -> Option<u8> {
        match kind {
            Kind::Human => self.roster.find(id)?.team,
            Kind::Bot => {
                let mut bots = self.roster.bots().iter();
                bots.find(|bot| bot.name == *id).map(|bot| bot.team)
            }
        }
    }

    /// The team of each human, in JOIN order.
    fn human_teams(&self) -> Vec<Option<u8>> {
        self.roster
            .humans()
            .iter()
            .map(|human| human.team)
            .collect()
    }
}

#[cfg(test)]
mod tests;
