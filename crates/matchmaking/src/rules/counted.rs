//! Rules that count: how many players, or parties, of each kind the teams have, compared with a limit or
//! with each other. The violation is how many there are too few or too many.
//!
//! - `full`: all teams have the wanted size. A hard rule wants the size that is being searched for; a soft
//!   one that of the queue, so that a match of smaller teams costs more.
//! - `has`: every team has at least `at_least` and at most `at_most` players with one value, such as one
//!   medic. A player whose attribute is a set has every value in it.
//! - `at-most-each`: no team has more than `at_most` players of one value. With `counted_by` and `from`,
//!   only players count whose `counted_by` is at least `from`.
//! - `at-most-together`: the match has no more than `at_most` players of one value, whatever their teams; with
//!   `value`, only players with that one count.
//! - `differ-each`: of each value, the teams' numbers of players differ by at most `at_most`. The values
//!   need not be known beforehand.
//! - `mirror`: all teams have the same values, each as many times.
//! - `mirror-parties`: all teams have parties of the same sizes and highest values, each as many times.

use std::collections::BTreeMap;

use evenkeel_model::units::{Amount, Count};
use serde::Deserialize;

use super::{
    BuiltRule, Evaluated, Finding, LintContext, Mirror, PreparedRule, QueueColumns, QueueError,
    QueueRule, Registered, Rule, RuleSettings, RuleTally, TeamShare, Teams, at,
    counts::{CountTally, NumberCondition, Symbols},
    list,
};
use crate::{
    attribute::AttributeType,
    columns::{AnyColumn, NumberColumn, TicketPeople, ValueColumn},
    settings::{FULL as FULL_NAME, NoKeys, OfKeys, Relax},
};

pub(super) const FULL: Registered = Registered {
    name: FULL_NAME,
    build: |settings, _| {
        let NoKeys {} = settings.read()?;
        Ok(CountRule::new("", CountSubject::Heads, CountDemand::Wanted).into())
    },
};

pub(super) const HAS: Registered = Registered {
    name: "has",
    build: has,
};

pub(super) const AT_MOST_EACH: Registered = Registered {
    name: "at-most-each",
    build: at_most_each,
};

pub(super) const AT_MOST_TOGETHER: Registered = Registered {
    name: "at-most-together",
    build: at_most_together,
};

pub(super) const DIFFER_EACH: Registered = Registered {
    name: "differ-each",
    build: |settings, columns| {
        let keys: DifferEachKeys = settings.read()?;
        let of = columns.value(&keys.of).map_err(at("of"))?;
        let counted = CountSubject::Values { of, from: None };
        let rule = CountRule::new(&keys.of, counted, CountDemand::Alike);
        Ok(BuiltRule::limited(rule, keys.at_most, keys.relax))
    },
};

pub(super) const MIRROR: Registered = Registered {
    name: "mirror",
    build: |settings, columns| {
        let keys: OfKeys = settings.read()?;
        let of = columns.value(&keys.of).map_err(at("of"))?;
        let counted = CountSubject::Values { of, from: None };
        Ok(CountRule::new(&keys.of, counted, CountDemand::Equal).into())
    },
};

pub(super) const MIRROR_PARTIES: Registered = Registered {
    name: "mirror-parties",
    build: |settings, columns| {
        let keys: OfKeys = settings.read()?;
        let of = columns.number(&keys.of).map_err(at("of"))?;
        Ok(CountRule::new(&keys.of, CountSubject::Parties { of }, CountDemand::Equal).into())
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HasKeys {
    of: String,
    value: String,
    at_least: Option<Count<0, 128>>,
    at_most: Option<Amount>,
}

fn has(settings: &RuleSettings, columns: &mut QueueColumns) -> Result<BuiltRule, QueueError> {
    let keys: HasKeys = settings.read()?;
    let counted = having(&keys.of, keys.value, columns)?;
    if keys.at_least.is_none() && keys.at_most.is_none() {
        return Err(QueueError::new("at_least", "or the key at_most is missing"));
    }
    let least = keys.at_least.map_or(0, |least| least.get() as i32);
    let most = keys.at_most.map_or(i32::MAX, |most| most.get() as i32);
    if least > most {
        return Err(QueueError::new("at_least", "must not be above at_most"));
    }
    Ok(CountRule::new(&keys.of, counted, CountDemand::Each { least, most }).into())
}

/// The players who have this value.
fn having(of: &str, value: String, columns: &mut QueueColumns) -> Result<CountSubject, QueueError> {
    let column = columns.any(of).map_err(at("of"))?;
    let words = columns.words_of(of);
    if !words.is_empty() && !words.contains(&value) {
        let why = format!("must be one of: {}", words.join(", "));
        return Err(QueueError::new("value", why));
    }
    Ok(CountSubject::Having { of: column, value })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AtMostTogetherKeys {
    of: String,
    value: Option<String>,
    at_most: Amount,
    #[serde(default)]
    relax: Relax,
}

fn at_most_together(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<BuiltRule, QueueError> {
    let keys: AtMostTogetherKeys = settings.read()?;
    let counted = match keys.value {
        Some(value) => having(&keys.of, value, columns)?,
        None => CountSubject::Values {
            of: columns.value(&keys.of).map_err(at("of"))?,
            from: None,
        },
    };
    let rule = CountRule::new(&keys.of, counted, CountDemand::Together);
    Ok(BuiltRule::limited(rule, keys.at_most, keys.relax))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AtMostEachKeys {
    of: String,
    at_most: Amount,
    #[serde(default)]
    relax: Relax,
    counted_by: Option<String>,
    from: Option<f64>,
}

fn at_most_each(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<BuiltRule, QueueError> {
    let keys: AtMostEachKeys = settings.read()?;
    let from = match (keys.counted_by, keys.from) {
        (None, None) => None,
        (Some(by), Some(from)) => Some((columns.number(&by).map_err(at("counted_by"))?, from)),
        (None, Some(_)) => return Err(QueueError::new("counted_by", "is missing")),
        (Some(_), None) => return Err(QueueError::new("from", "is missing")),
    };
    let of = columns.value(&keys.of).map_err(at("of"))?;
    let rule = CountRule::new(
        &keys.of,
        CountSubject::Values { of, from },
        CountDemand::AtMost,
    );
    Ok(BuiltRule::limited(rule, keys.at_most, keys.relax))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DifferEachKeys {
    of: String,
    at_most: Amount,
    #[serde(default)]
    relax: Relax,
}

/// A rule that counts.
#[derive(Debug)]
struct CountRule {
    /// The attribute, in sentences.
    name: String,
    counted: CountSubject,
    demand: CountDemand,
}

/// What is counted.
#[derive(Debug, PartialEq)]
enum CountSubject {
    /// All players.
    Heads,
    /// The players with one value.
    Having { of: AnyColumn, value: String },
    /// The players with each value. With `from`, only those whose number in a column is at least this.
    Values {
        of: ValueColumn,
        from: Option<(NumberColumn, f64)>,
    },
    /// The parties of each size and highest number.
    Parties { of: NumberColumn },
}

/// What is demanded of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountDemand {
    /// Each is the limit.
    Wanted,
    /// Each is within these.
    Each { least: i32, most: i32 },
    /// Each is at most the limit.
    AtMost,
    /// All together are at most the limit.
    Together,
    /// They differ by at most the limit.
    Alike,
    /// They are equal.
    Equal,
}

impl CountDemand {
    fn comparison(self, limit: f64) -> NumberCondition<i32> {
        let limit = limit.floor() as i32;
        match self {
            Self::Wanted => NumberCondition::Each {
                least: limit,
                most: limit,
            },
            Self::Each { least, most } => NumberCondition::Each { least, most },
            Self::AtMost => NumberCondition::Each {
                least: 0,
                most: limit,
            },
            Self::Together => NumberCondition::Together(limit),
            Self::Alike => NumberCondition::Differ(limit),
            Self::Equal => NumberCondition::Differ(0),
        }
    }
}

/// What is counted separately: for values their key, for parties their size and the bits of their highest
/// number.
type Key = (usize, u64);
/// The key where all are counted together.
const ALL: Key = (0, 0);

impl CountSubject {
    /// Adds the keys of a ticket, each as often as it counts.
    fn keys(&self, people: &TicketPeople, ticket: u32, keys: &mut Vec<Key>) {
        let players = people.members(ticket);
        match self {
            Self::Heads => keys.extend(players.map(|_| ALL)),
            Self::Having { of, value } => {
                let having = players.filter(|player| people.has(*of, *player, value));
                keys.extend(having.map(|_| ALL));
            }
            Self::Values { of, from } => {
                let counts = |player: &usize| {
                    from.is_none_or(|(by, from)| people.number(by, *player) >= from)
                };
                keys.extend(
                    players
                        .filter(counts)
                        .map(|player| (1, people.key(*of, player))),
                );
            }
            Self::Parties { of } if players.len() > 1 => {
                let numbers = players.clone().map(|player| people.number(*of, player));
                let highest = numbers.fold(f64::NEG_INFINITY, f64::max);
                // Adding 0 makes -0 and 0 the same.
                keys.push((players.len(), (highest + 0.0).to_bits()));
            }
            Self::Parties { .. } => {}
        }
    }

    /// The key that is there even if nobody has it.
    fn known(&self) -> Option<Key> {
        matches!(self, Self::Heads | Self::Having { .. }).then_some(ALL)
    }

    /// The text of a key.
    fn text(&self, people: &TicketPeople, key: Key) -> String {
        match self {
            Self::Values { of, .. } => people.text_of(*of, key.1),
            _ => format!("{} up to {}", key.0, f64::from_bits(key.1)),
        }
    }

    /// The keys that any team has, each with its number by team; higher numbers first.
    fn table(&self, people: &TicketPeople, teams: Teams<'_>) -> Vec<(Key, Vec<usize>)> {
        let mut table: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        table.extend(self.known().map(|key| (key, vec![0; teams.len()])));
        let mut keys = Vec::new();
        for (at, team) in teams.iter().enumerate() {
            for &ticket in team {
                self.keys(people, ticket, &mut keys);
                for key in keys.drain(..) {
                    table.entry(key).or_insert_with(|| vec![0; teams.len()])[at] += 1;
                }
            }
        }
        let mut table: Vec<_> = table.into_iter().collect();
        if let Self::Values { of, .. } = self {
            table.sort_by(|(one, _), (other, _)| {
                people
                    .number_of(*of, other.1)
                    .total_cmp(&people.number_of(*of, one.1))
            });
        }
        table
    }
}

fn joined<T: ToString>(each: impl IntoIterator<Item = T>, with: &str) -> String {
    let texts: Vec<String> = each.into_iter().map(|one| one.to_string()).collect();
    texts.join(with)
}

impl CountRule {
    fn new(name: &str, counted: CountSubject, demand: CountDemand) -> Self {
        Self {
            name: name.to_owned(),
            counted,
            demand,
        }
    }

    /// The keys of a ticket.
    fn of_ticket(&self, people: &TicketPeople, ticket: u32) -> Vec<Key> {
        let mut keys = Vec::new();
        self.counted.keys(people, ticket, &mut keys);
        keys
    }

    /// What each team has, key by key.
    fn lists(&self, people: &TicketPeople, table: &[(Key, Vec<usize>)], teams: usize) -> String {
        let separator = match self.counted {
            CountSubject::Parties { .. } => ", ",
            _ => " ",
        };
        let list = |team: usize| {
            let texts = table.iter().flat_map(|(key, counts)| {
                vec![self.counted.text(people, *key); counts.get(team).copied().unwrap_or(0)]
            });
            match joined(texts, separator) {
                none if none.is_empty() => "none".to_owned(),
                list => list,
            }
        };
        joined((0..teams).map(list), " | ")
    }
}

/// What cannot be meant.
impl CountRule {
    /// The name of a hard rule that mirrors the same values.
    fn mirrored<'q>(&self, queue: &LintContext<'q>) -> Option<&'q str> {
        let mut rules = queue.rules_like::<Self>();
        let mirror = rules.find(|(own, rule)| {
            own.hard && rule.demand == CountDemand::Equal && rule.counted == self.counted
        });
        mirror.map(|(own, _)| own.name.as_str())
    }

    /// Why no full team can meet the rule, if none can.
    fn too_few(&self, queue: &LintContext<'_>, own: &QueueRule) -> Option<String> {
        let size = queue.settings.size.get();
        match (&self.counted, self.demand) {
            (CountSubject::Values { from: None, .. }, CountDemand::AtMost) => {
                let values = match queue.type_of(&self.name)? {
                    AttributeType::Enum(words) => words.len() as f64,
                    AttributeType::Int { least, most } => {
                        f64::from(*most) - f64::from(*least) + 1.0
                    }
                    AttributeType::Flag => 2.0,
                    _ => return None,
                };
                let last = own
                    .relax
                    .last()
                    .map_or(own.at_most, |(_, at_most)| *at_most);
                (values * last.floor() < f64::from(size)).then(|| {
                    format!(
                        "{values} values with at most {last} players each make no team of {size}"
                    )
                })
            }
            (_, CountDemand::Each { least, .. }) => (i64::from(least) > i64::from(size))
                .then(|| format!("a team of {size} players never has {least}")),
            _ => None,
        }
    }

    /// Whether all hard rules about the values of one enum demand more players than a team has, or allow
    /// fewer. The first of these rules finds it.
    fn roles(&self, queue: &LintContext<'_>, own: &QueueRule) -> Vec<Finding> {
        let (CountSubject::Having { of, .. }, Some(AttributeType::Enum(words))) =
            (&self.counted, queue.type_of(&self.name))
        else {
            return Vec::new();
        };
        let size = i64::from(queue.settings.size.get());
        let rules = queue.rules_like::<Self>();
        let roles = rules.filter_map(|(other, rule)| match (&rule.counted, rule.demand) {
            (CountSubject::Having { of: same, value }, CountDemand::Each { least, most })
                if other.hard && same == of =>
            {
                Some((&other.name, value, i64::from(least), i64::from(most)))
            }
            _ => None,
        });
        let roles: Vec<_> = roles.collect();
        if roles.first().is_none_or(|(name, ..)| **name != own.name) {
            return Vec::new();
        }
        let least: i64 = roles.iter().map(|(.., least, _)| least).sum();
        let limit = |word: &String| {
            let mut own = roles.iter().filter(|(_, value, ..)| *value == word);
            let limits = own.find(|(.., most)| *most < i64::from(i32::MAX));
            limits.map_or(i64::from(i32::MAX), |(.., most)| *most)
        };
        let most: i64 = words.iter().map(limit).sum();
        let demanded = (least > size).then(|| format!("demand {least}"));
        let allowed = (most < size).then(|| format!("allow {most}"));
        let whys = demanded.into_iter().chain(allowed);
        let why = |why| format!("the rules of the type has {why} players on a team of {size}");
        whys.map(|what| Finding::contradiction(&self.name, why(what)))
            .collect()
    }
}

impl Rule for CountRule {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, evaluated: Evaluated) -> String {
        let limit = evaluated.limit;
        let table = self.counted.table(people, teams);
        let name = &self.name;
        let text = |key: Key| self.counted.text(people, key);
        let most = |counts: &[usize]| counts.iter().copied().max().unwrap_or(0);
        let apart = |counts: &[usize]| most(counts) - counts.iter().copied().min().unwrap_or(0);
        let first = table.first().map_or(&[][..], |(_, counts)| counts);
        match (&self.counted, self.demand) {
            (CountSubject::Heads, _) => {
                format!(
                    "the teams have {} players of {limit}",
                    joined(first, " and ")
                )
            }
            (CountSubject::Having { value, .. }, _) => {
                format!(
                    "players with the value {value} by team: {}",
                    joined(first, " | ")
                )
            }
            (CountSubject::Parties { .. }, _) => format!(
                "parties by size and highest {name}: {}",
                self.lists(people, &table, teams.len())
            ),
            (CountSubject::Values { .. }, CountDemand::AtMost) => {
                match table.iter().max_by_key(|(_, counts)| most(counts)) {
                    None => format!("nobody's {name} counts"),
                    Some((key, counts)) => format!(
                        "a team has {} with the {name} {}; {limit} are allowed",
                        most(counts),
                        text(*key)
                    ),
                }
            }
            (CountSubject::Values { .. }, CountDemand::Together) => {
                let all = |counts: &[usize]| counts.iter().sum::<usize>();
                match table.iter().max_by_key(|(_, counts)| all(counts)) {
                    None => format!("nobody has a {name}"),
                    Some((key, counts)) => format!(
                        "{} players have the {name} {}; {limit} are allowed",
                        all(counts),
                        text(*key)
                    ),
                }
            }
            (CountSubject::Values { .. }, CountDemand::Alike) => {
                match table.iter().max_by_key(|(_, counts)| apart(counts)) {
                    None => format!("nobody has a {name}"),
                    Some((key, counts)) => format!(
                        "players with the {name} {} by team: {}; {limit} apart is allowed",
                        text(*key),
                        joined(counts, " | ")
                    ),
                }
            }
            (CountSubject::Values { .. }, _) => {
                format!(
                    "{name} by team: {}",
                    self.lists(people, &table, teams.len())
                )
            }
        }
    }

    fn wanted(&self, people: &TicketPeople, teams: Teams<'_>, _: f64) -> Option<String> {
        match (&self.counted, self.demand) {
            (CountSubject::Having { value, .. }, CountDemand::Each { least, .. }) => {
                let table = self.counted.table(people, teams);
                let counts = (0..).zip(table.first()?.1.iter());
                let lacking = counts.filter_map(|(at, count)| {
                    let lacking = i64::from(least) - *count as i64;
                    (lacking > 0).then(|| format!("{lacking} for team {at}"))
                });
                let lacking: Vec<String> = lacking.collect();
                (!lacking.is_empty())
                    .then(|| format!("with the value {value}: {}", list(&lacking, "and")))
            }
            (CountSubject::Values { .. }, CountDemand::Equal) => {
                Some(format!("of the same {} on all teams", self.name))
            }
            _ => None,
        }
    }

    fn description_of(&self, people: &TicketPeople, ticket: u32) -> Option<String> {
        let keys = self.of_ticket(people, ticket);
        let first = keys.first()?;
        match (&self.counted, self.demand) {
            (CountSubject::Having { value, .. }, _) => Some(format!("the value {value}")),
            (CountSubject::Parties { .. }, _) => {
                let highest = f64::from_bits(first.1);
                Some(format!("the highest {} {highest}", self.name))
            }
            (CountSubject::Values { .. }, CountDemand::Equal) => {
                let texts = keys.iter().map(|key| self.counted.text(people, *key));
                let texts: Vec<String> = texts.collect();
                Some(format!("{} {}", self.name, list(&texts, "and")))
            }
            _ => None,
        }
    }

    fn lint(&self, own: &QueueRule, queue: &LintContext<'_>) -> Vec<Finding> {
        let size = queue.settings.size.get();
        let players = f64::from(size) * f64::from(queue.settings.teams.get());
        let is_wide = own.at_most >= f64::from(size);
        let never_binds = match (&self.counted, self.demand) {
            (CountSubject::Heads, _) => (!own.hard && queue.settings.smaller.is_empty())
                .then(|| "without `smaller`, all teams have the wanted size".to_owned()),
            (_, CountDemand::Together) => {
                (own.at_most >= players).then(|| format!("a match has only {players} players"))
            }
            (CountSubject::Values { .. }, CountDemand::AtMost | CountDemand::Alike) if is_wide => {
                Some(format!("a team has only {size} players"))
            }
            (CountSubject::Values { .. }, CountDemand::Alike) => self
                .mirrored(queue)
                .map(|other| format!("{other} demands the same values on all teams")),
            (_, CountDemand::Each { least: 0, most }) => (i64::from(most) >= i64::from(size))
                .then(|| "any number of players is allowed".to_owned()),
            _ => None,
        };
        let warnings =
            never_binds.map(|why| Finding::warning(&own.name, format!("never binds: {why}")));
        let mut findings: Vec<Finding> = warnings.into_iter().collect();
        if own.hard {
            let too_few = self.too_few(queue, own).into_iter();
            findings.extend(too_few.map(|why| Finding::contradiction(&own.name, why)));
            findings.extend(self.roles(queue, own));
        }
        findings
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let symbols = Symbols::of(people, self.counted.known(), |ticket, keys| {
            self.counted.keys(people, ticket, keys);
        });
        Box::new(PreparedCounts {
            symbols,
            demand: self.demand,
            parties: matches!(self.counted, CountSubject::Parties { .. }),
        })
    }
}

/// What is counted of each ticket.
struct PreparedCounts {
    symbols: Symbols,
    demand: CountDemand,
    /// Whether parties are counted.
    parties: bool,
}

impl PreparedRule for PreparedCounts {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_> {
        let comparison = self.demand.comparison(limit);
        Box::new(CountTally::new(&self.symbols, teams, comparison))
    }

    fn mirror(&self, ticket: u32) -> Option<Mirror> {
        let own = self.symbols.of_ticket(ticket).iter();
        let mut keys: Vec<u64> = own.map(|symbol| u64::from(*symbol)).collect();
        keys.sort_unstable();
        let strict = self.parties;
        matches!(self.demand, CountDemand::Equal | CountDemand::Each { .. })
            .then_some(Mirror { keys, strict })
    }

    /// Players with a value that many have are placed first, while teams have room for them.
    fn selectivity(&self, ticket: u32, _: f64) -> f64 {
        match self.demand {
            CountDemand::AtMost | CountDemand::Together => {
                let symbols = self.symbols.of_ticket(ticket).iter();
                let others = symbols.map(|symbol| 1.0 - self.symbols.share(*symbol));
                others.fold(1.0, f64::min)
            }
            _ => 1.0,
        }
    }

    fn share(&self, teams: usize, limit: f64) -> Option<(&Symbols, TeamShare)> {
        let limit = limit.floor().clamp(0.0, 128.0) as i32;
        let teams = teams as i32;
        let share = match self.demand {
            CountDemand::AtMost => TeamShare::Limited {
                most: limit * teams,
            },
            CountDemand::Together => TeamShare::Limited { most: limit },
            CountDemand::Alike => TeamShare::About { slack: limit },
            CountDemand::Equal if self.parties => TeamShare::Parties { teams },
            CountDemand::Equal => TeamShare::Players { teams },
            CountDemand::Wanted | CountDemand::Each { .. } => return None,
        };
        Some((&self.symbols, share))
    }

    fn demand(&self) -> usize {
        match self.demand {
            CountDemand::Each { least, .. } => usize::try_from(least).unwrap_or(0),
            _ => 0,
        }
    }

    fn supply(&self, ticket: u32) -> usize {
        match self.demand {
            CountDemand::Each { .. } => self.symbols.of_ticket(ticket).len(),
            _ => 0,
        }
    }

    /// A party of which a player has left cannot be mirrored any more.
    fn is_met_by_more(&self) -> bool {
        !self.parties && !self.is_monotone()
    }

    fn is_monotone(&self) -> bool {
        matches!(self.demand, CountDemand::AtMost | CountDemand::Together)
    }
}
