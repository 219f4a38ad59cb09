//! Xonotic and Nexuiz: the event log, version 3 (`sv_eventlog`).
//!
//! A line is `:event:field:…`; a `:time:` line before it has the date, unless the server has that
//! switched off; then the time stamps that another program wrote before the lines count. A game begins with `:gamestart:`
//! and ends with `:scores:` (`:status:` lists scores in mid-game); `:end` closes the list. `grammar` reads one line, `server`
//! says what the lines mean; here, the parser separates the games, and `XonoticGame` records one.

mod grammar;
pub(crate) mod server;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use evenkeel_model::{MatchRecord, MatchRecorder, Timestamp, fingerprint::Fingerprint};

use crate::{
    clock::Calendar,
    event::{ClientTeam, GameEvent, TEAMS},
    format::{Context, DateZone, Format, LogItem, LogParser, Skip, StrayPlay, kind_of, mostly},
    lines::{LogLine, MAX_LINE},
    record::{self, UNKNOWN_TEAM},
    text::CUT_LINE,
};
use grammar::XonoticEvent;
use server::XonoticServer;

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "xonotic",
    detect,
    is_beneath: Some(is_known),
    parser: |context| Box::new(XonoticParser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: true,
    dates: DateZone::OfStamps,
    in_halves: false,
};

fn detect(head: &[u8]) -> bool {
    mostly(head, |line| match line.first() {
        None => None,
        Some(b':') => is_known(line).then_some(true),
        Some(_) => Some(false),
    })
}

/// Whether a line has a common event of this format.
fn is_known(line: &[u8]) -> bool {
    const VERBS: [&[u8]; 14] = [
        b"logversion",
        b"time",
        b"gamestart",
        b"gameinfo",
        b"join",
        b"part",
        b"team",
        b"name",
        b"kill",
        b"ctf",
        b"scores",
        b"labels",
        b"player",
        b"teamscores",
    ];
    let verb = line
        .strip_prefix(b":")
        .and_then(|rest| rest.split(|&b| b == b':').next());
    verb.is_some_and(|verb| VERBS.contains(&verb))
}

/// Events that no record needs.
const NEEDLESS: [&str; 13] = [
    "logversion",
    "gameinfo",
    "recordset",
    "ctf",
    "vote",
    "chat",
    "anticheat",
    "dom",
    "race",
    "keyhunt",
    "ka",
    "labels",
    "teamscores",
];

/// The kind of event of a line that [`grammar`] does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    match grammar::read(line) {
        Ok(XonoticEvent::Other) => kind_of(line.strip_prefix(b":")?, &NEEDLESS),
        _ => None,
    }
}

struct XonoticParser {
    server: String,
    calendar: Calendar,
    log: XonoticServer,
    game: Option<Box<XonoticGame>>,
    stray: StrayPlay,
    /// Whether the log has dates of its own.
    dated: bool,
}

impl XonoticParser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            calendar: Calendar::default(),
            log: XonoticServer::default(),
            game: None,
            stray: StrayPlay::default(),
            dated: false,
        }
    }

    /// Takes the date of the next line.
    fn pass(&mut self, date: Timestamp) {
        let log = self.game.as_ref().map(|_| &self.log);
        self.calendar
            .read(date, || log.is_some_and(XonoticServer::are_opposed));
    }

    /// Skips the game being read for this reason.
    fn abandon(&mut self, reason: Skip, items: &mut Vec<LogItem>) {
        self.stray.close(false, items);
        if let Some(game) = self.game.take() {
            let line = game.line;
            items.push(LogItem::skipped(line, reason));
        }
    }

    fn event(&mut self, line: u64, event: XonoticEvent<'_>, items: &mut Vec<LogItem>) {
        match event {
            XonoticEvent::Other
            | XonoticEvent::GameStart { .. }
            | XonoticEvent::GameOver
            | XonoticEvent::End => {}
            XonoticEvent::Time(date) => {
                self.dated = true;
                self.pass(date);
            }
            other => match &mut self.game {
                Some(game) => game.note(other, &mut self.calendar),
                None => self.stray.note(line),
            },
        }
        let mut events = Vec::new();
        self.log.interpret(event, &mut events);
        for event in events {
            self.take(line, event, items);
        }
    }

    fn take(&mut self, line: u64, event: GameEvent, items: &mut Vec<LogItem>) {
        match event {
            GameEvent::Game => {
                self.abandon(Skip::Unfinished, items);
                let game = XonoticGame::new(line, &self.log, self.calendar);
                self.game = Some(Box::new(game));
            }
            GameEvent::Closed => {
                // A game that was played to its end has been closed by `:end` before.
                self.abandon(Skip::Aborted, items);
                self.stray.close(true, items);
            }
            GameEvent::Result(scores) => {
                if let Some(game) = self.game.take() {
                    self.stray.close(true, items);
                    let line = game.line;
                    let outcome = game.finish(scores, &self.log, &self.server);
                    items.push(LogItem::of_game(line, outcome));
                }
            }
            other => {
                if let Some(game) = &mut self.game {
                    game.event(other, &self.log, self.calendar);
                }
            }
        }
    }
}

impl LogParser for XonoticParser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.is_empty() {
            return;
        }
        if let Some(stamp) = line.stamp {
            if !line.bytes.starts_with(b":") {
                return; // something else that the server has printed
            }
            if stamp.is_date && !self.dated {
                self.pass(stamp.at);
            }
        }
        let read = match line.whole {
            true => grammar::read(line.bytes),
            false => Err(CUT_LINE),
        };
        match read {
            Ok(event) => self.event(line.number, event, items),
            Err(why) => items.push(LogItem::malformed(line, why)),
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        self.abandon(Skip::Unfinished, items);
    }

    fn elapsed(&self) -> u64 {
        self.calendar.position()
    }
}

/// The game in the names of game types. The log does not state whether Xonotic or Nexuiz wrote it.
pub const GAME: &str = "xonotic";

/// The recorder for a game of this kind: in assault the teams change sides at half-time.
fn new_recorder(kind: &str) -> MatchRecorder {
    MatchRecorder::with_sides_if(kind == "as")
}

struct XonoticGame {
    /// The line on which it began.
    line: u64,
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
    fn new(line: u64, log: &XonoticServer, now: Calendar) -> Self {
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
    fn note(&mut self, event: XonoticEvent<'_>, calendar: &mut Calendar) {
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

    fn event(&mut self, event: GameEvent, log: &XonoticServer, calendar: Calendar) {
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
    fn finish(
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
