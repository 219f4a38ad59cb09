//! The engines: find the K most even splits of an instance.
//!
//! One file per engine; [`solve`] is the only entry point and chooses one by estimated effort. All
//! exact engines give the same answer. If more splits are equally even than fit, the seed alone
//! decides which of them are included.

mod branch;
mod exhaustive;
mod meet;
#[cfg(test)]
mod naive;
mod search;
mod two;

use crate::{
    Engine, ProblemError, Settings,
    balance::Evenness,
    best::{BestSplits, Ranked, TopSplits},
    instance::{AtomInstance, Split},
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
        exact = naive::walk(instance, clock, &mut |balance, split| {
            considered += 1;
            best.offer(balance, Split::from(split));
        });
        splits = finalise(&two, best.finish(), |split| split, order, clock);
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

fn exhaustive(instance: &AtomInstance, order: EngineOrder, clock: &mut StepClock) -> EngineAnswer {
    let two = TwoTeams::new(instance);
    let mut best = TopSplits::new(order.keep);
    let exact = exhaustive::walk(&two, clock, &mut best);
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
    pub fn new(over: &'a mut dyn FnMut() -> bool) -> Self {
        Self {
            over,
            left: STEPS,
            expired: false,
        }
    }

    /// Counts `steps` and returns whether the time is over. Once true, it stays true.
    pub fn spend(&mut self, steps: usize) -> bool {
        self.left = self.left.saturating_sub(steps);
        if self.left == 0 && !self.expired {
            self.left = STEPS;
            self.expired = (self.over)();
        }
        self.expired
    }

    /// Polls the deadline at once.
    pub fn over(&mut self) -> bool {
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
