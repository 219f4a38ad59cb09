//! One game of a Source or GoldSrc log.

use std::collections::BTreeMap;

use super::super::course::{Course, Frame};
use super::super::{Skip, clock::Calendar, text};
use super::grammar::{Act, Event, Team, Who};
use super::roster::{Roster, Scene};
use crate::domain::{MatchRecord, Timestamp};

/// Red, blue, yellow and green.
const TEAMS: usize = 4;
/// More rounds than any game has.
const MAX_ROUNDS: usize = 1_000;

/// Settings that open a ruleset of their own when they are not at their default.
const VARIANTS: [(&str, f64); 5] = [
    ("mp_friendlyfire", 0.0),
    ("mp_highlander", 0.0),
    ("sv_gravity", 800.0),
    ("tf_medieval", 0.0),
    ("tf_weapon_criticals", 1.0),
];

/// What a game without name is called.
const UNNAMED: &str = "source";

/// What the log says of the server: its game, its level, its settings.
#[derive(Debug, Default)]
pub(super) struct Rules {
    game: String,
    map: String,
    /// By name, where they are not at their default.
    variants: BTreeMap<&'static str, String>,
}

impl Rules {
    /// Of the game in this folder.
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

    /// `tf.ctf`: the game, and what is played, by the map's name or else by what happened.
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
    /// When play began, by the log's line of time and by the calendar.
    began: Option<(u64, Option<Timestamp>)>,
    /// Whether it follows upon another, whose aftermath is not its own.
    after: bool,
    /// The line on which somebody played before the log told of a beginning: warm-up, or a game that
    /// the log has only the end of.
    before: Option<u64>,
    /// Whether it was the latter, since a round ended.
    foreign: bool,
    /// Whether a round is being played, so that another one means a new beginning.
    round: bool,
    lasted: Option<u64>,
    course: Course,
    /// Scores by the end of each round: when, whose, and how many more points.
    rounds: Vec<(u64, u8, f64)>,
    totals: [f64; TEAMS],
    results: [Option<f64>; TEAMS],
    /// What is played, by what happened.
    seen: Option<&'static str>,
    mutators: Vec<String>,
}

impl Game {
    /// Nothing yet.
    pub(super) fn new(line: u64) -> Self {
        Self {
            line,
            began: None,
            after: false,
            before: None,
            foreign: false,
            round: false,
            lasted: None,
            course: Course::default(),
            rounds: Vec::new(),
            totals: [0.0; TEAMS],
            results: [None; TEAMS],
            seen: None,
            mutators: Vec::new(),
        }
    }

    /// Nothing, after a game that was told.
    pub(super) fn after(line: u64) -> Self {
        let after = true;
        Self {
            after,
            ..Self::new(line)
        }
    }

    /// Play begins, or begins anew.
    pub(super) fn begin(&mut self, line: u64, rules: &Rules, roster: &mut Roster, now: Calendar) {
        let (begun, foreign) = (self.began.is_some(), self.foreign);
        *self = Self::new(if begun || foreign { self.line } else { line });
        self.foreign = foreign;
        self.began = Some((now.position(), now.date()));
        self.round = true;
        self.mutators = rules.mutators();
        roster.seat_all(&mut self.scene(now));
    }

    /// Whether a round that starts now is another one of this game.
    pub(super) fn goes_on(&self) -> bool {
        self.began.is_some() && self.lasted.is_none() && !self.round
    }

    pub(super) fn round_started(&mut self) {
        self.round = true;
    }

    /// Whether it is over, and the scores of two teams at least are told.
    pub(super) fn has_results(&self) -> bool {
        self.lasted.is_some() && self.results.iter().flatten().count() >= 2
    }

    fn scene(&mut self, now: Calendar) -> Scene<'_> {
        Scene {
            began: self.began.map(|(position, _)| position),
            now: now.position(),
            course: self.lasted.is_none().then_some(&mut self.course),
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
        roster: &mut Roster,
        now: Calendar,
    ) {
        match event {
            Event::Player(who, act) => self.act(line, who, act, roster, now),
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

    /// Somebody plays.
    fn play(&mut self, line: u64) {
        if self.began.is_none() && !self.after && self.before.is_none() {
            (self.line, self.before) = (line, Some(line));
        }
    }

    /// Whether it began before the log did.
    pub(super) fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Whether there was play, and no beginning.
    fn lacks_beginning(&self) -> bool {
        self.began.is_none() && self.before.is_some()
    }

    fn over(&mut self, now: Calendar) {
        if self.began.is_some() && self.lasted.is_none() {
            self.lasted = Some(self.course.end(self.millis(now)));
        }
    }

    fn result(&mut self, team: u8, score: f64) {
        if let (Some(_), Some(slot)) = (self.lasted, self.results.get_mut(usize::from(team))) {
            *slot = Some(score);
        }
    }

    /// A team's score after a round.
    fn total(&mut self, team: u8, total: f64, now: Calendar) {
        let Some(known) = self.totals.get_mut(usize::from(team)) else {
            return;
        };
        let points = total - std::mem::replace(known, total);
        if points != 0.0 && self.lasted.is_none() && self.rounds.len() < MAX_ROUNDS {
            let at = self.course.tick(self.millis(now));
            self.rounds.push((at, team, points));
        }
    }

    fn act(&mut self, line: u64, who: Who<'_>, act: Act<'_>, roster: &mut Roster, now: Calendar) {
        // Who stays for the next game has to be known after the end, too.
        note(who, act, roster, &mut self.scene(now));
        match act {
            _ if self.lasted.is_some() => {}
            Act::Kill(victim) => self.kill(line, who, victim, roster, now),
            Act::Die if self.millis(now) > 0 => self.death(who.uid, roster, now),
            Act::Capture => self.capture(who.uid, roster, now),
            _ => {}
        }
    }

    fn kill(
        &mut self,
        line: u64,
        who: Who<'_>,
        victim: Who<'_>,
        roster: &mut Roster,
        now: Calendar,
    ) {
        self.play(line);
        if !roster.dies(victim.uid, now.position()) {
            return;
        }
        let seat = |uid| roster.get(uid).map(|client| (client.track, client.team()));
        let (killer, killed) = (seat(who.uid), seat(victim.uid));
        if let Some((Some(track), _)) = killed {
            self.course.death(track);
        }
        if let (Some((Some(track), team)), Some((_, other))) = (killer, killed)
            && team != other
        {
            self.course.kill(track);
        }
    }

    fn death(&mut self, uid: u32, roster: &mut Roster, now: Calendar) {
        if roster.dies(uid, now.position())
            && let Some(track) = roster.get(uid).and_then(|client| client.track)
        {
            self.course.death(track);
        }
    }

    fn capture(&mut self, uid: u32, roster: &mut Roster, now: Calendar) {
        self.seen = Some("ctf");
        let news = roster.captures(uid, now.position());
        let Some((track, Some(team))) = roster.get(uid).map(|c| (c.track, c.team())) else {
            return;
        };
        if news && self.began.is_some() {
            let at = self.course.tick(self.millis(now));
            self.course.score(team, 1.0, track, at);
        }
    }

    /// Why there is no record, if there should be any, where no end was told.
    pub(super) fn unfinished(self, reason: Skip) -> Option<Skip> {
        match self.began {
            _ if self.foreign => Some(Skip::StartedBeforeLog),
            Some(_) if self.lasted.is_some() && reason != Skip::Unfinished => Some(Skip::NoResult),
            Some(_) if self.course.is_empty() => None,
            Some(_) => Some(reason),
            None => None,
        }
    }

    /// The record, or why there is none.
    pub(super) fn finish(mut self, server: &str, rules: &Rules) -> Result<MatchRecord, Skip> {
        let (Some(lasted), Some((position, date))) = (self.lasted, self.began) else {
            return Err(Skip::Unfinished);
        };
        if self.foreign {
            return Err(Skip::StartedBeforeLog);
        }
        if self.course.is_too_large() {
            return Err(Skip::TooLarge);
        }
        let last = self.results.iter().rposition(Option::is_some).unwrap_or(0);
        let scores = self.results[..=last].iter();
        let scores: Vec<f64> = scores.map(|score| score.unwrap_or(0.0)).collect();
        self.course.reconcile(&scores);
        if !self.course.has_scores() {
            // Not captures decide, but rounds.
            for &(at, team, points) in &self.rounds {
                self.course.score(team, points, None, at);
            }
            self.course.reconcile(&scores);
        }
        let began = Timestamp(i64::try_from(position).unwrap_or(i64::MAX));
        let frame = Frame {
            server: server.to_owned(),
            start: date.unwrap_or(began),
            clock: None,
            map: rules.map.clone(),
            game_type: rules.game_type(self.seen),
            mutators: self.mutators,
            scores,
        };
        self.course.record(frame, lasted).map_err(Skip::Impossible)
    }
}

/// Lets the roster know what a line says of who is where.
fn note(who: Who<'_>, act: Act<'_>, roster: &mut Roster, scene: &mut Scene<'_>) {
    let came = matches!(act, Act::Enter | Act::Join(_));
    let team = if came { Team::Untold } else { who.team };
    roster.meet(Who { team, ..who }, came, scene);
    match act {
        Act::Leave => roster.leave(who.uid, scene),
        Act::Join(team) => roster.join(who.uid, team, scene),
        Act::Rename(name) => roster.rename(who.uid, name, scene),
        Act::Kill(victim) => roster.meet(victim, false, scene),
        _ => {}
    }
}
