//! Answers from leaderboards, which are sorted when somebody asks.
//!
//! A leaderboard shows the published weights, and the season of the latest match. Hidden players are read from the
//! store each time.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::time::Instant;

use super::{
    Learning, LearningError,
    board::{BoardOfKind, BoardPlayer, BoardSize, Boards},
    derive::on_blocking_thread,
    knowledge::Knowledge,
};
use crate::{
    model::{
        Kind, PlayerKey, Timestamp,
        names::{folded, own_name},
        weight::Standing,
    },
    rating::divisions,
    store::{
        FoundPlayer, Handles, PersonRow, Player, WeightRow, as_text, as_text_or_null,
        as_thousandths,
    },
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
/// The most players whom a search finds in all rulesets.
pub const MOST_FOUND: usize = 200;

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

/// A line of a leaderboard, as pages, `/v1` and commands show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoardLine {
    /// The place, from 1, among those who are not hidden; equal players share one. `None` without a place, and where
    /// numbers are not shown.
    pub place: Option<i64>,
    /// Whether the player has a place.
    pub standing: Standing,
    /// The player, with the name of the latest match.
    pub player: Player,
    /// The weight, 0 to 100; `None` where numbers are not shown, as the deviation.
    #[serde(
        serialize_with = "as_thousandths",
        skip_serializing_if = "Option::is_none"
    )]
    pub weight: Option<f64>,
    /// The standard deviation of the weight.
    #[serde(
        serialize_with = "as_thousandths",
        skip_serializing_if = "Option::is_none"
    )]
    pub deviation: Option<f64>,
    /// The name of the division as it is displayed now.
    pub division: Option<String>,
    /// How far the player is to the next division, 0 to 1.
    #[serde(skip)]
    pub progress: Option<f64>,
    /// The percentage of the other players with a place who have a lower one; `None` without a place, and for the only
    /// player.
    #[serde(
        serialize_with = "as_thousandths",
        skip_serializing_if = "Option::is_none"
    )]
    pub percentile: Option<f64>,
    /// Number of rated matches.
    pub games: i64,
    /// The end of the latest of them.
    #[serde(serialize_with = "as_text")]
    pub last_seen: Timestamp,
    /// Whether the player is in a running game of this daemon.
    pub plays_now: bool,
    /// The player; the identity is not for visitors.
    #[serde(skip)]
    pub key: PlayerKey,
}

impl BoardLine {
    /// The line for those who may not see numbers.
    #[must_use]
    pub fn without_numbers(self) -> Self {
        Self {
            place: None,
            weight: None,
            deviation: None,
            ..self
        }
    }
}

/// A player's standing under one ruleset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StandingLine {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The number of players of this kind who have a place there.
    pub players: i64,
    /// When the latest match of the ruleset ended, from which the weight was learned; `None` without any.
    #[serde(skip)]
    pub learned: Option<Timestamp>,
    /// The player's line in the leaderboard.
    #[serde(flatten)]
    pub line: BoardLine,
}

/// A player whom a search has found, as pages, `/v1` and commands show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FoundPerson {
    /// The player, with the latest name.
    pub player: Player,
    /// Number of rated matches in all rulesets.
    pub games: i64,
    /// The end of the latest of them; `None` without any.
    #[serde(
        serialize_with = "as_text_or_null",
        skip_serializing_if = "Option::is_none"
    )]
    pub last_seen: Option<Timestamp>,
    /// The ruleset with most of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruleset: Option<String>,
}

impl From<FoundPlayer> for FoundPerson {
    /// For operators: with the identity.
    fn from(found: FoundPlayer) -> Self {
        let mut player = Player::new(found.handle, Some(found.name), found.key.kind);
        player.reveal(&found.key.id);
        Self {
            player,
            games: found.games,
            last_seen: found.last_seen,
            ruleset: found.ruleset,
        }
    }
}

/// The boards that were sorted last, by ruleset.
#[derive(Debug, Default)]
pub(super) struct SortedBoards {
    kept: Mutex<HashMap<String, KeptBoard>>,
    /// One question at a time sorts: the others find what it has sorted.
    sorting: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct KeptBoard {
    boards: Arc<Boards>,
    /// The edition of the standings from which they are.
    edition: u64,
    /// Until when they are good even if there are newer standings.
    rests_until: Instant,
}

impl SortedBoards {
    /// Those of these rulesets that have to be sorted.
    fn old(&self, rulesets: &[String], edition: u64) -> Vec<String> {
        let (kept, now) = (self.kept.lock(), Instant::now());
        let is_fresh = |own: &KeptBoard| own.edition == edition || now < own.rests_until;
        let old = |name: &&String| !kept.get(*name).is_some_and(is_fresh);
        rulesets.iter().filter(old).cloned().collect()
    }

    /// The boards of these rulesets; empty ones of those that do not exist.
    fn of(&self, rulesets: &[String]) -> Vec<Arc<Boards>> {
        let kept = self.kept.lock();
        let boards = |name| kept.get(name).map(|own| own.boards.clone());
        rulesets
            .iter()
            .map(|name| boards(name).unwrap_or_default())
            .collect()
    }
}

impl Learning {
    /// The boards of these rulesets, in the same order.
    async fn boards(&self, rulesets: &[String]) -> Result<Vec<Arc<Boards>>, LearningError> {
        if self.boards.old(rulesets, self.edition()).is_empty() {
            return Ok(self.boards.of(rulesets));
        }
        let _one = self.boards.sorting.lock().await;
        // What is read after the edition is at least as new.
        let edition = self.edition();
        let (old, known) = (self.boards.old(rulesets, edition), self.known());
        let sort = move || {
            let began = Instant::now();
            let rows = |name: &String| known.as_ref().map(|known| known.rows_of(name));
            let sort = |name: String| (Boards::new(rows(&name).unwrap_or_default()), name);
            let new: Vec<_> = old.into_iter().map(sort).collect();
            (
                new,
                Instant::now() + (REST * began.elapsed()).min(LONGEST_REST),
            )
        };
        let (new, rests_until) = on_blocking_thread(sort).await?;
        let mut kept = self.boards.kept.lock();
        for (boards, ruleset) in new {
            // Anybody can ask for a ruleset that does not exist.
            if boards.latest.is_none() {
                kept.remove(&ruleset);
                continue;
            }
            let boards = Arc::new(boards);
            kept.insert(
                ruleset,
                KeptBoard {
                    boards,
                    edition,
                    rests_until,
                },
            );
        }
        drop(kept);
        Ok(self.boards.of(rulesets))
    }

    /// The boards of one ruleset, and whom they show.
    async fn boards_of(&self, ruleset: &str) -> Result<(Arc<Boards>, BoardView), LearningError> {
        let boards = self.boards(&[ruleset.to_owned()]).await?;
        Ok((
            boards.into_iter().next().unwrap_or_default(),
            self.shown().await?,
        ))
    }

    /// A part of a leaderboard, how many players it has, and whether more come after the part.
    pub async fn board(
        &self,
        query: BoardQuery<'_>,
    ) -> Result<(Vec<BoardLine>, BoardSize, bool), LearningError> {
        let (boards, shown) = self.boards_of(query.ruleset).await?;
        let [skip, limit] = [query.skip, query.limit].map(as_count);
        let (kind, search) = (query.kind, folded(query.search));
        let size = boards.of(kind).size;
        let last = as_count(if query.away { size.all } else { size.listed });
        // A search reads all names.
        let rows = on_blocking_thread(move || {
            let board = boards.of(kind);
            if search.is_empty() {
                let limit = limit.min(last.saturating_sub(skip));
                let rows = shown.rows(board, board.at_positions(skip, limit));
                return rows.map(|rows| (rows, last > skip + limit));
            }
            let found = board.those(|line| line.has(&search) && shown.has(line));
            let has_next = found.len() > skip + limit;
            let rows = shown.rows(board, found.into_iter().skip(skip).take(limit));
            rows.map(|rows| (rows, has_next))
        });
        let (rows, has_next) = rows.await??;
        Ok((self.with_names(query.ruleset, rows).await?, size, has_next))
    }

    /// The whole leaderboard by the weights in the database, for operators: the identity is with each player, and it is the
    /// name of somebody without one. Those who are hidden are among them, without a place.
    pub async fn stored_board(
        &self,
        ruleset: &str,
        kind: Kind,
    ) -> Result<Vec<BoardLine>, LearningError> {
        let (_, lines) = self.stored(ruleset, kind).await?;
        Ok(lines)
    }

    /// Where a player stands under each ruleset by the weights in the database, for operators, as
    /// [`Self::stored_board`] has it.
    pub async fn stored_standings(
        &self,
        key: &PlayerKey,
    ) -> Result<Vec<StandingLine>, LearningError> {
        let mut standings = Vec::new();
        for row in self.store.learned().weights_of(key).await? {
            let (boards, lines) = self.stored(&row.ruleset, key.kind).await?;
            let own = lines.into_iter().find(|line| line.key == *key);
            standings.extend(own.map(|line| StandingLine {
                ruleset: row.ruleset,
                players: boards.of(key.kind).size.placed,
                learned: boards.latest,
                line,
            }));
        }
        Ok(standings)
    }

    /// The boards of a ruleset by the weights in the database, and the lines of one of them.
    async fn stored(
        &self,
        ruleset: &str,
        kind: Kind,
    ) -> Result<(Boards, Vec<BoardLine>), LearningError> {
        let mut rows = self.store.learned().weights(ruleset, kind).await?;
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        let boards = Boards::new(rows);
        let mut lines = self.shown().await?.every(boards.of(kind))?;
        for line in &mut lines {
            line.player.reveal(&line.key.id);
        }
        Ok((boards, lines))
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
    ) -> Result<Vec<BoardLine>, LearningError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (boards, shown) = self.boards_of(ruleset).await?;
        let ids = self.store.learned().humans_with_handles(texts).await?;
        let texts = texts.clone();
        let found = on_blocking_thread(move || {
            let board = boards.of(Kind::Human);
            let by_fold = texts.iter().map(|text| folded(text)).collect();
            let is_meant =
                |line: &BoardPlayer| line.is_called(&texts, &by_fold) || ids.contains(&line.key.id);
            let found = board.those(|line| is_meant(line) && shown.has(line));
            shown.rows(board, found.into_iter().take(NAMED))
        });
        self.with_names(ruleset, found.await??).await
    }

    /// The humans of a leaderboard who were in the latest matches of its ruleset, at most `limit`, those who played last first.
    pub async fn latest_players(
        &self,
        ruleset: &str,
        limit: i64,
    ) -> Result<Vec<BoardLine>, LearningError> {
        let (boards, shown) = self.boards_of(ruleset).await?;
        let board = boards.of(Kind::Human);
        let latest = self
            .store
            .learned()
            .latest_humans(ruleset, LATEST, limit)
            .await?;
        let found = latest
            .iter()
            .filter_map(|(key, last)| Some((last, board.find(key)?)));
        let mut found: Vec<_> = found.collect();
        found.sort_unstable_by_key(|(last, line)| (Reverse(*last), line.position));
        let rows = shown.rows(board, found.into_iter().map(|(_, line)| line))?;
        self.with_names(ruleset, rows).await
    }

    /// The player with this handle, else with this identity: the human, or the bot if there is no such
    /// human. With a kind, only that. Identities that were merged lead to the player they count as.
    /// `None` for players without a page.
    pub async fn person(
        &self,
        text: &str,
        kind: Option<Kind>,
    ) -> Result<Option<PersonRow>, LearningError> {
        let persons = self.store.learned().persons(text, kind).await?;
        let mut persons = persons.into_iter();
        Ok(persons.find(|person| !self.rows_of_player(&person.key).is_empty()))
    }

    /// A player's standings, that with most matches first, at most 50.
    pub async fn standings_of(
        &self,
        person: &PersonRow,
    ) -> Result<Vec<StandingLine>, LearningError> {
        let mut rows = self.rows_of_player(&person.key);
        rows.sort_by_key(|row| Reverse(row.games));
        let rulesets = rows.into_iter().map(|row| row.ruleset);
        let rulesets: Vec<String> = rulesets.take(RULESETS).collect();
        let (boards, shown) = (self.boards(&rulesets).await?, self.shown().await?);
        let mut lines = Vec::with_capacity(rulesets.len());
        for (ruleset, boards) in rulesets.into_iter().zip(boards) {
            let board = boards.of(person.key.kind);
            // Somebody who is new may not be in it yet.
            let rows = shown.rows(board, board.find(&person.key).into_iter())?;
            for line in self.with_names(&ruleset, rows).await? {
                lines.push(StandingLine {
                    ruleset: ruleset.clone(),
                    players: board.size.placed,
                    learned: boards.latest,
                    line,
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
        let boards = self.boards(&[ruleset.to_owned()]).await?;
        let board = boards.first().map(|own| own.of(kind));
        let placed = |own: &BoardOfKind| {
            own.at_positions(0, as_count(own.size.placed))
                .map(BoardPlayer::at_least)
                .collect()
        };
        let placed: Vec<f64> = board.map(placed).unwrap_or_default();
        let count = placed.len().min(most);
        let chosen = (0..count).map(|at| placed[at * (placed.len() - 1) / (count - 1).max(1)]);
        Ok(chosen.collect())
    }

    /// The players of all rulesets with this text, in lower case, in their names, those with most matches first; of the first
    /// 200 names that have it. With a kind, only that.
    pub async fn find_persons(
        &self,
        text: &str,
        kind: Option<Kind>,
        limit: usize,
    ) -> Result<Vec<FoundPerson>, LearningError> {
        let Some(known) = self.known() else {
            return Ok(Vec::new());
        };
        let rulesets: Vec<String> = known.rulesets().into_iter().collect();
        let boards = self.boards(&rulesets).await?;
        let (shown, text) = (self.shown().await?, folded(text));
        let found = on_blocking_thread(move || {
            let kinds = [Kind::Bot, Kind::Human].into_iter();
            let kinds: Vec<Kind> = kinds
                .filter(|own| kind.is_none_or(|kind| kind == *own))
                .collect();
            let boards = boards
                .iter()
                .flat_map(|own| kinds.iter().map(|kind| own.of(*kind)));
            let lines =
                boards.flat_map(|board| board.those(|line| line.has(&text) && shown.has(line)));
            let mut keys = BTreeSet::new();
            for line in lines {
                if keys.len() == MOST_FOUND {
                    break;
                }
                keys.insert(&line.key);
            }
            let found = keys.into_iter().filter_map(|key| {
                let handle = shown.handles.of(key);
                let found = |handle| {
                    let found = found_person(handle, known.rows_of_player(key))?;
                    Some((key.clone(), found))
                };
                handle.map(found).transpose()
            });
            found.collect::<Result<Vec<(PlayerKey, FoundPerson)>, _>>()
        });
        let mut found = found.await??;
        found.sort_by(|(_, a), (_, b)| {
            (b.games, &a.player.handle).cmp(&(a.games, &b.player.handle))
        });
        found.truncate(limit);
        let mut persons = Vec::with_capacity(found.len());
        for (key, mut person) in found {
            if let Some(ruleset) = (person.ruleset.as_ref()).filter(|_| person.player.is_nameless())
            {
                let unnamed = BTreeSet::from([&key]);
                let names = self.store.learned().nameless(ruleset, &unnamed);
                person
                    .player
                    .call(names.await?.remove(&key).unwrap_or_default());
            }
            persons.push(person);
        }
        Ok(persons)
    }

    /// The rows of a ruleset, in which those without a name are called by their handles.
    async fn with_names(
        &self,
        ruleset: &str,
        mut rows: Vec<BoardLine>,
    ) -> Result<Vec<BoardLine>, LearningError> {
        let unnamed = rows.iter().filter(|row| row.player.is_nameless());
        let unnamed = unnamed.map(|row| &row.key).collect();
        let mut names = self.store.learned().nameless(ruleset, &unnamed).await?;
        for row in &mut rows {
            if let Some(name) = names.remove(&row.key) {
                row.player.call(name);
            }
        }
        Ok(rows)
    }

    /// What was learned, as boards show it.
    fn known(&self) -> Option<Arc<Knowledge>> {
        self.standings().knowledge_of_boards()
    }

    fn rows_of_player(&self, key: &PlayerKey) -> Vec<WeightRow> {
        let known = self.known();
        known.map_or_else(Vec::new, |known| known.rows_of_player(key))
    }

    async fn shown(&self) -> Result<BoardView, LearningError> {
        Ok(BoardView {
            handles: self.store.learned().handles().await?,
            divisions: self.settings.history.divisions.clone(),
            now: (self.clock)(),
        })
    }
}

/// A number of rows; 0 if it is negative.
fn as_count(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// A player whom a search has found, with these weights, which are ordered by ruleset; `None` without any.
fn found_person(handle: String, rows: Vec<WeightRow>) -> Option<FoundPerson> {
    // Of those that are equal, the first ruleset.
    let latest = rows.iter().rev().max_by_key(|row| row.last_seen)?;
    let usual = rows.iter().rev().max_by_key(|row| row.games)?;
    let name = own_name(&latest.key, latest.name.clone()).unwrap_or_default();
    Some(FoundPerson {
        player: Player::new(Some(handle), Some(name), latest.key.kind),
        games: rows.iter().map(|row| i64::from(row.games)).sum(),
        last_seen: Some(latest.last_seen),
        ruleset: Some(usual.ruleset.clone()),
    })
}

/// How boards are shown: with handles and divisions, and without those who are hidden.
struct BoardView {
    handles: Handles,
    divisions: divisions::Settings,
    now: Timestamp,
}

impl BoardView {
    fn has(&self, line: &BoardPlayer) -> bool {
        !self.handles.hidden.contains(&line.key)
    }

    /// These players, without those who are hidden, who leave no gap in the places.
    fn rows<'a>(
        &self,
        board: &BoardOfKind,
        lines: impl Iterator<Item = &'a BoardPlayer>,
    ) -> Result<Vec<BoardLine>, LearningError> {
        let hidden = self.handles.hidden.iter().filter_map(|key| board.find(key));
        let mut hidden: Vec<usize> = hidden.map(|line| line.position).collect();
        hidden.sort_unstable();
        let place = |line: &BoardPlayer| {
            let before = hidden.partition_point(|hidden| *hidden < line.first);
            (line.first + 1 - before) as i64
        };
        let lines = lines.filter(|line| self.has(line));
        lines
            .map(|line| self.row(line, place(line), board.size.placed))
            .collect()
    }

    /// All players in their order. Those who are hidden are among them, without a place.
    fn every(&self, board: &BoardOfKind) -> Result<Vec<BoardLine>, LearningError> {
        let whole = as_count(board.size.all);
        let mut shown = self
            .rows(board, board.at_positions(0, whole))?
            .into_iter()
            .peekable();
        let every = board.at_positions(0, whole).map(|line| {
            match shown.next_if(|own| own.key == line.key) {
                Some(own) => Ok(own),
                None => Ok(BoardLine {
                    place: None,
                    ..self.row(line, 0, board.size.placed)?
                }),
            }
        });
        every.collect()
    }

    /// The line of a player who has this place, if any, with `placed` players who have one.
    fn row(&self, line: &BoardPlayer, place: i64, placed: i64) -> Result<BoardLine, LearningError> {
        let away = self.now.0.saturating_sub(line.last_seen.0);
        let rank = line.rank.map(|rank| self.divisions.displayed(rank, away));
        let division = rank.and_then(|rank| self.divisions.name(rank.division));
        let place = (line.standing == Standing::Placed).then_some(place);
        let handle = self.handles.of(&line.key)?;
        Ok(BoardLine {
            standing: line.standing,
            place,
            player: Player::new(
                Some(handle),
                Some(line.name.clone().unwrap_or_default()),
                line.key.kind,
            ),
            weight: Some(line.weight),
            deviation: Some(line.deviation),
            percentile: place
                .filter(|_| placed > 1)
                .map(|place| 100.0 * (placed - place).max(0) as f64 / (placed - 1) as f64),
            games: line.games.into(),
            last_seen: line.last_seen,
            division: division.map(str::to_owned),
            progress: rank.map(|rank| rank.progress),
            plays_now: false,
            key: line.key.clone(),
        })
    }
}
