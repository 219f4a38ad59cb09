//! One game server's session: its lobby, and the weights that apply to its game.

use std::sync::Arc;

use rand::{TryRng, rngs::SysRng};

use super::{Balanced, Service, ServiceError, decide};
use crate::{
    domain::{Ident, Kind, PlayerKey, Ruleset, Secret},
    lobby::{BotPlan, Lobby, LobbyError, Update},
    partition::{Problem, Solution},
};

/// A session dies with its connection, and everything in it.
#[derive(Debug)]
pub struct Session {
    service: Arc<Service>,
    lobby: Lobby,
    server: Option<String>,
    /// Made by the first question about a weight, forgotten by GAME and MUTATOR.
    ruleset: Option<Ruleset>,
    /// Why the last decision was taken; forgotten by GAME.
    reasons: Vec<String>,
}

impl Session {
    /// Nobody has said anything yet.
    pub fn new(service: Arc<Service>) -> Self {
        let lobby = Lobby::new(service.settings.lobby.clone());
        Self {
            service,
            lobby,
            server: None,
            ruleset: None,
            reasons: Vec::new(),
        }
    }

    /// Names the game server.
    ///
    /// # Errors
    /// Clients are configured, and this isn't one of them or the token is wrong.
    pub fn hello(&mut self, server: &Ident, token: Option<&Secret>) -> Result<(), ServiceError> {
        let clients = &self.service.settings.clients;
        if !clients.is_empty() {
            let expected = clients.get(server.text());
            if expected.is_none() || expected != token {
                return Err(ServiceError::NotAllowed("unknown server or wrong token"));
            }
        }
        self.server = Some(server.text().to_owned());
        Ok(())
    }

    /// Whether HELLO has to come first, and has not.
    pub fn must_say_hello(&self) -> bool {
        self.server.is_none() && !self.service.settings.clients.is_empty()
    }

    /// A new game begins.
    pub fn game(&mut self, game_type: &Ident) {
        let has_teams = self.service.rulebook.is_team_game(game_type.text());
        self.lobby.begin(game_type.text(), has_teams);
        self.ruleset = None;
        self.reasons.clear();
    }

    /// A mutator is active.
    ///
    /// # Errors
    /// Too many of them.
    pub fn mutator(&mut self, name: &Ident) -> Result<(), ServiceError> {
        self.ruleset = None;
        Ok(self.lobby.add_mutator(name.text())?)
    }

    /// A human's weight in this game; `None` when nothing is known.
    ///
    /// # Errors
    /// There is no game.
    pub fn player(&mut self, id: &Ident) -> Result<Option<f64>, ServiceError> {
        let standings = self.service.standings();
        Ok(standings.view(self.ruleset()?).human(id.text()))
    }

    /// A bot's weight in this game; the mean for an unknown one.
    ///
    /// # Errors
    /// There is no game.
    pub fn bot(&mut self, name: &Ident) -> Result<f64, ServiceError> {
        let default = self.service.settings.balance.default_bot_weight;
        let standings = self.service.standings();
        let view = standings.view(self.ruleset()?);
        let known = view.bot(name.text());
        Ok(known.unwrap_or_else(|| view.mean_bot().map_or(default, |(mean, _)| mean)))
    }

    /// The mean weight and number of the known bots; the configured default and 0 without any.
    ///
    /// # Errors
    /// There is no game.
    pub fn mean_bot(&mut self) -> Result<(f64, usize), ServiceError> {
        let default = self.service.settings.balance.default_bot_weight;
        let standings = self.service.standings();
        Ok(standings
            .view(self.ruleset()?)
            .mean_bot()
            .unwrap_or((default, 0)))
    }

    /// The level, and its recommended number of players.
    ///
    /// # Errors
    /// There is no game.
    pub fn map(&mut self, name: &Ident, range: Option<(u32, u32)>) -> Result<(), ServiceError> {
        Ok(self.lobby.set_map(name.text(), range)?)
    }

    /// Sets the number of teams.
    ///
    /// # Errors
    /// A number that cannot be, or a player on a team that would be gone.
    pub fn teams(&mut self, teams: u8) -> Result<(), ServiceError> {
        Ok(self.lobby.set_teams(teams)?)
    }

    /// This session's wish for the number of players.
    pub fn min_players(&mut self, players: u32) {
        self.lobby.set_min_players(players);
    }

    /// A human takes part, or what is known of them changes.
    ///
    /// # Errors
    /// No game, no such team, no room.
    pub fn join(&mut self, id: &Ident, update: Update) -> Result<(), ServiceError> {
        Ok(self.lobby.join(id, update)?)
    }

    /// A human is gone.
    ///
    /// # Errors
    /// No game, or nobody of that id.
    pub fn leave(&mut self, id: &Ident) -> Result<(), ServiceError> {
        Ok(self.lobby.leave(id)?)
    }

    /// A human is on this team now.
    ///
    /// # Errors
    /// No game, nobody of that id, no such team.
    pub fn move_to(&mut self, id: &Ident, team: u8) -> Result<(), ServiceError> {
        Ok(self.lobby.move_to(id, team)?)
    }

    /// A bot is on this team now.
    ///
    /// # Errors
    /// No game, no such team, no room.
    pub fn bot_join(&mut self, name: &Ident, team: u8) -> Result<(), ServiceError> {
        Ok(self.lobby.bot_join(name, team)?)
    }

    /// A bot is gone.
    ///
    /// # Errors
    /// No game, or no bot of that name.
    pub fn bot_leave(&mut self, name: &Ident) -> Result<(), ServiceError> {
        Ok(self.lobby.bot_leave(name)?)
    }

    /// How many players the game should have, and how many of them bots.
    ///
    /// # Errors
    /// There is no game.
    pub fn bots(&self) -> Result<BotPlan, ServiceError> {
        Ok(self.lobby.bots()?)
    }

    /// Chooses teams for all humans and puts them there. The seed is drawn unless given.
    ///
    /// # Errors
    /// No game, a game without teams, or no core or time free for it.
    pub async fn balance(
        &mut self,
        top: Option<usize>,
        seed: Option<u64>,
    ) -> Result<Balanced, ServiceError> {
        let ruleset = self.ruleset()?.clone();
        let (mean_bot, _) = self.mean_bot()?;
        let seed = seed.unwrap_or_else(draw_seed);
        let view = self.service.standings().view(&ruleset);
        let settings = &self.service.settings.balance;
        let weight_of = |id: &str| view.human(id).unwrap_or(settings.default_weight);
        let spec = self.lobby.problem(weight_of, mean_bot, settings.limits)?;
        let problem = Problem::new(spec)?;
        let solution = self.service.solve(problem, top, seed).await?;
        self.lobby.assign(&solution.team_of)?;
        self.reasons = decide::reasons(&solution.explanation);
        let chance = match view.is_empty() {
            true => None,
            false => self.chance(&ruleset, &solution)?,
        };
        let humans = self.lobby.game()?.roster.humans();
        let placed = humans.iter().zip(&solution.team_of);
        Ok(Balanced {
            ratio: solution.ratio,
            chance,
            seed,
            humans: placed
                .map(|(human, &team)| (human.id.clone(), team))
                .collect(),
            bots: solution.bots.iter().map(|&count| count as u32).collect(),
        })
    }

    /// The chance that team 0 wins with these teams, by the rating system; bots to come are strangers.
    fn chance(&self, ruleset: &Ruleset, solution: &Solution) -> Result<Option<f64>, ServiceError> {
        let game = self.lobby.game()?;
        let key = |kind, id: &str| PlayerKey {
            kind,
            id: id.to_owned(),
        };
        let stranger = |bots: &usize| vec![key(Kind::Bot, ""); *bots];
        let mut teams: Vec<Vec<PlayerKey>> = solution.bots.iter().map(stranger).collect();
        for (human, &team) in game.roster.humans().iter().zip(&solution.team_of) {
            teams[usize::from(team)].push(key(Kind::Human, human.id.text()));
        }
        let map = game.map.as_deref().unwrap_or("");
        Ok(self.service.standings().chance(ruleset, map, &teams))
    }

    /// Why the last decision was taken, a line each.
    ///
    /// # Errors
    /// There is no game, or nothing has been decided in it.
    pub fn explain(&self) -> Result<&[String], ServiceError> {
        self.lobby.game()?;
        if self.reasons.is_empty() {
            return Err(ServiceError::NotAllowed("nothing has been decided yet"));
        }
        Ok(&self.reasons)
    }

    fn ruleset(&mut self) -> Result<&Ruleset, LobbyError> {
        let game = self.lobby.game()?;
        let rulebook = &self.service.rulebook;
        Ok(self
            .ruleset
            .get_or_insert_with(|| rulebook.ruleset(&game.game_type, &game.mutators)))
    }
}

/// A seed from the system's randomness. It has 31 bits, so that it fits the integers of old scripting
/// languages.
pub fn draw_seed() -> u64 {
    // Should the system have no randomness, a fixed seed still gives good teams.
    SysRng
        .try_next_u32()
        .map_or(0, |drawn| u64::from(drawn >> 1))
}
