//! Stories of an evening, as players would tell them. The daemon has learned how strong the players are, and the
//! chance to win decides, as it does unless configured otherwise.

use crate::{
    common::{Client, Daemon, draw::Draw},
    sense::chance::{after, after_on, equal, giant, halves, help, ids, number_after, teams},
    sense::{daemon, played, several, why},
};

/// The lines of BALANCE.
async fn balance(client: &mut Client, seed: usize) -> Vec<String> {
    several(client, &format!("BALANCE seed={seed}\n")).await
}

/// The ids on a team in the lines of BALANCE.
fn on(lines: &[String], team: u8) -> Vec<&str> {
    let start = format!("TEAM {team} ");
    lines
        .iter()
        .filter_map(|line| line.strip_prefix(&start))
        .collect()
}

/// JOIN for each of these, who are on no team yet.
fn joins<'a>(ids: impl IntoIterator<Item = &'a String>) -> String {
    let join = |id: &String| format!("JOIN {id}\n");
    let lines: String = ids.into_iter().map(join).collect();
    format!("GAME ctf\nMAP field\nMINPLAYERS 0\n{lines}")
}

/// EXPLAIN begins with the chance and the ratio that BALANCE has replied.
async fn agrees(client: &mut Client, lines: &[String]) {
    let reply: Vec<&str> = lines[0].split(' ').collect();
    let why = why(client).await;
    let expected = format!(
        "WHY chance of team 0 to win {}, ratio {}",
        reply[3], reply[2]
    );
    assert_eq!(why[1], expected, "{lines:?} {why:?}");
}

#[tokio::test]
async fn we_were_three_against_four_and_got_the_next_who_came() {
    let (daemon, _clock) = after("", 51, 80, halves).await;
    let mut client = daemon.client().await;
    let mut draw = Draw(51);
    for _ in 0..20 {
        let mut players = ids(12);
        draw.shuffle(&mut players);
        let lines = teams(&players[..3], &players[3..7]);
        client
            .tell(&format!("{lines}START\nJOIN {}\n", players[7]))
            .await;
        let placed = client.ask(&format!("PLACE {}\n", players[7])).await;
        assert_eq!(placed.split(' ').nth(2), Some("0"), "{placed}");
        let why = why(&mut client).await;
        assert!(why[1].contains("): chance of the weaker team "), "{why:?}");
        let ratio = placed.split(' ').nth(3).unwrap();
        assert!(
            why[1].ends_with(&format!(", ratio {ratio}")),
            "{placed} {why:?}"
        );
    }
}

#[tokio::test]
async fn my_friend_came_later_and_plays_with_me() {
    let (daemon, _clock) = after("rating.sides = false", 52, 60, equal).await;
    let mut client = daemon.client().await;
    for team in [0, 1] {
        let sides = [["a", "b", "c"], ["d", "e", "f"]].map(|side| side.map(str::to_owned));
        let lines = teams(&sides[0], &sides[1]);
        let me = &sides[team][0];
        client
            .tell(&format!(
                "{lines}JOIN {me} party=P\nSTART\nJOIN friend party=P\n"
            ))
            .await;
        let placed = client.ask("PLACE friend\n").await;
        assert!(
            placed.starts_with(&format!("PLACE friend {team} ")),
            "{placed}"
        );
        let why = why(&mut client).await;
        assert!(why[1].contains("(with their party): chance"), "{why:?}");
    }
}

#[tokio::test]
async fn i_had_the_flag_and_was_not_moved() {
    let (daemon, clock) = after("", 53, 100, halves).await;
    let mut client = daemon.client().await;
    let players = ids(12);
    let lines = teams(&players[..6], &players[6..]);
    client.tell(&format!("{lines}START\nPROTECT p00\n")).await;
    for seed in 0..10 {
        let advice = several(&mut client, &format!("REBALANCE seed={seed}\n")).await;
        assert!(
            advice.len() > 1,
            "the better half is on one team: {advice:?}"
        );
        assert!(
            !advice.iter().any(|line| line.starts_with("MOVE p00 ")),
            "{advice:?}"
        );
        let why = why(&mut client).await;
        assert!(
            why.contains(&"WHY must stay: p00 (protected)".to_owned()),
            "{why:?}"
        );
    }
    // Six against three: somebody has to go, but not with the flag.
    let lines = teams(&players[..6], &players[6..9]);
    client.tell(&format!("{lines}START\nPROTECT p00\n")).await;
    clock.pass(30_000);
    client.tell("DEATH p00\n").await;
    let stays = why(&mut client).await;
    assert_eq!(stays[1], "WHY p00 stays: protected");
    let others: Vec<&String> = players[1..6].iter().collect();
    assert_eq!(all_die(&mut client, &others).await.len(), 1);
}

/// Kills everybody once, in this order. Returns who was moved.
async fn all_die<'a>(client: &mut Client, ids: &[&'a String]) -> Vec<&'a String> {
    let mut moved = Vec::new();
    for id in ids {
        let reply = client.ask(&format!("DEATH {id}\nPING\n")).await;
        if reply != "PONG" {
            assert!(reply.starts_with(&format!("MOVE {id} ")), "{reply}");
            assert_eq!(client.line().await, "PONG");
            moved.push(*id);
        }
    }
    moved
}

#[tokio::test]
async fn they_were_more_than_us_until_everybody_had_died_once() {
    for objective in ["chance", "ratio"] {
        let toml = format!("balance.objective = '{objective}'\nstore.keep_decisions = 0");
        let (daemon, clock) = after(&toml, 61, 120, giant).await;
        let mut draw = Draw(61);
        for (large, small) in [(3, 1), (4, 2), (5, 3), (8, 4), (4, 0)] {
            for _ in 0..20 {
                let mut client = daemon.client().await;
                let mut players = ids(large + small);
                draw.shuffle(&mut players);
                let lines = teams(&players[..large], &players[large..]);
                client.tell(&format!("{lines}START\n")).await;
                clock.pass(20_000);
                let mut order: Vec<&String> = players.iter().collect();
                draw.shuffle(&mut order);
                let moved = all_die(&mut client, &order).await;
                // The teams are the first ones, less those who were moved.
                assert_eq!(
                    moved.len(),
                    (large - small) / 2,
                    "{large} v {small}, {objective}"
                );
                assert!(moved.iter().all(|id| players[..large].contains(*id)));
            }
        }
    }
}

#[tokio::test]
async fn two_of_the_three_became_friends_so_the_third_had_to_go_after_all() {
    // The giant is alone. While the weaker ones were to come, the strongest of the three stayed.
    let (daemon, clock) = daemon("", &[99, 60, 20, 40]).await;
    let mut client = daemon.client().await;
    let three = "JOIN w60 team=0\nJOIN w20 team=0\nJOIN w40 team=0\n";
    let game = format!("GAME ctf\nMINPLAYERS 0\n{three}JOIN w99 team=1\nSTART\n");
    client.tell(&game).await;
    clock.pass(20_000);
    let [strong, one, other] = ["w60", "w20", "w40"].map(str::to_owned);
    assert!(all_die(&mut client, &[&strong]).await.is_empty());
    client.tell("JOIN w20 party=p\nJOIN w40 party=p\n").await;
    assert!(all_die(&mut client, &[&one, &other]).await.is_empty());
    let stays = why(&mut client).await;
    assert_eq!(stays[1], "WHY w40 stays: plays in a party");
    assert!(
        stays.contains(&"WHY the party of w40: w20".to_owned()),
        "{stays:?}"
    );
    assert_eq!(all_die(&mut client, &[&strong]).await, [&strong]);
}

#[tokio::test]
async fn nobody_had_played_this_before_and_it_was_fair() {
    let players = ids(8);
    let (daemon, _clock) = Daemon::start_by_hand("").await;
    let mut client = daemon.client().await;
    client.tell(&joins(&players)).await;
    let first = balance(&mut client, 1).await;
    assert!(first[0].starts_with("BALANCE 10 1.000000 "), "{first:?}");
    assert_eq!(on(&first, 0).len(), 4);
    let reasons = why(&mut client).await;
    assert!(
        reasons[1].starts_with("WHY ratio 1.000000"),
        "nothing predicts a chance: {reasons:?}"
    );
    // The players are known, the game type is new.
    let (daemon, _clock) = after("", 54, 60, equal).await;
    let mut client = daemon.client().await;
    client
        .tell(&joins(&players).replace("GAME ctf", "GAME dom"))
        .await;
    for seed in 0..10 {
        let lines = balance(&mut client, seed).await;
        assert_eq!((on(&lines, 0).len(), on(&lines, 1).len()), (4, 4));
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
async fn one_of_us_is_far_better_and_no_teams_would_have_been_closer() {
    let (daemon, _clock) = after("", 55, 200, giant).await;
    let mut client = daemon.client().await;
    let players = ids(6);
    let off = |lines: &[String]| {
        let chance: f64 = lines[0].split(' ').nth(3).unwrap().parse().unwrap();
        (chance - 0.5).abs()
    };
    let mut closest: f64 = 0.5;
    for mates in (0u32..64).filter(|mates| mates.count_ones() == 3) {
        let pinned = players.iter().enumerate();
        let pinned = pinned.map(|(at, id)| format!("JOIN {id} pin={}\n", mates >> at & 1));
        let lines: String = pinned.collect();
        client.tell(&(joins([]) + &lines)).await;
        closest = closest.min(off(&balance(&mut client, 1).await));
    }
    for seed in 0..20 {
        client.tell(&joins(&players)).await;
        let lines = balance(&mut client, seed).await;
        assert!(off(&lines) <= closest + 0.02, "{closest} {lines:?}");
        agrees(&mut client, &lines).await;
    }
}

#[tokio::test]
async fn four_of_us_were_new_and_came_two_and_two() {
    let (daemon, _clock) = after("", 56, 60, equal).await;
    let mut client = daemon.client().await;
    let known = ids(4);
    let strangers: Vec<String> = (0..4).map(|n| format!("new{n}")).collect();
    for seed in 0..20 {
        client.tell(&joins(known.iter().chain(&strangers))).await;
        let lines = balance(&mut client, seed).await;
        let new = on(&lines, 0).into_iter().filter(|id| id.starts_with("new"));
        assert_eq!(new.count(), 2, "{lines:?}");
    }
}

#[tokio::test]
async fn the_bad_side_of_the_map_was_everybodys_turn() {
    // Eight of whom nobody is known to be stronger: otherwise the strong ones make up for the bad side.
    let (daemon, _clock) = after_on(0.1, "", 57, 150, equal).await;
    let mut client = daemon.client().await;
    let players: Vec<String> = (0..8).map(|n| format!("x{n}")).collect();
    let mut turns = [0; 8];
    for seed in 0..8 {
        client.tell(&joins(&players)).await;
        let lines = balance(&mut client, seed).await;
        let chance: f64 = lines[0].split(' ').nth(3).unwrap().parse().unwrap();
        assert!(chance > 0.5, "team 0 has the good side: {lines:?}");
        for (turns, id) in turns.iter_mut().zip(&players) {
            *turns += u32::from(on(&lines, 1).contains(&id.as_str()));
        }
        played(&mut client).await;
    }
    assert!(
        turns.iter().all(|turns| (2..=6).contains(turns)),
        "{turns:?}"
    );
}

/// The chance of the weaker team in the lines of BALANCE.
fn weaker(lines: &[String]) -> f64 {
    let chance: f64 = lines[0].split(' ').nth(3).unwrap().parse().unwrap();
    chance.min(1.0 - chance)
}

#[tokio::test]
async fn there_were_few_of_us_and_now_i_had_the_good_side_and_now_you() {
    // A side that is worth something, and players who are a little apart.
    let apart = |id: &str| id[1..].parse::<f64>().unwrap() * -0.01;
    let (daemon, _clock) = after_on(0.05, "store.keep_decisions = 0", 62, 200, apart).await;
    let mut could_swap = 0;
    for few in [
        vec![0, 1],
        vec![0, 2],
        vec![5, 8],
        vec![0, 1, 2, 3],
        vec![1, 4, 6, 9],
    ] {
        let players: Vec<String> = few.iter().map(|n| format!("p{n:02}")).collect();
        let half = players.len() / 2;
        // Every split, with its chance.
        let mut splits = Vec::new();
        for on_first in (0u32..1 << players.len()).filter(|set| set.count_ones() as usize == half) {
            let side = |at: usize| 1 - (on_first >> at & 1);
            let pinned = players.iter().enumerate();
            let pinned = pinned.map(|(at, id)| format!("JOIN {id} pin={}\n", side(at)));
            let mut client = daemon.client().await;
            client
                .tell(&(joins([]) + &pinned.collect::<String>()))
                .await;
            splits.push((on_first, weaker(&balance(&mut client, 1).await)));
        }
        let best = splits.iter().map(|split| split.1).fold(0.0, f64::max);
        let mut seen = vec![[0; 2]; players.len()];
        for seed in 0..20 {
            let mut client = daemon.client().await;
            client.tell(&joins(&players)).await;
            let lines = balance(&mut client, seed).await;
            assert!(weaker(&lines) >= best - 0.05 - 1e-6, "{best} {lines:?}");
            agrees(&mut client, &lines).await;
            for (seen, id) in seen.iter_mut().zip(&players) {
                seen[usize::from(on(&lines, 1).contains(&id.as_str()))] += 1;
            }
            let advice = several(&mut client, "REBALANCE seed=1\n").await;
            assert_eq!(advice.len(), 1, "{lines:?} {advice:?}");
            // Who asks for the best from the start gets it.
            let mut client = daemon.client().await;
            client.tell(&joins(&players)).await;
            let exact = several(&mut client, &format!("BALANCE top=1 seed={seed}\n")).await;
            assert!(weaker(&exact) >= best - 1e-6, "{best} {exact:?}");
        }
        for (at, seen) in seen.iter().enumerate() {
            let on_side = |side: u32| splits.iter().filter(move |split| split.0 >> at & 1 == side);
            let near = |side| on_side(side).any(|split| split.1 >= best - 0.045);
            if near(0) && near(1) {
                could_swap += 1;
                assert!(
                    seen.iter().all(|times| *times > 0),
                    "{players:?} {splits:?} {seen:?}"
                );
            }
        }
    }
    assert!(could_swap >= 4, "{could_swap}"); // how many are close enough depends on what was learned
}

#[tokio::test]
async fn the_bots_were_on_their_team_so_there_was_one_more_of_us() {
    let (daemon, _clock) = after("", 58, 80, equal).await;
    let mut client = daemon.client().await;
    client.hello("s bots=no").await;
    for seed in 0..20 {
        let players = ids(5);
        client
            .tell(&format!("{}BOTJOIN x 0\nBOTJOIN y 0\n", joins(&players)))
            .await;
        let lines = balance(&mut client, seed).await;
        assert_eq!(
            (on(&lines, 0).len(), on(&lines, 1).len()),
            (2, 3),
            "{lines:?}"
        );
        agrees(&mut client, &lines).await;
    }
}

#[tokio::test]
async fn one_left_and_the_rest_were_helped_until_she_was_back_on_her_team() {
    let (daemon, clock) = after("", 59, 60, equal).await;
    let mut client = daemon.client().await;
    let players = ids(8);
    let lines = teams(&players[..4], &players[4..]);
    client.tell(&format!("{lines}START\n")).await;
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
    client.tell("LEAVE p01\n").await;
    let (team, factor) = help(&client.ask("ADVANTAGE\n").await);
    assert_eq!((team.as_str(), factor), ("0", 1.333));
    let why_helped = why(&mut client).await;
    assert_eq!(number_after(&why_helped[1], "help now: factor"), factor);
    clock.pass(60_000);
    client.tell("JOIN p01\n").await;
    assert!(client.ask("PLACE p01\n").await.starts_with("PLACE p01 0 "));
    assert_eq!(client.ask("ADVANTAGE\n").await, "ADVANTAGE - 1.000");
}

#[tokio::test]
async fn the_teams_had_just_been_made_and_nobody_had_to_change_again() {
    let (daemon, _clock) = after("store.keep_decisions = 0", 60, 100, halves).await;
    let mut draw = Draw(60);
    for bots in ["no", "yes"] {
        let mut client = daemon.named(&format!("{bots} bots={bots}")).await;
        for round in 0..60 {
            for humans in [3, 4, 5, 6, 7, 8, 9, 11] {
                let mut players = ids(12);
                draw.shuffle(&mut players);
                client.tell(&joins(&players[..humans])).await;
                let lines = balance(&mut client, round).await;
                if round % 10 == 0 {
                    agrees(&mut client, &lines).await;
                }
                let advice = several(&mut client, "REBALANCE seed=1\n").await;
                assert_eq!(advice.len(), 1, "{lines:?} {advice:?}");
                played(&mut client).await;
            }
        }
    }
}
