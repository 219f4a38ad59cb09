//! The doors of the crates: what each shows at its root, and what the sidecar takes from `ingest`.

use std::{collections::BTreeSet, fs};

use super::{
    CRATES, SOURCES, below_top,
    sources::{Use, read_tree, without_comments, words},
};

/// The most names at the root of a crate. Everything else that others need stands in the crate's public modules, so that
/// somebody who opens its documentation sees what to begin with.
const MOST: usize = 10;

/// The names at the root of a crate, apart from those of modules.
fn at_the_door(lib: &str) -> BTreeSet<String> {
    let code = without_comments(lib);
    let mut found = BTreeSet::new();
    for (at, _) in words(&code).filter(|(_, word)| *word == "pub") {
        let rest = &code[at + "pub".len()..];
        // `pub(crate)` is no door.
        if rest.starts_with('(') {
            continue;
        }
        let is_item = at == 0 || code[..at].ends_with('\n');
        let mut next = words(rest).skip_while(|(_, word)| ["const", "async"].contains(word));
        let first = words(rest).next().map(|(_, word)| word);
        match next.next() {
            Some((from, "use")) => {
                let tree = &rest[from + "use".len()..];
                let mut uses: Vec<Use> = Vec::new();
                read_tree(
                    &tree[..tree.find(';').unwrap_or(tree.len())],
                    &[],
                    &mut uses,
                );
                found.extend(uses.into_iter().map(|item| item.name));
            }
            // Macros make some types, so that these do not stand at the begin of a line.
            Some((_, "struct" | "enum" | "trait" | "union")) => {
                found.extend(next.next().map(|(_, name)| name.to_owned()));
            }
            Some((_, "fn" | "static" | "type")) if is_item => {
                found.extend(next.next().map(|(_, name)| name.to_owned()));
            }
            Some((_, name)) if is_item && first == Some("const") => {
                found.insert(name.to_owned());
            }
            _ => {}
        }
    }
    found
}

#[test]
fn each_crate_has_at_most_ten_names_at_its_door() {
    for name in CRATES.into_iter().chain(["web"]) {
        let path = below_top("crates").join(name).join("src/lib.rs");
        let found = at_the_door(&fs::read_to_string(path).unwrap());
        assert!(!found.is_empty(), "{name}: the search is broken");
        let count = found.len();
        assert!(count <= MOST, "{name} has {count} names: {found:#?}");
    }
}

#[test]
fn names_at_a_door_are_counted() {
    let lib = "
        mod a; pub mod b; // pub use a::Comment;
pub use a::{B, c, D as E};
pub(crate) use a::Hidden;
pub const F: usize = 1;
pub static G: usize = 1;
pub const fn h() {}
pub fn i() { struct J; }
macro_rules! k { () => {
        pub enum L {}
        impl L { pub fn method(&self) {} pub const N: usize = 1; }
} }
pub use self::o::*;
";
    let found = at_the_door(lib);
    let expected = ["*", "B", "E", "F", "G", "L", "c", "h", "i"];
    assert_eq!(found, expected.map(str::to_owned).into());
}

/// The grammars of the formats stay behind `live`, so that they can change without the sidecar.
#[test]
fn the_sidecar_takes_only_events_and_their_readers_from_ingest() {
    let mut taken = BTreeSet::new();
    for (path, _) in SOURCES.room("sidecar") {
        let names = SOURCES.names(path);
        let from_ingest = names
            .into_iter()
            .filter(|name| name[0] == "evenkeel_ingest");
        taken.extend(from_ingest.filter_map(|name| name.into_iter().nth(1)));
    }
    assert_eq!(taken, ["GameEvent", "live"].map(str::to_owned).into());
}
