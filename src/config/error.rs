//! Why a configuration is invalid, in words for the person who wrote it.

use std::{net::SocketAddr, path::PathBuf};

use super::nearest::nearest;

/// Why a configuration is invalid, and where.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file has a syntax error, an unknown key or an invalid value.
    #[error("line {line}: {why}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong in the line.
        why: String,
    },
    /// An environment variable has an invalid value, or names no key.
    #[error("{name}: {why}")]
    Environment {
        /// The name of the variable.
        name: String,
        /// What is wrong with its value.
        why: String,
    },
    /// The file with the token of a client cannot be used.
    #[error("the token_file of client {client}, {}: {why}", path.display())]
    TokenFile {
        /// The name of the client.
        client: String,
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with the file; never its content.
        why: String,
    },
    /// The daemon would listen where other machines reach it, and nothing would keep them out.
    #[error(
        "{address} is not a loopback address: everybody who reaches it could use this daemon. Configure \
         [[clients]], or set server.allow_anonymous = true"
    )]
    Exposed {
        /// The address to listen on.
        address: SocketAddr,
    },
}

/// A message of the deserialiser in the words of the documentation. Messages of the types themselves, such as
/// "must be 1 to 8, not 9", stay as they are.
pub(super) fn plain(message: &str) -> String {
    let mut invalid = ["invalid type: ", "invalid value: "].into_iter();
    if let Some(rest) = invalid.find_map(|start| message.strip_prefix(start))
        && let Some((found, expected)) = rest.split_once(", expected ")
    {
        return format!(
            "must be {}, not {}",
            plain_type(expected),
            plain_value(found)
        );
    }
    if let Some(rest) = message.strip_prefix("unknown variant ")
        && let Some((found, known)) = rest.split_once(", expected ")
    {
        let known = known.replace("one of ", "one of: ").replace('`', "");
        return format!("must be {known}, not \"{}\"", found.replace('`', ""));
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let (found, known) = rest.split_once(", expected ").unwrap_or((rest, ""));
        let known = known.trim_start_matches("one of ").replace('`', "");
        let found = found.replace('`', "");
        return match nearest(&found, known.split(", ")) {
            Some(near) => format!("unknown key {found}, did you mean {near}?"),
            None => format!("unknown key {found}; the keys are {known}"),
        };
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return format!("the key {} is missing", name.replace('`', ""));
    }
    if message.starts_with("invalid length ") {
        return "has the wrong number of values".to_owned();
    }
    message.to_owned()
}

/// A value, as the deserialiser names it with its type.
fn plain_value(found: &str) -> String {
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a section".to_owned(),
        _ => {
            let kinds = ["string ", "integer ", "floating point ", "boolean "];
            let bare = kinds.iter().find_map(|kind| found.strip_prefix(kind));
            bare.unwrap_or(found).replace('`', "")
        }
    }
}

/// What the deserialiser expects.
fn plain_type(expected: &str) -> &str {
    match expected {
        "a string" | "string" => "text in quotes",
        "string or map" => "a word in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a section",
        "f32" | "f64" => "a number",
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => "a whole number",
        _ if expected.starts_with("struct ") => "a section",
        _ => expected,
    }
}
