//! Properties that a log does not contain: which server wrote it, and when.
//!
//! They are in a small JSON file beside the log.

use std::{
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{logs::LogError, model::Timestamp};

/// The ending of an archived log's name.
pub(super) const LOG: &str = ".log.gz";
/// The ending of the name of a log's origin.
pub(super) const JSON: &str = ".json";
/// The most bytes of an origin. The longest server name takes 6 KiB in JSON.
const MAX_BYTES: u64 = 64 * 1024;

/// Properties that a log does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogOrigin {
    /// The name of the server that wrote the log.
    pub server: String,
    /// The command that has read it: the client of its matches. Empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The name of the game if it was given, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub game: String,
    /// The name of the format if it was given; `None` if it was detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The time zone of the log's dates, if they state none and it is not UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// When the log began if that was given, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<i64>,
}

/// The content of the JSON file.
#[derive(Debug, Serialize, Deserialize)]
struct ArchivedOrigin {
    /// When the log was last written, in milliseconds since 1970.
    written: i64,
    #[serde(flatten)]
    origin: LogOrigin,
}

/// Reads when an archived log was last written, and its origin.
///
/// # Errors
/// Fails if a file cannot be read, or does not contain an origin of at most 64 KiB.
pub(in crate::logs) fn read_origin(log: &Path) -> Result<(Timestamp, LogOrigin), LogError> {
    let json = json_of(log);
    let archived: ArchivedOrigin = read_json(&json).map_err(LogError::file(&json))?;
    Ok((Timestamp(archived.written), archived.origin))
}

/// Writes the JSON file of an origin; it is on disk when this returns.
pub(super) fn write_archived(
    path: &Path,
    written: Timestamp,
    origin: &LogOrigin,
) -> io::Result<()> {
    let (written, origin) = (written.0, origin.clone());
    write_json(path, &ArchivedOrigin { written, origin })
}

/// Writes an origin without a time, because its log is still being written.
pub(super) fn write_partial(path: &Path, origin: &LogOrigin) -> io::Result<()> {
    write_json(path, origin)
}

/// Reads an origin that [`write_partial`] wrote.
pub(super) fn read_partial(path: &Path) -> io::Result<LogOrigin> {
    read_json(path)
}

/// The path of the file with a log's origin.
pub(super) fn json_of(log: &Path) -> PathBuf {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(LOG).unwrap_or(&name);
    log.with_file_name(format!("{stem}{JSON}"))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    if bytes.len() as u64 > MAX_BYTES {
        return Err(invalid(format!("more than {MAX_BYTES} bytes")));
    }
    serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))
}

fn write_json(path: &Path, content: &impl Serialize) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&serde_json::to_vec(content)?)?;
    file.sync_all()
}

/// Removes a file; a missing file is not an error.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn hostile_origins_are_refused() {
        let folder = TempDir::new().unwrap();
        let log = folder.path().join("a.log.gz");
        fs::write(&log, "nonsense").unwrap();
        let json = json_of(&log);
        let error = read_origin(&log).unwrap_err().to_string();
        assert!(error.contains("a.json"), "it is missing: {error}");
        assert_eq!(json, folder.path().join("a.json"));
        let deep = "[".repeat(20_000);
        let long = format!(
            r#"{{"written":1,"server":"{}"}}"#,
            "x".repeat(MAX_BYTES as usize)
        );
        let hostile = [
            "",
            "null",
            "[]",
            "{}",
            "\u{0}",
            &deep,
            &long,
            r#"{"server":"s"}"#,
            r#"{"written":1e400,"server":"s"}"#,
            r#"{"written":9223372036854775808,"server":"s"}"#,
            r#"{"written":1,"server":["s"]}"#,
            r#"{"written":1,"server":"s","began":"x"}"#,
            r#"{"written":1,"server":"s"} {"#,
            &format!(r#"{{"written":1,"server":"s","x":{deep}"#),
        ];
        for text in hostile {
            fs::write(&json, text).unwrap();
            let error = read_origin(&log).unwrap_err().to_string();
            let start: String = text.chars().take(40).collect();
            assert!(error.contains("a.json"), "{start}: {error}");
        }
        fs::write(&json, [0xff, 0xfe]).unwrap();
        assert!(read_origin(&log).is_err());
        // A key of a later version does no harm, and no number is too great or too small.
        let extreme =
            r#"{"written":-9223372036854775808,"server":"s","began":9223372036854775807,"x":{}}"#;
        fs::write(&json, extreme).unwrap();
        let (written, origin) = read_origin(&log).unwrap();
        assert_eq!((written.0, origin.began), (i64::MIN, Some(i64::MAX)));
    }
}
