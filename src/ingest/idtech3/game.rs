//! One id Tech 3 game, from its beginning to its results.

use super::super::Skip;
use super::super::clock::Clock;
use super::super::course::{Course, Frame};
use super::grammar::Event;
use super::roster::{Client, Roster, Side};
use super::rules::Rules;
use crate::domain::{MatchRecord, Timestamp};

/// Red and blue.
const TEAMS: usize = 2;

/// Where score changes are known from; a later one knows better.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    /// From who killed whom, by the game's own rule, where scores are kills.
    Kills,
    /// From flag captures, or rounds.
    Captures,
    /// The log tells the score.
    Told,
}

pub(super) struct Game {
    /// The line on which it began.
    pub(super) line: u64,
    /// Whether everybody there was told of since, and nobody was there before the log began.
    pub(super) roster_known: bool,
    rules: Rules,
    /// When play began.
    began: Clock,
    /// When the line was written that began the game, by the log's clock: what its date means.
    dated: Option<(Timestamp, u64)>,
    warm_up: bool,
    /// Whether a round has begun, of which the game may have many.
    round: bool,
    /// How long it lasted, once it is over.
    lasted: Option<u64>,
    course: Course,
    source: Source,
    /// Last totals told.
    totals: [i64; TEAMS],
    /// The last kill's killer, or the victim of one's own hand.
    actor: Option<usize>,
    result: Option<[i64; TEAMS]>,
    /// Somebody took part of whom nothing is known.
    stranger: bool,
}

impl Game {
    pub(super) fn new(line: u64, rules: Rules, now: Clock, roster_known: bool) -> Self {
        Self {
            line,
            roster_known,
            dated: rules.date.map(|date| (date, now.position())),
            rules,
            began: now,
            warm_up: false,
            round: false,
            lasted: None,
            course: Course::default(),
            source: Source::Kills,
            totals: [0; TEAMS],
            actor: None,
            result: None,
            stranger: false,
        }
    }

    /// Play begins anew.
    pub(super) fn restart(&mut self, rules: Rules, now: Clock) {
        let dated = self.dated;
        *self = Self::new(self.line, rules, now, self.roster_known);
        self.dated = self.dated.or(dated);
        self.round = true;
    }

    /// Whether a round that begins now is just the next of this game.
    pub(super) fn is_between_rounds(&self) -> bool {
        self.rules.rounds && self.round && !self.warm_up && !self.is_over()
    }

    /// Whether it has ended, and only its results may still come.
    pub(super) fn is_over(&self) -> bool {
        self.lasted.is_some()
    }

    /// Whether all that comes after its end has come: the teams' score, and that of everybody who was
    /// there.
    pub(super) fn has_results(&mut self, roster: &mut Roster) -> bool {
        let mut there = roster.all().filter(|client| client.seat.is_some());
        let course = &mut self.course;
        (self.result.is_some() || !self.rules.teams)
            && there.all(|client| {
                let track = client.track;
                track.is_some_and(|track| course.points(track).is_some())
            })
    }

    /// It is not over after all, as far as the log goes.
    pub(super) fn forget_end(&mut self) {
        self.lasted = None;
    }

    fn millis(&self, now: Clock) -> u64 {
        now.position().saturating_sub(self.began.position())
    }

    /// Takes note of where a client is now, and who.
    pub(super) fn settle(&mut self, client: &mut Client, now: Clock) {
        if self.is_over() {
            return;
        }
        if std::mem::take(&mut client.renamed) {
            self.rename(client, now);
        }
        let wanted = self.seat(client);
        if wanted != client.seat {
            let track = match client.track {
                Some(track) => track,
                None => self.enter(client),
            };
            let at = self.course.tick(self.millis(now));
            self.course.seat(track, wanted, at);
            client.seat = wanted;
        }
        if !client.begun {
            // Whoever is on this number next is somebody else.
            client.track = None;
        }
    }

    fn enter(&mut self, client: &mut Client) -> usize {
        let who = client.who();
        let track = self.course.enter(who.key.clone(), client.name());
        client.track = Some(track);
        client.known_as = Some(who);
        track
    }

    /// A client is known by another name or id. Without an identity of their own they stay who they
    /// were; otherwise somebody else has taken the place.
    fn rename(&mut self, client: &mut Client, now: Clock) {
        let (Some(track), Some(old)) = (client.track, client.known_as.take()) else {
            return;
        };
        let mut new = client.who();
        if old.is_somebody_else(&new) {
            let at = self.course.tick(self.millis(now));
            self.course.seat(track, None, at);
            client.track = None;
            client.seat = None;
            return;
        }
        if old.strong {
            new = old;
        }
        self.course.rename(track, new.key.clone(), client.name());
        client.known_as = Some(new);
    }

    /// The team a client plays on.
    fn seat(&self, client: &Client) -> Option<u8> {
        match client.side {
            _ if !client.begun => None,
            Side::Team(team) if self.rules.teams => Some(team),
            Side::Team(_) | Side::Free if !self.rules.teams => Some(0),
            _ => None,
        }
    }

    pub(super) fn event(&mut self, event: Event<'_>, roster: &Roster, now: Clock) {
        match event {
            Event::Points { client, points } if self.is_over() => {
                // Results are told once; what comes again is some later game's, or noise.
                if let Some(track) = track(roster, Some(client)) {
                    self.course.points(track).get_or_insert(points as f64);
                }
            }
            Event::Result(result) if self.is_over() => {
                self.result.get_or_insert(result);
            }
            _ if self.is_over() => {}
            Event::Warmup => self.warm_up = true,
            Event::Exit => self.lasted = Some(self.course.end(self.millis(now))),
            Event::Kill {
                killer,
                victim,
                team_change,
            } => self.kill(roster, killer, victim, team_change, now),
            Event::Capture { by, flag } => {
                let team = if flag == 1 { 1 } else { 0 };
                self.score(Source::Captures, team, 1, track(roster, by), now);
            }
            Event::RoundWon(team) => self.score(Source::Captures, team, 1, None, now),
            Event::TeamScore { team, total } => self.total(roster, team, total, now),
            _ => {}
        }
    }

    fn meet(&mut self, roster: &Roster, number: usize) {
        self.stranger |= !roster.get(number).is_some_and(Client::is_known);
    }

    fn kill(
        &mut self,
        roster: &Roster,
        killer: Option<usize>,
        victim: usize,
        team_change: bool,
        now: Clock,
    ) {
        self.meet(roster, victim);
        if let Some(died) = track(roster, Some(victim)) {
            self.course.death(died);
        }
        let seat = |number| roster.get(number).and_then(|client: &Client| client.seat);
        let Some(killer) = killer.filter(|&killer| killer != victim) else {
            self.actor = Some(victim);
            if let (Some(team), false) = (seat(victim), team_change) {
                self.kill_score(roster, team, -1, victim, now);
            }
            return;
        };
        self.meet(roster, killer);
        self.actor = Some(killer);
        let enemies = !self.rules.teams || seat(killer) != seat(victim);
        if let (Some(track), true) = (track(roster, Some(killer)), enemies) {
            self.course.kill(track);
        }
        if let Some(team) = seat(killer) {
            self.kill_score(roster, team, if enemies { 1 } else { -1 }, killer, now);
        }
    }

    /// In team deathmatch a team has a point for every enemy killed, and one less for every death by
    /// its own hand, unless that was a mere change of teams.
    fn kill_score(&mut self, roster: &Roster, team: u8, points: i64, by: usize, now: Clock) {
        if self.rules.scored_by_kills {
            self.score(Source::Kills, team, points, track(roster, Some(by)), now);
        }
    }

    fn total(&mut self, roster: &Roster, team: i64, total: i64, now: Clock) {
        let Some(index @ 0..TEAMS) = usize::try_from(team - 1).ok() else {
            return;
        };
        let points = total - std::mem::replace(&mut self.totals[index], total);
        let own = |actor: &usize| {
            let seat = roster.get(*actor).and_then(|client| client.seat);
            seat.map(usize::from) == Some(index)
        };
        let by = track(roster, self.actor.filter(own));
        if points != 0 {
            self.score(Source::Told, index as u8, points, by, now);
        }
    }

    fn score(&mut self, source: Source, team: u8, points: i64, by: Option<usize>, now: Clock) {
        if source < self.source || !self.rules.teams {
            return;
        }
        if source > self.source {
            self.source = source;
            self.course.forget_scores();
        }
        let at = self.course.tick(self.millis(now));
        self.course.score(team, points as f64, by, at);
    }

    /// The record, or why there is none.
    pub(super) fn finish(self, server: &str) -> Result<MatchRecord, Skip> {
        if self.warm_up {
            return Err(Skip::WarmUp);
        }
        let lasted = self.lasted.ok_or(Skip::Unfinished)?;
        if self.stranger && !self.roster_known {
            return Err(Skip::StartedBeforeLog);
        }
        if self.course.is_too_large() {
            return Err(Skip::TooLarge);
        }
        let scores = match self.result {
            _ if !self.rules.teams => Vec::new(),
            Some(result) => result.map(|score| score as f64).to_vec(),
            None if self.course.has_scores() => self.course.sums(TEAMS),
            None => return Err(Skip::NoResult),
        };
        let millis = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let began = self.began.position();
        let start = match self.dated {
            Some((date, at)) => date.plus_millis(millis(began.saturating_sub(at))),
            None => Timestamp(millis(began)),
        };
        let frame = Frame {
            server: server.to_owned(),
            start,
            clock: self.dated.is_none().then(|| self.began.reading()),
            map: self.rules.map,
            game_type: self.rules.game_type,
            mutators: self.rules.mutators,
            scores,
        };
        self.course.record(frame, lasted).map_err(Skip::Impossible)
    }
}

/// The track of a client number in the game being told.
fn track(roster: &Roster, number: Option<usize>) -> Option<usize> {
    number.and_then(|number| roster.get(number)?.track)
}
