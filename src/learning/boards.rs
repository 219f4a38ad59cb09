//! Answers from leaderboards, which are sorted when somebody asks.
//!
//! They are those of the published weights, and of the season of the latest match. Who is hidden is read from the store each
//! time.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::{
    Learning, LearningError,
    board::{Board, BoardSize, Boards, Standing},
    derive::on_blocking_thread,
    knowledge::Knowledge,
};
use crate::{
    domain::{Kind, PlayerKey, Timestamp},
    rating::divisions,
    store::{Handles, PersonRow, public_name},
};

/// The boards of a ruleset are sorted again after this many times as long as it took, at the earliest.
const REST: u32 = 20;
/// The longest time after which they are sorted again.
const LONGEST_REST: Duration = Duration::from_secs(1);
/// In how many of the latest matches players are looked for.
const LATEST: i64 = 50;
/// The most players who are named, and rulesets of a player.
const NAMED: usize = 500;
const RULESETS: usize = 50;
/// Of how many names with a text, counted once in each ruleset, players are found in all rulesets.
const FOUND: usize = 200;

/// Which part of a leaderboard to read.
#[derive(Clone, Copy, Debug)]
pub struct BoardQuery<'a> {
    /// The key of the ruleset.
    pub ruleset: &'a str,
    /// Whether to read the humans or the bots.
    pub kind: Kind,
    /// A part of the name in lower case; empty for all players.
    pub search: &'a str,
    /// Whether those who are away are listed, too. A search finds them anyway.
    pub away: bool,
    /// How many rows to skip; without a search, how many positions.
    pub skip: i64,
    /// The most rows to read.
    pub limit: i64,
}

/// A line of a leaderboard.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardRow {
    /// The player; the identity is not for the page.
    pub key: PlayerKey,
    /// Whether the player has a place.
    pub standing: Standing,
    /// The place, from 1, among those who are not hidden.
    pub place: Option<i64>,
    /// The handle of the player.
    pub handle: String,
    /// The name in the player's latest match.
    pub name: String,
    /// The weight, 0 to 100.
    pub weight: f64,
    /// The standard deviation of the weight.
    pub deviation: f64,
    /// Number of rated matches.
    pub games: i64,
    /// The end of the latest of them.
    pub last_seen: Timestamp,
    /// The name of the division as it is displayed now.
    pub division: Option<String>,
}

/// A player's standing under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingLine {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The number of players of this kind who have a place there.
    pub of: i64,
    /// When the latest match of the ruleset ended, from which the weight was learned; `None` without any.
    pub learned: Option<Timestamp>,
    /// The player's line in the leaderboard.
    pub row: BoardRow,
}

/// A player whom a search has found, with a page.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPerson {
    /// The public handle.
    pub handle: String,
    /// The kind of the player.
    pub kind: Kind,
    /// The latest name, as the game sent it.
    pub name: String,
    /// Number of rated matches in all rulesets.
    pub games: i64,
    /// The end of the latest of them.
    pub last_seen: Timestamp,
    /// The ruleset with most of them.
    pub ruleset: String,
}

/// The boards that were sorted last, by ruleset.
#[derive(Debug, Default)]
pub(super) struct SortedBoards {
    kept: Mutex<HashMap<String, Kept>>,
    /// One question at a time sorts: the others find what it has sorted.
    sorting: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct Kept {
    boards: Arc<Boards>,
    /// The edition of the standings from which they are.
    edition: u64,
    /// Until when they are good even if there are newer standings.
    rests_until: Instant,
}

impl SortedBoards {
    /// Those of these rulesets that need not be sorted again.
    fn fresh(&self, rulesets: &[String], edition: u64) -> Vec<Option<Arc<Boards>>> {
        let (kept, now) = (self.kept.lock(), Instant::now());
        let is_fresh = |kept: &&Kept| kept.edition == edition || now < kept.rests_until;
        let fresh = |ruleset| Some(kept.get(ruleset).filter(is_fresh)?.boards.clone());
        rulesets.iter().map(fresh).collect()
    }

    /// Keeps boards, but not those of rulesets that do not exist: anybody can ask for them.
    fn keep(&self, new: HashMap<String, Arc<Boards>>, edition: u64, rests_until: Instant) {
        let mut kept = self.kept.lock();
        for (ruleset, boards) in new {
            if boards.latest.is_none() {
                kept.remove(&ruleset);
                continue;
            }
            let new = Kept {
                boards,
                edition,
                rests_until,
            };
            kept.insert(ruleset, new);
        }
    }
}

impl Learning {
    /// The boards of these rulesets, in the same order.
    async fn boards(&self, rulesets: &[String]) -> Result<Vec<Arc<Boards>>, LearningError> {
        let sorted = |edition| {
            let boards = self.boards.fresh(rulesets, edition).into_iter();
            boards.collect::<Option<Vec<_>>>()
        };
        if let Some(boards) = sorted(self.edition()) {
            return Ok(boards);
        }
        let _one = self.boards.sorting.lock().await;
        // What is read after the edition is at least as new.
        let edition = self.edition();
        let fresh = self.boards.fresh(rulesets, edition);
        let old = rulesets.iter().zip(&fresh).filter(|(_, own)| own.is_none());
        let old: BTreeSet<String> = old.map(|(ruleset, _)| ruleset.clone()).collect();
        let known = self.standings().knowledge_of_boards();
        let new = on_blocking_thread(move || {
            let began = Instant::now();
            let rows = |ruleset: &String| known.as_ref().map(|known| known.rows_of(ruleset));
            let sort = |ruleset: String| {
                let boards = Boards::new(rows(&ruleset).unwrap_or_default());
                (ruleset, Arc::new(boards))
            };
            let new: HashMap<String, Arc<Boards>> = old.into_iter().map(sort).collect();
            (new, (REST * began.elapsed()).min(LONGEST_REST))
        });
        let (new, rest) = new.await?;
        let boards = rulesets.iter().zip(fresh);
        let boards = boards.filter_map(|(name, own)| own.or_else(|| new.get(name).cloned()));
        let boards = boards.collect();
        self.boards.keep(new, edition, Instant::now() + rest);
        Ok(boards)
    }

    /// The boards of one ruleset.
    async fn boards_of(&self, ruleset: &str) -> Result<Arc<Boards>, LearningError> {
        let boards = self.boards(&[ruleset.to_owned()]).await?;
        Ok(boards.into_iter().next().unwrap_or_default())
    }

    /// A part of a leaderboard, and how many players it has.
    pub async fn board(
        &self,
        query: BoardQuery<'_>,
    ) -> Result<(Vec<BoardRow>, BoardSize), LearningError> {
        let boards = self.boards_of(query.ruleset).await?;
        let (handles, kind) = (self.store.handles().await?, query.kind);
        let size = boards.of(kind).size;
        let [skip, limit] = [query.skip, query.limit].map(|n| usize::try_from(n).unwrap_or(0));
        let last = if query.away { size.all } else { size.listed };
        let (search, divisions) = (query.search.to_owned(), self.divisions());
        let rows = move || {
            let shown = Shown::new(boards.of(kind), &handles, divisions);
            if search.is_empty() {
                let end = skip
                    .saturating_add(limit)
                    .min(usize::try_from(last).unwrap_or(0));
                let listed = shown.board.at_positions(skip..end).iter().copied();
                return shown.rows(listed.filter(|at| shown.is_shown(*at)));
            }
            let found = shown.board.containing(&search).into_iter();
            shown.rows(
                found
                    .filter(|at| shown.is_shown(*at))
                    .skip(skip)
                    .take(limit),
            )
        };
        // A search reads all names.
        let rows = match query.search.is_empty() {
            true => rows()?,
            false => on_blocking_thread(rows).await??,
        };
        Ok((rows, size))
    }

    /// How many humans and how many bots the leaderboards of these rulesets have.
    pub async fn board_sizes(
        &self,
        rulesets: &[String],
    ) -> Result<Vec<[BoardSize; 2]>, LearningError> {
        let boards = self.boards(rulesets).await?;
        let size = |own: &Arc<Boards>| [Kind::Human, Kind::Bot].map(|kind| own.of(kind).size);
        Ok(boards.iter().map(size).collect())
    }

    /// The humans of a leaderboard whose name is one of these texts, or whose identity or handle is; all in lower case.
    /// At most 500, by place.
    pub async fn named(
        &self,
        ruleset: &str,
        texts: &BTreeSet<String>,
    ) -> Result<Vec<BoardRow>, LearningError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let boards = self.boards_of(ruleset).await?;
        let ids = self.store.humans_with_handles(texts).await?;
        let (handles, divisions) = (self.store.handles().await?, self.divisions());
        let texts = texts.clone();
        on_blocking_thread(move || {
            let shown = Shown::new(boards.of(Kind::Human), &handles, divisions);
            let called = shown.board.called(&texts, &ids).into_iter();
            shown.rows(called.filter(|at| shown.is_shown(*at)).take(NAMED))
        })
        .await?
    }

    /// The humans of a leaderboard who were in the latest matches of its ruleset, at most `limit`, those who played last first.
    pub async fn latest_players(
        &self,
        ruleset: &str,
        limit: i64,
    ) -> Result<Vec<BoardRow>, LearningError> {
        let boards = self.boards_of(ruleset).await?;
        let latest = self.store.latest_humans(ruleset, LATEST, limit).await?;
        let handles = self.store.handles().await?;
        let shown = Shown::new(boards.of(Kind::Human), &handles, self.divisions());
        let found = latest.iter().filter_map(|(id, last)| {
            let at = shown.board.find(id)?;
            Some((Reverse(*last), shown.board.lines[at].position, at))
        });
        let mut found: Vec<_> = found.collect();
        found.sort_unstable();
        let found = found.into_iter().map(|(.., at)| at);
        shown.rows(found.filter(|at| shown.is_shown(*at)))
    }

    /// The player with this handle, else with this identity: the human, or the bot if there is no such
    /// human. With a kind, only that. Identities that were merged lead to the player they count as.
    /// `None` for players without a page.
    pub async fn person(
        &self,
        text: &str,
        kind: Option<Kind>,
    ) -> Result<Option<PersonRow>, LearningError> {
        let persons = self.store.persons(text, kind).await?;
        let known = self.standings().knowledge_of_boards();
        let has_weight = |person: &PersonRow| {
            let known = known.as_ref();
            known.is_some_and(|known| !known.rows_of_player(&person.key).is_empty())
        };
        Ok(persons.into_iter().find(has_weight))
    }

    /// A player's standings, that with most matches first, at most 50.
    pub async fn standings_of(
        &self,
        person: &PersonRow,
    ) -> Result<Vec<StandingLine>, LearningError> {
        let known = self.standings().knowledge_of_boards();
        let rows = known.map(|known| known.rows_of_player(&person.key));
        let mut rows = rows.unwrap_or_default();
        rows.sort_by(|a, b| (Reverse(a.games), &a.ruleset).cmp(&(Reverse(b.games), &b.ruleset)));
        let rulesets: Vec<String> = rows
            .into_iter()
            .map(|row| row.ruleset)
            .take(RULESETS)
            .collect();
        let boards = self.boards(&rulesets).await?;
        let handles = self.store.handles().await?;
        let mut lines = Vec::with_capacity(rulesets.len());
        for (ruleset, boards) in rulesets.into_iter().zip(boards) {
            let board = boards.of(person.key.kind);
            let Some(at) = board.find(&person.key.id) else {
                continue; // it was sorted before the player's first match
            };
            let shown = Shown::new(board, &handles, self.divisions());
            if shown.is_shown(at) {
                lines.push(StandingLine {
                    ruleset,
                    of: board.size.placed,
                    learned: boards.latest,
                    row: shown.row(at)?,
                });
            }
        }
        Ok(lines)
    }

    /// What the players with a place under a ruleset are worth at least (the weight minus one deviation), in the order of
    /// their places: of all of them, or of `most` at equal distances.
    pub async fn worth_at_least(
        &self,
        ruleset: &str,
        kind: Kind,
        most: usize,
    ) -> Result<Vec<f64>, LearningError> {
        let boards = self.boards_of(ruleset).await?;
        let board = boards.of(kind);
        let placed = usize::try_from(board.size.placed).unwrap_or(0);
        let placed = board.at_positions(0..placed);
        let count = placed.len().min(most);
        let chosen = (0..count).map(|at| placed[at * (placed.len() - 1) / (count - 1).max(1)]);
        Ok(chosen.map(|at| board.lines[at].at_least()).collect())
    }

    /// The players of all rulesets with this text, in lower case, in their names, those with most matches first; of the first
    /// 200 names that have it.
    pub async fn find_persons(
        &self,
        text: &str,
        limit: usize,
    ) -> Result<Vec<FoundPerson>, LearningError> {
        let Some(known) = self.standings().knowledge_of_boards() else {
            return Ok(Vec::new());
        };
        let rulesets: Vec<String> = known.rulesets().into_iter().collect();
        let boards = self.boards(&rulesets).await?;
        let (handles, text) = (self.store.handles().await?, text.to_owned());
        let found = on_blocking_thread(move || {
            let kinds = boards
                .iter()
                .flat_map(|own| [own.of(Kind::Bot), own.of(Kind::Human)]);
            let keys = kinds.flat_map(|board| {
                let names = board.containing(&text).into_iter();
                names.map(|at| board.key(at))
            });
            let keys: BTreeSet<PlayerKey> = keys.take(FOUND).collect();
            let shown = keys
                .into_iter()
                .filter(|key| !handles.is_hidden(key.kind, &key.id));
            let found = shown.filter_map(|key| found_person(&known, key, &handles).transpose());
            found.collect::<Result<Vec<FoundPerson>, LearningError>>()
        });
        let mut found = found.await??;
        found.sort_by(|a, b| (Reverse(a.games), &a.handle).cmp(&(Reverse(b.games), &b.handle)));
        found.truncate(limit);
        Ok(found)
    }

    /// The divisions, and the time at which they are displayed.
    fn divisions(&self) -> (divisions::Settings, Timestamp) {
        (self.settings.history.divisions.clone(), (self.clock)())
    }
}

/// A player whom a search has found; `None` without a weight.
fn found_person(
    known: &Knowledge,
    key: PlayerKey,
    handles: &Handles,
) -> Result<Option<FoundPerson>, LearningError> {
    let rows = known.rows_of_player(&key);
    // Of those that are equal, the first ruleset.
    let latest = rows.iter().rev().max_by_key(|row| row.last_seen);
    let usual = rows.iter().rev().max_by_key(|row| row.games);
    let Some((latest, usual)) = latest.zip(usual) else {
        return Ok(None);
    };
    Ok(Some(FoundPerson {
        handle: handles.of(&key)?,
        kind: key.kind,
        name: public_name(&key, latest.name.clone()),
        games: rows.iter().map(|row| i64::from(row.games)).sum(),
        last_seen: latest.last_seen,
        ruleset: usual.ruleset.clone(),
    }))
}

/// A board as it is shown: with handles, and without those who are hidden.
struct Shown<'a> {
    board: &'a Board,
    handles: &'a Handles,
    /// The positions of those who have a place and are hidden, ascending.
    hidden: Vec<usize>,
    divisions: (divisions::Settings, Timestamp),
}

impl<'a> Shown<'a> {
    fn new(
        board: &'a Board,
        handles: &'a Handles,
        divisions: (divisions::Settings, Timestamp),
    ) -> Self {
        let hidden = handles.hidden(board.kind).filter_map(|id| board.find(id));
        let lines = hidden.map(|at| &board.lines[at]);
        let placed = lines.filter(|line| line.standing == Standing::Placed);
        let mut hidden: Vec<usize> = placed.map(|line| line.position).collect();
        hidden.sort_unstable();
        Self {
            board,
            handles,
            hidden,
            divisions,
        }
    }

    fn is_shown(&self, at: usize) -> bool {
        !self.handles.is_hidden(self.board.kind, self.board.id(at))
    }

    fn rows(&self, players: impl Iterator<Item = usize>) -> Result<Vec<BoardRow>, LearningError> {
        players.map(|at| self.row(at)).collect()
    }

    fn row(&self, at: usize) -> Result<BoardRow, LearningError> {
        let (line, key) = (self.board.lines[at], self.board.key(at));
        // Those who are hidden leave no gap.
        let hidden = self
            .hidden
            .partition_point(|hidden| *hidden < line.position);
        let place = (line.standing == Standing::Placed).then_some(line.position + 1 - hidden);
        let (settings, now) = &self.divisions;
        let division = line.rank.and_then(|rank| {
            let displayed = settings.displayed(rank, now.0.saturating_sub(line.last_seen.0));
            Some(settings.name(displayed.division)?.to_owned())
        });
        Ok(BoardRow {
            standing: line.standing,
            place: place.and_then(|place| i64::try_from(place).ok()),
            handle: self.handles.of(&key)?,
            name: self.board.name(at).to_owned(),
            weight: line.weight,
            deviation: line.deviation,
            games: line.games.into(),
            last_seen: line.last_seen,
            division,
            key,
        })
    }
}
