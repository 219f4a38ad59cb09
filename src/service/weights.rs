//! What has been learned, in memory: the fold of all matches, and the weights that apply to a game.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    domain::{Kind, PlayerKey, Ruleset},
    history::Fold,
};

/// Rulesets whose weights are kept at hand. Peers can make up any number of them.
const KEPT: usize = 256;

/// A state of knowledge. Never changes; a newer one takes its place.
#[derive(Default)]
pub struct Standings {
    fold: Option<Fold>,
    views: Mutex<BTreeMap<String, Arc<View>>>,
}

impl std::fmt::Debug for Standings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Standings").finish_non_exhaustive()
    }
}

impl Standings {
    pub(super) fn new(fold: Fold) -> Self {
        Self {
            fold: Some(fold),
            views: Mutex::default(),
        }
    }

    /// The weights that apply to games of a ruleset. Computed once a ruleset, O(players).
    pub fn view(&self, ruleset: &Ruleset) -> Arc<View> {
        let Some(fold) = &self.fold else {
            return Arc::default();
        };
        let key = ruleset.to_string();
        let mut views = self.views.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = views.get(&key) {
            return view.clone();
        }
        if views.len() >= KEPT {
            views.clear();
        }
        let view = Arc::new(View::new(fold, ruleset));
        views.insert(key, view.clone());
        view
    }

    /// The chance that the first of two teams wins, by the rating system itself; `None` with another
    /// number of teams, or where nothing has been learned at all.
    pub fn chance(&self, ruleset: &Ruleset, map: &str, teams: &[Vec<PlayerKey>]) -> Option<f64> {
        let fold = self.fold.as_ref()?;
        let chances = fold.chances(ruleset, map, teams);
        (teams.len() == 2)
            .then(|| chances.first().copied())
            .flatten()
    }
}

/// The weights that apply to one ruleset: for each player the best that is known, from its own games,
/// those of its game type, or all.
#[derive(Clone, Debug, Default)]
pub struct View {
    humans: HashMap<String, f64>,
    bots: HashMap<String, f64>,
    mean_bot: Option<(f64, usize)>,
}

impl View {
    fn new(fold: &Fold, ruleset: &Ruleset) -> Self {
        let mut view = Self::default();
        let best = fold.best_weights(ruleset);
        for (weight, _) in &best {
            let table = match weight.key.kind {
                Kind::Human => &mut view.humans,
                Kind::Bot => &mut view.bots,
            };
            table.insert(weight.key.id.clone(), weight.weight);
        }
        let bots = || {
            best.iter()
                .filter(|(weight, _)| weight.key.kind == Kind::Bot)
        };
        // The mean of those known from the closest games that any bot is known from.
        let closest = bots().map(|(_, level)| *level).min();
        let close: Vec<f64> = bots()
            .filter(|(_, level)| Some(*level) == closest)
            .map(|(weight, _)| weight.weight)
            .collect();
        if !close.is_empty() {
            let sum: f64 = close.iter().sum();
            view.mean_bot = Some((sum / close.len() as f64, close.len()));
        }
        view
    }

    /// A human's weight, 0 to 100; `None` when nothing is known.
    pub fn human(&self, id: &str) -> Option<f64> {
        self.humans.get(id).copied()
    }

    /// A bot's weight, 0 to 100; `None` when nothing is known.
    pub fn bot(&self, name: &str) -> Option<f64> {
        self.bots.get(name).copied()
    }

    /// The mean weight and the number of the known bots, by the closest games that any is known from.
    pub fn mean_bot(&self) -> Option<(f64, usize)> {
        self.mean_bot
    }
}
