//! What is known, for everybody who asks: the weights that apply to a game, and chances.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use parking_lot::Mutex;

use super::learned::Knowledge;
use crate::{
    domain::{Kind, PlayerKey, Ruleset},
    history::{Field, Weight},
};

/// Rulesets whose weights are kept at hand. Peers can make up any number of them.
const KEPT: usize = 256;

/// A state of knowledge. Never changes; a newer one takes its place.
#[derive(Default)]
pub struct Standings {
    knowledge: Option<Knowledge>,
    views: Mutex<BTreeMap<String, Arc<View>>>,
}

impl std::fmt::Debug for Standings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Standings").finish_non_exhaustive()
    }
}

impl Standings {
    pub(super) fn new(knowledge: Knowledge) -> Self {
        Self {
            knowledge: Some(knowledge),
            views: Mutex::default(),
        }
    }

    /// The weights that apply to games of a ruleset. Computed once a ruleset, O(players).
    pub fn view(&self, ruleset: &Ruleset) -> Arc<View> {
        let Some(knowledge) = &self.knowledge else {
            return Arc::default();
        };
        let key = ruleset.to_string();
        let mut views = self.views.lock();
        if let Some(view) = views.get(&key) {
            return view.clone();
        }
        if views.len() >= KEPT {
            views.clear();
        }
        let view = Arc::new(View::new(knowledge, ruleset));
        views.insert(key, view.clone());
        view
    }

    /// The chance that the first team wins, by the rating system itself; `None` where nothing has been
    /// learned at all.
    pub fn chance(&self, ruleset: &Ruleset, map: &str, teams: &[Vec<PlayerKey>]) -> Option<f64> {
        self.chances(ruleset, map, teams)?.first().copied()
    }

    /// What the sides and sizes of two teams are worth beside weights.
    pub fn field(&self, ruleset: &Ruleset, map: &str, teams: &[Vec<PlayerKey>]) -> Field {
        let fold = self.knowledge.as_ref().and_then(|k| k.fold(ruleset));
        fold.map_or(Field::default(), |fold| fold.field(ruleset, map, teams))
    }

    /// Each team's chance to win, summing to 1, likewise.
    pub fn chances(
        &self,
        ruleset: &Ruleset,
        map: &str,
        teams: &[Vec<PlayerKey>],
    ) -> Option<Vec<f64>> {
        let fold = self.knowledge.as_ref()?.fold(ruleset)?;
        fold.rulesets().next()?; // otherwise all would be a coin's
        Some(fold.chances(ruleset, map, teams))
    }
}

/// The weights that apply to one ruleset: for each player that from its own games, or else that from all
/// games of its type, or else that from all games.
#[derive(Clone, Debug, Default)]
pub struct View {
    humans: HashMap<String, f64>,
    bots: HashMap<String, f64>,
    mean_bot: Option<(f64, usize)>,
    /// The bots whose mean that is.
    in_mean: HashSet<String>,
}

impl View {
    fn new(knowledge: &Knowledge, ruleset: &Ruleset) -> Self {
        let mut view = Self::default();
        let fold = knowledge.fold(ruleset);
        let best = fold.map_or(Vec::new(), |fold| fold.best_weights(ruleset));
        let is_bot = |weight: &Weight<'_>| weight.key.kind == Kind::Bot;
        let of_bots = best.iter().filter(|(weight, _)| is_bot(weight));
        let closest = of_bots.map(|(_, level)| *level).min();
        let (mut sum, mut count) = (0.0, 0);
        for (weight, level) in &best {
            let id = weight.key.id.clone();
            if is_bot(weight) && Some(*level) == closest {
                (sum, count) = (sum + weight.weight, count + 1);
                view.in_mean.insert(id.clone());
            }
            view.table(weight.key.kind).insert(id, weight.weight);
        }
        if count > 0 {
            view.mean_bot = Some((sum / count as f64, count));
        }
        for (key, &weight) in &knowledge.pinned {
            view.table(key.kind).insert(key.id.clone(), weight);
        }
        view
    }

    fn table(&mut self, kind: Kind) -> &mut HashMap<String, f64> {
        match kind {
            Kind::Human => &mut self.humans,
            Kind::Bot => &mut self.bots,
        }
    }

    /// Known bots, those nearest to the mean first: they can stand for bots that nobody has chosen yet.
    pub fn typical_bots(&self) -> Vec<&str> {
        let Some((mean, _)) = self.mean_bot else {
            return Vec::new();
        };
        let known = self.in_mean.iter().filter_map(|name| {
            let off = (self.bots.get(name)? - mean).abs();
            Some((off, name.as_str()))
        });
        let mut known: Vec<(f64, &str)> = known.collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
        known.into_iter().map(|(_, name)| name).collect()
    }

    /// A human's weight, 0 to 100; `None` when nothing is known.
    pub fn human(&self, id: &str) -> Option<f64> {
        self.humans.get(id).copied()
    }

    /// A bot's weight, 0 to 100; `None` when nothing is known.
    pub fn bot(&self, name: &str) -> Option<f64> {
        self.bots.get(name).copied()
    }

    /// The mean weight and the number of the known bots, of the closest ruleset that any is known from.
    pub fn mean_bot(&self) -> Option<(f64, usize)> {
        self.mean_bot
    }

    /// Whether that bot is among those whose mean [`mean_bot`](Self::mean_bot) tells.
    pub fn is_in_mean(&self, name: &str) -> bool {
        self.in_mean.contains(name)
    }
}
