//! Handles events of the log: turns them into calls of the follower.

use super::{MAX_CLIENTS, Scores, WITHOUT_TEAMS, Xonotic, XonoticClient, connection};
use crate::{
    ingest::{
        stamp,
        xonotic::{
            GAME,
            grammar::{self, Event},
            server_name,
        },
    },
    sidecar::{Act, follower::FollowedSetup},
};

impl Xonotic {
    pub(super) fn read_log_line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>) {
        let line = stamp::bare(line, |line| line.starts_with(b":"));
        let Ok(event) = grammar::read(line) else {
            return;
        };
        if let Event::Time(date) = event {
            self.time.calendar.read(date);
        }
        self.time.note(now);
        if event != Event::Restart {
            self.open(now, acts);
        }
        self.event(event, now, acts);
    }

    /// Starts play once the time in which the server waits is over.
    pub(super) fn open(&mut self, now: u64, acts: &mut Vec<Act>) {
        let at = self.time.at(now);
        if self.follower.has_players() {
            self.opening.note(at);
        }
        if self.opening.is_due(at) {
            self.follower.start(self.setup.clone(), now, acts);
        }
    }

    fn event(&mut self, event: Event<'_>, now: u64, acts: &mut Vec<Act>) {
        match event {
            Event::GameStart { kind, map } => self.begin(kind, map, now, acts),
            Event::Mutators(list) => {
                let names = list.split(|&b| b == b':').map(server_name);
                self.setup.mutators = names.filter(|name| !name.is_empty()).collect();
                if !self.setup.mutators.is_empty() && self.clients.is_empty() {
                    self.announce(now, acts);
                }
            }
            Event::Restart => {
                self.opening.pending = false;
                self.follower.start(self.setup.clone(), now, acts);
            }
            Event::Join { .. } | Event::Team { .. } | Event::Part(_) | Event::Name { .. } => {
                self.roster(event);
                self.follower.sync(self.players(), now, acts);
            }
            Event::GameOver => {
                // A game that was played to its end has been closed by `:end` before.
                self.clients.clear();
                self.follower.leave_map();
                self.opening.reset();
            }
            other => self.play(other, now, acts),
        }
    }

    /// A game begins. The log names every player again.
    fn begin(&mut self, kind: &[u8], map: &[u8], now: u64, acts: &mut Vec<Act>) {
        self.clients.clear();
        self.follower.leave_map();
        self.scores = Scores::default();
        self.kind = server_name(kind).to_lowercase();
        self.setup = FollowedSetup {
            game_type: format!("{GAME}.{}", self.kind),
            mutators: Vec::new(),
            map: server_name(map),
            teams: !WITHOUT_TEAMS.contains(&self.kind.as_str()),
        };
        self.opening.reset();
        self.announce(now, acts);
    }

    fn announce(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.follower.begin(self.setup.clone(), now, acts);
        if self.warms_up {
            self.follower.warm_up(now);
        } else {
            self.opening.pending = true;
        }
    }

    /// Handles players who join, leave, or change their team or name.
    fn roster(&mut self, event: Event<'_>) {
        match event {
            Event::Join {
                id,
                slot,
                bot,
                nick,
            } => {
                // A player who had this slot is gone.
                self.clients
                    .retain(|_, client| slot.is_none() || client.slot != slot);
                if self.clients.len() < MAX_CLIENTS {
                    self.clients.insert(id, XonoticClient::new(slot, bot, nick));
                }
            }
            Event::Team { id, place } => {
                if let Some(client) = self.clients.get_mut(&id) {
                    client.place = place;
                }
            }
            Event::Name { id, nick } => {
                if let Some(client) = self.clients.get_mut(&id) {
                    let place = client.place;
                    *client = XonoticClient::new(client.slot, client.bot, nick);
                    client.place = place;
                }
            }
            Event::Part(id) => {
                self.clients.remove(&id);
            }
            _ => {}
        }
    }

    /// Handles events of play and of its results.
    fn play(&mut self, event: Event<'_>, now: u64, acts: &mut Vec<Act>) {
        match event {
            Event::Kill {
                frag,
                killer,
                victim,
            } => {
                let (killer, victim) = (connection(killer), connection(victim));
                self.follower.kill(frag.then_some(&killer), &victim, acts);
                if self.kind == "tdm" {
                    // A suicide or the death of a team mate costs the killer's team a point.
                    let points = if frag { 1.0 } else { -1.0 };
                    self.follower.score(&killer, points, acts);
                }
            }
            Event::Capture(id) => self.follower.score(&connection(id), 1.0, acts),
            Event::Scores { .. } => {
                self.follower.over(now, acts);
                self.scores = Scores {
                    reading: true,
                    ..Scores::default()
                };
            }
            Event::Status => self.scores.reading = false,
            _ if !self.scores.reading => {}
            Event::PlayerLabels(labels) | Event::TeamLabels(labels) => {
                self.scores.label = grammar::deciding(labels);
            }
            Event::Player { id, scores, .. } => {
                let label = self.scores.label;
                if let Some(points) = label.and_then(|label| grammar::score(scores, label)) {
                    self.follower.points(&connection(id), points, acts);
                }
            }
            Event::TeamScores { team, scores } => {
                let label = self.scores.label;
                if let Some(score) = label.and_then(|label| grammar::score(scores, label)) {
                    self.scores.finals.retain(|(known, _)| *known != team);
                    self.scores.finals.push((team, score));
                }
            }
            Event::End => {
                let scores = std::mem::take(&mut self.scores);
                self.follower.finals(scores.finals, acts);
                self.follower.end(now, acts);
            }
            _ => {}
        }
    }
}
