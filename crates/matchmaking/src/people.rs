//! The players of a pool's tickets, as columns of values: words become small numbers, so that rules
//! compare and count them quickly.

use std::{collections::HashMap, ops::Range};

use super::{
    Ticket, Value,
    columns::{AnyColumn, NumberColumn, NumberSource, QueueColumns, SetColumn, ValueColumn},
};
use evenkeel_model::WinModel;

/// The players of some tickets, by column.
#[derive(Debug, Default)]
pub(super) struct TicketPeople {
    /// The first player of each ticket, and the number of all players.
    starts: Vec<u32>,
    /// The players' values by column.
    numbers: Vec<Vec<f64>>,
    words: Vec<Vec<u32>>,
    sets: Vec<Vec<Vec<u32>>>,
    /// The text of each word.
    texts: Vec<String>,
    /// The word that is each player's identity.
    ids: Vec<u32>,
    /// How the rating system turns strengths into a chance; `None` before the first rated match.
    win_model: Option<WinModel>,
    /// Each player's strength, with what the other players of the ticket add.
    strengths: Vec<f64>,
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

impl TicketPeople {
    pub fn of(columns: &QueueColumns, tickets: &[&Ticket], win_model: Option<WinModel>) -> Self {
        let mut starts = vec![0];
        let mut count = 0;
        for ticket in tickets {
            count += ticket.players.len() as u32;
            starts.push(count);
        }
        let mut interner = Interner::default();
        let players = || tickets.iter().flat_map(|ticket| &ticket.players);
        let ids = players().map(|player| interner.word(&player.id)).collect();
        let numbers = columns.numbers.iter();
        let numbers = numbers.map(|source| players().map(|p| source.number(p)).collect());
        let words = columns.words.iter().map(|at| {
            let word = players().map(|player| match player.values.get(*at) {
                Some(Value::Word(word)) => interner.word(word),
                _ => u32::MAX,
            });
            word.collect()
        });
        let words = words.collect();
        let sets = columns.sets.iter().map(|source| {
            let mut set = |player| {
                let words = source.words(player).into_iter();
                let mut words: Vec<u32> = words.map(|word| interner.word(word)).collect();
                words.sort_unstable();
                words.dedup();
                words
            };
            players().map(&mut set).collect()
        });
        let sets = sets.collect();
        let win_model = win_model.filter(WinModel::is_sound);
        let per_friend = win_model.map_or(0.0, |win_model| win_model.company.per_friend);
        let strength = NumberSource::Known("@strength".to_owned());
        let strengths = tickets.iter().flat_map(|ticket| {
            let company = per_friend * ticket.players.len().saturating_sub(1) as f64;
            let own = ticket.players.iter().map(|player| strength.number(player));
            own.map(move |own| own + company)
        });
        Self {
            starts,
            numbers: numbers.collect(),
            words,
            sets,
            texts: interner.words(),
            ids,
            strengths: strengths.collect(),
            win_model,
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

    /// A player's number in a column.
    pub fn number(&self, column: NumberColumn, player: usize) -> f64 {
        self.numbers[column.0][player]
    }

    /// A player's words in a column.
    pub fn set(&self, column: SetColumn, player: usize) -> &[u32] {
        &self.sets[column.0][player]
    }

    /// A key that two players share if and only if they have the same value in a column.
    pub fn key(&self, column: ValueColumn, player: usize) -> u64 {
        match column {
            // Adding 0 makes -0 and 0 the same.
            ValueColumn::Number(column) => (self.number(column, player) + 0.0).to_bits(),
            ValueColumn::Word(column) => u64::from(self.words[column.0][player]),
        }
    }

    /// The number whose key in a column this is; 0 for the key of a word.
    pub fn number_of(&self, column: ValueColumn, key: u64) -> f64 {
        match column {
            ValueColumn::Number(_) => f64::from_bits(key),
            ValueColumn::Word(_) => 0.0,
        }
    }

    /// The text of the value whose key in a column this is, for sentences.
    pub fn text_of(&self, column: ValueColumn, key: u64) -> String {
        match column {
            ValueColumn::Number(_) => f64::from_bits(key).to_string(),
            ValueColumn::Word(_) => self.word(key as u32).to_owned(),
        }
    }

    /// Whether a player has this value, or a set with it. That of a flag is `true` or its number.
    pub fn has(&self, column: AnyColumn, player: usize, value: &str) -> bool {
        match column {
            AnyColumn::Set(column) => {
                let mut words = self.set(column, player).iter();
                words.any(|word| self.word(*word) == value)
            }
            AnyColumn::Value(ValueColumn::Number(column)) if value == "true" => {
                self.number(column, player) == 1.0
            }
            AnyColumn::Value(column) => self.text_of(column, self.key(column, player)) == value,
        }
    }

    /// The text of a word; empty for that of a player without a value.
    pub fn word(&self, word: u32) -> &str {
        self.texts.get(word as usize).map_or("", String::as_str)
    }

    /// How the rating system turns strengths into a chance; `None` before the first rated match.
    pub fn win_model(&self) -> Option<&WinModel> {
        self.win_model.as_ref()
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
