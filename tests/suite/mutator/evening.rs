//! An evening's conversation: what the mutator sends, in its order and with its quoting.

use crate::common::Daemon;
use evenkeel::model::{MatchRecord, Outcome, Participant, record::LeaveReason};

/// All parts of the evening.
pub(super) const PARTS: [&str; 5] = [WARM_UP, PLAY, BACK, ENDED, DEATHMATCH];

/// The reply to START in play, which the mutator says again after each lost connection.
const STARTED: &str = "ERROR not-allowed play has begun; send END or GAME first";

const ANN: &str = "b59886cde972e885d41296656150dd19";
const LATE: &str = "77777777777777777777777777777777";

/// From the beginning of a game to the end of the countdown. The players are where they chose to be,
/// whatever BALANCE said.
const WARM_UP: &str = r#"HELLO "UT2004 #1" bots=yes
GAME XGame.xCTFGame
MUTATOR UnrealGame.DMMutator
MUTATOR XGame.MutInstaGib
MUTATOR Evenkeel.MutEvenkeel
MUTATOR Evenkeel.EvenkeelRules
MAP CTF-FaceClassic 8 16
TEAMS 2
MINPLAYERS 8
MEANBOT
JOIN b59886cde972e885d41296656150dd19 name=Ann
PLAYER b59886cde972e885d41296656150dd19
JOIN 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 name="B\"o\\b"
PLAYER 0d8a6a3f5a2c4f0e9b7d1c3e5f708192
BOTS
JOIN "name:00000000" name=00000000
PLAYER "name:00000000"
JOIN "x=y#2" name="x=y"
PLAYER "x=y#2"
BOTS
PING
BALANCE
EXPLAIN
BOTS
MOVE b59886cde972e885d41296656150dd19 1
MOVE b59886cde972e885d41296656150dd19 0
MOVE 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 1
MOVE "name:00000000" 1
MOVE "x=y#2" 0
"#;

/// Play, up to a lost connection.
const PLAY: &str = r#"START
PING
CLOCK 1200
ADVANTAGE
BOTJOIN Selig 0
BOT Selig
BOTJOIN "Sk\"aarj" 1
BOT "Sk\"aarj"
BOTS
ADVANTAGE
JOIN 77777777777777777777777777777777 name=Late
PLAYER 77777777777777777777777777777777
PLACE 77777777777777777777777777777777
EXPLAIN
MOVE 77777777777777777777777777777777 1
PROTECT b59886cde972e885d41296656150dd19
KILL Selig "name:00000000"
DEATH "name:00000000"
KILL Selig Selig
SCORE 0 -1
KILL 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 Selig
SCORE 1 1 0d8a6a3f5a2c4f0e9b7d1c3e5f708192
PROTECT b59886cde972e885d41296656150dd19 0
SCORE 0 3 b59886cde972e885d41296656150dd19
POINTS b59886cde972e885d41296656150dd19 12
POINTS Selig -3
PING
RANK b59886cde972e885d41296656150dd19
REBALANCE
EXPLAIN
"#;

/// After a lost connection: what the daemon may not have, of which the first two lines have arrived
/// before, then the players as they are now.
const BACK: &str = r#"HELLO "UT2004 #1" resume=yes bots=yes
START
POINTS b59886cde972e885d41296656150dd19 12
SCORE 0 total=2
JOIN "x=y" name="x=y"
MOVE "x=y" 0
SCORE 0 1 "x=y"
POINTS "x=y#2" 4
LEAVE "x=y#2" reason=kicked
POINTS "Sk\"aarj" 2
BOTLEAVE "Sk\"aarj"
MOVE 77777777777777777777777777777777 0
SCORE 1 2
SCORE 0 total=3
SCORE 1 total=3
JOIN b59886cde972e885d41296656150dd19 name=Ann team=0
PLAYER b59886cde972e885d41296656150dd19
JOIN 0d8a6a3f5a2c4f0e9b7d1c3e5f708192 name="B\"o\\b" team=1
PLAYER 0d8a6a3f5a2c4f0e9b7d1c3e5f708192
JOIN "name:00000000" name=00000000 team=1
PLAYER "name:00000000"
JOIN 77777777777777777777777777777777 name=Later team=0
PLAYER 77777777777777777777777777777777
JOIN "x=y" name="x=y" team=0
PLAYER "x=y"
BOTJOIN Selig 0
BOT Selig
BOTS
CLOCK 600
POINTS b59886cde972e885d41296656150dd19 12
POINTS Selig -3
ADVANTAGE
"#;

/// After a connection that was lost before play ended: what happened until then, and the end.
const ENDED: &str = r#"HELLO "UT2004 #1" resume=yes bots=yes
POINTS "name:00000000" 7
LEAVE "name:00000000" reason=timeout
SCORE 0 2 77777777777777777777777777777777
POINTS b59886cde972e885d41296656150dd19 20
POINTS 77777777777777777777777777777777 9
END 0
"#;

/// A game without teams, whose bots are the server's own affair and whose deaths are no chance to
/// move anybody.
const DEATHMATCH: &str = r#"HELLO "UT2004 #1" bots=no
GAME XGame.xDeathMatch
MUTATOR UnrealGame.DMMutator
MAP DM-1on1-Albatross 2 4
MEANBOT
JOIN b59886cde972e885d41296656150dd19 name=Ann
PLAYER b59886cde972e885d41296656150dd19
JOIN Bob name=Bob
PLAYER Bob
START
KILL b59886cde972e885d41296656150dd19 Bob
KILL Bob Bob
POINTS b59886cde972e885d41296656150dd19 1
POINTS Bob -1
END
"#;

fn participant<'a>(record: &'a MatchRecord, id: &str) -> &'a Participant {
    let found = record.participants.iter().find(|who| who.key.id == id);
    found.unwrap_or_else(|| panic!("{id} in {record:?}"))
}

#[tokio::test]
async fn no_line_of_an_evening_is_refused_and_nothing_is_lost() {
    let toml = "[rating]\nmin_seconds = 0\n[divisions]\nnames = ['Bronze', 'Silver']\n";
    let (daemon, clock) = Daemon::start_by_hand(toml).await;
    let with_crlf = |text: &str| text.replace('\n', "\r\n");
    let play = with_crlf(WARM_UP) + &with_crlf(PLAY);
    let parts = [
        (
            play,
            vec!["BALANCE 6 ", "PLACE 7777", "WHY ", "RANK ", "REBALANCE "],
        ),
        (with_crlf(BACK), vec![" resumed", STARTED, "BOTS 8 "]),
        (with_crlf(ENDED), vec![" resumed", "END 1 recorded"]),
        (with_crlf(DEATHMATCH), vec!["MEANBOT ", "END 2 recorded"]),
    ];
    for (lines, expected) in parts {
        let replies = daemon.client().await.talk(&lines).await;
        let errors = replies.lines().filter(|line| line.starts_with("ERROR"));
        assert!(errors.clone().all(|error| error == STARTED), "{replies}");
        for reply in expected {
            assert!(replies.contains(reply), "{reply} in {replies}");
        }
        clock.pass(30_000);
    }

    daemon.service.sessions().write_backlog().await.unwrap();
    let records = daemon.service.learning().matches().await.unwrap();
    let record = &records[0];
    assert_eq!(record.scores, [5.0, 3.0]);
    assert_eq!(record.outcome, Outcome::Won(0));
    let points: Vec<f64> = record.events.iter().map(|event| event.points).collect();
    assert_eq!(points, [-1.0, 1.0, 3.0, 1.0, 2.0, 2.0]);
    let ann = participant(record, ANN);
    assert_eq!((ann.points, ann.left), (Some(20.0), None));
    assert_eq!(participant(record, LATE).points, Some(9.0));
    let gone = participant(record, "name:00000000");
    assert_eq!(
        (gone.points, gone.left),
        (Some(7.0), Some(LeaveReason::Timeout))
    );
    assert_eq!(gone.deaths, 1, "KILL and DEATH are one death");
    assert_eq!(participant(record, "x=y#2").left, Some(LeaveReason::Kicked));
    assert_eq!(participant(&records[1], "Bob").deaths, 2);
}
