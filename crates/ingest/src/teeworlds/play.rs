//! The games that a server's output describes: who is there, when a match is played, its score, its limits and its end.
//!
//! No line marks the end of a match. A match is over when a limit is reached and a team is ahead, or, if the limits are
//! not known, when nothing has happened for as long as the server shows the final score before the next match. The output has
//! the limits only where somebody has asked for them.

use std::collections::BTreeMap;

use evenkeel_model::{MatchRecord, MatchRecorder, PlayerKey, Timestamp};

use super::{
    grammar::{PlayerInKill, Stated, TeeworldsEvent},
    players::TeeworldsPlayers,
    scoring::{MatchScore, ScoringRules},
};
use crate::{
    clock::signed,
    event::GameEvent,
    format::Skip,
    record::{self, UNKNOWN_TEAM},
    text::{self, LineResult, real},
};

/// How long the server shows the final score, in milliseconds.
const SHOWN: u64 = 10_000;
/// The time between two lines is known to the second.
const COARSE: u64 = 1_000;
/// How long nothing has to happen after the score limit before a match counts as over, in milliseconds.
const AFTER_SCORE: u64 = 1_000;
/// The same after the time limit.
const AFTER_TIME: u64 = 2_000;
/// If nothing happened for so long before the time limit, the game may be paused, and its end is not certain.
const QUIET: u64 = 20_000;

/// How far the game is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GameStage {
    /// The output began in the middle.
    #[default]
    Unknown,
    /// Players warm up until there are enough.
    WarmUp,
    /// A match has begun, and there are not enough players.
    Waiting,
    /// A match is in play.
    Playing,
    /// The final score is shown.
    Over,
}

/// What is known of a server's games.
#[derive(Debug, Default)]
pub struct TeeworldsPlay {
    /// The players on the server.
    pub players: TeeworldsPlayers,
    /// How far the game is.
    pub stage: GameStage,
    /// The map; empty before a line has named it.
    pub map: String,
    /// The type of match in lower case, for example `ctf`; empty before it is known.
    pub kind: String,
    /// Whether the match is played in teams.
    pub teams: bool,
    score: MatchScore,
    settings: Settings,
    /// Whether the server loads another map next.
    rotates: bool,
    /// Whether an operator has ended the match by a command.
    commanded: bool,
    /// Whether nobody was ahead at a limit, so that only captures count.
    sudden: bool,
    /// When the match began, in milliseconds.
    began: u64,
    /// When something last happened in the match.
    acted: u64,
    /// When the last match was over.
    pub(super) ended: u64,
}

impl TeeworldsPlay {
    /// Whether the limits are known by which the server ends a match.
    pub fn knows_limits(&self) -> bool {
        self.settings.are_limits_known()
    }

    /// The teams' scores.
    pub(crate) fn scores(&self) -> [f64; 2] {
        self.score.sides
    }

    /// What decides this match.
    pub(crate) fn rules(&self) -> ScoringRules {
        self.score.rules
    }

    /// A player's points in this match.
    pub(crate) fn points(&self, client: usize) -> f64 {
        self.score.points.get(&client).copied().unwrap_or(0.0)
    }

    /// Whether anything has happened in this match.
    pub(crate) fn has_begun(&self) -> bool {
        self.acted > self.began
    }

    /// Takes over what a line states at this time, in milliseconds, and appends what it means. A line that contradicts
    /// itself changes nothing.
    pub fn take(&mut self, stated: Stated<'_>, now: u64, events: &mut Vec<GameEvent>) {
        let _ = self.event(stated.0, now, events);
    }

    /// Lets time pass until this line, if there is one: a match may be over. Call it, and do what the events mean,
    /// before [`take`](Self::take), which may begin the next match.
    pub fn pass_until(&mut self, next: Option<&Stated<'_>>, now: u64, events: &mut Vec<GameEvent>) {
        self.pass(next.map(|stated| &stated.0), now, events);
    }

    /// Handles an event at this time, in milliseconds, and appends what it means.
    ///
    /// # Errors
    /// Returns what is wrong with the line.
    pub(crate) fn event(
        &mut self,
        event: TeeworldsEvent<'_>,
        now: u64,
        events: &mut Vec<GameEvent>,
    ) -> LineResult<()> {
        self.sudden |=
            self.stage == GameStage::Playing && self.is_overtime(now) && !self.is_decided();
        match event {
            TeeworldsEvent::Map(name) => self.load(text::name(name), events),
            TeeworldsEvent::Rotates(map) => self.rotates = text::name(map) != self.map,
            TeeworldsEvent::Start { kind, teams } => self.start(kind, teams, now, events),
            TeeworldsEvent::Enter(seen) => {
                self.note(seen, events);
                if self.stage == GameStage::Waiting {
                    self.play(now, events);
                }
            }
            TeeworldsEvent::Change(seen) => self.note(seen, events),
            TeeworldsEvent::Left(slot) => {
                self.score.drop_flag(slot);
                if self.players.remove(slot) {
                    events.push(GameEvent::Left(slot));
                }
            }
            TeeworldsEvent::Asked(command) => self.commanded |= self.settings.ask(command),
            TeeworldsEvent::Voted => self.settings.doubt_limits(),
            TeeworldsEvent::Value(value) => self.answer(value),
            TeeworldsEvent::Said { .. } | TeeworldsEvent::Other => {}
            other => self.act(other, now, events)?,
        }
        Ok(())
    }

    /// Lets time pass until this event, if there is one: a match may be over. Call it, and do what the events mean,
    /// before [`event`](Self::event), which may begin the next match.
    pub(crate) fn pass(
        &mut self,
        event: Option<&TeeworldsEvent<'_>>,
        now: u64,
        events: &mut Vec<GameEvent>,
    ) {
        if self.stage != GameStage::Playing {
            return;
        }
        if self.knows_limits() && self.is_decided() {
            self.end_by_limits(now, events);
        }
        if matches!(
            event,
            Some(TeeworldsEvent::Map(_) | TeeworldsEvent::Start { .. })
        ) {
            self.close(now, events);
        }
    }

    fn end_by_limits(&mut self, now: u64, events: &mut Vec<GameEvent>) {
        let at = now.saturating_sub(self.acted);
        let end = self.settings.time_limit();
        let end = end.map(|limit| self.began.saturating_add(limit));
        if self.is_at_score_limit() && at >= AFTER_SCORE {
            self.over(self.acted, events);
        } else if let Some(end) = end
            && now >= end.saturating_add(AFTER_TIME)
            && at >= AFTER_TIME
            && self.acted.saturating_add(QUIET) >= end
        {
            self.over(self.acted.max(end), events);
        }
    }

    fn over(&mut self, at: u64, events: &mut Vec<GameEvent>) {
        (self.stage, self.ended) = (GameStage::Over, at);
        events.push(GameEvent::Over);
        let players = self.players.iter();
        events.extend(players.map(|(client, _)| GameEvent::Points {
            client,
            points: self.points(client),
        }));
        let [red, blue] = self.scores().map(|score| self.teams.then_some(score));
        events.extend([GameEvent::Result([red, blue, None, None]), GameEvent::Ended]);
    }

    fn is_decided(&self) -> bool {
        let captures = |side: usize| (self.score.sides[side] / 100.0).floor();
        match self.sudden && self.score.rules == ScoringRules::Flags {
            true => captures(0) != captures(1),
            false => self.score.is_decided(),
        }
    }

    fn is_at_score_limit(&self) -> bool {
        let limit = self.settings.score_limit();
        limit.is_some_and(|limit| self.score.top() >= limit)
    }

    fn is_at_limit(&self, now: u64) -> bool {
        let limit = self.settings.time_limit();
        let played = now.saturating_sub(self.began).saturating_add(COARSE);
        self.is_at_score_limit() || limit.is_some_and(|limit| played >= limit)
    }

    /// Whether the time limit has certainly passed.
    fn is_overtime(&self, now: u64) -> bool {
        let limit = self.settings.time_limit();
        limit.is_some_and(|limit| now.saturating_sub(self.began) >= limit.saturating_add(COARSE))
    }

    /// Ends the match that another one, or another map, follows.
    fn close(&mut self, now: u64, events: &mut Vec<GameEvent>) {
        if self.stage != GameStage::Playing {
            return;
        }
        let quiet = now.saturating_sub(self.acted) >= SHOWN - COARSE;
        let limited = !self.knows_limits() || self.is_at_limit(now);
        if quiet && limited && !self.commanded && self.is_decided() {
            self.over(self.acted.max(now.saturating_sub(SHOWN)), events);
        } else {
            self.stage = GameStage::WarmUp;
            events.push(GameEvent::WarmUp);
        }
    }

    fn load(&mut self, map: String, events: &mut Vec<GameEvent>) {
        self.players.clear();
        self.stage = GameStage::WarmUp;
        self.map = map;
        (self.rotates, self.commanded) = (false, false);
        events.push(GameEvent::Game);
    }

    fn start(&mut self, kind: &[u8], teams: bool, now: u64, events: &mut Vec<GameEvent>) {
        self.kind = text::name(kind).to_lowercase();
        self.teams = teams;
        if !self.rotates {
            self.stage = GameStage::Waiting;
            self.commanded = false;
            self.play(now, events);
        }
    }

    /// Starts play if there are enough players.
    fn play(&mut self, now: u64, events: &mut Vec<GameEvent>) {
        if self.players.are_enough(self.teams) {
            self.stage = GameStage::Playing;
            self.sudden = false;
            self.score = MatchScore::new(ScoringRules::of(&self.kind, self.teams));
            (self.began, self.acted) = (now, now);
            events.push(GameEvent::Start);
        }
    }

    fn note(&mut self, seen: PlayerInKill<'_>, events: &mut Vec<GameEvent>) {
        let client = seen.who.slot;
        let before = self.players.raw_name(client);
        let is_other = before.is_some_and(|name| name != seen.who.name);
        if self.players.note(seen) {
            events.extend(is_other.then_some(GameEvent::Left(client)));
            events.push(GameEvent::Client(client));
        }
    }

    /// Handles the value of the setting that was asked for.
    fn answer(&mut self, value: &[u8]) {
        match self.settings.answer(value) {
            Some(SettingValue::Map(map)) if self.map.is_empty() => self.map = map,
            Some(SettingValue::Kind(kind)) if self.kind.is_empty() => {
                self.teams = ["ctf", "tdm", "lts"].contains(&kind.as_str());
                self.kind = kind;
            }
            _ => {}
        }
    }

    /// Handles what happens only while a game, or a warm-up, runs.
    fn act(
        &mut self,
        event: TeeworldsEvent<'_>,
        now: u64,
        events: &mut Vec<GameEvent>,
    ) -> LineResult<()> {
        let playing = self.stage == GameStage::Playing;
        if !matches!(event, TeeworldsEvent::Kill(kill) if kill.by_game) {
            self.acted = now;
        }
        let team = |slot| self.players.team(slot);
        let change = match event {
            TeeworldsEvent::Grab(who) => {
                team(who.slot).and_then(|side| self.score.grab(who.slot, side))
            }
            TeeworldsEvent::Capture(who) => {
                team(who.slot).map(|side| self.score.capture(who.slot, side))
            }
            TeeworldsEvent::Return(who) => {
                let by = who.and_then(|who| Some((who.slot, team(who.slot)?)));
                self.score.flag_returned(by);
                None
            }
            TeeworldsEvent::Kill(kill) => {
                let known = kill.killer.and_then(|slot| self.players.raw_name(slot));
                let (killer, victim) = kill.of(known)?;
                self.kill(killer, victim, kill.by_game, events);
                None
            }
            _ => None,
        };
        if let Some(change) = change.filter(|_| playing) {
            events.push(change);
        }
        Ok(())
    }

    fn kill(
        &mut self,
        killer: Option<PlayerInKill<'_>>,
        victim: PlayerInKill<'_>,
        by_game: bool,
        events: &mut Vec<GameEvent>,
    ) {
        // A sidecar may have missed that these players came.
        for seen in killer.into_iter().chain([victim]).filter(|_| !by_game) {
            if self.players.raw_name(seen.who.slot).is_none() {
                self.note(seen, events);
            }
        }
        let slot = victim.who.slot;
        let Some(side) = victim.team else { return };
        let by = killer.and_then(|killer| Some((killer.who.slot, killer.team?)));
        let changes = self.score.kill(by, (slot, side), by_game, &self.players);
        if self.stage != GameStage::Playing {
            return;
        }
        if !by_game {
            let other = by.filter(|(by, _)| *by != slot);
            events.push(GameEvent::Death {
                victim: slot,
                by: other.map(|(by, _)| by),
                enemy: other.is_some_and(|(_, team)| !self.teams || team != side),
                moved: false,
            });
        }
        events.extend(changes);
    }
}

/// The game in the names of game types.
pub const GAME: &str = "teeworlds";

/// A match that is being played.
pub(super) struct TeeworldsGame {
    /// The line on which it began.
    pub(super) line: u64,
    date: Option<Timestamp>,
    /// When it began, in milliseconds since the log began.
    began: u64,
    recorder: MatchRecorder,
    /// The earliest end: after the last change of the score, in milliseconds since it began.
    earliest: u64,
    /// The players' timelines in the record, by their numbers on the server.
    visits: BTreeMap<usize, (PlayerKey, usize)>,
}

impl TeeworldsGame {
    pub(super) fn new(
        line: u64,
        date: Option<Timestamp>,
        began: u64,
        play: &TeeworldsPlay,
    ) -> Self {
        let mut game = Self {
            line,
            date,
            began,
            recorder: MatchRecorder::default(),
            earliest: 0,
            visits: BTreeMap::new(),
        };
        game.reconcile(play, 0);
        game
    }

    /// Handles what happens in the match at this time, in milliseconds since the log began.
    pub(super) fn event(&mut self, event: GameEvent, now: u64, play: &TeeworldsPlay) {
        let now = now.saturating_sub(self.began);
        match event {
            GameEvent::Client(_) | GameEvent::Left(_) => self.reconcile(play, now),
            other => {
                let visits = &self.visits;
                let visit = |client| visits.get(&client).map(|(_, visit)| *visit);
                record::take(&mut self.recorder, other, now, visit);
                if matches!(other, GameEvent::Score { .. }) {
                    self.earliest = self.recorder.last() + 1;
                }
            }
        }
    }

    /// Puts all players in the record on the teams on which they are.
    fn reconcile(&mut self, play: &TeeworldsPlay, now: u64) {
        let key = |slot| {
            let (_, player) = play.players.iter().find(|(other, _)| *other == slot)?;
            Some(play.players.key(slot, player))
        };
        let recorder = &mut self.recorder;
        self.visits.retain(|&slot, (known, visit)| {
            let stays = key(slot).as_ref() == Some(known);
            if !stays {
                let nobody = || (known.clone(), String::new());
                recorder.assign(Some(*visit), None, now, nobody);
            }
            stays
        });
        for (slot, player) in play.players.iter() {
            let key = play.players.key(slot, player);
            let visit = self.visits.get(&slot).map(|(_, visit)| *visit);
            let team = match play.teams {
                true => player.team,
                false => player.team.map(|_| UNKNOWN_TEAM),
            };
            let named = || (key.clone(), player.name.clone());
            if let Some(visit) = recorder.assign(visit, team, now, named) {
                self.visits.insert(slot, (key, visit));
            }
        }
    }

    /// Builds the record of the match, which is over.
    ///
    /// # Errors
    /// Returns why there is no record.
    pub(super) fn finish(
        mut self,
        play: &TeeworldsPlay,
        server: &str,
    ) -> Result<MatchRecord, Skip> {
        // What players did while the final score was shown does not count.
        let lasted = play.ended.saturating_sub(self.began).max(self.earliest);
        self.recorder.end_at(lasted);
        for (&slot, (_, visit)) in &self.visits {
            self.recorder.player(*visit).points = Some(play.points(slot));
        }
        let began = Timestamp(signed(self.began));
        let record = MatchRecord {
            server: server.to_owned(),
            start: self.date.unwrap_or(began),
            clock: self.date.is_none().then_some(self.began),
            map: play.map.clone(),
            game_type: format!("{GAME}.{}", play.kind),
            scores: match play.teams {
                true => play.scores().to_vec(),
                false => Vec::new(),
            },
            ..MatchRecord::default()
        };
        record::complete(&self.recorder, record, lasted)
    }
}

/// A setting of the server that an operator or a sidecar has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    Map,
    Kind,
    ScoreLimit,
    TimeLimit,
}

/// The value of a setting that the game needs.
enum SettingValue {
    Map(String),
    /// The type of match, in lower case.
    Kind(String),
    /// A limit, which is kept here.
    Limit,
}

/// The limits that end a match, and what was asked for last.
#[derive(Debug, Default)]
struct Settings {
    score_limit: Option<f64>,
    /// In milliseconds.
    time_limit: Option<u64>,
    asked: Option<Setting>,
}

impl Settings {
    /// Whether both limits are known.
    fn are_limits_known(&self) -> bool {
        self.score_limit.is_some() && self.time_limit.is_some()
    }

    /// The score that ends a match; `None` if there is no limit, or it is not known.
    fn score_limit(&self) -> Option<f64> {
        self.score_limit.filter(|limit| *limit > 0.0)
    }

    /// The time that ends a match, in milliseconds; `None` if there is no limit, or it is not known.
    fn time_limit(&self) -> Option<u64> {
        self.time_limit.filter(|limit| *limit > 0)
    }

    /// The limits may be others now, or soon.
    fn doubt_limits(&mut self) {
        (self.score_limit, self.time_limit) = (None, None);
    }

    /// Somebody has written this command. Returns whether it breaks a match off.
    fn ask(&mut self, command: &[u8]) -> bool {
        const ENDS: [&[u8]; 4] = [b"restart", b"change_map", b"reload", b"sv_map"];
        let mut words = command
            .split(|&b| b == b' ')
            .filter(|word| !word.is_empty());
        let (word, value) = (words.next().unwrap_or_default(), words.next());
        self.asked = match word {
            b"sv_map" => Some(Setting::Map),
            b"sv_gametype" => Some(Setting::Kind),
            b"sv_scorelimit" => Some(Setting::ScoreLimit),
            b"sv_timelimit" => Some(Setting::TimeLimit),
            _ => None,
        };
        match (self.asked, value) {
            // A new limit holds at once.
            (Some(Setting::ScoreLimit | Setting::TimeLimit), Some(value)) => {
                self.answer(value);
                false
            }
            (Some(_), None) => false,
            // Another map or type begins with the next map.
            (_, _) => {
                self.asked = None;
                ENDS.contains(&word)
            }
        }
    }

    /// Takes a value; `None` if nothing was asked for, or the value is none.
    fn answer(&mut self, value: &[u8]) -> Option<SettingValue> {
        let number = real(value).filter(|number| (0.0..=1_000.0).contains(number));
        Some(match self.asked.take()? {
            Setting::Map => SettingValue::Map(text::name(value)),
            Setting::Kind => SettingValue::Kind(text::name(value).to_lowercase()),
            Setting::ScoreLimit => {
                self.score_limit = Some(number?);
                SettingValue::Limit
            }
            Setting::TimeLimit => {
                // The limit is in minutes.
                self.time_limit = Some(number? as u64 * 60_000);
                SettingValue::Limit
            }
        })
    }
}
