//! Tracks which player has which client number, and the player's identity.

use super::grammar::pairs;
use crate::text::{name, name_or, real, weak_identity};
use evenkeel_model::{Kind, PlayerKey};

pub(crate) use crate::event::ClientTeam;

/// What the game calls a player without a name.
const UNNAMED: &str = "UnnamedPlayer";
/// The skill of a bot whose log line contains none: the middle of the game's scale from 1 to 5.
const DEFAULT_SKILL: f64 = 3.0;

/// One client number.
#[derive(Clone, Debug, Default)]
pub struct IdTech3Client {
    /// Whether the client is in the game, and no longer connecting.
    pub begun: bool,
    /// The team, as the last line has stated it.
    pub team: ClientTeam,
    /// The name as the log writes it, with colour codes.
    raw_name: Vec<u8>,
    /// `\id\` of `ClientUserinfoChanged`, which the game writes.
    id: Vec<u8>,
    /// `\cl_guid\` of `ClientUserinfo`, which the player's own program sends.
    guid: Vec<u8>,
    /// Whether `ClientUserinfoChanged` has a skill, as only a bot's does.
    skilled: bool,
    /// Whether `ClientUserinfo` has a skill.
    userinfo_skilled: bool,
    /// How often the name or the identity may have changed.
    pub(crate) renamed: u32,
    /// A bot's skill, if the log contains it.
    skill: Option<f64>,
}

impl IdTech3Client {
    /// Whether a line has stated the client's team. The log has such a line for every client that
    /// connects.
    pub fn is_known(&self) -> bool {
        self.team != ClientTeam::Unknown
    }

    /// Takes a `ClientUserinfo` line: what the player's own program sends.
    pub(crate) fn userinfo(&mut self, info: &[u8]) {
        let (mut guid, mut skilled) = (&b""[..], false);
        for (key, value) in pairs(info) {
            match key {
                b"cl_guid" => guid = value,
                b"skill" => skilled = true,
                _ => {}
            }
        }
        let renamed = set(&mut self.guid, guid) | (self.userinfo_skilled != skilled);
        self.renamed = self.renamed.wrapping_add(renamed.into());
        self.userinfo_skilled = skilled;
    }

    /// Takes a `ClientUserinfoChanged` line: name, team and id as the game has them. Games repeat these lines.
    pub(crate) fn changed(&mut self, info: &[u8]) {
        let (mut name, mut id, mut team, mut skill) = (&b""[..], &b""[..], &b""[..], None);
        for (key, value) in pairs(info) {
            match key {
                b"n" => name = value,
                b"t" => team = value,
                b"id" => id = value,
                b"skill" => skill = Some(value),
                _ => {}
            }
        }
        self.team = match team {
            b"0" => ClientTeam::Free,
            b"1" => ClientTeam::Team(0),
            b"2" => ClientTeam::Team(1),
            b"3" => ClientTeam::Spectator,
            _ => self.team,
        };
        let renamed = set(&mut self.raw_name, name)
            | set(&mut self.id, id)
            | (self.skilled != skill.is_some());
        self.renamed = self.renamed.wrapping_add(renamed.into());
        self.skilled = skill.is_some();
        let known = |skill: &f64| (0.0..=100.0).contains(skill);
        self.skill = skill.and_then(real).filter(known);
    }

    /// The skill, if this is a bot.
    pub fn skill(&self) -> f64 {
        self.skill.unwrap_or(DEFAULT_SKILL)
    }

    /// The team that the client plays on; `None` for spectators and in games without teams.
    pub fn team(&self) -> Option<u8> {
        match self.team {
            ClientTeam::Team(team) if self.begun => Some(team),
            _ => None,
        }
    }

    /// Whether the client plays, if the game has no teams.
    pub fn is_free(&self) -> bool {
        self.team == ClientTeam::Free && self.begun
    }

    /// The player's name as the log writes it, with colour codes.
    pub fn raw_name(&self) -> &[u8] {
        &self.raw_name
    }

    /// The player's name, without colour codes.
    pub fn name(&self) -> String {
        name_or(&without_colours(&self.raw_name), UNNAMED)
    }

    /// The id or the guid, which a player cannot change like a name.
    fn strong_id(&self) -> Option<&[u8]> {
        let ids = [&self.id[..], &self.guid];
        ids.into_iter().find(|id| is_identity(id))
    }

    /// The player's identity: a human's id or guid, or else the name; a bot's name.
    pub fn identity(&self) -> ClientIdentity {
        let strong = self.strong_id();
        let kind = match strong {
            None if self.skilled || self.userinfo_skilled => Kind::Bot,
            _ => Kind::Human,
        };
        let id = match (strong, kind) {
            (Some(id), _) => name(id),
            (None, Kind::Human) => weak_identity(&self.name()),
            (None, Kind::Bot) => self.name(),
        };
        ClientIdentity {
            key: PlayerKey { kind, id },
            strong: strong.is_some(),
        }
    }
}

/// The identity of the player on a client number.
#[derive(Clone, Debug)]
pub struct ClientIdentity {
    /// The identity, as a record has it.
    pub key: PlayerKey,
    /// Whether it is an id or a guid, and not just a name, which a player can change.
    pub(crate) strong: bool,
}

impl ClientIdentity {
    /// Whether `new`, seen later on the same client number, is another player's identity and not just
    /// a new name.
    pub(crate) fn is_another_player(&self, new: &ClientIdentity) -> bool {
        self.key.kind != new.key.kind || (self.strong && new.strong && self.key.id != new.key.id)
    }
}

/// All client numbers of a server.
#[derive(Debug, Default)]
pub struct ClientSlots {
    slots: Vec<IdTech3Client>,
}

impl ClientSlots {
    /// The client of this number, which has to be below
    /// [`MAX_CLIENTS`](super::grammar::MAX_CLIENTS); it is created if necessary.
    pub(crate) fn client(&mut self, number: usize) -> &mut IdTech3Client {
        if number >= self.slots.len() {
            self.slots.resize_with(number + 1, IdTech3Client::default);
        }
        &mut self.slots[number]
    }

    /// The client of this number, if a line has mentioned it or a higher one.
    pub fn get(&self, number: usize) -> Option<&IdTech3Client> {
        self.slots.get(number)
    }

    /// Whether anybody on the server has an opponent.
    pub(super) fn are_opposed(&self) -> bool {
        let playing = self.slots.iter().filter(|client| client.begun);
        ClientTeam::are_opposed(playing.map(|client| client.team))
    }

    /// The id of this client, if another client has it, too, with another name.
    pub(super) fn shared_id(&self, number: usize) -> Option<String> {
        let client = self
            .slots
            .get(number)
            .filter(|client| !client.raw_name.is_empty())?;
        let strong = client.strong_id()?;
        let mut others = self.slots.iter();
        let shared = others.any(|other| {
            !other.raw_name.is_empty()
                && other.strong_id() == Some(strong)
                && other.name() != client.name()
        });
        shared.then(|| name(strong))
    }

    /// All clients, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &IdTech3Client)> {
        self.slots.iter().enumerate()
    }

    pub(crate) fn remove(&mut self, number: usize) {
        *self.client(number) = IdTech3Client::default();
    }
}

/// Replaces `old` by `new`, and returns whether they differ.
fn set(old: &mut Vec<u8>, new: &[u8]) -> bool {
    let differ = *old != new;
    if differ {
        old.clear();
        old.extend_from_slice(new);
    }
    differ
}

/// Whether an id identifies its player. An empty id, or one of zeros only, means that there is none.
fn is_identity(id: &[u8]) -> bool {
    let id = id.trim_ascii();
    id.iter().any(|&b| b != b'0')
}

/// Removes colour codes: a `^` with the letter or digit that follows it.
fn without_colours(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    loop {
        match rest {
            [b'^', code, after @ ..] if code.is_ascii_alphanumeric() => rest = after,
            [byte, after @ ..] => {
                plain.push(*byte);
                rest = after;
            }
            [] => return plain,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(changed: &str, userinfo: &str) -> IdTech3Client {
        let mut client = IdTech3Client::default();
        client.changed(changed.as_bytes());
        client.userinfo(userinfo.as_bytes());
        client
    }

    #[test]
    fn humans_and_bots() {
        let identity = |changed, userinfo| {
            let key = client(changed, userinfo).identity().key;
            (key.kind, key.id)
        };
        let is = |kind, id: &str| (kind, id.to_owned());
        assert_eq!(
            identity("n\\^1Sarge\\t\\1\\skill\\ 5.00\\id\\", ""),
            is(Kind::Bot, "Sarge")
        );
        assert_eq!(
            identity("n\\A\\t\\1\\id\\6091E2", ""),
            is(Kind::Human, "6091E2")
        );
        assert_eq!(
            identity("n\\A\\t\\1", "\\name\\A\\cl_guid\\B53FB"),
            is(Kind::Human, "B53FB")
        );
        assert_eq!(
            identity("n\\A\\t\\1", "\\skill\\3\\name\\A"),
            is(Kind::Bot, "A")
        );
        assert_eq!(
            identity("n\\A\\t\\1\\id\\000", "\\cl_guid\\0"),
            is(Kind::Human, "A")
        );
        assert_eq!(identity("n\\^1\\t\\1", ""), is(Kind::Human, UNNAMED));
        assert_eq!(identity("", ""), is(Kind::Human, UNNAMED));
    }

    #[test]
    fn colours() {
        assert_eq!(without_colours(b"^1a^^2b^"), b"a^b^");
        assert_eq!(without_colours(b"^xFF^-"), b"FF^-");
    }

    #[test]
    fn repetition_is_not_news() {
        let mut client = client("n\\A\\t\\1", "");
        let before = client.renamed;
        client.changed(b"n\\A\\t\\2\\model\\other");
        assert_eq!((client.team, client.renamed), (ClientTeam::Team(1), before));
        client.changed(b"n\\B\\t\\2");
        assert_ne!(client.renamed, before);
    }
}
