//! Tracks which players are on the server, and on which team.

use std::collections::BTreeMap;

use super::grammar::PlayerTag;
use crate::domain::{Kind, PlayerKey};
use crate::ingest::{builder::MatchBuilder, team::ClientTeam, text};

/// The most connections while one map is played. A real server has fewer.
const MAX_CLIENTS: usize = 10_000;
/// The time in milliseconds for which lines may still name the old team after a change of teams.
const LAG: u64 = 2_000;

/// The name recorded for a player without one.
const UNNAMED: &str = "unnamed";

/// One connection to the server.
#[derive(Debug)]
pub(super) struct Client {
    name: Vec<u8>,
    auth: Vec<u8>,
    team: Option<u8>,
    /// When the player joined the team, in milliseconds since the log began; `None` if that was before
    /// the log mentioned the player.
    since: Option<u64>,
    /// When the player last died, in milliseconds since the log began.
    died: Option<u64>,
    /// When the player last captured, in milliseconds since the log began.
    captured: Option<u64>,
    /// The visit of this player in the record of the game being read.
    pub(super) visit: Option<usize>,
}

impl Client {
    fn key(&self) -> PlayerKey {
        let kind = match &self.auth[..] {
            b"BOT" => Kind::Bot,
            _ => Kind::Human,
        };
        let id = match kind {
            Kind::Bot => self.name(),
            Kind::Human if is_identity(&self.auth) => text::name(&self.auth),
            Kind::Human => text::weak_identity(&self.name()),
        };
        PlayerKey { kind, id }
    }

    fn name(&self) -> String {
        text::name_or(&self.name, UNNAMED)
    }

    /// The team on which the player plays.
    pub(super) fn team(&self) -> Option<u8> {
        self.team
    }
}

/// Whether an authentication id identifies its player, as `STEAM_0:1:2345` and `[U:1:2345]` do, and
/// `STEAM_ID_PENDING`, `STEAM_ID_LAN` and `UNKNOWN` do not.
fn is_identity(auth: &[u8]) -> bool {
    match auth {
        [b'S', b'T', b'E', b'A', b'M', b'_', digit, ..] => digit.is_ascii_digit(),
        [b'[', b'U', b':', ..] => true,
        _ => false,
    }
}

/// Whether the id is not a player's, but the console's or a relay's for spectators.
fn is_nobody(auth: &[u8]) -> bool {
    [&b"Console"[..], b"HLTV", b"CONSOLE"].contains(&auth)
}

/// The parts of the game being read that a change of clients affects.
pub(super) struct GameContext<'a> {
    /// `None` once the game is over.
    pub(super) builder: Option<&'a mut MatchBuilder>,
    /// When play began, and the time now, in milliseconds since the log began.
    pub(super) began: Option<u64>,
    pub(super) now: u64,
}

impl GameContext<'_> {
    fn millis(&self) -> u64 {
        self.now.saturating_sub(self.began.unwrap_or(self.now))
    }

    fn rename(&mut self, client: &Client) {
        if let (Some(builder), Some(visit)) = (&mut self.builder, client.visit) {
            builder.rename(visit, client.key(), client.name());
        }
    }
}

/// All connections, by their number.
#[derive(Debug, Default)]
pub(super) struct ConnectedClients(BTreeMap<u32, Client>);

impl ConnectedClients {
    pub(super) fn get(&self, uid: u32) -> Option<&Client> {
        self.0.get(&uid)
    }

    /// Takes over the data of a player that a line states. `came` says whether the player arrives
    /// with this line. A player who is first mentioned by any other line has been there since the
    /// game began.
    pub(super) fn meet(&mut self, who: PlayerTag<'_>, came: bool, context: &mut GameContext<'_>) {
        if is_nobody(who.auth) {
            return;
        }
        let known = self.0.contains_key(&who.uid);
        if !known && self.0.len() >= MAX_CLIENTS {
            return;
        }
        let client = self.0.entry(who.uid).or_insert_with(|| Client {
            name: who.name.to_owned(),
            auth: who.auth.to_owned(),
            team: None,
            since: came.then_some(context.now),
            died: None,
            captured: None,
            visit: None,
        });
        if client.auth != who.auth || client.name != who.name {
            who.name.clone_into(&mut client.name);
            who.auth.clone_into(&mut client.auth);
            context.rename(client);
        }
        let stated = match who.team {
            ClientTeam::Team(team) => Some(team),
            ClientTeam::Spectator | ClientTeam::Free => None,
            ClientTeam::Unknown => return,
        };
        let settled = client.since.is_none_or(|since| context.now >= since + LAG);
        if stated != client.team && (settled || !known) {
            let since = if known {
                Some(context.now)
            } else {
                client.since
            };
            client.since = since;
            settle(client, stated, since, context);
        }
    }

    /// Handles a player's choice of a team.
    pub(super) fn join(&mut self, uid: u32, team: ClientTeam, context: &mut GameContext<'_>) {
        let team = match team {
            ClientTeam::Team(team) => Some(team),
            _ => None,
        };
        if let Some(client) = self.0.get_mut(&uid) {
            client.since = Some(context.now);
            settle(client, team, Some(context.now), context);
        }
    }

    pub(super) fn rename(&mut self, uid: u32, name: &[u8], context: &mut GameContext<'_>) {
        if let Some(client) = self.0.get_mut(&uid) {
            name.clone_into(&mut client.name);
            context.rename(client);
        }
    }

    pub(super) fn leave(&mut self, uid: u32, context: &mut GameContext<'_>) {
        if let Some(mut client) = self.0.remove(&uid) {
            settle(&mut client, None, Some(context.now), context);
        }
    }

    /// Notes a death, and returns whether it counts. Logs may contain a line twice, and their dates
    /// have whole seconds.
    pub(super) fn dies(&mut self, uid: u32, now: u64) -> bool {
        let client = self.0.get_mut(&uid);
        client.is_some_and(|client| client.died.replace(now) != Some(now))
    }

    /// Notes a capture, and returns whether it counts. Logs may contain a line twice.
    pub(super) fn captures(&mut self, uid: u32, now: u64) -> bool {
        let client = self.0.get_mut(&uid);
        client.is_some_and(|client| client.captured.replace(now) != Some(now))
    }

    /// Begins a game with the players who are there.
    pub(super) fn seat_all(&mut self, context: &mut GameContext<'_>) {
        for client in self.0.values_mut() {
            client.visit = None;
            settle(client, client.team, None, context);
        }
    }

    /// Forgets the visits of a game that is over; its clients stay connected.
    pub(super) fn forget_visits(&mut self) {
        for client in self.0.values_mut() {
            client.visit = None;
        }
    }
}

/// Moves a client to a team or to none: from now on, or from the game's beginning if `since` is `None`.
fn settle(
    client: &mut Client,
    team: Option<u8>,
    since: Option<u64>,
    context: &mut GameContext<'_>,
) {
    client.team = team;
    let now = context.millis();
    let (Some(builder), Some(_)) = (&mut context.builder, context.began) else {
        return;
    };
    let visit = match (client.visit, team) {
        (Some(visit), _) => visit,
        (None, Some(_)) => builder.enter(client.key(), client.name()),
        (None, None) => return,
    };
    client.visit = Some(visit);
    let at = builder.tick(now);
    builder.set_team(visit, team, at);
    if since.is_none() && team.is_some() {
        builder.set_start(visit, 0);
    }
}
