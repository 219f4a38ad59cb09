//! What is wrong in a line that is no TOML, in words for the person who wrote it.

use toml::Value;

use super::{
    ConfigError,
    layers::{defaults, join, line_at, value_at},
};

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
