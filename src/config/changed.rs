//! Which keys a configuration that is read again has changed, and which of them only a start takes over.

use toml::{Table, Value};

use super::layers::join;

/// The sections and keys that a running daemon takes over.
const LIVE: [&str; 10] = [
    "advantage",
    "auto_balance",
    "balance",
    "lobby",
    "place",
    "rebalance",
    "queue",
    "clients",
    "limits",
    "server.allow_anonymous",
];
/// The most keys that are listed.
const LISTED: usize = 20;

/// All values of a configuration by their keys, defaults included. They may be secrets, and are not shown.
#[derive(Clone, Default)]
pub struct ConfiguredValues(Table);

impl std::fmt::Debug for ConfiguredValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfiguredValues").finish_non_exhaustive()
    }
}

impl ConfiguredValues {
    pub(super) fn new(values: Table) -> Self {
        Self(values)
    }

    /// The keys whose values differ from those with which the daemon has started, and that it takes over only
    /// at its next start: at most 20, and the number of the others.
    pub fn for_next_start(&self, started: &Self) -> Vec<String> {
        let mut keys = Vec::new();
        differing(&self.0, &started.0, "", &mut keys);
        keys.sort_unstable();
        if keys.len() > LISTED {
            let more = keys.len() - LISTED;
            keys.truncate(LISTED);
            keys.push(format!("and {more} more"));
        }
        keys
    }
}

/// Adds the keys whose values differ, unless the daemon takes them over while it runs.
fn differing(now: &Table, then: &Table, at: &str, keys: &mut Vec<String>) {
    let added = then.keys().filter(|key| !now.contains_key(*key));
    for key in now.keys().chain(added) {
        let path = join(at, key);
        if LIVE.contains(&path.as_str()) {
            continue;
        }
        match (now.get(key), then.get(key)) {
            (Some(Value::Table(now)), Some(Value::Table(then))) => {
                differing(now, then, &path, keys);
            }
            (now, then) if now != then => keys.push(path),
            _ => {}
        }
    }
}
