//! Checks the rules of the architecture that the compiler does not: which room of the program may import which,
//! and what crates and pure rooms must not use.

mod circles;
mod doors;
mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use sources::{Module, ModulePath, SHELVES, Sources, block, read_tree, without_comments, words};

/// The pure crates. Which of them knows which, the compiler checks.
const CRATES: [&str; 9] = [
    "model",
    "partition",
    "rating",
    "ingest",
    "protocol",
    "lobby",
    "matchmaking",
    "sidecar",
    "experiment",
];

/// The rooms of the program, from the bottom up, with the crates and the rooms that each may import.
const ROOMS: [(&str, &[&str]); 17] = [
    ("metrics", &[]),
    ("files", &[]),
    ("random", &[]),
    (
        "store",
        &[
            "model",
            "metrics",
            "files",
            "random",
            "ingest",
            "matchmaking",
        ],
    ),
    (
        "learning",
        &["model", "metrics", "files", "random", "rating", "store"],
    ),
    (
        "logs",
        &["model", "metrics", "files", "ingest", "store", "learning"],
    ),
    ("experiments", &["model", "random", "experiment", "store"]),
    (
        "session",
        &[
            "experiments",
            "model",
            "files",
            "metrics",
            "random",
            "partition",
            "lobby",
            "rating",
            "matchmaking",
            "store",
            "learning",
        ],
    ),
    (
        "webhooks",
        &["model", "metrics", "random", "store", "session"],
    ),
    (
        "queues",
        &[
            "model",
            "metrics",
            "random",
            "protocol",
            "matchmaking",
            "store",
            "learning",
            "session",
        ],
    ),
    (
        "server",
        &[
            "model",
            "metrics",
            "lobby",
            "matchmaking",
            "store",
            "learning",
            "logs",
            "session",
            "webhooks",
            "queues",
            "protocol",
        ],
    ),
    (
        "web",
        &[
            "experiments",
            "model",
            "random",
            "partition",
            "ingest",
            "protocol",
            "lobby",
            "rating",
            "matchmaking",
            "store",
            "learning",
            "session",
            "queues",
            "server",
        ],
    ),
    (
        "client",
        &["model", "ingest", "protocol", "sidecar", "logs"],
    ),
    (
        "config",
        &[
            "experiments",
            "model",
            "files",
            "partition",
            "rating",
            "lobby",
            "matchmaking",
            "learning",
            "logs",
            "store",
            "session",
            "webhooks",
            "server",
            "web",
        ],
    ),
    (
        "simulate",
        &[
            "model",
            "partition",
            "lobby",
            "matchmaking",
            "store",
            "session",
            "queues",
            "server",
            "config",
        ],
    ),
    (
        "daemon",
        &[
            "model", "files", "store", "learning", "logs", "webhooks", "server", "web", "config",
        ],
    ),
    (
        "cli",
        &[
            "experiment",
            "experiments",
            "model",
            "files",
            "random",
            "partition",
            "rating",
            "ingest",
            "lobby",
            "matchmaking",
            "sidecar",
            "store",
            "learning",
            "logs",
            "session",
            "server",
            "web",
            "client",
            "config",
            "simulate",
            "daemon",
            "queues",
            "webhooks",
        ],
    ),
];

/// The parts of the program that are pure, as the crates are.
const PURE: [&str; 5] = [
    "metrics",
    "webhooks::request",
    "server::access",
    "session::turns",
    "simulate::virtual_queue",
];

/// Paths, or parts of them, that a pure room must not name.
const IMPURE: [&str; 22] = [
    "tokio",
    "tokio_util",
    "sqlx",
    "tracing",
    "clap",
    "indicatif",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "io::stdin",
    "io::stdout",
    "io::stderr",
    "SystemTime",
    "Instant::now",
    "Zoned::now",
    "Timestamp::now",
    "SysRng",
    "OsRng",
    "rand::rng",
    "thread_rng",
];

/// Macros that a pure room must not use.
const IMPURE_MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// Words in a `cfg` that make the code differ between systems.
const SYSTEMS: [&str; 6] = [
    "unix",
    "windows",
    "target_os",
    "target_family",
    "target_env",
    "target_vendor",
];

/// A path below the top of the project.
fn below_top(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

static SOURCES: LazyLock<Sources> =
    LazyLock::new(|| Sources::read(&below_top("src"), &below_top("crates")));

/// The crates and the rooms.
fn everywhere() -> impl Iterator<Item = &'static str> {
    CRATES.into_iter().chain(ROOMS.map(|(room, _)| room))
}

/// A module, and what it imports.
type Importer = (&'static Module, BTreeSet<ModulePath>);

/// The importers of each room.
static ARROWS: LazyLock<BTreeMap<&str, Vec<Importer>>> = LazyLock::new(|| {
    let arrows = |(path, module)| (module, SOURCES.imports(path));
    let rooms = ROOMS.iter();
    rooms
        .map(|(room, _)| (*room, SOURCES.room(room).map(arrows).collect()))
        .collect()
});

/// The code of a module without its comments, if the file has this word: most files do not.
fn code_with(module: &Module, word: &str) -> Option<String> {
    let text = fs::read_to_string(&module.file).unwrap();
    text.contains(word).then(|| without_comments(&text))
}

/// An item counts for the room that defines it and for the room by whose path it is named, so that
/// a re-export hides no import.
#[test]
fn arrows_point_down() {
    let mut seen = 0;
    let mut faults = BTreeSet::new();
    for (room, allowed) in ROOMS {
        for (module, imports) in &ARROWS[room] {
            for import in imports.iter().filter_map(|import| import.first()) {
                seen += 1;
                if import != room && !allowed.contains(&import.as_str()) {
                    let file = module.file.display();
                    faults.insert(format!("{file} must not import {import}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(
        seen > 500,
        "only {seen} imports found: the search is broken"
    );
}

/// An arrow that no file needs is one that somebody could use without noticing.
#[test]
fn every_arrow_that_is_allowed_is_used() {
    let mut unused = Vec::new();
    for (room, allowed) in ROOMS {
        let imports = ARROWS[room].iter().flat_map(|(_, imports)| imports);
        let used: BTreeSet<&str> = imports
            .filter_map(|path| Some(path.first()?.as_str()))
            .collect();
        let idle = allowed.iter().filter(|below| !used.contains(**below));
        unused.extend(idle.map(|below| format!("{room} does not import {below}")));
    }
    assert!(unused.is_empty(), "{unused:#?}");
}

#[test]
fn the_rooms_are_listed_from_the_ground_up() {
    for (at, (room, allowed)) in ROOMS.iter().enumerate() {
        for below in *allowed {
            let stands = ROOMS.iter().position(|(name, _)| name == below);
            let is_below = stands.map_or(CRATES.contains(below), |stands| stands < at);
            assert!(is_below, "{room}: {below}");
        }
    }
}

#[test]
fn crates_and_pure_rooms_are_pure() {
    let mut faults = BTreeSet::new();
    for pure in CRATES.into_iter().chain(PURE) {
        let pure: Vec<&str> = pure.split("::").collect();
        let modules = SOURCES.room(pure[0]);
        let mut modules = modules
            .filter(|(path, _)| {
                path.len() >= pure.len() && path.iter().zip(&pure).all(|(a, b)| a == b)
            })
            .peekable();
        assert!(modules.peek().is_some(), "there is no module {pure:?}");
        for (path, module) in modules {
            for fault in impurities(&SOURCES, path) {
                let file = module.file.display();
                faults.insert(format!("{file} is pure and names {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// What a pure module must not name, but does.
fn impurities(sources: &Sources, module: &ModulePath) -> Vec<String> {
    let mut found = Vec::new();
    for named in sources.names(module) {
        let forbidden = |part: &&&str| {
            let part: Vec<&str> = part.split("::").collect();
            named.windows(part.len()).any(|window| window == part)
        };
        found.extend(IMPURE.iter().find(forbidden).map(|_| named.join("::")));
    }
    let code = sources.code(module);
    let used = |name: &str| {
        words(code).any(|(at, word)| word == name && code[at + word.len()..].starts_with('!'))
    };
    // A test may print what it has measured.
    if !module.contains(&"tests".to_owned()) {
        let macros = IMPURE_MACROS.iter().filter(|name| used(name));
        found.extend(macros.map(|name| format!("{name}!")));
    }
    found
}

#[test]
fn impurities_are_found_whatever_their_name() {
    let impure = |code: &str| {
        let mut sources = Sources::default();
        let path = vec!["lobby".to_owned()];
        sources.add(path.clone(), Path::new(""), without_comments(code));
        impurities(&sources, &path)
    };
    for code in [
        "use std::{fs, path::Path};",
        "use std::{path::Path, time::SystemTime};",
        "fn f() { std::fs::read(\"x\") }",
        "use std::time::Instant; fn f() { Instant::now(); }",
        "use std::time::{Duration, Instant as I}; fn f() { I::now(); }",
        "use std::time as t; fn f() { t::Instant::now(); }",
        "use std as s; use s::fs as f; fn g() { f::read(); }",
        "use std::*; fn g() { fs::read(); }",
        "fn f() { jiff::Zoned::now(); }",
        "use jiff::Zoned as Z; fn f() { Z::now(); }",
        "use jiff::Timestamp as T; fn f() { T::now(); }",
        "fn f() { println!(\"x\"); }",
        "fn f() { use std::{io::{Read, stdout}}; }",
        "use tokio::sync::Notify;",
        "#[derive(clap::Args)] struct X;",
    ] {
        assert_ne!(impure(code), [""; 0], "{code}");
    }
    for code in [
        "use std::{path::Path, time::Duration}; // std::fs",
        "use std::time::Instant; fn f(now: Instant) -> Instant { now }",
        "fn f() { let fs = \"std::fs\"; write!(fs); }",
        "use crate::partition::Clock; fn f(clock: &dyn Clock) { clock.now(); }",
    ] {
        assert_eq!(impure(code), [""; 0], "{code}");
    }
}

#[test]
fn only_the_store_knows_sql() {
    for room in everywhere() {
        let mut modules = SOURCES.room(room);
        let knows = modules
            .any(|(_, module)| code_with(module, "sqlx").is_some_and(|code| names(&code, "sqlx")));
        assert_eq!(knows, room == "store", "{room}");
    }
}

/// Code that only compiles on Unix is behind `cfg(unix)`, on an item or a whole file.
#[test]
fn what_only_unix_has_is_behind_a_cfg() {
    let mut faults = BTreeSet::new();
    for room in everywhere() {
        for (path, module) in SOURCES.room(room) {
            let unix = code_with(module, "unix").is_some_and(|code| names_unix(&code));
            if unix && !SOURCES.is_behind(path, "cfg(unix)") {
                faults.insert(module.file.clone());
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Whatever a `cfg` makes different on another system, an operator can read it in the documentation.
#[test]
fn what_depends_on_the_system_is_documented() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/how-to/install.md")).unwrap();
    let (mut files, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for room in everywhere() {
        for (_, module) in SOURCES.room(room) {
            let code = code_with(module, "cfg");
            if code.is_some_and(|code| differs_between_systems(&code)) {
                let file = module.file.strip_prefix(root).unwrap().to_str().unwrap();
                files.insert(file.to_owned());
                if !page.contains(&format!("`{file}`")) {
                    missing.insert(file.to_owned());
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "not in docs/how-to/install.md: {missing:#?}"
    );
    assert!(files.len() > 3, "the search is broken: {files:?}");
}

/// Whether an attribute or a macro `cfg` in the code asks for the system.
fn differs_between_systems(code: &str) -> bool {
    let asks = words(code).filter(|(_, word)| ["cfg", "cfg_attr", "cfg_select"].contains(word));
    asks.map(|(at, _)| &code[at..]).any(|rest| {
        let end = rest.find([']', ';', '{']).unwrap_or(rest.len());
        words(&rest[..end]).any(|(_, word)| SYSTEMS.contains(&word))
    })
}

#[test]
fn every_crate_and_every_room_is_known() {
    let found = |folder: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(below_top(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .map(|name| name.trim_end_matches(".rs").to_owned())
            .collect()
    };
    let crates = CRATES.into_iter().chain(["ground", "service", "web"]);
    assert_eq!(found("crates"), crates.map(str::to_owned).collect());
    let shelves = SHELVES.map(|shelf| found(&format!("crates/{shelf}/src")));
    let found: BTreeSet<String> = shelves.into_iter().flatten().chain(found("src")).collect();
    let rooms = ROOMS.iter().map(|(room, _)| *room);
    // The web is a room, and a crate of its own.
    let rooms = rooms.filter(|room| *room != "web");
    let known = rooms.chain(["lib", "main"]).map(str::to_owned);
    assert_eq!(found, known.collect());
}

/// Whether the code names this path, and not only a longer one that ends with it.
fn names(code: &str, path: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(path).any(|(at, _)| {
        let before = code[..at].chars().next_back().is_some_and(word);
        let after = code[at + path.len()..].chars().next().is_some_and(word);
        !before && !after
    })
}

/// Whether the code contains the word `unix`, except in attributes and in items behind `cfg(unix)`.
fn names_unix(code: &str) -> bool {
    let guarded = behind_cfg_unix(code);
    words(code).any(|(at, word)| {
        let in_cfg = code[..at].trim_end().ends_with(['(', ',']) && {
            let open = code[..at].rfind("cfg").unwrap_or(0);
            !code[open..at].contains([';', '{', ']'])
        };
        word == "unix" && !in_cfg && !guarded.iter().any(|item| item.contains(&at))
    })
}

/// The ranges of the items that have an attribute `#[cfg(unix)]`.
fn behind_cfg_unix(code: &str) -> Vec<Range<usize>> {
    let attributes = code.match_indices("#[cfg(unix)]");
    attributes
        .map(|(at, attribute)| {
            let rest = &code[at + attribute.len()..];
            let end = match rest.find(['{', ';']) {
                // The braces of a `use` end with its semicolon.
                Some(open) if rest[open..].starts_with('{') => open + 1 + block(&rest[open + 1..]),
                Some(semicolon) => semicolon,
                None => rest.len(),
            };
            at..at + attribute.len() + end
        })
        .collect()
}

#[test]
fn re_exports_are_seen_through() {
    let mut sources = Sources::default();
    let mut add = |path: &str, code: &str| {
        let path: ModulePath = path.split("::").map(str::to_owned).collect();
        sources.add(path, Path::new(""), without_comments(code));
    };
    add("lobby", "pub mod state; pub use state::*;");
    add("lobby::state", "pub struct Verdict; pub struct Roster;");
    add(
        "service",
        "mod parts; pub use parts::Verdict as Ruling; pub type Who = crate::lobby::Roster;",
    );
    add("service::parts", "pub use crate::lobby::Verdict;");
    add(
        "server",
        "use crate::{service::{self, Ruling}, store}; // crate::web\n\
        fn f() -> service::Who { crate::history::fold(\"crate::cli\"); std::fs::read() }\n\
        mod tests { use super::*; fn g() { super::f(); } }",
    );
    add(
        "server::x",
        "use super::service as other; fn f() { other::Ruling::new(); '\"'; }",
    );
    let rooms = |path: &[&str]| {
        let path: ModulePath = path.iter().map(|part| (*part).to_owned()).collect();
        let imports = sources.imports(&path);
        imports
            .into_iter()
            .map(|import| import.join("::"))
            .collect::<Vec<_>>()
    };
    let all = ["history", "lobby::state", "service", "store"];
    assert_eq!(rooms(&["server"]), all);
    assert_eq!(rooms(&["server", "tests"]), ["server"]);
    assert_eq!(rooms(&["server", "x"]), ["lobby::state", "service"]);

    let mut uses = Vec::new();
    read_tree("std::{fs::{self, File}, io as other}", &[], &mut uses);
    assert_eq!(uses.len(), 3);
}

#[test]
fn the_search_finds_what_it_must() {
    assert!(names("use tokio::net;", "tokio") && !names("use mytokio::net;", "tokio"));
    assert_eq!(
        without_comments("a // b\n\"c\\\"\" 'd' r#\"e\"\"# &'f g"),
        "a  \n      &'f g"
    );
    for code in [
        "#[cfg(not(windows))]\nfn f() {}",
        "match cfg!(windows) { }",
        "#[cfg(any(target_os = \"linux\", test))]\nfn f() {}",
        "#[cfg_attr(unix, path = \"x\")]\nmod f;",
    ] {
        assert!(differs_between_systems(code), "{code}");
    }
    for code in ["#[cfg(test)]\nmod unix;", "let windows = text.windows(2);"] {
        assert!(!differs_between_systems(code), "{code}");
    }
    for fine in [
        "#[cfg(unix)]\nuse std::os::unix::A;",
        "#[cfg(unix)]\nfn f() { unix() }",
        "cfg!(unix)",
        "#[cfg(any(unix, windows))]",
    ] {
        assert!(!names_unix(fine), "{fine}");
    }
    for wrong in [
        "use std::os::unix::A;",
        "#[cfg(unix)]\nfn f() {}\nuse tokio::signal::{ctrl_c, unix::signal};",
        "if cfg!(unix) { unix() }",
    ] {
        assert!(names_unix(wrong), "{wrong}");
    }
}
