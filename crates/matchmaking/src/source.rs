//! Where the values of a column come from.

use super::{TicketPlayer, Value, unknown};

/// The number of a map's word that the player did not state: a ping that no rule accepts.
const FAR: f64 = 1e9;

/// Where the numbers of a column come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NumberSource {
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
pub(super) enum SetSource {
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
