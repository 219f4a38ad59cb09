//! Circles of files within a crate or a room: files each of which needs, by some way round, every other. To understand one of
//! them is to understand all, and none can be moved alone.
//!
//! What counts as an arrow from one file to another:
//!
//! - A file needs the file that defines an item, whatever re-export names the item. A re-export alone needs nothing.
//! - A `mod.rs` that uses what a file of its folder defines needs that file.
//! - A file may use what a `mod.rs` above it defines: the trait, the types and the errors of the folder belong to all
//!   its files, so such an arrow does not count. Code that is more than that belongs into a file of its own.
//! - Methods that a file adds to a type of another file are not seen where they are called.
//! - Tests are left out.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{SOURCES, everywhere};

/// What each file needs in its own crate or room.
type Arrows<'a> = BTreeMap<&'a Path, BTreeSet<&'a Path>>;

#[test]
fn no_files_of_a_crate_or_a_room_are_in_a_circle() {
    let mut faults = Vec::new();
    for room in everywhere() {
        let circles = circles(&arrows(room));
        if !circles.is_empty() {
            faults.push(format!("{room}: {circles:#?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The arrows between the files of a crate or a room.
fn arrows(room: &str) -> Arrows<'static> {
    let mut arrows = Arrows::new();
    let modules = SOURCES.room(room);
    for (path, module) in modules.filter(|(path, _)| !SOURCES.is_test(path)) {
        let needs = SOURCES.needs(path).into_iter();
        let own = needs.filter(|need| need.first() == path.first() && !path.starts_with(need));
        let files = own.filter(|need| !SOURCES.is_test(need));
        let files = files.map(|need| SOURCES.file(&need));
        arrows.entry(&module.file).or_default().extend(files);
    }
    arrows
}

/// The strongly connected components of two or more files.
fn circles<'a>(arrows: &Arrows<'a>) -> BTreeSet<BTreeSet<&'a Path>> {
    let reached: BTreeMap<&Path, BTreeSet<&Path>> = arrows
        .keys()
        .map(|file| (*file, reach(arrows, file)))
        .collect();
    let circle = |file: &&'a Path| {
        let others = reached[file].iter().copied();
        let circle: BTreeSet<&Path> = others
            .filter(|other| reached[other].contains(file))
            .collect();
        (circle.len() > 1).then_some(circle)
    };
    arrows.keys().filter_map(circle).collect()
}

/// The files to which a way along the arrows leads.
fn reach<'a>(arrows: &Arrows<'a>, from: &Path) -> BTreeSet<&'a Path> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&Path> = arrows[from].iter().copied().collect();
    while let Some(file) = open.pop() {
        if reached.insert(file) {
            open.extend(&arrows[file]);
        }
    }
    reached
}

#[test]
fn circles_are_found_at_any_length() {
    let arrows = |pairs: &[(&'static str, &'static str)]| {
        let mut arrows = Arrows::new();
        for (from, to) in pairs {
            arrows.entry(Path::new(*to)).or_default();
            arrows
                .entry(Path::new(*from))
                .or_default()
                .insert(Path::new(*to));
        }
        arrows
    };
    let sizes = |pairs: &[(&'static str, &'static str)]| {
        let circles = circles(&arrows(pairs));
        circles.iter().map(BTreeSet::len).collect::<Vec<_>>()
    };
    assert_eq!(sizes(&[("a", "b"), ("b", "c"), ("a", "c")]), [0; 0]);
    assert_eq!(sizes(&[("a", "b"), ("b", "a"), ("b", "c")]), [2]);
    assert_eq!(
        sizes(&[("a", "b"), ("b", "c"), ("c", "a"), ("x", "y"), ("y", "x")]),
        [3, 2]
    );
}
