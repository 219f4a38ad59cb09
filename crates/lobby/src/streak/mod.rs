//! Streaks: the same people win again and again by far, so that teams should be chosen anew.
//!
//! It is a streak if a team has scored at least three times while the others have not, or if two matches of a ruleset in a
//! row were won by mostly the same humans. The lead must be twice as large as it usually is in the ruleset: that of the game
//! so far, or of each of the two matches at its end. Two players have no other teams, so theirs are no streaks.

use super::{Command, Lobby, RunningGame, ScoreSpread, Weights};
use evenkeel_model::{Contest, Streak};

pub(super) use crate::memory::{ScoreRun, Win};

/// How often a team scores in a row before it is a streak: three rounds.
const ROUNDS: u32 = 3;
/// How many matches in a row are a streak.
const MATCHES: usize = 2;
/// The lead that is far, as a multiple of the usual one.
const FAR: f64 = 2.0;
/// The part of a game that counts as over at least: twice the usual lead is then what matches usually end with. The first
/// seconds have nearly no usual lead, and three kills in them show nothing.
const LEAST_DONE: f64 = 0.25;
/// The fewest humans who can play in other teams.
const FEWEST: usize = 3;

impl RunningGame {
    /// The game type and the mutators, as one text.
    fn ruleset(&self) -> String {
        let mut names = self.mutators.clone();
        names.sort_unstable();
        names.dedup();
        names.insert(0, self.game_type.clone());
        names.join("+")
    }

    /// How far a team is ahead of the next one, and the sum of both scores.
    fn lead(&self, team: u8) -> (f64, f64) {
        let scores = self.scores();
        let of = |team: usize| scores.get(team).copied().unwrap_or(0.0);
        let others = (0..scores.len()).filter(|&other| other != usize::from(team));
        let next = others.map(of).fold(f64::NEG_INFINITY, f64::max);
        let next = if next.is_finite() { next } else { 0.0 };
        (of(usize::from(team)) - next, of(usize::from(team)) + next)
    }
}

impl Lobby {
    /// Notes who has won a match that has just ended; `None` if nobody has.
    pub(super) fn note_winner(&mut self, team: Option<u8>) {
        let win = self.game.as_ref().zip(team).map(|(game, team)| {
            let humans = game
                .roster
                .humans()
                .iter()
                .filter(|human| human.team == Some(team));
            let (lead, sum) = game.lead(team);
            Win {
                ruleset: game.ruleset(),
                team,
                humans: humans.map(|human| human.id.text().to_owned()).collect(),
                lead,
                sum,
            }
        });
        match win {
            Some(win) => {
                self.wins.truncate(MATCHES - 1);
                self.wins.insert(0, win);
            }
            None => self.wins.clear(),
        }
    }

    /// The streak that there is now, if it was not taken before. Teams that are chosen anew begin without one.
    pub fn take_streak(&mut self, weights: &dyn Weights) -> Option<Streak> {
        let game = self.game.as_ref()?;
        let off = game.tournament || !game.has_teams || !self.settings.auto_balance.on;
        if off || !self.may_be_streak() || game.roster.humans().len() < FEWEST {
            return None;
        }
        let spread = weights.spread();
        let streak = match self.is_running() {
            true => self.streak_of_rounds(&spread),
            false => self.streak_of_matches(&spread),
        };
        streak.inspect(|_| {
            // This cannot fail.
            let _ = self.change(Command::TakeStreak);
        })
    }

    /// Whether enough was won for a streak, however far.
    pub fn may_be_streak(&self) -> bool {
        match &self.game {
            Some(game) if game.recorder.is_running() => {
                game.run.count >= ROUNDS && !game.run.announced
            }
            _ => self.wins.len() >= MATCHES,
        }
    }

    fn streak_of_rounds(&self, spread: &ScoreSpread) -> Option<Streak> {
        let game = self.game.as_ref()?;
        let ScoreRun { team, count, .. } = game.run;
        let (lead, sum) = game.lead(team);
        let elapsed = game.recorder.played(self.now);
        let usual = self.settings.advantage.usual_seconds.millis();
        let length = game
            .recorder
            .left(self.now)
            .map_or(usual, |left| elapsed.saturating_add(left));
        let done = match length {
            0 => 1.0,
            length => (elapsed as f64 / length as f64).clamp(LEAST_DONE, 1.0),
        };
        (lead >= FAR * spread.usual(sum, done)).then_some(Streak {
            team,
            wins: count,
            of: Contest::Rounds,
        })
    }

    fn streak_of_matches(&self, spread: &ScoreSpread) -> Option<Streak> {
        let [last, before, ..] = &self.wins[..] else {
            return None;
        };
        let far = |win: &Win| win.lead >= FAR * spread.usual(win.sum, 1.0);
        (last.is_of_the_same(before) && far(last) && far(before)).then_some(Streak {
            team: last.team,
            wins: MATCHES as u32,
            of: Contest::Matches,
        })
    }

    /// Forgets the streak that was reported, and the teams of the last BALANCE: the next one chooses other teams, although
    /// the same humans play.
    pub(super) fn forget_streak(&mut self) {
        if let Some(game) = &mut self.game {
            game.balanced = None;
        }
        match &mut self.game {
            Some(game) if game.recorder.is_running() => game.run.announced = true,
            _ => self.wins.clear(),
        }
    }
}

#[cfg(test)]
mod tests;
