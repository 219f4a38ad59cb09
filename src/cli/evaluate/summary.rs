//! What a table of systems shows, in a sentence.

use super::{BASE_RATE, scores::SystemScores};
use crate::{
    model::counted,
    rating::history::{CONFIDENCE, Comparison, FEWEST_COMPARED},
};

/// Which system predicts best, and how the system named `against` compares with each of the others.
/// `rows` has a row for each system, and one for the base rate.
pub(super) fn summary(rows: &[SystemScores], against: &str) -> String {
    let matches = rows.first().map_or(0, |row| row.matches);
    if matches < FEWEST_COMPARED {
        return format!(
            "Too few matches to compare the systems: {}, and at least {FEWEST_COMPARED} are needed.",
            counted(matches, "decided match")
        );
    }
    let systems: Vec<&SystemScores> = rows.iter().filter(|r| r.system != BASE_RATE).collect();
    let others = systems.iter().filter(|row| row.system != against).count();
    let best = best(&systems, against);
    if others == 0 {
        return format!("{best} has nothing to be compared with.");
    }
    // A comparison is that of the other system: where it is better, `against` is worse, and the reverse.
    let named = |comparison| {
        let alike = systems.iter().filter(|r| r.comparison == Some(comparison));
        alike.map(|row| row.system).collect::<Vec<_>>()
    };
    let ahead = match named(Comparison::Worse).len() {
        0 => "none".to_owned(),
        ahead => ahead.to_string(),
    };
    let mut text = format!(
        "{best} predicts best. Beyond chance ({:.0} % confidence), {against} is better than {ahead} of {others} systems",
        100.0 * CONFIDENCE
    );
    for (relation, comparison) in [
        ("level with", Comparison::Level),
        ("worse than", Comparison::Better),
    ] {
        let systems = named(comparison);
        if !systems.is_empty() {
            text += &format!(", {relation} {}", list(&systems));
        }
    }
    text + "."
}

/// The system with the lowest log loss; `against` if several have it.
fn best<'a>(systems: &[&SystemScores], against: &'a str) -> &'a str {
    let own = systems.iter().find(|row| row.system == against);
    let own = own.map_or(f64::INFINITY, |row| row.log_loss);
    let lower = systems.iter().filter(|row| row.log_loss < own);
    let lowest = lower.min_by(|a, b| a.log_loss.total_cmp(&b.log_loss));
    lowest.map_or(against, |row| row.system)
}

/// "a", "a and b", "a, b and c".
fn list(parts: &[&str]) -> String {
    let mut text = String::new();
    for (place, part) in parts.iter().enumerate() {
        text += match place {
            0 => "",
            last if last + 1 == parts.len() => " and ",
            _ => ", ",
        };
        text += part;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(system: &'static str, log_loss: f64, comparison: Option<Comparison>) -> SystemScores {
        SystemScores {
            system,
            matches: 100,
            log_loss,
            comparison,
            ..SystemScores::default()
        }
    }

    #[test]
    fn it_names_what_is_level_and_what_is_better() {
        let mut rows = vec![
            row(BASE_RATE, 0.69, Some(Comparison::Worse)),
            row("joint", 0.60, None),
            row("elo", 0.63, Some(Comparison::Worse)),
            row("hive", 0.64, Some(Comparison::Worse)),
            row("glicko2", 0.61, Some(Comparison::Level)),
        ];
        assert_eq!(
            summary(&rows, "joint"),
            "joint predicts best. Beyond chance (95 % confidence), joint is better than 2 of 3 systems, level \
             with glicko2."
        );
        rows.push(row("presence", 0.58, Some(Comparison::Better)));
        rows.push(row("trueskill", 0.60, Some(Comparison::Level)));
        assert_eq!(
            summary(&rows, "joint"),
            "presence predicts best. Beyond chance (95 % confidence), joint is better than 2 of 5 systems, level \
             with glicko2 and trueskill, worse than presence."
        );
    }

    #[test]
    fn it_compares_neither_few_matches_nor_a_system_alone() {
        let mut rows = vec![row(BASE_RATE, 0.69, None), row("joint", 0.70, None)];
        assert_eq!(
            summary(&rows, "joint"),
            "joint has nothing to be compared with."
        );
        rows[0].matches = 1;
        assert_eq!(
            summary(&rows, "joint"),
            "Too few matches to compare the systems: 1 decided match, and at least 30 are needed."
        );
        assert!(summary(&[], "joint").contains("0 decided matches"));
    }
}
