//! One id Tech 3 game, from its beginning to its results.

mod roster;

use std::collections::BTreeMap;

use super::{
    clients::{Client, ClientSlots},
    setup::GameSetup,
};
use crate::{clock::LogClock, event::GameEvent, record, skip::Skip};
use evenkeel_model::{MatchRecord, MatchRecorder, Timestamp};
use roster::Seat;

/// How many teams a team game has: red and blue.
const TEAMS: usize = 2;

pub(super) struct Game {
    /// The line on which it began.
    pub(super) line: u64,
    /// Whether every client's name and team is in the log, because the log contains the beginning
    /// of the game.
    pub(super) clients_known: bool,
    setup: GameSetup,
    /// When play began.
    began: LogClock,
    /// The date of the line that began the game, and that line's position on the log's clock.
    dated: Option<(Timestamp, u64)>,
    warm_up: bool,
    /// Whether a round has begun; a game may have many.
    round: bool,
    /// How long the game lasted, in milliseconds, once it has ended.
    lasted: Option<u64>,
    recorder: MatchRecorder,
    /// The clients who take part, by their numbers.
    seats: Vec<Seat>,
    /// The teams' scores as the log states them. Once it does, they replace those that follow from kills and captures.
    totals: Option<[f64; TEAMS]>,
    /// The client to whom the next change of a total is credited: the last killer, or the last victim
    /// of a suicide.
    actor: Option<usize>,
    result: Option<[f64; TEAMS]>,
    /// The points that clients have kept from the first half, which the log's final points contain.
    kept: BTreeMap<usize, f64>,
    /// Whether a client took part whose name and team no line states.
    stranger: bool,
}

impl Game {
    pub(super) fn new(line: u64, setup: GameSetup, now: LogClock, clients_known: bool) -> Self {
        Self {
            line,
            clients_known,
            dated: setup.date.map(|date| (date, now.position())),
            recorder: MatchRecorder::with_sides_if(setup.swaps),
            setup,
            began: now,
            warm_up: false,
            round: false,
            lasted: None,
            seats: Vec::new(),
            totals: None,
            actor: None,
            result: None,
            kept: BTreeMap::new(),
            stranger: false,
        }
    }

    /// Discards everything played so far: play begins now, with a round.
    pub(super) fn restart(&mut self, setup: GameSetup, now: LogClock) {
        let (dated, kept) = (self.dated, std::mem::take(&mut self.kept));
        *self = Self::new(self.line, setup, now, self.clients_known);
        self.kept = kept;
        self.dated = self.dated.or(dated);
        self.round = true;
    }

    /// Takes the date of this moment, unless the game has one.
    pub(super) fn note_date(&mut self, date: Timestamp, now: LogClock) {
        self.dated = self.dated.or(Some((date, now.position())));
    }

    /// Begins the second half, if the game is played in halves, with these points of the first one.
    pub(super) fn keep_points(&mut self, kept: BTreeMap<usize, f64>) {
        if self.setup.swaps {
            self.kept = kept;
        }
    }

    /// Whether the game is played in halves, between which the teams change sides.
    pub(super) fn swaps(&self) -> bool {
        self.setup.swaps
    }

    /// Whether a round that begins now is the next round of this game.
    pub(super) fn is_between_rounds(&self) -> bool {
        self.setup.rounds && self.round && !self.warm_up && !self.is_over()
    }

    /// Whether the game has ended, so that only its results may follow.
    pub(super) fn is_over(&self) -> bool {
        self.lasted.is_some()
    }

    /// Whether all results have been read: the teams' final score, and the points of every client.
    pub(super) fn has_results(&self) -> bool {
        let mut playing = self.seats.iter().filter(|seat| seat.team.is_some());
        let players = self.recorder.players();
        (self.result.is_some() || !self.setup.teams)
            && playing.all(|seat| {
                let visit = seat.visit;
                visit.is_some_and(|visit| players[visit].points.is_some())
            })
    }

    /// Treats the game as unfinished.
    pub(super) fn forget_end(&mut self) {
        self.lasted = None;
    }

    fn millis(&self, now: LogClock) -> u64 {
        now.position().saturating_sub(self.began.position())
    }

    pub(super) fn event(&mut self, event: GameEvent, clients: &ClientSlots, now: LogClock) {
        match event {
            GameEvent::Points { client, points } if self.is_over() => {
                // The game writes each result once: a repeated one belongs to a later game, or is
                // an error in the log.
                if let Some(visit) = self.visit_of(client) {
                    let own = points - self.kept.get(&client).unwrap_or(&0.0);
                    self.recorder.player(visit).points.get_or_insert(own);
                }
            }
            GameEvent::Result([Some(red), Some(blue), ..]) if self.is_over() => {
                self.result.get_or_insert([red, blue]);
            }
            _ if self.is_over() => {}
            GameEvent::WarmUp => self.warm_up = true,
            GameEvent::Over => self.lasted = Some(self.recorder.end(self.millis(now))),
            GameEvent::Death { victim, by, .. } => {
                for number in by.into_iter().chain([victim]) {
                    self.stranger |= !clients.get(number).is_some_and(Client::is_known);
                }
                self.actor = by.or(Some(victim));
                self.take(event, now);
            }
            GameEvent::Score { .. } if self.totals.is_none() => self.take(event, now),
            GameEvent::Total { team, points } => self.total(team, points, now),
            _ => {}
        }
    }

    /// Handles a team's new total, and credits the change to the last actor if that was on the team.
    fn total(&mut self, team: u8, total: f64, now: LogClock) {
        let mut totals = self.totals.unwrap_or_default();
        let points = total - std::mem::replace(&mut totals[usize::from(team)], total);
        if points != 0.0 && self.setup.teams {
            if self.totals.replace(totals).is_none() {
                self.recorder.forget_scores();
            }
            let on_team = |actor: &usize| self.seat(*actor).is_some_and(|s| s.team == Some(team));
            let by = self.actor.filter(on_team);
            self.take(GameEvent::Score { team, points, by }, now);
        }
    }

    /// Takes a death, or the change of a score, if there are teams.
    fn take(&mut self, event: GameEvent, now: LogClock) {
        if self.setup.teams || !matches!(event, GameEvent::Score { .. }) {
            let (at, seats) = (self.millis(now), &self.seats);
            record::take(&mut self.recorder, event, at, |number| {
                seats.get(number)?.visit
            });
        }
    }

    /// Gives the players who share an id their names for ids, and returns how many had it.
    pub(super) fn split_id(&mut self, id: &str) -> usize {
        record::split_id(&mut self.recorder, id)
    }

    /// Builds the record, or returns why there is none.
    pub(super) fn finish(self, server: &str) -> Result<MatchRecord, Skip> {
        if let Some(game) = self.setup.unsupported {
            return Err(Skip::Unsupported(game));
        }
        if self.warm_up {
            return Err(Skip::WarmUp);
        }
        let lasted = self.lasted.ok_or(Skip::Unfinished)?;
        if self.stranger && !self.clients_known {
            return Err(Skip::StartedBeforeLog);
        }
        let scores = match self.result {
            _ if !self.setup.teams => Vec::new(),
            Some(result) => result.to_vec(),
            None if self.recorder.has_scores() => self.recorder.sums(TEAMS),
            None => return Err(Skip::NoResult),
        };
        let (start, clock) = self.began.start(self.dated);
        let record = MatchRecord {
            server: server.to_owned(),
            start,
            clock,
            map: self.setup.map,
            game_type: self.setup.game_type,
            mutators: self.setup.mutators,
            scores,
            ..MatchRecord::default()
        };
        record::complete(&self.recorder, record, lasted)
    }
}
