//! The players of a pool's tickets, as columns of values: words become small numbers, so that rules
//! compare and count them quickly.

use std::{collections::HashMap, ops::Range};

use super::{
    Ticket, TicketPlayer, Value,
    columns::QueueColumns,
    source::{ColumnSource, Shape},
};
use crate::domain::Outlook;

/// The players of some tickets, by column.
#[derive(Debug, Default)]
pub(super) struct People {
    /// The first player of each ticket, and the number of all players.
    starts: Vec<u32>,
    columns: Vec<PeopleColumn>,
    words: Vec<String>,
    /// The word that is each player's identity.
    ids: Vec<u32>,
    /// How the rating system turns strengths into a chance; `None` before the first rated match.
    outlook: Option<Outlook>,
    /// Each player's strength, with what the other players of the ticket add.
    strengths: Vec<f64>,
}

#[derive(Debug)]
enum PeopleColumn {
    Numbers(Vec<f64>),
    Words(Vec<u32>),
    Sets(Vec<Vec<u32>>),
}

/// Gives each word a number, in the order of their first occurrence.
#[derive(Default)]
struct Interner<'a>(HashMap<&'a str, u32>);

impl<'a> Interner<'a> {
    fn word(&mut self, text: &'a str) -> u32 {
        let next = self.0.len() as u32; // at most the number of values of a pool
        *self.0.entry(text).or_insert(next)
    }

    fn words(self) -> Vec<String> {
        let mut words = vec![String::new(); self.0.len()];
        for (text, word) in self.0 {
            text.clone_into(&mut words[word as usize]);
        }
        words
    }
}

impl People {
    pub fn of(columns: &QueueColumns, tickets: &[&Ticket], outlook: Option<Outlook>) -> Self {
        let mut starts = vec![0];
        let mut count = 0;
        for ticket in tickets {
            count += ticket.players.len() as u32;
            starts.push(count);
        }
        let mut interner = Interner::default();
        let players = || tickets.iter().flat_map(|ticket| &ticket.players);
        let ids = players().map(|player| interner.word(&player.id)).collect();
        let columns = columns.sources().map(|(source, shape)| match shape {
            Shape::Number => {
                PeopleColumn::Numbers(players().map(|player| source.number(player)).collect())
            }
            Shape::Word => {
                let word =
                    |player| word(player, source).map_or(u32::MAX, |text| interner.word(text));
                PeopleColumn::Words(players().map(word).collect())
            }
            Shape::Set => PeopleColumn::Sets(
                players()
                    .map(|player| set(player, source, &mut interner))
                    .collect(),
            ),
        });
        let columns = columns.collect();
        let outlook = outlook.filter(Outlook::is_sound);
        let per_friend = outlook.map_or(0.0, |outlook| outlook.company.per_friend);
        let strengths = tickets.iter().flat_map(|ticket| {
            let company = per_friend * ticket.players.len().saturating_sub(1) as f64;
            let own = |player| ColumnSource::Known("@strength".to_owned()).number(player);
            ticket
                .players
                .iter()
                .map(move |player| own(player) + company)
        });
        Self {
            starts,
            columns,
            words: interner.words(),
            ids,
            strengths: strengths.collect(),
            outlook,
        }
    }

    /// Number of tickets.
    pub fn tickets(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The players of a ticket.
    pub fn members(&self, ticket: u32) -> Range<usize> {
        let at = ticket as usize;
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// Number of players of a ticket.
    pub fn size(&self, ticket: u32) -> usize {
        self.members(ticket).len()
    }

    /// The players of several tickets.
    pub fn all<'a>(&'a self, tickets: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        tickets.iter().flat_map(|&ticket| self.members(ticket))
    }

    /// A player's number in a column of numbers; 0 in any other.
    pub fn number(&self, column: usize, player: usize) -> f64 {
        match self.columns.get(column) {
            Some(PeopleColumn::Numbers(numbers)) => numbers[player],
            _ => 0.0,
        }
    }

    /// A player's words in a column of sets or words; empty in any other.
    pub fn set(&self, column: usize, player: usize) -> &[u32] {
        match self.columns.get(column) {
            Some(PeopleColumn::Sets(sets)) => &sets[player],
            Some(PeopleColumn::Words(words)) => &words[player..=player],
            _ => &[],
        }
    }

    /// A key that two players share if and only if they have the same value in a column of numbers
    /// or words.
    pub fn key(&self, column: usize, player: usize) -> u64 {
        match self.columns.get(column) {
            // Adding 0 makes -0 and 0 the same.
            Some(PeopleColumn::Numbers(numbers)) => (numbers[player] + 0.0).to_bits(),
            Some(PeopleColumn::Words(words)) => u64::from(words[player]),
            _ => 0,
        }
    }

    /// The text of a player's value in a column, for sentences.
    pub fn text(&self, column: usize, player: usize) -> String {
        match self.columns.get(column) {
            Some(PeopleColumn::Numbers(numbers)) => numbers[player].to_string(),
            _ => {
                let words = self.set(column, player).iter().map(|word| self.word(*word));
                words.collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// The text of a word; empty for that of a player without a value.
    pub fn word(&self, word: u32) -> &str {
        self.words.get(word as usize).map_or("", String::as_str)
    }

    /// How the rating system turns strengths into a chance; `None` before the first rated match.
    pub fn outlook(&self) -> Option<&Outlook> {
        self.outlook.as_ref()
    }

    /// A player's strength, with what the other players of the ticket add.
    pub fn strength(&self, player: usize) -> f64 {
        self.strengths[player]
    }

    /// The word that is a player's identity.
    pub fn id(&self, player: usize) -> u32 {
        self.ids[player]
    }
}

fn word<'a>(player: &'a TicketPlayer, source: &ColumnSource) -> Option<&'a str> {
    match source {
        ColumnSource::Declared(index) => match player.values.get(*index) {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        },
        _ => None,
    }
}

fn set<'a>(
    player: &'a TicketPlayer,
    source: &ColumnSource,
    interner: &mut Interner<'a>,
) -> Vec<u32> {
    let mut words: Vec<u32> = match source {
        ColumnSource::Declared(index) => match player.values.get(*index) {
            Some(Value::Set(set)) => set.iter().map(|word| interner.word(word)).collect(),
            _ => Vec::new(),
        },
        ColumnSource::Within(index, limit) => match player.values.get(*index) {
            Some(Value::Map(map)) => {
                let near = map.iter().filter(|(_, number)| number <= limit);
                near.map(|(word, _)| interner.word(word)).collect()
            }
            _ => Vec::new(),
        },
        ColumnSource::Met(matches) => {
            let met = player.known.met.iter().take(*matches).flatten();
            met.map(|id| interner.word(id)).collect()
        }
        ColumnSource::Known(_) | ColumnSource::Entry(..) | ColumnSource::Sum(_) => Vec::new(),
    };
    words.sort_unstable();
    words.dedup();
    words
}
