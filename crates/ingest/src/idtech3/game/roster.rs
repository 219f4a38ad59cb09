//! Who plays, by the clients' names, identities and teams.

use super::Game;
use crate::{
    clock::LogClock,
    idtech3::clients::{Client, ClientIdentity},
    team::ClientTeam,
};

/// The place of a client number in the record.
#[derive(Clone, Debug, Default)]
pub(super) struct Seat {
    /// The visit of the player on it.
    pub(super) visit: Option<usize>,
    /// The team that the visit is on.
    pub team: Option<u8>,
    /// The identity that the visit has.
    known_as: Option<ClientIdentity>,
    /// How often the client had been renamed when the visit got it.
    renamed: u32,
}

impl Game {
    /// Takes over a client's present name, identity and team.
    pub(in crate::idtech3) fn update_client(
        &mut self,
        number: usize,
        client: &Client,
        now: LogClock,
    ) {
        if self.is_over() {
            return;
        }
        if number >= self.seats.len() {
            self.seats.resize_with(number + 1, Seat::default);
        }
        let mut seat = std::mem::take(&mut self.seats[number]);
        if std::mem::replace(&mut seat.renamed, client.renamed) != client.renamed {
            self.rename(&mut seat, client, now);
        }
        let team = self.team_of(client);
        if team != seat.team {
            let visit = match seat.visit {
                Some(visit) => visit,
                None => self.enter(&mut seat, client),
            };
            self.move_visit(visit, team, now);
            seat.team = team;
        }
        if !client.begun {
            // The next player on this client number is another one.
            seat.visit = None;
        }
        self.seats[number] = seat;
    }

    /// A client has left, whose number another player may get.
    pub(in crate::idtech3) fn remove_client(&mut self, number: usize, now: LogClock) {
        self.kept.remove(&number);
        let seat = self.seats.get_mut(number).map(std::mem::take);
        let seat = seat.filter(|seat| seat.team.is_some() && !self.is_over());
        if let Some(visit) = seat.and_then(|seat| seat.visit) {
            self.move_visit(visit, None, now);
        }
    }

    pub(super) fn seat(&self, number: usize) -> Option<&Seat> {
        self.seats.get(number)
    }

    /// The visit of the player who is on this client number.
    pub(super) fn visit_of(&self, number: usize) -> Option<usize> {
        self.seat(number)?.visit
    }

    fn move_visit(&mut self, visit: usize, team: Option<u8>, now: LogClock) {
        let at = self.recorder.tick(self.millis(now));
        self.recorder.set_team(visit, team, at);
    }

    fn enter(&mut self, seat: &mut Seat, client: &Client) -> usize {
        let identity = client.identity();
        let visit = self.recorder.enter(identity.key.clone(), client.name());
        seat.visit = Some(visit);
        seat.known_as = Some(identity);
        visit
    }

    /// Handles a client's new name or id. A player who has a strong identity keeps it; a different
    /// strong identity means that another player has taken the client number.
    fn rename(&mut self, seat: &mut Seat, client: &Client, now: LogClock) {
        let (Some(visit), Some(old)) = (seat.visit, seat.known_as.take()) else {
            return;
        };
        let mut new = client.identity();
        if old.is_another_player(&new) {
            self.move_visit(visit, None, now);
            (seat.visit, seat.team) = (None, None);
            return;
        }
        if old.strong {
            new = old;
        }
        self.recorder.rename(visit, new.key.clone(), client.name());
        seat.known_as = Some(new);
    }

    /// The team for which a client plays; always 0 in a game without teams.
    fn team_of(&self, client: &Client) -> Option<u8> {
        match client.team {
            _ if !client.begun => None,
            ClientTeam::Team(team) if self.setup.teams => Some(team),
            ClientTeam::Team(_) | ClientTeam::Free if !self.setup.teams => Some(0),
            _ => None,
        }
    }
}
