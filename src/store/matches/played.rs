//! Which match of the queue a recorded match is, so that the queue's prediction counts for it.
//!
//! A hosted match is recorded with the id of the match that was formed. Servers on which the players meet
//! by themselves do not send that id: a recorded match is one that was formed if exactly the same humans
//! have played, on the same teams, for the first time since. The teams may have other numbers.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::chances;
use crate::{
    model::{DAY, Kind, MatchRecord, Outcome, TeamChances},
    store::{StoreError, db::*, sql::rows::ROWS},
};

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
    chances::insert_picked(tx, id, &ruleset, &picked).await?;
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
    use crate::model::{Participant, PlayerKey, Presence, Span};

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
