//! Tracks which players are on the server, and on which team.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    client::{Client, GameContext, is_identity, is_nobody, is_passing, settle},
    grammar::{PlayerAction, PlayerTag},
};
use crate::{
    domain::{RoleName, steam},
    ingest::{team::ClientTeam, text},
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
pub(crate) struct ConnectedClients(BTreeMap<ClientId, Client>);

impl ConnectedClients {
    /// The id under which a player is known, or would become known. `arrives` says whether a connection
    /// begins with the line.
    fn id(&self, who: &PlayerTag<'_>, arrives: bool) -> ClientId {
        let id = ClientId::of(who);
        let known = self.0.get(&id);
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
        let same_number = |client: &Client| client.uid.is_some() && client.uid == who.uid;
        if let Some(same) = self.named(who, |_, client| same_number(client)) {
            return same;
        }
        // A plugin may write another number. Then the one of this name is meant.
        let is_meant = |id: &ClientId, _: &Client| match id {
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
        is_meant: impl Fn(&ClientId, &Client) -> bool,
    ) -> Option<ClientId> {
        let mut all = self.0.iter();
        let found = all.find(|(id, client)| {
            !matches!(id, ClientId::Bot(_)) && client.name == who.name && is_meant(id, client)
        });
        found.map(|(id, _)| id.clone())
    }

    /// All players on the server.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Client> {
        self.0.values()
    }

    /// Whether anybody on the server has an opponent.
    pub(super) fn are_opposed(&self) -> bool {
        ClientTeam::are_opposed(
            self.iter()
                .filter_map(|client| client.team.map(ClientTeam::Team)),
        )
    }

    pub(crate) fn get(&self, who: &PlayerTag<'_>) -> Option<&Client> {
        self.0.get(&self.id(who, false))
    }

    fn get_mut(&mut self, who: &PlayerTag<'_>) -> Option<&mut Client> {
        let id = self.id(who, false);
        self.0.get_mut(&id)
    }

    /// The id of the player of whom a line states this one. Who had no Steam id when the connection began
    /// gets it: if somebody has it already, the end of that connection is not in the log. Of two Steam ids on one
    /// connection, that counts which most lines state.
    fn settle_id(
        &mut self,
        known: ClientId,
        who: &PlayerTag<'_>,
        context: &mut GameContext<'_>,
    ) -> ClientId {
        let stated = ClientId::of(who);
        let nameless = ClientId::Connection(who.uid, Vec::new());
        let had_none = |client: &Client| who.uid.is_some() && client.name == who.name;
        let known = match self.0.get(&nameless).is_some_and(had_none) {
            true => nameless,
            false => known,
        };
        let Some(client) = self.0.get_mut(&known) else {
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
                if client.stated >= 0 || self.0.contains_key(&stated) {
                    return known;
                }
            }
            _ => return known,
        }
        if let Some(before) = self.0.get_mut(&stated) {
            settle(before, None, Some(context.now), context);
        }
        if let Some(mut client) = self.0.remove(&known) {
            client.stated = 1;
            who.auth.clone_into(&mut client.auth);
            context.rename(&client);
            self.0.insert(stated.clone(), client);
        }
        stated
    }

    /// A connection begins: whoever had its number has it no more.
    fn free_number(&mut self, who: &PlayerTag<'_>) {
        let own = ClientId::of(who);
        let others = self.0.iter_mut().filter(|(id, _)| **id != own);
        for (_, client) in others.filter(|(_, client)| client.uid == who.uid) {
            client.uid = None;
        }
    }

    /// Takes over the data of players and their teams that a line states.
    pub(crate) fn note(
        &mut self,
        who: PlayerTag<'_>,
        act: PlayerAction<'_>,
        context: &mut GameContext<'_>,
    ) {
        let arrives = matches!(act, PlayerAction::Connect | PlayerAction::Enter);
        let came = arrives || matches!(act, PlayerAction::Join(_));
        let team = if came { ClientTeam::Unknown } else { who.team };
        if act == PlayerAction::Connect {
            self.free_number(&who);
        }
        // That somebody without an id has done nothing does not make a player of them.
        if act != PlayerAction::Other || !is_passing(who.auth) || self.get(&who).is_some() {
            let connects = act == PlayerAction::Connect;
            let id = match connects && is_passing(who.auth) {
                true => ClientId::of(&who), // may be another one of this name
                false => self.id(&who, arrives && !is_passing(who.auth)),
            };
            let known = self.0.get(&id);
            let former = known.and_then(|client| client.other_connection(&who));
            self.meet(PlayerTag { team, ..who }, id.clone(), came, context);
            if let Some(client) = self.0.get_mut(&id).filter(|_| connects) {
                client.former = former;
            }
        }
        match act {
            PlayerAction::Leave => self.leave(who, context),
            PlayerAction::Connect => self.connect(who, true, context),
            PlayerAction::Enter => {
                self.connect(who, false, context);
                self.enter(who, context);
            }
            PlayerAction::Join(team) => self.join(who, team, context),
            PlayerAction::Rename(name) => self.rename(who, name, context),
            PlayerAction::Class(class) => self.choose(who, class, context),
            PlayerAction::Kill { victim, .. } => {
                let id = self.id(&victim, false);
                self.meet(victim, id, false, context);
            }
            _ => {}
        }
    }

    /// Takes over the data that a line states of a player, who is or becomes known under this id. `came` says
    /// whether the player arrives with this line. A player who is first mentioned by any other line has been there since the
    /// game began.
    fn meet(
        &mut self,
        who: PlayerTag<'_>,
        id: ClientId,
        came: bool,
        context: &mut GameContext<'_>,
    ) {
        if is_nobody(who.auth) {
            return;
        }
        let id = self.settle_id(id, &who, context);
        let known = self.0.contains_key(&id);
        if !known && self.0.len() >= MAX_CLIENTS {
            return;
        }
        let twin = match &id {
            ClientId::Twin(account, _) => self.0.get_mut(&ClientId::Steam(account.clone())),
            _ => None,
        };
        let is_twin = twin.is_some();
        if let Some(twin) = twin.filter(|twin| !twin.shares) {
            // Nobody can say whose the account is.
            twin.shares = true;
            context.rename(twin);
        }
        let came = came || is_twin && !known;
        let client = self.0.entry(id).or_insert_with(|| Client {
            name: who.name.to_owned(),
            auth: who.auth.to_owned(),
            uid: who.uid,
            stated: 1,
            former: None,
            shares: is_twin,
            team: None,
            since: (came || is_passing(who.auth)).then_some(context.now),
            entered: came,
            played: None,
            seen: context.now,
            died: None,
            captured: None,
            class: None,
            visit: None,
        });
        if !came {
            client.seen = context.now;
        }
        if client.name != who.name {
            who.name.clone_into(&mut client.name);
            context.rename(client);
        }
        let stated = match who.team {
            ClientTeam::Team(team) => Some(team),
            ClientTeam::Spectator | ClientTeam::Free => None,
            ClientTeam::Unknown => return,
        };
        if stated.is_none() {
            client.played = None; // up to now
        }
        let settled = client.since.is_none_or(|since| context.now >= since + LAG);
        if stated != client.team && (settled || !known) {
            let since = match known {
                // Who has come back may have played without a line that says so.
                true => client.played.or(Some(context.now)),
                false => client.since,
            };
            client.since = since;
            settle(client, stated, since, context);
        }
    }

    /// Handles the beginning of a connection. If the player is there already, the end of the old
    /// connection is not in the log, and the player is on no team any more.
    fn connect(&mut self, who: PlayerTag<'_>, is_new: bool, context: &mut GameContext<'_>) {
        if let Some(client) = self.get_mut(&who)
            && (is_new || client.uid != who.uid)
        {
            let now = context.now;
            if now.saturating_sub(client.seen) > SILENCE {
                // The player was gone long before.
                context.now = client.seen;
                context.end_stay(client);
                context.now = now;
            }
            settle(client, None, Some(now), context);
            client.entered = true;
            client.uid = who.uid;
            (client.since, client.seen) = (Some(now), now);
        }
    }

    /// Handles somebody who enters the game, and who may play from now on without a further line.
    fn enter(&mut self, who: PlayerTag<'_>, context: &GameContext<'_>) {
        let played = context.between_rounds.then_some(context.now);
        if let Some(client) = self.get_mut(&who)
            && client.entered
        {
            client.played = played;
        }
    }

    /// Handles a player's choice of a team.
    fn join(&mut self, who: PlayerTag<'_>, team: ClientTeam, context: &mut GameContext<'_>) {
        let team = match team {
            ClientTeam::Team(team) => Some(team),
            _ => None,
        };
        if let Some(client) = self.get_mut(&who) {
            client.since = Some(context.now);
            settle(client, team, Some(context.now), context);
        }
    }

    /// Handles a class that a player chooses or comes with.
    fn choose(&mut self, who: PlayerTag<'_>, class: Option<&[u8]>, context: &mut GameContext<'_>) {
        let class = class.and_then(|class| RoleName::read(&text::name(class)));
        if let Some(client) = self.get_mut(&who)
            && client.class != class
        {
            client.class = class;
            context.set_class(client);
        }
    }

    fn rename(&mut self, who: PlayerTag<'_>, name: &[u8], context: &mut GameContext<'_>) {
        let old = self.id(&who, false);
        let Some(mut client) = self.0.remove(&old) else {
            return;
        };
        name.clone_into(&mut client.name);
        context.rename(&client);
        let id = match old {
            ClientId::Bot(_) => ClientId::Bot(name.to_owned()),
            ClientId::Connection(None, _) => ClientId::Connection(None, name.to_owned()),
            same => same,
        };
        self.0.insert(id, client);
    }

    fn leave(&mut self, who: PlayerTag<'_>, context: &mut GameContext<'_>) {
        let id = self.id(&who, false);
        if let Some(mut client) = self.0.remove(&id) {
            client.class = None;
            context.set_class(&client);
            settle(&mut client, None, Some(context.now), context);
        }
    }

    /// Notes a death, and returns whether it counts. Logs may contain a line twice, and their dates
    /// have whole seconds.
    pub(crate) fn dies(&mut self, who: &PlayerTag<'_>, now: u64) -> bool {
        let client = self.get_mut(who);
        client.is_some_and(|client| client.died.replace(now) != Some(now))
    }

    /// Notes a capture, and returns whether it counts. Logs may contain a line twice.
    pub(super) fn captures(&mut self, who: &PlayerTag<'_>, now: u64) -> bool {
        let client = self.get_mut(who);
        client.is_some_and(|client| client.captured.replace(now) != Some(now))
    }

    /// Begins a game with the players who are there.
    pub(super) fn seat_all(&mut self, context: &mut GameContext<'_>) {
        let mut all: Vec<&mut Client> = self.0.values_mut().collect();
        all.sort_by_key(|client| client.uid);
        for client in all {
            client.visit = None;
            settle(client, client.team, None, context);
        }
    }

    /// Goes on with a record in which these timelines are missing, or end elsewhere than the players are now.
    pub(super) fn reseat(&mut self, context: &mut GameContext<'_>) {
        let millis = context.millis();
        let Some(recorder) = &mut context.recorder else {
            return;
        };
        let mut gone: BTreeSet<usize> = (0..recorder.players().len()).collect();
        for client in self.0.values_mut() {
            client.visit = client.visit.filter(|visit| gone.remove(visit));
        }
        for visit in gone {
            let at = recorder.tick(millis);
            recorder.set_team(visit, None, at);
        }
        for client in self.0.values_mut() {
            let (team, since) = (client.team, Some(context.now));
            settle(client, team, since, context);
        }
    }

    /// The timelines of the record have got other numbers, which are this much higher.
    pub(super) fn shift_visits(&mut self, by: usize) {
        for client in self.0.values_mut() {
            client.visit = client.visit.map(|visit| visit + by);
        }
    }

    /// A round begins now, from which those play who have come back within the last one.
    pub(super) fn round_started(&mut self, now: u64) {
        for client in self.0.values_mut().filter(|client| client.entered) {
            client.played.get_or_insert(now);
        }
    }

    /// Forgets the visits of a game that is over; its clients stay connected.
    pub(super) fn forget_visits(&mut self) {
        for client in self.0.values_mut() {
            client.visit = None;
        }
    }
}
