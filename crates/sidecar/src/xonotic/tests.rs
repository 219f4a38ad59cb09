//! Whole games played through the room, without sockets.

use proptest::prelude::*;

use super::Xonotic;
use crate::{
    Sidecar,
    follower::{
        FollowerSettings,
        testing::{Play, bot_commands, commands, settings},
    },
};

const MOVE: &str = "sv_cmd moveplayer {player} {team}";
const START: &str = ":gamestart:ctf_dance:0.1\n:gameinfo:mutators:LIST:instagib\n:gameinfo:end\n";

/// A human who joins, and plays for a team (5 red, 14 blue). Their number on the server is 10 more.
fn joins(id: u32, nick: &str, team: u32) -> String {
    let slot = id + 10;
    format!(":join:{id}:{slot}:192.0.2.{id}:{nick}\n:team:{id}:-1:4\n:team:{id}:{team}:1\n")
}

/// Four players, who are all red but the last.
fn four() -> String {
    joins(1, "ann", 5) + &joins(2, "^1b^7ob", 5) + &joins(3, "cid", 5) + &joins(4, "dan", 14)
}

fn engine(warms_up: bool, opening: u64) -> Xonotic {
    Xonotic::new(commands(MOVE), warms_up, opening)
}

fn warm_up(settings: FollowerSettings) -> Play<Xonotic> {
    let mut play = Play::new(engine(true, 15_000), settings);
    play.log(&(START.to_owned() + &four()));
    play
}

const ANNOUNCED: [&str; 6] = [
    "HELLO test",
    "GAME xonotic.ctf",
    "MAP dance",
    "GAME xonotic.ctf",
    "MUTATOR instagib",
    "MAP dance",
];
const CHOSEN: &str =
    "BALANCE 6 0.97 - 7\nTEAM 0 ann\nTEAM 1 bob\nTEAM 0 cid\nTEAM 1 dan\nBOTS 0 0\nBOTS 1 0";
const RESULTS: &str = ":scores:ctf_dance:495\n:labels:player:score!!,caps!,kills\n\
    :player:see-labels:40,1,12:493:5:1:ann\n:player:see-labels:7,0,1:490:14:4:dan\n\
    :labels:teamscores:caps!!,score,,,\n:teamscores:see-labels:3,90:5\n:teamscores:see-labels:1,40:14\n\
    :teamscores:see-labels::13\n:end\n:gameover\n";

#[test]
fn an_evening_of_capture_the_flag() {
    let mut play = warm_up(settings());
    let joined = [
        "JOIN ann name=ann team=0",
        "JOIN bob name=bob team=0",
        "JOIN cid name=cid team=0",
        "JOIN dan name=dan team=1",
    ];
    assert_eq!(play.done(), [&ANNOUNCED[..], &joined].concat());
    play.wait(1_000);
    assert_eq!(play.done(), ["BALANCE"]);
    play.reply(CHOSEN);
    let ordered = [
        "# say Evenkeel: 1 player to even teams, ratio 0.97",
        "# sv_cmd moveplayer 12 blue",
    ];
    assert_eq!(play.done(), ordered);
    play.log(":team:2:14:6\n");
    play.wait(100);
    assert_eq!(play.done(), ["* the teams are as chosen, ratio 0.970"]);
    // Somebody comes in the warm-up, and the fewest moves fit them in.
    play.log(&joins(5, "eve", 5));
    play.wait(1_000);
    assert_eq!(
        play.done(),
        ["JOIN eve name=eve team=0", "REBALANCE", "BOTS"]
    );
    play.reply("REBALANCE 0 0.8 0.8\nBOTS 0 0 0");
    assert_eq!(play.done(), ["* the teams are as chosen, ratio 0.800"]);
    play.log(":restart\n:kill:frag:1:4:type=1\n:ctf:capture:14:1\n:part:3\n:kill:tk:1:5:type=1\n");
    let played = [
        "START",
        "KILL ann dan",
        "SCORE 0 1 ann",
        "LEAVE cid",
        "KILL eve eve",
    ];
    assert_eq!(play.done(), played);
    play.log(RESULTS);
    let ended = [
        "POINTS ann 40",
        "POINTS dan 7",
        "SCORE 0 2",
        "SCORE 1 1",
        "END",
    ];
    assert_eq!(play.done(), ended);
    play.reply("END 00ff recorded");
    assert_eq!(play.done(), ["* the game is over: 00ff recorded"]);
    play.log(START);
    assert_eq!(play.done(), ANNOUNCED[1..]);
}

#[test]
fn without_a_warm_up_teams_are_chosen_before_play() {
    let mut play = Play::new(engine(false, 15_000), settings());
    play.log(&(START.to_owned() + &four()));
    play.wait(1_000);
    play.reply(CHOSEN);
    assert!(
        play.done()
            .contains(&"# sv_cmd moveplayer 12 blue".to_owned())
    );
    play.log(":team:2:14:6\n");
    play.wait(13_999);
    play.done();
    play.wait(1);
    assert_eq!(play.done(), ["START"]);
    play.log(":ctf:capture:5:4\n");
    assert_eq!(play.done(), ["SCORE 1 1 dan"]);
}

#[test]
fn a_sidecar_that_starts_in_mid_game_moves_nobody() {
    let mut play = Play::offline(engine(false, 15_000), settings());
    play.log(":time:2026-11-22 05:13:47\n");
    play.log(&(START.to_owned() + &four()));
    play.log(":time:2026-11-22 05:23:47\n:kill:frag:1:4:type=1\n");
    play.sidecar.connected(0, &mut play.acts);
    play.wait(30_000);
    assert!(!play.done().contains(&"BALANCE".to_owned()));
    play.log(RESULTS);
    assert!(play.done()[0].starts_with("* the daemon has seen only a part"));
}

#[test]
fn bots_are_moved_and_counted() {
    let bots = ":join:8:18:bot:[BOT]Death\n:team:8:5\n:join:9:19:bot:[BOT]Death\n:team:9:5\n";
    let commands = bot_commands(MOVE, "bot_number {count}");
    let mut play = Play::new(Xonotic::new(commands, true, 0), settings());
    play.log(&(START.to_owned() + &four() + bots));
    let done = play.done();
    assert!(done.ends_with(&[
        "BOTJOIN [BOT]Death 0".into(),
        "BOTJOIN \"[BOT]Death (2)\" 0".into()
    ]));
    play.wait(1_000);
    play.reply(&CHOSEN.replace("BOTS 0 0\nBOTS 1 0", "BOTS 0 1\nBOTS 1 2"));
    let done = play.done();
    assert_eq!(done[2], "# bot_number 3", "{done:?}");
    assert!(
        done.contains(&"# sv_cmd moveplayer 19 blue".to_owned()),
        "{done:?}"
    );
}

#[test]
fn late_arrivals_and_a_move_that_is_refused() {
    let mut play = warm_up(FollowerSettings {
        auto_balance: true,
        ..settings()
    });
    play.log(":restart\n");
    play.done();
    play.now = 20_000;
    play.log(&joins(6, "fay", 5));
    assert_eq!(play.done(), ["JOIN fay name=fay", "PLACE fay"]);
    play.reply("PLACE fay 1 0.9");
    let moved = [
        "# say Evenkeel: one player changes teams",
        "# sv_cmd moveplayer 16 blue",
    ];
    assert_eq!(play.done(), moved);
    play.wait(5_000);
    assert_eq!(play.done(), ["MOVE fay 0"]);
    // Back under another number.
    play.log(&(":part:6\n".to_owned() + &joins(7, "fay", 14)));
    assert_eq!(
        play.done(),
        ["LEAVE fay", "JOIN fay name=fay", "MOVE fay 1"]
    );
    play.log(":kill:frag:1:7:type=1\n");
    assert_eq!(play.done(), ["KILL ann fay", "DEATH fay"]);
}

#[test]
fn the_daemon_goes_away_in_warm_up_and_comes_back() {
    let mut play = warm_up(settings());
    play.sidecar.disconnected();
    play.done();
    play.wait(1_000);
    play.log(":name:1:ann b\n");
    assert!(play.done().is_empty());
    play.sidecar.connected(play.now, &mut play.acts);
    let done = play.done();
    assert_eq!(
        done[..4],
        [ANNOUNCED[0], ANNOUNCED[3], ANNOUNCED[4], ANNOUNCED[5]]
    );
    assert_eq!(done[4], "JOIN \"ann b\" name=\"ann b\" team=0");
    play.wait(1_000);
    assert_eq!(play.done(), ["BALANCE"]);
    play.log(&format!(":restart\n{RESULTS}"));
    assert_eq!(
        play.done().last().map(String::as_str),
        Some("END"),
        "the whole game was seen"
    );
}

#[test]
fn team_deathmatch_counts_kills_and_four_teams() {
    let mut play = Play::new(engine(true, 0), settings());
    play.log(":gamestart:tdm_dance:0.1\n");
    play.log(&(four() + &joins(5, "eve", 10)));
    assert!(
        play.done()
            .ends_with(&["TEAMS 4".into(), "JOIN eve name=eve team=3".into()])
    );
    play.log(":restart\n:kill:frag:1:4:type=1\n:kill:suicide:4:4:type=1\n");
    let played = [
        "START",
        "KILL ann dan",
        "SCORE 0 1 ann",
        "KILL dan dan",
        "SCORE 1 -1 dan",
    ];
    assert_eq!(play.done(), played);
}

#[test]
fn names_never_reach_the_console() {
    for name in [
        "x\"; quit; \"",
        "a;b",
        "$x",
        "{player}",
        "11",
        "//",
        "a:b:c",
    ] {
        let mut play = warm_up(settings());
        play.log(&joins(5, name, 5));
        play.wait(1_000);
        let chosen = CHOSEN.replace("BALANCE 6", "BALANCE 7");
        let id = crate::link::plain_ident(name);
        let request = evenkeel_protocol::Request::Death(id);
        let id = crate::follower::testing::line(&request);
        let id = &id["DEATH ".len()..];
        play.reply(&chosen.replace("BOTS 0 0", &format!("TEAM 1 {id}\nBOTS 0 0")));
        let done = play.done();
        let console: Vec<_> = done.iter().filter(|line| line.starts_with('#')).collect();
        let moves = ["# sv_cmd moveplayer 12 blue", "# sv_cmd moveplayer 15 blue"];
        assert_eq!(console[1..], moves, "{name:?} {done:?}");
    }
}

proptest! {
    #[test]
    fn any_lines_are_borne(
        lines in proptest::collection::vec(
            (
                prop_oneof![
                    any::<Vec<u8>>(),
                    ":(gamestart:[ct][td][fm]_x:1|join:[1-3]:[1-3]:(bot|192.0.2.1):[ab]|team:[1-3]:(5|14|13|-1)|\
                     part:[1-3]|restart|kill:frag:[1-3]:[1-3]:|ctf:capture:5:[1-3]|scores:x:1|end|gameover|\
                     labels:teamscores:caps!!|teamscores:see-labels:[0-9e]{1,4}:(5|14)|name:[1-3]:[ab])"
                        .prop_map(String::into_bytes),
                ],
                "(BALANCE|TEAM|BOTS|MOVE|PLACE|REBALANCE|END|ERROR)( [0-9ab.]{1,4}){0,4}",
                0u64..9_000,
            ),
            0..60,
        ),
        warms_up in any::<bool>(),
    ) {
        let settings = FollowerSettings { auto_balance: true, ..settings() };
        let mut play = Play::new(engine(warms_up, 5_000), settings);
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
