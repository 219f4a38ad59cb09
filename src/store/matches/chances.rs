//! Writes and reads what was predicted of the teams of matches.
//!
//! Players are named by their seats, so that this table contains nothing about them.

use std::{collections::HashMap, str::FromStr};

use crate::{
    model::{ChanceSummary, MatchChances, MatchRecord, TeamCause, TeamChances, TeamChange, versus},
    store::{
        Recorded, StoreError,
        db::*,
        sql::rows::{Target, insert as insert_rows},
    },
};

/// The step of the teams as they were picked.
const PICKED: i64 = 0;
/// The step of the teams as they were at START. The changes follow.
const STARTED: i64 = 1;

/// One row: the step, its cause, and the teams.
struct StepRow<'a> {
    step: i64,
    cause: &'static str,
    teams: &'a TeamChances,
    at: Option<u64>,
    seat: Option<i64>,
    from: Option<u8>,
    to: Option<u8>,
}

impl<'a> StepRow<'a> {
    /// A step before the first change.
    fn new(step: i64, cause: &'static str, teams: &'a TeamChances) -> Self {
        let at = (step == STARTED).then_some(0);
        let (seat, from, to) = (None, None, None);
        Self {
            step,
            cause,
            teams,
            at,
            seat,
            from,
            to,
        }
    }

    fn of(step: i64, change: &'a TeamChange, seats: Option<&[Option<i64>]>) -> Self {
        let seat = change.who.and_then(|who| match seats {
            None => Some(i64::from(who)),
            Some(seats) => *seats.get(who as usize)?,
        });
        Self {
            at: Some(change.at),
            seat,
            from: change.from,
            to: change.to,
            ..Self::new(step, change.cause.as_str(), &change.teams)
        }
    }

    /// The values of its columns. A queue has predicted for this ruleset, BALANCE for the one of the match.
    fn row(&self, id: i64, ruleset: Option<&str>) -> Vec<SqlValue> {
        let TeamChances { win, humans, bots } = self.teams;
        values![
            id,
            self.step,
            self.cause,
            self.at,
            self.seat,
            self.from,
            self.to,
            self.teams.of_first(),
            (win.len() > 2).then(|| versus(win)),
            stated(humans),
            stated(bots),
            ruleset,
        ]
    }
}

/// Writes what was predicted of the teams of a match that has just been recorded.
pub(in crate::store) async fn insert(
    tx: &mut PooledConnection,
    recorded: Recorded,
    record: &MatchRecord,
    announced: &MatchChances,
) -> Result<(), StoreError> {
    let id = recorded.id();
    let seats = match recorded {
        Recorded::New(_) => return insert_new(tx, &[(id, announced)]).await,
        // Its log was read first, and may list the players in another order.
        Recorded::Duplicate(id) => stored_seats(tx, id, record).await?,
    };
    let rows = steps(announced, Some(&seats)).map(|step| step.row(id, None));
    insert_rows(tx, REPLACED, "", rows).await
}

/// Writes what was predicted of the teams of new matches, by their ids.
pub(super) async fn insert_new(
    tx: &mut PooledConnection,
    all: &[(i64, &MatchChances)],
) -> Result<(), StoreError> {
    insert_rows(tx, REPLACED, "", rows(all)).await
}

/// The steps of new matches, by their ids.
pub(in crate::store) fn rows<'a>(
    all: &'a [(i64, &'a MatchChances)],
) -> impl Iterator<Item = Vec<SqlValue>> + Send {
    let all = all.iter();
    all.flat_map(|&(id, announced)| steps(announced, None).map(move |step| step.row(id, None)))
}

/// The steps of a match. The players of its changes have these seats; without any, they have those of the record.
fn steps<'a>(
    announced: &'a MatchChances,
    seats: Option<&'a [Option<i64>]>,
) -> impl Iterator<Item = StepRow<'a>> + Send {
    let picked = (announced.picked.iter()).map(|teams| StepRow::new(PICKED, "picked", teams));
    let started = (announced.started.iter()).map(|teams| StepRow::new(STARTED, "started", teams));
    let changes = (STARTED + 1..).zip(&announced.changes);
    let changes = changes.map(move |(step, change)| StepRow::of(step, change, seats));
    picked.chain(started).chain(changes)
}

/// Writes what the queue predicted of the teams of a match, unless BALANCE has picked others.
pub(super) async fn insert_picked(
    tx: &mut PooledConnection,
    id: i64,
    ruleset: &str,
    teams: &TeamChances,
) -> Result<(), StoreError> {
    let row = StepRow::new(PICKED, "picked", teams).row(id, Some(ruleset));
    insert_rows(tx, STEPS, " ON CONFLICT DO NOTHING", [row].into_iter()).await
}

/// The table of the steps, each of which is new.
pub(in crate::store) const STEPS: Target = Target::new(
    "match_chances",
    "match_id, step, cause, at_ms, seat, from_team, to_team, chance, chances, humans, bots, ruleset",
);
/// What BALANCE picked replaces what the queue had picked.
const REPLACED: Target = STEPS.replacing("match_id, step");

/// Numbers of the teams as text; `None` without any.
fn stated(numbers: &[u32]) -> Option<String> {
    (!numbers.is_empty()).then(|| versus(numbers))
}

/// The seats that the players of a record have in the stored match.
async fn stored_seats(
    tx: &mut PooledConnection,
    id: i64,
    record: &MatchRecord,
) -> Result<Vec<Option<i64>>, StoreError> {
    let query = tuple("SELECT kind, player, seat FROM match_players WHERE match_id = $1");
    let stored: Vec<(String, String, i64)> = query.bind(id).fetch_all(tx).await?;
    let stored: HashMap<(String, String), i64> = stored
        .into_iter()
        .map(|(kind, player, seat)| ((kind, player), seat))
        .collect();
    let keys = record.participants.iter().map(|p| &p.key);
    let seat = keys.map(|key| (key.kind.as_str().to_owned(), key.id.clone()));
    Ok(seat.map(|key| stored.get(&key).copied()).collect())
}

/// The columns of the teams as they were picked and as they were at START, of the tables that [`chance_tables`] joins.
macro_rules! chance_columns {
    () => {
        "kp.chance AS picked_chance, kp.chances AS picked_chances, kp.humans AS picked_humans,
         kp.bots AS picked_bots, ks.chance AS started_chance, ks.chances AS started_chances,
         ks.humans AS started_humans, ks.bots AS started_bots"
    };
}

/// Joins the teams of the match `m`, whose ruling is `r`. What a queue predicted counts only under the ruleset that it
/// was predicted for.
macro_rules! chance_tables {
    () => {
        " LEFT JOIN match_chances kp ON kp.match_id = m.id AND kp.step = 0
              AND (kp.ruleset IS NULL OR r.ruleset IS NULL OR kp.ruleset = r.ruleset)
          LEFT JOIN match_chances ks ON ks.match_id = m.id AND ks.step = 1 "
    };
}

pub(super) use {chance_columns, chance_tables};

/// The teams as they were at START, of the matches in a list that has to follow.
pub(super) const STARTED_TEAMS: &str =
    "SELECT match_id, chance AS started_chance, chances AS started_chances,
        humans AS started_humans, bots AS started_bots
    FROM match_chances WHERE step = 1 AND match_id IN ";

/// Reads these teams of a match with `teams` teams.
pub(in crate::store) fn started(
    row: &Row,
    teams: usize,
) -> Result<Option<TeamChances>, StoreError> {
    step(row, "started_", teams)
}

/// It is in the [columns](chance_columns) of a match, whose teams are those that have a score.
impl FromColumn<'_> for ChanceSummary {
    fn read(row: &Row, _: At<'_>) -> Result<Self, StoreError> {
        let scores: Vec<Option<f64>> = row.get("scores")?;
        Ok(Self {
            picked: step(row, "picked_", scores.len())?,
            started: started(row, scores.len())?,
            now: None,
        })
    }
}

/// What was predicted of the teams of a match, in short.
pub(in crate::store) async fn read_summary(
    tx: &mut PooledConnection,
    id: i64,
) -> Result<ChanceSummary, StoreError> {
    let query = sql(concat!(
        "SELECT m.scores, ",
        chance_columns!(),
        " FROM matches m LEFT JOIN rulings r ON r.match_id = m.id",
        chance_tables!(),
        "WHERE m.id = $1"
    ));
    let row = query.bind(id).fetch_optional(tx).await?;
    row.map_or(Ok(ChanceSummary::default()), |row| row.get("chances"))
}

/// The changes of the teams of a match, with what was predicted after each.
pub(super) async fn read_changes(
    tx: &mut PooledConnection,
    id: i64,
    teams: usize,
) -> Result<Vec<TeamChange>, StoreError> {
    let query = sql("SELECT * FROM match_chances WHERE match_id = $1 AND step > $2 ORDER BY step");
    let rows = query.bind(id).bind(STARTED).fetch_all(tx).await?;
    let change = |row: &Row| {
        let word: &str = row.get("cause")?;
        let cause = TeamCause::parse(word);
        Ok(TeamChange {
            at: row.get("at_ms")?,
            cause: cause.ok_or_else(|| StoreError::BadValue(format!("cause {word}")))?,
            who: row.get("seat")?,
            from: row.get("from_team")?,
            to: row.get("to_team")?,
            teams: step(row, "", teams)?.unwrap_or_default(),
        })
    };
    rows.iter().map(change).collect()
}

/// The teams of a step whose columns have this prefix, in a match with `teams` teams; `None` without such a step.
fn step(row: &Row, prefix: &str, teams: usize) -> Result<Option<TeamChances>, StoreError> {
    let text = |column: &str| -> Result<Option<String>, StoreError> {
        row.get(&format!("{prefix}{column}"))
    };
    let chance: Option<f64> = row.get(&format!("{prefix}chance"))?;
    let (humans, bots) = (
        numbers(text("humans")?.as_deref())?,
        numbers(text("bots")?.as_deref())?,
    );
    if chance.is_none() && humans.is_empty() {
        return Ok(None);
    }
    let teams = if humans.is_empty() {
        teams
    } else {
        humans.len()
    };
    let win = match (chance, numbers(text("chances")?.as_deref())?) {
        (Some(chance), none) if none.is_empty() && teams == 2 => vec![chance, 1.0 - chance],
        (_, chances) => chances,
    };
    Ok(Some(TeamChances { win, humans, bots }))
}

/// Fails if the columns with the chances of the teams, or with their sizes, cannot be read.
pub(in crate::store) fn check(
    chances: Option<&str>,
    sizes: [Option<&str>; 2],
) -> Result<(), StoreError> {
    let _: Vec<f64> = numbers(chances)?;
    for size in sizes {
        let _: Vec<u32> = numbers(size)?;
    }
    Ok(())
}

/// Reads numbers of the teams; none from NULL.
fn numbers<T: FromStr>(text: Option<&str>) -> Result<Vec<T>, StoreError> {
    let text = text.unwrap_or_default();
    let numbers = text.split(" v ").filter(|number| !number.is_empty());
    let numbers = numbers.map(str::parse).collect::<Result<_, _>>();
    numbers.map_err(|_| StoreError::BadValue(format!("numbers of teams {text}")))
}
