//! Columns: which attributes the rules of a queue read. A rule binds a name to the column once, by the type
//! of the values that it reads.

use std::collections::BTreeMap;

use crate::{Attribute, AttributeType, TicketPlayer, Value, unknown};

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
    pub fn new(attributes: &BTreeMap<String, Attribute>) -> Self {
        Self {
            attributes: attributes.clone(),
            numbers: Vec::new(),
            words: Vec::new(),
            sets: Vec::new(),
        }
    }

    /// The column of the numbers that have this name.
    pub fn number(&mut self, name: &str) -> Result<NumberColumn, String> {
        match self.find(name)? {
            ColumnName::Number(source) => Ok(NumberColumn(index_of(&mut self.numbers, source))),
            _ => Err(format!("must name an attribute with numbers, not {name}")),
        }
    }

    /// The column of the single values that have this name.
    pub fn value(&mut self, name: &str) -> Result<ValueColumn, String> {
        match self.any(name)? {
            AnyColumn::Value(column) => Ok(column),
            AnyColumn::Set(_) => Err(format!("must name an attribute with one value, not {name}")),
        }
    }

    /// The column of the values or sets that have this name.
    pub fn any(&mut self, name: &str) -> Result<AnyColumn, String> {
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
    pub fn set(&mut self, name: &str, within: Option<f64>) -> Result<SetColumn, String> {
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
    pub fn players(&mut self, name: &str) -> Result<SetColumn, String> {
        match self.find(name) {
            Ok(ColumnName::Set(index)) => Ok(self.add_set(SetSource::Players(index))),
            _ => Err(no_set(name)),
        }
    }

    /// The column of the players met in the last `matches` matches.
    pub fn met(&mut self, matches: usize) -> SetColumn {
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
    pub fn number_of(&self, column: NumberColumn, player: &TicketPlayer) -> f64 {
        self.numbers[column.0].number(player)
    }

    /// The names of the columns that the caller knows.
    pub fn known_names(&self) -> Vec<&str> {
        let terms = self.numbers.iter().flat_map(NumberSource::terms);
        let names = terms.filter_map(|term| match term {
            NumberSource::Known(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect()
    }

    /// The words that an attribute's values may have, if it lists them.
    pub fn words_of(&self, name: &str) -> &[String] {
        match self.attributes.get(name).map(|attribute| &attribute.of) {
            Some(AttributeType::Enum(words) | AttributeType::Set(words)) => words,
            _ => &[],
        }
    }

    /// The most last matches of which a column has the players met.
    pub fn met_matches(&self) -> usize {
        let matches = self.sets.iter().filter_map(|source| match source {
            SetSource::Met(matches) => Some(*matches),
            _ => None,
        });
        matches.max().unwrap_or(0)
    }

    /// Whether only columns of players' ids read the attribute of this name.
    pub fn lists_players(&self, name: &str) -> bool {
        let at = self.attributes.keys().position(|key| key == name);
        at.is_some_and(|at| {
            self.sets.contains(&SetSource::Players(at))
                && !self.sets.contains(&SetSource::Declared(at))
        })
    }

    /// The declared attributes that no column reads.
    pub fn unused(&self) -> Vec<&str> {
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
    pub fn terms(&self) -> &[Self] {
        match self {
            Self::Sum(terms) => terms,
            single => std::slice::from_ref(single),
        }
    }

    /// A player's number.
    pub fn number(&self, player: &TicketPlayer) -> f64 {
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
    pub fn words<'a>(&self, player: &'a TicketPlayer) -> Vec<&'a str> {
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
