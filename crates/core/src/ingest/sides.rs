//! Recognises teams that exchange their sides in mid-game, as they do at half-time.

use crate::domain::{Presence, Span};

/// The longest time, in milliseconds, between the first and the last player who changes sides at one
/// exchange.
const WINDOW: u64 = 15_000;
/// With more visits than this, exchanges are not looked for any more. A real game has fewer.
const MAX_WATCHED: usize = 1_000;

/// The changes of team that may be the beginning of an exchange of sides.
///
/// Most players of both teams change to the other one within [`WINDOW`] at an exchange; a change of
/// single players, or a shuffle of the teams, moves about half of them at the most.
#[derive(Debug)]
struct Moves {
    /// When the first of these players left their team.
    since: u64,
    /// The visits that were on either side before, with their teams.
    before: Vec<(usize, u8)>,
    /// The number of visits before.
    visits: usize,
}

/// Watches the teams of one game for exchanges of sides.
#[derive(Debug, Default)]
pub(super) struct SideWatch {
    moves: Option<Moves>,
    /// The times of the exchanges that [`SideWatch::take`] has not returned yet.
    exchanges: Vec<u64>,
}

/// An exchange of sides.
pub(super) struct Exchange {
    /// When the first player changed sides.
    pub(super) since: u64,
    /// The number of visits that had begun by then.
    pub(super) visits: usize,
}

/// The other one of the two sides; any other team stays as it is.
pub(super) fn other_side(team: u8) -> u8 {
    match team {
        0 => 1,
        1 => 0,
        other => other,
    }
}

impl SideWatch {
    /// Notes that a player leaves a team at `at`, before the change. `teams` are the present teams of
    /// all visits. Call [`SideWatch::settle`] first if [`SideWatch::is_due`].
    pub(super) fn note(&mut self, teams: impl ExactSizeIterator<Item = Option<u8>>, at: u64) {
        let visits = teams.len();
        if self.moves.is_some() || visits > MAX_WATCHED {
            return;
        }
        let before = teams
            .enumerate()
            .filter_map(|(visit, team)| Some((visit, team.filter(|&team| team < 2)?)))
            .collect();
        self.moves = Some(Moves {
            since: at,
            before,
            visits,
        });
    }

    /// Whether the changes noted so far began too long before `at` to belong to one that happens then.
    pub(super) fn is_due(&self, at: u64) -> bool {
        let moves = self.moves.as_ref();
        moves.is_some_and(|moves| at > moves.since.saturating_add(WINDOW))
    }

    /// Decides whether the changes noted since the last call were an exchange of sides: three of four
    /// players who are still there, and somebody of either team, are on the other side now. `team`
    /// returns the present team of a visit.
    pub(super) fn settle(&mut self, team: impl Fn(usize) -> Option<u8>) -> Option<Exchange> {
        let moves = self.moves.take()?;
        let (mut moved, mut all) = ([0usize; 2], 0);
        for &(visit, old) in &moves.before {
            let Some(new) = team(visit) else { continue };
            all += 1;
            if new == other_side(old) {
                moved[usize::from(old)] += 1;
            }
        }
        let both = moved.iter().all(|&count| count > 0);
        if !both || (moved[0] + moved[1]) * 4 < all * 3 {
            return None;
        }
        self.exchanges.push(moves.since);
        Some(Exchange {
            since: moves.since,
            visits: moves.visits,
        })
    }

    /// Puts back what [`SideWatch::take`] returned, for a later call.
    pub(super) fn restore(&mut self, exchanges: Vec<u64>) {
        self.exchanges.extend(exchanges);
    }

    /// Returns the times of the exchanges since the last call.
    pub(super) fn take(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.exchanges)
    }
}

impl Exchange {
    /// Follows a visit's team back through the exchange: what was before is on the other side.
    /// `current` is the stay that goes on.
    pub(super) fn apply(&self, stays: &mut Vec<Presence>, current: &mut Option<(u8, u64)>) {
        for stay in stays.iter_mut().filter(|stay| stay.span.from < self.since) {
            stay.team = other_side(stay.team);
        }
        if let Some((team, from)) = current
            && *from < self.since
        {
            // This player did not change: they are on the other people's team from now on.
            let span = Span {
                from: *from,
                to: self.since,
            };
            let team = other_side(*team);
            stays.push(Presence { team, span });
            *from = self.since;
        }
    }
}
