//! Properties that hold for any bytes: no panic, no invalid record, no match of an unfinished game.

use evenkeel::ingest::{FORMATS, LogItem, by_name, detect};
use evenkeel::model::MatchRecord;
use proptest::prelude::*;

use crate::{FIXTURES, games, read, read_in, teeworlds, xonotic};

/// Urban Terror with warm-up, rounds, an end without captures, and a restart of the clock.
const ROUNDS: &str = r"  0:00 InitGame: \mapname\m\gamename\q3ut4\g_gametype\3
  0:00 Warmup:
  0:00 ClientUserinfo: 0 \name\A\cl_guid\AAAA
  0:00 ClientUserinfoChanged: 0 n\A\t\1
  0:01 ClientBegin: 0
  0:02 ClientUserinfoChanged: 11 n\B\t\2
  0:02 ClientBegin: 11
  0:09 InitRound: \mapname\m\gamename\q3ut4\g_gametype\3
  0:10 Kill: 0 11 20: A killed B by X
  0:20 Kill: 11 0 20: B killed A by X
  0:30 Exit: Timelimit hit.
  0:30 red:11  blue:10
  0:30 score: 12  ping: 10  client: 11 B
  0:30 score: 10  ping: 10  client: 0 A
  0:45 InitRound: \mapname\m\gamename\q3ut4\g_gametype\3
  0:50 Kill: 0 11 20: A killed B by X
  0:55 ShutdownGame:
  0:00 InitGame: \mapname\n\gamename\baseq3\g_gametype\4
  0:00 ClientUserinfoChanged: 0 n\A\t\1
  0:01 ClientBegin: 0
  0:30 Exit: Timelimit hit.
  0:30 red:11  blue:10
  0:30 score: 12  ping: 10  client: 0 A
";

const STOCK: &str =
    "0\tNG\t2004-3-9 7:05:1\t0\tCTF-Face\tFace\tA\tXGame.xCTFGame\tCTF\tMutators=B.b|A.a
1\tC\t0\taaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\t\t
1\tG\tTeamChange\t0\t1
10\tSG
20\tS\t0\t5.00\tflag_cap_final
20\tT\t1\t1.00\tflag_cap
30\tEG\tteamscorelimit\t0
31\tPP\t0\t10
0\tNG\t2004-3-9 8:05:1\t0\tCTF-Face\tFace\tA\tXGame.xCTFGame\tCTF\tMutators=B.b|A.a
1\tC\t0\taaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\t\t
10\tSG
30\tEG\tmapchange\t0
";

const EVENTS: &str = ":time:2026-11-20 15:00:00
:gamestart:tdm_m:0.1
:join:1:1:bot:Ann
:team:1:5
:join:2:2:192.0.2.1:Bob
:team:2:14
:time:2026-11-20 15:00:30
:scores:tdm_m:30
:labels:player:score!!
:player:see-labels:11:30:5:1:Ann
:labels:teamscores:score!!
:teamscores:see-labels:11:5
:teamscores:see-labels:10:14
:end
:gameover
:gamestart:tdm_m:0.2
:join:1:1:bot:Ann
:scores:tdm_m:9
";

const HALVES: &str = r#"L 01/24/2026 - 18:00:00: Log file started (file "l") (game "x/tf") (version "1")
L 01/24/2026 - 18:00:00: Loading map "ctf_m"
L 01/24/2026 - 18:00:01: "Ann<1><STEAM_0:0:1><Unassigned>" joined team "Red"
L 01/24/2026 - 18:00:01: "Bob<2><BOT><Unassigned>" joined team "Blue"
L 01/24/2026 - 18:00:05: World triggered "Round_Start"
L 01/24/2026 - 18:00:09: "Ann<1><STEAM_0:0:1><Red>" killed "Bob<2><BOT><Blue>" with "gun"
L 01/24/2026 - 18:00:19: "Ann<1><STEAM_0:0:1><Red>" triggered "flagevent" (event "captured")
L 01/24/2026 - 18:01:00: World triggered "Game_Over" reason "x"
L 01/24/2026 - 18:01:00: Team "Red" final score "12" with "1" players
L 01/24/2026 - 18:01:00: Team "Blue" final score "10" with "1" players
L 01/24/2026 - 18:01:05: World triggered "Round_Start"
L 01/24/2026 - 18:02:00: World triggered "Game_Over" reason "x"
L 01/24/2026 - 18:02:00: Team "Red" final score "2" with "1" players
L 01/24/2026 - 18:02:00: Team "Blue" final score "1" with "1" players
L 01/24/2026 - 18:02:05: World triggered "Round_Start"
L 01/24/2026 - 18:02:09: Log file closed
"#;

const NGLOG: &str = "0.00\tinfo\tLog_Standard\tUTStats
0.00\tinfo\tAbsolute_Time\t2019.07.08.14.00.00.000.-4.0
0.00\tmap\tName\tDM-x.unr
0.00\tgame\tGameClass\tBotpack.TeamGamePlus
0.00\tgame\tTeamGame\tTrue
1.00\tplayer\tConnect\tAnn\t0\tFalse
1.00\tplayer\tTeam\t0\t0
1.00\tplayer\tConnect\tBob\t1\tFalse
1.00\tplayer\tTeam\t1\t1
2.00\tgame_start
9.00\tkill\t0\tx\t1\ty\tz
12.00\tplayer\tDisconnect\t1
13.00\tplayer\tConnect\tBob\t2\tFalse
13.00\tplayer\tTeam\t2\t1
99.00\tgame_end\tfraglimit
99.00\tstat_player\tscore\t1\t3
99.00\tstat_player\tscore\t0\t11
99.00\tstat_player\tscore\t2\t10
99.00\t
99.00\tteamscore\t0\t11
99.00\tteamscore\t1\t10
0.00\tinfo\tLog_Standard\tUTStats
9.00\tgame_start
";

/// A log that is cut off contains no match that the whole log does not, and its matches are the
/// same.
fn check_cut(format: &str, log: &[u8], cut: usize, whole: &[MatchRecord]) {
    let matches = games(read(format, &log[..cut]));
    assert!(matches.len() <= whole.len(), "cut at {cut}");
    assert_eq!(matches, whole[..matches.len()], "cut at {cut}");
}

const FOUR_TEAMS: &str = r#"L 01/24/2026 - 18:00:00: Log file started (file "l") (game "x/tfc") (version "1")
L 01/24/2026 - 18:00:00: Loading map "hunted"
L 01/24/2026 - 18:00:01: "Ann<1><STEAM_0:0:1><>" joined team "Red"
L 01/24/2026 - 18:00:01: "Bob<2><STEAM_0:0:2><>" joined team "Yellow"
L 01/24/2026 - 18:00:05: World triggered "Match_Begins_Now"
L 01/24/2026 - 18:01:00: World triggered "Game_Over" reason "x"
L 01/24/2026 - 18:01:00: Team "Red" final score "2" with "1" players
L 01/24/2026 - 18:01:00: Team "Blue" final score "0" with "0" players
L 01/24/2026 - 18:01:00: Team "Yellow" final score "3" with "1" players
L 01/24/2026 - 18:01:00: Team "Green" final score "4" with "0" players
L 01/24/2026 - 18:01:00: Team "Red" final score "9" with "1" players
L 01/24/2026 - 18:02:00: Log file closed
"#;

#[test]
fn a_log_cut_at_any_byte_tells_no_game_that_was_not_over() {
    for (format, log, count) in [
        ("idtech3", ROUNDS, 2),
        ("ut2004", STOCK, 1),
        ("xonotic", EVENTS, 1),
        ("source", HALVES, 2),
        ("source", FOUR_TEAMS, 1),
        ("ut99", NGLOG, 1),
    ] {
        let whole = games(read(format, log.as_bytes()));
        assert_eq!(whole.len(), count);
        for cut in 0..log.len() {
            check_cut(format, log.as_bytes(), cut, &whole);
        }
    }
    // No line before the results of the last capture-the-flag game states them.
    let cut = ROUNDS.rfind("red:11").unwrap() + "red:11  blue:1".len();
    assert_eq!(games(read("idtech3", &ROUNDS.as_bytes()[..cut])).len(), 1);
}

#[test]
fn a_real_log_cut_around_its_end_tells_all_or_nothing() {
    for log in FIXTURES {
        let whole = games(read("idtech3", log));
        let exit = log.windows(5).position(|w| w == b"Exit:").unwrap();
        let early = (0..exit).step_by(1_009);
        let results = exit + 700;
        assert_eq!(games(read("idtech3", &log[..results])).len(), 1);
        for cut in early.chain(exit..results) {
            check_cut("idtech3", log, cut, &whole);
            let matches = games(read("idtech3", &log[..cut]));
            assert!(matches.is_empty() || cut >= exit + 5, "cut at {cut}");
        }
    }
}

const IDTECH3: &[&str] = &[
    "InitGame: \\gamename\\baseoa\\g_gametype\\4",
    "InitGame: \\gamename\\x\\g_gametype\\3",
    "InitGame: \\g_gametype\\0\\g_timestamp\\2026-1-1 1:1:1",
    "InitRound: \\g_gametype\\3",
    "Warmup:",
    "ShutdownGame:",
    "Exit: x",
    "Exit: x",
    "red:# blue:#",
    "ClientConnect: #",
    "ClientBegin: #",
    "ClientBegin: #",
    "ClientDisconnect: #",
    "ClientUserinfo: # \\cl_guid\\#",
    "ClientUserinfoChanged: # n\\^1~\\t\\#\\id\\#",
    "ClientUserinfoChanged: # n\\~\\t\\1",
    "ClientUserinfoChanged: # n\\~\\t\\2\\skill\\ 1",
    "Kill: # # #: a killed b by MOD_CHANGE_TEAM",
    "CTF: # # 1: c",
    "TeamScore: # #: t",
    "score: # ping: # client: # ~",
    "----",
    "Item: 1 x",
];

const UT2004: &[&str] = &[
    "NG\t2004-1-1 1:1:1\t0\tm\tt\ta\tXGame.xCTFGame\tn\tMutators=~|b",
    "NG\tsoon\t0\tm\tt\ta\tMod.~\tn",
    "SG",
    "SG",
    "EG\ttimelimit\t#",
    "EG\tmapchange",
    "C\t#\t~",
    "C\t#\t0123456789abcdef0123456789abcdef",
    "D\t#",
    "BI\t#",
    "PS\t#\ta\t1\t0123456789abcdef0123456789abcdef",
    "G\tNameChange\t#\t[BOT]~",
    "G\tTeamChange\t#\t#",
    "G\tflag_captured\t#\t#",
    "K\t#\tx\t#\ty",
    "TK\t#\tx\t#\ty",
    "S\t#\t#\tx",
    "T\t#\t#\tx",
];

const XONOTIC: &[&str] = &[
    ":gamestart:tdm_~:0.1",
    ":gamestart:ctf_m:0.1",
    ":gameinfo:mutators:LIST:~:b",
    ":join:#:#:bot:~",
    ":join:#:#:1.2.3.4:a~:",
    ":team:#:5",
    ":team:#:14:3",
    ":team:#:-1:4",
    ":part:#",
    ":name:#:~",
    ":kill:frag:#:#:x",
    ":kill:suicide:#:#:x",
    ":ctf:capture:5:#",
    ":restart",
    ":scores:ctf_m:#",
    ":scores:ctf_m:#",
    ":status:ctf_m:#",
    ":labels:player:a!!,b",
    ":player:see-labels:#,#:#:5:#:~",
    ":player:see-labels:#,#:#:spectator:#:~",
    ":labels:teamscores:a!!,b",
    ":teamscores:see-labels:#,#:5",
    ":teamscores:see-labels:#,#:14",
    ":end",
    ":end",
    ":gameover",
];

const SOURCE: &[&str] = &[
    "Log file started (file \"l\") (game \"~\") (version \"1\")",
    "Log file closed",
    "Loading map \"ctf_~\"",
    "Started map \"~\" (CRC \"1\")",
    "server_cvar: \"sv_gravity\" \"#\"",
    "\"~<#><STEAM_0:0:1><>\" entered the game",
    "\"~<#><BOT><Red>\" joined team \"Blue\"",
    "\"~<#><STEAM_0:0:#><Unassigned>\" joined team \"Red\"",
    "\"~<#><STEAM_0:0:#><Red>\" disconnected",
    "\"a<#><STEAM_0:0:1><Red>\" killed \"b<#><BOT><Blue>\" with \"x\"",
    "\"a<#><STEAM_0:0:1><Blue>\" committed suicide with \"x\"",
    "\"a<#><STEAM_0:0:1><Red>\" triggered \"flagevent\" (event \"captured\")",
    "\"a<#><STEAM_0:0:1><Red>\" changed name to \"~\"",
    "World triggered \"Round_Start\"",
    "World triggered \"Round_Start\"",
    "World triggered \"Round_Win\" (winner \"Red\")",
    "World triggered \"Match_Begins_Now\"",
    "World triggered \"Game_Over\"",
    "World triggered \"Game_Over\"",
    "Team \"Red\" current score \"#\"",
    "Team \"Red\" final score \"#\"",
    "Team \"Blue\" final score \"#\"",
    "Team \"Red\" scored \"#\"",
    "Team \"Blue\" scored \"#\"",
    "Team \"Green\" scored \"#\"",
];

const UT99: &[&str] = &[
    "info\tLog_Standard\tUTStats",
    "info\tLog_Standard\tngLog",
    "info\tAbsolute_Time\t2019.07.08.14.16.47.663.-4.0",
    "map\tName\t~.unr",
    "game\tGameClass\tBotpack.~",
    "game\tTeamGame\tTrue",
    "game\tGoodMutator\t~",
    "game\trealstart",
    "game_start",
    "game_start",
    "game_end\tfraglimit",
    "game_end\tfraglimit",
    "game_end\tmapchange",
    "player\tConnect\t~\t#\tFalse",
    "player\tRename\t~\t#",
    "player\tTeam\t#\t#",
    "player\tTeamchange\t#\t#",
    "player\tIsABot\t#\tTrue",
    "player\tDisconnect\t#",
    "kill\t#\tx\t#\ty\tz",
    "teamkill\t#\tx\t#\ty\tz",
    "suicide\t#\tx",
    "flag_captured\t#\t1",
    "teamscore\t0\t#",
    "teamscore\t1\t#",
    "stat_player\tscore\t#\t#",
    "stat_player\tscore\t#\t#",
];

const TEEWORLDS: &[&str] = &[
    "[server]: maps/~.map sha256 is a",
    "[game]: start match type='CTF' teamplay='1'",
    "[game]: start match type='CTF' teamplay='1'",
    "[game]: start match type='LTS' teamplay='1'",
    "[game]: start match type='DM' teamplay='0'",
    "[game]: team_join player='#:~' team=0",
    "[game]: team_join player='#:b' team=1",
    "[game]: team_join player='#:~' team=0->#",
    "[game]: leave player='#:~'",
    "[game]: kill killer='#:0:~' victim='#:1:b' weapon=# special=0",
    "[game]: kill killer='-1:0:' victim='#:1:b' weapon=-3 special=0",
    "[game]: flag_grab player='#:~' team=0",
    "[game]: flag_capture player='#:b' team=1 time=1.00",
    "[game]: flag_return",
    "[game]: flag_return player='#:b' team=1",
    "[game]: ~",
    "[server]: cid=0 cmd='sv_scorelimit'",
    "[server]: cid=0 cmd='sv_timelimit'",
    "[Console]: Value: #",
];

/// Lines with a format's own words, hostile numbers and names, and a clock that mostly advances.
fn lines(words: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let is_source = words[0].starts_with("Log file");
    let number = prop_oneof![
        30 => (0i64..4).boxed(),
        1 => prop::sample::select(vec![-1, 5, 63, 255, 256, 1022, 999_999_999, i64::MAX]).boxed(),
    ];
    let numbers = prop::collection::vec(number, 4);
    let line = (0u32..60, prop::sample::select(words), numbers, any::<u8>());
    let write = move |lines: Vec<(u32, &str, Vec<i64>, u8)>| {
        let (mut log, mut seconds) = (Vec::new(), 0);
        for (passed, words, numbers, odd) in lines {
            seconds = if passed == 59 {
                0
            } else {
                seconds + passed / 20
            };
            let mut numbers = numbers.into_iter().cycle();
            let time = match words {
                _ if is_source => {
                    let (m, s) = (seconds / 60, seconds % 60);
                    format!("L 01/02/2026 - 03:{m:02}:{s:02}: ")
                }
                _ if words.starts_with('[') => {
                    format!("[2026-01-02 03:{:02}:{:02}]", seconds / 60, seconds % 60)
                }
                _ if words.starts_with(':') && passed % 5 == 0 => String::new(),
                _ if words.starts_with(':') => {
                    format!(":time:2026-1-1 1:{}:{}\n", seconds / 60, seconds % 60)
                }
                _ if words.contains(':') && !words.starts_with("NG") => {
                    format!("{:3}:{:02} ", seconds / 60, seconds % 60)
                }
                _ => format!("{seconds}\t"),
            };
            log.extend(time.bytes());
            for byte in words.bytes() {
                match byte {
                    b'#' => log.extend(numbers.next().unwrap_or(0).to_string().bytes()),
                    b'~' => log.push(odd),
                    _ => log.push(byte),
                }
            }
            log.push(b'\n');
        }
        log
    };
    prop::collection::vec(line, 0..150).prop_map(write)
}

fn any_log() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        lines(IDTECH3),
        lines(UT2004),
        lines(XONOTIC),
        lines(SOURCE),
        lines(TEEWORLDS),
        lines(UT99)
    ]
}

/// A real log in which pieces are missing, doubled or damaged.
fn spoiled() -> impl Strategy<Value = Vec<u8>> {
    let spoil = (
        any::<prop::sample::Index>(),
        0usize..300,
        0u8..3,
        any::<u8>(),
    );
    let logs = [
        FIXTURES[0],
        FIXTURES[1],
        xonotic::FIXTURE,
        teeworlds::FIXTURE,
    ];
    (0..logs.len(), prop::collection::vec(spoil, 1..12)).prop_map(move |(log, spoils)| {
        let mut log = logs[log].to_vec();
        for (at, length, how, byte) in spoils {
            let from = at.index(log.len());
            let to = (from + length).min(log.len());
            match how {
                0 => drop(log.drain(from..to)),
                1 => {
                    let piece = log[from..to].to_vec();
                    log.splice(from..from, piece);
                }
                _ => log[from] = byte,
            }
        }
        log
    })
}

/// Checks what holds for any log: valid records, existing line numbers, and results that do not
/// depend on the chunks.
fn check(log: &[u8], chunk: usize) {
    let last = log.split(|&b| b == b'\n').count() as u64;
    for format in FORMATS {
        let (items, elapsed) = read_in(format, log, usize::MAX);
        assert_eq!((items.clone(), elapsed), read_in(format, log, chunk));
        for item in items {
            match item {
                LogItem::Match(game) | LogItem::Exported(game, _) => {
                    assert_eq!(game.check(), Ok(()));
                    assert!(game.events.iter().all(|event| event.at < game.millis()));
                    assert!(game.participants.iter().all(|p| !p.presence.is_empty()));
                    assert!(game.clock.is_none() || game.end.0 <= elapsed as i64 + 1_000);
                }
                LogItem::Skipped { line, last: to, .. } => {
                    assert!(1 <= line && line <= to && to <= last);
                }
                LogItem::Malformed { line, text, .. } => {
                    assert!((1..=last).contains(&line));
                    assert!(!text.chars().any(char::is_control));
                }
                LogItem::Unknown { line, text, .. } => {
                    assert!((1..=last).contains(&line) && !text.chars().any(char::is_control));
                }
                LogItem::UnknownCount { count, .. } => assert!(count <= last),
                LogItem::SharedId { line, players, .. } => {
                    assert!((1..=last).contains(&line) && players > 1);
                }
                LogItem::Repeated { line, first, .. } => {
                    assert!(first < line && (1..=last).contains(&line));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(log in prop::collection::vec(any::<u8>(), 0..2_000), chunk in 1usize..50) {
        check(&log, chunk);
        prop_assert!(detect(&log).is_none());
    }

    #[test]
    fn any_words_are_read_alike_in_any_chunks(log in any_log(), chunk in 1usize..50) {
        check(&log, chunk);
    }

    #[test]
    fn any_words_cut_anywhere(log in any_log(), cut in any::<prop::sample::Index>()) {
        for format in FORMATS {
            let whole = games(read(format.name, &log));
            check_cut(format.name, &log, cut.index(log.len() + 1), &whole);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn spoiled_logs_are_read_alike_in_any_chunks(log in spoiled(), chunk in 1usize..5_000) {
        check(&log, chunk);
    }
}

/// The same log with the line ends and encoding of Windows servers gives the same matches.
#[test]
fn a_log_with_two_bytes_a_character_gives_the_same_matches() {
    let wide: Vec<u8> = NGLOG.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(detect(&wide).map(|format| format.name), Some("ut99"));
    let whole = read("ut99", NGLOG.as_bytes());
    assert_eq!(read("ut99", &wide), whole);
    let whole = games(whole);
    for cut in 0..wide.len() {
        check_cut("ut99", &wide, cut, &whole);
    }
}

#[test]
fn byte_by_byte_is_the_same() {
    for log in FIXTURES {
        let format = by_name("idtech3").unwrap();
        assert_eq!(read_in(format, log, 1), read_in(format, log, 64 * 1024));
    }
}
