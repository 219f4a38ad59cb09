//! The settings of one rule: a section `[[queue.NAME.rule]]` of the configuration.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use toml::{Table, Value};

use crate::QueueError;
use evenkeel_model::units::Amount;

/// The settings of a rule: what all rules have, and the keys of its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleSettings {
    /// The name of the rule in explanations, unique in its queue.
    pub name: String,
    /// The type of the rule, such as `spread`.
    pub rule: String,
    /// Whether the rule holds in every match that is formed.
    #[serde(default)]
    pub hard: bool,
    /// What a violation of 1 costs.
    #[serde(default = "one")]
    pub weight: Amount,
    /// Whether the square of the violation costs, instead of the violation.
    #[serde(default)]
    pub square: bool,
    /// The other keys. [`Queue::new`](crate::Queue::new) checks them by the type.
    #[serde(flatten)]
    pub keys: Table,
}

/// The name of the type that is about the size of teams.
pub(super) const FULL: &str = "full";
/// The keys that rules of all types have.
const COMMON: &str = "name, rule, hard, weight, square";

fn one() -> Amount {
    const { Amount::of(1.0) }
}

/// Larger values of `at_most`, each with the seconds that the oldest ticket must have waited.
pub(super) type Relax = Vec<(f64, f64)>;

/// The keys of a type that has none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoKeys {}

/// The keys of a type that is only about an attribute.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OfKeys {
    pub of: String,
}

impl RuleSettings {
    /// The rule that a queue has if none of its own `rules` is a hard one of the type `full`.
    pub(crate) fn full(rules: &[Self]) -> Self {
        let mut name = "full teams".to_owned();
        while rules.iter().any(|rule| rule.name == name) {
            name.push('\'');
        }
        Self {
            name,
            rule: FULL.to_owned(),
            hard: true,
            weight: one(),
            square: false,
            keys: Table::new(),
        }
    }

    /// Whether the rule is a hard one that all teams have the wanted size.
    pub(crate) fn is_full(&self) -> bool {
        self.hard && self.rule == FULL
    }

    /// Reads the keys of the rule's type.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, QueueError> {
        let keys = Value::Table(self.keys.clone());
        serde_path_to_error::deserialize(keys).map_err(|error: serde_path_to_error::Error<_>| {
            let (key, why) = (error.path().to_string(), error.into_inner());
            self.refused(key, why.message().trim())
        })
    }

    /// An error in the words of the documentation.
    fn refused(&self, key: String, why: &str) -> QueueError {
        if let Some(missing) = why.strip_prefix("missing field ") {
            return QueueError::new(missing.replace('`', ""), "is missing");
        }
        match why.strip_prefix("unknown field ") {
            Some(unknown) => {
                let known = unknown
                    .split_once(", expected ")
                    .map_or("", |(_, known)| known);
                let known = known.trim_start_matches("one of ").replace('`', "");
                let own = if known.is_empty() {
                    known
                } else {
                    format!("{known}, ")
                };
                let kind = &self.rule;
                let why =
                    format!("is not used by rules of the type {kind}: its keys are {own}{COMMON}");
                QueueError::new(key, why)
            }
            None => QueueError::new(key, why),
        }
    }
}
