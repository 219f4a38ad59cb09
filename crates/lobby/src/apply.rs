//! Applies commands to a lobby: those on who plays and on which team, and those on what is recorded of play: START,
//! SCORE, POINTS, KILL, DEATH, CLOCK, and END. They keep the roster, the record of play and the session's memory
//! consistent.
//!
//! Before START, and between END and the next START, all commands on play except START are accepted and ignored, so
//! that a game server can report its warm-up without errors.

use evenkeel_model::{
    Kind, MatchRecord, Outcome, ident::Ident, in_game::Verdict, record::LeaveReason,
    team_names::RoleName,
};
use evenkeel_partition::view::Conduct;

use crate::{
    Command, Lobby, LobbyError, Update,
    recorder::{Finished, RecordFrame, SeatedPlayer},
    roster::Human,
    state::{RunningGame, exists},
    streak::ScoreRun,
};

impl Lobby {
    /// Applies a command at `now`, in milliseconds of the session. The lobby's time never goes
    /// back: a `now` before the previous one counts as the previous one.
    ///
    /// # Errors
    /// Any [`LobbyError`]. A command that fails changes nothing.
    pub fn apply(&mut self, command: &Command, now: u64) -> Result<(), LobbyError> {
        self.at(now).carry_out(command)
    }

    /// Carries out a command of a decision now, and notes it in the [trail](Self::keep_trail).
    pub(super) fn change(&mut self, command: Command) -> Result<(), LobbyError> {
        self.carry_out(&command)?;
        if let Some(trail) = &mut self.trail {
            trail.push((self.now, command));
        }
        Ok(())
    }

    fn carry_out(&mut self, command: &Command) -> Result<(), LobbyError> {
        let before = self.teams_before(command);
        self.execute(command)?;
        if let Some(before) = before {
            self.note_change(before);
        }
        Ok(())
    }

    fn execute(&mut self, command: &Command) -> Result<(), LobbyError> {
        match command {
            Command::Game(game) => self.begin(game),
            Command::Mutator { name } => return self.add_mutator(name),
            Command::Map { name, players } => return self.set_map(name, *players),
            Command::Teams { teams } => return self.set_teams(*teams),
            Command::MinPlayers { players } => self.set_min_players(*players),
            Command::DeclareBots { acts } => self.declare_bots(*acts),
            Command::ShowBots => self.show_bots(),
            Command::Join { id, update } => return self.join(id, update),
            Command::Leave { id, reason } => return self.leave(id, *reason),
            Command::Move { id, team } => return self.move_to(id, *team),
            Command::BotJoin { name, team } => return self.bot_join(name, *team),
            Command::BotLeave { name } => return self.bot_leave(name),
            Command::Protect { id, millis } => return self.protect(id, *millis),
            Command::Role { id, role } => return self.set_role(id, role.as_ref()),
            Command::Start => return self.start(),
            Command::Score { team, points, by } => return self.score(*team, *points, by.as_ref()),
            Command::Points { id, points } => return self.points(id, *points),
            Command::Kill { killer, victim } => return self.kill(killer, victim),
            Command::Death { id } => return self.death(id),
            Command::Clock { left } => return self.clock(*left),
            Command::Assign { team_of } => return self.assign(team_of),
            Command::Balanced(last) => self.note_balanced(last)?,
            Command::Place { id, team } => return self.put_on_team(id, *team),
            Command::Advise { moves } => self.game_mut()?.advised.clone_from(moves),
            Command::Help { by_score } => {
                self.game_mut()?.by_score = Some((by_score.clone(), self.now));
            }
            Command::AutoMove { id, team } => return self.auto_move(id, *team),
            Command::Ask { id } => self.note_asked(id.as_ref()),
            Command::Watch(watch) => self.game_mut()?.note_watch(*watch),
            Command::Chances(announced) => return self.announce_chances(announced),
            Command::Offer(offer) => self.game_mut()?.offer = Some(offer.clone()),
            Command::Volunteer { id } => return self.note_volunteer(id),
            Command::EndOffer => self.game_mut()?.offer = None,
            Command::TakeStreak => self.forget_streak(),
            Command::Host => self.game_mut()?.hosted = true,
            Command::Hold => self.hold(),
            Command::GoOn => self.go_on(),
            Command::DropBefore => self.before = None,
        }
        Ok(())
    }
}

impl Lobby {
    pub(crate) fn join(&mut self, id: &Ident, update: &Update) -> Result<(), LobbyError> {
        if id.is_nobody() {
            return Err(LobbyError::SharedId);
        }
        let teams = self.teams;
        let game = self.game_mut()?;
        let stated = [update.team, update.pin.flatten(), update.wish.flatten()];
        for team in stated.into_iter().flatten() {
            exists(team, teams)?;
        }
        if game.recorder.is_over()
            && let Some(first) = game.roster.first_in_the_way(id)
        {
            // Coming back is nothing that a player is blamed for.
            self.leave(&first, LeaveReason::Moved)?;
        }
        let game = self.game_mut()?;
        let party = |game: &RunningGame| game.roster.find(id).and_then(|human| human.party.clone());
        let (before, alone) = (game.roster.find(id).map(|human| human.team), party(game));
        game.roster.join(id, update)?;
        if party(game) != alone {
            // Others may have to be moved now: auto-balance looks at all of them again.
            game.died.clear();
        }
        match before {
            None => {
                let past = self.memory.of(id.text());
                if past.left.is_some() && !past.sent_away {
                    self.memory.entry(id.text()).conduct.returns += 1;
                }
            }
            Some(from) => self.note_move(id, from, update.team.or(from)),
        }
        self.note_wish(id, update.wish, before.is_none())?;
        self.seat(id)
    }

    pub(crate) fn leave(&mut self, id: &Ident, reason: LeaveReason) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let human = game.roster.human(id)?;
        let team = human.team;
        game.recorder.leave(&seated_human(human), reason, now);
        game.roster.leave(id)?;
        game.advised.retain(|advised| advised.id != *id);
        game.died.retain(|died| died != id);
        if let Some(offer) = &mut game.offer {
            offer.volunteers.retain(|volunteer| volunteer != id);
        }
        let past = self.memory.entry(id.text());
        past.left = Some((team, now));
        past.sent_away = matches!(reason, LeaveReason::Kicked | LeaveReason::Moved);
        Ok(())
    }

    pub(crate) fn move_to(&mut self, id: &Ident, team: u8) -> Result<(), LobbyError> {
        let teams = self.teams;
        let game = self.game_mut()?;
        exists(team, teams)?;
        let from = game.roster.human_mut(id)?.team.replace(team);
        self.note_move(id, from, Some(team));
        self.seat(id)
    }

    /// Puts a human on a team because of a decision, so that the change does not count as their
    /// own.
    pub(crate) fn put_on_team(&mut self, id: &Ident, team: u8) -> Result<(), LobbyError> {
        let teams = self.teams;
        exists(team, teams)?;
        self.game_mut()?.roster.human_mut(id)?.team = Some(team);
        self.seat(id)
    }

    /// Like [`put_on_team`](Self::put_on_team), and starts the time during which they are not moved
    /// again.
    fn auto_move(&mut self, id: &Ident, team: u8) -> Result<(), LobbyError> {
        self.put_on_team(id, team)?;
        self.memory.entry(id.text()).moved_at = Some(self.now);
        Ok(())
    }

    /// Gives a human a role, in the place of an earlier one.
    pub(crate) fn set_role(
        &mut self,
        id: &Ident,
        role: Option<&RoleName>,
    ) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let human = game.roster.human_mut(id)?;
        human.role = role.cloned();
        game.recorder.set_role(&seated_human(human), role, now);
        Ok(())
    }

    pub(crate) fn protect(&mut self, id: &Ident, millis: Option<u64>) -> Result<(), LobbyError> {
        let now = self.now;
        let until = millis.map_or(u64::MAX, |millis| now.saturating_add(millis));
        self.game_mut()?.roster.human_mut(id)?.protected_until = until;
        Ok(())
    }

    pub(crate) fn bot_join(&mut self, name: &Ident, team: u8) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        exists(team, teams)?;
        if game.recorder.is_over()
            && let Some(first) = game.roster.first_bot_in_the_way(name)
        {
            self.bot_leave(&first)?;
        }
        let game = self.game_mut()?;
        game.roster.bot_join(name, team)?;
        let seat = game.seat_of(Some(team));
        game.recorder.set_team(&seated_bot(name), seat, now);
        self.show_bots();
        Ok(())
    }

    pub(crate) fn bot_leave(&mut self, name: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        game.roster.bot_leave(name)?;
        game.recorder.set_team(&seated_bot(name), None, now);
        Ok(())
    }

    pub(crate) fn assign(&mut self, team_of: &[u8]) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        team_of.iter().try_for_each(|&team| exists(team, teams))?;
        game.roster.assign(team_of);
        game.advised.clear();
        game.offer = None;
        game.run = ScoreRun::default();
        game.seat_all(now);
        Ok(())
    }

    /// How often the human's behaviour in this session suggests that they exploit the balancing.
    pub fn conduct(&self, id: &Ident) -> Conduct {
        self.memory.of(id.text()).conduct
    }

    /// Counts that a decision was requested after a human changed to the stronger team, once per
    /// change.
    fn note_asked(&mut self, about: Option<&Ident>) {
        let (now, recent) = (self.now, self.settings.rebalance.cooldown_seconds.millis());
        let Some(game) = &self.game else { return };
        let humans = game.roster.humans().iter();
        for human in humans.filter(|human| about.is_none_or(|id| human.id == *id)) {
            let switched = self.memory.of(human.id.text()).switched_at;
            if switched.is_some_and(|at| now.saturating_sub(at) <= recent) {
                let past = self.memory.entry(human.id.text());
                past.switched_at = None;
                past.conduct.asks += 1;
            }
        }
    }

    /// Notes a change of team. It counts as the human's own unless REBALANCE advised it.
    fn note_move(&mut self, id: &Ident, from: Option<u8>, to: Option<u8>) {
        let (now, text) = (self.now, id.text());
        let (Some(game), Some(to)) = (&mut self.game, to) else {
            return;
        };
        if from == Some(to) {
            return;
        }
        let mut advised = game.advised.iter();
        let advice = advised.position(|advised| advised.id == *id && advised.to == to);
        if let Some(advice) = advice {
            game.advised.swap_remove(advice);
            // Placing a human for the first time is not a move.
            if from.is_some() {
                self.memory.entry(text).moved_at = Some(now);
            }
        } else if from.is_some() && game.watch.stronger == Some(to) {
            let past = self.memory.entry(text);
            past.conduct.switches += 1;
            past.switched_at = Some(now);
        }
    }

    /// Updates the record of play with a human's team.
    fn seat(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let human = game.roster.human(id)?;
        let seat = game.seat_of(human.team);
        game.recorder.set_team(&seated_human(human), seat, now);
        Ok(())
    }
}

impl RunningGame {
    /// The team as the match record counts it: always 0 in a game without teams.
    fn seat_of(&self, team: Option<u8>) -> Option<u8> {
        if self.has_teams { team } else { Some(0) }
    }

    /// Takes everybody off the teams from this one on, which the next game does not have: this one is over.
    pub(crate) fn give_up_teams(&mut self, from: u8, now: u64) {
        let bots = self.roster.bots().iter();
        for bot in bots.filter(|bot| bot.team >= from) {
            self.recorder.set_team(&seated_bot(&bot.name), None, now);
        }
        self.roster.give_up_teams(from);
        self.seat_all(now);
        self.advised.clear();
        self.balanced = None;
    }

    /// Updates the record of play with the teams of all players.
    pub(crate) fn seat_all(&mut self, now: u64) {
        for human in self.roster.humans() {
            let seat = self.seat_of(human.team);
            self.recorder.set_team(&seated_human(human), seat, now);
        }
        for bot in self.roster.bots() {
            let seat = self.seat_of(Some(bot.team));
            self.recorder.set_team(&seated_bot(&bot.name), seat, now);
        }
    }
}

fn seated_human(human: &Human) -> SeatedPlayer<'_> {
    SeatedPlayer {
        kind: Kind::Human,
        id: human.id.text(),
        name: human.name.as_deref(),
        party: human.party.as_deref(),
    }
}

fn seated_bot(name: &Ident) -> SeatedPlayer<'_> {
    SeatedPlayer {
        kind: Kind::Bot,
        id: name.text(),
        name: None,
        party: None,
    }
}

impl Lobby {
    /// How many milliseconds the game has been in play; `None` before START and after END.
    pub fn played(&self) -> Option<u64> {
        let game = self.game.as_ref();
        let running = game.filter(|game| game.recorder.is_running())?;
        Some(running.recorder.elapsed(self.now))
    }

    /// The remaining time of play in milliseconds, if CLOCK has stated it.
    pub fn left(&self) -> Option<u64> {
        let game = self.game.as_ref();
        let running = game.filter(|game| game.recorder.is_running())?;
        running.recorder.left(self.now)
    }

    /// Whether SCORE has been sent since START. If not, scores of 0 may only mean that the game server states none.
    pub fn has_scored(&self) -> bool {
        let game = self.game.as_ref();
        game.is_some_and(|game| game.recorder.has_scored())
    }

    /// The score of each team since START; empty before it, and without teams.
    pub fn scores(&self) -> &[f64] {
        self.game
            .as_ref()
            .map_or(&[], |game| game.recorder.scores())
    }

    pub(crate) fn start(&mut self) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        if game.recorder.is_running() {
            return Err(LobbyError::AlreadyStarted);
        }
        game.stand(teams);
        let played = if game.has_teams { teams } else { 0 };
        game.recorder.start(usize::from(played), now);
        game.seat_all(now);
        let sizes = game.has_teams.then(|| game.team_sizes(teams));
        game.recorder.chances.start(sizes);
        (game.by_score, game.again) = (None, false);
        game.run = ScoreRun::default();
        // Teams that were uneven in warm-up count as uneven only from now on.
        if let Some((_, since)) = &mut game.watch.imbalance {
            *since = now;
        }
        game.died.clear();
        Ok(())
    }

    pub(crate) fn score(
        &mut self,
        team: u8,
        points: f64,
        by: Option<&Ident>,
    ) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        if !game.has_teams {
            return Err(LobbyError::NoTeams);
        }
        exists(team, teams)?;
        let by = by.map(|id| game.timeline(id)).transpose()?;
        game.recorder.score(team, points, by, now);
        if game.recorder.is_running() {
            game.run.score(team, points);
        }
        self.note_scores();
        Ok(())
    }

    pub(crate) fn points(&mut self, id: &Ident, points: f64) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        let who = game.timeline(id)?;
        game.recorder.points(who, points);
        Ok(())
    }

    pub(crate) fn kill(&mut self, killer: &Ident, victim: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let (killer, victim) = (game.timeline(killer)?, game.timeline(victim)?);
        game.recorder.kill(killer, victim, now);
        Ok(())
    }

    pub(crate) fn death(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let delay = self.settings.auto_balance.delay_seconds.millis();
        let game = self.game_mut()?;
        let who = game.timeline(id)?;
        game.recorder.death(who, now);
        let lasts = |(_, since): (u8, u64)| now.saturating_sub(since) >= delay;
        let due = game.recorder.is_running() && game.watch.imbalance.is_some_and(lasts);
        if due && game.roster.find(id).is_some() && !game.died.contains(id) {
            game.died.push(id.clone());
        }
        Ok(())
    }

    pub(crate) fn clock(&mut self, left: u64) -> Result<(), LobbyError> {
        let now = self.now;
        self.game_mut()?.recorder.clock(left, now);
        Ok(())
    }

    /// Ends the game and makes its record. A second call returns the same record, until the next
    /// START or GAME. It is not a [`Command`] because it has a result.
    ///
    /// # Errors
    /// Fails if there is no game or no such team, if play has not begun, or if the game makes no
    /// valid record.
    pub fn end(&mut self, verdict: Verdict, frame: &RecordFrame) -> Result<Finished, LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let reported = self.reports_scores();
        let game = self.game_mut()?;
        // A team game of a server that reports no scores is undecided, not a draw.
        let silent = game.has_teams && !reported && !game.recorder.has_scored();
        let decided = !(silent && verdict == Verdict::Scores);
        if let Verdict::Won(team) = verdict {
            if !game.has_teams {
                return Err(LobbyError::NoTeams);
            }
            exists(team, teams)?;
        }
        let mut record = game.blank_record(frame, teams);
        record.unscored = silent;
        let verdict = decided.then_some(verdict);
        let was_running = game.recorder.is_running();
        let finished = game.recorder.end(record, verdict, now)?;
        game.offer = None;
        if was_running {
            self.note_winner(match finished.record.outcome {
                Outcome::Won(team) => Some(team),
                _ => None,
            });
        }
        Ok(finished)
    }

    /// Frees the stays and score events of a game that has ended and is on disk. [`end`](Self::end)
    /// then fails until the next START.
    pub fn forget_record(&mut self) {
        if let Some(game) = &mut self.game {
            game.recorder.forget();
        }
    }

    /// The record of a game that GAME or a lost connection ends during play; `None` if play has not
    /// begun or is over, or if no player has taken part.
    pub fn abandoned(&self, frame: &RecordFrame) -> Option<Finished> {
        let game = self.game.as_ref()?;
        game.abandoned(frame, self.teams, self.now)
    }

    /// Whether play has begun and has not ended.
    pub fn is_running(&self) -> bool {
        self.game
            .as_ref()
            .is_some_and(|game| game.recorder.is_running())
    }
}

impl RunningGame {
    /// The record of a game that GAME or a lost connection ends at `now`, see [`Lobby::abandoned`].
    pub(crate) fn abandoned(&self, frame: &RecordFrame, teams: u8, now: u64) -> Option<Finished> {
        let record = self.blank_record(frame, teams);
        let finished = self.recorder.abandoned(record, now);
        finished.filter(|finished| !finished.record.participants.is_empty())
    }

    /// Each team's score so far; empty before START and in a game without teams.
    pub fn scores(&self) -> &[f64] {
        self.recorder.scores()
    }

    /// Index of the timeline of a player who plays or has played.
    pub(crate) fn timeline(&self, id: &Ident) -> Result<usize, LobbyError> {
        let timeline = self.recorder.find(id.text());
        timeline.ok_or(LobbyError::UnknownPlayer)
    }

    /// The parts of the game's record that do not come from its players. It starts with the session, and no team has
    /// scored.
    fn blank_record(&self, frame: &RecordFrame, teams: u8) -> MatchRecord {
        let mut mutators = self.mutators.clone();
        mutators.sort_unstable();
        mutators.dedup();
        let teams = if self.has_teams { teams } else { 0 };
        MatchRecord {
            server: frame.server.clone(),
            client: frame.server.clone(), // which reports its own game
            start: frame.epoch,
            map: self.map.clone().unwrap_or_default(),
            game_type: self.game_type.clone(),
            mode: frame.mode.clone(),
            mutators,
            scores: vec![0.0; usize::from(teams)],
            ..MatchRecord::default()
        }
    }
}
