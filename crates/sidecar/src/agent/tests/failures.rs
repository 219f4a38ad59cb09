//! Crashes, restarts and silence: of the agent, the daemon and the game server.

use super::{Act, SESSION, Stage, fake::FakeServer};
use crate::Sidecar;
use evenkeel_protocol::Request;

#[test]
fn a_console_that_does_not_answer_offers_nothing_and_refuses() {
    let mut stage = Stage::new();
    stage.answers = false;
    stage.connect("new");
    stage.run(5_000);
    assert_eq!(stage.sent(), ["HELLO oa resume=yes bots=no"]);
    assert!(stage.agent.needs_server(stage.now));
    let mut stage = Stage::ready();
    stage.answers = false;
    stage.push(SESSION);
    stage.run(30_000);
    let sent = stage.sent();
    assert!(
        sent.iter().any(|line| line.starts_with("REFUSE 7 ")),
        "{sent:?}"
    );
}

#[test]
fn a_daemon_that_restarts_in_play_gets_what_it_has_missed() {
    let mut stage = Stage::playing();
    let (ann, bob) = (
        stage.server.number("Ann").unwrap(),
        stage.server.number("Bob").unwrap(),
    );
    stage.server.capture(ann);
    stage.run(500);
    stage.disconnect();
    stage.server.capture(ann);
    stage.server.disconnect(bob);
    stage.run(2_000);
    stage.sent.clear();
    stage.connect("resumed");
    stage.run(1_000);
    let sent = stage.sent();
    let expected = [
        "JOIN ann team=0",
        "SCORE 0 total=2",
        "SCORE 1 total=0",
        "LEAVE bob",
    ];
    for line in expected {
        assert!(sent.iter().any(|sent| sent == line), "{line}: {sent:?}");
    }
    // The end comes while the daemon is away, and the answer to the first END is lost.
    stage.disconnect();
    stage.server.exit();
    stage.run(2_000);
    for resumed in ["resumed", "new"] {
        stage.connect(resumed);
        stage.run(1_000);
        let sent = stage.sent();
        assert_eq!(
            sent.iter().filter(|line| *line == "END 0").count(),
            1,
            "{sent:?}"
        );
        assert_eq!(
            sent.contains(&"SCORE 0 total=2".to_owned()),
            resumed == "resumed"
        );
        stage.disconnect();
    }
    stage.connect("new");
    stage.run(200);
    stage.reply("END 7 recorded");
    stage.sent.clear();
    stage.run(30_000);
    assert_eq!(
        (stage.sent(), stage.kept.is_some()),
        (vec!["LOAD 0".to_owned()], false)
    );
}

#[test]
fn an_agent_that_is_killed_in_a_game_takes_it_over() {
    let mut stage = Stage::playing();
    let (ann, bob) = (
        stage.server.number("Ann").unwrap(),
        stage.server.number("Bob").unwrap(),
    );
    stage.server.capture(bob);
    stage.run(500);
    stage.sent.clear();
    // The whole log is read again.
    let mut again = FakeServer::new(&["oa_dm1", "ps37ctf", "oasago2"]);
    again.vars.insert("evenkeel_match".into(), "7".into());
    again.execute("map ps37ctf");
    again.add("Ann", "aa", 1, false);
    again.add("Bob", "bb", 2, false);
    again.execute("set g_warmup 5");
    again.clock += 3;
    again.capture(bob);
    stage.server = again;
    stage.kill();
    stage.connect("resumed");
    stage.run(4_000);
    let sent = stage.sent();
    for line in [
        "JOIN ann name=Ann team=0",
        "SCORE 0 total=0",
        "SCORE 1 total=1",
    ] {
        assert!(sent.iter().any(|sent| sent == line), "{line}: {sent:?}");
    }
    assert!(
        !sent
            .iter()
            .any(|line| line == "START" || line.starts_with("LEAVE")),
        "{sent:?}"
    );
    assert_eq!(stage.server.clients.len(), 2, "nobody is disconnected");
    stage.server.capture(ann);
    stage.server.capture(ann);
    stage.server.exit();
    stage.run(1_000);
    assert_eq!(stage.sent().last().map(String::as_str), Some("END 0"));
    // Killed again before the answer: END is sent again, and once.
    stage.kill();
    stage.connect("new");
    stage.run(3_000);
    stage.reply("END 7 recorded");
    stage.run(20_000);
    let ends = stage.sent();
    assert_eq!(
        ends.iter().filter(|line| line.starts_with("END")).count(),
        1,
        "{ends:?}"
    );
    assert!(stage.kept.is_none());
}

#[test]
fn a_daemon_that_is_killed_with_the_start_gets_it_again() {
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(5_000);
    stage.server.connect("Ann", "aa");
    stage.server.connect("Bob", "bb");
    // Nothing of START has reached the daemon's journal, and it answers nothing.
    for _ in 0..300 {
        if !stage.connected {
            break;
        }
        stage.now += 100;
        stage.server.clock = stage.now / 1_000;
        let mut acts = Vec::new();
        stage.read_log(&mut acts);
        stage.agent.tick(stage.now, &mut acts);
        match acts.contains(&Act::Send(Request::Start)) {
            true => stage.disconnect(),
            false => stage.perform(acts),
        }
    }
    assert!(!stage.connected, "START is sent");
    stage.sent.clear();
    stage.connect("resumed");
    stage.run(1_000);
    let sent = stage.sent();
    let starts = sent.iter().filter(|line| *line == "START").count();
    assert_eq!((sent[1].as_str(), starts), ("START", 1), "{sent:?}");
    assert!(sent.contains(&"SCORE 0 total=0".to_owned()), "{sent:?}");
    // It has answered now.
    stage.disconnect();
    stage.connect("resumed");
    stage.run(1_000);
    assert!(!stage.sent().contains(&"START".to_owned()));
}

#[test]
fn an_agent_that_is_killed_with_its_start_sends_it_again() {
    let mut stage = Stage::playing();
    let (ann, bob) = (("Ann", "aa"), ("Bob", "bb"));
    let mut again = FakeServer::new(&["oa_dm1", "ps37ctf", "oasago2"]);
    again.vars.insert("evenkeel_match".into(), "7".into());
    again.execute("map ps37ctf");
    again.add(ann.0, ann.1, 1, false);
    again.add(bob.0, bob.1, 2, false);
    again.execute("set g_warmup 5");
    stage.server = again;
    stage.kill();
    stage.connect("resumed");
    stage.run(100);
    // The daemon asks again, because START has not reached it.
    stage.push(SESSION);
    stage.run(5_000);
    let sent = stage.sent();
    let count = |text: &str| sent.iter().filter(|line| *line == text).count();
    assert_eq!((count("READY 7"), count("START")), (1, 1), "{sent:?}");
    assert_eq!(stage.server.clients.len(), 2, "nobody is disconnected");
}

#[test]
fn an_agent_that_is_killed_before_the_game_is_sent_the_match_again() {
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(4_000);
    stage.server.connect("Ann", "aa");
    stage.run(2_000);
    let log = [
        "  0:00 InitGame: \\gamename\\baseoa\\g_gametype\\4\\mapname\\ps37ctf\\evenkeel_match\\7",
        "  0:00 Warmup:",
        "  0:01 ClientUserinfoChanged: 0 n\\Ann\\t\\1\\id\\GUIDAnn",
        "  0:01 ClientConnect: 0",
        "  0:01 ClientBegin: 0",
    ];
    stage.server.log = log.map(str::to_owned).to_vec();
    let loads = |stage: &Stage| {
        stage
            .server
            .commands
            .iter()
            .filter(|text| text.starts_with("map "))
            .count()
    };
    let before = loads(&stage);
    stage.kill();
    stage.sent.clear();
    stage.connect("resumed");
    stage.run(500);
    stage.push(SESSION);
    stage.run(3_000);
    let sent = stage.sent();
    assert_eq!(
        sent[3..],
        ["READY 7", "LOAD 1", "JOIN ann name=Ann team=0"],
        "{sent:?}"
    );
    assert_eq!(
        (loads(&stage), stage.server.clients.len()),
        (before, 1),
        "the map stays"
    );
}

#[test]
fn a_game_server_that_crashes() {
    // Before START, the match is opened again.
    let mut stage = Stage::ready();
    stage.push(SESSION);
    stage.run(4_000);
    stage.server.connect("Ann", "aa");
    stage.run(2_000);
    stage.sent.clear();
    stage.server.crash();
    stage.run(5_000);
    assert_eq!(stage.sent(), ["READY 7", "LEAVE ann"]);
    // In play, it is given up.
    let mut stage = Stage::playing();
    stage.server.crash();
    stage.run(1_000);
    assert_eq!(stage.sent(), ["GAME none", "LOAD 0"]);
    assert!(stage.kept.is_none());
    // It does not come back, and the daemon is away.
    let mut stage = Stage::playing();
    stage.disconnect();
    stage.answers = false;
    stage.run(70_000);
    assert!(stage.agent.needs_server(stage.now));
    stage.connect("resumed");
    stage.run(1_000);
    assert_eq!(stage.sent(), ["HELLO oa resume=yes bots=no", "GAME none"]);
}
