//! The engines: from an instance to its K most even splits.
//!
//! One file each; [`solve`] chooses between them by measured size and is the only way in. All
//! exact engines give the same answer, ties included: which of too many ties are in is decided by
//! the seed alone.

mod bound;
mod branch;
mod exhaustive;
mod meet;
mod naive;
mod ranked;
mod search;
mod two;

use super::{
    Engine, ProblemError,
    balance::Evenness,
    best::{Found, TopSplits},
    clock::StepClock,
    instance::{Instance, Split},
};
use ranked::Ranked;
use two::TwoTeams;

/// What an engine found.
pub(super) struct EngineAnswer {
    /// The most even splits, most even first; empty when there is no legal one.
    pub splits: Vec<(Evenness, Split)>,
    /// Whether no other legal split is more even than any of these.
    pub exact: bool,
    /// What no legal split's evenness exceeds.
    pub bound: f64,
    /// Who found them.
    pub engine: Engine,
    /// Legal combinations that these are the best of.
    pub considered: u128,
}

impl EngineAnswer {
    fn none() -> Self {
        Self::new(Vec::new(), false, Engine::Search, 0)
    }

    fn new(
        mut splits: Vec<(Evenness, Split)>,
        exact: bool,
        engine: Engine,
        considered: u128,
    ) -> Self {
        // One order, whoever found them.
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

/// The highest evenness. Not always the first split's: another may be as even by other numbers, whose
/// quotient rounds differently.
fn highest(splits: &[(Evenness, Split)]) -> f64 {
    let each = splits.iter().map(|(balance, _)| balance.evenness());
    each.fold(0.0, f64::max)
}

/// What an engine is to do.
#[derive(Clone, Copy)]
pub(super) struct Order {
    /// How many splits are wanted.
    pub keep: usize,
    /// Decides between equals.
    pub seed: u64,
    /// Use this engine.
    pub engine: Option<Engine>,
    /// Bytes that may be used.
    pub memory: usize,
}

/// Two teams with fewer free atoms than this are walked through: setting up two halves takes longer.
const WALK_BELOW: usize = 14;
/// The most steps that are worth an exact answer, about a nanosecond each: 40 humans take fewer, with
/// and without the limits on their counts.
const MEET_STEPS: f64 = 4.5e7;
/// The same for branching, with steps some twenty times as long.
const BRANCH_STEPS: usize = 1 << 24;
/// The most free atoms that branching can hope to be done with in so many.
const MOST_BRANCHED: usize = 40;
/// The most free atoms that `naive` and `exhaustive` accept: more would take days.
const MOST_WALKED: usize = 40;

/// The best splits of `instance`, exact where that is affordable.
///
/// # Errors
/// When the engine that was asked for can't do it.
pub(super) fn solve(
    instance: &Instance,
    order: Order,
    clock: &mut StepClock,
) -> Result<EngineAnswer, ProblemError> {
    let mut answer = match choose(instance, order)? {
        Engine::Naive => naive(instance, order, clock),
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

/// The engine to begin with.
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
        Engine::Naive | Engine::Exhaustive if free > MOST_WALKED => "more than 40 are to be placed",
        Engine::Meet if !fits => "it needs more memory than it may use",
        _ => return Ok(engine),
    };
    Err(ProblemError::Engine { engine, why })
}

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
    EngineAnswer::new(splits, exact, Engine::Naive, considered)
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

/// Goes on from what an engine has found before its time was over.
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

/// The K best of what was found as splits, drawing among ties where they are too many.
fn settle<C>(
    two: &TwoTeams,
    found: Found<C>,
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
