//! One game of the event log, from its beginning to the end of its scores.

use std::collections::{BTreeMap, BTreeSet};

use super::super::builder::{MatchBuilder, MatchHeader, UNKNOWN_TEAM};
use super::super::{Skip, clock::Calendar, text};
use super::grammar::{self, Event, Place};
use crate::domain::{MatchRecord, PlayerKey, Timestamp};

/// What the log does not say is which of the two games wrote it.
const GAME: &str = "xonotic";
/// Red, blue, yellow and pink.
const TEAMS: usize = 4;
/// More numbers than a server gives out during one game.
const MAX_CLIENTS: usize = 10_000;

/// Somebody on the server.
struct Client {
    bot: bool,
    name: String,
    place: Option<Place>,
    /// Who they are in the record, once they have played.
    visit: Option<usize>,
}

impl Client {
    fn key(&self) -> PlayerKey {
        text::key_by_name(self.bot, self.name.clone())
    }
}

/// The name, or what stands for none.
fn name(nick: &[u8]) -> String {
    match grammar::plain(nick) {
        name if name.is_empty() => "unnamed".to_owned(),
        name => name,
    }
}

/// What scores are being told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    /// None.
    Nothing,
    /// Those of a moment in play.
    Passing,
    /// The last ones.
    Final,
}

pub(super) struct Game {
    /// The line on which it began.
    pub(super) line: u64,
    kind: String,
    map: String,
    mutators: BTreeSet<String>,
    /// When it began, by the log's dates and by its line of time.
    date: Option<Timestamp>,
    began: u64,
    /// The seconds it lasted by its own count, and when it ended in milliseconds since it began.
    ended: Option<(Option<f64>, u64)>,
    clients: BTreeMap<u32, Client>,
    builder: MatchBuilder,
    telling: Telling,
    /// Which of the scores that follow decides.
    label: Option<usize>,
    /// Whether anybody was on a team.
    teams: bool,
    team_scores: [Option<f64>; TEAMS],
}

impl Game {
    pub(super) fn new(line: u64, kind: &[u8], map: &[u8], now: Calendar) -> Self {
        Self {
            line,
            kind: text::name(kind).to_lowercase(),
            map: text::name(map),
            mutators: BTreeSet::new(),
            date: now.date(),
            began: now.position(),
            ended: None,
            clients: BTreeMap::new(),
            builder: MatchBuilder::default(),
            telling: Telling::Nothing,
            label: None,
            teams: false,
            team_scores: [None; TEAMS],
        }
    }

    /// Whether a line that says that all scores are told means that the game is over.
    pub(super) fn ends(&mut self) -> bool {
        std::mem::replace(&mut self.telling, Telling::Nothing) == Telling::Final
    }

    pub(super) fn event(&mut self, event: Event<'_>, calendar: &mut Calendar) {
        let now = calendar.position().saturating_sub(self.began);
        match event {
            Event::Status => self.telling = Telling::Passing,
            Event::Scores { seconds } => {
                self.telling = Telling::Final;
                let mut at = now;
                if let (None, Some(seconds)) = (self.date, seconds) {
                    // Its own count is all that tells how long it lasted.
                    at = (seconds * 1_000.0) as u64; // saturates
                    calendar.pass(at);
                }
                self.ended = Some((seconds, at));
            }
            Event::PlayerLabels(labels) | Event::TeamLabels(labels) => {
                self.label = grammar::deciding(labels);
            }
            Event::Player {
                id,
                scores,
                played,
                watches,
            } => self.result(id, scores, played, watches),
            Event::TeamScores { team, scores } if self.telling == Telling::Final => {
                let score = self.label.and_then(|label| grammar::score(scores, label));
                if let Some(slot) = self.team_scores.get_mut(usize::from(team)) {
                    *slot = score;
                }
            }
            _ if self.ended.is_some() => {}
            Event::Mutators(list) => {
                let names = list.split(|&b| b == b':').map(text::name);
                self.mutators = names.filter(|name| !name.is_empty()).collect();
            }
            Event::Restart => self.restart(calendar),
            Event::Join { id, bot, nick } => self.join(id, bot, nick, now),
            Event::Team { id, place } => self.settle(id, Some(place), now),
            Event::Part(id) => {
                self.settle(id, None, now);
                self.clients.remove(&id);
            }
            Event::Name { id, nick } => self.rename(id, nick),
            Event::Kill {
                frag,
                killer,
                victim,
            } => self.kill(frag, killer, victim, now),
            Event::Capture(id) => self.score(id, 1.0, now),
            _ => {}
        }
    }

    /// What was played so far was warm-up.
    fn restart(&mut self, calendar: &Calendar) {
        self.builder = MatchBuilder::default();
        self.date = calendar.date();
        self.began = calendar.position();
        for client in self.clients.values_mut() {
            client.visit = None;
        }
        let places: Vec<_> = self.clients.iter().map(|(&id, c)| (id, c.place)).collect();
        for (id, place) in places {
            self.settle(id, place, 0);
        }
    }

    fn join(&mut self, id: u32, bot: bool, nick: &[u8], now: u64) {
        self.settle(id, None, now);
        if self.clients.len() < MAX_CLIENTS {
            let client = Client {
                bot,
                name: name(nick),
                place: None,
                visit: None,
            };
            self.clients.insert(id, client);
            // In a game without teams nothing more is said.
            self.settle(id, Some(Place::NoTeam), now);
        }
    }

    /// Puts somebody where they are now.
    fn settle(&mut self, id: u32, place: Option<Place>, now: u64) {
        let Some(client) = self.clients.get_mut(&id) else {
            return;
        };
        client.place = place;
        let team = match place {
            Some(Place::Team(team)) => {
                self.teams = true;
                Some(team)
            }
            Some(Place::NoTeam) => Some(UNKNOWN_TEAM),
            Some(Place::Watching) | None => None,
        };
        let mut visit = client.visit;
        let player = || (client.key(), client.name.clone());
        self.builder.place(&mut visit, team, now, player);
        client.visit = visit;
    }

    fn rename(&mut self, id: u32, nick: &[u8]) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.name = name(nick);
            if let Some(visit) = client.visit {
                let (key, name) = (client.key(), client.name.clone());
                self.builder.rename(visit, key, name);
            }
        }
    }

    fn kill(&mut self, frag: bool, killer: u32, victim: u32, now: u64) {
        if let Some(visit) = self.visit(victim) {
            self.builder.death(visit);
        }
        if let (Some(visit), true) = (self.visit(killer), frag) {
            self.builder.kill(visit);
        }
        if self.kind == "tdm" {
            // A death of one's own making costs the dead one's team, that of a team mate the killer's.
            self.score(killer, if frag { 1.0 } else { -1.0 }, now);
        }
    }

    /// A score for somebody's team.
    fn score(&mut self, id: u32, points: f64, now: u64) {
        let Some(client) = self.clients.get(&id) else {
            return;
        };
        if let Some(Place::Team(team)) = client.place {
            let at = self.builder.tick(now);
            self.builder.score(team, points, client.visit, at);
        }
    }

    fn visit(&self, id: u32) -> Option<usize> {
        self.clients.get(&id)?.visit
    }

    /// Somebody's final scores.
    fn result(&mut self, id: u32, scores: &[u8], played: Option<f64>, watches: bool) {
        let (Some(visit), Telling::Final, Some((seconds, at))) =
            (self.visit(id), self.telling, self.ended)
        else {
            return;
        };
        if watches {
            self.builder.remove_stays(visit);
            return;
        }
        let points = self.label.and_then(|label| grammar::score(scores, label));
        *self.builder.points(visit) = points;
        // Where the log has no times, how long they played tells when they came.
        if let (None, Some(played), Some(seconds)) = (self.date, played, seconds) {
            let missed = ((seconds - played).max(0.0) * 1_000.0) as u64; // saturates
            self.builder.set_start(visit, missed.min(at));
        }
    }

    /// The record, or why there is none.
    pub(super) fn finish(mut self, server: &str) -> Result<MatchRecord, Skip> {
        let (_, at) = self.ended.ok_or(Skip::Unfinished)?;
        let lasted = self.builder.end(at);
        let told = self.team_scores.iter().rposition(Option::is_some);
        let scores: Vec<f64> = match told {
            Some(last) => {
                let told = &self.team_scores[..=last];
                told.iter().map(|score| score.unwrap_or(0.0)).collect()
            }
            None => Vec::new(),
        };
        if scores.len() == 1 || (scores.is_empty() && self.teams) {
            return Err(Skip::NoResult);
        }
        self.builder.reconcile(&scores);
        let began = Timestamp(i64::try_from(self.began).unwrap_or(i64::MAX));
        let header = MatchHeader {
            server: server.to_owned(),
            start: self.date.unwrap_or(began),
            clock: self.date.is_none().then_some(self.began),
            map: self.map,
            game_type: format!("{GAME}.{}", self.kind),
            mutators: self.mutators.into_iter().collect(),
            scores,
        };
        self.builder.build(header, lasted)
    }
}
