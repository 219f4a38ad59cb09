//! Scripted sessions over TCP: every line of the protocol, as a game server sees it.

use crate::common::{Client, Daemon, game};
use evenkeel::model::Kind::{Bot, Human};

/// A daemon with two humans and two bots of ctf, rated by the system whose weights can be computed
/// by hand.
async fn daemon(toml: &str) -> Daemon {
    let daemon = Daemon::start(&format!("rating.system = 'presence'\n{toml}")).await;
    let red = [(Human, "ann"), (Bot, "Sarge")];
    let blue = [(Human, "René"), (Bot, "Grunt")];
    daemon
        .service
        .store()
        .matches()
        .record(&game(0, &red, &blue, [3.0, 1.0]))
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
    daemon
}

#[tokio::test]
async fn the_five_requests_of_the_first_version_are_answered() {
    let daemon = daemon("").await;
    // F = 3, A = 1: 100 · (3 + 2) / (4 + 4); for the others the reverse.
    let replies = daemon
        .client()
        .await
        .talk("GAME CTF\r\nMUTATOR OLStats.MutOLGameStats\nPLAYER ann\nplayer  René \nPLAYER nobody here\nBOT Sarge\nBOT New Bot\nMEANBOT\n")
        .await;
    assert_eq!(
        replies,
        "PLAYER ann 62.500\nPLAYER René 37.500\nPLAYER nobody here\nBOT Sarge 62.500\nBOT New Bot 50.000\nMEANBOT 50.000 2\n"
    );
}

#[tokio::test]
async fn a_client_that_knows_five_verbs_sees_nothing_else() {
    let daemon = daemon("").await;
    let mut client = daemon.client().await;
    // There is no greeting, and no reply to commands without one.
    client
        .send("MUTATOR before\nGAME ctf\nMUTATOR a\nMUTATOR a\n\n  \nGAME dm\nMEANBOT\n")
        .await;
    // No human has played this game type; bots have weights from another.
    assert_eq!(client.line().await, "MEANBOT 50.000 2");
    client.send("PLAYER ann\nPLAYER nobody\n").await;
    assert_eq!(client.line().await, "PLAYER ann");
    assert_eq!(client.line().await, "PLAYER nobody");
}

#[tokio::test]
async fn names_come_back_in_their_own_bytes() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let daemon = daemon("").await;
    let mut stream = Client::connect(daemon.address).await.stream.into_inner();
    stream
        .write_all(b"GAME ctf\nPLAYER Ren\xe9\nPLAYER \"Ren\xe9\"\nQUIT\n")
        .await
        .unwrap();
    let mut replies = Vec::new();
    stream.read_to_end(&mut replies).await.unwrap();
    assert_eq!(
        replies,
        b"PLAYER Ren\xe9 37.500\nPLAYER \"Ren\xe9\" 37.500\n"
    );
}

#[tokio::test]
async fn rulesets_fall_back_to_the_game_type() {
    let daemon = daemon("").await;
    let blue = [(Human, "cid"), (Bot, "Grunt")];
    let mut insta = game(20, &[(Human, "ann")], &blue, [0.0, 4.0]);
    insta.mutators = vec!["MutInstaGib".into(), "MutStats".into()];
    daemon
        .service
        .store()
        .matches()
        .record(&insta)
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
    let replies = daemon
        .client()
        .await
        .talk("GAME ctf\nPLAYER ann\nMUTATOR mutinstagib\nPLAYER ann\nPLAYER René\nBOT Sarge\nMEANBOT\n")
        .await;
    // What ann showed without the mutator is where she starts with it: 0:4 alone would give 25, and Grunt's 4:0 would
    // give 75.
    assert_eq!(
        replies,
        "PLAYER ann 62.500\nPLAYER ann 50.000\nPLAYER René 37.500\nBOT Sarge 62.500\nMEANBOT 50.000 1\n"
    );
}

#[tokio::test]
async fn before_a_game_there_is_nothing_to_ask() {
    let daemon = daemon("").await;
    let lines = "PLAYER a\nBOT b\nMEANBOT\nMAP m\nJOIN a\nLEAVE a\nMOVE a 0\nBOTJOIN b 0\nBOTLEAVE b\nBALANCE\nBOTS\nEXPLAIN\n";
    let replies = daemon.client().await.talk(lines).await;
    assert_eq!(replies, "ERROR no-game send GAME first\n".repeat(12));
}

#[tokio::test]
async fn a_session_introduces_itself() {
    let daemon = daemon("").await;
    let replies = daemon
        .client()
        .await
        .talk("PING\nhello \"my server\"\nPING\n")
        .await;
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        replies,
        format!("PONG\nHELLO evenkeel/{version} protocol/1\nPONG\n")
    );
}

#[tokio::test]
async fn configured_clients_prove_themselves_first() {
    let toml = "[[clients]]\nname = 'ctf 1'\ntoken = 'secret'\nrights = ['ask', 'report']\n";
    let daemon = daemon(toml).await;
    let replies = daemon
        .client()
        .await
        .talk("GAME ctf\nHELLO \"ctf 1\" secret\nGAME ctf\nPLAYER ann\n")
        .await;
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        replies,
        format!(
            "ERROR not-allowed say HELLO <server> <token> first\n\
             HELLO evenkeel/{version} protocol/1\nPLAYER ann 62.500\n"
        )
    );
    for hello in [
        "HELLO \"ctf 1\" wrong",
        "HELLO \"ctf 1\"",
        "HELLO other secret",
    ] {
        let replies = daemon
            .client()
            .await
            .talk(&format!("{hello}\nPING\nPING\n"))
            .await;
        assert_eq!(
            replies.lines().count(),
            1,
            "{hello} closes the connection: {replies}"
        );
        assert!(replies.starts_with("ERROR "), "{replies}");
    }
}

#[tokio::test]
async fn balance_puts_the_roster_on_teams() {
    let daemon = daemon("").await;
    let mut client = daemon.client().await;
    client.send("GAME ctf\nMAP field 2 4\nMINPLAYERS 4\nJOIN ann\nJOIN René name=\"R\"\nJOIN c\nBALANCE seed=1\n").await;
    let head = client.line().await;
    let words: Vec<&str> = head.split(' ').collect();
    assert_eq!((words[0], words[1], words[4]), ("BALANCE", "5", "1"));
    let chance: f64 = words[3].parse().unwrap();
    assert!(chance > 0.0 && chance < 1.0, "{chance}");
    let ratio: f64 = words[2].parse().unwrap();
    assert!(ratio > 0.7 && ratio <= 1.0, "{ratio}");
    let mut teams = Vec::new();
    for id in ["ann", "René", "c"] {
        let line = client.line().await;
        let team = line
            .strip_prefix("TEAM ")
            .and_then(|l| l.strip_suffix(&format!(" {id}")));
        teams.push(team.unwrap_or_else(|| panic!("{line}")).to_owned());
    }
    let on_zero = teams.iter().filter(|team| *team == "0").count();
    assert_eq!(client.line().await, format!("BOTS 0 {}", 2 - on_zero));
    assert_eq!(client.line().await, format!("BOTS 1 {}", on_zero - 1));
    client.send("BOTS\n").await;
    assert_eq!(
        client.line().await,
        format!("BOTS 4 {} {}", 2 - on_zero, on_zero - 1)
    );
}

#[tokio::test]
async fn the_same_seed_gives_the_same_teams() {
    let daemon = daemon("").await;
    let names: Vec<String> = (0..9).map(|n| format!("JOIN p{n}\n")).collect();
    let script = |seed: u32| format!("GAME ctf\n{}BALANCE top=50 seed={seed}\n", names.concat());
    let mut answers = std::collections::BTreeSet::new();
    for seed in 0..10 {
        let first = daemon.client().await.talk(&script(seed)).await;
        let again = daemon.client().await.talk(&script(seed)).await;
        assert_eq!(first, again);
        answers.insert(first.split_once('\n').unwrap().1.to_owned());
    }
    assert!(
        answers.len() > 3,
        "the seed matters: {} answers",
        answers.len()
    );
}

#[tokio::test]
async fn a_drawn_seed_is_told_and_repeats_the_pick() {
    let daemon = daemon("").await;
    let script = "GAME ctf\nJOIN a\nJOIN b\nJOIN c\nJOIN d\nJOIN e\nBALANCE";
    let drawn = daemon.client().await.talk(&format!("{script}\n")).await;
    let seed = drawn
        .lines()
        .next()
        .unwrap()
        .rsplit(' ')
        .next()
        .unwrap()
        .to_owned();
    assert!(
        seed.parse::<u32>().unwrap() <= i32::MAX as u32,
        "fits an old script's int"
    );
    assert_eq!(
        drawn,
        daemon
            .client()
            .await
            .talk(&format!("{script} seed={seed}\n"))
            .await
    );
}

#[tokio::test]
async fn an_empty_lobby_and_a_game_without_teams() {
    let daemon = daemon("").await;
    let replies = daemon
        .client()
        .await
        .talk("GAME ctf\nMINPLAYERS 0\nBALANCE seed=3\nBOTS\n")
        .await;
    assert_eq!(
        replies,
        "BALANCE 2 1.000000 - 3\nBOTS 0 0\nBOTS 1 0\nBOTS 0 0 0\n"
    );
    let replies = daemon
        .client()
        .await
        .talk("GAME dm\nMAP m 2 5\nJOIN a\nBALANCE\nBOTS\n")
        .await;
    assert_eq!(
        replies,
        "ERROR not-allowed this game type has no teams\nBOTS 5 4\n"
    );
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_changes_nothing() {
    let daemon = daemon("[lobby]\nmax_roster = 2").await;
    let replies = daemon
        .client()
        .await
        .talk(
            "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=0\nJOIN c\nMOVE x 1\nLEAVE x\nBOTLEAVE x\n\
             MOVE a 2\nJOIN a team=5\nBOTJOIN x 7\nNOSUCH\nMAP m 3\nBOTS\n",
        )
        .await;
    let codes: Vec<&str> = replies
        .lines()
        .map(|line| line.split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(
        codes,
        [
            "roster-full",
            "unknown-player",
            "unknown-player",
            "unknown-player",
            "bad-argument",
            "bad-argument",
            "bad-argument",
            "unknown-command",
            "bad-argument",
            "2",
        ]
    );
    // Both humans are on team 0, and the roster has no room for two bots on team 1.
    assert!(replies.ends_with("BOTS 2 0 0\n"), "{replies}");
}

#[tokio::test]
async fn many_lines_at_once_are_answered_in_order() {
    let daemon = daemon("").await;
    let mut script = "GAME ctf\n".to_owned();
    let mut expected = String::new();
    for n in 0..5_000 {
        script.push_str(&format!("PLAYER p{n}\n"));
        expected.push_str(&format!("PLAYER p{n}\n"));
    }
    assert_eq!(daemon.client().await.talk(&script).await, expected);
}

#[tokio::test]
async fn new_weights_are_seen_by_a_session_that_is_open() {
    let daemon = daemon("").await;
    let mut client = daemon.client().await;
    client.send("GAME ctf\nPLAYER late\n").await;
    assert_eq!(client.line().await, "PLAYER late");
    daemon
        .service
        .store()
        .matches()
        .record(&game(30, &[(Human, "late")], &[(Human, "ann")], [4.0, 0.0]))
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
    client.send("PLAYER late\n").await;
    assert_eq!(client.line().await, "PLAYER late 75.000");
}

#[tokio::test]
async fn what_was_said_of_somebody_can_be_taken_back() {
    let daemon = daemon("balance.party_budget = 1.0").await;
    let bound = "GAME ctf\nJOIN a pin=1 party=x\nJOIN b party=x pin=1\nJOIN c pin=1\n";
    let replies = daemon
        .client()
        .await
        .talk(&format!("{bound}BALANCE\n"))
        .await;
    assert!(
        replies.contains("\nTEAM 1 a\nTEAM 1 b\nTEAM 1 c\n"),
        "three of three on one team: {replies}"
    );
    let free = "JOIN a pin= party= avoid=b\nJOIN a avoid=\nJOIN b pin=0\nBALANCE\n";
    let replies = daemon.client().await.talk(&format!("{bound}{free}")).await;
    assert!(replies.starts_with("BALANCE 5 "), "{replies}");
    assert!(replies.contains("\nTEAM 0 b\nTEAM 1 c\n"), "{replies}");
}

#[tokio::test]
async fn explain_tells_why() {
    let daemon = daemon("").await;
    let script = "GAME ctf\nEXPLAIN\nJOIN ann\nJOIN \"R\r\"\nJOIN c\nJOIN d\nBALANCE seed=5\nEXPLAIN\nGAME ctf\nEXPLAIN\n";
    let replies = daemon.client().await.talk(script).await;
    let nothing = "ERROR not-allowed nothing has been decided yet\n";
    assert!(
        replies.starts_with(nothing) && replies.ends_with(nothing),
        "{replies}"
    );
    let (_, rest) = replies.split_once("\nEXPLAIN ").unwrap();
    let mut lines = rest.lines();
    let count: usize = lines.next().unwrap().parse().unwrap();
    let why: Vec<&str> = lines.filter_map(|line| line.strip_prefix("WHY ")).collect();
    assert_eq!(why.len(), count);
    assert!(
        why[0].starts_with("chance of team 0 to win 0.") && why[0].contains(", ratio 0."),
        "{}",
        why[0]
    );
    assert!(why.iter().any(|line| line.contains("exact")), "{why:?}");
    for first in ["picked: ", "runner-up: "] {
        let told = why.iter().find_map(|line| line.strip_prefix(first));
        assert!(told.unwrap().contains("chance of team 0"), "{why:?}");
    }
    for name in ["ann", "R?", "c", "d"] {
        let what_if = format!("with {name} on team ");
        assert_eq!(
            why.iter().filter(|line| line.starts_with(&what_if)).count(),
            1,
            "{name}: {why:?}"
        );
    }
}

#[tokio::test]
async fn parties_pins_and_more_teams_are_respected() {
    let daemon = daemon("[balance]\nparty_budget = 1.0").await;
    let mut script = String::from("GAME ctf\nTEAMS 3\n");
    for n in 0..9 {
        let extra = match n {
            0 | 4 => " party=friends",
            2 => " pin=2",
            _ => "",
        };
        script.push_str(&format!("JOIN p{n}{extra}\n"));
    }
    for seed in 0..5 {
        let replies = daemon
            .client()
            .await
            .talk(&format!("{script}BALANCE seed={seed}\n"))
            .await;
        let team = |n: usize| {
            replies
                .lines()
                .nth(1 + n)
                .unwrap()
                .split(' ')
                .nth(1)
                .unwrap()
                .to_owned()
        };
        assert!(
            replies.starts_with("BALANCE 12 1.000000 0.333333 "),
            "{replies}"
        );
        assert_eq!(team(0), team(4));
        assert_eq!(team(2), "2");
        assert!(
            replies.ends_with("BOTS 0 0\nBOTS 1 0\nBOTS 2 0\n"),
            "{replies}"
        );
    }
    let replies = daemon
        .client()
        .await
        .talk("GAME ctf\nJOIN a pin=0 party=x\nJOIN b pin=1 party=x\nBALANCE\nBOTS\n")
        .await;
    assert!(replies.contains("\nTEAM 0 a\nTEAM 1 b\n"), "{replies}");
}

#[tokio::test]
async fn what_everybody_is_called_joins_as_nobody() {
    let daemon = daemon("").await;
    let replies = daemon
        .client()
        .await
        .talk("GAME ctf\nJOIN 0\nJOIN 00000000\nJOIN \"\"\nPLAYER 0\nPLAYER 00-00\nRANK 0\nPLACE -\nMOVE 0 1\nLEAVE 0\nPROTECT 0\nROLE 0 medic\nBEHAVIOUR 0 -1\nBOTS\n")
        .await;
    let refused: Vec<&str> = replies.lines().take(12).collect();
    assert!(
        refused
            .iter()
            .all(|line| line.starts_with("ERROR bad-argument ")),
        "{replies}"
    );
    assert!(replies.ends_with("\nBOTS 6 3 3\n"), "{replies}");
}
