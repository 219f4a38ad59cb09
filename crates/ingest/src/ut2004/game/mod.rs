//! One UT2004 game, from its announcement to its end.

mod roster;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    class::{is_team_game, new_recorder},
    player::Player,
};
use crate::{
    clock::LogClock,
    record,
    skip::Skip,
    tabs::Fields,
    text::{self, LineResult},
};
use evenkeel_model::{MAX_TEAMS, MatchRecord, MatchRecorder, Timestamp};

/// The most player numbers in one game. A real server uses fewer.
const MAX_PLAYERS: usize = 10_000;

/// How the game marks a bot's name.
const BOT: &[u8] = b"[BOT]";

pub(super) struct Game {
    /// The line on which it was announced.
    pub(super) line: u64,
    map: String,
    class: String,
    mutators: Vec<String>,
    /// When it was announced, by the calendar and by the log's clock.
    date: Option<Timestamp>,
    announced: LogClock,
    /// When play began.
    began: Option<LogClock>,
    players: BTreeMap<u32, Player>,
    recorder: MatchRecorder,
    /// One more than the highest team number seen.
    teams: usize,
    /// The player who acted last, and when. Points that the team gets at the same time are credited
    /// to this player.
    actor: Option<(u32, LogClock)>,
}

impl Game {
    /// Reads `NG date time tz map title author GameClass GameName [Mutators=…]`.
    pub(super) fn read(line: u64, mut fields: Fields<'_>, now: LogClock) -> LineResult<Self> {
        let date = text::date_time(fields.next()?);
        let (_zone, map, _title, _author) = (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        );
        let class = text::name(fields.next()?);
        let mutators = fields.find(b"Mutators=");
        let mutators: BTreeSet<String> = mutators
            .unwrap_or_default()
            .split(|&b| b == b'|')
            .map(text::name)
            .filter(|name| !name.is_empty())
            .collect();
        Ok(Self {
            line,
            map: text::name(map),
            mutators: mutators.into_iter().collect(),
            date,
            announced: now,
            began: None,
            players: BTreeMap::new(),
            recorder: new_recorder(&class),
            class,
            teams: 0,
            actor: None,
        })
    }

    pub(super) fn event(
        &mut self,
        verb: &[u8],
        mut fields: Fields<'_>,
        now: LogClock,
    ) -> LineResult<()> {
        match verb {
            b"SG" => self.start(now),
            b"C" => self.connect(fields, now)?,
            b"D" => self.disconnect(fields.player_or_none()?, now),
            b"PS" => {
                let player = fields.player_or_none()?;
                let (_address, _speed, hash) = (fields.next()?, fields.next()?, fields.next()?);
                self.learn(player, |player| hash.clone_into(&mut player.hash));
            }
            b"BI" => self.is_bot(fields.player_or_none()?),
            b"G" => self.game_event(fields, now)?,
            b"K" | b"TK" => self.kill(verb == b"TK", fields, now)?,
            b"S" => self.points(fields, now)?,
            b"T" => self.team_points(fields, now)?,
            _ => {}
        }
        Ok(())
    }

    /// Begins play, with the players who are there. Everything before was warm-up.
    fn start(&mut self, now: LogClock) {
        self.began = Some(now);
        self.recorder = new_recorder(&self.class);
        self.actor = None;
        let mut players = std::mem::take(&mut self.players);
        players.retain(|_, player| player.connected);
        for player in players.values_mut() {
            player.visit = None;
            player.joined = 0;
            player.points = 0.0;
            self.seat(player, now);
        }
        self.players = players;
    }

    /// Handles `G event number what`.
    fn game_event(&mut self, mut fields: Fields<'_>, now: LogClock) -> LineResult<()> {
        let event = fields.next()?;
        match event {
            b"NameChange" => {
                let (number, name) = (fields.player_or_none()?, fields.next()?);
                let name = match name.strip_prefix(BOT) {
                    Some(name) => {
                        self.is_bot(number);
                        name
                    }
                    None => name,
                };
                self.learn(number, |player| name.clone_into(&mut player.name));
            }
            b"TeamChange" => {
                self.team_change(fields.player_or_none()?, fields.team(MAX_TEAMS)?, now)
            }
            _ if event.starts_with(b"flag_") => self.act(fields.player_or_none()?, now),
            _ => {}
        }
        Ok(())
    }

    /// Handles `K killer|-1 damage victim weapon`, or `TK` if both were on the same team.
    fn kill(&mut self, team_kill: bool, mut fields: Fields<'_>, now: LogClock) -> LineResult<()> {
        let (killer, _damage, victim) = (
            fields.player_or_none()?,
            fields.next()?,
            fields.player_or_none()?,
        );
        self.act(killer, now);
        self.recorder
            .count_death(self.visit(victim), self.millis(now));
        if killer != victim && !team_kill {
            self.recorder
                .count_kill(self.visit(killer), self.millis(now));
        }
        Ok(())
    }

    /// Handles `S number points what`.
    fn points(&mut self, mut fields: Fields<'_>, now: LogClock) -> LineResult<()> {
        let (number, points) = (fields.player_or_none()?, fields.points()?);
        self.act(number, now);
        if self.began.is_some()
            && let Some(player) = number.and_then(|number| self.players.get_mut(&number))
        {
            player.points += points;
            if let Some(visit) = player.visit {
                self.recorder.player(visit).points = Some(player.points);
            }
        }
        Ok(())
    }

    /// Handles `T team points what`.
    fn team_points(&mut self, mut fields: Fields<'_>, now: LogClock) -> LineResult<()> {
        let (team, points) = (fields.team(MAX_TEAMS)?, fields.points()?);
        let team = team.ok_or("there is no such team")?;
        self.teams = self.teams.max(usize::from(team) + 1);
        if self.began.is_some() {
            let by = self.actor.filter(|(_, at)| at.position() == now.position());
            let by = by.and_then(|(number, _)| self.players.get(&number));
            let by = by.filter(|player| player.team == Some(team));
            let by = by.and_then(|player| player.visit);
            self.recorder.settle_sides();
            let at = self.recorder.tick(self.millis(now));
            self.recorder.score(team, points, by, at);
        }
        Ok(())
    }

    fn act(&mut self, number: Option<u32>, now: LogClock) {
        self.actor = number.map(|number| (number, now)).or(self.actor);
    }

    fn visit(&self, number: Option<u32>) -> Option<usize> {
        number.and_then(|number| self.players.get(&number)?.visit)
    }

    /// Milliseconds since play began.
    fn millis(&self, now: LogClock) -> u64 {
        let began = self.began.unwrap_or(now);
        now.position().saturating_sub(began.position())
    }

    /// Why there is no record of a game whose end the log does not contain.
    pub(super) fn unfinished(&self) -> Skip {
        match self.began {
            Some(_) => Skip::Unfinished,
            None => Skip::WarmUp,
        }
    }

    /// Ends the game now and builds its record, or returns why there is none.
    pub(super) fn finish(mut self, server: &str, now: LogClock) -> Result<MatchRecord, Skip> {
        let began = self.began.ok_or(Skip::WarmUp)?;
        self.recorder.settle_sides();
        let lasted = self.recorder.end(self.millis(now));
        let scores = if is_team_game(&self.class, self.teams > 0) {
            self.recorder.sums(self.teams.max(2))
        } else {
            Vec::new()
        };
        let announced = self.announced.position();
        let (start, clock) = began.start(self.date.map(|date| (date, announced)));
        let record = MatchRecord {
            server: server.to_owned(),
            start,
            clock,
            map: self.map,
            game_type: self.class,
            mutators: self.mutators,
            scores,
            ..MatchRecord::default()
        };
        record::complete(&self.recorder, record, lasted)
    }
}
