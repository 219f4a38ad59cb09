//! The published weights: the weights that apply to a ruleset, and predicted chances.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use parking_lot::Mutex;

use super::{gaps::Gaps, learned::Knowledge};
use crate::{
    domain::{Kind, LineupPlayer, MatchRecord, PlayerKey, Rank, Ruleset, Timestamp},
    history::{Fold, Level, LineupReading, Spread, Weight},
};

/// The number of rulesets whose views are cached. It is limited because peers can invent rulesets.
const KEPT: usize = 256;

/// The published state of knowledge. Immutable: newer standings replace it.
#[derive(Default)]
pub struct Standings {
    knowledge: Option<Knowledge>,
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
        Self {
            knowledge: Some(knowledge),
            gaps,
            views: Mutex::default(),
        }
    }

    /// What was learned; `None` before anything was.
    pub(super) fn knowledge(&self) -> Option<&Knowledge> {
        self.knowledge.as_ref()
    }

    /// What these weights lack; `None` once all stored matches are folded.
    pub(super) fn gaps(&self) -> Option<&Gaps> {
        self.gaps.as_ref()
    }

    /// The match in the form from which weights are learned, with merged identities replaced.
    pub fn merged<'a>(&self, record: &'a MatchRecord) -> Cow<'a, MatchRecord> {
        let merges = self.knowledge.as_ref().map(|known| &known.counts_as);
        match merges.filter(|merges| !merges.is_empty()) {
            Some(merges) => {
                let mut merged = record.clone();
                merged.merge_players(merges);
                Cow::Owned(merged)
            }
            None => Cow::Borrowed(record),
        }
    }

    /// The identity that this one counts as: itself, or the one that an operator has merged it into.
    pub fn counted_as<'a>(&'a self, key: &'a PlayerKey) -> &'a PlayerKey {
        let merges = self.knowledge.as_ref().map(|known| &known.counts_as);
        merges.and_then(|merges| merges.get(key)).unwrap_or(key)
    }

    /// The teams with merged identities replaced.
    fn counted<'a>(&self, teams: &'a [Vec<LineupPlayer>]) -> Cow<'a, [Vec<LineupPlayer>]> {
        let merges = self.knowledge.as_ref().map(|known| &known.counts_as);
        let Some(merges) = merges.filter(|merges| !merges.is_empty()) else {
            return Cow::Borrowed(teams);
        };
        let mut teams = teams.to_vec();
        for player in teams.iter_mut().flatten() {
            if let Some(into) = merges.get(&player.key) {
                player.key = into.clone();
            }
        }
        Cow::Owned(teams)
    }

    /// The date on which the next season begins, if one is configured.
    pub fn next_season(&self) -> Option<Timestamp> {
        self.knowledge.as_ref().and_then(Knowledge::next_season)
    }

    /// Whether a season has begun by `now` that these weights are not of yet.
    pub(super) fn season_is_due(&self, now: Timestamp) -> bool {
        self.next_season().is_some_and(|next| next <= now)
    }

    /// The weights with the seasons up to `now` begun.
    pub(super) fn in_season(&self, now: Timestamp) -> Self {
        let later = self.knowledge.as_ref().map(|known| known.in_season(now));
        later.map_or_else(Self::default, |later| Self::new(later, self.gaps.clone()))
    }

    /// The weights that apply to games of a ruleset. O(players) for the first call per ruleset,
    /// then cached.
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
        let mut view = View::new(knowledge, ruleset);
        view.gaps = self.gaps.clone();
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
        let merges = self.knowledge.as_ref().map(|known| &known.counts_as);
        let key = merges.and_then(|merges| merges.get(key)).unwrap_or(key);
        let teams = self.counted(teams);
        let strength = fold.and_then(|fold| fold.command_strength(ruleset, &teams, key));
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
        let fold = self.knowledge.as_ref()?.fold(ruleset)?;
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

/// The weights that apply to one ruleset. A player's weight comes from games of the ruleset, else
/// from games of the same game type with fewer mutators, else, as a guess, from games with other
/// rules.
#[derive(Clone, Debug, Default)]
pub struct View {
    humans: HashMap<String, PlayerStanding>,
    bots: HashMap<String, PlayerStanding>,
    mean_bot: Option<(f64, usize)>,
    mean_bot_strength: f64,
    /// The names of the bots over which `mean_bot` is taken.
    in_mean: HashSet<String>,
    /// What the weights lack; `None` once all stored matches are folded.
    gaps: Option<Gaps>,
}

/// One player's weight in a [`View`].
#[derive(Clone, Copy, Debug)]
struct PlayerStanding {
    weight: f64,
    /// The strength above a newcomer's, see [`Weight::strength`].
    strength: f64,
    /// The deviation of the weight, see [`Weight::deviation`].
    deviation: f64,
    /// The deviation of the strength, see [`Weight::doubt`].
    doubt: f64,
    /// Whether it comes only from games of other rulesets.
    is_guess: bool,
    /// Whether it comes from games of this ruleset, or of one with fewer mutators.
    is_near: bool,
    /// Whether the operator has fixed it.
    is_pinned: bool,
    reached: Reached,
}

/// What is known of a human under a ruleset, as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerFacts {
    /// The weight that decisions use, 0 to 100.
    pub weight: f64,
    /// The strength that decisions use, minus a newcomer's.
    pub strength: f64,
    /// The deviation of the weight; 0 if the rating system has none, or the operator set the weight.
    pub deviation: f64,
    /// Number of rated matches from which the weight was learned.
    pub games: u32,
    /// The number of the division, 0 for the lowest; `None` while calibrating.
    pub division: Option<u8>,
    /// Time played in these matches, in hours.
    pub hours: f64,
    /// The end of the first of these matches; `None` without any.
    pub first_seen: Option<Timestamp>,
}

/// The division that a player has reached in a [`View`], and the time from which on the displayed
/// one may fall.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reached {
    /// The rank; `None` while the player is calibrating, and for weights from games of other rulesets.
    pub(super) rank: Option<Rank>,
    /// The number of rated matches from which the weight was learned.
    pub(super) games: u32,
    /// The end of the last of these matches.
    pub(super) last_seen: Timestamp,
    /// The end of the first of these matches; `None` without any.
    pub(super) first_seen: Option<Timestamp>,
    /// Time played in these matches, in hours.
    pub(super) hours: f64,
}

impl View {
    fn new(knowledge: &Knowledge, ruleset: &Ruleset) -> Self {
        let mut view = Self::default();
        let fold = knowledge.fold(ruleset);
        let strength_at = |weight| {
            let strength = fold.and_then(|fold| fold.strength_at(ruleset, weight));
            strength.unwrap_or(0.0)
        };
        let best = knowledge.best_weights(ruleset);
        let is_bot = |weight: &Weight<'_>| weight.key.kind == Kind::Bot;
        let of_bots = best.iter().filter(|(weight, _)| is_bot(weight));
        let closest = of_bots.map(|(_, level)| *level).min();
        let (mut sum, mut strength, mut count) = (0.0, 0.0, 0);
        for (weight, level) in &best {
            let known = PlayerStanding::from(weight, *level);
            let id = weight.key.id.clone();
            if is_bot(weight) && Some(*level) == closest {
                (sum, count) = (sum + known.weight, count + 1);
                strength += known.strength;
                view.in_mean.insert(id.clone());
            }
            view.table(weight.key.kind).insert(id, known);
        }
        if count > 0 {
            view.mean_bot = Some((sum / count as f64, count));
            view.mean_bot_strength = strength / count as f64;
        }
        for (key, start) in &knowledge.starts {
            view.start(key, start.weight, strength_at(start.weight));
        }
        for (key, &weight) in &knowledge.pinned {
            let known = view.of(key.kind, &key.id).filter(|known| !known.is_guess);
            let reached = known.map_or(Reached::NEVER, |known| known.reached);
            let rank = match fold {
                Some(fold) => fold.rank_of_weight(ruleset, weight),
                None => reached.rank, // as it is stored
            };
            let pinned = PlayerStanding {
                weight,
                deviation: 0.0,
                doubt: 0.0,
                strength: strength_at(weight),
                is_guess: false,
                is_near: known.is_some_and(|known| known.is_near),
                is_pinned: true,
                reached: Reached {
                    rank: rank.filter(|_| key.kind == Kind::Human),
                    ..reached
                },
            };
            view.table(key.kind).insert(key.id.clone(), pinned);
        }
        for (alias, into) in knowledge.counts_as.iter() {
            if let Some(known) = view.of(into.kind, &into.id) {
                view.table(alias.kind).insert(alias.id.clone(), known);
            }
        }
        view
    }

    /// Lets a player start at a weight of this strength: one without matches of this ruleset or of one with
    /// fewer mutators. What matches of other rulesets are worth beside the start is in the weight already.
    fn start(&mut self, key: &PlayerKey, weight: f64, strength: f64) {
        let elsewhere = self.of(key.kind, &key.id);
        if elsewhere.is_some_and(|known| !known.is_guess) {
            return;
        }
        let from = |known: PlayerStanding| PlayerStanding {
            is_guess: false,
            ..known
        };
        let fresh = PlayerStanding {
            weight,
            deviation: 0.0,
            doubt: 0.0,
            strength,
            is_guess: false,
            is_near: false,
            is_pinned: false,
            reached: Reached::default(),
        };
        let known = elsewhere.map_or(fresh, from);
        self.table(key.kind).insert(key.id.clone(), known);
    }

    fn table(&mut self, kind: Kind) -> &mut HashMap<String, PlayerStanding> {
        match kind {
            Kind::Human => &mut self.humans,
            Kind::Bot => &mut self.bots,
        }
    }

    fn of(&self, kind: Kind, id: &str) -> Option<PlayerStanding> {
        let table = match kind {
            Kind::Human => &self.humans,
            Kind::Bot => &self.bots,
        };
        table.get(id).copied()
    }

    /// A human's known weight in this ruleset, 0 to 100: from games of the ruleset, from games of
    /// the same game type with fewer mutators, or pinned. `None` for a human who has played only
    /// other games.
    pub fn human(&self, id: &str) -> Option<f64> {
        let known = self.of(Kind::Human, id).filter(|known| !known.is_guess);
        known.map(|known| known.weight)
    }

    /// What is known of a human; `None` for a human without games.
    pub fn facts(&self, id: &str) -> Option<PlayerFacts> {
        let known = self.of(Kind::Human, id)?;
        let rank = known.reached.rank.filter(|_| !known.is_guess);
        Some(PlayerFacts {
            weight: known.weight,
            strength: known.strength,
            deviation: known.deviation,
            games: known.reached.games,
            division: rank.map(|rank| rank.division),
            hours: known.reached.hours,
            first_seen: known.reached.first_seen,
        })
    }

    /// The division that a human has reached in this ruleset.
    pub(super) fn rank(&self, id: &str) -> Reached {
        let known = self.of(Kind::Human, id).filter(|known| !known.is_guess);
        known.map_or_else(Reached::default, |known| known.reached)
    }

    /// The weight that decisions use for a player, 0 to 100: the known one, or a guess from games
    /// of other rulesets, of which a part counts. `None` for a player without games.
    pub fn expected(&self, kind: Kind, id: &str) -> Option<f64> {
        self.of(kind, id).map(|known| known.weight)
    }

    /// The strength that decisions use for a player, minus a newcomer's: the known one, that of a
    /// pinned weight, or a guess from games of other rulesets. `None` for a player without games.
    pub fn strength(&self, kind: Kind, id: &str) -> Option<f64> {
        self.of(kind, id).map(|known| known.strength)
    }

    /// The standard deviation of [`strength`](Self::strength); 0 if the rating system has none, or the
    /// operator has stated the weight. `None` for a player without games.
    pub fn doubt(&self, kind: Kind, id: &str) -> Option<f64> {
        self.of(kind, id).map(|known| known.doubt)
    }

    /// Whether the operator has fixed a player's weight.
    pub fn is_pinned(&self, kind: Kind, id: &str) -> bool {
        self.of(kind, id).is_some_and(|known| known.is_pinned)
    }

    /// The mean of [`strength`](Self::strength) over the bots of [`mean_bot`](Self::mean_bot); 0 if
    /// there are none.
    pub fn mean_bot_strength(&self) -> f64 {
        self.mean_bot_strength
    }

    /// The guessed weight of a player, 0 to 100; `None` if their weight is known, or they have no
    /// games.
    pub fn guess(&self, kind: Kind, id: &str) -> Option<f64> {
        let guess = self.of(kind, id).filter(|known| known.is_guess);
        guess.map(|known| known.weight)
    }

    /// Names of known bots, ordered by their distance from the mean: stand-ins for bots that have
    /// not been chosen yet.
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

    /// The mean weight that decisions use for a bot, and the number of bots behind it: those with
    /// the closest level of games that any bot has.
    pub fn mean_bot(&self) -> Option<(f64, usize)> {
        self.mean_bot
    }

    /// Whether this bot is among those that [`mean_bot`](Self::mean_bot) counts.
    pub fn is_in_mean(&self, name: &str) -> bool {
        self.in_mean.contains(name)
    }
}

/// What is not known yet, because the stored matches are still being folded. Once they are, nothing is.
impl View {
    /// Whether the stored matches may give this player a weight under the ruleset, and none is known yet.
    pub fn awaits(&self, kind: Kind, id: &str) -> bool {
        let Some(gaps) = &self.gaps else {
            return false;
        };
        let known = self.of(kind, id);
        let is_known = known.is_some_and(|known| known.is_near || known.is_pinned);
        !is_known && (gaps.has(kind, id) || kind == Kind::Bot && self.awaits_bots())
    }

    /// Whether the stored matches may give this player a weight that decisions use, and none is known yet,
    /// nor a guess.
    pub fn awaits_expected(&self, kind: Kind, id: &str) -> bool {
        self.of(kind, id).is_none() && self.awaits(kind, id)
    }

    /// Whether the stored matches give bots weights, and none is known yet.
    pub fn awaits_bots(&self) -> bool {
        self.mean_bot.is_none() && self.gaps.as_ref().is_some_and(Gaps::has_bots)
    }

    /// Whether the stored matches may give this human a rank under the ruleset, and it is not known yet.
    pub fn awaits_rank(&self, id: &str) -> bool {
        self.awaits_facts(id, |gaps| gaps.has_ranks)
    }

    /// Whether the stored matches may tell more of this human than [`facts`](Self::facts). `reads` is whether a
    /// fact is of interest, by the name that queues have for it.
    pub fn awaits_any_fact(&self, id: &str, reads: impl Fn(&str) -> bool) -> bool {
        let careers = ["@hours", "@known_since"].into_iter().any(&reads);
        let ranks = reads("@division");
        self.awaits_facts(id, |gaps| {
            (gaps.has_careers || !careers) && (gaps.has_ranks || !ranks)
        })
    }

    /// Whether a human is in a stored match, and is not known from games of the ruleset, or the weights lack what
    /// is needed.
    fn awaits_facts(&self, id: &str, suffices: impl Fn(&Gaps) -> bool) -> bool {
        let Some(gaps) = &self.gaps else {
            return false;
        };
        let is_near = self.of(Kind::Human, id).is_some_and(|known| known.is_near);
        gaps.has(Kind::Human, id) && !(is_near && suffices(gaps))
    }
}

impl Reached {
    /// The value for a player who has not played, whose rank therefore does not fall.
    const NEVER: Self = Self {
        rank: None,
        games: 0,
        last_seen: Timestamp(i64::MAX),
        first_seen: None,
        hours: 0.0,
    };
}

impl PlayerStanding {
    fn from(weight: &Weight<'_>, level: Level) -> Self {
        let is_guess = !level.is_near();
        let reached = Reached {
            rank: weight.rank.filter(|_| !is_guess),
            games: weight.games,
            last_seen: weight.last_seen,
            first_seen: Some(weight.first_seen),
            hours: weight.hours,
        };
        Self {
            weight: weight.weight,
            strength: weight.strength,
            deviation: weight.deviation,
            doubt: weight.doubt,
            is_guess,
            is_near: !is_guess,
            is_pinned: false,
            reached,
        }
    }
}
