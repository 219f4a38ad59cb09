//! Writes and reads what was predicted of the teams of matches, and finds the match of the queue that a recorded match is,
//! so that the queue's prediction counts for it.
//!
//! Players are named by their seats, so that this table contains nothing about them.
//!
//! A hosted match is recorded with the id of the match that was formed. Servers on which the players meet
//! by themselves do not send that id: a recorded match is one that was formed if exactly the same humans
//! have played, on the same teams, for the first time since. The teams may have other numbers.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    str::FromStr,
};

use crate::{
    model::{
        Kind, MatchRecord, Outcome,
        match_chances::{ChanceSummary, MatchChances, TeamCause, TeamChances, TeamChange, versus},
        time::DAY,
    },
    store::{
        Recorded, StoreError,
        db::{
            query::{ROWS, Target, insert as insert_rows},
            *,
        },
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
async fn insert_picked(
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

/// How long a match of the queue is expected to be played, in milliseconds.
const LATEST: i64 = DAY;
/// The most matches of the queue that are compared with one recorded match: the latest.
const COMPARED: i64 = 8;

/// The id of a match that was formed, the predicted chance of team 0, and the ruleset.
type Formed = (i64, f64, String);
/// The players of each team.
type Teams = BTreeMap<i64, BTreeSet<String>>;

/// Stores the queue's predictions for those of these recorded matches that the queue has formed.
pub(super) async fn link_formed_matches(
    tx: &mut PooledConnection,
    new: &[(i64, &MatchRecord)],
) -> Result<(), StoreError> {
    for some in new.chunks(ROWS) {
        let ids: HashSet<i64> = hosted(tx, some).await?;
        let players: HashSet<String> = expected(tx, some).await?;
        for &(id, record) in some {
            let first = teams(record).and_then(|teams| first_player(&teams).cloned());
            if ids.contains(&id) || first.is_some_and(|first| players.contains(&first)) {
                count_prediction(tx, id, record).await?;
            }
        }
    }
    Ok(())
}

/// The ids of those matches that are hosted ones of the queue.
async fn hosted(
    tx: &mut PooledConnection,
    new: &[(i64, &MatchRecord)],
) -> Result<HashSet<i64>, StoreError> {
    let mut query = Sql::new(
        "SELECT match_id FROM formed_matches WHERE chance IS NOT NULL AND recorded IS NULL AND match_id IN ",
    );
    query.list(new.iter().map(|&(id, _)| id));
    let found: Vec<i64> = query.build_scalar().fetch_all(tx).await?;
    Ok(found.into_iter().collect())
}

/// Those of the matches' first players who are in a match of the queue that has not been recorded.
async fn expected(
    tx: &mut PooledConnection,
    new: &[(i64, &MatchRecord)],
) -> Result<HashSet<String>, StoreError> {
    let all = new.iter().filter_map(|(_, record)| teams(record));
    let players: HashSet<String> = all
        .filter_map(|teams| first_player(&teams).cloned())
        .collect();
    if players.is_empty() {
        return Ok(players);
    }
    let mut query = Sql::new(
        "SELECT DISTINCT s.player FROM formed_seats s JOIN formed_matches f ON f.match_id = s.match_id
         WHERE f.chance IS NOT NULL AND f.open_until IS NULL AND f.recorded IS NULL AND f.formed_at >= ",
    );
    let first_end = new.iter().map(|(_, record)| record.end).min();
    query.push_bind(first_end.map(|end| end.plus_millis(-LATEST)));
    query.push(" AND s.player IN ").list(players);
    let found: Vec<String> = query.build_scalar().fetch_all(tx).await?;
    Ok(found.into_iter().collect())
}

/// The player by whom the matches of the queue are looked for.
fn first_player(teams: &Teams) -> Option<&String> {
    teams.values().flatten().next()
}

/// Stores the queue's prediction for a recorded match, if it was formed by the queue.
async fn count_prediction(
    tx: &mut PooledConnection,
    id: i64,
    record: &MatchRecord,
) -> Result<(), StoreError> {
    let query = tuple(
        "SELECT match_id, chance, ruleset FROM formed_matches
         WHERE match_id = $1 AND chance IS NOT NULL AND recorded IS NULL",
    );
    let hosted: Option<Formed> = query.bind(id).fetch_optional(&mut *tx).await?;
    if let Some(hosted) = hosted {
        let teams = seats(tx, id).await?;
        return predict(tx, id, hosted, &teams).await;
    }
    let Some(teams) = teams(record) else {
        return Ok(());
    };
    let Some(player) = first_player(&teams) else {
        return Ok(());
    };
    let query = tuple(
        "SELECT f.match_id, f.chance, f.ruleset FROM formed_seats s
         JOIN formed_matches f ON f.match_id = s.match_id
         WHERE s.player = $1 AND f.chance IS NOT NULL AND f.open_until IS NULL AND f.recorded IS NULL
           AND f.formed_at BETWEEN $2 AND $3
         ORDER BY f.formed_at DESC LIMIT $4",
    );
    let query = query.bind(player).bind(record.end.plus_millis(-LATEST));
    let query = query.bind(record.end).bind(COMPARED);
    let formed: Vec<Formed> = query.fetch_all(&mut *tx).await?;
    for (formed, chance, ruleset) in formed {
        let predicted = seats(tx, formed).await?;
        if let Some(chance) = chance_of_first(&predicted, &teams, chance) {
            return predict(tx, id, (formed, chance, ruleset), &teams).await;
        }
    }
    Ok(())
}

/// The players of each team of a match that was formed.
async fn seats(tx: &mut PooledConnection, formed: i64) -> Result<Teams, StoreError> {
    let query = tuple("SELECT team, player FROM formed_seats WHERE match_id = $1");
    let seats: Vec<(i64, String)> = query.bind(formed).fetch_all(tx).await?;
    let mut teams = Teams::new();
    for (team, player) in seats {
        teams.entry(team).or_default().insert(player);
    }
    Ok(teams)
}

/// Stores what was predicted for a recorded match, with these teams. What BALANCE predicts for the game replaces
/// this.
async fn predict(
    tx: &mut PooledConnection,
    id: i64,
    (formed, chance, ruleset): Formed,
    teams: &Teams,
) -> Result<(), StoreError> {
    let size = |players: &BTreeSet<String>| u32::try_from(players.len()).unwrap_or(u32::MAX);
    let picked = TeamChances {
        win: vec![chance], // the others follow if there are two teams, and have none otherwise
        humans: teams.values().map(size).collect(),
        bots: vec![0; teams.len()],
    };
    insert_picked(tx, id, &ruleset, &picked).await?;
    let note = "UPDATE formed_matches SET recorded = $1 WHERE match_id = $2 AND recorded IS NULL";
    let query = sql(note).bind(id).bind(formed);
    query.execute(tx).await?;
    Ok(())
}

/// The teams of a match that was played to its end by humans alone; `None` for any other.
fn teams(record: &MatchRecord) -> Option<Teams> {
    if record.outcome == Outcome::Abandoned || !record.has_teams() {
        return None;
    }
    let mut teams = Teams::new();
    for participant in &record.participants {
        let Some(team) = participant.main_team().filter(|_| participant.millis() > 0) else {
            continue; // never on a team
        };
        if participant.key.kind != Kind::Human {
            return None;
        }
        teams
            .entry(i64::from(team))
            .or_default()
            .insert(participant.key.id.clone());
    }
    Some(teams)
}

/// The chance of the recorded team 0, if the teams are those of the prediction; `chance` is that of the
/// predicted team 0. Of more than two teams, only that team has a prediction.
fn chance_of_first(predicted: &Teams, played: &Teams, chance: f64) -> Option<f64> {
    let as_sets = |teams: &Teams| teams.values().cloned().collect::<BTreeSet<_>>();
    if as_sets(predicted) != as_sets(played) {
        return None;
    }
    let first = played.get(&0)?;
    match predicted.get(&0) == Some(first) {
        true => Some(chance),
        false => (predicted.len() == 2).then_some(1.0 - chance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Participant, PlayerKey,
        record::{Presence, Span},
    };

    fn teams(lists: &[&[&str]]) -> Teams {
        let set = |list: &&[&str]| list.iter().map(|&id| id.to_owned()).collect();
        (0..).zip(lists.iter().map(set)).collect()
    }

    /// As lists, pages and webhooks have it.
    #[test]
    fn who_is_on_two_teams_for_as_long_is_on_the_first() {
        let stay = |team, from, to| Presence {
            team,
            span: Span { from, to },
        };
        let player = |id: &str, presence| Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: id.to_owned(),
            },
            name: id.to_owned(),
            presence,
            points: None,
            kills: 0,
            deaths: 0,
            roles: Vec::new(),
            party: None,
            left: None,
        };
        let record = MatchRecord {
            scores: vec![1.0, 0.0],
            participants: vec![
                player("ann", vec![stay(0, 0, 500), stay(1, 500, 1_000)]),
                player("bob", vec![stay(1, 0, 1_000)]),
                player("cid", vec![stay(0, 7, 7)]),
            ],
            outcome: Outcome::Won(0),
            ..MatchRecord::default()
        };
        assert_eq!(super::teams(&record), Some(teams(&[&["ann"], &["bob"]])));
    }

    #[test]
    fn a_prediction_follows_its_teams() {
        let predicted = teams(&[&["a", "b"], &["c", "d"]]);
        let of = |played: &[&[&str]]| chance_of_first(&predicted, &teams(played), 0.75);
        assert_eq!(of(&[&["b", "a"], &["c", "d"]]), Some(0.75));
        assert_eq!(of(&[&["c", "d"], &["a", "b"]]), Some(0.25));
        assert_eq!(of(&[&["a", "c"], &["b", "d"]]), None, "other teams");
        assert_eq!(of(&[&["a", "b"], &["c"]]), None, "one has not played");
        assert_eq!(of(&[&["a", "b"], &["c", "d", "e"]]), None, "one more has");
        let three = teams(&[&["a"], &["b"], &["c"]]);
        let of = |played: &[&[&str]]| chance_of_first(&three, &teams(played), 0.4);
        assert_eq!(of(&[&["a"], &["c"], &["b"]]), Some(0.4));
        assert_eq!(of(&[&["b"], &["a"], &["c"]]), None);
    }
}
