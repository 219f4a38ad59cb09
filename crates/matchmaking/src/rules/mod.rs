//! Rules: what a match must be like. Most compare a number of each team with a limit or with each other: how
//! many players there are of each kind (`counted`), or what a number of theirs adds up to (`measured`). The
//! others are about who plays together (`together`) and about each player's number (`range`). [`REGISTRY`] lists all types.
//!
//! A [`Rule`] is made from the settings alone, and has the words of explanations. With the players of a pool it
//! becomes a [`PreparedRule`], which has small numbers for each ticket at hand. Whoever evaluates it opens a
//! [`RuleTally`] on it, which follows the tickets that come and go. The tests of this folder compare the violation
//! of a tally with the definition of each type over random moves.

mod counted;
mod counts;
mod measured;
mod range;
#[cfg(test)]
pub(super) mod tests;
mod together;

pub(crate) use crate::settings::RuleSettings;

pub(super) use counts::Symbols;

use std::{any::Any, borrow::Cow, collections::BTreeMap, fmt};

use evenkeel_model::{behaviour, units::Amount};

use crate::{
    QueueError, QueueSettings,
    attribute::{AttributeType, MAX_ID},
    columns::{Bits, QueueColumns, TicketPeople},
    settings::Relax,
    ticket::TicketPlayer,
};

/// The texts as a list that ends with this word: `a, b or c`. Beyond [`LISTED`], a number stands for the
/// rest.
fn list(texts: &[String], last: &str) -> String {
    match texts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., end] if texts.len() <= LISTED => format!("{} {last} {end}", first.join(", ")),
        _ => {
            let (shown, rest) = texts.split_at(LISTED - 1);
            format!("{} {last} {} more", shown.join(", "), rest.len())
        }
    }
}

/// A number for a sentence: with at most two places. What is known of players can have many more.
fn short(number: f64) -> f64 {
    (number * 100.0).round() / 100.0 + 0.0 // no -0
}

/// The most texts of a list.
const LISTED: usize = 4;

/// The tickets of each team.
pub(super) type Teams<'a> = &'a [Vec<u32>];

/// How much teams violate a rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evaluated {
    pub limit: f64,
    pub violation: f64,
}

/// A rule of a queue, before a pool is known.
pub(super) trait Rule: Any + fmt::Debug + Send + Sync {
    /// What the rule finds in these teams, in one sentence.
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, evaluated: Evaluated) -> String;

    /// What a player must be like who joins these teams, as words that follow "players": `with tier 7
    /// or 8`. `None` if the rule asks nothing of a single player.
    fn wanted(&self, _people: &TicketPeople, _teams: Teams<'_>, _limit: f64) -> Option<String> {
        None
    }

    /// The words of which the rule can pick one for a match of these teams.
    fn words(&self, _people: &TicketPeople, _teams: Teams<'_>) -> Vec<u32> {
        Vec::new()
    }

    /// Whether all players of a ticket have the value that the rule picked for a match.
    fn admits(&self, _people: &TicketPeople, _ticket: u32, _pick: &str) -> bool {
        true
    }

    /// What a ticket must have in common with this one to make up for it on another team: `tier 8`.
    fn description_of(&self, _people: &TicketPeople, _ticket: u32) -> Option<String> {
        None
    }

    /// What a player lacks who can meet the rule in no match, whoever else plays: `needs at least 20
    /// games, has 3`. `None` if the rule is about several players, or the player meets it.
    fn ineligible_because(
        &self,
        _columns: &QueueColumns,
        _player: &TicketPlayer,
    ) -> Option<String> {
        None
    }

    /// Whether the rule asks something of each player alone.
    fn is_about_each_player(&self) -> bool {
        false
    }

    /// What cannot be meant about the rule as a queue declares it: it holds in every match, or in none.
    fn lint(&self, _own: &QueueRule, _queue: &LintContext<'_>) -> Vec<Finding> {
        Vec::new()
    }

    /// Computes what the rule needs to know of each ticket.
    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule>;
}

/// A rule with what it needs to know of each ticket of a pool.
pub(super) trait PreparedRule: Send + Sync {
    /// Opens a tally of `teams` empty teams.
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_>;

    /// How much these teams violate the rule: 0 if it holds.
    fn violation(&self, teams: Teams<'_>, limit: f64) -> f64 {
        let mut tally = self.tally(teams.len(), limit);
        for (at, team) in teams.iter().enumerate() {
            team.iter().for_each(|ticket| tally.put(at, *ticket));
        }
        tally.violation()
    }

    /// The same with its limit, for a sentence.
    fn evaluate(&self, teams: Teams<'_>, limit: f64) -> Evaluated {
        Evaluated {
            limit,
            violation: self.violation(teams, limit),
        }
    }

    /// The ways to choose other tickets so that the rule holds in any match of the chosen ones and
    /// of `seed`; an empty list if there is none, `None` if the rule depends on who is on which
    /// team.
    fn choices(&self, _seed: u32, _limit: f64) -> Option<Vec<RuleScope<'_>>> {
        None
    }

    /// What the ticket adds to its team that another ticket must add to each other team, and
    /// whether no other tickets can make up for it.
    fn mirror(&self, _ticket: u32) -> Option<Mirror> {
        None
    }

    /// The share of the tickets that the ticket could play with by this rule, about. Tickets with a
    /// small share are placed first.
    fn selectivity(&self, _ticket: u32, _limit: f64) -> f64 {
        1.0
    }

    /// The values of which the rule limits the teams' numbers, and how; `None` if it limits none.
    fn share(&self, _teams: usize, _limit: f64) -> Option<(&Symbols, TeamShare)> {
        None
    }

    /// Number of players of a kind that the rule demands on each team; 0 if it demands none.
    fn demand(&self) -> usize {
        0
    }

    /// Number of the ticket's players who are of the kind that the rule demands.
    fn supply(&self, _ticket: u32) -> usize {
        0
    }

    /// Whether players who join a match that violates the rule can make it hold.
    fn is_met_by_more(&self) -> bool {
        !self.is_monotone()
    }

    /// Whether one more ticket never makes the violation smaller.
    fn is_monotone(&self) -> bool {
        false
    }
}

/// Tickets among which a rule holds.
pub(super) struct RuleScope<'a> {
    /// The tickets that could form a match together.
    pub tickets: Cow<'a, Bits>,
    /// The shared word, where the rule picks one for the match.
    pub word: Option<u32>,
}

/// What a ticket adds to its team, as sorted keys.
pub(super) struct Mirror {
    /// The keys; two tickets mirror each other if theirs are equal.
    pub keys: Vec<u64>,
    /// Whether only a ticket with equal keys can make up for it.
    pub strict: bool,
}

/// How many players with a value the teams may have.
#[derive(Clone, Copy, Debug)]
pub(super) enum TeamShare {
    /// Each player has a value, and all teams must have as many players with it.
    Players { teams: i32 },
    /// Each party has a value, and all teams must have as many parties with it.
    Parties { teams: i32 },
    /// The teams' numbers may differ by `slack`.
    About { slack: i32 },
    /// All teams together may have `most` players with a value.
    Limited { most: i32 },
}

impl TeamShare {
    /// By how much the teams' numbers of a value may differ, if they may not differ by more.
    pub(crate) fn slack(self) -> Option<i32> {
        match self {
            Self::Players { .. } | Self::Parties { .. } => Some(0),
            Self::About { slack } => Some(slack),
            Self::Limited { .. } => None,
        }
    }

    /// The most players who can have a value that occurs `count` times; with the value come `players`
    /// players each time.
    pub(crate) fn seats(self, count: i32, players: usize) -> i64 {
        let times = match self {
            Self::Players { teams } | Self::Parties { teams } => count - count % teams.max(1),
            Self::About { .. } => count,
            Self::Limited { most } => count.min(most),
        };
        i64::from(times) * players as i64
    }

    /// The players who come with a value of a ticket of `size` players.
    pub(crate) fn whole(self, size: usize) -> Option<usize> {
        matches!(self, Self::Parties { .. }).then_some(size)
    }

    /// The players of a ticket of `size` players who come without a value, if it has `values` values.
    pub(crate) fn uncounted(self, size: usize, values: usize) -> usize {
        match self {
            Self::Parties { .. } if values > 0 => 0,
            _ => size.saturating_sub(values),
        }
    }
}

/// The violation of one rule while tickets come and go.
pub(super) trait RuleTally {
    /// Adds a ticket to a team.
    fn put(&mut self, team: usize, ticket: u32);
    /// Removes a ticket from a team that has it.
    fn take(&mut self, team: usize, ticket: u32);
    /// How much the teams violate the rule: 0 if it holds.
    fn violation(&self) -> f64;
}

/// A rule that is made from its settings, with the keys of its type that every queue reads.
#[derive(Debug)]
pub(super) struct BuiltRule {
    pub rule: Box<dyn Rule>,
    /// The limit, and larger ones after a wait.
    pub at_most: f64,
    pub relax: Relax,
    /// What it picks for the match.
    pub picks: Option<String>,
}

impl BuiltRule {
    /// A rule with a limit.
    fn limited(rule: impl Rule, at_most: Amount, relax: Relax) -> Self {
        Self {
            at_most: at_most.get(),
            relax,
            ..rule.into()
        }
    }
}

impl<R: Rule> From<R> for BuiltRule {
    fn from(rule: R) -> Self {
        Self {
            rule: Box::new(rule),
            at_most: 0.0,
            relax: Relax::new(),
            picks: None,
        }
    }
}

/// Names the key of an error.
fn at(key: &'static str) -> impl Fn(String) -> QueueError {
    move |why| QueueError::new(key, why)
}

/// Makes a rule from its settings, or returns what is wrong with the keys of its type.
type Build = fn(&RuleSettings, &mut QueueColumns) -> Result<BuiltRule, QueueError>;

/// A type of rules.
#[derive(Debug)]
pub(super) struct Registered {
    /// The name of the type in the configuration.
    pub name: &'static str,
    /// Makes a rule of this type.
    pub build: Build,
}

impl Registered {
    /// Whether the rule is about the size of teams, so that its limit is that size.
    pub(crate) fn is_size(&self) -> bool {
        self.name == crate::settings::FULL
    }
}

/// All types of rules.
const REGISTRY: [&Registered; 15] = [
    &counted::FULL,
    &measured::SPREAD,
    &counted::MIRROR,
    &counted::MIRROR_PARTIES,
    &counted::AT_MOST_EACH,
    &counted::AT_MOST_TOGETHER,
    &counted::DIFFER_EACH,
    &together::COMMON,
    &range::CEILING,
    &together::ALIKE,
    &measured::GAP,
    &measured::CHANCE,
    &together::APART,
    &counted::HAS,
    &range::RANGE,
];

/// The type of this name.
fn registered(name: &str) -> Option<&'static Registered> {
    REGISTRY.into_iter().find(|known| known.name == name)
}

/// The names of all types.
pub(super) fn names() -> Vec<&'static str> {
    REGISTRY.iter().map(|known| known.name).collect()
}

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
