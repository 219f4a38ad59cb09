//! The decisions of a lobby. Each takes a view, answers a question about it, and applies the
//! answer as a [`Command`].

use super::{
    Advantage, Assessment, AutoBalance, BalanceWatch, Basis, Bot, Command, Decided, Fate, Lobby,
    LobbyError, Place, Power, Rebalance, RunningGame, Situation, StrengthSource, TeamState,
    Weights,
    roster::{Human, Roster},
    weights::{counted_bot, next_bot, sane, sane_strength},
};
use evenkeel_model::{Ident, Kind, LineupPlayer, PlayerKey, RoleName, units::Share};
use evenkeel_partition::{
    BotInGame, ChanceModel, Counted, GameView, HumanInGame, MoveBlock, Objective,
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
                    Some(model) => StrengthSource::Strengths(model.win_model),
                    None => StrengthSource::Weights,
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
            self.add_chances(&mut situation.view, weights)?;
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
        let Ok(mut situation) = self.situation(weights) else {
            return;
        };
        let assessment = situation.assess();
        // With as many players on each team, sums of weights are compared, which takes less time.
        let mut teams = situation.view.sums();
        if !teams.are_of_one_size() && self.add_chances(&mut situation.view, weights).is_ok() {
            teams = situation.view.sums();
        }
        let stronger = teams.strongest();
        let now = self.now;
        let Some(game) = &self.game else { return };
        let before = game.watch.imbalance;
        let imbalance = match assessment {
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

impl Lobby {
    /// The current game, with the weights of all players.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn view(&self, weights: &dyn Weights) -> Result<GameView, LobbyError> {
        let game = self.team_game()?;
        let humans = game.roster.humans().iter();
        let bots = game.roster.bots();
        let next_bot = self.next_bot(weights)?;
        let in_game = |bot: &Bot| BotInGame {
            name: bot.name.text().to_owned(),
            weight: counted_bot(weights, bot.name.text()).weight,
            team: bot.team,
            points: (game.recorder.points_of(Kind::Bot, bot.name.text())).unwrap_or(0.0),
        };
        let mut scores = game.scores().to_vec();
        scores.resize(usize::from(self.teams), 0.0);
        let parties = self.party_factors(weights)?;
        Ok(GameView {
            teams: self.teams,
            humans: humans
                .map(|human| self.human_in_game(game, human, weights))
                .collect(),
            bots: bots.iter().map(in_game).collect(),
            fill: self.expected_fill()?,
            next_bot: next_bot.weight,
            scores,
            points_reported: game.recorder.has_points(),
            party_factors: parties.map_or(Vec::new(), |parties| parties.factors),
            chance: None,
        })
    }

    /// The same; with `[balance] objective = "chance"`, it contains a chance model, too.
    pub(crate) fn view_by_objective(&self, weights: &dyn Weights) -> Result<GameView, LobbyError> {
        let mut view = self.view(weights)?;
        self.add_chances(&mut view, weights)?;
        Ok(view)
    }

    /// Adds the chance model to a view of the game as it is now, if it has none, with `[balance] objective = "chance"`.
    fn add_chances(&self, view: &mut GameView, weights: &dyn Weights) -> Result<(), LobbyError> {
        if self.settings.objective == Objective::Chance && view.chance.is_none() {
            view.chance = self.chance_model(weights, &self.lineup()?)?;
        }
        Ok(())
    }

    /// The model that predicts chances for the players of this lineup; `None` as long as nothing has been
    /// learned that predicts one.
    pub(crate) fn chance_model(
        &self,
        weights: &dyn Weights,
        lineup: &[Vec<LineupPlayer>],
    ) -> Result<Option<ChanceModel>, LobbyError> {
        let game = self.team_game()?;
        let Some(win_model) = weights.win_model(lineup) else {
            return Ok(None);
        };
        let strength = |human: &Human| {
            let alone = sane_strength(weights.human_strength(human.id.text()));
            alone + command_strength(weights, human, lineup)
        };
        let bots = game.roster.bots();
        let next_bot = self.next_bot(weights)?;
        // A human of whom the rating system has no deviation counts as the mean player of the lineup.
        let usual = win_model.usual_deviation();
        let deviation = |human: &Human| weights.human_deviation(human.id.text()).unwrap_or(usual);
        Ok(Some(ChanceModel {
            deviations: game.roster.humans().iter().map(deviation).collect(),
            win_model,
            humans: game.roster.humans().iter().map(strength).collect(),
            bots: (bots.iter())
                .map(|bot| counted_bot(weights, bot.name.text()).strength)
                .collect(),
            next_bot: next_bot.strength,
            party_multiplier: self.settings.party_multiplier.clone(),
        }))
    }

    /// What a bot counts on average that will be added; those that are there count themselves.
    pub(crate) fn next_bot(&self, weights: &dyn Weights) -> Result<Counted, LobbyError> {
        let here = self.team_game()?.roster.bots();
        Ok(next_bot(weights, here.iter().map(|bot| bot.name.text())))
    }

    /// All players in the game, by team. Humans on no team yet are put where they make the sizes
    /// equal. A team without players gets one unknown player.
    pub(crate) fn lineup(&self) -> Result<Vec<Vec<LineupPlayer>>, LobbyError> {
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

    /// The same once bots have filled up the teams, or have gone because none are expected.
    pub(crate) fn lineup_to_come(
        &self,
        weights: &dyn Weights,
    ) -> Result<Vec<Vec<LineupPlayer>>, LobbyError> {
        let mut teams = self.lineup()?;
        let humans = self.team_game()?.roster.humans().len();
        let even = humans.div_ceil(teams.len().max(1));
        let Some(size) = self.expected_fill()?.team_size(teams.len(), humans, even) else {
            return Ok(teams);
        };
        let mut typical = self.typical_bots(weights)?;
        let mut players: usize = teams.iter().map(Vec::len).sum();
        let wanted = humans.max(size * teams.len());
        while players < wanted {
            let name = typical.next().unwrap_or("");
            if let Some(smallest) = teams.iter_mut().min_by_key(|team| team.len()) {
                smallest.push(bot_of_lineup(name));
            }
            players += 1;
        }
        let is_bot = |player: &LineupPlayer| player.key.kind == Kind::Bot;
        for _ in wanted..players {
            let with_bots = teams.iter_mut().filter(|team| team.len() > 1);
            let largest = with_bots.filter(|team| team.iter().any(is_bot));
            if let Some(team) = largest.max_by_key(|team| team.len())
                && let Some(bot) = team.iter().rposition(is_bot)
            {
                team.remove(bot);
            }
        }
        Ok(teams)
    }

    /// The names of the most typical known bots that do not play.
    pub(crate) fn typical_bots<'a>(
        &'a self,
        weights: &'a dyn Weights,
    ) -> Result<impl Iterator<Item = &'a str>, LobbyError> {
        let bots = self.team_game()?.roster.bots();
        let plays = |name: &&str| bots.iter().any(|bot| bot.name.text() == *name);
        let typical = weights.typical_bots().into_iter();
        Ok(typical.filter(move |name| !plays(name)))
    }

    /// A human of the game.
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
            weight: sane(weights.human(id)),
            team: human.team,
            pin: human.pin,
            party: human.party.clone(),
            old_team: old_team
                .and_then(|(team, _)| team)
                .filter(|&team| team < self.teams),
            points: game.recorder.points_of(Kind::Human, id).unwrap_or(0.0),
            points_reported: game.recorder.points_of(Kind::Human, id).is_some(),
            avoid: human.avoid.clone(),
            wish: self.wish_of(human),
            held,
            moved: past.moved_at.is_some(),
            conduct: past.conduct,
            last: self.last_team(&human.id),
            newcomer: !weights.knows(id),
            weak_sides: past.weak_sides,
        }
    }
}

/// A human of the roster, for a prediction.
pub(crate) fn human_of_lineup(roster: &Roster, human: &Human) -> LineupPlayer {
    let (kind, id) = (Kind::Human, human.id.text().to_owned());
    LineupPlayer {
        key: PlayerKey { kind, id },
        party: roster.party_number(human),
        commands: commands(human),
    }
}

/// The strength that a human adds by commanding; 0 for a human who does not.
fn command_strength(weights: &dyn Weights, human: &Human, lineup: &[Vec<LineupPlayer>]) -> f64 {
    match commands(human) {
        true => sane_strength(weights.command_strength(human.id.text(), lineup)),
        false => 0.0,
    }
}

/// Whether a human is to command a team.
fn commands(human: &Human) -> bool {
    human.role.as_ref().is_some_and(RoleName::is_commander)
}

/// A bot of this name, for a prediction.
pub(crate) fn bot_of_lineup(name: &str) -> LineupPlayer {
    let (kind, id) = (Kind::Bot, name.to_owned());
    PlayerKey { kind, id }.into()
}

#[cfg(test)]
mod tests;
