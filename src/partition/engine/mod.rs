//! The engines: from an instance to its K most even splits.
//!
//! One file each; [`solve`] chooses between them by measured size and is the only way in. All
//! exact engines give the same answer, ties included: which of too many ties are in is decided by
//! the seed alone.

mod exhaustive;
mod meet;
mod naive;
mod ranked;
mod two;

use super::{
    Engine, ProblemError,
    balance::Balance,
    best::{Best, Found},
    clock::Clock,
    instance::{Instance, Split},
};
use ranked::Ranked;
use two::TwoTeams;

/// What an engine found.
pub(super) struct Answer {
    /// The most even splits, most even first; empty when there is no legal one.
    pub splits: Vec<(Balance, Split)>,
    /// Whether no other legal split is more even than any of these.
    pub exact: bool,
    /// What no legal split's ratio exceeds.
    pub bound: f64,
    /// Who found them.
    pub engine: Engine,
    /// Legal combinations that these are the best of.
    pub considered: u128,
}

impl Answer {
    fn new(
        mut splits: Vec<(Balance, Split)>,
        exact: bool,
        engine: Engine,
        considered: u128,
    ) -> Self {
        // One order, whoever found them.
        splits.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.cmp(other)));
        let best = splits.first().map(|(balance, _)| balance.ratio());
        let bound = best.filter(|_| exact).unwrap_or(1.0);
        Self {
            splits,
            exact,
            bound,
            engine,
            considered,
        }
    }
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

/// The best splits of `instance`, exact where that is affordable.
///
/// # Errors
/// When the engine that was asked for can't do it.
pub(super) fn solve(
    instance: &Instance,
    order: Order,
    clock: &mut Clock,
) -> Result<Answer, ProblemError> {
    if instance.counts.teams == 2 {
        solve_two(instance, order, clock)
    } else {
        Ok(naive(instance, order, clock))
    }
}

fn solve_two(instance: &Instance, order: Order, clock: &mut Clock) -> Result<Answer, ProblemError> {
    let two = TwoTeams::new(instance);
    let engine = order.engine.unwrap_or(Engine::Meet);
    let masks = match engine {
        Engine::Naive => return Ok(naive(instance, order, clock)),
        Engine::Exhaustive => exhaustive(&two, order, clock),
        _ => meet::solve(&two, order.keep, order.seed, clock),
    };
    let exact = masks.is_some();
    let masks = masks.unwrap_or_default();
    let splits = masks
        .into_iter()
        .map(|(at, mask)| (at, two.split(instance, mask)))
        .collect();
    Ok(Answer::new(splits, exact, engine, two.combinations()))
}

fn exhaustive(two: &TwoTeams, order: Order, clock: &mut Clock) -> Option<Vec<(Balance, u128)>> {
    let mut best = Best::new(order.keep);
    let whole = exhaustive::walk(two, clock, &mut best);
    whole.then(|| settle(two, best.finish(), |mask| mask, order, clock))
}

fn naive(instance: &Instance, order: Order, clock: &mut Clock) -> Answer {
    let mut considered = 0;
    let (exact, splits);
    if instance.counts.teams == 2 {
        let two = TwoTeams::new(instance);
        let mut best = Best::new(order.keep);
        exact = naive::walk(instance, clock, &mut |balance, split| {
            considered += 1;
            best.offer(balance, Split::from(split));
        });
        splits = settle(
            &two,
            best.finish(),
            |mask| two.split(instance, mask),
            order,
            clock,
        );
    } else {
        let mut best = Ranked::new(order.keep, order.seed);
        exact = naive::walk(instance, clock, &mut |balance, split| {
            considered += 1;
            best.offer(balance, split);
        });
        splits = best.finish();
    }
    Answer::new(splits, exact, Engine::Naive, considered)
}

/// The K best of what was found, drawing among ties where they are too many.
fn settle<C>(
    two: &TwoTeams,
    found: Found<C>,
    of_mask: impl Fn(u128) -> C,
    order: Order,
    clock: &mut Clock,
) -> Vec<(Balance, C)> {
    let mut best = found.better;
    let Some(at) = found.at else { return best };
    let slots = order.keep - best.len();
    let drawn = if found.whole && found.tied.len() <= slots {
        None
    } else {
        meet::draw(two, at, slots, order.seed, clock)
    };
    let tied = match drawn {
        Some(masks) => masks.into_iter().map(of_mask).collect(),
        None => found.tied,
    };
    best.extend(tied.into_iter().take(slots).map(|split| (at, split)));
    best
}
