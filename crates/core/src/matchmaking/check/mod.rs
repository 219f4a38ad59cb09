//! Findings about a queue's settings that are valid, but cannot be meant: rules that contradict,
//! rules that never bind, attributes that nothing uses.

mod one_rule;
#[cfg(test)]
mod tests;

use super::{AttributeType, Queue};

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
