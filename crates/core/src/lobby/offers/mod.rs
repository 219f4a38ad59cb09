//! Offers: players are asked for volunteers before REBALANCE moves one of them.
//!
//! An offer holds the moves that REBALANCE has advised. Until its time is over, other humans of the same team can
//! volunteer, as far as the teams become as even with them (`rebalance/volunteers.rs`). It ends in one of three ways:
//! volunteers move, those who were named do (or some of both), or it is withdrawn and nobody moves. Whenever the teams
//! change, it is checked again.

mod offer;
mod settle;

use super::{Command, Lobby, LobbyError, Weights};
use crate::domain::{Ident, MAX_PLAYERS, Move, SwitchAnswer, Withdrawal};

pub use offer::{Offer, OfferEvent};

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

#[cfg(test)]
mod tests;
