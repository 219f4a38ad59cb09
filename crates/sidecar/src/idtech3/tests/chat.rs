//! Players' commands in the chat of whole games.

use super::*;

pub(super) const ANN: &str = "00000000000000000000000000000005";
pub(super) const BOB: &str = "00000000000000000000000000000006";

pub(super) fn settings() -> FollowerSettings {
    FollowerSettings {
        chat: ChatSettings {
            on: true,
            vote: Some(50),
        },
        ..super::settings()
    }
}

/// A warm-up of four bots and two humans, ann on red and bob on blue, whose teams are as chosen.
fn balanced(settings: FollowerSettings) -> Play<IdTech3> {
    let explains = usize::from(settings.chat.on);
    let mut play = following(settings);
    play.log(&(warm_up() + &arrival(4, "ann", 1, None) + &arrival(5, "bob", 2, None)));
    play.wait(1_000);
    play.reply(&format!(
        "BALANCE 8 0.95 0.5 7\nTEAM 0 A\nTEAM 0 B\nTEAM 1 C\nTEAM 1 D\nTEAM 0 {ANN}\nTEAM 1 {BOB}\n\
         BOTS 0 0\nBOTS 1 0"
    ));
    assert_eq!(
        play.done().iter().filter(|line| *line == "EXPLAIN").count(),
        explains
    );
    play.reply(&format!(
        "EXPLAIN 3\nWHY ratio 0.951128, of at most 0.951128 (exact); engine exhaustive\n\
         WHY with {ANN} on team 1 instead: ratio 0.5\nWHY with {BOB} on team 0 instead: ratio 0.4"
    ));
    play
}

/// Play of the players of [`balanced`].
pub(super) fn in_play() -> Play<IdTech3> {
    let mut play = balanced(settings());
    play.log("0:20 ShutdownGame:\n0:20 InitGame: \\g_gametype\\4\\gamename\\baseoa\\mapname\\x\n");
    for (number, name, team) in [(0, "A", 1), (2, "C", 2)] {
        play.log(&arrival(number, name, team, Some(3)));
    }
    play.log(&(arrival(4, "ann", 1, None) + &arrival(5, "bob", 2, None) + "0:22 Item: 0 x\n"));
    play.done();
    play
}

#[test]
fn answers_go_to_the_player_who_asks() {
    let mut play = balanced(settings());
    play.log("0:09 say: ann: !teams\n0:09 say: ann: !rank\n0:09 sayteam: bob: !why\n");
    play.wait(1_000);
    let teams = [
        "# tell 4 red (3): A, B, ann",
        "# tell 4 blue (3): C, D, bob",
        "# tell 4 chance of red to win 0.50, ratio 0.95 when teams were last chosen",
        "# tell 5 with bob on red instead: ratio 0.40",
    ];
    assert_eq!(
        play.done(),
        teams,
        "the second command of ann came too early"
    );
    play.wait(999);
    assert!(
        play.done().is_empty(),
        "the file of the first lines is still needed"
    );
    play.wait(1);
    assert_eq!(
        play.done(),
        ["# tell 5 ratio 0.95, of at most 0.95 (exact)"]
    );
    play.log("0:12 say: ann: !rank\n");
    play.wait(1_000);
    assert_eq!(play.done(), [format!("RANK {ANN}"), "PING".to_owned()]);
    play.reply(&format!("RANK {ANN} \"High Gold\" 0.250 12\nPONG"));
    assert_eq!(
        play.done(),
        ["# tell 4 your division is High Gold, 25 of 100 to the next, 12 rated games"]
    );
}

#[test]
fn nobody_speaks_for_another() {
    let mut play = balanced(settings());
    // A bot, an unknown name, text after the command, and names that end or begin like another's.
    play.log("0:09 say: A: !teams\n0:09 say: eve: !teams\n0:09 say: ann: !teams now\n");
    play.log(&(arrival(6, "ann: bob", 3, None) + &arrival(7, "4 ann", 3, None)));
    play.log("0:09 say: ann: bob: !teams\n0:09 say: 4 ann: !teams\n");
    play.wait(1_000);
    let told: Vec<_> = play.done();
    let to = |number: &str| told.iter().filter(|line| line.starts_with(number)).count();
    assert_eq!((to("# tell 6"), to("# tell ")), (3, 4), "{told:?}");
    play.wait(1_000);
    assert!(play.done().iter().all(|line| line.starts_with("# tell 7")));
    // Two clients of one name cannot be distinguished.
    play.log(&arrival(8, "ann", 3, None));
    play.log("0:12 say: ann: !teams\n");
    play.wait(5_000);
    assert!(!play.done().iter().any(|line| line.starts_with("# tell")));
}

#[test]
fn urban_terror_writes_the_client_number() {
    let mut play = balanced(settings());
    play.log("0:20 InitGame: \\g_gametype\\7\\gamename\\q3ut4\\mapname\\ut4_abbey\n");
    play.log(&(arrival(3, "^1ann", 1, None) + &arrival(5, "3 ann", 2, None)));
    play.wait(1_000);
    play.done();
    play.log(
        "0:21 say: 3 ann: !teams\n0:21 say: 300 x: !teams\n0:21 say: 9 x: !teams\n0:21 say: x\n",
    );
    play.wait(1_000);
    let done = play.done();
    assert_eq!(
        done.iter()
            .filter(|line| line.starts_with("# tell 3 "))
            .count(),
        3,
        "{done:?}"
    );
    assert_eq!(
        done.iter()
            .filter(|line| line.starts_with("# tell"))
            .count(),
        3
    );
}

#[test]
fn names_in_answers_are_plain() {
    let mut play = balanced(settings());
    play.log(&arrival(6, "x\";quit//^1$y!vote", 1, None));
    play.log("0:09 say: x\";quit//^1$y!vote: !teams\n");
    play.wait(10);
    let teams = play.done();
    assert_eq!(teams[1], "# tell 6 red (4): A, B, ann, x__quit___y_vote");
}

#[test]
fn a_vote_in_play_moves_with_the_fewest_moves() {
    let mut play = in_play();
    play.log("0:40 say: ann: !balance\n");
    play.wait(1_000);
    assert_eq!(
        play.done(),
        [
            "# say Evenkeel: vote to balance the teams again: 1 of 2 agree, write !balance to agree, too"
        ]
    );
    play.log("0:41 say: bob: !balance\n");
    play.wait(1_000);
    assert_eq!(
        play.done(),
        ["REBALANCE", "# say Evenkeel: the vote has passed"]
    );
    play.wait(1_000);
    play.reply(&format!("REBALANCE 2 0.5 0.9\nMOVE {ANN} 0 1\nMOVE C 1 0"));
    let moves = [
        "EXPLAIN",
        "# say Evenkeel: 2 players to even teams, ratio 0.90",
        "# clientkick 2",
        "# forceteam 4 blue",
        "# wait 5",
        "# addbot C 3 red",
    ];
    assert_eq!(play.done(), moves);
    play.log(&format!(
        "0:43 ClientUserinfoChanged: 4 n\\ann\\t\\2\\id\\{ANN}\n"
    ));
    assert_eq!(play.done(), [format!("MOVE {ANN} 1")]);
    play.log("0:44 say: bob: !balance\n");
    play.wait(1_000);
    assert_eq!(play.done(), ["# tell 5 the next vote can begin in 58 s"]);
}

#[test]
fn a_vote_can_leave_the_teams_as_they_are() {
    let mut play = balanced(settings());
    play.log("0:09 say: ann: !balance\n0:09 say: bob: !balance\n");
    play.wait(1_000);
    let done = play.done();
    assert_eq!(done[..2], ["REBALANCE ask=no", "BOTS"]);
    assert_eq!(done.last().unwrap(), "# say Evenkeel: the vote has passed");
    play.wait(1_000);
    play.reply("REBALANCE 0 0.95 0.95\nBOTS 0 0 0");
    assert_eq!(
        play.done(),
        [
            "EXPLAIN",
            "* the teams are as chosen, ratio 0.950",
            "# say Evenkeel: the teams stay, they are as even as can be: ratio 0.95"
        ]
    );
}

#[test]
fn old_lines_and_games_without_a_daemon_are_not_answered() {
    let mut play = balanced(settings());
    play.sidecar.disconnected();
    play.log("0:09 say: ann: !teams\n");
    play.sidecar.connected(play.now, &mut play.acts);
    play.wait(1_000);
    assert!(!play.done().iter().any(|line| line.starts_with("# tell")));
    let mut play = balanced(FollowerSettings {
        chat: ChatSettings::default(),
        ..settings()
    });
    play.log("0:09 say: ann: !teams\n0:09 say: bob: !balance\n");
    play.wait(1_000);
    assert!(play.done().is_empty());
}
