//! Decides how an offer goes on: the game has changed, somebody has volunteered, or the time is over.

use super::{Offer, OfferEvent};
use crate::{
    domain::{Ident, MOVE_NOTICE, Move, SwitchAnswer, Withdrawal},
    lobby::{
        Command, Lobby, LobbyError, Question, Rebalance, Weights,
        rebalance::{Asking, Filled},
    },
};

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
            events.extend(self.settle_volunteers(weights));
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
        self.settle(weights, |_| true)
    }

    /// Ends the offer if volunteers make all moves.
    fn settle_volunteers(&mut self, weights: &dyn Weights) -> Vec<OfferEvent> {
        self.settle(weights, Filled::is_complete)
    }

    /// Makes the moves of the offer, with its volunteers, if they are `ready`.
    fn settle(
        &mut self,
        weights: &dyn Weights,
        ready: impl Fn(&Filled) -> bool,
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

    fn make(&mut self, asking: &Asking<'_>, filled: &Filled) -> Vec<OfferEvent> {
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
    pub(super) fn answer_of(
        &self,
        id: &Ident,
        weights: &dyn Weights,
    ) -> Result<SwitchAnswer, LobbyError> {
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
