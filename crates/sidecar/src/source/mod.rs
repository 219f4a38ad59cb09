//! The engine Source: Team Fortress 2, Counter-Strike: Source, Counter-Strike: Global Offensive
//! and their relatives, through the server's log and its remote console.
//!
//! Teams are chosen until the first round of a map starts, while the server waits for players,
//! and in a warm-up. This file handles what the log shows, also what a restore of Counter-Strike takes
//! back, and the packets of the remote console.

#[cfg(test)]
mod tests;

use evenkeel_ingest::{
    GameEvent,
    live::source::{Line, ResultStyle, SourceClient, SourceServer},
};
use evenkeel_protocol::Request;
use thiserror::Error;

use crate::{
    engine::{Engine, TeamChanges, TeamOrders},
    follower::{FollowedServer, OpeningTime, TeamWord, TemplateCommands},
    progress::{ConnectionKey, LoggedPlayer, LoggedSetup},
};

/// The engine of one Source game server.
pub struct Source {
    commands: TemplateCommands,
    /// How commands name the sides.
    words: fn(u8) -> TeamWord,
    opening: OpeningTime,
    log: SourceServer,
    /// Whether a round has started on this map, or the game has been restarted.
    begun: bool,
    /// The final scores that have been read, by side.
    finals: Vec<(u8, f64)>,
    deaths: HeldDeaths,
    /// Whether the sidecar has reported to the operator that the map is not known yet.
    warned: bool,
}

impl Source {
    /// An engine that has read no log. `game` is the game's folder, such as `tf`, for logs that do not state
    /// it. `opening` is how long the server waits for players on a new map after the first one has joined, in
    /// milliseconds.
    pub fn new(commands: TemplateCommands, game: Option<String>, opening: u64) -> Self {
        Self {
            commands,
            words: word,
            opening: OpeningTime::new(opening),
            log: SourceServer::of(game),
            begun: false,
            finals: Vec::new(),
            deaths: HeldDeaths::default(),
            warned: false,
        }
    }

    /// The setup of the game, once the log has named its map.
    fn game_setup(&self) -> Option<LoggedSetup> {
        let setup = &self.log.setup;
        (!setup.map.is_empty()).then(|| LoggedSetup {
            game_type: self.log.game_type(),
            mutators: setup.mutators(),
            map: setup.map.clone(),
            teams: true,
            match_id: None,
        })
    }

    /// All players, as the log describes them.
    fn players(&self) -> Vec<(ConnectionKey, LoggedPlayer)> {
        let clients = self.log.clients.iter();
        clients
            .map(|client| {
                let player = LoggedPlayer {
                    key: client.key(),
                    name: client.name(),
                    number: client.number(),
                    side: client.team(),
                    free: false,
                    begun: true,
                    role: client.role(),
                };
                (connection(client), player)
            })
            .collect()
    }
}

fn connection(client: &SourceClient) -> ConnectionKey {
    ConnectionKey(client.number(), client.key().id)
}

/// How commands name the sides: the engine's teams begin at 2, after those who watch.
fn word(side: u8) -> TeamWord {
    let name = match side {
        0 => "red",
        1 => "blue",
        2 => "yellow",
        _ => "green",
    };
    TeamWord {
        name,
        number: u32::from(side) + 2,
    }
}

/// How commands name the sides in Counter-Strike.
fn counter_strike_word(side: u8) -> TeamWord {
    TeamWord {
        name: if side == 0 { "t" } else { "ct" },
        number: u32::from(side) + 2,
    }
}

impl Engine for Source {
    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        self.read_log_line(line, server);
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        self.deaths.pass(self.opening.log_position(), server);
        self.open(server);
    }

    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders {
        self.commands.orders(changes, self.words)
    }
}

impl Source {
    fn read_log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let Some(line) = Line::read(line) else {
            return;
        };
        self.opening.read(Some(line.date), server.now());
        let now = self.opening.log_position();
        if !line.starts_round() {
            self.open(server);
        }
        // A restore may take back those that wait.
        if !line.reloads() {
            self.deaths.pass(now, server);
        }
        // Commands name players by their numbers.
        if line.is_misnumbered() {
            return;
        }
        let mut events = Vec::new();
        self.log.pass_until(&line, &mut events);
        for event in events.drain(..) {
            self.event(event, server);
        }
        self.log.take(&line, now, &mut events);
        for event in events {
            self.event(event, server);
        }
    }

    /// Starts play once the server no longer waits for players.
    fn open(&mut self, server: &mut FollowedServer) {
        if self.opening.is_due(server) {
            self.start(server);
        }
    }

    fn event(&mut self, event: GameEvent, server: &mut FollowedServer) {
        match event {
            GameEvent::Game => {
                server.leave_map();
                self.begun = false;
                self.opening.reset();
                self.begin(server);
            }
            // It is another game than its log or its name has said.
            GameEvent::Setup if server.has_game() && !server.is_playing() => self.begin(server),
            GameEvent::WarmUp => {
                self.restart(server);
                server.warm_up();
            }
            GameEvent::Restart { plays: false } => self.restart(server),
            GameEvent::Restart { plays: true } => self.start(server),
            GameEvent::Round if server.is_playing() => {
                self.finals.clear();
                server.round_started();
                self.deaths.round_started(self.log.stated());
            }
            GameEvent::Round | GameEvent::Start => {
                match !self.begun && self.opening.waits(server.now()) {
                    true => self.opening.pending = true,
                    false => self.start(server),
                }
                self.begun = true;
            }
            GameEvent::RoundEnd => {
                if self.opening.pending {
                    self.start(server);
                }
                server.round_ended();
            }
            GameEvent::Reloaded { running } => self.deaths.reloaded(running),
            GameEvent::Restored(scores) => self.deaths.restored(scores),
            GameEvent::Client(_) | GameEvent::Placed { .. } | GameEvent::Left(_) => {
                server.sync(self.players());
            }
            GameEvent::Death {
                victim, by, enemy, ..
            } => self.died(victim, by, enemy, server),
            other => self.result(other, server),
        }
    }

    /// Handles scores and the end of a game. Captures count by the scores that follow them.
    fn result(&mut self, event: GameEvent, server: &mut FollowedServer) {
        match event {
            GameEvent::Total { team, points } => server.total(team, points),
            GameEvent::Over => {
                self.deaths.send(server);
                server.over();
            }
            GameEvent::Final { team, points } if server.is_over() => {
                self.finals.push((team, points));
                if self.finals.len() > 1 {
                    server.finals(self.finals.clone());
                }
            }
            GameEvent::Ended => server.end(),
            GameEvent::Closed if server.is_over() => server.end(),
            _ => {}
        }
    }

    /// Announces a game whose play has not begun.
    fn begin(&mut self, server: &mut FollowedServer) {
        self.finals.clear();
        let Some(setup) = self.game_setup() else {
            return;
        };
        self.words = match setup.game_type.starts_with("cs") {
            true => counter_strike_word,
            false => word,
        };
        server.begin(setup);
    }

    /// Handles a restart of the game: what was played before does not count.
    fn restart(&mut self, server: &mut FollowedServer) {
        self.begun = true;
        self.opening.pending = false;
        if !server.is_opening() {
            self.begin(server);
        }
    }

    fn start(&mut self, server: &mut FollowedServer) {
        self.finals.clear();
        self.opening.pending = false;
        self.deaths.clear();
        self.deaths.round_started(self.log.stated());
        match self.game_setup() {
            Some(setup) => server.start(setup),
            None if !std::mem::replace(&mut self.warned, true) => {
                let text = "the log does not name the map: no player is moved before the next one";
                server.report(text);
            }
            None => {}
        }
    }

    /// Handles a death. In a match of Counter-Strike, it counts once no round can be restored any more.
    fn died(&mut self, victim: usize, by: Option<usize>, enemy: bool, server: &mut FollowedServer) {
        let connection = |slot| self.log.clients.at(slot).map(connection);
        let Some(dead) = connection(victim) else {
            return;
        };
        let killer = by.filter(|_| enemy).and_then(connection);
        let style = self.log.style;
        match server.kill(&dead, killer.as_ref()) {
            Some(death) if style == (ResultStyle::Rounds { has_end: true }) => {
                self.deaths.hold(death, server);
            }
            Some(death) => server.count(death),
            None => {}
        }
        match by {
            None if style != ResultStyle::Finals => {
                self.deaths
                    .suicide(dead, self.opening.log_position(), server);
            }
            _ => server.death(&dead),
        }
    }
}

/// How long a suicide waits, in milliseconds: with a restore of Counter-Strike, everybody dies a moment before the line that
/// says so, whose time may be that of the next second.
const RESTORE_LAG: u64 = 2_000;
/// The most suicides that wait. A real server has fewer players.
const MOST_SUICIDES: usize = 128;
/// The most deaths of a match that wait for its end. A real match has fewer.
const MOST_DEATHS: usize = 20_000;

/// The deaths of one round.
#[derive(Debug)]
struct RoundDeaths {
    /// The scores with which it began.
    scores: [f64; 2],
    deaths: Vec<Request>,
}

/// The deaths that the daemon has not been sent yet.
#[derive(Debug, Default)]
struct HeldDeaths {
    /// Suicides after which nobody was moved yet, each with its time in the log and that of the sidecar: they may be those of
    /// a restore.
    suicides: Vec<(u64, u64, ConnectionKey)>,
    /// The rounds of the match, which has a line for its end.
    rounds: Vec<RoundDeaths>,
    count: usize,
}

impl HeldDeaths {
    /// Forgets everything: what was played before does not count.
    fn clear(&mut self) {
        *self = Self::default();
    }

    /// Holds a death until the match is over.
    fn hold(&mut self, death: Request, server: &mut FollowedServer) {
        match self.rounds.last_mut() {
            Some(round) if self.count < MOST_DEATHS => {
                self.count += 1;
                round.deaths.push(death);
            }
            _ => server.count(death),
        }
    }

    /// A round begins with these scores.
    fn round_started(&mut self, scores: [f64; 2]) {
        if self.rounds.len() < MOST_DEATHS {
            let deaths = Vec::new();
            self.rounds.push(RoundDeaths { scores, deaths });
        }
    }

    /// An earlier round is restored: the one that was `running` does not count.
    fn reloaded(&mut self, running: bool) {
        self.suicides.clear();
        if running && let Some(last) = self.rounds.len().checked_sub(1) {
            self.take_back(last);
        }
    }

    /// The round that began with these scores is played again.
    fn restored(&mut self, scores: [f64; 2]) {
        let began = |round: &RoundDeaths| round.scores == scores;
        if let Some(at) = self.rounds.iter().rposition(began) {
            self.take_back(at);
        }
    }

    /// Takes back what was played since this round began.
    fn take_back(&mut self, at: usize) {
        self.rounds.truncate(at + 1);
        if let Some(round) = self.rounds.last_mut() {
            round.deaths.clear();
        }
        self.count = self.rounds.iter().map(|round| round.deaths.len()).sum();
    }

    /// The match is over: sends its deaths.
    fn send(&mut self, server: &mut FollowedServer) {
        for death in self.rounds.drain(..).flat_map(|round| round.deaths) {
            server.count(death);
        }
        self.count = 0;
    }

    /// Holds a suicide, after which somebody may be moved.
    fn suicide(&mut self, victim: ConnectionKey, in_log: u64, server: &mut FollowedServer) {
        match self.suicides.len() < MOST_SUICIDES {
            true => self.suicides.push((in_log, server.now(), victim)),
            false => server.death(&victim),
        }
    }

    /// Sends the suicides that no restore has taken back in time.
    fn pass(&mut self, in_log: u64, server: &mut FollowedServer) {
        let now = server.now();
        let lasts = |(logged, read, _): &(u64, u64, ConnectionKey)| {
            let passed = in_log
                .saturating_sub(*logged)
                .max(now.saturating_sub(*read));
            passed < RESTORE_LAG
        };
        let (wait, due): (Vec<_>, Vec<_>) = self.suicides.drain(..).partition(lasts);
        self.suicides = wait;
        for (_, _, victim) in due {
            server.death(&victim);
        }
    }
}

/// The shortest packet after its size, in bytes: id, type and two zeros.
const SHORTEST: usize = 10;
/// The longest packet after its size, in bytes. Servers send at most 4,096, and some a few more.
const LONGEST: usize = 8_192;
/// The longest text of a request, in bytes.
pub(crate) const MAX_REQUEST: usize = 4_000;

/// The type of a request to log in.
const AUTH: i32 = 3;
/// The type of a command, and of the answer to a login.
const COMMAND: i32 = 2;
/// The type of an answer. As a request it is empty, and the server sends it back.
const ANSWER: i32 = 0;
/// The id of the answer to a login with a wrong password.
const REFUSED: i32 = -1;

/// What a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent<'a> {
    /// Logs in with a password.
    Login(&'a str),
    /// Executes a console command.
    Command(&'a str),
    /// Does nothing; its answer follows those to the requests before.
    End,
}

/// What a server answers, with the id of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceAnswer {
    /// The login was accepted, or refused.
    Login(bool),
    /// A part of the text that a command printed, or the answer to [`Sent::End`].
    Text(i32, Vec<u8>),
}

/// A packet that does not follow the protocol. The connection cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PacketError {
    /// The size is out of bounds.
    #[error("a packet of {0} bytes")]
    Size(i32),
    /// The type is none that a server sends.
    #[error("a packet of the unknown type {0}")]
    Type(i32),
}

/// Appends a request to `packets`. Zeros in the text would end it early, and are left out; it is cut
/// at `MAX_REQUEST` bytes.
pub fn encode(id: i32, sent: Sent<'_>, packets: &mut Vec<u8>) {
    let (kind, text) = match sent {
        Sent::Login(password) => (AUTH, password),
        Sent::Command(command) => (COMMAND, command),
        Sent::End => (ANSWER, ""),
    };
    let text: Vec<u8> = text.bytes().filter(|&b| b != 0).take(MAX_REQUEST).collect();
    let size = i32::try_from(text.len() + SHORTEST).unwrap_or(i32::MAX);
    for number in [size, id, kind] {
        packets.extend(number.to_le_bytes());
    }
    packets.extend(text);
    packets.extend([0, 0]);
}

/// Splits what a server sends into answers. Holds at most one packet.
#[derive(Debug, Default)]
pub struct AnswerReader(Vec<u8>);

impl AnswerReader {
    /// Takes the next bytes, and appends the answers that they complete.
    ///
    /// # Errors
    /// Fails if a packet does not follow the protocol.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        answers: &mut Vec<SourceAnswer>,
    ) -> Result<(), PacketError> {
        self.0.extend_from_slice(bytes);
        let mut read = 0;
        while let Some((size, rest)) = number(&self.0[read..]) {
            let length = usize::try_from(size)
                .ok()
                .filter(|length| (SHORTEST..=LONGEST).contains(length))
                .ok_or(PacketError::Size(size))?;
            let Some(packet) = rest.get(..length) else {
                break;
            };
            answers.push(answer(packet)?);
            read += 4 + length;
        }
        self.0.drain(..read);
        Ok(())
    }
}

/// Reads one packet after its size.
fn answer(packet: &[u8]) -> Result<SourceAnswer, PacketError> {
    let (Some((id, rest)), size) = (number(packet), packet.len()) else {
        return Err(PacketError::Size(0));
    };
    let Some((kind, text)) = number(rest) else {
        return Err(PacketError::Size(i32::try_from(size).unwrap_or(i32::MAX)));
    };
    let end = memchr::memchr(0, text).unwrap_or(text.len());
    match kind {
        COMMAND => Ok(SourceAnswer::Login(id != REFUSED)),
        ANSWER => Ok(SourceAnswer::Text(id, text[..end].to_owned())),
        other => Err(PacketError::Type(other)),
    }
}

/// Reads the number at the beginning.
fn number(bytes: &[u8]) -> Option<(i32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((i32::from_le_bytes(*number), rest))
}

#[cfg(test)]
mod rcon_tests {
    use proptest::prelude::*;

    use super::*;

    fn packet(id: i32, kind: i32, text: &[u8]) -> Vec<u8> {
        let size = i32::try_from(text.len() + SHORTEST).unwrap();
        let numbers = [size, id, kind].map(i32::to_le_bytes).concat();
        [&numbers[..], text, &[0, 0]].concat()
    }

    fn read(bytes: &[u8], chunk: usize) -> Result<Vec<SourceAnswer>, PacketError> {
        let (mut reader, mut answers) = (AnswerReader::default(), Vec::new());
        for chunk in bytes.chunks(chunk) {
            reader.feed(chunk, &mut answers)?;
            assert!(reader.0.len() <= LONGEST + 4 + chunk.len());
        }
        Ok(answers)
    }

    #[test]
    fn requests_have_the_published_form() {
        let mut packets = Vec::new();
        encode(7, Sent::Login("ab"), &mut packets);
        assert_eq!(packets, b"\x0c\0\0\0\x07\0\0\0\x03\0\0\0ab\0\0");
        packets.clear();
        encode(8, Sent::Command("a\0b"), &mut packets);
        assert_eq!(packets, b"\x0c\0\0\0\x08\0\0\0\x02\0\0\0ab\0\0");
        packets.clear();
        encode(9, Sent::End, &mut packets);
        assert_eq!(packets, b"\x0a\0\0\0\x09\0\0\0\0\0\0\0\0\0");
        packets.clear();
        encode(1, Sent::Command(&"x".repeat(9_999)), &mut packets);
        assert_eq!(packets.len(), MAX_REQUEST + SHORTEST + 4);
    }

    #[test]
    fn answers_in_pieces() {
        let all = [
            packet(1, 0, b""),
            packet(1, 2, b""),
            packet(2, 0, b"one"),
            packet(2, 0, b"two"),
            packet(3, 0, b"\0\x01\0\0"),
            packet(-1, 2, b""),
        ]
        .concat();
        let text = |id, text: &[u8]| SourceAnswer::Text(id, text.to_owned());
        let expected = vec![
            text(1, b""),
            SourceAnswer::Login(true),
            text(2, b"one"),
            text(2, b"two"),
            text(3, b""),
            SourceAnswer::Login(false),
        ];
        for chunk in [1, 3, 4, 17, 1_000] {
            assert_eq!(read(&all, chunk), Ok(expected.clone()));
        }
    }

    #[test]
    fn hostile_sizes_and_types() {
        for size in [i32::MIN, -1, 0, 9, 8_193, i32::MAX] {
            let bytes = [&size.to_le_bytes()[..], &[0; 40]].concat();
            assert_eq!(read(&bytes, 5), Err(PacketError::Size(size)));
        }
        assert_eq!(read(&packet(1, 5, b""), 9), Err(PacketError::Type(5)));
        // The rest of an announced packet never comes.
        assert_eq!(read(&8_192i32.to_le_bytes(), 4), Ok(vec![]));
        let long = packet(1, 0, &[b'x'; LONGEST - SHORTEST]);
        assert_eq!(read(&long, 700).unwrap().len(), 1);
    }

    proptest! {
        #[test]
        fn any_bytes_are_borne(bytes in any::<Vec<u8>>(), chunk in 1usize..9) {
            let one = read(&bytes, chunk);
            prop_assert_eq!(one, read(&bytes, 1));
        }

        #[test]
        fn a_server_reads_what_is_sent(id in 0..i32::MAX, text in "[^\\x00]{0,60}") {
            let mut packets = Vec::new();
            encode(id, Sent::Command(&text), &mut packets);
            // The server's answer to a login has the type of a command.
            packets[8] = 0;
            prop_assert_eq!(read(&packets, 7), Ok(vec![SourceAnswer::Text(id, text.into_bytes())]));
        }
    }
}
