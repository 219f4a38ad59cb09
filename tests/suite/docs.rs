//! The documentation: links lead somewhere, names exist, and the README stays short.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use clap::CommandFactory;
use evenkeel::{
    cli::Cli,
    config::{DEFAULT, TUNING},
};
use toml::{Table, Value};

/// The most lines of the README, and the most columns of those that are no rows of a table.
const README: (usize, usize) = (130, 110);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every page of the documentation, with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let own = [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
    ];
    let mut paths = own.map(|name| root().join(name)).to_vec();
    let folder = |name: &str| fs::read_dir(root().join(name)).unwrap();
    let shelves = folder("docs").map(|entry| entry.unwrap().path());
    let (shelves, own): (Vec<_>, Vec<_>) = shelves.partition(|path| path.is_dir());
    paths.extend(own);
    let within = |shelf: &PathBuf| fs::read_dir(shelf).unwrap();
    paths.extend(shelves.iter().flat_map(within).map(|e| e.unwrap().path()));
    paths.extend(folder("integrations").map(|entry| entry.unwrap().path().join("README.md")));
    let pages = paths.into_iter().filter(|path| path.is_file());
    let pages = pages.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let pages: Vec<_> = pages
        .map(|path| (path.clone(), fs::read_to_string(path).unwrap()))
        .collect();
    assert!(pages.len() > 9, "{pages:?}");
    pages
}

/// A page without code blocks: without text between fences or indented after an empty line.
fn prose(text: &str) -> String {
    let (mut prose, mut fenced, mut code) = (String::new(), false, false);
    let mut after_blank = true;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let indented = line.starts_with("    ");
        code = indented && (code || after_blank) || code && line.is_empty();
        after_blank = line.is_empty();
        if !fenced && !code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// The texts in backticks, and the page without them.
fn code_spans(prose: &str) -> (Vec<&str>, String) {
    let parts = prose.split('`').enumerate();
    let (code, rest): (Vec<_>, Vec<_>) = parts.partition(|(at, _)| at % 2 == 1);
    let text = |parts: Vec<(usize, &str)>| parts.into_iter().map(|(_, part)| part).collect();
    (code.into_iter().map(|(_, part)| part).collect(), text(rest))
}

/// The anchors that GitHub generates for a page's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text);
    let headings = headings.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        text.chars()
            .filter(kept)
            .collect::<String>()
            .replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// A page that is part of the Rust documentation cannot link to other pages, which are not there.
#[test]
fn pages_in_the_rust_documentation_link_only_to_themselves() {
    let included =
        include_str!("../../crates/protocol/src/lib.rs").contains("docs/reference/protocol.md");
    assert!(included, "the page is no longer included");
    let page = fs::read_to_string(root().join("docs/reference/protocol.md")).unwrap();
    let links = page.split("](").skip(1);
    let links: Vec<_> = links.filter_map(|rest| rest.split_once(')')).collect();
    assert!(!links.is_empty());
    for (link, _) in links {
        assert!(link.starts_with('#') || link.contains("://"), "{link}");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let mut faults = Vec::new();
    for (path, text) in pages() {
        let prose = prose(&text);
        let (_, words) = code_spans(&prose);
        for link in words.split("](").skip(1) {
            let target = link.split_once(')').unwrap().0;
            if target.starts_with("https://") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let file = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            let there = file.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&file).unwrap()).contains(anchor));
            if !there {
                faults.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_file_that_is_named_exists() {
    const OURS: [&str; 9] = [
        "src/",
        "crates/",
        "tests/",
        "benches/",
        "config/",
        "docs/",
        "integrations/",
        "migrations/",
        ".ci/",
    ];
    let mut faults = Vec::new();
    for (path, text) in pages() {
        let prose = prose(&text);
        for name in code_spans(&prose).0 {
            let whole = !name.contains([' ', '*', '<', '…', '{']);
            let ours = OURS.iter().any(|folder| name.starts_with(folder));
            if whole && ours && !root().join(name).exists() {
                faults.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// All flags of a command and of its subcommands.
fn flags(command: &clap::Command) -> BTreeSet<String> {
    let own = command.get_arguments().filter_map(|arg| arg.get_long());
    let mut all: BTreeSet<String> = own.map(str::to_owned).collect();
    all.insert("help".to_owned());
    all.extend(command.get_subcommands().flat_map(flags));
    all
}

#[test]
fn every_command_and_flag_that_is_shown_exists() {
    let cli = Cli::command();
    let mut shown = 0;
    let mut faults = Vec::new();
    for (path, text) in pages() {
        let text = text.replace("\\\n", " ");
        let text = text.replace("cargo run --release -- ", "evenkeel ");
        let blocks = text.lines().filter_map(|line| {
            let line = line.strip_prefix("    ").or(line.strip_prefix("$ "))?;
            line.trim_start_matches("$ ").strip_prefix("evenkeel ")
        });
        let spans = text.split("`evenkeel ").skip(1);
        let spans = spans.filter_map(|span| span.split('`').next());
        for call in blocks.chain(spans) {
            shown += 1;
            let call = call.split(['|', ';']).next().unwrap();
            // What follows ` -- ` are the arguments of another program.
            let own = call.split(" -- ").next().unwrap();
            let mut words = own.split_whitespace();
            let name = words.next().unwrap_or("");
            let known = cli.find_subcommand(name).map(flags);
            let used = words.filter_map(|word| word.trim_matches(['[', ']']).strip_prefix("--"));
            let fault = |what: &str| format!("{}: evenkeel {call}: {what}", path.display());
            match known {
                None => faults.push(fault(name)),
                Some(known) => faults.extend(used.filter(|flag| !known.contains(*flag)).map(fault)),
            }
        }
    }
    assert!(shown > 30, "{shown}");
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_key_that_is_named_is_configurable() {
    let files: [Table; 2] = [DEFAULT, TUNING].map(|text| text.parse().unwrap());
    let mut named = 0;
    let mut faults = Vec::new();
    for (path, text) in pages() {
        let prose = prose(&text);
        for name in code_spans(&prose).0 {
            let Some((section, key)) = name.strip_prefix('[').and_then(|n| n.split_once("] "))
            else {
                continue;
            };
            let key = key.split(' ').next().unwrap();
            let has = |file| {
                let mut parts = section.split('.');
                let table = parts.try_fold(file, |table: &Table, part| table.get(part)?.as_table());
                table.is_some_and(|table| table.contains_key(key))
            };
            named += 1;
            if !files.iter().any(has) {
                faults.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(named > 20, "{named}");
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The keys of each section of a documented file, by the section's name. Sections that may be repeated are comments in
/// it: those keys count that begin with no blank.
fn keys_by_section(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    fn add(table: &Table, at: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
        for (key, value) in table {
            match value {
                Value::Table(inner) => {
                    let path = if at.is_empty() {
                        key.clone()
                    } else {
                        format!("{at}.{key}")
                    };
                    found.entry(format!("[{path}]")).or_default();
                    add(inner, &path, found);
                }
                _ => {
                    found
                        .entry(format!("[{at}]"))
                        .or_default()
                        .insert(key.clone());
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    add(&text.parse().unwrap(), "", &mut found);
    let blocks = text.split("\n# [[").skip(1);
    let blocks = blocks.filter_map(|block| block.split_once("]]\n"));
    for (name, lines) in blocks.filter(|(name, _)| !name.contains(' ')) {
        let lines = lines.lines().map_while(|line| line.strip_prefix("# "));
        let keys = lines.filter_map(|line| line.split_once(" = "));
        let keys = keys.filter(|(key, _)| !key.contains(' '));
        let keys = keys.map(|(key, _)| key.to_owned()).collect();
        found.insert(format!("[[{name}]]"), keys);
    }
    found
}

/// The rows of a table of sections: for each section, the keys in the last cell.
fn rows_by_section(part: &str) -> BTreeMap<String, BTreeSet<String>> {
    let rows = part.lines().filter_map(|line| line.strip_prefix("| `["));
    let row = |row: &str| {
        let (section, cells) = row.split_once("` |").unwrap();
        let keys = cells
            .trim_end_matches([' ', '|'])
            .rsplit('|')
            .next()
            .unwrap();
        let keys = code_spans(keys).0.into_iter().map(str::to_owned).collect();
        (format!("[{section}"), keys)
    };
    rows.map(row).collect()
}

#[test]
fn the_reference_names_every_key_and_no_other() {
    let page = root().join("docs/reference/configuration.md");
    let page = fs::read_to_string(page).unwrap();
    let part = |heading: &str| {
        let rest = page.split(&format!("\n## {heading}\n")).nth(1).unwrap();
        rest.split("\n## ").next().unwrap()
    };
    assert_eq!(rows_by_section(part("Every key")), keys_by_section(DEFAULT));
    assert_eq!(
        rows_by_section(part("Tuning keys")),
        keys_by_section(TUNING)
    );
}

/// Each list of steps to add something is short, and names files and no folders alone.
#[test]
fn the_ways_to_add_something_are_short() {
    let text = fs::read_to_string(root().join("docs/internals/development.md")).unwrap();
    let ways: Vec<&str> = text.split("\n### Add a ").skip(1).collect();
    let names: Vec<&str> = ways.iter().filter_map(|way| way.lines().next()).collect();
    let expected = [
        "rating system",
        "log format",
        "game to the sidecar",
        "verb",
        "configuration key",
    ];
    assert_eq!(names, expected);
    for way in ways {
        let way = way.split("\n#").next().unwrap();
        let steps = way.lines().skip(1).filter(|line| !line.is_empty());
        assert!(steps.count() < 10, "{way}");
        assert!(way.matches(".rs`").count() > 1, "{way}");
    }
}

/// The page of the architecture has a line for each crate and room, and no other; and whoever is new can read it in one go.
#[test]
fn the_architecture_names_every_room() {
    let text = fs::read_to_string(root().join("docs/internals/architecture.md")).unwrap();
    let named: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(room, _)| room)
        .collect();
    let folders = ["crates", "src", "crates/ground/src", "crates/service/src"];
    let folders = folders.map(|folder| fs::read_dir(root().join(folder)).unwrap());
    let rooms = folders.into_iter().flatten().map(Result::unwrap);
    let rooms = rooms.filter(|entry| entry.path().is_dir());
    let rooms: BTreeSet<String> = rooms
        .map(|entry| entry.file_name().into_string().unwrap())
        // These two only hold rooms together.
        .filter(|name| !["ground", "service"].contains(&name.as_str()))
        .collect();
    assert_eq!(named, rooms.iter().map(String::as_str).collect());
    assert!(text.lines().count() <= 200);
}

/// The protocol and what only contributors read may be long.
#[test]
fn the_pages_are_short() {
    let free = ["docs/reference/protocol.md", "docs/internals"];
    let free = free.map(|name| root().join(name));
    let bound = |path: &Path| !free.iter().any(|free| path.starts_with(free));
    let long = pages().into_iter().filter(|(path, _)| bound(path));
    let long = long.map(|(path, text)| (text.lines().count(), path));
    let long: Vec<_> = long.filter(|(lines, _)| *lines > 250).collect();
    assert!(long.is_empty(), "{long:#?}");
}

/// What a reader gains and has to look at, and not what each commit did.
#[test]
fn the_changelog_is_one_page() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    assert!(text.lines().count() <= 120);
}

/// The last table of each benchmark, and not the history of its figures.
#[test]
fn the_figures_are_short() {
    let page = root().join("docs/internals/figures.md");
    assert!(fs::metadata(page).unwrap().len() <= 20_000);
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (lines, columns) = README;
    assert!(readme.lines().count() <= lines);
    let text = readme.lines().filter(|line| !line.starts_with('|'));
    let long = text.filter(|line| line.chars().count() > columns);
    assert_eq!(long.collect::<Vec<_>>(), Vec::<&str>::new());
}

/// A fresh machine needs nothing else in hand for the first two commands, neither an address nor another program.
#[test]
fn the_first_screen_has_the_two_commands() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let screen = readme.lines().take(25);
    let commands = screen.filter_map(|line| line.strip_prefix("    "));
    let commands = commands.map(|line| line.split('#').next().unwrap().trim_end());
    let tests = "cargo test --no-fail-fast";
    let expected = ["cargo run --release -- demo", tests];
    assert_eq!(commands.collect::<Vec<_>>(), expected);
    let gate = fs::read_to_string(root().join(".ci/run")).unwrap();
    let line = tests.replace("cargo", "tests all"); // runs cargo, and prints what takes too long
    assert!(
        gate.contains(&format!("{line}\n")),
        "the gate runs the same"
    );
    assert!(!readme.contains("example.org"));
}

#[test]
fn the_readme_names_this_version() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (major, minor) = (
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR"),
    );
    assert!(readme.contains(&format!("\nVersion {major}.{minor}, ")));
}

/// Each page and example that a configuration of the program names is in the package.
#[test]
fn the_configurations_name_installed_files() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let folders = ["config", "config/presets"].map(|name| fs::read_dir(root().join(name)).unwrap());
    let files = folders
        .into_iter()
        .flatten()
        .map(|file| file.unwrap().path());
    let files = files.filter(|path| path.is_file());
    let text: String = files
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let words = text.split_whitespace();
    let named = words.filter(|word| word.starts_with("docs/") || word.starts_with("config/"));
    let named: BTreeSet<&str> = named
        .map(|word| word.trim_end_matches(['.', ',', ';', ':']))
        .collect();
    assert!(named.len() > 6, "{named:?}");
    for name in named {
        assert!(root().join(name).is_file(), "{name}");
        let (folder, file) = name.rsplit_once('/').unwrap();
        let (_, end) = file.rsplit_once('.').unwrap();
        let asset =
            format!("[\"{folder}/*.{end}\", \"usr/share/doc/evenkeel/{folder}/\", \"644\"]");
        assert!(manifest.contains(&asset), "{asset}");
    }
}

/// What the configuration of the Debian package names is in the package, where it says.
#[test]
fn the_debian_configuration_names_installed_files() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let (text, manifest) = (read("packaging/debian/evenkeel.toml"), read("Cargo.toml"));
    let words = text.split_whitespace();
    let named: Vec<&str> = words.filter(|word| word.contains("docs/")).collect();
    assert!(!named.is_empty());
    for name in named {
        let name = name.trim_end_matches('.');
        let name = name
            .strip_suffix(".md")
            .map_or(name.to_owned(), |start| format!("{start}.md"));
        let (folder, file) = name.rsplit_once('/').unwrap();
        let source = folder.strip_prefix("/usr/share/doc/evenkeel/").unwrap();
        assert!(root().join(source).join(file).is_file(), "{name}");
        let asset = format!("[\"{source}/*.md\", \"{}/\", \"644\"]", &folder[1..]);
        assert!(manifest.contains(&asset), "{asset}");
    }
}
