//! Who plays, by the clients' names, identities and teams.

use super::Game;
use crate::ingest::{clock::LogClock, idtech3::clients::Client, team::ClientTeam};

impl Game {
    /// Takes over a client's present name, identity and team.
    pub(in crate::ingest::idtech3) fn update_client(&mut self, client: &mut Client, now: LogClock) {
        if self.is_over() {
            return;
        }
        if std::mem::take(&mut client.renamed) {
            self.rename(client, now);
        }
        let team = self.team_of(client);
        if team != client.seated {
            let visit = match client.visit {
                Some(visit) => visit,
                None => self.enter(client),
            };
            let at = self.recorder.tick(self.millis(now));
            self.recorder.set_team(visit, team, at);
            client.seated = team;
        }
        if !client.begun {
            // The next player on this client number is another one.
            client.visit = None;
        }
    }

    fn enter(&mut self, client: &mut Client) -> usize {
        let identity = client.identity();
        let visit = self.recorder.enter(identity.key.clone(), client.name());
        client.visit = Some(visit);
        client.known_as = Some(identity);
        visit
    }

    /// Handles a client's new name or id. A player who has a strong identity keeps it; a different
    /// strong identity means that another player has taken the client number.
    fn rename(&mut self, client: &mut Client, now: LogClock) {
        let (Some(visit), Some(old)) = (client.visit, client.known_as.take()) else {
            return;
        };
        let mut new = client.identity();
        if old.is_another_player(&new) {
            let at = self.recorder.tick(self.millis(now));
            self.recorder.set_team(visit, None, at);
            client.visit = None;
            client.seated = None;
            return;
        }
        if old.strong {
            new = old;
        }
        self.recorder.rename(visit, new.key.clone(), client.name());
        client.known_as = Some(new);
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
