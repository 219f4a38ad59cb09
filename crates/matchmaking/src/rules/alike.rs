//! `alike`: where one player asks for it, all players have that player's value. The violation is
//! the number of players whose value differs from one that is asked for.

use std::borrow::Cow;

use serde::Deserialize;

use super::{
    Evaluated, PreparedRule, Registered, Rule, RuleScope, RuleTally, Teams, at,
    counts::{Symbols, TeamCounts},
};
use crate::{
    bits::Bits,
    columns::{NumberColumn, ValueColumn},
    people::TicketPeople,
};

pub(super) const TYPE: Registered = Registered {
    name: "alike",
    build: |settings, columns| {
        let keys: AlikeKeys = settings.read()?;
        let rule = Alike {
            of: columns.value(&keys.of).map_err(at("of"))?,
            name: keys.of,
            asked_by: columns.number(&keys.asked_by).map_err(at("asked_by"))?,
        };
        Ok(rule.into())
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AlikeKeys {
    of: String,
    asked_by: String,
}

#[derive(Debug)]
struct Alike {
    of: ValueColumn,
    name: String,
    asked_by: NumberColumn,
}

impl Alike {
    fn asks(&self, people: &TicketPeople, player: usize) -> bool {
        people.number(self.asked_by, player) > 0.0
    }

    fn text(&self, people: &TicketPeople, player: usize) -> String {
        people.text_of(self.of, people.key(self.of, player))
    }
}

impl Rule for Alike {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, evaluated: Evaluated) -> String {
        let all: Vec<usize> = teams.iter().flat_map(|team| people.all(team)).collect();
        let asking = all.iter().find(|player| self.asks(people, **player));
        match asking {
            None => format!("nobody asks for one {}", self.name),
            Some(&player) => format!(
                "a player asks for the {} {}; {} of {} players differ from it or from another that is asked for",
                self.name,
                self.text(people, player),
                evaluated.violation,
                all.len(),
            ),
        }
    }

    fn wanted(&self, people: &TicketPeople, teams: Teams<'_>, _: f64) -> Option<String> {
        let mut all = teams.iter().flat_map(|team| people.all(team));
        let asking = all.find(|player| self.asks(people, *player))?;
        Some(format!(
            "with the {} {}",
            self.name,
            self.text(people, asking)
        ))
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let symbols = Symbols::of(people, [], |ticket, keys| {
            let players = people.members(ticket);
            keys.extend(players.map(|player| people.key(self.of, player)));
        });
        let mut silent = Bits::empty(people.tickets());
        let mut having: Vec<Vec<u32>> = vec![Vec::new(); symbols.count()];
        let mut asked = Vec::new();
        for ticket in 0..people.tickets() as u32 {
            let asks = people
                .members(ticket)
                .map(|player| self.asks(people, player));
            let asks: Vec<bool> = asks.collect();
            if !asks.contains(&true) {
                silent.insert(ticket);
            }
            if let Some(value) = single(symbols.of_ticket(ticket)) {
                having[value as usize].push(ticket);
            }
            asked.push(asks);
        }
        Box::new(AlikeValues {
            symbols,
            asked,
            silent,
            having,
        })
    }
}

/// The symbol, if there is only one.
fn single(symbols: &[u32]) -> Option<u32> {
    let first = *symbols.first()?;
    symbols
        .iter()
        .all(|symbol| *symbol == first)
        .then_some(first)
}

/// The values of each ticket's players, and whether they ask for it.
struct AlikeValues {
    symbols: Symbols,
    asked: Vec<Vec<bool>>,
    /// The tickets of which nobody asks.
    silent: Bits,
    /// The tickets all of whose players have the value.
    having: Vec<Vec<u32>>,
}

impl AlikeValues {
    /// The tickets with the value that all players of this ticket have.
    fn having(&self, ticket: u32) -> Option<&Vec<u32>> {
        let value = single(self.symbols.of_ticket(ticket))?;
        Some(&self.having[value as usize])
    }
}

impl PreparedRule for AlikeValues {
    fn tally(&self, _: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(AskedValues {
            values: self,
            having: TeamCounts::new(&self.symbols, 1),
            asking: vec![0; self.symbols.count()],
            asked: 0,
            players: 0,
        })
    }

    fn choices(&self, seed: u32, _: f64) -> Option<Vec<RuleScope<'_>>> {
        let choice = |tickets| RuleScope {
            tickets,
            word: None,
        };
        let silent = Some(&self.silent).filter(|silent| silent.contains(seed));
        let having = self
            .having(seed)
            .map(|list| Cow::Owned(Bits::of(list, self.asked.len())));
        let choices = having.into_iter().chain(silent.map(Cow::Borrowed));
        Some(choices.map(choice).collect())
    }

    fn selectivity(&self, ticket: u32, _: f64) -> f64 {
        let all = self.asked.len().max(1) as f64;
        match self.silent.contains(ticket) {
            true => 1.0,
            false => self
                .having(ticket)
                .map_or(0.0, |list| list.len() as f64 / all),
        }
    }

    fn is_monotone(&self) -> bool {
        true
    }
}

struct AskedValues<'a> {
    values: &'a AlikeValues,
    having: TeamCounts<'a>,
    /// Number of players who ask, by value.
    asking: Vec<i32>,
    /// Number of values that are asked for.
    asked: i32,
    players: i32,
}

impl AskedValues<'_> {
    fn change(&mut self, ticket: u32, by: i32) {
        let values = self.values;
        self.having.change(0, ticket, by, |_| 0);
        let symbols = values.symbols.of_ticket(ticket);
        self.players += by * symbols.len() as i32;
        let asks = &values.asked[ticket as usize];
        for (&symbol, _) in symbols.iter().zip(asks).filter(|(_, asks)| **asks) {
            let count = &mut self.asking[symbol as usize];
            let before = i32::from(*count > 0);
            *count += by;
            self.asked += i32::from(*count > 0) - before;
        }
    }
}

impl RuleTally for AskedValues<'_> {
    fn put(&mut self, _: usize, ticket: u32) {
        self.change(ticket, 1);
    }

    fn take(&mut self, _: usize, ticket: u32) {
        self.change(ticket, -1);
    }

    fn violation(&self) -> f64 {
        let alike = match self.asked {
            0 => self.players,
            1 => {
                let value = self.asking.iter().position(|count| *count > 0);
                value.map_or(0, |value| self.having.get(value as u32))
            }
            _ => 0,
        };
        f64::from(self.players - alike)
    }
}
