//! Wishes that the people in a game would see granted: pins, parties, and whom they avoid; and that two
//! decisions about one game agree. Each test reads like a sentence of what was asked for.

use crate::{
    common::{Client, Daemon, draw::Draw},
    sense::{daemon, placed, several, unknowns, why},
};

/// The team in the TEAM line of a player.
fn team_of(lines: &[String], id: &str) -> u8 {
    let line = lines.iter().find(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        words[0] == "TEAM" && words[2] == id
    });
    let team = line.and_then(|line| line.split(' ').nth(1)?.parse().ok());
    team.unwrap_or_else(|| panic!("{id}: {lines:?}"))
}

/// Sends BALANCE with this seed, and returns its lines.
async fn balance(client: &mut Client, seed: usize) -> Vec<String> {
    several(client, &format!("BALANCE seed={seed}\n")).await
}

/// A client that declares `bots` (yes or no) in HELLO, or sends no HELLO if it is empty.
async fn client_with_bots(daemon: &Daemon, bots: &str) -> Client {
    let mut client = daemon.client().await;
    if !bots.is_empty() {
        client.ask(&format!("HELLO s bots={bots}\n")).await;
    }
    client
}

/// So many different weights.
fn draw_weights(draw: &mut Draw, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..=100).collect();
    draw.shuffle(&mut all);
    all.truncate(count);
    all
}

// BALANCE said again, with a wish that is new.

#[tokio::test]
async fn a_pin_given_after_balance_is_obeyed() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    for seed in 1..9 {
        let game = "GAME ctf\nMINPLAYERS 0\nJOIN a\nJOIN b\nJOIN x\nJOIN y\n";
        client.tell(game).await;
        let first = balance(&mut client, seed).await;
        let other = 1 - team_of(&first, "a");
        client.tell(&format!("JOIN a pin={other}\n")).await;
        let again = balance(&mut client, seed + 1).await;
        assert_eq!(team_of(&again, "a"), other, "{again:?}");
        assert_eq!(again[0].split(' ').nth(2), Some("1.000000"), "{again:?}");
        // A pin to where they are changes nothing, nor does taking it back.
        for pin in [format!("pin={other}"), "pin=".to_owned()] {
            client.tell(&format!("JOIN a {pin}\n")).await;
            let kept = balance(&mut client, seed + 2).await;
            assert_eq!(kept[1..], again[1..], "{pin}");
        }
    }
}

#[tokio::test]
async fn friends_who_say_so_after_balance_come_together() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    for seed in 1..9 {
        let game = "GAME ctf\nMINPLAYERS 0\nJOIN a\nJOIN b\nJOIN x\nJOIN y\n";
        client.tell(game).await;
        let first = balance(&mut client, seed).await;
        let apart = ["b", "x", "y"].into_iter();
        let mut apart = apart.filter(|id| team_of(&first, id) != team_of(&first, "a"));
        let friend = apart.next().unwrap();
        client
            .tell(&format!("JOIN a party=p\nJOIN {friend} party=p\n"))
            .await;
        let again = balance(&mut client, seed).await;
        assert_eq!(team_of(&again, "a"), team_of(&again, friend), "{again:?}");
        let kept = balance(&mut client, seed + 1).await;
        assert_eq!(kept[1..], again[1..]);
    }
}

#[tokio::test]
async fn who_avoids_somebody_after_balance_gets_away_from_them() {
    let (daemon, _clock) = daemon("", &[50, 51, 49, 52]).await;
    let mut client = daemon.client().await;
    let mut apart = 0;
    for seed in 1..=20 {
        let game = "GAME ctf\nMINPLAYERS 0\nJOIN w50\nJOIN w51\nJOIN w49\nJOIN w52\n";
        client.tell(game).await;
        let first = balance(&mut client, seed).await;
        let mate = ["w51", "w49", "w52"].into_iter();
        let mut mate = mate.filter(|id| team_of(&first, id) == team_of(&first, "w50"));
        let mate = mate.next().unwrap();
        client.tell(&format!("JOIN w50 avoid={mate}\n")).await;
        let again = balance(&mut client, seed).await;
        apart += usize::from(team_of(&again, "w50") != team_of(&again, mate));
    }
    // An avoided pair costs as much as five hundredths of evenness, and the pick is by chance.
    assert!(apart >= 16, "{apart}");
}

#[tokio::test]
async fn teams_to_which_somebody_is_pinned_stay_and_the_error_says_why() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let game = "GAME ctf\nTEAMS 3\nMINPLAYERS 0\nJOIN a pin=2\nTEAMS 2\n";
    assert_eq!(
        client.ask(game).await,
        "ERROR bad-argument a player is on a team, or pinned to one, that would not exist"
    );
    let lines = balance(&mut client, 1).await;
    assert_eq!(team_of(&lines, "a"), 2, "{lines:?}");
    client.tell("JOIN a pin= team=0\nTEAMS 2\n").await;
}

#[tokio::test]
async fn an_arrival_is_placed_away_from_whom_they_avoid() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let even = "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=0\nJOIN c team=1\nJOIN d team=1\nSTART\n";
    let mut without = [0; 2];
    for _ in 0..8 {
        for (foe, away) in [("a", 1), ("d", 0)] {
            // The wish counts both ways.
            let wishes = [
                format!("JOIN late avoid={foe}\n"),
                format!("JOIN late\nJOIN {foe} avoid=late\n"),
            ];
            for wish in wishes {
                client.tell(&format!("{even}{wish}")).await;
                let placed = client.ask("PLACE late\n").await;
                let expected = format!("PLACE late {away} ");
                assert!(placed.starts_with(&expected), "{placed} after {wish}");
                let why = why(&mut client).await;
                let said = why.iter().any(|line| line.contains("players to avoid"));
                assert!(said, "{why:?}");
            }
            // Taken back, the wish is nothing: chance decides between even teams.
            let back = format!("{even}JOIN late avoid={foe}\nJOIN late avoid=\n");
            client.tell(&back).await;
            let placed = client.ask("PLACE late\n").await;
            without[usize::from(placed.starts_with("PLACE late 1 "))] += 1;
            // No wish makes the teams uneven.
            let short = format!(
                "GAME ctf\nMINPLAYERS 0\nJOIN {foe} team={away}\nJOIN x team={}\nJOIN y team={}\nJOIN late avoid={foe}\n",
                1 - away,
                1 - away
            );
            client.tell(&short).await;
            let placed = client.ask("PLACE late\n").await;
            assert!(
                placed.starts_with(&format!("PLACE late {away} ")),
                "{placed}"
            );
        }
    }
    assert!(without.iter().all(|&count| count > 0), "{without:?}");
}

#[tokio::test]
async fn whatever_is_wished_for_after_balance_is_granted_or_the_reasons_say_why_not() {
    let all: Vec<u8> = (0..=100).collect();
    let (daemon, _clock) = daemon("store.keep_decisions = 0", &all).await;
    let mut client = daemon.client().await;
    let mut draw = Draw(11);
    for round in 0..60 {
        let count = 3 + draw.below(8);
        let ids: Vec<String> = draw_weights(&mut draw, count)
            .iter()
            .map(|weight| format!("w{weight}"))
            .collect();
        let joins: String = ids.iter().map(|id| format!("JOIN {id}\n")).collect();
        client.tell(&format!("GAME ctf\n{joins}")).await;
        balance(&mut client, round).await;
        let mut pins = Vec::new();
        let mut party = Vec::new();
        let mut wishes = String::new();
        for id in &ids {
            match draw.below(4) {
                0 => {
                    pins.push((id, draw.below(2) as u8));
                    wishes.push_str(&format!("JOIN {id} pin={}\n", pins[pins.len() - 1].1));
                }
                1 => {
                    party.push(id);
                    wishes.push_str(&format!("JOIN {id} party=p\n"));
                }
                _ => {}
            }
        }
        client.tell(&wishes).await;
        let again = balance(&mut client, round + 1).await;
        let why = why(&mut client).await;
        for (id, pin) in pins {
            assert_eq!(team_of(&again, id), pin, "{wishes}{again:?}");
        }
        let torn = party
            .windows(2)
            .any(|two| team_of(&again, two[0]) != team_of(&again, two[1]));
        let said = why
            .iter()
            .any(|line| line.contains("torn") || line.contains("given up"));
        assert!(!torn || said, "{wishes}{again:?} {why:?}");
        let same = balance(&mut client, round + 2).await;
        assert_eq!(same[1..], again[1..], "nothing was wished for since");
    }
}

// Bots that aren't there.

#[tokio::test]
async fn rebalance_asks_for_no_move_right_after_balance() {
    let all: Vec<u8> = (0..=100).collect();
    let (daemon, _clock) = daemon("store.keep_decisions = 0", &all).await;
    for bots in ["", "no", "yes"] {
        let mut client = client_with_bots(&daemon, bots).await;
        let mut draw = Draw(5);
        let mut moved = Vec::new();
        for round in 0..60 {
            for humans in [5, 6, 7, 8, 9, 11] {
                let weights = draw_weights(&mut draw, humans);
                let joins: String = weights.iter().map(|w| format!("JOIN w{w}\n")).collect();
                client.tell(&format!("GAME ctf\n{joins}")).await;
                let first = balance(&mut client, round).await;
                let advice = several(&mut client, "REBALANCE seed=1\n").await;
                if advice.len() > 1 {
                    moved.push(format!("{joins:?}: {first:?} {advice:?}"));
                }
                let ratio = |reply: &String| reply.split(' ').nth(2).map(str::to_owned);
                if bots != "yes" {
                    assert_eq!(ratio(&first[0]), ratio(&advice[0]), "{first:?} {advice:?}");
                }
            }
        }
        assert!(
            moved.is_empty(),
            "{bots} {}: {}",
            moved.len(),
            moved.join("\n")
        );
    }
}

#[tokio::test]
async fn the_cost_of_pins_is_in_the_heads_and_the_ratio_that_are_there() {
    let (daemon, _clock) = daemon("", &[90, 80, 20, 10]).await;
    let mut client = daemon.client().await;
    client.tell("GAME ctf\nJOIN a pin=0\nJOIN b pin=0\n").await;
    let teams = balance(&mut client, 1).await;
    assert!(teams[0].starts_with("BALANCE 4 0.000000 "), "{teams:?}");
    assert_eq!(teams[3..], ["BOTS 0 1", "BOTS 1 3"]);
    let lines = why(&mut client).await;
    let says = |words: &str| lines.iter().any(|line| line.contains(words));
    assert!(says("unequal numbers of humans: 2 to 0"), "{lines:?}");
    assert!(says("without the pins: ratio 1.000000"), "{lines:?}");
    // A cost without a difference in heads is a cost, too.
    client
        .tell("GAME ctf\nJOIN w90 pin=0\nJOIN w80 pin=0\nJOIN w20\nJOIN w10\n")
        .await;
    let teams = balance(&mut client, 1).await;
    assert!(teams[0].starts_with("BALANCE 6 0.176471 "), "{teams:?}");
    let lines = why(&mut client).await;
    let says = |words: &str| lines.iter().any(|line| line.contains(words));
    assert!(says("without the pins: ratio 1.000000"), "{lines:?}");
}

// Parties.

#[tokio::test]
async fn a_party_of_four_on_teams_of_two_is_torn_into_two_pairs() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    for seed in 0..20 {
        let party: String = (0..4).map(|n| format!("JOIN p{n} party=P\n")).collect();
        let others: String = (0..4).map(|n| format!("JOIN o{n}\n")).collect();
        client
            .tell(&format!("GAME ctf\nTEAMS 4\nMINPLAYERS 0\n{party}{others}"))
            .await;
        let teams = balance(&mut client, seed).await;
        let mut sizes = [0; 4];
        for n in 0..4 {
            sizes[usize::from(team_of(&teams, &format!("p{n}")))] += 1;
        }
        sizes.sort_unstable();
        assert_eq!(sizes, [0, 0, 2, 2], "{teams:?}");
    }
}

#[tokio::test]
async fn the_reasons_say_who_of_a_torn_party_is_together_in_truth() {
    let all: Vec<u8> = (0..=100).collect();
    let (daemon, _clock) = daemon("store.keep_decisions = 0", &all).await;
    let mut client = daemon.client().await;
    let mut draw = Draw(3);
    for round in 0..40 {
        let others = 1 + draw.below(3);
        // More than half, so that no team holds all of them.
        let size = others + 2 + draw.below(2);
        let ids: Vec<String> = draw_weights(&mut draw, size + others)
            .iter()
            .map(|weight| format!("w{weight}"))
            .collect();
        let party: String = ids[..size]
            .iter()
            .map(|id| format!("JOIN {id} party=P\n"))
            .collect();
        let rest: String = ids[size..]
            .iter()
            .map(|id| format!("JOIN {id}\n"))
            .collect();
        client.tell(&format!("GAME ctf\n{party}{rest}")).await;
        let teams = balance(&mut client, 485 + round).await;
        let lines = why(&mut client).await;
        let note = lines.iter().find(|line| line.contains("is torn")).cloned();
        let note = note.unwrap_or_else(|| panic!("{teams:?} {lines:?}"));
        let (_, together) = note.split_once("room for all of it: ").unwrap();
        let mut parts: Vec<Vec<&str>> = vec![Vec::new(); 2];
        for id in &ids[..size] {
            parts[usize::from(team_of(&teams, id))].push(id);
        }
        parts.retain(|part| part.len() > 1);
        let parts: Vec<String> = parts.iter().map(|part| part.join(", ")).collect();
        let truth = format!("{} stay together", parts.join(" and "));
        assert_eq!(together, truth, "{teams:?}");
    }
}

// PLACE and the larger team.

/// The team in the answer to PLACE, and the first line of its reasons.
async fn place(client: &mut Client, id: &str) -> (u8, String) {
    let team = placed(client, id).await;
    (team, why(client).await[1].clone())
}

#[tokio::test]
async fn a_friend_does_not_go_to_the_larger_team_because_others_wait() {
    let (daemon, _clock) = daemon("", &[]).await;
    for (larger, smaller, waiting) in [(4, 2, 2), (2, 1, 1), (3, 2, 1), (3, 1, 4)] {
        let mut client = daemon.client().await;
        let mut game = unknowns(&[larger - 1, smaller]);
        (0..waiting).for_each(|n| game.push_str(&format!("JOIN s{n}\n")));
        let friend = "JOIN f team=0 party=P\n";
        client
            .tell(&format!(
                "GAME ctf\nMINPLAYERS 0\n{friend}{game}START\nJOIN n party=P\n"
            ))
            .await;
        let (team, why) = place(&mut client, "n").await;
        assert_eq!(team, 1, "{larger} v {smaller}: {why}");
        assert!(why.contains("torn"), "{why}");
    }
}

#[tokio::test]
async fn who_comes_with_a_friend_who_is_pinned_goes_where_the_friend_must_be() {
    let (daemon, _clock) = daemon("", &[]).await;
    for pin in [0, 1] {
        let mut client = daemon.client().await;
        let sizes = if pin == 1 { [2, 1] } else { [1, 2] };
        client
            .tell(&format!(
                "GAME ctf\nMINPLAYERS 0\n{}JOIN n2 party=P pin={pin}\nJOIN n1 party=P\n",
                unknowns(&sizes)
            ))
            .await;
        let (team, why) = place(&mut client, "n1").await;
        assert_eq!(team, pin, "{why}");
        assert!(why.contains("(with their party)"), "{why}");
        let (team, why) = place(&mut client, "n2").await;
        assert_eq!((team, why.contains("pinned")), (pin, true), "{why}");
    }
}

#[tokio::test]
async fn of_four_teams_none_but_the_smallest_is_joined() {
    let (daemon, _clock) = daemon("", &[4, 5, 6, 50]).await;
    let mut client = daemon.client().await;
    let light = "JOIN w5 team=1\nJOIN w4 team=1\nJOIN w6 team=1\n";
    let game = format!(
        "GAME ctf\nTEAMS 4\nMINPLAYERS 0\n{}{light}",
        unknowns(&[4, 0, 1, 1])
    );
    client.tell(&format!("{game}START\nJOIN w50\n")).await;
    let (team, why) = place(&mut client, "w50").await;
    assert!(team >= 2, "{team} {why}");
    // A party that is torn goes past no empty team either.
    let game = format!(
        "GAME ctf\nTEAMS 4\nMINPLAYERS 0\n{}",
        unknowns(&[2, 0, 0, 2])
    );
    client
        .tell(&format!(
            "{game}JOIN f team=0 party=P\nSTART\nJOIN n party=P\n"
        ))
        .await;
    let (team, why) = place(&mut client, "n").await;
    assert!([1, 2].contains(&team), "{team} {why}");
    assert!(why.contains("torn"), "{why}");
}

#[tokio::test]
async fn no_arrival_joins_a_team_that_is_larger_by_two_or_larger_at_all_without_bots() {
    let all: Vec<u8> = (0..=100).collect();
    let (daemon, _clock) = daemon("store.keep_decisions = 0", &all).await;
    for bots in ["", "no", "yes"] {
        let mut client = client_with_bots(&daemon, bots).await;
        let mut draw = Draw(17);
        for _ in 0..250 {
            let teams = 2 + draw.below(3);
            let wish = [0, 2, 6, 10][draw.below(4)];
            let mut game = format!("GAME ctf\nTEAMS {teams}\nMINPLAYERS {wish}\n");
            let mut sizes = vec![0; teams];
            let ids = draw_weights(&mut draw, 12);
            for id in &ids[..draw.below(11)] {
                let party = ["", "", " party=P", " party=Q"][draw.below(4)];
                let team = draw.below(teams + 1);
                let on = match sizes.get_mut(team) {
                    Some(size) => {
                        *size += 1;
                        format!(" team={team}")
                    }
                    None => String::new(),
                };
                game.push_str(&format!("JOIN w{id}{on}{party}\n"));
            }
            let party = ["", " party=P"][draw.below(2)];
            let who = format!("w{}", ids[11]);
            client
                .tell(&format!("{game}START\nJOIN {who}{party}\n"))
                .await;
            let (team, why) = place(&mut client, &who).await;
            let least = sizes.iter().min().unwrap();
            let larger = sizes[usize::from(team)] - least;
            let most = usize::from(bots == "yes");
            assert!(larger <= most, "{bots} {game}{who}{party} {sizes:?} {why}");
        }
    }
}

#[tokio::test]
async fn who_is_on_a_team_already_is_not_called_pinned() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell(&format!(
            "GAME ctf\n{}JOIN n\nJOIN late\n",
            unknowns(&[1, 1])
        ))
        .await;
    let (team, why) = place(&mut client, "t1n0").await;
    assert_eq!((team, why.contains("(on it already)")), (1, true), "{why}");
    let lines = self::why(&mut client).await;
    let says = |words: &str| lines.iter().any(|line| line.contains(words));
    assert!(
        says("2 other players without a team were placed"),
        "{lines:?}"
    );
    place(&mut client, "n").await;
    let lines = self::why(&mut client).await;
    let says = |words: &str| lines.iter().any(|line| line.contains(words));
    assert!(
        says("1 other player without a team was placed"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn a_third_friend_is_with_part_of_the_party_where_another_is_on_the_other_team() {
    let (daemon, _clock) = daemon("", &[]).await;
    for seats in [2, 3, 4] {
        let mut client = daemon.client().await;
        let party = "JOIN p0 party=P\nJOIN p1 party=P\nJOIN p2 party=P\n";
        let game = unknowns(&[seats, seats]);
        client
            .tell(&format!("GAME ctf\nMINPLAYERS 0\n{game}{party}"))
            .await;
        let mut teams = Vec::new();
        for n in 0..3 {
            let (team, why) = place(&mut client, &format!("p{n}")).await;
            let apart = teams.iter().any(|other| *other != team);
            let whole = why.contains("(with their party)");
            assert!(!(whole && apart), "{teams:?} {team} {why}");
            assert!(whole || why.contains("torn"), "{why}");
            teams.push(team);
        }
    }
}

// REBALANCE of empty teams.

#[tokio::test]
async fn several_empty_teams_get_the_players_that_there_are() {
    let (daemon, _clock) = daemon("", &[]).await;
    for (teams, sizes, moves) in [
        (3, vec![2], 1),
        (4, vec![3], 2),
        (8, vec![16], 4),
        (4, vec![0, 5], 3),
        (4, vec![1, 1], 0),
    ] {
        let mut client = daemon.client().await;
        let game = format!(
            "GAME ctf\nTEAMS {teams}\nMINPLAYERS 0\n{}START\n",
            unknowns(&sizes)
        );
        client.tell(&game).await;
        let advice = several(&mut client, "REBALANCE\n").await;
        assert_eq!(advice.len(), 1 + moves, "{sizes:?} {advice:?}");
        let mut to: Vec<&str> = advice[1..]
            .iter()
            .filter_map(|line| line.split(' ').nth(3))
            .collect();
        to.sort_unstable();
        to.dedup();
        assert_eq!(to.len(), moves, "each to another team: {advice:?}");
    }
}

// Auto-balance among equals.

#[tokio::test]
async fn of_players_with_equal_points_none_is_among_the_best() {
    let (daemon, clock) = daemon("", &[]).await;
    for points in [0, 5, -3] {
        for who in 0..9 {
            let mut client = daemon.client().await;
            let report = |team: char, n: usize| format!("POINTS {team}{n} {points}\n");
            let nine: String = (0..9).map(|n| format!("JOIN n{n} team=0\n")).collect();
            let seven: String = (0..7).map(|n| format!("JOIN s{n} team=1\n")).collect();
            let points: String = (0..9)
                .map(|n| report('n', n))
                .chain((0..7).map(|n| report('s', n)))
                .collect();
            client
                .tell(&format!("GAME ctf\n{nine}{seven}START\n{points}"))
                .await;
            clock.pass(20_000);
            let moved = client.ask(&format!("DEATH n{who}\n")).await;
            assert_eq!(moved, format!("MOVE n{who} 0 1"));
        }
    }
}
