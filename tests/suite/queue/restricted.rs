//! Restricted queues over the socket: who is refused, and what they are sent.

use evenkeel::{
    model::{Kind::Human, PlayerKey},
    store::WeightRow,
};

use crate::common::{Daemon, game, weights};

const QUEUES: &str = r#"
[queue.ranked]
teams = 2
size = 2
ruleset = "baseoa.ctf"
host = "none"
rule = [{ name = "experience", rule = "range", of = "@games", from = 2, hard = true }]

[queue.newcomers]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"
attributes = { tier = "int 1..10" }
rule = [
  { name = "few games", rule = "range", of = "@games", to = 1, hard = true },
  { name = "low tiers", rule = "range", of = "tier", from = 2, to = 4, hard = true },
]
"#;

/// A rated match in which ann and bob play.
const MATCH: &str = "GAME baseoa.ctf\nJOIN ann team=0\nJOIN bob team=1\nSTART\nSCORE 0 1 ann\n";

#[tokio::test]
async fn a_ticket_that_no_match_may_contain_is_refused_with_what_it_needs() {
    let (daemon, clock) = Daemon::start_by_hand(QUEUES).await;
    let mut client = daemon.named("pub").await;
    for (lines, reply) in [
        (
            "ENQUEUE ranked t1\nSEAT ann\nSUBMIT\n",
            "ERROR not-allowed experience: ann needs at least 2 games, has 0",
        ),
        ("TICKET t1\n", "ERROR bad-argument there is no such ticket"),
        (
            "ENQUEUE newcomers t1\nSEAT ann tier=7\nSUBMIT\n",
            "ERROR not-allowed low tiers: ann needs tier from 2 to 4, has 7",
        ),
        (
            "ENQUEUE newcomers t1\nSEAT ann tier=3\nSUBMIT\n",
            "QUEUED t1 0 -",
        ),
        ("CANCEL t1\n", "CANCELLED t1"),
    ] {
        assert_eq!(client.ask(lines).await, reply, "{lines}");
    }
    let mut game = daemon.named("game").await;
    for _ in 0..2 {
        game.tell(MATCH).await;
        clock.pass(120_000);
        let end = game.ask("END\n").await;
        assert!(end.ends_with(" recorded"), "{end}");
    }
    // The weights follow a moment after END.
    let submit = "ENQUEUE ranked t2\nSEAT ann\nSEAT bob\nSUBMIT\n";
    crate::common::until(async || client.ask(submit).await == "QUEUED t2 0 -").await;
    // Said again, it has the same answer, whatever its players have done since.
    assert_eq!(client.ask("SUBMIT\n").await, "QUEUED t2 0 -");
    let refused = client
        .ask("ENQUEUE newcomers t3\nSEAT bob tier=2\nSUBMIT\n")
        .await;
    assert_eq!(
        refused,
        "ERROR not-allowed few games: bob needs at most 1 game, has 2"
    );
}

#[tokio::test]
async fn a_player_who_no_longer_meets_the_rule_is_in_no_match_and_reads_why() {
    let daemon = Daemon::start(QUEUES).await;
    let mut client = daemon.named("pub").await;
    let queued = client
        .ask("ENQUEUE newcomers t1\nSEAT ann tier=3\nSUBMIT\n")
        .await;
    assert_eq!(queued, "QUEUED t1 0 -");
    let (store, learning) = (daemon.service.store(), daemon.service.learning());
    for minute in [0, 20] {
        let mut record = game(minute, &[(Human, "ann")], &[(Human, "bob")], [3.0, 0.0]);
        record.game_type = "baseoa.ctf".into();
        store.matches().record(&record).await.unwrap();
    }
    learning.refresh().await.unwrap();
    let fits = client
        .ask("ENQUEUE newcomers t2\nSEAT cid tier=3\nSUBMIT\n")
        .await;
    assert!(fits.starts_with("QUEUED t2 "), "{fits}");
    let head = client.ask("EXPLAIN t1\n").await;
    let count: usize = head.strip_prefix("EXPLAIN ").unwrap().parse().unwrap();
    let mut why = Vec::new();
    for _ in 0..count {
        why.push(client.line().await);
    }
    assert_eq!(
        why[1],
        "WHY held back by few games: the ticket itself cannot meet it: players must have at most 1 game, not 2"
    );
}

/// A booster that makes a player stronger in the game is a mutator, so that its games are a ruleset of
/// their own.
#[tokio::test]
async fn games_with_a_booster_start_from_the_ordinary_weights_and_teach_them_nothing() {
    let daemon = Daemon::start("").await;
    let (store, learning) = (daemon.service.store(), daemon.service.learning());
    let play = |minute| game(minute, &[(Human, "ann")], &[(Human, "bob")], [3.0, 0.0]);
    for minute in [0, 20, 40] {
        store.matches().record(&play(minute)).await.unwrap();
    }
    learning.refresh().await.unwrap();
    let ordinary = weights(daemon.service.store()).await;
    let asked = async |mutator: &str| {
        let lines = format!("GAME ctf\n{mutator}PLAYER ann\n");
        daemon.client().await.talk(&lines).await
    };
    assert_eq!(asked("MUTATOR booster\n").await, asked("").await);
    let mut boosted = play(60);
    boosted.mutators = vec!["booster".into()];
    store.matches().record(&boosted).await.unwrap();
    learning.refresh().await.unwrap();
    let all = weights(daemon.service.store()).await;
    let same = all.iter().filter(|row| !row.ruleset.contains("booster"));
    let numbers = |row: &WeightRow| (row.key.clone(), row.weight, row.games);
    assert_eq!(
        same.map(numbers).collect::<Vec<_>>(),
        ordinary.iter().map(numbers).collect::<Vec<_>>()
    );
    assert_eq!(all.len(), ordinary.len() + 2, "{all:?}");
}

#[tokio::test]
async fn an_identity_that_counts_as_another_has_that_players_games() {
    let daemon = Daemon::start(QUEUES).await;
    let (store, learning) = (daemon.service.store(), daemon.service.learning());
    for minute in [0, 20] {
        let mut record = game(minute, &[(Human, "ann")], &[(Human, "bob")], [3.0, 0.0]);
        record.game_type = "baseoa.ctf".into();
        store.matches().record(&record).await.unwrap();
    }
    let key = |id: &str| PlayerKey {
        kind: Human,
        id: id.to_owned(),
    };
    store
        .corrections()
        .merge_player(&key("annie"), &key("ann"))
        .await
        .unwrap();
    learning.refresh().await.unwrap();
    let mut client = daemon.named("pub").await;
    let reply = client.ask("ENQUEUE ranked t1\nSEAT annie\nSUBMIT\n").await;
    assert_eq!(reply, "QUEUED t1 0 -");
    let weight = async |id: &str| {
        let lines = format!("GAME baseoa.ctf\nPLAYER {id}\n");
        let reply = daemon.client().await.talk(&lines).await;
        reply.split(' ').nth(2).unwrap().to_owned()
    };
    assert_eq!(weight("annie").await, weight("ann").await);
    let chance = async |id: &str| {
        let lines = format!("GAME baseoa.ctf\nJOIN {id} pin=0\nJOIN bob pin=1\nBALANCE seed=1\n");
        let reply = daemon.client().await.talk(&lines).await;
        reply.split(' ').nth(3).unwrap().to_owned()
    };
    let predicted = chance("annie").await;
    assert_eq!(predicted, chance("ann").await);
    assert!(predicted.parse::<f64>().unwrap() > 0.5, "{predicted}");
}
