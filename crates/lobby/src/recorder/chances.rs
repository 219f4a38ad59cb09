//! What was predicted of a running game: its chances as the teams were picked, at START, and after each change of
//! who is on which team.
//!
//! A change is noted with the sizes of the teams, which follow from the roster. Its chances follow from the weights of
//! that moment, so they come in afterwards, by a [command](crate::Command::Chances) of their own.

use serde::{Deserialize, Serialize};

use evenkeel_model::{ChanceSummary, MAX_TEAM_CHANGES, MatchChances, TeamChances, TeamChange};

/// The chances of a game so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ChanceCourse {
    /// The teams that the last BALANCE has picked since the last START. The next START takes them.
    picked: Option<TeamChances>,
    /// The course since START. `who` is the index of a timeline; the record converts it to a seat.
    told: MatchChances,
    /// Whether the chances after START, or after the last change, have not come in yet.
    due: bool,
    /// Whether there were more changes than are kept.
    full: bool,
}

impl ChanceCourse {
    /// Begins the course of a match whose teams have these sizes; `None` for a match without teams.
    pub(crate) fn start(&mut self, sizes: Option<TeamChances>) {
        *self = Self {
            due: sizes.is_some(),
            told: MatchChances {
                picked: self.picked.take().filter(|_| sizes.is_some()),
                started: sizes,
                changes: Vec::new(),
            },
            ..Self::default()
        };
    }

    /// Adds a change in play, whose chances are still missing. Only [`MAX_TEAM_CHANGES`] are kept.
    pub(crate) fn change(&mut self, change: TeamChange) {
        self.full = self.told.changes.len() >= MAX_TEAM_CHANGES;
        self.due = !self.full;
        if self.due {
            self.told.changes.push(change);
        }
    }

    /// Whether the chances after START, or after the last change, are still missing.
    pub(crate) fn is_due(&self) -> bool {
        self.due
    }

    /// Takes the chances after START or after the last change, if they are missing.
    pub(crate) fn tell(&mut self, teams: &TeamChances) {
        if std::mem::take(&mut self.due) {
            let last = self.told.changes.last_mut().map(|last| &mut last.teams);
            if let Some(last) = last.or(self.told.started.as_mut()) {
                last.clone_from(teams);
            }
        }
    }

    /// Takes the chances of the teams that BALANCE has picked, before START.
    pub(crate) fn pick(&mut self, teams: &TeamChances) {
        self.picked = Some(teams.clone());
    }

    /// What was predicted of the teams that BALANCE has picked: for the next START, or in play `in_play` before START.
    pub(super) fn picked(&self, in_play: bool) -> Option<&TeamChances> {
        let started = self.told.picked.as_ref().filter(|_| in_play);
        self.picked.as_ref().or(started)
    }

    /// The course in short: in play since START, otherwise the teams that the next START takes as picked. After more
    /// changes than are kept, the teams as they are now are not known.
    pub(crate) fn summary(&self, in_play: bool) -> ChanceSummary {
        if !in_play {
            return ChanceSummary {
                picked: self.picked.clone(),
                ..ChanceSummary::default()
            };
        }
        let last = self.told.changes.last().filter(|_| !self.full);
        ChanceSummary {
            now: last.map(|last| last.teams.clone()),
            ..self.told.summary()
        }
    }

    /// Frees the course of a match that is on disk.
    pub(super) fn forget(&mut self) {
        self.told = MatchChances::default();
    }

    /// The course for the record; `seats` has the seat of each timeline.
    pub(super) fn recorded(&self, seats: &[Option<u32>]) -> MatchChances {
        let mut told = self.told.clone();
        for change in &mut told.changes {
            let seat = |who: u32| seats.get(who as usize).copied().flatten();
            change.who = change.who.and_then(seat);
        }
        told
    }

    /// Whether what was read from the disk is possible in a game with `players` timelines.
    pub(super) fn is_sound(&self, players: usize) -> bool {
        self.told.is_sound(players) && self.picked.iter().all(TeamChances::is_sound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::TeamCause;

    fn teams(first: f64, one: u32) -> TeamChances {
        TeamChances {
            win: vec![first, 1.0 - first],
            humans: vec![one, 6],
            bots: vec![0, 0],
        }
    }

    fn sizes(one: u32) -> TeamChances {
        TeamChances {
            win: Vec::new(),
            ..teams(0.5, one)
        }
    }

    fn change(at: u64) -> TeamChange {
        TeamChange {
            at,
            cause: TeamCause::Move,
            who: Some(1),
            from: Some(0),
            to: Some(1),
            teams: sizes(7),
        }
    }

    #[test]
    fn chances_belong_to_what_came_before_them() {
        let mut course = ChanceCourse::default();
        course.tell(&teams(0.1, 1));
        course.pick(&teams(0.5, 7));
        course.start(Some(sizes(7)));
        assert_eq!(course.told.started, Some(sizes(7)));
        assert!(course.is_due() && course.summary(true).now.is_none());
        course.tell(&teams(0.6, 7));
        course.tell(&teams(0.9, 7));
        course.change(change(5));
        course.change(change(6));
        course.tell(&teams(0.7, 8));
        let told = course.recorded(&[None, Some(4)]);
        assert_eq!(told.picked, Some(teams(0.5, 7)));
        assert_eq!(told.started, Some(teams(0.6, 7)));
        let changes = told.changes.iter();
        let changes: Vec<_> = changes.map(|one| (one.who, one.teams.clone())).collect();
        assert_eq!(
            changes,
            [(Some(4), sizes(7)), (Some(4), teams(0.7, 8))],
            "the first one was followed by another before its chances came"
        );
        assert_eq!(course.summary(true).now, Some(teams(0.7, 8)));
        course.start(Some(sizes(7)));
        assert_eq!(course.told.picked, None, "it was that of the last match");
        course.pick(&teams(0.4, 7));
        course.start(None);
        assert_eq!(course.recorded(&[]), MatchChances::default(), "no teams");
    }

    #[test]
    fn only_the_first_changes_are_kept() {
        let mut course = ChanceCourse::default();
        course.start(Some(sizes(7)));
        for at in 0..3 * MAX_TEAM_CHANGES as u64 {
            course.change(change(at));
        }
        assert_eq!(course.told.changes.len(), MAX_TEAM_CHANGES);
        assert!(course.is_sound(2) && !course.is_sound(1));
        assert!(!course.is_due(), "nothing has to be predicted any more");
        assert_eq!(course.summary(true).now, None, "it is not known any more");
    }
}
