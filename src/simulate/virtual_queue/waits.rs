//! How long tickets have waited, by their categories: counts by length, which take little memory however many there
//! are.
//!
//! The categories of tickets for the report: by the number of players, by strength, and by each
//! attribute that has few values.

use std::collections::HashMap;

use serde::Serialize;

use crate::matchmaking::{AttributeType, Queue, Ticket, Value};

/// Counts of waits. Up to 10 seconds they are counted in steps of 10 ms, up to 100 seconds of 100 ms,
/// beyond of 1 s; a wait counts as the end of its step.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitHistogram {
    counts: Vec<u32>,
    count: u64,
    sum_millis: u64,
}

/// Number of steps of 10 ms, and of those of 100 ms.
const STEPS: (u64, u64) = (1_000, 900);

fn step(millis: u64) -> usize {
    let (fine, middle) = STEPS;
    let step = match millis {
        0..=10_000 => millis.div_ceil(10),
        10_001..=100_000 => fine + (millis - 10_000).div_ceil(100),
        _ => fine + middle + (millis - 100_000).div_ceil(1_000),
    };
    step as usize // at most the number of seconds of a few days
}

fn seconds(step: usize) -> f64 {
    let (fine, middle) = (STEPS.0 as usize, STEPS.1 as usize);
    match step {
        _ if step <= fine => step as f64 / 100.0,
        _ if step <= fine + middle => 10.0 + (step - fine) as f64 / 10.0,
        _ => 100.0 + (step - fine - middle) as f64,
    }
}

impl WaitHistogram {
    /// Counts a wait.
    pub fn add(&mut self, millis: u64) {
        let step = step(millis);
        if step >= self.counts.len() {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] = self.counts[step].saturating_add(1);
        self.count += 1;
        self.sum_millis += millis;
    }

    /// The seconds within which this share of the waits ended; 0 if there are none.
    pub fn quantile(&self, share: f64) -> f64 {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut below = 0;
        for (step, count) in self.counts.iter().enumerate() {
            below += u64::from(*count);
            if below >= rank {
                return seconds(step);
            }
        }
        0.0
    }

    /// The mean in seconds; 0 if there are no waits.
    pub fn mean(&self) -> f64 {
        self.sum_millis as f64 / 1_000.0 / self.count.max(1) as f64
    }

    /// Number of waits.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// For each step that has any waits: its end in seconds, and the share of the waits that ended by then.
    pub fn curve(&self) -> Vec<(f64, f64)> {
        let mut below = 0;
        let steps = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        let point = |(step, count): (usize, &u32)| {
            below += u64::from(*count);
            (seconds(step), below as f64 / self.count as f64)
        };
        steps.map(point).collect()
    }
}

/// How long the tickets of one category waited, until they had a match or left the queue otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CategoryWaits {
    /// What the tickets have in common, such as `tier 7`.
    pub category: String,
    /// Number of tickets that left the queue.
    pub tickets: u64,
    /// The share of them that had a match.
    pub matched: f64,
    /// The mean in seconds.
    pub mean: f64,
    /// The median in seconds.
    pub p50: f64,
    /// The seconds within which 95 % of the waits ended.
    pub p95: f64,
    /// The seconds within which 99 % of the waits ended.
    pub p99: f64,
    /// The longest in seconds.
    pub most: f64,
}

/// The waits of the tickets of one category, and how many had a match.
#[derive(Clone, Debug, Default)]
pub(super) struct Category {
    pub waits: WaitHistogram,
    pub matched: u64,
}

impl Category {
    pub fn report(&self, category: &str) -> CategoryWaits {
        CategoryWaits {
            category: category.to_owned(),
            tickets: self.waits.count(),
            matched: self.matched as f64 / self.waits.count().max(1) as f64,
            mean: self.waits.mean(),
            p50: self.waits.quantile(0.5),
            p95: self.waits.quantile(0.95),
            p99: self.waits.quantile(0.99),
            most: self.waits.quantile(1.0),
        }
    }
}

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_waits(
            mut waits in prop::collection::vec(0_u64..400_000, 1..200), share in 0.01_f64..1.0
        ) {
            let mut histogram = WaitHistogram::default();
            waits.iter().for_each(|wait| histogram.add(*wait));
            waits.sort_unstable();
            let rank = (share * waits.len() as f64).ceil() as usize;
            let exact = waits[rank - 1] as f64 / 1_000.0;
            let found = histogram.quantile(share);
            let width = match exact { ..=10.0 => 0.01, ..=100.0 => 0.1, _ => 1.0 };
            prop_assert!(found >= exact - 1e-9 && found < exact + width + 1e-9, "{found} {exact}");
            prop_assert_eq!(histogram.curve().last().unwrap().1, 1.0);
        }
    }
}
