//! The documented files that are compiled in, and how they are printed.

/// The keys that most people set, with their defaults: what `evenkeel config default` prints.
pub const START: &str = include_str!("../../config/start.toml");
/// All keys but the tuning keys, with their defaults.
pub const DEFAULT: &str = include_str!("../../config/evenkeel.toml");
/// The tuning keys, whose defaults are right for every community, and these defaults.
pub const TUNING: &str = include_str!("../../config/tuning.toml");

/// All keys with their defaults, as one valid file. The tuning keys are at its end, as comments: a file cannot open a
/// section twice, and nobody should set them.
pub fn all_keys() -> String {
    let comment = |line: &str| match line.is_empty() || line.starts_with('#') {
        true => format!("{line}\n"),
        false => format!("#{line}\n"),
    };
    let tuning: String = TUNING.lines().map(comment).collect();
    format!("{DEFAULT}\n{tuning}")
}

#[cfg(test)]
mod tests {
    use toml::{Table, Value};

    use super::*;
    use crate::config::{Config, layers};

    /// The keys that a file sets, by their paths, with their values.
    fn set_keys(table: &Table, at: &str) -> Vec<(String, Value)> {
        let keys = table.iter().flat_map(|(key, value)| {
            let path = layers::join(at, key);
            match value {
                Value::Table(inner) => set_keys(inner, &path),
                value => vec![(path, value.clone())],
            }
        });
        keys.collect()
    }

    #[test]
    fn the_file_to_start_from_has_few_keys_and_their_defaults() {
        Config::load(START, []).unwrap();
        assert!(START.lines().count() <= 60);
        assert!(START.lines().all(|line| line.chars().count() <= 120));
        let keys = set_keys(&START.parse().unwrap(), "");
        assert!((10..=16).contains(&keys.len()), "{}", keys.len());
        let mut defaults: Table = DEFAULT.parse().unwrap();
        for (path, value) in keys {
            let default = layers::value_at(&mut defaults, &path);
            assert_eq!(default, Some(&mut value.clone()), "{path}");
        }
    }

    #[test]
    fn all_keys_are_one_valid_file() {
        let text = all_keys();
        Config::load(&text, []).unwrap();
        assert!(text.starts_with(DEFAULT));
        assert_eq!(text.parse::<Table>().unwrap(), DEFAULT.parse().unwrap());
        let tuning: Vec<_> = text[DEFAULT.len() + 1..].lines().collect();
        let is_comment = |line: &&str| line.is_empty() || line.starts_with('#');
        assert!(tuning.iter().all(is_comment));
        let keys = tuning.iter().filter_map(|line| line.strip_prefix('#'));
        let keys = keys.filter(|rest| !rest.starts_with([' ', '#']));
        let keys: String = keys.map(|line| format!("{line}\n")).collect();
        assert_eq!(keys.parse::<Table>().unwrap(), TUNING.parse().unwrap());
    }

    #[test]
    fn a_key_is_in_one_of_the_files() {
        let usual = set_keys(&DEFAULT.parse().unwrap(), "");
        let tuning = set_keys(&TUNING.parse().unwrap(), "");
        assert!(tuning.len() > 30 && usual.len() > 100);
        let is_usual = |path: &String| usual.iter().any(|(other, _)| other == path);
        assert!(!tuning.iter().any(|(path, _)| is_usual(path)));
    }
}
