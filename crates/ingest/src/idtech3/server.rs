//! What a log shows of a game server: which player has which client number, with the player's identity, and what the
//! lines mean for the game and the clients, by the game's own rules.

use evenkeel_model::{Kind, PlayerKey};

use super::{
    grammar::{self, IdTech3Event, pairs},
    setup::GameSetup,
};
use crate::{
    event::{ClientTeam, GameEvent},
    stamp,
    text::{name, name_or, real, weak_identity},
};

/// A line of the log of a running server, which [`IdTech3Server::take`] takes over.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The time by the log's clock, in milliseconds.
    pub at: u64,
    event: IdTech3Event<'a>,
}

impl<'a> Line<'a> {
    /// Reads a line, which may have a time stamp before it; `None` if it has another form.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        let line = stamp::bare(line, grammar::has_time);
        let (at, event) = grammar::read(line, true).ok()??;
        Some(Self { at, event })
    }

    /// What a client says: the name, a colon and the text. In Urban Terror, the client number precedes the name.
    pub fn said(&self) -> Option<&'a [u8]> {
        match self.event {
            IdTech3Event::Say(said) => Some(said),
            _ => None,
        }
    }

    /// What a client says in Urban Terror: the client number, and the rest.
    pub fn said_with_number(&self) -> Option<(usize, &'a [u8])> {
        grammar::client(self.said()?).ok()
    }
}

/// What the log shows of a game server.
#[derive(Debug, Default)]
pub struct IdTech3Server {
    /// The settings of the game, once a line has stated them.
    pub setup: Option<GameSetup>,
    /// The clients who are connected.
    pub clients: ClientSlots,
}

impl IdTech3Server {
    /// Takes over what a line states, and appends what it means.
    pub fn take(&mut self, line: Line<'_>, events: &mut Vec<GameEvent>) {
        self.interpret(line.event, events);
    }

    /// Takes over what a line states, and appends what it means.
    pub(crate) fn interpret(&mut self, event: IdTech3Event<'_>, events: &mut Vec<GameEvent>) {
        events.push(match event {
            IdTech3Event::InitGame(info) => {
                self.setup = Some(GameSetup::read(info));
                self.clients = ClientSlots::default();
                GameEvent::Game
            }
            IdTech3Event::InitRound(info) => {
                self.setup = Some(GameSetup::read(info));
                GameEvent::Round
            }
            IdTech3Event::Warmup => GameEvent::WarmUp,
            IdTech3Event::Exit => GameEvent::Over,
            IdTech3Event::Shutdown => GameEvent::Closed,
            IdTech3Event::Connect(number) => self.client(number, |client| client.begun = false),
            IdTech3Event::Begin(number) => self.client(number, |client| client.begun = true),
            IdTech3Event::Userinfo(number, info) => {
                self.client(number, |client| client.userinfo(info))
            }
            IdTech3Event::Changed(number, info) => {
                self.client(number, |client| client.changed(info))
            }
            IdTech3Event::Disconnect(number) => {
                self.clients.remove(number);
                GameEvent::Left(number)
            }
            IdTech3Event::Kill {
                killer,
                victim,
                team_change,
            } => return self.kill(killer, victim, team_change, events),
            IdTech3Event::Capture { by, flag } => {
                let team = match flag {
                    // Red's flag is that which blue captures.
                    1 | 2 => Some(u8::from(flag == 1)),
                    _ => by.and_then(|by| self.team_of(by)),
                };
                let Some(team) = team else { return };
                score(team, 1.0, by)
            }
            IdTech3Event::RoundWon(team) => score(team, 1.0, None),
            IdTech3Event::TeamScore { team, total } => match team {
                // 0 is "free", 3 "spectators".
                1 | 2 => GameEvent::Total {
                    team: u8::from(team == 2),
                    points: total as f64,
                },
                _ => return,
            },
            IdTech3Event::Result(scores) => {
                let [red, blue] = scores.map(|score| Some(score as f64));
                GameEvent::Result([red, blue, None, None])
            }
            IdTech3Event::Points { client, points } => {
                let points = points as f64;
                GameEvent::Points { client, points }
            }
            IdTech3Event::ServerTime(_) | IdTech3Event::Say(_) | IdTech3Event::Other => return,
        });
    }

    fn team_of(&self, number: usize) -> Option<u8> {
        self.clients.get(number)?.team()
    }

    fn client(&mut self, number: usize, change: impl FnOnce(&mut IdTech3Client)) -> GameEvent {
        change(self.clients.client(number));
        GameEvent::Client(number)
    }

    /// Evaluates a kill. `killer` is `None` for the world, and `moved` marks the death by which the game carries out a
    /// change of teams.
    ///
    /// In team deathmatch an enemy's death gains the killer's team a point; a team mate's death
    /// costs it one. A death by suicide or by the world costs the victim's team a point, unless it
    /// was a change of teams.
    fn kill(&self, killer: Option<usize>, victim: usize, moved: bool, events: &mut Vec<GameEvent>) {
        let setup = self.setup.as_ref();
        let by = killer.filter(|&killer| killer != victim);
        let teams = setup.is_some_and(|setup| setup.teams);
        let enemy = by.is_some_and(|killer| !teams || self.team_of(killer) != self.team_of(victim));
        events.push(GameEvent::Death {
            victim,
            by,
            enemy,
            moved,
        });
        let scores = setup.is_some_and(|setup| setup.scored_by_kills) && (by.is_some() || !moved);
        let by = by.unwrap_or(victim);
        let team = self.team_of(by).filter(|_| scores);
        events.extend(team.map(|team| score(team, if enemy { 1.0 } else { -1.0 }, Some(by))));
    }
}

fn score(team: u8, points: f64, by: Option<usize>) -> GameEvent {
    GameEvent::Score { team, points, by }
}

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

    /// A server with clients 0 and 1 on red, 2 on blue, and 3, who watches.
    fn server(game_type: i64) -> IdTech3Server {
        let mut server = IdTech3Server::default();
        let info = format!("\\g_gametype\\{game_type}");
        server.interpret(IdTech3Event::InitGame(info.as_bytes()), &mut Vec::new());
        for (number, info) in [b"t\\1", b"t\\1", b"t\\2", b"t\\3"].into_iter().enumerate() {
            server.interpret(IdTech3Event::Changed(number, info), &mut Vec::new());
            server.interpret(IdTech3Event::Begin(number), &mut Vec::new());
        }
        server
    }

    /// Whether a kill is that of an enemy, and the team's points for it, with who has caused them.
    fn kill(
        game_type: i64,
        killer: Option<usize>,
        victim: usize,
        team_change: bool,
    ) -> (bool, Option<(u8, f64, usize)>) {
        let (mut server, mut events) = (server(game_type), Vec::new());
        let kill = IdTech3Event::Kill {
            killer,
            victim,
            team_change,
        };
        server.interpret(kill, &mut events);
        match events[..] {
            [GameEvent::Death { enemy, .. }] => (enemy, None),
            [
                GameEvent::Death { enemy, .. },
                GameEvent::Score { team, points, by },
            ] => (enemy, Some((team, points, by.unwrap()))),
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn kills_score_in_team_deathmatch() {
        for (killer, victim, team_change, enemy, points) in [
            (Some(0), 2, false, true, Some((0, 1.0, 0))),
            (Some(0), 1, false, false, Some((0, -1.0, 0))),
            (Some(2), 2, false, false, Some((1, -1.0, 2))),
            (None, 2, false, false, Some((1, -1.0, 2))),
            (Some(2), 2, true, false, None),
            (Some(3), 2, false, true, None),
        ] {
            assert_eq!(kill(3, killer, victim, team_change), (enemy, points));
        }
    }

    #[test]
    fn kills_score_for_players_alone_elsewhere() {
        assert_eq!(kill(4, Some(0), 2, false), (true, None));
        assert_eq!(kill(4, Some(0), 1, false), (false, None));
        assert_eq!(kill(0, Some(0), 1, false), (true, None));
    }

    #[test]
    fn captures_rounds_and_totals() {
        let mut events = Vec::new();
        for event in [
            IdTech3Event::Capture {
                by: Some(5),
                flag: 2,
            },
            IdTech3Event::Capture { by: None, flag: 1 },
            IdTech3Event::Capture {
                by: Some(2),
                flag: -1,
            },
            IdTech3Event::Capture {
                by: Some(3),
                flag: -1,
            },
            IdTech3Event::RoundWon(1),
        ] {
            server(4).interpret(event, &mut events);
        }
        let expected = [(0, Some(5)), (1, None), (1, Some(2)), (1, None)]
            .map(|(team, by)| score(team, 1.0, by));
        assert_eq!(events, expected);
        events.clear();
        for team in [0, 2, 3, i64::MAX] {
            let total = 7;
            server(4).interpret(IdTech3Event::TeamScore { team, total }, &mut events);
        }
        let points = 7.0;
        assert_eq!(events, [GameEvent::Total { team: 1, points }]);
    }

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
