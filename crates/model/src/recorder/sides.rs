//! Recognises teams that exchange their sides in mid-game, as they do at half-time.

use super::{MatchRecorder, PlayerTimeline};
use crate::{Presence, Span, other_side};

/// The longest time, in milliseconds, between the first and the last player who changes sides at one
/// exchange.
const WINDOW: u64 = 15_000;
/// With more timelines than this, exchanges are not looked for any more. A real game has fewer.
const MAX_WATCHED: usize = 1_000;

/// The changes of team that may be the beginning of an exchange of sides.
///
/// Most players of both teams change to the other one within [`WINDOW`] at an exchange; a change of
/// single players, or a shuffle of the teams, moves about half of them at the most.
#[derive(Clone, Debug)]
struct Moves {
    /// When the first of these players left their team.
    since: u64,
    /// The players who were on either side before, with their teams.
    before: Vec<(usize, u8)>,
    /// The number of timelines before.
    players: usize,
}

/// Watches the teams of one game for exchanges of sides.
#[derive(Clone, Debug, Default)]
pub(super) struct SideWatch {
    moves: Option<Moves>,
    /// The times of the exchanges that [`MatchRecorder::reconcile_sides`] has not returned yet.
    exchanges: Vec<u64>,
}

/// Whether players who were on one side and are on another now have exchanged the sides: three of four of those who are still
/// there, and somebody of either team, are on the other one.
pub fn is_exchange(players: impl Iterator<Item = (u8, u8)>) -> bool {
    let (mut moved, mut all) = ([0usize; 2], 0);
    for (old, new) in players {
        all += 1;
        if new == other_side(old) {
            moved[usize::from(old)] += 1;
        }
    }
    moved.iter().all(|&count| count > 0) && (moved[0] + moved[1]) * 4 >= all * 3
}

/// An exchange of sides.
struct SideExchange {
    /// When the first player changed sides.
    since: u64,
    /// The number of timelines that had begun by then.
    players: usize,
}

impl MatchRecorder {
    /// A recorder of a match in which the teams may exchange their sides. What was recorded before an exchange follows
    /// the people: the record has each of them on the side of the match's end.
    pub fn with_sides() -> Self {
        Self {
            sides: Some(SideWatch::default()),
            ..Self::default()
        }
    }

    /// A recorder of a match in which the teams may exchange their sides if `sides` is set.
    pub fn with_sides_if(sides: bool) -> Self {
        match sides {
            true => Self::with_sides(),
            false => Self::default(),
        }
    }

    /// Decides whether the last changes of team were an exchange of sides, and returns the times of all exchanges since
    /// the last call. Call it before a score is attributed to a side.
    pub fn reconcile_sides(&mut self) -> Vec<u64> {
        self.decide_sides();
        let sides = self.sides.as_mut();
        sides.map_or(Vec::new(), |sides| std::mem::take(&mut sides.exchanges))
    }

    /// Decides whether the last changes of team were an exchange of sides.
    fn decide_sides(&mut self) {
        let Some(sides) = &mut self.sides else { return };
        let Some(exchange) = sides.decide(&self.players) else {
            return;
        };
        for player in &mut self.players[..exchange.players] {
            exchange.apply(player);
        }
        let before = self.events.iter_mut().filter(|e| e.at < exchange.since);
        before.for_each(|event| event.team = other_side(event.team));
    }

    /// Watches for an exchange of sides: this player leaves their team for `team` at `at`.
    pub(super) fn watch_sides(&mut self, who: usize, team: Option<u8>, at: u64) {
        let old = self.players[who].team();
        if self.sides.is_none() || old.is_none() || old == team {
            return;
        }
        if self.sides.as_ref().is_some_and(|sides| sides.is_due(at)) {
            self.decide_sides();
        }
        if let Some(sides) = &mut self.sides {
            sides.note(&self.players, at);
        }
    }
}

impl SideWatch {
    /// Notes that a player leaves a team at `at`, before the change. Call [`SideWatch::decide`] first if
    /// [`SideWatch::is_due`].
    fn note(&mut self, players: &[PlayerTimeline], at: u64) {
        if self.moves.is_some() || players.len() > MAX_WATCHED {
            return;
        }
        let teams = players.iter().map(PlayerTimeline::team).enumerate();
        let before = teams.filter_map(|(who, team)| Some((who, team.filter(|&team| team < 2)?)));
        self.moves = Some(Moves {
            since: at,
            before: before.collect(),
            players: players.len(),
        });
    }

    /// Whether the changes noted so far began too long before `at` to belong to one that happens then.
    fn is_due(&self, at: u64) -> bool {
        let moves = self.moves.as_ref();
        moves.is_some_and(|moves| at > moves.since.saturating_add(WINDOW))
    }

    /// Decides whether the changes noted since the last call were an exchange of sides.
    fn decide(&mut self, players: &[PlayerTimeline]) -> Option<SideExchange> {
        let moves = self.moves.take()?;
        let before = moves.before.iter();
        if !is_exchange(before.filter_map(|&(who, old)| Some((old, players[who].team()?)))) {
            return None;
        }
        self.exchanges.push(moves.since);
        Some(SideExchange {
            since: moves.since,
            players: moves.players,
        })
    }
}

impl SideExchange {
    /// Follows a player's team back through the exchange: what was before is on the other side.
    fn apply(&self, player: &mut PlayerTimeline) {
        let earlier = player.stays.iter_mut();
        for stay in earlier.filter(|stay| stay.span.from < self.since) {
            stay.team = other_side(stay.team);
        }
        if let Some((team, from)) = &mut player.current
            && *from < self.since
        {
            // This player did not change: they are on the other people's team from now on.
            let span = Span {
                from: *from,
                to: self.since,
            };
            let team = other_side(*team);
            player.stays.push(Presence { team, span });
            *from = self.since;
        }
    }
}
