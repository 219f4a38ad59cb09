//! Who is who: clan tags in names, handles of earlier forms of an identity, and bots among themselves.

use std::path::Path;

use evenkeel::{
    model::{Kind, PlayerKey, Ruleset, text::to_hex, win_model::LineupPlayer},
    server::Service,
    store::Store,
};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::json;
use sha2::Sha256;
use sqlx::{ConnectOptions, Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;

use super::{ingest, stored, tf2, write};
use crate::common::{self, Daemon, api::Api, http::Pages, process::run, until, weights};

const STRIP: &str = "[identity]\nstrip = ['\\[.*?\\]', '^\\w{2,4}\\|']";

/// A log of Quake III, which knows people by their names.
fn quake(day: u32, ann: &str, bob: &str) -> String {
    let mut log = String::from(
        "  0:00 InitGame: \\g_gametype\\4\\mapname\\q3ctf1\\gamename\\baseq3\\timelimit\\10\\capturelimit\\8",
    );
    log += &format!("\\g_timestamp\\2026-11-{day:02} 20:00:00\n");
    for (number, name) in [ann, "cid", bob, "dan"].iter().enumerate() {
        let team = 1 + number / 2;
        log += &format!("  0:00 ClientConnect: {number}\n");
        log += &format!("  0:00 ClientUserinfoChanged: {number} n\\{name}\\t\\{team}\\model\\x\n");
        log += &format!("  0:00 ClientBegin: {number}\n");
    }
    log + " 10:00 Exit: Timelimit hit.\n 10:00 red:1  blue:3\n 10:02 ShutdownGame:\n"
}

fn human(id: &str) -> PlayerKey {
    PlayerKey {
        kind: Kind::Human,
        id: id.to_owned(),
    }
}

/// Identities of humans, with the games of each.
async fn games(store: &Store) -> Vec<(String, u32)> {
    let rows = weights(store).await.into_iter();
    let mut all: Vec<_> = rows.map(|row| (row.key.id, row.games)).collect();
    all.sort_unstable();
    all
}

fn pairs(all: &[(&str, u32)]) -> Vec<(String, u32)> {
    all.iter()
        .map(|(id, games)| ((*id).to_owned(), *games))
        .collect()
}

/// The same database with another configuration, learned.
async fn with(service: &Service, toml: &str) -> Service {
    let settings = common::config(toml).service();
    let other = Service::open(service.store().clone(), settings).unwrap();
    other.learning().rebuild(|_| ()).await.unwrap();
    other
}

#[tokio::test]
async fn who_changes_the_tag_of_a_clan_keeps_the_history() {
    let logs = TempDir::new().unwrap();
    let names = [
        ("ann", "[ABC] bob"),
        ("[X]ann", "bob"),
        ("ann", "abc|bob [X]"),
        ("^1[^7Y^1] ann", "bob"),
    ];
    let paths: Vec<_> = (1..)
        .zip(names)
        .map(|(day, (ann, bob))| {
            let path = logs.path().join(format!("{day}.log"));
            write(&path, &quake(day, ann, bob));
            path
        })
        .collect();
    let paths: Vec<&Path> = paths.iter().map(|path| path.as_path()).collect();
    let (service, folder) = common::service(&common::config(STRIP)).await;
    let store = service.store().clone();
    // What was set for a name with a tag counts.
    store
        .corrections()
        .pin_weight(&human("[OLD] dan"), Some(61.0))
        .await
        .unwrap();
    assert_eq!(ingest(&service, None, &paths).await, [4, 4, 0, 0]);
    let one_each = pairs(&[("ann", 4), ("bob", 4), ("cid", 4), ("dan", 4)]);
    assert_eq!(games(&store).await, one_each);
    let stripped = weights(&store).await;
    assert!(
        stripped
            .iter()
            .any(|row| row.key.id == "dan" && row.weight == 61.0)
    );
    for form in ["bob", "[ABC] bob", "abc|bob [X]"] {
        let page = service.learning().person(form, None).await;
        let page = page.unwrap().unwrap();
        assert_eq!(page.key.id, "bob", "{form}");
    }
    let names = store
        .matches()
        .names(&human("bob"))
        .await
        .unwrap()
        .into_iter();
    let names: Vec<_> = names.map(|seen| seen.name).collect();
    assert_eq!(names, ["bob", "abc|bob [X]", "[ABC] bob"]);
    // The records keep what the logs say.
    let first = &stored(&service).await[0].record;
    assert!(
        first
            .participants
            .iter()
            .any(|one| one.key.id == "[ABC] bob")
    );
    // Without the list they are several people, as if there had been none.
    let without = with(&service, "").await;
    let apart = pairs(&[
        ("[ABC] bob", 1),
        ("[X]ann", 1),
        ("[Y] ann", 1),
        ("abc|bob [X]", 1),
        ("ann", 2),
        ("bob", 2),
        ("cid", 4),
        ("dan", 4),
    ]);
    assert_eq!(games(&store).await, apart);
    let page = without.learning().person("[ABC] bob", None).await;
    let page = page.unwrap().unwrap();
    assert_eq!(page.key.id, "[ABC] bob");
    // With it again they are one, and somebody whom an operator has merged stays so.
    store
        .corrections()
        .merge_player(&human("cid"), &human("[Q] bob"))
        .await
        .unwrap();
    with(&without, STRIP).await;
    let merged = pairs(&[("ann", 4), ("bob", 4), ("dan", 4)]);
    assert_eq!(games(&store).await, merged);
    assert!(
        store
            .corrections()
            .split_player(&human("cid"))
            .await
            .unwrap()
    );
    let again = with(&without, STRIP).await;
    assert_eq!(weights(&store).await, stripped);
    // Live, the same: a reply repeats the bytes that were sent.
    let service = std::sync::Arc::new(again);
    let limits = common::config("").server.limits;
    let daemon = Daemon::serve(service, folder, limits).await;
    let mut client = daemon.client().await;
    client.tell("GAME baseq3.ctf\n").await;
    let bare = client.ask("PLAYER bob\n").await;
    let tagged = client.ask("PLAYER [NEW] bob\n").await;
    assert!(bare.starts_with("PLAYER bob ") && bare.len() > "PLAYER bob ".len());
    assert_eq!(tagged, bare.replacen("bob", "[NEW] bob", 1));
    assert_eq!(client.ask("PLAYER [NEW] eve\n").await, "PLAYER [NEW] eve");
}

#[tokio::test]
async fn a_result_over_http_counts_for_the_name_without_tags() {
    let api = Api::start(STRIP);
    for (ann, bob) in [("[A] ann", "bob"), ("ann", "[B] bob")] {
        let game = json!({"ruleset": "futsal", "teams": [[ann], [bob]], "winner": 0});
        let (status, answer) = api.call("club", "POST", "/v1/matches", &game);
        assert_eq!((status, &answer["rated"]), (201, &json!(true)), "{answer}");
    }
    let ids = |folder: &Path| -> Vec<String> {
        let (_, csv, _) = run(folder, &["weights", "--game", "futsal", "--csv"]);
        let rows = csv.lines().skip(1).filter(|row| row.contains(",2,"));
        rows.map(|row| row.to_owned()).collect()
    };
    until(async || ids(api.folder.path()).len() == 2).await;
    let rows = ids(api.folder.path()).join("\n");
    assert!(rows.contains(",ann,") && rows.contains(",bob,"), "{rows}");
}

#[tokio::test]
async fn two_with_the_tags_of_two_clans_are_two() {
    let logs = TempDir::new().unwrap();
    let path = logs.path().join("l.log");
    write(&path, &quake(1, "[A] bob", "[B] bob"));
    let (service, _folder) = common::service(&common::config(STRIP)).await;
    assert_eq!(ingest(&service, None, &[&path]).await, [1, 1, 0, 0]);
    assert_eq!(
        games(service.store()).await,
        pairs(&[("cid", 1), ("dan", 1)])
    );
}

/// The handle of an identity, as it has always been computed.
async fn handle(database: &mut SqliteConnection, id: &str) -> String {
    let query = sqlx::query_scalar("SELECT unhex(text) FROM state WHERE name = 'handle_key'");
    let key: Vec<u8> = query.fetch_one(database).await.unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("human:{id}").as_bytes());
    to_hex(&mac.finalize().into_bytes()[..10])
}

#[tokio::test]
async fn the_handles_of_all_forms_of_a_steam_id_open_the_page() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    let forms = ["STEAM_0:1:6110", "STEAM_1:1:6110"];
    for (at, form) in forms.iter().enumerate() {
        let name = format!("{at}.log");
        write(
            &folder.join(&name),
            &tf2(&format!("11/2{at}/2026"), form, "[U:1:2]"),
        );
        assert_eq!(run(folder, &["ingest", &name]).0, 0);
    }
    let options = SqliteConnectOptions::new().filename(folder.join("evenkeel.db"));
    let mut database = options.connect().await.unwrap();
    let [old, other, canonical] = [
        handle(&mut database, forms[0]).await,
        handle(&mut database, forms[1]).await,
        handle(&mut database, "[U:1:12221]").await,
    ];
    // As a version left it for which each form was a player.
    for statement in [
        "DELETE FROM merged_players",
        "UPDATE state SET text = 'other' WHERE name = 'learned'",
        "UPDATE persons SET player = 'STEAM_0:1:6110', handle = 'x' WHERE player = 'STEAM_0:1:6110'",
    ] {
        sqlx::query(statement).execute(&mut database).await.unwrap();
    }
    let query = sqlx::query("UPDATE persons SET handle = $1 WHERE handle = 'x'");
    query.bind(&old).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    assert_eq!(run(folder, &["rebuild"]).0, 0);
    let pages = Pages::start(folder, &[]);
    let opens = |of: &str| pages.get(&format!("/players/{of}")).status == 200;
    for handle in [&old, &other, &canonical] {
        let page = pages.get(&format!("/players/{handle}"));
        assert_eq!(page.status, 200, "{handle}");
        assert!(page.body.contains("ann"), "{handle}");
    }
    for form in forms
        .into_iter()
        .chain(["[U:1:12221]", "76561197960277949"])
    {
        let form = form.replace('[', "%5B").replace(']', "%5D");
        assert!(opens(&form), "{form}");
    }
    assert!(!opens("00000000000000000000"));
}

#[tokio::test]
async fn who_was_strong_in_global_offensive_begins_so_in_counter_strike_2() {
    let logs = TempDir::new().unwrap();
    let path = logs.path().join("csgo.jsonl");
    let seat = |id: &str, team: u8| {
        let stays = json!([{"team": team, "from": 0, "to": 1_800_000}]);
        json!({"id": id, "stays": stays})
    };
    let mut lines = String::new();
    for day in 1..=20 {
        // Ann and Bob win, on each side.
        let (strong, weak) = (day % 2, 1 - day % 2);
        let players = [
            seat("STEAM_1:1:1", strong),
            seat("STEAM_1:1:2", strong),
            seat("STEAM_1:1:3", weak),
            seat("STEAM_1:1:4", weak),
        ];
        let mut scores = [16, 16];
        scores[usize::from(weak)] = 5;
        let game = json!({
            "evenkeel": 1, "game": "csgo.de", "map": "de_dust2", "scores": scores, "players": players,
            "start": format!("2026-10-{day:02}T20:00:00Z"), "end": format!("2026-10-{day:02}T20:30:00Z"),
        });
        lines += &format!("{game}\n");
    }
    write(&path, &lines);
    let (service, _folder) = common::service(&common::config("")).await;
    assert_eq!(ingest(&service, None, &[&path]).await[1], 20);
    let known = service.learning().standings();
    let chance = |game: &str, red: [&str; 2], blue: [&str; 2]| {
        let team = |ids: [&str; 2]| ids.map(|id| LineupPlayer::from(human(id))).to_vec();
        let teams = [team(red), team(blue)];
        known.chance(&Ruleset::parse(game), "", &teams).unwrap()
    };
    let (strong, weak) = (["[U:1:3]", "[U:1:5]"], ["[U:1:7]", "[U:1:9]"]);
    let there = chance("csgo.de", strong, weak);
    let here = chance("cs2.de", strong, weak);
    assert!(
        there > 0.8 && here > 0.65 && here <= there,
        "{there} {here}"
    );
    let new = chance("cs2.de", strong, ["[U:1:11]", "[U:1:13]"]);
    assert!(new > 0.55, "{new}");
    let nobody = chance("cs2.de", ["[U:1:15]", "[U:1:17]"], ["[U:1:11]", "[U:1:13]"]);
    assert!((nobody - 0.5).abs() < 0.05, "{nobody}");
}

#[tokio::test]
async fn a_free_for_all_of_bots_that_states_no_team_is_rated() {
    let logs = TempDir::new().unwrap();
    let path = logs.path().join("bots.jsonl");
    let bot = |id: &str, points: u32| json!({"id": id, "bot": true, "points": points});
    let game = |day: u8, players: serde_json::Value| {
        json!({"evenkeel": 1, "game": "t.ffa", "players": players,
            "start": format!("2026-11-{day:02}T20:00:00Z"), "end": format!("2026-11-{day:02}T20:10:00Z")})
    };
    let only_bots = json!([bot("Sarge", 20), bot("Grunt", 8), bot("Major", 1)]);
    let mixed = json!([bot("Sarge", 20), {"id": "ann", "points": 9}]);
    write(
        &path,
        &format!("{}\n{}\n", game(1, only_bots), game(2, mixed)),
    );
    let (service, _folder) = common::service(&common::config("")).await;
    assert_eq!(ingest(&service, None, &[&path]).await, [2, 2, 0, 0]);
    let expected = pairs(&[("Grunt", 1), ("Major", 1), ("Sarge", 2), ("ann", 1)]);
    assert_eq!(games(service.store()).await, expected);
}
