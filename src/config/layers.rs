//! The layers of the configuration: the defaults, and the operator's file over them. Finds the line that each value
//! comes from. The layer above them is in `environment`.

use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

use super::{ConfigError, DEFAULT, TUNING, nearest::nearest};

/// Tables in which the operator chooses the names of keys.
pub(super) const FREE_TABLES: [&str; 4] = [
    "game_types.aliases",
    "game_types.teams",
    "coordinator.agones.labels",
    QUEUES,
];
/// The table with a section for each queue.
const QUEUES: &str = "queue";
/// The keys of which there may be several sections.
const LISTS_OF_SECTIONS: [&str; 3] = ["follow", "clients", "webhook"];

/// The compiled-in files as a table; a test checks that they parse.
pub(super) fn defaults() -> Table {
    let mut table: Table = DEFAULT.parse().unwrap_or_default();
    lay_over(&mut table, TUNING.parse().unwrap_or_default());
    // TOML cannot express an empty list of sections that a file may add to.
    for list in LISTS_OF_SECTIONS {
        table.entry(list).or_insert(Value::Array(Vec::new()));
    }
    // No queue is configured unless a file does it.
    table.entry(QUEUES).or_insert(Value::Table(Table::new()));
    table
}

/// Fails at the first key of `own` that is not in `known`, the defaults, or that is a section in only one of
/// them.
pub(super) fn refuse_unknown_keys(
    text: &str,
    own: &DeTable<'_>,
    known: &Table,
    at: &str,
) -> Result<(), ConfigError> {
    for (key, value) in own {
        let path = join(at, key.get_ref());
        let line = line_at(text, key.span().start);
        let Some(default) = known.get(key.get_ref().as_ref()) else {
            let is_section = matches!(value.get_ref(), DeValue::Table(_));
            let why = unknown(key.get_ref(), at, known, is_section);
            return Err(ConfigError::Line { line, why });
        };
        let why = match (value.get_ref(), default) {
            (DeValue::Table(own), Value::Table(known)) => {
                if !FREE_TABLES.contains(&path.as_str()) {
                    refuse_unknown_keys(text, own, known, &path)?;
                }
                continue;
            }
            (DeValue::Array(_), Value::Table(_)) => {
                format!("{path} must be one section, [{path}], not several")
            }
            (_, Value::Table(_)) => format!("{path} must be a section, [{path}]"),
            (DeValue::Table(_), Value::Array(_)) if LISTS_OF_SECTIONS.contains(&path.as_str()) => {
                format!("{path} must be in double brackets, [[{path}]]: there may be several")
            }
            (DeValue::Table(_), _) => format!("{path} must be a value, not a section"),
            _ => continue,
        };
        return Err(ConfigError::Line { line, why });
    }
    Ok(())
}

/// Why a key, or a section, is refused that is not in `known`, the section at this path: which one the operator
/// may have meant.
fn unknown(key: &str, at: &str, known: &Table, is_section: bool) -> String {
    let path = join(at, key);
    let takes_sections = |name: &&str| {
        known.get(*name).is_some_and(Value::is_table) || LISTS_OF_SECTIONS.contains(name)
    };
    if is_section {
        let sections = known.keys().map(String::as_str).filter(takes_sections);
        return match nearest(key, sections) {
            Some(near) if LISTS_OF_SECTIONS.contains(&near) => {
                format!("unknown section [{path}], did you mean [[{near}]]?")
            }
            Some(near) => format!(
                "unknown section [{path}], did you mean [{}]?",
                join(at, near)
            ),
            None => format!("unknown section [{path}]"),
        };
    }
    if let Some(near) = nearest(key, known.keys().map(String::as_str)) {
        return format!("unknown key {path}, did you mean {near}?");
    }
    let mut homes = Vec::new();
    sections_with(key, &defaults(), "", &mut homes);
    match homes.split_last() {
        None => format!("unknown key {path}"),
        Some((last, [])) => format!("unknown key {path}: {key} belongs in {last}"),
        Some((last, others)) => {
            let others = others.join(", ");
            format!("unknown key {path}: {key} belongs in {others} or {last}")
        }
    }
}

/// Adds the sections of `table` that have this key.
fn sections_with(key: &str, table: &Table, at: &str, homes: &mut Vec<String>) {
    for (name, value) in table {
        let path = join(at, name);
        match value {
            Value::Table(_) if FREE_TABLES.contains(&path.as_str()) => {}
            Value::Table(inner) => {
                if inner.get(key).is_some_and(|value| !value.is_table()) {
                    homes.push(format!("[{path}]"));
                }
                sections_with(key, inner, &path, homes);
            }
            _ => {}
        }
    }
}

/// Overrides `base` with `own`: merges tables, and replaces all other values.
pub(super) fn lay_over(base: &mut Table, own: Table) {
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(base)), Value::Table(own)) => lay_over(base, own),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// The table of this path.
pub(super) fn table_at<'a>(table: &'a Table, path: &str) -> Option<&'a Table> {
    path.split('.')
        .try_fold(table, |table, part| table.get(part)?.as_table())
}

/// The value of this path.
pub(super) fn value_at<'a>(table: &'a mut Table, path: &str) -> Option<&'a mut Value> {
    let (section, key) = path.rsplit_once('.')?;
    let section = section
        .split('.')
        .try_fold(table, |table, part| table.get_mut(part)?.as_table_mut())?;
    section.get_mut(key)
}

/// The line of the key at `path`, or of the innermost table on the path that is in the text.
pub(super) fn line_of(text: &str, own: &DeTable<'_>, path: &str) -> usize {
    line_at(text, find_written(own, path).0)
}

/// Whether the text sets the key at `path`.
pub(super) fn is_written(own: &DeTable<'_>, path: &str) -> bool {
    find_written(own, path).1
}

/// The offset of the innermost part of the path that is in the text, and whether it is the whole
/// path.
fn find_written(own: &DeTable<'_>, path: &str) -> (usize, bool) {
    let (mut table, mut offset) = (Some(own), 0);
    for part in path.split('.') {
        let (name, index) = match part.split_once('[') {
            Some((name, index)) => (name, index.trim_end_matches(']').parse().ok()),
            None => (part, None),
        };
        let found = table.and_then(|table| table.get_key_value(name));
        let Some((key, value)) = found else {
            return (offset, false);
        };
        offset = key.span().start;
        let mut value = value;
        if let (Some(index), DeValue::Array(entries)) = (index, value.get_ref())
            && let Some(entry) = entries.get::<usize>(index)
        {
            value = entry;
        }
        table = match value.get_ref() {
            DeValue::Table(inner) => Some(inner),
            _ => None,
        };
    }
    (offset, true)
}

/// The number of the line at an offset, from 1.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    1 + before.filter(|&&byte| byte == b'\n').count()
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}
