//! The keys that earlier versions had: a file that sets one is refused with the reason.

/// Each key that was removed, and what took its place, or why nothing had to.
pub const REMOVED: [(&str, &str); 16] = [
    (
        "coordinator.agones.at_once",
        "at most 16 requests run at once",
    ),
    ("rating.elo_best", FIXED),
    ("rating.elo_calibration", FIXED),
    ("rating.elo_k", FIXED),
    ("rating.elo_slowdown", FIXED),
    ("rating.elo_worst", FIXED),
    ("rating.hive_adaptive", FIXED),
    ("rating.hive_constant", FIXED),
    ("rating.hive_epsilon", FIXED),
    ("rating.hive_k", FIXED),
    ("rating.hive_start", FIXED),
    ("rating.hive_theta", FIXED),
    ("rating.scoreboard_window", FIXED),
    ("rating.trueskill_beta", FIXED),
    ("rating.trueskill_drift", FIXED),
    ("rating.trueskill_ties", FIXED),
];
const FIXED: &str =
    "the constants of this rating system are fixed; rating.system chooses another one";

/// Why the key at this path is refused, if earlier versions had it.
pub(super) fn removed(path: &str) -> Option<String> {
    let (_, why) = REMOVED.iter().find(|(key, _)| *key == path)?;
    Some(format!("{path} is no longer a key, delete it: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, layers};

    #[test]
    fn a_removed_key_is_refused_with_its_line_and_the_reason() {
        for (path, why) in REMOVED {
            assert!(layers::value_at(&mut layers::defaults(), path).is_none());
            let (section, key) = path.rsplit_once('.').unwrap();
            let file = format!("# Mine\n[{section}]\n{key} = 1\n");
            let said = Config::load(&file, []).unwrap_err().to_string();
            let reason = format!("{path} is no longer a key, delete it: {why}");
            assert_eq!(said, format!("line 3: {reason}"));
            let variable = format!("EVENKEEL_{}", path.replace('.', "_").to_uppercase());
            let set = [(variable.clone(), "1".to_owned())];
            let said = Config::load("", set).unwrap_err().to_string();
            assert_eq!(said, format!("{variable}: {reason}"));
        }
    }
}
