//! The settings that daemons of one database must share, and how those of two daemons differ.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A hash of the value of each key, by part: a section or a queue. A value is not readable from its hash, so that the
/// database contains no secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedSettings(BTreeMap<String, BTreeMap<String, String>>);

impl SharedSettings {
    /// Adds a part, with the values of its keys. A value that is no object is the part's only one.
    ///
    /// # Errors
    /// Fails if the value is none that JSON can contain.
    pub fn add(&mut self, part: &str, value: &impl Serialize) -> Result<(), serde_json::Error> {
        let own = self.0.entry(part.to_owned()).or_default();
        match serde_json::to_value(value)? {
            Value::Object(keys) => {
                let hashes = keys.into_iter().map(|(key, value)| (key, hash(&value)));
                own.extend(hashes);
            }
            value => drop(own.insert(String::new(), hash(&value))),
        }
        Ok(())
    }

    /// Whether there are none, so that any other daemon may continue what this one does.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text by which another daemon compares its own.
    pub fn text(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// Those of a text; none if another version has written it in another form.
    pub fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    /// The keys in which two daemons differ. A part that one of them lacks is named as a whole.
    pub fn differing(&self, other: &Self) -> Vec<String> {
        let parts: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let mut names = Vec::new();
        for part in parts {
            let (Some(own), Some(theirs)) = (self.0.get(part), other.0.get(part)) else {
                names.push(part.clone());
                continue;
            };
            let keys: BTreeSet<&String> = own.keys().chain(theirs.keys()).collect();
            let keys = keys
                .into_iter()
                .filter(|key| own.get(*key) != theirs.get(*key));
            names.extend(keys.map(|key| match key.is_empty() {
                true => part.clone(),
                false => format!("{part}.{key}"),
            }));
        }
        names
    }

    /// Whether a daemon with these settings can continue what one with the others has begun: it has all their parts,
    /// with the same values. It may have further parts.
    pub fn continues(&self, other: &Self) -> bool {
        let mut parts = other.0.iter();
        parts.all(|(part, keys)| self.0.get(part) == Some(keys))
    }
}

fn hash(value: &Value) -> String {
    let digest = Sha256::digest(value.to_string());
    let bytes = digest[..6].iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(parts: &[(&str, Value)]) -> SharedSettings {
        let mut settings = SharedSettings::default();
        for (part, value) in parts {
            settings.add(part, value).unwrap();
        }
        settings
    }

    #[test]
    fn differences_are_named_by_key() {
        let one = settings(&[
            ("rating", json!({"system": "joint", "sides": true})),
            ("queue.duel", json!({"size": 1})),
            ("the version", json!(7)),
        ]);
        let two = settings(&[
            ("rating", json!({"system": "elo", "sides": true, "k": 3})),
            ("queue.trio", json!({"size": 3})),
            ("the version", json!(8)),
        ]);
        let named = [
            "queue.duel",
            "queue.trio",
            "rating.k",
            "rating.system",
            "the version",
        ];
        assert_eq!(one.differing(&two), named);
        assert_eq!(two.differing(&one), named);
        assert!(one.differing(&one).is_empty());
        assert!(!one.continues(&two) && !two.continues(&one) && one.continues(&one));
        assert_eq!(SharedSettings::read(&one.text()), one);
        assert!(!one.text().contains("joint"));
        assert!(SharedSettings::read("what is this").is_empty());
    }

    #[test]
    fn a_daemon_with_further_queues_continues() {
        let few = settings(&[("queue.duel", json!({"size": 1}))]);
        let more = settings(&[
            ("queue.duel", json!({"size": 1})),
            ("queue.trio", json!({"size": 3})),
        ]);
        assert!(more.continues(&few) && !few.continues(&more));
        assert!(few.continues(&SharedSettings::default()));
    }
}
