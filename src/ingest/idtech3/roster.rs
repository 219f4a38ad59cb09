//! Who is on which client number, and who they are.

use super::super::text::{name, weak_identity};
use super::grammar::pairs;
use crate::domain::{Kind, PlayerKey};

/// What the game calls somebody without a name.
const UNNAMED: &str = "UnnamedPlayer";

/// Where a client plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Side {
    /// Not told yet.
    #[default]
    Unknown,
    /// In no team.
    Free,
    /// 0 is red, 1 is blue.
    Team(u8),
    /// Nowhere: watching.
    Spectator,
}

/// One client number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client {
    /// Whether they are in the game (and not still connecting).
    pub(crate) begun: bool,
    pub(crate) side: Side,
    /// The name as the log writes it, with colour codes.
    raw_name: Vec<u8>,
    /// `\id\` of what the game says, `\cl_guid\` of what the client's program does.
    id: Vec<u8>,
    guid: Vec<u8>,
    /// Whether either has a bot's skill.
    skilled: bool,
    userinfo_skilled: bool,
    /// Who they are in the record of the game being told: their track, and the team they are on.
    pub(crate) track: Option<usize>,
    pub(crate) seat: Option<u8>,
    /// As whom the track knows them.
    pub(crate) known_as: Option<Who>,
    /// Whether that may have changed.
    pub(crate) renamed: bool,
}

impl Client {
    /// Whether any line told who they are.
    pub(crate) fn is_known(&self) -> bool {
        self.side != Side::Unknown
    }

    /// Takes what the client's own program says.
    pub(crate) fn userinfo(&mut self, info: &[u8]) {
        let (mut guid, mut skilled) = (&b""[..], false);
        for (key, value) in pairs(info) {
            match key {
                b"cl_guid" => guid = value,
                b"skill" => skilled = true,
                _ => {}
            }
        }
        self.renamed |= set(&mut self.guid, guid) | (self.userinfo_skilled != skilled);
        self.userinfo_skilled = skilled;
    }

    /// Takes what the game says. Tells whether anything is new: games repeat themselves.
    pub(crate) fn changed(&mut self, info: &[u8]) -> bool {
        let (mut name, mut id, mut team, mut skilled) = (&b""[..], &b""[..], &b""[..], false);
        for (key, value) in pairs(info) {
            match key {
                b"n" => name = value,
                b"t" => team = value,
                b"id" => id = value,
                b"skill" => skilled = true,
                _ => {}
            }
        }
        let side = match team {
            b"0" => Side::Free,
            b"1" => Side::Team(0),
            b"2" => Side::Team(1),
            b"3" => Side::Spectator,
            _ => self.side,
        };
        let renamed =
            set(&mut self.raw_name, name) | set(&mut self.id, id) | (self.skilled != skilled);
        self.skilled = skilled;
        self.renamed |= renamed;
        let moved = std::mem::replace(&mut self.side, side) != side;
        moved || renamed
    }

    /// Their name, without colour codes.
    pub(crate) fn name(&self) -> String {
        let plain = name(&without_colours(&self.raw_name));
        if plain.is_empty() {
            UNNAMED.to_owned()
        } else {
            plain
        }
    }

    /// Who they are: a human's strongest identity, a bot's name.
    pub(crate) fn who(&self) -> Who {
        let strong = [&self.id, &self.guid]
            .into_iter()
            .find(|id| is_identity(id));
        let kind = match strong {
            None if self.skilled || self.userinfo_skilled => Kind::Bot,
            _ => Kind::Human,
        };
        let id = match (strong, kind) {
            (Some(id), _) => name(id),
            (None, Kind::Human) => weak_identity(&self.name()),
            (None, Kind::Bot) => self.name(),
        };
        Who {
            key: PlayerKey { kind, id },
            strong: strong.is_some(),
        }
    }
}

/// Who a client is.
#[derive(Clone, Debug)]
pub(crate) struct Who {
    pub(crate) key: PlayerKey,
    /// Whether that is more than a name, which they can change.
    pub(crate) strong: bool,
}

impl Who {
    /// Whether two looks at one client show two persons, and not a new name.
    pub(crate) fn is_somebody_else(&self, new: &Who) -> bool {
        self.key.kind != new.key.kind || (self.strong && new.strong && self.key.id != new.key.id)
    }
}

/// All clients.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    clients: Vec<Client>,
}

impl Roster {
    /// The client of this number, below [`MAX_CLIENTS`](super::grammar::MAX_CLIENTS).
    pub(crate) fn client(&mut self, number: usize) -> &mut Client {
        if number >= self.clients.len() {
            self.clients.resize_with(number + 1, Client::default);
        }
        &mut self.clients[number]
    }

    /// The client of this number, if any was ever heard of.
    pub(crate) fn get(&self, number: usize) -> Option<&Client> {
        self.clients.get(number)
    }

    pub(crate) fn all(&mut self) -> impl Iterator<Item = &mut Client> {
        self.clients.iter_mut()
    }

    pub(crate) fn remove(&mut self, number: usize) {
        *self.client(number) = Client::default();
    }

    /// The game whose tracks the clients had is over; the clients are still there.
    pub(crate) fn forget_tracks(&mut self) {
        for client in &mut self.clients {
            client.track = None;
            client.seat = None;
            client.known_as = None;
        }
    }
}

/// Replaces old by new; tells whether they differ.
fn set(old: &mut Vec<u8>, new: &[u8]) -> bool {
    let differ = *old != new;
    if differ {
        old.clear();
        old.extend_from_slice(new);
    }
    differ
}

/// Empty ids and such as are all zeros stand for having none.
fn is_identity(id: &[u8]) -> bool {
    let id = id.trim_ascii();
    id.iter().any(|&b| b != b'0')
}

/// A `^` and a letter or digit change the colour of what follows.
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

    fn client(changed: &str, userinfo: &str) -> Client {
        let mut client = Client::default();
        client.changed(changed.as_bytes());
        client.userinfo(userinfo.as_bytes());
        client
    }

    #[test]
    fn humans_and_bots() {
        let who = |changed, userinfo| {
            let key = client(changed, userinfo).who().key;
            (key.kind, key.id)
        };
        let is = |kind, id: &str| (kind, id.to_owned());
        assert_eq!(
            who("n\\^1Sarge\\t\\1\\skill\\ 5.00\\id\\", ""),
            is(Kind::Bot, "Sarge")
        );
        assert_eq!(who("n\\A\\t\\1\\id\\6091E2", ""), is(Kind::Human, "6091E2"));
        assert_eq!(
            who("n\\A\\t\\1", "\\name\\A\\cl_guid\\B53FB"),
            is(Kind::Human, "B53FB")
        );
        assert_eq!(who("n\\A\\t\\1", "\\skill\\3\\name\\A"), is(Kind::Bot, "A"));
        assert_eq!(
            who("n\\A\\t\\1\\id\\000", "\\cl_guid\\0"),
            is(Kind::Human, "A")
        );
        assert_eq!(who("n\\^1\\t\\1", ""), is(Kind::Human, UNNAMED));
        assert_eq!(who("", ""), is(Kind::Human, UNNAMED));
    }

    #[test]
    fn colours() {
        assert_eq!(without_colours(b"^1a^^2b^"), b"a^b^");
        assert_eq!(without_colours(b"^xFF^-"), b"FF^-");
    }

    #[test]
    fn repetition_is_not_news() {
        let mut client = client("n\\A\\t\\1", "");
        assert!(!client.changed(b"n\\A\\t\\1\\model\\other"));
        assert!(client.changed(b"n\\A\\t\\2"));
        assert_eq!(client.side, Side::Team(1));
    }
}
