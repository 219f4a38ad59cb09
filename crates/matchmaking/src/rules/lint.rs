//! What a rule may look at to find out what cannot be meant about it.

use std::any::Any;

use super::{Rule, queue_rule::QueueRule};
use crate::{AttributeType, QueueSettings};
use evenkeel_model::behaviour;

/// The queue of a rule.
pub(crate) struct LintContext<'a> {
    pub settings: &'a QueueSettings,
    pub rules: &'a [QueueRule],
}

impl<'a> LintContext<'a> {
    /// The rules that are of this Rust type, in order.
    pub(super) fn rules_like<R: Rule>(&self) -> impl Iterator<Item = (&'a QueueRule, &'a R)> {
        self.rules.iter().filter_map(|own| {
            let rule: &dyn Any = own.rule.as_ref();
            Some((own, rule.downcast_ref()?))
        })
    }

    /// What the values of an attribute are; `None` if the queue does not declare it.
    pub(super) fn type_of(&self, attribute: &str) -> Option<&'a AttributeType> {
        let attribute = self.settings.attributes.get(attribute);
        attribute.map(|attribute| &attribute.of)
    }

    /// The smallest and the largest number that an attribute can have, if it has bounds.
    pub(super) fn extent(&self, attribute: &str) -> Option<(f64, f64)> {
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
