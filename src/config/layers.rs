//! The layers of the configuration: the defaults, the file of the operator and the environment over them, and what is
//! wrong in a line that is no TOML.

use std::collections::BTreeMap;

use toml::{
    Table, Value,
    de::{DeTable, DeValue},
};

use super::{ConfigError, DEFAULT, TUNING, nearest};

/// Tables in which the operator chooses the names of keys.
const FREE_TABLES: [&str; 6] = [
    "experiment.a.factors",
    "experiment.b.factors",
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

/// The most characters of a value that are repeated.
const SHOWN: usize = 60;
/// What stands in the place of straight quotes in text that a word processor has changed.
const CURLY: [char; 7] = ['“', '”', '„', '‘', '’', '«', '»'];

/// A syntax error, with its line.
pub(super) fn syntax(text: &str, error: &toml::de::Error) -> ConfigError {
    let line = line_at(text, error.span().map_or(0, |span| span.start));
    let why = mistake(text, line, error.message());
    ConfigError::Line {
        line,
        why: why.unwrap_or_else(|| error.message().to_owned()),
    }
}

/// The mistake in this line, if it is a usual one.
fn mistake(text: &str, line: usize, message: &str) -> Option<String> {
    let written = text.lines().nth(line.checked_sub(1)?)?.trim();
    if written.starts_with('[') {
        let head = written.split('#').next().unwrap_or_default().trim_end();
        let brackets = if head.starts_with("[[") { "]]" } else { "]" };
        return match head.ends_with(brackets) {
            true => message
                .contains("duplicate")
                .then(|| format!("{head} is there twice")),
            false => Some(format!("the name of a section must end with {brackets}")),
        };
    }
    let Some((key, value)) = written.split_once('=') else {
        let colon = written.split_once(':').map(|(key, _)| key.trim());
        return Some(match colon {
            Some(key) => format!("{key}: an = must stand between a key and its value, not :"),
            None => "must be a key = value, or a [section]".to_owned(),
        });
    };
    let path = join(section_before(text, line), key.trim());
    if message.contains("duplicate") {
        return Some(format!("{path} is there twice"));
    }
    mistaken_value(&path, value.trim())
}

/// What is wrong with the value of this key; `None` if it is a value.
fn mistaken_value(path: &str, written: &str) -> Option<String> {
    if format!("x = {written}").parse::<toml::Table>().is_ok() {
        return None;
    }
    if written.contains(CURLY) {
        return Some(format!("{path}: quotes must be straight, \" or '"));
    }
    let value = match written.split_once('#') {
        Some((value, _)) if !written.starts_with(['"', '\'']) => value.trim(),
        _ => written,
    };
    let first = value.chars().next();
    match first {
        None => Some(format!("{path} has no value")),
        Some('"') if value.contains('\\') => Some(format!(
            "{path}: a \\ between double quotes must be \\\\; between single quotes it stands for itself"
        )),
        Some(quote @ ('"' | '\'')) => match value.matches(quote).count() {
            1 => Some(format!("{path}: the text must end with {quote}")),
            _ => Some(format!("{path}: there is more than one text in quotes")),
        },
        Some('[' | '{') => None,
        Some(_) => Some(bare(path, value)),
    }
}

/// What should stand in the place of a value without quotes.
fn bare(path: &str, value: &str) -> String {
    let shown: String = value.chars().take(SHOWN).collect();
    let mut known = defaults();
    match value_at(&mut known, path) {
        Some(Value::Boolean(_)) => format!("{path} must be true or false, not {shown}"),
        Some(Value::Integer(_) | Value::Float(_)) => {
            let with_point = value.replacen(',', ".", 1);
            match with_point.parse::<f64>().is_ok() && value.contains(',') {
                true => format!("{path}: a number has a point: {with_point}"),
                false => format!("{path} must be a number, not {shown}"),
            }
        }
        Some(Value::Array(_)) => format!("{path} must be a list: [\"{shown}\"]"),
        _ => format!("{path}: text must be in quotes: \"{shown}\""),
    }
}

/// The path of the section that a line is in; empty before the first one.
fn section_before(text: &str, line: usize) -> &str {
    let before = text.lines().take(line.saturating_sub(1));
    let heads = before.map(str::trim).filter(|line| line.starts_with('['));
    let last = heads.last().unwrap_or_default();
    let last = last.split('#').next().unwrap_or_default();
    last.trim().trim_matches(['[', ']']).trim()
}
