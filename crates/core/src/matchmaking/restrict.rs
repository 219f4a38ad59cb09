//! Restricted queues: what hard rules of the type `range` ask of each player alone, and what is wrong
//! with such rules.

use super::{
    AttributeType, Queue, RuleSettings, Ticket, TicketError,
    check::{Finding, contradiction, warning},
};

/// The lowest number that an `@` attribute can have; `None` for a declared attribute.
fn lowest(name: &str) -> Option<f64> {
    match name {
        "@weight" | "@deviation" | "@games" | "@hours" | "@known_since" | "@division" => Some(0.0),
        _ => None,
    }
}

impl Queue {
    /// Whether a hard rule asks something of each player alone, so that [`admit`](Self::admit) may refuse
    /// a ticket.
    pub fn is_restricted(&self) -> bool {
        let mut rules = self.settings().rules.iter();
        rules.any(|rule| rule.hard && rule.rule == "range")
    }

    /// Checks that each player of a ticket can be in a match of this queue, whoever else plays.
    ///
    /// # Errors
    /// Returns the first player whom a hard rule keeps out, and what that player lacks.
    pub fn admit(&self, ticket: &Ticket) -> Result<(), TicketError> {
        for player in &ticket.players {
            for rule in self.rules().iter().filter(|rule| rule.hard) {
                if let Some(why) = rule.rule.ineligible_because(self.columns(), player) {
                    return Err(TicketError::Barred {
                        player: player.id.clone(),
                        rule: rule.name.clone(),
                        why,
                    });
                }
            }
        }
        Ok(())
    }

    /// What cannot be meant about the rules of the type `range`.
    pub(super) fn ranges(&self) -> Vec<Finding> {
        let rules = self.settings().rules.iter();
        let ranges: Vec<&RuleSettings> = rules.filter(|rule| rule.rule == "range").collect();
        let mut findings = Vec::new();
        for (at, rule) in ranges.iter().enumerate() {
            let (from, to) = ends(rule);
            if let Some((least, most)) = self.extent(rule) {
                if from <= least && most <= to {
                    findings.push(warning(&rule.name, "never binds: it allows every value"));
                }
                if rule.hard && (most < from || to < least) {
                    findings.push(contradiction(&rule.name, "allows no value"));
                }
            }
            let mut others = ranges.iter().take(at);
            let other = others.find(|other| {
                let (other_from, other_to) = ends(other);
                rule.hard
                    && other.hard
                    && rule.of == other.of
                    && (to < other_from || other_to < from)
            });
            if let Some(other) = other {
                let why = format!("no value meets this rule and {}", other.name);
                findings.push(contradiction(&rule.name, why));
            }
        }
        findings
    }

    /// The smallest and the largest number that the rule's attribute can have, if it has bounds.
    fn extent(&self, rule: &RuleSettings) -> Option<(f64, f64)> {
        let name = rule.of.as_deref()?;
        if name == "@behaviour" {
            let most = crate::domain::behaviour::MOST;
            return Some((-most, most));
        }
        if let Some(least) = lowest(name) {
            return Some((least, f64::INFINITY));
        }
        match self.settings().attributes.get(name)?.of {
            AttributeType::Int { least, most } => Some((f64::from(least), f64::from(most))),
            _ => None,
        }
    }
}

fn ends(rule: &RuleSettings) -> (f64, f64) {
    let from = rule.from.unwrap_or(f64::NEG_INFINITY);
    (from, rule.to.unwrap_or(f64::INFINITY))
}
