//! Kills and deaths while nobody had an opponent: they are no play.
//!
//! Only those are noted at whose time no opponents are known. Whether there were any, the whole match shows: a log may
//! state somebody's team late.

use serde::{Deserialize, Serialize};

use super::MatchRecorder;
use crate::PlayTime;

/// The most that are noted with one player there, and with several on one side. In a game without teams, where all are on
/// one side, the latter are no waiting.
const MOST: usize = 1_000;

/// What is counted of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Counted {
    Kill,
    Death,
    Killed,
}

/// How often each happened to somebody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) kills: u32,
    pub(super) deaths: u32,
    pub(super) killed: u32,
}

/// What was counted while no opponents were known.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LoneEvents {
    alone: Vec<(usize, u64, Counted)>,
    one_side: Vec<(usize, u64, Counted)>,
}

impl LoneEvents {
    /// How many are noted.
    pub(super) fn len(&self) -> usize {
        self.alone.len() + self.one_side.len()
    }

    /// Adds those of a later part of the match, whose timelines and times grow by these.
    pub(super) fn append(&mut self, later: Self, grown: usize, offset: u64) {
        for (own, later) in [
            (&mut self.alone, later.alone),
            (&mut self.one_side, later.one_side),
        ] {
            let room = MOST.saturating_sub(own.len());
            let moved = |(who, at, what): (usize, u64, Counted)| {
                (who + grown, at.saturating_add(offset), what)
            };
            own.extend(later.into_iter().take(room).map(moved));
        }
    }

    /// What of this was no play, by timeline.
    pub(super) fn while_waiting(
        &self,
        timelines: usize,
        teams: usize,
        play: &PlayTime,
    ) -> Vec<Counts> {
        let mut counts = vec![Counts::default(); timelines];
        let one_side = self.one_side.iter().filter(|_| teams > 0);
        for (who, at, what) in self.alone.iter().chain(one_side) {
            if let Some(of) = counts.get_mut(*who).filter(|_| !play.is_at(*at)) {
                match what {
                    Counted::Kill => of.kills += 1,
                    Counted::Death => of.deaths += 1,
                    Counted::Killed => of.killed += 1,
                }
            }
        }
        counts
    }
}

impl MatchRecorder {
    /// Notes a count at this time if no opponents are known.
    pub(super) fn note_lone(&mut self, who: usize, at: u64, what: Counted) {
        let is_full = |noted: &Vec<_>| noted.len() >= MOST;
        if is_full(&self.lone.one_side) && is_full(&self.lone.alone) {
            return;
        }
        let mut teams = self.players.iter().filter_map(|player| player.team());
        let first = teams.next();
        let (mut several, mut opposed) = (false, false);
        for team in teams {
            several = true;
            opposed |= Some(team) != first;
            if opposed {
                return;
            }
        }
        let noted = match several {
            true => &mut self.lone.one_side,
            false => &mut self.lone.alone,
        };
        if !is_full(noted) {
            noted.push((who, at, what));
        }
    }
}
