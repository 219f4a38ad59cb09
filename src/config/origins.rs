//! Which values are in force, and where each of them comes from. Secrets are left out.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;
use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

use super::{
    Config, ConfigError,
    layers::{self, apply_environment},
};

/// What is shown in the place of a secret.
pub const HIDDEN: &str = "(hidden)";
/// The keys whose values are secrets, wherever they are.
const SECRETS: [&str; 3] = ["token", "secret", "password"];

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum ValueOrigin {
    /// Nobody has set it.
    Default,
    /// The configuration file.
    File {
        /// The number of the line, from 1.
        line: usize,
    },
    /// A variable of the environment.
    Environment {
        /// The name of the variable.
        variable: String,
    },
    /// A flag of the command.
    Flag {
        /// The flag, with its dashes.
        flag: String,
    },
}

/// A value that is in force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueInForce {
    /// The key, with its sections: `server.listen`, `clients[0].name`.
    pub key: String,
    /// The value, or [`HIDDEN`] in the place of a secret.
    pub value: Value,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: ValueOrigin,
}

impl Config {
    /// All values that [`load_in`](Self::load_in) would take from these sources, sorted by key within each section.
    ///
    /// # Errors
    /// Those of [`load_in`](Self::load_in).
    pub fn values_in_force(
        folder: &Path,
        text: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Vec<ValueInForce>, ConfigError> {
        let environment: Vec<(String, String)> = environment.into_iter().collect();
        let config = Self::load_in(folder, text, environment.clone())?;
        let wrong = |error: toml::de::Error| layers::syntax(text, &error);
        let spans = DeTable::parse(text).map_err(wrong)?;
        let mut merged = layers::defaults();
        layers::lay_over(&mut merged, text.parse().map_err(wrong)?);
        let by_environment = apply_environment(&mut merged, environment)?;
        let mut walk = ValueWalk {
            text,
            by_environment,
            found: Vec::new(),
        };
        walk.table(&merged, Some(spans.get_ref()), "");
        let mut values = walk.found;
        values.iter_mut().for_each(|one| hide(one, &config));
        Ok(values)
    }
}

/// Replaces a value that is a secret, or contains one.
fn hide(one: &mut ValueInForce, config: &Config) {
    let (section, key) = one.key.rsplit_once('.').unwrap_or(("", &one.key));
    let number = |list: &str| {
        let rest = section.strip_prefix(list)?.strip_prefix('[')?;
        rest.strip_suffix(']')?.parse::<usize>().ok()
    };
    let shown = if SECRETS.contains(&key) {
        HIDDEN.to_owned()
    } else if one.key == "store.url" {
        config
            .store
            .url
            .as_ref()
            .map_or(String::new(), |url| url.to_string())
    } else if let (Some(number), "url") = (number("webhook"), key) {
        // Receivers often recognise their senders by a path that nobody can guess.
        let hook = config.webhook.get(number);
        hook.map_or(HIDDEN.to_owned(), |hook| hook.url.to_string())
    } else {
        return;
    };
    one.value = Value::String(shown);
}

/// A walk through all values, beside the text of the file.
struct ValueWalk<'a> {
    text: &'a str,
    by_environment: BTreeMap<String, String>,
    found: Vec<ValueInForce>,
}

impl ValueWalk<'_> {
    fn table(&mut self, table: &Table, own: Option<&DeTable<'_>>, at: &str) {
        // The keys of a section itself come before those of the sections in it.
        let (sections, keys): (Vec<_>, Vec<_>) =
            table.iter().partition(|(_, value)| is_section(value));
        for (key, value) in keys.into_iter().chain(sections) {
            let written = own.and_then(|own| own.get_key_value(key.as_str()));
            let start = written.map(|(key, _)| key.span().start);
            let inner = written.map(|(_, value)| value.get_ref());
            self.value(value, inner, start, &layers::join(at, key));
        }
    }

    fn value(&mut self, value: &Value, own: Option<&DeValue<'_>>, start: Option<usize>, at: &str) {
        match value {
            Value::Table(table) if !table.is_empty() => {
                let own = own.and_then(|own| match own {
                    DeValue::Table(own) => Some(own),
                    _ => None,
                });
                self.table(table, own, at);
            }
            Value::Array(entries) if is_section(value) => {
                for (number, entry) in entries.iter().enumerate() {
                    let written = own.and_then(|own| match own {
                        DeValue::Array(own) => own.get(number),
                        _ => None,
                    });
                    let inner = written.map(|written| written.get_ref());
                    let start = written.map(|written| written.span().start);
                    self.value(entry, inner, start, &format!("{at}[{number}]"));
                }
            }
            Value::Table(_) => {} // a section without keys
            value => self.found.push(ValueInForce {
                key: at.to_owned(),
                value: value.clone(),
                origin: self.origin(at, start),
            }),
        }
    }

    fn origin(&self, at: &str, start: Option<usize>) -> ValueOrigin {
        if let Some(variable) = self.by_environment.get(at) {
            let variable = variable.clone();
            return ValueOrigin::Environment { variable };
        }
        start.map_or(ValueOrigin::Default, |start| ValueOrigin::File {
            line: layers::line_at(self.text, start),
        })
    }
}

/// Whether a value is a section, or a list of sections.
fn is_section(value: &Value) -> bool {
    match value {
        Value::Table(_) => true,
        Value::Array(entries) => !entries.is_empty() && entries.iter().all(Value::is_table),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
[server]
listen = '127.0.0.1:1'

[store]
url = 'postgres://ann:sesame@db.example/league'

[[clients]]
name = 'one'
token = 'sesame-sesame-sesame'
rights = ['ask']

[[webhook]]
name = 'chat'
url = 'https://example.org/hooks/sesame'
secret_file = 'sesame.key'

[game_types.aliases]
'a.b' = 'c'
";

    fn in_force(text: &str, environment: &[(&str, &str)]) -> Vec<ValueInForce> {
        let environment = environment.iter().map(|(name, value)| {
            let (name, value) = (*name, *value);
            (name.to_owned(), value.to_owned())
        });
        Config::values_in_force(Path::new(""), text, environment).unwrap()
    }

    fn find<'a>(values: &'a [ValueInForce], key: &str) -> &'a ValueInForce {
        values.iter().find(|one| one.key == key).unwrap()
    }

    #[test]
    fn each_value_has_its_origin() {
        let values = in_force(FILE, &[("EVENKEEL_LIMITS_LINES_BURST", "7")]);
        let origin = |key: &str| find(&values, key).origin.clone();
        assert_eq!(origin("server.listen"), ValueOrigin::File { line: 2 });
        assert_eq!(origin("clients[0].name"), ValueOrigin::File { line: 8 });
        assert_eq!(
            origin("game_types.aliases.a.b"),
            ValueOrigin::File { line: 18 }
        );
        assert_eq!(origin("store.database"), ValueOrigin::Default);
        let variable = "EVENKEEL_LIMITS_LINES_BURST".to_owned();
        let by_variable = ValueOrigin::Environment { variable };
        assert_eq!(origin("limits.lines_burst"), by_variable);
        assert_eq!(find(&values, "limits.lines_burst").value, 7.into());
        let keys: Vec<&str> = values.iter().map(|one| one.key.as_str()).collect();
        let at = |key: &str| keys.iter().position(|other| *other == key).unwrap();
        assert!(at("server.threads") < at("server.tls.listen"), "{keys:?}");
    }

    #[test]
    fn secrets_are_not_shown() {
        let values = in_force(FILE, &[]);
        let shown = |key: &str| find(&values, key).value.as_str().unwrap().to_owned();
        assert_eq!(shown("clients[0].token"), HIDDEN);
        assert_eq!(shown("store.url"), "postgres://ann@db.example:5432/league");
        assert_eq!(shown("webhook[0].url"), "https://example.org");
        assert_eq!(shown("webhook[0].secret_file"), "sesame.key", "a path");
        let url = "postgres://ann:sesame@db.example/league?password=sesame";
        let values = in_force("", &[("EVENKEEL_STORE_URL", url)]);
        assert!(!format!("{values:?}").contains("sesame"), "{values:?}");
    }

    #[test]
    fn without_a_file_every_value_is_a_default() {
        let values = in_force("", &[]);
        assert!(values.len() > 100, "{}", values.len());
        assert!(values.iter().all(|one| one.origin == ValueOrigin::Default));
        assert!(Config::values_in_force(Path::new(""), "x = 1", []).is_err());
    }
}
