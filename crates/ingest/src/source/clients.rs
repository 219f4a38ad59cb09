//! Tracks which players are on the server, and on which team.

use std::collections::BTreeMap;

use evenkeel_model::{Kind, Nobody, PlayerKey, RoleName, steam};

use super::grammar::{PlayerAction, PlayerTag};
use crate::{
    event::{ClientTeam, GameEvent},
    text,
};

/// The most players who are known at a time. A real server has fewer.
const MAX_CLIENTS: usize = 1_000;
/// The time in milliseconds for which lines may still name the old team after a change of teams.
const LAG: u64 = 2_000;
/// A server drops a connection after a silence of about this long, in milliseconds.
const SILENCE: u64 = 65_000;

/// What tells a player from others: the Steam id; without one the number of the connection; of a bot
/// the name, because lines of one server may number bots in different ways.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ClientId {
    Steam(String),
    /// The other one of two connections that have a Steam id at the same time, with its number.
    Twin(String, u32),
    Connection(Option<u32>, Vec<u8>),
    Bot(Vec<u8>),
}

impl ClientId {
    fn of(who: &PlayerTag<'_>) -> Self {
        match who.auth {
            b"BOT" => Self::Bot(who.name.to_owned()),
            auth if is_identity(auth) => Self::Steam(steam::canonical(&text::name(auth))),
            // Without a number, only the name is left.
            _ if who.uid.is_none() => Self::Connection(None, who.name.to_owned()),
            _ => Self::Connection(who.uid, Vec::new()),
        }
    }
}

/// The players on the server.
#[derive(Debug, Default)]
pub struct ConnectedClients {
    clients: BTreeMap<ClientId, SourceClient>,
    /// Who has left last.
    gone: Option<(ClientId, SourceClient)>,
    /// How many there have been.
    slots: usize,
}

/// A line about players: when it was written, in milliseconds since the log began, and what it means.
pub(super) struct NotedLine<'a> {
    pub(super) now: u64,
    /// Whether the next round of the game is yet to begin.
    pub(super) between_rounds: bool,
    pub(super) events: &'a mut Vec<GameEvent>,
}

impl NotedLine<'_> {
    /// Moves a client to a team or to none since this time.
    fn reconcile(&mut self, client: &mut SourceClient, team: Option<u8>, since: Option<u64>) {
        client.team = team;
        (client.entered, client.played) = (false, None);
        let client = client.slot;
        self.events.push(GameEvent::Placed { client, since });
    }

    fn changed(&mut self, client: &SourceClient) {
        self.events.push(GameEvent::Client(client.slot));
    }
}

impl ConnectedClients {
    /// The id under which a player is known, or would become known. `arrives` says whether a connection
    /// begins with the line.
    fn id(&self, who: &PlayerTag<'_>, arrives: bool) -> ClientId {
        let id = ClientId::of(who);
        let known = self.clients.get(&id);
        match (&id, known) {
            (ClientId::Steam(account), Some(client)) if client.is_twin_of(who) && !arrives => {
                return ClientId::Twin(account.clone(), who.uid.unwrap_or_default());
            }
            (ClientId::Bot(_) | ClientId::Connection(None, _), _)
            | (ClientId::Steam(_), Some(_)) => return id,
            (_, Some(client)) if client.name == who.name => return id,
            _ => {}
        }
        // One line may lack the Steam id, or have a part of it.
        let same_number = |client: &SourceClient| client.uid.is_some() && client.uid == who.uid;
        if let Some(same) = self.named(who, |_, client| same_number(client)) {
            return same;
        }
        // A plugin may write another number. Then the one of this name is meant.
        let is_meant = |id: &ClientId, _: &SourceClient| match id {
            ClientId::Connection(..) => true,
            ClientId::Steam(_) => !arrives,
            ClientId::Bot(_) | ClientId::Twin(..) => false,
        };
        match id {
            ClientId::Connection(..) => self.named(who, is_meant).unwrap_or(id),
            id => id,
        }
    }

    /// A human of the same name who meets a condition.
    fn named(
        &self,
        who: &PlayerTag<'_>,
        is_meant: impl Fn(&ClientId, &SourceClient) -> bool,
    ) -> Option<ClientId> {
        let mut all = self.clients.iter();
        let found = all.find(|(id, client)| {
            !matches!(id, ClientId::Bot(_)) && client.name == who.name && is_meant(id, client)
        });
        found.map(|(id, _)| id.clone())
    }

    /// All players on the server.
    pub fn iter(&self) -> impl Iterator<Item = &SourceClient> {
        self.clients.values()
    }

    /// Whether anybody on the server has an opponent.
    pub(super) fn are_opposed(&self) -> bool {
        ClientTeam::are_opposed(
            self.iter()
                .filter_map(|client| client.team.map(ClientTeam::Team)),
        )
    }

    /// The client with this number, if they are on the server, or have just left it.
    pub fn at(&self, slot: usize) -> Option<&SourceClient> {
        let mut all = self.iter().chain(self.gone.iter().map(|(_, gone)| gone));
        all.find(|client| client.slot == slot)
    }

    pub(super) fn get(&self, who: &PlayerTag<'_>) -> Option<&SourceClient> {
        self.clients.get(&self.id(who, false))
    }

    fn get_mut(&mut self, who: &PlayerTag<'_>) -> Option<&mut SourceClient> {
        let id = self.id(who, false);
        self.clients.get_mut(&id)
    }

    /// The id of the player of whom a line states this one. Who had no Steam id when the connection began
    /// gets it: if somebody has it already, the end of that connection is not in the log. Of two Steam ids on one
    /// connection, that counts which most lines state.
    fn reconcile_id(
        &mut self,
        known: ClientId,
        who: &PlayerTag<'_>,
        line: &mut NotedLine<'_>,
    ) -> ClientId {
        let stated = ClientId::of(who);
        let nameless = ClientId::Connection(who.uid, Vec::new());
        let had_none = |client: &SourceClient| who.uid.is_some() && client.name == who.name;
        let known = match self.clients.get(&nameless).is_some_and(had_none) {
            true => nameless,
            false => known,
        };
        let Some(client) = self.clients.get_mut(&known) else {
            return known;
        };
        match (&known, &stated) {
            _ if known == stated => {
                client.stated = client.stated.saturating_add(1);
                return known;
            }
            (ClientId::Connection(..), ClientId::Steam(_)) => {}
            (ClientId::Steam(_), ClientId::Steam(_)) => {
                client.stated -= 1;
                if client.stated >= 0 || self.clients.contains_key(&stated) {
                    return known;
                }
            }
            _ => return known,
        }
        if let Some(before) = self.clients.get(&stated) {
            line.events.push(GameEvent::Left(before.slot));
        }
        if let Some(mut client) = self.clients.remove(&known) {
            client.stated = 1;
            who.auth.clone_into(&mut client.auth);
            line.changed(&client);
            self.clients.insert(stated.clone(), client);
        }
        stated
    }

    /// A connection begins: whoever had its number has it no more.
    fn free_number(&mut self, who: &PlayerTag<'_>) {
        let own = ClientId::of(who);
        let others = self.clients.iter_mut().filter(|(id, _)| **id != own);
        for (_, client) in others.filter(|(_, client)| client.uid == who.uid) {
            client.uid = None;
        }
    }

    fn has_just_left(&self, who: &PlayerTag<'_>, now: u64) -> bool {
        let gone = self.gone.as_ref();
        gone.is_some_and(|(id, client)| now < client.seen + LAG && *id == ClientId::of(who))
    }

    /// Takes over the data of players and their teams that a line states.
    pub(super) fn note(
        &mut self,
        who: PlayerTag<'_>,
        act: PlayerAction<'_>,
        line: &mut NotedLine<'_>,
    ) {
        let is_nothing = matches!(act, PlayerAction::Other | PlayerAction::Misnumbered);
        if is_nothing && self.has_just_left(&who, line.now) {
            return; // what they have dropped
        }
        let arrives = matches!(act, PlayerAction::Connect | PlayerAction::Enter);
        let came = arrives || matches!(act, PlayerAction::Join(_));
        let team = if came { ClientTeam::Unknown } else { who.team };
        if act == PlayerAction::Connect {
            self.free_number(&who);
        }
        // That somebody without an id has done nothing does not make a player of them.
        if !is_nothing || !is_passing(who.auth) || self.get(&who).is_some() {
            let connects = act == PlayerAction::Connect;
            let id = match connects && is_passing(who.auth) {
                true => ClientId::of(&who), // may be another one of this name
                false => self.id(&who, arrives && !is_passing(who.auth)),
            };
            let known = self.clients.get(&id);
            let former = known.and_then(|client| client.other_connection(&who));
            self.meet(PlayerTag { team, ..who }, id.clone(), came, line);
            if let Some(client) = self.clients.get_mut(&id).filter(|_| connects) {
                client.former = former;
            }
        }
        match act {
            PlayerAction::Leave => self.leave(who, line),
            PlayerAction::Connect => self.connect(who, true, line),
            PlayerAction::Enter => {
                self.connect(who, false, line);
                self.enter(who, line);
            }
            PlayerAction::Join(team) => self.join(who, team, line),
            PlayerAction::Rename(name) => self.rename(who, name, line),
            PlayerAction::Class(class) => self.choose(who, class, line),
            PlayerAction::Kill { victim, .. } => {
                let id = self.id(&victim, false);
                self.meet(victim, id, false, line);
            }
            _ => {}
        }
    }

    /// Takes over the data that a line states of a player, who is or becomes known under this id. `came` says
    /// whether the player arrives with this line. A player who is first mentioned by any other line has been there since the
    /// game began.
    fn meet(&mut self, who: PlayerTag<'_>, id: ClientId, came: bool, line: &mut NotedLine<'_>) {
        if is_nobody(who.auth) {
            return;
        }
        let id = self.reconcile_id(id, &who, line);
        let known = self.clients.contains_key(&id);
        if !known && self.clients.len() >= MAX_CLIENTS {
            return;
        }
        let twin = match &id {
            ClientId::Twin(account, _) => self.clients.get_mut(&ClientId::Steam(account.clone())),
            _ => None,
        };
        let is_twin = twin.is_some();
        if let Some(twin) = twin.filter(|twin| !twin.shares) {
            // Nobody can say whose the account is.
            twin.shares = true;
            line.changed(twin);
        }
        let came = came || is_twin && !known;
        if !known {
            line.events.push(GameEvent::Client(self.slots));
            self.slots += 1;
        }
        let slot = self.slots - 1;
        let client = self.clients.entry(id).or_insert_with(|| SourceClient {
            slot,
            name: who.name.to_owned(),
            auth: who.auth.to_owned(),
            uid: who.uid,
            stated: 1,
            former: None,
            shares: is_twin,
            team: None,
            since: (came || is_passing(who.auth)).then_some(line.now),
            entered: came,
            played: None,
            seen: line.now,
            died: None,
            captured: None,
            class: None,
        });
        if !came {
            client.seen = line.now;
        }
        if client.name != who.name {
            who.name.clone_into(&mut client.name);
            line.changed(client);
        }
        let stated = match who.team {
            ClientTeam::Team(team) => Some(team),
            ClientTeam::Spectator | ClientTeam::Free => None,
            ClientTeam::Unknown => return,
        };
        if stated.is_none() {
            client.played = None; // up to now
        }
        let settled = client.since.is_none_or(|since| line.now >= since + LAG);
        if stated != client.team && (settled || !known) {
            let since = match known {
                // Who has come back may have played without a line that says so.
                true => client.played.or(Some(line.now)),
                false => client.since,
            };
            client.since = since;
            line.reconcile(client, stated, since);
        }
    }

    /// Handles the beginning of a connection. If the player is there already, the end of the old
    /// connection is not in the log, and the player is on no team any more.
    fn connect(&mut self, who: PlayerTag<'_>, is_new: bool, line: &mut NotedLine<'_>) {
        if let Some(client) = self.get_mut(&who)
            && (is_new || client.uid != who.uid)
        {
            let now = line.now;
            // After a long silence, the player was gone long before.
            let is_silent = now.saturating_sub(client.seen) > SILENCE;
            let gone = if is_silent { client.seen } else { now };
            line.reconcile(client, None, Some(gone));
            client.entered = true;
            client.uid = who.uid;
            (client.since, client.seen) = (Some(now), now);
        }
    }

    /// Handles somebody who enters the game, and who may play from now on without a further line.
    fn enter(&mut self, who: PlayerTag<'_>, line: &NotedLine<'_>) {
        let played = line.between_rounds.then_some(line.now);
        if let Some(client) = self.get_mut(&who)
            && client.entered
        {
            client.played = played;
        }
    }

    /// Handles a player's choice of a team.
    fn join(&mut self, who: PlayerTag<'_>, team: ClientTeam, line: &mut NotedLine<'_>) {
        let team = match team {
            ClientTeam::Team(team) => Some(team),
            _ => None,
        };
        if let Some(client) = self.get_mut(&who) {
            client.since = Some(line.now);
            line.reconcile(client, team, Some(line.now));
        }
    }

    /// Handles a class that a player chooses or comes with.
    fn choose(&mut self, who: PlayerTag<'_>, class: Option<&[u8]>, line: &mut NotedLine<'_>) {
        let class = class.and_then(|class| RoleName::read(&text::name(class)));
        if let Some(client) = self.get_mut(&who)
            && client.class != class
        {
            client.class = class;
            line.changed(client);
        }
    }

    fn rename(&mut self, who: PlayerTag<'_>, name: &[u8], line: &mut NotedLine<'_>) {
        let old = self.id(&who, false);
        let Some(mut client) = self.clients.remove(&old) else {
            return;
        };
        name.clone_into(&mut client.name);
        line.changed(&client);
        let id = match old {
            ClientId::Bot(_) => ClientId::Bot(name.to_owned()),
            ClientId::Connection(None, _) => ClientId::Connection(None, name.to_owned()),
            same => same,
        };
        self.clients.insert(id, client);
    }

    fn leave(&mut self, who: PlayerTag<'_>, line: &mut NotedLine<'_>) {
        let id = self.id(&who, false);
        if let Some(client) = self.clients.remove(&id) {
            line.events.push(GameEvent::Left(client.slot));
            self.gone = Some((id, client));
        }
    }

    /// Notes a death, and returns whether it counts. Logs may contain a line twice, and their dates
    /// have whole seconds.
    pub(super) fn dies(&mut self, who: &PlayerTag<'_>, now: u64) -> bool {
        let died = self.get_mut(who).map(|client| &mut client.died);
        died.is_some_and(|died| died.replace(now) != Some(now))
    }

    /// Notes a capture, and returns whether it counts.
    pub(super) fn captures(&mut self, who: &PlayerTag<'_>, now: u64) -> bool {
        let captured = self.get_mut(who).map(|client| &mut client.captured);
        captured.is_some_and(|captured| captured.replace(now) != Some(now))
    }

    /// A game begins with the players who are there, on the teams on which they are.
    pub(super) fn reconcile_all(&mut self) {
        for client in self.clients.values_mut() {
            (client.entered, client.played) = (false, None);
        }
    }

    /// A round begins now, from which those play who have come back within the last one.
    pub(super) fn round_started(&mut self, now: u64) {
        for client in self.clients.values_mut().filter(|client| client.entered) {
            client.played.get_or_insert(now);
        }
    }
}

/// The name recorded for a player without one.
const UNNAMED: &str = "unnamed";

/// One connection to the server.
#[derive(Debug)]
pub struct SourceClient {
    /// The number of the client in events, which is no other client's.
    pub(crate) slot: usize,
    /// The name as the log has it.
    pub name: Vec<u8>,
    pub(super) auth: Vec<u8>,
    /// The number of the connection, as the line that began it states.
    pub(super) uid: Option<u32>,
    /// How many lines have stated the Steam id, minus those that stated another one on the connection.
    pub(super) stated: i64,
    /// Another connection that has had the Steam id, without a line for its end: its number and its name.
    pub(super) former: Option<(u32, Vec<u8>)>,
    /// Whether another connection has the same Steam id at the same time.
    pub(super) shares: bool,
    /// The team; `None` if no line has stated one, or the player watches.
    pub team: Option<u8>,
    /// When the player joined the team, in milliseconds since the log began; `None` if that was before
    /// the log mentioned the player.
    pub(super) since: Option<u64>,
    /// Whether the player has come into the game, and no line has stated a team since.
    pub(super) entered: bool,
    /// Since when the player may have played without a line that says so: since they entered, or if that was within a
    /// round, since the next one began. In milliseconds since the log began.
    pub(super) played: Option<u64>,
    /// When a line last named the player, in milliseconds since the log began.
    pub(super) seen: u64,
    /// When the player last died, in milliseconds since the log began.
    pub(super) died: Option<u64>,
    /// When the player last captured, in milliseconds since the log began.
    pub(super) captured: Option<u64>,
    /// The class that the player last chose or came with.
    pub(super) class: Option<RoleName>,
}

impl SourceClient {
    /// The identity, as a record has it.
    pub fn key(&self) -> PlayerKey {
        let kind = match &self.auth[..] {
            b"BOT" => Kind::Bot,
            _ => Kind::Human,
        };
        let id = match kind {
            Kind::Bot => self.name(),
            Kind::Human if is_identity(&self.auth) => text::name(&self.auth),
            Kind::Human => text::weak_identity(&self.name()),
        };
        let key = PlayerKey { kind, id };
        match self.uid.filter(|_| self.shares) {
            Some(number) => key.split(Nobody::Twice, number as usize),
            None => key,
        }
    }

    /// The connection that has the Steam id so far, if a line states another number and another name for it.
    fn other_connection(&self, who: &PlayerTag<'_>) -> Option<(u32, Vec<u8>)> {
        let number = self
            .uid
            .filter(|uid| who.uid.is_some_and(|other| other != *uid))?;
        (self.name != who.name).then(|| (number, self.name.clone()))
    }

    /// Whether a line is of the other connection that has the same Steam id.
    fn is_twin_of(&self, who: &PlayerTag<'_>) -> bool {
        let former = self.former.as_ref();
        former.is_some_and(|(number, name)| Some(*number) == who.uid && *name == who.name)
    }

    /// The name as the log has it.
    pub fn name(&self) -> String {
        text::name_or(&self.name, UNNAMED)
    }

    /// The number of the connection, by which commands name the player.
    pub fn number(&self) -> Option<u32> {
        self.uid
    }

    /// The class with which the player plays.
    pub fn role(&self) -> Option<RoleName> {
        self.class.clone()
    }

    /// The team on which the player plays.
    pub fn team(&self) -> Option<u8> {
        self.team
    }
}

/// Whether an authentication id identifies its player, as `STEAM_0:1:2345` and `[U:1:2345]` do, and
/// `STEAM_ID_PENDING`, `STEAM_ID_LAN`, `UNKNOWN` and a part of an id do not.
pub(super) fn is_identity(auth: &[u8]) -> bool {
    std::str::from_utf8(auth).is_ok_and(|auth| steam::account(auth).is_some())
}

/// Whether the id is that of a player whose own one the server does not have yet, or has no more.
pub(super) fn is_passing(auth: &[u8]) -> bool {
    [&b"STEAM_ID_PENDING"[..], b"<none>"].contains(&auth)
}

/// Whether the id is not a player's, but the console's or a relay's for spectators.
pub(super) fn is_nobody(auth: &[u8]) -> bool {
    [&b"Console"[..], b"HLTV", b"CONSOLE"].contains(&auth)
}
