//! Where the values of a column come from.

use super::{TicketPlayer, Value, unknown};

/// The number of a map's word that the player did not state: a ping that no rule accepts.
const FAR: f64 = 1e9;

/// Where the values of a column come from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ColumnSource {
    /// A declared attribute, by its place in the settings.
    Declared(usize),
    /// A number that the caller knows.
    Known(String),
    /// The number of one word in a map; a player without it has none.
    Entry(usize, String),
    /// The words of a map whose number is at most this.
    Within(usize, f64),
    /// The players met in this many of the last matches.
    Met(usize),
    /// The sum of several numbers.
    Sum(Vec<ColumnSource>),
}

/// What kind of values a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Number,
    Word,
    Set,
}

impl ColumnSource {
    /// The source itself, or those that a sum adds up.
    pub fn terms(&self) -> &[Self] {
        match self {
            Self::Sum(terms) => terms,
            single => std::slice::from_ref(single),
        }
    }

    /// A player's number, if the source has numbers; 0 if not.
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
            Self::Within(..) | Self::Met(_) => 0.0,
        }
    }
}
