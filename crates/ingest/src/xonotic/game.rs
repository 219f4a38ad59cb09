//! One game of the event log, from its beginning to the end of its scores.

use std::collections::BTreeMap;

use super::{grammar::XonoticEvent, server::XonoticServer};
use crate::{
    clock::Calendar,
    event::{ClientTeam, GameEvent, TEAMS},
    format::Skip,
    record::{self, UNKNOWN_TEAM},
};
use evenkeel_model::{Fingerprint, MatchRecord, MatchRecorder, Timestamp};

/// The game in the names of game types. The log does not state whether Xonotic or Nexuiz wrote it.
pub const GAME: &str = "xonotic";

/// The recorder for a game of this kind: in assault the teams change sides at half-time.
fn new_recorder(kind: &str) -> MatchRecorder {
    MatchRecorder::with_sides_if(kind == "as")
}

pub(super) struct XonoticGame {
    /// The line on which it began.
    pub(super) line: u64,
    /// When play began: by the log's dates, and in milliseconds since the log began.
    date: Option<Timestamp>,
    began: u64,
    /// How long the game lasted: in seconds as the game states it, and in milliseconds by the log's dates.
    ended: Option<(Option<f64>, u64)>,
    /// The players' timelines in the record, by their numbers.
    visits: BTreeMap<usize, usize>,
    recorder: MatchRecorder,
    /// Whether any player was on a team.
    teams: bool,
    /// The visits of those who watched the end, and who may have played before.
    watchers: Vec<usize>,
}

impl XonoticGame {
    pub(super) fn new(line: u64, log: &XonoticServer, now: Calendar) -> Self {
        Self {
            line,
            date: now.date(),
            began: now.position(),
            ended: None,
            visits: BTreeMap::new(),
            recorder: new_recorder(&log.kind),
            teams: false,
            watchers: Vec::new(),
        }
    }

    /// Takes what a line states beside what it means to all.
    pub(super) fn note(&mut self, event: XonoticEvent<'_>, calendar: &mut Calendar) {
        match event {
            XonoticEvent::Scores { seconds } => {
                let mut at = calendar.position().saturating_sub(self.began);
                if let (None, Some(seconds)) = (self.date, seconds) {
                    // In a log without dates, only this line states how long the game lasted.
                    at = (seconds * 1_000.0) as u64; // saturates
                    calendar.pass(at);
                }
                self.ended = Some((seconds, at));
            }
            XonoticEvent::Player {
                id,
                played,
                watches,
                team,
                ..
            } => {
                self.result(id, played, watches);
                self.name_team(id, team);
            }
            _ => {}
        }
    }

    pub(super) fn event(&mut self, event: GameEvent, log: &XonoticServer, calendar: Calendar) {
        let now = calendar.position().saturating_sub(self.began);
        match event {
            GameEvent::Points { client, points } => {
                if let Some(visit) = self.visit(client) {
                    self.recorder.player(visit).points = Some(points);
                }
            }
            _ if self.ended.is_some() => {}
            GameEvent::Start => self.restart(log, calendar),
            GameEvent::Client(id) => self.reconcile(id, log, now),
            GameEvent::Left(id) => {
                if let Some(visit) = self.visits.remove(&id) {
                    self.move_to(visit, None, now);
                }
            }
            other => {
                let visits = &self.visits;
                record::take(&mut self.recorder, other, now, |id| {
                    visits.get(&id).copied()
                });
            }
        }
    }

    /// Begins play, with the players who are there. Everything before was warm-up.
    fn restart(&mut self, log: &XonoticServer, calendar: Calendar) {
        self.recorder = new_recorder(&log.kind);
        self.date = calendar.date();
        self.began = calendar.position();
        self.visits.clear();
        for &id in log.clients.keys() {
            self.reconcile(id, log, 0);
        }
    }

    /// Takes over a player's present name and team.
    fn reconcile(&mut self, id: usize, log: &XonoticServer, now: u64) {
        let Some(client) = log.clients.get(&id) else {
            return;
        };
        self.teams |= client.team().is_some();
        let team = match client.place {
            ClientTeam::Free => Some(UNKNOWN_TEAM),
            _ => client.team(),
        };
        match (self.visit(id), team) {
            (Some(visit), team) => {
                self.recorder
                    .rename(visit, client.key(), client.name.clone());
                let current = self.recorder.player(visit).current;
                if current.map(|(team, _)| team) != team {
                    self.move_to(visit, team, now);
                }
            }
            (None, Some(team)) => {
                let visit = self.recorder.enter(client.key(), client.name.clone());
                self.visits.insert(id, visit);
                self.move_to(visit, Some(team), now);
            }
            (None, None) => {}
        }
    }

    fn move_to(&mut self, visit: usize, team: Option<u8>, now: u64) {
        let at = self.recorder.tick(now);
        self.recorder.set_team(visit, team, at);
    }

    fn visit(&self, id: usize) -> Option<usize> {
        self.visits.get(&id).copied()
    }

    /// Handles a player's line in the final scores.
    fn result(&mut self, id: usize, played: Option<f64>, watches: bool) {
        let (Some(visit), Some((seconds, at))) = (self.visit(id), self.ended) else {
            return;
        };
        let player = self.recorder.player(visit);
        if watches {
            player.forget_current();
            self.watchers.push(visit);
            return;
        }
        // In a log without dates, only the time that a player took part shows when they joined.
        if let (None, Some(played), Some(seconds)) = (self.date, played, seconds)
            && let Some((_, from)) = &mut player.current
        {
            let missed = ((seconds - played).max(0.0) * 1_000.0) as u64; // saturates
            *from = missed.min(at);
        }
    }

    /// Takes the team that the final scores state of a player. Who has come back may have no other line about it.
    fn name_team(&mut self, id: usize, team: Option<u8>) {
        let (Some(visit), Some(_), Some(stated)) = (self.visit(id), self.ended, team) else {
            return;
        };
        if let Some((team, _)) = &mut self.recorder.player(visit).current
            && *team == UNKNOWN_TEAM
        {
            *team = stated;
        }
    }

    /// Builds the record of the game, which has ended with these scores, or returns why there is none.
    pub(super) fn finish(
        mut self,
        scores: [Option<f64>; TEAMS],
        log: &XonoticServer,
        server: &str,
    ) -> Result<MatchRecord, Skip> {
        let (_, at) = self.ended.ok_or(Skip::Unfinished)?;
        let lasted = self.recorder.end(at);
        let last = scores.iter().rposition(Option::is_some);
        let stated = last.map_or(&[][..], |last| &scores[..=last]);
        let scores: Vec<f64> = stated.iter().map(|score| score.unwrap_or(0.0)).collect();
        if scores.len() == 1 || (scores.is_empty() && self.teams) {
            return Err(Skip::NoResult);
        }
        self.recorder.reconcile(&scores);
        let began = Timestamp(i64::try_from(self.began).unwrap_or(i64::MAX));
        let record = MatchRecord {
            server: server.to_owned(),
            start: self.date.unwrap_or(began),
            clock: self.date.is_none().then_some(self.began),
            map: log.map.clone(),
            game_type: format!("{GAME}.{}", log.kind),
            mutators: log.mutators.iter().cloned().collect(),
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
