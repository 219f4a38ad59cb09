//! Variants of Counter-Strike's logs. The expected values were worked out by hand from the lines.

use super::{FORMAT, all_stays, reasons};
use crate::{LogItem, only_match, read};
use evenkeel_model::{MatchRecord, Outcome};

/// A log of lines `second event`. Players are short: `@Tom:T` is a terrorist, `@Anna:CT` on the other
/// side, and `@Tom:` has no team.
fn log(script: &str) -> String {
    let mut log = String::new();
    for line in script
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let (second, event) = line.split_once(' ').unwrap();
        let second: u32 = second.parse().unwrap();
        let (minute, second) = (second / 60, second % 60);
        log += &format!(
            "L 01/24/2026 - 18:{minute:02}:{second:02}: {}\n",
            words(event)
        );
    }
    log
}

/// Writes out the short players of an event, and who wins a round: `T 2:1` or `CT 2:2`, with the score
/// of the terrorists first.
fn words(event: &str) -> String {
    if let Some((side, score)) = event.split_once(' ')
        && let Some((t, ct)) = score.split_once(':')
        && ["T", "CT"].contains(&side)
    {
        let (side, why) = if side == "T" {
            ("TERRORIST", "Terrorists_Win")
        } else {
            ("CT", "CTs_Win")
        };
        return format!(r#"Team "{side}" triggered "{why}" (CT "{ct}") (T "{t}")"#);
    }
    let word = |word: &str| {
        let Some((name, side)) = word.strip_prefix('@').and_then(|word| word.split_once(':'))
        else {
            return word.to_owned();
        };
        let side = match side {
            "T" => "<TERRORIST>",
            "CT" => "<CT>",
            _ => "",
        };
        format!(r#""{name}<{0}><STEAM_0:0:{0}>{side}""#, name.len())
    };
    event.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The scores, the length in seconds, and each player's kills and stays.
fn summary(game: &MatchRecord) -> String {
    let scores: Vec<String> = game.scores.iter().map(f64::to_string).collect();
    let mut text = format!("{} {}s", scores.join(":"), game.millis() / 1_000);
    for ((name, stays), player) in all_stays(game).iter().zip(&game.participants) {
        text += &format!(" | {name} {}", player.kills);
        for (team, from, to) in stays {
            text += &format!(" {team}:{from}-{to}");
        }
    }
    text
}

/// Two halves of 1.6, between which the server was restarted three times.
const FIRST_HALF: &str = r#"
    0 Log file started (file "l") (game "cstrike") (version "48")
    0 Started map "de_dust2" (CRC "1")
    1 @Tom:T joined team "TERRORIST"
    1 @Anna:CT joined team "CT"
    10 World triggered "Round_Start"
    20 @Tom:T killed @Anna:CT with "ak47"
    20 T 1:0
    20 World triggered "Round_End"
    25 World triggered "Round_Start"
    40 @Tom:T killed @Anna:CT with "knife"
    40 T 2:0
    40 World triggered "Round_End"
    45 World triggered "Round_Start"
    60 @Anna:CT killed @Tom:T with "m4a1"
    60 CT 2:1
    60 World triggered "Round_End"
    70 Team "CT" scored "1" with "1" players
    70 Team "TERRORIST" scored "2" with "1" players
    70 World triggered "Restart_Round_(1_second)"
    "#;

const CHANGE: &str = r#"
    72 @Tom:T joined team "CT"
    72 @Anna:CT joined team "TERRORIST"
    75 World triggered "Restart_Round_(1_second)"
    80 World triggered "Restart_Round_(3_seconds)"
    "#;

const SECOND_HALF: &str = r#"
    85 World triggered "Round_Start"
    100 @Tom:CT killed @Anna:T with "m4a1"
    100 CT 0:1
    100 World triggered "Round_End"
    105 World triggered "Round_Start"
    120 @Anna:T killed @Tom:CT with "ak47"
    120 T 1:1
    120 World triggered "Round_End"
    "#;

const END: &str = r#"
    130 Team "CT" scored "1" with "1" players
    130 Team "TERRORIST" scored "1" with "1" players
    130 Log file closed
    "#;

#[test]
fn two_halves_with_a_restart_are_one_match() {
    let game = only_match(
        &FORMAT,
        &log(&[FIRST_HALF, CHANGE, SECOND_HALF, END].concat()),
    );
    // Tom wins 2 rounds and then 1, Anna 1 and 1; Tom is on the side named first at the end. The
    // first half is from its first round at 10 to its last one at 60, the second from 85 to 130.
    assert_eq!(summary(&game), "3:2 95s | Tom 3 0:0-95 | Anna 2 1:0-95");
    assert_eq!(
        (game.outcome, game.game_type.as_str()),
        (Outcome::Won(0), "cstrike.de")
    );
    let events: Vec<_> = game.events.iter().map(|e| (e.at / 1_000, e.team)).collect();
    assert_eq!(events, [(10, 0), (30, 0), (50, 1), (65, 0), (85, 1)]);
}

#[test]
fn a_restart_that_is_no_half_time() {
    // Nobody changes sides: what was played before was a warm-up.
    let second = SECOND_HALF
        .replace("@Tom:CT", "@Tom:T")
        .replace("@Anna:T", "@Anna:CT");
    let game = only_match(&FORMAT, &log(&[FIRST_HALF, &second, END].concat()));
    assert_eq!(summary(&game), "1:1 45s | Tom 1 1:0-45 | Anna 1 0:0-45");
    // A single round decides who chooses the side, and so do rounds with knives.
    let (one, rest) = FIRST_HALF.split_once("25 World").unwrap();
    let restart = &rest[rest.find("70 World").unwrap()..];
    let knives = FIRST_HALF.replace("ak47", "knife").replace("m4a1", "knife");
    for first in [format!("{one}{restart}"), knives] {
        let game = only_match(&FORMAT, &log(&[&first, CHANGE, SECOND_HALF, END].concat()));
        assert_eq!(summary(&game), "1:1 45s | Tom 1 0:0-45 | Anna 1 1:0-45");
    }
    // Other people.
    let second = SECOND_HALF.replace("Tom", "Else").replace("Anna", "Nobody");
    let game = only_match(&FORMAT, &log(&[FIRST_HALF, &second, END].concat()));
    assert_eq!(game.scores, [1.0, 1.0]);
}

#[test]
fn a_match_whose_second_half_is_missing_is_skipped_as_a_whole() {
    let cut = log(&[FIRST_HALF, CHANGE, SECOND_HALF].concat());
    assert_eq!(reasons(&cut), [(2, "unfinished")]);
    let broken_off = format!("{}{}", FIRST_HALF, "90 Log file closed");
    assert_eq!(reasons(&log(&broken_off)), [(2, "aborted")]);
}

#[test]
fn overtime_after_a_draw_follows_the_people() {
    // 1:1, and 1:1 after a change of sides. The overtime begins on the same sides.
    let second = r#"
    85 World triggered "Round_Start"
    100 T 1:0
    100 World triggered "Round_End"
    110 World triggered "Restart_Round_(1_second)"
    112 World triggered "Round_Start"
    130 CT 0:1
    130 World triggered "Round_End"
    132 World triggered "Round_Start"
    150 CT 0:2
    150 World triggered "Round_End"
    160 Log file closed
    "#;
    let first = FIRST_HALF.replace("60 CT 2:1", "60 @Tom:T triggered \"nothing\"");
    let first = first
        .replace("2:0\n    40", "1:1\n    40")
        .replace("40 T 1:1", "40 CT 1:1");
    let second = second.replace("100 T 1:0\n", "90 T 1:0\n 90 World triggered \"Round_End\"\n 95 World triggered \"Round_Start\"\n 100 CT 1:1\n");
    let game = only_match(&FORMAT, &log(&[&first, CHANGE, &second].concat()));
    // 1:1, 1:1, and 2:0 for Tom, who is on the side named first.
    assert_eq!(game.scores, [4.0, 2.0]);
    assert_eq!(all_stays(&game)[0].1[0].0, 0);
}

/// A round with these scores of terrorists and counter-terrorists, as newer games write it.
fn round(at: u32, side: &str, t: u32, ct: u32) -> String {
    let start = at - 9;
    format!(
        r#"
    {start} World triggered "Round_Start"
    {at} {side} {t}:{ct}
    {at} Team "CT" scored "{ct}" with "1" players
    {at} Team "TERRORIST" scored "{t}" with "1" players
    {at} World triggered "Round_End"
    "#
    )
}

const LIVE: &str = r#"
    0 Log file started (file "l") (game "/srv/cs2/game/csgo") (version "9842")
    0 Loading map "de_nuke"
    1 @Tom: switched from team <Unassigned> to <TERRORIST>
    1 @Anna: switched from team <Unassigned> to <CT>
    2 World triggered "Warmup_Start"
    3 @Tom:T [1 2 3] killed @Anna:CT [4 5 6] with "ak47"
    9 World triggered "Match_Start" on "de_nuke"
    9 MatchStatus: Score: 0:0 on map "de_nuke" RoundsPlayed: 0
    9 MatchStatus: Team playing "CT": a "b" <c>
    "#;

fn swap(at: u32, tom: &str, anna: &str) -> String {
    let name = |side| if side == "T" { "TERRORIST" } else { "CT" };
    let (to, from) = (name(anna), name(tom));
    format!(
        r#"
    {at} @Tom: switched from team <{from}> to <{to}>
    {at} @Anna: switched from team <{to}> to <{from}>
    "#
    )
}

#[test]
fn overtime_with_changes_of_sides() {
    let script = [
        LIVE,
        &round(20, "T", 1, 0),
        &round(40, "CT", 1, 1),
        &swap(41, "T", "CT"),
        // Overtime: Tom is a counter-terrorist, and then a terrorist again.
        &round(60, "CT", 1, 2),
        &swap(61, "CT", "T"),
        &round(80, "T", 3, 1),
        "80 Game Over: competitive de_nuke score 1:3 after 2 min\n",
        "81 ACCOLADE, FINAL: {3k},\tTom<3>,\tVALUE: 1.0,\tPOS: 1,\tSCORE: 20.0\n",
    ]
    .concat();
    let game = only_match(&FORMAT, &log(&script));
    // Anna is on the side that the result names first.
    assert_eq!(summary(&game), "1:3 69s | Tom 0 1:0-69 | Anna 0 0:0-69");
    assert_eq!(
        (game.map.as_str(), game.game_type.as_str()),
        ("de_nuke", "csgo.de")
    );
    let events: Vec<_> = game.events.iter().map(|e| e.team).collect();
    assert_eq!(events, [1, 0, 1, 1]);
}

#[test]
fn a_round_that_is_played_again_from_a_backup() {
    let script = [
        LIVE,
        &round(20, "T", 1, 0),
        &round(40, "CT", 1, 1),
        "45 World triggered \"Round_Start\"\n",
        "50 World triggered \"Match_Reloaded\" on \"de_nuke\"\n",
        &round(60, "T", 2, 0),
        "61 Game Over: competitive 1092904694 de_nuke score 0:2 after 1 min\n",
    ]
    .concat();
    let game = only_match(&FORMAT, &log(&script));
    assert_eq!(summary(&game), "0:2 50s | Tom 0 1:0-50 | Anna 0 0:0-50");
}

#[test]
fn surrender_draws_and_games_without_rounds() {
    let draw = r#"
    31 World triggered "Round_Start"
    40 World triggered "SFUI_Notice_Round_Draw" (CT "0") (T "1")
    40 World triggered "Round_End"
    "#;
    let surrender = r#"
    50 Team "TERRORIST" triggered "SFUI_Notice_CTs_Surrender" (CT "0") (T "2")
    50 Game Over: competitive mg_active de_nuke score 0:2 after 1 min
    "#;
    let game = only_match(
        &FORMAT,
        &log(&[LIVE, &round(20, "T", 1, 0), draw, surrender].concat()),
    );
    assert_eq!((&game.scores[..], game.events.len()), (&[0.0, 2.0][..], 2));
    let none = "50 Game Over: deathmatch mg_dm de_nuke score 0:0 after 10 min\n 60 Log file closed";
    assert_eq!(reasons(&log(&[LIVE, none].concat())), [(7, "no-result")]);
    let next = "50 Game Over: deathmatch mg_dm de_nuke score 0:0 after 10 min\n 60 World triggered \"Match_Start\" on \"de_nuke\"";
    assert_eq!(
        reasons(&log(&[LIVE, next].concat())),
        [(7, "no-result"), (11, "unfinished")]
    );
}

#[test]
fn lines_as_a_server_sends_them_over_http() {
    let script = [
        LIVE,
        &round(20, "T", 1, 0),
        "25 Game Over: competitive mg_active de_nuke score 0:1 after 1 min\n",
    ]
    .concat();
    let file = log(&script);
    let statistics = concat!(
        "L 01/24/2026 - 18:00:20: JSON_BEGIN{\n",
        "L 01/24/2026 - 18:00:20: \"name\": \"round_stats\",\n",
        "L 01/24/2026 - 18:00:20: \"round_number\" : \"1\",\n",
        "L 01/24/2026 - 18:00:20: \"map\" : \"de_nuke\",\n",
        "L 01/24/2026 - 18:00:20: \"players\" : {\n",
        "L 01/24/2026 - 18:00:20: \"player_1\" : \"    91379634, 3, 0, 5, 2\"\n",
        "L 01/24/2026 - 18:00:20: }}JSON_END\n",
    );
    let at = file.find("L 01/24/2026 - 18:00:25").unwrap();
    let file = format!("{}{statistics}{}", &file[..at], &file[at..]);
    let expected = only_match(&FORMAT, &file);
    assert_eq!(summary(&expected), "0:1 14s | Tom 0 1:0-14 | Anna 0 0:0-14");
    let http: String = file
        .lines()
        .map(|line| format!("{}.123 - {}\r\n", &line[2..23], &line[25..]))
        .collect();
    assert_eq!(crate::detect(http.as_bytes()).unwrap().name, "source");
    assert_eq!(only_match(&FORMAT, &http), expected);
    let plain: String = file
        .lines()
        .map(|line| format!("{}\n", &line[2..]))
        .collect();
    assert_eq!(only_match(&FORMAT, &plain), expected);
}

#[test]
fn names_that_look_like_the_words_of_a_line() {
    let name = r#"Team "CT" scored "9<8><BOT><CT>"#;
    let script = [LIVE, &round(20, "T", 1, 0)].concat();
    let log = log(&script)
        + &format!(
            concat!(
                "L 01/24/2026 - 18:00:21: \"{0}<7><[U:1:7]><CT>\" [1 2 3] killed \"Tom<3><STEAM_0:0:3><TERRORIST>\" [1 2 3] with \"awp\"\n",
                "L 01/24/2026 - 18:00:22: \"{0}<7><[U:1:7]><CT>\" say \"World triggered \"Round_Start\"\"\n",
                "L 01/24/2026 - 18:00:22: \"{0}<7><[U:1:7]><CT>\" [1 2 3] killed other \"chicken<99>\" [1 2 3] with \"awp\"\n",
                "L 01/24/2026 - 18:00:22: \"GOTV<2><BOT><Unassigned>\" changed name to \"x\"\n",
                "L 01/24/2026 - 18:00:25: Game Over: competitive mg_active de_nuke score 0:1 after 1 min\n"
            ),
            name
        );
    let game = only_match(&FORMAT, &log);
    let player = game
        .participants
        .iter()
        .find(|p| p.key.id == "[U:1:7]")
        .unwrap();
    assert_eq!(
        (player.name.as_str(), player.kills, game.participants.len()),
        (name, 1, 3)
    );
    assert!(
        read(&FORMAT, &log)
            .iter()
            .all(|item| matches!(item, LogItem::Match(_)))
    );
}

/// The restore of a round, with which everybody dies and is a spectator for a moment. Tom and Anna were on these sides.
fn restore(at: u32, tom: &str, anna: &str, (t, ct): (u32, u32)) -> String {
    let name = |side: &str| if side == "T" { "TERRORIST" } else { "CT" };
    let (from, to) = (
        [("Tom", tom), ("Anna", anna)],
        [("Tom", "T"), ("Anna", "CT")],
    );
    let mut script = String::new();
    for (who, side) in from {
        let team = name(side);
        script += &format!(
            "{at} @{who}:{side} [1 2 3] committed suicide with \"world\"\n\
             {at} @{who}: switched from team <{team}> to <Spectator>\n"
        );
    }
    for (who, side) in to {
        let team = name(side);
        script += &format!("{at} @{who}: switched from team <Spectator> to <{team}>\n");
    }
    script
        + &format!(
            r#"
    {at} World triggered "Match_Reloaded" on "de_nuke"
    {at} World triggered "SFUI_Notice_Round_Draw" (CT "{ct}") (T "{t}")
    {at} Team "CT" scored "{ct}" with "1" players
    {at} Team "TERRORIST" scored "{t}" with "1" players
    {at} World triggered "Round_End"
    "#
        )
}

/// The kills and deaths of each player.
fn counts(game: &MatchRecord) -> Vec<(&str, u32, u32)> {
    let players = game.participants.iter();
    players
        .map(|player| (player.name.as_str(), player.kills, player.deaths))
        .collect()
}

/// A round in which one of the two kills the other at the end.
fn fought(at: u32, side: &str, t: u32, ct: u32) -> String {
    let (killer, victim) = match side {
        "T" => ("@Tom:T", "@Anna:CT"),
        _ => ("@Anna:CT", "@Tom:T"),
    };
    let round = round(at, side, t, ct);
    let (start, end) = round.split_once("Round_Start\"\n").unwrap();
    format!(
        "{start}Round_Start\"\n{at} {killer} [1 2 3] killed {victim} [4 5 6] with \"ak47\"\n{end}"
    )
}

#[test]
fn a_round_that_is_taken_back_does_not_count() {
    let first = [LIVE, &fought(20, "T", 1, 0)].concat();
    let rest = [
        &round(60, "CT", 1, 1)[..],
        &fought(80, "CT", 1, 2),
        "80 Game Over: competitive de_nuke score 2:1 after 2 min\n",
    ]
    .concat();
    // The second round is played again: after the half-time that followed it, and before its end.
    let second = [&fought(40, "T", 2, 0)[..], &swap(41, "CT", "T")].concat();
    let late = [&second[..], &restore(43, "CT", "T", (1, 0))].concat();
    let begun = fought(40, "T", 2, 0);
    let begun = &begun[..begun.find("40 T").unwrap()];
    let within = [begun, &restore(41, "T", "CT", (1, 0))].concat();
    // Everybody dies only after the line.
    let reloaded = "41 World triggered \"Match_Reloaded\" on \"de_nuke\"\n";
    let after = [
        begun,
        reloaded,
        &restore(41, "T", "CT", (1, 0)).replace(reloaded, ""),
    ]
    .concat();
    assert_ne!(after.len(), within.len() + reloaded.len());
    for middle in [late, within, after] {
        let game = only_match(&FORMAT, &log(&[&first[..], &middle, &rest].concat()));
        assert_eq!(summary(&game), "2:1 69s | Tom 1 1:0-69 | Anna 1 0:0-69");
        assert_eq!(counts(&game), [("Tom", 1, 1), ("Anna", 1, 1)]);
        let events: Vec<_> = game.events.iter().map(|e| (e.at / 1_000, e.team)).collect();
        assert_eq!(events, [(9, 1), (49, 0), (69, 0)]);
    }
    // The whole match is played again.
    let again = [
        &first[..],
        &second,
        &restore(43, "CT", "T", (0, 0)),
        &round(60, "CT", 0, 1),
        "61 Game Over: competitive de_nuke score 1:0 after 1 min\n",
    ];
    let game = only_match(&FORMAT, &log(&again.concat()));
    assert_eq!(game.scores, [1.0, 0.0]);
    assert_eq!(counts(&game), [("Tom", 0, 0), ("Anna", 0, 0)]);
}

#[test]
fn who_comes_back_without_a_line_about_the_team_plays_in_the_next_round() {
    let gone = "25 @Tom:T disconnected (reason \"NETWORK_DISCONNECT_EXITING\")\n";
    let back = "27 \"Tom<9><STEAM_0:0:3><>\" connected, address \"192.0.2.1:27005\"\n\
                28 \"Tom<9><STEAM_0:0:3><>\" entered the game\n";
    let money = "60 \"Tom<10><STEAM_ID_PENDING><TERRORIST>\" money change 1+1 = $2 (tracked)\n\
                 60 \"Tom<10><<none>><TERRORIST>\" left buyzone with [ ]\n";
    let end = "61 Game Over: competitive de_nuke score 0:3 after 1 min\n";
    let before = [LIVE, &round(20, "T", 1, 0), gone, back].concat();
    let after = [&round(40, "T", 2, 0), &fought(60, "T", 3, 0), money, end].concat();
    let game = only_match(&FORMAT, &log(&[&before[..], &after].concat()));
    assert_eq!(
        summary(&game),
        "0:3 50s | Tom 1 1:0-14 1:17-50 | Anna 0 0:0-50"
    );
    // Within a round, it is the next one in which they play.
    let (start, won) = after.split_once("Round_Start\"\n").unwrap();
    let late = [&before.replace(back, ""), start, "Round_Start\"\n"].concat();
    let back = back.replace("27 ", "37 ").replace("28 ", "38 ");
    let game = only_match(&FORMAT, &log(&[&late[..], &back, won].concat()));
    assert_eq!(
        summary(&game),
        "0:3 50s | Tom 1 1:0-14 1:40-50 | Anna 0 0:0-50"
    );
    // A spectator plays only from a line on that says so.
    let watches = "29 @Tom: switched from team <Unassigned> to <Spectator>\n";
    let game = only_match(&FORMAT, &log(&[&before[..], watches, &after].concat()));
    assert_eq!(
        summary(&game),
        "0:3 50s | Tom 1 1:0-14 1:49-50 | Anna 0 0:0-50"
    );
}

#[test]
fn counter_strike_2_is_a_game_of_its_own() {
    let end = "21 Game Over: competitive de_nuke score 0:1 after 1 min\n";
    let script = log(&[LIVE, &round(20, "T", 1, 0), end].concat());
    let game_type = |log: &str| only_match(&FORMAT, log).game_type;
    assert_eq!(game_type(&script), "csgo.de");
    let ids = ["3", "4"].iter().fold(script.clone(), |log, id| {
        log.replace(&format!("STEAM_0:0:{id}"), &format!("[U:1:{id}]"))
    });
    assert_eq!(game_type(&ids), "cs2.de");
    let file = "(file \"logs/2026_11_20_190000_000.log\")";
    assert_eq!(game_type(&script.replace("(file \"l\")", file)), "cs2.de");
    let nameless = ids
        .lines()
        .filter(|line| !line.contains("Log file started"));
    let nameless: String = nameless.map(|line| format!("{line}\n")).collect();
    assert_eq!(game_type(&nameless), "cs2.de");
    // The same ids in another game.
    let other = ids.replace("game/csgo", "tf");
    assert_eq!(game_type(&other), "tf.de");
}

#[test]
fn the_console_and_players_without_an_id_are_no_malformed_lines() {
    let odd = "10 \"Console<0>\" say \"hello \"you\"\"\n\
               10 \"Bot<2><<none>><CT>\" left buyzone with [ ]\n\
               10 \"Bot<2><<none>>\" switched from team <CT> to <Unassigned>\n";
    let end = "21 Game Over: competitive de_nuke score 0:1 after 1 min\n";
    let game = only_match(
        &FORMAT,
        &log(&[LIVE, odd, &round(20, "T", 1, 0), end].concat()),
    );
    assert_eq!(summary(&game), "0:1 10s | Tom 0 1:0-10 | Anna 0 0:0-10");
}
