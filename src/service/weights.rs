//! All weights in memory, and the look-up with its fallbacks.

use std::collections::{BTreeMap, HashMap};

use crate::{
    domain::{Kind, Ruleset},
    store::WeightRow,
};

/// The weights of every ruleset.
#[derive(Clone, Debug, Default)]
pub struct Standings {
    rulesets: BTreeMap<String, Table>,
}

/// The weights of one ruleset.
#[derive(Clone, Debug, Default)]
struct Table {
    humans: HashMap<String, f64>,
    bots: HashMap<String, f64>,
    bot_sum: f64,
}

impl Standings {
    /// From rows sorted by player, so that the mean has the same bits everywhere.
    pub(super) fn new(rows: Vec<WeightRow>) -> Self {
        let mut rulesets: BTreeMap<String, Table> = BTreeMap::new();
        for row in rows {
            let table = rulesets.entry(row.ruleset).or_default();
            match row.key.kind {
                Kind::Human => table.humans.insert(row.key.id, row.weight),
                Kind::Bot => {
                    table.bot_sum += row.weight;
                    table.bots.insert(row.key.id, row.weight)
                }
            };
        }
        Self { rulesets }
    }

    /// What is known under this ruleset and those it falls back to, best first.
    pub fn view(&self, ruleset: &Ruleset) -> View<'_> {
        let known = |ruleset: Ruleset| self.rulesets.get(&ruleset.to_string());
        View {
            tables: ruleset.fallbacks().filter_map(known).collect(),
        }
    }
}

/// The weights that apply to one game.
#[derive(Clone, Debug)]
pub struct View<'a> {
    tables: Vec<&'a Table>,
}

impl View<'_> {
    /// A human's weight, 0 to 100; `None` when nothing is known.
    pub fn human(&self, id: &str) -> Option<f64> {
        self.tables
            .iter()
            .find_map(|table| table.humans.get(id))
            .copied()
    }

    /// A bot's weight, 0 to 100; `None` when nothing is known.
    pub fn bot(&self, name: &str) -> Option<f64> {
        self.tables
            .iter()
            .find_map(|table| table.bots.get(name))
            .copied()
    }

    /// The mean weight and the number of the known bots of the best ruleset that has any.
    pub fn mean_bot(&self) -> Option<(f64, usize)> {
        let table = self.tables.iter().find(|table| !table.bots.is_empty())?;
        let count = table.bots.len();
        Some((table.bot_sum / count as f64, count))
    }
}
