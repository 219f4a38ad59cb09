//! The moves of an offer: humans who have volunteered take the places of those who were named.

use super::{
    Rebalance,
    plan::{MovePlan, Planner},
};
use evenkeel_model::{Ident, Move, SAME_CHANCE, SwitchAnswer, chance_of_weaker};
use evenkeel_partition::{HumanInGame, MoveBlock};

/// How much of what the offered moves gain a volunteer may cost, at most.
const LESS: f64 = 0.25;

/// The moves of an offer in the game as it is now.
pub(crate) struct OfferInGame<'a> {
    humans: &'a [HumanInGame],
    planner: Planner,
    held: Vec<Option<MoveBlock>>,
    enough: f64,
    /// The moves that were offered.
    named: MovePlan,
}

/// The moves of an offer, some of them by volunteers.
pub(crate) struct FilledOffer {
    plan: MovePlan,
    /// For each step of the plan, whether those who move have volunteered.
    volunteered: Vec<bool>,
}

impl FilledOffer {
    /// Whether all who move have volunteered.
    pub(crate) fn is_complete(&self) -> bool {
        self.volunteered.iter().all(|volunteered| *volunteered)
    }

    /// Whether this unit moves as a volunteer.
    fn takes(&self, unit: usize) -> bool {
        let mut steps = self.plan.steps.iter().zip(&self.volunteered);
        steps.any(|(step, volunteered)| step.0 == unit && *volunteered)
    }
}

impl Rebalance {
    /// What these moves of an offer do now; `None` if they cannot be made any more.
    pub(crate) fn asking(&self, offered: &[Move]) -> Option<OfferInGame<'_>> {
        let held = self.held_anyway();
        let arrived_sums = self.arrived(&self.view.sums(), &[]).sums;
        let units = self.units(&held, &self.torn_by_moves(|| offered.iter()));
        let planner = Planner::new(arrived_sums, units, self.limit());
        let humans = &self.view.humans;
        let named = planner.plan_of(humans, offered)?;
        Some(OfferInGame {
            humans,
            named,
            planner,
            held,
            enough: self.enough(&[]),
        })
    }
}

impl OfferInGame<'_> {
    /// Whether the offered moves are as good as these.
    pub(crate) fn stands(&self, best: &[Move]) -> bool {
        let best = self.planner.plan_of(self.humans, best);
        best.is_some_and(|best| self.is_as_good(&self.named, &best))
    }

    /// Whether a plan is nearly as good as another one.
    fn is_as_good(&self, plan: &MovePlan, best: &MovePlan) -> bool {
        let alone = chance_of_weaker(self.planner.sums.evenness_after_bot_fill());
        let (chance, most) = (
            chance_of_weaker(plan.evenness),
            chance_of_weaker(best.evenness),
        );
        let less = SAME_CHANCE.min(LESS * (most - alone).max(0.0));
        let even = plan.evenness >= self.enough || chance + less >= most;
        even && plan.score.over <= best.score.over
    }

    /// The moves if these humans, by index, have volunteered in this order: each takes a place whose moves are as good
    /// with them. If the volunteers alone are enough, nobody else moves.
    pub(crate) fn filled(&self, volunteers: &[usize]) -> FilledOffer {
        let mut filled = FilledOffer {
            plan: self.named.clone(),
            volunteered: vec![false; self.named.steps.len()],
        };
        let units = &self.planner.units;
        for (unit, of) in units_of(&self.planner, volunteers) {
            if !self.is_complete(unit, volunteers) {
                continue;
            }
            let steps = &filled.plan.steps;
            if let Some(at) = steps.iter().position(|step| step.0 == unit) {
                filled.volunteered[at] = true;
                continue;
            }
            let open = (0..steps.len()).filter(|&at| !filled.volunteered[at]);
            let open: Vec<usize> = open.collect();
            let places = open.iter().filter(|&&at| units[steps[at].0].from == of);
            let trials = places.flat_map(|&at| self.trials(&filled, unit, at, &open));
            let more_even = |a: &FilledOffer, b: &FilledOffer| b.plan.evenness > a.plan.evenness;
            if let Some(best) = trials.reduce(|a, b| if more_even(&a, &b) { b } else { a }) {
                filled = best;
            }
        }
        self.without_others(filled)
    }

    /// A volunteer in this place, and in this place and others that are open: a party may take several. Only what is
    /// as good as the offered moves.
    fn trials(
        &self,
        filled: &FilledOffer,
        unit: usize,
        at: usize,
        open: &[usize],
    ) -> Vec<FilledOffer> {
        let others = || open.iter().copied().filter(|&other| other != at);
        let mut dropped = vec![Vec::new(), others().collect()];
        dropped.extend(others().map(|other| vec![other]));
        let trial = |dropped: Vec<usize>| {
            let kept = || (0..filled.volunteered.len()).filter(|other| !dropped.contains(other));
            let step = |place: usize| match filled.plan.steps[place] {
                (_, to) if place == at => (unit, to),
                step => step,
            };
            let plan = self.planner.of_steps(kept().map(step).collect())?;
            self.is_as_good(&plan, &self.named).then(|| FilledOffer {
                plan,
                volunteered: kept()
                    .map(|place| place == at || filled.volunteered[place])
                    .collect(),
            })
        };
        dropped.into_iter().filter_map(trial).collect()
    }

    /// The moves of the volunteers alone, if they are as good.
    fn without_others(&self, filled: FilledOffer) -> FilledOffer {
        let steps = filled.plan.steps.iter().zip(&filled.volunteered);
        let steps: Vec<_> = steps
            .filter_map(|(step, volunteered)| volunteered.then_some(*step))
            .collect();
        let count = steps.len();
        let alone = self.planner.of_steps(steps).filter(|_| count > 0);
        match alone.filter(|plan| self.is_as_good(plan, &self.named)) {
            Some(plan) => FilledOffer {
                plan,
                volunteered: vec![true; count],
            },
            None => filled,
        }
    }

    /// Whether all members of a unit have volunteered.
    fn is_complete(&self, unit: usize, volunteers: &[usize]) -> bool {
        let mut members = self.planner.units[unit].members.iter();
        members.all(|member| volunteers.contains(member))
    }

    /// What becomes of one of the volunteers.
    pub(crate) fn answer(
        &self,
        who: usize,
        volunteers: &[usize],
        filled: &FilledOffer,
    ) -> SwitchAnswer {
        let units = &self.planner.units;
        let mut losing = self.named.steps.iter().map(|step| units[step.0].from);
        let team = self.humans[who].team.map(usize::from);
        if !losing.any(|from| from == team) {
            return SwitchAnswer::WrongTeam;
        }
        let Some(unit) = self
            .planner
            .unit_of(who)
            .filter(|_| self.held[who].is_none())
        else {
            return SwitchAnswer::Held;
        };
        match filled.takes(unit) {
            true if filled.is_complete() => SwitchAnswer::Taken,
            true => SwitchAnswer::Waits,
            false if !self.is_complete(unit, volunteers) => SwitchAnswer::Waits,
            false => SwitchAnswer::LessEven,
        }
    }

    /// The moves as they are made.
    pub(crate) fn moves(&self, filled: &FilledOffer) -> Vec<Move> {
        let people = self.planner.people(&filled.plan);
        let step = |(who, to): (usize, usize)| Move {
            id: Ident::from_text(&self.humans[who].id),
            from: self.humans[who].team,
            to: to as u8,
        };
        people.map(step).collect()
    }

    /// How even the teams become, and how even they would have become with the offered moves.
    pub(crate) fn explain(&self, filled: &FilledOffer) -> String {
        let (with, named) = (self.announced(&filled.plan), self.announced(&self.named));
        format!("{with} with these moves, {named} with those that were offered")
    }

    fn announced(&self, plan: &MovePlan) -> String {
        match self.planner.sums.by_chance() {
            true => {
                let chance = chance_of_weaker(plan.evenness);
                format!("chance of the weaker team {chance:.6}")
            }
            false => format!("ratio {:.6}", self.planner.ratio(plan)),
        }
    }
}

/// The units of these humans, each once, with the team that it is on.
fn units_of(planner: &Planner, humans: &[usize]) -> Vec<(usize, Option<usize>)> {
    let mut units = Vec::new();
    for unit in humans.iter().filter_map(|&who| planner.unit_of(who)) {
        let one = (unit, planner.units[unit].from);
        if !units.contains(&one) {
            units.push(one);
        }
    }
    units
}

impl Planner {
    /// The unit with this human.
    fn unit_of(&self, who: usize) -> Option<usize> {
        let mut units = self.units.iter();
        units.position(|unit| unit.members.contains(&who))
    }

    /// The plan of these moves; `None` if somebody is gone, on another team or held, if a party has changed, or if the
    /// teams may not become of these sizes.
    fn plan_of(&self, humans: &[HumanInGame], moves: &[Move]) -> Option<MovePlan> {
        let mut steps: Vec<(usize, usize)> = Vec::new();
        for step in moves {
            let who = humans.iter().position(|human| human.id == step.id.text())?;
            let unit = self.unit_of(who)?;
            let (from, to) = (self.units[unit].from, usize::from(step.to));
            if step.from.map(usize::from) != from || to >= self.sums.sides().len() {
                return None;
            }
            if !steps.contains(&(unit, to)) {
                steps.push((unit, to));
            }
        }
        let members = steps
            .iter()
            .map(|&(unit, _)| self.units[unit].members.len());
        (members.sum::<usize>() == moves.len())
            .then_some(steps)
            .and_then(|steps| self.of_steps(steps))
    }
}
