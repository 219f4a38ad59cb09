//! Applies commands to a lobby.

use super::{Command, Lobby, LobbyError};

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
            Command::Chances(told) => return self.tell_chances(told),
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
