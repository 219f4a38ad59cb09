//! The engines: find the K most even splits of an instance.
//!
//! One file per engine (the exhaustive one is in `two`); [`solve`] is the only entry point and chooses one by estimated
//! effort. All exact engines give the same answer. If more splits are equally even than fit, the seed alone decides which of
//! them are included.
//!
//! Engines collect what they find: [`TopSplits`] for two teams has the K best splits so far, and those that tie with the last
//! of them; [`Ranked`] is for any number of teams, where the seed orders ties.

mod branch;
mod meet;
mod search;
mod two;

use std::{cmp::Reverse, collections::BTreeSet};

use evenkeel_model::random::seeded_hash;

use crate::{
    ProblemError, Settings,
    balance::{Evenness, MOST},
    instance::{AtomInstance, Split},
    settings::Engine,
};

use two::TwoTeams;

/// The splits that an engine found.
pub(super) struct EngineAnswer {
    /// The most even splits, most even first; empty if no legal one was found.
    pub splits: Vec<(Evenness, Split)>,
    /// Whether it is proven that no other legal split is more even than any of these.
    pub exact: bool,
    /// An upper bound on the evenness of any legal split.
    pub bound: f64,
    /// The engine that found the splits.
    pub engine: Engine,
    /// Number of legal combinations considered.
    pub considered: u128,
}

impl EngineAnswer {
    /// An answer without splits.
    pub(crate) fn none() -> Self {
        Self::new(Vec::new(), false, Engine::Search, 0)
    }

    fn new(
        mut splits: Vec<(Evenness, Split)>,
        exact: bool,
        engine: Engine,
        considered: u128,
    ) -> Self {
        // The same order for every engine.
        splits.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.cmp(other)));
        let bound = if exact { highest(&splits) } else { 1.0 };
        Self {
            splits,
            exact,
            bound,
            engine,
            considered,
        }
    }
}

/// The highest evenness as a number. It is not always that of the first split: equal fractions can
/// round differently.
fn highest(splits: &[(Evenness, Split)]) -> f64 {
    let each = splits.iter().map(|(balance, _)| balance.evenness());
    each.fold(0.0, f64::max)
}

/// The request to an engine.
#[derive(Clone, Copy)]
pub(super) struct EngineOrder {
    /// Number of splits wanted.
    pub keep: usize,
    /// Decides between equally even splits.
    pub seed: u64,
    /// Forces this engine.
    pub engine: Option<Engine>,
    #[cfg(test)]
    naively: bool,
    /// The most memory for lists of sums, in bytes.
    pub memory: usize,
}

impl EngineOrder {
    /// The request for `keep` splits by these settings.
    pub(crate) fn of(settings: &Settings, seed: u64, keep: usize) -> Self {
        Self {
            keep,
            seed,
            engine: settings.engine,
            #[cfg(test)]
            naively: settings.naively,
            memory: settings.memory_mb.bytes(),
        }
    }
}

/// Two teams with fewer free atoms than this are solved exhaustively, because preparing two halves
/// takes longer.
const WALK_BELOW: usize = 14;
/// The most steps to spend on an exact answer by `meet`, about a nanosecond each. 40 humans take
/// fewer, with and without limits on their counts.
const MEET_STEPS: f64 = 4.5e7;
/// The most steps to spend on an exact answer by `branch`, some twenty nanoseconds each.
const BRANCH_STEPS: usize = 1 << 24;
/// The largest number of free atoms for which `branch` is tried.
const MOST_BRANCHED: usize = 40;
/// The largest number of free atoms that `exhaustive` accepts; more would take days.
const MOST_WALKED: usize = 40;

/// Finds the best splits of `instance`, exactly where that is affordable.
///
/// # Errors
/// Fails if the forced engine cannot solve the instance.
pub(super) fn solve(
    instance: &AtomInstance,
    order: EngineOrder,
    clock: &mut StepClock,
) -> Result<EngineAnswer, ProblemError> {
    #[cfg(test)]
    if order.naively {
        return Ok(naive(instance, order, clock));
    }
    let mut answer = match choose(instance, order)? {
        Engine::Exhaustive => exhaustive(instance, order, clock),
        Engine::Meet => meet(instance, order, clock),
        Engine::Branch => branch(instance, order, clock),
        Engine::Search => EngineAnswer::none(),
    };
    if !answer.exact {
        answer = search(instance, order, clock, answer);
    }
    Ok(answer)
}

/// The engine to start with.
fn choose(instance: &AtomInstance, order: EngineOrder) -> Result<Engine, ProblemError> {
    let two = (instance.counts.teams == 2).then(|| TwoTeams::new(instance));
    let free = instance
        .atoms
        .iter()
        .filter(|atom| atom.team.is_none())
        .count();
    let (bytes, steps) = two.as_ref().map_or((f64::MAX, f64::MAX), meet::measure);
    let fits = bytes <= order.memory as f64;
    let Some(engine) = order.engine else {
        return Ok(match two {
            None if free <= MOST_BRANCHED => Engine::Branch,
            None => Engine::Search,
            Some(_) if free < WALK_BELOW => Engine::Exhaustive,
            Some(_) if fits && steps <= MEET_STEPS => Engine::Meet,
            Some(_) => Engine::Search,
        });
    };
    let why = match engine {
        Engine::Exhaustive | Engine::Meet if two.is_none() => "it is for two teams",
        Engine::Branch if two.is_some() => "it is for more than two teams",
        Engine::Exhaustive if free > MOST_WALKED => "it can place at most 40 humans or parties",
        Engine::Meet if !fits => "it needs more memory than the limit",
        _ => return Ok(engine),
    };
    Err(ProblemError::Engine { engine, why })
}

#[cfg(test)]
fn naive(instance: &AtomInstance, order: EngineOrder, clock: &mut StepClock) -> EngineAnswer {
    let mut considered = 0;
    let (exact, splits);
    if instance.counts.teams == 2 {
        let two = TwoTeams::new(instance);
        let mut best = TopSplits::new(order.keep);
        exact = crate::tests::naive::walk(instance, clock, &mut |balance, split| {
            considered += 1;
            best.offer(balance, Split::from(split));
        });
        splits = finalise(&two, best.finish(), |split| split, order, clock);
    } else {
        let mut best = Ranked::new(order.keep, order.seed);
        exact = crate::tests::naive::walk(instance, clock, &mut |balance, split| {
            considered += 1;
            best.offer(balance, split);
        });
        splits = best.finish();
    }
    EngineAnswer::new(splits, exact, Engine::Exhaustive, considered)
}

fn exhaustive(instance: &AtomInstance, order: EngineOrder, clock: &mut StepClock) -> EngineAnswer {
    let two = TwoTeams::new(instance);
    let mut best = TopSplits::new(order.keep);
    let exact = two::walk(&two, clock, &mut best);
    let splits = finalise(&two, best.finish(), |mask| two.split(mask), order, clock);
    EngineAnswer::new(splits, exact, Engine::Exhaustive, two.combinations())
}

fn meet(instance: &AtomInstance, order: EngineOrder, clock: &mut StepClock) -> EngineAnswer {
    let two = TwoTeams::new(instance);
    let masks = meet::solve(&two, order.keep, order.seed, clock);
    let exact = masks.is_some();
    let masks = masks.unwrap_or_default().into_iter();
    let splits = masks.map(|(at, mask)| (at, two.split(mask))).collect();
    EngineAnswer::new(splits, exact, Engine::Meet, two.combinations())
}

fn branch(instance: &AtomInstance, order: EngineOrder, clock: &mut StepClock) -> EngineAnswer {
    let mut best = Ranked::new(order.keep, order.seed);
    let steps = if order.engine.is_some() {
        usize::MAX
    } else {
        BRANCH_STEPS
    };
    let (exact, considered) = branch::solve(instance, steps, clock, &mut best);
    EngineAnswer::new(best.finish(), exact, Engine::Branch, considered)
}

/// Improves on the splits that an exact engine found before its time was over.
fn search(
    instance: &AtomInstance,
    order: EngineOrder,
    clock: &mut StepClock,
    so_far: EngineAnswer,
) -> EngineAnswer {
    let mut best = Ranked::new(order.keep, order.seed);
    so_far
        .splits
        .iter()
        .for_each(|(balance, split)| best.offer(*balance, split));
    let considered = search::solve(instance, order, clock, &mut best);
    let bound = upper(instance);
    let exact = best.best().is_some_and(|best| best >= bound);
    let mut answer = EngineAnswer::new(best.finish(), exact, Engine::Search, considered);
    answer.bound = bound.evenness().max(highest(&answer.splits));
    answer
}

/// Converts the K best to splits; if too many tie, draws among them.
fn finalise<C>(
    two: &TwoTeams,
    found: BestSplits<C>,
    split: impl Fn(C) -> Split,
    order: EngineOrder,
    clock: &mut StepClock,
) -> Vec<(Evenness, Split)> {
    let mut best: Vec<_> = found
        .better
        .into_iter()
        .map(|(at, item)| (at, split(item)))
        .collect();
    let Some(at) = found.at else { return best };
    let slots = order.keep - best.len();
    let drawn = if found.whole && found.tied.len() <= slots {
        None
    } else {
        meet::draw(two, at, slots, order.seed, clock)
    };
    let tied: Vec<Split> = match drawn {
        Some(masks) => masks.into_iter().map(|mask| two.split(mask)).collect(),
        None => found.tied.into_iter().map(split).collect(),
    };
    best.extend(tied.into_iter().take(slots).map(|split| (at, split)));
    best
}

/// Polls the caller's deadline, but not at every step: reading a clock takes as long as ten steps.
pub(crate) struct StepClock<'a> {
    over: &'a mut dyn FnMut() -> bool,
    left: usize,
    expired: bool,
}

/// Steps between two polls. A step takes one or two nanoseconds, so there are about 20 polls per
/// millisecond.
const STEPS: usize = 1 << 15;

impl<'a> StepClock<'a> {
    pub(crate) fn new(over: &'a mut dyn FnMut() -> bool) -> Self {
        Self {
            over,
            left: STEPS,
            expired: false,
        }
    }

    /// Counts `steps` and returns whether the time is over. Once true, it stays true.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        self.left = self.left.saturating_sub(steps);
        if self.left == 0 && !self.expired {
            self.left = STEPS;
            self.expired = (self.over)();
        }
        self.expired
    }

    /// Polls the deadline at once.
    pub(crate) fn over(&mut self) -> bool {
        self.spend(STEPS)
    }
}

/// An upper bound on the balance of any legal split. O(atoms² × sizes).
///
/// If k teams add up to T, the weakest has at most ⌊T/k⌋ and the strongest at least ⌈T/k⌉. Also,
/// some team has the strongest human: if that team has at least x, the weakest of the others has at
/// most (T − x)/(k − 1). That team may also be the one whose sum starts lowest.
pub(crate) fn upper(instance: &AtomInstance) -> Evenness {
    let counts = &instance.counts;
    let teams = counts.teams as i64;
    let (measure, starts) = (instance.measure, &instance.start[..counts.teams]);
    let lowest = starts.iter().copied().fold(0, i64::min);
    let atoms = instance.atoms.iter().map(|atom| atom.above_bot);
    let above_bot: i64 = atoms.chain(starts.iter().copied()).sum();
    let heaviest = (0..instance.atoms.len())
        .map(|atom| least_with(instance, atom))
        .max();
    let even = counts.humans.div_ceil(counts.teams);
    let bound = |size: usize| {
        let bots = instance.bot * size as i64;
        let total = above_bot + teams * bots;
        let flat = [total, total + teams - 1].map(|total| total.div_euclid(teams));
        let flat = measure.of(flat);
        match heaviest.map(|above_bot| above_bot + bots + lowest) {
            Some(sum) if sum * teams > total => {
                let others = (total - sum).max(0);
                flat.min(measure.of([(others + teams - 2) / (teams - 1), sum]))
            }
            _ => flat,
        }
    };
    let sizes = counts.floor.max(even)..=counts.largest_size();
    sizes.map(bound).max().unwrap_or(Evenness::of([1]))
}

/// A lower bound on the sum above bots of a team that contains this atom. It assumes that the weakest
/// atoms, whole or in parts, fill up the rest of the team.
fn least_with(instance: &AtomInstance, atom: usize) -> i64 {
    let size = instance.atoms[atom].size;
    let [mut needed, mut possible] =
        [instance.counts.least(), instance.counts.most].map(|count| count.saturating_sub(size));
    let mut others: Vec<(i64, i64)> = instance
        .atoms
        .iter()
        .enumerate()
        .filter(|&(other, _)| other != atom)
        .map(|(_, atom)| {
            (
                atom.above_bot.div_euclid(atom.size as i64),
                atom.size as i64,
            )
        })
        .collect();
    others.sort_unstable();
    let mut above_bot = instance.atoms[atom].above_bot;
    for (each, count) in others {
        let wanted = if each < 0 { possible } else { needed };
        let taken = wanted.min(count as usize);
        above_bot += each * taken as i64;
        needed = needed.saturating_sub(taken);
        possible -= taken;
    }
    above_bot
}

/// Collects the `keep` most even of the items offered, and all items that tie with the last of
/// them, up to a few times `keep`.
///
/// Amortised O(log keep) per offer.
pub(super) struct TopSplits<C> {
    keep: usize,
    found: Vec<(Evenness, C)>,
    /// The length of `found` at which it is tidied.
    full: usize,
    at: Option<Evenness>,
    spilled: bool,
}

/// What a [`TopSplits`] has collected.
pub(super) struct BestSplits<C> {
    /// The items more even than `at`, most even first, fewer than `keep`; or all items offered.
    pub better: Vec<(Evenness, C)>,
    /// The evenness of the last of the K best; `None` if no more than `keep` items were offered.
    pub at: Option<Evenness>,
    /// The items exactly as even as `at`.
    pub tied: Vec<C>,
    /// Whether `tied` is complete; if not, it contains the first ones offered.
    pub whole: bool,
}

impl<C> TopSplits<C> {
    pub(crate) fn new(keep: usize) -> Self {
        Self {
            keep,
            found: Vec::new(),
            full: keep,
            at: None,
            spilled: false,
        }
    }

    /// The largest gap, between two teams adding up to `total`, that is still worth offering.
    pub(crate) fn largest_gap(&self, total: i64) -> i64 {
        let Some(at) = self.at else { return MOST };
        let gap = at.largest_gap(total);
        gap - i64::from(self.spilled && Evenness::of_gap(gap, total) == at)
    }

    /// Adds `item` if it is among the best so far. Returns whether
    /// [`largest_gap`](Self::largest_gap) has become smaller.
    pub(crate) fn offer(&mut self, balance: Evenness, item: C) -> bool {
        if let Some(at) = self.at
            && (balance < at || self.spilled && balance == at)
        {
            return false;
        }
        self.found.push((balance, item));
        let full = self.found.len() >= self.full;
        if full {
            self.tidy();
        }
        full
    }

    /// Drops items that cannot be among the best any more.
    fn tidy(&mut self) {
        self.found.sort_by_key(|&(balance, _)| Reverse(balance));
        if let Some(&(last, _)) = self.found.get(self.keep - 1) {
            self.spilled &= self.at == Some(last);
            self.at = Some(last);
            self.found.retain(|&(balance, _)| balance >= last);
            if self.found.len() > 4 * self.keep + 64 {
                self.spilled = true;
                self.found.truncate(self.keep);
            }
        }
        self.full = self.found.len() + self.keep;
    }

    pub(crate) fn finish(mut self) -> BestSplits<C> {
        self.tidy();
        let Some(at) = self.at else {
            return BestSplits {
                better: self.found,
                at: None,
                tied: Vec::new(),
                whole: true,
            };
        };
        let tied_from = self.found.partition_point(|&(balance, _)| balance > at);
        let tied = self
            .found
            .split_off(tied_from)
            .into_iter()
            .map(|(_, item)| item)
            .collect();
        BestSplits {
            better: self.found,
            at: Some(at),
            tied,
            whole: !self.spilled,
        }
    }
}

/// Keeps the `keep` best of the different splits offered. Of equally even ones it keeps those with
/// the smallest hash under the seed, so that offering all of them gives a fair draw in any order.
/// O(log keep) per offer.
pub(crate) struct Ranked {
    keep: usize,
    seed: u64,
    splits: BTreeSet<(Reverse<Evenness>, u64, Split)>,
}

impl Ranked {
    pub(crate) fn new(keep: usize, seed: u64) -> Self {
        Self {
            keep,
            seed,
            splits: BTreeSet::new(),
        }
    }

    /// The evenness of the last split kept, once there are `keep`: a less even one is not worth
    /// offering.
    pub(crate) fn at(&self) -> Option<Evenness> {
        let last = self.splits.last()?;
        (self.splits.len() == self.keep).then_some(last.0.0)
    }

    /// The evenness of the best split so far.
    pub(crate) fn best(&self) -> Option<Evenness> {
        self.splits.first().map(|first| first.0.0)
    }

    /// Adds `split` if it is among the best so far.
    pub(crate) fn offer(&mut self, balance: Evenness, split: &[u8]) {
        if self.at().is_some_and(|at| balance < at) {
            return;
        }
        let hash = seeded_hash(self.seed, split.iter().copied());
        self.splits.insert((Reverse(balance), hash, split.into()));
        if self.splits.len() > self.keep {
            self.splits.pop_last();
        }
    }

    /// The splits kept, most even first.
    pub(crate) fn finish(self) -> Vec<(Evenness, Split)> {
        self.splits
            .into_iter()
            .map(|(Reverse(balance), _, split)| (balance, split))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_kept_until_they_are_too_many() {
        let even = |gap| Evenness::of_gap(gap, 1000);
        let mut best = TopSplits::new(2);
        for item in 0..10 {
            best.offer(even(20), item);
        }
        best.offer(even(10), 10);
        let found = best.finish();
        assert_eq!(found.better.len(), 1);
        assert_eq!(found.tied.len(), 10);

        let mut best = TopSplits::new(2);
        for item in 0..1000 {
            best.offer(even(20), item);
        }
        best.offer(even(0), 1000);
        assert_eq!(best.largest_gap(1000), 19);
        let found = best.finish();
        assert_eq!((found.better.len(), found.whole), (1, false));

        let mut best = TopSplits::new(2);
        for item in 0..1000 {
            best.offer(even(20), item);
        }
        for item in 0..3 {
            best.offer(even(4), item);
        }
        let found = best.finish();
        assert_eq!(
            (found.better.len(), found.tied.len(), found.whole),
            (0, 3, true)
        );
    }
}
