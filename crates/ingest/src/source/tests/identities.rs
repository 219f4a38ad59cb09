//! Who a player is: the id, the number of the connection, then the name.

use super::*;

#[test]
fn a_player_is_the_steam_id_then_the_number_then_the_name() {
    let game = tf2(
        &[
            // Another number for Ann, and hers for Bob.
            (
                20,
                r#""Ann<2><STEAM_0:0:1><Red>" spawned as "scout""#.to_owned(),
            ),
            (20, r#""Bob<1><BOT><Blue>" spawned as "scout""#.to_owned()),
            (21, r#""Lan<7><STEAM_ID_LAN><Red>" say "x""#.to_owned()),
            (
                22,
                r#""Lan<8><STEAM_ID_LAN><Red>" spawned as "scout""#.to_owned(),
            ),
            (
                23,
                r#""Late<9><STEAM_ID_PENDING><>" connected, address "x""#.to_owned(),
            ),
            (
                24,
                r#""Late<9><STEAM_0:0:9><Unassigned>" joined team "Blue""#.to_owned(),
            ),
            // A connection whose end is missing.
            (
                40,
                r#""Ann<5><STEAM_0:0:1><>" connected, address "x""#.to_owned(),
            ),
            (
                60,
                r#""Ann<5><STEAM_0:0:1><Unassigned>" joined team "Red""#.to_owned(),
            ),
        ],
        (1, 0),
    );
    assert_eq!(
        all_stays(&game),
        [
            ("Ann", vec![(0, 0, 30), (0, 50, 90)]),
            ("Bob", vec![(1, 0, 90)]),
            ("Lan", vec![(0, 0, 90)]),
            ("Late", vec![(1, 14, 90)]),
        ]
    );
    assert_eq!(game.participants[3].key.id, "STEAM_0:0:9");
}

#[test]
fn an_id_that_comes_late_or_is_missing_for_a_moment_is_no_other_player() {
    let tag = |uid: u32, id: &str, team: &str| format!(r#""Cat<{uid}><{id}><{team}>""#);
    let (pending, own) = ("STEAM_ID_PENDING", "[U:1:7]");
    let joins = |uid, id| format!(r#"{} joined team "Blue""#, tag(uid, id, "Unassigned"));
    let came = vec![
        (
            12,
            format!(r#"{} connected, address "x""#, tag(7, pending, "")),
        ),
        (13, joins(7, pending)),
        (
            20,
            format!(r#"{A} killed {} with "gun""#, tag(7, pending, "Blue")),
        ),
        (25, format!("{} entered the game", tag(7, own, ""))),
    ];
    // The first connection ends without a line.
    let again = vec![
        (
            40,
            format!(r#"{} connected, address "x""#, tag(9, pending, "")),
        ),
        (41, joins(9, pending)),
        (
            50,
            format!(r#"{} killed {A} with "gun""#, tag(9, own, "Blue")),
        ),
        (51, format!(r#"{} triggered "x""#, tag(10, pending, "Blue"))),
    ];
    let game = tf2(&[came, again].concat(), (1, 0));
    let ids: Vec<_> = game
        .participants
        .iter()
        .map(|p| p.key.id.as_str())
        .collect();
    assert_eq!(ids, ["STEAM_0:0:1", "Bob", "[U:1:7]"]);
    let cat = &game.participants[2];
    assert_eq!((cat.kills, cat.deaths), (1, 1));
    assert_eq!(stays(cat).first().map(|stay| stay.1), Some(3));
    assert_eq!(stays(cat).last().map(|stay| stay.2), Some(90));
}

/// The ids of a game in which one of Ann's lines states `auth` for her id.
fn ids_with(at: u32, auth: &str) -> Vec<String> {
    let line = format!(r#""Ann<1><{auth}><Red>" triggered "builtobject" (object "x")"#);
    let kill = format!(r#"{A} killed {B} with "gun""#);
    let game = tf2(&[(at, line), (40, kill.clone()), (60, kill)], (1, 0));
    let of = |p: &Participant| format!("{} {}", p.key.id, p.kills);
    game.participants.iter().map(of).collect()
}

#[test]
fn one_line_with_another_id_adds_nobody() {
    let own = ["STEAM_0:0:1 2", "Bob 0"];
    for at in [20, 50] {
        for auth in [
            "STEAM_ID_LAN",
            "STEAM_ID_PENDING",
            "UNKNOWN",
            "STEAM_0:",
            "STEAM_0:0:",
            "STEAM_0:0:17",
            "[U:1:2",
            "[U:1:2]",
            "",
        ] {
            assert_eq!(ids_with(at, auth), own, "{auth}");
        }
    }
}

#[test]
fn the_id_counts_that_most_lines_on_a_connection_state() {
    let line = |auth: &str| format!(r#""Cid<7><{auth}><Red>" say "x""#);
    let torn = line("STEAM_0:0:4");
    let whole = line("STEAM_0:0:44");
    let lines = [
        (12, torn),
        (20, whole.clone()),
        (30, whole.clone()),
        (40, whole),
    ];
    let game = tf2(&lines, (1, 0));
    let ids: Vec<_> = game
        .participants
        .iter()
        .map(|p| p.key.id.as_str())
        .collect();
    assert_eq!(ids, ["STEAM_0:0:1", "Bob", "STEAM_0:0:44"]);
}

#[test]
fn a_connection_that_begins_is_another_player() {
    // The number is given anew after the server has begun to count again.
    let lines = [
        (
            20,
            r#""Ann<1><STEAM_0:0:9><>" connected, address "192.0.2.1:5""#.to_owned(),
        ),
        (
            21,
            r#""Ann<1><STEAM_0:0:9><Unassigned>" joined team "Blue""#.to_owned(),
        ),
    ];
    let game = tf2(&lines, (1, 0));
    let ids: Vec<_> = game
        .participants
        .iter()
        .map(|p| p.key.id.as_str())
        .collect();
    assert_eq!(ids, ["STEAM_0:0:1", "Bob", "STEAM_0:0:9"]);
}

#[test]
fn two_players_with_one_steam_id_are_two_and_it_is_nobodys() {
    let line = |name: &str, number: u32, team: &str, words: &str| {
        format!(r#""{name}<{number}><STEAM_0:1:7><{team}>" {words}"#)
    };
    let kill = format!(r#"killed {B} with "gun""#);
    let lines = [
        (2, line("Cid", 3, "", r#"connected, address "192.0.2.1:5""#)),
        (3, line("Cid", 3, "Unassigned", r#"joined team "Red""#)),
        (
            12,
            line("Eve", 4, "", r#"connected, address "192.0.2.2:5""#),
        ),
        (13, line("Eve", 4, "Unassigned", r#"joined team "Blue""#)),
        (20, line("Cid", 3, "Red", &kill)),
        (30, line("Eve", 4, "Blue", r#"say "x""#)),
        (40, line("Cid", 3, "Red", &kill)),
    ];
    let game = tf2(&lines, (1, 0));
    let seat = |p: &Participant| (p.key.id.clone(), p.main_team(), p.kills);
    let seats: Vec<_> = game.participants.iter().map(seat).collect();
    let expected = [
        ("STEAM_0:0:1", Some(0), 0),
        ("Bob", Some(1), 0),
        ("name in use twice: STEAM_0:1:7 #4", Some(1), 0),
        ("name in use twice: STEAM_0:1:7 #3", Some(0), 2),
    ];
    let expected = expected.map(|(id, team, kills)| (id.to_owned(), team, kills));
    assert_eq!(seats, expected);
    // Who only comes back under another name is one player.
    let again = [
        lines[0].clone(),
        lines[1].clone(),
        lines[2].clone(),
        lines[3].clone(),
    ];
    let ids: Vec<_> = tf2(&again, (1, 0))
        .participants
        .into_iter()
        .map(|p| p.key.id)
        .collect();
    assert_eq!(ids, ["STEAM_0:0:1", "Bob", "STEAM_0:1:7"]);
}
