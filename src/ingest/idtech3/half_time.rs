//! The two halves of an Urban Terror match with `g_swaproles`: after the first `Exit:` the teams change
//! sides, and a second round with results of its own begins.

use crate::{
    domain::MatchRecord,
    ingest::{
        halves::{exchanged, join, sides},
        item::LogItem,
        sides::other_side,
        skip::Skip,
    },
};

/// What comes after a game.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// A round without a game of its own: the second half, if the game is played in halves.
    Round,
    /// Another game, or the end of the server.
    Game,
    /// Nothing, because the log ends: its next lines may still belong to the game.
    Nothing,
}

/// A first half, with the line on which it began and what was noted about it.
struct FirstHalf {
    line: u64,
    record: MatchRecord,
    notes: Vec<LogItem>,
}

/// Holds back the first half of a match until its second one is over.
#[derive(Default)]
pub(super) struct HalfTime {
    held: Option<FirstHalf>,
}

impl HalfTime {
    /// Takes the outcome of a game that began on this line, and appends what is complete. `swaps` says
    /// whether the game is played in halves.
    pub(super) fn take(
        &mut self,
        line: u64,
        game: Result<MatchRecord, Skip>,
        mut notes: Vec<LogItem>,
        swaps: bool,
        next: Next,
        items: &mut Vec<LogItem>,
    ) {
        let Some(first) = self.held.take() else {
            return match game {
                Ok(record) if swaps && next == Next::Round => {
                    self.held = Some(FirstHalf {
                        line,
                        record,
                        notes,
                    });
                }
                Ok(_) if swaps && next == Next::Nothing => {
                    items.push(LogItem::skipped(line, Skip::Unfinished));
                }
                game => {
                    items.append(&mut notes);
                    items.push(LogItem::of_game(line, game));
                }
            };
        };
        match game {
            Err(_) if next == Next::Nothing => {
                items.push(LogItem::skipped(first.line, Skip::Unfinished));
            }
            Err(reason) => {
                // The second half was never finished: the result of the first one stands.
                first.complete(items);
                items.push(LogItem::skipped(line, reason));
            }
            Ok(second) => match first.joined(&second) {
                Some(whole) => {
                    items.extend(first.notes);
                    items.append(&mut notes);
                    items.push(LogItem::of_game(first.line, Ok(whole)));
                }
                None => {
                    first.complete(items);
                    items.append(&mut notes);
                    items.push(LogItem::of_game(line, Ok(second)));
                }
            },
        }
    }
}

impl FirstHalf {
    /// Appends this half as a match of its own.
    fn complete(self, items: &mut Vec<LogItem>) {
        items.extend(self.notes);
        items.push(LogItem::of_game(self.line, Ok(self.record)));
    }

    /// The match of both halves, with the teams of the second; `None` if the people did not change
    /// sides.
    fn joined(&self, second: &MatchRecord) -> Option<MatchRecord> {
        let first = &self.record;
        let same = first.map == second.map && first.game_type == second.game_type;
        let both = first.scores.len() == 2 && second.scores.len() == 2;
        let changed = sides(first, second).filter(|_| same && both)?;
        let second = own_scores(first, second);
        join(first, &second, changed)
            .filter(|_| changed)
            .map(exchanged)
    }
}

/// The second half with the scores of its own, if its scores contain those of the first: what was scored
/// in it shows that.
fn own_scores(first: &MatchRecord, second: &MatchRecord) -> MatchRecord {
    let mut sums = [0.0; 2];
    for event in &second.events {
        if let Some(sum) = sums.get_mut(usize::from(event.team)) {
            *sum += event.points;
        }
    }
    let mut second = second.clone();
    let before = |team: u8| first.scores.get(usize::from(other_side(team)));
    let own = |(team, total): (u8, &f64)| total - before(team).copied().unwrap_or(0.0);
    let own: Vec<f64> = (0..).zip(&second.scores).map(own).collect();
    if own == sums && second.scores != sums {
        second.scores = own;
    }
    second
}
