//! The weights that apply to one ruleset. Each is computed when somebody asks for it, and then kept.
//!
//! Game servers ask for the same players again and again, and a weight takes longer to compute than all the rest of
//! an answer. So what was computed stays in a table without locks: a look-up hashes the name, and reads one line of
//! the processor's cache.
//!
//! A view also knows what it cannot answer yet.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, Hasher, RandomState},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    MeanBot,
    gaps::Gaps,
    knowledge::Knowledge,
    player_facts::{PlayerFacts, Reached, ViewWeight},
};
use crate::{
    model::{Kind, PlayerKey, Ruleset, weight::StartWeight},
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
    pub(super) fn of(&self, kind: Kind, id: &str) -> Option<ViewWeight> {
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
    fn own(&self, kind: Kind, id: &str) -> Option<ViewWeight> {
        let (knowledge, ruleset) = self.known.as_ref()?;
        let best = knowledge.best_weight(ruleset, kind, id);
        let mut known = best.map(|(weight, level)| ViewWeight::from(&weight, level));
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
    fn started(&self, elsewhere: Option<ViewWeight>, start: StartWeight) -> ViewWeight {
        let fresh = || ViewWeight {
            weight: start.weight,
            deviation: 0.0,
            strength_deviation: 0.0,
            strength: self.strength_at(start.weight),
            is_guess: false,
            is_near: false,
            is_pinned: false,
            reached: Reached::default(),
        };
        let known = elsewhere.unwrap_or_else(fresh);
        ViewWeight {
            is_guess: false,
            ..known
        }
    }

    /// A player whose weight the operator has fixed.
    fn pinned(&self, known: Option<ViewWeight>, kind: Kind, weight: f64) -> ViewWeight {
        let known = known.filter(|known| !known.is_guess);
        let reached = known.map_or(Reached::NEVER, |known| known.reached);
        let fold = (self.known.as_ref())
            .and_then(|(knowledge, ruleset)| Some((knowledge.fold(ruleset)?, ruleset)));
        let rank = match fold {
            Some((fold, ruleset)) => fold.rank_of_weight(ruleset, weight),
            None => reached.rank, // as it is stored
        };
        ViewWeight {
            weight,
            deviation: 0.0,
            strength_deviation: 0.0,
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
    pub fn strength_deviation(&self, kind: Kind, id: &str) -> Option<f64> {
        self.of(kind, id).map(|known| known.strength_deviation)
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

/// The most sets. A weight whose place another one has taken is computed again.
const MOST: usize = 1 << 14;
/// Combined with the hash of a bot's name, which a human may have, too.
const BOT: u64 = 1 << 63;

/// What is stored where no weight is.
const UNKNOWN: u64 = 0;
/// What is stored for a player without a weight: the bits of a number that no weight is.
const NO_WEIGHT: u64 = u64::MAX;
/// Set where the weight is a guess. A weight is not negative, so that its own sign is free.
const GUESS: u64 = 1 << 63;

/// A player's weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct KnownWeight {
    /// 0 to 100.
    pub weight: f64,
    /// Whether it comes only from games of other rulesets.
    pub is_guess: bool,
}

/// A place: what is known of a player, and the hash of who it is, combined with that by XOR. If two threads write
/// different players to a place at once, the two numbers do not belong together, and the place counts as empty.
#[derive(Debug, Default)]
struct ViewSlot {
    known: AtomicU64,
    owner: AtomicU64,
}

/// The places where a player's weight may be stored: a line of the cache. With as many sets as players, one set of 270 has
/// more players than places, where the players are spread by chance.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Set([ViewSlot; 4]);

impl Set {
    /// What is stored for the player of this hash.
    fn find(&self, hash: u64) -> Option<u64> {
        self.0.iter().find_map(|place| {
            let stored = place.known.load(Ordering::Relaxed);
            let is_own = || place.owner.load(Ordering::Relaxed) ^ stored == hash;
            (stored != UNKNOWN && is_own()).then_some(stored)
        })
    }

    /// Stores this at an empty place, or at one that belongs to another player.
    fn store(&self, hash: u64, stored: u64) {
        let is_empty = |place: &&ViewSlot| place.known.load(Ordering::Relaxed) == UNKNOWN;
        let any = &self.0[(hash >> 60) as usize % self.0.len()];
        let place = self.0.iter().find(is_empty).unwrap_or(any);
        place.known.store(stored, Ordering::Relaxed);
        place.owner.store(hash ^ stored, Ordering::Relaxed);
    }
}

/// The weights that were computed already.
///
/// Two players count as the same one if all 64 bits of their hashes are equal. Nobody can choose such names, because the
/// key of the hash is random, and among a million players there are two with a chance of 1 in 30 million.
#[derive(Debug, Default)]
pub(super) struct Memo {
    hasher: RandomState,
    /// Their number is a power of two; none in the memo of nobody.
    sets: Box<[Set]>,
}

impl Memo {
    /// A memo for this number of players.
    pub fn new(players: usize) -> Self {
        let sets = players.max(16).next_power_of_two().min(MOST);
        Self {
            hasher: RandomState::new(),
            sets: (0..sets).map(|_| Set::default()).collect(),
        }
    }

    /// A player's weight. `compute` must give the same one whenever it is called for this player; two threads may both
    /// call it.
    pub fn get_or_compute(
        &self,
        kind: Kind,
        id: &str,
        compute: impl FnOnce() -> Option<KnownWeight>,
    ) -> Option<KnownWeight> {
        let hash = self.hash(kind, id);
        let last = self.sets.len().wrapping_sub(1);
        let Some(set) = self.sets.get(hash as usize & last) else {
            return compute();
        };
        if let Some(stored) = set.find(hash) {
            return decode(stored);
        }
        let known = compute();
        set.store(hash, encode(known));
        known
    }

    /// The hash of a player. Only the name goes through the hasher, in one piece: that is less work than the kind and the
    /// name one after the other.
    fn hash(&self, kind: Kind, id: &str) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(id.as_bytes());
        match kind {
            Kind::Human => hasher.finish(),
            Kind::Bot => hasher.finish() ^ BOT,
        }
    }
}

/// The bits of the weight plus 1, so that no weight is stored as [`UNKNOWN`].
fn encode(known: Option<KnownWeight>) -> u64 {
    known.map_or(NO_WEIGHT, |known| {
        let guess = if known.is_guess { GUESS } else { 0 };
        ((known.weight.abs().to_bits() & !GUESS) + 1) | guess
    })
}

fn decode(stored: u64) -> Option<KnownWeight> {
    (stored != NO_WEIGHT).then(|| KnownWeight {
        weight: f64::from_bits((stored & !GUESS) - 1),
        is_guess: stored & GUESS != 0,
    })
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
        self.gaps.as_ref().is_some_and(Gaps::has_bots) && self.mean_bot().is_none()
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
        self.awaits_facts(id, |gaps| !careers && (gaps.has_ranks || !ranks))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn known(weight: f64) -> Option<KnownWeight> {
        Some(KnownWeight {
            weight,
            is_guess: false,
        })
    }

    #[test]
    fn a_weight_is_computed_once() {
        let memo = Memo::new(1);
        let ann =
            |compute: fn() -> Option<KnownWeight>| memo.get_or_compute(Kind::Human, "ann", compute);
        assert_eq!(ann(|| known(61.5)), known(61.5));
        assert_eq!(ann(|| unreachable!()), known(61.5));
        let bot = memo.get_or_compute(Kind::Bot, "ann", || None);
        assert_eq!(bot, None);
        let bot = memo.get_or_compute(Kind::Bot, "ann", || unreachable!());
        assert_eq!(bot, None);
    }

    #[test]
    fn hardly_any_player_takes_the_place_of_another_one() {
        let memo = Memo::new(1_000);
        let mut computed = 0;
        for _ in 0..2 {
            for number in 0..1_000_u32 {
                memo.get_or_compute(Kind::Human, &format!("p{number}"), || {
                    computed += 1;
                    known(50.0)
                });
            }
        }
        assert!(computed < 1_050, "{computed} weights of 1,000 players");
    }

    #[test]
    fn more_players_than_places_have_their_own_weights() {
        let memo = Memo::new(0);
        for round in 0..3 {
            for number in 0..1_000_u32 {
                let name = format!("p{number}");
                let weight = || known(f64::from(number) / 10.0);
                let found = memo.get_or_compute(Kind::Human, &name, weight);
                assert_eq!(found, weight(), "round {round}");
            }
        }
        let nobody = Memo::default();
        assert_eq!(
            nobody.get_or_compute(Kind::Human, "ann", || known(1.0)),
            known(1.0)
        );
    }

    #[test]
    fn threads_at_the_same_place_get_their_own_weights() {
        let memo = Memo::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let memo = &memo;
                scope.spawn(move || {
                    for number in 0..20_000_u32 {
                        let own = thread * 100 + number % 100;
                        let weight = known(f64::from(own) / 4.0);
                        let name = format!("p{own}");
                        let found = memo.get_or_compute(Kind::Human, &name, || weight);
                        assert_eq!(found, weight);
                    }
                });
            }
        });
    }

    proptest! {
        #[test]
        fn the_weight_that_is_kept_has_the_same_bits(weight in 0.0..=100.0, is_guess: bool) {
            let known = KnownWeight { weight, is_guess };
            let kept = decode(encode(Some(known))).unwrap();
            prop_assert_eq!(kept.weight.to_bits(), weight.to_bits());
            prop_assert_eq!(kept.is_guess, is_guess);
        }
    }
}
