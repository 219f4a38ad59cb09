//! The snapshots that decisions are made from, and the chances that are predicted in them.

use crate::{
    domain::{Kind, LineupPlayer, PlayerKey, RoleName},
    lobby::{
        Bot, Lobby, LobbyError, RunningGame, Weights,
        roster::{Human, Roster},
        weights::{counted_bot, next_bot, sane, sane_strength},
    },
    partition::{BotInGame, ChanceModel, Counted, GameView, HumanInGame, MoveBlock, Objective},
};

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
    pub(in crate::lobby) fn view_by_objective(
        &self,
        weights: &dyn Weights,
    ) -> Result<GameView, LobbyError> {
        let mut view = self.view(weights)?;
        if self.settings.objective == Objective::Chance {
            view.chance = self.chance_model(weights, &self.lineup()?)?;
        }
        Ok(view)
    }

    /// The model that predicts chances for the players of this lineup; `None` as long as nothing has been
    /// learned that predicts one.
    pub(in crate::lobby) fn chance_model(
        &self,
        weights: &dyn Weights,
        lineup: &[Vec<LineupPlayer>],
    ) -> Result<Option<ChanceModel>, LobbyError> {
        let game = self.team_game()?;
        let Some(outlook) = weights.outlook(lineup) else {
            return Ok(None);
        };
        let strength = |human: &Human| {
            let alone = sane_strength(weights.human_strength(human.id.text()));
            alone + command_strength(weights, human, lineup)
        };
        let bots = game.roster.bots();
        let next_bot = self.next_bot(weights)?;
        // A human of whom the rating system has no deviation counts as the mean player of the lineup.
        let usual = outlook.usual_doubt();
        let doubt = |human: &Human| weights.human_doubt(human.id.text()).unwrap_or(usual);
        Ok(Some(ChanceModel {
            doubts: game.roster.humans().iter().map(doubt).collect(),
            outlook,
            humans: game.roster.humans().iter().map(strength).collect(),
            bots: (bots.iter())
                .map(|bot| counted_bot(weights, bot.name.text()).strength)
                .collect(),
            next_bot: next_bot.strength,
            party_multiplier: self.settings.party_multiplier.clone(),
        }))
    }

    /// What a bot counts on average that will be added; those that are there count themselves.
    pub(in crate::lobby) fn next_bot(&self, weights: &dyn Weights) -> Result<Counted, LobbyError> {
        let here = self.team_game()?.roster.bots();
        Ok(next_bot(weights, here.iter().map(|bot| bot.name.text())))
    }

    /// All players in the game, by team. Humans on no team yet are put where they make the sizes
    /// equal. A team without players gets one unknown player.
    pub(in crate::lobby) fn lineup(&self) -> Result<Vec<Vec<LineupPlayer>>, LobbyError> {
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
    pub(in crate::lobby) fn lineup_to_come(
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
    pub(in crate::lobby) fn typical_bots<'a>(
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
pub(in crate::lobby) fn human_of_lineup(roster: &Roster, human: &Human) -> LineupPlayer {
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
pub(in crate::lobby) fn bot_of_lineup(name: &str) -> LineupPlayer {
    let (kind, id) = (Kind::Bot, name.to_owned());
    PlayerKey { kind, id }.into()
}
