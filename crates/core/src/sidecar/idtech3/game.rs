//! The state of one game as the log describes it: its phase, and the score that the daemon has been
//! sent.

use std::collections::BTreeSet;

use super::slots::Slots;
use crate::{
    ingest::idtech3::{
        scoring::{KillScore, TEAMS, TeamPoints, TeamTotals},
        setup::GameSetup,
    },
    protocol::Request,
    sidecar::{
        link::Outbox,
        progress::{GamePhase, GameProgress},
    },
};

/// The time after which a game counts as in play, in milliseconds of the log's clock. A warm-up is
/// announced before that.
const OPENING: u64 = 1_000;

pub(super) struct IdTech3Game {
    pub(super) setup: GameSetup,
    pub(super) progress: GameProgress,
    /// The scores that have been sent to the daemon.
    sent: TeamTotals,
    /// Whether the log contains the final score.
    result: bool,
    /// The client numbers whose final points are in the log.
    pointed: BTreeSet<usize>,
    /// The identities that were on the server when play began, or joined later.
    pub(super) met: BTreeSet<String>,
}

impl IdTech3Game {
    pub(super) fn new(setup: GameSetup, at: u64, complete: bool) -> Self {
        Self {
            setup,
            progress: GameProgress::new(at, complete),
            sent: TeamTotals::default(),
            result: false,
            pointed: BTreeSet::new(),
            met: BTreeSet::new(),
        }
    }

    /// The teams' scores so far, red's first.
    pub(super) fn totals(&self) -> TeamTotals {
        self.sent
    }

    /// Sends what the daemon needs before the roster: the game type, mutators and map.
    pub(super) fn announce(&self, out: &mut Outbox<'_>) {
        let setup = &self.setup;
        out.announce(&setup.game_type, &setup.mutators, &setup.map);
    }

    /// Whether play must have begun by now, although the log has not announced it.
    pub(super) fn must_have_begun(&self, at: u64) -> bool {
        self.progress.phase() == GamePhase::Opening && self.progress.lasted(at) >= OPENING
    }

    /// Whether all results have been logged, or are overdue.
    pub(super) fn has_results(&self, slots: &Slots, at: u64) -> bool {
        let mut entries = slots.entries();
        let logged = (self.result || !self.setup.teams)
            && entries.all(|(number, ..)| self.pointed.contains(&number));
        let over = self.progress.phase() == GamePhase::Over;
        self.progress.is_overdue(at) || (over && logged)
    }

    /// Starts play, or starts it again. If a game starts again during play, the daemon still
    /// regards it as the same game, and its final score corrects the scores that were reported
    /// before.
    pub(super) fn start(&mut self, at: u64, slots: &Slots, out: &mut Outbox<'_>) {
        let again = self.progress.is_followed();
        self.progress.enter(GamePhase::Playing, at);
        if again {
            return;
        }
        self.sent = TeamTotals::default();
        self.met = slots
            .entries()
            .map(|(_, _, entry)| entry.id.clone())
            .collect();
        if self.progress.is_complete() {
            out.send(Request::Start);
        }
    }

    /// Handles a captured flag. `flag` is the team that owned it, as the log counts.
    pub(super) fn capture(
        &mut self,
        by: Option<usize>,
        flag: i64,
        slots: &Slots,
        out: &mut Outbox<'_>,
    ) {
        if self.progress.is_followed() {
            self.score(TeamPoints::of_capture(flag, by), slots, out);
        }
    }

    /// Handles a team's total in the log. Sends the daemon the difference to the total sent before.
    pub(super) fn total(&mut self, team: i64, total: i64, out: &mut Outbox<'_>) {
        let change = self.sent.replace(team, total);
        if let Some(TeamPoints { team, points, .. }) = change
            && self.progress.is_complete()
            && self.setup.teams
        {
            let (points, by) = (points as f64, None);
            out.send(Request::Score { team, points, by });
        }
    }

    /// Handles the final score in the log, red first.
    pub(super) fn result(&mut self, totals: [i64; TEAMS], out: &mut Outbox<'_>) {
        if self.progress.phase() == GamePhase::Over && !std::mem::replace(&mut self.result, true) {
            self.total(1, totals[0], out);
            self.total(2, totals[1], out);
        }
    }

    /// Handles a player's final points in the log.
    pub(super) fn points(
        &mut self,
        number: usize,
        points: i64,
        slots: &Slots,
        out: &mut Outbox<'_>,
    ) {
        if let Some(entry) = slots.entry(number)
            && self.progress.phase() == GamePhase::Over
            && self.pointed.insert(number)
            && self.progress.is_complete()
        {
            let (id, points) = (entry.ident(), points as f64);
            out.send(Request::Points { id, points });
        }
    }

    /// Handles a death. `killer` is `None` for the world; `team_change` is set if the game kills a
    /// player to change their team.
    pub(super) fn kill(
        &mut self,
        killer: Option<usize>,
        victim: usize,
        team_change: bool,
        slots: &Slots,
        out: &mut Outbox<'_>,
    ) {
        if !self.progress.is_followed() {
            return;
        }
        let team_of = |number: usize| slots.get(number)?.team();
        let kill = KillScore::of(&self.setup, killer, victim, team_change, team_of);
        let killer = kill.enemy_killed_by.and_then(|number| slots.entry(number));
        if let (Some(killer), Some(victim)) = (killer, slots.entry(victim)) {
            let (killer, victim) = (killer.ident(), victim.ident());
            out.send(Request::Kill { killer, victim });
        }
        if let Some(points) = kill.points {
            self.score(points, slots, out);
        }
    }

    fn score(&mut self, change: TeamPoints, slots: &Slots, out: &mut Outbox<'_>) {
        let TeamPoints { team, points, by } = change;
        if !self.setup.teams {
            return;
        }
        let Some(sent) = self.sent.0.get_mut(usize::from(team)) else {
            return;
        };
        *sent += points;
        let by = by.and_then(|number| slots.entry(number));
        out.send(Request::Score {
            team,
            points: points as f64,
            by: by.map(|entry| entry.ident()),
        });
    }
}
