//! `common`: all players share a value of their sets. The violation is the number of players
//! without the value that most have. With `picks`, the match gets one of the shared values.

use std::{borrow::Cow, collections::HashMap};

use serde::Deserialize;

use super::{
    BuiltRule, Evaluated, PreparedRule, QueueColumns, QueueError, Registered, Rule, RuleScope,
    RuleSettings, RuleTally, Teams, at,
    counts::{Symbols, TeamCounts},
    list,
};
use crate::{bits::Bits, columns::SetColumn, people::TicketPeople};
use evenkeel_model::units::Amount;

pub(super) const TYPE: Registered = Registered {
    name: "common",
    build,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommonKeys {
    of: String,
    at_most: Option<Amount>,
    picks: Option<String>,
}

#[derive(Debug)]
struct Common {
    of: SetColumn,
    name: String,
}

fn build(settings: &RuleSettings, columns: &mut QueueColumns) -> Result<BuiltRule, QueueError> {
    let keys: CommonKeys = settings.read()?;
    let is_wrong = |picks: &String| picks.trim().is_empty() || picks.len() > 32;
    if keys.picks.as_ref().is_some_and(is_wrong) {
        return Err(QueueError::new(
            "picks",
            "must be a short name, such as map",
        ));
    }
    let within = keys.at_most.map(Amount::get);
    let rule = Common {
        of: columns.set(&keys.of, within).map_err(at("of"))?,
        name: keys.of,
    };
    Ok(BuiltRule {
        picks: keys.picks,
        ..rule.into()
    })
}

impl Common {
    /// The texts of the words that all players have.
    fn shared_by_all(&self, people: &TicketPeople, teams: Teams<'_>) -> Vec<String> {
        let shared = self.words(people, teams).into_iter();
        shared.map(|word| people.word(word).to_owned()).collect()
    }

    /// The words that all of these players have.
    fn shared(&self, people: &TicketPeople, mut players: impl Iterator<Item = usize>) -> Vec<u32> {
        let first = players.next();
        let first = first.map_or(&[][..], |player| people.set(self.of, player));
        let mut shared: Vec<u32> = first.to_vec();
        for player in players {
            shared.retain(|word| people.set(self.of, player).contains(word));
        }
        shared
    }
}

/// The tickets all of whose players have a word.
enum Sharing {
    /// So many tickets that bits take less memory than a list; the number is theirs.
    Bits(Bits, usize),
    /// So few that bits would take more memory.
    List(Vec<u32>, usize),
}

impl Sharing {
    fn of(list: Vec<u32>, tickets: usize) -> Self {
        match list.len() * 64 < tickets {
            true => Self::List(list, tickets),
            false => Self::Bits(Bits::of(&list, tickets), list.len()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Bits(_, count) => *count,
            Self::List(list, _) => list.len(),
        }
    }

    fn tickets(&self) -> Cow<'_, Bits> {
        match self {
            Self::Bits(bits, _) => Cow::Borrowed(bits),
            Self::List(list, tickets) => Cow::Owned(Bits::of(list, *tickets)),
        }
    }
}

impl Rule for Common {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, _: Evaluated) -> String {
        let shared = self.shared_by_all(people, teams);
        match shared.is_empty() {
            true => format!("the players share no value of {}", self.name),
            false => format!("{} that all share: {}", self.name, shared.join(", ")),
        }
    }

    fn wanted(&self, people: &TicketPeople, teams: Teams<'_>, _: f64) -> Option<String> {
        let shared = self.shared_by_all(people, teams);
        (!shared.is_empty()).then(|| format!("with {} in {}", list(&shared, "or"), self.name))
    }

    fn words(&self, people: &TicketPeople, teams: Teams<'_>) -> Vec<u32> {
        let tickets = teams.iter().flatten();
        self.shared(people, tickets.flat_map(|ticket| people.members(*ticket)))
    }

    fn admits(&self, people: &TicketPeople, ticket: u32, pick: &str) -> bool {
        let has = |player| {
            let mut words = people.set(self.of, player).iter();
            words.any(|word| people.word(*word) == pick)
        };
        people.members(ticket).all(has)
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let symbols = Symbols::of(people, [], |ticket, keys| {
            let words = people
                .members(ticket)
                .flat_map(|player| people.set(self.of, player));
            keys.extend(words.map(|word| u64::from(*word)));
        });
        let mut sharing: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut places = HashMap::new();
        let mut shared = Vec::new();
        for ticket in 0..people.tickets() as u32 {
            let own = self.shared(people, people.members(ticket));
            for &word in &own {
                let place = *places.entry(word).or_insert(sharing.len());
                match sharing.get_mut(place) {
                    Some((_, list)) => list.push(ticket),
                    None => sharing.push((word, vec![ticket])),
                }
            }
            let own = own.iter().filter_map(|word| places.get(word).copied());
            shared.push(own.collect());
        }
        let count = people.tickets();
        let sharing = sharing
            .into_iter()
            .map(|(word, list)| (word, Sharing::of(list, count)));
        let sharing = sharing.collect();
        let tickets = 0..people.tickets() as u32;
        Box::new(SharedWords {
            symbols,
            sizes: tickets.map(|ticket| people.size(ticket) as i32).collect(),
            sharing,
            shared,
        })
    }
}

/// The words of each ticket.
struct SharedWords {
    /// A symbol for each word of each player.
    symbols: Symbols,
    sizes: Vec<i32>,
    /// The tickets all of whose players have the word.
    sharing: Vec<(u32, Sharing)>,
    /// The places in `sharing` of the words that all players of each ticket have.
    shared: Vec<Vec<usize>>,
}

impl PreparedRule for SharedWords {
    fn tally(&self, _: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(Shares {
            words: self,
            counts: TeamCounts::new(&self.symbols, 1),
            seated: Vec::new(),
            players: 0,
        })
    }

    fn choices(&self, seed: u32, _: f64) -> Option<Vec<RuleScope<'_>>> {
        let shared = self.shared[seed as usize].iter();
        let sharing = shared.map(|place| &self.sharing[*place]);
        Some(
            sharing
                .map(|(word, sharing)| RuleScope {
                    tickets: sharing.tickets(),
                    word: Some(*word),
                })
                .collect(),
        )
    }

    fn selectivity(&self, ticket: u32, _: f64) -> f64 {
        let shared = self.shared[ticket as usize].iter();
        let sharing = shared.map(|place| &self.sharing[*place]);
        let most = sharing.map(|(_, sharing)| sharing.len()).sum::<usize>();
        most as f64 / (self.sizes.len() * self.sharing.len()).max(1) as f64
    }

    fn is_monotone(&self) -> bool {
        true
    }
}

struct Shares<'a> {
    words: &'a SharedWords,
    counts: TeamCounts<'a>,
    seated: Vec<u32>,
    players: i32,
}

impl Shares<'_> {
    fn change(&mut self, ticket: u32, by: i32) {
        self.players += by * self.words.sizes[ticket as usize];
        self.counts.change(0, ticket, by, |_| 0);
    }
}

impl RuleTally for Shares<'_> {
    fn put(&mut self, _: usize, ticket: u32) {
        self.seated.push(ticket);
        self.change(ticket, 1);
    }

    fn take(&mut self, _: usize, ticket: u32) {
        if let Some(at) = self.seated.iter().position(|other| *other == ticket) {
            self.seated.swap_remove(at);
            self.change(ticket, -1);
        }
    }

    fn violation(&self) -> f64 {
        let symbols = self
            .seated
            .iter()
            .flat_map(|ticket| self.words.symbols.of_ticket(*ticket));
        let counts = symbols.map(|symbol| self.counts.get(*symbol));
        f64::from(self.players - counts.max().unwrap_or(0))
    }
}
