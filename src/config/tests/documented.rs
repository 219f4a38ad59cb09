//! The documented files say what is read: keys, defaults and ranges.

use super::*;

#[test]
fn the_documented_defaults_are_a_valid_configuration() {
    let empty = load("").unwrap();
    let mut documented = load(DEFAULT).unwrap();
    // The file states the address of the pages, too, so that it must be free.
    assert!(documented.web.listen_is_set);
    documented.web.listen_is_set = false;
    assert!(documented.store.database_is_set);
    documented.store.database_is_set = false;
    assert_eq!(format!("{empty:?}"), format!("{documented:?}"));
    assert!(!layers::defaults().is_empty());
    assert_eq!(empty.balance.partition.top.get(), 20);
    assert_eq!(empty.server.listen.to_string(), "127.0.0.1:7997");
}

#[test]
fn the_documented_defaults_are_those_of_the_rooms() {
    let config = load("").unwrap();
    let rooms = crate::rating::history::Settings::default();
    assert_eq!(config.history(), rooms);
    // The partitioner alone knows no strengths, so that it goes by the ratio.
    let partition = crate::partition::Settings {
        objective: crate::partition::settings::Objective::Chance,
        ..crate::partition::Settings::default()
    };
    assert_eq!(config.balance.partition, partition);
    let deadline = config.balance.deadline_ms.duration();
    assert_eq!(deadline, crate::partition::settings::DEFAULT_TIME);
    let lobby = crate::lobby::LobbySettings {
        objective: crate::partition::settings::Objective::Chance,
        ..crate::lobby::LobbySettings::default()
    };
    assert_eq!(config.lobby(), lobby);
    let behaviour = crate::model::behaviour::BehaviourSettings::default();
    assert_eq!(config.behaviour, behaviour);
    let custom = load("auto_balance.rules = 'custom'").unwrap();
    assert_eq!(
        custom.lobby(),
        lobby,
        "the documented custom rules are the defaults"
    );
    let auto = load("rating.system = 'auto'").unwrap();
    assert_eq!(auto.history().rating.system, SystemChoice::Auto);
}

/// A key that no type reads would be accepted whatever its value is.
#[test]
fn every_documented_key_is_read() {
    let keys = documented_keys();
    assert!(keys.len() > 80, "{}", keys.len());
    for Documented { path, .. } in keys {
        let fault = fault(&format!("\n{path} = [[[]]]"));
        assert!(fault.starts_with("line 2: "), "{path}: {fault}");
        assert!(fault.contains(&path), "{path}: {fault}");
    }
}

#[test]
fn every_documented_range_is_the_type_s() {
    let mut checked = 0;
    for documented in documented_keys() {
        let (path, list) = (&documented.path, documented.default.starts_with('['));
        let Some(claim) = documented.claim else {
            assert!(
                documented.default.parse::<f64>().is_err(),
                "{path}: a number without a documented range"
            );
            continue;
        };
        checked += 1;
        // These count with rules of one's own only.
        let needed = match path.starts_with("auto_balance.custom.") {
            true => "\nauto_balance.rules = \"custom\"",
            false => "",
        };
        let set = |value: &str| match list {
            true => format!("\n{path} = [{value}]{needed}"),
            false => format!("\n{path} = {value}{needed}"),
        };
        let (range, siblings) = claim.split_once(", and ").unwrap_or((&claim, ""));
        // A key with a limit set by another key is tested with both at the same value.
        let beside = |value: &str| match siblings.rsplit_once(' ') {
            Some((_, sibling)) => {
                let (section, _) = path.rsplit_once('.').unwrap();
                format!("\n{section}.{sibling} = {value}")
            }
            None => String::new(),
        };
        let ends = Ends::of(range, list || documented.default.contains('.'));
        for good in &ends.good {
            let text = set(good) + &beside(good);
            assert_eq!(fault(&text), "", "{path} = {good}");
        }
        for bad in &ends.bad {
            let fault = fault(&set(bad));
            let expected = format!("must be {range}, not ");
            let blamed = fault.starts_with("line 2: ") && fault.contains(path.as_str());
            assert!(
                blamed && fault.contains(&expected),
                "{path} = {bad}: {fault}"
            );
        }
    }
    assert!(checked >= 60, "{checked} ranges");
}

/// A key of the documented file, with the range in the comment above it.
struct Documented {
    path: String,
    default: String,
    claim: Option<String>,
}

fn documented_keys() -> Vec<Documented> {
    let (mut keys, mut section, mut comment) = (Vec::new(), "", String::new());
    for line in DEFAULT.lines().chain(TUNING.lines()) {
        if let Some(text) = line.strip_prefix("# ") {
            comment = comment + " " + text;
            continue;
        }
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            section = name;
        } else if let Some((key, default)) = line.split_once(" = ")
            && !key.starts_with([' ', '"'])
        {
            let claim = comment
                .rsplit_once(" Range: ")
                .or(comment.rsplit_once(" Range of each: "));
            keys.push(Documented {
                path: format!("{section}.{key}"),
                default: default.to_owned(),
                claim: claim.map(|(_, range)| range.trim_end_matches('.').to_owned()),
            });
        }
        comment.clear();
    }
    keys
}

/// Test values at both ends of a range, and beyond them.
struct Ends {
    good: Vec<String>,
    bad: Vec<String>,
}

impl Ends {
    /// Parses a range as the comments word it; `real` for keys with fractions.
    fn of(range: &str, real: bool) -> Self {
        let (step, mut good, mut bad) = if real {
            (0.001, vec![], vec!["nan".to_owned()])
        } else {
            (1.0, vec![], vec![])
        };
        let words: Vec<&str> = range
            .split([' ', ','])
            .filter(|word| !word.is_empty())
            .collect();
        let number = |word: &str| word.parse::<f64>().unwrap();
        let show = |value: f64| {
            if real {
                format!("{value:?}")
            } else {
                format!("{value}")
            }
        };
        let beyond = if real { "inf" } else { "4294967296" }; // one above u32::MAX
        match words[..] {
            [low, "to", "below", high] => {
                good.extend([show(number(low)), show(number(high) - step)]);
                bad.extend([show(number(low) - step), show(number(high))]);
            }
            [low, "to", high, ..] => {
                good.extend([show(number(low)), show(number(high))]);
                bad.extend([show(number(low) - step), show(number(high) + step)]);
            }
            ["above", low, "at", "most", high] => {
                good.extend([show(number(low) + step), show(number(high))]);
                bad.extend([show(number(low)), show(number(high) + step)]);
            }
            ["above", low, ref rest @ ..] => {
                good.push(show(number(low) + step));
                bad.push(show(number(low)));
                if rest == ["or", "inf"] {
                    &mut good
                } else {
                    &mut bad
                }
                .push(beyond.to_owned());
            }
            [low, "or", "more", ref rest @ ..] => {
                good.push(show(number(low)));
                bad.push(show(number(low) - step));
                if rest == ["or", "inf"] {
                    &mut good
                } else {
                    &mut bad
                }
                .push(beyond.to_owned());
            }
            _ => panic!("a range that is worded in another way: {range}"),
        }
        if range.ends_with(", or \"off\"") {
            good.push("'off'".to_owned());
            bad.push("'on'".to_owned());
        }
        Self { good, bad }
    }
}
