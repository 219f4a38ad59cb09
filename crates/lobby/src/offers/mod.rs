//! Offers: players are asked for volunteers before REBALANCE moves one of them.
//!
//! An offer holds the moves that REBALANCE has advised. Until its time is over, other humans of the same team can
//! volunteer, as far as the teams become as even with them (`rebalance/volunteers.rs`). It ends in one of three ways:
//! volunteers move, those who were named do (or some of both), or it is withdrawn and nobody moves. Whenever the teams
//! change, it is checked again.

use super::{
    Command, Lobby, LobbyError, Question, Rebalance, Weights,
    rebalance::{FilledOffer, OfferInGame},
};
use evenkeel_model::{Ident, MAX_PLAYERS, MOVE_NOTICE, Move, SwitchAnswer, Withdrawal};

pub use crate::command::{Offer, OfferEvent};

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
    pub(super) fn note_volunteer(&mut self, id: &Ident) -> Result<(), LobbyError> {
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

#[cfg(test)]
mod tests;
