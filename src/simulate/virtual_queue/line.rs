//! The tickets that wait, side by side with what the simulation knows of them.

use std::collections::HashMap;

use crate::matchmaking::Ticket;

/// A ticket of the simulation.
#[derive(Clone, Debug)]
pub(super) struct WaitingParty {
    pub party: usize,
    /// How many tickets the party has submitted, this one included.
    pub visit: u32,
    /// When it was submitted, in milliseconds.
    pub since: u64,
    /// When its players give up, in milliseconds.
    pub until: u64,
    /// Whether they give up because the ticket expires.
    pub expires: bool,
    /// The categories that it belongs to.
    pub labels: Vec<u16>,
}

/// The tickets that wait.
#[derive(Debug, Default)]
pub(super) struct WaitingLine {
    tickets: Vec<Ticket>,
    waiting: Vec<WaitingParty>,
    places: HashMap<usize, usize>,
}

impl WaitingLine {
    /// Adds a ticket.
    pub fn add(&mut self, ticket: Ticket, waiting: WaitingParty) {
        self.places.insert(waiting.party, self.tickets.len());
        self.tickets.push(ticket);
        self.waiting.push(waiting);
    }

    /// Removes a party's ticket, if it waits.
    pub fn remove(&mut self, party: usize) -> Option<(Ticket, WaitingParty)> {
        let place = self.places.remove(&party)?;
        let removed = (
            self.tickets.swap_remove(place),
            self.waiting.swap_remove(place),
        );
        if let Some(moved) = self.waiting.get(place) {
            self.places.insert(moved.party, place);
        }
        Some(removed)
    }

    /// A party's ticket, if it waits.
    pub fn get(&self, party: usize) -> Option<&WaitingParty> {
        self.waiting.get(*self.places.get(&party)?)
    }

    /// The ticket at a place of [`tickets`](Self::tickets).
    pub fn at(&self, place: usize) -> Option<&WaitingParty> {
        self.waiting.get(place)
    }

    /// The tickets with their waits until `now`, in milliseconds.
    pub fn refresh(&mut self, now: u64) {
        for (ticket, waiting) in self.tickets.iter_mut().zip(&self.waiting) {
            ticket.waited = (now - waiting.since.min(now)) as f64 / 1_000.0;
        }
    }

    /// The tickets, as of the last [`refresh`](Self::refresh).
    pub fn tickets(&self) -> &[Ticket] {
        &self.tickets
    }
}
