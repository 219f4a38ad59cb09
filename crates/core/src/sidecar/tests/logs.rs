//! The recorded logs: those that come with the project, and the shared ones if they are there.

use std::{fs, path::Path};

/// A recorded log.
pub(super) struct RecordedLog {
    /// Its folder and its name.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// All logs in these folders beside each other, of formats that end with one of these; none if the folder is missing.
fn in_folder(root: &str, folder: &str, endings: &[&str]) -> Vec<RecordedLog> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(root)
        .join(folder);
    let Ok(entries) = fs::read_dir(&path) else {
        println!("skipped: no folder {}", path.display());
        return Vec::new();
    };
    let mut logs = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        if endings.iter().any(|ending| file.ends_with(ending)) {
            logs.push(RecordedLog {
                name: format!("{folder}/{file}"),
                bytes: fs::read(&path).unwrap(),
            });
        }
    }
    logs.sort_by(|a, b| a.name.cmp(&b.name));
    logs
}

/// The logs that come with the project, in this folder.
pub(super) fn own(folder: &str) -> Vec<RecordedLog> {
    let logs = in_folder("../../tests/fixtures", folder, &[".log"]);
    assert!(!logs.is_empty(), "{folder}");
    logs
}

/// The shared logs in this folder.
pub(super) fn shared(folder: &str) -> Vec<RecordedLog> {
    in_folder("../../../shared/data/logs", folder, &[".log", ".jsonl"])
}
