//! The search for moves: who goes to which team, of arrivals who have none yet and of players who change theirs.
//!
//! People who go together are a [`Unit`]. A [`MoveSearch`] tries steps of units in the sums of the teams, and keeps the best
//! that it has tried. What is better is a matter of its [`Aim`]; what may be moved, and how far the teams may differ, is
//! up to the caller.

use std::{cmp::Ordering, ops::Range};

use evenkeel_partition::{Counted, EQUAL, GameView, TeamSums};

/// Humans who go together: one human, or the members of a party who are on one team, or on none yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    /// Indices of the humans; each counts as a move.
    pub(super) members: Vec<usize>,
    /// The sums of the members' weights and strengths.
    pub(super) counted: Counted,
    /// The team that the members are on; `None` for arrivals.
    pub(super) from: Option<usize>,
    /// The only team that they may go to.
    pin: Option<usize>,
}

impl Unit {
    /// A human who goes from one team to the other, or stays.
    pub(super) fn alone(who: usize, counted: Counted, (from, to): (usize, usize)) -> Self {
        Self {
            members: vec![who],
            counted,
            from: Some(from),
            pin: Some(to),
        }
    }

    /// The units of these humans; the members of the parties in `split` go alone. An arrival who must be on a certain team
    /// goes there without their friends.
    pub(super) fn of(
        view: &GameView,
        humans: impl Iterator<Item = usize>,
        split: &[&str],
    ) -> Vec<Self> {
        let mut units: Vec<Self> = Vec::new();
        for who in humans {
            let (human, counted) = (&view.humans[who], view.counted(who));
            let from = human.team.map(usize::from);
            let pin = human.pin.map(usize::from).filter(|_| from.is_none());
            let party = human.party.as_deref();
            let party = party.filter(|party| pin.is_none() && !split.contains(party));
            let with = |unit: &&mut Self| {
                let first = &view.humans[unit.members[0]];
                let together = party.is_some() && first.party.as_deref() == party;
                together && unit.from == from && unit.pin.is_none()
            };
            match units.iter_mut().find(with) {
                Some(unit) => {
                    unit.members.push(who);
                    unit.counted = unit.counted + counted;
                }
                None => units.push(Self {
                    members: vec![who],
                    counted,
                    from,
                    pin,
                }),
            }
        }
        units
    }

    /// Those of `teams` teams that it can go to.
    pub(super) fn targets(&self, teams: usize) -> impl Iterator<Item = usize> + use<> {
        let (from, pin) = (self.from, self.pin);
        (0..teams).filter(move |team| Some(*team) != from && pin.is_none_or(|pin| pin == *team))
    }

    /// Puts the unit on another team.
    fn go(&self, to: usize, sums: &mut TeamSums) {
        sums.put(self.from, to, self.members.len(), self.counted);
    }
}

/// A unit, by index, and the team to which it goes.
pub(super) type Step = (usize, usize);

/// The teams after these steps.
pub(super) fn after(sums: &TeamSums, units: &[Unit], steps: &[Step]) -> TeamSums {
    let mut after = sums.clone();
    for &(unit, to) in steps {
        units[unit].go(to, &mut after);
    }
    after
}

/// The humans that these steps move, by index, with their new teams.
pub(super) fn people(units: &[Unit], steps: &[Step]) -> impl Iterator<Item = (usize, usize)> {
    steps.iter().flat_map(move |&(unit, to)| {
        let members = units[unit].members.iter();
        members.map(move |&who| (who, to))
    })
}

/// What makes teams better, before all else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// Fewer humans too many: arrivals have to go to some team in any case.
    Sizes,
    /// More even teams: nobody is moved for less.
    Evenness,
    /// More even weights of these two teams with the bots that play now, whatever the others have.
    Pair(usize, usize),
}

impl Aim {
    /// How even these teams are, as a number that orders them as their evenness does.
    fn measure(self, sums: &TeamSums) -> f64 {
        match self {
            Aim::Sizes | Aim::Evenness => sums.monotone_after_bot_fill(),
            Aim::Pair(one, other) => sums.ratio_between(one, other),
        }
    }
}

/// How good teams are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    /// How many humans too many there are on teams that outnumber the smallest by more than allowed.
    pub(super) over: usize,
    /// The [measure](Aim::measure) of the aim: it orders teams as their evenness does.
    pub(super) monotone: f64,
    /// By how many humans the largest team exceeds the smallest.
    pub(super) spread: usize,
}

impl Score {
    /// The score of these teams, with `limit` as the allowed difference in humans.
    pub(super) fn of(sums: &TeamSums, limit: usize, aim: Aim) -> Self {
        Self {
            over: sums.excess(limit),
            monotone: aim.measure(sums),
            spread: sums.spread(),
        }
    }

    /// The same; `None` if the teams differ by more than `most` humans.
    pub(super) fn within(sums: &TeamSums, (limit, most): (usize, usize), aim: Aim) -> Option<Self> {
        (sums.spread() <= most).then(|| Self::of(sums, limit, aim))
    }

    /// Whether these teams are better: by what is aimed for, then by the other of sizes and evenness, then by the
    /// difference in humans itself.
    pub(super) fn beats(&self, other: &Self, aim: Aim) -> bool {
        let more = self.monotone - other.monotone;
        let even = match more {
            _ if more > EQUAL => Ordering::Greater,
            _ if more < -EQUAL => Ordering::Less,
            _ => Ordering::Equal,
        };
        let over = other.over.cmp(&self.over);
        let first = match aim {
            Aim::Sizes => over.then(even),
            Aim::Evenness | Aim::Pair(..) => even.then(over),
        };
        first.then(other.spread.cmp(&self.spread)).is_gt()
    }
}

/// A depth-first search through steps, which changes the teams in place.
pub(super) struct MoveSearch<'a> {
    units: &'a [Unit],
    sums: TeamSums,
    aim: Aim,
    /// By how many humans the teams should differ at most, and may.
    limits: (usize, usize),
    trial: Vec<Step>,
    best: Option<(Score, Vec<Step>)>,
}

impl<'a> MoveSearch<'a> {
    /// A search among the steps of these units in these teams. The teams should differ by at most `limits.0` humans; those
    /// that differ by more than `limits.1` do not count.
    pub(super) fn new(sums: TeamSums, units: &'a [Unit], aim: Aim, limits: (usize, usize)) -> Self {
        Self {
            units,
            sums,
            aim,
            limits,
            trial: Vec::new(),
            best: None,
        }
    }

    /// The same search after these steps.
    pub(super) fn after(mut self, steps: &[Step]) -> Self {
        steps.iter().for_each(|&step| self.make(step));
        self
    }

    /// The best that was found: its score, and all its steps. Of equals the first one.
    pub(super) fn found(self) -> Option<(Score, Vec<Step>)> {
        self.best
    }

    fn make(&mut self, (unit, to): Step) {
        self.units[unit].go(to, &mut self.sums);
        self.trial.push((unit, to));
    }

    /// Calls `then` after one more step, and undoes the step exactly.
    pub(super) fn step(&mut self, (unit, to): Step, then: impl FnOnce(&mut Self)) {
        let from = self.units[unit].from.unwrap_or(to);
        let (left, joined) = (self.sums.sides()[from], self.sums.sides()[to]);
        self.make((unit, to));
        then(self);
        self.trial.pop();
        self.sums.restore(from, left);
        self.sums.restore(to, joined);
    }

    /// Keeps what is tried if it is legal and better than the best so far.
    fn consider(&mut self) {
        let Some(score) = Score::within(&self.sums, self.limits, self.aim) else {
            return;
        };
        let best = self.best.as_ref();
        if best.is_none_or(|(best, _)| score.beats(best, self.aim)) {
            self.best = Some((score, self.trial.clone()));
        }
    }

    /// Tries each step of one unit.
    fn each(&mut self, unit: usize, mut then: impl FnMut(&mut Self)) {
        for to in self.units[unit].targets(self.sums.sides().len()) {
            self.step((unit, to), &mut then);
        }
    }

    /// Tries all ways in which all units from this one on go somewhere: O(teams^units).
    pub(super) fn all(&mut self, from: usize) {
        match from < self.units.len() {
            true => self.each(from, |search| search.all(from + 1)),
            false => self.consider(),
        }
    }

    /// Lets one unit after the other go where the teams are best then: O(units · teams²). With the heaviest first, this is
    /// Graham's LPT rule (1969).
    pub(super) fn one_by_one(&mut self) {
        for unit in 0..self.units.len() {
            if let Some((_, step)) = self.best_of(unit..unit + 1) {
                self.make(step);
            }
        }
        self.consider();
    }

    /// Lets one unit after the other go, each time the one with which the teams are best: until they are `even`, no step
    /// makes them more even, or `most` have gone. Returns these units. O(most · units · teams).
    pub(super) fn best_first(
        mut self,
        most: usize,
        even: impl Fn(&TeamSums) -> bool,
    ) -> Vec<usize> {
        while self.trial.len() < most && !even(&self.sums) {
            let now = self.aim.measure(&self.sums);
            let best = self.best_of(0..self.units.len());
            let Some((_, step)) = best.filter(|(score, _)| score.monotone > now + EQUAL) else {
                break;
            };
            self.make(step);
        }
        self.trial.iter().map(|step| step.0).collect()
    }

    /// The best step of one of these units, of those that have not gone yet.
    fn best_of(&mut self, units: Range<usize>) -> Option<(Score, Step)> {
        self.best = None;
        for unit in units {
            if self.trial.iter().all(|step| step.0 != unit) {
                self.each(unit, Self::consider);
            }
        }
        let (score, steps) = self.best.take()?;
        Some((score, *steps.last()?))
    }

    /// Tries all ways in which exactly `moves` humans go, of the units from `start` on: O((units · teams)^moves).
    pub(super) fn exactly(&mut self, start: usize, moves: usize) {
        if moves == 0 {
            return self.consider();
        }
        for unit in start..self.units.len() {
            if let Some(rest) = moves.checked_sub(self.units[unit].members.len()) {
                self.each(unit, |search| search.exactly(unit + 1, rest));
            }
        }
    }

    /// Tries all moves and swaps of at most `room` more humans of these units: O(units² · teams).
    pub(super) fn move_or_swap(&mut self, free: &[usize], room: usize) {
        let units = self.units;
        for (at, &one) in free.iter().enumerate() {
            let size = units[one].members.len();
            for to in units[one].targets(self.sums.sides().len()) {
                self.step((one, to), |search| {
                    search.consider();
                    let Some(from) = units[one].from else { return };
                    let back = free[at + 1..].iter().filter(|&&other| {
                        let other = &units[other];
                        other.from == Some(to) && other.members.len() + size <= room
                    });
                    back.for_each(|&other| search.step((other, from), Self::consider));
                });
            }
        }
    }
}

/// The number of placements up to which all are tried; with more, the heaviest groups are placed
/// first. A thousand take some 50 µs; in real games, rarely more than ten humans wait for a team.
const MAX_TRIED: usize = 1_024;

/// A placement of all humans without a team.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    /// The teams then.
    pub(super) sums: TeamSums,
    /// Each human, by index, with their team.
    pub(super) teams: Vec<(usize, u8)>,
    /// Whether all placements were tried, so that no other is better.
    pub(super) exact: bool,
}

impl Arrived {
    /// The best placement of these humans, who are on no team. The members of a party go to one team, except pinned ones
    /// and those of the parties in `split`. Fewer humans too many, by `limit`, are better, then more even teams.
    ///
    /// Tries all placements if there are at most [`MAX_TRIED`]. Otherwise puts the heaviest group on the team where the
    /// teams are best then, then the next heaviest.
    pub(super) fn of(
        view: &GameView,
        sums: &TeamSums,
        waiting: impl Iterator<Item = usize>,
        split: &[&str],
        limit: usize,
    ) -> Self {
        let mut units = Unit::of(view, waiting, split);
        units.sort_by(|a, b| b.counted.weight.total_cmp(&a.counted.weight));
        let ways = |ways: usize, _: &Unit| ways.saturating_mul(sums.sides().len());
        let exact = units.iter().fold(1, ways) <= MAX_TRIED;
        let mut search = MoveSearch::new(sums.clone(), &units, Aim::Sizes, (limit, usize::MAX));
        match exact {
            true => search.all(0),
            false => search.one_by_one(),
        }
        let steps = search.found().map_or(Vec::new(), |(_, steps)| steps);
        let people = people(&units, &steps);
        Self {
            sums: after(sums, &units, &steps),
            teams: people.map(|(who, team)| (who, team as u8)).collect(),
            exact,
        }
    }
}

#[cfg(test)]
mod arrivals_tests {
    use super::Score;
    use super::*;
    use crate::games::{by_chance, view};
    use proptest::prelude::*;

    /// The reference: tries every placement, without groups or order.
    fn naive(view: &GameView, limit: usize) -> Score {
        let mut found = vec![view.clone()];
        for human in 0..view.humans.len() {
            let spread = |game: GameView| -> Vec<GameView> {
                if game.humans[human].team.is_some() {
                    return vec![game];
                }
                let on = |team| {
                    let mut game = game.clone();
                    game.humans[human].team = Some(team);
                    game
                };
                (0..game.teams).map(on).collect()
            };
            found = found.into_iter().flat_map(spread).collect();
        }
        let scores = found
            .iter()
            .map(|game| Score::of(&game.sums(), limit, Aim::Sizes));
        scores
            .reduce(|a, b| if b.beats(&a, Aim::Sizes) { b } else { a })
            .unwrap()
    }

    #[test]
    fn parties_go_together_and_pins_are_kept() {
        let mut game = view(2, &[(10.0, 9), (10.0, 9), (10.0, 9), (10.0, 9)]);
        game.humans[0].party = Some("p".into());
        game.humans[3].party = Some("p".into());
        game.humans[1].pin = Some(1);
        let mut placed = Arrived::of(&game, &game.sums(), game.waiting(), &[], 1);
        placed.teams.sort_unstable();
        assert_eq!(placed.teams, [(0, 0), (1, 1), (2, 1), (3, 0)]);
        assert!(placed.exact);
    }

    #[test]
    fn a_crowd_is_placed_in_time_and_well() {
        let crowd: Vec<(f64, u8)> = (0..64).map(|n| (f64::from(n % 13) * 7.0, 9)).collect();
        let game = view(2, &crowd);
        let placed = Arrived::of(&game, &game.sums(), game.waiting(), &[], 1);
        assert!(!placed.exact);
        assert_eq!(placed.teams.len(), 64);
        assert!(
            placed.sums.excess(1) == 0 && placed.sums.evenness_after_bot_fill() > 0.98,
            "{placed:?}"
        );
    }

    proptest! {
        #[test]
        fn nothing_beats_what_is_exact(
            teams in 2u8..4,
            humans in proptest::collection::vec((0u32..30, 0u8..6), 1..6),
            limit in 0usize..3,
            chances in any::<bool>(),
        ) {
            let humans: Vec<_> = humans.into_iter().map(|(weight, team)| (f64::from(weight), team)).collect();
            let game = view(teams, &humans);
            let game = if chances { by_chance(game) } else { game };
            let placed = Arrived::of(&game, &game.sums(), game.waiting(), &[], limit);
            let oracle = naive(&game, limit);
            let score = Score::of(&placed.sums, limit, Aim::Sizes);
            prop_assert!(!oracle.beats(&score, Aim::Sizes) && !score.beats(&oracle, Aim::Sizes));
        }
    }
}
