//! Findings about a queue's settings that are valid, but cannot be meant: rules that contradict,
//! rules that never bind, attributes that nothing uses.

#[cfg(test)]
mod tests;

use super::{Finding, Queue, rules::LintContext};

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
