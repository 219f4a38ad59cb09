//! One id Tech 3 game, from its beginning to its results.

mod roster;

use std::collections::BTreeMap;

use super::{
    clients::{Client, ClientSlots},
    grammar::Event,
    scoring::{KillScore, TEAMS, TeamPoints, TeamTotals},
    setup::GameSetup,
};
use crate::{
    domain::{MatchRecord, MatchRecorder, Timestamp},
    ingest::{clock::LogClock, record, skip::Skip},
};

/// Where the score changes come from. Once a more reliable source appears, it replaces the others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ScoreSource {
    /// Computed from kills by the game's own rule, where teams score by killing.
    Kills,
    /// Computed from flag captures, or from rounds won.
    Captures,
    /// Stated by the log as totals.
    Totals,
}

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
    source: ScoreSource,
    totals: TeamTotals,
    /// The client to whom the next change of a total is credited: the last killer, or the last victim
    /// of a suicide.
    actor: Option<usize>,
    result: Option<[i64; TEAMS]>,
    /// The points that clients have kept from the first half, which the log's final points contain.
    kept: BTreeMap<usize, i64>,
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
            source: ScoreSource::Kills,
            totals: TeamTotals::default(),
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
    pub(super) fn keep_points(&mut self, kept: BTreeMap<usize, i64>) {
        if self.setup.swaps {
            self.kept = kept;
        }
    }

    /// Whether the game is played in halves, between which the teams change sides.
    pub(super) fn swaps(&self) -> bool {
        self.setup.swaps
    }

    /// A client has left, whose number another player may get.
    pub(super) fn forget_points(&mut self, client: usize) {
        self.kept.remove(&client);
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
    pub(super) fn has_results(&mut self, clients: &mut ClientSlots) -> bool {
        let mut playing = clients.all().filter(|client| client.seated.is_some());
        let players = self.recorder.players();
        (self.result.is_some() || !self.setup.teams)
            && playing.all(|client| {
                let visit = client.visit;
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

    pub(super) fn event(&mut self, event: Event<'_>, clients: &ClientSlots, now: LogClock) {
        match event {
            Event::Points { client, points } if self.is_over() => {
                // The game writes each result once: a repeated one belongs to a later game, or is
                // an error in the log.
                if let Some(visit) = visit_of(clients, client) {
                    let kept = self.kept.get(&client).copied().unwrap_or(0);
                    let own = points.saturating_sub(kept) as f64;
                    self.recorder.player(visit).points.get_or_insert(own);
                }
            }
            Event::Result(result) if self.is_over() => {
                self.result.get_or_insert(result);
            }
            _ if self.is_over() => {}
            Event::Warmup => self.warm_up = true,
            Event::Exit => self.lasted = Some(self.recorder.end(self.millis(now))),
            Event::Kill {
                killer,
                victim,
                team_change,
            } => self.kill(clients, killer, victim, team_change, now),
            Event::Capture { by, flag } => {
                let points = TeamPoints::of_capture(flag, by);
                self.score(ScoreSource::Captures, points, clients, now);
            }
            Event::RoundWon(team) => {
                let (points, by) = (1, None);
                let points = TeamPoints { team, points, by };
                self.score(ScoreSource::Captures, points, clients, now);
            }
            Event::TeamScore { team, total } => self.total(clients, team, total, now),
            _ => {}
        }
    }

    fn note_stranger(&mut self, clients: &ClientSlots, number: usize) {
        self.stranger |= !clients.get(number).is_some_and(Client::is_known);
    }

    fn kill(
        &mut self,
        clients: &ClientSlots,
        killer: Option<usize>,
        victim: usize,
        team_change: bool,
        now: LogClock,
    ) {
        self.note_stranger(clients, victim);
        if let Some(killer) = killer {
            self.note_stranger(clients, killer);
        }
        self.actor = killer.or(Some(victim));
        let at = self.millis(now);
        self.recorder.count_death(visit_of(clients, victim), at);
        let team_of = |number| seated(clients, number);
        let score = KillScore::of(&self.setup, killer, victim, team_change, team_of);
        let by = score.enemy_killed_by.and_then(|by| visit_of(clients, by));
        self.recorder.count_kill(by, at);
        if let Some(points) = score.points {
            self.score(ScoreSource::Kills, points, clients, now);
        }
    }

    /// Handles a team's new total, and credits the change to the last actor if that was on the team.
    fn total(&mut self, clients: &ClientSlots, team: i64, total: i64, now: LogClock) {
        if let Some(change) = self.totals.replace(team, total) {
            let on_team = |actor: &usize| seated(clients, *actor) == Some(change.team);
            let by = self.actor.filter(on_team);
            let points = TeamPoints { by, ..change };
            self.score(ScoreSource::Totals, points, clients, now);
        }
    }

    fn score(
        &mut self,
        source: ScoreSource,
        change: TeamPoints,
        clients: &ClientSlots,
        now: LogClock,
    ) {
        if source < self.source || !self.setup.teams {
            return;
        }
        if source > self.source {
            self.source = source;
            self.recorder.forget_scores();
        }
        let at = self.recorder.tick(self.millis(now));
        let by = change.by.and_then(|by| visit_of(clients, by));
        self.recorder
            .score(change.team, change.points as f64, by, at);
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
            Some(result) => result.map(|score| score as f64).to_vec(),
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

/// The visit of the player who is on this client number in the game being read.
fn visit_of(clients: &ClientSlots, number: usize) -> Option<usize> {
    clients.get(number)?.visit
}

/// The team on which the game being read has this client.
fn seated(clients: &ClientSlots, number: usize) -> Option<u8> {
    clients.get(number)?.seated
}
