//! The settings of one rule: a section `[[queue.NAME.rule]]` of the configuration.

use serde::{Deserialize, Serialize};

use crate::domain::units::{Amount, Count};

/// The settings of a rule. `name` and `rule` are required; which of the others a rule uses depends
/// on its type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSettings {
    /// The name of the rule in explanations, unique in its queue.
    pub name: String,
    /// The type of the rule, such as `spread`.
    pub rule: String,
    /// The attribute that the rule is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// The largest number for which the rule holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Amount>,
    /// The smallest number for which the rule holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<Count<0, 128>>,
    /// The value that the rule counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether the players of parties count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parties: Option<Parties>,
    /// Whether the rule compares all players of the match, or those of each team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Within>,
    /// The attribute that decides which players count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted_by: Option<String>,
    /// Players count whose `counted_by` is at least this; of a range, the smallest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// The largest number of a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<f64>,
    /// The attribute that is each player's ceiling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<String>,
    /// The flag by which a player asks for the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<String>,
    /// What the shared value decides for the match, such as `map`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picks: Option<String>,
    /// How the numbers of a team are joined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// Whether the rule is about players of one team, of different teams, or both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The number of last matches that count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Count<1, 20>>,
    /// Whether the rule holds in every match that is formed.
    #[serde(default)]
    pub hard: bool,
    /// What a violation of 1 costs.
    #[serde(default = "one")]
    pub weight: Amount,
    /// Whether the square of the violation costs, instead of the violation.
    #[serde(default)]
    pub square: bool,
    /// Larger values of `at_most`, each with the seconds that the oldest ticket must have waited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relax: Vec<(f64, f64)>,
}

/// Whether the players of parties count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Parties {
    /// Members of parties count like single players.
    #[default]
    Counted,
    /// They do not.
    Exempt,
}

/// Among whom a rule compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// All players of the match.
    #[default]
    Match,
    /// The players of each team.
    Team,
}

/// How the numbers of a team are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// The sum over the players of a team.
    #[default]
    Sum,
    /// The mean over the players of a team.
    Mean,
    /// The largest value of a team's players.
    Max,
}

/// Which pairs of players a rule is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Players of the same team.
    With,
    /// Players of different teams.
    Against,
    /// All players of the match.
    #[default]
    Both,
}

fn one() -> Amount {
    const { Amount::of(1.0) }
}

impl RuleSettings {
    /// The rule that a queue has if none of its own `rules` is a hard one of the type `full`.
    pub(in crate::matchmaking) fn full(rules: &[Self]) -> Self {
        let mut name = "full teams".to_owned();
        while rules.iter().any(|rule| rule.name == name) {
            name.push('\'');
        }
        Self {
            hard: true,
            ..Self::new(&name, "full")
        }
    }

    /// A soft rule of this type with all defaults.
    pub fn new(name: &str, rule: &str) -> Self {
        Self {
            name: name.to_owned(),
            rule: rule.to_owned(),
            of: None,
            at_most: None,
            at_least: None,
            value: None,
            parties: None,
            within: None,
            counted_by: None,
            from: None,
            to: None,
            ceiling: None,
            asked_by: None,
            picks: None,
            by: None,
            side: None,
            last: None,
            hard: false,
            weight: one(),
            square: false,
            relax: Vec::new(),
        }
    }

    /// The names of the keys that are stated and that only some types of rules use.
    pub(in crate::matchmaking) fn stated(&self) -> Vec<&'static str> {
        let keys = [
            ("of", self.of.is_some()),
            ("at_most", self.at_most.is_some()),
            ("at_least", self.at_least.is_some()),
            ("value", self.value.is_some()),
            ("parties", self.parties.is_some()),
            ("within", self.within.is_some()),
            ("counted_by", self.counted_by.is_some()),
            ("from", self.from.is_some()),
            ("to", self.to.is_some()),
            ("ceiling", self.ceiling.is_some()),
            ("asked_by", self.asked_by.is_some()),
            ("picks", self.picks.is_some()),
            ("by", self.by.is_some()),
            ("side", self.side.is_some()),
            ("last", self.last.is_some()),
            ("relax", !self.relax.is_empty()),
        ];
        let stated = keys.into_iter().filter(|(_, stated)| *stated);
        stated.map(|(name, _)| name).collect()
    }

    /// The attribute that the rule is about, which its type requires.
    pub(super) fn of(&self) -> Result<&str, (&'static str, String)> {
        required("of", self.of.as_deref())
    }

    /// The limit, which the type of the rule requires.
    pub(super) fn limit(&self) -> Result<f64, (&'static str, String)> {
        required("at_most", self.at_most.map(|at_most| at_most.get()))
    }
}

/// The value of a key that a type of rule requires.
pub(super) fn required<T>(
    key: &'static str,
    value: Option<T>,
) -> Result<T, (&'static str, String)> {
    value.ok_or_else(|| (key, "is missing".to_owned()))
}
