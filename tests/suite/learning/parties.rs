//! What friends count: as configured, until matches with parties have shown it.

use evenkeel::model::{Kind::Human, MatchRecord};

use crate::common::{Daemon, draw::Draw, game};

/// Two against two out of eight players; the two of the first team are a party, and win nine of ten.
fn matches_of_friends(matches: i64) -> Vec<MatchRecord> {
    let mut draw = Draw(3);
    let mut ids: Vec<String> = (0..8).map(|i| format!("p{i}")).collect();
    let play = |number: i64| {
        draw.shuffle(&mut ids);
        let four: Vec<_> = ids[..4].iter().map(|id| (Human, id.as_str())).collect();
        let scores = if draw.unit() < 0.9 {
            [2.0, 1.0]
        } else {
            [1.0, 2.0]
        };
        let mut record = game(20 * number, &four[..2], &four[2..], scores);
        record.participants[..2]
            .iter_mut()
            .for_each(|friend| friend.party = Some(1));
        record
    };
    (0..matches).map(play).collect()
}

/// The line on parties after BALANCE: what two friends count, and the percentage that is learned.
async fn explained(daemon: &Daemon) -> (f64, f64) {
    let joins =
        "GAME ctf\nJOIN a party=x\nJOIN b party=x\nJOIN c\nJOIN d\nBALANCE top=1 seed=1\nEXPLAIN\n";
    let reply = daemon.client().await.talk(joins).await;
    let line = reply
        .lines()
        .find_map(|line| line.strip_prefix("WHY parties: two friends count "));
    let words: Vec<&str> = line
        .unwrap_or_else(|| panic!("{reply}"))
        .split(' ')
        .collect();
    let percent = words.iter().position(|word| *word == "%").unwrap();
    (
        words[0].parse().unwrap(),
        words[percent - 1].parse().unwrap(),
    )
}

#[tokio::test]
async fn what_friends_count_is_learned_and_explain_says_so() {
    let daemon = Daemon::start("rating.sides = false\nbalance.party_multiplier = [1.5]").await;
    assert_eq!(explained(&daemon).await, (1.5, 0.0), "before any match");
    for record in matches_of_friends(150) {
        daemon
            .service
            .store()
            .matches()
            .record(&record)
            .await
            .unwrap();
    }
    daemon.service.learning().refresh().await.unwrap();
    let (factor, learned) = explained(&daemon).await;
    assert!(
        learned > 10.0 && factor != 1.5 && factor > 1.0,
        "{factor} {learned}"
    );
}

#[tokio::test]
async fn without_parties_or_anything_to_say_of_them_there_is_no_line() {
    let daemon = Daemon::start("").await;
    let talk = async |text: &str| daemon.client().await.talk(text).await;
    let with = talk("GAME ctf\nJOIN a party=x\nJOIN b party=x\nJOIN c\nBALANCE\nEXPLAIN\n").await;
    assert!(
        with.contains("WHY ") && !with.contains("parties: two"),
        "{with}"
    );
}
