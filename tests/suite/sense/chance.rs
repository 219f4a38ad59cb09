//! Even means an even chance: decisions go by what the rating system predicts with the heads that are
//! there, and help for a team is the strength that it surely lacks.

use std::sync::Arc;

use evenkeel::{
    model::{Kind, PlayerKey, Ruleset},
    session::HandClock,
};

use super::several;
use crate::common::{Client, Daemon, draw::Draw, game};

pub(crate) fn ids(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("p{n:02}")).collect()
}

/// A daemon that has learned from `matches` games of 5 goals between random halves of 12 players; `strength` is
/// how much a player adds to the chance of a goal.
pub(crate) async fn after(
    toml: &str,
    seed: u64,
    matches: i64,
    strength: impl Fn(&str) -> f64,
) -> (Daemon, Arc<HandClock>) {
    after_on(0.0, toml, seed, matches, strength).await
}

/// The same on a map whose red side adds so much to the chance of a goal.
pub(crate) async fn after_on(
    side: f64,
    toml: &str,
    seed: u64,
    matches: i64,
    strength: impl Fn(&str) -> f64,
) -> (Daemon, Arc<HandClock>) {
    let (daemon, clock) = Daemon::start_by_hand(toml).await;
    let mut draw = Draw(seed);
    for number in 0..matches {
        let mut players = ids(12);
        draw.shuffle(&mut players);
        let (red, blue) = players.split_at(6);
        let sum = |team: &[String]| team.iter().map(|id| strength(id)).sum::<f64>();
        let edge = side + sum(red) - sum(blue);
        let mut scores = [0.0, 0.0];
        for _ in 0..5 {
            scores[usize::from(draw.unit() > 0.5 + edge)] += 1.0;
        }
        let seats = |team: &[String]| -> Vec<(Kind, String)> {
            team.iter().map(|id| (Kind::Human, id.clone())).collect()
        };
        let (red, blue) = (seats(red), seats(blue));
        let seats =
            |team: &[(Kind, String)]| -> Vec<(Kind, &str)> { Vec::with_capacity(team.len()) };
        let (mut reds, mut blues) = (seats(&red), seats(&blue));
        reds.extend(red.iter().map(|(kind, id)| (*kind, id.as_str())));
        blues.extend(blue.iter().map(|(kind, id)| (*kind, id.as_str())));
        let record = game(number * 20, &reds, &blues, scores);
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

pub(crate) fn equal(_: &str) -> f64 {
    0.0
}

/// The better half is p00 to p05.
pub(crate) fn halves(id: &str) -> f64 {
    if id < "p06" { 0.04 } else { -0.04 }
}

/// GAME, and these on their teams.
pub(crate) fn teams(red: &[String], blue: &[String]) -> String {
    let mut lines = "GAME ctf\nMAP field\nMINPLAYERS 0\n".to_owned();
    for (team, ids) in [red, blue].into_iter().enumerate() {
        for id in ids {
            lines.push_str(&format!("JOIN {id} team={team}\n"));
        }
    }
    lines
}

/// The first number that follows `words` in the line.
pub(crate) fn number_after(line: &str, words: &str) -> f64 {
    let rest = line.split(words).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("{words}: {line}"));
    let number = rest.trim_start().split([' ', ',', ';', ':']).next();
    number.unwrap().parse().unwrap()
}

/// The team and the factor of a reply to ADVANTAGE.
pub(crate) fn help(reply: &str) -> (String, f64) {
    let words: Vec<&str> = reply.split(' ').collect();
    assert_eq!(words[0], "ADVANTAGE", "{reply}");
    (words[1].to_owned(), words[2].parse().unwrap())
}

// PLACE, REBALANCE and BALANCE.

#[tokio::test]
async fn a_late_arrival_goes_where_the_chances_are_most_even() {
    let (daemon, _clock) = after("balance.objective = 'chance'", 3, 80, halves).await;
    let mut client = daemon.client().await;
    let mut draw = Draw(17);
    for _ in 0..20 {
        let mut players = ids(12);
        draw.shuffle(&mut players);
        let late = players.pop().unwrap();
        let lines = teams(&players[..5], &players[5..10]);
        client.tell(&format!("{lines}START\nJOIN {late}\n")).await;
        let placed = client.ask(&format!("PLACE {late}\n")).await;
        let team: usize = placed.split(' ').nth(2).unwrap().parse().unwrap();
        let why = client.reasons("EXPLAIN\n").await;
        let chance = |team: usize| {
            let start = format!("team {team}: chance of the weaker team");
            let line = why.iter().find(|line| line.starts_with(&start));
            number_after(line.unwrap_or_else(|| panic!("{why:?}")), "weaker team")
        };
        assert!(chance(team) >= chance(1 - team), "{placed}: {why:?}");
        assert!(chance(team) <= 0.5);
    }
}

#[tokio::test]
async fn rebalance_makes_the_chances_even_and_says_so() {
    let (daemon, _clock) = after("balance.objective = 'chance'", 4, 80, halves).await;
    let mut client = daemon.client().await;
    let players = ids(12);
    client
        .tell(&format!("{}START\n", teams(&players[..6], &players[6..])))
        .await;
    let advice = client.ask("REBALANCE seed=1\n").await;
    let moves: usize = advice.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(moves >= 2, "{advice}");
    for _ in 0..moves {
        client.line().await;
    }
    let why = client.reasons("EXPLAIN\n").await;
    let now = number_after(&why[0], "weaker team");
    let after = number_after(&why[0], "now,");
    assert!(now < 0.4 && after > now && after <= 0.5, "{why:?}");
    assert!(why[1].contains("ratio"), "{why:?}");
}

#[tokio::test]
async fn explain_says_where_a_strength_differs_from_the_weight() {
    for objective in ["ratio", "chance"] {
        let toml = format!("balance.objective = '{objective}'");
        let (daemon, _clock) = Daemon::start_by_hand(&toml).await;
        let store = daemon.service.store();
        // p00 loses to p01, who then beats everybody: so p00 was not so weak, but has not played since.
        let duels = (0..12).map(|number: i64| if number == 0 { 0 } else { 2 + number % 4 });
        for (number, loser) in duels.enumerate() {
            let loser = format!("p0{loser}");
            let (winner, loser) = ([(Kind::Human, "p01")], [(Kind::Human, &*loser)]);
            let record = game(number as i64 * 20, &winner, &loser, [5.0, 0.0]);
            store.matches().record(&record).await.unwrap();
        }
        let (kind, id) = (Kind::Human, "p05".to_owned());
        let pinned = PlayerKey { kind, id };
        store
            .corrections()
            .pin_weight(&pinned, Some(20.0))
            .await
            .unwrap();
        daemon.service.learning().refresh().await.unwrap();
        let mut client = daemon.client().await;
        let players = ids(6);
        let lines = teams(&players[..3], &players[3..]);
        client.tell(&format!("{lines}START\nJOIN late\n")).await;
        client.ask("PLACE late\n").await;
        let why = client.reasons("EXPLAIN\n").await;
        let standings = daemon.service.learning().standings();
        let view = standings.view(&Ruleset::parse("ctf"));
        let mut apart = 0;
        for id in &players {
            let start = format!("strength and weight differ: {id} counts");
            let said = why.iter().find(|line| line.starts_with(&start));
            let player = client.ask(&format!("PLAYER {id}\n")).await;
            let weight = number_after(&player, id);
            let points = view.points(Kind::Human, id).unwrap();
            let differs = (points - weight).abs() > 1.0 && objective == "chance";
            assert_eq!(said.is_some(), differs, "{id} {points} {weight}: {why:?}");
            if let Some(line) = said {
                assert!((number_after(line, "counts") - points).abs() < 0.001);
                assert!((number_after(line, "weight is") - weight).abs() < 0.001);
                apart += 1;
            }
        }
        assert_eq!(apart > 0, objective == "chance", "{why:?}");
        let of_pinned = view.points(Kind::Human, "p05").unwrap();
        assert!((of_pinned - 20.0).abs() < 1e-6, "{of_pinned}");
    }
}

#[tokio::test]
async fn four_against_one_is_even_by_no_objective() {
    for objective in ["ratio", "chance"] {
        let toml = format!("balance.objective = '{objective}'");
        let (daemon, _clock) = after(&toml, 5, 30, equal).await;
        let mut client = daemon.client().await;
        let players = ids(5);
        client
            .tell(&format!("{}START\n", teams(&players[..4], &players[4..])))
            .await;
        let advice = client.ask("REBALANCE seed=1\n").await;
        let moves: usize = advice.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(moves >= 1, "{objective}: {advice}");
    }
}

/// The chance of BALANCE for the pinned halves of twelve, who have joined with these words.
async fn chance(client: &mut Client, first: &str) -> f64 {
    let mut lines = "GAME ctf\nMAP field\nMINPLAYERS 0\n".to_owned();
    for (at, id) in ids(12).iter().enumerate() {
        let words = if at < 2 { first } else { "" };
        lines.push_str(&format!("JOIN {id} pin={} {words}\n", at / 6));
    }
    client.tell(&lines).await;
    let reply = client.ask("BALANCE top=1 seed=1\n").await;
    let words: Vec<String> = reply.split(' ').map(str::to_owned).collect();
    for _ in 0..words[1].parse::<usize>().unwrap() {
        client.line().await;
    }
    words[3].parse().unwrap()
}

#[tokio::test]
async fn the_chance_counts_parties_and_pinned_weights() {
    let toml = "balance.objective = 'chance'\nbalance.party_multiplier = [1.3]";
    let (daemon, _clock) = after(toml, 6, 30, equal).await;
    let mut client = daemon.client().await;
    let alone = chance(&mut client, "").await;
    let together = chance(&mut client, "party=P").await;
    assert!(together > alone + 0.02, "{alone} {together}");
    let pin = |id: &str, weight| {
        let (kind, id) = (Kind::Human, id.to_owned());
        let store = daemon.service.store().clone();
        async move {
            store
                .corrections()
                .pin_weight(&PlayerKey { kind, id }, weight)
                .await
        }
    };
    for (weight, stronger) in [(95.0, true), (5.0, false)] {
        pin("p02", Some(weight)).await.unwrap();
        daemon.service.learning().refresh().await.unwrap();
        let pinned = chance(&mut client, "").await;
        assert_eq!(pinned > alone, stronger, "{alone} {pinned}");
        assert!((pinned - alone).abs() > 0.05 && (0.01..0.99).contains(&pinned));
    }
}

/// Records matches of three against two, of which the two win all.
async fn fewer_win(daemon: &Daemon, matches: i64) {
    let players = ids(5);
    let seats: Vec<(Kind, &str)> = players
        .iter()
        .map(|id| (Kind::Human, id.as_str()))
        .collect();
    for number in 0..matches {
        let record = game(100_000 + number * 20, &seats[..3], &seats[3..], [0.0, 3.0]);
        daemon
            .service
            .store()
            .matches()
            .record(&record)
            .await
            .unwrap();
    }
    daemon.service.learning().refresh().await.unwrap();
}

/// The chance of team 0 if the teams have so many players of this pinned weight each.
async fn chance_of_equals(client: &mut Client, weight: u8, sizes: &[usize]) -> f64 {
    let mut lines = format!("GAME ctf\nTEAMS {}\nMAP field\nMINPLAYERS 0\n", sizes.len());
    for (team, size) in sizes.iter().enumerate() {
        for n in 0..*size {
            lines.push_str(&format!("JOIN e{weight}-{team}{n} pin={team}\n"));
        }
    }
    client.tell(&lines).await;
    let reply = several(client, "BALANCE top=1 seed=1\n").await;
    reply[0].split(' ').nth(3).unwrap().parse().unwrap()
}

#[tokio::test]
async fn of_equally_strong_players_the_larger_team_is_the_favourite() {
    const LEVELS: [u8; 5] = [0, 27, 50, 73, 100];
    for (seed, matches, uneven) in [(1, 1, 0), (2, 60, 0), (3, 20, 60)] {
        let (daemon, _clock) = after("", seed, matches, halves).await;
        for level in LEVELS {
            for (team, n) in (0..3).flat_map(|team| (0..6).map(move |n| (team, n))) {
                let (kind, id) = (Kind::Human, format!("e{level}-{team}{n}"));
                let key = PlayerKey { kind, id };
                let store = daemon.service.store();
                store
                    .corrections()
                    .pin_weight(&key, Some(level.into()))
                    .await
                    .unwrap();
            }
        }
        fewer_win(&daemon, uneven).await;
        let mut client = daemon.client().await;
        for level in LEVELS {
            for (fewer, more) in [(1, 2), (3, 4), (5, 6), (2, 4), (1, 5)] {
                // One of them has the better side of the map.
                let there = chance_of_equals(&mut client, level, &[more, fewer]).await;
                let here = 1.0 - chance_of_equals(&mut client, level, &[fewer, more]).await;
                let mean = (there + here) / 2.0;
                assert!(mean > 0.5, "{seed}: {more} v {fewer} of {level}: {mean}");
            }
            let third = 1.0 / 3.0;
            let larger = chance_of_equals(&mut client, level, &[3, 2, 2]).await;
            let smaller = chance_of_equals(&mut client, level, &[2, 3, 3]).await;
            assert!(
                smaller < third && third < larger,
                "{level}: {smaller} {larger}"
            );
        }
    }
}

#[tokio::test]
async fn decisions_by_chance_come_out_the_same_again() {
    let (daemon, _clock) = after("balance.objective = 'chance'", 7, 40, halves).await;
    let mut client = daemon.client().await;
    let players = ids(12);
    client
        .tell(&format!(
            "{}START\nJOIN p11\nSCORE 0\n",
            teams(&players[..6], &players[6..11])
        ))
        .await;
    for ask in ["PLACE p11\n", "ADVANTAGE\n"] {
        client.ask(ask).await;
    }
    for ask in ["REBALANCE seed=3\n", "BALANCE seed=3\n"] {
        let reply = client.ask(ask).await;
        for _ in 0..reply.split(' ').nth(1).unwrap().parse::<usize>().unwrap() {
            client.line().await;
        }
    }
    daemon.service.sessions().write_backlog().await.unwrap();
    for (id, kind) in (1..).zip(["place", "advantage", "rebalance", "balance"]) {
        let replayed = daemon.service.sessions().replay(id).await.unwrap();
        let replayed = replayed.unwrap_or_else(|| panic!("{kind}"));
        assert!(replayed.same, "{kind}: {:?}", replayed.why);
        assert_eq!(replayed.kind, kind);
    }
}

// ADVANTAGE.

/// Starts a game of teams of `size` drawn from twelve equals, who need no help.
async fn no_help_among_equals(client: &mut Client, draw: &mut Draw, size: usize) {
    let mut players = ids(12);
    draw.shuffle(&mut players);
    let lines = teams(&players[..size], &players[size..2 * size]);
    client.tell(&format!("{lines}START\n")).await;
    let reply = client.ask("ADVANTAGE\n").await;
    assert_eq!(reply, "ADVANTAGE - 1.000", "{size} a side");
}

#[tokio::test]
async fn twelve_equal_players_on_even_teams_need_no_help() {
    for seed in 0..10 {
        let (daemon, _clock) = after("", seed, 10 + 15 * seed as i64, equal).await;
        let mut client = daemon.client().await;
        let mut draw = Draw(100 + seed);
        for _ in 0..20 {
            no_help_among_equals(&mut client, &mut draw, 6).await;
        }
    }
}

#[tokio::test]
async fn a_team_that_is_surely_weaker_is_helped() {
    let (daemon, _clock) = after("", 8, 150, halves).await;
    let mut client = daemon.client().await;
    let players = ids(12);
    client
        .tell(&format!("{}START\n", teams(&players[..6], &players[6..])))
        .await;
    let (team, factor) = help(&client.ask("ADVANTAGE\n").await);
    assert_eq!(team, "1");
    assert!((1.05..1.5).contains(&factor), "{factor}");
}

#[tokio::test]
async fn who_is_there_counts_at_once_both_ways() {
    for matches in [0, 30] {
        let (daemon, _clock) = after("", 9, matches, equal).await;
        let mut client = daemon.client().await;
        let players = ids(8);
        client
            .tell(&format!("{}START\n", teams(&players[..3], &players[3..7])))
            .await;
        assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE 0 1.333");
        client.tell("JOIN p07 team=0\n").await;
        assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
        client.tell("LEAVE p06\n").await;
        assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE 1 1.333");
    }
}

#[tokio::test]
async fn the_score_comes_slowly() {
    let (daemon, clock) = after("", 10, 0, equal).await;
    let mut client = daemon.client().await;
    let players = ids(8);
    client
        .tell(&format!("{}START\n", teams(&players[..4], &players[4..])))
        .await;
    clock.pass(600_000);
    client.tell("CLOCK 600\n").await;
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
    for _ in 0..9 {
        client.tell("SCORE 1\n").await;
    }
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
    let mut before = 1.0;
    for minute in 1..=3 {
        clock.pass(60_000);
        let (team, factor) = help(&client.ask("ADVANTAGE\n").await);
        assert_eq!(team, "0", "minute {minute}");
        assert!(
            factor > before && factor <= before * 1.0505,
            "{before} {factor}"
        );
        before = factor;
    }
}

#[tokio::test]
async fn a_score_counts_by_how_far_such_matches_end_apart() {
    let mut factors = Vec::new();
    for (ours, theirs, final_lead) in [(1, 0, 3.0), (400, 300, 200.0), (400, 300, 20.0)] {
        let (daemon, clock) = Daemon::start_by_hand("").await;
        for number in 0..20 {
            let scores = match number % 2 {
                0 => [final_lead, 0.0],
                _ => [0.0, final_lead],
            };
            let mut record = game(
                number * 20,
                &[(Kind::Human, "a")],
                &[(Kind::Human, "b")],
                [1.0, 0.0],
            );
            record.events.clear();
            record.scores = scores.to_vec();
            record.outcome = evenkeel::model::MatchRecord::outcome_of(&scores);
            daemon
                .service
                .store()
                .matches()
                .record(&record)
                .await
                .unwrap();
        }
        daemon.service.learning().refresh().await.unwrap();
        let mut client = daemon.client().await;
        let players = ids(8);
        client
            .tell(&format!("{}START\n", teams(&players[..4], &players[4..])))
            .await;
        clock.pass(600_000);
        client
            .tell(&format!("SCORE 0 {ours}\nSCORE 1 {theirs}\nCLOCK 600\n"))
            .await;
        client.ask("ADVANTAGE\n").await;
        let why = client.reasons("EXPLAIN\n").await;
        let line = why.iter().find(|line| line.contains("by the score"));
        factors.push(number_after(line.unwrap(), "by the score"));
    }
    let [flag, usual, rare] = factors[..] else {
        panic!("{factors:?}")
    };
    assert!(flag > 1.02 && flag < 1.15, "a small lead: {factors:?}");
    assert!(
        usual > flag,
        "half of the usual lead is more than a third: {factors:?}"
    );
    assert!(rare > 1.3, "five times the usual lead: {factors:?}");
}

#[tokio::test]
async fn equals_need_no_help_in_teams_of_any_size() {
    for seed in 20..24 {
        let (daemon, _clock) = after("", seed, 40, equal).await;
        let mut client = daemon.client().await;
        let mut draw = Draw(seed);
        for size in [1, 1, 2, 2, 3, 3, 4, 4, 5] {
            no_help_among_equals(&mut client, &mut draw, size).await;
        }
    }
}

#[tokio::test]
async fn strangers_against_regulars_who_are_no_better_need_no_help() {
    let (daemon, _clock) = after("", 30, 60, equal).await;
    let mut client = daemon.client().await;
    let players = ids(12);
    let strangers: Vec<String> = (0..4).map(|n| format!("new{n}")).collect();
    client
        .tell(&format!("{}START\n", teams(&players[..4], &strangers)))
        .await;
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
}

/// One far better than eleven others.
pub(crate) fn giant(id: &str) -> f64 {
    if id == "p00" { 0.3 } else { 0.0 }
}

#[tokio::test]
async fn a_giant_among_beginners_is_helped_against_and_takes_that_along() {
    let (daemon, _clock) = after("", 31, 200, giant).await;
    let mut client = daemon.client().await;
    let players = ids(12);
    client
        .tell(&format!("{}START\n", teams(&players[..2], &players[2..4])))
        .await;
    let (team, factor) = help(&client.ask("ADVANTAGE\n").await);
    assert!(team == "1" && factor > 1.05, "{team} {factor}");
    // Another comes instead of the giant.
    client.tell("LEAVE p00\nJOIN p08 team=0\n").await;
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
    client.tell("LEAVE p08\nJOIN p00 team=0\n").await;
    assert_eq!(
        help(&client.ask("ADVANTAGE\n").await),
        (team, factor),
        "back at once"
    );
}

#[tokio::test]
async fn a_giant_who_comes_late_makes_a_team_that_is_one_short_complete_and_no_more() {
    let (daemon, _clock) = after("", 32, 120, giant).await;
    let mut client = daemon.client().await;
    let players = ids(12);
    for (here, there, team) in [(3, 4, "0"), (4, 3, "1")] {
        let lines = teams(&players[1..=here], &players[here + 1..=here + there]);
        client.tell(&format!("{lines}START\nJOIN p00\n")).await;
        let placed = client.ask("PLACE p00\n").await;
        assert_eq!(placed.split(' ').nth(2), Some(team), "{here} v {there}");
    }
}

#[tokio::test]
async fn weights_of_an_unrated_ruleset_help_nobody_who_is_not_surely_weaker() {
    let (daemon, _clock) = after("", 33, 60, equal).await;
    let mut client = daemon.client().await;
    let players = ids(12);
    let lines = teams(&players[..6], &players[6..]);
    for other in [
        lines.replace("GAME ctf", "GAME ctf\nMUTATOR InstaGib"),
        lines.replace("GAME ctf", "GAME dom"),
    ] {
        client.tell(&format!("{other}START\n")).await;
        assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
        assert!(
            client
                .ask("REBALANCE seed=1\n")
                .await
                .starts_with("REBALANCE 0 ")
        );
    }
}

#[tokio::test]
async fn a_lead_that_is_gone_is_no_lead() {
    let (daemon, clock) = after("", 34, 0, equal).await;
    let mut client = daemon.client().await;
    let players = ids(8);
    client
        .tell(&format!("{}START\n", teams(&players[..4], &players[4..])))
        .await;
    clock.pass(600_000);
    client.tell("CLOCK 600\nSCORE 1\nSCORE 1\nSCORE 1\n").await;
    clock.pass(120_000);
    client.ask("ADVANTAGE\n").await;
    client.tell("SCORE 0\nSCORE 0\nSCORE 0\n").await;
    clock.pass(480_000);
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
}

#[tokio::test]
async fn who_is_gone_counts_for_nobody() {
    let (daemon, _clock) = after("", 35, 30, equal).await;
    let mut client = daemon.client().await;
    let players = ids(2);
    client
        .tell(&format!("{}START\n", teams(&players[..1], &players[1..])))
        .await;
    client.tell("LEAVE p01\n").await;
    // A team without players cannot be helped.
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
    client.tell("LEAVE p00\n").await;
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
    client.tell("JOIN p02\n").await;
    assert!(client.ask("PLACE p02\n").await.starts_with("PLACE p02 "));
}

/// The number that EXPLAIN states for the deviation of the last ADVANTAGE.
async fn deviation(client: &mut Client) -> f64 {
    let words = "standard deviation of the predicted edge is";
    let why = client.reasons("EXPLAIN\n").await;
    let line = why.iter().find(|line| line.contains(words));
    number_after(line.unwrap_or_else(|| panic!("{why:?}")), words)
}

/// Starts a game of these teams, and returns the deviation of the advantage in it.
async fn deviation_between(client: &mut Client, teams: &[&[String]]) -> f64 {
    let mut lines = format!("GAME ctf\nMAP field\nMINPLAYERS 0\nTEAMS {}\n", teams.len());
    for (team, ids) in teams.iter().enumerate() {
        for id in *ids {
            lines.push_str(&format!("JOIN {id} team={team}\n"));
        }
    }
    client.tell(&format!("{lines}START\n")).await;
    client.ask("ADVANTAGE\n").await;
    deviation(client).await
}

#[tokio::test]
async fn pinned_regulars_make_nobody_sure_of_strangers() {
    let (daemon, _clock) = after("", 36, 200, halves).await;
    let mut client = daemon.client().await;
    let players = ids(10);
    let with = |ids: &[String], stranger: &str| [ids, &[stranger.to_owned()]].concat();
    let (red, blue) = (with(&players[..5], "x0"), with(&players[5..], "x1"));
    let open = deviation_between(&mut client, &[&red, &blue]).await;
    let duel = deviation_between(&mut client, &[&red[5..], &blue[5..]]).await;
    for id in &players {
        let (kind, id) = (Kind::Human, id.clone());
        let store = daemon.service.store();
        let key = PlayerKey { kind, id };
        store
            .corrections()
            .pin_weight(&key, Some(50.0))
            .await
            .unwrap();
    }
    daemon.service.learning().refresh().await.unwrap();
    let pinned = deviation_between(&mut client, &[&red, &blue]).await;
    // A player counts less in a larger game: two strangers among twelve, by the root of 2/12.
    let among_twelve = duel * (2.0 / 12.0_f64).sqrt();
    assert!(
        pinned < open && pinned > 0.95 * among_twelve,
        "{open} {pinned} {among_twelve}"
    );
    let regulars = deviation_between(&mut client, &[&players[..5], &players[5..]]).await;
    assert_eq!(regulars, 0.0, "the operator knows them");
}

#[tokio::test]
async fn of_three_teams_the_strangers_are_in_doubt_whatever_their_number() {
    let (daemon, _clock) = after("", 37, 200, equal).await;
    let mut client = daemon.client().await;
    let players = ids(4);
    let strangers = ["x0", "x1"].map(str::to_owned);
    let (red, blue) = (&players[..2], &players[2..]);
    let last = deviation_between(&mut client, &[red, blue, &strangers]).await;
    let middle = deviation_between(&mut client, &[red, &strangers, blue]).await;
    let first = deviation_between(&mut client, &[&strangers, red, blue]).await;
    assert!((last / first - 1.0).abs() < 0.1, "{last} {middle} {first}");
    assert!((last / middle - 1.0).abs() < 0.1, "{last} {middle} {first}");
}

#[tokio::test]
async fn whose_strengths_are_in_doubt_needs_no_help_however_far_apart_they_look() {
    // After a single match of 5:0 all winners look stronger than all losers.
    let (daemon, _clock) = after("", 38, 1, |id| if id < "p06" { 0.09 } else { -0.09 }).await;
    let mut client = daemon.client().await;
    let mut draw = Draw(38);
    for _ in 0..20 {
        no_help_among_equals(&mut client, &mut draw, 6).await;
    }
    for matches in [1, 2, 3] {
        let (daemon, _clock) = after("", 40 + matches, matches as i64, equal).await;
        let mut client = daemon.client().await;
        for size in [1, 2, 3, 6] {
            no_help_among_equals(&mut client, &mut draw, size).await;
        }
    }
}
