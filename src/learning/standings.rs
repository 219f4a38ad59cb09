//! What is known, for everybody who asks: the weights that apply to a game, and chances.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use parking_lot::Mutex;

use super::learned::Knowledge;
use crate::{
    domain::{Kind, PlayerKey, Ruleset},
    history::{Field, Level, Weight},
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

/// How far from 50 a weight counts that is known from games of other rulesets alone, as a share: who
/// is better in one game type is often better in another, and not always.
const ELSEWHERE: f64 = 0.5;

/// What applies to one ruleset: each player's weight from its own games, from those of its game type
/// with fewer mutators, or else, as a guess, from games that are played differently.
#[derive(Clone, Debug, Default)]
pub struct View {
    humans: HashMap<String, Known>,
    bots: HashMap<String, Known>,
    mean_bot: Option<(f64, usize)>,
    mean_bot_worth: Option<f64>,
    /// The bots whose mean that is.
    in_mean: HashSet<String>,
}

/// A player's weight.
#[derive(Clone, Copy, Debug)]
struct Known {
    weight: f64,
    /// The same on the linear scale, see [`Weight::worth`].
    worth: f64,
    /// Whether it comes from games of other rulesets alone.
    is_guess: bool,
}

impl View {
    fn new(knowledge: &Knowledge, ruleset: &Ruleset) -> Self {
        let mut view = Self::default();
        let fold = knowledge.fold(ruleset);
        let best = fold.map_or(Vec::new(), |fold| fold.best_weights(ruleset));
        let is_bot = |weight: &Weight<'_>| weight.key.kind == Kind::Bot;
        let of_bots = best.iter().filter(|(weight, _)| is_bot(weight));
        let closest = of_bots.map(|(_, level)| *level).min();
        let (mut sum, mut worth, mut count) = (0.0, 0.0, 0);
        for (weight, level) in &best {
            let known = Known::from(weight, *level);
            let id = weight.key.id.clone();
            if is_bot(weight) && Some(*level) == closest {
                (sum, count) = (sum + known.weight, count + 1);
                worth += known.worth;
                view.in_mean.insert(id.clone());
            }
            view.table(weight.key.kind).insert(id, known);
        }
        if count > 0 {
            view.mean_bot = Some((sum / count as f64, count));
            view.mean_bot_worth = Some(worth / count as f64);
        }
        for (key, &weight) in &knowledge.pinned {
            let pinned = Known {
                weight,
                worth: weight,
                is_guess: false,
            };
            view.table(key.kind).insert(key.id.clone(), pinned);
        }
        view
    }

    fn table(&mut self, kind: Kind) -> &mut HashMap<String, Known> {
        match kind {
            Kind::Human => &mut self.humans,
            Kind::Bot => &mut self.bots,
        }
    }

    fn of(&self, kind: Kind, id: &str) -> Option<Known> {
        let table = match kind {
            Kind::Human => &self.humans,
            Kind::Bot => &self.bots,
        };
        table.get(id).copied()
    }

    /// The weight that is known of a human in this ruleset, 0 to 100: by its games, by those of its
    /// game type with fewer mutators, or pinned. `None` for a human whose only games were others.
    pub fn human(&self, id: &str) -> Option<f64> {
        let known = self.of(Kind::Human, id).filter(|known| !known.is_guess);
        known.map(|known| known.weight)
    }

    /// The weight that decisions count a player with: the known one, or a guess from other games, half as
    /// far from 50. `None` for a player without games.
    pub fn expected(&self, kind: Kind, id: &str) -> Option<f64> {
        self.of(kind, id).map(|known| known.weight)
    }

    /// What a player adds to a team's strength, in the unit of [`Field`], as far as decisions expect it.
    pub fn worth(&self, kind: Kind, id: &str) -> Option<f64> {
        self.of(kind, id).map(|known| known.worth)
    }

    /// The mean of that over the bots of [`mean_bot`](Self::mean_bot).
    pub fn mean_bot_worth(&self) -> Option<f64> {
        self.mean_bot_worth
    }

    /// The weight of a player that is a guess from other games; `None` if it is known, or there is none.
    pub fn guess(&self, kind: Kind, id: &str) -> Option<f64> {
        let guess = self.of(kind, id).filter(|known| known.is_guess);
        guess.map(|known| known.weight)
    }

    /// Known bots, those nearest to the mean first: they can stand for bots that nobody has chosen yet.
    pub fn typical_bots(&self) -> Vec<&str> {
        let Some((mean, _)) = self.mean_bot else {
            return Vec::new();
        };
        let known = self.in_mean.iter().filter_map(|name| {
            let off = (self.bots.get(name)?.weight - mean).abs();
            Some((off, name.as_str()))
        });
        let mut known: Vec<(f64, &str)> = known.collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
        known.into_iter().map(|(_, name)| name).collect()
    }

    /// The mean weight that decisions expect of a bot, and the number of the bots it is of: those of the
    /// closest games that any bot played.
    pub fn mean_bot(&self) -> Option<(f64, usize)> {
        self.mean_bot
    }

    /// Whether that bot is among those whose mean [`mean_bot`](Self::mean_bot) tells.
    pub fn is_in_mean(&self, name: &str) -> bool {
        self.in_mean.contains(name)
    }
}

impl Known {
    fn from(weight: &Weight<'_>, level: Level) -> Self {
        let is_guess = !level.is_near();
        let counted = |known: f64| match is_guess {
            true => 50.0 + ELSEWHERE * (known - 50.0),
            false => known,
        };
        Self {
            weight: counted(weight.weight),
            worth: counted(weight.worth),
            is_guess,
        }
    }
}
