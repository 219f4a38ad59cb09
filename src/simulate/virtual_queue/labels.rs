//! The categories of tickets for the report: by the number of players, by strength, and by each
//! attribute that has few values.

use std::collections::HashMap;

use super::waits::{Category, CategoryWaits};
use crate::matchmaking::{AttributeType, Queue, Ticket, Value};

/// The most values of an attribute by which tickets are divided.
const VALUES: usize = 20;
/// The fewest tickets of two categories together that are reported.
const FEWEST: u64 = 50;
/// The most attributes by which a ticket is divided.
const MOST: usize = 12;

/// The categories of all tickets, by number.
#[derive(Debug, Default)]
pub(super) struct WaitLabels {
    names: Vec<String>,
    numbers: HashMap<String, u16>,
    all: Category,
    single: Vec<Category>,
    pairs: HashMap<(u16, u16), Category>,
    deciles: [Category; 10],
}

impl WaitLabels {
    fn number(&mut self, name: String) -> u16 {
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let number = u16::try_from(self.names.len()).unwrap_or(u16::MAX);
        self.names.push(name.clone());
        self.single.push(Category::default());
        self.numbers.insert(name, number);
        number
    }

    /// The categories that a ticket belongs to.
    pub fn of(&mut self, queue: &Queue, ticket: &Ticket) -> Vec<u16> {
        let players = ticket.players.len();
        let s = if players == 1 { "" } else { "s" };
        let mut labels = vec![self.number(format!("{players} player{s}"))];
        for (at, (name, attribute)) in queue.settings().attributes.iter().enumerate() {
            let values: Vec<&Value> = ticket
                .players
                .iter()
                .filter_map(|player| player.values.get(at))
                .collect();
            let label = label(name, &attribute.of, attribute.absent().as_ref(), &values);
            if let (Some(label), true) = (label, labels.len() < MOST) {
                labels.push(self.number(label));
            }
        }
        labels
    }

    /// Counts a ticket that has left the queue.
    pub fn count(&mut self, labels: &[u16], decile: u8, millis: u64, is_matched: bool) {
        let add = |category: &mut Category| {
            category.waits.add(millis);
            category.matched += u64::from(is_matched);
        };
        add(&mut self.all);
        self.deciles.get_mut(usize::from(decile)).map(add);
        for (at, one) in labels.iter().enumerate() {
            self.single.get_mut(usize::from(*one)).map(add);
            for other in labels.iter().skip(at + 1) {
                add(self.pairs.entry((*one, *other)).or_default());
            }
        }
    }

    /// The waits of all tickets.
    pub fn all(&self) -> CategoryWaits {
        self.all.report("all")
    }

    /// For all tickets, and by the number of players: seconds, and the share of the waits that ended by then.
    pub fn curves(&self) -> Vec<(String, Vec<(f64, f64)>)> {
        let mut curves = vec![("all".to_owned(), self.all.waits.curve())];
        let mut sizes: Vec<(&String, &Category)> = self.names.iter().zip(&self.single).collect();
        sizes.retain(|(name, _)| name.ends_with(" player") || name.ends_with(" players"));
        sizes.sort_by_key(|(name, _)| *name);
        curves.extend(
            sizes
                .into_iter()
                .map(|(name, one)| (name.clone(), one.waits.curve())),
        );
        curves
    }

    /// The waits by category, in the order of the names.
    pub fn waits(&self) -> Vec<CategoryWaits> {
        let mut named: Vec<(&String, &Category)> = self.names.iter().zip(&self.single).collect();
        named.retain(|(_, category)| category.waits.count() > 0);
        named.sort_by_key(|one| natural(one.0));
        let mut waits: Vec<CategoryWaits> =
            named.iter().map(|(name, one)| one.report(name)).collect();
        let deciles = (1..)
            .zip(&self.deciles)
            .filter(|(_, one)| one.waits.count() > 0);
        waits.extend(deciles.map(|(number, one)| one.report(&format!("strength, tenth {number}"))));
        waits
    }

    /// The two categories together whose tickets waited longest, by their 95th percentile.
    pub fn worst(&self, count: usize) -> Vec<CategoryWaits> {
        let name = |at: u16| self.names.get(usize::from(at)).map_or("", String::as_str);
        let many = self
            .pairs
            .iter()
            .filter(|(_, one)| one.waits.count() >= FEWEST);
        let report = |(&(one, other), category): (&(u16, u16), &Category)| {
            category.report(&format!("{}, {}", name(one), name(other)))
        };
        let mut waits: Vec<CategoryWaits> = many.map(report).collect();
        waits.sort_by(|one, other| {
            let longest = other.p95.total_cmp(&one.p95);
            longest.then_with(|| one.category.cmp(&other.category))
        });
        waits.truncate(count);
        waits
    }
}

/// A key by which `tier 2` comes before `tier 10`.
fn natural(name: &str) -> (String, u32) {
    let digits = name.rsplit(' ').next().and_then(|last| last.parse().ok());
    match (name.rsplit_once(' '), digits) {
        (Some((head, _)), Some(number)) => (head.to_owned(), number),
        _ => (name.to_owned(), 0),
    }
}

/// The category of a ticket by one attribute: the largest number, the word that all have, whether
/// anybody states more than the default.
fn label(
    name: &str,
    of: &AttributeType,
    default: Option<&Value>,
    values: &[&Value],
) -> Option<String> {
    let number = |value: &&Value| match value {
        Value::Number(number) => *number,
        _ => 0.0,
    };
    match of {
        AttributeType::Flag => {
            let stated = values.iter().any(|value| number(value) > 0.0);
            stated.then(|| name.to_owned())
        }
        AttributeType::Int { least, most } => match default {
            Some(default) => {
                let stated = values.iter().any(|value| *value != default);
                stated.then(|| format!("{name} stated"))
            }
            None if i64::from(*most) - i64::from(*least) < VALUES as i64 => {
                let largest = values.iter().map(number).fold(f64::NEG_INFINITY, f64::max);
                Some(format!("{name} {largest}"))
            }
            None => None,
        },
        AttributeType::Enum(words) if words.len() <= VALUES => match values {
            [Value::Word(first), rest @ ..] if rest.iter().all(|other| *other == values[0]) => {
                Some(format!("{name} {first}"))
            }
            _ => None,
        },
        AttributeType::Set(words) if (1..=VALUES).contains(&words.len()) => {
            let has = |word: &&String| {
                values.iter().all(|value| match value {
                    Value::Set(set) => set.contains(word),
                    _ => false,
                })
            };
            let mut shared = words.iter().filter(has);
            match (shared.next(), shared.next()) {
                (Some(only), None) => Some(format!("{name} only {only}")),
                _ => None,
            }
        }
        _ => None,
    }
}
