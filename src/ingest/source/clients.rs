//! PlayerTag is on the server.

use std::collections::BTreeMap;

use super::super::{builder::MatchBuilder, text};
use super::grammar::{PlayerTag, Team};
use crate::domain::{Kind, PlayerKey};

/// More numbers than a server gives out while one level is played.
const MAX_CLIENTS: usize = 10_000;
/// For so long after somebody changed teams, lines may still show the old one.
const LAG: u64 = 2_000;

/// The name recorded for a player without one.
const UNNAMED: &str = "unnamed";

/// Somebody, by the number that a connection has.
#[derive(Debug)]
pub(super) struct Client {
    name: Vec<u8>,
    auth: Vec<u8>,
    team: Option<u8>,
    /// When they came to it, by the log's line of time; `None` when they were there before any line
    /// said so.
    since: Option<u64>,
    /// When they last died.
    died: Option<u64>,
    /// When they last captured.
    captured: Option<u64>,
    /// PlayerTag they are in the record of the game being told.
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

    /// The team they play on.
    pub(super) fn team(&self) -> Option<u8> {
        self.team
    }
}

/// `STEAM_0:1:2345` or `[U:1:2345]`; not `STEAM_ID_PENDING`, `STEAM_ID_LAN`, `UNKNOWN`.
fn is_identity(auth: &[u8]) -> bool {
    match auth {
        [b'S', b'T', b'E', b'A', b'M', b'_', digit, ..] => digit.is_ascii_digit(),
        [b'[', b'U', b':', ..] => true,
        _ => false,
    }
}

/// The server's own voices, and cameras.
fn is_nobody(auth: &[u8]) -> bool {
    [&b"Console"[..], b"HLTV", b"CONSOLE"].contains(&auth)
}

/// The game being told, as far as the clients fills it.
pub(super) struct GameContext<'a> {
    /// `None` once it is over.
    pub(super) builder: Option<&'a mut MatchBuilder>,
    /// When it began by the log's line of time, and the time now.
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

/// See the module.
#[derive(Debug, Default)]
pub(super) struct ConnectedClients(BTreeMap<u32, Client>);

impl ConnectedClients {
    pub(super) fn get(&self, uid: u32) -> Option<&Client> {
        self.0.get(&uid)
    }

    /// Notes who a line speaks of. `came` when they only come with it: otherwise who was not heard
    /// of before has been there all along.
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
        let told = match who.team {
            Team::Of(team) => Some(team),
            Team::None => None,
            Team::Untold => return,
        };
        let settled = client.since.is_none_or(|since| context.now >= since + LAG);
        if told != client.team && (settled || !known) {
            let since = if known {
                Some(context.now)
            } else {
                client.since
            };
            client.since = since;
            settle(client, told, since, context);
        }
    }

    /// Somebody chose a team.
    pub(super) fn join(&mut self, uid: u32, team: Team, context: &mut GameContext<'_>) {
        let team = match team {
            Team::Of(team) => Some(team),
            Team::None | Team::Untold => None,
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

    /// Whether this death is news: lines may be doubled, and nobody dies twice in a second.
    pub(super) fn dies(&mut self, uid: u32, now: u64) -> bool {
        let client = self.0.get_mut(&uid);
        client.is_some_and(|client| client.died.replace(now) != Some(now))
    }

    /// Whether this capture is news.
    pub(super) fn captures(&mut self, uid: u32, now: u64) -> bool {
        let client = self.0.get_mut(&uid);
        client.is_some_and(|client| client.captured.replace(now) != Some(now))
    }

    /// A game begins with everybody who is there.
    pub(super) fn seat_all(&mut self, context: &mut GameContext<'_>) {
        for client in self.0.values_mut() {
            client.visit = None;
            settle(client, client.team, None, context);
        }
    }

    /// The game whose visits the clients had is over; the clients are still there.
    pub(super) fn forget_visits(&mut self) {
        for client in self.0.values_mut() {
            client.visit = None;
        }
    }
}

/// Puts somebody on a team (or none), since then or since the game began.
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
