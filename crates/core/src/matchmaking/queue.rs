//! A queue: checked settings, and the rules that they declare.

use std::collections::BTreeMap;

use super::{
    AttributeType, QueueError, QueueSettings, TicketPlayer, Value,
    columns::QueueColumns,
    rules::{Registered, Rule, registered},
};

/// The most rules of a queue.
const MAX_RULES: usize = 64;
/// The most attributes of a queue.
const MAX_ATTRIBUTES: usize = 64;
/// The most steps of `smaller` or of `relax`.
const MAX_STEPS: usize = 32;

/// A queue: one configured kind of match.
#[derive(Debug)]
pub struct Queue {
    name: String,
    settings: QueueSettings,
    columns: QueueColumns,
    rules: Vec<QueueRule>,
    /// The column by whose sums the final split makes teams even.
    even_by: usize,
}

/// A rule of a queue, with the settings that all types of rules share.
#[derive(Debug)]
pub(super) struct QueueRule {
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
    /// The limit of the rule once the oldest ticket has waited this many seconds, for teams of
    /// `size` players. All teams have this size, which a hard rule about sizes demands; a soft one
    /// compares it with the size that the queue wants.
    pub fn limit(&self, waited: f64, size: usize) -> f64 {
        if self.kind.is_size() {
            return if self.hard { size } else { self.wanted } as f64;
        }
        let mut reached = self.relax.iter().filter(|(after, _)| *after <= waited);
        reached
            .next_back()
            .map_or(self.at_most, |(_, at_most)| *at_most)
    }

    /// What a violation costs.
    pub fn cost(&self, violation: f64) -> f64 {
        self.weight
            * if self.square {
                violation * violation
            } else {
                violation
            }
    }
}

impl Queue {
    /// Checks the settings of the queue `name`.
    ///
    /// # Errors
    /// Returns the first key that contradicts another or refers to what does not exist.
    pub fn new(name: &str, settings: QueueSettings) -> Result<Self, QueueError> {
        check_name("", name)?;
        if settings.attributes.len() > MAX_ATTRIBUTES {
            let why = format!("must be at most {MAX_ATTRIBUTES} attributes");
            return Err(QueueError::new("attributes", why));
        }
        for name in settings.attributes.keys() {
            check_name(&format!("attributes.{name}"), name)?;
        }
        if settings.ruleset.trim().is_empty() || settings.ruleset.len() > super::MAX_ID {
            let why = format!("must be a name of 1 to {} bytes", super::MAX_ID);
            return Err(QueueError::new("ruleset", why));
        }
        if settings.teams.as_usize() * settings.size.as_usize() > super::MAX_MATCH {
            let why = format!(
                "must be so small that a match has at most {} players",
                super::MAX_MATCH
            );
            return Err(QueueError::new("size", why));
        }
        check_name("partition", &settings.partition)?;
        if let Some(group) = &settings.group {
            check_name("group", group)?;
        }
        check_smaller(&settings)?;
        check_latency(&settings)?;
        let mut columns = QueueColumns::new(&settings.attributes);
        let rules = rules(&settings, &mut columns)?;
        let even_by = settings.even_by.as_deref().unwrap_or("@weight");
        let even_by = columns
            .number(even_by)
            .map_err(|why| QueueError::new("even_by", why))?;
        Ok(Self {
            name: name.to_owned(),
            settings,
            columns,
            rules,
            even_by,
        })
    }

    /// The name of the queue.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The checked settings.
    pub fn settings(&self) -> &QueueSettings {
        &self.settings
    }

    /// A player's number for a word of a declared `map num`.
    pub fn map_entry(&self, player: &TicketPlayer, attribute: &str, word: &str) -> Option<f64> {
        let mut names = self.settings.attributes.keys();
        let at = names.position(|name| name == attribute)?;
        let Value::Map(entries) = player.values.get(at)? else {
            return None;
        };
        let own = entries.iter().find(|(name, _)| name == word);
        own.map(|(_, number)| *number)
    }

    /// The `@` attributes that the queue's rules and its final split use.
    pub fn known_names(&self) -> Vec<&str> {
        self.columns.known_names()
    }

    /// The sizes that teams may have once the oldest ticket has waited this many seconds, the
    /// largest first.
    pub fn sizes(&self, waited: f64) -> Vec<usize> {
        let mut sizes = vec![self.settings.size.as_usize()];
        let reached = self.settings.smaller.iter().filter(|step| step.0 <= waited);
        sizes.extend(reached.map(|step| step.1 as usize));
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        sizes.dedup();
        sizes
    }

    /// The penalty that a match may have whose oldest ticket has waited this many seconds.
    pub fn accepts(&self, waited: f64) -> f64 {
        let accept = self.settings.accept.as_ref();
        accept.map_or(f64::INFINITY, |accept| accept.limit(waited))
    }

    /// The names of the rules, in the order of the configuration.
    pub fn rule_names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.name.as_str())
    }

    pub(super) fn rules(&self) -> &[QueueRule] {
        &self.rules
    }

    pub(super) fn columns(&self) -> &QueueColumns {
        &self.columns
    }

    pub(super) fn even_by(&self) -> usize {
        self.even_by
    }

    /// The number of a player by whose sums teams are made even, if it is not a strength.
    pub fn number_to_even(&self, player: &TicketPlayer) -> f64 {
        self.columns.number_of(self.even_by, player)
    }

    /// Whether the final split goes by chances, where the rating system predicts any.
    pub(super) fn is_even_by_chance(&self) -> bool {
        matches!(self.settings.even_by.as_deref(), None | Some("@weight"))
    }
}

fn check_name(key: &str, name: &str) -> Result<(), QueueError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=super::MAX_WORD).contains(&name.len()) && name.chars().all(plain) {
        return Ok(());
    }
    let why = "must be a name of letters, digits, - and _";
    Err(QueueError::new(key, why))
}

fn check_latency(settings: &QueueSettings) -> Result<(), QueueError> {
    let Some(latency) = &settings.latency else {
        return Ok(());
    };
    let declared = settings.attributes.get(&latency.of);
    match declared.map(|attribute| &attribute.of) {
        Some(AttributeType::Map) => Ok(()),
        _ => {
            let why = "must be an attribute that is declared as map num";
            Err(QueueError::new("latency.of", why))
        }
    }
}

fn check_smaller(settings: &QueueSettings) -> Result<(), QueueError> {
    let steps = &settings.smaller;
    let later = steps.is_sorted_by(|one, next| one.0 < next.0 && one.1 > next.1);
    let sound = |&(after, size): &(f64, u32)| {
        after.is_finite() && after >= 0.0 && (1..settings.size.get()).contains(&size)
    };
    if steps.len() <= MAX_STEPS && later && steps.iter().all(sound) {
        return Ok(());
    }
    let why = "must be pairs of seconds and a size below `size`, the seconds ascending and the sizes descending";
    Err(QueueError::new("smaller", why))
}

/// Builds the rules. A queue without a hard rule `full` gets one: all teams of a match have the same size.
fn rules(
    settings: &QueueSettings,
    columns: &mut QueueColumns,
) -> Result<Vec<QueueRule>, QueueError> {
    if settings.rules.len() > MAX_RULES {
        let why = format!("must be at most {MAX_RULES} rules");
        return Err(QueueError::new("rule", why));
    }
    let mut specs = settings.rules.clone();
    if !specs.iter().any(|rule| rule.hard && rule.rule == "full") {
        specs.push(super::RuleSettings::full(&specs));
    }
    let mut seen = BTreeMap::new();
    let mut rules = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let key = |name: &str| format!("rule[{index}].{name}");
        if spec.name.trim().is_empty() || spec.name.len() > super::MAX_ID {
            return Err(QueueError::new(key("name"), "must be a short name"));
        }
        if seen.insert(spec.name.as_str(), index).is_some() {
            return Err(QueueError::new(key("name"), "must not repeat a name"));
        }
        let kind = registered(&spec.rule).ok_or_else(|| {
            let known = super::rules::names().join(", ");
            QueueError::new(key("rule"), format!("must be one of: {known}"))
        })?;
        if let Some(unused) = spec
            .stated()
            .into_iter()
            .find(|name| !kind.keys.contains(name))
        {
            let why = format!("is not used by rules of the type {}", kind.name);
            return Err(QueueError::new(key(unused), why));
        }
        let build = (kind.build)(spec, columns);
        let rule = build.map_err(|(name, why)| QueueError::new(key(name), why))?;
        check_relax(spec).map_err(|why| QueueError::new(key("relax"), why))?;
        rules.push(QueueRule {
            name: spec.name.clone(),
            kind,
            rule,
            hard: spec.hard,
            weight: match spec.weight.get() {
                none if spec.hard && none == 0.0 => 1.0,
                weight => weight,
            },
            square: spec.square,
            at_most: spec.at_most.map_or(0.0, |at_most| at_most.get()),
            relax: spec.relax.clone(),
            wanted: settings.size.as_usize(),
            picks: spec.picks.clone(),
        });
    }
    Ok(rules)
}

fn check_relax(spec: &super::RuleSettings) -> Result<(), &'static str> {
    let first = (
        f64::NEG_INFINITY,
        spec.at_most.map_or(0.0, |at_most| at_most.get()),
    );
    let mut before = first;
    for &(after, at_most) in &spec.relax {
        let sound = after.is_finite() && after >= 0.0 && at_most.is_finite();
        if !sound || after <= before.0 || at_most <= before.1 {
            return Err("must be pairs of seconds and a larger at_most, both ascending");
        }
        before = (after, at_most);
    }
    match spec.relax.len() > MAX_STEPS {
        true => Err("must be at most 32 steps"),
        false => Ok(()),
    }
}
