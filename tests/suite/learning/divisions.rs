//! Divisions from stored matches to what players are shown: RANK, the views, and `player show`.

use evenkeel::model::{Kind::Human, MatchRecord};

use crate::common::{self, Daemon, backends::rows, draw::Draw, game, process::evenkeel, service};

const METALS: &str = "[divisions]\nnames = ['Bronze', 'Silver', 'Gold II']\n";
/// The minute of the clock with which [`Daemon::start_by_hand`] starts.
const NOW: i64 = 1_000_000_000_000 / 60_000;
const DAY: u64 = 86_400_000;

/// Matches of two against two between twelve players, of whom p0 is the weakest and p11 the strongest; the
/// last one ends when the clock starts.
fn season(matches: i64) -> Vec<MatchRecord> {
    let mut draw = Draw(7);
    let mut players: Vec<usize> = (0..12).collect();
    let play = |number: i64| {
        draw.shuffle(&mut players);
        let four: Vec<(String, usize)> =
            players[..4].iter().map(|p| (format!("p{p}"), *p)).collect();
        let side = |two: &[(String, usize)]| two.iter().map(|(_, p)| *p as f64).sum::<f64>();
        let ahead = side(&four[..2]) - side(&four[2..]) + 8.0 * (draw.unit() - 0.5);
        let names: Vec<_> = four.iter().map(|(id, _)| (Human, id.as_str())).collect();
        let scores = if ahead > 0.0 { [3.0, 1.0] } else { [1.0, 3.0] };
        game(
            NOW - 10 * (matches - number),
            &names[..2],
            &names[2..],
            scores,
        )
    };
    (0..matches).map(play).collect()
}

async fn daemon(
    toml: &str,
    matches: i64,
) -> (Daemon, std::sync::Arc<evenkeel::session::HandClock>) {
    let (daemon, clock) = Daemon::start_by_hand(toml).await;
    for record in season(matches) {
        daemon
            .service
            .store()
            .matches()
            .record(&record)
            .await
            .unwrap();
    }
    daemon.service.learning().refresh().await.unwrap();
    (daemon, clock)
}

/// The words of the reply to RANK after its id.
async fn rank(daemon: &Daemon, id: &str) -> String {
    let reply = daemon
        .client()
        .await
        .talk(&format!("GAME ctf\nRANK {id}\n"))
        .await;
    let rest = reply
        .strip_prefix(&format!("RANK {id} "))
        .unwrap_or_else(|| panic!("{reply}"));
    rest.trim_end().to_owned()
}

#[tokio::test]
async fn rank_answers_with_the_division_and_not_the_weight() {
    let (daemon, _) = daemon(METALS, 200).await;
    let strong = rank(&daemon, "p11").await;
    assert!(strong.starts_with("\"Gold II\" 1.000 "), "{strong}");
    assert_eq!(strong.split(' ').count(), 4, "{strong}");
    let weak = rank(&daemon, "p0").await;
    assert!(weak.starts_with("Bronze 0."), "{weak}");
    assert_eq!(rank(&daemon, "nobody").await, "- - 0");
    let quoted = rank(&daemon, "\"p11\"").await;
    assert_eq!(quoted, strong, "the id comes back in its own bytes");
}

#[tokio::test]
async fn the_weight_comes_with_the_division_only_where_players_may_see_it() {
    let toml = format!("{METALS}show = 'number'\n");
    let (daemon, _) = daemon(&toml, 200).await;
    let player = daemon.client().await.talk("GAME ctf\nPLAYER p11\n").await;
    let weight = player.trim_end().rsplit(' ').next().unwrap().to_owned();
    let rank_of = rank(&daemon, "p11").await;
    assert!(
        rank_of.ends_with(&format!(" {weight}")),
        "{rank_of} {player}"
    );
    assert_eq!(rank(&daemon, "nobody").await, "- - 0");
}

#[tokio::test]
async fn a_player_is_calibrating_for_ten_matches() {
    let (daemon, _) = daemon(METALS, 16).await;
    for player in 0..12 {
        let rank = rank(&daemon, &format!("p{player}")).await;
        let games: u32 = rank.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(games < 10 && rank.starts_with("- - "), "{rank}");
    }
}

#[tokio::test]
async fn without_divisions_or_a_game_there_is_no_rank() {
    let (daemon, _) = daemon("", 1).await;
    let talk = async |text: &str| daemon.client().await.talk(text).await;
    assert!(talk("RANK p1\n").await.starts_with("ERROR no-game"));
    let refused = talk("GAME ctf\nRANK p1\n").await;
    assert_eq!(refused, "ERROR not-allowed no divisions are configured\n");
    assert!(
        talk("GAME ctf\nRANK\n")
            .await
            .starts_with("ERROR bad-argument")
    );
    assert!(
        talk("GAME ctf\nRANK a b\n")
            .await
            .starts_with("ERROR bad-argument")
    );
}

#[tokio::test]
async fn a_displayed_division_falls_while_its_player_is_away_and_the_weight_does_not() {
    let (daemon, clock) = daemon(METALS, 200).await;
    let player = async || daemon.client().await.talk("GAME ctf\nPLAYER p11\n").await;
    let (before, weight) = (rank(&daemon, "p11").await, player().await);
    clock.pass(29 * DAY);
    assert_eq!(rank(&daemon, "p11").await, before);
    clock.pass(46 * DAY); // 75 days: a division and a half
    assert!(rank(&daemon, "p11").await.starts_with("Silver 0.500 "));
    clock.pass(3_000 * DAY);
    assert!(rank(&daemon, "p11").await.starts_with("Bronze 0.000 "));
    assert_eq!(player().await, weight);
    // One match brings it back.
    let today = NOW + 3_075 * 24 * 60;
    let again = game(today, &[(Human, "p11")], &[(Human, "p0")], [3.0, 1.0]);
    daemon
        .service
        .store()
        .matches()
        .record(&again)
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
    assert!(rank(&daemon, "p11").await.starts_with("\"Gold II\" "));
}

#[tokio::test]
async fn a_pinned_weight_has_its_own_division() {
    let (daemon, _) = daemon(METALS, 200).await;
    let key = common::player(Human, "p11", 0, 1).key;
    daemon
        .service
        .store()
        .corrections()
        .pin_weight(&key, Some(20.0))
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
    assert!(rank(&daemon, "p11").await.starts_with("Bronze "));
}

/// Learning one match at a time, all at once, and from a checkpoint give the same divisions, and the same
/// weights as without divisions.
#[tokio::test]
async fn divisions_are_derived_and_change_no_weight() {
    let metals = common::config(METALS);
    let (one_by_one, _folder) = service(&metals).await;
    let (at_once, _other_folder) = service(&metals).await;
    let (without, _third_folder) = service(&common::config("")).await;
    for (number, record) in season(150).iter().enumerate() {
        for service in [&one_by_one, &at_once, &without] {
            service.store().matches().record(record).await.unwrap();
        }
        one_by_one.learning().refresh().await.unwrap();
        if number == 100 {
            one_by_one.learning().save_checkpoint().await.unwrap();
        }
    }
    at_once.learning().rebuild(|_| ()).await.unwrap();
    without.learning().rebuild(|_| ()).await.unwrap();
    let rows = common::weights(at_once.store()).await;
    assert_eq!(common::weights(one_by_one.store()).await, rows);
    assert!(rows.iter().all(|row| row.rank.is_some()));
    let mut plain = rows.clone();
    plain.iter_mut().for_each(|row| row.rank = None);
    assert_eq!(common::weights(without.store()).await, plain);
    // Another process continues from the checkpoint.
    let again =
        evenkeel::server::Service::open(one_by_one.store().clone(), metals.service()).unwrap();
    again.learning().refresh().await.unwrap();
    assert_eq!(common::weights(again.store()).await, rows);
}

/// The view and the command use the machine's clock, so these matches are of long ago, or end now.
#[tokio::test]
async fn the_view_and_the_command_show_the_division() {
    let toml = format!("{METALS}decay_days = 0\n");
    let (service, folder) = service(&common::config(&toml)).await;
    for record in season(200) {
        service.store().matches().record(&record).await.unwrap();
    }
    service.learning().refresh().await.unwrap();
    let database = folder.path().join("test.db");
    let board = async || -> Vec<(String, Option<String>, Option<f64>)> {
        rows(
            &database,
            "SELECT player, division, progress FROM leaderboard",
        )
        .await
    };
    let rows = board().await;
    assert_eq!((rows.len(), rows[0].0.as_str()), (12, "p11"));
    assert_eq!(rows[0].1.as_deref(), Some("Gold II"));
    assert_eq!(rows[11].1.as_deref(), Some("Bronze"));
    let stored = common::weights(service.store()).await;
    let progress = stored[0].rank.unwrap().progress;
    assert!((rows[0].2.unwrap() - progress).abs() < 1e-3);

    let file = folder.path().join("evenkeel.toml");
    std::fs::write(&file, &toml).unwrap();
    let show = |more: &[&str]| {
        let mut command = evenkeel(folder.path());
        command.args(["player", "show", "p11", "--db", "test.db", "--config"]);
        let output = command.arg(&file).args(more).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let table = show(&[]);
    assert!(
        table.contains("division") && table.contains("Gold II"),
        "{table}"
    );
    let json: serde_json::Value = serde_json::from_str(&show(&["--json"])).unwrap();
    assert_eq!(json["weights"][0]["division"], "Gold II");
    assert_eq!(json["weights"][0]["progress"], progress);
    assert_eq!(
        (&json["id"], &json["kind"]),
        (&"p11".into(), &"human".into())
    );

    common::sql(
        &database,
        "UPDATE divisions SET decay_days = 30, decay_after_days = 30",
    )
    .await;
    let rows = board().await;
    assert!(
        rows.iter()
            .all(|(_, division, _)| division.as_deref() == Some("Bronze"))
    );
    assert!(rows.iter().all(|(.., progress)| *progress == Some(0.0)));
}

#[tokio::test]
async fn who_was_away_is_less_certain_and_the_next_match_moves_them_further() {
    for system in ["joint", "glicko2"] {
        let mut after = Vec::new();
        for days in [0, 400] {
            let (daemon, _clock) = daemon(&format!("[rating]\nsystem = '{system}'\n"), 200).await;
            let (strong, weak) = ([(Human, "p11")], [(Human, "p0")]);
            let again = game(NOW + 15 + days * 24 * 60, &strong, &weak, [0.0, 3.0]);
            daemon
                .service
                .store()
                .matches()
                .record(&again)
                .await
                .unwrap();
            daemon.service.learning().refresh().await.unwrap();
            let rows = common::weights(daemon.service.store()).await;
            let of = rows.iter().find(|row| row.key.id == "p11").unwrap();
            after.push((of.weight, of.deviation));
        }
        // The strength falls further, and the weight by the limit of a match at most.
        assert!(after[1].0 <= after[0].0, "{system}: {after:?}");
        assert!(after[1].1 > after[0].1, "{system}: {after:?}");
    }
}
