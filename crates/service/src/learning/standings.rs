//! The published state: the weights of each ruleset, and predicted chances.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use super::{gaps::Gaps, knowledge::Knowledge, view::View};
use crate::{
    model::{MatchRecord, PlayerKey, Ruleset, Timestamp, merge::CountsAs, win_model::LineupPlayer},
    rating::history::{BalanceStatistics, Fold, LineupReading, Spread},
};

/// The number of rulesets whose views are cached. It is limited because peers can invent rulesets.
const KEPT: usize = 256;

/// The published state of knowledge. Immutable: newer standings replace it.
#[derive(Default)]
pub struct Standings {
    knowledge: Option<Arc<Knowledge>>,
    /// The same in the season of the latest match.
    of_boards: Option<Arc<Knowledge>>,
    /// `None` once all stored matches are folded.
    gaps: Option<Gaps>,
    views: Mutex<BTreeMap<String, Arc<View>>>,
}

impl std::fmt::Debug for Standings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Standings").finish_non_exhaustive()
    }
}

impl Standings {
    pub(super) fn new(knowledge: Knowledge, gaps: Option<Gaps>) -> Self {
        let knowledge = Some(Arc::new(knowledge));
        Self {
            of_boards: knowledge.clone(),
            knowledge,
            gaps,
            views: Mutex::default(),
        }
    }

    /// What was learned; `None` before anything was.
    pub(super) fn knowledge(&self) -> Option<&Knowledge> {
        self.knowledge.as_deref()
    }

    /// What leaderboards show: what was learned up to the latest match, in its season.
    pub(super) fn knowledge_of_boards(&self) -> Option<Arc<Knowledge>> {
        self.of_boards.clone()
    }

    /// How even the rated matches were; `None` while they are counted again, because the weights of the database are served
    /// until then.
    pub fn balance(&self) -> Option<BalanceStatistics> {
        match &self.knowledge {
            None => Some(BalanceStatistics::default()), // without any match
            Some(known) => known.stored.is_none().then(|| known.balance.clone()),
        }
    }

    /// What these weights lack; `None` once all stored matches are folded.
    pub(super) fn gaps(&self) -> Option<&Gaps> {
        self.gaps.as_ref()
    }

    /// The match in the form from which weights are learned, with merged identities replaced.
    pub fn merged<'a>(&self, record: &'a MatchRecord) -> Cow<'a, MatchRecord> {
        let merges = self.knowledge.as_deref().map(|known| &known.counts_as);
        let counts_as_another = |merges: &&Arc<CountsAs>| {
            let mut players = record.participants.iter();
            players.any(|one| *merges.of(&one.key) != one.key)
        };
        match merges.filter(counts_as_another) {
            Some(merges) => {
                let mut merged = record.clone();
                merged.merge_players(merges);
                Cow::Owned(merged)
            }
            None => Cow::Borrowed(record),
        }
    }

    /// The identity that this one counts as: itself, or the one that an operator has merged it into.
    pub fn counted_as<'a>(&'a self, key: &'a PlayerKey) -> Cow<'a, PlayerKey> {
        match self.knowledge.as_deref() {
            Some(known) => known.counts_as.of(key),
            None => Cow::Borrowed(key),
        }
    }

    /// Whether this identity, in the form under which it counts, has played: in a rated match, or in one that these weights
    /// lack.
    pub fn knows(&self, key: &PlayerKey) -> bool {
        let lacks = |gaps: &Gaps| gaps.has(key.kind, &key.id);
        let known = self.knowledge.as_deref();
        known.is_some_and(|known| known.knows(key)) || self.gaps.as_ref().is_some_and(lacks)
    }

    /// Whether a match of this ruleset was rated. While nothing is known, all may be.
    pub fn knows_ruleset(&self, ruleset: &Ruleset) -> bool {
        let known = self.knowledge.as_deref();
        known.is_some_and(|known| known.knows_ruleset(ruleset, self.gaps.is_some()))
    }

    /// When the last match ended that was learned from; `None` if there is none, or if it is not known.
    pub fn last_end(&self) -> Option<Timestamp> {
        let folds = self.knowledge.as_deref()?.folds.values();
        folds.filter_map(Fold::last_end).max()
    }

    /// The teams with merged identities replaced.
    fn counted<'a>(&self, teams: &'a [Vec<LineupPlayer>]) -> Cow<'a, [Vec<LineupPlayer>]> {
        let merges = self.knowledge.as_deref().map(|known| &known.counts_as);
        let counts_as_another = |merges: &&Arc<CountsAs>| {
            let mut players = teams.iter().flatten();
            players.any(|one| *merges.of(&one.key) != one.key)
        };
        let Some(merges) = merges.filter(counts_as_another) else {
            return Cow::Borrowed(teams);
        };
        let mut teams = teams.to_vec();
        for player in teams.iter_mut().flatten() {
            player.key = merges.of(&player.key).into_owned();
        }
        Cow::Owned(teams)
    }

    /// The date on which the next season begins, if one is configured.
    pub fn next_season(&self) -> Option<Timestamp> {
        self.knowledge.as_deref().and_then(Knowledge::next_season)
    }

    /// Whether a season has begun by `now` that these weights are not of yet.
    pub(super) fn season_is_due(&self, now: Timestamp) -> bool {
        self.next_season().is_some_and(|next| next <= now)
    }

    /// The weights with the seasons up to `now` begun.
    pub(super) fn in_season(&self, now: Timestamp) -> Self {
        let later = self.knowledge.as_deref().map(|known| known.in_season(now));
        let later = later.map(|later| Self::new(later, self.gaps.clone()));
        Self {
            of_boards: self.of_boards.clone(),
            ..later.unwrap_or_default()
        }
    }

    /// The weights that apply to games of a ruleset.
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
        let view = View::new(knowledge.clone(), ruleset.clone(), self.gaps.clone());
        let view = Arc::new(view);
        views.insert(key, view.clone());
        view
    }

    /// The chance that the first team wins, as predicted by the rating system; `None` before the
    /// first rated match.
    pub fn chance(&self, ruleset: &Ruleset, map: &str, teams: &[Vec<LineupPlayer>]) -> Option<f64> {
        self.chances(ruleset, map, teams)?.first().copied()
    }

    /// The rating system's prediction for a lineup of two teams, with its inputs; `None` if nothing
    /// has been learned at all.
    pub fn reading(
        &self,
        ruleset: &Ruleset,
        map: &str,
        teams: &[Vec<LineupPlayer>],
    ) -> Option<LineupReading> {
        let teams = self.counted(teams);
        self.learned(ruleset)?.reading(ruleset, map, &teams)
    }

    /// The strength that a player adds by commanding in this lineup; 0 if nothing has been learned of it.
    pub fn command_strength(
        &self,
        ruleset: &Ruleset,
        teams: &[Vec<LineupPlayer>],
        key: &PlayerKey,
    ) -> f64 {
        let fold = self.learned(ruleset);
        let key = self.counted_as(key);
        let teams = self.counted(teams);
        let strength = fold.and_then(|fold| fold.command_strength(ruleset, &teams, &key));
        strength.unwrap_or(0.0)
    }

    /// The strength that has this weight, minus a newcomer's; 0 if nothing has been learned at all.
    pub fn strength_at(&self, ruleset: &Ruleset, weight: f64) -> f64 {
        let fold = self.learned(ruleset);
        let strength = fold.and_then(|fold| fold.strength_at(ruleset, weight));
        strength.unwrap_or(0.0)
    }

    /// How far apart the final scores of a ruleset's matches are; the default before any match.
    pub fn spread(&self, ruleset: &Ruleset) -> Spread {
        let spread = self.learned(ruleset).and_then(|fold| fold.spread(ruleset));
        spread.unwrap_or_default()
    }

    /// The fold that serves a ruleset, if it has learned anything.
    fn learned(&self, ruleset: &Ruleset) -> Option<&Fold> {
        let fold = self.knowledge.as_deref()?.fold(ruleset)?;
        fold.rulesets().next()?; // without a rated match, all chances would be 50 %
        Some(fold)
    }

    /// Each team's chance to win, summing to 1, as predicted by the rating system; `None` before
    /// the first rated match.
    pub fn chances(
        &self,
        ruleset: &Ruleset,
        map: &str,
        teams: &[Vec<LineupPlayer>],
    ) -> Option<Vec<f64>> {
        let teams = self.counted(teams);
        Some(self.learned(ruleset)?.chances(ruleset, map, &teams))
    }
}
