//! The tickets of a pool in columns: which attributes the rules of a queue read, the values of the players in them, and
//! sets of tickets as bits.
//!
//! A rule binds a name to the column once, by the type of the values that it reads. Words become small numbers, so that
//! rules compare numbers.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
};

use evenkeel_model::WinModel;
use fixedbitset::FixedBitSet;

use crate::{
    Ticket,
    attribute::{Attribute, AttributeType, Value},
    ticket::{TicketPlayer, unknown},
};

/// What joins the names of a sum of attributes: `@division + boost`.
const PLUS: &str = " + ";
/// The most attributes of a sum.
const MAX_TERMS: usize = 4;

/// A column of numbers: an `int`, a `num`, a `flag`, a known number, an entry of a map or a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberColumn(pub usize);

/// A column of words: an `enum` or an `id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WordColumn(pub usize);

/// A column of sets of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetColumn(pub usize);

/// A column of single values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueColumn {
    Number(NumberColumn),
    Word(WordColumn),
}

/// A column of single values or sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnyColumn {
    Value(ValueColumn),
    Set(SetColumn),
}

/// The columns of a queue.
#[derive(Debug)]
pub(super) struct QueueColumns {
    attributes: BTreeMap<String, Attribute>,
    pub numbers: Vec<NumberSource>,
    /// The places of the attributes in the settings.
    pub words: Vec<usize>,
    pub sets: Vec<SetSource>,
}

/// The `@` attributes: what Evenkeel itself knows of a player.
const KNOWN: [&str; 8] = [
    "@weight",
    "@deviation",
    "@games",
    "@hours",
    "@known_since",
    "@division",
    "@behaviour",
    "@strength",
];

/// Whether `name` is one of the `@` attributes, such as `@weight`.
pub fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

/// What a name means; declared attributes by their place in the settings.
enum ColumnName {
    Number(NumberSource),
    Word(usize),
    Set(usize),
}

/// The place of a source, which is added if it is new.
fn index_of<T: PartialEq>(sources: &mut Vec<T>, source: T) -> usize {
    let known = sources.iter().position(|known| *known == source);
    known.unwrap_or_else(|| {
        sources.push(source);
        sources.len() - 1
    })
}

impl QueueColumns {
    pub(crate) fn new(attributes: &BTreeMap<String, Attribute>) -> Self {
        Self {
            attributes: attributes.clone(),
            numbers: Vec::new(),
            words: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// The column of the numbers that have this name.
    pub(crate) fn number(&mut self, name: &str) -> Result<NumberColumn, String> {
        match self.find(name)? {
            ColumnName::Number(source) => Ok(NumberColumn(index_of(&mut self.numbers, source))),
            _ => Err(format!("must name an attribute with numbers, not {name}")),
        }
    }

    /// The column of the single values that have this name.
    pub(crate) fn value(&mut self, name: &str) -> Result<ValueColumn, String> {
        match self.any(name)? {
            AnyColumn::Value(column) => Ok(column),
            AnyColumn::Set(_) => Err(format!("must name an attribute with one value, not {name}")),
        }
    }

    /// The column of the values or sets that have this name.
    pub(crate) fn any(&mut self, name: &str) -> Result<AnyColumn, String> {
        Ok(match self.find(name)? {
            ColumnName::Number(source) => {
                let at = index_of(&mut self.numbers, source);
                AnyColumn::Value(ValueColumn::Number(NumberColumn(at)))
            }
            ColumnName::Word(index) => {
                let at = index_of(&mut self.words, index);
                AnyColumn::Value(ValueColumn::Word(WordColumn(at)))
            }
            ColumnName::Set(index) => AnyColumn::Set(self.add_set(SetSource::Declared(index))),
        })
    }

    /// A column of sets: a `set`, or the words of a `map num` whose number is at most `within`.
    pub(crate) fn set(&mut self, name: &str, within: Option<f64>) -> Result<SetColumn, String> {
        let found = declared(&self.attributes, name).map(|(index, found)| (index, &found.of));
        let source = match (found, within) {
            (Some((index, AttributeType::Set(_))), None) => SetSource::Declared(index),
            (Some((index, AttributeType::Map)), Some(limit)) => SetSource::Within(index, limit),
            (Some((_, AttributeType::Map)), None) => {
                return Err(format!(
                    "names the map {name}, which needs the key `at_most`"
                ));
            }
            _ => return Err(no_set(name)),
        };
        Ok(self.add_set(source))
    }

    /// A column of sets of players' ids.
    pub(crate) fn players(&mut self, name: &str) -> Result<SetColumn, String> {
        match self.find(name) {
            Ok(ColumnName::Set(index)) => Ok(self.add_set(SetSource::Players(index))),
            _ => Err(no_set(name)),
        }
    }

    /// The column of the players met in the last `matches` matches.
    pub(crate) fn met(&mut self, matches: usize) -> SetColumn {
        self.add_set(SetSource::Met(matches))
    }

    fn add_set(&mut self, source: SetSource) -> SetColumn {
        SetColumn(index_of(&mut self.sets, source))
    }

    /// The source of several numbers that are added up, such as `@division + boost`.
    fn sum(&self, name: &str) -> Result<ColumnName, String> {
        let terms: Vec<&str> = name.split(PLUS).map(str::trim).collect();
        if terms.len() > MAX_TERMS {
            return Err(format!("must add up at most {MAX_TERMS} attributes"));
        }
        let term = |name: &&str| match self.find(name)? {
            ColumnName::Number(source) => Ok(source),
            _ => Err(format!("must add up attributes with numbers, not {name}")),
        };
        let terms: Result<_, String> = terms.iter().map(term).collect();
        Ok(ColumnName::Number(NumberSource::Sum(terms?)))
    }

    fn find(&self, name: &str) -> Result<ColumnName, String> {
        if name.contains(PLUS) {
            return self.sum(name);
        }
        if is_known(name) {
            return Ok(ColumnName::Number(NumberSource::Known(name.to_owned())));
        }
        if let Some((index, attribute)) = declared(&self.attributes, name) {
            return Ok(match attribute.of {
                AttributeType::Int { .. } | AttributeType::Num | AttributeType::Flag => {
                    ColumnName::Number(NumberSource::Declared(index))
                }
                AttributeType::Enum(_) | AttributeType::Id => ColumnName::Word(index),
                AttributeType::Set(_) => ColumnName::Set(index),
                AttributeType::Map => {
                    return Err(format!(
                        "must name one number of the map, such as {name}.eu"
                    ));
                }
            });
        }
        let entry = name.split_once('.').and_then(|(map, word)| {
            let (index, attribute) = declared(&self.attributes, map)?;
            let source = || NumberSource::Entry(index, word.to_owned());
            (attribute.of == AttributeType::Map).then(source)
        });
        match entry {
            Some(source) => Ok(ColumnName::Number(source)),
            None => Err(format!("names {name}, which the queue does not declare")),
        }
    }

    /// A player's number in a column.
    pub(crate) fn number_of(&self, column: NumberColumn, player: &TicketPlayer) -> f64 {
        self.numbers[column.0].number(player)
    }

    /// The names of the columns that the caller knows.
    pub(crate) fn known_names(&self) -> Vec<&str> {
        let terms = self.numbers.iter().flat_map(NumberSource::terms);
        let names = terms.filter_map(|term| match term {
            NumberSource::Known(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect()
    }

    /// The words that an attribute's values may have, if it lists them.
    pub(crate) fn words_of(&self, name: &str) -> &[String] {
        match self.attributes.get(name).map(|attribute| &attribute.of) {
            Some(AttributeType::Enum(words) | AttributeType::Set(words)) => words,
            _ => &[],
        }
    }

    /// The most last matches of which a column has the players met.
    pub(crate) fn met_matches(&self) -> usize {
        let matches = self.sets.iter().filter_map(|source| match source {
            SetSource::Met(matches) => Some(*matches),
            _ => None,
        });
        matches.max().unwrap_or(0)
    }

    /// Whether only columns of players' ids read the attribute of this name.
    pub(crate) fn lists_players(&self, name: &str) -> bool {
        let at = self.attributes.keys().position(|key| key == name);
        at.is_some_and(|at| {
            self.sets.contains(&SetSource::Players(at))
                && !self.sets.contains(&SetSource::Declared(at))
        })
    }

    /// The declared attributes that no column reads.
    pub(crate) fn unused(&self) -> Vec<&str> {
        let terms = self.numbers.iter().flat_map(NumberSource::terms);
        let numbers = terms.filter_map(|term| match term {
            NumberSource::Declared(at) | NumberSource::Entry(at, _) => Some(*at),
            NumberSource::Known(_) | NumberSource::Sum(_) => None,
        });
        let sets = self.sets.iter().filter_map(|source| match source {
            SetSource::Declared(at) | SetSource::Players(at) | SetSource::Within(at, _) => {
                Some(*at)
            }
            SetSource::Met(_) => None,
        });
        let read: Vec<usize> = numbers
            .chain(sets)
            .chain(self.words.iter().copied())
            .collect();
        let names = self.attributes.keys().enumerate();
        let unused = names.filter(|(at, _)| !read.contains(at));
        unused.map(|(_, name)| name.as_str()).collect()
    }
}

fn no_set(name: &str) -> String {
    format!("must name an attribute of the type set or map num, not {name}")
}

/// The declared attribute of this name.
fn declared<'a>(
    attributes: &'a BTreeMap<String, Attribute>,
    name: &str,
) -> Option<(usize, &'a Attribute)> {
    let index = attributes.keys().position(|key| key == name)?;
    Some((index, attributes.get(name)?))
}

/// The number of a map's word that the player did not state: a ping that no rule accepts.
const FAR: f64 = 1e9;

/// Where the numbers of a column come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NumberSource {
    /// A declared attribute, by its place in the settings.
    Declared(usize),
    /// A number that the caller knows.
    Known(String),
    /// The number of one word in a map; a player without it has none.
    Entry(usize, String),
    /// The sum of several numbers.
    Sum(Vec<NumberSource>),
}

/// Where the words of a column of sets come from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SetSource {
    /// A declared set, by its place in the settings.
    Declared(usize),
    /// A declared set of players' ids.
    Players(usize),
    /// The words of a map whose number is at most this.
    Within(usize, f64),
    /// The players met in this many of the last matches.
    Met(usize),
}

impl NumberSource {
    /// The source itself, or those that a sum adds up.
    pub(crate) fn terms(&self) -> &[Self] {
        match self {
            Self::Sum(terms) => terms,
            single => std::slice::from_ref(single),
        }
    }

    /// A player's number.
    pub(crate) fn number(&self, player: &TicketPlayer) -> f64 {
        match self {
            Self::Declared(index) => match player.values.get(*index) {
                Some(Value::Number(number)) => *number,
                _ => 0.0,
            },
            Self::Known(name) => {
                let number = player.known.numbers.get(name).copied();
                number
                    .filter(|n| n.is_finite())
                    .unwrap_or_else(|| unknown(name))
            }
            Self::Entry(index, word) => match player.values.get(*index) {
                Some(Value::Map(map)) => {
                    let entry = map.iter().find(|(key, _)| key == word);
                    entry.map_or(FAR, |(_, number)| *number)
                }
                _ => FAR,
            },
            Self::Sum(terms) => terms.iter().map(|term| term.number(player)).sum(),
        }
    }
}

impl SetSource {
    /// The words of a player.
    pub(crate) fn words<'a>(&self, player: &'a TicketPlayer) -> Vec<&'a str> {
        let values = &player.values;
        match self {
            Self::Declared(index) | Self::Players(index) => match values.get(*index) {
                Some(Value::Set(set)) => set.iter().map(String::as_str).collect(),
                _ => Vec::new(),
            },
            Self::Within(index, limit) => match values.get(*index) {
                Some(Value::Map(map)) => {
                    let near = map.iter().filter(|(_, number)| number <= limit);
                    near.map(|(word, _)| word.as_str()).collect()
                }
                _ => Vec::new(),
            },
            Self::Met(matches) => {
                let met = player.known.met.iter().take(*matches).flatten();
                met.map(String::as_str).collect()
            }
        }
    }
}

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
    pub(crate) fn of(
        columns: &QueueColumns,
        tickets: &[&Ticket],
        win_model: Option<WinModel>,
    ) -> Self {
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
    pub(crate) fn tickets(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The players of a ticket.
    pub(crate) fn members(&self, ticket: u32) -> Range<usize> {
        let at = ticket as usize;
        self.starts[at] as usize..self.starts[at + 1] as usize
    }

    /// Number of players of a ticket.
    pub(crate) fn size(&self, ticket: u32) -> usize {
        self.members(ticket).len()
    }

    /// The players of several tickets.
    pub(crate) fn all<'a>(&'a self, tickets: &'a [u32]) -> impl Iterator<Item = usize> + 'a {
        tickets.iter().flat_map(|&ticket| self.members(ticket))
    }

    /// A player's number in a column.
    pub(crate) fn number(&self, column: NumberColumn, player: usize) -> f64 {
        self.numbers[column.0][player]
    }

    /// A player's words in a column.
    pub(crate) fn set(&self, column: SetColumn, player: usize) -> &[u32] {
        &self.sets[column.0][player]
    }

    /// A key that two players share if and only if they have the same value in a column.
    pub(crate) fn key(&self, column: ValueColumn, player: usize) -> u64 {
        match column {
            // Adding 0 makes -0 and 0 the same.
            ValueColumn::Number(column) => (self.number(column, player) + 0.0).to_bits(),
            ValueColumn::Word(column) => u64::from(self.words[column.0][player]),
        }
    }

    /// The number whose key in a column this is; 0 for the key of a word.
    pub(crate) fn number_of(&self, column: ValueColumn, key: u64) -> f64 {
        match column {
            ValueColumn::Number(_) => f64::from_bits(key),
            ValueColumn::Word(_) => 0.0,
        }
    }

    /// The text of the value whose key in a column this is, for sentences.
    pub(crate) fn text_of(&self, column: ValueColumn, key: u64) -> String {
        match column {
            ValueColumn::Number(_) => f64::from_bits(key).to_string(),
            ValueColumn::Word(_) => self.word(key as u32).to_owned(),
        }
    }

    /// Whether a player has this value, or a set with it. That of a flag is `true` or its number.
    pub(crate) fn has(&self, column: AnyColumn, player: usize, value: &str) -> bool {
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
    pub(crate) fn word(&self, word: u32) -> &str {
        self.texts.get(word as usize).map_or("", String::as_str)
    }

    /// How the rating system turns strengths into a chance; `None` before the first rated match.
    pub(crate) fn win_model(&self) -> Option<&WinModel> {
        self.win_model.as_ref()
    }

    /// A player's strength, with what the other players of the ticket add.
    pub(crate) fn strength(&self, player: usize) -> f64 {
        self.strengths[player]
    }

    /// The word that is a player's identity.
    pub(crate) fn id(&self, player: usize) -> u32 {
        self.ids[player]
    }
}

/// A set of ticket indices, made for those below a fixed number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(FixedBitSet);

impl Bits {
    /// The empty set of indices below `count`.
    pub(crate) fn empty(count: usize) -> Self {
        Self(FixedBitSet::with_capacity(count))
    }

    /// The set of these indices, each below `count`.
    pub(crate) fn of(indices: &[u32], count: usize) -> Self {
        let mut bits = Self::empty(count);
        indices.iter().for_each(|at| bits.insert(*at));
        bits
    }

    /// The set of all indices below `count`.
    pub(crate) fn full(count: usize) -> Self {
        let mut bits = Self::empty(count);
        bits.0.insert_range(..);
        bits
    }

    pub(crate) fn insert(&mut self, at: u32) {
        self.0.grow_and_insert(at as usize);
    }

    pub(crate) fn remove(&mut self, at: u32) {
        if self.contains(at) {
            self.0.remove(at as usize);
        }
    }

    pub(crate) fn contains(&self, at: u32) -> bool {
        self.0.contains(at as usize)
    }

    /// Number of indices in the set.
    pub(crate) fn len(&self) -> usize {
        self.0.count_ones(..)
    }

    /// Number of indices that are in this and in the other set.
    pub(crate) fn len_with(&self, other: &Self) -> usize {
        self.0.intersection_count(&other.0)
    }

    /// The indices that are in both sets.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self(&self.0 & &other.0)
    }

    /// Adds the indices of another set.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.union_with(&other.0);
    }

    /// The indices, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.ones().map(|at| at as u32)
    }
}
