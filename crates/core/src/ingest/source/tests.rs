//! Small logs, written for one question each.

mod beginnings;
mod counter_strike;

use super::FORMAT;
use crate::domain::{Kind, MatchRecord, Outcome, Participant};
use crate::ingest::{LogItem, detect, only_match, read};

/// Lines, each at its second.
fn log(lines: &[(u32, &str)]) -> String {
    let line = |(at, line): &(u32, &str)| {
        format!("L 01/24/2026 - 18:{:02}:{:02}: {line}\n", at / 60, at % 60)
    };
    lines.iter().map(line).collect()
}

const A: &str = r#""Ann<1><STEAM_0:0:1><Red>""#;
const B: &str = r#""Bob<2><BOT><Blue>""#;

fn tf2(lines: &[(u32, String)], finals: (u32, u32)) -> MatchRecord {
    only_match(&FORMAT, &tf2_log(lines, finals))
}

fn tf2_log(lines: &[(u32, String)], (red, blue): (u32, u32)) -> String {
    let mut all = vec![
        (
            0,
            r#"Log file started (file "l") (game "x\tf") (version "1")"#.to_owned(),
        ),
        (0, r#"Loading map "ctf_2fort""#.to_owned()),
        (1, r#""Ann<1><STEAM_0:0:1><>" entered the game"#.to_owned()),
        (
            1,
            r#""Ann<1><STEAM_0:0:1><Unassigned>" joined team "Red""#.to_owned(),
        ),
        (
            1,
            r#""Bob<2><BOT><Unassigned>" joined team "Blue""#.to_owned(),
        ),
        (5, format!(r#"{A} killed {B} with "gun""#)),
        (10, r#"World triggered "Round_Start""#.to_owned()),
    ];
    all.extend_from_slice(lines);
    all.extend([
        (100, r#"World triggered "Game_Over" reason "x""#.to_owned()),
        (
            100,
            format!(r#"Team "Red" final score "{red}" with "1" players"#),
        ),
        (
            100,
            format!(r#"Team "Blue" final score "{blue}" with "1" players"#),
        ),
        (
            101,
            r#"World triggered "Round_Win" (winner "Red")"#.to_owned(),
        ),
        (102, r#"Log file closed"#.to_owned()),
    ]);
    let all: Vec<_> = all.iter().map(|(at, line)| (*at, line.as_str())).collect();
    log(&all)
}

fn stays(p: &Participant) -> Stays {
    let stay = |s: &crate::domain::Presence| (s.team, s.span.from / 1_000, s.span.to / 1_000);
    p.presence.iter().map(stay).collect()
}

fn reasons(log: &str) -> Vec<(u64, &'static str)> {
    let items = read(&FORMAT, log);
    let reason = |item: &LogItem| match item {
        LogItem::Skipped { line, reason, .. } => (*line, reason.code()),
        other => panic!("{other:?}"),
    };
    items.iter().map(reason).collect()
}

#[test]
fn a_game_with_captures() {
    let capture = format!(r#"{A} triggered "flagevent" (event "captured") (position "1 2 3")"#);
    let kill = format!(r#"{A} killed {B} with "gun" (x "1")"#);
    let game = tf2(
        &[
            (20, kill.clone()),
            (20, kill.clone()),
            (30, kill),
            (40, format!(r#"{B} committed suicide with "world""#)),
            (50, capture.clone()),
            (50, capture.clone()),
            (60, capture),
        ],
        (2, 0),
    );
    assert_eq!(
        (game.game_type.as_str(), game.map.as_str()),
        ("tf.ctf", "ctf_2fort")
    );
    assert_eq!(
        (game.start.to_string().as_str(), game.millis(), game.clock),
        ("2026-01-24T18:00:10Z", 90_000, None)
    );
    assert_eq!(
        (&game.scores[..], game.outcome),
        (&[2.0, 0.0][..], Outcome::Won(0))
    );
    let [ann, bob] = &game.participants[..] else {
        panic!("{game:?}")
    };
    assert_eq!(
        (ann.key.kind, ann.key.id.as_str()),
        (Kind::Human, "STEAM_0:0:1")
    );
    assert_eq!((bob.key.kind, bob.key.id.as_str()), (Kind::Bot, "Bob"));
    assert_eq!((ann.kills, ann.deaths, bob.kills, bob.deaths), (2, 0, 0, 3));
    let events: Vec<_> = game
        .events
        .iter()
        .map(|e| (e.at, e.team, e.points, e.by))
        .collect();
    assert_eq!(
        events,
        [(40_000, 0, 1.0, Some(0)), (50_000, 0, 1.0, Some(0))]
    );
}

#[test]
fn rounds_tell_the_score_where_captures_do_not() {
    let round = |at, red: u32, blue: u32| {
        [
            (at, r#"World triggered "Round_Win" (winner "x")"#.to_owned()),
            (
                at,
                format!(r#"Team "Red" current score "{red}" with "1" players"#),
            ),
            (
                at,
                format!(r#"Team "Blue" current score "{blue}" with "1" players"#),
            ),
            (at + 5, r#"World triggered "Round_Start""#.to_owned()),
        ]
    };
    let rounds = [round(20, 0, 1), round(40, 1, 1), round(60, 1, 2)].concat();
    let game = tf2(&rounds, (1, 2));
    let events: Vec<_> = game
        .events
        .iter()
        .map(|e| (e.at / 1_000, e.team, e.points))
        .collect();
    assert_eq!(events, [(10, 1, 1.0), (30, 0, 1.0), (50, 1, 1.0)]);
    assert_eq!(stays(&game.participants[0]), [(0, 0, 90)]);
}

#[test]
fn a_round_that_no_end_precedes_begins_anew() {
    let kill = format!(r#"{A} killed {B} with "gun""#);
    let game = tf2(
        &[
            (20, kill),
            (40, r#"World triggered "Round_Start""#.to_owned()),
        ],
        (1, 0),
    );
    assert_eq!((game.millis(), game.participants[0].kills), (60_000, 0));
    assert_eq!(stays(&game.participants[0]), [(0, 0, 60)]);
}

#[test]
fn comings_and_goings() {
    let game = tf2(
        &[
            (
                20,
                r#""Ann<1><STEAM_0:0:1><Red>" disconnected (reason "x")"#.to_owned(),
            ),
            (30, r#""Ann<3><STEAM_0:0:1><>" entered the game"#.to_owned()),
            (
                30,
                r#""Ann<3><STEAM_0:0:1><Unassigned>" joined team "Blue""#.to_owned(),
            ),
            (
                30,
                r#""Ann<3><STEAM_0:0:1><Unassigned>" committed suicide with "world""#.to_owned(),
            ),
            (
                40,
                r#""Ann<3><STEAM_0:0:1><Blue>" changed name to "Eve""#.to_owned(),
            ),
            (
                50,
                r#""Old<4><STEAM_0:0:4><Red>" say "I was always here""#.to_owned(),
            ),
            (60, r#""Cam<5><HLTV><Red>" say "I am nobody""#.to_owned()),
            (
                70,
                r#""Old<4><STEAM_0:0:4><Blue>" say "moved without a word""#.to_owned(),
            ),
        ],
        (1, 0),
    );
    let stays: Vec<_> = game
        .participants
        .iter()
        .map(|p| (p.name.as_str(), stays(p)))
        .collect();
    assert_eq!(
        stays,
        [
            ("Eve", vec![(0, 0, 10), (1, 20, 90)]),
            ("Bob", vec![(1, 0, 90)]),
            ("Old", vec![(0, 0, 60), (1, 60, 90)]),
        ]
    );
}

#[test]
fn settings_that_change_play() {
    let cvar = |line: &str| (5, line.to_owned());
    let start = (10, r#"World triggered "Round_Start""#.to_owned());
    let game = tf2(
        &[
            cvar(r#"server_cvar: "tf_weapon_criticals" "0""#),
            cvar(r#"server_cvar: "sv_gravity" "800""#),
            cvar(r#"Server cvar "mp_friendlyfire" = "1""#),
            cvar(r#"server_cvar: "sv_tags" "x""#),
            start,
        ],
        (1, 0),
    );
    assert_eq!(game.mutators, ["mp_friendlyfire", "tf_weapon_criticals=0"]);
}

const TFC: [(u32, &str); 9] = [
    (
        0,
        r#"Log file started (file "l") (game "tfc") (version "1")"#,
    ),
    (0, r#"Started map "well" (CRC "1")"#),
    (1, r#""Ann<1><STEAM_0:0:1><SPECTATOR>" joined team "Red""#),
    (1, r#""Bob<2><STEAM_0:0:2><SPECTATOR>" joined team "Blue""#),
    (9, r#"World triggered "Match_Begins_Now""#),
    (
        9,
        r#""Ann<1><STEAM_0:0:1><Red>" committed suicide with "gun""#,
    ),
    (
        20,
        r#""Ann<1><STEAM_0:0:1><Red>" triggered "Team 1 dropoff""#,
    ),
    (69, r#"Team "Red" scored "10" with "1" players (kills "1")"#),
    (69, r#"Team "Blue" scored "0" with "1" players (kills "1")"#),
];

#[test]
fn team_fortress_classic() {
    let game = only_match(
        &FORMAT,
        &log(&[&TFC[..], &[(70, "Log file closed")]].concat()),
    );
    assert_eq!((game.game_type.as_str(), game.millis()), ("tfc", 60_000));
    assert_eq!(
        (&game.scores[..], game.participants[0].deaths),
        (&[10.0, 0.0][..], 0)
    );
    let [capture] = &game.events[..] else {
        panic!("{:?}", game.events)
    };
    assert_eq!(
        (capture.at, capture.team, capture.points),
        (11_000, 0, 10.0)
    );
}

#[test]
fn nobody_plays_while_a_server_without_opponents_is_silent() {
    // Without a line that begins the match, the map does.
    let lines = TFC.iter().filter(|(_, line)| !line.contains("Begins"));
    let text = log(&lines
        .copied()
        .chain([(70, "Log file closed")])
        .collect::<Vec<_>>());
    let plain = only_match(&FORMAT, &text).played();
    let came = text.find(r#"joined team "Blue""#).unwrap();
    let came = text[..came].rfind("L 01").unwrap();
    let late = text[came..].replace("01/24/2026 - 18:", "01/25/2026 - 08:");
    let late = only_match(&FORMAT, &format!("{}{late}", &text[..came])).played();
    assert_eq!(late.start, plain.start.plus_millis(14 * 3_600_000));
    assert_eq!(late.millis(), plain.millis());
}

#[test]
fn what_makes_no_record() {
    // The score of one team is missing.
    assert_eq!(reasons(&log(&TFC[..8])), [(5, "unfinished")]);
    assert_eq!(reasons(&log(&TFC[..7])), [(5, "unfinished")]);
    let closed = |lines: &[(u32, &'static str)]| log(&[lines, &[(90, "Log file closed")]].concat());
    assert_eq!(reasons(&closed(&TFC[..7])), [(5, "aborted")]);
    assert_eq!(reasons(&closed(&TFC[..8])), [(5, "no-result")]);
    // The end of a game, and with it the beginning of the next.
    let whole = tf2_log(&[], (1, 0));
    let from_start = &whole[whole.find("Round_Start").unwrap()..];
    let lines = from_start.split_once('\n').unwrap().1;
    let kill = log(&[(20, &format!(r#"{A} killed {B} with "gun""#))]);
    assert_eq!(
        reasons(&format!("{kill}{lines}")),
        [(1, "started-before-log")]
    );
    assert_eq!(reasons(&log(&TFC[..2])), []);
}

#[test]
fn it_is_known_by_its_look() {
    assert_eq!(
        detect(log(&TFC).as_bytes()).map(|format| format.name),
        Some("source")
    );
}

/// The stays of a player: team, and the seconds from and to.
type Stays = Vec<(u8, u64, u64)>;

/// The players of a game, each with the stays.
fn all_stays(game: &MatchRecord) -> Vec<(&str, Stays)> {
    let player = |p: &Participant| stays(p);
    let all = game.participants.iter();
    all.map(|p| (p.name.as_str(), player(p))).collect()
}

#[test]
fn sides_that_swap_belong_to_the_people() {
    let swap = |at| {
        [
            (at, format!(r#"{A} joined team "Blue""#)),
            (at, format!(r#"{B} joined team "Red""#)),
        ]
    };
    let round = |red: u32, blue: u32| {
        [
            (
                40,
                r#"World triggered "Round_Win" (winner "Red")"#.to_owned(),
            ),
            (
                40,
                format!(r#"Team "Red" current score "{red}" with "1" players"#),
            ),
            (
                40,
                format!(r#"Team "Blue" current score "{blue}" with "1" players"#),
            ),
            (45, r#"World triggered "Round_Start""#.to_owned()),
        ]
    };
    // Ann wins the first round on red, and then changes sides with Bob.
    let lines = [&round(1, 0)[..], &swap(45)].concat();
    let game = tf2(&lines, (0, 1));
    assert_eq!(
        all_stays(&game),
        [("Ann", vec![(1, 0, 90)]), ("Bob", vec![(0, 0, 90)])]
    );
    let events: Vec<_> = game.events.iter().map(|e| (e.at / 1_000, e.team)).collect();
    assert_eq!((events, game.outcome), (vec![(30, 1)], Outcome::Won(1)));
    // Twice is where they were.
    let game = tf2(
        &[
            &round(1, 0)[..],
            &swap(45),
            &[(70, format!(r#"{A} joined team "Red""#))],
            &[(71, format!(r#"{B} joined team "Blue""#))],
        ]
        .concat(),
        (1, 0),
    );
    assert_eq!(
        all_stays(&game),
        [("Ann", vec![(0, 0, 90)]), ("Bob", vec![(1, 0, 90)])]
    );
    // One player who changes teams is no exchange of sides.
    let game = tf2(&[(40, format!(r#"{A} joined team "Blue""#))], (1, 0));
    assert_eq!(all_stays(&game)[0], ("Ann", vec![(0, 0, 30), (1, 30, 90)]));
}

const T: &str = r#""Tom<1><STEAM_1:0:1><TERRORIST>""#;
const C: &str = r#""Cat<2><BOT><CT>""#;

/// A round of Counter-Strike that ends at this time with these scores.
fn cs_round(at: u32, t: u32, ct: u32) -> Vec<(u32, String)> {
    let won = if t > 0 { "Terrorists_Win" } else { "CTs_Win" };
    vec![
        (at - 9, r#"World triggered "Round_Start""#.to_owned()),
        (
            at - 5,
            format!(r#"{T} [1 -2 3] killed {C} [4 5 -6] with "ak47" (headshot)"#),
        ),
        (
            at,
            format!(r#"Team "TERRORIST" triggered "{won}" (CT "{ct}") (T "{t}")"#),
        ),
        (at, format!(r#"Team "CT" scored "{ct}" with "1" players"#)),
        (
            at,
            format!(r#"Team "TERRORIST" scored "{t}" with "1" players"#),
        ),
        (at, r#"World triggered "Round_End""#.to_owned()),
    ]
}

fn cs(lines: &[Vec<(u32, String)>]) -> String {
    let all = lines.concat();
    log(&all
        .iter()
        .map(|(at, line)| (*at, line.as_str()))
        .collect::<Vec<_>>())
}

fn line(at: u32, line: &str) -> Vec<(u32, String)> {
    vec![(at, line.to_owned())]
}

#[test]
fn rounds_of_counter_strike_are_points_of_one_match() {
    let log = cs(&[
        cs_round(10, 1, 0),
        line(15, r#"World triggered "Restart_Round_(1_second)""#),
        line(15, r#"Team "CT" scored "0" with "1" players"#),
        line(15, r#"Team "TERRORIST" scored "1" with "1" players"#),
        line(16, r#"World triggered "Match_Start" on "de_dust""#),
        cs_round(30, 1, 0),
        cs_round(50, 2, 0),
        line(
            55,
            r#""Tom<1><STEAM_1:0:1>" switched from team <TERRORIST> to <CT>"#,
        ),
        line(
            55,
            r#""Cat<2><BOT>" switched from team <CT> to <TERRORIST>"#,
        ),
        line(
            55,
            r#""Cat<1><BOT><TERRORIST>" money change 800+300 = $1100 (tracked)"#,
        ),
        line(60, r#"World triggered "Round_Start""#),
        line(
            70,
            r#"Team "CT" triggered "SFUI_Notice_CTs_Win" (CT "3") (T "0")"#,
        ),
        line(70, r#"World triggered "Round_End""#),
        line(
            70,
            "Game Over: competitive mg_dust de_dust score 3:0 after 1 min",
        ),
        line(71, r#"World triggered "Round_Start""#),
        line(
            72,
            r#""Tom<1><STEAM_1:0:1>" switched from team <CT> to <Unassigned>"#,
        ),
        line(73, "Log file closed"),
    ]);
    let game = only_match(&FORMAT, &log);
    assert_eq!(
        (
            game.game_type.as_str(),
            game.map.as_str(),
            game.millis() / 1_000
        ),
        ("csgo.de", "de_dust", 49)
    );
    assert_eq!(
        (&game.scores[..], game.outcome),
        (&[3.0, 0.0][..], Outcome::Won(0))
    );
    assert_eq!(
        all_stays(&game),
        [("Tom", vec![(0, 0, 49)]), ("Cat", vec![(1, 0, 49)])]
    );
    assert_eq!(game.participants[0].kills, 2);
    let events: Vec<_> = game
        .events
        .iter()
        .map(|e| (e.at / 1_000, e.team, e.points))
        .collect();
    assert_eq!(events, [(9, 0, 1.0), (29, 0, 1.0), (49, 0, 1.0)]);
}

#[test]
fn counter_strike_without_an_end_of_the_match_ends_with_its_map() {
    let first = [
        line(0, r#"Started map "de_aztec" (CRC "1")"#),
        cs_round(10, 1, 0),
        cs_round(30, 1, 1),
    ];
    let close = line(50, "Log file closed");
    let with = |more: &[Vec<(u32, String)>]| cs(&[&first[..], more].concat());
    let game = only_match(&FORMAT, &with(std::slice::from_ref(&close)));
    assert_eq!(game.game_type, "cstrike.de");
    assert_eq!(
        (&game.scores[..], game.outcome),
        (&[1.0, 1.0][..], Outcome::Draw)
    );
    // The final scores may come in the middle of a round.
    let finals = [
        line(40, r#"World triggered "Round_Start""#),
        line(45, r#"Team "CT" scored "1" with "1" players"#),
        line(45, r#"Team "TERRORIST" scored "1" with "1" players"#),
    ];
    assert_eq!(only_match(&FORMAT, &with(&finals)).scores, [1.0, 1.0]);
    assert_eq!(
        reasons(&with(&[finals[0].clone(), close])),
        [(1, "aborted")]
    );
    assert_eq!(reasons(&with(&[])), [(1, "unfinished")]);
}

#[test]
fn a_player_is_the_steam_id_then_the_number_then_the_name() {
    let game = tf2(
        &[
            // Another number for Ann, and hers for Bob.
            (
                20,
                r#""Ann<2><STEAM_0:0:1><Red>" spawned as "scout""#.to_owned(),
            ),
            (20, r#""Bob<1><BOT><Blue>" spawned as "scout""#.to_owned()),
            (21, r#""Lan<7><STEAM_ID_LAN><Red>" say "x""#.to_owned()),
            (
                22,
                r#""Lan<8><STEAM_ID_LAN><Red>" spawned as "scout""#.to_owned(),
            ),
            (
                23,
                r#""Late<9><STEAM_ID_PENDING><>" connected, address "x""#.to_owned(),
            ),
            (
                24,
                r#""Late<9><STEAM_0:0:9><Unassigned>" joined team "Blue""#.to_owned(),
            ),
            // A connection whose end is missing.
            (
                40,
                r#""Ann<5><STEAM_0:0:1><>" connected, address "x""#.to_owned(),
            ),
            (
                60,
                r#""Ann<5><STEAM_0:0:1><Unassigned>" joined team "Red""#.to_owned(),
            ),
        ],
        (1, 0),
    );
    assert_eq!(
        all_stays(&game),
        [
            ("Ann", vec![(0, 0, 30), (0, 50, 90)]),
            ("Bob", vec![(1, 0, 90)]),
            ("Lan", vec![(0, 0, 90)]),
            ("Late", vec![(1, 14, 90)]),
        ]
    );
    assert_eq!(game.participants[3].key.id, "STEAM_0:0:9");
}

#[test]
fn a_log_that_begins_with_the_first_round_is_whole() {
    let kill = format!(r#"{A} killed {B} with "gun""#);
    let log_of = |length: &str| {
        let length = format!(r#"World triggered "Round_Length" (seconds "{length}")"#);
        log(&[
            (
                0,
                r#"Log file started (file "l") (game "tf") (version "1")"#,
            ),
            (20, &kill),
            (40, r#"World triggered "Round_Win" (winner "Red")"#),
            (40, &length),
            (40, r#"Team "Red" current score "1" with "1" players"#),
            (40, r#"Team "Blue" current score "0" with "1" players"#),
            (45, r#"World triggered "Round_Start""#),
            (60, r#"World triggered "Game_Over" reason "x""#),
            (60, r#"Team "Red" final score "1" with "1" players"#),
            (60, r#"Team "Blue" final score "0" with "1" players"#),
        ])
    };
    let game = only_match(&FORMAT, &log_of("40.02"));
    assert_eq!((game.millis(), game.participants[0].kills), (60_000, 1));
    assert_eq!(reasons(&log_of("90.02")), [(2, "started-before-log")]);
}

#[test]
fn settings_from_a_dump_and_a_quotation_mark_in_a_name() {
    let start = r#"World triggered "Round_Start""#;
    let lines = [
        (12, "server cvars start".to_owned()),
        (12, r#""mp_friendlyfire" = "1""#.to_owned()),
        (13, start.to_owned()),
        (
            19,
            format!(r#""Q"uo"te<4><STEAM_0:0:4><Blue>" killed {A} with "gun""#),
        ),
    ];
    let game = tf2(&lines, (1, 0));
    assert_eq!(game.mutators, ["mp_friendlyfire"]);
    let quote = game
        .participants
        .iter()
        .find(|p| p.key.id == "STEAM_0:0:4")
        .unwrap();
    assert_eq!((quote.name.as_str(), quote.kills), (r#"Q"uo"te"#, 1));
}

#[test]
fn a_log_without_its_first_line_is_of_the_same_game() {
    let whole = tf2_log(&[], (1, 0));
    let rest = whole.split_once('\n').unwrap().1;
    assert_eq!(only_match(&FORMAT, rest).game_type, "tf.ctf");
}

#[test]
fn a_log_may_end_with_the_final_scores() {
    let whole = tf2_log(&[], (1, 0));
    let at = whole.find("Round_Win").unwrap();
    let cut = &whole[..whole[..at].rfind('\n').unwrap() + 1];
    assert_eq!(only_match(&FORMAT, cut), only_match(&FORMAT, &whole));
}

fn current(at: u32, red: u32, blue: u32) -> Vec<(u32, String)> {
    let score = |team, score| {
        (
            at,
            format!(r#"Team "{team}" current score "{score}" with "1" players"#),
        )
    };
    let won = (
        at,
        r#"World triggered "Round_Win" (winner "Red")"#.to_owned(),
    );
    vec![won, score("Red", red), score("Blue", blue)]
}

/// Two rounds that Red wins, of which the second one begins again at 50. The scores after it are these.
fn begun_again(red: u32) -> MatchRecord {
    let start = |at| (at, r#"World triggered "Round_Start""#.to_owned());
    let kill = |at| (at, format!(r#"{A} killed {B} with "gun""#));
    let lines = [
        vec![kill(20)],
        current(30, 1, 0),
        vec![start(35), kill(40), start(50), kill(60)],
        current(70, red, 0),
        vec![start(75)],
    ];
    tf2(&lines.concat(), (red, 0))
}

#[test]
fn a_round_that_is_restarted_is_taken_back_and_a_restarted_game_begins_anew() {
    let round = begun_again(2);
    assert_eq!(
        (&round.scores[..], round.events.len()),
        (&[2.0, 0.0][..], 2)
    );
    let [ann, bob] = &round.participants[..] else {
        panic!("{round:?}")
    };
    assert_eq!((ann.kills, bob.deaths), (2, 2));
    assert_eq!(stays(ann), [(0, 0, 25), (0, 40, 90)]);
    assert_eq!((round.played().millis() + 500) / 1_000, 75);
    let game = begun_again(1);
    assert_eq!(
        (&game.scores[..], game.millis() / 1_000),
        (&[1.0, 0.0][..], 50)
    );
    assert_eq!(game.participants[0].kills, 1);
}

#[test]
fn an_id_that_comes_late_or_is_missing_for_a_moment_is_no_other_player() {
    let tag = |uid: u32, id: &str, team: &str| format!(r#""Cat<{uid}><{id}><{team}>""#);
    let (pending, own) = ("STEAM_ID_PENDING", "[U:1:7]");
    let joins = |uid, id| format!(r#"{} joined team "Blue""#, tag(uid, id, "Unassigned"));
    let came = vec![
        (
            12,
            format!(r#"{} connected, address "x""#, tag(7, pending, "")),
        ),
        (13, joins(7, pending)),
        (
            20,
            format!(r#"{A} killed {} with "gun""#, tag(7, pending, "Blue")),
        ),
        (25, format!("{} entered the game", tag(7, own, ""))),
    ];
    // The first connection ends without a line.
    let again = vec![
        (
            40,
            format!(r#"{} connected, address "x""#, tag(9, pending, "")),
        ),
        (41, joins(9, pending)),
        (
            50,
            format!(r#"{} killed {A} with "gun""#, tag(9, own, "Blue")),
        ),
        (51, format!(r#"{} triggered "x""#, tag(10, pending, "Blue"))),
    ];
    let game = tf2(&[came, again].concat(), (1, 0));
    let ids: Vec<_> = game
        .participants
        .iter()
        .map(|p| p.key.id.as_str())
        .collect();
    assert_eq!(ids, ["STEAM_0:0:1", "Bob", "[U:1:7]"]);
    let cat = &game.participants[2];
    assert_eq!((cat.kills, cat.deaths), (1, 1));
    assert_eq!(stays(cat).first().map(|stay| stay.1), Some(3));
    assert_eq!(stays(cat).last().map(|stay| stay.2), Some(90));
}

#[test]
fn a_line_that_is_there_twice_begins_no_other_round() {
    let log = |lines: &[(u32, String)]| tf2_log(lines, (2, 0));
    let start = (35, r#"World triggered "Round_Start""#.to_owned());
    let lines = |starts: usize| {
        [
            current(30, 1, 0),
            vec![start.clone(); starts],
            current(70, 2, 0),
        ]
        .concat()
    };
    let once = log(&lines(1));
    let expected = only_match(&FORMAT, &once);
    assert_eq!(
        (&expected.scores[..], expected.millis()),
        (&[2.0, 0.0][..], 90_000)
    );
    assert_eq!(only_match(&FORMAT, &log(&lines(2))), expected);
    let whole: String = once
        .lines()
        .flat_map(|line| [line, "\n", line, "\n"])
        .collect();
    assert_eq!(only_match(&FORMAT, &whole), expected);
}

#[test]
fn lines_that_are_not_understood_are_shown() {
    let context = crate::ingest::Context {
        verbose: true,
        ..crate::ingest::Context::default()
    };
    let mut log = tf2_log(&[], (1, 0));
    let odd = [
        r#"World triggered "Robots_Land""#,
        r#"World triggered "Round_Overtime""#,
        r#""Ann<1><STEAM_0:0:1><Red>" danced for 3.5 with "Bob""#,
        r#""Ann<1><STEAM_0:0:1><Red>" say "x""#,
        r#""Ann<1><STEAM_0:0:1><Red>" triggered "red_down""#,
        r#"[TFTrue] The log is on 12"#,
    ];
    for line in odd {
        for _ in 0..4 {
            log += &format!("L 01/24/2026 - 18:10:00: {line}\n");
        }
    }
    let mut items = Vec::new();
    let mut reader = crate::ingest::Reader::new(&FORMAT, &context);
    reader.feed(log.as_bytes(), &mut items);
    reader.finish(&mut items);
    let kinds = items.iter().filter_map(|item| match item {
        LogItem::UnknownCount { kind, count } => Some((kind.as_str(), *count)),
        _ => None,
    });
    let expected = [
        ("World triggered \"Robots_Land\"", 4),
        ("[TFTrue] The log is on", 4),
        ("danced for", 4),
        ("triggered \"red_down\"", 4),
    ];
    assert_eq!(kinds.collect::<Vec<_>>(), expected);
    let shown =
        |item: &&LogItem| matches!(item, LogItem::Unknown { text, .. } if text.starts_with("L 01"));
    assert_eq!(items.iter().filter(shown).count(), 12);
}

#[test]
fn classes_are_roles_for_as_long_as_they_are_played() {
    let lines = [
        (11, format!(r#"{A} spawned as "Scout""#)),
        (40, format!(r#"{A} changed role to "medic""#)),
        (41, format!(r#"{A} spawned as "medic""#)),
        (60, format!(r#"{B} changed role to "undefined""#)),
        (70, format!(r#"{B} changed role to "no class at all""#)),
    ];
    let record = tf2(&lines, (1, 0));
    let roles = |who: usize| -> Vec<(&str, f64)> {
        let roles = record.participants[who].roles.iter();
        roles.map(|role| (&*role.name, role.share)).collect()
    };
    let [(medic, later), (scout, early)] = roles(0)[..] else {
        panic!("{:?}", record.participants)
    };
    assert_eq!((medic, scout), ("medic", "scout"));
    // A third of the game, and what is left of it but for its first second; early time counts more.
    assert!((0.3..0.5).contains(&early), "{early}");
    assert!((0.45..0.66).contains(&later), "{later}");
    assert!(roles(1).is_empty(), "{:?}", record.participants);
}

/// The ids of a game in which one of Ann's lines states `auth` for her id.
fn ids_with(at: u32, auth: &str) -> Vec<String> {
    let line = format!(r#""Ann<1><{auth}><Red>" triggered "builtobject" (object "x")"#);
    let kill = format!(r#"{A} killed {B} with "gun""#);
    let game = tf2(&[(at, line), (40, kill.clone()), (60, kill)], (1, 0));
    let of = |p: &Participant| format!("{} {}", p.key.id, p.kills);
    game.participants.iter().map(of).collect()
}

#[test]
fn one_line_with_another_id_adds_nobody() {
    let own = ["STEAM_0:0:1 2", "Bob 0"];
    for at in [20, 50] {
        for auth in [
            "STEAM_ID_LAN",
            "STEAM_ID_PENDING",
            "UNKNOWN",
            "STEAM_0:",
            "STEAM_0:0:",
            "STEAM_0:0:17",
            "[U:1:2",
            "[U:1:2]",
            "",
        ] {
            assert_eq!(ids_with(at, auth), own, "{auth}");
        }
    }
}

#[test]
fn the_id_counts_that_most_lines_on_a_connection_state() {
    let line = |auth: &str| format!(r#""Cid<7><{auth}><Red>" say "x""#);
    let torn = line("STEAM_0:0:4");
    let whole = line("STEAM_0:0:44");
    let lines = [
        (12, torn),
        (20, whole.clone()),
        (30, whole.clone()),
        (40, whole),
    ];
    let game = tf2(&lines, (1, 0));
    let ids: Vec<_> = game
        .participants
        .iter()
        .map(|p| p.key.id.as_str())
        .collect();
    assert_eq!(ids, ["STEAM_0:0:1", "Bob", "STEAM_0:0:44"]);
}

#[test]
fn a_connection_that_begins_is_another_player() {
    // The number is given anew after the server has begun to count again.
    let lines = [
        (
            20,
            r#""Ann<1><STEAM_0:0:9><>" connected, address "192.0.2.1:5""#.to_owned(),
        ),
        (
            21,
            r#""Ann<1><STEAM_0:0:9><Unassigned>" joined team "Blue""#.to_owned(),
        ),
    ];
    let game = tf2(&lines, (1, 0));
    let ids: Vec<_> = game
        .participants
        .iter()
        .map(|p| p.key.id.as_str())
        .collect();
    assert_eq!(ids, ["STEAM_0:0:1", "Bob", "STEAM_0:0:9"]);
}

/// A game of two rounds of 180 seconds, in which the calendar is set by so many seconds in the middle of the first round, as
/// often as `times`.
fn game_with_steps(by: i64, times: u32) -> String {
    let start = crate::domain::Timestamp::parse("2026-03-29T01:50:00").unwrap();
    let mut moved = 0;
    let mut text = String::new();
    let mut add = |at: i64, line: &str, moved: i64| {
        let date = start.plus_millis((at + moved) * 1_000).to_string();
        let (year, month, day) = (&date[..4], &date[5..7], &date[8..10]);
        text += &format!("L {month}/{day}/{year} - {}: {line}\n", &date[11..19]);
    };
    add(
        0,
        r#"Log file started (file "l") (game "x\tf") (version "1")"#,
        moved,
    );
    add(0, r#"Loading map "koth_lake""#, moved);
    add(
        1,
        r#""Ann<1><STEAM_0:0:1><Unassigned>" joined team "Red""#,
        moved,
    );
    add(1, r#""Bob<2><BOT><Unassigned>" joined team "Blue""#, moved);
    for (round, (red, blue)) in [(1, 0), (1, 1)].into_iter().enumerate() {
        let began = 10 + 190 * round as i64;
        add(began, r#"World triggered "Round_Start""#, moved);
        for step in 1..8 {
            if round == 0 && u32::try_from(step).is_ok_and(|step| step <= times) {
                moved += by;
            }
            add(
                began + 20 * step,
                &format!(r#"{A} killed {B} with "gun""#),
                moved,
            );
        }
        add(
            began + 180,
            r#"World triggered "Round_Win" (winner "Red")"#,
            moved,
        );
        add(
            began + 180,
            r#"World triggered "Round_Length" (seconds "180.00")"#,
            moved,
        );
        add(
            began + 180,
            &format!(r#"Team "Red" current score "{red}" with "1" players"#),
            moved,
        );
        add(
            began + 180,
            &format!(r#"Team "Blue" current score "{blue}" with "1" players"#),
            moved,
        );
    }
    add(381, r#"World triggered "Game_Over" reason "x""#, moved);
    add(381, r#"Team "Red" final score "1" with "1" players"#, moved);
    add(
        381,
        r#"Team "Blue" final score "1" with "1" players"#,
        moved,
    );
    text
}

#[test]
fn a_calendar_that_is_set_in_a_round_is_no_log_of_two_servers() {
    let plain = only_match(&FORMAT, &game_with_steps(0, 1));
    for by in [3_600, -3_600, -20, -90] {
        let set = only_match(&FORMAT, &game_with_steps(by, 1));
        assert_eq!(
            (set.start, &set.scores),
            (plain.start, &plain.scores),
            "{by}"
        );
        assert_eq!(set.millis(), plain.millis(), "{by}");
        let kills = |record: &MatchRecord| record.participants[0].kills;
        assert_eq!(kills(&set), kills(&plain), "{by}");
    }
    // The clocks of two servers seem to be set again and again.
    assert_eq!(
        reasons(&game_with_steps(-25, 6)).pop().unwrap().1,
        "impossible"
    );
}

#[test]
fn two_players_with_one_steam_id_are_two_and_it_is_nobodys() {
    let line = |name: &str, number: u32, team: &str, words: &str| {
        format!(r#""{name}<{number}><STEAM_0:1:7><{team}>" {words}"#)
    };
    let kill = format!(r#"killed {B} with "gun""#);
    let lines = [
        (2, line("Cid", 3, "", r#"connected, address "192.0.2.1:5""#)),
        (3, line("Cid", 3, "Unassigned", r#"joined team "Red""#)),
        (
            12,
            line("Eve", 4, "", r#"connected, address "192.0.2.2:5""#),
        ),
        (13, line("Eve", 4, "Unassigned", r#"joined team "Blue""#)),
        (20, line("Cid", 3, "Red", &kill)),
        (30, line("Eve", 4, "Blue", r#"say "x""#)),
        (40, line("Cid", 3, "Red", &kill)),
    ];
    let game = tf2(&lines, (1, 0));
    let seat = |p: &Participant| (p.key.id.clone(), p.main_team(), p.kills);
    let seats: Vec<_> = game.participants.iter().map(seat).collect();
    let expected = [
        ("STEAM_0:0:1", Some(0), 0),
        ("Bob", Some(1), 0),
        ("name in use twice: STEAM_0:1:7 #4", Some(1), 0),
        ("name in use twice: STEAM_0:1:7 #3", Some(0), 2),
    ];
    let expected = expected.map(|(id, team, kills)| (id.to_owned(), team, kills));
    assert_eq!(seats, expected);
    // Who only comes back under another name is one player.
    let again = [
        lines[0].clone(),
        lines[1].clone(),
        lines[2].clone(),
        lines[3].clone(),
    ];
    let ids: Vec<_> = tf2(&again, (1, 0))
        .participants
        .into_iter()
        .map(|p| p.key.id)
        .collect();
    assert_eq!(ids, ["STEAM_0:0:1", "Bob", "STEAM_0:1:7"]);
}
