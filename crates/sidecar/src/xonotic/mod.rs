//! The engine of Xonotic and Nexuiz, through the server's event log and its remote console.
//!
//! Teams are chosen in the warm-up, which a restart of the map ends. On servers without a
//! warm-up, they are chosen in the seconds before play in which the server waits (`g_start_delay`). The packets
//! of the remote console are here, too.

#[cfg(test)]
mod tests;

use std::time::Duration;

use evenkeel_ingest::{
    GameEvent,
    live::{
        ClientTeam,
        xonotic::{GAME, Line, XonoticServer},
    },
};
use hmac::{Hmac, KeyInit, Mac};
use md4::Md4;

use super::{
    engine::{Engine, TeamChanges, TeamOrders},
    follower::{FollowedServer, OpeningTime, TeamWord, TemplateCommands},
};
use crate::progress::{ConnectionKey, LoggedPlayer, LoggedSetup};

/// The types of games without teams.
const WITHOUT_TEAMS: [&str; 12] = [
    "dm", "duel", "lms", "arena", "rune", "ka", "mayhem", "rc", "cts", "inv", "surv", "br",
];

/// The engine of one game server of Xonotic or Nexuiz.
pub struct Xonotic {
    commands: TemplateCommands,
    opening: OpeningTime,
    /// Whether games begin with a warm-up, which a restart ends.
    warms_up: bool,
    log: XonoticServer,
}

impl Xonotic {
    /// An engine that has read no log. `opening` is how long teams may be chosen in a new game without a
    /// warm-up after the first player has joined, in milliseconds.
    pub fn new(commands: TemplateCommands, warms_up: bool, opening: u64) -> Self {
        Self {
            commands,
            opening: OpeningTime::new(opening),
            warms_up,
            log: XonoticServer::default(),
        }
    }

    fn setup(&self) -> LoggedSetup {
        LoggedSetup {
            game_type: format!("{GAME}.{}", self.log.kind),
            mutators: self.log.mutators.iter().cloned().collect(),
            map: self.log.map.clone(),
            teams: !WITHOUT_TEAMS.contains(&self.log.kind.as_str()),
            match_id: None,
        }
    }

    /// All players, as the log describes them.
    fn players(&self) -> Vec<(ConnectionKey, LoggedPlayer)> {
        let players = self.log.clients.iter().map(|(&id, client)| {
            let player = LoggedPlayer {
                key: client.key(),
                name: client.name.clone(),
                number: client.number,
                side: client.team(),
                free: client.place == ClientTeam::Free,
                begun: true,
                role: None,
            };
            (ConnectionKey::of(id), player)
        });
        players.collect()
    }
}

/// How commands name the sides; the numbers are the engine's.
fn word(side: u8) -> TeamWord {
    let (name, number) = match side {
        0 => ("red", 5),
        1 => ("blue", 14),
        2 => ("yellow", 13),
        _ => ("pink", 10),
    };
    TeamWord { name, number }
}

impl Xonotic {
    /// Starts play once the time in which the server waits is over.
    fn open(&mut self, server: &mut FollowedServer) {
        if self.opening.is_due(server) {
            server.start(self.setup());
        }
    }

    fn event(&mut self, event: GameEvent, server: &mut FollowedServer) {
        match event {
            GameEvent::Game => {
                server.leave_map();
                self.opening.reset();
                self.announce(server);
            }
            GameEvent::Setup => {
                if !self.log.mutators.is_empty() && self.log.clients.is_empty() {
                    self.announce(server);
                }
            }
            GameEvent::Start => {
                self.opening.pending = false;
                server.start(self.setup());
            }
            GameEvent::Client(_) | GameEvent::Left(_) => server.sync(self.players()),
            GameEvent::Closed => {
                // A game that was played to its end has been closed by `:end` before.
                server.leave_map();
                self.opening.reset();
            }
            other => server.take(other),
        }
    }

    fn announce(&mut self, server: &mut FollowedServer) {
        server.begin(self.setup());
        if self.warms_up {
            server.warm_up();
        } else {
            self.opening.pending = true;
        }
    }
}

impl Engine for Xonotic {
    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let Some(line) = Line::read(line) else {
            return;
        };
        self.opening.read(line.date(), server.now());
        if !line.restarts() {
            self.open(server);
        }
        let mut events = Vec::new();
        self.log.take(line, &mut events);
        for event in events {
            self.event(event, server);
        }
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        self.open(server);
    }

    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders {
        self.commands.orders(changes, word)
    }
}

/// The start of every packet outside a client's connection.
const OUT_OF_BAND: &[u8] = b"\xff\xff\xff\xff";
/// The length of the text that the server chooses, in bytes.
pub(crate) const CHALLENGE: usize = 11;
/// The longest list of commands in one packet, in bytes.
const MAX_COMMANDS: usize = 1_000;

/// How a packet proves that its sender knows the password (`rcon_secure`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordProof<'a> {
    /// By the password itself, which anybody on the way can read.
    Password,
    /// By a code that the server accepts for a few seconds of this time since 1970.
    Time(Duration),
    /// By a code that the server accepts once, for this text of its own.
    Challenge(&'a [u8; CHALLENGE]),
}

/// What a server sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DarkPlacesAnswer {
    /// A text for [`PasswordProof::Challenge`].
    Challenge([u8; CHALLENGE]),
    /// What commands have printed; may be a part of it.
    Text(Vec<u8>),
}

/// The packet that asks for a challenge.
pub fn ask_challenge() -> Vec<u8> {
    [OUT_OF_BAND, b"getchallenge"].concat()
}

/// Joins commands to lists that fit into a packet. Zeros in a command would end it early, and are left
/// out.
pub fn lists(commands: &[String]) -> Vec<Vec<u8>> {
    let mut lists: Vec<Vec<u8>> = Vec::new();
    for command in commands {
        let command = command.bytes().filter(|&b| b != 0).take(MAX_COMMANDS);
        let command: Vec<u8> = command.collect();
        match lists.last_mut() {
            Some(list) if list.len() + 1 + command.len() <= MAX_COMMANDS => {
                list.push(0);
                list.extend(command);
            }
            _ => lists.push(command),
        }
    }
    lists
}

/// The packet that executes a list of commands.
pub fn encode(password: &str, proof: PasswordProof<'_>, list: &[u8]) -> Vec<u8> {
    let (name, said) = match proof {
        PasswordProof::Password => {
            let said = [b"rcon ", password.as_bytes(), b" ", list].concat();
            return [OUT_OF_BAND, &said].concat();
        }
        PasswordProof::Time(since) => {
            let time = format!("{}.{:06} ", since.as_secs(), since.subsec_micros());
            (&b"TIME "[..], [time.as_bytes(), list].concat())
        }
        PasswordProof::Challenge(text) => (&b"CHALLENGE "[..], [&text[..], b" ", list].concat()),
    };
    let code = code(password, &said);
    [OUT_OF_BAND, b"srcon HMAC-MD4 ", name, &code, b" ", &said].concat()
}

/// HMAC (RFC 2104) with MD4 (RFC 1320).
fn code(password: &str, said: &[u8]) -> Vec<u8> {
    // A key may have any length.
    let Ok(mut mac) = Hmac::<Md4>::new_from_slice(password.as_bytes()) else {
        return Vec::new();
    };
    mac.update(said);
    mac.finalize().into_bytes().to_vec()
}

/// Reads a packet of the server; `None` for any other packet.
pub fn answer(packet: &[u8]) -> Option<DarkPlacesAnswer> {
    let rest = packet.strip_prefix(OUT_OF_BAND)?;
    if let Some(rest) = rest.strip_prefix(b"challenge ") {
        return rest.first_chunk().copied().map(DarkPlacesAnswer::Challenge);
    }
    let text = rest
        .strip_prefix(b"n")
        .or_else(|| rest.strip_prefix(b"print\n"))?;
    Some(DarkPlacesAnswer::Text(text.to_owned()))
}

#[cfg(test)]
mod rcon_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packets_have_the_published_form() {
        let plain = encode("passw", PasswordProof::Password, b"status");
        assert_eq!(plain, b"\xff\xff\xff\xffrcon passw status");
        // The codes of these two were computed with another program.
        let time = encode(
            "passw",
            PasswordProof::Time(Duration::from_secs(100)),
            b"status",
        );
        let expected = [
            &b"\xff\xff\xff\xffsrcon HMAC-MD4 TIME "[..],
            b"R\xcbv\xf0\xa7p\xcd\xca\xf2!\xc3~\x06\xa9\x9f\xa8",
            b" 100.000000 status",
        ];
        assert_eq!(time, expected.concat());
        let once = encode("passw", PasswordProof::Challenge(b"11111111111"), b"status");
        let expected = [
            &b"\xff\xff\xff\xffsrcon HMAC-MD4 CHALLENGE "[..],
            b"D\x89\xfd\x15\xccZ\xea\xeb\x0e\xbfl\xd6C\x05T\x12",
            b" 11111111111 status",
        ];
        assert_eq!(once, expected.concat());
    }

    #[test]
    fn what_the_server_sends() {
        let read = |packet: &[u8]| answer(packet);
        let challenge = read(b"\xff\xff\xff\xffchallenge }4$!nA`>iX0\0vlen");
        assert_eq!(
            challenge,
            Some(DarkPlacesAnswer::Challenge(*b"}4$!nA`>iX0"))
        );
        let text = read(b"\xff\xff\xff\xffnone\n");
        assert_eq!(text, Some(DarkPlacesAnswer::Text(b"one\n".to_vec())));
        for wrong in [
            &b""[..],
            b"\xff\xff\xff\xff",
            b"n",
            b"\xff\xff\xff\xffchallenge 12345",
        ] {
            assert_eq!(read(wrong), None);
        }
    }

    #[test]
    fn long_lists_are_split() {
        let commands: Vec<String> = (0..300).map(|n| format!("move {n}\0 red")).collect();
        let lists = lists(&commands);
        assert!(lists.len() > 2 && lists.iter().all(|list| list.len() <= MAX_COMMANDS));
        let all: Vec<&[u8]> = lists
            .iter()
            .flat_map(|list| list.split(|&b| b == 0))
            .collect();
        assert_eq!(all.len(), 300);
        assert_eq!(all[299], b"move 299 red");
    }

    proptest! {
        #[test]
        fn any_packet_is_borne(packet in any::<Vec<u8>>(), known in any::<bool>()) {
            let start: &[u8] = if known { b"\xff\xff\xff\xffchallenge " } else { b"\xff\xff\xff\xffn" };
            let _ = answer(&packet);
            let read = answer(&[start, &packet].concat());
            prop_assert_eq!(read.is_some(), !known || packet.len() >= CHALLENGE);
        }

        #[test]
        fn a_code_depends_on_everything(
            password in "[a-z]{1,80}", list in "[a-z ]{1,40}", other in "[a-z ]{1,40}",
        ) {
            prop_assert_eq!(code(&password, list.as_bytes()).len(), 16);
            prop_assume!(list != other);
            prop_assert_ne!(code(&password, list.as_bytes()), code(&password, other.as_bytes()));
            prop_assert_ne!(code(&password, b"x"), code(&format!("{password}a"), b"x"));
        }
    }
}
