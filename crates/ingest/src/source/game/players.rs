//! Who plays, and what players do.

use std::collections::BTreeSet;

use super::Game;
use crate::{
    clock::Calendar,
    event::GameEvent,
    record,
    source::{client::Client, server::LoggedServer},
};

impl Game {
    /// Takes what happens to players. Once the game is over, the next one begins with those who are there.
    pub(super) fn take_player(&mut self, event: GameEvent, log: &LoggedServer, now: Calendar) {
        if self.began.is_none() || self.is_over() {
            return;
        }
        let at = self.millis(now);
        match event {
            GameEvent::Client(slot) => {
                if let (Some(visit), Some(client)) = (self.visit(slot), log.clients.at(slot)) {
                    self.recorder.rename(visit, client.key(), client.name());
                    let role = self.recorder.player(visit).role.as_ref();
                    if role.map(|(role, _)| role) != client.role().as_ref() {
                        self.recorder.set_role(visit, client.role(), at);
                    }
                }
            }
            GameEvent::Placed { client, since } => {
                if let Some(client) = log.clients.at(client) {
                    self.place(client, since, now);
                }
            }
            GameEvent::Left(slot) => {
                if let Some(visit) = self.visits.remove(&slot) {
                    self.recorder.set_role(visit, None, at);
                    let at = self.recorder.tick(at);
                    self.recorder.set_team(visit, None, at);
                }
            }
            other => {
                let visits = &self.visits;
                record::take(&mut self.recorder, other, at, |slot| {
                    visits.get(&slot).copied()
                });
            }
        }
    }

    fn visit(&self, slot: usize) -> Option<usize> {
        self.visits.get(&slot).copied()
    }

    /// Takes the team of a client since a time in milliseconds since the log began, or since the game began.
    fn place(&mut self, client: &Client, since: Option<u64>, now: Calendar) {
        let (before, team) = (self.visit(client.slot), client.team());
        let (at, began) = (self.millis(now), self.began.map_or(0, |(began, _)| began));
        let early = since.is_none_or(|since| since < now.position());
        let from = since.map_or(0, |since| since.saturating_sub(began));
        if let (Some(visit), None, true) = (before, team, early) {
            self.recorder.set_team(visit, None, from);
        }
        let player = || (client.key(), client.name());
        let Some(visit) = self.recorder.place(before, team, at, player) else {
            return;
        };
        self.visits.insert(client.slot, visit);
        if before.is_none() && client.role().is_some() {
            self.recorder.set_role(visit, client.role(), at);
        }
        if let Some((_, since)) = &mut self.recorder.player(visit).current
            && early
        {
            *since = from;
        }
    }

    /// Begins with the clients who are there.
    pub(super) fn seat_all(&mut self, log: &LoggedServer, now: Calendar) {
        let mut all: Vec<&Client> = log.clients.iter().collect();
        all.sort_by_key(|client| client.number());
        for client in all {
            self.place(client, None, now);
        }
    }

    /// Goes on with a record in which timelines are missing, or end elsewhere than the clients are now.
    pub(super) fn reseat(&mut self, log: &LoggedServer, now: Calendar) {
        let known = self.recorder.players().len();
        self.visits.retain(|_, visit| *visit < known);
        let seated: BTreeSet<usize> = self.visits.values().copied().collect();
        for visit in (0..known).filter(|visit| !seated.contains(visit)) {
            let at = self.recorder.tick(self.millis(now));
            self.recorder.set_team(visit, None, at);
        }
        for client in log.clients.iter() {
            self.place(client, Some(now.position()), now);
        }
    }
}
