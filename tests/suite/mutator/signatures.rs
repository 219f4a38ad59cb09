//! A stand-in for the classes of the game that the mutator extends: the signatures of what it overrides,
//! and names that the game's compiler would refuse.

use std::collections::BTreeSet;

use super::classes;

/// Class, return type, name, and parameter types of the functions that the mutator overrides.
const STOCK: [(&str, &str, &str, &[&str]); 27] = [
    ("Actor", "", "PostBeginPlay", &[]),
    ("Actor", "", "Timer", &[]),
    ("Actor", "", "MatchStarting", &[]),
    ("Info", "", "FillPlayInfo", &["PlayInfo"]),
    ("Info", "string", "GetDescriptionText", &["string"]),
    ("Mutator", "", "Mutate", &["string", "PlayerController"]),
    ("Mutator", "", "NotifyLogout", &["Controller"]),
    ("Mutator", "", "ServerTraveling", &["string", "bool"]),
    ("GameRules", "", "ScoreKill", &["Controller", "Controller"]),
    (
        "GameRules",
        "",
        "ScoreObjective",
        &["PlayerReplicationInfo", "int"],
    ),
    (
        "GameRules",
        "bool",
        "CheckScore",
        &["PlayerReplicationInfo"],
    ),
    (
        "GameRules",
        "int",
        "NetDamage",
        &[
            "int",
            "int",
            "pawn",
            "pawn",
            "vector",
            "out vector",
            "class<DamageType>",
        ],
    ),
    (
        "BroadcastHandler",
        "bool",
        "AcceptBroadcastText",
        &[
            "PlayerController",
            "PlayerReplicationInfo",
            "out string",
            "optional name",
        ],
    ),
    ("GameStats", "", "Init", &[]),
    ("TcpLink", "", "Opened", &[]),
    ("TcpLink", "", "Closed", &[]),
    ("TcpLink", "", "ReceivedText", &["string"]),
    ("InternetLink", "", "Resolved", &["IpAddr"]),
    ("InternetLink", "", "ResolveFailed", &[]),
    // Functions of all actors that nothing here may override.
    ("Actor", "never", "Reset", &[]),
    ("Actor", "never", "Destroyed", &[]),
    ("Actor", "never", "Tick", &[]),
    ("Actor", "never", "Trigger", &[]),
    ("Actor", "never", "Touch", &[]),
    ("Actor", "never", "Landed", &[]),
    ("Actor", "never", "Expired", &[]),
    ("Actor", "never", "BeginPlay", &[]),
];

/// Words that the compiler takes for something else, variables of `Actor` that others would hide, and
/// functions of `Object`. Lower case.
const REFUSED: &str = "nameof until bmovable new do goto assert stop state begin class self none \
    owner level tag event base region location rotation velocity mass physics role timer \
    left right mid len max min abs rand log caps asc chr clamp exp loge sin cos repl split divide eval locs";

/// Return type, name, and parameter types of a line that begins a function.
fn declared(line: &str) -> Option<(String, String, Vec<String>)> {
    let line = line.trim_start_matches("static ");
    let line = line.strip_prefix("final ").unwrap_or(line);
    let line = line
        .strip_prefix("function ")
        .or_else(|| line.strip_prefix("event "))?;
    let (head, rest) = line.split_once('(')?;
    let (parameters, _) = rest.rsplit_once(')')?;
    let (kind, name) = head.rsplit_once(' ').unwrap_or(("", head));
    let types = parameters.split(',').map(str::trim);
    let types = types.filter(|parameter| !parameter.is_empty());
    let types = types.map(|parameter| parameter.rsplit_once(' ').unwrap().0.to_owned());
    Some((kind.to_owned(), name.to_owned(), types.collect()))
}

#[test]
fn what_is_overridden_has_the_signature_of_the_game() {
    let mut seen = BTreeSet::new();
    for (class, source) in classes() {
        for (kind, name, types) in source.lines().filter_map(declared) {
            let stock = STOCK
                .iter()
                .find(|stock| stock.2.eq_ignore_ascii_case(&name));
            let Some((owner, result, _, parameters)) = stock else {
                continue;
            };
            assert_ne!(*result, "never", "{class}.{name} overrides {owner}'s");
            assert_eq!(kind, *result, "{class}.{name}");
            assert_eq!(types, *parameters, "{class}.{name}");
            seen.insert(name);
        }
    }
    let wanted = STOCK.iter().filter(|stock| stock.1 != "never");
    let wanted: BTreeSet<String> = wanted.map(|stock| stock.2.to_owned()).collect();
    assert_eq!(seen, wanted);
}

/// The names that a declaration declares.
fn names(line: &str) -> Vec<String> {
    let line = line.trim();
    if let Some((_, name, _)) = declared(line) {
        let (_, rest) = line.split_once('(').unwrap();
        let (parameters, _) = rest.rsplit_once(')').unwrap();
        let parameters = parameters
            .split(',')
            .filter_map(|one| one.rsplit(' ').next());
        let mut names: Vec<String> = parameters.map(str::to_lowercase).collect();
        names.push(name.to_lowercase());
        return names;
    }
    let declares = ["local ", "var ", "var() "];
    if !declares.iter().any(|start| line.starts_with(start)) || line.contains(" enum ") {
        return Vec::new();
    }
    let (declaration, _) = line.split_once(';').unwrap_or((line, ""));
    let mut names = declaration
        .split(',')
        .filter_map(|part| part.trim().rsplit(' ').next());
    let names = names
        .by_ref()
        .map(|name| name.split('[').next().unwrap_or(name));
    names.map(str::to_lowercase).collect()
}

#[test]
fn no_name_is_one_that_the_compiler_refuses() {
    let refused: BTreeSet<&str> = REFUSED.split_whitespace().collect();
    let mut found = 0;
    for (class, source) in classes() {
        for line in source.lines() {
            for name in names(line) {
                let own_timer = name == "timer" && line.contains("event Timer()");
                assert!(
                    own_timer || !refused.contains(name.as_str()),
                    "{class}: {line}"
                );
                found += 1;
            }
        }
    }
    assert!(found > 500, "{found}");
}
