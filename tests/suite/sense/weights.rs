//! Weights that people can interpret, and the games that count for a look-up.

use crate::common::{Client, Daemon};
use evenkeel::{
    model::{Kind, MatchRecord, Participant, Rulebook, fingerprint::Fingerprint},
    rating::history::{Fold, Settings},
    rating::{self, SystemName},
    session::HandClock,
};

/// A match of 61 seconds in which the first team captures the only flag.
fn short_match(number: i64, winners: &[&str], losers: &[&str]) -> MatchRecord {
    const MILLIS: u64 = 61_000;
    let of = |team: u8, ids: &[&str]| -> Vec<Participant> {
        let one = |id: &&str| crate::common::player(Kind::Human, id, team, MILLIS);
        ids.iter().map(one).collect()
    };
    let mut record = crate::common::game(number * 10, &[], &[], [1.0, 0.0]);
    record.end = record.start.plus_millis(MILLIS as i64);
    record.participants = [of(0, winners), of(1, losers)].concat();
    assert_eq!(record.check(), Ok(()));
    record
}

fn fold(system: SystemName) -> Fold {
    let rulebook = Rulebook::new(&crate::common::config("").rulebook()).unwrap();
    let rating = rating::Settings {
        system: system.into(),
        ..rating::Settings::default()
    };
    Fold::new(&rulebook, Settings::from(rating))
}

fn push(fold: &mut Fold, record: &MatchRecord) {
    let ruling = fold.push(record, Fingerprint::of(record)).unwrap();
    assert!(ruling.rated.is_ok(), "{:?}", ruling.rated);
}

fn weight(fold: &Fold, id: &str) -> f64 {
    fold.weights().find(|w| w.key.id == id).unwrap().weight
}

/// The systems whose strengths become weights by the documented formula.
fn systems() -> impl Iterator<Item = SystemName> {
    let own = [
        SystemName::Presence,
        SystemName::Scoreboard,
        SystemName::WinRate,
    ];
    SystemName::ALL
        .into_iter()
        .filter(move |s| !own.contains(s))
}

const RED: [&str; 4] = ["a", "b", "c", "d"];
const BLUE: [&str; 4] = ["e", "f", "g", "h"];

#[test]
fn one_short_match_moves_nobody_far_from_fifty() {
    for system in systems() {
        let mut fold = fold(system);
        push(&mut fold, &short_match(1, &RED, &BLUE));
        for (winner, loser) in RED.iter().zip(BLUE) {
            let (winner, loser) = (weight(&fold, winner), weight(&fold, loser));
            assert!(winner > 50.0 && winner <= 55.0, "{system}: {winner}");
            assert!((45.0..50.0).contains(&loser), "{system}: {loser}");
        }
    }
}

#[test]
fn straight_wins_lead_upwards_step_by_step() {
    for system in systems() {
        let mut fold = fold(system);
        let mut before = 50.0;
        for number in 1..=10 {
            push(&mut fold, &short_match(number, &RED, &BLUE));
            let now = weight(&fold, "a");
            // It solves the whole history again each time, up to a tolerance.
            let slack = if system == SystemName::HiveHistory {
                0.05
            } else {
                0.0
            };
            assert!(now > before - slack, "{system}: {before} {now}");
            before = now;
        }
        // One unit of strength, which is about what three first wins show, is 8.3 points.
        assert!((54.0..60.0).contains(&before), "{system}: {before}");
    }
}

#[test]
fn five_games_make_nobody_a_hundred_or_zero() {
    for system in systems() {
        for size in 1..=4 {
            let mut fold = fold(system);
            for number in 1..=5 {
                let mut record = short_match(number, &RED[..size], &BLUE[..size]);
                record.scores = vec![100.0, 0.0];
                push(&mut fold, &record);
            }
            let (best, worst) = (weight(&fold, "a"), weight(&fold, "e"));
            assert!(best < 95.0 && worst > 5.0, "{system}: {best} {worst}");
        }
    }
}

#[test]
fn one_players_weight_does_not_jump_because_others_were_added() {
    for system in systems() {
        let mut fold = fold(system);
        for number in 1..=5 {
            push(&mut fold, &short_match(number, &RED, &BLUE));
        }
        let before = weight(&fold, "a");
        // Eight other players, whose strengths differ a lot.
        for number in 6..=15 {
            let (strong, weak) = (["s", "t", "u", "v"], ["w", "x", "y", "z"]);
            push(&mut fold, &short_match(number, &strong, &weak));
        }
        let now = weight(&fold, "a");
        assert!((now - before).abs() < 5.0, "{system}: {before} {now}");
    }
}

#[test]
fn presence_keeps_its_published_formula() {
    let mut fold = fold(SystemName::Presence);
    push(&mut fold, &short_match(1, &RED, &BLUE));
    let by_hand = 100.0 * (1.0 + 2.0) / (1.0 + 0.0 + 4.0);
    assert!((weight(&fold, "a") - by_hand).abs() < 1e-9);
}

/// Records a game of eight that the first team wins, and learns from it.
async fn play(client: &mut Client, clock: &HandClock, game: &str) {
    client.tell(&format!("{game}MINPLAYERS 0\n")).await;
    for (team, ids) in [RED, BLUE].iter().enumerate() {
        for id in ids {
            client.tell(&format!("JOIN {id} team={team}\n")).await;
        }
    }
    client
        .tell("BOTJOIN Grunt 0\nBOTJOIN Sarge 1\nSTART\n")
        .await;
    clock.pass(70_000);
    client.tell("SCORE 0\n").await;
    let ended = client.ask("END\n").await;
    assert!(ended.ends_with(" recorded"), "{ended}");
    clock.pass(1_000);
}

/// A daemon that has learned from games of these types.
async fn after(games: &[&str]) -> (Daemon, Client) {
    let (daemon, clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.client().await;
    client.ask("HELLO s\n").await;
    for game in games {
        play(&mut client, &clock, game).await;
    }
    daemon.service.sessions().write_backlog().await.unwrap();
    daemon.service.learning().refresh().await.unwrap();
    (daemon, client)
}

/// The weight in a reply; `None` for the short form.
fn told(reply: &str) -> Option<f64> {
    reply
        .split(' ')
        .nth(2)
        .map(|weight| weight.parse().unwrap())
}

const INSTAGIB: &str = "GAME ctf\nMUTATOR instagib\n";

#[tokio::test]
async fn instagib_games_do_not_answer_for_ordinary_ones() {
    let (_daemon, mut client) = after(&[INSTAGIB; 5]).await;
    client.tell("GAME ctf\n").await;
    assert_eq!(client.ask("PLAYER a\n").await, "PLAYER a");
    let bot = told(&client.ask("BOT Grunt\n").await).unwrap();
    client.tell(INSTAGIB).await;
    let own = told(&client.ask("BOT Grunt\n").await).unwrap();
    assert!((bot - (50.0 + own) / 2.0).abs() < 0.002, "{bot} {own}");
    assert!(told(&client.ask("PLAYER a\n").await).unwrap() > 51.0);
}

#[tokio::test]
async fn games_with_fewer_mutators_answer_for_those_with_more() {
    let (_daemon, mut client) = after(&["GAME ctf\n"; 5]).await;
    client.tell("GAME ctf\n").await;
    let plain = client.ask("PLAYER a\n").await;
    assert!(told(&plain).unwrap() > 51.0);
    client.tell(INSTAGIB).await;
    assert_eq!(client.ask("PLAYER a\n").await, plain);
    client.tell("GAME tdm\n").await;
    assert_eq!(client.ask("PLAYER a\n").await, "PLAYER a");
}

#[tokio::test]
async fn a_decision_says_which_weights_come_from_elsewhere() {
    let (_daemon, mut client) = after(&[INSTAGIB; 5]).await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN a\nJOIN e\nJOIN new\n")
        .await;
    client.ask("BALANCE seed=1\n").await;
    let mut lines = Vec::new();
    let said = client.talk("EXPLAIN\n").await;
    lines.extend(said.lines().filter(|line| line.contains("elsewhere")));
    assert_eq!(lines.len(), 2, "{said}");
    for (line, id) in lines.iter().zip(["a", "e"]) {
        assert!(line.contains(&format!("elsewhere: {id} counts ")), "{line}");
    }
}

#[tokio::test]
async fn the_list_of_weights_is_in_their_order() {
    let (daemon, _client) = after(&["GAME ctf\n"; 3]).await;
    let rulesets = daemon.service.store().learned().rulesets().await.unwrap();
    let [ruleset] = &rulesets[..] else {
        panic!("{rulesets:?}")
    };
    let rows = daemon
        .service
        .store()
        .learned()
        .weights(ruleset, Kind::Human)
        .await;
    let rows = rows.unwrap();
    assert_eq!(rows.len(), 8);
    assert!(rows.is_sorted_by(|a, b| a.weight >= b.weight));
}
