//! The two halves of an Urban Terror match with `g_swaproles`: after the first `Exit:` the teams change
//! sides, and a second round with results of its own begins.

use crate::{
    halves::{join, sides},
    item::LogItem,
    skip::Skip,
};
use evenkeel_model::{MatchRecord, other_side};

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
    /// Whether the log contains the beginning of its game. Otherwise it may be a second half.
    announced: bool,
}

/// A game that has ended, or was broken off.
pub(super) struct EndedGame {
    /// The line on which it began.
    pub(super) line: u64,
    pub(super) outcome: Result<MatchRecord, Skip>,
    pub(super) notes: Vec<LogItem>,
    /// Whether it is played in halves.
    pub(super) swaps: bool,
    /// Whether the log contains the line that announced it.
    pub(super) announced: bool,
}

/// Holds back the first half of a match until its second one is over.
#[derive(Default)]
pub(super) struct HalfTime {
    held: Option<FirstHalf>,
    /// Whether the game before was a first half that has no record, so that this one is a second half
    /// alone.
    lost: bool,
}

impl HalfTime {
    /// Takes a game that is over, and appends what is complete.
    pub(super) fn take(&mut self, mut game: EndedGame, next: Next, items: &mut Vec<LogItem>) {
        let alone = std::mem::take(&mut self.lost);
        self.lost = game.swaps && game.outcome.is_err() && next == Next::Round;
        if alone && game.swaps && game.outcome.is_ok() {
            game.outcome = Err(Skip::StartedBeforeLog);
        }
        match self.held.take() {
            None => self.take_first(game, next, items),
            Some(first) => first.followed(game, next, items),
        }
    }

    /// Notes that a game whose beginning the log lacks is over, and a round begins.
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }

    /// Takes a game before which no first half is held back.
    fn take_first(&mut self, mut game: EndedGame, next: Next, items: &mut Vec<LogItem>) {
        let EndedGame {
            line,
            swaps,
            announced,
            ..
        } = game;
        match game.outcome {
            Ok(record) if swaps && next == Next::Round => {
                self.held = Some(FirstHalf {
                    line,
                    record,
                    notes: game.notes,
                    announced,
                });
            }
            Ok(_) if swaps && !announced => {
                items.push(LogItem::skipped(line, Skip::StartedBeforeLog));
            }
            Ok(_) if swaps && next == Next::Nothing => {
                items.push(LogItem::skipped(line, Skip::Unfinished));
            }
            outcome => {
                items.append(&mut game.notes);
                items.push(LogItem::of_game(line, outcome));
            }
        }
    }
}

impl FirstHalf {
    /// Takes the game that followed this half, and appends what is complete.
    fn followed(self, mut game: EndedGame, next: Next, items: &mut Vec<LogItem>) {
        let line = game.line;
        match game.outcome {
            Err(_) if next == Next::Nothing => {
                items.push(LogItem::skipped(self.line, Skip::Unfinished));
            }
            Err(reason) => {
                // The second half was never finished: the result of the first one stands.
                self.complete(items);
                items.push(LogItem::skipped(line, reason));
            }
            Ok(second) => match self.joined(&second) {
                Some(whole) => {
                    items.extend(self.notes);
                    items.append(&mut game.notes);
                    items.push(LogItem::of_game(self.line, Ok(whole)));
                }
                None => {
                    self.complete(items);
                    items.append(&mut game.notes);
                    items.push(LogItem::of_game(line, Ok(second)));
                }
            },
        }
    }

    /// Appends this half as a match of its own, unless it may be the second half of a match whose
    /// beginning the log lacks.
    fn complete(self, items: &mut Vec<LogItem>) {
        if !self.announced {
            items.push(LogItem::skipped(self.line, Skip::StartedBeforeLog));
            return;
        }
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
            .map(MatchRecord::with_teams_exchanged)
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
