//! `ceiling`: nobody's value is above anyone's own ceiling. The violation is the highest value minus
//! the lowest ceiling.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    Evaluated, Finding, LintContext, PreparedRule, QueueRule, Registered, Rule, RuleScope,
    RuleTally, Teams, at, counts::Seated, short,
};
use crate::{bits::Bits, columns::NumberColumn, people::TicketPeople};

pub(super) const TYPE: Registered = Registered {
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
