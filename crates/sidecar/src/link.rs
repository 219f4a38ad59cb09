//! What a sidecar knows about its connection to the daemon.

use std::fmt::Display;

use super::Act;
use evenkeel_model::{ident::Ident, in_game::Verdict};
use evenkeel_protocol::{Code, Refusal, Request, request::Token};

/// The longest time without a request, in milliseconds. The daemon closes connections that are idle
/// for longer.
const SILENCE: u64 = 60_000;
/// The same of an instance, and of a sidecar that states where its game server is. The daemon takes an instance for lost,
/// and such a sidecar for dead, if it is silent for `[coordinator] heartbeat_seconds`, 30 by default.
pub(super) const HEARTBEAT: u64 = 5_000;
/// The longest name of a player, in bytes, that is sent together with an identity. It keeps lines
/// below the daemon's limit of 1,024 bytes.
const MAX_NAME: usize = 128;

/// What a sidecar sends in HELLO about its game server.
pub(super) struct ServerName<'a> {
    pub(super) server: &'a str,
    pub(super) token: Option<&'a str>,
    /// Where the game server is; `None` if others may report it, too.
    pub(super) source: Option<&'a str>,
}

/// Whether there is a connection, and what is known about its daemon.
#[derive(Debug, Default)]
pub(super) struct DaemonLink {
    pub(super) connected: bool,
    /// Whether the daemon's version lacks the verbs that report a running game.
    pub(super) outdated: bool,
    /// Whether the daemon has answered HELLO on this connection or an earlier one.
    greeted: bool,
    /// Whether this connection takes the place of an earlier one.
    resumes: bool,
    /// Whether the daemon takes it for dead if it is silent for a while.
    beats: bool,
    /// When the last request was sent.
    last_sent: u64,
}

impl DaemonLink {
    /// Starts a connection: sends HELLO. A server that `hosts` matches goes on with its game, and has no bots. One that
    /// `asks` lets its players volunteer before one is moved. One that `moves` players in play wants to know of streaks.
    /// A connection after another takes its place, even if the daemon has not noticed its end.
    pub(super) fn open(
        &mut self,
        name: &ServerName<'_>,
        [hosts, asks, moves]: [bool; 3],
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        *self = Self {
            connected: true,
            outdated: false,
            greeted: self.greeted,
            resumes: self.greeted,
            beats: name.source.is_some(),
            last_sent: now,
        };
        acts.push(Act::Send(Request::Hello {
            server: plain_ident(name.server),
            token: name.token.map(Token::new),
            resume: hosts || self.resumes,
            bots: hosts.then_some(false),
            offers: asks.then_some(true),
            streaks: moves.then_some(true),
            hosts: None,
            source: name.source.map(plain_ident),
        }));
    }

    /// The daemon has answered HELLO.
    pub(super) fn greeted(&mut self) {
        self.greeted = true;
    }

    /// The outbox for the current state of the connection.
    pub(super) fn outbox<'a>(&self, acts: &'a mut Vec<Act>) -> Outbox<'a> {
        Outbox {
            acts,
            connected: self.connected,
            resumes: self.resumes,
        }
    }

    /// Reports that the daemon refused a request. Returns true if the refusal shows, for the first time,
    /// that this version of the daemon does not follow games.
    pub(super) fn refused(&mut self, refusal: &Refusal, acts: &mut Vec<Act>) -> bool {
        if refusal.code != Code::UnknownCommand {
            let text = format!("the daemon refused a request: {refusal}");
            acts.push(Act::Report(printable(&text)));
            return false;
        }
        let first = !std::mem::replace(&mut self.outdated, true);
        if first {
            let text = "this version of the daemon does not follow games: ingest the log";
            acts.push(Act::Report(text.to_owned()));
        }
        first
    }

    /// Sends the end of a game, of which the daemon has the whole if it is `complete`. Of a part it would
    /// not store a match, so the operator is asked to ingest the log.
    pub(super) fn end(&self, complete: bool, acts: &mut Vec<Act>) {
        acts.push(if self.connected && complete {
            Act::Send(Request::End(Verdict::Scores))
        } else {
            let text = "the daemon has seen only a part of the game that ended: ingest its log";
            Act::Report(text.to_owned())
        });
    }

    /// Sends PING if nothing was sent for long; requests in `acts` count as sent.
    pub(super) fn keep_alive(&mut self, now: u64, acts: &mut Vec<Act>) {
        let longest = if self.beats { HEARTBEAT } else { SILENCE };
        if self.is_silent(longest, now, acts) {
            acts.push(Act::Send(Request::Ping));
        }
    }

    /// Whether PING is due, because nothing was sent for `longest` milliseconds. Requests in `acts` count as sent.
    pub(super) fn is_silent(&mut self, longest: u64, now: u64, acts: &[Act]) -> bool {
        let sends = acts.iter().any(|act| matches!(act, Act::Send(_)));
        let due = !sends && now >= self.last_sent.saturating_add(longest);
        if sends || due {
            self.last_sent = now;
        }
        due
    }
}

/// Appends requests to the acts; discards them if there is no connection.
pub(super) struct Outbox<'a> {
    acts: &'a mut Vec<Act>,
    connected: bool,
    resumes: bool,
}

impl Outbox<'_> {
    /// Sends what the daemon needs before the roster: the game type, mutators and map.
    pub(super) fn announce(&mut self, game_type: &str, mutators: &[String], map: &str) {
        self.send(Request::Game(plain_ident(game_type)));
        if self.resumes {
            // The session goes on, and may have had more of them.
            self.send(Request::Teams(2));
        }
        for mutator in mutators {
            self.send(Request::Mutator(plain_ident(mutator)));
        }
        if !map.is_empty() {
            let (name, range) = (plain_ident(map), None);
            self.send(Request::Map { name, range });
        }
    }

    pub(super) fn send(&mut self, request: Request) {
        if self.connected {
            self.acts.push(Act::Send(request));
        }
    }
}

/// The report that the daemon has recorded a game under this id, perhaps without rating it.
pub(super) fn recorded(id: impl Display, unrated: Option<impl Display>) -> Act {
    Act::Report(recorded_text(id, unrated))
}

/// The text of [`recorded`].
pub(super) fn recorded_text(id: impl Display, unrated: Option<impl Display>) -> String {
    match unrated {
        None => format!("the game is over: {id} recorded"),
        Some(reason) => format!("the game is over: {id} unrated {reason}"),
    }
}

/// Replaces control characters, which could control the operator's terminal.
fn printable(text: &str) -> String {
    let plain = |c: char| if c.is_control() { '?' } else { c };
    text.chars().map(plain).collect()
}

/// An identifier of this text, with control characters replaced by `?`.
pub(super) fn plain_ident(text: &str) -> Ident {
    Ident::from_text(&printable(text))
}

/// A player's name, as an identifier of bounded length.
pub(super) fn name_ident(name: &str) -> Ident {
    plain_ident(&name[..name.floor_char_boundary(MAX_NAME)])
}

#[cfg(test)]
mod tests {
    use bytes::BytesMut;
    use proptest::prelude::*;

    use super::*;
    use evenkeel_protocol::request::Join;

    #[test]
    fn names_are_cut_between_characters() {
        assert_eq!(name_ident(&"é".repeat(100)).text(), "é".repeat(64));
        assert_eq!(name_ident("a\nb\u{1b}").text(), "a?b?");
    }

    proptest! {
        #[test]
        fn a_join_is_one_line_within_the_limit(
            id in "[^\\s\\p{C}](\\PC{0,40}[^\\s\\p{C}])?",
            called in any::<String>(),
        ) {
            let mut join = Join::new(plain_ident(&id));
            join.name = Some(name_ident(&called));
            join.team = Some(1);
            let (request, mut line) = (Request::Join(join), BytesMut::new());
            request.encode(&mut line);
            prop_assert!(line.len() < 1_024);
            let line = line.freeze();
            prop_assert_eq!(Request::parse(line.slice(..line.len() - 1)), Ok(Some(request)));
        }
    }
}
