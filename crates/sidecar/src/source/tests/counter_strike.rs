//! Counter-Strike, whose score is of rounds.

use super::*;

#[test]
fn counter_strike_counts_rounds() {
    let mut play = Play::new(
        Source::new(commands("sm_team #{player} {team}"), None, 30_000),
        settings(),
    );
    let who =
        |number: u32, team: &str| format!("\"p{number}<{number}><STEAM_1:0:{number}><{team}>\"");
    let mut lines = vec![
        line(
            0,
            "Log file started (file \"l\") (game \"csgo\") (version \"1\")",
        ),
        line(0, "Loading map \"de_cache\""),
        line(1, "World triggered \"Warmup_Start\""),
    ];
    for number in 1..=4 {
        let text = format!(
            "\"p{number}<{number}><STEAM_1:0:{number}>\" switched from team <Unassigned> to <CT>"
        );
        let entered = format!("{} entered the game", who(number, ""));
        lines.extend([(2, entered), (3, text)]);
    }
    play.log(&log(&lines));
    play.done();
    play.wait(1_000);
    assert_eq!(play.done(), ["BALANCE"]);
    let ids = |number: u32| format!("STEAM_1:0:{number}");
    let teams: String = (1..=4)
        .map(|n| format!("TEAM {} {}\n", n % 2, ids(n)))
        .collect();
    play.reply(&format!("BALANCE 6 1.0 - 7\n{teams}BOTS 0 0\nBOTS 1 0"));
    let ordered = [
        "# say Evenkeel: 2 players to even teams, ratio 1.00",
        "# sm_team #2 t",
        "# sm_team #4 t",
    ];
    assert_eq!(play.done(), ordered);
    let switched = |number: u32| {
        let id = ids(number);
        line(
            5,
            &format!("\"p{number}<{number}><{id}>\" switched from team <CT> to <TERRORIST>"),
        )
    };
    play.log(&log(&[switched(2), switched(4)]));
    play.log(&log(&[
        line(60, "World triggered \"Match_Start\" on \"de_cache\""),
        line(75, ROUND),
        line(
            100,
            &format!(
                "{} [1 2 3] killed {} [4 5 6] with \"ak47\"",
                who(1, "CT"),
                who(2, "TERRORIST")
            ),
        ),
        line(
            101,
            "Team \"CT\" triggered \"SFUI_Notice_CTs_Win\" (CT \"1\") (T \"0\")",
        ),
        line(101, "Team \"CT\" scored \"1\" with \"2\" players"),
        line(101, "Team \"TERRORIST\" scored \"0\" with \"2\" players"),
        line(101, "World triggered \"Round_End\""),
        line(120, ROUND),
        line(
            130,
            "Game Over: competitive mg_x de_cache score 2:0 after 2 min",
        ),
    ]));
    let done = play.done();
    let kill = format!("KILL {} {}", ids(1), ids(2));
    // A round may be restored, so kills count when the match is over.
    let expected = ["START", "SCORE 1 1", &kill, "SCORE 1 1", "END"];
    assert_eq!(done[done.len() - 5..], expected);
}

/// A match of Counter-Strike with four players, in its first round.
fn live_counter_strike() -> Play<Source> {
    let mut play = source(FollowerSettings {
        auto_balance: true,
        ..settings()
    });
    let mut lines = vec![
        line(
            0,
            "Log file started (file \"l\") (game \"csgo\") (version \"1\")",
        ),
        line(0, "Loading map \"de_cache\""),
        line(1, "World triggered \"Warmup_Start\""),
    ];
    for number in 1..=4 {
        let side = if number < 3 { "CT" } else { "TERRORIST" };
        let text = format!(
            "\"p{number}<{number}><[U:1:{number}]>\" switched from team <Unassigned> to <{side}>"
        );
        lines.extend([
            (2, format!("{} entered the game", who(number, ""))),
            (3, text),
        ]);
    }
    lines.push(line(60, "World triggered \"Match_Start\" on \"de_cache\""));
    lines.push(line(75, ROUND));
    play.log(&log(&lines));
    assert_eq!(play.done().last().map(String::as_str), Some("START"));
    play
}

/// A sidecar may begin in mid-game, where any line can be the first about a player. Lines about money have another number.
#[test]
fn any_line_that_has_their_number_names_a_player() {
    let mut play = source(settings());
    let money = "\"p1<2><[U:1:1]><CT>\" money change 800+300 = $1100 (tracked)";
    let attacks = format!(
        "{} [1 2 3] attacked {} [4 5 6] with \"ak47\"",
        who(1, "CT"),
        who(2, "TERRORIST")
    );
    let map = line(0, "Loading map \"de_cache\"");
    play.log(&log(&[map, line(1, money)]));
    assert!(!play.done().contains(&join(1, 1)));
    play.log(&log(&[line(2, &attacks)]));
    assert_eq!(play.done(), [join(1, 1)]);
}

/// A server writes what a player has dropped after the line that the player is gone.
#[test]
fn who_has_left_does_not_come_back_with_what_they_drop() {
    let mut play = live_counter_strike();
    let player = who(1, "CT");
    let leaves = format!("{player} disconnected (reason \"Disconnect\")");
    let drops = format!("{player} dropped \"knife\"");
    play.log(&log(&[line(100, &leaves), line(100, &drops)]));
    assert_eq!(play.done(), ["LEAVE [U:1:1]"]);
    // Whoever comes back may play without a line that says so.
    play.log(&log(&[line(110, &drops)]));
    assert_eq!(play.done(), [join(1, 1)]);
}

/// The next match begins with a restart; not every server marks its start.
#[test]
fn after_a_match_a_restart_begins_the_next_one() {
    let mut play = live_counter_strike();
    let over = "Game Over: competitive mg_x de_cache score 1:0 after 2 min";
    play.log(&log(&[line(130, over), line(140, ROUND)]));
    assert_eq!(play.done().last().map(String::as_str), Some("END"));
    let restart = "World triggered \"Restart_Round_(1_second)\"";
    play.log(&log(&[line(150, restart), line(152, ROUND)]));
    assert_eq!(play.done().last().map(String::as_str), Some("START"));
}

/// Some versions write no line at the end of a match: it is over with its map, if the score decides it between two rounds.
#[test]
fn a_match_may_end_with_its_map() {
    let shot = kill(145, (1, "CT"), (3, "TERRORIST"));
    let in_round = vec![line(140, ROUND), shot];
    let cases = [
        ("16", vec![], true),
        ("9", vec![], false),
        ("16", in_round, false),
    ];
    for (ct, rest, ends) in cases {
        let mut play = live_counter_strike();
        let why = "triggered \"SFUI_Notice_CTs_Win\"";
        let won = format!("Team \"CT\" {why} (CT \"{ct}\") (T \"4\")");
        let mut lines = vec![line(130, &won), line(130, "World triggered \"Round_End\"")];
        lines.extend(rest);
        lines.push(line(150, "Loading map \"de_dust2\""));
        play.log(&log(&lines));
        assert_eq!(play.done().contains(&"END".to_owned()), ends, "{lines:?}");
    }
}

/// Kills wait for the end of a match, whichever line marks it.
#[test]
fn kills_count_when_the_end_states_no_score() {
    let mut play = live_counter_strike();
    let shot = kill(100, (1, "CT"), (3, "TERRORIST"));
    play.log(&log(&[shot, line(130, "Game Over: competitive")]));
    let done = play.done();
    assert!(
        done.contains(&"KILL [U:1:1] [U:1:3]".to_owned()),
        "{done:?}"
    );
}

fn suicide(at: u32, number: u32, side: &str) -> (u32, String) {
    let who = who(number, side);
    (
        at,
        format!("{who} [1 2 3] committed suicide with \"world\""),
    )
}

#[test]
fn a_round_that_is_taken_back_kills_nobody() {
    let mut play = live_counter_strike();
    let all = [(1, "CT"), (2, "CT"), (3, "TERRORIST"), (4, "TERRORIST")];
    let mut lines = Vec::new();
    for (number, side) in all {
        lines.push(suicide(99, number, side));
        let player = format!("\"p{number}<{number}><[U:1:{number}]>\"");
        lines.push(line(
            99,
            &format!("{player} switched from team <{side}> to <Spectator>"),
        ));
        lines.push(line(
            100,
            &format!("{player} switched from team <Spectator> to <{side}>"),
        ));
    }
    lines.sort_by_key(|(at, _)| *at);
    lines.push(line(
        100,
        "World triggered \"Match_Reloaded\" on \"de_cache\"",
    ));
    lines.push(line(110, ROUND));
    play.log(&log(&lines));
    play.wait(5_000);
    let done = play.done();
    assert!(
        !done.iter().any(|sent| sent.starts_with("DEATH")),
        "{done:?}"
    );
    // Who dies of a fall does so, as soon as nothing is taken back: by the log's clock, or by that of the sidecar.
    play.log(&log(&[suicide(120, 1, "CT")]));
    assert!(play.done().is_empty());
    play.log(&log(&[kill(123, (2, "CT"), (3, "TERRORIST"))]));
    assert_eq!(play.done(), ["DEATH [U:1:1]", "DEATH [U:1:3]"]);
    play.log(&log(&[suicide(130, 2, "CT")]));
    play.wait(2_000);
    assert_eq!(play.done(), ["DEATH [U:1:2]"]);
}

#[test]
fn kills_of_rounds_that_are_taken_back_do_not_count() {
    let mut play = live_counter_strike();
    let side = |name: &str, score: u32| {
        (
            0,
            format!("Team \"{name}\" scored \"{score}\" with \"2\" players"),
        )
    };
    let scores = |at: u32, ct: u32, t: u32| {
        [side("CT", ct), side("TERRORIST", t)].map(|(_, text)| (at, text))
    };
    let won = |at: u32, ct: u32, t: u32| {
        let text = "Team \"CT\" triggered \"SFUI_Notice_CTs_Win\"";
        let mut lines = vec![(at, format!("{text} (CT \"{ct}\") (T \"{t}\")"))];
        lines.extend(scores(at, ct, t));
        lines.push(line(at, "World triggered \"Round_End\""));
        lines
    };
    let mut lines = vec![kill(80, (1, "CT"), (3, "TERRORIST"))];
    lines.extend(won(90, 1, 0));
    lines.extend([line(100, ROUND), kill(110, (2, "CT"), (4, "TERRORIST"))]);
    lines.extend(won(120, 2, 0));
    lines.extend([line(130, ROUND), kill(140, (4, "TERRORIST"), (1, "CT"))]);
    // The second round is played again.
    lines.push(line(
        150,
        "World triggered \"Match_Reloaded\" on \"de_cache\"",
    ));
    lines.extend(scores(150, 1, 0));
    lines.extend([line(160, ROUND), kill(170, (3, "TERRORIST"), (2, "CT"))]);
    let over = "Game Over: competitive mg_x de_cache score 1:1 after 2 min";
    lines.extend(won(180, 1, 1));
    lines.push(line(190, over));
    play.log(&log(&lines));
    let kills = play
        .done()
        .into_iter()
        .filter(|sent| sent.starts_with("KILL"));
    let counted = ["KILL [U:1:1] [U:1:3]", "KILL [U:1:3] [U:1:2]"];
    assert_eq!(kills.collect::<Vec<_>>(), counted);
}
