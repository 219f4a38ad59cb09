//! Lines of each kind, and lines that are malformed.

use super::*;

fn parsed(line: &str) -> LineResult<SourceEvent<'_>> {
    read(line.as_bytes())
}

#[test]
fn dates() {
    let (at, rest) = stamp(b"L 03/08/2026 - 01:59:56: x").unwrap();
    let at = date(at).map(|date| date.to_string());
    assert_eq!(at.as_deref(), Some("2026-03-08T01:59:56Z"));
    assert_eq!(rest, b"x");
    for other in [
        "03/08/2026 - 01:59:56: x",
        "03/08/2026 - 01:59:56.123 - x",
        "L 03/08/2026 - 01:59:56.123: x",
    ] {
        let (at, rest) = stamp(other.as_bytes()).unwrap();
        assert_eq!((at, rest), (&b"03/08/2026 - 01:59:56"[..], &b"x"[..]));
    }
    assert_eq!(stamp(b"L 03/08/2026 - 01:59:56:").unwrap().1, b"");
    for wrong in ["", "L 03/08/2026", "L 03/08/2026 - 01:59:5x x", "- -"] {
        assert!(stamp(wrong.as_bytes()).is_err());
    }
    assert_eq!(date(b"13/08/2026 - 01:59:56"), None);
}

#[test]
fn players_are_read_from_the_right() {
    let line = br#""a<1><BOT><Red><7><STEAM_0:1:2><Blue>" say "x""#;
    let (who, _) = who(line).unwrap();
    assert_eq!(who.name, b"a<1><BOT><Red>");
    assert_eq!(
        (who.uid, who.auth, who.team),
        (Some(7), &b"STEAM_0:1:2"[..], ClientTeam::Team(1))
    );
}

#[test]
fn lines_of_real_logs() {
    let who = |name: &'static str, uid, auth: &'static str, team| PlayerTag {
        name: name.as_bytes(),
        uid: Some(uid),
        auth: auth.as_bytes(),
        team,
    };
    let a = who("A", 1, "STEAM_0:0:1", ClientTeam::Team(0));
    let b = who("B", 2, "BOT", ClientTeam::Team(1));
    assert_eq!(
        parsed(r#""A<1><STEAM_0:0:1><Red>" killed "B<2><BOT><Blue>" with "gun" (x "1")"#),
        Ok(SourceEvent::Player(
            a,
            PlayerAction::Kill {
                victim: b,
                knife: false
            }
        ))
    );
    assert_eq!(
        parsed(
            r#""A<1><STEAM_0:0:1><Red>" killed "B<2><BOT><Blue>" with "gun" (customkill "feign_death")"#
        ),
        Ok(SourceEvent::Player(a, PlayerAction::Other))
    );
    let acts = [
        (r#"committed suicide with "world" (x)"#, PlayerAction::Die),
        (
            r#"joined team "Spectator""#,
            PlayerAction::Join(ClientTeam::Spectator),
        ),
        (
            r#"joined team "BLUE""#,
            PlayerAction::Join(ClientTeam::Team(1)),
        ),
        (r#"changed name to "C""#, PlayerAction::Rename(b"C")),
        (r#"disconnected (reason "gone")"#, PlayerAction::Leave),
        ("disconnected", PlayerAction::Leave),
        ("entered the game", PlayerAction::Enter),
        (r#"connected, address "192.0.2.1:5""#, PlayerAction::Connect),
        (
            r#"triggered "flagevent" (event "captured") (position "1")"#,
            PlayerAction::Capture,
        ),
        (
            r#"triggered "flagevent" (event "dropped")"#,
            PlayerAction::Other,
        ),
        (r#"triggered "Team 1 dropoff""#, PlayerAction::Capture),
        (r#"say "killed me""#, PlayerAction::Other),
    ];
    for (words, act) in acts {
        let line = format!(r#""A<1><STEAM_0:0:1><Red>" {words}"#);
        assert_eq!(parsed(&line), Ok(SourceEvent::Player(a, act)), "{words}");
    }
    let lines = [
        (
            r#"Team "Red" current score "3" with "9" players"#,
            SourceEvent::Current(0, 3.0),
        ),
        (
            r#"Team "Blue" final score "7" with "9" players"#,
            SourceEvent::Final(1, 7.0),
        ),
        (
            r#"Team "Blue" scored "50" with "4" players"#,
            SourceEvent::Scored(1, 50.0),
        ),
        (
            r#"Team "BLUE" triggered "Intermission_Win_Limit""#,
            SourceEvent::Other,
        ),
        (
            r#"World triggered "Round_Win" (winner "Red")"#,
            SourceEvent::RoundEnd,
        ),
        (
            r#"World triggered "Game_Over" reason "x""#,
            SourceEvent::GameOver,
        ),
        (
            r#"World triggered "Restart_Round_(1_second)""#,
            SourceEvent::Restart,
        ),
        (r#"Loading map "ctf_2fort""#, SourceEvent::Map(b"ctf_2fort")),
        (
            r#"Started map "schtop" (CRC "1")"#,
            SourceEvent::Map(b"schtop"),
        ),
        (
            r#"Log file started (file "x") (game "C:\a\tf") (version "1")"#,
            SourceEvent::Started(b"tf"),
        ),
        (
            r#"Server cvar "sv_gravity" = "800""#,
            SourceEvent::Setting(b"sv_gravity", b"800"),
        ),
        (
            r#"server_cvar: "tf_x" "1""#,
            SourceEvent::Setting(b"tf_x", b"1"),
        ),
        (r#"rcon from "192.0.2.1": command "x""#, SourceEvent::Other),
        ("[META] x", SourceEvent::Other),
        ("", SourceEvent::Other),
    ];
    for (line, event) in lines {
        assert_eq!(parsed(line), Ok(event), "{line}");
    }
    for wrong in [
        r#""A" killed"#,
        r#""A<1><2"#,
        r#""A<x><BOT><Red>" x"#,
        r#"Team "Red" final score "x" with"#,
        r#"World triggered "#,
    ] {
        assert!(parsed(wrong).is_err(), "{wrong}");
    }
}
