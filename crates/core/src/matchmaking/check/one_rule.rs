//! What cannot be meant about one rule: it holds in every match, or in none.

use crate::matchmaking::{Attribute, AttributeType, By, Queue, RuleSettings};

impl Queue {
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
    pub(super) fn never_binds(&self, rule: &RuleSettings) -> Option<String> {
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
    pub(super) fn contradicts(&self, rule: &RuleSettings) -> Option<String> {
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
}
