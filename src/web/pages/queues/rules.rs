//! What the rules of a queue cost in its last matches.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    matchmaking::RuleReport,
    model::counted,
    web::{Site, error::WebError, pages::table::Table, words},
};

/// The most matches that are looked at: the latest.
const MATCHES: i64 = 200;

/// A rule, and what its violations cost.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct RulePenalty {
    rule: String,
    /// In how many matches it cost something.
    violated: usize,
    /// The sum of its costs, divided by the number of all matches.
    mean_cost: f64,
    /// The highest cost in one match.
    highest: f64,
}

/// Reads the last matches of a queue: how many, and what each rule cost in them.
pub(super) async fn read(
    site: &Site,
    queue: &str,
    rules: &[String],
) -> Result<(usize, Vec<RulePenalty>), WebError> {
    let matches = site.pages().queues().queue_findings(queue, MATCHES).await?;
    let penalties = rules.iter().map(|rule| penalty(rule, &matches)).collect();
    match matches.len() {
        0 => Ok((0, Vec::new())),
        count => Ok((count, penalties)),
    }
}

/// What one rule cost in matches, of which each has its lines.
fn penalty(rule: &str, matches: &[Vec<String>]) -> RulePenalty {
    let cost = |lines: &Vec<String>| {
        let costs = lines.iter().filter_map(|line| RuleReport::cost_in(line));
        let own = costs.filter(|(name, cost)| *name == rule && cost.is_finite());
        own.map(|(_, cost)| cost).sum::<f64>()
    };
    let costs: Vec<f64> = matches.iter().map(cost).collect();
    RulePenalty {
        rule: rule.to_owned(),
        violated: costs.iter().filter(|cost| **cost > 0.0).count(),
        mean_cost: costs.iter().sum::<f64>() / costs.len().max(1) as f64,
        highest: costs.iter().copied().fold(0.0, f64::max),
    }
}

/// A table with the costs of each rule that cost anything.
pub(super) fn table(queue: &str, rules: &[RulePenalty], matches: usize) -> Markup {
    let share = |violated| words::percent(violated as f64 / matches.max(1) as f64);
    let cost = || rules.iter().filter(|own| own.violated > 0);
    html! {
        h3 { (mark!(queues.penalties_by_rule_over_the_last, { (counted(matches, "match")) })) }
        @if cost().next().is_none() { p { (text!(queues.no_rule_cost_anything)) } } @else {
        (Table::of(&format!(text!(queues.rules_of), queue = queue), cost())
            .name(text!(queues.rule), |own| &own.rule)
            .num(text!(queues.matches_with_a_cost), |own| format!("{} ({})", own.violated, share(own.violated)))
            .num(text!(queues.mean_cost), |own| format!("{:.2}", own.mean_cost))
            .wide_num(text!(queues.highest_cost), |own| format!("{:.2}", own.highest)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_rule_is_read_from_its_lines() {
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        let matches: [Vec<String>; 2] = [
            lines(&[
                "penalty 1.250; no chance is predicted; the oldest ticket waited 3.0 s; seed 1",
                "tier spread: tier ranges from 7 to 9; 1 apart is allowed; violation 1.000, cost 1.250",
                "party: holds",
            ]),
            lines(&["tier spread: tier ranges from 7 to 8; 1 apart is allowed"]),
        ];
        let found = penalty("tier spread", &matches);
        assert_eq!(
            (found.violated, found.mean_cost, found.highest),
            (1, 0.625, 1.25)
        );
        let other = penalty("party", &matches);
        assert_eq!((other.violated, other.mean_cost), (0, 0.0));
    }
}
