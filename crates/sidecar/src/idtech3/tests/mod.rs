//! Whole games played through the room, without sockets.

mod asked;
mod chat;
mod commands;

use super::IdTech3;
use crate::{
    ChatSettings, Sidecar,
    follower::{
        FollowerSettings,
        testing::{self, Play, line},
    },
};
use evenkeel_protocol::Request;

fn settings() -> FollowerSettings {
    FollowerSettings {
        bots_as_players: true,
        ..testing::settings()
    }
}

/// A sidecar that has just connected.
fn following(settings: FollowerSettings) -> Play<IdTech3> {
    Play::new(IdTech3::new(false, Vec::new()), settings)
}

const HELLO: [&str; 2] = ["HELLO test", "MINPLAYERS 0"];

/// A warm-up with two bots on each team, the first with client number `first`.
fn warm_up() -> String {
    let mut log =
        "0:00 InitGame: \\g_gametype\\4\\gamename\\baseoa\\mapname\\ps37ctf\n0:00 Warmup:\n"
            .to_owned();
    for (number, (name, team)) in [("A", 1), ("B", 1), ("C", 2), ("D", 2)].iter().enumerate() {
        log += &arrival(number, name, *team, Some(number + 1));
    }
    log
}

/// A player who joins; a bot has a skill.
fn arrival(number: usize, name: &str, team: u8, skill: Option<usize>) -> String {
    let rest = match skill {
        Some(skill) => format!("\\skill\\ {skill}.00\\id\\"),
        None => format!("\\id\\{:032X}", number + 1),
    };
    format!(
        "0:00 ClientUserinfoChanged: {number} n\\{name}\\t\\{team}{rest}\n0:00 ClientConnect: {number}\n\
         0:00 ClientBegin: {number}\n"
    )
}

const CHOSEN: &str =
    "BALANCE 6 0.99 - 7\nTEAM 1 A\nTEAM 0 B\nTEAM 0 C\nTEAM 1 D\nBOTS 0 0\nBOTS 1 0";

#[test]
fn a_long_clock_and_time_stamps_change_nothing() {
    let mut expected = following(settings());
    expected.log(&warm_up());
    let expected = expected.done();
    for time in [
        "999:00 ",
        "1000:00",
        "1101:28",
        "12345:0",
        "1795176000|  0:00 ",
        "2026-11-20T12:00:00.1Z 1101:28",
    ] {
        let mut play = following(settings());
        play.log(&warm_up().replace("0:00 ", time));
        assert_eq!(play.done(), expected, "{time}");
    }
}

#[test]
fn a_warm_up_is_balanced_once_it_is_quiet() {
    let mut play = following(settings());
    assert_eq!(play.done(), HELLO);
    play.log(&warm_up());
    assert_eq!(
        play.done(),
        [
            "GAME baseoa.ctf",
            "MAP ps37ctf",
            "JOIN A name=A team=0",
            "JOIN B name=B team=0",
            "JOIN C name=C team=1",
            "JOIN D name=D team=1"
        ]
    );
    play.wait(999);
    assert!(play.done().is_empty());
    play.wait(1);
    assert_eq!(play.done(), ["BALANCE"]);
    play.reply(CHOSEN);
    let moves = [
        "# say Evenkeel: 2 players to even teams, ratio 0.99",
        "# clientkick 0",
        "# clientkick 2",
        "# wait 5",
        "# addbot A 1 blue",
        "# addbot C 3 red",
    ];
    assert_eq!(play.done(), moves);
    play.wait(1_000);
    assert!(play.done().is_empty(), "they are on their way");
    play.log("0:02 ClientDisconnect: 0\n0:02 ClientDisconnect: 2\n");
    play.log(&(arrival(0, "A", 2, Some(1)) + &arrival(2, "C", 1, Some(3))));
    let expected = [
        "LEAVE A reason=kicked",
        "LEAVE C reason=kicked",
        "JOIN A name=A team=1",
        "JOIN C name=C team=0",
    ];
    assert_eq!(play.done(), expected);
    play.wait(1_000);
    assert_eq!(play.done(), ["* the teams are as chosen, ratio 0.990"]);
    play.wait(60_000);
    assert_eq!(play.done(), ["PING"]);
}

#[test]
fn moves_that_do_not_happen_are_ordered_again_and_then_given_up() {
    let mut play = following(settings());
    play.log(&warm_up());
    play.wait(1_000);
    play.reply(CHOSEN);
    let ordered = |done: Vec<String>| {
        done.iter()
            .filter(|line| line.contains("clientkick"))
            .count()
    };
    assert_eq!(ordered(play.done()), 2);
    play.wait(2_999);
    assert_eq!(ordered(play.done()), 0);
    play.wait(1);
    assert_eq!(ordered(play.done()), 2);
    play.wait(3_000);
    assert_eq!(play.done(), ["* 2 moves were ordered and not carried out"]);
    play.wait(30_000);
    assert!(play.done().is_empty());
}

#[test]
fn who_comes_into_a_balanced_warm_up_is_fitted_in_with_few_moves() {
    let mut play = following(settings());
    play.log(&warm_up());
    play.wait(1_000);
    play.reply("BALANCE 6 0.99 - 7\nTEAM 0 A\nTEAM 0 B\nTEAM 1 C\nTEAM 1 D\nBOTS 0 0\nBOTS 1 0");
    play.done();
    play.log(&arrival(9, "a \"b\"; quit", 1, None));
    let id = "0000000000000000000000000000000A";
    let join = format!("JOIN {id} name=\"a \\\"b\\\"; quit\" team=0");
    assert_eq!(play.done(), [join]);
    play.wait(1_000);
    assert_eq!(play.done(), ["REBALANCE", "BOTS"]);
    play.reply(&format!("REBALANCE 1 0.7 0.9\nMOVE {id} 0 1\nBOTS 0 0 0"));
    let moves = [
        "# say Evenkeel: 1 player to even teams, ratio 0.90",
        "# forceteam 9 blue",
    ];
    assert_eq!(play.done(), moves);
    play.log("0:09 ClientUserinfoChanged: 9 n\\x\\t\\2\\id\\0000000000000000000000000000000A\n");
    assert_eq!(
        play.done(),
        [format!("JOIN {id} name=x"), format!("MOVE {id} 1")]
    );
}

#[test]
fn an_answer_that_comes_too_late_moves_nobody() {
    let mut play = following(settings());
    play.log(&warm_up());
    play.wait(1_000);
    play.log("0:03 ShutdownGame:\n");
    play.log("0:03 InitGame: \\g_gametype\\4\\gamename\\baseoa\n0:05 Item: 0 x\n");
    play.done();
    play.reply(CHOSEN);
    assert_eq!(
        play.done(),
        ["* play began before teams were chosen: no player is moved"]
    );
}

#[test]
fn without_a_warm_up_teams_are_chosen_after_the_game() {
    let mut play = following(settings());
    play.log(&warm_up().replace("0:00 Warmup:\n", ""));
    play.wait(10_000);
    play.log("0:01 Item: 0 x\n0:09 CTF: 0 2 1: A captured\n0:10 Exit: done\n0:10 red:1  blue:0\n");
    for number in 0..4 {
        play.log(&format!(
            "0:10 score: {number}  ping: 0  client: {number} x\n"
        ));
    }
    let done = play.done();
    assert_eq!(
        done[8..],
        [
            "START",
            "SCORE 0 1 A",
            "POINTS A 0",
            "POINTS B 1",
            "POINTS C 2",
            "POINTS D 3",
            "END"
        ]
    );
    play.reply("END 00ff recorded");
    play.wait(1_000);
    assert_eq!(
        play.done(),
        ["* the game is over: 00ff recorded", "BALANCE"]
    );
    play.reply(CHOSEN);
    assert_eq!(play.done().len(), 6);
}

#[test]
fn the_score_is_set_right_by_what_the_log_tells_later() {
    let mut play = following(settings());
    play.log(
        &warm_up()
            .replace("0:00 Warmup:\n", "")
            .replace("gametype\\4", "gametype\\3"),
    );
    play.done();
    play.log(
        "0:05 Kill: 0 2 1: A killed C by MOD_X\n0:06 Kill: 0 1 1: A killed B by MOD_X\n\
         0:07 Kill: 1022 3 1: <world> killed D by MOD_FALLING\n0:07 TeamScore: 2 -1: BLUE\n0:08 TeamScore: 1 2: RED\n\
         0:09 Exit: x\n0:09 red:2  blue:1\n0:11 x\n",
    );
    let expected = [
        "START",
        "KILL A C",
        "SCORE 0 1 A",
        // Who is killed by a team mate or by the world has died.
        "KILL B B",
        "SCORE 0 -1 A",
        "KILL D D",
        "SCORE 1 -1 D",
        "SCORE 0 2",
        "SCORE 1 2",
        "END",
    ];
    assert_eq!(play.done(), expected);
}

#[test]
fn play_begins_although_the_server_writes_nothing() {
    let mut play = following(settings());
    play.log(&warm_up().replace("0:00 Warmup:\n", ""));
    play.wait(749);
    assert!(!play.done().contains(&"START".to_owned()));
    play.wait(1);
    assert_eq!(play.done(), ["START"]);
    // A log that is written in blocks may have said so late.
    play.log("0:00 Warmup:\n");
    assert_eq!(play.done()[..2], ["GAME baseoa.ctf", "MAP ps37ctf"]);
    play.log("0:20 InitGame: \\g_gametype\\4\\gamename\\baseoa\\mapname\\ps37ctf\n");
    play.wait(750);
    assert_eq!(play.done().last().map(String::as_str), Some("START"));
}

#[test]
fn a_game_that_comes_again_at_the_turn_of_a_second_starts_with_its_players() {
    let mut play = following(settings());
    play.log(&warm_up());
    play.done();
    // The players are there a moment later, in which the clock of the log has gone on to the next second.
    play.log("0:19 InitGame: \\g_gametype\\4\\gamename\\baseoa\\mapname\\ps37ctf\n");
    play.log("0:20 Info: ServerInfo length: 810 of 1024\n");
    play.log(&arrival(0, "A", 1, Some(1)).replace("0:00", "0:20"));
    let so_far = play.done();
    assert!(!so_far.contains(&"START".to_owned()), "{so_far:?}");
    play.wait(750);
    assert_eq!(play.done(), ["START"]);
}

#[test]
fn players_of_one_guid_are_known_by_their_names() {
    let mut play = following(settings());
    play.log(&warm_up());
    play.done();
    let copy = |number, name: &str, team| {
        arrival(number, name, team, None).replace(&format!("{:032X}", number + 1), "ABCDEF")
    };
    play.log(&copy(4, "ann", 1));
    assert_eq!(play.done(), ["JOIN ABCDEF name=ann team=0"]);
    play.log(&copy(5, "bob", 2));
    let both = [
        "LEAVE ABCDEF",
        "JOIN ann name=ann team=0",
        "JOIN bob name=bob team=1",
    ];
    assert_eq!(play.done(), both);
    // They stay so while the map is played.
    play.log("0:01 ClientDisconnect: 5\n0:01 ClientUserinfoChanged: 4 n\\ann\\t\\2\\id\\ABCDEF\n");
    assert_eq!(play.done(), ["LEAVE bob", "MOVE ann 1"]);
}

#[test]
fn a_game_that_nobody_has_played_is_no_match() {
    let mut play = following(settings());
    play.log("0:00 InitGame: \\g_gametype\\0\\mapname\\q3dm17\n15:00 Exit: Timelimit hit.\n20:37 ShutdownGame:\n");
    let done = play.done();
    assert_eq!(done.last().map(String::as_str), Some("START"), "{done:?}");
}

#[test]
fn a_connection_lost_in_play_costs_this_game_only() {
    let mut play = following(settings());
    play.log(&warm_up().replace("0:00 Warmup:\n", ""));
    play.log("0:02 Item: 0 x\n");
    play.sidecar.disconnected();
    play.done();
    play.log("0:03 CTF: 0 2 1: A captured\n0:04 ClientDisconnect: 3\n");
    assert!(play.done().is_empty(), "there is no connection");
    play.sidecar.connected(play.now, &mut play.acts);
    let again = [
        "GAME baseoa.ctf",
        "MAP ps37ctf",
        "JOIN A name=A team=0",
        "JOIN B name=B team=0",
        "JOIN C name=C team=1",
    ];
    assert_eq!(play.done(), [&HELLO[..], &again].concat());
    play.log("0:05 CTF: 0 2 1: A captured\n0:06 Exit: x\n0:06 red:2  blue:0\n0:09 x\n");
    assert_eq!(
        play.done(),
        ["* the daemon has seen only a part of the game that ended: ingest its log"]
    );
    play.log("0:10 ShutdownGame:\n");
    play.log(&warm_up());
    play.log("0:02 Item: 0 x\n");
    assert_eq!(play.done().last().unwrap(), "JOIN D name=D team=1");
}

#[test]
fn in_play_people_move_only_with_auto_balance() {
    for auto_balance in [false, true] {
        let mut play = following(FollowerSettings {
            auto_balance,
            ..settings()
        });
        play.log(&warm_up().replace("0:00 Warmup:\n", ""));
        play.log("0:02 Item: 0 x\n");
        play.done();
        play.log("0:30 ClientUserinfoChanged: 5 n\\late\\t\\1\\id\\AB\n0:30 ClientBegin: 5\n");
        play.log("0:31 Kill: 0 2 1: A killed C by MOD_X\n");
        if !auto_balance {
            assert_eq!(play.done(), ["JOIN AB name=late team=0", "KILL A C"]);
            play.reply("MOVE C 1 0");
            assert!(play.done().is_empty());
            continue;
        }
        assert_eq!(
            play.done(),
            ["JOIN AB name=late", "PLACE AB", "KILL A C", "DEATH C"]
        );
        play.reply("PLACE AB 1 0.9\nMOVE C 1 0");
        let moved = "# say Evenkeel: one player changes teams";
        assert_eq!(play.done(), [moved, "# forceteam 5 blue"]);
        play.wait(999);
        assert!(
            play.done().is_empty(),
            "the file of the first commands is still needed"
        );
        play.wait(1);
        let bot = ["# clientkick 2", "# wait 5", "# addbot C 3 red"];
        assert_eq!(play.done(), [&[moved], &bot[..]].concat());
        play.wait(3_999);
        assert!(play.done().is_empty());
        play.wait(1);
        assert_eq!(
            play.done(),
            ["MOVE C 1", "MOVE AB 0"],
            "neither move has happened"
        );
    }
}

#[test]
fn a_late_arrival_is_not_sent_as_on_the_team_that_it_chose() {
    let mut play = following(FollowerSettings {
        auto_balance: true,
        ..settings()
    });
    play.log(&warm_up().replace("0:00 Warmup:\n", ""));
    play.log("0:02 Item: 0 x\n");
    play.log("0:10 ClientUserinfoChanged: 5 n\\late\\t\\3\\id\\AB\n0:11 ClientBegin: 5\n");
    play.done();
    // OpenArena writes two lines for a spectator who chooses a team.
    let red = "0:30 ClientUserinfoChanged: 5 n\\late\\t\\1\\id\\AB\n0:30 ClientBegin: 5\n";
    play.log(red);
    assert_eq!(play.done(), ["JOIN AB name=late", "PLACE AB"]);
    play.reply("PLACE AB 1 0.9");
    assert_eq!(play.done().last().unwrap(), "# forceteam 5 blue");
    play.log(&red.replace("t\\1", "t\\2"));
    play.wait(5_000);
    assert!(play.done().is_empty(), "the daemon knows");
    // Without a reply, the daemon is sent the actual team.
    play.log("0:40 ClientUserinfoChanged: 6 n\\x\\t\\1\\id\\CD\n0:40 ClientBegin: 6\n");
    assert_eq!(play.done(), ["JOIN CD name=x", "PLACE CD"]);
    play.wait(5_000);
    assert_eq!(play.done(), ["MOVE CD 0"]);
}

#[test]
fn play_of_urban_terror_begins_with_the_first_round() {
    // Team survivor is played in rounds, capture the flag begins anew with each.
    for (game_type, begins_anew) in [(4, false), (7, true)] {
        let info = format!("\\g_gametype\\{game_type}\\gamename\\q3urt42\\mapname\\ps37ctf");
        let mut play = following(settings());
        let game = warm_up().replace("0:00 Warmup:\n", "");
        play.log(&game.replace("\\g_gametype\\4\\gamename\\baseoa\\mapname\\ps37ctf", &info));
        play.log("0:02 Kill: 0 2 1: A killed C by MOD_X\n");
        assert_eq!(play.done()[2 + 6..], ["START", "KILL A C"]);
        let begun = |play: &mut Play<IdTech3>| {
            play.log(&format!("0:05 InitRound: {info}\n"));
            play.done()
        };
        let first = begun(&mut play);
        assert!(first[0].starts_with("GAME q3urt42."), "{first:?}");
        assert_eq!(first.last().map(String::as_str), Some("START"));
        assert_eq!(begun(&mut play).is_empty(), !begins_anew);
    }
}

#[test]
fn bots_that_stay_bots_are_counted() {
    let mut play = following(FollowerSettings {
        bots_as_players: false,
        ..settings()
    });
    play.log(&warm_up());
    play.log(&(arrival(6, "ann", 1, None) + &arrival(7, "bob", 1, None)));
    let done = play.done();
    assert_eq!(done[3], "BOTJOIN A 0");
    assert!(done.last().unwrap().starts_with("JOIN 0000"), "{done:?}");
    play.wait(1_000);
    play.reply(
        "BALANCE 4 1.0 - 7\nTEAM 0 00000000000000000000000000000007\nTEAM 1 00000000000000000000000000000008\n\
         BOTS 0 2\nBOTS 1 2",
    );
    assert_eq!(
        play.done(),
        [
            "BALANCE",
            "# say Evenkeel: 1 player to even teams, ratio 1.00",
            "# forceteam 7 blue"
        ]
    );
}

#[test]
fn two_of_one_name_are_told_apart() {
    let mut play = following(settings());
    play.log(&warm_up());
    play.done();
    play.log(&arrival(4, "A", 2, Some(2)));
    assert_eq!(play.done(), ["JOIN \"A (2)\" name=A team=1"]);
    play.log("0:01 ClientDisconnect: 0\n");
    play.log("0:01 ClientDisconnect: 4\n");
    assert_eq!(play.done(), ["LEAVE A", "LEAVE \"A (2)\""]);
}

#[test]
fn a_name_that_two_humans_have_is_nobodys_while_both_are_there() {
    let mut play = following(settings());
    play.log(&warm_up());
    play.done();
    let human =
        |number, name: &str, team| arrival(number, name, team, None).replace("\\id\\", "\\x\\");
    play.log(&human(4, "Bob", 1));
    assert_eq!(play.done(), ["JOIN Bob name=Bob team=0"]);
    play.log(&human(5, "Bob", 2));
    assert_eq!(
        play.done(),
        [
            "LEAVE Bob",
            "JOIN \"name in use twice: Bob (4)\" name=Bob team=0",
            "JOIN \"name in use twice: Bob (5)\" name=Bob team=1"
        ]
    );
    play.log("0:01 ClientUserinfoChanged: 5 n\\Eve\\t\\2\n");
    assert_eq!(
        play.done(),
        [
            "LEAVE \"name in use twice: Bob (5)\"",
            "JOIN Eve name=Eve team=1",
            "LEAVE \"name in use twice: Bob (4)\"",
            "JOIN Bob name=Bob team=0"
        ]
    );
    // A name that everybody has is nobody's at all.
    play.log(&human(6, "UnnamedPlayer", 1));
    let id = "\"name of nobody: UnnamedPlayer (6)\"";
    assert_eq!(
        play.done(),
        [format!("JOIN {id} name=UnnamedPlayer team=0")]
    );
}

#[test]
fn hostile_names_never_reach_the_console() {
    for name in [
        "x\"; quit; \"",
        "$rconpassword",
        "a;b",
        "//",
        "x y",
        "\u{1b}[2J",
    ] {
        let mut play = following(settings());
        play.log(&warm_up());
        play.log(&(arrival(4, name, 1, Some(2)) + &arrival(5, name, 1, None)));
        play.wait(1_000);
        let id = line(&Request::Death(crate::link::plain_ident(name.trim())));
        let id = &id["DEATH ".len()..];
        play.reply(&format!(
            "BALANCE 6 0.99 - 7\nTEAM 0 A\nTEAM 0 B\nTEAM 1 C\nTEAM 1 D\nTEAM 1 {id}\n\
             TEAM 1 00000000000000000000000000000006"
        ));
        let console: Vec<_> = play
            .done()
            .into_iter()
            .filter(|line| line.starts_with('#'))
            .collect();
        let count = "# say Evenkeel: 1 player to even teams, ratio 0.99";
        assert_eq!(console, [count, "# forceteam 5 blue"], "{name:?}");
    }
}

#[test]
fn any_bytes_are_borne() {
    use proptest::prelude::*;
    let line = prop_oneof![
        any::<Vec<u8>>(),
        "0:0[0-9] (Kill|CTF|ClientBegin|ClientConnect|ClientDisconnect|TeamScore|red|score|Exit|Warmup|InitRound|\
         InitGame|ShutdownGame|ClientUserinfoChanged): [0-9]{1,3} [0-9] (n\\\\a\\\\t\\\\[0-3])?"
            .prop_map(String::into_bytes),
        "0:0[0-9] (Client(Begin: [0-3]|UserinfoChanged: [0-3] n\\\\[ab;\"^]{1,2}\\\\t\\\\[0-3])|\
         say: [ab;\"^]{1,2}: !(teams|why|rank|balance))"
            .prop_map(String::into_bytes),
    ];
    let reply = "(BALANCE|TEAM|BOTS|MOVE|PLACE|REBALANCE|END|ERROR|EXPLAIN|WHY|RANK|PONG)( [0-9ab.;\"]{1,4}){0,4}";
    proptest!(|(lines in proptest::collection::vec((line, reply, 0u64..2_000), 0..60))| {
        let mut play = following(FollowerSettings {
            auto_balance: true,
            chat: ChatSettings { on: true, vote: Some(50) },
            ..settings()
        });
        for (line, reply, millis) in lines {
            play.sidecar.log_line(&line, play.now, &mut play.acts);
            play.reply(&reply);
            play.wait(millis);
        }
        for line in play.done() {
            prop_assert!(!line.contains('\n') && line.len() < 1_024);
            prop_assert!(!line.starts_with('#') || !line.contains([';', '"', '^']), "{line}");
        }
    });
}

#[test]
fn a_daemon_that_does_not_follow_games_is_not_pestered() {
    let mut play = following(settings());
    play.log(&warm_up().replace("0:00 Warmup:\n", ""));
    play.log("0:02 Kill: 0 2 1: A killed C by MOD_X\n");
    play.reply("ERROR unknown-command START\nERROR unknown-command KILL");
    let expected = "* this version of the daemon does not follow games: ingest the log";
    assert_eq!(play.done().last().map(String::as_str), Some(expected));
    play.log("0:03 Kill: 0 2 1: A killed C by MOD_X\n0:04 Exit: x\n0:07 ShutdownGame:\n");
    assert_eq!(play.done().len(), 1);
    play.log(&(warm_up().replace("0:00 Warmup:\n", "") + "0:02 Item: 0 x\n"));
    assert!(!play.done().contains(&"START".to_owned()));
}

#[test]
fn a_game_that_is_not_supported_is_not_followed() {
    let mut play = following(settings());
    assert_eq!(play.done(), HELLO);
    let game = warm_up().replace("gamename\\baseoa", "gamename\\etmain\\version\\ET 2.60b");
    play.log(&game);
    play.log(
        "0:30 InitGame: \\g_gametype\\4\\gamename\\etmain\n0:31 Exit: x\n0:31 red:1  blue:2\n",
    );
    assert_eq!(
        play.done(),
        ["* Enemy Territory is not supported; the daemon is sent nothing about this game server"]
    );
}
