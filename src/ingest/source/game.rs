//! One game of a Source or GoldSrc log.

use std::collections::BTreeMap;

use super::clients::{ConnectedClients, GameContext};
use super::grammar::{Event, PlayerAction, PlayerTag};
use crate::{
    domain::{MatchRecord, Timestamp},
    ingest::{
        builder::{MatchBuilder, MatchHeader},
        clock::Calendar,
        skip::Skip,
        team::ClientTeam,
        text,
    },
};

/// Red, blue, yellow and green.
const TEAMS: usize = 4;
/// The most rounds of one game. A real game has fewer.
const MAX_ROUNDS: usize = 1_000;

/// Gameplay settings, with their defaults. A setting with another value becomes a mutator.
const VARIANTS: [(&str, f64); 5] = [
    ("mp_friendlyfire", 0.0),
    ("mp_highlander", 0.0),
    ("sv_gravity", 800.0),
    ("tf_medieval", 0.0),
    ("tf_weapon_criticals", 1.0),
];

/// The game's name if the log does not state it.
const UNNAMED: &str = "source";

/// The server's game, map and settings, as far as the log states them.
#[derive(Debug, Default)]
pub(super) struct ServerSetup {
    game: String,
    map: String,
    /// Settings that do not have their default value, by name.
    variants: BTreeMap<&'static str, String>,
}

impl ServerSetup {
    /// The setup of a server that runs the game of this folder.
    pub(super) fn of(folder: &[u8]) -> Self {
        Self {
            game: text::name(folder).to_lowercase(),
            ..Self::default()
        }
    }

    pub(super) fn load(&mut self, map: &[u8]) {
        self.map = text::name(map);
    }

    pub(super) fn set(&mut self, name: &[u8], value: &[u8]) {
        let known = VARIANTS.iter().find(|(known, _)| known.as_bytes() == name);
        let Some((name, default)) = known else { return };
        match text::real(value) {
            Some(set) if set != *default => {
                self.variants.insert(name, text::name(value));
            }
            _ => {
                self.variants.remove(name);
            }
        }
    }

    fn mutators(&self) -> Vec<String> {
        let name = |(name, value): (&&str, &String)| match value.as_str() {
            "1" => (*name).to_owned(),
            value => format!("{name}={value}"),
        };
        self.variants.iter().map(name).collect()
    }

    /// The game type, for example `tf.ctf`: the folder of the game and the prefix of the map's
    /// name. If the log does not name the map, `seen`, which follows from the events, replaces the
    /// prefix.
    fn game_type(&self, seen: Option<&'static str>) -> String {
        let game = if self.game.is_empty() {
            UNNAMED
        } else {
            &self.game
        };
        let prefix = self.map.split_once('_').map(|(prefix, _)| prefix);
        let prefix = prefix.filter(|p| p.len() <= 4 && p.bytes().all(|b| b.is_ascii_alphabetic()));
        let seen = seen.filter(|_| self.map.is_empty());
        match prefix.or(seen) {
            Some(mode) => format!("{game}.{}", mode.to_lowercase()),
            None => game.to_owned(),
        }
    }
}

pub(super) struct Game {
    /// The line on which it began.
    pub(super) line: u64,
    /// When play began: in milliseconds since the log began, and as a date.
    began: Option<(u64, Option<Timestamp>)>,
    /// Whether another game has just ended, so that lines about it may still follow.
    after: bool,
    /// The first line with play, if it comes before any beginning of a game. Such play is warm-up,
    /// or belongs to a game that began before the log.
    before: Option<u64>,
    /// Whether that play belongs to a game that began before the log, which the end of a round
    /// shows.
    foreign: bool,
    /// Whether a round is being played, so that the start of another begins the game again.
    round: bool,
    lasted: Option<u64>,
    builder: MatchBuilder,
    /// The score changes after rounds: time, team and points.
    rounds: Vec<(u64, u8, f64)>,
    totals: [f64; TEAMS],
    results: [Option<f64>; TEAMS],
    /// The kind of play that the events have shown, for example `koth`.
    seen: Option<&'static str>,
    mutators: Vec<String>,
}

impl Game {
    /// The state before any game has begun.
    pub(super) fn new(line: u64) -> Self {
        Self {
            line,
            began: None,
            after: false,
            before: None,
            foreign: false,
            round: false,
            lasted: None,
            builder: MatchBuilder::default(),
            rounds: Vec::new(),
            totals: [0.0; TEAMS],
            results: [None; TEAMS],
            seen: None,
            mutators: Vec::new(),
        }
    }

    /// The state after a game that has ended.
    pub(super) fn after(line: u64) -> Self {
        let after = true;
        Self {
            after,
            ..Self::new(line)
        }
    }

    /// Begins play. If play has begun already, everything before is discarded.
    pub(super) fn begin(
        &mut self,
        line: u64,
        setup: &ServerSetup,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        let (begun, foreign) = (self.began.is_some(), self.foreign);
        *self = Self::new(if begun || foreign { self.line } else { line });
        self.foreign = foreign;
        self.began = Some((now.position(), now.date()));
        self.round = true;
        self.mutators = setup.mutators();
        clients.seat_all(&mut self.context(now));
    }

    /// Whether a round that starts now is the next round of this game.
    pub(super) fn goes_on(&self) -> bool {
        self.began.is_some() && self.lasted.is_none() && !self.round
    }

    pub(super) fn round_started(&mut self) {
        self.round = true;
    }

    /// Whether the game has ended and the scores of at least two teams have been read.
    pub(super) fn has_results(&self) -> bool {
        self.lasted.is_some() && self.results.iter().flatten().count() >= 2
    }

    fn context(&mut self, now: Calendar) -> GameContext<'_> {
        GameContext {
            began: self.began.map(|(position, _)| position),
            now: now.position(),
            builder: self.lasted.is_none().then_some(&mut self.builder),
        }
    }

    fn millis(&self, now: Calendar) -> u64 {
        let began = self.began.map_or(now.position(), |(position, _)| position);
        now.position().saturating_sub(began)
    }

    pub(super) fn event(
        &mut self,
        line: u64,
        event: Event<'_>,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        match event {
            Event::Player(who, act) => self.act(line, who, act, clients, now),
            Event::RoundEnd => {
                self.round = false;
                self.play(line);
                self.foreign |= self.lacks_beginning();
            }
            Event::Current(team, total) => self.total(team, total, now),
            Event::GameOver => {
                self.foreign |= self.lacks_beginning();
                self.over(now);
            }
            Event::Final(team, score) => self.result(team, score),
            Event::Scored(team, score) => {
                self.over(now);
                self.result(team, score);
            }
            Event::Point(name) if self.seen.is_none() => {
                let koth = name.starts_with(b"#koth");
                self.seen = Some(if koth { "koth" } else { "cp" });
            }
            _ => {}
        }
    }

    /// Notes that there is play on this line; it may belong to a game that began before the log.
    fn play(&mut self, line: u64) {
        if self.began.is_none() && !self.after && self.before.is_none() {
            (self.line, self.before) = (line, Some(line));
        }
    }

    /// Whether the game began before the log did.
    pub(super) fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Whether there was play without a beginning.
    fn lacks_beginning(&self) -> bool {
        self.began.is_none() && self.before.is_some()
    }

    fn over(&mut self, now: Calendar) {
        if self.began.is_some() && self.lasted.is_none() {
            self.lasted = Some(self.builder.end(self.millis(now)));
        }
    }

    fn result(&mut self, team: u8, score: f64) {
        if let (Some(_), Some(slot)) = (self.lasted, self.results.get_mut(usize::from(team))) {
            *slot = Some(score);
        }
    }

    /// Handles a team's score after a round.
    fn total(&mut self, team: u8, total: f64, now: Calendar) {
        let Some(known) = self.totals.get_mut(usize::from(team)) else {
            return;
        };
        let points = total - std::mem::replace(known, total);
        if points != 0.0 && self.lasted.is_none() && self.rounds.len() < MAX_ROUNDS {
            let at = self.builder.tick(self.millis(now));
            self.rounds.push((at, team, points));
        }
    }

    fn act(
        &mut self,
        line: u64,
        who: PlayerTag<'_>,
        act: PlayerAction<'_>,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        // Track clients after the end of a game, too, because the next game begins with those who
        // are there.
        note(who, act, clients, &mut self.context(now));
        match act {
            _ if self.lasted.is_some() => {}
            PlayerAction::Kill(victim) => self.kill(line, who, victim, clients, now),
            PlayerAction::Die if self.millis(now) > 0 => self.death(who.uid, clients, now),
            PlayerAction::Capture => self.capture(who.uid, clients, now),
            _ => {}
        }
    }

    fn kill(
        &mut self,
        line: u64,
        who: PlayerTag<'_>,
        victim: PlayerTag<'_>,
        clients: &mut ConnectedClients,
        now: Calendar,
    ) {
        self.play(line);
        if !clients.dies(victim.uid, now.position()) {
            return;
        }
        let seat = |uid| clients.get(uid).map(|client| (client.visit, client.team()));
        let (killer, killed) = (seat(who.uid), seat(victim.uid));
        if let Some((Some(visit), _)) = killed {
            self.builder.death(visit);
        }
        if let (Some((Some(visit), team)), Some((_, other))) = (killer, killed)
            && team != other
        {
            self.builder.kill(visit);
        }
    }

    fn death(&mut self, uid: u32, clients: &mut ConnectedClients, now: Calendar) {
        if clients.dies(uid, now.position())
            && let Some(visit) = clients.get(uid).and_then(|client| client.visit)
        {
            self.builder.death(visit);
        }
    }

    fn capture(&mut self, uid: u32, clients: &mut ConnectedClients, now: Calendar) {
        self.seen = Some("ctf");
        let news = clients.captures(uid, now.position());
        let Some((visit, Some(team))) = clients.get(uid).map(|c| (c.visit, c.team())) else {
            return;
        };
        if news && self.began.is_some() {
            let at = self.builder.tick(self.millis(now));
            self.builder.score(team, 1.0, visit, at);
        }
    }

    /// The reason why a game without an end has no record; `None` if there was nothing to report.
    pub(super) fn unfinished(self, reason: Skip) -> Option<Skip> {
        match self.began {
            _ if self.foreign => Some(Skip::StartedBeforeLog),
            Some(_) if self.lasted.is_some() && reason != Skip::Unfinished => Some(Skip::NoResult),
            Some(_) if self.builder.is_empty() => None,
            Some(_) => Some(reason),
            None => None,
        }
    }

    /// Builds the record, or returns why there is none.
    pub(super) fn finish(mut self, server: &str, setup: &ServerSetup) -> Result<MatchRecord, Skip> {
        let (Some(lasted), Some((position, date))) = (self.lasted, self.began) else {
            return Err(Skip::Unfinished);
        };
        if self.foreign {
            return Err(Skip::StartedBeforeLog);
        }
        let last = self.results.iter().rposition(Option::is_some).unwrap_or(0);
        let scores = self.results[..=last].iter();
        let scores: Vec<f64> = scores.map(|score| score.unwrap_or(0.0)).collect();
        self.builder.reconcile(&scores);
        if !self.builder.has_scores() {
            // The captures do not add up to the result, so the scores of the rounds are used.
            for &(at, team, points) in &self.rounds {
                self.builder.score(team, points, None, at);
            }
            self.builder.reconcile(&scores);
        }
        let began = Timestamp(i64::try_from(position).unwrap_or(i64::MAX));
        let header = MatchHeader {
            server: server.to_owned(),
            start: date.unwrap_or(began),
            clock: None,
            map: setup.map.clone(),
            game_type: setup.game_type(self.seen),
            mutators: self.mutators,
            scores,
        };
        self.builder.build(header, lasted)
    }
}

/// Takes over the data of players and their teams that a line states.
fn note(
    who: PlayerTag<'_>,
    act: PlayerAction<'_>,
    clients: &mut ConnectedClients,
    context: &mut GameContext<'_>,
) {
    let came = matches!(act, PlayerAction::Enter | PlayerAction::Join(_));
    let team = if came { ClientTeam::Unknown } else { who.team };
    clients.meet(PlayerTag { team, ..who }, came, context);
    match act {
        PlayerAction::Leave => clients.leave(who.uid, context),
        PlayerAction::Join(team) => clients.join(who.uid, team, context),
        PlayerAction::Rename(name) => clients.rename(who.uid, name, context),
        PlayerAction::Kill(victim) => clients.meet(victim, false, context),
        _ => {}
    }
}
