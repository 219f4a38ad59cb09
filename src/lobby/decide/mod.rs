//! The decisions of a lobby. Each takes a snapshot, answers a question about it, and applies the
//! answer as a [`Command`].

use super::{
    Advantage, Assessment, AutoBalance, BalanceWatch, Basis, Bot, BotInGame, ChanceModel, Command,
    Decided, Fate, HumanInGame, Known, Lobby, LobbyError, MoveBlock, Place, Rebalance, RunningGame,
    Situation, Snapshot, TeamState, Weights,
    roster::{Human, Roster},
    strength::TeamStrengths,
    weights::{Counted, next_bot, sane, sane_strength},
};
use crate::{
    domain::{Ident, Kind, LineupPlayer, PlayerKey},
    partition::Objective,
};

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
            self.change(&Command::Ask { id })?;
        }
        let mut snapshot = self.snapshot_by_objective(weights)?;
        if placed.is_some() {
            snapshot.humans[who].pin = placed;
            snapshot.humans[who].team = None;
        }
        let settings = self.settings.place;
        let question = Place {
            snapshot,
            who,
            settings,
            stays: placed.is_some(),
        };
        let decided = Decided::by(question, seed);
        if placed.is_none() {
            let (id, team) = (id.clone(), decided.answer.team);
            self.change(&Command::Place { id, team })?;
        }
        self.watch(weights);
        Ok(decided)
    }

    /// Decides which team needs help now, and how much.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn advantage(&mut self, weights: &dyn Weights) -> Result<Decided<Advantage>, LobbyError> {
        let mut snapshot = self.snapshot(weights)?;
        snapshot.chance = self.chance_model(weights)?;
        snapshot.expect_bots();
        let teams = TeamStrengths::of(&snapshot);
        let states = teams.sides().iter().zip(&snapshot.scores);
        let game = self.team_game()?;
        let elapsed = game.course.elapsed(self.now);
        let (last, ago) = match &game.by_score {
            Some((last, at)) => (last.clone(), self.now.saturating_sub(*at)),
            None => (Vec::new(), elapsed),
        };
        let question = Advantage {
            teams: states
                .map(|(team, &score)| TeamState {
                    players: team.players(),
                    weight: team.present().weight,
                    odds: 1.0,
                    score,
                    strength: team.present().strength,
                })
                .collect(),
            elapsed,
            left: game.course.left(self.now),
            scored: game.course.has_scored(),
            last: None,
            settings: self.settings.advantage,
            basis: Some(Basis {
                known: match &snapshot.chance {
                    Some(model) => Known::Strengths(model.outlook),
                    None => Known::Weights,
                },
                spread: weights.spread(),
                last,
                ago,
            }),
        };
        let decided = Decided::by(question, 0);
        let by_score = decided.answer.by_score.clone();
        self.change(&Command::Help { by_score })?;
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
        self.change(&Command::Ask { id: None })?;
        let question = Rebalance {
            snapshot: self.snapshot_by_objective(weights)?,
            settings: self.settings.rebalance,
        };
        let decided = Decided::by(question, seed);
        let moves = decided.answer.steps().cloned().collect();
        self.change(&Command::Advise { moves })?;
        Ok(decided)
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
        self.change(&Command::Death { id: id.clone() })?;
        let game = self.game()?;
        let who = game
            .roster
            .humans()
            .iter()
            .position(|human| human.id == *id);
        let (true, true, Some(who)) = (game.has_teams, game.course.is_running(), who) else {
            return Ok(None);
        };
        self.watch(weights);
        let now = self.now;
        let imbalance = self.game()?.watch.imbalance;
        let mut situation = self.situation(weights)?;
        if matches!(situation.assess(), Assessment::Unbalanced { .. }) {
            situation.snapshot = self.snapshot_by_objective(weights)?;
        }
        let question = AutoBalance {
            situation,
            who,
            lasted: imbalance.map_or(0, |(_, since)| now.saturating_sub(since)),
        };
        let decided = Decided::by(question, 0);
        if let Fate::Moves(step) = &decided.answer.fate {
            let (id, team) = (id.clone(), step.to);
            self.change(&Command::AutoMove { id, team })?;
            self.watch(weights);
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
        let sums: Vec<f64> = TeamStrengths::of(&situation.snapshot).present().collect();
        let most = sums.iter().copied().fold(0.0, f64::max);
        let mut strongest = (0u8..)
            .zip(&sums)
            .filter(|(_, sum)| **sum >= most && most > 0.0);
        let stronger = match (strongest.next(), strongest.next()) {
            (Some((team, _)), None) => Some(team),
            _ => None,
        };
        let now = self.now;
        let Some(game) = &self.game else { return };
        let before = game.watch.imbalance;
        let imbalance = match situation.assess() {
            Assessment::Balanced(_) => None,
            Assessment::Unbalanced { strong, .. } => Some(
                before
                    .filter(|&(team, _)| team == strong)
                    .unwrap_or((strong, now)),
            ),
        };
        let watch = BalanceWatch {
            imbalance,
            stronger,
        };
        if watch != game.watch {
            // There is a game, so this cannot fail.
            let _ = self.change(&Command::Watch(watch));
        }
    }

    /// The current game, with the weights of all players.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn snapshot(&self, weights: &dyn Weights) -> Result<Snapshot, LobbyError> {
        let game = self.team_game()?;
        let humans = game.roster.humans().iter();
        let bots = game.roster.bots();
        let next_bot = next_bot(weights, bots.iter().map(|bot| bot.name.text()));
        let in_game = |bot: &Bot| BotInGame {
            name: bot.name.text().to_owned(),
            weight: counted_bot(weights, bot).weight,
            team: bot.team,
            points: (game.course.points_of(Kind::Bot, bot.name.text())).unwrap_or(0.0),
        };
        let mut scores = game.scores().to_vec();
        scores.resize(usize::from(self.teams), 0.0);
        Ok(Snapshot {
            teams: self.teams,
            humans: humans
                .map(|human| self.human_in_game(game, human, weights))
                .collect(),
            bots: bots.iter().map(in_game).collect(),
            fill: self.expected_fill()?,
            next_bot: next_bot.weight,
            scores,
            points_reported: game.course.has_points(),
            chance: None,
        })
    }

    /// The same; with `[balance] objective = "chance"`, it contains a chance model, too.
    fn snapshot_by_objective(&self, weights: &dyn Weights) -> Result<Snapshot, LobbyError> {
        let mut snapshot = self.snapshot(weights)?;
        if self.settings.objective == Objective::Gap {
            snapshot.chance = self.chance_model(weights)?;
        }
        Ok(snapshot)
    }

    /// The model that predicts chances for the present players; `None` as long as nothing has been
    /// learned that predicts one.
    pub(super) fn chance_model(
        &self,
        weights: &dyn Weights,
    ) -> Result<Option<ChanceModel>, LobbyError> {
        let game = self.team_game()?;
        let Some(outlook) = weights.outlook(&self.lineup()?) else {
            return Ok(None);
        };
        let strength = |human: &Human| {
            let alone = sane_strength(weights.human_strength(human.id.text()));
            let (friends, multiplier) = (friends(game, human), self.multiplier(game, human));
            alone + outlook.befriended(alone, friends, multiplier)
        };
        let bots = game.roster.bots();
        let next_bot = next_bot(weights, bots.iter().map(|bot| bot.name.text()));
        Ok(Some(ChanceModel {
            outlook,
            humans: game.roster.humans().iter().map(strength).collect(),
            bots: (bots.iter())
                .map(|bot| counted_bot(weights, bot).strength)
                .collect(),
            next_bot: next_bot.strength,
        }))
    }

    /// All players in the game, by team. Humans on no team yet are put where they make the sizes
    /// equal. A team without players gets one unknown player.
    fn lineup(&self) -> Result<Vec<Vec<LineupPlayer>>, LobbyError> {
        let roster = &self.team_game()?.roster;
        let mut teams = vec![Vec::new(); usize::from(self.teams)];
        let humans = roster.humans().iter();
        let humans = humans.map(|human| (human_of_lineup(roster, human), human.team));
        let bots = roster.bots().iter();
        let bots = bots.map(|bot| (bot_of_lineup(bot.name.text()), Some(bot.team)));
        let mut waiting = Vec::new();
        for (player, team) in humans.chain(bots) {
            match team.and_then(|team| teams.get_mut(usize::from(team))) {
                Some(team) => team.push(player),
                None => waiting.push(player),
            }
        }
        for player in waiting {
            if let Some(smallest) = teams.iter_mut().min_by_key(|team| team.len()) {
                smallest.push(player);
            }
        }
        for team in teams.iter_mut().filter(|team| team.is_empty()) {
            let (kind, id) = (Kind::Human, String::new());
            team.push(PlayerKey { kind, id }.into());
        }
        Ok(teams)
    }

    fn human_in_game(
        &self,
        game: &RunningGame,
        human: &Human,
        weights: &dyn Weights,
    ) -> HumanInGame {
        let id = human.id.text();
        let past = self.memory.of(id);
        let since = |at: u64| self.now.saturating_sub(at);
        let just_moved = past
            .moved_at
            .is_some_and(|at| since(at) < self.settings.rebalance.cooldown_seconds.millis());
        let held = if human.protected_until > self.now {
            Some(MoveBlock::Protected)
        } else {
            just_moved.then_some(MoveBlock::JustMoved)
        };
        let grace = self.settings.place.rejoin_grace_seconds.millis();
        let old_team = past.left.filter(|&(_, at)| since(at) <= grace);
        HumanInGame {
            id: id.to_owned(),
            weight: sane(weights.human(id)) * self.multiplier(game, human),
            team: human.team,
            pin: human.pin,
            party: human.party.clone(),
            old_team: old_team
                .and_then(|(team, _)| team)
                .filter(|&team| team < self.teams),
            points: game.course.points_of(Kind::Human, id).unwrap_or(0.0),
            points_reported: game.course.points_of(Kind::Human, id).is_some(),
            held,
            moved: past.moved_at.is_some(),
            conduct: past.conduct,
        }
    }

    /// The factor on a human's weight if they are on one team with their party.
    fn multiplier(&self, game: &RunningGame, human: &Human) -> f64 {
        let multiples = &self.settings.party_multiplier;
        match (friends(game, human).checked_sub(1), multiples.len()) {
            (Some(extra), 1..) => multiples[extra.min(multiples.len() - 1)].get(),
            _ => 1.0,
        }
    }

    fn situation(&self, weights: &dyn Weights) -> Result<Situation, LobbyError> {
        let game = self.team_game()?;
        let snapshot = self.snapshot(weights)?;
        Ok(Situation {
            left: game.course.left(self.now),
            tournament: game.tournament,
            rules: self.settings.auto_balance.clone(),
            coming: snapshot.coming_bots(),
            snapshot,
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

/// The number of other members of a human's party on the human's team.
fn friends(game: &RunningGame, human: &Human) -> usize {
    if human.party.is_none() || human.team.is_none() {
        return 0;
    }
    let with = |other: &&Human| {
        other.id != human.id && other.party == human.party && other.team == human.team
    };
    game.roster.humans().iter().filter(with).count()
}

/// A human of the roster, for a prediction.
pub(super) fn human_of_lineup(roster: &Roster, human: &Human) -> LineupPlayer {
    let (kind, id) = (Kind::Human, human.id.text().to_owned());
    LineupPlayer {
        key: PlayerKey { kind, id },
        party: roster.party_number(human),
    }
}

/// A bot of this name, for a prediction.
pub(super) fn bot_of_lineup(name: &str) -> LineupPlayer {
    let (kind, id) = (Kind::Bot, name.to_owned());
    PlayerKey { kind, id }.into()
}

/// The weight and strength of a bot of the game; the means if the bot is unknown.
pub(super) fn counted_bot(weights: &dyn Weights, bot: &Bot) -> Counted {
    let mean = || Counted {
        weight: sane(weights.mean_bot().0),
        strength: sane_strength(weights.mean_bot_strength()),
    };
    let known = weights.bot(bot.name.text());
    known.map_or_else(mean, |bot| Counted::of_bot(&bot))
}

#[cfg(test)]
mod tests;
