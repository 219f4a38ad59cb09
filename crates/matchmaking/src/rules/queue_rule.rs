//! The rules of a queue, as its settings declare them.

use std::collections::BTreeMap;

use super::{
    BuiltRule, QueueColumns, QueueError, Registered, Rule, RuleSettings, names, registered,
};
use crate::{QueueSettings, attribute::MAX_ID};

/// The most rules of a queue.
const MAX_RULES: usize = 64;
/// The most steps of `smaller` or of `relax`.
pub(crate) const MAX_STEPS: usize = 32;

/// A rule of a queue, with the settings that all types of rules share.
#[derive(Debug)]
pub(crate) struct QueueRule {
    pub name: String,
    pub kind: &'static Registered,
    pub rule: Box<dyn Rule>,
    pub hard: bool,
    /// What a violation of 1 costs. That of a hard rule guides the search and is never 0.
    pub weight: f64,
    pub square: bool,
    pub at_most: f64,
    pub relax: Vec<(f64, f64)>,
    /// Number of players that each team should have.
    wanted: usize,
    /// The name of what the rule picks for the match, such as `map`.
    pub picks: Option<String>,
}

impl QueueRule {
    /// Builds the rules. A queue without a hard rule `full` gets one: all teams of a match have the same size.
    pub(crate) fn all(
        settings: &QueueSettings,
        columns: &mut QueueColumns,
    ) -> Result<Vec<Self>, QueueError> {
        if settings.rules.len() > MAX_RULES {
            let why = format!("must be at most {MAX_RULES} rules");
            return Err(QueueError::new("rule", why));
        }
        let mut specs = settings.rules.clone();
        if !specs.iter().any(RuleSettings::is_full) {
            specs.push(RuleSettings::full(&specs));
        }
        let mut seen = BTreeMap::new();
        let mut rules = Vec::new();
        for (index, spec) in specs.iter().enumerate() {
            let key = |name: &str| format!("rule[{index}].{name}");
            if spec.name.trim().is_empty() || spec.name.len() > MAX_ID {
                return Err(QueueError::new(key("name"), "must be a short name"));
            }
            if seen.insert(spec.name.as_str(), index).is_some() {
                return Err(QueueError::new(key("name"), "must not repeat a name"));
            }
            let kind = registered(&spec.rule).ok_or_else(|| {
                let known = names().join(", ");
                QueueError::new(key("rule"), format!("must be one of: {known}"))
            })?;
            let named = |error: QueueError| QueueError::new(key(&error.key), error.why);
            let built = (kind.build)(spec, columns).map_err(named)?;
            check_relax(&built).map_err(|why| QueueError::new(key("relax"), why))?;
            rules.push(Self {
                name: spec.name.clone(),
                kind,
                rule: built.rule,
                hard: spec.hard,
                weight: match spec.weight.get() {
                    none if spec.hard && none == 0.0 => 1.0,
                    weight => weight,
                },
                square: spec.square,
                at_most: built.at_most,
                relax: built.relax,
                wanted: settings.size.as_usize(),
                picks: built.picks,
            });
        }
        Ok(rules)
    }

    /// The limit of the rule once the oldest ticket has waited this many seconds, for teams of
    /// `size` players. All teams have this size, which a hard rule about sizes demands; a soft one
    /// compares it with the size that the queue wants.
    pub(crate) fn limit(&self, waited: f64, size: usize) -> f64 {
        if self.kind.is_size() {
            return if self.hard { size } else { self.wanted } as f64;
        }
        let mut reached = self.relax.iter().filter(|(after, _)| *after <= waited);
        reached
            .next_back()
            .map_or(self.at_most, |(_, at_most)| *at_most)
    }

    /// What a violation costs.
    pub(crate) fn cost(&self, violation: f64) -> f64 {
        self.weight
            * if self.square {
                violation * violation
            } else {
                violation
            }
    }
}

fn check_relax(built: &BuiltRule) -> Result<(), &'static str> {
    let mut before = (f64::NEG_INFINITY, built.at_most);
    for &(after, at_most) in &built.relax {
        let sound = after.is_finite() && after >= 0.0 && at_most.is_finite();
        if !sound || after <= before.0 || at_most <= before.1 {
            return Err("must be pairs of seconds and a larger at_most, both ascending");
        }
        before = (after, at_most);
    }
    match built.relax.len() > MAX_STEPS {
        true => Err("must be at most 32 steps"),
        false => Ok(()),
    }
}
