//! Findings about a queue's settings that are valid, but cannot be meant: rules that contradict,
//! rules that never bind, attributes that nothing uses.

use super::{Attribute, AttributeType, By, Queue, RuleSettings};

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

impl Queue {
    /// Everything about the settings that cannot be meant.
    pub fn findings(&self) -> Vec<Finding> {
        let settings = self.settings();
        let mut findings: Vec<Finding> = Vec::new();
        for rule in &settings.rules {
            findings.extend(self.never_binds(rule).map(|why| warning(&rule.name, why)));
            findings.extend(
                self.contradicts(rule)
                    .map(|why| contradiction(&rule.name, why)),
            );
            if !rule.hard && rule.weight.get() == 0.0 {
                findings.push(warning(
                    &rule.name,
                    "has no effect: it is not hard and its weight is 0",
                ));
            }
            let ttl = f64::from(settings.ttl.get());
            if rule.relax.iter().any(|(after, _)| *after >= ttl) {
                findings.push(warning(
                    &rule.name,
                    "a step of relax comes after tickets expire (ttl)",
                ));
            }
        }
        findings.extend(self.ranges());
        findings.extend(self.roles());
        findings.extend(self.picked_twice());
        if settings
            .smaller
            .iter()
            .any(|(after, _)| *after >= f64::from(settings.ttl.get()))
        {
            findings.push(warning(
                "smaller",
                "a step comes after tickets expire (ttl)",
            ));
        }
        if settings.accept.is_some() && settings.rules.iter().all(|rule| rule.hard) {
            findings.push(warning(
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
            findings.push(warning(name, "no rule uses this attribute"));
        }
        findings
    }

    fn attribute(&self, name: Option<&str>) -> Option<&Attribute> {
        self.settings().attributes.get(name?)
    }

    /// The largest difference between two values of a declared range.
    fn width(&self, name: Option<&str>) -> Option<f64> {
        match self.attribute(name)?.of {
            AttributeType::Int { least, most } => Some(f64::from(most) - f64::from(least)),
            _ => None,
        }
    }

    /// Why a rule holds in every match, if it does.
    fn never_binds(&self, rule: &RuleSettings) -> Option<String> {
        let size = f64::from(self.settings().size.get());
        let at_most = rule.at_most.map_or(0.0, |at_most| at_most.get());
        let of = rule.of.as_deref();
        let width = self.width(of);
        let why = match rule.rule.as_str() {
            "full" if !rule.hard && self.settings().smaller.is_empty() => {
                Some("never binds: without `smaller`, all teams have the wanted size".to_owned())
            }
            "spread" => width.filter(|width| at_most >= *width).map(|width| {
                format!("never binds: values are at most {width} apart, and {at_most} is allowed")
            }),
            "at-most-each" if at_most >= size => {
                Some(format!("never binds: a team has only {size} players"))
            }
            "differ-each" if at_most >= size => {
                Some(format!("never binds: a team has only {size} players"))
            }
            "differ-each" => self
                .mirrored(of)
                .map(|other| format!("never binds: {other} demands the same values on all teams")),
            "gap" => {
                let most = match rule.by.unwrap_or_default() {
                    By::Sum => width.map(|width| width * size),
                    By::Mean | By::Max => width,
                };
                most.filter(|most| at_most >= *most).map(|most| {
                    format!("never binds: teams are at most {most} apart, and {at_most} is allowed")
                })
            }
            "chance" => {
                let most = 1.0 - 1.0 / f64::from(self.settings().teams.get());
                (at_most >= most).then(|| format!("never binds: no chance is {at_most} from even"))
            }
            "ceiling" if of == rule.ceiling.as_deref() => Some(
                "never binds for one player: the ceiling is the value itself, so all must be equal"
                    .to_owned(),
            ),
            "has" => {
                let least = rule.at_least.map_or(0, |least| least.get());
                let most = rule.at_most.map_or(f64::INFINITY, |most| most.get());
                (least == 0 && most >= size)
                    .then(|| "never binds: any number of players is allowed".to_owned())
            }
            _ => None,
        };
        why.filter(|_| rule.hard || rule.weight.get() > 0.0)
    }

    /// The name of a hard rule that mirrors the attribute.
    fn mirrored(&self, of: Option<&str>) -> Option<&str> {
        let mut rules = self.settings().rules.iter();
        let mirror =
            rules.find(|rule| rule.hard && rule.rule == "mirror" && rule.of.as_deref() == of);
        mirror.map(|rule| rule.name.as_str())
    }

    /// Why no match can meet the rule, if none can.
    fn contradicts(&self, rule: &RuleSettings) -> Option<String> {
        let size = f64::from(self.settings().size.get());
        let at_most = rule.at_most.map_or(f64::INFINITY, |at_most| at_most.get());
        let of = self.attribute(rule.of.as_deref());
        match (rule.rule.as_str(), of.map(|attribute| &attribute.of)) {
            _ if !rule.hard => None,
            ("at-most-each", Some(of)) => {
                let values = match of {
                    AttributeType::Enum(words) => words.len() as f64,
                    AttributeType::Int { least, most } => {
                        f64::from(*most) - f64::from(*least) + 1.0
                    }
                    AttributeType::Flag => 2.0,
                    _ => return None,
                };
                let last = rule.relax.last().map_or(at_most, |(_, at_most)| *at_most);
                let most = values * last.floor();
                (rule.counted_by.is_none() && most < size).then(|| {
                    format!(
                        "{values} values with at most {last} players each make no team of {size}"
                    )
                })
            }
            ("has", _) => {
                let least = f64::from(rule.at_least.map_or(0, |least| least.get()));
                (least > size).then(|| format!("a team of {size} players never has {least}"))
            }
            _ => None,
        }
    }

    /// Whether hard `has` rules of one enum demand more players than a team has, or allow fewer.
    fn roles(&self) -> Vec<Finding> {
        let size = self.settings().size.get();
        let mut findings = Vec::new();
        for (name, attribute) in &self.settings().attributes {
            let AttributeType::Enum(words) = &attribute.of else {
                continue;
            };
            let rules = self.settings().rules.iter();
            let rules: Vec<_> = rules
                .filter(|rule| rule.hard && rule.rule == "has" && rule.of.as_deref() == Some(name))
                .collect();
            let least: u32 = rules
                .iter()
                .filter_map(|rule| rule.at_least)
                .map(|least| least.get())
                .sum();
            if least > size {
                let why =
                    format!("the rules of the type has demand {least} players on a team of {size}");
                findings.push(contradiction(name, why));
            }
            let limit = |word: &String| {
                let mut of = rules
                    .iter()
                    .filter(|rule| rule.value.as_ref() == Some(word));
                of.find_map(|rule| rule.at_most)
                    .map_or(f64::INFINITY, |most| most.get())
            };
            let most: f64 = words.iter().map(limit).sum();
            if most < f64::from(size) {
                let why =
                    format!("the rules of the type has allow {most} players on a team of {size}");
                findings.push(contradiction(name, why));
            }
        }
        findings
    }

    /// Rules that pick the same thing for a match.
    fn picked_twice(&self) -> Vec<Finding> {
        let picks = self
            .settings()
            .rules
            .iter()
            .filter_map(|rule| rule.picks.as_ref().map(|p| (p, rule)));
        let picks: Vec<_> = picks.collect();
        let again = picks
            .iter()
            .enumerate()
            .filter(|(at, (pick, _))| picks.iter().take(*at).any(|(other, _)| other == pick));
        again
            .map(|(_, (pick, rule))| {
                contradiction(&rule.name, format!("another rule picks the {pick}, too"))
            })
            .collect()
    }
}

pub(super) fn warning(about: &str, why: impl Into<String>) -> Finding {
    Finding {
        severity: Severity::Warning,
        about: about.to_owned(),
        why: why.into(),
    }
}

pub(super) fn contradiction(about: &str, why: impl Into<String>) -> Finding {
    Finding {
        severity: Severity::Contradiction,
        ..warning(about, why)
    }
}

#[cfg(test)]
mod tests {
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
                "Warning late: a step of relax comes after tickets expire (ttl)",
                "Contradiction kind: the rules of the type has demand 8 players on a team of 7",
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
            include_str!("../../config/queues/wotb.toml"),
            include_str!("../../config/queues/pickup.toml"),
            include_str!("../../config/queues/ranked.toml"),
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
