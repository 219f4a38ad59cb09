//! Whole games played through the room, without sockets.

mod counter_strike;

use proptest::prelude::*;

use super::Source;
use crate::{
    Sidecar,
    follower::{
        Follower, FollowerSettings,
        testing::{Play, bot_commands, commands, settings},
    },
};

const MOVE: &str = "sm_team \"#{player}\" {number}";

fn source(settings: FollowerSettings) -> Play<Source> {
    Play::new(engine(), settings)
}

fn engine() -> Source {
    Source::new(commands(MOVE), None, 30_000)
}

/// Lines of a log, each at its second.
fn log(lines: &[(u32, String)]) -> String {
    let line = |(at, line): &(u32, String)| {
        format!("L 01/24/2026 - 18:{:02}:{:02}: {line}\n", at / 60, at % 60)
    };
    lines.iter().map(line).collect()
}

/// A player as a log names them.
fn who(number: u32, team: &str) -> String {
    format!("\"p{number}<{number}><[U:1:{number}]><{team}>\"")
}

fn joins(at: u32, number: u32, team: &str) -> (u32, String) {
    let player = who(number, "Unassigned");
    (at, format!("{player} joined team \"{team}\""))
}

fn moves(at: u32, number: u32, from: &str, to: &str) -> (u32, String) {
    (at, format!("{} joined team \"{to}\"", who(number, from)))
}

fn line(at: u32, text: &str) -> (u32, String) {
    (at, text.to_owned())
}

fn kill(at: u32, killer: (u32, &str), victim: (u32, &str)) -> (u32, String) {
    let (killer, victim) = (who(killer.0, killer.1), who(victim.0, victim.1));
    (at, format!("{killer} killed {victim} with \"gun\""))
}

const ROUND: &str = "World triggered \"Round_Start\"";
const WIN: &str = "World triggered \"Round_Win\" (winner \"Red\")";
const OVER: &str = "World triggered \"Game_Over\" reason \"x\"";

fn total(at: u32, team: &str, verb: &str, score: u32) -> (u32, String) {
    (
        at,
        format!("Team \"{team}\" {verb} score \"{score}\" with \"2\" players"),
    )
}

/// A map with four players, who are all Red but the last.
fn loaded() -> Vec<(u32, String)> {
    vec![
        line(
            0,
            "Log file started (file \"l\") (game \"/srv/tf\") (version \"1\")",
        ),
        line(0, "Loading map \"ctf_2fort\""),
        line(0, "Server cvar \"tf_weapon_criticals\" = \"0\""),
        line(1, "Started map \"ctf_2fort\" (CRC \"1\")"),
        line(1, ROUND),
        joins(2, 1, "Red"),
        joins(2, 2, "Red"),
        joins(3, 3, "Red"),
        joins(3, 4, "Blue"),
    ]
}

fn join(number: u32, team: u8) -> String {
    format!("JOIN [U:1:{number}] name=p{number} team={team}")
}

const ANNOUNCED: [&str; 3] = [
    "GAME tf.ctf",
    "MUTATOR tf_weapon_criticals=0",
    "MAP ctf_2fort",
];
const CHOSEN: &str = "BALANCE 6 0.97 - 7\nTEAM 0 [U:1:1]\nTEAM 1 [U:1:2]\nTEAM 0 [U:1:3]\nTEAM 1 [U:1:4]\n\
                      BOTS 0 0\nBOTS 1 0";

#[test]
fn an_evening_of_team_fortress() {
    let mut play = source(settings());
    assert_eq!(play.done(), ["HELLO test"]);
    play.log(&log(&loaded()));
    let mut expected: Vec<String> = ["GAME tf.ctf", "MAP ctf_2fort"].map(str::to_owned).into();
    expected.extend(ANNOUNCED.map(str::to_owned));
    expected.extend([join(1, 0), join(2, 0), join(3, 0), join(4, 1)]);
    assert_eq!(play.done(), expected);
    // The server waits for players, and the teams are chosen.
    play.wait(1_000);
    assert_eq!(play.done(), ["BALANCE"]);
    play.reply(CHOSEN);
    let ordered = [
        "# say Evenkeel: 1 player to even teams, ratio 0.97",
        "# sm_team \"#2\" 3",
    ];
    assert_eq!(play.done(), ordered);
    play.log(&log(&[moves(6, 2, "Red", "Blue")]));
    play.wait(500);
    assert_eq!(play.done(), ["* the teams are as chosen, ratio 0.970"]);
    // The next round starts without an end of the first.
    play.log(&log(&[line(32, ROUND), kill(40, (1, "Red"), (2, "Blue"))]));
    assert_eq!(play.done(), ["START", "KILL [U:1:1] [U:1:2]"]);
    play.log(&log(&[
        line(300, WIN),
        total(300, "Red", "current", 1),
        total(300, "Blue", "current", 0),
        line(305, ROUND),
        line(600, OVER),
        total(600, "Red", "final", 3),
        total(600, "Blue", "final", 1),
    ]));
    // Nobody plays on a third team, whose score could follow.
    assert_eq!(play.done(), ["SCORE 0 1", "SCORE 0 2", "SCORE 1 1", "END"]);
    play.log(&log(&[line(600, "Log file closed")]));
    assert!(play.done().is_empty());
    play.reply("END 00ff recorded");
    assert_eq!(play.done(), ["* the game is over: 00ff recorded"]);
    play.log(&log(&[
        line(
            610,
            "Log file started (file \"m\") (game \"tf\") (version \"1\")",
        ),
        line(610, "Loading map \"koth_viaduct\""),
    ]));
    assert_eq!(play.done(), ["GAME tf.koth", "MAP koth_viaduct"]);
}

/// A server whose log goes to two sinks, such as the same address twice, sends each line again.
#[test]
fn lines_that_come_twice_count_once() {
    let lines = [
        loaded(),
        vec![
            line(32, ROUND),
            kill(40, (1, "Red"), (4, "Blue")),
            line(300, WIN),
            total(300, "Red", "current", 1),
            total(300, "Blue", "current", 0),
            line(305, ROUND),
            line(600, OVER),
            total(600, "Red", "final", 3),
            total(600, "Blue", "final", 1),
            line(600, "Log file closed"),
        ],
    ];
    let once = log(&lines.concat());
    let twice: String = once
        .lines()
        .flat_map(|line| [line, "\n", line, "\n"])
        .collect();
    let [single, doubled] = [once, twice].map(|log| {
        let mut play = source(settings());
        play.log(&log);
        play.done()
    });
    assert!(single.contains(&"START".to_owned()) && single.contains(&"END".to_owned()));
    assert_eq!(doubled, single);
}

#[test]
fn a_beginning_that_is_there_twice_begins_no_other_game() {
    let mut play = source(settings());
    play.log(&log(&loaded()));
    play.log(&log(&[line(32, ROUND), line(32, ROUND), line(300, WIN)]));
    play.log(&log(&[line(305, ROUND), line(305, ROUND)]));
    let done = play.done();
    let count = |word: &str| done.iter().filter(|line| line.starts_with(word)).count();
    assert_eq!((count("START"), count("GAME")), (1, 2), "{done:?}");
}

#[test]
fn waiting_for_players_ends_by_itself() {
    let mut play = source(settings());
    play.log(&log(&loaded()));
    play.wait(1_000);
    assert_eq!(play.done().last().map(String::as_str), Some("BALANCE"));
    play.wait(27_999);
    assert!(play.done().is_empty());
    play.wait(1);
    assert_eq!(play.done(), ["START"]);
    play.reply(CHOSEN);
    assert_eq!(
        play.done(),
        ["* play began before teams were chosen: no player is moved"]
    );
}

#[test]
fn a_move_that_is_refused_is_ordered_again_and_then_given_up() {
    let mut play = source(settings());
    play.log(&log(&loaded()));
    play.wait(1_000);
    play.reply(CHOSEN);
    play.done();
    play.wait(3_000);
    assert_eq!(play.done()[1..], ["# sm_team \"#2\" 3"]);
    play.wait(3_000);
    assert_eq!(play.done(), ["* 1 move was ordered and not carried out"]);
    play.wait(9_000);
    assert!(play.done().is_empty());
}

#[test]
fn late_arrivals_and_moves_in_play() {
    for auto_balance in [false, true] {
        let mut play = source(FollowerSettings {
            auto_balance,
            ..settings()
        });
        play.log(&log(&loaded()));
        play.log(&log(&[line(32, ROUND)]));
        play.done();
        play.now = 60_000;
        play.log(&log(&[
            joins(92, 5, "Red"),
            kill(93, (4, "Blue"), (3, "Red")),
        ]));
        if !auto_balance {
            assert_eq!(play.done(), [join(5, 0), "KILL [U:1:4] [U:1:3]".into()]);
            play.reply("MOVE [U:1:3] 0 1");
            assert!(play.done().is_empty());
            continue;
        }
        let asked = [
            "JOIN [U:1:5] name=p5",
            "PLACE [U:1:5]",
            "KILL [U:1:4] [U:1:3]",
            "DEATH [U:1:3]",
        ];
        assert_eq!(play.done(), asked);
        // Before the daemon has answered, the player's own choice must not replace the daemon's.
        play.log(&log(&[
            moves(93, 5, "Red", "Blue"),
            moves(93, 5, "Blue", "Red"),
        ]));
        assert!(play.done().is_empty());
        play.reply("PLACE [U:1:5] 1 0.9");
        let one = "# say Evenkeel: one player changes teams";
        assert_eq!(play.done(), [one, "# sm_team \"#5\" 3"]);
        play.log(&log(&[moves(94, 5, "Red", "Blue")]));
        assert!(play.done().is_empty(), "the daemon knows");
        play.reply("MOVE [U:1:3] 0 1");
        assert_eq!(play.done(), [one, "# sm_team \"#3\" 3"]);
        // The server refuses: the daemon gets the actual team.
        play.wait(5_000);
        assert_eq!(play.done(), ["MOVE [U:1:3] 0"]);
    }
}

#[test]
fn the_daemon_goes_away_and_comes_back() {
    let mut play = source(settings());
    play.log(&log(&loaded()));
    play.log(&log(&[line(32, ROUND)]));
    play.sidecar.disconnected();
    play.done();
    play.log(&log(&[kill(40, (1, "Red"), (4, "Blue"))]));
    assert!(play.done().is_empty());
    play.sidecar.connected(play.now, &mut play.acts);
    let back = play.done();
    assert_eq!(back[..4], [&["HELLO test"][..], &ANNOUNCED].concat());
    assert_eq!(back.len(), 8);
    play.log(&log(&[
        line(600, OVER),
        total(600, "Red", "final", 3),
        total(600, "Blue", "final", 1),
    ]));
    play.wait(2_000);
    let part = "* the daemon has seen only a part of the game that ended: ingest its log";
    assert_eq!(play.done(), [part]);
}

#[test]
fn a_sidecar_that_starts_in_mid_game_reports_only_the_next_one() {
    let mut play = Play::offline(engine(), settings());
    play.log(&log(&loaded()));
    play.log(&log(&[kill(100, (1, "Red"), (4, "Blue"))]));
    play.done();
    play.sidecar.connected(0, &mut play.acts);
    assert_eq!(play.done().len(), 8);
    play.wait(60_000);
    assert_eq!(play.done(), ["PING"], "this is no time to choose teams");
    play.log(&log(&[
        line(600, OVER),
        total(600, "Red", "final", 3),
        total(600, "Blue", "final", 1),
    ]));
    play.log(&log(&[line(601, "Log file closed")]));
    assert!(play.done()[0].starts_with("* the daemon has seen only a part"));
}

#[test]
fn the_people_keep_their_team_when_the_sides_are_exchanged() {
    let mut play = source(settings());
    play.log(&log(&loaded()));
    play.log(&log(&[moves(4, 2, "Red", "Blue"), line(32, ROUND)]));
    play.log(&log(&[
        line(300, WIN),
        total(300, "Red", "current", 2),
        total(300, "Blue", "current", 0),
        line(305, ROUND),
        moves(305, 1, "Red", "Blue"),
        moves(305, 2, "Blue", "Red"),
        moves(305, 3, "Red", "Blue"),
        moves(305, 4, "Blue", "Red"),
    ]));
    play.done();
    play.wait(3_000);
    assert!(play.done().is_empty(), "nobody has changed teams");
    play.log(&log(&[
        moves(400, 4, "Red", "Blue"),
        line(600, WIN),
        total(600, "Red", "current", 1),
        total(600, "Blue", "current", 2),
        line(605, OVER),
        total(605, "Red", "final", 1),
        total(605, "Blue", "final", 2),
        line(605, "Log file closed"),
    ]));
    // Those who play for Red now are team 1.
    assert_eq!(play.done(), ["MOVE [U:1:4] 0", "SCORE 1 1", "END"]);
}

/// Play of the loaded players, two on each team, on a server that may move them.
fn playing(auto_balance: bool) -> Play<Source> {
    let mut play = source(FollowerSettings {
        auto_balance,
        ..settings()
    });
    play.log(&log(&loaded()));
    play.log(&log(&[moves(4, 2, "Red", "Blue"), line(32, ROUND)]));
    play.done();
    play
}

/// The end of a round.
fn round_won(at: u32) -> String {
    log(&[
        line(at, WIN),
        total(at, "Red", "current", 3),
        total(at, "Blue", "current", 0),
    ])
}

#[test]
fn after_three_rounds_in_a_row_teams_are_chosen_anew_before_the_next_one() {
    let mut play = playing(true);
    play.reply("* STREAK 0 3 rounds");
    play.wait(1_000);
    assert!(play.done().is_empty(), "nobody is moved in a round");
    play.log(&round_won(300));
    play.done();
    play.wait(500);
    let why = "# say Evenkeel: red has won 3 rounds in a row by far, so teams are chosen anew";
    assert_eq!(play.done(), ["BALANCE", why]);
    play.reply(
        "BALANCE 6 0.97 - 7\nTEAM 1 [U:1:1]\nTEAM 1 [U:1:2]\nTEAM 0 [U:1:3]\nTEAM 0 [U:1:4]\n\
         BOTS 0 0\nBOTS 1 0",
    );
    let done = play.done();
    assert_eq!(
        done[0],
        "# say Evenkeel: 2 players to even teams, ratio 0.97"
    );
    assert_eq!(done.len(), 3, "{done:?}");
    play.wait(500);
    assert!(play.done().is_empty(), "once");
}

#[test]
fn a_streak_waits_for_a_lull_and_moves_nobody_without_permission() {
    // The next round has begun before the push comes.
    let mut play = playing(true);
    play.log(&(round_won(300) + &log(&[line(305, ROUND)])));
    play.done();
    play.reply("* STREAK 0 3 rounds");
    play.wait(500);
    assert!(!play.done().contains(&"BALANCE".to_owned()));
    // Teams that are even already stay, and players read it.
    play.log(&round_won(600));
    play.done();
    play.wait(500);
    assert_eq!(play.done()[0], "BALANCE");
    play.reply(CHOSEN);
    play.wait(500);
    let stay = "# say Evenkeel: the teams stay, they are as even as can be";
    assert_eq!(play.done(), [stay]);
    let mut play = playing(false);
    play.reply("* STREAK 0 3 rounds");
    play.log(&round_won(300));
    play.done();
    play.wait(500);
    assert!(play.done().is_empty());
}

#[test]
fn classes_are_roles_until_their_players_leave() {
    let mut play = source(settings());
    play.log(&log(&loaded()));
    play.done();
    let class = |at, number, class: &str| {
        (
            at,
            format!("{} changed role to \"{class}\"", who(number, "Red")),
        )
    };
    play.log(&log(&[class(5, 1, "medic"), class(6, 1, "medic")]));
    assert_eq!(play.done(), ["ROLE [U:1:1] medic"]);
    let left = (7, format!("{} disconnected (reason \"x\")", who(1, "Red")));
    play.log(&log(&[left, joins(9, 1, "Red"), class(10, 1, "scout")]));
    let again = [
        "LEAVE [U:1:1]".to_owned(),
        join(1, 0),
        "ROLE [U:1:1] scout".to_owned(),
    ];
    assert_eq!(play.done(), again);
}

#[test]
fn bots_go_where_the_daemon_wants_them() {
    let commands = bot_commands(MOVE, "tf_bot_quota {count}");
    let mut play = Play::new(Source::new(commands, None, 30_000), settings());
    let bot = |number: u32, team: &str| {
        line(
            2,
            &format!("\"bot{number}<{number}><BOT><Unassigned>\" joined team \"{team}\""),
        )
    };
    play.log(&log(&loaded()));
    play.log(&log(&[bot(8, "Red"), bot(9, "Red")]));
    assert!(
        play.done()
            .ends_with(&["BOTJOIN bot8 0".into(), "BOTJOIN bot9 0".into()])
    );
    play.wait(1_000);
    play.reply(&CHOSEN.replace("BOTS 0 0\nBOTS 1 0", "BOTS 0 1\nBOTS 1 2"));
    let done = play.done();
    assert_eq!(done[2], "# tf_bot_quota 3", "{done:?}");
    assert!(done.contains(&"# sm_team \"#9\" 3".to_owned()), "{done:?}");
}

#[test]
fn names_never_reach_the_console() {
    for name in [
        "x\"; quit; \"",
        "a;b",
        "#7",
        "{player}",
        "$x",
        "x<9><[U:1:9]><Red>",
    ] {
        let mut play = source(settings());
        play.log(&log(&loaded()));
        let hostile = format!("\"{name}<7><[U:1:7]><Unassigned>\" joined team \"Red\"");
        play.log(&log(&[(4, hostile)]));
        play.wait(1_000);
        let chosen = CHOSEN.replace("BALANCE 6", "BALANCE 7");
        play.reply(&chosen.replace("BOTS 0 0", "TEAM 1 [U:1:7]\nBOTS 0 0"));
        let done = play.done();
        let console: Vec<_> = done.iter().filter(|line| line.starts_with('#')).collect();
        assert_eq!(console.len(), 3, "{name:?} {done:?}");
        assert_eq!(console[1..], ["# sm_team \"#2\" 3", "# sm_team \"#7\" 3"]);
    }
}

#[test]
fn a_log_that_does_not_name_its_map_waits_for_the_next_one() {
    let mut play = source(settings());
    play.log(&log(&[
        joins(1, 1, "Red"),
        joins(1, 2, "Blue"),
        line(2, ROUND),
    ]));
    play.wait(31_000);
    let text = "* the log does not name the map: no player is moved before the next one";
    assert_eq!(play.done(), ["HELLO test", text]);
}

proptest! {
    #[test]
    fn any_lines_are_borne(
        lines in proptest::collection::vec(
            (
                prop_oneof![
                    any::<Vec<u8>>(),
                    "L 01/24/2026 - 18:0[0-9]:0[0-9]: (World triggered \"(Round_Start|Round_Win|Game_Over|\
                     Warmup_Start|Restart_Round_)\"|Loading map \"[ab]_x\"|Team \"(Red|Blue|CT)\" \
                     (current|final) score \"[0-9e]{1,3}\"|\"[ab\"]<[12]><BOT><(Red|Blue)?>\" (joined team \"(Red|\
                     Blue)\"|killed \"a<1><BOT><Red>\" with \"x\"|disconnected))"
                        .prop_map(String::into_bytes),
                ],
                "(BALANCE|TEAM|BOTS|MOVE|PLACE|REBALANCE|END|ERROR)( [0-9ab.]{1,4}){0,4}",
                0u64..9_000,
            ),
            0..60,
        ),
    ) {
        let mut play = source(FollowerSettings { auto_balance: true, ..settings() });
        for (line, reply, millis) in lines {
            play.sidecar.log_line(&line, play.now, &mut play.acts);
            play.reply(&reply);
            play.wait(millis);
        }
        for line in play.done() {
            prop_assert!(!line.contains('\n') && line.len() < 1_024);
        }
    }
}

#[test]
fn it_states_where_the_server_is_and_takes_the_place_of_its_own_dead_connection() {
    let mut play = source(settings());
    play.sidecar = Follower::new(engine(), settings()).with_source("127.0.0.1:27015".into());
    play.acts.clear();
    play.sidecar.connected(0, &mut play.acts);
    assert_eq!(play.done(), ["HELLO test source=127.0.0.1:27015"]);
    play.wait(4_999);
    assert!(play.done().is_empty());
    play.wait(1);
    assert_eq!(play.done(), ["PING"], "it is not dead");
    // As long as the daemon has not answered, there is nothing to go on with.
    for (answer, hello) in [
        (
            "ERROR not-allowed \"test\" reports it already",
            "HELLO test source=127.0.0.1:27015",
        ),
        (
            "HELLO evenkeel/0.2.0 protocol/1",
            "HELLO test resume=yes source=127.0.0.1:27015",
        ),
    ] {
        play.reply(answer);
        play.done();
        play.sidecar.disconnected();
        play.sidecar.connected(play.now, &mut play.acts);
        assert_eq!(play.done(), [hello]);
    }
    // The session may have had more teams.
    play.log(&log(&loaded()));
    let done = play.done();
    assert_eq!(done[..3], ["GAME tf.ctf", "TEAMS 2", "MAP ctf_2fort"]);
}

#[test]
fn a_dry_run_asks_for_teams_and_reports_nothing() {
    let mut play = source(settings());
    play.sidecar = Follower::new(engine(), settings()).without_reports();
    play.acts.clear();
    play.sidecar.connected(0, &mut play.acts);
    assert_eq!(play.done(), ["HELLO test"]);
    play.log(&log(&loaded()));
    play.wait(1_000);
    assert_eq!(play.done().last().map(String::as_str), Some("BALANCE"));
    play.log(&log(&[
        line(32, ROUND),
        kill(40, (1, "Red"), (2, "Blue")),
        line(600, OVER),
        total(600, "Red", "final", 3),
        total(600, "Blue", "final", 1),
        line(600, "Log file closed"),
    ]));
    assert_eq!(play.done(), ["MOVE [U:1:2] 1"], "who is on which team");
}
