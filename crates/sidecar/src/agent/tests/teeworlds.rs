//! Matches on a Teeworlds server.

use proptest::prelude::*;

use super::scene::{CAPTURE, ENTER, LOADED, ORDERED, START, Scene, agent};
use crate::Sidecar;

#[test]
fn a_match_from_session_to_end() {
    let mut scene = Scene::asked();
    let (sent, commands) = scene.done();
    assert_eq!(sent, ["LOAD 1"]);
    let last = [
        "password \"\"",
        "sv_scorelimit 100",
        "sv_gametype ctf",
        "sv_scorelimit",
        "sv_timelimit",
        "echo evenkeel_match 7",
        "sv_map arena; reload; sv_map",
    ];
    assert_eq!(commands[commands.len() - last.len()..], last);
    scene.log(LOADED);
    scene.run(500);
    assert_eq!(scene.done().0, ["READY 7"]);
    scene.log(ENTER);
    scene.log("[20:06:12][game]: team_join player='2:eve' team=0");
    scene.run(3_000);
    let (sent, commands) = scene.done();
    assert_eq!(
        sent,
        ["JOIN ann name=ann team=0", "JOIN bob name=bob team=1"]
    );
    let ordered = ["set_team 0 0", "kick 2 \"you are in no match here\""];
    assert_eq!(commands[..2], ordered);
    scene.log("[20:06:13][server]: client dropped. cid=2 addr=127.0.0.1:1 reason='Kicked'");
    scene.log(ORDERED);
    scene.run(2_000);
    let say = "say Evenkeel: all players are here, match 7 begins";
    assert_eq!(scene.done().1, [say, "restart 5"]);
    scene.log(START);
    scene.run(500);
    let began = [
        "START",
        "JOIN ann team=0",
        "JOIN bob team=1",
        "SCORE 0 total=0",
        "SCORE 1 total=0",
    ];
    assert_eq!(scene.done().0, began);
    scene.log(CAPTURE);
    scene.run(3_000);
    let ended = [
        "SCORE 1 1 bob",
        "SCORE 1 100 bob",
        "SCORE 0 total=0",
        "SCORE 1 total=101",
        "POINTS ann 0",
        "POINTS bob 6",
        "END 1",
    ];
    assert_eq!(scene.done().0, ended);
    scene.reply("END 7 recorded");
    scene.log("[20:06:43][game]: start match type='CTF' teamplay='1'");
    scene.run(12_000);
    let (sent, commands) = scene.done();
    assert_eq!(
        (sent, scene.kept.is_some()),
        (vec!["LOAD 0".to_owned()], false)
    );
    assert!(
        commands.contains(&"password \"nobody-knows\"".to_owned()),
        "{commands:?}"
    );
    assert!(
        commands.contains(&"echo evenkeel_match none".to_owned()),
        "{commands:?}"
    );
}

#[test]
fn who_has_a_name_first_is_the_player() {
    let mut scene = Scene::gathered();
    scene.done();
    scene.log("[20:06:15][game]: team_join player='5:ann' team=0");
    scene.run(3_000);
    let (sent, commands) = scene.done();
    assert!(
        commands.contains(&"kick 5 \"you are in no match here\"".to_owned()),
        "{commands:?}"
    );
    assert!(!sent.iter().any(|line| line.contains("ann")), "{sent:?}");
    scene.log("[20:06:15][server]: client dropped. cid=5 addr=127.0.0.1:1 reason='Kicked'");
    scene.log("[20:06:16][server]: client dropped. cid=0 addr=127.0.0.1:1 reason=''");
    scene.log("[20:06:18][game]: team_join player='0:ann' team=0");
    scene.run(3_000);
    assert_eq!(scene.done().0, ["LEAVE ann", "JOIN ann name=ann team=0"]);
}

#[test]
fn a_map_that_the_server_does_not_have_is_refused() {
    let mut scene = Scene::asked();
    scene.done();
    scene.log("[20:06:10][server]: failed to load map. mapname='arena'");
    scene.run(500);
    let sent = scene.done().0;
    assert!(
        sent[0].starts_with("REFUSE 7 ") && sent[0].contains("does not have the map"),
        "{sent:?}"
    );
}

#[test]
fn an_agent_that_is_killed_in_a_match_takes_it_over() {
    let mut scene = Scene::gathered();
    scene.log(START);
    scene.run(500);
    let kept = scene.kept.clone().unwrap();
    scene.agent = agent();
    for lines in [LOADED, ENTER, ORDERED, START] {
        scene.log(lines);
    }
    let text = serde_json::to_string(&kept).unwrap();
    scene.agent.restore(serde_json::from_str(&text).unwrap());
    scene.done();
    scene.connect("resumed");
    scene.run(4_000);
    scene.log(CAPTURE);
    scene.run(3_000);
    let sent = scene.done().0;
    for line in [
        "JOIN ann name=ann team=0",
        "SCORE 0 total=0",
        "SCORE 1 100 bob",
        "END 1",
    ] {
        assert!(sent.iter().any(|sent| sent == line), "{line}: {sent:?}");
    }
    assert!(
        !sent
            .iter()
            .any(|line| line == "START" || line.starts_with("LEAVE")),
        "{sent:?}"
    );
}

#[test]
fn another_map_or_another_server_is_not_the_match() {
    let mut scene = Scene::gathered();
    scene.log(START);
    scene.run(500);
    scene.done();
    scene.log("[20:06:40][server]: maps/arena.map sha256 is c3f4");
    scene.run(1_000);
    assert_eq!(scene.done().0, ["GAME none", "LOAD 0"]);
}

proptest! {
    #[test]
    fn any_lines_are_borne(lines in prop::collection::vec("[ -~é]{0,60}", 0..12), slot in 0u32..300) {
        let mut scene = Scene::gathered();
        for line in &lines {
            scene.log(line);
            scene.log(&format!("[20:06:20][game]: {line}"));
            scene.log(&format!("[20:06:20][Console]: evenkeel_match {line}"));
            scene.log(&format!("[20:06:20][game]: team_join player='{slot}:{line}' team=0"));
        }
        scene.run(2_000);
    }
}
