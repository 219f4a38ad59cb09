//! The recorded logs: those that come with the project, and the shared ones if they are there.

use std::{fs, path::Path};

/// A recorded log.
pub(super) struct RecordedLog {
    /// Its folder and its name.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// The maps of logs of Team Fortress 2 that lack the line that names it: recording began within the map.
const MAPS: [(&str, &str); 12] = [
    ("begin.log", "cp_test"),
    ("min1.log", "cp_test"),
    ("min1b.log", "cp_test"),
    ("quote.log", "cp_test"),
    ("recon.log", "cp_test"),
    ("sw.log", "cp_test"),
    ("tf2-stopwatch-final-0-0.log", "cp_test"),
    ("uid.log", "cp_test"),
    ("tf2-full_badlands_2halves.log", "cp_badlands"),
    ("tf2-full_ctfdoublecross.log", "ctf_doublecross"),
    ("tf2-full_kothviaduct.log", "koth_viaduct"),
    ("tf2-highlander-stopwatch.log", "pl_upward"),
];

impl RecordedLog {
    /// The log with the lines that a server writes when it loads the map, if it lacks them.
    pub(super) fn with_map(mut self) -> Self {
        let Some((_, map)) = MAPS.iter().find(|(name, _)| self.name.ends_with(name)) else {
            return self;
        };
        let stamp = String::from_utf8_lossy(&self.bytes[..25]).into_owned();
        let started =
            format!("{stamp}Log file started (file \"x\") (game \"tf\") (version \"1\")\n");
        let lines = format!("{started}{stamp}Loading map \"{map}\"\n");
        let rest = match self.bytes[25..].starts_with(b"Log file started") {
            true => self
                .bytes
                .iter()
                .position(|&b| b == b'\n')
                .map_or(0, |end| end + 1),
            false => 0,
        };
        self.bytes = [lines.as_bytes(), &self.bytes[rest..]].concat();
        self
    }
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
    let logs = in_folder("tests/fixtures", folder, &[".log"]);
    assert!(!logs.is_empty(), "{folder}");
    logs
}

/// The shared logs in this folder.
pub(super) fn shared(folder: &str) -> Vec<RecordedLog> {
    in_folder("../shared/data/logs", folder, &[".log", ".jsonl"])
}
