//! Rounds, and the scores after each.

use super::Game;
use crate::{
    TEAMS,
    clock::Calendar,
    source::{ROUND_LAG, server::LoggedServer, style::ResultStyle},
};
use evenkeel_model::other_side;

/// The most rounds of one game. A real game has fewer.
const MAX_ROUNDS: usize = 1_000;
/// How often a calendar is set in one round. In a log of two servers whose clocks differ, it seems to be set again and again.
const MAX_SET: u32 = 2;
/// By how much a calendar may have been set back in a round, in milliseconds, if that is not seen because as much time passed
/// between two lines.
const SMALL_STEP: u64 = 30_000;
/// By how much a round may seem shorter in the log than it was, in milliseconds.
const ROUND_SLACK: u64 = 5_000;

impl Game {
    pub(super) fn round_started(&mut self, style: ResultStyle, now: Calendar) {
        self.keep_checkpoint(style, now);
        self.round = true;
        self.round_began = Some(now.position());
        self.set_before_round = now.times_set();
        self.first_scores = None;
        self.finals.clear();
    }

    /// Notes the score of a side of Counter-Strike. After the first round of a match, it is of one round
    /// at the most.
    pub(super) fn check_first(&mut self, team: u8, total: f64) {
        let Some(scores) = &mut self.first_scores else {
            return;
        };
        if let Some(score) = scores.get_mut(usize::from(team)) {
            *score = total;
        }
        if scores.iter().sum::<f64>() > 1.0 {
            self.foreign = true;
            self.first_scores = None;
        }
    }

    /// Handles the length of the round that has just ended, which may show when it began. A round cannot have been longer
    /// than the time since it began, unless the calendar was set in it. Returns how much time the log has lost by that, in
    /// milliseconds.
    pub(in crate::source) fn round_lasted(
        &mut self,
        millis: u64,
        log: &LoggedServer,
        now: Calendar,
    ) -> u64 {
        if let Some(began) = self.round_began {
            let passed = now.position().saturating_sub(began);
            let set = now.times_set().saturating_sub(self.set_before_round);
            let lost = millis.saturating_sub(passed);
            let was_set =
                (1..=MAX_SET).contains(&set) || (ROUND_SLACK..=SMALL_STEP).contains(&lost);
            if was_set && !self.interrupted {
                return lost;
            }
            if lost > ROUND_SLACK {
                let why = "a round lasted longer than the time since it began, as in a log of two servers";
                self.contradiction = Some(why);
            }
        } else if let Some(began) = log.rounds.began {
            self.round_began = Some(began);
            self.headless = false;
            if let Some(line) = self.opening.take() {
                self.before = None;
                (self.line, self.foreign) = (line, false);
                self.mutators = log.setup.mutators();
            }
        }
        0
    }

    /// Handles the final score of a team.
    pub(super) fn result(&mut self, team: u8, score: f64) {
        if self.lasted.is_some() && self.finals.iter().all(|(known, _)| *known != team) {
            self.finals.push((team, score));
        }
    }

    /// Handles a side's score in Counter-Strike: that after a round, or, apart from a round's end, the
    /// final one.
    pub(super) fn tally(&mut self, team: u8, total: f64, now: Calendar) {
        let ended = self.won.map(|won| now.position().saturating_sub(won));
        match ended {
            None => {}
            Some(0..=ROUND_LAG) => self.total(team, total, now),
            Some(_) if self.lasted.is_none() => {
                self.finals.retain(|(known, _)| *known != team);
                self.finals.push((team, total));
            }
            Some(_) => {}
        }
    }

    /// Handles a team's score after a round.
    pub(super) fn total(&mut self, team: u8, total: f64, now: Calendar) {
        if usize::from(team) >= TEAMS {
            return;
        }
        self.follow_sides();
        for (team, points) in self.totals.state(team, total) {
            if self.lasted.is_none() && self.rounds.len() < MAX_ROUNDS {
                let at = self.recorder.tick(self.millis(now));
                self.rounds.push((at, team, points));
            }
        }
    }

    /// Takes over the exchanges of sides since the last call.
    pub(super) fn follow_sides(&mut self) {
        let won = self
            .won
            .zip(self.began)
            .map(|(won, (began, _))| won.saturating_sub(began));
        for since in self.recorder.settle_sides() {
            self.exchanged = true;
            self.exchanged_late ^= won.is_some_and(|won| since >= won);
            self.totals.exchange();
            let before = self.rounds.iter_mut().filter(|(at, ..)| *at < since);
            before.for_each(|(_, team, _)| *team = other_side(*team));
        }
    }
}
