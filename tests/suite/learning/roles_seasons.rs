//! What `player show` and the views have beyond one weight: sides, commanders, and seasons.

use evenkeel::model::{
    Kind::Human, MatchRecord, fingerprint::Fingerprint, record::Role, team_names::RoleName,
};
use tempfile::TempDir;

use crate::common::{self, backends::rows, draw::Draw, game, process::evenkeel, service};

/// Matches of three against three out of nine players. "ann" wins on side 0 and loses on side 1. "bob"
/// commands every other match that he is in, and then wins it. All other matches are tosses of a coin.
fn matches(count: i64) -> Vec<(MatchRecord, Fingerprint)> {
    let mut draw = Draw(3);
    let mut pool = ["ann", "bob", "c", "d", "e", "f", "g", "h", "i"];
    let play = |number: i64| {
        draw.shuffle(&mut pool);
        let ids = &pool[..6];
        let team = |id: &str| ids.iter().position(|one| *one == id).map(|at| at / 3);
        let commands = team("bob").filter(|_| number % 2 == 0);
        let coin = draw.below(2);
        let winner = match (commands, team("ann")) {
            (Some(team), _) => team,
            (None, Some(_)) => 0,
            (None, None) => coin,
        };
        let mut scores = [1.0; 2];
        scores[winner] = 3.0;
        let players: Vec<_> = ids.iter().map(|id| (Human, *id)).collect();
        let mut record = game(30 * number, &players[..3], &players[3..], scores);
        for bob in record.participants.iter_mut().filter(|p| p.key.id == "bob") {
            bob.roles.extend(commands.map(|team| Role {
                name: RoleName::COMMANDER.into(),
                team: team as u8,
                share: 1.0,
            }));
        }
        let fingerprint = Fingerprint::of(&record);
        (record, fingerprint)
    };
    (0..count).map(play).collect()
}

/// A database with `count` such matches, learned with this configuration.
async fn database(toml: &str, count: i64) -> TempDir {
    let (service, folder) = service(&common::config(toml)).await;
    std::fs::write(folder.path().join("evenkeel.toml"), toml).unwrap();
    service
        .store()
        .matches()
        .record_all(&matches(count))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    service.close().await;
    folder
}

fn show(folder: &TempDir, id: &str, more: &[&str]) -> String {
    let mut command = evenkeel(folder.path());
    command.args(["player", "show", id, "--db", "test.db"]);
    command.args(["--config", "evenkeel.toml"]);
    let output = command.args(more).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The only line of `player show --json` about weights.
fn shown(folder: &TempDir, id: &str) -> serde_json::Value {
    let json: serde_json::Value = serde_json::from_str(&show(folder, id, &["--json"])).unwrap();
    json["weights"][0].clone()
}

#[tokio::test]
async fn hive_shows_what_a_player_is_on_each_side_and_as_a_commander() {
    let folder = database("rating.system = 'hive'\n", 200).await;
    let apart = |id: &str| {
        let sides = &shown(&folder, id)["sides"];
        sides[0].as_f64().unwrap() - sides[1].as_f64().unwrap()
    };
    assert!(apart("ann") > 10.0, "{}", apart("ann"));
    for other in ["c", "d", "e", "f"] {
        assert!(apart(other) < apart("ann") / 2.0, "{other}");
    }
    let bob = shown(&folder, "bob")["commander"].as_f64().unwrap();
    assert!(bob > 60.0, "{bob}");
    assert!(shown(&folder, "ann")["commander"].is_null());
    let table = show(&folder, "ann", &[]);
    assert!(
        table.contains("on team 0") && table.contains("as commander"),
        "{table}"
    );
}

#[tokio::test]
async fn joint_shows_commanders_and_other_systems_neither() {
    let folder = database("", 200).await;
    let bob = shown(&folder, "bob");
    assert!(bob["sides"].is_null());
    assert!(bob["commander"].as_f64() > bob["weight"].as_f64(), "{bob}");
    assert!(shown(&folder, "ann")["commander"].is_null());

    let folder = database("rating.system = 'elo'\n", 20).await;
    assert!(shown(&folder, "bob")["commander"].is_null());
    assert!(!show(&folder, "bob", &[]).contains("as commander"));
}

#[tokio::test]
async fn a_pinned_weight_is_the_same_in_every_role() {
    let folder = database("rating.system = 'hive'\n", 40).await;
    let mut pin = evenkeel(folder.path());
    pin.args([
        "player",
        "pin-weight",
        "bob",
        "30",
        "--new",
        "--db",
        "test.db",
    ]);
    assert!(
        pin.args(["--config", "evenkeel.toml"])
            .status()
            .unwrap()
            .success()
    );
    let bob = shown(&folder, "bob");
    assert_eq!(bob["weight"], 30.0);
    assert!(bob["sides"].is_null() && bob["commander"].is_null());
}

/// A match ends every half an hour from 00:10 on 1 January 1970.
#[tokio::test]
async fn the_views_name_the_season_of_a_match() {
    let toml = "season.starts = ['1970-01-02T12:00:00', '1970-01-02', '1999-01-01']\n";
    let folder = database(toml, 80).await;
    let by_season = "SELECT season, count(*) FROM match_report GROUP BY season ORDER BY season";
    let seasons: Vec<(Option<String>, i64)> = rows(&folder.path().join("test.db"), by_season).await;
    let named = |season: &str, matches| (Some(season.to_owned()), matches);
    assert_eq!(
        seasons,
        [
            (None, 48),
            named("1970-01-02", 24),
            named("1970-01-02 12:00:00", 8)
        ]
    );
    let results: Vec<(i64, i64)> = rows(
        &folder.path().join("test.db"),
        "SELECT sum(outcome = 'won'), count(*) FROM player_history WHERE season = '1970-01-02'",
    )
    .await;
    assert_eq!(results, [(24 * 3, 24 * 6)], "three of six win each match");
    let board: Vec<(String, i64)> = rows(
        &folder.path().join("test.db"),
        "SELECT season, count(*) FROM leaderboard GROUP BY season ORDER BY season DESC LIMIT 1",
    )
    .await;
    assert_eq!(board, [("1970-01-02 12:00:00".to_owned(), 9)]);

    // Other dates take effect when the weights are derived again.
    std::fs::write(folder.path().join("evenkeel.toml"), "").unwrap();
    let mut rebuild = evenkeel(folder.path());
    rebuild.args(["rebuild", "--db", "test.db", "--config", "evenkeel.toml"]);
    assert!(rebuild.output().unwrap().status.success());
    let seasons: Vec<(Option<String>, i64)> = rows(&folder.path().join("test.db"), by_season).await;
    assert_eq!(seasons, [(None, 80)]);
}
