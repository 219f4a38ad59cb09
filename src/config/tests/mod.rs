//! Tests of the configuration: the layers, faults and their lines, paths. `documented` compares the documented files with what
//! is read, `clients_and_webhooks` has both with their secrets, and `queues` the queues.

use std::path::PathBuf;

use super::*;
use crate::{
    model::{Rulebook, access::Secret, units::MaxDifference},
    rating::SystemChoice,
};

mod clients_and_webhooks;

mod documented;

mod queues;

fn load(text: &str) -> Result<Config, ConfigError> {
    Config::load(text, [])
}

fn fault(text: &str) -> String {
    load(text)
        .err()
        .map_or_else(String::new, |error| error.to_string())
}

#[test]
fn what_is_written_is_laid_over_the_defaults() {
    let config = load("[rating]\nwindow = 5\n[game_types.aliases]\nx = 'Y'\n").unwrap();
    assert_eq!(
        config.game_types.aliases.len(),
        1,
        "no game has aliases by default"
    );
    assert_eq!(config.rating.rating.presence.window.get(), 5);
    assert_eq!(config.rating.rating.presence.half_life.get(), 10.0);
    assert_eq!(config.game_types.aliases["x"], "Y");
}

#[test]
fn faults_name_their_line() {
    assert_eq!(
        fault("[rating]\n\nwindoww = 5"),
        "line 3: unknown key rating.windoww, did you mean window?"
    );
    assert_eq!(
        fault("\n[ratings]"),
        "line 2: unknown section [ratings], did you mean [rating]?"
    );
    for (former, why) in [
        (
            "[server.clients]\nann = 'x'",
            "line 1: unknown section [server.clients]",
        ),
        ("[rating]\nelo_k = 9.0", "line 2: unknown key rating.elo_k"),
        (
            "[coordinator.agones]\nat_once = 4",
            "line 2: unknown key coordinator.agones.at_once",
        ),
    ] {
        let found = fault(former);
        assert!(found.starts_with(why), "{found}");
    }
    assert_eq!(
        fault("[rating]\nwindow = 0"),
        "line 2: rating.window must be 1 to 1000, not 0"
    );
    let system = fault("[rating]\nsystem = 'elo9'");
    assert!(system.starts_with("line 2: rating.system must be one of: joint, presence"));
    assert_eq!(
        fault("[rating]\nwindow = 'x'"),
        "line 2: rating.window must be 1 to 1000, not \"x\""
    );
    assert_eq!(
        fault("[rating]\nwindow = -1"),
        "line 2: rating.window must be 1 to 1000, not -1"
    );
    assert_eq!(
        fault("\n\nrating = 3"),
        "line 3: rating must be a section, [rating]"
    );
    assert_eq!(
        fault("[[place]]\nbots = 1"),
        "line 1: place must be one section, [place], not several"
    );
    assert_eq!(
        fault("[follow]\npath = 'x'"),
        "line 1: follow must be in double brackets, [[follow]]: there may be several"
    );
    assert_eq!(
        fault("[rating.window]\nx = 1"),
        "line 1: rating.window must be a value, not a section"
    );
    assert_eq!(
        fault("[[follow]]\nserver = 'x'"),
        "line 1: follow[0]: the key path is missing"
    );
    assert_eq!(
        fault("[store]\ndatabase = 1"),
        "line 2: store.database must be text in quotes, not 1"
    );
    assert!(fault("[a\n").starts_with("line 1: "));
    assert_eq!(
        fault("[mutators]\nunknown = 'maybe'"),
        "line 2: mutators.unknown must be gameplay or ignore, not \"maybe\""
    );
    assert!(
        fault("[mutators]\nignore = ['[']")
            .starts_with("line 2: mutators.ignore has a bad pattern")
    );
    assert!(fault("[balance]\npower = nan").starts_with("line 2: balance.power must be"));
    assert!(fault("[server]\nlisten = 'here'").starts_with("line 2: server.listen must be"));
    for path in ["/readyz", "/metrics", "/a/../b", "/."] {
        let fault = fault(&format!("[web]\nbase_path = '{path}'"));
        assert!(
            fault.contains("web.base_path must not be a path that is answered beside the pages"),
            "{fault}"
        );
    }
    let both = "listen = '127.0.0.1:7997'\n";
    let both = format!("[server]\n{both}[server.tls]\n{both}certificate = 'c'\nkey = 'k'");
    let why = "line 4: server.tls.listen must be another address than server.listen";
    assert!(fault(&both).starts_with(why), "{}", fault(&both));
}

#[test]
fn a_network_of_ipv4_may_be_written_as_ipv6() {
    let text = "[[clients]]\nname = 'a'\nnetworks = ['::ffff:127.0.0.0/104']\nrights = ['ask']";
    let networks = load(text).unwrap().clients[0].networks.clone();
    assert_eq!(networks, ["127.0.0.0/8".parse().unwrap()]);
}

#[test]
fn only_one_database_is_named() {
    let url = "url = 'postgres://ann:sesame@localhost/league'\n";
    let config = load(&format!("[store]\n{url}")).unwrap();
    let place = config.database().to_string();
    assert_eq!(place, "postgres://ann@localhost:5432/league");
    assert!(!format!("{config:?}").contains("sesame"));
    assert_eq!(
        fault(&format!("[store]\n{url}database = 'evenkeel.db'")),
        "line 2: store.url must not be set together with store.database, which names an SQLite file"
    );
    let backups = fault(&format!("[store]\n{url}backups = 'backups'"));
    assert!(backups.starts_with("line 3: store.backups must be \"off\" with store.url"));
    let variable = [(
        "EVENKEEL_STORE_URL".to_owned(),
        url[7..url.len() - 2].to_owned(),
    )];
    let error = Config::load("[store]\ndatabase = 'a.db'", variable.clone()).unwrap_err();
    assert!(error.to_string().contains("EVENKEEL_STORE_URL"), "{error}");
    let config = Config::load("", variable).unwrap();
    assert_eq!(config.database().to_string(), place);
}

#[test]
fn the_environment_wins_and_is_blamed() {
    let env = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
    let text = "[balance]\ntop = 3\npower = 2.0";
    let config = Config::load(text, env("EVENKEEL_BALANCE_TOP", "7")).unwrap();
    assert_eq!(config.balance.partition.top.get(), 7);
    assert_eq!(config.balance.partition.power.get(), 2.0);
    let config = Config::load(text, env("EVENKEEL_STORE_DATABASE", "/a b")).unwrap();
    assert_eq!(config.store.database, PathBuf::from("/a b"));
    let error = Config::load(text, env("EVENKEEL_BALANCE_TOP", "0")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "EVENKEEL_BALANCE_TOP: balance.top must be 1 to 4096, not 0"
    );
    let error = Config::load(text, env("EVENKEEL_BALANCE_TOP", "[")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("EVENKEEL_BALANCE_TOP: `[` is not a value")
    );
    assert!(Config::load(text, env("EVENKEEL_SOMETHING_ELSE", "1")).is_ok());
    let error = Config::load(text, env("EVENKEEL_BALANCE_TOPP", "1")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "EVENKEEL_BALANCE_TOPP: the configuration has no such key, did you mean EVENKEEL_BALANCE_TOP?"
    );
    let config = Config::load(text, env("EVENKEEL_BALANCE_FACTORS_MOVED", "0.0")).unwrap();
    assert_eq!(config.balance.partition.factors.moved.get(), 0.0);
    let config = Config::load(text, env("EVENKEEL_BALANCE_MAX_DIFFERENCE", "off")).unwrap();
    assert_eq!(config.balance.limits.max_difference, MaxDifference::OFF);
}

#[test]
fn two_faults_are_blamed_one_after_the_other() {
    let both = "[balance]\ntop = 0\nmemory_mb = 0\n";
    let first = fault(both);
    let (line, _) = first.split_once(": ").unwrap();
    assert!(["line 2", "line 3"].contains(&line), "{first}");
    let second = fault(&both.replace(
        ["top = 0", "memory_mb = 0"][usize::from(line == "line 3")],
        "",
    ));
    assert!(second.contains("must be") && second != first, "{second}");
}

#[test]
fn two_keys_that_disagree_are_blamed_on_the_one_that_is_set() {
    assert_eq!(
        fault("\n\nadvantage.max = 1.0"),
        "line 3: advantage.dead_band must not be above advantage.max: 1.05 is above 1"
    );
    assert!(fault("\nadvantage.dead_band = 2.0").starts_with("line 2: advantage.dead_band must"));
    assert!(fault("[lobby]\nlevel_max = 3\nlevel_min = 4").starts_with("line 3: lobby.level_min"));
    let env = [("EVENKEEL_ADVANTAGE_MAX".to_owned(), "1.0".to_owned())];
    let error = Config::load("", env).unwrap_err().to_string();
    assert!(
        error.starts_with("EVENKEEL_ADVANTAGE_MAX: advantage.dead_band"),
        "{error}"
    );
}

/// Whoever writes rules and forgets to select them would play by others without noticing.
#[test]
fn own_rules_of_auto_balance_are_not_ignored_silently() {
    let unused =
        "auto_balance.rules must be \"custom\" for the rules in [auto_balance.custom] to count";
    for (text, wanted) in [
        ("[auto_balance.custom]\nonce = false", (1, unused)),
        (
            "\n[auto_balance]\nrules = 'players_proposal'\ncustom.once = false",
            (3, unused),
        ),
        (
            "[auto_balance]\nrules = 'sectors_edge'\ncustom.gap = 9.0",
            (2, unused),
        ),
        (
            "[auto_balance]\nrules = 'custom'\ncustom.once = false",
            (0, ""),
        ),
        (
            "[auto_balance]\nrules = 'off'\ncustom.once = false",
            (0, ""),
        ),
        // The documented value, as in a copy of the documented file.
        ("[auto_balance.custom]\nonce = true", (0, "")),
    ] {
        let wanted = match wanted {
            (0, _) => String::new(),
            (line, why) => format!("line {line}: {why}"),
        };
        assert_eq!(fault(text), wanted, "{text}");
    }
}

#[test]
fn values_that_are_no_numbers_are_checked_too() {
    for (key, bad, why) in [
        (
            "auto_balance.custom.lopsided",
            "[[1, 1]]",
            "must be up to 128 pairs",
        ),
        (
            "auto_balance.custom.lopsided",
            "[[0, 3]]",
            "must be up to 128 pairs",
        ),
        (
            "auto_balance.rules",
            "'on'",
            " must be one of: off, sectors_edge, players_proposal, custom, not \"on\"",
        ),
        ("auto_balance.rules", "'mine'", " must be one of: "),
        ("auto_balance.tournament", "['[']", "has a bad pattern"),
        (
            "auto_balance.tournament",
            "[1]",
            "must be text in quotes, not 1",
        ),
        ("behaviour.reporters", "['[']", "has a bad pattern"),
        (
            "identity.strip",
            "['[ABC']",
            "has a bad pattern: \"[ABC\": unclosed character class",
        ),
        ("identity.strip", "['x*']", "matches an empty text"),
        ("identity.strip", "'x'", "must be a list"),
        ("balance.objective", "'even'", "must be "),
        ("balance.objective", "1", "must be a word in quotes, not 1"),
        ("season.starts", "['x']", "must be a date"),
        ("season.starts", "['2027-02-30']", "must be a date"),
        ("divisions.names", "['']", "must be 1 to 32 characters"),
        (
            "divisions.names",
            "['a', '-']",
            "must be 1 to 32 characters",
        ),
        ("divisions.names", "['a', 'a']", "must not repeat a name"),
        ("divisions.percentiles", "[60, 50]", "must be ascending"),
        ("divisions.show", "'both'", ", not \"both\""),
        ("log.filter", "'a=b=c'", "is not a filter"),
        ("store.database", "''", "must not be empty"),
        ("store.url", "'evenkeel.db'", "must begin with postgres://"),
        ("game_types.aliases.x", "' '", "must not be empty"),
    ] {
        let fault = fault(&format!("\n{key} = {bad}"));
        assert!(
            fault.starts_with(&format!("line 2: {key}")),
            "{key} = {bad}: {fault}"
        );
        assert!(fault.contains(why), "{key} = {bad}: {fault}");
    }
    for good in [
        "auto_balance.rules = 'custom'\nauto_balance.custom.lopsided = []",
        "auto_balance.rules = 'custom'\nauto_balance.custom.lopsided = [[2, 1]]",
        "auto_balance.rules = 'off'",
        "auto_balance.rules = 'custom'",
        "auto_balance.tournament = []",
        "auto_balance.tournament = ['x*']",
        "balance.objective = 'ratio'",
        "balance.objective = 'chance'",
        "balance.party_multiplier = []",
        "season.starts = []",
        "divisions.names = ['Gold']",
        "divisions.names = ['Bronze', 'Gold II']\ndivisions.percentiles = [60]",
        "divisions.show = 'number'",
        "season.starts = ['2027-01-01']",
    ] {
        assert_eq!(fault(good), "", "{good}");
    }
    let two = "[divisions]\nnames = ['a', 'b', 'c']\npercentiles = [50]";
    assert!(
        fault(two)
            .starts_with("line 3: divisions.percentiles must be empty, or have one number fewer")
    );
    let names: Vec<String> = (0..33).map(|i| i.to_string()).collect();
    assert!(fault(&format!("[divisions]\nnames = {names:?}")).contains("at most 32 names"));
    let follows = "[[follow]]\npath = 'a'\n[[follow]]\npath = 'b'\n\nformat = 'c'";
    assert!(fault(follows).starts_with("line 6: follow[1].format must be one of: auto, "));
}

#[test]
fn the_shipped_lists_know_the_games() {
    let book = Rulebook::new(&load("").unwrap().rulebook()).unwrap();
    for mutator in [
        "XGame.MutInstaGib",
        "XGame.MutZoomInstaGib",
        "Botpack.InstaGibDM",
        "UnrealGame.MutLowGrav",
        "Botpack.LowGrav",
        "XGame.MutQuadJump",
        "UnrealGame.MutBigHead",
        "XWeapons.MutArena",
        "Botpack.RocketArena",
        "XGame.MutVampire",
        "g_instantgib",
        "g_rockets",
        "dmflags=8",
    ] {
        assert!(book.affects_play(mutator), "{mutator}");
    }
    for mutator in [
        "UnrealGame.DMMutator",
        "Botpack.DMMutator",
        "OLStats.MutOLGameStats",
        "AntiTCC.MutAntiTCCFinal",
        "UTSecure.MutUTSecure",
        "MapVoteLA.MapVote",
        "BDBMapVote304.BDBMapVote",
        "UTV2004s.utvMutator",
        "JoolsWorks.IdealBotCounter",
        "TeamColors.MutColors",
        "ACEv08h.ACEActor",
    ] {
        assert!(!book.affects_play(mutator), "{mutator}");
    }
    for game_type in [
        "x.g2",
        "baseoa.g10",
        "SkaarjPack.Invasion",
        "BonusPack.xMutantGame",
    ] {
        assert!(!book.is_team_game(game_type), "{game_type}");
    }
    assert!(book.is_team_game("baseoa.ctf") && !book.is_team_game("baseq3.ffa"));
    assert!(!book.is_team_game("XGame.xDeathMatch") && book.is_team_game("XGame.xTeamGame"));
    assert_eq!(book.ruleset::<&str>("CTF", &[]).to_string(), "ctf");
}

#[test]
fn an_unknown_key_is_answered_with_what_may_be_meant() {
    for (text, why) in [
        (
            "[server]\nmax_conections = 3",
            "line 2: unknown key server.max_conections, did you mean max_connections?",
        ),
        (
            "[serve]",
            "line 1: unknown section [serve], did you mean [server]?",
        ),
        (
            "[server.tsl]",
            "line 1: unknown section [server.tsl], did you mean [server.tls]?",
        ),
        (
            "listen = 'x'",
            "line 1: unknown key listen: listen belongs in [server], [server.tls] or [web]",
        ),
        (
            "half_life = 3",
            "line 1: unknown key half_life: half_life belongs in [rating]",
        ),
        (
            "[client]",
            "line 1: unknown section [client], did you mean [[clients]]?",
        ),
        ("[colour]", "line 1: unknown section [colour]"),
        ("[web]\ncolour = 1", "line 2: unknown key web.colour"),
    ] {
        assert_eq!(fault(text), why);
    }
    let variable = |name: &str| {
        let set = [(name.to_owned(), "3".to_owned())];
        Config::load("", set).unwrap_err().to_string()
    };
    assert_eq!(
        variable("EVENKEEL_SERVER_MAX_CONECTIONS"),
        "EVENKEEL_SERVER_MAX_CONECTIONS: the configuration has no such key, did you mean \
         EVENKEEL_SERVER_MAX_CONNECTIONS?"
    );
}

#[test]
fn relative_paths_are_relative_to_the_file() {
    let text = "[store]\njournal = 'games'\nbackups = 'old'\n[ingest]\narchive = '/logs'\n
        [server.tls]\nlisten = ''\ncertificate = 'tls/a.pem'\nkey = 'tls/a.key'\n
        [coordinator.agones]\nca = 'ca.pem'\n
        [[follow]]\npath = 'games.log'\n
        [[clients]]\nname = 'a'\ntoken_file = 'a.token'\nrights = ['ask']\n
        [[webhook]]\nname = 'a'\nurl = 'http://127.0.0.1:1/'\nsecret_file = 'a.key'\n";
    let paths = |folder: &str, environment: &[(&str, &str)]| {
        let set = environment.iter();
        let set = set.map(|&(name, value)| (name.to_owned(), value.to_owned()));
        let config = Config::load_in(folder.as_ref(), text, set).unwrap();
        let agones = &config.coordinator.agones;
        [
            config.store.database.clone(),
            config.journal().unwrap(),
            config.backups().unwrap().folder,
            config.ingest.archive.clone(),
            config.server.tls.certificate.clone(),
            config.server.tls.key.clone(),
            agones.ca.clone(),
            agones.client_cert.clone(),
            config.follow[0].path.clone(),
            config.clients[0].token_file.clone().unwrap(),
            config.webhook[0].secret_file.clone().unwrap(),
        ]
        .map(|path| path.display().to_string())
    };
    assert_eq!(
        paths("/x", &[]),
        [
            "/x/evenkeel.db",
            "/x/games",
            "/x/old",
            "/logs",
            "/x/tls/a.pem",
            "/x/tls/a.key",
            "/x/ca.pem",
            "",
            "/x/games.log",
            "/x/a.token",
            "/x/a.key",
        ]
    );
    // A variable is not in the file.
    let here = paths("/x", &[("EVENKEEL_STORE_DATABASE", "here.db")]);
    assert_eq!((here[0].as_str(), here[2].as_str()), ("here.db", "/x/old"));
    assert_eq!(paths("", &[])[0], "evenkeel.db");
    // The journal is beside the database.
    let config = Config::load_in("/x".as_ref(), "", []).unwrap();
    assert_eq!(config.journal(), Some("/x/evenkeel.games".into()));
}

#[test]
fn addresses_may_name_hosts() {
    let config = load("[server]\nlisten = 'localhost:17997'\n").unwrap();
    assert!(config.server.listen.ip().is_loopback());
    for (text, why) in [
        (
            "[server]\nlisten = '7997'",
            "line 2: server.listen must be an address and a port such as \"127.0.0.1:7997\"",
        ),
        (
            "[server]\nlisten = 'game.invalid:1'",
            "line 2: server.listen: the host name game.invalid has no known address",
        ),
        (
            "[web]\nlisten = 'localhost'",
            "line 2: web.listen must be \"off\", or an address and a port such as \"127.0.0.1:7998\"",
        ),
    ] {
        assert_eq!(fault(text), why);
    }
}

#[test]
fn a_line_that_is_no_toml_is_explained() {
    for (text, why) in [
        (
            "[server]\nlisten = 127.0.0.1:7997",
            "line 2: server.listen: text must be in quotes: \"127.0.0.1:7997\"",
        ),
        (
            "[lobby]\nbots = no",
            "line 2: lobby.bots must be true or false, not no",
        ),
        (
            "[lobby]\nbots = True # yes",
            "line 2: lobby.bots must be true or false, not True",
        ),
        (
            "[lobby] # games\n\nbots = off",
            "line 3: lobby.bots must be true or false, not off",
        ),
        (
            "[lobby]\nmin_players = six",
            "line 2: lobby.min_players must be a number, not six",
        ),
        (
            "[rating]\nhalf_life = 0,5",
            "line 2: rating.half_life: a number has a point: 0.5",
        ),
        (
            "[lobby]\nmin_players =",
            "line 2: lobby.min_players has no value",
        ),
        (
            "[store]\ndatabase = games.db",
            "line 2: store.database: text must be in quotes: \"games.db\"",
        ),
        (
            "[store]\ndatabase = “games.db”",
            "line 2: store.database: quotes must be straight, \" or '",
        ),
        (
            "[store]\ndatabase = \"games.db",
            "line 2: store.database: the text must end with \"",
        ),
        (
            "[store]\ndatabase = 'a' 'b'",
            "line 2: store.database: there is more than one text in quotes",
        ),
        (
            "[store]\ndatabase = \"C:\\data\\x.db\"",
            "line 2: store.database: a \\ between double quotes must be \\\\; between single quotes it stands for itself",
        ),
        (
            "[auto_balance]\ntournament = duel",
            "line 2: auto_balance.tournament must be a list: [\"duel\"]",
        ),
        (
            "[[follow]]\npath = /var/log/x.log",
            "line 2: follow.path: text must be in quotes: \"/var/log/x.log\"",
        ),
        (
            "[lobby\nbots = true",
            "line 1: the name of a section must end with ]",
        ),
        (
            "[[follow]\npath = 'x'",
            "line 1: the name of a section must end with ]]",
        ),
        (
            "[lobby]\nbots: true",
            "line 2: bots: an = must stand between a key and its value, not :",
        ),
        (
            "[lobby]\nbots",
            "line 2: must be a key = value, or a [section]",
        ),
        (
            "[lobby]\nbots = true\nbots = true",
            "line 3: lobby.bots is there twice",
        ),
        ("[lobby]\n[web]\n[lobby]", "line 3: [lobby] is there twice"),
    ] {
        assert_eq!(fault(text), why, "{text}");
    }
    // Any bytes have a reason.
    for text in [
        "=",
        "= =",
        "[",
        "[]",
        "]",
        "a = [",
        "a = {",
        "\"",
        "a.b.c",
        "x = \"\\",
        "é = ü",
        "a = 'b",
        "\u{feff}a",
    ] {
        assert!(fault(text).starts_with("line 1: "), "{text}");
    }
}

#[test]
fn what_would_be_something_else_than_it_looks_is_refused() {
    let fails = |text: &str| Config::load(text, []).is_err();
    for filter in [
        "verbose",
        "warning",
        "sqlx=debug",
        "info,verbose",
        "all",
        "WARN INFO",
        "",
        " , ",
    ] {
        let text = format!("[log]\nfilter = \"{filter}\"");
        let why = fault(&text);
        assert!(why.starts_with("line 2: log.filter "), "{why}");
    }
    for filter in [
        "info",
        "INFO",
        "off",
        "debug,sqlx=warn",
        "evenkeel=debug",
        "evenkeel",
        "evenkeel::queues=trace,warn",
    ] {
        assert!(!fails(&format!("[log]\nfilter = \"{filter}\"")), "{filter}");
    }
    for (text, why) in [
        (
            "[store]\ndatabase = 'postgres://a@b/c'",
            "line 2: store.database is the path of an SQLite file: for a PostgreSQL database use store.url",
        ),
        (
            "[store]\ndatabase = 'file://x.db'",
            "line 2: store.database is the path of an SQLite file, without ://",
        ),
        (
            "[store]\ndatabase = \"C:\\new.db\"",
            "line 2: store.database must not contain control characters: between double quotes, write \\\\ for \\",
        ),
        (
            "[store]\nbackups = \"D:\\backups\"",
            "line 2: store.backups must not contain control characters: between double quotes, write \\\\ for \\",
        ),
        (
            "[[follow]]\npath = \"logs\\test.log\"",
            "line 2: follow[0].path must not contain control characters: between double quotes, write \\\\ for \\",
        ),
    ] {
        assert_eq!(fault(text), why, "{text}");
    }
}

#[test]
fn the_keys_that_wait_for_the_next_start_are_named_and_their_values_are_not() {
    let load = |text: &str| Config::load(text, []).unwrap();
    let started = load("[queue.a]\nteams = 2\nsize = 2\nruleset = 'x'\n");
    let of = |text: &str| load(text).values.for_next_start(&started.values);
    assert_eq!(of(""), Vec::<String>::new(), "queues are taken over");
    assert_eq!(
        of("[server]\nallow_anonymous = true\n"),
        Vec::<String>::new()
    );
    let live = "[limits]\nlines_per_second = 7\n\
                [[clients]]\nname = 'a'\ntoken = 'x'\nrights = ['ask']\n";
    assert_eq!(of(live), Vec::<String>::new());
    let text = "[server]\nlisten = '127.0.0.1:1'\n[server.tls]\nkey = 'k'\n[lobby]\nmin_players = 9\n\
                [[follow]]\npath = 'x.log'\n";
    let keys = ["follow", "server.listen", "server.tls.key"];
    assert_eq!(of(text), keys);
    let secret = load("[[clients]]\nname = 'a'\ntoken = 'hush'\nrights = ['ask']\n");
    assert!(!format!("{secret:?}").contains("hush"));
}

#[test]
fn a_slip_is_understood_and_another_word_is_not() {
    let known = ["max_connections", "max_errors", "listen", "a"];
    let of = |word| nearest(word, known);
    assert_eq!(of("max_conections"), Some("max_connections"));
    assert_eq!(of("lisetn"), Some("listen"));
    assert_eq!(of("MAX_ERRORS"), None, "keys are in lower case");
    assert_eq!(of("colour"), None);
    assert_eq!(nearest("x", []), None);
}
