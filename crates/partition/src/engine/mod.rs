//! The engines: find the K most even splits of an instance.
//!
//! One file per engine; [`solve`] is the only entry point and chooses one by estimated effort. All
//! exact engines give the same answer. If more splits are equally even than fit, the seed alone
//! decides which of them are included.

mod bound;
mod branch;
mod exhaustive;
mod meet;
#[cfg(test)]
mod naive;
mod ranked;
mod reachable;
mod search;
mod two;

use super::{
    Engine, ProblemError, Settings,
    balance::Evenness,
    best::{BestSplits, TopSplits},
    clock::StepClock,
    instance::{Instance, Split},
};
use ranked::Ranked;
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
    pub fn none() -> Self {
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
pub(super) struct Order {
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

impl Order {
    /// The request for `keep` splits by these settings.
    pub fn of(settings: &Settings, seed: u64, keep: usize) -> Self {
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
    instance: &Instance,
    order: Order,
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
fn choose(instance: &Instance, order: Order) -> Result<Engine, ProblemError> {
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
fn naive(instance: &Instance, order: Order, clock: &mut StepClock) -> EngineAnswer {
    let mut considered = 0;
    let (exact, splits);
    if instance.counts.teams == 2 {
        let two = TwoTeams::new(instance);
        let mut best = TopSplits::new(order.keep);
        exact = naive::walk(instance, clock, &mut |balance, split| {
            considered += 1;
            best.offer(balance, Split::from(split));
        });
        splits = settle(&two, best.finish(), |split| split, order, clock);
    } else {
        let mut best = Ranked::new(order.keep, order.seed);
        exact = naive::walk(instance, clock, &mut |balance, split| {
            considered += 1;
            best.offer(balance, split);
        });
        splits = best.finish();
    }
    EngineAnswer::new(splits, exact, Engine::Exhaustive, considered)
}

fn exhaustive(instance: &Instance, order: Order, clock: &mut StepClock) -> EngineAnswer {
    let two = TwoTeams::new(instance);
    let mut best = TopSplits::new(order.keep);
    let exact = exhaustive::walk(&two, clock, &mut best);
    let splits = settle(&two, best.finish(), |mask| two.split(mask), order, clock);
    EngineAnswer::new(splits, exact, Engine::Exhaustive, two.combinations())
}

fn meet(instance: &Instance, order: Order, clock: &mut StepClock) -> EngineAnswer {
    let two = TwoTeams::new(instance);
    let masks = meet::solve(&two, order.keep, order.seed, clock);
    let exact = masks.is_some();
    let masks = masks.unwrap_or_default().into_iter();
    let splits = masks.map(|(at, mask)| (at, two.split(mask))).collect();
    EngineAnswer::new(splits, exact, Engine::Meet, two.combinations())
}

fn branch(instance: &Instance, order: Order, clock: &mut StepClock) -> EngineAnswer {
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
    instance: &Instance,
    order: Order,
    clock: &mut StepClock,
    so_far: EngineAnswer,
) -> EngineAnswer {
    let mut best = Ranked::new(order.keep, order.seed);
    so_far
        .splits
        .iter()
        .for_each(|(balance, split)| best.offer(*balance, split));
    let considered = search::solve(instance, order, clock, &mut best);
    let bound = bound::upper(instance);
    let exact = best.best().is_some_and(|best| best >= bound);
    let mut answer = EngineAnswer::new(best.finish(), exact, Engine::Search, considered);
    answer.bound = bound.evenness().max(highest(&answer.splits));
    answer
}

/// Converts the K best to splits; if too many tie, draws among them.
fn settle<C>(
    two: &TwoTeams,
    found: BestSplits<C>,
    split: impl Fn(C) -> Split,
    order: Order,
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
