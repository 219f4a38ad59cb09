//! Rules of the range in which each player's number has to be.
//!
//! - `range`: each player's number is at least `from` and at most `to`, such as 20 games. The violation is how many players
//!   have another one. A hard rule of this type says who may use the queue at all.
//! - `ceiling`: nobody's value is above anyone's own ceiling. The violation is the highest value minus the lowest ceiling.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    BuiltRule, Evaluated, Finding, LintContext, PreparedRule, QueueColumns, QueueError, QueueRule,
    Registered, Rule, RuleScope, RuleSettings, RuleTally, Teams, at, counts::Seated, list, short,
};
use crate::{
    columns::{Bits, NumberColumn, TicketPeople},
    ticket::TicketPlayer,
};

pub(super) const RANGE: Registered = Registered {
    name: "range",
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RangeKeys {
    of: String,
    from: Option<f64>,
    to: Option<f64>,
}

#[derive(Debug)]
struct NumberRange {
    of: NumberColumn,
    name: String,
    from: f64,
    to: f64,
}

fn build(settings: &RuleSettings, columns: &mut QueueColumns) -> Result<BuiltRule, QueueError> {
    let keys: RangeKeys = settings.read()?;
    if keys.from.is_none() && keys.to.is_none() {
        return Err(QueueError::new("from", "or the key to is missing"));
    }
    for (key, number) in [("from", keys.from), ("to", keys.to)] {
        if number.is_some_and(|number| !number.is_finite()) {
            return Err(QueueError::new(key, "must be a finite number"));
        }
    }
    let range = NumberRange {
        of: columns.number(&keys.of).map_err(at("of"))?,
        name: keys.of,
        from: keys.from.unwrap_or(f64::NEG_INFINITY),
        to: keys.to.unwrap_or(f64::INFINITY),
    };
    match range.from > range.to {
        true => Err(QueueError::new("from", "must not be above to")),
        false => Ok(range.into()),
    }
}

/// What the numbers of an attribute count, as messages word it: one of it, and several.
fn unit(name: &str) -> Option<[&'static str; 2]> {
    match name {
        "@games" => Some(["game", "games"]),
        "@hours" => Some(["hour of play", "hours of play"]),
        "@known_since" => Some(["day since the first match", "days since the first match"]),
        _ => None,
    }
}

impl NumberRange {
    fn holds(&self, number: f64) -> bool {
        (self.from..=self.to).contains(&number)
    }

    /// What the rule asks of a player: `at least 20 games`, or `tier from 5 to 8`.
    fn asks(&self) -> String {
        let (from, to) = (self.from, self.to);
        let numbers = match (from.is_finite(), to.is_finite()) {
            (true, true) => format!("from {from} to {to}"),
            (true, false) => format!("at least {from}"),
            _ => format!("at most {to}"),
        };
        match unit(&self.name) {
            Some([one, _]) if numbers.ends_with(" 1") => format!("{numbers} {one}"),
            Some([_, several]) => format!("{numbers} {several}"),
            None => format!("{} {numbers}", self.name),
        }
    }

    /// A number outside the range with at most two places, rounded away from the range.
    fn shown(&self, number: f64) -> f64 {
        let hundredths = number * 100.0;
        let rounded = match number < self.from {
            true => hundredths.floor(),
            false => hundredths.ceil(),
        };
        rounded / 100.0
    }

    /// The numbers outside the range of the players of these tickets.
    fn outside<'a>(
        &'a self,
        people: &'a TicketPeople,
        tickets: impl Iterator<Item = &'a u32> + 'a,
    ) -> impl Iterator<Item = f64> + 'a {
        let players = tickets.flat_map(|&ticket| people.members(ticket));
        let numbers = players.map(|player| people.number(self.of, player));
        numbers.filter(|number| !self.holds(*number))
    }
}

impl Rule for NumberRange {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, _: Evaluated) -> String {
        let outside = self.outside(people, teams.iter().flatten());
        let numbers: Vec<String> = outside.map(|n| self.shown(n).to_string()).collect();
        let asks = self.asks();
        match numbers.is_empty() {
            true => format!("all players have {asks}"),
            false => format!("players must have {asks}, not {}", list(&numbers, "and")),
        }
    }

    fn wanted(&self, people: &TicketPeople, _: Teams<'_>, _: f64) -> Option<String> {
        let all: Vec<u32> = (0..people.tickets() as u32).collect();
        let binds = self.outside(people, all.iter()).next().is_some();
        binds.then(|| format!("with {}", self.asks()))
    }

    fn ineligible_because(&self, columns: &QueueColumns, player: &TicketPlayer) -> Option<String> {
        let number = columns.number_of(self.of, player);
        let has = || format!("needs {}, has {}", self.asks(), self.shown(number));
        (!self.holds(number)).then(has)
    }

    fn is_about_each_player(&self) -> bool {
        true
    }

    fn lint(&self, own: &QueueRule, queue: &LintContext<'_>) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some((least, most)) = queue.extent(&self.name) {
            if self.from <= least && most <= self.to {
                findings.push(Finding::warning(
                    &own.name,
                    "never binds: it allows every value",
                ));
            }
            if own.hard && (most < self.from || self.to < least) {
                findings.push(Finding::contradiction(&own.name, "allows no value"));
            }
        }
        let before = queue.rules_like::<Self>();
        let mut before = before.take_while(|(other, _)| other.name != own.name);
        let other = before.find(|(other, rule)| {
            let is_apart = self.to < rule.from || rule.to < self.from;
            own.hard && other.hard && rule.of == self.of && is_apart
        });
        if let Some((other, _)) = other {
            let why = format!("no value meets this rule and {}", other.name);
            findings.push(Finding::contradiction(&own.name, why));
        }
        findings
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let mut fitting = Bits::empty(people.tickets());
        let mut outside = Vec::with_capacity(people.tickets());
        for ticket in 0..people.tickets() as u32 {
            let count = self.outside(people, [ticket].iter()).count();
            outside.push(count);
            if count == 0 {
                fitting.insert(ticket);
            }
        }
        Box::new(Fitting { fitting, outside })
    }
}

/// The tickets all of whose players are in the range.
struct Fitting {
    fitting: Bits,
    /// How many players of each ticket are outside it.
    outside: Vec<usize>,
}

impl PreparedRule for Fitting {
    fn tally(&self, teams: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(Seated::new(teams, |teams: &[Vec<u32>]| {
            let tickets = teams.iter().flatten();
            let outside = tickets.map(|ticket| self.outside[*ticket as usize]);
            outside.sum::<usize>() as f64
        }))
    }

    fn choices(&self, seed: u32, _: f64) -> Option<Vec<RuleScope<'_>>> {
        let fits = self.outside[seed as usize] == 0;
        let choice = RuleScope {
            tickets: Cow::Borrowed(&self.fitting),
            word: None,
        };
        Some(if fits { vec![choice] } else { Vec::new() })
    }

    fn is_monotone(&self) -> bool {
        true
    }
}

pub(super) const CEILING: Registered = Registered {
    name: "ceiling",
    build: |settings, columns| {
        let keys: CeilingKeys = settings.read()?;
        let rule = Ceiling {
            of: columns.number(&keys.of).map_err(at("of"))?,
            name: keys.of,
            ceiling: columns.number(&keys.ceiling).map_err(at("ceiling"))?,
            ceiling_name: keys.ceiling,
        };
        Ok(rule.into())
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CeilingKeys {
    of: String,
    ceiling: String,
}

#[derive(Debug)]
struct Ceiling {
    of: NumberColumn,
    name: String,
    ceiling: NumberColumn,
    ceiling_name: String,
}

impl Ceiling {
    /// The highest value and the lowest ceiling of some tickets.
    fn ends<'a>(
        &self,
        people: &TicketPeople,
        tickets: impl Iterator<Item = &'a u32>,
    ) -> (f64, f64) {
        let players = tickets.flat_map(|&ticket| people.members(ticket));
        let none = (f64::NEG_INFINITY, f64::INFINITY);
        players.fold(none, |(value, ceiling), player| {
            let own = people.number(self.of, player);
            (
                value.max(own),
                ceiling.min(people.number(self.ceiling, player)),
            )
        })
    }
}

impl Rule for Ceiling {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, _: Evaluated) -> String {
        let (value, ceiling) = self.ends(people, teams.iter().flatten());
        let (value, ceiling) = (short(value), short(ceiling));
        format!(
            "the highest {} is {value}, and the lowest ceiling {ceiling}",
            self.name
        )
    }

    fn wanted(&self, people: &TicketPeople, teams: Teams<'_>, _: f64) -> Option<String> {
        let (value, ceiling) = self.ends(people, teams.iter().flatten());
        let all: Vec<u32> = (0..people.tickets() as u32).collect();
        let (highest, lowest) = self.ends(people, all.iter());
        let mut wanted = Vec::new();
        if ceiling < highest {
            wanted.push(format!("{} at most {}", self.name, short(ceiling)));
        }
        if value > lowest {
            wanted.push(format!("{} at least {}", self.ceiling_name, short(value)));
        }
        (!wanted.is_empty()).then(|| format!("with {}", wanted.join(" and ")))
    }

    fn lint(&self, own: &QueueRule, _: &LintContext<'_>) -> Vec<Finding> {
        let why =
            "never binds for one player: the ceiling is the value itself, so all must be equal";
        let warning = (self.of == self.ceiling).then(|| Finding::warning(&own.name, why));
        warning.into_iter().collect()
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let tickets = 0..people.tickets() as u32;
        let ends: Vec<_> = tickets
            .map(|ticket| self.ends(people, [ticket].iter()))
            .collect();
        let mut values: Vec<f64> = ends.iter().map(|ends| ends.0).collect();
        values.sort_by(f64::total_cmp);
        let mut levels = values.clone();
        levels.dedup();
        Box::new(CeilingEnds {
            ends,
            values,
            levels,
        })
    }
}

struct CeilingEnds {
    /// The highest value and the lowest ceiling of each ticket.
    ends: Vec<(f64, f64)>,
    /// The highest values of all tickets, ascending.
    values: Vec<f64>,
    /// The different highest values, ascending.
    levels: Vec<f64>,
}

/// The most levels that are tried for one ticket.
const LEVELS: usize = 3;

impl PreparedRule for CeilingEnds {
    fn tally(&self, teams: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(Seated::new(teams, |teams: &[Vec<u32>]| {
            let mut all = (f64::NEG_INFINITY, f64::INFINITY);
            for ticket in teams.iter().flatten() {
                let (value, ceiling) = self.ends[*ticket as usize];
                all = (all.0.max(value), all.1.min(ceiling));
            }
            if all.1 < all.0 { all.0 - all.1 } else { 0.0 }
        }))
    }

    /// Each choice has a level: all values are at most the level, and all ceilings at least.
    fn choices(&self, seed: u32, _: f64) -> Option<Vec<RuleScope<'_>>> {
        let (value, ceiling) = self.ends[seed as usize];
        let fit = self
            .levels
            .iter()
            .filter(|level| (value..=ceiling).contains(*level));
        let choice = |&level: &f64| {
            let mut tickets = Bits::empty(self.ends.len());
            for (ticket, ends) in (0..).zip(&self.ends) {
                if ends.0 <= level && level <= ends.1 {
                    tickets.insert(ticket);
                }
            }
            RuleScope {
                tickets: Cow::Owned(tickets),
                word: None,
            }
        };
        Some(fit.take(LEVELS).map(choice).collect())
    }

    fn selectivity(&self, ticket: u32, _: f64) -> f64 {
        let (_, ceiling) = self.ends[ticket as usize];
        let below = self.values.partition_point(|value| *value <= ceiling);
        below as f64 / self.values.len().max(1) as f64
    }

    fn is_monotone(&self) -> bool {
        true
    }
}
