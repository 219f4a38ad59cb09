//! The decisions of a lobby. Each takes a view, answers a question about it, and applies the
//! answer as a [`Command`].

mod view;

use super::{
    Advantage, Assessment, AutoBalance, BalanceWatch, Basis, Command, Decided, Fate, Known, Lobby,
    LobbyError, Place, Power, Rebalance, RunningGame, Situation, TeamState, Weights,
};
use crate::domain::{Ident, units::Share};

pub(super) use view::{bot_of_lineup, human_of_lineup};

impl Lobby {
    /// Chooses the team of a late arrival and puts them there. A human who is already on a team
    /// stays; the answer then describes that team only.
    ///
    /// # Errors
    /// Fails if there is no game, if it has no teams, or if no human has that id.
    pub fn place(
        &mut self,
        id: &Ident,
        weights: &dyn Weights,
        seed: u64,
    ) -> Result<Decided<Place>, LobbyError> {
        let roster = &self.team_game()?.roster;
        let who = roster.humans().iter().position(|human| human.id == *id);
        let who = who.ok_or(LobbyError::UnknownPlayer)?;
        let placed = roster.humans()[who].team;
        if placed.is_some() {
            let id = Some(id.clone());
            self.change(Command::Ask { id })?;
        }
        let mut view = self.view_by_objective(weights)?;
        if placed.is_some() {
            view.humans[who].pin = placed;
            view.humans[who].team = None;
        }
        let settings = self.settings.place;
        let question = Place {
            view,
            who,
            settings,
            stays: placed.is_some(),
            late: self.memory.of(id.text()).next_wish.is_some(),
        };
        let decided = Decided::by(question, seed);
        if placed.is_none() {
            let (id, team) = (id.clone(), decided.answer.team);
            self.change(Command::Place { id, team })?;
        }
        self.watch(weights);
        self.note_chances(weights);
        Ok(decided)
    }

    /// Decides which team needs help now, and how much.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn advantage(&mut self, weights: &dyn Weights) -> Result<Decided<Advantage>, LobbyError> {
        let mut view = self.view(weights)?;
        view.chance = self.chance_model(weights, &self.lineup()?)?;
        view.expect_bots();
        let teams = view.sums();
        let states = teams.sides().iter().zip(&view.scores);
        let game = self.team_game()?;
        let elapsed = game.recorder.played(self.now);
        let (last, ago) = match &game.by_score {
            Some((last, at)) => (last.clone(), self.now.saturating_sub(*at)),
            None => (Vec::new(), elapsed),
        };
        let question = Advantage {
            teams: states
                .map(|(team, &score)| TeamState {
                    players: team.players(),
                    weight: team.present().weight,
                    score,
                    strength: team.present().strength,
                })
                .collect(),
            elapsed,
            left: game.recorder.left(self.now),
            scored: game.recorder.has_scored(),
            settings: self.settings.advantage,
            basis: Basis {
                known: match &view.chance {
                    Some(model) => Known::Strengths(model.outlook),
                    None => Known::Weights,
                },
                spread: weights.spread(),
                last,
                ago,
            },
        };
        let decided = Decided::by(question, 0);
        let by_score = decided.answer.by_score.clone();
        self.change(Command::Help { by_score })?;
        Ok(decided)
    }

    /// Finds the fewest moves that make the teams even enough. This is advice: only MOVE changes
    /// the roster, and a MOVE that follows the advice does not count as the human's own.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn rebalance(
        &mut self,
        weights: &dyn Weights,
        seed: u64,
    ) -> Result<Decided<Rebalance>, LobbyError> {
        self.team_game()?;
        self.change(Command::Ask { id: None })?;
        let question = self.rebalance_question(weights)?;
        let decided = Decided::by(question, seed);
        let moves = decided.answer.steps().cloned().collect();
        self.change(Command::Advise { moves })?;
        Ok(decided)
    }

    /// The question of REBALANCE about the game as it is now.
    pub(super) fn rebalance_question(
        &self,
        weights: &dyn Weights,
    ) -> Result<Rebalance, LobbyError> {
        let mut settings = self.settings.rebalance;
        if self.stands_by_wishes() {
            settings.enough = const { Share::of(0.0) };
        }
        Ok(Rebalance {
            view: self.view_by_objective(weights)?,
            settings,
        })
    }

    /// Counts a death. For a human in a team game in play, applies the auto-balance rules, which
    /// can move them to another team.
    ///
    /// # Errors
    /// Fails if there is no game, or if no player with that id has played.
    pub fn died(
        &mut self,
        id: &Ident,
        weights: &dyn Weights,
    ) -> Result<Option<Decided<AutoBalance>>, LobbyError> {
        self.change(Command::Death { id: id.clone() })?;
        let game = self.game()?;
        let who = game
            .roster
            .humans()
            .iter()
            .position(|human| human.id == *id);
        let (true, true, Some(who)) = (game.has_teams, game.recorder.is_running(), who) else {
            return Ok(None);
        };
        self.watch(weights);
        let now = self.now;
        let game = self.game()?;
        let imbalance = game.watch.imbalance;
        let humans = game.roster.humans().iter().enumerate();
        let died = humans.filter(|(_, human)| game.died.contains(&human.id));
        let died = died.map(|(at, _)| at).collect();
        let mut situation = self.situation(weights)?;
        if matches!(situation.assess(), Assessment::Unbalanced { .. }) {
            situation.view = self.view_by_objective(weights)?;
        }
        let question = AutoBalance {
            situation,
            who,
            lasted: imbalance.map_or(0, |(_, since)| now.saturating_sub(since)),
            died,
        };
        let decided = Decided::by(question, 0);
        if let Fate::Moves(step) = &decided.answer.fate {
            let (id, team) = (id.clone(), step.to);
            self.change(Command::AutoMove { id, team })?;
            self.watch(weights);
            self.note_chances(weights);
        }
        Ok(Some(decided))
    }

    /// Assesses the balance of the teams. It must follow every command that [changes the
    /// teams](Command::changes_teams), so that the auto-balance rules know since when the teams
    /// have been unbalanced, and which team was the stronger when a human changed to it. Does
    /// nothing without a team game.
    pub fn watch(&mut self, weights: &dyn Weights) {
        let Ok(situation) = self.situation(weights) else {
            return;
        };
        // With as many players on each team, sums of weights are compared, which takes less time.
        let mut teams = situation.view.sums();
        if !teams.are_of_one_size()
            && let Ok(view) = self.view_by_objective(weights)
        {
            teams = view.sums();
        }
        let stronger = teams.strongest();
        let now = self.now;
        let Some(game) = &self.game else { return };
        let before = game.watch.imbalance;
        let imbalance = match situation.assess() {
            Assessment::Balanced(_) => None,
            // Of more than two teams, another one can be the strongest before all are balanced.
            Assessment::Unbalanced { strong, weak, .. } => {
                let before = before.filter(|&(team, _)| team != weak);
                Some((strong, before.map_or(now, |(_, since)| since)))
            }
        };
        let watch = BalanceWatch {
            imbalance,
            stronger,
        };
        if watch != game.watch {
            // There is a game, so this cannot fail.
            let _ = self.change(Command::Watch(watch));
        }
    }

    fn situation(&self, weights: &dyn Weights) -> Result<Situation, LobbyError> {
        let game = self.team_game()?;
        let view = match self.settings.auto_balance.power {
            Power::Weight => self.view_by_objective(weights)?,
            Power::Rank | Power::RankAndPoints => self.view(weights)?,
        };
        Ok(Situation {
            left: game.recorder.left(self.now),
            tournament: game.tournament,
            rules: self.settings.auto_balance.clone(),
            coming: view.coming_bots(),
            view,
        })
    }

    /// The running game, if it has teams.
    pub(super) fn team_game(&self) -> Result<&RunningGame, LobbyError> {
        let game = self.game()?;
        if game.has_teams {
            Ok(game)
        } else {
            Err(LobbyError::NoTeams)
        }
    }
}

#[cfg(test)]
mod tests;
