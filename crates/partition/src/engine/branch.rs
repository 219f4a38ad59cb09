//! Exact search for more than two teams: branch and bound, one team after another.
//!
//! R. E. Korf and E. L. Schreiber (Optimally partitioning sets, IJCAI 2013) fill one set after
//! another with subsets whose sums are within the range that the best partition so far permits;
//! each interchangeable set takes the first number left. Here the bound is the evenness of the K-th
//! best split so far. Because that bound exists only once K splits are known, the search starts
//! with a guessed bound, and repeats with a looser one until it finds K splits.

use crate::{
    MAX_TEAMS,
    balance::Evenness,
    engine::{Ranked, StepClock},
    instance::{Atom, AtomInstance, Split},
};

/// Offers to `best` every legal split that is even enough. Returns false if the steps or the time
/// ran out first, and the number of splits looked at.
///
/// O(teams^atoms) in the worst case; 16 humans on 4 teams take a millisecond or a few.
pub(crate) fn solve(
    instance: &AtomInstance,
    steps: usize,
    clock: &mut StepClock,
    best: &mut Ranked,
) -> (bool, u128) {
    let mut looked_at = 0;
    let mut left = steps;
    // How far from even splits may be in the first attempt, in millionths; each further attempt
    // allows eight times as much.
    let mut slack = 1u64;
    loop {
        let whole = slack >= 1_000_000;
        let goal = instance.measure.goal(slack);
        let mut search = BranchSearch::new(instance, goal, left, clock, best);
        let finished = search.run();
        looked_at += search.looked_at;
        left = search.left;
        if !finished {
            return (false, looked_at);
        }
        if whole || best.at().is_some_and(|at| at >= goal) {
            return (true, looked_at);
        }
        slack *= 8;
    }
}

struct BranchSearch<'a, 'c> {
    instance: &'a AtomInstance,
    clock: &'a mut StepClock<'c>,
    best: &'a mut Ranked,
    /// Splits less even than this are skipped.
    goal: Evenness,
    left: usize,
    looked_at: u128,
    /// The teams in the order in which they are filled: first those that differ from the others.
    teams: Vec<u8>,
    /// How many teams differ from the others.
    fixed: usize,
    split: Split,
    /// The class of splits being searched, which share a size of the largest team.
    class: Class,
    /// Each team's sum above bots.
    above_bots: [i64; MAX_TEAMS],
    /// Each team's number of humans.
    humans: [usize; MAX_TEAMS],
}

#[derive(Clone, Copy, Default)]
struct Class {
    total: i64,
    bots: i64,
    fewest: usize,
    most: usize,
}

impl<'a, 'c> BranchSearch<'a, 'c> {
    fn new(
        instance: &'a AtomInstance,
        goal: Evenness,
        left: usize,
        clock: &'a mut StepClock<'c>,
        best: &'a mut Ranked,
    ) -> Self {
        let free = instance.interchangeable();
        let of = |wanted: bool| {
            let free = &free;
            (0..free.len() as u8).filter(move |&team| free[usize::from(team)] == wanted)
        };
        let (mut above_bots, mut humans) = (instance.start, [0; MAX_TEAMS]);
        for atom in &instance.atoms {
            if let Some(team) = atom.team {
                above_bots[usize::from(team)] += atom.above_bot;
                humans[usize::from(team)] += atom.size;
            }
        }
        Self {
            goal,
            left,
            looked_at: 0,
            teams: of(false).chain(of(true)).collect(),
            fixed: of(false).count(),
            split: instance
                .atoms
                .iter()
                .map(|atom| atom.team.unwrap_or(0))
                .collect(),
            class: Class::default(),
            above_bots,
            humans,
            instance,
            clock,
            best,
        }
    }

    /// Runs the search for each possible number of humans on the largest team.
    fn run(&mut self) -> bool {
        let counts = &self.instance.counts;
        let atoms = self.instance.atoms.iter().enumerate();
        let free: Vec<Free> = atoms
            .filter(|(_, atom)| atom.team.is_none())
            .map(|(place, atom)| (place, atom.above_bot, atom.size))
            .collect();
        let atoms = self.instance.atoms.iter().map(|atom| atom.above_bot);
        let above_bot: i64 = atoms.chain(self.instance.start).sum();
        for most in counts.humans.div_ceil(counts.teams)..=counts.most {
            let bots = self.instance.bot * counts.floor.max(most) as i64;
            self.class = Class {
                total: above_bot + counts.teams as i64 * bots,
                bots,
                fewest: most.saturating_sub(counts.difference),
                most,
            };
            if !self.fill(0, &free) {
                return false;
            }
        }
        true
    }

    /// Fills the `at`-th team and those after it with all of `free`.
    fn fill(&mut self, at: usize, free: &[Free]) -> bool {
        let Some(&team) = self.teams.get(at) else {
            if free.is_empty() {
                self.offer();
            }
            return true;
        };
        if !self.can_grant(at, free) {
            return true;
        }
        let Some(range) = self.range(at, free) else {
            return true;
        };
        let table = ReachableSums::new(free, range.humans.1);
        let mut rest = Vec::with_capacity(free.len());
        // An interchangeable team takes the first free atom, to avoid permutations.
        let must = at >= self.fixed;
        self.choose(
            TeamFill {
                at,
                team: usize::from(team),
                free,
                range,
                table: &table,
                must,
            },
            0,
            &mut rest,
        )
    }

    /// Tries the atoms from `next` on for the team being filled, each with and without.
    fn choose(&mut self, choice: TeamFill, next: usize, rest: &mut Vec<Free>) -> bool {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.clock.spend(8) {
            return false;
        }
        let (above_bot, humans) = (self.above_bots[choice.team], self.humans[choice.team]);
        if !choice.table.reaches(next, choice.range, above_bot, humans) {
            return true;
        }
        let Some(&(place, atom, size)) = choice.free.get(next) else {
            return self.fill(choice.at + 1, &rest.clone());
        };
        if humans + size <= choice.range.humans.1 {
            self.above_bots[choice.team] += atom;
            self.humans[choice.team] += size;
            self.split[place] = choice.team as u8;
            let going = self.choose(choice, next + 1, rest);
            self.above_bots[choice.team] -= atom;
            self.humans[choice.team] -= size;
            if !going {
                return false;
            }
        }
        if next == 0 && choice.must {
            return true;
        }
        rest.push(choice.free[next]);
        let going = self.choose(choice, next + 1, rest);
        rest.pop();
        going
    }

    /// Whether enough wishes are satisfied if each of the `free` atoms gets the team, from the `at`-th on, for which most
    /// of its members wish.
    fn can_grant(&self, at: usize, free: &[Free]) -> bool {
        let least = self.instance.least_satisfied;
        if least == 0 {
            return true;
        }
        let mut waits = vec![false; self.split.len()];
        free.iter().for_each(|&(place, ..)| waits[place] = true);
        let of = |(place, atom): (usize, &Atom)| {
            let on = |team: &u8| usize::from(atom.wishes[usize::from(*team)]);
            match waits[place] {
                true => self.teams[at..].iter().map(on).max().unwrap_or(0),
                false => on(&self.split[place]),
            }
        };
        let atoms = self.instance.atoms.iter().enumerate();
        atoms.map(of).sum::<usize>() >= least
    }

    /// The range of sums and humans for the `at`-th team, given those before it; `None` if it is
    /// empty.
    fn range(&self, at: usize, free: &[Free]) -> Option<Range> {
        let Class {
            total,
            bots,
            fewest,
            most,
        } = self.class;
        let goal = self.best.at().map_or(self.goal, |at| at.max(self.goal));
        let teams = self.instance.counts.teams;
        let measure = self.instance.measure;
        let (mut low, mut high) = measure.sums(goal, total, teams as i64);
        for &team in &self.teams[..at] {
            let (least, greatest) = measure.beside(goal, self.above_bots[usize::from(team)] + bots);
            low = low.max(least);
            high = high.min(greatest);
        }
        let (low, high) = (low - bots, high - bots);
        // The humans and sums that remain for this team and the later ones.
        let others = (teams - at - 1) as i64;
        let of = |team: &u8| {
            (
                self.above_bots[usize::from(*team)],
                self.humans[usize::from(*team)],
            )
        };
        let placed = self.teams[at..].iter().map(of);
        let all = placed.chain(free.iter().map(|&(_, above_bot, size)| (above_bot, size)));
        let (above_bot, humans) = all.fold((0, 0), |(a, b), (above_bot, size)| {
            (a + above_bot, b + size)
        });
        let sums = (
            low.max(above_bot - others * high),
            high.min(above_bot - others * low),
        );
        let others = others as usize;
        let range = Range {
            sums,
            humans: (
                fewest.max(humans.saturating_sub(others * most)),
                most.min(humans.checked_sub(others * fewest)?),
            ),
        };
        (sums.0 <= sums.1 && range.humans.0 <= range.humans.1).then_some(range)
    }

    /// Offers the current split, if its largest team has the assumed size.
    fn offer(&mut self) {
        let teams = self.instance.counts.teams;
        if self.humans[..teams].iter().max() != Some(&self.class.most)
            || self.instance.satisfied(&self.split) < self.instance.least_satisfied
        {
            return;
        }
        self.looked_at += 1;
        let sums = self.above_bots[..teams].iter();
        let balance = (self.instance.measure).of(sums.map(|above_bot| above_bot + self.class.bots));
        if balance >= self.goal {
            self.best.offer(balance, &self.split);
        }
    }
}

/// The team being filled, its free atoms, and its limits.
#[derive(Clone, Copy)]
struct TeamFill<'a> {
    at: usize,
    team: usize,
    free: &'a [Free],
    range: Range,
    table: &'a ReachableSums,
    must: bool,
}

/// An atom that is not placed yet: its index in the instance, what it counts above bots, and its size.
pub(super) type Free = (usize, i64, usize);

/// The sums and human counts that a team may have, both ends included.
#[derive(Clone, Copy)]
pub(super) struct Range {
    pub(super) sums: (i64, i64),
    pub(super) humans: (usize, usize),
}

/// The smallest and the largest sum of a subset of the last atoms, by how many atoms there are and
/// how many humans the subset has.
pub(super) struct ReachableSums {
    sums: Vec<Option<(i64, i64)>>,
    width: usize,
}

impl ReachableSums {
    /// O(atoms × humans).
    pub(super) fn new(free: &[Free], most: usize) -> Self {
        let width = most + 1;
        let mut sums = vec![None; (free.len() + 1) * width];
        sums[free.len() * width] = Some((0, 0));
        for (next, &(_, above_bot, size)) in free.iter().enumerate().rev() {
            for humans in 0..width {
                let without = sums[(next + 1) * width + humans];
                let with = humans
                    .checked_sub(size)
                    .and_then(|rest| sums[(next + 1) * width + rest]);
                let with = with.map(|(least, greatest)| (least + above_bot, greatest + above_bot));
                sums[next * width + humans] = match (without, with) {
                    (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
                    (one, other) => one.or(other),
                };
            }
        }
        Self { sums, width }
    }

    /// Whether a team that counts so much above bots, with these humans, can still come within the range by adding
    /// atoms from `next` on.
    pub(super) fn reaches(&self, next: usize, range: Range, above_bot: i64, humans: usize) -> bool {
        let (fewest, most) = range.humans;
        let Some(room) = most.checked_sub(humans) else {
            return false;
        };
        (fewest.saturating_sub(humans)..=room).any(|more| {
            self.sums[next * self.width + more].is_some_and(|(least, greatest)| {
                above_bot + least <= range.sums.1 && above_bot + greatest >= range.sums.0
            })
        })
    }
}
