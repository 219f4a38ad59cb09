//! Offers: players are asked for volunteers before REBALANCE moves one of them.
//!
//! An offer holds the moves that REBALANCE has advised. Until its time is over, other humans of the same team can
//! volunteer, and take the places of those who were named as far as the teams become as even with them. It ends in one of
//! three ways: volunteers move, those who were named do (or some of both), or it is withdrawn and nobody moves. Whenever the
//! teams change, it is checked again.

use evenkeel_model::{
    ident::Ident,
    in_game::{MOVE_NOTICE, Move, SwitchAnswer, Withdrawal},
    record::MAX_PLAYERS,
    win_model::{SAME_CHANCE, chance_of_weaker},
};
use evenkeel_partition::{HumanInGame, view::MoveBlock};

use super::{
    Rebalance,
    plan::{MovePlan, Planner},
};
use crate::{
    Command, Lobby, LobbyError, Weights,
    command::{Offer, OfferEvent},
    question::Question,
};

impl Lobby {
    /// The open offer.
    pub fn offer(&self) -> Option<&Offer> {
        self.game.as_ref()?.offer.as_ref()
    }

    /// Asks for volunteers for the moves that REBALANCE has advised. An offer that is open goes on, if its moves are
    /// still right. Does nothing if nobody is to move.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn ask(
        &mut self,
        moves: Vec<Move>,
        seed: u64,
        weights: &dyn Weights,
    ) -> Result<Vec<OfferEvent>, LobbyError> {
        if self.offer().is_some() {
            let events = self.review_offer(weights);
            return Ok(match (events.is_empty(), self.opened()) {
                (true, Some(open)) => vec![open],
                _ => events,
            });
        }
        if moves.is_empty() {
            return Ok(Vec::new());
        }
        let wait = self.settings.rebalance.ask_seconds.millis();
        self.change(Command::Offer(Offer {
            moves,
            until: self.now.saturating_add(wait),
            seed,
            volunteers: Vec::new(),
        }))?;
        Ok(self.opened().into_iter().collect())
    }

    /// The event of the open offer.
    pub fn opened(&self) -> Option<OfferEvent> {
        let offer = self.offer()?;
        let left = offer.until.saturating_sub(self.now);
        Some(OfferEvent::Open(offer.moves.clone(), left))
    }

    /// Withdraws the open offer, because its game server does not ask any more.
    pub fn withdraw_offer(&mut self) -> Vec<OfferEvent> {
        self.withdraw(Withdrawal::Over)
    }

    fn withdraw(&mut self, why: Withdrawal) -> Vec<OfferEvent> {
        let Some(offer) = self.offer().cloned() else {
            return Vec::new();
        };
        // There is a game, so this cannot fail.
        let _ = self.change(Command::EndOffer);
        vec![OfferEvent::Withdrawn(offer.moves, why)]
    }

    /// A human volunteers. Returns what becomes of them.
    ///
    /// # Errors
    /// Fails if there is no game, or if no human has that id.
    pub fn volunteer(
        &mut self,
        id: &Ident,
        weights: &dyn Weights,
    ) -> Result<(SwitchAnswer, Vec<OfferEvent>), LobbyError> {
        self.game()?.roster.human(id)?;
        if self.offer().is_none() {
            return Ok((SwitchAnswer::NoOffer, Vec::new()));
        }
        let id = id.clone();
        self.change(Command::Volunteer { id: id.clone() })?;
        let events = self.review_offer(weights);
        let answer = match events.iter().any(|event| event.moves(&id)) {
            true => SwitchAnswer::Taken,
            false => self.answer_of(&id, weights)?,
        };
        Ok((answer, events))
    }

    /// Notes a volunteer of the open offer, once.
    pub(crate) fn note_volunteer(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        let id = game.roster.human(id)?.id.clone();
        if let Some(offer) = &mut game.offer
            && !offer.volunteers.contains(&id)
            && offer.volunteers.len() < MAX_PLAYERS
        {
            offer.volunteers.push(id);
        }
        Ok(())
    }
}

impl Lobby {
    /// Checks the open offer against the game as it is now. It is withdrawn if the teams are even enough, replaced if
    /// other moves are better than those that were offered, and ends if volunteers make all moves.
    pub fn review_offer(&mut self, weights: &dyn Weights) -> Vec<OfferEvent> {
        let Some(offer) = self.offer().cloned() else {
            return Vec::new();
        };
        let Ok(question) = self.rebalance_question(weights) else {
            return Vec::new();
        };
        let best = question.answer(offer.seed).moves;
        if best.is_empty() {
            return self.withdraw(Withdrawal::Even);
        }
        let asking = question.asking(&offer.moves);
        if let Some(asking) = asking.filter(|asking| asking.stands(&best)) {
            let filled = asking.filled(&self.volunteers(&offer, &question));
            return match filled.is_complete() {
                true => self.make(&asking, &filled),
                false => Vec::new(),
            };
        }
        let until = offer.until.max(self.now.saturating_add(MOVE_NOTICE));
        let mut events = self.withdraw(Withdrawal::Changed);
        let replaced = self.change(Command::Offer(Offer {
            moves: self.as_sent(best),
            until,
            ..offer
        }));
        if replaced.is_ok() {
            events.extend(self.opened());
            events.extend(self.advance_volunteers(weights));
        }
        events
    }

    /// Ends an offer whose time is over: volunteers move first; those who were named take the places that are left.
    pub fn end_offer_if_due(&mut self, weights: &dyn Weights) -> Vec<OfferEvent> {
        let now = self.now;
        if self.offer().is_none_or(|offer| now < offer.until) {
            return Vec::new();
        }
        let events = self.review_offer(weights);
        if !events.is_empty() {
            return events;
        }
        self.advance(weights, |_| true)
    }

    /// Ends the offer if volunteers make all moves.
    fn advance_volunteers(&mut self, weights: &dyn Weights) -> Vec<OfferEvent> {
        self.advance(weights, FilledOffer::is_complete)
    }

    /// Makes the moves of the offer, with its volunteers, if they are `ready`.
    fn advance(
        &mut self,
        weights: &dyn Weights,
        ready: impl Fn(&FilledOffer) -> bool,
    ) -> Vec<OfferEvent> {
        let Some(offer) = self.offer().cloned() else {
            return Vec::new();
        };
        let Ok(question) = self.rebalance_question(weights) else {
            return Vec::new();
        };
        let Some(asking) = question.asking(&offer.moves) else {
            return Vec::new();
        };
        let filled = asking.filled(&self.volunteers(&offer, &question));
        match ready(&filled) {
            true => self.make(&asking, &filled),
            false => Vec::new(),
        }
    }

    fn make(&mut self, asking: &OfferInGame<'_>, filled: &FilledOffer) -> Vec<OfferEvent> {
        let moves = self.as_sent(asking.moves(filled));
        // There is a game, so these cannot fail.
        let _ = self.change(Command::Advise {
            moves: moves.clone(),
        });
        let _ = self.change(Command::EndOffer);
        vec![OfferEvent::Moved {
            moves,
            volunteered: filled.is_complete(),
            why: asking.explain(filled),
        }]
    }

    /// The same moves, with the ids in the bytes that the game server sent.
    fn as_sent(&self, moves: Vec<Move>) -> Vec<Move> {
        let roster = self.game.as_ref().map(|game| &game.roster);
        let sent = |step: Move| Move {
            id: match roster.and_then(|roster| roster.find(&step.id)) {
                Some(human) => human.id.clone(),
                None => step.id,
            },
            ..step
        };
        moves.into_iter().map(sent).collect()
    }

    /// What becomes of a volunteer of the open offer, who does not move now.
    fn answer_of(&self, id: &Ident, weights: &dyn Weights) -> Result<SwitchAnswer, LobbyError> {
        let Some(offer) = self.offer() else {
            return Ok(SwitchAnswer::NoOffer);
        };
        let question = self.rebalance_question(weights)?;
        let humans = &question.view.humans;
        let who = humans.iter().position(|human| human.id == id.text());
        let who = who.ok_or(LobbyError::UnknownPlayer)?;
        let Some(asking) = question.asking(&offer.moves) else {
            return Ok(SwitchAnswer::LessEven);
        };
        let volunteers = self.volunteers(offer, &question);
        let filled = asking.filled(&volunteers);
        Ok(asking.answer(who, &volunteers, &filled))
    }

    /// The volunteers who are in the game, by index.
    fn volunteers(&self, offer: &Offer, question: &Rebalance) -> Vec<usize> {
        let humans = &question.view.humans;
        let index = |id: &Ident| humans.iter().position(|human| human.id == id.text());
        offer.volunteers.iter().filter_map(index).collect()
    }
}

/// How much of what the offered moves gain a volunteer may cost, at most.
const LESS: f64 = 0.25;

/// The moves of an offer in the game as it is now.
struct OfferInGame<'a> {
    humans: &'a [HumanInGame],
    planner: Planner,
    held: Vec<Option<MoveBlock>>,
    enough: f64,
    /// The moves that were offered.
    named: MovePlan,
}

/// The moves of an offer, some of them by volunteers.
struct FilledOffer {
    plan: MovePlan,
    /// For each step of the plan, whether those who move have volunteered.
    volunteered: Vec<bool>,
}

impl FilledOffer {
    /// Whether all who move have volunteered.
    fn is_complete(&self) -> bool {
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
    fn asking(&self, offered: &[Move]) -> Option<OfferInGame<'_>> {
        let held = self.held_anyway();
        let arrived_sums = self.arrived(&self.view.sums(), &[]).sums;
        // Friends on a team go alone if the offer takes some of them and not all.
        let units = self.units(&held, |human| self.is_torn_by(human, offered.iter()));
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
    fn stands(&self, best: &[Move]) -> bool {
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
    fn filled(&self, volunteers: &[usize]) -> FilledOffer {
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
    fn answer(&self, who: usize, volunteers: &[usize], filled: &FilledOffer) -> SwitchAnswer {
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
    fn moves(&self, filled: &FilledOffer) -> Vec<Move> {
        let people = self.planner.people(&filled.plan);
        let step = |(who, to): (usize, usize)| Move {
            id: Ident::from_text(&self.humans[who].id),
            from: self.humans[who].team,
            to: to as u8,
        };
        people.map(step).collect()
    }

    /// How even the teams become, and how even they would have become with the offered moves.
    fn explain(&self, filled: &FilledOffer) -> String {
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

#[cfg(test)]
mod tests;
