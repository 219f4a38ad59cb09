//! Rounds of Counter-Strike are points of one match.

use super::*;

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
