//! Rounds, scores, players and classes of Team Fortress.

use super::*;

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
