//! Columns: which attributes the rules of a queue read, each under a number.

use std::collections::BTreeMap;

use super::{
    Attribute, AttributeType, TicketPlayer,
    source::{ColumnSource, Shape},
};

/// What joins the names of a sum of attributes: `@division + boost`.
const PLUS: &str = " + ";
/// The most attributes of a sum.
const MAX_TERMS: usize = 4;

/// The columns of a queue.
#[derive(Debug)]
pub(super) struct QueueColumns {
    attributes: BTreeMap<String, Attribute>,
    wanted: Vec<(ColumnSource, Shape, String)>,
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

impl QueueColumns {
    pub fn new(attributes: &BTreeMap<String, Attribute>) -> Self {
        Self {
            attributes: attributes.clone(),
            wanted: Vec::new(),
        }
    }

    /// A column of numbers: an `int`, a `num`, a known number or an entry of a map.
    pub fn number(&mut self, name: &str) -> Result<usize, String> {
        let (source, shape) = self.find(name)?;
        match shape {
            Shape::Number => Ok(self.add(source, shape, name)),
            _ => Err(format!("must name an attribute with numbers, not {name}")),
        }
    }

    /// A column of single values: numbers or words.
    pub fn value(&mut self, name: &str) -> Result<usize, String> {
        let (source, shape) = self.find(name)?;
        match shape {
            Shape::Number | Shape::Word => Ok(self.add(source, shape, name)),
            Shape::Set => Err(format!("must name an attribute with one value, not {name}")),
        }
    }

    /// A column of single values or sets.
    pub fn any(&mut self, name: &str) -> Result<usize, String> {
        let (source, shape) = self.find(name)?;
        Ok(self.add(source, shape, name))
    }

    /// A column of sets: a `set`, or the words of a `map num` whose number is at most `within`.
    pub fn set(&mut self, name: &str, within: Option<f64>) -> Result<usize, String> {
        let found = declared(&self.attributes, name);
        let source = match (found, within) {
            (Some((index, attribute)), None) if matches!(attribute.of, AttributeType::Set(_)) => {
                ColumnSource::Declared(index)
            }
            (Some((index, attribute)), Some(limit)) if attribute.of == AttributeType::Map => {
                ColumnSource::Within(index, limit)
            }
            (Some((_, attribute)), None) if attribute.of == AttributeType::Map => {
                return Err(format!(
                    "names the map {name}, which needs the key `at_most`"
                ));
            }
            _ => {
                return Err(format!(
                    "must name an attribute of the type set or map num, not {name}"
                ));
            }
        };
        Ok(self.add(source, Shape::Set, name))
    }

    /// The column of the players met in the last `matches` matches.
    pub fn met(&mut self, matches: usize) -> usize {
        self.add(ColumnSource::Met(matches), Shape::Set, "@met")
    }

    /// The source of several numbers that are added up, such as `@division + boost`.
    fn sum(&self, name: &str) -> Result<(ColumnSource, Shape), String> {
        let terms: Vec<&str> = name.split(PLUS).map(str::trim).collect();
        if terms.len() > MAX_TERMS {
            return Err(format!("must add up at most {MAX_TERMS} attributes"));
        }
        let term = |name: &&str| match self.find(name)? {
            (source, Shape::Number) => Ok(source),
            _ => Err(format!("must add up attributes with numbers, not {name}")),
        };
        let terms: Result<_, String> = terms.iter().map(term).collect();
        Ok((ColumnSource::Sum(terms?), Shape::Number))
    }

    fn find(&self, name: &str) -> Result<(ColumnSource, Shape), String> {
        if name.contains(PLUS) {
            return self.sum(name);
        }
        if KNOWN.contains(&name) {
            return Ok((ColumnSource::Known(name.to_owned()), Shape::Number));
        }
        if let Some((index, attribute)) = declared(&self.attributes, name) {
            let shape = match attribute.of {
                AttributeType::Int { .. } | AttributeType::Num | AttributeType::Flag => {
                    Shape::Number
                }
                AttributeType::Enum(_) | AttributeType::Id => Shape::Word,
                AttributeType::Set(_) => Shape::Set,
                AttributeType::Map => {
                    return Err(format!(
                        "must name one number of the map, such as {name}.eu"
                    ));
                }
            };
            return Ok((ColumnSource::Declared(index), shape));
        }
        let entry = name.split_once('.').and_then(|(map, word)| {
            let (index, attribute) = declared(&self.attributes, map)?;
            (attribute.of == AttributeType::Map)
                .then(|| ColumnSource::Entry(index, word.to_owned()))
        });
        match entry {
            Some(source) => Ok((source, Shape::Number)),
            None => Err(format!("names {name}, which the queue does not declare")),
        }
    }

    fn add(&mut self, source: ColumnSource, shape: Shape, name: &str) -> usize {
        if let Some(at) = self.wanted.iter().position(|(known, ..)| *known == source) {
            return at;
        }
        self.wanted.push((source, shape, name.to_owned()));
        self.wanted.len() - 1
    }

    /// A player's number in a column of numbers; 0 in any other.
    pub fn number_of(&self, column: usize, player: &TicketPlayer) -> f64 {
        let source = self.wanted.get(column).map(|(source, ..)| source);
        source.map_or(0.0, |source| source.number(player))
    }

    /// The sources of all columns, in the order of their numbers.
    pub fn sources(&self) -> impl Iterator<Item = (&ColumnSource, Shape)> {
        self.wanted
            .iter()
            .map(|(source, shape, _)| (source, *shape))
    }

    /// The names of the columns that the caller knows.
    pub fn known_names(&self) -> Vec<&str> {
        let terms = self.wanted.iter().flat_map(|(source, ..)| source.terms());
        let names = terms.filter_map(|term| match term {
            ColumnSource::Known(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect()
    }

    /// The words that an enum's values may have, by the column of that attribute; empty for others.
    pub fn words(&self, column: usize) -> &[String] {
        let Some((ColumnSource::Declared(index), ..)) = self.wanted.get(column) else {
            return &[];
        };
        match self
            .attributes
            .values()
            .nth(*index)
            .map(|attribute| &attribute.of)
        {
            Some(AttributeType::Enum(words) | AttributeType::Set(words)) => words,
            _ => &[],
        }
    }

    /// The declared attributes that no column reads.
    pub fn unused(&self) -> Vec<&str> {
        let reads = |index: usize| {
            let mut terms = self.wanted.iter().flat_map(|(source, ..)| source.terms());
            terms.any(|term| match term {
                ColumnSource::Declared(at)
                | ColumnSource::Entry(at, _)
                | ColumnSource::Within(at, _) => *at == index,
                ColumnSource::Known(_) | ColumnSource::Met(_) | ColumnSource::Sum(_) => false,
            })
        };
        let names = self.attributes.keys().enumerate();
        names
            .filter(|(index, _)| !reads(*index))
            .map(|(_, name)| name.as_str())
            .collect()
    }
}

/// The declared attribute of this name.
fn declared<'a>(
    attributes: &'a BTreeMap<String, Attribute>,
    name: &str,
) -> Option<(usize, &'a Attribute)> {
    let index = attributes.keys().position(|key| key == name)?;
    Some((index, attributes.get(name)?))
}
