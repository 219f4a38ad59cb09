//! What was learned, as rows: rulings, performances, weights, divisions, the persons behind them, and notices that a
//! correction of history has moved a weight without a match of its player.
//!
//! [`Learned`] replaces these rows, and does not depend on how they are made. Many of them wait in a [`RowSpool`].

pub(in crate::store) mod persons;
pub(in crate::store) mod read;
pub(in crate::store) mod rewrite;

use std::{
    borrow::Cow,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
};

use evenkeel_model::worded;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    model::{
        PlayerKey, Timestamp,
        match_chances::Causes,
        weight::{Rank, WeightEntry},
    },
    store::{
        Store, StoreError,
        db::{
            query::{ROWS, with_given},
            *,
        },
        learned::persons::is_forgotten,
        state,
    },
};

/// What was learned.
#[derive(Clone, Copy, Debug)]
pub struct Learned<'a>(&'a Store);

impl Store {
    /// What was learned.
    pub fn learned(&self) -> Learned<'_> {
        Learned(self)
    }
}

columns! {
    /// The weight of one player under one ruleset.
    #[derive(Clone, Debug, PartialEq)]
    pub struct WeightRow {
        /// The key of the ruleset.
        pub ruleset: String,
        /// The player: kind (human or bot) and id.
        pub key: PlayerKey,
        /// The name in the player's latest match.
        pub name: String,
        /// The weight, 0 to 100; 50 is the average seat.
        pub weight: f64,
        /// The standard deviation in units of the weight; 0 if the rating system has none.
        pub deviation: f64,
        /// The division that was reached; `None` for bots, while the player is calibrating, and without
        /// divisions.
        pub rank: Option<Rank>,
        /// Number of rated matches behind the weight.
        pub games: u32,
        /// How many of these the player's team has won.
        pub wins: u32,
        /// The end of the latest of these matches.
        pub last_seen: Timestamp,
        /// Whether the operator has set the weight.
        pub is_pinned: bool,
    }
}

/// New weights.
#[derive(Clone, Debug, Default)]
pub struct NewWeights {
    /// What the derived tables were made from when they had the weights to which these are added; `None` if these are all.
    pub since: Option<DerivedFrom>,
    /// The weights that are new, or others than before.
    pub rows: Vec<WeightRow>,
    /// Rulesets and players without a weight now.
    pub gone: Vec<(String, PlayerKey)>,
    /// Players who have another name in all rulesets.
    pub names: Vec<(PlayerKey, String)>,
    /// Of each ruleset with other divisions: its key, and the weights at which the progress in each is 0 and 1.
    pub spans: Vec<(String, Vec<(f64, f64)>)>,
}

columns! {
    /// A division, with the settings that views need.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DivisionRow {
        /// The name that players see.
        pub name: String,
        /// Days without a match after which the displayed division falls.
        pub decay_after_days: u32,
        /// The number of further days in which it falls by one division; 0 if it never falls.
        pub decay_days: u32,
    }
}

/// The ruling on one match: whether it is rated, and what its participants did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RulingRow {
    /// The match that is ruled on.
    pub match_id: i64,
    /// The key of the ruleset that the match belongs to.
    pub ruleset: String,
    /// The code of the reason if the match is not rated; `None` if it is rated.
    pub unrated: Option<Cow<'static, str>>,
    /// When the match ended.
    pub ended_at: Timestamp,
    /// The chance that team 0 wins, as predicted from earlier matches; `None` without two teams.
    pub chance: Option<f64>,
    /// What may have made it one-sided; `None` if it is not rated or has no teams.
    pub causes: Option<Causes>,
    /// What each participant did, with the seat; empty if the match is not rated.
    pub performances: Vec<(usize, Performance)>,
}

/// What a player did in a rated match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Performance {
    /// The identity that the match counts for.
    pub key: PlayerKey,
    /// The team that the player was on for longest; `None` in a game without teams.
    pub team: Option<u8>,
    /// 1 if that team won, 0 if another did, 0.5 for a draw; `None` without a result.
    pub result: Option<f64>,
    /// What the match has entered into the player's account; `None` if it does not count for the player.
    pub entry: Option<WeightEntry>,
    /// Points scored by the player's teams while they were on them; kills in a game without teams. `None`
    /// if the scores are not known.
    pub points_for: Option<f64>,
    /// Points scored against the player's teams while they were on them; deaths in a game without
    /// teams.
    pub points_against: Option<f64>,
}

columns! {
    /// The input that the derived tables were made from.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct DerivedFrom {
        /// Number of matches, rated or not.
        pub matches: i64,
        /// The highest id among the matches.
        pub last_match: i64,
        /// The key of the settings and the operator's overrides; different settings have different
        /// keys.
        pub settings: String,
    }
}

/// From which matches the derived tables were made: their number and the settings.
const LEARNED: &str = "learned";

/// From which matches the derived tables were made: a row that is there once they have been written.
fn derived_from() -> Query<DerivedFrom> {
    tuple(
        "SELECT a.number AS matches, b.number AS last_match, a.text AS settings
         FROM state a JOIN state b ON b.name = 'learned_to' WHERE a.name = 'learned'",
    )
}

/// New content for the derived tables.
#[derive(Debug)]
pub struct DerivedRows {
    /// The input that the rows were made from.
    pub from: DerivedFrom,
    /// Rulings on all matches, or only on those that the tables do not contain yet.
    pub rulings: RowSpool<RulingRow>,
    /// The weights that differ.
    pub weights: NewWeights,
    /// The divisions, the lowest first.
    pub divisions: Vec<DivisionRow>,
    /// The instants at which seasons begin, in any order.
    pub seasons: Vec<Timestamp>,
    /// What was corrected, so that players whose weights it moves get a notice.
    pub recount: Recount,
}

impl DerivedRows {
    /// With at most this many rulings and weights, one transaction writes them.
    const FEW: usize = 128;

    /// Whether they are so few that one transaction writes them, unless they are all.
    pub fn is_few(&self) -> bool {
        self.rulings.is_few(Self::FEW) && self.weights.rows.len() <= Self::FEW
    }
}

worded! {
    /// What was corrected.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RecountCause {
        /// Matches were made void.
        Void = "void",
        /// Void matches were made valid again.
        Valid = "valid",
        /// Matches count that were not rated because they had too much new.
        Admitted = "admitted",
        /// An identity counts as another one.
        Merge = "merge",
        /// An identity counts as itself again.
        Split = "split",
        /// Players start at other weights.
        StartWeight = "start-weight",
        /// A log contains other matches than it did when it was read before.
        Log = "log",
        /// The settings are others, or the version of the program.
        Settings = "settings",
        /// A match arrived late.
        LateMatch = "late-match",
    }
}

/// What was corrected since the derived tables were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Correction {
    /// Nothing: all new matches came in order.
    #[default]
    None,
    /// Late matches, if some are among the new ones.
    IfLate,
    /// This.
    Known(RecountCause),
}

/// What is needed to write notices.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recount {
    /// What was corrected.
    pub correction: Correction,
    /// The time now.
    pub at: Timestamp,
    /// The number of changes of players and matches with which the rows were made. If it is another one by now, somebody
    /// may have been forgotten, whom no notice may name.
    pub changes: i64,
}

/// A notice: the weight of a player as it was counted before a correction, and as it was counted after it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecountRow {
    /// The key of the ruleset.
    pub ruleset: String,
    /// When it was counted again.
    pub at: Timestamp,
    /// What was corrected; `None` if a newer version has noted it.
    pub cause: Option<RecountCause>,
    /// The weight before.
    pub then: f64,
    /// The weight after.
    pub now: f64,
}

/// The most rows that memory holds.
const IN_MEMORY: usize = 4_096;

/// Rows that wait until they are written. Memory holds the latest ones, and a temporary file those before them, because
/// there may be as many as there are matches or players. The file is gone when this value is.
#[derive(Debug)]
pub struct RowSpool<T> {
    file: Option<File>,
    /// The lengths of the parts in the file, in bytes.
    parts: Vec<usize>,
    latest: Vec<T>,
    /// Whether the file could not be made or written.
    has_failed: bool,
}

impl<T: Clone + Serialize + DeserializeOwned> RowSpool<T> {
    /// Adds a row after the others.
    pub fn push(&mut self, row: T) {
        self.latest.push(row);
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.latest.is_empty()
    }

    /// Whether there are at most so many, all of them in memory.
    pub fn is_few(&self, most: usize) -> bool {
        self.parts.is_empty() && self.latest.len() <= most
    }

    /// Those in memory, which are the latest ones.
    pub fn latest(&self) -> &[T] {
        &self.latest
    }

    /// Removes all of them.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Moves the rows from memory to the file if they are many. They stay in memory if there can be no such file.
    pub fn spill(&mut self) {
        if self.latest.len() < IN_MEMORY || self.has_failed {
            return;
        }
        if let Err(error) = self.write() {
            tracing::warn!(%error, "rows stay in memory until they are written: a temporary file failed");
            self.has_failed = true;
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let bytes = postcard::to_stdvec(&self.latest).map_err(io::Error::other)?;
        let file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile()?,
        };
        // Readers have moved on in the file, perhaps not to its end.
        let end: usize = self.parts.iter().sum();
        let file = self.file.insert(file);
        file.seek(SeekFrom::Start(end as u64))?;
        file.write_all(&bytes)?;
        self.parts.push(bytes.len());
        self.latest.clear();
        Ok(())
    }

    /// The rows in parts that fit into memory, the first ones first.
    pub fn parts(&self) -> impl Iterator<Item = io::Result<Cow<'_, [T]>>> {
        let mut at = 0;
        let in_file = self.parts.iter().map(move |&length| {
            let mut file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
            file.seek(SeekFrom::Start(at))?;
            at += length as u64;
            let mut bytes = vec![0; length];
            file.read_exact(&mut bytes)?;
            let part: Vec<T> = postcard::from_bytes(&bytes).map_err(io::Error::other)?;
            Ok(Cow::Owned(part))
        });
        in_file.chain([Ok(Cow::Borrowed(&self.latest[..]))])
    }
}

impl<T> Default for RowSpool<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for RowSpool<T> {
    fn from(latest: Vec<T>) -> Self {
        Self {
            file: None,
            parts: Vec::new(),
            latest,
            has_failed: false,
        }
    }
}

/// A match that was recorded later than this after its end is late: the ends of matches of several servers may come in
/// another order.
const LATE: i64 = 3_600_000;

/// Writes the notices, before the tables get the new weights and after they got the new performances. What is counted of
/// the matches up to the last one of the former weight is compared, since the new weight may also be made from later ones.
/// A weight that an operator has set is not counted.
const NOTICES: &str = "INSERT INTO recounts (ruleset, kind, player, recounted_at, cause, weight_then, weight_now)
     SELECT in_ruleset, of_kind, who, counted_at, cause, weight_then, weight_now
     FROM (SELECT given.in_ruleset, given.of_kind, given.who, given.counted_at, given.cause, was.weight AS weight_then,
               CASE WHEN given.goes_on > 0 OR given.last_seen > was.last_seen THEN
                   (SELECT f.weight FROM persons o
                    JOIN performances f ON f.person = o.person
                    JOIN rulings r ON r.match_id = f.match_id
                    WHERE o.kind = was.kind AND o.player = was.player AND r.ended_at <= was.last_seen
                      AND r.ruleset = was.ruleset AND f.weight IS NOT NULL
                    ORDER BY f.ended_ms DESC, f.match_id DESC LIMIT 1)
               ELSE given.weight END AS weight_now
           FROM {given}
           JOIN weights was ON was.ruleset = given.in_ruleset AND was.kind = given.of_kind
               AND was.player = given.who AND NOT was.pinned) AS counted
     WHERE abs(weight_now - weight_then) >= 0.05
     ON CONFLICT (player, kind, {ruleset}, recounted_at)
     DO UPDATE SET cause = excluded.cause, weight_now = excluded.weight_now";

/// What notices say of weights that are counted again.
#[derive(Clone, Copy)]
pub(in crate::store) struct RecountNotice {
    pub cause: RecountCause,
    /// Whether a season has begun since the former weights.
    pub goes_on: bool,
}

/// What was corrected according to the new rows; `None` if nothing was, or if that is noted already.
pub(in crate::store) async fn cause(
    tx: &mut PooledConnection,
    derived: &DerivedRows,
) -> Result<Option<RecountCause>, StoreError> {
    let Recount { correction, at, .. } = derived.recount;
    match correction {
        Correction::None => Ok(None),
        Correction::Known(cause) => Ok(Some(cause)),
        Correction::IfLate => {
            let late = has_late(tx, derived, at).await?;
            Ok(late.then_some(RecountCause::LateMatch))
        }
    }
}

/// Whether a match without a ruling in the tables, which ended long ago, comes before one with a ruling.
async fn has_late(
    tx: &mut PooledConnection,
    derived: &DerivedRows,
    at: Timestamp,
) -> Result<bool, StoreError> {
    let mut is_after_new = false;
    for part in derived.rulings.parts() {
        for some in part.map_err(StoreError::Temporary)?.chunks(ROWS) {
            let mut query = Sql::new("SELECT match_id FROM rulings WHERE match_id IN ");
            query.list(some.iter().map(|ruling| ruling.match_id));
            let known = query.build().fetch_all(&mut *tx).await?;
            let known = known.iter().map(|row| row.get("match_id"));
            let known: Vec<i64> = known.collect::<Result<_, _>>()?;
            let is_old = |ruling: &RulingRow| at.0 - ruling.ended_at.0 > LATE;
            for ruling in some {
                match known.contains(&ruling.match_id) {
                    true if is_after_new => return Ok(true),
                    true => {}
                    false => is_after_new |= is_old(ruling),
                }
            }
        }
    }
    Ok(false)
}

/// Whether nobody was forgotten since the rows were made, and nothing else was changed.
async fn is_current(tx: &mut PooledConnection, recount: Recount) -> Result<bool, StoreError> {
    let changes = state::number(tx, state::PLAYER_CHANGES).await?;
    Ok(changes == recount.changes)
}

/// Whether a season has begun since the weights in the table, which has moved the new ones, too.
async fn goes_on(tx: &mut PooledConnection, derived: &DerivedRows) -> Result<bool, StoreError> {
    let before = scalar("SELECT max(last_seen) FROM weights");
    let before: Option<Timestamp> = before.fetch_one(tx).await?;
    let now = derived.weights.rows.iter().map(|row| row.last_seen).max();
    let has_begun = |season: &Timestamp| before < Some(*season) && Some(*season) <= now;
    Ok(derived.seasons.iter().any(has_begun))
}

/// Writes the notices of a correction at this time, before the weights are written.
pub(in crate::store) async fn write_notices(
    tx: &mut PooledConnection,
    at: Timestamp,
    new: &NewWeights,
    RecountNotice { cause, goes_on }: RecountNotice,
) -> Result<(), StoreError> {
    let is_counted = |row: &&WeightRow| !row.is_pinned && !is_forgotten(&row.key, &row.name);
    let given = new.rows.iter().filter(is_counted).map(|row| {
        values![
            &row.ruleset,
            row.key.kind,
            &row.key.id,
            row.weight,
            row.last_seen,
            at,
            cause.as_str(),
            i64::from(goes_on)
        ]
    });
    let columns = "in_ruleset text, of_kind text, who text, weight double precision, last_seen text, counted_at text,
         cause text, goes_on bigint";
    with_given(tx, columns, NOTICES, given).await?;
    Ok(())
}

/// Gives the notices of a player to the identity that the player counts as from now on.
pub(in crate::store) async fn merge_notices(
    tx: &mut PooledConnection,
    player: &PlayerKey,
    into: &PlayerKey,
) -> Result<(), StoreError> {
    for statement in [
        "INSERT INTO recounts (ruleset, kind, player, recounted_at, cause, weight_then, weight_now)
         SELECT ruleset, kind, CAST($3 AS TEXT), recounted_at, cause, weight_then, weight_now FROM recounts
         WHERE kind = $1 AND player = $2 AND player <> $3 ON CONFLICT DO NOTHING",
        "DELETE FROM recounts WHERE kind = $1 AND player = $2 AND player <> $3",
    ] {
        let query = sql(statement).bind(player.kind.as_str());
        query.bind(&player.id).bind(&into.id).execute(&mut *tx).await?;
    }
    Ok(())
}

impl Learned<'_> {
    /// The latest notices to a player, the last one first.
    pub async fn recounts_of(
        self,
        player: &PlayerKey,
        most: i64,
    ) -> Result<Vec<RecountRow>, StoreError> {
        let query = tuple(
            "SELECT ruleset, recounted_at, cause, weight_then, weight_now FROM recounts
             WHERE player = $1 AND kind = $2 ORDER BY recounted_at DESC, ruleset LIMIT $3",
        );
        let query = query.bind(&player.id).bind(player.kind.as_str());
        query.bind(most).fetch_all(&self.0.pages).await
    }
}

impl FromRow for RecountRow {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            ruleset: row.get("ruleset")?,
            at: row.get("recounted_at")?,
            cause: RecountCause::parse(row.get("cause")?),
            then: row.get("weight_then")?,
            now: row.get("weight_now")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_back() {
        for cause in RecountCause::ALL {
            assert_eq!(RecountCause::parse(cause.as_str()), Some(cause));
        }
        assert_eq!(RecountCause::LateMatch.as_str(), "late-match");
        assert_eq!(RecountCause::parse(""), None);
    }

    #[test]
    fn rows_in_the_file_and_in_memory_are_read_in_their_order_as_often_as_wanted() {
        let row = |number: u64| (number.to_string(), f64::from_bits(number));
        let all: Vec<(String, f64)> = (0..3 * IN_MEMORY as u64 + 3).map(row).collect();
        let read = |spool: &RowSpool<(String, f64)>| -> Vec<(String, f64)> {
            let parts = spool.parts().map(Result::unwrap);
            parts.flat_map(Cow::into_owned).collect()
        };
        let mut spool = RowSpool::default();
        assert!(spool.is_empty());
        for (number, one) in all.iter().enumerate() {
            spool.push(one.clone());
            spool.spill();
            if number == 2 * IN_MEMORY {
                // Who reads some of it, and then adds more, replaces nothing.
                assert_eq!(*spool.parts().next().unwrap().unwrap(), all[..IN_MEMORY]);
                assert_eq!(read(&spool), all[..=number]);
                assert_eq!(*spool.parts().next().unwrap().unwrap(), all[..IN_MEMORY]);
            }
        }
        assert_eq!((spool.parts.len(), spool.latest.len()), (3, 3));
        assert_eq!(read(&spool), all);
        spool.clear();
        assert!(spool.is_empty());
        assert!(spool.parts().all(|part| part.unwrap().is_empty()));
    }

    #[test]
    fn without_a_file_rows_stay_in_memory() {
        let mut spool = RowSpool::from(vec![7; IN_MEMORY]);
        spool.has_failed = true;
        spool.spill();
        assert_eq!(*spool.parts().next().unwrap().unwrap(), [7; IN_MEMORY]);
        assert_eq!(spool.parts().count(), 1);
    }
}
