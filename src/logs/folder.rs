//! The files of a folder of logs.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The visible files of a folder, sorted; the path itself if it is no folder.
pub fn log_files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = path.read_dir() else {
        return vec![path.to_owned()];
    };
    let visible = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        !name.as_encoded_bytes().starts_with(b".") && entry.path().is_file()
    };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(visible)
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The file that was rotated to make room for the one at `path`: of the files in the same folder whose
/// name adds something to that of `path`, as `games.log.1`, `games.log-20261120` and `games-1.log` do to
/// `games.log`, the one that was written last, but not after `path` itself.
pub(super) fn rotated(path: &Path) -> Option<PathBuf> {
    let latest = path.metadata().ok()?.modified().ok()?;
    let earlier = additions(path).filter(|(at, _)| *at <= latest);
    earlier.max().map(|(_, other)| other)
}

/// The most logs that are read before a followed one, and the most bytes of all but the last of them: a game that goes over
/// more files than that is in small ones.
const MOST_EARLIER: usize = 8;
const MOST_BYTES: u64 = 64 << 20;

/// The files that were rotated before the one at `path`, the oldest first. `path` may be a rotated file itself: `games.log.2`
/// is before `games.log.1`. There are at most [`MOST_EARLIER`] of them.
pub(super) fn earlier(path: &Path) -> Vec<PathBuf> {
    let written = path.metadata().and_then(|meta| meta.modified());
    let (base, Ok(latest)) = (base_of(path), written) else {
        return Vec::new();
    };
    let is_base = base == path;
    let found = additions(&base).filter(|(at, other)| match is_base {
        true => *at <= latest,
        false => *at < latest && other != path,
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    let (mut all, mut bytes) = (VecDeque::new(), 0u64);
    for (_, other) in found.into_iter().rev().take(MOST_EARLIER) {
        if !all.is_empty() {
            bytes = bytes.saturating_add(other.metadata().map_or(MOST_BYTES, |meta| meta.len()));
        }
        if bytes > MOST_BYTES {
            break;
        }
        all.push_front(other);
    }
    all.into()
}

/// The name under which a rotated log was written: of the files in the folder to whose names that of `path` adds something,
/// the one with the shortest; `path` itself if there is none.
fn base_of(path: &Path) -> PathBuf {
    let entries = path.parent().and_then(|folder| folder.read_dir().ok());
    let others = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let base = others
        .filter(|other| adds_to(other, path))
        .min_by_key(|other| (other.as_os_str().len(), other.clone()));
    base.unwrap_or_else(|| path.to_owned())
}

/// The files in the same folder whose name adds something to that of `path`, and when they were last
/// written.
pub(super) fn additions(path: &Path) -> impl Iterator<Item = (SystemTime, PathBuf)> {
    let folder = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    };
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let other = entry.path();
        let meta = other.metadata().ok()?;
        let is_addition = meta.is_file() && adds_to(path, &other);
        is_addition.then_some((meta.modified().ok()?, other))
    })
}

/// The file for which the one at `path` was rotated: the one in the same folder of which `path` is the
/// [`rotated`] one.
pub(super) fn successor(path: &Path) -> Option<PathBuf> {
    let entries = path.parent()?.read_dir().ok()?.flatten();
    let mut others = entries.map(|entry| entry.path());
    others.find(|other| adds_to(other, path) && rotated(other).as_deref() == Some(path))
}

/// Whether the name of `other` is that of `path` with an addition, after the name or before its
/// extension.
fn adds_to(path: &Path, other: &Path) -> bool {
    let text =
        |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let (Some(name), Some(stem), Some(other)) = (
        text(path.file_name()),
        text(path.file_stem()),
        text(other.file_name()),
    ) else {
        return false;
    };
    let added = |start: &str| {
        let rest = other.strip_prefix(start);
        rest.filter(|rest| rest.starts_with(['.', '-', '_']))
    };
    let extension = text(path.extension()).map(|extension| format!(".{extension}"));
    let before = |rest: &str| {
        let middle = rest.strip_suffix(extension.as_deref().unwrap_or_default());
        middle
            .is_some_and(|middle| !middle.is_empty() && middle.chars().any(|c| c.is_ascii_digit()))
    };
    other != name && (added(&name).is_some() || added(&stem).is_some_and(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotated_log_has_a_successor() {
        let folder = tempfile::TempDir::new().unwrap();
        let [old, new] = ["games.log.1", "games.log"].map(|name| folder.path().join(name));
        std::fs::write(&old, "x").unwrap();
        assert_eq!(successor(&old), None);
        std::fs::write(&new, "y").unwrap();
        assert_eq!(successor(&old), Some(new.clone()));
        assert_eq!(successor(&new), None);
    }

    #[test]
    fn names_of_rotated_logs() {
        let adds = |other: &str| adds_to(Path::new("/x/games.log"), &Path::new("/x").join(other));
        for other in [
            "games.log.1",
            "games.log-20261120",
            "games-1.log",
            "games.log.2.gz",
        ] {
            assert!(adds(other), "{other}");
        }
        for other in [
            "games.log",
            "games2.log",
            "other.log",
            "games-x.log",
            "games.txt",
        ] {
            assert!(!adds(other), "{other}");
        }
    }
}
