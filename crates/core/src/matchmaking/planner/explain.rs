//! What each rule finds in a match.

use super::{PlanInput, PlannedMatch};
use crate::matchmaking::{
    Queue, Ticket,
    pool::Pool,
    rules::{PreparedRule, QueueRule},
};

/// What one rule finds in a match.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleReport {
    /// The name of the rule.
    pub rule: String,
    /// Whether it holds in every match that is formed.
    pub hard: bool,
    /// How much the match violates it; 0 if it holds.
    pub violation: f64,
    /// What the violation costs.
    pub cost: f64,
    /// What the rule finds, in one sentence.
    pub sentence: String,
}

impl RuleReport {
    /// The report in one line: `tier spread: tier ranges from 7 to 8; 1 apart is allowed`.
    pub fn line(&self) -> String {
        let Self {
            rule,
            violation,
            cost,
            sentence,
            ..
        } = self;
        match *violation > 0.0 {
            true => format!("{rule}: {sentence}; violation {violation:.3}, cost {cost:.3}"),
            false => format!("{rule}: {sentence}"),
        }
    }

    /// The rule and the cost in such a line; `None` for other lines about a match.
    pub fn cost_in(line: &str) -> Option<(&str, f64)> {
        let (rule, rest) = line.split_once(": ")?;
        let cost = match rest.rsplit_once(", cost ") {
            Some((before, cost)) if before.contains("; violation ") => cost.parse().ok()?,
            _ => 0.0,
        };
        Some((rule, cost))
    }
}

impl Queue {
    /// What each rule finds in a match of some tickets, computed from scratch, where no rating system
    /// predicts chances.
    pub fn explain(&self, tickets: &[Ticket], found: &PlannedMatch) -> Vec<RuleReport> {
        PlanInput::new(self, tickets).explain(found)
    }
}

impl PlanInput<'_> {
    /// What each rule finds in a match of the tickets, computed from scratch.
    pub fn explain(&self, found: &PlannedMatch) -> Vec<RuleReport> {
        let own = |place: &usize| self.tickets.get(*place).cloned();
        let seated: Vec<Ticket> = found.teams.iter().flatten().filter_map(own).collect();
        let pool = Pool::new(self.queue, &seated, self.outlook);
        let mut teams = vec![Vec::new(); found.teams.len()];
        let ends = found.teams.iter().scan(0, |end, team| {
            *end += team.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        for (ticket, place) in (0..).zip(&pool.places) {
            let team = ends.partition_point(|end| *end <= *place);
            teams[team].push(ticket);
        }
        reports(&pool, &teams, found.waited, found.size)
    }
}

/// What each rule finds in these teams.
pub(in crate::matchmaking) fn reports(
    pool: &Pool<'_>,
    teams: &[Vec<u32>],
    waited: f64,
    size: usize,
) -> Vec<RuleReport> {
    let report = |rule: &QueueRule, prepared: &dyn PreparedRule| {
        let evaluated = prepared.evaluate(teams, rule.limit(waited, size));
        let violation = evaluated.violation;
        RuleReport {
            rule: rule.name.clone(),
            hard: rule.hard,
            violation,
            cost: rule.cost(violation),
            sentence: rule.rule.sentence(&pool.people, teams, evaluated),
        }
    };
    let rules = pool.queue.rules().iter().zip(&pool.prepared);
    let reports = rules.map(|(rule, prepared)| report(rule, prepared.as_ref()));
    reports.collect()
}
