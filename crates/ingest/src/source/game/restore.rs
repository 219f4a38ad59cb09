//! Rounds that are taken back: a server of Counter-Strike can restore an earlier round, and what was played since then
//! does not count.

use super::Game;
use crate::{
    clock::Calendar,
    source::{server::LoggedServer, style::ResultStyle, totals::SideTotals},
};
use evenkeel_model::MatchRecorder;

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

impl Game {
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
    pub(super) fn reloaded(&mut self, running: bool, log: &LoggedServer, now: Calendar) {
        self.round = false;
        if running && let Some(last) = self.checkpoints.len().checked_sub(1) {
            self.take_back(last, log, now);
        }
    }

    /// The game continues from the round that began with these scores.
    pub(super) fn restored(&mut self, scores: [f64; 2], log: &LoggedServer, now: Calendar) {
        let began = |kept: &Checkpoint| [0, 1].map(|side| kept.totals.stated(side)) == scores;
        if let Some(at) = self.checkpoints.iter().rposition(began) {
            self.take_back(at, log, now);
        }
    }

    /// Takes back what was played since this checkpoint. Who is there now goes on. The checkpoint stays, because the
    /// scores may be stated only after suicides of the restore.
    fn take_back(&mut self, at: usize, log: &LoggedServer, now: Calendar) {
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
