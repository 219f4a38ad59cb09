//! The weights that apply to one ruleset. Each is computed when somebody asks for it.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use super::{
    gaps::Gaps,
    knowledge::Knowledge,
    mean_bot::MeanBot,
    memo::{KnownWeight, Memo},
    player_facts::{PlayerFacts, PlayerStanding, Reached},
};
use crate::{
    model::{Kind, PlayerKey, Ruleset, StartWeight},
    rating::history::Fold,
};

/// The weight of a newcomer where nothing is learned.
const NEWCOMER_WEIGHT: f64 = 50.0;

/// The weights that apply to one ruleset. A player's weight comes from games of the ruleset, else
/// from games of the same game type with fewer mutators, else, as a guess, from games with other
/// rules.
#[derive(Debug, Default)]
pub struct View {
    /// What was learned, and the ruleset; `None` before anything was.
    known: Option<(Arc<Knowledge>, Ruleset)>,
    bots: OnceLock<MeanBot>,
    /// The weights that were asked for already.
    memo: Memo,
    /// What the weights lack; `None` once all stored matches are folded.
    pub(super) gaps: Option<Gaps>,
}

impl View {
    pub(super) fn new(knowledge: Arc<Knowledge>, ruleset: Ruleset, gaps: Option<Gaps>) -> Self {
        let players = knowledge.fold(&ruleset).map_or(0, Fold::players);
        Self {
            known: Some((knowledge, ruleset)),
            bots: OnceLock::new(),
            memo: Memo::new(players),
            gaps,
        }
    }

    /// What is known of a player, by whatever identity. Allocates nothing for a player with games of the ruleset,
    /// unless the operator has corrected players.
    pub(super) fn of(&self, kind: Kind, id: &str) -> Option<PlayerStanding> {
        let (knowledge, _) = self.known.as_ref()?;
        let into = knowledge.counts_as.get(kind, id);
        let counted = into.and_then(|into| self.own(into.kind, &into.id));
        counted.or_else(|| self.own(kind, id))
    }

    /// The weight of [`of`](Self::of). It is computed once, because game servers ask for the same ones again and
    /// again, and much is computed with it. O(1).
    fn weight(&self, kind: Kind, id: &str) -> Option<KnownWeight> {
        let compute = || {
            self.of(kind, id).map(|known| KnownWeight {
                weight: known.weight,
                is_guess: known.is_guess,
            })
        };
        self.memo.get_or_compute(kind, id, compute)
    }

    /// What is known of a player by this identity.
    fn own(&self, kind: Kind, id: &str) -> Option<PlayerStanding> {
        let (knowledge, ruleset) = self.known.as_ref()?;
        let best = knowledge.best_weight(ruleset, kind, id);
        let mut known = best.map(|(weight, level)| PlayerStanding::from(&weight, level));
        if let Some(start) = corrected(&knowledge.starts, kind, id) {
            known = Some(self.started(known, *start));
        }
        match corrected(&knowledge.pinned, kind, id) {
            Some(weight) => Some(self.pinned(known, kind, *weight)),
            None => known,
        }
    }

    /// A player who starts at a weight: one without matches of this ruleset or of one with
    /// fewer mutators. What matches of other rulesets are worth beside the start is in the weight already.
    fn started(&self, elsewhere: Option<PlayerStanding>, start: StartWeight) -> PlayerStanding {
        let fresh = || PlayerStanding {
            weight: start.weight,
            deviation: 0.0,
            doubt: 0.0,
            strength: self.strength_at(start.weight),
            is_guess: false,
            is_near: false,
            is_pinned: false,
            reached: Reached::default(),
        };
        let known = elsewhere.unwrap_or_else(fresh);
        PlayerStanding {
            is_guess: false,
            ..known
        }
    }

    /// A player whose weight the operator has fixed.
    fn pinned(&self, known: Option<PlayerStanding>, kind: Kind, weight: f64) -> PlayerStanding {
        let known = known.filter(|known| !known.is_guess);
        let reached = known.map_or(Reached::NEVER, |known| known.reached);
        let fold = (self.known.as_ref())
            .and_then(|(knowledge, ruleset)| Some((knowledge.fold(ruleset)?, ruleset)));
        let rank = match fold {
            Some((fold, ruleset)) => fold.rank_of_weight(ruleset, weight),
            None => reached.rank, // as it is stored
        };
        PlayerStanding {
            weight,
            deviation: 0.0,
            doubt: 0.0,
            strength: self.strength_at(weight),
            is_guess: false,
            is_near: known.is_some_and(|known| known.is_near),
            is_pinned: true,
            reached: Reached {
                rank: rank.filter(|_| kind == Kind::Human),
                ..reached
            },
        }
    }

    fn strength_at(&self, weight: f64) -> f64 {
        let strength = (self.known.as_ref())
            .and_then(|(knowledge, ruleset)| knowledge.fold(ruleset)?.strength_at(ruleset, weight));
        strength.unwrap_or(0.0)
    }

    /// The strength that decisions use for a player, in points: 50 for that of the average seat. `None` for a player
    /// without games, and while the stored weights are served, which have no strengths.
    pub fn points(&self, kind: Kind, id: &str) -> Option<f64> {
        let (knowledge, ruleset) = self.known.as_ref()?;
        let strength = self.strength(kind, id)?;
        knowledge
            .fold(ruleset)
            .filter(|_| knowledge.stored.is_none())?
            .points_of(ruleset, strength)
    }

    /// The weight of somebody of whom nothing is known: the one that an operator has stated, else a newcomer's.
    pub fn unknown(&self, stated: Option<f64>) -> f64 {
        let known = self.known.as_ref();
        let newcomer = known.and_then(|(knowledge, ruleset)| {
            let accounts = knowledge.accounts(ruleset).or(knowledge.fold(ruleset))?;
            Some(accounts.unknown_weight(ruleset))
        });
        stated.or(newcomer).unwrap_or(NEWCOMER_WEIGHT)
    }

    /// The strength of somebody of whom nothing is known, minus a newcomer's.
    pub fn unknown_strength(&self, stated: Option<f64>) -> f64 {
        stated.map_or(0.0, |weight| self.strength_at(weight))
    }

    fn bots(&self) -> &MeanBot {
        self.bots.get_or_init(|| {
            let known = self.known.as_ref();
            known.map_or_else(MeanBot::default, |(knowledge, ruleset)| {
                MeanBot::of(&knowledge.best_weights_of_bots(ruleset))
            })
        })
    }

    /// A human's known weight in this ruleset, 0 to 100: from games of the ruleset, from games of
    /// the same game type with fewer mutators, or pinned. `None` for a human who has played only
    /// other games.
    pub fn human(&self, id: &str) -> Option<f64> {
        let known = self.weight(Kind::Human, id);
        known
            .filter(|known| !known.is_guess)
            .map(|known| known.weight)
    }

    /// The weight of a player with games of this ruleset or a weight that an operator has set, and its deviation.
    pub fn measure(&self, kind: Kind, id: &str) -> Option<(f64, f64)> {
        let known = self.of(kind, id).filter(|known| !known.is_guess);
        known.map(|known| (known.weight, known.deviation))
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
        self.weight(kind, id).map(|known| known.weight)
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
        self.bots().strength
    }

    /// The guessed weight of a player, 0 to 100; `None` if their weight is known, or they have no
    /// games.
    pub fn guess(&self, kind: Kind, id: &str) -> Option<f64> {
        let guess = self.weight(kind, id).filter(|known| known.is_guess);
        guess.map(|known| known.weight)
    }

    /// Names of known bots, ordered by their distance from the mean: stand-ins for bots that have
    /// not been chosen yet.
    pub fn typical_bots(&self) -> Vec<&str> {
        let bots = self.bots();
        let Some((mean, _)) = bots.mean else {
            return Vec::new();
        };
        let known = bots.names.iter().filter_map(|name| {
            let off = (self.expected(Kind::Bot, name)? - mean).abs();
            Some((off, name.as_str()))
        });
        let mut known: Vec<(f64, &str)> = known.collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)));
        known.into_iter().map(|(_, name)| name).collect()
    }

    /// The mean weight that decisions use for a bot, and the number of bots behind it: those with
    /// the closest level of games that any bot has.
    pub fn mean_bot(&self) -> Option<(f64, usize)> {
        self.bots().mean
    }

    /// Whether this bot is among those that [`mean_bot`](Self::mean_bot) counts.
    pub fn is_in_mean(&self, name: &str) -> bool {
        self.bots().names.contains(name)
    }
}

/// What an operator has set for a player.
fn corrected<'a, T>(set: &'a BTreeMap<PlayerKey, T>, kind: Kind, id: &str) -> Option<&'a T> {
    let key = || PlayerKey {
        kind,
        id: id.to_owned(),
    };
    if set.is_empty() {
        None
    } else {
        set.get(&key())
    }
}
