//! One id Tech 3 game, from its beginning to its results.

use std::collections::BTreeMap;

use evenkeel_model::{MatchRecord, MatchRecorder, Timestamp};

use super::{
    server::{ClientIdentity, ClientSlots, IdTech3Client},
    setup::GameSetup,
};
use crate::{
    clock::LogClock,
    event::{ClientTeam, GameEvent},
    format::Skip,
    record,
};

/// How many teams a team game has: red and blue.
const TEAMS: usize = 2;

pub(super) struct IdTech3Game {
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
    seats: Vec<RecordSeat>,
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

impl IdTech3Game {
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
                    self.stranger |= !clients.get(number).is_some_and(IdTech3Client::is_known);
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

/// The place of a client number in the record.
#[derive(Clone, Debug, Default)]
struct RecordSeat {
    /// The visit of the player on it.
    visit: Option<usize>,
    /// The team that the visit is on.
    pub team: Option<u8>,
    /// The identity that the visit has.
    known_as: Option<ClientIdentity>,
    /// How often the client had been renamed when the visit got it.
    renamed: u32,
}

impl IdTech3Game {
    /// Takes over a client's present name, identity and team.
    pub(super) fn update_client(&mut self, number: usize, client: &IdTech3Client, now: LogClock) {
        if self.is_over() {
            return;
        }
        if number >= self.seats.len() {
            self.seats.resize_with(number + 1, RecordSeat::default);
        }
        let mut seat = std::mem::take(&mut self.seats[number]);
        if std::mem::replace(&mut seat.renamed, client.renamed) != client.renamed {
            self.rename(&mut seat, client, now);
        }
        let team = self.team_of(client);
        if team != seat.team {
            let visit = match seat.visit {
                Some(visit) => visit,
                None => self.enter(&mut seat, client),
            };
            self.move_visit(visit, team, now);
            seat.team = team;
        }
        if !client.begun {
            // The next player on this client number is another one.
            seat.visit = None;
        }
        self.seats[number] = seat;
    }

    /// A client has left, whose number another player may get.
    pub(super) fn remove_client(&mut self, number: usize, now: LogClock) {
        self.kept.remove(&number);
        let seat = self.seats.get_mut(number).map(std::mem::take);
        let seat = seat.filter(|seat| seat.team.is_some() && !self.is_over());
        if let Some(visit) = seat.and_then(|seat| seat.visit) {
            self.move_visit(visit, None, now);
        }
    }

    fn seat(&self, number: usize) -> Option<&RecordSeat> {
        self.seats.get(number)
    }

    /// The visit of the player who is on this client number.
    fn visit_of(&self, number: usize) -> Option<usize> {
        self.seat(number)?.visit
    }

    fn move_visit(&mut self, visit: usize, team: Option<u8>, now: LogClock) {
        let at = self.recorder.tick(self.millis(now));
        self.recorder.set_team(visit, team, at);
    }

    fn enter(&mut self, seat: &mut RecordSeat, client: &IdTech3Client) -> usize {
        let identity = client.identity();
        let visit = self.recorder.enter(identity.key.clone(), client.name());
        seat.visit = Some(visit);
        seat.known_as = Some(identity);
        visit
    }

    /// Handles a client's new name or id. A player who has a strong identity keeps it; a different
    /// strong identity means that another player has taken the client number.
    fn rename(&mut self, seat: &mut RecordSeat, client: &IdTech3Client, now: LogClock) {
        let (Some(visit), Some(old)) = (seat.visit, seat.known_as.take()) else {
            return;
        };
        let mut new = client.identity();
        if old.is_another_player(&new) {
            self.move_visit(visit, None, now);
            (seat.visit, seat.team) = (None, None);
            return;
        }
        if old.strong {
            new = old;
        }
        self.recorder.rename(visit, new.key.clone(), client.name());
        seat.known_as = Some(new);
    }

    /// The team for which a client plays; always 0 in a game without teams.
    fn team_of(&self, client: &IdTech3Client) -> Option<u8> {
        match client.team {
            _ if !client.begun => None,
            ClientTeam::Team(team) if self.setup.teams => Some(team),
            ClientTeam::Team(_) | ClientTeam::Free if !self.setup.teams => Some(0),
            _ => None,
        }
    }
}
