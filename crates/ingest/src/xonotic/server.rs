//! What the lines of a log mean for its game and the players, by the game's own rules.

use std::collections::{BTreeMap, BTreeSet};

use super::grammar::{self, XonoticEvent};
use crate::{
    event::{ClientTeam, GameEvent, TEAMS},
    stamp, text,
};
use evenkeel_model::{PlayerKey, Timestamp};

/// The most players who are known at a time. A real server has fewer.
const MAX_CLIENTS: usize = 256;

/// A line of the log of a running server, which [`XonoticServer::take`] takes over.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a>(XonoticEvent<'a>);

impl<'a> Line<'a> {
    /// Reads a line, which may have a time stamp before it; `None` if it has another form.
    pub fn read(line: &'a [u8]) -> Option<Self> {
        let line = stamp::bare(line, |line| line.starts_with(b":"));
        grammar::read(line).ok().map(Self)
    }

    /// The date, if the line states one.
    pub fn date(&self) -> Option<Timestamp> {
        match self.0 {
            XonoticEvent::Time(date) => Some(date),
            _ => None,
        }
    }

    /// Whether the map is restarted, as after a warm-up.
    pub fn restarts(&self) -> bool {
        self.0 == XonoticEvent::Restart
    }
}

/// A player on the server.
#[derive(Debug)]
pub struct XonoticClient {
    bot: bool,
    /// The name as a record has it.
    pub name: String,
    /// The number by which commands name the player.
    pub number: Option<u32>,
    /// The team, or that the player watches.
    pub place: ClientTeam,
}

impl XonoticClient {
    /// The identity, as a record has it.
    pub fn key(&self) -> PlayerKey {
        text::key_by_name(self.bot, self.name.clone())
    }

    /// The team for which the player plays.
    pub fn team(&self) -> Option<u8> {
        match self.place {
            ClientTeam::Team(team) => Some(team),
            ClientTeam::Free | ClientTeam::Spectator | ClientTeam::Unknown => None,
        }
    }
}

/// What the log shows of a game server. Players have the numbers that the log gives them.
#[derive(Debug, Default)]
pub struct XonoticServer {
    /// The type of the game in lower case, for example `ctf`; empty before the log has named it.
    pub kind: String,
    /// The map, as the server names it.
    pub map: String,
    /// The mutators that are active.
    pub mutators: BTreeSet<String>,
    /// The players, by their numbers in the log.
    pub clients: BTreeMap<usize, XonoticClient>,
    /// Whether the final scores are being read, and not those of a moment in play.
    ends: bool,
    /// Which of the scores in a list decides the game.
    label: Option<usize>,
    scores: [Option<f64>; TEAMS],
}

impl XonoticServer {
    /// Takes over what a line states, and appends what it means.
    pub fn take(&mut self, line: Line<'_>, events: &mut Vec<GameEvent>) {
        self.interpret(line.0, events);
    }

    /// Takes over what a line states, and appends what it means.
    pub(crate) fn interpret(&mut self, event: XonoticEvent<'_>, events: &mut Vec<GameEvent>) {
        match event {
            XonoticEvent::GameStart { kind, map } => {
                *self = Self {
                    kind: text::name(kind).to_lowercase(),
                    map: text::name(map),
                    ..Self::default()
                };
                events.push(GameEvent::Game);
            }
            XonoticEvent::Mutators(list) => {
                let names = list.split(|&b| b == b':').map(text::name);
                self.mutators = names.filter(|name| !name.is_empty()).collect();
                events.push(GameEvent::Setup);
            }
            XonoticEvent::Restart => events.push(GameEvent::Start),
            XonoticEvent::GameOver => {
                self.clients.clear();
                events.push(GameEvent::Closed);
            }
            XonoticEvent::Kill {
                frag,
                killer,
                victim,
            } => {
                let by = Some(killer).filter(|killer| *killer != victim);
                events.push(GameEvent::Death {
                    victim,
                    by,
                    enemy: frag,
                    moved: false,
                });
                if self.kind == "tdm" {
                    // A suicide or the death of a team mate costs the killer's team a point.
                    events.extend(self.score(killer, if frag { 1.0 } else { -1.0 }));
                }
            }
            XonoticEvent::Capture(id) => events.extend(self.score(id, 1.0)),
            XonoticEvent::Join {
                id,
                slot,
                bot,
                nick,
            } => {
                let client = XonoticClient {
                    bot,
                    name: name(nick),
                    number: slot,
                    // In a game without teams no line states a team.
                    place: ClientTeam::Free,
                };
                self.join(id, client, events);
            }
            XonoticEvent::Team { id, place } => {
                self.change(id, events, |client| client.place = place)
            }
            XonoticEvent::Name { id, nick } => {
                self.change(id, events, |client| client.name = name(nick))
            }
            XonoticEvent::Part(id) => {
                let known = self.clients.remove(&id);
                events.extend(known.map(|_| GameEvent::Left(id)));
            }
            other => self.result(other, events),
        }
    }

    /// A client has connected. Who had its slot is gone.
    fn join(&mut self, id: usize, client: XonoticClient, events: &mut Vec<GameEvent>) {
        let slot = client.number;
        let gone = self.clients.extract_if(.., |other, client| {
            *other == id || (slot.is_some() && client.number == slot)
        });
        events.extend(gone.map(|(gone, _)| GameEvent::Left(gone)));
        if self.clients.len() < MAX_CLIENTS {
            self.clients.insert(id, client);
            events.push(GameEvent::Client(id));
        }
    }

    fn change(
        &mut self,
        id: usize,
        events: &mut Vec<GameEvent>,
        change: impl FnOnce(&mut XonoticClient),
    ) {
        if let Some(client) = self.clients.get_mut(&id) {
            change(client);
            events.push(GameEvent::Client(id));
        }
    }

    /// A player has changed the score of their team.
    fn score(&self, id: usize, points: f64) -> Option<GameEvent> {
        let team = self.clients.get(&id)?.team()?;
        let by = Some(id);
        Some(GameEvent::Score { team, points, by })
    }

    /// Handles a list of scores.
    fn result(&mut self, event: XonoticEvent<'_>, events: &mut Vec<GameEvent>) {
        match event {
            XonoticEvent::Status => self.ends = false,
            XonoticEvent::Scores { .. } => {
                self.ends = true;
                (self.label, self.scores) = (None, [None; TEAMS]);
                events.push(GameEvent::Over);
            }
            _ if !self.ends => {}
            XonoticEvent::PlayerLabels(labels) | XonoticEvent::TeamLabels(labels) => {
                self.label = grammar::deciding(labels);
            }
            XonoticEvent::Player {
                id: client,
                scores,
                watches: false,
                ..
            } => {
                let points = self.label.and_then(|label| grammar::score(scores, label));
                events.extend(points.map(|points| GameEvent::Points { client, points }));
            }
            XonoticEvent::TeamScores { team, scores } => {
                if let Some(score) = self.scores.get_mut(usize::from(team)) {
                    *score = self.label.and_then(|label| grammar::score(scores, label));
                }
            }
            XonoticEvent::End => {
                self.ends = false;
                events.extend([GameEvent::Result(self.scores), GameEvent::Ended]);
            }
            _ => {}
        }
    }

    /// Whether anybody on the server has an opponent.
    pub(super) fn are_opposed(&self) -> bool {
        ClientTeam::are_opposed(self.clients.values().map(|client| client.place))
    }
}

/// Decodes a name, which must not be empty in a record.
fn name(nick: &[u8]) -> String {
    match grammar::plain(nick) {
        name if name.is_empty() => "unnamed".to_owned(),
        name => name,
    }
}
