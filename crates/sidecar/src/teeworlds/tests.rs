//! Whole games played through the room, without sockets.

use proptest::prelude::*;

use super::{Teeworlds, host_limit, host_mode};
use crate::{
    ChatSettings, Sidecar,
    agent::GameMode,
    follower::{
        FollowerSettings,
        testing::{Play, settings},
    },
};

/// What the console answers to the questions.
const ANSWERS: &str = "[20:00:00][server]: cid=0 cmd='sv_map'\n[20:00:00][Console]: Value: ctf5\n\
    [20:00:00][server]: cid=0 cmd='sv_gametype'\n[20:00:00][Console]: Value: ctf\n\
    [20:00:00][server]: cid=0 cmd='sv_scorelimit'\n[20:00:00][Console]: Value: 200\n\
    [20:00:00][server]: cid=0 cmd='sv_timelimit'\n[20:00:00][Console]: Value: 5\n";
const MAP: &str = "[20:00:00][server]: maps/ctf5.map sha256 is a35d\n";
const START: &str = "[20:00:00][game]: start match type='CTF' teamplay='1'\n";
const ASKED: [&str; 4] = [
    "# sv_map",
    "# sv_gametype",
    "# sv_scorelimit",
    "# sv_timelimit",
];

fn game(text: &str) -> String {
    format!("[20:00:00][game]: {text}\n")
}

fn four() -> String {
    [
        "0:ann' team=0",
        "1:bob' team=0",
        "2:cid' team=0",
        "3:dan' team=1",
    ]
    .map(|player| game(&format!("team_join player='{player}")))
    .concat()
}

/// A sidecar of a server whose map was just loaded, with four players of whom three are red.
fn warm_up(settings: FollowerSettings) -> Play<Teeworlds> {
    let mut play = Play::new(Teeworlds::default(), settings);
    play.wait(100);
    play.log(&(MAP.to_owned() + ANSWERS + &four()));
    play
}

/// The same, in a match on teams of two.
fn match_of_four(settings: FollowerSettings) -> Play<Teeworlds> {
    let mut play = warm_up(settings);
    play.log(&game("team_join player='2:cid' team=0->1"));
    play.log(START);
    play.log(ANSWERS);
    play.done();
    play
}

#[test]
fn an_evening_of_capture_the_flag() {
    let mut play = warm_up(settings());
    let announced = ["GAME teeworlds.ctf", "MAP ctf5"];
    let joined = [
        "JOIN ann name=ann team=0",
        "JOIN bob name=bob team=0",
        "JOIN cid name=cid team=0",
        "JOIN dan name=dan team=1",
    ];
    let expected = [&["HELLO test"][..], &ASKED, &announced, &joined].concat();
    assert_eq!(play.done(), expected);
    play.wait(1_000);
    assert_eq!(play.done(), ["BALANCE"]);
    play.reply(
        "BALANCE 6 0.97 - 7\nTEAM 0 ann\nTEAM 1 bob\nTEAM 0 cid\nTEAM 1 dan\nBOTS 0 0\nBOTS 1 0",
    );
    let ordered = [
        "# say Evenkeel: 1 player to even teams, ratio 0.97",
        "# set_team 1 1",
    ];
    assert_eq!(play.done(), ordered);
    play.log(&game("team_join player='1:bob' team=0->1"));
    play.wait(100);
    assert_eq!(play.done(), ["* the teams are as chosen, ratio 0.970"]);
    play.log(START);
    play.wait(100);
    assert_eq!(play.done(), [&["START"][..], &ASKED].concat());
    play.log(ANSWERS);
    for line in [
        "flag_grab player='0:ann' team=0",
        "kill killer='0:0:ann' victim='3:1:dan' weapon=1 special=2",
        "kill killer='3:1:dan' victim='3:1:dan' weapon=-1 special=0",
        "flag_capture player='0:ann' team=0 time=9.00",
        "leave player='2:cid'",
        "flag_grab player='0:ann' team=0",
        "flag_capture player='0:ann' team=0 time=9.00",
    ] {
        play.log(&game(line));
    }
    let played = [
        "SCORE 0 1 ann",
        "KILL ann dan",
        "KILL dan dan",
        "SCORE 0 100 ann",
        "LEAVE cid",
        "SCORE 0 1 ann",
        "SCORE 0 100 ann",
    ];
    assert_eq!(play.done(), played);
    play.wait(1_500);
    let ended = ["POINTS ann 13", "POINTS bob 0", "POINTS dan -1", "END"];
    assert_eq!(play.done(), ended);
    // While the score is shown, teams are chosen for the next match.
    play.wait(1_500);
    assert_eq!(play.done(), ["BALANCE"]);
    play.log(START);
    let again = [
        "JOIN ann name=ann team=0",
        "JOIN bob name=bob team=1",
        "JOIN dan name=dan team=1",
        "START",
    ];
    assert_eq!(play.done(), [&announced[..], &again].concat());
}

#[test]
fn the_time_limit_ends_a_match_in_which_one_team_is_ahead() {
    let mut play = match_of_four(settings());
    play.log(&game("flag_grab player='0:ann' team=0"));
    for _ in 0..58 {
        play.wait(5_000);
        play.log(&game("pickup player='0:ann' item=0"));
    }
    play.wait(9_000);
    assert!(!play.done().contains(&"END".to_owned()), "4:59");
    play.log(&game("pickup player='0:ann' item=0"));
    play.wait(3_500);
    assert!(play.done().contains(&"END".to_owned()));
}

#[test]
fn nobody_ahead_at_the_time_limit_plays_on_for_a_capture() {
    let mut play = match_of_four(settings());
    for _ in 0..62 {
        play.wait(5_000);
        play.log(&game("pickup player='0:ann' item=0"));
    }
    play.log(&game("flag_grab player='0:ann' team=0"));
    play.wait(5_000);
    assert!(!play.done().contains(&"END".to_owned()));
    play.log(&game("flag_capture player='0:ann' team=0 time=9.00"));
    play.wait(2_500);
    assert!(play.done().contains(&"END".to_owned()));
}

#[test]
fn settings_that_nobody_tells_are_asked_for_less_and_less() {
    let mut play = Play::new(Teeworlds::default(), settings());
    let mut asked = 0;
    for _ in 0..600 {
        play.wait(1_000);
        asked += play
            .done()
            .iter()
            .filter(|line| *line == "# sv_map")
            .count();
    }
    assert!((5..10).contains(&asked), "{asked} times in ten minutes");
}

#[test]
fn a_limit_that_players_vote_for_ends_the_match() {
    let mut play = match_of_four(settings());
    play.wait(100);
    play.log("[20:00:00][server]: '0:ann' voted option 'short' reason='No' cmd='sv_scorelimit 100' force=0\n");
    play.wait(100);
    // Nobody has agreed yet.
    play.log(ANSWERS);
    play.done();
    play.wait(3_000);
    assert_eq!(play.done(), ASKED);
    play.log(&ANSWERS.replace("200", "100"));
    play.log(&game("flag_grab player='0:ann' team=0"));
    play.log(&game("flag_capture player='0:ann' team=0 time=3.36"));
    play.wait(2_000);
    let sent = play.done();
    assert!(sent.contains(&"END".to_owned()), "{sent:?}");
    // The vote is over, and so are the questions.
    play.wait(30_000);
    play.done();
    play.log(ANSWERS);
    play.wait(60_000);
    let sent = play.done();
    assert!(!sent.contains(&ASKED[2].to_owned()), "{sent:?}");
}

#[test]
fn a_sidecar_that_comes_in_a_match_learns_the_players_and_reports_the_next_one() {
    let mut play = Play::new(Teeworlds::default(), settings());
    play.wait(100);
    play.log(ANSWERS);
    play.log(&game(
        "kill killer='0:0:ann' victim='3:1:dan' weapon=1 special=0",
    ));
    assert!(!play.done().iter().any(|line| line.starts_with("KILL")));
    play.log(START);
    let done = play.done();
    for line in [
        "GAME teeworlds.ctf",
        "JOIN ann name=ann team=0",
        "JOIN dan name=dan team=1",
        "START",
    ] {
        assert!(done.contains(&line.to_owned()), "{line}: {done:?}");
    }
}

#[test]
fn a_daemon_that_comes_back_in_the_warm_up_gets_the_match() {
    let mut play = Play::offline(Teeworlds::default(), settings());
    play.log(&(MAP.to_owned() + ANSWERS + &four()));
    play.sidecar.connected(0, &mut play.acts);
    play.log(START);
    assert_eq!(play.done().last().map(String::as_str), Some("START"));
}

#[test]
fn a_name_in_use_twice_is_sent_for_neither() {
    let mut play = match_of_four(settings());
    play.log(&game("team_join player='7:ann' team=1"));
    let expected = [
        "LEAVE ann",
        "JOIN \"name in use twice: ann (0)\" name=ann team=0",
        "JOIN \"name in use twice: ann (7)\" name=ann team=1",
    ];
    assert_eq!(play.done(), expected);
    play.log(&game("leave player='7:ann'"));
    let back = play.done();
    assert_eq!(
        back.last().map(String::as_str),
        Some("JOIN ann name=ann team=0")
    );
}

#[test]
fn commands_of_the_chat_are_those_of_their_player() {
    let chat = ChatSettings {
        on: true,
        vote: None,
    };
    let mut play = match_of_four(FollowerSettings { chat, ..settings() });
    play.log("[20:00:00][chat]: 1:0:ann: !rank\n[20:00:00][chat]: 1:0:bob: !rank\n");
    play.wait(3_000);
    let ranks: Vec<String> = play
        .done()
        .into_iter()
        .filter(|line| line.starts_with("RANK"))
        .collect();
    assert_eq!(ranks, ["RANK ann"]);
}

proptest! {
    #[test]
    fn any_lines_are_borne(lines in prop::collection::vec("[ -~é]{0,80}", 0..20), at in 0usize..20) {
        let mut play = match_of_four(settings());
        for (n, line) in lines.iter().enumerate() {
            let known = ["team_join player='", "kill killer='", "flag_grab player='", "start match type='"];
            play.log(&game(&format!("{}{line}", known[(n + at) % known.len()])));
            play.wait(1_000);
        }
    }
}

#[test]
fn modes_and_limits_are_those_of_team_games() {
    assert_eq!(host_mode("ctf").ok(), GameMode::new("ctf", "ctf"));
    assert_eq!(host_mode("rounds=lts").ok(), GameMode::new("rounds", "lts"));
    for wrong in ["", "dm", "lms", "x=dm", "a b=ctf", "a;shutdown=ctf"] {
        assert!(host_mode(wrong).is_err(), "{wrong}");
    }
    assert_eq!(
        host_limit("duel:score=20").unwrap().command(),
        "sv_scorelimit 20"
    );
    for wrong in ["", "captures=3", "time", "score=-1"] {
        assert!(host_limit(wrong).is_err(), "{wrong}");
    }
}
