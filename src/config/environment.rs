//! The layer of the environment: variables that set keys.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::{
    ConfigError,
    layers::{FREE_TABLES, join},
    nearest::nearest,
};

const ENV_PREFIX: &str = "EVENKEEL_";

/// Sets the keys that variables name, and returns the variable's name for each path that was set.
/// Ignores variables that name no section, because other programs and the flags use the prefix,
/// too.
pub(super) fn apply_environment(
    merged: &mut Table,
    environment: impl IntoIterator<Item = (String, String)>,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut set = BTreeMap::new();
    for (name, text) in environment {
        let Some(wanted) = name.strip_prefix(ENV_PREFIX) else {
            continue;
        };
        let in_section = merged.keys().any(|section| {
            let rest = wanted.strip_prefix(&section.to_uppercase());
            rest.is_some_and(|rest| rest.starts_with('_'))
        });
        let Some((path, old)) = find_key(merged, wanted, "") else {
            if in_section {
                let why = unknown_variable(&name, merged);
                return Err(ConfigError::Environment { name, why });
            }
            continue;
        };
        *old = value_of(&text, old).map_err(|why| ConfigError::Environment {
            name: name.clone(),
            why,
        })?;
        set.insert(path, name);
    }
    Ok(set)
}

/// Why a variable is refused that begins like those of a section: which one the operator may have meant.
fn unknown_variable(name: &str, known: &Table) -> String {
    let mut names = Vec::new();
    variables(known, "", &mut names);
    match nearest(name, names.iter().map(String::as_str)) {
        Some(near) => format!("the configuration has no such key, did you mean {near}?"),
        None => "the configuration has no such key".to_owned(),
    }
}

/// Adds the names of the variables that set the keys of `table`.
fn variables(table: &Table, at: &str, names: &mut Vec<String>) {
    for (key, value) in table {
        let path = join(at, key);
        match value {
            Value::Table(_) if FREE_TABLES.contains(&path.as_str()) => {}
            Value::Table(inner) => variables(inner, &path, names),
            _ => names.push(ENV_PREFIX.to_owned() + &variable(&path)),
        }
    }
}

/// The name of the variable that sets the key at a path, without its prefix.
fn variable(path: &str) -> String {
    path.replace('.', "_").to_uppercase()
}

/// Finds the value whose path, in capitals and with `_` between its parts, is `wanted`.
fn find_key<'a>(table: &'a mut Table, wanted: &str, at: &str) -> Option<(String, &'a mut Value)> {
    for (key, value) in table.iter_mut() {
        let path = join(at, key);
        match value {
            Value::Table(_) if FREE_TABLES.contains(&path.as_str()) => {}
            Value::Table(inner) => {
                if let Some(found) = find_key(inner, wanted, &path) {
                    return Some(found);
                }
            }
            value if variable(&path) == wanted => return Some((path, value)),
            _ => {}
        }
    }
    None
}

/// Converts the text of a variable to a value: as it is if the default is a string, else as TOML.
fn value_of(text: &str, like: &Value) -> Result<Value, String> {
    if like.is_str() {
        return Ok(Value::String(text.to_owned()));
    }
    let parsed: Result<Table, _> = format!("value = {text}").parse();
    let value = parsed.ok().and_then(|mut table| table.remove("value"));
    // A word without quotes, such as the `off` of a limit.
    let word = || {
        text.bytes()
            .all(|b| b.is_ascii_lowercase())
            .then(|| Value::String(text.to_owned()))
    };
    value
        .or_else(word)
        .ok_or_else(|| format!("`{text}` is not a value; write a list as [\"a\", \"b\"]"))
}
