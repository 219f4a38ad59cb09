//! One game of the event log, from its beginning to the end of its scores.

use std::collections::{BTreeMap, BTreeSet};

use super::grammar::{self, Event};
use crate::{
    domain::{Fingerprint, MatchRecord, MatchRecorder, PlayerKey, Timestamp},
    ingest::{
        clock::Calendar,
        record::{self, UNKNOWN_TEAM},
        skip::Skip,
        team::ClientTeam,
        text,
    },
};

/// The game in the names of game types. The log does not state whether Xonotic or Nexuiz wrote it.
pub(crate) const GAME: &str = "xonotic";
/// Red, blue, yellow and pink.
const TEAMS: usize = 4;
/// The most player numbers in one game. A real server uses fewer.
const MAX_CLIENTS: usize = 10_000;

/// A player on the server.
struct Client {
    bot: bool,
    name: String,
    place: Option<ClientTeam>,
    /// The player's visit in the record, once they have played.
    visit: Option<usize>,
}

impl Client {
    fn key(&self) -> PlayerKey {
        text::key_by_name(self.bot, self.name.clone())
    }
}

/// The recorder for a game of this kind: in assault the teams change sides at half-time.
fn new_recorder(kind: &[u8]) -> MatchRecorder {
    MatchRecorder::with_sides_if(kind == b"as")
}

/// Decodes a name, which must not be empty in a record.
pub(super) fn name(nick: &[u8]) -> String {
    match grammar::plain(nick) {
        name if name.is_empty() => "unnamed".to_owned(),
        name => name,
    }
}

/// The kind of score lines being read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ScoreSection {
    /// No scores are being read.
    #[default]
    None,
    /// The scores of a moment in play.
    Interim,
    /// The final scores.
    Final,
}

#[derive(Default)]
pub(super) struct Game {
    /// The line on which it began.
    pub(super) line: u64,
    kind: String,
    map: String,
    mutators: BTreeSet<String>,
    /// When play began: by the log's dates, and in milliseconds since the log began.
    date: Option<Timestamp>,
    began: u64,
    /// How long the game lasted: in seconds as the game states it, and in milliseconds by the log's dates.
    ended: Option<(Option<f64>, u64)>,
    clients: BTreeMap<u32, Client>,
    recorder: MatchRecorder,
    section: ScoreSection,
    /// Which of the scores in a list decides the game.
    label: Option<usize>,
    /// Whether any player was on a team.
    teams: bool,
    team_scores: [Option<f64>; TEAMS],
    /// The visits of those who watched the end, and who may have played before.
    watchers: Vec<usize>,
}

impl Game {
    pub(super) fn new(line: u64, kind: &[u8], map: &[u8], now: Calendar) -> Self {
        Self {
            line,
            kind: text::name(kind).to_lowercase(),
            map: text::name(map),
            date: now.date(),
            began: now.position(),
            recorder: new_recorder(kind),
            ..Self::default()
        }
    }

    /// Whether anybody on the server has an opponent.
    pub(super) fn are_opposed(&self) -> bool {
        ClientTeam::are_opposed(self.clients.values().filter_map(|client| client.place))
    }

    /// Handles the end of a list of scores, and returns whether those were the final ones.
    pub(super) fn ends(&mut self) -> bool {
        std::mem::replace(&mut self.section, ScoreSection::None) == ScoreSection::Final
    }

    pub(super) fn event(&mut self, event: Event<'_>, calendar: &mut Calendar) {
        let now = calendar.position().saturating_sub(self.began);
        match event {
            Event::Status => self.section = ScoreSection::Interim,
            Event::Scores { seconds } => {
                self.section = ScoreSection::Final;
                let mut at = now;
                if let (None, Some(seconds)) = (self.date, seconds) {
                    // In a log without dates, only this line states how long the game lasted.
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
                team,
            } => {
                self.result(id, scores, played, watches);
                self.name_team(id, team);
            }
            Event::TeamScores { team, scores } if self.section == ScoreSection::Final => {
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
            Event::Join { id, bot, nick, .. } => self.join(id, bot, nick, now),
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

    /// Begins play, with the players who are there. Everything before was warm-up.
    fn restart(&mut self, calendar: &Calendar) {
        self.recorder = new_recorder(self.kind.as_bytes());
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
            // In a game without teams no line states a team.
            self.settle(id, Some(ClientTeam::Free), now);
        }
    }

    /// Moves a player to this team in the record; to none if `place` is `None`.
    fn settle(&mut self, id: u32, place: Option<ClientTeam>, now: u64) {
        let Some(client) = self.clients.get_mut(&id) else {
            return;
        };
        client.place = place;
        let team = match place {
            Some(ClientTeam::Team(team)) => {
                self.teams = true;
                Some(team)
            }
            Some(ClientTeam::Free) => Some(UNKNOWN_TEAM),
            Some(ClientTeam::Spectator | ClientTeam::Unknown) | None => None,
        };
        let player = || (client.key(), client.name.clone());
        client.visit = self.recorder.place(client.visit, team, now, player);
    }

    fn rename(&mut self, id: u32, nick: &[u8]) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.name = name(nick);
            if let Some(visit) = client.visit {
                let (key, name) = (client.key(), client.name.clone());
                self.recorder.rename(visit, key, name);
            }
        }
    }

    fn kill(&mut self, frag: bool, killer: u32, victim: u32, now: u64) {
        self.recorder.count_death(self.visit(victim), now);
        if frag {
            self.recorder.count_kill(self.visit(killer), now);
        }
        if self.kind == "tdm" {
            // A suicide or the death of a team mate costs the killer's team a point.
            self.score(killer, if frag { 1.0 } else { -1.0 }, now);
        }
    }

    /// Changes the score of a player's team.
    fn score(&mut self, id: u32, points: f64, now: u64) {
        let Some(client) = self.clients.get(&id) else {
            return;
        };
        if let Some(ClientTeam::Team(team)) = client.place {
            let at = self.recorder.tick(now);
            self.recorder.score(team, points, client.visit, at);
        }
    }

    fn visit(&self, id: u32) -> Option<usize> {
        self.clients.get(&id)?.visit
    }

    /// Handles a player's final scores.
    fn result(&mut self, id: u32, scores: &[u8], played: Option<f64>, watches: bool) {
        let (Some(visit), ScoreSection::Final, Some((seconds, at))) =
            (self.visit(id), self.section, self.ended)
        else {
            return;
        };
        let player = self.recorder.player(visit);
        if watches {
            player.forget_current();
            self.watchers.push(visit);
            return;
        }
        player.points = self.label.and_then(|label| grammar::score(scores, label));
        // In a log without dates, only the time that a player took part shows when they joined.
        if let (None, Some(played), Some(seconds)) = (self.date, played, seconds)
            && let Some((_, from)) = &mut player.current
        {
            let missed = ((seconds - played).max(0.0) * 1_000.0) as u64; // saturates
            *from = missed.min(at);
        }
    }

    /// Takes the team that the final scores state of a player. Who has come back may have no other line about it.
    fn name_team(&mut self, id: u32, team: Option<u8>) {
        let (Some(visit), ScoreSection::Final, Some(stated)) = (self.visit(id), self.section, team)
        else {
            return;
        };
        if let Some((team, _)) = &mut self.recorder.player(visit).current
            && *team == UNKNOWN_TEAM
        {
            *team = stated;
        }
    }

    /// Builds the record, or returns why there is none.
    pub(super) fn finish(mut self, server: &str) -> Result<MatchRecord, Skip> {
        let (_, at) = self.ended.ok_or(Skip::Unfinished)?;
        let lasted = self.recorder.end(at);
        let last = self.team_scores.iter().rposition(Option::is_some);
        let scores: Vec<f64> = match last {
            Some(last) => {
                let stated = &self.team_scores[..=last];
                stated.iter().map(|score| score.unwrap_or(0.0)).collect()
            }
            None => Vec::new(),
        };
        if scores.len() == 1 || (scores.is_empty() && self.teams) {
            return Err(Skip::NoResult);
        }
        self.recorder.reconcile(&scores);
        let began = Timestamp(i64::try_from(self.began).unwrap_or(i64::MAX));
        let record = MatchRecord {
            server: server.to_owned(),
            start: self.date.unwrap_or(began),
            clock: self.date.is_none().then_some(self.began),
            map: self.map,
            game_type: format!("{GAME}.{}", self.kind),
            mutators: self.mutators.into_iter().collect(),
            scores,
            ..MatchRecord::default()
        };
        let known = known_before(&self.recorder, &self.watchers, &record, lasted);
        let logged_as = known.map(|known| known.0);
        let record = MatchRecord {
            logged_as,
            ..record
        };
        record::complete(&self.recorder, record, lasted)
    }
}

/// The fingerprint of a match without those who watched its end, under which earlier versions know it.
fn known_before(
    recorder: &MatchRecorder,
    watchers: &[usize],
    record: &MatchRecord,
    lasted: u64,
) -> Option<Fingerprint> {
    if watchers.is_empty() {
        return None;
    }
    let mut recorder = recorder.clone();
    for &watcher in watchers {
        recorder.player(watcher).forget_stays();
    }
    let before = record::complete(&recorder, record.clone(), lasted);
    before.ok().map(|record| Fingerprint::of(&record))
}
