//! Rounds, and the scores after each; also rounds that are restarted, and those that are taken back.
//!
//! Team Fortress 2 writes nothing when a round or the whole game is restarted: the next round begins without an end
//! of the one before it. Only the next scores show which of the two it was. A server of Counter-Strike can restore an
//! earlier round, and what was played since then does not count.

use evenkeel_model::{MatchRecorder, Timestamp, other_side};

use super::SourceGame;
use crate::{
    TEAMS,
    clock::Calendar,
    source::{
        ROUND_LAG,
        server::SourceServer,
        setup::ResultStyle,
        totals::{BothScores, SideTotals},
    },
};

/// The most rounds of one game. A real game has fewer.
const MAX_ROUNDS: usize = 1_000;
/// How often a calendar is set in one round. In a log of two servers whose clocks differ, it seems to be set again and again.
const MAX_SET: u32 = 2;
/// By how much a calendar may have been set back in a round, in milliseconds, if that is not seen because as much time passed
/// between two lines.
const SMALL_STEP: u64 = 30_000;
/// By how much a round may seem shorter in the log than it was, in milliseconds.
const ROUND_SLACK: u64 = 5_000;

impl SourceGame {
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
        log: &SourceServer,
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
        for since in self.recorder.reconcile_sides() {
            self.exchanged = true;
            self.exchanged_late ^= won.is_some_and(|won| since >= won);
            self.totals.exchange();
            let before = self.rounds.iter_mut().filter(|(at, ..)| *at < since);
            before.for_each(|(_, team, _)| *team = other_side(*team));
        }
    }
}

/// A game whose last round was broken off, as it was when that round began.
pub(super) struct BrokenOff {
    line: u64,
    began: (u64, Option<Timestamp>),
    kept: Checkpoint,
    /// The scores that were stated since, until those of both sides are known.
    stated: BothScores,
}

impl SourceGame {
    /// What goes on if a round that begins now, without an end of the last one, is that one again; `None` if nothing
    /// was scored before.
    pub(super) fn break_off(&mut self, style: ResultStyle) -> Option<Box<BrokenOff>> {
        let scored = self.totals.people().iter().any(|score| *score != 0.0);
        if style != ResultStyle::Finals || !self.round || self.is_over() || !scored {
            return self.broken_off.take().filter(|_| self.round);
        }
        let (began, kept) = self.began.zip(self.checkpoints.pop_back())?;
        let (line, stated) = (self.line, BothScores::default());
        Some(Box::new(BrokenOff {
            line,
            began,
            kept,
            stated,
        }))
    }

    /// Takes a side's score. If the scores go on from those before the round that was broken off, so does the game.
    pub(super) fn go_on(&mut self, team: u8, total: f64, now: Calendar) {
        let Some(mut broken_off) = self.broken_off.take() else {
            return;
        };
        let Some([one, two]) = broken_off.stated.state(team, total) else {
            self.broken_off = Some(broken_off);
            return;
        };
        let before = [0, 1].map(|side| broken_off.kept.totals.stated(side));
        // What was scored since by itself, if the game began anew: a round, or the captures.
        let anew = one + two <= 1.0 || self.recorder.sums(2) == [one, two];
        if one >= before[0] && two >= before[1] && !anew && !self.exchanged {
            self.continue_from(*broken_off);
            self.total(0, one, now);
            self.total(1, two, now);
        }
    }

    /// Puts what was played before the round that was broken off in front of what was played since.
    fn continue_from(&mut self, before: BrokenOff) {
        let (position, _) = before.began;
        let offset = self
            .began
            .map_or(0, |(began, _)| began.saturating_sub(position));
        let kept = before.kept;
        let later = std::mem::replace(&mut self.recorder, kept.recorder);
        let grown = self.recorder.append(later, kept.at, offset);
        self.visits.values_mut().for_each(|visit| *visit += grown);
        // The first scores since are yet to be counted.
        self.rounds = kept.rounds;
        for (sum, before) in self.kills.iter_mut().zip(kept.kills) {
            *sum = sum.saturating_add(before);
        }
        self.totals = kept.totals;
        (self.exchanged, self.exchanged_late) = (kept.exchanged, kept.exchanged_late);
        (self.line, self.began) = (before.line, Some(before.began));
        self.lasted = self.lasted.map(|lasted| lasted.saturating_add(offset));
        self.checkpoints.clear();
    }
}

/// The most rounds that can be taken back. A real match has fewer.
const MOST: usize = 80;
/// The most parts of a record with which its rounds can be taken back. A real match has fewer.
const MAX_PARTS: usize = 4_000;

/// A game as it was when a round began.
#[derive(Clone)]
pub(super) struct Checkpoint {
    /// When that was, in milliseconds since play began.
    pub(super) at: u64,
    pub(super) recorder: MatchRecorder,
    pub(super) totals: SideTotals,
    pub rounds: Vec<(u64, u8, f64)>,
    pub(super) kills: [u32; 2],
    pub(super) exchanged: bool,
    pub(super) exchanged_late: bool,
}

impl SourceGame {
    /// Keeps the game as it is now, as a round begins.
    pub(super) fn keep_checkpoint(&mut self, style: ResultStyle, now: Calendar) {
        let most = match style {
            ResultStyle::Rounds { has_end: true } => MOST,
            ResultStyle::Rounds { has_end: false } => return,
            ResultStyle::Finals => 1,
        };
        if self.checkpoints.len() >= most {
            self.checkpoints.pop_front();
        }
        if self.recorder.parts() > MAX_PARTS {
            return;
        }
        self.checkpoints.push_back(Checkpoint {
            at: self.millis(now),
            recorder: self.recorder.clone(),
            totals: self.totals.clone(),
            rounds: self.rounds.clone(),
            kills: self.kills,
            exchanged: self.exchanged,
            exchanged_late: self.exchanged_late,
        });
    }

    /// The game continues from an earlier round, so the round being played does not count.
    pub(super) fn reloaded(&mut self, running: bool, log: &SourceServer, now: Calendar) {
        self.round = false;
        if running && let Some(last) = self.checkpoints.len().checked_sub(1) {
            self.take_back(last, log, now);
        }
    }

    /// The game continues from the round that began with these scores.
    pub(super) fn restored(&mut self, scores: [f64; 2], log: &SourceServer, now: Calendar) {
        let began = |kept: &Checkpoint| [0, 1].map(|side| kept.totals.stated(side)) == scores;
        if let Some(at) = self.checkpoints.iter().rposition(began) {
            self.take_back(at, log, now);
        }
    }

    /// Takes back what was played since this checkpoint. Who is there now goes on. The checkpoint stays, because the
    /// scores may be stated only after suicides of the restore.
    fn take_back(&mut self, at: usize, log: &SourceServer, now: Calendar) {
        self.checkpoints.truncate(at + 1);
        let Some(kept) = self.checkpoints.back().cloned() else {
            return;
        };
        self.recorder = kept.recorder;
        self.totals = kept.totals;
        self.rounds = kept.rounds;
        self.kills = kept.kills;
        (self.exchanged, self.exchanged_late) = (kept.exchanged, kept.exchanged_late);
        self.finals.clear();
        self.reseat(log, now);
    }
}
