//! The views and the pages state the numbers that follow from the matches, on each kind of database. The questions of
//! `docs/reference/database.md` are run as they stand there.

use std::{fs, path::Path, sync::Arc};

use evenkeel::{
    model::{
        Kind::{self, Bot, Human},
        MatchRecord, Outcome, PlayerKey, Timestamp,
        record::{Presence, Span},
        weight::WeightEntry,
    },
    store::{
        DatabaseUrl, DerivedFrom, DerivedRows, Performance, Recorded, Recount, RulingRow, Store,
        WeightRow, postgres::PostgresUrl,
    },
};
use serde_json::{Value, json};
use sqlx::{
    AssertSqlSafe, Column, ConnectOptions, PgConnection, Row, TypeInfo, ValueRef,
    sqlite::SqliteConnectOptions,
};
use tempfile::TempDir;

use crate::common::{
    as_they_stand,
    backends::{Backend, Postgres, Sqlite, on_each_database},
    game,
    http::Pages,
    player,
    postgres::Server,
    process::evenkeel,
};

/// 2026-11-02 20:00, a Monday, in minutes since 1970.
const MONDAY: i64 = 1_793_649_600 / 60;
const DAY: i64 = 24 * 60;

/// A match of ctf: its day, map, players, score, and the forecast that team 0 wins.
type Played<'a> = (i64, &'a str, [[&'a str; 2]; 2], [f64; 2], f64);

const CTF: [Played<'_>; 6] = [
    (
        0,
        "field",
        [["ann", "bob"], ["cid", "dan"]],
        [5.0, 3.0],
        0.6,
    ),
    (
        1,
        "field",
        [["ann", "bob"], ["cid", "dan"]],
        [2.0, 2.0],
        0.7,
    ),
    (
        2,
        "ruins",
        [["ann", "cid"], ["bob", "dan"]],
        [1.0, 4.0],
        0.6,
    ),
    (
        7,
        "ruins",
        [["ann", "dan"], ["bob", "cid"]],
        [3.0, 0.0],
        0.6,
    ),
    (
        8,
        "field",
        [["ann", "cid"], ["bob", "dan"]],
        [0.0, 2.0],
        0.3,
    ),
    (
        9,
        "field",
        [["ann", "bob"], ["cid", "dan"]],
        [2.0, 2.0],
        0.5,
    ),
];

/// The weight of ann after each of them.
const ANN: [f64; 6] = [51.0, 51.5, 50.5, 52.0, 51.0, 51.25];

/// What an operator's query finds: a list of objects. Numbers have no type.
async fn query(place: &DatabaseUrl, sql: &str) -> Value {
    let sql = sql.trim().trim_end_matches(';');
    match place {
        DatabaseUrl::File(path) => query_file(path, sql).await,
        DatabaseUrl::Server(url, _) => {
            let mut connection = connect(url).await;
            let sql = format!(
                "SELECT coalesce(CAST(json_agg(row_to_json(t)) AS TEXT), '[]') FROM ({sql}) t"
            );
            let text: String = sqlx::query_scalar(AssertSqlSafe(sql))
                .fetch_one(&mut connection)
                .await
                .unwrap();
            floats(serde_json::from_str(&text).unwrap())
        }
    }
}

/// A connection past the store.
async fn connect(url: &PostgresUrl) -> PgConnection {
    let url = url.to_string();
    let name = url.rsplit('/').next().unwrap();
    Server::shared().unwrap().connect(name).await
}

async fn query_file(path: &Path, sql: &str) -> Value {
    let options = SqliteConnectOptions::new().filename(path);
    let mut connection = options.connect().await.unwrap();
    let rows = sqlx::query(AssertSqlSafe(sql.to_owned()))
        .fetch_all(&mut connection)
        .await
        .unwrap();
    let cell = |row: &sqlx::sqlite::SqliteRow, at: usize| {
        let raw = row.try_get_raw(at).unwrap();
        match raw.type_info().name() {
            _ if raw.is_null() => Value::Null,
            "INTEGER" => json!(row.get::<i64, _>(at)),
            "REAL" => json!(row.get::<f64, _>(at)),
            _ => json!(row.get::<String, _>(at)),
        }
    };
    let row = |row: &sqlx::sqlite::SqliteRow| -> Value {
        let columns = row.columns().iter().enumerate();
        columns
            .map(|(at, column)| (column.name().to_owned(), cell(row, at)))
            .collect()
    };
    floats(rows.iter().map(row).collect())
}

/// The same with every number as one with decimals.
fn floats(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(list) => list.into_iter().map(floats).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(name, value)| (name, floats(value)))
            .collect(),
        other => other,
    }
}

fn key(id: &str) -> PlayerKey {
    PlayerKey {
        kind: Human,
        id: id.into(),
    }
}

fn team(names: [&str; 2]) -> [(Kind, &str); 2] {
    names.map(|name| (Human, name))
}

fn ctf(at: usize) -> MatchRecord {
    let (day, map, teams, scores, _) = CTF[at];
    let mut record = game(MONDAY + day * DAY, &team(teams[0]), &team(teams[1]), scores);
    record.map = map.into();
    if at == 5 {
        // bob changes teams after four of the ten minutes.
        record.participants[1].presence[0].span.to = 240_000;
        record.participants[1].presence.push(Presence {
            team: 1,
            span: Span {
                from: 240_000,
                to: 600_000,
            },
        });
    }
    record
}

/// A match whose scores were not reported.
fn unscored(minute: i64, winner: u8) -> MatchRecord {
    let mut record = game(
        MONDAY + minute,
        &team(["ann", "bob"]),
        &team(["cid", "dan"]),
        [0.0, 0.0],
    );
    (record.game_type, record.map) = ("ns2".into(), "veil".into());
    record.outcome = Outcome::Won(winner);
    record
}

/// A match of four teams.
fn of_four(minute: i64, scores: [f64; 4]) -> MatchRecord {
    let mut record = game(MONDAY + minute, &[], &[], [0.0, 0.0]);
    (record.game_type, record.map) = ("four".into(), "yard".into());
    record.participants = (0u8..4)
        .map(|team| {
            player(
                Human,
                ["ann", "bob", "cid", "dan"][usize::from(team)],
                team,
                600_000,
            )
        })
        .collect();
    record.scores = scores.to_vec();
    record.outcome = MatchRecord::outcome_of(&scores);
    record
}

async fn record(store: &Store, record: &MatchRecord) -> i64 {
    match store.matches().record(record).await.unwrap() {
        Recorded::New(id) => id,
        other => panic!("{other:?}"),
    }
}

/// The ruling on a match, with the weights of the players after it.
fn ruling(id: i64, record: &MatchRecord, chance: Option<f64>, ann: f64) -> RulingRow {
    let performances = record.participants.iter().enumerate().map(|(seat, one)| {
        let team = one.presence.last().map(|stay| stay.team);
        let after = if &*one.key.id == "ann" { ann } else { 49.0 };
        let performance = Performance {
            key: one.key.clone(),
            team,
            result: match record.outcome {
                Outcome::Won(winner) => Some(f64::from(u8::from(team == Some(winner)))),
                _ => Some(0.5),
            },
            entry: Some(WeightEntry {
                before: 50.0,
                weight: after,
                deviation: 4.0,
                cause: None,
            }),
            points_for: Some(0.0),
            points_against: Some(0.0),
        };
        (seat, performance)
    });
    RulingRow {
        match_id: id,
        ruleset: record.game_type.clone(),
        unrated: None,
        ended_at: record.end,
        chance,
        causes: None,
        performances: performances.collect(),
    }
}

fn weight(id: &str, weight: f64, last_seen: Timestamp) -> WeightRow {
    WeightRow {
        ruleset: "ctf".into(),
        key: key(id),
        name: id.to_owned(),
        weight,
        deviation: 4.0,
        rank: None,
        is_pinned: false,
        games: 6,
        wins: 3,
        last_seen,
    }
}

/// Stores six matches of ctf (1 to 6), one that is too short (7), three without scores (8 to 10), and six of four
/// teams (11 to 16), with rulings and weights that a test knows.
async fn fill(store: &Arc<Store>) {
    let mut rulings = Vec::new();
    for at in 0..CTF.len() {
        let match_ = ctf(at);
        let id = record(store, &match_).await;
        rulings.push(ruling(id, &match_, Some(CTF[at].4), ANN[at]));
    }
    let last_seen = ctf(5).end;
    let mut short = ctf(0);
    (short.start, short.end) = (
        Timestamp((MONDAY + 10 * DAY) * 60_000),
        Timestamp((MONDAY + 10 * DAY) * 60_000 + 1),
    );
    short
        .participants
        .iter_mut()
        .for_each(|one| one.presence[0].span.to = 1);
    short.events.clear();
    let id = record(store, &short).await;
    rulings.push(RulingRow {
        unrated: Some("too-short".into()),
        performances: vec![],
        ..ruling(id, &short, None, 0.0)
    });
    for (minute, winner, chance) in [(0, 0, 0.6), (1, 1, 0.6), (2, 0, 0.8)] {
        let match_ = unscored(minute, winner);
        let id = record(store, &match_).await;
        rulings.push(ruling(id, &match_, Some(chance), 50.0));
    }
    for minute in 0..6 {
        let scores = match minute {
            0 => [3.0, 3.0, 1.0, 0.0],
            _ => [4.0, 1.0, 1.0, 0.0],
        };
        let match_ = of_four(minute, scores);
        let id = record(store, &match_).await;
        rulings.push(ruling(id, &match_, None, 50.0));
    }
    let rows = DerivedRows {
        from: DerivedFrom {
            matches: 16,
            last_match: 16,
            settings: "one".into(),
        },
        rulings: rulings.into(),
        weights: as_they_stand(vec![
            weight("ann", 51.25, last_seen),
            weight("bob", 49.0, last_seen),
            weight("cid", 47.0, Timestamp((MONDAY - 40 * DAY) * 60_000)),
            WeightRow {
                key: PlayerKey {
                    kind: Bot,
                    id: "sarge".into(),
                },
                ..weight("sarge", 55.5, last_seen)
            },
        ]),
        divisions: vec![],
        seasons: vec![],
        recount: Recount::default(),
    };
    assert!(
        store
            .learned()
            .replace_derived(&rows, true, None)
            .await
            .unwrap()
    );
}

/// A time as tables have it.
fn time(at: i64) -> String {
    let text = Timestamp(at).exact().unwrap();
    text.replace('T', " ").replace('Z', "")
}

/// Decisions before and in three of the matches, and a hosted match, past the store.
fn beside() -> String {
    let at = |match_id: usize| ctf(match_id - 1).start.0;
    let mut sql = String::new();
    for (match_id, before, kind, chance, answer) in [
        (1, 60_000, "balance", "0.4", r#"{"ratio":0.5}"#),
        (1, 1_000, "balance", "0.55", r#"{"ratio":0.97}"#),
        (1, -5_000, "balance", "0.1", r#"{"ratio":0.1}"#),
        (
            1,
            -6_000,
            "rebalance",
            "NULL",
            r#"{"before":0.7,"after":0.8}"#,
        ),
        (3, 1_000, "balance", "0.52", r#"{"ratio":0.99}"#),
        (5, 0, "balance", "0.45", r#"{"ratio":0.9}"#),
    ] {
        sql.push_str(&format!(
            "INSERT INTO decisions (made_at, server, ruleset, game, match_id, kind, seed, chance, decision)
             VALUES ('{}', 'test', 'ctf', {match_id}, {match_id}, '{kind}', '7', {chance}, '{{\"answer\":{answer}}}');",
            time(at(match_id) - before)
        ));
    }
    sql.push_str(
        "INSERT INTO decisions (made_at, server, ruleset, game, kind, seed, decision)
         VALUES ('1970-01-01 00:00:00', 'test', 'ctf', 9, 'balance', '7', 'no JSON');",
    );
    for (match_id, chance) in [(1, 0.55), (3, 0.52), (5, 0.45)] {
        sql.push_str(&format!(
            "INSERT INTO match_chances (match_id, step, cause, chance) VALUES ({match_id}, 0, 'picked', {chance});"
        ));
    }
    let before = |millis: i64| time(at(5) - 30_000 - millis);
    let formed = before(0);
    sql.push_str(&format!(
        "INSERT INTO formed_matches (match_id, queue, size, penalty, chance, seed, searched_at, formed_at)
         VALUES (5, 'duel', 2, 0.5, 0.45, '7', '{formed}', '{formed}');
         INSERT INTO tickets (number, owner, ticket, queue, players, content, submitted_at, state, match_id, reason,
                              changed_at, announced)
         VALUES (1, 'lobby', 't', 'duel', '[\"ann\"]', '{{}}', '{}', 'matched', 5, '', '{formed}', 1),
                (2, 'lobby', 'u', 'duel', '[\"bob\"]', '{{}}', '{}', 'queued', NULL, '', '{formed}', 1);
         INSERT INTO formed_seats (match_id, seat, team, ticket, player, accepted) VALUES (5, 0, 0, 1, 'ann', 1);
         INSERT INTO hosted_matches (match_id, queue, state, since, wait_until, tries, why, passes)
         VALUES (5, 'duel', 'over', '{}', '{formed}', 1, '', '{{}}');",
        before(95_500),
        before(9_000),
        time(at(5) + 600_000)
    ));
    sql
}

async fn execute(place: &DatabaseUrl, sql: String) {
    match place {
        DatabaseUrl::File(path) => {
            let mut connection = SqliteConnectOptions::new()
                .filename(path)
                .connect()
                .await
                .unwrap();
            sqlx::raw_sql(AssertSqlSafe(sql))
                .execute(&mut connection)
                .await
                .unwrap();
        }
        DatabaseUrl::Server(url, _) => {
            let mut connection = connect(url).await;
            let sql = sql
                .replace(", 1);", ", TRUE);")
                .replace(", 1),", ", TRUE),");
            sqlx::raw_sql(AssertSqlSafe(sql))
                .execute(&mut connection)
                .await
                .unwrap();
        }
    }
}

async fn filled(open: &impl Backend) -> (DatabaseUrl, Arc<Store>) {
    let store = open.database("one").await;
    let place = open.place("one").await;
    fill(&store).await;
    execute(&place, beside()).await;
    (place, store)
}

/// The statements of the section "Ten questions".
fn questions() -> Vec<String> {
    let page = fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/docs/reference/database.md"
    ))
    .unwrap();
    let section = page.split_once("## Ten questions\n").unwrap().1;
    let section = section.split("\n## ").next().unwrap();
    let blocks = section.split("```sql\n").skip(1);
    let blocks: Vec<String> = blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect();
    assert_eq!(section.matches("\n### ").count(), blocks.len());
    blocks
}

/// The answers to the questions, computed by hand.
fn answers() -> [Value; 10] {
    let best = |name: &str, weight: f64| json!({"name": name, "weight": weight, "games": 6.0, "wins": 3.0});
    let name = |name: &str| json!({"name": name});
    let won = |winner: f64| json!(winner);
    let played = |ended_at: &str, map: &str, scores: &str, winner: Value| json!({"ended_at": format!("2026-11-{ended_at}"), "map": map, "scores": scores, "winner": winner});
    let after = |day: &str, map: &str, outcome: &str, weight: f64| json!({"ended_at": format!("2026-11-{day} 20:10:00"), "map": map, "outcome": outcome, "weight": weight});
    let sides = |map: &str, matches: f64, first: f64| json!({"map": map, "matches": matches, "won_by_team_0": first});
    let picked = |id: f64, day: &str, map: &str, scores: &str, chance: f64| {
        json!({"match_id": id, "ended_at": format!("2026-11-{day} 20:10:00"), "map": map, "scores": scores,
               "chance_as_picked": chance})
    };
    [
        json!([best("ann", 51.25), best("bob", 49.0), best("cid", 47.0)]),
        json!([{"ruleset": "ctf", "weight": 51.25, "games": 6.0, "wins": 3.0, "last_seen": "2026-11-11 20:10:00"}]),
        json!([name("ann"), name("bob"), name("cid"), name("dan")]),
        json!([
            played("12 20:00:00.001", "field", "5:3", won(0.0)),
            played("11 20:10:00", "field", "2:2", Value::Null),
            played("10 20:10:00", "field", "0:2", won(1.0)),
            played("09 20:10:00", "ruins", "3:0", won(0.0)),
            played("04 20:10:00", "ruins", "1:4", won(1.0)),
            played("03 20:10:00", "field", "2:2", Value::Null),
            played("02 20:15:00", "yard", "4:1:1:0", won(0.0)),
            played("02 20:14:00", "yard", "4:1:1:0", won(0.0)),
            played("02 20:13:00", "yard", "4:1:1:0", won(0.0)),
            played("02 20:12:00", "yard", "4:1:1:0", won(0.0)),
        ]),
        // The first match of ctf, the short one, and two of ns2.
        json!([{"won_together": 4.0}]),
        json!([{"name": "sarge", "ruleset": "ctf", "weight": 55.5}]),
        json!([
            after("02", "field", "won", ANN[0]),
            after("03", "field", "draw", ANN[1]),
            after("04", "ruins", "lost", ANN[2]),
            after("09", "ruins", "won", ANN[3]),
            after("10", "field", "lost", ANN[4]),
            after("11", "field", "draw", ANN[5]),
        ]),
        json!([
            sides("field", 3.0, 2.0),
            sides("ruins", 2.0, 1.0),
            sides("veil", 3.0, 2.0),
            sides("yard", 5.0, 5.0),
        ]),
        json!([
            picked(1.0, "02", "field", "5:3", 0.55),
            picked(3.0, "04", "ruins", "1:4", 0.52),
            picked(5.0, "10", "field", "0:2", 0.45),
        ]),
        json!([{"name": "cid", "last_seen": "2026-09-23 20:00:00"}]),
    ]
}

async fn the_questions_of_the_manual_have_the_right_answers(open: impl Backend) {
    let (place, _store) = filled(&open).await;
    let questions = questions();
    assert_eq!(questions.len(), 10);
    for (question, answer) in questions.iter().zip(answers()) {
        assert_eq!(query(&place, question).await, answer, "{question}");
    }
}

async fn reports_have_dates_and_the_picked_teams(open: impl Backend) {
    let (place, store) = filled(&open).await;
    let sql = "SELECT match_id, chance_as_picked, gap, picked, scores FROM match_report WHERE match_id < 4 OR match_id = 8
               ORDER BY match_id";
    let row = |id: f64, chance: Option<f64>, gap: Option<f64>, picked: f64, scores: &str| json!({"match_id": id, "chance_as_picked": chance, "gap": gap, "picked": picked, "scores": scores});
    let expected = json!([
        row(1.0, Some(0.55), Some(2.0), 1.0, "5:3"),
        row(2.0, None, Some(0.0), 0.0, "2:2"),
        row(3.0, Some(0.52), Some(3.0), 1.0, "1:4"),
        row(8.0, None, None, 0.0, "0:0"),
    ]);
    assert_eq!(query(&place, sql).await, expected);
    // The program itself still reads the times.
    assert_eq!(
        store.queues().hosted_rows(9).await.unwrap()[0].since,
        ctf(4).end
    );
    let queue = &store.queues().queue_rows().await.unwrap()[0];
    assert_eq!(queue.oldest, Some(Timestamp(ctf(4).start.0 - 39_000)));
    // Scores are not cut off.
    let mut half = ctf(0);
    half.start = Timestamp((MONDAY + 20 * DAY) * 60_000);
    half.end = half.start.plus_millis(600_000);
    half.scores = vec![2.75, 3.0];
    half.outcome = Outcome::Won(1);
    half.events.clear();
    let id = record(&store, &half).await;
    let sql = format!("SELECT scores FROM match_report WHERE match_id = {id}");
    assert_eq!(query(&place, &sql).await, json!([{"scores": "2.75:3"}]));
}

/// Whoever opens the file sees few names, and a player's matches under the identity that counts.
#[tokio::test]
async fn a_database_shows_few_names() {
    let open = Sqlite::new();
    let (place, store) = filled(&open).await;
    let sql = "SELECT count(*) AS names FROM sqlite_schema
               WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'";
    let names = query(&place, sql).await[0]["names"].as_f64().unwrap();
    // Forty, and the two of experiments.
    assert!(names <= 42.0, "{names}");
    store
        .corrections()
        .merge_player(&key("dan"), &key("ann"))
        .await
        .unwrap();
    let sql = "SELECT player, name FROM player_history WHERE match_id = 1";
    let row = |player: &str, name: &str| json!({"player": player, "name": name});
    let expected = [
        row("ann", "ann"),
        row("bob", "bob"),
        row("cid", "cid"),
        row("ann", "dan"),
    ];
    assert_eq!(query(&place, sql).await, json!(expected));
}

/// The tables have the names of rulesets in lower case, and whoever writes them as the game does finds them.
#[tokio::test]
async fn a_ruleset_is_found_in_any_spelling() {
    let open = Sqlite::new();
    let (place, _store) = filled(&open).await;
    for table in [
        "weights",
        "leaderboard",
        "player_history",
        "match_report",
        "decisions",
    ] {
        let count = async |ruleset: &str| {
            let sql = format!("SELECT count(*) AS rows FROM {table} WHERE ruleset = '{ruleset}'");
            query(&place, &sql).await[0]["rows"].as_f64().unwrap()
        };
        assert!(count("ctf").await > 1.0, "{table}");
        assert_eq!(count("CTF").await, count("ctf").await, "{table}");
    }
}

on_each_database! {
    the_questions_of_the_manual_have_the_right_answers
    reports_have_dates_and_the_picked_teams
}

/// Forty matches of eight of nine players on two maps, a quarter of them draws, and three without scores. The first
/// player has the name of a formula; fay is not in the last match.
async fn season(path: &Path) {
    let names = [
        "=1+1", "bob", "cid", "dan", "eve", "fay", "gus", "hal", "ina",
    ];
    let store = evenkeel::store::open(path, true, crate::common::BUSY)
        .await
        .unwrap();
    for at in 0..40_usize {
        let own: Vec<(Kind, &str)> = (0..8)
            .map(|seat| (Human, names[(at * 2 + seat * 4 + 3) % 9]))
            .collect();
        let scores = match at % 4 {
            3 => [2.0, 2.0],
            _ => [(at * 7 % 5) as f64, (at * 3 % 7) as f64 + 0.5],
        };
        let mut match_ = game(MONDAY + at as i64 * DAY, &own[..4], &own[4..], scores);
        match_.map = ["field", "ruins"][at % 2].into();
        match_.game_type = "arena.ctf".into();
        record(&store, &match_).await;
    }
    for minute in 0..3 {
        record(&store, &unscored(minute, (minute % 2) as u8)).await;
    }
    store.close().await;
}

#[tokio::test]
async fn the_pages_state_what_the_database_has() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("evenkeel.db");
    season(&path).await;
    let place = DatabaseUrl::File(path);
    let learned = evenkeel(folder.path()).arg("rebuild").output().unwrap();
    assert!(learned.status.success(), "{learned:?}");
    let pages = Pages::start(folder.path(), &[]);
    let read = |path: &str| -> Value {
        let answer = pages.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    };
    let page = read("/v1/balance?ruleset=arena.ctf&date=2026-11-23");
    for (part, from, to) in [
        ("all", "2000", "3000"),
        ("before", "2000", "2026-11-23"),
        ("after", "2026-11-23", "3000"),
    ] {
        let counted = query(
            &place,
            &format!(
                "SELECT count(*) AS matches,
                        avg(CASE WHEN outcome = 'won' THEN (r.chance >= 0.5) = (winner = 0) END) AS favourite,
                        avg(outcome = 'draw') AS draws,
                        avg(gap) AS gap
                 FROM matches m JOIN rulings r ON r.match_id = m.id
                 WHERE r.ruleset = 'arena.ctf' AND m.ended_at BETWEEN '{from}' AND '{to}'"
            ),
        )
        .await;
        let (line, counted) = (&page[part], &counted[0]);
        for (name, column) in [
            ("matches", "matches"),
            ("favourite_won", "favourite"),
            ("draws", "draws"),
            ("mean_gap", "gap"),
        ] {
            let (is, should) = (
                line[name].as_f64().unwrap(),
                counted[column].as_f64().unwrap(),
            );
            assert!((is - should).abs() < 1e-9, "{part} {name}: {is}, {should}");
        }
    }
    assert_eq!(page["all"]["draws"], 0.25);
    let ns2 = read("/v1/balance?ruleset=ns2");
    assert_eq!(
        (&ns2["all"]["mean_gap"], &ns2["all"]["draws"]),
        (&Value::Null, &json!(0.0))
    );
    let text = pages.get("/balance?ruleset=ns2").body;
    assert!(
        !text.contains("Matches by the difference of scores"),
        "{text}"
    );
    assert!(text.contains("A draw is half a win"), "{text}");
    // A player's plot ends at the weight of now, and the tables of companions say how many are in them.
    for name in ["%3D1%2B1", "bob", "fay"] {
        let player = read(&format!("/v1/players/{name}"));
        let standings = player["standings"].as_array().unwrap();
        let standing = standings
            .iter()
            .find(|line| line["ruleset"] == "arena.ctf")
            .unwrap();
        let last = standing["history"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (&last["weight"], &last["deviation"]),
            (&standing["weight"], &standing["deviation"])
        );
        let companions = &player["companions"];
        assert_eq!(companions["with"].as_array().unwrap().len(), 5);
        let known = query(
            &place,
            &format!(
                "SELECT count(*) AS others FROM (SELECT q.person FROM performances p
                     JOIN performances q ON q.match_id = p.match_id AND q.person <> p.person AND q.team = p.team
                     WHERE p.person = (SELECT person FROM persons WHERE player = '{}')
                     GROUP BY q.person HAVING count(*) >= 3)",
                name.replace("%3D1%2B1", "=1+1")
            ),
        )
        .await;
        let others = known[0]["others"].as_f64().unwrap();
        assert!(others > 5.0, "{others}");
        assert_eq!(companions["with_of"].as_f64(), Some(others));
        let text = pages.get(&format!("/players/{name}")).body;
        assert!(text.contains(&format!("5 of {others} players")), "{text}");
    }
    let list = evenkeel(folder.path())
        .args(["weights", "--game", "arena.ctf", "--csv"])
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    assert_eq!(list.lines().count(), 10, "{list}");
    assert!(list.contains(",'=1+1,'=1+1,"), "{list}");
}
