//! Matches from SESSION to END, their players, and strangers.

use proptest::prelude::*;

use super::{SESSION, Stage, settings};
use crate::{Sidecar, agent::AgentSettings};
use evenkeel_protocol::Push;

#[test]
fn two_matches_in_a_row() {
    let mut stage = Stage::new();
    stage.server.connect("Idler", "");
    stage.connect("new");
    stage.run(1_000);
    let instance = "INSTANCE 203.0.113.7:27960 slots=1 modes=ctf,tdm maps=oasago2,ps37ctf";
    assert_eq!(
        stage.sent(),
        ["HELLO oa resume=yes bots=no", instance, "LOAD 0"]
    );
    stage.run(11_000);
    assert!(
        stage.teams().is_empty() && stage.server.connect("Idler", "").is_none(),
        "locked"
    );
    for (round, map) in [(7, "ps37ctf"), (8, "oasago2")] {
        stage.push(
            &SESSION
                .replace('7', &round.to_string())
                .replace("ps38ctf", "ps37ctf")
                .replace("ps37ctf", map),
        );
        stage.run(14_000);
        assert_eq!(stage.sent(), ["LOAD 1", &format!("READY {round}")]);
        assert_eq!(stage.server.map, map);
        stage.server.add("Sarge", "", 1, true);
        stage.server.connect("Eve", "guess");
        stage.server.connect("Bob", "bb");
        stage.server.connect("Ann", "aa");
        stage.run(12_000);
        let expected = [
            "JOIN bob name=Bob team=1",
            "JOIN ann name=Ann team=0",
            "START",
            "JOIN ann team=0",
            "JOIN bob team=1",
            "SCORE 0 total=0",
            "SCORE 1 total=0",
        ];
        assert_eq!(stage.sent(), expected, "{:?}", stage.reports);
        assert_eq!(stage.teams().len(), 2, "{:?}", stage.teams());
        assert!(
            stage.teams().contains(&("Ann".into(), 1))
                && stage.teams().contains(&("Bob".into(), 2))
        );
        let ann = stage.server.number("Ann").unwrap();
        stage.server.capture(ann);
        stage.server.exit();
        stage.run(1_000);
        let sent = stage.sent();
        assert_eq!(
            sent[..3],
            ["SCORE 0 1 ann", "SCORE 0 total=1", "SCORE 1 total=0"]
        );
        assert!(
            sent[3].starts_with("POINTS ") && sent[4].starts_with("POINTS "),
            "{sent:?}"
        );
        assert_eq!(sent[5..], ["END 0"]);
        stage.reply(&format!("END {round} recorded"));
        stage.run(100);
        assert_eq!(
            (stage.sent(), stage.kept.is_some()),
            (vec!["LOAD 0".to_owned()], false)
        );
    }
    stage.run(20_000);
    assert!(
        stage.teams().is_empty() && stage.server.connect("Idler", "").is_none(),
        "locked"
    );
    assert!(stage.sent().is_empty(), "END is sent once");
}

#[test]
fn what_cannot_be_hosted_is_refused() {
    for (session, reason) in [
        ("SESSION 7 duel ffa ps37ctf 1\nJOIN a team=0 pass=x", "mode"),
        (
            "SESSION 7 duel - oa_dm6 1\nJOIN a team=0 pass=x",
            "does not have the map",
        ),
        (
            "SESSION 7 duel - \"a;quit\" 1\nJOIN a team=0 pass=x",
            "no plain word",
        ),
        ("SESSION 7 duel - - 1\nJOIN a team=2 pass=x", "two teams"),
    ] {
        let mut stage = Stage::ready();
        stage.push(session);
        stage.run(100);
        let sent = stage.sent();
        assert!(
            sent[0].starts_with("REFUSE 7 ") && sent[0].contains(reason),
            "{sent:?}"
        );
        assert!(
            !stage
                .server
                .commands
                .iter()
                .any(|command| command.contains("quit"))
        );
    }
    // The operator states a map that the game server does not have.
    let mut stage = Stage::ready();
    stage.server.maps.retain(|map| map != "ps37ctf");
    stage.push(SESSION);
    stage.run(3_000);
    assert_eq!(stage.sent().last().map(String::as_str), Some("LOAD 0"));
    assert!(
        stage
            .reports
            .iter()
            .any(|text| text.contains("does not have the map"))
    );
    stage.push("SESSION 8 duel - oasago2 1\nJOIN a team=0 pass=x");
    stage.run(3_000);
    assert_eq!(stage.sent(), ["LOAD 1", "READY 8"]);
}

#[test]
fn players_may_come_again_and_passes_expire() {
    let mut stage = Stage::playing();
    let ann = stage.server.number("Ann").unwrap();
    // A second client with her pass: the first one goes.
    stage.server.connect("Ann2", "aa");
    stage.run(5_000);
    assert_eq!(
        stage.server.clients.get(&ann).map(|c| c.name.as_str()),
        None
    );
    assert!(
        stage.teams().contains(&("Ann2".into(), 1)),
        "{:?}",
        stage.teams()
    );
    assert_eq!(stage.sent(), ["JOIN ann name=Ann2 team=0"]);
    // On the other team, or none: she is ordered back.
    let number = stage.server.number("Ann2").unwrap();
    stage.server.execute(&format!("forceteam {number} blue"));
    stage.run(5_000);
    assert!(
        stage.teams().contains(&("Ann2".into(), 1)),
        "{:?}",
        stage.teams()
    );
    stage.server.disconnect(number);
    stage.run(700_000);
    assert_eq!(stage.sent(), ["LEAVE ann"]);
    // She has been here before, so that her pass is still good.
    stage.server.connect("Ann", "aa");
    stage.run(5_000);
    assert_eq!(stage.sent(), ["JOIN ann name=Ann team=0"]);
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(605_000);
    stage.server.connect("Ann", "aa");
    stage.run(5_000);
    assert!(stage.teams().is_empty(), "{:?}", stage.teams());
}

#[test]
fn all_deaths_of_players_count() {
    let mut stage = Stage::playing();
    let number = |name| stage.server.number(name).unwrap();
    let (ann, bob) = (number("Ann"), number("Bob"));
    stage.sent();
    stage.server.kill(Some(ann), bob);
    stage.server.kill(None, ann);
    stage.server.kill(Some(bob), bob);
    stage.run(500);
    let deaths = ["KILL ann bob", "KILL ann ann", "KILL bob bob"];
    assert_eq!(stage.sent(), deaths);
}

#[test]
fn strangers_may_watch() {
    let settings = AgentSettings {
        strangers_watch: true,
        lock: None,
        ..settings()
    };
    let mut stage = Stage::with(settings);
    stage.connect("new");
    stage.run(11_000);
    stage.push(SESSION);
    stage.run(4_000);
    stage.server.connect("Ann", "aa");
    stage.server.connect("Bob", "bb");
    let eve = stage.server.connect("Eve", "").unwrap();
    stage.server.add("Sarge", "", 2, true);
    stage.server.execute(&format!("forceteam {eve} red"));
    stage.run(8_000);
    let teams = [("Ann", 1), ("Bob", 2), ("Eve", 3)].map(|(name, team)| (name.to_owned(), team));
    assert_eq!(stage.teams(), teams);
    // A stranger who then sets a pass is a player.
    assert!(stage.sent().contains(&"START".to_owned()));
}

#[test]
fn a_match_that_is_closed_or_not_sent_again_is_dropped() {
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(4_000);
    stage.server.connect("Ann", "aa");
    stage.run(2_000);
    stage.push("CLOSE 7 not-started");
    stage.run(3_000);
    assert!(stage.teams().is_empty());
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(4_000);
    stage.disconnect();
    stage.connect("new");
    stage.sent.clear();
    stage.run(12_000);
    assert!(
        stage
            .reports
            .iter()
            .any(|text| text.contains("not hosted here"))
    );
    // START is refused: another instance has the match.
    let mut stage = Stage::playing();
    let lines = stage.sent.len();
    stage.push("CLOSE 9 lost");
    stage.run(500);
    assert_eq!(stage.sent.len(), lines, "another match");
}

#[test]
fn an_error_refuses_the_request_before_its_pong() {
    let mut stage = Stage::ready();
    stage.push(SESSION);
    let (mut acts, now) = (Vec::new(), stage.now + 5_000);
    for at in (stage.now..now).step_by(100) {
        let mut some = Vec::new();
        stage.read_log(&mut some);
        stage.agent.tick(at, &mut some);
        let ready = some.iter().any(|act| format!("{act:?}").contains("Ready"));
        match ready {
            // The answers to READY and to its PING have not come yet.
            true => acts.extend(some),
            false => stage.perform(some),
        }
    }
    assert!(!acts.is_empty());
    stage.now = now;
    let text = format!("{acts:?}");
    let before = text.split("Ready").next().unwrap().matches("Ping").count();
    (0..before).for_each(|_| stage.reply("PONG"));
    stage.reply("ERROR not-allowed this instance does not host the match");
    stage.run(200);
    assert_eq!(stage.sent(), ["LOAD 1", "LOAD 0"], "the match is dropped");
}

proptest! {
    #[test]
    fn nothing_that_comes_in_is_too_strange(
        lines in prop::collection::vec(any::<Vec<u8>>(), 0..8),
        answer in any::<Vec<u8>>(),
        push in "[A-Z]{0,8} [ -~]{0,40}",
    ) {
        let mut stage = Stage::playing();
        let (mut acts, now) = (Vec::new(), stage.now);
        for line in &lines {
            stage.agent.log_line(line, now, &mut acts);
        }
        for id in 0..40 {
            stage.agent.answer(id, Some(&answer), now, &mut acts);
        }
        stage.agent.push(&Push::new(push), now, &mut acts);
        stage.perform(acts);
        stage.run(3_000);
    }
}
