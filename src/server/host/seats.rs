//! The connection with the game of a match in play: who is in it, who is sought, and who is on the way.

use super::{HostClient, refusal};
use crate::{
    matchmaking::lifecycle::HostRefused,
    model::{Ident, MatchId},
    protocol::{HostSeat, Refusal, Request},
    queues::InstanceCommand,
    session::Session,
};

impl HostClient {
    /// BACKFILL: only the connection with the game of the match may send it.
    pub(super) async fn seek_players(
        &mut self,
        server: &str,
        (id, team, seats): (MatchId, u8, u32),
        session: &mut Session,
    ) -> Result<u32, Refusal> {
        session.resumed_game_number();
        self.follow(session).await;
        if self.found != Some(id) || self.game != session.game_number() {
            return Err(refusal(HostRefused::NotYours.into()));
        }
        self.report_roster(session).await;
        let seek = InstanceCommand::Seek {
            name: server.to_owned(),
            id,
            team,
            seats,
        };
        self.queues.seek_players(seek).await.map_err(refusal)
    }

    /// LEAVE of a player who is on the way to the match in play, and hence not in the game: the game server
    /// sends the player away. Returns whether the request was that.
    pub async fn sends_away(
        &mut self,
        request: &Request,
        session: &mut Session,
    ) -> Result<bool, Refusal> {
        let (Request::Leave { id: player, .. }, Some(server)) = (request, self.server.clone())
        else {
            return Ok(false);
        };
        if !self.queues.has_hosts() {
            return Ok(false);
        }
        session.resumed_game_number();
        self.follow(session).await;
        let same = self.game.is_some() && self.game == session.game_number();
        let player = player.text();
        let (Some(id), Some(players)) = (self.found.filter(|_| same), session.players()) else {
            return Ok(false);
        };
        if players.iter().any(|(id, _)| id == player) {
            return Ok(false);
        }
        let command = InstanceCommand::SendAway {
            name: server,
            id,
            player: player.to_owned(),
        };
        self.queues.send_away(command).await.map_err(refusal)
    }

    /// Reports the players of a match in play if they or their teams have changed.
    pub async fn report_roster(&mut self, session: &Session) {
        let same = self.game.is_some() && self.game == session.game_number();
        let Some(id) = self.found.filter(|_| same) else {
            return;
        };
        let (Some(server), Some(players)) = (&self.server, session.players()) else {
            return;
        };
        if self.roster.as_ref() == Some(&players) {
            return;
        }
        self.roster = Some(players.clone());
        let name = server.clone();
        let command = InstanceCommand::Roster { name, id, players };
        if let Err(error) = self.queues.host(command).await {
            self.roster = None;
            tracing::warn!(match_id = id, %error, "the players of a hosted match are not noted");
        }
    }

    /// Completes JOIN of a player who is on the way to the match in play: the player is on the team whose
    /// seat was free, unless the game server states another one.
    pub fn complete(&self, request: &mut Request) {
        let Request::Join(join) = request else {
            return;
        };
        if let Some(HostSeat { team, party, .. }) = self.expected.take(join.id.text()) {
            join.team = join.team.or(Some(team));
            if join.party.is_none() {
                join.party = party.as_deref().map(Ident::from_text);
            }
        }
    }
}
