//! The decisions of a lobby: it takes a snapshot, asks, and does what was decided.

use super::{
    Advantage, AutoBalance, Decided, Fate, Lobby, LobbyError, Person, Place, Rebalance, Robot,
    Situation, Snapshot, TeamState, Weights,
    autobalance::Assessment,
    roster::Human,
    snapshot::Held,
    state::{Game, Watch},
    strength::Strength,
    weights::{next_bot, sane},
};
use crate::domain::{Ident, Kind};

impl Lobby {
    /// The side for a late arrival, who is now on it. Somebody who is on a team stays there: their
    /// question is about that side alone.
    ///
    /// # Errors
    /// No game, a game without teams, nobody of that id.
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
            self.asked(|human| human.id == *id);
        }
        let mut snapshot = self.snapshot(weights)?;
        if placed.is_some() {
            snapshot.humans[who].pin = placed;
            snapshot.humans[who].team = None;
        }
        let settings = self.settings.place;
        let question = Place {
            snapshot,
            who,
            settings,
        };
        let decided = Decided::by(question, seed);
        if placed.is_none() {
            self.game_mut()?.roster.move_to(id, decided.answer.team)?;
            self.seat(id)?;
        }
        self.watch(weights);
        Ok(decided)
    }

    /// Which team needs help now, and how much.
    ///
    /// # Errors
    /// No game, or a game without teams.
    pub fn advantage(&mut self, weights: &dyn Weights) -> Result<Decided<Advantage>, LobbyError> {
        let snapshot = self.snapshot(weights)?;
        let strength = Strength::of(&snapshot);
        let sums = strength.players().zip(strength.present());
        let teams = (0..self.teams).zip(sums.zip(&snapshot.scores));
        let game = self.team_game()?;
        let last = game.help.map(|(help, at)| (help, self.now - at));
        let question = Advantage {
            teams: teams
                .map(|(team, ((players, weight), &score))| TeamState {
                    players,
                    weight,
                    odds: sane(weights.side(team)),
                    score,
                })
                .collect(),
            elapsed: game.course.elapsed(self.now),
            left: game.course.left(self.now),
            scored: game.course.has_scored(),
            last,
            settings: self.settings.advantage,
        };
        let decided = Decided::by(question, 0);
        let now = self.now;
        // No help is help of factor 1: what comes next must not jump away from it.
        let help = decided.answer.help;
        let help = help.unwrap_or(super::Help {
            team: 0,
            factor: 1.0,
        });
        self.game_mut()?.help = Some((help, now));
        Ok(decided)
    }

    /// The fewest moves that mend the game. Advice: nothing changes before MOVE says so, but a MOVE
    /// that follows it counts as ours.
    ///
    /// # Errors
    /// No game, or a game without teams.
    pub fn rebalance(
        &mut self,
        weights: &dyn Weights,
        seed: u64,
    ) -> Result<Decided<Rebalance>, LobbyError> {
        self.team_game()?;
        self.asked(|_| true);
        let question = Rebalance {
            snapshot: self.snapshot(weights)?,
            settings: self.settings.rebalance,
        };
        let decided = Decided::by(question, seed);
        let steps = decided.answer.steps();
        let advised = steps
            .map(|step| (step.id.text().to_owned(), step.to))
            .collect();
        self.game_mut()?.advised = advised;
        Ok(decided)
    }

    /// Somebody died. When it was a human of a team game that is on, the auto-balance rules say
    /// whether they change sides; if they do, they are on the other side now.
    ///
    /// # Errors
    /// No game, or nobody of that id has played.
    pub fn died(
        &mut self,
        id: &Ident,
        weights: &dyn Weights,
    ) -> Result<Option<Decided<AutoBalance>>, LobbyError> {
        let game = self.game_mut()?;
        let track = game.track(id)?;
        game.course.death(track);
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
        let question = AutoBalance {
            situation: self.situation(weights)?,
            who,
            lasted: imbalance.map_or(0, |(_, since)| now - since),
        };
        let decided = Decided::by(question, 0);
        if let Fate::Moves(step) = &decided.answer.fate {
            self.game_mut()?.roster.move_to(id, step.to)?;
            self.memory.entry(id.text()).moved_at = Some(now);
            self.seat(id)?;
            self.watch(weights);
        }
        Ok(Some(decided))
    }

    /// Looks whether the teams are balanced: after each join, leave and change of team, so that the
    /// rules know since when they are not, and which side was the stronger when somebody changed
    /// over. Without a team game there is nothing to see.
    pub fn watch(&mut self, weights: &dyn Weights) {
        let Ok(situation) = self.situation(weights) else {
            return;
        };
        let sums: Vec<f64> = Strength::of(&situation.snapshot).present().collect();
        let most = sums.iter().copied().fold(0.0, f64::max);
        let mut strongest = (0u8..)
            .zip(&sums)
            .filter(|(_, sum)| **sum >= most && most > 0.0);
        let stronger = match (strongest.next(), strongest.next()) {
            (Some((team, _)), None) => Some(team),
            _ => None,
        };
        let now = self.now;
        let Ok(game) = self.game_mut() else { return };
        let before = game.watch.imbalance;
        let imbalance = match situation.verdict() {
            Assessment::Balanced(_) => None,
            Assessment::Unbalanced { strong, .. } => Some(
                before
                    .filter(|&(team, _)| team == strong)
                    .unwrap_or((strong, now)),
            ),
        };
        game.watch = Watch {
            imbalance,
            stronger,
        };
    }

    /// The game as it is.
    ///
    /// # Errors
    /// No game, or a game without teams.
    pub fn snapshot(&self, weights: &dyn Weights) -> Result<Snapshot, LobbyError> {
        let game = self.team_game()?;
        let humans = game.roster.humans().iter();
        let bots = game.roster.bots();
        let next_bot = next_bot(weights, bots.iter().map(|bot| bot.name.text()));
        let mean = sane(weights.mean_bot().0);
        let robot = |bot: &super::Bot| Robot {
            name: bot.name.text().to_owned(),
            weight: weights
                .bot(bot.name.text())
                .map_or(mean, |bot| sane(bot.weight)),
            team: bot.team,
            points: game.course.points_of(Kind::Bot, bot.name.text()),
        };
        let mut scores = game.scores().to_vec();
        scores.resize(usize::from(self.teams), 0.0);
        Ok(Snapshot {
            teams: self.teams,
            humans: humans
                .map(|human| self.person(game, human, weights))
                .collect(),
            bots: bots.iter().map(robot).collect(),
            fill: self.fill()?,
            next_bot,
            scores,
        })
    }

    fn person(&self, game: &Game, human: &Human, weights: &dyn Weights) -> Person {
        let id = human.id.text();
        let past = self.memory.of(id);
        let since = |at: u64| self.now.saturating_sub(at);
        let just_moved = past
            .moved_at
            .is_some_and(|at| since(at) < self.settings.rebalance.cooldown_seconds.millis());
        let held = if human.protected_until > self.now {
            Some(Held::Protected)
        } else {
            just_moved.then_some(Held::JustMoved)
        };
        let grace = self.settings.place.rejoin_grace_seconds.millis();
        let old_team = past.left.filter(|&(_, at)| since(at) <= grace);
        Person {
            id: id.to_owned(),
            weight: sane(weights.human(id)) * self.multiplier(game, human),
            team: human.team,
            pin: human.pin,
            party: human.party.clone(),
            old_team: old_team
                .and_then(|(team, _)| team)
                .filter(|&team| team < self.teams),
            points: game.course.points_of(Kind::Human, id),
            held,
            moved: past.moved_at.is_some(),
            conduct: past.conduct,
        }
    }

    /// What a human's weight counts, standing with their party or not.
    fn multiplier(&self, game: &Game, human: &Human) -> f64 {
        let multiples = &self.settings.party_multiplier;
        if human.party.is_none() || human.team.is_none() || multiples.is_empty() {
            return 1.0;
        }
        let with = |other: &&Human| other.party == human.party && other.team == human.team;
        let size = game.roster.humans().iter().filter(with).count();
        match size.checked_sub(2) {
            Some(extra) => multiples[extra.min(multiples.len() - 1)],
            None => 1.0,
        }
    }

    fn situation(&self, weights: &dyn Weights) -> Result<Situation, LobbyError> {
        let game = self.team_game()?;
        Ok(Situation {
            left: game.course.left(self.now),
            tournament: game.tournament,
            rules: self.settings.auto_balance.clone(),
            snapshot: self.snapshot(weights)?,
        })
    }

    /// Balance is asked for: those of these who went over to the stronger side lately are noted,
    /// once each time.
    fn asked(&mut self, about: impl Fn(&Human) -> bool) {
        let (now, recent) = (self.now, self.settings.rebalance.cooldown_seconds.millis());
        let Some(game) = &self.game else { return };
        for human in game.roster.humans().iter().filter(|human| about(human)) {
            let switched = self.memory.of(human.id.text()).switched_at;
            if switched.is_some_and(|at| now.saturating_sub(at) <= recent) {
                let past = self.memory.entry(human.id.text());
                past.switched_at = None;
                past.conduct.asks += 1;
            }
        }
    }

    fn team_game(&self) -> Result<&Game, LobbyError> {
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
