//! Decisions that the people in a game would call right. Each test reads like a sentence of what was asked
//! for; `w90` is a human whose weight an operator has pinned at 90.

mod accounts;
mod asked;
mod chance;
mod measured;
mod sealed;
mod sides;
mod small;
mod stories;
mod streaks;
mod weights;
mod wishes;

use std::sync::Arc;

use evenkeel::{
    model::{Kind, PlayerKey},
    session::HandClock,
};

use crate::common::{Client, Daemon, draw::Draw};

/// A daemon on a clock that only the test moves, which knows humans of these weights.
pub(crate) async fn daemon(toml: &str, weights: &[u8]) -> (Daemon, Arc<HandClock>) {
    let (daemon, clock) = Daemon::start_by_hand(toml).await;
    for weight in weights {
        let (kind, id) = (Kind::Human, format!("w{weight}"));
        let key = PlayerKey { kind, id };
        let store = daemon.service.store();
        store
            .corrections()
            .pin_weight(&key, Some((*weight).into()))
            .await
            .unwrap();
    }
    daemon.service.learning().refresh().await.unwrap();
    (daemon, clock)
}

/// All lines of an EXPLAIN.
pub(crate) async fn why(client: &mut Client) -> Vec<String> {
    several(client, "EXPLAIN\n").await
}

/// Ends the game: otherwise a GAME with the same players is the same game once more.
async fn played(client: &mut Client) {
    client.ask("START\nEND draw\n").await;
}

/// The lines that follow the first line of a reply.
pub(crate) async fn several(client: &mut Client, ask: &str) -> Vec<String> {
    let first = client.ask(ask).await;
    let count = first.split(' ').nth(1).and_then(|count| count.parse().ok());
    let count: usize = count.unwrap_or_else(|| panic!("{first}"));
    let mut lines = vec![first];
    for _ in 0..count {
        lines.push(client.line().await);
    }
    lines
}

// 1. Bots that aren't there.

#[tokio::test]
async fn a_late_arrival_is_not_sent_to_the_larger_team_for_bots_that_never_come() {
    let (daemon, _clock) = daemon("", &[90, 40, 45, 50]).await;
    let mut client = daemon.client().await;
    let game = "GAME ctf\nMINPLAYERS 2\nJOIN w90 team=0\nJOIN w40 team=1\nJOIN w45 team=1\nSTART\nJOIN w50\n";
    assert_eq!(
        client.ask(&format!("{game}PLACE w50\n")).await,
        "PLACE w50 0 0.607143"
    );
    let why = why(&mut client).await;
    assert!(
        why.iter().any(|line| line.contains("none are expected")),
        "{why:?}"
    );
}

/// Draws weights of N(50, 15) by Box and Muller's method.
struct Crowd(Draw);

impl Crowd {
    fn weight(&mut self) -> u8 {
        let (a, b) = (self.0.unit(), self.0.unit());
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        (50.0 + 15.0 * normal).clamp(0.0, 100.0) as u8
    }
}

/// How many of `games` late arrivals go to the larger side, in games of `few` against `many`. With
/// `filled`, the bots that BOTS asks for are in the game.
async fn to_the_larger_side(
    client: &mut Client,
    filled: bool,
    games: usize,
    few: usize,
    many: usize,
) -> usize {
    let mut crowd = Crowd(Draw(7 + (few * 31 + many) as u64));
    let mut larger = 0;
    for _ in 0..games {
        let mut ids: Vec<String> = Vec::new();
        while ids.len() <= few + many {
            let id = format!("w{}", crowd.weight());
            // The same id twice would be one player.
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let mut lines = "GAME ctf\n".to_owned();
        for (at, id) in ids[1..].iter().enumerate() {
            lines.push_str(&format!("JOIN {id} team={}\n", usize::from(at >= few)));
        }
        client.tell(&format!("{lines}START\n")).await;
        if filled {
            let bots = client.ask("BOTS\n").await;
            let mut joins = String::new();
            for (team, count) in bots.split(' ').skip(2).enumerate() {
                for n in 0..count.parse::<usize>().unwrap() {
                    joins.push_str(&format!("BOTJOIN bot{team}{n} {team}\n"));
                }
            }
            client.tell(&joins).await;
        }
        client.tell(&format!("JOIN {}\n", ids[0])).await;
        let placed = client.ask(&format!("PLACE {}\n", ids[0])).await;
        let placed: Vec<&str> = placed.split(' ').collect();
        larger += usize::from(placed[2] == "1");
    }
    larger
}

#[tokio::test]
async fn the_short_side_comes_first() {
    measure_late_arrivals(40).await;
}

#[tokio::test]
#[ignore = "takes minutes: a longer run of `the_short_side_comes_first`"]
async fn the_short_side_comes_first_in_150_games_of_each_kind() {
    measure_late_arrivals(150).await;
}

/// Plays so many games of each kind, and asserts that at most 3 % of late arrivals go to the larger side,
/// and none where the teams differ by two.
async fn measure_late_arrivals(games: usize) {
    let all: Vec<u8> = (0..=100).collect();
    let (daemon, _clock) = daemon("store.keep_decisions = 0", &all).await;
    for (bots, filled) in [("no", false), ("", false), ("yes", false), ("yes", true)] {
        for wish in ["", "2", "6", "10", "16"] {
            let mut client = daemon.client().await;
            if !bots.is_empty() {
                let hello = client.ask(&format!("HELLO s bots={bots}\n")).await;
                assert!(hello.starts_with("HELLO"), "{hello}");
            }
            if !wish.is_empty() {
                client.tell(&format!("MINPLAYERS {wish}\n")).await;
            }
            let mut larger = Vec::new();
            for few in 1..=5 {
                larger.push(to_the_larger_side(&mut client, filled, games, few, few + 1).await);
                let two = to_the_larger_side(&mut client, filled, games, few, few + 2).await;
                assert_eq!(two, 0, "{few} against {}", few + 2);
            }
            println!(
                "bots={bots:3} in the game: {filled:5} MINPLAYERS {wish:2} to the larger side of {games}, 1 v 2 to 5 v 6: {larger:?}"
            );
            let most = if bots == "yes" { games * 3 / 100 } else { 0 };
            assert!(larger.iter().all(|larger| *larger <= most), "{larger:?}");
        }
    }
}

#[tokio::test]
async fn rebalance_sees_that_four_against_one_is_not_even() {
    let (daemon, _clock) = daemon("", &[]).await;
    for others in ["JOIN e team=1\n", ""] {
        let mut client = daemon.client().await;
        let four = "JOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=0\n";
        let game = format!("GAME ctf\n{four}{others}START\n");
        client.tell(&game).await;
        let advice = several(&mut client, "REBALANCE seed=1\n").await;
        let moves = if others.is_empty() { 2 } else { 1 };
        assert_eq!(advice.len(), 1 + moves, "{advice:?}");
    }
}

#[tokio::test]
async fn a_party_does_not_leave_a_team_empty_or_outnumbered() {
    let (daemon, _clock) = daemon("", &[]).await;
    for (teams, moves) in [
        (vec!["ppp", ""], 1),
        (vec!["pppp", ""], 2),
        (vec!["pppp", "-"], 1),
        (vec!["pppqqq", "rr"], 2),
        (vec!["pppp", "", ""], 2),
    ] {
        let mut client = daemon.client().await;
        let mut game = format!("GAME ctf\nTEAMS {}\nMINPLAYERS 0\n", teams.len());
        for (team, parties) in teams.iter().enumerate() {
            for (n, party) in parties.chars().enumerate() {
                let party = match party {
                    '-' => String::new(),
                    party => format!(" party={party}"),
                };
                game.push_str(&format!("JOIN t{team}n{n} team={team}{party}\n"));
            }
        }
        client.tell(&format!("{game}START\n")).await;
        let advice = several(&mut client, "REBALANCE seed=1\n").await;
        assert_eq!(advice.len(), 1 + moves, "{teams:?} {advice:?}");
        let why = why(&mut client).await;
        let torn = why.iter().filter(|line| line.contains("is torn, because"));
        assert_eq!(torn.count(), 1, "{why:?}");
        let done: String = advice[1..]
            .iter()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                format!("MOVE {} {}\n", words[1], words[3])
            })
            .collect();
        client.tell(&done).await;
        let advice = several(&mut client, "REBALANCE seed=2\n").await;
        assert_eq!(advice.len(), 1, "{teams:?} {advice:?}");
    }
}

#[tokio::test]
async fn the_party_that_keeps_the_better_team_together_is_named() {
    let (daemon, _clock) = daemon("", &[90, 80, 20, 10]).await;
    let mut client = daemon.client().await;
    let friends = "JOIN w90 team=0 party=p\nJOIN w80 team=0 party=p\n";
    let game =
        format!("GAME ctf\nMINPLAYERS 0\n{friends}JOIN w20 team=1\nJOIN w10 team=1\nSTART\n");
    client.tell(&game).await;
    assert!(
        client
            .ask("REBALANCE seed=1\n")
            .await
            .starts_with("REBALANCE 0 ")
    );
    let why = why(&mut client).await;
    let named = "WHY nobody moves, because the party of w90, w80 stays together";
    assert!(why.iter().any(|line| line.starts_with(named)), "{why:?}");
}

#[tokio::test]
async fn bots_are_expected_from_who_shows_that_they_come_over_game_and_resume() {
    let (daemon, clock) = daemon("", &[]).await;
    let four = "JOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=0\nJOIN e team=1\n";
    let no_moves = "REBALANCE 0 0.250000 1.000000";
    for (n, shown) in [
        "BOTJOIN x 0\nBOTLEAVE x\n",
        "BOT x\n",
        "MEANBOT\n",
        "BOTS\n",
    ]
    .into_iter()
    .enumerate()
    {
        let mut client = daemon.client().await;
        client.ask(&format!("HELLO s{n}\n")).await;
        client.send(&format!("GAME ctf\n{shown}PING\n")).await;
        while client.line().await != "PONG" {}
        let ask = format!("GAME ctf\n{four}REBALANCE\n");
        assert_eq!(client.ask(&ask).await, no_moves, "{shown}");
        // Another connection goes on with the game.
        let mut next = daemon.client().await;
        assert!(
            next.ask(&format!("HELLO s{n} resume=yes\n"))
                .await
                .ends_with(" resumed")
        );
        assert_eq!(next.ask("REBALANCE\n").await, no_moves, "{shown}");
        next.talk("GAME ctf\n").await;
        clock.pass(1_000_000);
    }
    let mut client = daemon.client().await;
    client.ask("HELLO t bots=yes\n").await;
    assert_eq!(
        client.ask(&format!("GAME ctf\n{four}REBALANCE\n")).await,
        no_moves
    );
    let mut none = daemon.client().await;
    none.ask("HELLO u bots=no\n").await;
    let ask = format!("GAME ctf\nBOTJOIN x 0\nBOTLEAVE x\n{four}REBALANCE\n");
    assert!(none.ask(&ask).await.starts_with("REBALANCE 1 "));
}

#[tokio::test]
async fn balance_and_bots_go_on_saying_how_many_should_come() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client.tell("GAME ctf\nJOIN a\nJOIN b\nJOIN c\n").await;
    let balanced = several(&mut client, "BALANCE\n").await;
    let bots: u32 = balanced[4..]
        .iter()
        .map(|line| line[7..].parse::<u32>().unwrap())
        .sum();
    assert_eq!(bots, 3, "{balanced:?}");
    assert!(client.ask("BOTS\n").await.starts_with("BOTS 6 "));
}

// 3. Parties.

#[tokio::test]
async fn a_party_comes_together_on_the_side_that_holds_it() {
    let (daemon, _clock) = daemon("", &[]).await;
    let teams = "JOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=1\nJOIN e team=1\n";
    let party = "JOIN n1 party=P\nJOIN n2 party=P\n";
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\nMINPLAYERS 0\n{teams}{party}"))
        .await;
    assert!(client.ask("PLACE n1\n").await.starts_with("PLACE n1 1 "));
    assert!(why(&mut client).await[1].contains("with their party"));
    assert!(client.ask("PLACE n2\n").await.starts_with("PLACE n2 1 "));
    assert!(why(&mut client).await[1].contains("with their party"));
    // One against one more than that: no side holds two.
    let even = format!("GAME ctf\nMINPLAYERS 0\n{teams}JOIN f team=1\n{party}");
    client.tell(&even).await;
    let (one, two) = (
        client.ask("PLACE n1\n").await,
        client.ask("PLACE n2\n").await,
    );
    assert_ne!(one.split(' ').nth(2), two.split(' ').nth(2), "{one} {two}");
    assert!(why(&mut client).await[1].contains("party is torn"));
}

#[tokio::test]
async fn a_party_that_no_team_holds_is_torn_as_little_as_needed() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nJOIN a party=p\nJOIN b party=p\nJOIN c party=p\nJOIN d\n")
        .await;
    let teams = several(&mut client, "BALANCE\n").await;
    let of: Vec<&str> = teams[1..4].iter().map(|line| &line[5..6]).collect();
    let ones = of.iter().filter(|team| **team == "1").count();
    assert!(ones == 1 || ones == 2, "{teams:?}");
    let why = why(&mut client).await;
    assert!(
        why.iter()
            .any(|line| line.contains("party of a, b, c is torn")),
        "{why:?}"
    );
}

#[tokio::test]
async fn pins_are_obeyed_and_their_cost_is_said() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN a pin=1\nJOIN b pin=1\n")
        .await;
    let teams = several(&mut client, "BALANCE\n").await;
    assert_eq!(teams[1..3], ["TEAM 1 a", "TEAM 1 b"]);
    let why = why(&mut client).await;
    assert!(
        why.iter().any(|line| line.contains("pins are obeyed")),
        "{why:?}"
    );
    assert!(
        why.iter()
            .any(|line| line.contains("without the pins: ratio 1.000000")),
        "{why:?}"
    );
    assert!(
        client
            .ask("JOIN c pin=2\n")
            .await
            .starts_with("ERROR bad-argument")
    );
    // Friends who are pinned apart are no error either.
    client
        .tell("GAME ctf\nJOIN a pin=0 party=p\nJOIN b pin=1 party=p\nJOIN c party=p\n")
        .await;
    let teams = several(&mut client, "BALANCE\n").await;
    assert_eq!(teams[1..3], ["TEAM 0 a", "TEAM 1 b"]);
}

// 4. Auto-balance among equals.

/// Nine against seven unknown players, who have joined in this order.
fn nine_and_seven() -> String {
    let nine = (0..9).map(|n| format!("JOIN n{n} team=0\n"));
    let seven = (0..7).map(|n| format!("JOIN s{n} team=1\n"));
    nine.chain(seven).collect()
}

#[tokio::test]
async fn nobody_goes_from_the_seven_to_the_nine() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\n{}START\n", nine_and_seven()))
        .await;
    clock.pass(30_000);
    for n in 0..7 {
        client.tell(&format!("DEATH s{n}\n")).await;
    }
    // Among equals without points, nobody is among the best: even the first to come moves.
    assert_eq!(client.ask("DEATH n0\n").await, "MOVE n0 0 1");
}

#[tokio::test]
async fn everybody_of_the_nine_may_move_where_no_points_are_reported() {
    for who in 0..9 {
        let (daemon, clock) = daemon("", &[]).await;
        let mut client = daemon.client().await;
        client
            .tell(&format!("GAME ctf\n{}START\n", nine_and_seven()))
            .await;
        clock.pass(20_000);
        let moved = client.ask(&format!("DEATH n{who}\n")).await;
        assert_eq!(moved, format!("MOVE n{who} 0 1"));
    }
}

#[tokio::test]
async fn unevenness_during_warm_up_does_not_count() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\n{}", nine_and_seven()))
        .await;
    clock.pass(60_000);
    client.tell("START\nDEATH n0\n").await;
    clock.pass(19_999);
    client.tell("DEATH n1\n").await;
    clock.pass(1);
    assert_eq!(client.ask("DEATH n2\n").await, "MOVE n2 0 1");
}

// 8. A game whose scores were never reported, and BALANCE said again.

const TEN_MINUTES: u64 = 600_000;

#[tokio::test]
async fn a_game_whose_scores_were_never_reported_is_no_draw() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let game = "GAME ctf\nJOIN a team=0\nJOIN b team=1\nSTART\n";
    let mut play = async |reports: &str, end: &str| {
        client.tell(&format!("{game}{reports}")).await;
        clock.pass(TEN_MINUTES);
        client.ask(end).await
    };
    let silent = play("KILL a b\n", "END\n").await;
    assert!(silent.ends_with("unrated no-scores"), "{silent}");
    for end in ["END draw\n", "END 1\n"] {
        assert!(play("KILL a b\n", end).await.ends_with(" recorded"));
    }
    // A score of 0 is reported, and 0:0 a draw, from then on.
    assert!(play("SCORE 0 0\n", "END\n").await.ends_with(" recorded"));
    assert!(play("KILL a b\n", "END\n").await.ends_with(" recorded"));
}

#[tokio::test]
async fn a_session_that_sends_scores_does_so_under_every_name_of_the_game_type() {
    let toml = "[game_types.aliases]\n\"my.ctf\" = \"baseoa.ctf\"\n\"your.ctf\" = \"baseoa.ctf\"";
    for (first, second, known) in [
        ("my.ctf", "BaseOA.CTF", true),
        ("baseoa.ctf", "My.Ctf", true),
        ("my.ctf", "YOUR.CTF", true),
        ("my.ctf", "ctf", false),
    ] {
        let (daemon, clock) = daemon(toml, &[]).await;
        let mut client = daemon.client().await;
        let game = "JOIN a team=0\nJOIN b team=1\nSTART\n";
        client.tell(&format!("GAME {first}\n{game}SCORE 1\n")).await;
        clock.pass(TEN_MINUTES);
        assert!(client.ask("END\n").await.ends_with(" recorded"));
        client.tell(&format!("GAME {second}\n{game}")).await;
        clock.pass(TEN_MINUTES);
        let end = client.ask("END\n").await;
        assert_eq!(end.ends_with(" recorded"), known, "{first} {second} {end}");
    }
}

#[tokio::test]
async fn kills_are_the_result_where_frags_count_and_there_are_no_teams() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell("GAME XGame.xDeathMatch\nJOIN a\nJOIN b\nSTART\nKILL a b\nKILL a b\nKILL b a\n")
        .await;
    clock.pass(TEN_MINUTES);
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    daemon.service.learning().refresh().await.unwrap();
    let of = |line: String| line.split(' ').nth(2).map(|w| w.parse::<f64>().unwrap());
    let a = of(client.ask("PLAYER a\n").await).unwrap();
    let b = of(client.ask("PLAYER b\n").await).unwrap();
    assert!(a > b, "{a} {b}");
}

#[tokio::test]
async fn balance_said_again_keeps_the_teams() {
    let (daemon, _clock) = daemon("", &[10, 20, 30, 40, 50, 60, 70, 80]).await;
    let mut client = daemon.client().await;
    let joins: String = (1..=8).map(|n| format!("JOIN w{n}0\n")).collect();
    client.tell(&format!("GAME ctf\n{joins}")).await;
    let first = several(&mut client, "BALANCE seed=1\n").await;
    for seed in 2..20 {
        let again = several(&mut client, &format!("BALANCE seed={seed}\n")).await;
        assert_eq!(again[1..], first[1..], "{seed}");
    }
    client.tell("JOIN new\n").await;
    assert_eq!(several(&mut client, "BALANCE\n").await.len(), 12);
}

// Further situations of the same kinds.

/// The team in the answer to PLACE.
pub(crate) async fn placed(client: &mut Client, id: &str) -> u8 {
    let answer = client.ask(&format!("PLACE {id}\n")).await;
    let team = answer.split(' ').nth(2).and_then(|team| team.parse().ok());
    team.unwrap_or_else(|| panic!("{answer}"))
}

/// JOIN lines for so many unknown players on each team, named by team and number.
pub(crate) fn unknowns(sizes: &[usize]) -> String {
    let team = |(team, &size): (usize, &usize)| {
        (0..size)
            .map(|n| format!("JOIN t{team}n{n} team={team}\n"))
            .collect::<String>()
    };
    sizes.iter().enumerate().map(team).collect()
}

#[tokio::test]
async fn bots_that_left_are_still_those_of_a_server_that_has_bots() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell(&format!(
            "GAME ctf\nBOTJOIN x 0\nBOTLEAVE x\n{}START\n",
            unknowns(&[4, 1])
        ))
        .await;
    assert_eq!(
        client.ask("REBALANCE\n").await,
        "REBALANCE 0 0.250000 1.000000"
    );
    // It takes that back with its name.
    client.ask("HELLO s bots=no\n").await;
    let advice = several(&mut client, "REBALANCE\n").await;
    assert_eq!(advice.len(), 2, "{advice:?}");
}

#[tokio::test]
async fn no_bots_are_expected_where_the_configuration_has_none() {
    let (daemon, _clock) = daemon("lobby.bots = false", &[]).await;
    let mut client = daemon.client().await;
    client.ask("HELLO s bots=yes\n").await;
    let game = format!("GAME ctf\n{}START\n", unknowns(&[4, 1]));
    client.tell(&game).await;
    assert_eq!(client.ask("BOTS\n").await, "BOTS 0 0 0");
    let advice = several(&mut client, "REBALANCE\n").await;
    assert_eq!(advice[0], "REBALANCE 1 0.250000 0.666667", "{advice:?}");
    assert!(client.ask("ADVANTAGE\n").await.starts_with("ADVANTAGE 1 "));
    client.tell("JOIN late\n").await;
    assert_eq!(placed(&mut client, "late").await, 1);
}

#[tokio::test]
async fn advantage_counts_bots_that_come_and_no_others() {
    let (daemon, _clock) = daemon("", &[]).await;
    for (hello, expected) in [
        ("HELLO s\n", "ADVANTAGE 1 1.500"),
        ("HELLO s bots=no\n", "ADVANTAGE 1 1.500"),
        ("HELLO s bots=yes\n", "ADVANTAGE - 1.000"),
    ] {
        let mut client = daemon.client().await;
        client.ask(hello).await;
        client
            .tell(&format!("GAME ctf\n{}START\n", unknowns(&[4, 1])))
            .await;
        assert_eq!(client.ask("ADVANTAGE\n").await, expected, "{hello}");
    }
}

#[tokio::test]
async fn auto_balance_counts_bots_that_come_and_no_others() {
    let (daemon, clock) = daemon("", &[]).await;
    for (hello, moves) in [("", true), ("HELLO s bots=yes\n", false)] {
        let mut client = daemon.client().await;
        if !hello.is_empty() {
            client.ask(hello).await;
        }
        client
            .tell(&format!("GAME ctf\n{}START\n", nine_and_seven()))
            .await;
        clock.pass(20_000);
        match moves {
            true => assert_eq!(client.ask("DEATH n0\n").await, "MOVE n0 0 1"),
            false => client.tell("DEATH n0\n").await,
        }
    }
}

#[tokio::test]
async fn of_three_teams_the_smallest_is_filled_first() {
    let (daemon, _clock) = daemon("", &[]).await;
    for (sizes, expected) in [
        ([3, 2, 3], 1),
        ([4, 4, 1], 2),
        ([0, 1, 1], 0),
        ([2, 3, 4], 0),
    ] {
        let mut client = daemon.client().await;
        let game = format!("GAME ctf\nTEAMS 3\n{}JOIN late\n", unknowns(&sizes));
        client.tell(&game).await;
        assert_eq!(placed(&mut client, "late").await, expected, "{sizes:?}");
    }
    let mut client = daemon.client().await;
    let game = format!("GAME ctf\nTEAMS 3\n{}START\n", unknowns(&[4, 1, 1]));
    client.tell(&game).await;
    let advice = several(&mut client, "REBALANCE\n").await;
    let to: Vec<&str> = advice[1..]
        .iter()
        .map(|line| &line[line.len() - 3..])
        .collect();
    assert!(
        to.iter().all(|step| step.starts_with('0')) && !to.is_empty(),
        "{advice:?}"
    );
}

#[tokio::test]
async fn a_pin_is_obeyed_even_against_the_short_side() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\n{}JOIN late pin=1\n", unknowns(&[1, 3])))
        .await;
    assert_eq!(placed(&mut client, "late").await, 1);
    assert!(why(&mut client).await[1].contains("pinned"));
}

#[tokio::test]
async fn who_returns_within_five_minutes_gets_the_old_team_unless_it_is_the_larger_one_by_then() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let game = format!("GAME ctf\n{}START\n", unknowns(&[3, 3]));
    client.tell(&format!("{game}LEAVE t1n0\n")).await;
    clock.pass(299_000);
    client.tell("JOIN t1n0\n").await;
    assert_eq!(placed(&mut client, "t1n0").await, 1);
    // The place was taken meanwhile: 3 against 3, then 2 against 3.
    client
        .tell(&format!("{game}LEAVE t1n0\nJOIN x team=1\n"))
        .await;
    client.tell("JOIN t1n0\n").await;
    assert_eq!(placed(&mut client, "t1n0").await, 1);
    client
        .tell(&format!("{game}LEAVE t1n0\nJOIN x team=1\nLEAVE t0n0\n"))
        .await;
    client.tell("JOIN t1n0\n").await;
    assert_eq!(placed(&mut client, "t1n0").await, 0);
}

#[tokio::test]
async fn a_party_of_three_comes_together_or_is_torn_by_as_little_as_needed() {
    let (daemon, _clock) = daemon("", &[]).await;
    let party = "JOIN p0 party=P\nJOIN p1 party=P\nJOIN p2 party=P\n";
    for (sizes, expected) in [
        ([4, 2], Some(1)),
        ([5, 2], Some(1)),
        ([3, 2], None),
        ([3, 3], None),
    ] {
        let mut client = daemon.client().await;
        client
            .tell(&format!("GAME ctf\n{}{party}", unknowns(&sizes)))
            .await;
        let mut teams = Vec::new();
        let mut reasons = Vec::new();
        for n in 0..3 {
            teams.push(placed(&mut client, &format!("p{n}")).await);
            reasons.push(why(&mut client).await[1].clone());
        }
        match expected {
            Some(team) => assert_eq!(teams, [team; 3], "{sizes:?} {reasons:?}"),
            None => {
                let ones = teams.iter().filter(|team| **team == 1).count();
                let [zero, one] = sizes;
                let after = (zero + 3 - ones).abs_diff(one + ones);
                assert!(after <= 1, "{sizes:?} {teams:?}");
                let torn = reasons.iter().any(|reason| reason.contains("torn"));
                assert!(torn, "{sizes:?} {reasons:?}");
            }
        }
    }
}

#[tokio::test]
async fn wishes_that_no_teams_grant_leave_nobody_without_a_team() {
    let (daemon, _clock) = daemon("", &[]).await;
    for (joins, humans) in [
        ("JOIN a party=p\nJOIN b party=p\n", 2),
        ("JOIN a party=p\nJOIN b party=p\nJOIN c party=p\n", 3),
        ("JOIN a pin=0\n", 1),
        ("JOIN a pin=0\nJOIN b pin=0\nJOIN c pin=0\nJOIN d\n", 4),
        (
            "JOIN a pin=0 party=p\nJOIN b pin=0 party=p\nJOIN c pin=1 party=p\n",
            3,
        ),
        (
            "JOIN a party=p pin=1\nJOIN b party=p\nJOIN c party=p\nJOIN d pin=1\n",
            4,
        ),
        (
            "TEAMS 3\nJOIN a pin=2\nJOIN b pin=2\nJOIN c pin=2\nJOIN d party=q\nJOIN e party=q\n",
            5,
        ),
        (
            "TEAMS 8\nJOIN a party=p\nJOIN b party=p\nJOIN c party=p\n",
            3,
        ),
    ] {
        for mode in ["", "MINPLAYERS 0\n", "MINPLAYERS 16\n"] {
            let mut client = daemon.client().await;
            client.tell(&format!("GAME ctf\n{mode}{joins}")).await;
            let teams = several(&mut client, "BALANCE\n").await;
            assert!(teams[0].starts_with("BALANCE "), "{joins} {teams:?}");
            let of = |id: &str| {
                let line = teams.iter().find(|line| line.ends_with(&format!(" {id}")));
                line.map(|line| line.split(' ').nth(1).unwrap().to_owned())
            };
            let all = ["a", "b", "c", "d", "e"];
            assert_eq!(all.iter().filter(|id| of(id).is_some()).count(), humans);
            for line in joins.lines().filter(|line| line.contains("pin=")) {
                let (_, pin) = line.split_once("pin=").unwrap();
                assert_eq!(
                    of(&line[5..6]).as_deref(),
                    Some(&pin[..1]),
                    "{joins} {teams:?}"
                );
            }
            assert!(several(&mut client, "EXPLAIN\n").await.len() > 1);
        }
    }
}

#[tokio::test]
async fn a_party_of_three_of_four_keeps_two_together() {
    let (daemon, _clock) = daemon("", &[90, 10, 50, 40]).await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nJOIN w90 party=p\nJOIN w10 party=p\nJOIN w50 party=p\nJOIN w40\n")
        .await;
    let teams = several(&mut client, "BALANCE\n").await;
    let of: Vec<&str> = teams[1..5].iter().map(|line| &line[5..6]).collect();
    assert_eq!(
        of.iter().filter(|team| **team == "1").count(),
        2,
        "{teams:?}"
    );
    // Torn already, BALANCE keeps these teams.
    let again = several(&mut client, "BALANCE\n").await;
    assert_eq!(again[1..], teams[1..]);
}

#[tokio::test]
async fn deaths_in_warm_up_move_nobody() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell(&format!("GAME ctf\n{}", nine_and_seven()))
        .await;
    clock.pass(600_000);
    for n in 0..9 {
        client.tell(&format!("DEATH n{n}\n")).await;
    }
}

#[tokio::test]
async fn whose_points_are_not_reported_is_not_among_the_best() {
    // Of the nine, one has points. The eight others may move, whoever joined last.
    for who in 0..9 {
        let (daemon, clock) = daemon("", &[]).await;
        let mut client = daemon.client().await;
        client
            .tell(&format!(
                "GAME ctf\n{}START\nPOINTS n3 20\n",
                nine_and_seven()
            ))
            .await;
        clock.pass(20_000);
        if who == 3 {
            client.tell("DEATH n3\n").await;
        } else {
            let moved = client.ask(&format!("DEATH n{who}\n")).await;
            assert_eq!(moved, format!("MOVE n{who} 0 1"));
        }
    }
}

#[tokio::test]
async fn a_move_that_leaves_a_difference_of_ten_is_made_and_one_of_more_is_not() {
    for (who, moves) in [("w30", true), ("w31", false)] {
        let weights = [30, 31, 35, 45, 60];
        let custom = "custom = { power = 'weight', like_sizes = 'off' }";
        let rules = format!("auto_balance = {{ rules = 'custom', {custom} }}");
        let (daemon, clock) = daemon(&rules, &weights).await;
        let mut client = daemon.client().await;
        client
            .tell(&format!(
                "GAME ctf\nJOIN {who} team=0\nJOIN w35 team=0\nJOIN w45 team=0\nJOIN w60 team=1\nSTART\n"
            ))
            .await;
        clock.pass(20_000);
        // 35 and 45 stay; 60 and 30, or 31, are against them.
        match moves {
            true => {
                let moved = client.ask(&format!("DEATH {who}\n")).await;
                assert_eq!(moved, format!("MOVE {who} 0 1"));
            }
            false => client.tell(&format!("DEATH {who}\n")).await,
        }
    }
}

#[tokio::test]
async fn balance_keeps_the_teams_for_who_left_and_came_back() {
    let (daemon, _clock) = daemon("", &[10, 20, 30, 40, 50, 60, 70, 80]).await;
    let mut client = daemon.client().await;
    let joins: String = (1..=8).map(|n| format!("JOIN w{n}0\n")).collect();
    client.tell(&format!("GAME ctf\n{joins}")).await;
    let teams = |mut lines: Vec<String>| {
        lines.retain(|line| line.starts_with("TEAM"));
        lines.sort();
        lines
    };
    let first = teams(several(&mut client, "BALANCE seed=1\n").await);
    for seed in 2..8 {
        let back = format!("LEAVE w{seed}0\nJOIN w{seed}0\n");
        client.tell(&back).await;
        let ask = format!("BALANCE seed={seed}\n");
        let again = teams(several(&mut client, &ask).await);
        assert_eq!(again, first, "{seed}");
    }
    // Who chose another team meanwhile is on it, and the choice is free.
    client.tell("MOVE w10 0\nMOVE w20 0\nMOVE w30 0\n").await;
    assert_eq!(several(&mut client, "BALANCE\n").await.len(), 11);
}

#[tokio::test]
async fn scores_of_another_game_type_or_session_do_not_make_a_draw() {
    let (daemon, clock) = daemon("", &[]).await;
    let game = |of: &str| format!("GAME {of}\nJOIN a team=0\nJOIN b team=1\nSTART\n");
    let mut client = daemon.client().await;
    client.tell(&format!("{}SCORE 1\n", game("ctf"))).await;
    clock.pass(TEN_MINUTES);
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    client.tell(&game("tdm")).await;
    clock.pass(TEN_MINUTES);
    let other = client.ask("END\n").await;
    assert!(other.ends_with("unrated no-scores"), "{other}");
    client.tell(&game("CTF")).await;
    clock.pass(TEN_MINUTES);
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    // START again after END is another game of the session.
    client.tell("START\n").await;
    clock.pass(TEN_MINUTES);
    assert!(client.ask("END\n").await.ends_with(" recorded"));
    let mut next = daemon.client().await;
    next.tell(&game("ctf")).await;
    clock.pass(TEN_MINUTES);
    assert!(next.ask("END\n").await.ends_with("unrated no-scores"));
}

// A giant among beginners.

#[tokio::test]
async fn a_giant_gets_the_weakest_team_mates() {
    let (daemon, _clock) = daemon("", &[99, 30, 20, 10, 5, 1]).await;
    let mut client = daemon.client().await;
    let joins = [10, 99, 20, 5, 30, 1].map(|weight| format!("JOIN w{weight}\n"));
    client
        .tell(&format!("GAME ctf\nMINPLAYERS 0\n{}", joins.concat()))
        .await;
    let teams = several(&mut client, "BALANCE top=1 seed=1\n").await;
    let team = |id: &str| {
        let line = teams
            .iter()
            .find(|line| line.ends_with(&format!(" {id}")))
            .unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!([team("w5"), team("w1")], [team("w99"), team("w99")]);
}

#[tokio::test]
async fn a_giant_alone_against_five_beginners_stays_alone() {
    let (daemon, _clock) = daemon("", &[99, 30, 20, 10, 5, 1]).await;
    let mut client = daemon.client().await;
    let five = [10, 20, 5, 30, 1].map(|weight| format!("JOIN w{weight} team=1\n"));
    client
        .tell(&format!(
            "GAME ctf\nMINPLAYERS 0\nJOIN w99 team=0\n{}START\n",
            five.concat()
        ))
        .await;
    let advice = client.ask("REBALANCE seed=1\n").await;
    assert!(advice.starts_with("REBALANCE 0 "), "{advice}");
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE 1 1.500");
    let why = why(&mut client).await;
    assert!(
        why.iter()
            .any(|line| line.contains("team 0: 1 player, weight 99")),
        "{why:?}"
    );
}

#[tokio::test]
async fn a_friend_comes_to_their_friend_unless_that_makes_the_larger_team_larger() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    for (ones, twos, team, torn) in [(2, 2, 1, false), (3, 2, 1, false), (2, 3, 0, true)] {
        let mut lines = "GAME ctf\nMINPLAYERS 0\nJOIN friend team=1 party=P\n".to_owned();
        for (side, count) in [(0, ones), (1, twos - 1)] {
            (0..count).for_each(|n| lines.push_str(&format!("JOIN x{side}{n} team={side}\n")));
        }
        client
            .tell(&format!("{lines}START\nJOIN n party=P\n"))
            .await;
        let reply = client.ask("PLACE n\n").await;
        assert!(reply.starts_with(&format!("PLACE n {team} ")), "{reply}");
        let why = why(&mut client).await;
        let words = if torn { "torn" } else { "with their party" };
        assert!(why[1].contains(words), "{ones} v {twos}: {why:?}");
    }
}
