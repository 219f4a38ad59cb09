//! Players are asked before one of them is moved in play.

use super::{
    chat::{ANN, BOB, in_play, settings},
    *,
};

/// A vote of ann and bob has passed in play.
fn voted() -> Play<IdTech3> {
    let mut play = in_play();
    play.log("0:30 say: ann: !balance\n0:30 say: bob: !balance\n");
    play.wait(2_000);
    let done = play.done();
    assert!(done.contains(&"REBALANCE".to_owned()), "{done:?}");
    play
}

/// The daemon would move ann.
fn asked(seconds: u32) -> Play<IdTech3> {
    let mut play = voted();
    play.reply(&format!("* OFFER {ANN} 0 1 {seconds}\nREBALANCE 0 0.5 0.9"));
    play.wait(1_000);
    play
}

/// The lines that all players read, without the rest.
fn said(play: &mut Play<IdTech3>) -> Vec<String> {
    let done = play.done().into_iter();
    let said = done.filter_map(|line| Some(line.strip_prefix("# say Evenkeel: ")?.to_owned()));
    said.collect()
}

/// Both hands of the sidecar: what it writes, and what it moves.
fn moves(done: &[String]) -> Vec<&String> {
    let moves = done.iter().filter(|line| line.contains("forceteam"));
    moves.collect()
}

#[test]
fn the_daemon_is_told_that_players_are_asked_if_they_may_vote() {
    let hello = |chat: ChatSettings| {
        let settings = FollowerSettings { chat, ..settings() };
        let mut play = Play::new(IdTech3::new(false, Vec::new()), settings);
        play.done()[0].clone()
    };
    let voting = ChatSettings {
        on: true,
        vote: Some(50),
    };
    assert_eq!(hello(voting), "HELLO test offers=yes");
    assert_eq!(
        hello(ChatSettings {
            vote: None,
            ..voting
        }),
        "HELLO test"
    );
    assert_eq!(hello(ChatSettings::default()), "HELLO test");
}

#[test]
fn the_chat_asks_warns_twenty_seconds_before_and_then_ann_is_moved() {
    let mut play = asked(60);
    assert_eq!(
        said(&mut play),
        ["blue needs 1 player of red: write !switch within 59 s"]
    );
    play.wait(38_900);
    assert_eq!(said(&mut play), [""; 0]);
    play.wait(1_000);
    assert_eq!(
        said(&mut play),
        ["in 20 s ann goes to blue, unless others write !switch"]
    );
    play.wait(19_000);
    assert!(moves(&play.done()).is_empty(), "only the daemon moves");
    play.reply(&format!("* MOVE {ANN} 0 1"));
    play.wait(1_000);
    let done = play.done();
    assert!(
        done.contains(&"# say Evenkeel: ann goes to blue, to even the teams".to_owned()),
        "{done:?}"
    );
    assert_eq!(moves(&done).len(), 1, "{done:?}");
    assert!(
        moves(&done)[0].contains('4') && moves(&done)[0].contains("blue"),
        "{done:?}"
    );
    play.wait(60_000);
    assert!(moves(&play.done()).is_empty(), "once");
}

#[test]
fn a_short_offer_warns_at_once() {
    let mut play = asked(10);
    assert_eq!(
        said(&mut play),
        [
            "blue needs 1 player of red: write !switch within 9 s",
            "in 9 s ann goes to blue, unless others write !switch"
        ]
    );
}

#[test]
fn a_volunteer_is_answered_and_moved() {
    let mut play = asked(60);
    play.done();
    play.log("0:40 say: bob: !switch\n");
    play.wait(2_000);
    assert_eq!(play.done(), [format!("SWITCH {BOB}")]);
    for (answer, text) in [
        ("waits", "thank you, you change teams together with others"),
        ("less-even", "thank you, but the teams would be less even"),
        ("wrong-team", "nobody of your team has to change"),
        ("held", "you have to stay on your team"),
        ("taken", "thank you, you change teams now"),
    ] {
        play.log("0:40 say: bob: !switch\n");
        play.wait(2_000);
        play.done();
        play.reply(&format!("SWITCH {BOB} {answer}"));
        play.wait(2_000);
        assert_eq!(play.done(), [format!("# tell 5 {text}")]);
    }
    play.reply(&format!("* MOVE {BOB} 1 0"));
    play.wait(2_000);
    let done = play.done();
    assert!(
        moves(&done)[0].contains('5') && moves(&done)[0].contains("red"),
        "{done:?}"
    );
    // The offer is over: nobody is warned, and a late volunteer is told so.
    play.log("0:59 say: ann: !switch\n");
    play.wait(60_000);
    assert_eq!(
        play.done(),
        ["PING", "# tell 4 nobody is asked to change teams now"]
    );
}

#[test]
fn spectators_and_whoever_asks_without_an_offer_are_told_so() {
    let mut play = in_play();
    play.log("0:30 say: ann: !switch\n");
    play.wait(2_000);
    assert_eq!(
        play.done(),
        ["# tell 4 nobody is asked to change teams now"]
    );
    let mut play = asked(60);
    play.log(&arrival(6, "eve", 3, None));
    play.done();
    play.log("0:41 say: eve: !switch\n");
    play.wait(2_000);
    assert_eq!(play.done(), ["# tell 6 only players on a team can change"]);
}

#[test]
fn an_offer_that_is_withdrawn_warns_nobody() {
    let mut play = asked(60);
    play.done();
    play.reply(&format!("* WITHDRAWN {ANN} even"));
    play.wait(2_000);
    assert_eq!(said(&mut play), ["the teams are even now, nobody changes"]);
    play.wait(60_000);
    assert_eq!(said(&mut play), [""; 0]);
    // Others are named: the chat asks again.
    let mut play = asked(60);
    play.done();
    play.reply(&format!("* WITHDRAWN {ANN} changed\n* OFFER {BOB} 1 0 30"));
    play.wait(2_000);
    assert_eq!(
        said(&mut play),
        ["red needs 1 player of blue: write !switch within 28 s"]
    );
    play.reply(&format!("* WITHDRAWN {BOB} over"));
    play.wait(30_000);
    assert_eq!(said(&mut play), [""; 0]);
}

#[test]
fn a_swap_is_asked_for_and_made_at_once() {
    let mut play = voted();
    play.reply(&format!(
        "* OFFER {ANN} 0 1 20\n* OFFER {BOB} 1 0 20\nREBALANCE 0 0.5 0.9"
    ));
    play.wait(1_000);
    assert_eq!(
        said(&mut play),
        [
            "blue needs 1 player of red, red needs 1 player of blue: write !switch within 19 s",
            "in 19 s ann goes to blue, bob goes to red, unless others write !switch"
        ]
    );
    play.reply(&format!("* MOVE {ANN} 0 1\n* MOVE {BOB} 1 0"));
    play.wait(2_000);
    assert_eq!(moves(&play.done()).len(), 2);
}

#[test]
fn an_offer_ends_with_its_connection_and_with_the_game() {
    let mut play = asked(60);
    play.done();
    play.sidecar.disconnected();
    play.sidecar.connected(play.now, &mut play.acts);
    play.done();
    play.wait(60_000);
    assert_eq!(said(&mut play), [""; 0]);
    let mut play = asked(60);
    play.done();
    play.log("0:50 ShutdownGame:\n0:50 InitGame: \\g_gametype\\4\\gamename\\baseoa\\mapname\\y\n");
    play.done();
    play.wait(60_000);
    assert!(!said(&mut play).iter().any(|line| line.contains("goes to")));
}

#[test]
fn teams_that_stay_are_announced_only_without_an_offer() {
    let mut play = voted();
    play.reply("REBALANCE 0 0.95 0.95");
    play.wait(2_000);
    assert_eq!(
        said(&mut play),
        ["the teams stay, they are as even as can be: ratio 0.95"]
    );
}

#[test]
fn after_two_matches_teams_are_chosen_anew_in_the_warm_up_and_players_read_why() {
    let settings = FollowerSettings {
        auto_balance: true,
        chat: ChatSettings::default(),
        ..settings()
    };
    let mut play = Play::new(IdTech3::new(false, Vec::new()), settings);
    assert_eq!(play.done()[0], "HELLO test streaks=yes");
    play.log(&warm_up());
    play.reply("* STREAK 1 2 matches");
    play.done();
    play.wait(1_000);
    let done = play.done();
    let why = "# say Evenkeel: the same people have won 2 matches in a row by far, so teams are chosen anew";
    assert_eq!(done, ["BALANCE", why]);
    play.wait(5_000);
    assert!(!play.done().contains(&"BALANCE".to_owned()), "once");
}

#[test]
fn who_is_not_asked_is_not_moved_by_pushes() {
    let mut play = Play::new(
        IdTech3::new(false, Vec::new()),
        FollowerSettings {
            chat: ChatSettings::default(),
            ..settings()
        },
    );
    play.done();
    play.reply(&format!("* OFFER {ANN} 0 1 60\n* MOVE {ANN} 0 1"));
    play.wait(5_000);
    assert_eq!(play.done(), [""; 0]);
}
