//! Findings about a queue's settings that are valid, but cannot be meant: rules that contradict,
//! rules that never bind, attributes that nothing uses.

use std::any::Any;

use evenkeel_model::behaviour;

use crate::{
    Queue, QueueSettings,
    attribute::AttributeType,
    rules::{QueueRule, Rule},
};

impl Queue {
    /// Everything about the settings that cannot be meant.
    pub fn findings(&self) -> Vec<Finding> {
        let settings = self.settings();
        let mut findings: Vec<Finding> = Vec::new();
        let context = LintContext {
            settings,
            rules: self.rules(),
        };
        for rule in self.rules() {
            match rule.hard || rule.weight > 0.0 {
                true => findings.extend(rule.rule.lint(rule, &context)),
                false => findings.push(Finding::warning(
                    &rule.name,
                    "has no effect: it is not hard and its weight is 0",
                )),
            }
            let ttl = f64::from(settings.ttl.get());
            if rule.relax.iter().any(|(after, _)| *after >= ttl) {
                findings.push(Finding::warning(
                    &rule.name,
                    "a step of relax comes after tickets expire (ttl)",
                ));
            }
        }
        findings.extend(self.picked_twice());
        if settings
            .smaller
            .iter()
            .any(|(after, _)| *after >= f64::from(settings.ttl.get()))
        {
            findings.push(Finding::warning(
                "smaller",
                "a step comes after tickets expire (ttl)",
            ));
        }
        if settings.accept.is_some() && settings.rules.iter().all(|rule| rule.hard) {
            findings.push(Finding::warning(
                "accept",
                "never binds: all rules are hard, so no match has a penalty",
            ));
        }
        let latency = settings.latency.as_ref().map(|latency| &latency.of);
        for name in self
            .columns()
            .unused()
            .into_iter()
            .filter(|name| latency.is_none_or(|of| of != name))
        {
            findings.push(Finding::warning(name, "no rule uses this attribute"));
        }
        findings
    }

    /// Rules that pick the same thing for a match.
    fn picked_twice(&self) -> Vec<Finding> {
        let picks = self
            .rules()
            .iter()
            .filter_map(|rule| rule.picks.as_ref().map(|p| (p, rule)));
        let picks: Vec<_> = picks.collect();
        let again = picks
            .iter()
            .enumerate()
            .filter(|(at, (pick, _))| picks.iter().take(*at).any(|(other, _)| other == pick));
        again
            .map(|(_, (pick, rule))| {
                Finding::contradiction(&rule.name, format!("another rule picks the {pick}, too"))
            })
            .collect()
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// No match can ever be formed.
    Contradiction,
    /// Matches can be formed, but a part of the settings has no effect.
    Warning,
}

/// Something about a queue's settings that cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The rule, attribute or key that it is about.
    pub about: String,
    /// What is wrong, in one sentence.
    pub why: String,
}

impl Finding {
    /// A part of the settings without effect.
    pub(crate) fn warning(about: &str, why: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            about: about.to_owned(),
            why: why.into(),
        }
    }

    /// What keeps all matches from being formed.
    pub(crate) fn contradiction(about: &str, why: impl Into<String>) -> Self {
        Self {
            severity: Severity::Contradiction,
            ..Self::warning(about, why)
        }
    }
}

/// The queue of a rule.
pub(crate) struct LintContext<'a> {
    pub settings: &'a QueueSettings,
    pub rules: &'a [QueueRule],
}

impl<'a> LintContext<'a> {
    /// The rules that are of this Rust type, in order.
    pub(crate) fn rules_like<R: Rule>(&self) -> impl Iterator<Item = (&'a QueueRule, &'a R)> {
        self.rules.iter().filter_map(|own| {
            let rule: &dyn Any = own.rule.as_ref();
            Some((own, rule.downcast_ref()?))
        })
    }

    /// What the values of an attribute are; `None` if the queue does not declare it.
    pub(crate) fn type_of(&self, attribute: &str) -> Option<&'a AttributeType> {
        let attribute = self.settings.attributes.get(attribute);
        attribute.map(|attribute| &attribute.of)
    }

    /// The smallest and the largest number that an attribute can have, if it has bounds.
    pub(crate) fn extent(&self, attribute: &str) -> Option<(f64, f64)> {
        match attribute {
            "@weight" | "@deviation" | "@games" | "@hours" | "@known_since" | "@division" => {
                Some((0.0, f64::INFINITY))
            }
            "@behaviour" => Some((-behaviour::MOST, behaviour::MOST)),
            _ => match self.type_of(attribute)? {
                AttributeType::Int { least, most } => Some((f64::from(*least), f64::from(*most))),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    //! What is found about queues whose settings cannot be meant.

    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let queue = Queue::new("x", toml::from_str(text).unwrap()).unwrap();
        let shown =
            |finding: Finding| format!("{:?} {}: {}", finding.severity, finding.about, finding.why);
        queue.findings().into_iter().map(shown).collect()
    }

    #[test]
    fn what_cannot_be_meant_is_found() {
        let text = r#"
        teams = 2
        size = 7
        ttl = 60
        ruleset = "x"
        smaller = [[60, 5]]
        accept = { start = 0, per_second = 0, max = 0 }
        attributes = { tier = "int 1..3", kind = "enum a b", maps = "set", spare = "num" }
        rule = [
          { name = "wide", rule = "spread", of = "tier", at_most = 2, hard = true },
          { name = "few", rule = "at-most-each", of = "kind", at_most = 3, hard = true },
          { name = "same", rule = "mirror", of = "tier", hard = true },
          { name = "idle", rule = "differ-each", of = "tier", at_most = 1, hard = true },
          { name = "a", rule = "has", of = "kind", value = "a", at_least = 5, hard = true },
          { name = "b", rule = "has", of = "kind", value = "b", at_least = 3, hard = true },
          { name = "one", rule = "common", of = "maps", picks = "map", hard = true },
          { name = "two", rule = "common", of = "maps", picks = "map", hard = true },
          { name = "late", rule = "gap", of = "tier", at_most = 1, relax = [[60, 2]], hard = true },
        ]
    "#;
        assert_eq!(
            findings(text),
            [
                "Warning wide: never binds: values are at most 2 apart, and 2 is allowed",
                "Contradiction few: 2 values with at most 3 players each make no team of 7",
                "Warning idle: never binds: same demands the same values on all teams",
                "Contradiction kind: the rules of the type has demand 8 players on a team of 7",
                "Warning late: a step of relax comes after tickets expire (ttl)",
                "Contradiction two: another rule picks the map, too",
                "Warning smaller: a step comes after tickets expire (ttl)",
                "Warning accept: never binds: all rules are hard, so no match has a penalty",
                "Warning spare: no rule uses this attribute",
            ]
        );
    }

    #[test]
    fn ranges_that_cannot_be_meant_are_found() {
        let text = r#"
        teams = 2
        size = 7
        ruleset = "x"
        attributes = { tier = "int 1..3" }
        rule = [
          { name = "all", rule = "range", of = "@games", from = 0, hard = true },
          { name = "old", rule = "range", of = "@hours", from = 20, hard = true },
          { name = "new", rule = "range", of = "@hours", to = 10, hard = true },
          { name = "tiers", rule = "range", of = "tier", from = 1, to = 3, hard = true },
          { name = "none", rule = "range", of = "tier", from = 4, hard = true },
          { name = "saints", rule = "range", of = "@behaviour", from = 101, hard = true },
        ]
    "#;
        assert_eq!(
            findings(text),
            [
                "Warning all: never binds: it allows every value",
                "Contradiction new: no value meets this rule and old",
                "Warning tiers: never binds: it allows every value",
                "Contradiction none: allows no value",
                "Contradiction none: no value meets this rule and tiers",
                "Contradiction saints: allows no value",
            ]
        );
    }

    #[test]
    fn the_shipped_queues_have_no_findings() {
        let files = [
            include_str!("../../../../config/queues/wotb.toml"),
            include_str!("../../../../config/queues/pickup.toml"),
            include_str!("../../../../config/queues/ranked.toml"),
        ];
        let mut queues = 0;
        for file in files {
            let table: toml::Table = file.parse().unwrap();
            for (name, settings) in table["queue"].as_table().unwrap() {
                let queue = Queue::new(name, settings.clone().try_into().unwrap()).unwrap();
                assert_eq!(queue.findings(), [], "{name}");
                queues += 1;
            }
        }
        assert_eq!(queues, 6);
    }
}
