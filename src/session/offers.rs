//! The offers of a session: REBALANCE asks players before one is moved, if the game server has said that it asks.

use std::time::Duration;

use super::{Rebalanced, Session, SessionError, decide::reasons};
use crate::{
    lobby::OfferEvent,
    model::{Ident, Move, Streak, SwitchAnswer, Withdrawal},
};

/// How long an offer waits, at least, when weights are being derived that its end needs, in milliseconds.
const RETRY: u64 = 1_000;

/// What a session knows about its offers besides those of its game.
#[derive(Debug, Default)]
pub(super) struct SessionOffers {
    /// Whether this connection asks its players.
    asks: bool,
    /// The moves of the open offer, as this connection has been told.
    told: Option<Vec<Move>>,
    /// What has happened, and the connection has not been told.
    events: Vec<OfferEvent>,
    /// Whether this connection wants to know of streaks.
    streaks: bool,
    /// A streak that the connection has not been told of.
    streak: Option<Streak>,
    /// The millisecond of the session before which an offer that is due is not tried again.
    retry: u64,
}

impl Session {
    /// Notes whether this game server asks its players, if HELLO states it.
    pub fn declare_offers(&mut self, asks: Option<bool>) {
        self.offers.asks = asks.unwrap_or(self.offers.asks);
    }

    /// Notes whether this game server wants to know of streaks, if HELLO states it.
    pub fn declare_streaks(&mut self, wants: Option<bool>) {
        self.offers.streaks = wants.unwrap_or(self.offers.streaks);
    }

    /// Looks whether there is a streak, after a score or the end of a game.
    pub(super) fn look_for_streak(&mut self) {
        if !self.offers.streaks || !self.state.rules.settings.lobby.streak {
            return;
        }
        if self.state.lobby.may_be_streak()
            && let Ok(weights) = self.weights()
        {
            self.offers.streak = self.lobby().take_streak(&weights);
        }
    }

    /// The streak of which the connection has not been told.
    pub fn take_streak(&mut self) -> Option<Streak> {
        self.offers.streak.take()
    }

    /// Like [`rebalance`](Self::rebalance). But where the game server asks its players, those who are on a team get an
    /// offer, and only the moves of the others are returned.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn ask_and_rebalance(&mut self, seed: Option<u64>) -> Result<Rebalanced, SessionError> {
        let wait = self.state.rules.settings.lobby.rebalance.ask_seconds.get();
        let mut advice = self.rebalance(seed)?;
        if !self.offers.asks || wait == 0 {
            return Ok(advice);
        }
        let weights = self.weights()?;
        let (moves, placed) = advice
            .steps
            .into_iter()
            .partition(|step| step.from.is_some());
        let events = self.lobby().ask(moves, advice.seed, &weights)?;
        self.note_offer(events);
        advice.steps = placed;
        Ok(advice)
    }

    /// A human volunteers for the open offer. Returns what becomes of them.
    ///
    /// # Errors
    /// Fails if there is no game, or if no human has that id.
    pub fn volunteer(&mut self, id: &Ident) -> Result<SwitchAnswer, SessionError> {
        let weights = self.weights()?;
        let (answer, events) = self.lobby().volunteer(id, &weights)?;
        if events.is_empty() {
            let why = format!("{} volunteers: {answer}", id.text());
            self.state.give_reasons(reasons(&why));
        }
        self.note_offer(events);
        Ok(answer)
    }

    /// Ends an offer whose time is over.
    pub fn pass_time(&mut self) {
        if self.due() != Some(Duration::ZERO) {
            return;
        }
        self.offers.retry = self
            .state
            .millis(&*self.sessions.clock)
            .saturating_add(RETRY);
        if let Ok(weights) = self.weights() {
            let events = self.lobby().end_offer_if_due(&weights);
            self.note_offer(events);
        }
    }

    /// In how long [`pass_time`](Self::pass_time) has something to do; `None` without an open offer.
    pub fn due(&self) -> Option<Duration> {
        let offer = self.state.lobby.offer().filter(|_| self.offers.asks)?;
        let now = self.state.millis(&*self.sessions.clock);
        let at = offer.until.max(self.offers.retry);
        Some(Duration::from_millis(at.saturating_sub(now)))
    }

    /// What has happened to offers since the last call, for the connection to send.
    pub fn take_offer_events(&mut self) -> Vec<OfferEvent> {
        if self.state.lobby.offer().is_some() {
            let now = self.state.millis(&*self.sessions.clock);
            self.state.lobby.at(now);
        }
        match (self.offers.told.take(), self.state.lobby.opened()) {
            (told, Some(_)) if !self.offers.asks => {
                let events = self.state.lobby.withdraw_offer();
                if told.is_some() {
                    self.note_offer(events);
                }
            }
            // The game was resumed.
            (None, Some(open)) => self.note_offer(vec![open]),
            // BALANCE, END or GAME has ended it.
            (Some(told), None) => {
                self.note_offer(vec![OfferEvent::Withdrawn(told, Withdrawal::Over)]);
            }
            (told, _) => self.offers.told = told,
        }
        std::mem::take(&mut self.offers.events)
    }

    /// Notes what has happened to the offer, for the connection and for EXPLAIN.
    pub(super) fn note_offer(&mut self, events: Vec<OfferEvent>) {
        for event in events {
            let open = match &event {
                OfferEvent::Open(moves, _) => Some(moves.clone()),
                OfferEvent::Withdrawn(..) | OfferEvent::Moved { .. } => None,
            };
            if open.is_none() {
                self.offers.retry = 0;
                self.state.give_reasons(reasons(&event));
            }
            self.offers.told = open;
            self.offers.events.push(event);
        }
    }
}
