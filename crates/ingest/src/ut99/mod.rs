//! Unreal Tournament (1999): ngLog, as the game and UTStats write it.
//!
//! A line has fields between tabs: seconds, a kind, and its arguments. A log opens with the settings of
//! its game; play begins with `game_start` (or, in a tournament, again with `realstart`) and ends with
//! `game_end`. UTStats adds each player's score after that. The parser reads lines and separates the games of a log;
//! `Ut99Game` follows one game, from the lines that state its settings to its results.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_model::{MatchRecord, MatchRecorder, PlayerKey, Timestamp};

use crate::{
    clock::LogClock,
    format::{DateZone, Format, LogItem, LogParser, Skip, mostly},
    lines::{LogLine, MAX_LINE},
    record::{self, UNKNOWN_TEAM},
    tabs::{TabFields, TabParser},
    text::{self, CUT_LINE, LineResult, NO_TIME},
};

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "ut99",
    detect,
    is_beneath: None,
    parser: |context| Box::new(Parser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: false,
    dates: DateZone::Stated,
    in_halves: false,
};

/// The kinds of lines by which the format is recognised.
const KINDS: [&[u8]; 13] = [
    b"info",
    b"map",
    b"game",
    b"player",
    b"kill",
    b"teamkill",
    b"suicide",
    b"item_get",
    b"game_start",
    b"game_end",
    b"teamscore",
    b"stat_player",
    b"flag_captured",
];

/// Further kinds of lines, which no record needs.
const NEEDLESS: [&[u8]; 17] = [
    b"item_activate",
    b"item_deactivate",
    b"item_destroyed",
    b"item_crush",
    b"spree",
    b"headshot",
    b"typing",
    b"first_blood",
    b"flag_taken",
    b"flag_dropped",
    b"flag_returned",
    b"flag_returned_timeout",
    b"flag_pickedup",
    b"flag_kill",
    b"flag_assist",
    b"assault_obj",
    b"translocate",
];

/// The kind of a line that the parser does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = text::seconds(line)?;
    let kind = rest.split(|&b| b == b'\t').next()?;
    let known = KINDS.contains(&kind) || NEEDLESS.contains(&kind) || kind.starts_with(b"weap_");
    (!known && !kind.is_empty()).then_some(kind)
}

fn detect(head: &[u8]) -> bool {
    mostly(head, |line| {
        let Some((_, rest)) = text::seconds(line) else {
            return (!line.is_empty()).then_some(false);
        };
        let kind = rest.split(|&b| b == b'\t').next()?;
        let known = KINDS.contains(&kind) || kind.starts_with(b"weap_");
        known.then_some(true)
    })
}

/// How the first line of each game begins.
const FIRST: &[u8] = b"info\tLog_Standard\t";

type Parser = TabParser<Ut99Game>;

impl Parser {
    /// Ends the game being read, whether or not its end has been read.
    fn close(&mut self, items: &mut Vec<LogItem>) {
        self.stray.close(true, items);
        if let Some(game) = self.game.take() {
            items.push(LogItem::of_game(game.line, game.finish(&self.server)));
        }
    }

    fn event(&mut self, line: u64, rest: &[u8], items: &mut Vec<LogItem>) -> LineResult<()> {
        let mut fields = TabFields::of(rest);
        let kind = fields.next()?;
        if rest.starts_with(FIRST) {
            self.close(items);
            self.stray.close(false, items);
            let utstats = rest.ends_with(b"\tUTStats");
            self.game = Some(Box::new(Ut99Game::new(line, self.clock, utstats)));
            return Ok(());
        }
        match &mut self.game {
            Some(game) => {
                game.event(kind, fields, self.clock)?;
                if game.is_complete() {
                    self.close(items);
                }
            }
            None if matches!(kind, b"kill" | b"suicide" | b"game_start" | b"game_end") => {
                self.stray.note(line);
            }
            None => {}
        }
        Ok(())
    }
}

impl LogParser for Parser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.is_empty() {
            return;
        }
        let read = match text::seconds(line.bytes) {
            None => Err(NO_TIME),
            Some(_) if !line.whole => Err(CUT_LINE),
            Some((at, rest)) => {
                if self.clock.read(at) && !rest.starts_with(FIRST) {
                    // The server was restarted, and the beginning of the next game is missing.
                    self.close(items);
                    self.stray.close(false, items);
                }
                self.event(line.number, rest, items)
            }
        };
        if let Err(why) = read {
            items.push(LogItem::malformed(line, why));
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        // A log that is still being written may end between a game's end and its results.
        if let Some(game) = &mut self.game
            && !game.has_results()
        {
            game.forget_end();
        }
        self.close(items);
    }

    fn elapsed(&self) -> u64 {
        self.clock.position()
    }
}

/// Reads `2019.07.08.14.16.47.663.-4.0`: local time to the millisecond, and the number of hours by
/// which it is ahead of UTC.
fn date(text: &[u8]) -> Option<Timestamp> {
    let mut parts = text.splitn(8, |&b| b == b'.');
    let mut next = || parts.next().and_then(text::whole_number);
    let year = i16::try_from(next()?).ok()?;
    let mut small = || next().and_then(|value| i8::try_from(value).ok());
    let (month, day, hour, minute, second) = (small()?, small()?, small()?, small()?, small()?);
    let millis = next()?;
    let zone = parts.next().and_then(text::real).unwrap_or(0.0);
    let zone = if zone.abs() <= 14.0 { zone } else { 0.0 };
    let local = Timestamp::from_civil(year, month, day, hour, minute, second)?;
    Some(local.plus_millis(millis - (zone * 3_600_000.0) as i64))
}

/// Red, blue, green and gold.
const TEAMS: usize = 4;
/// The most player numbers in one game. A real server uses fewer.
const MAX_PLAYERS: usize = 10_000;

#[derive(Default)]
struct Ut99Game {
    /// The line on which its log begins.
    line: u64,
    /// When the log began, by the calendar and by the log's clock.
    date: Option<Timestamp>,
    announced: LogClock,
    /// Whether UTStats writes each player's score after the end.
    utstats: bool,
    map: String,
    class: String,
    teams: Option<bool>,
    mutators: BTreeSet<String>,
    began: Option<LogClock>,
    /// How long the game lasted, in milliseconds, once it has ended.
    lasted: Option<u64>,
    aborted: bool,
    players: BTreeMap<u32, Ut99Player>,
    recorder: MatchRecorder,
    /// Whether teams score by flags, and not by kills.
    flags: bool,
    results: [Option<f64>; TEAMS],
}

impl Ut99Game {
    fn new(line: u64, now: LogClock, utstats: bool) -> Self {
        Self {
            line,
            announced: now,
            utstats,
            ..Self::default()
        }
    }

    fn event(&mut self, kind: &[u8], mut fields: TabFields<'_>, now: LogClock) -> LineResult<()> {
        let over = self.lasted.is_some();
        match kind {
            // After the end of play, the first result of each kind counts, until all results are
            // there. So a log that is read before it is complete gives the same record, or none.
            b"info" | b"map" | b"game" | b"game_start" | b"game_end" if over => {}
            b"teamscore" | b"stat_player" if over && self.has_results() => {}
            b"info" if fields.next()? == b"Absolute_Time" => self.date = date(fields.next()?),
            b"map" if fields.next()? == b"Name" => {
                let name = fields.next()?;
                self.map = text::name(name.strip_suffix(b".unr").unwrap_or(name));
            }
            b"game" => self.describe(fields, now)?,
            b"game_start" => self.begin(now),
            b"game_end" => {
                let reason = fields.next().unwrap_or_default();
                let aborts: [&[u8]; 4] = [b"", b"mapchange", b"serverquit", b"forced"];
                self.aborted = aborts.contains(&reason);
                if self.began.is_some() && self.lasted.is_none() {
                    self.recorder.reconcile_sides();
                    self.lasted = Some(self.recorder.end(self.millis(now)));
                    self.results = Default::default();
                }
            }
            b"teamscore" => {
                if let (Some(team), points) = (fields.team(TEAMS)?, fields.points()?) {
                    let result = &mut self.results[usize::from(team)];
                    if !over || result.is_none() {
                        *result = Some(points);
                    }
                }
            }
            b"stat_player" if fields.next()? == b"score" => {
                let (number, points) = (fields.player()?, fields.points()?);
                if let Some(player) = self.players.get_mut(&number) {
                    match over {
                        true => player.points = player.points.or(Some(points)),
                        false => player.points = Some(points),
                    }
                }
            }
            _ if over => {}
            b"player" => self.player(fields, now)?,
            b"kill" | b"teamkill" => self.kill(kind == b"kill", fields, now)?,
            b"suicide" => {
                let number = fields.player()?;
                self.recorder
                    .count_death(self.visit(number), self.millis(now));
                self.frag(number, -1.0, now);
            }
            b"flag_captured" => {
                let number = fields.player()?;
                if !std::mem::replace(&mut self.flags, true) {
                    self.recorder.forget_scores();
                }
                self.score(number, 1.0, now);
            }
            _ => {}
        }
        Ok(())
    }

    /// Begins play, with the players who are there. Everything before was warm-up.
    fn begin(&mut self, now: LogClock) {
        if self.lasted.is_some() {
            return;
        }
        self.began = Some(now);
        // In Assault, the teams may change sides between rounds.
        let assault = self.class.to_lowercase().contains("assault");
        self.recorder = MatchRecorder::with_sides_if(assault);
        self.players.retain(|_, player| player.there);
        for player in self.players.values_mut() {
            player.visit = None;
            assign(player, &mut self.recorder, 0);
        }
    }

    /// Handles `killer weapon victim weapon damage`.
    fn kill(&mut self, enemy: bool, mut fields: TabFields<'_>, now: LogClock) -> LineResult<()> {
        let (killer, _weapon, victim) = (fields.player()?, fields.next()?, fields.player()?);
        self.recorder
            .count_death(self.visit(victim), self.millis(now));
        let enemy = enemy && killer != victim;
        if enemy {
            self.recorder
                .count_kill(self.visit(killer), self.millis(now));
        }
        self.frag(killer, if enemy { 1.0 } else { -1.0 }, now);
        Ok(())
    }

    fn visit(&self, number: u32) -> Option<usize> {
        self.players.get(&number)?.visit
    }

    /// Scores a kill in games in which teams score by killing.
    fn frag(&mut self, number: u32, points: f64, now: LogClock) {
        if !self.flags && self.teams == Some(true) {
            self.score(number, points, now);
        }
    }

    fn score(&mut self, number: u32, points: f64, now: LogClock) {
        let millis = self.millis(now);
        let Some(player) = self.players.get(&number) else {
            return;
        };
        if let (Some(team), Some(_)) = (player.team, self.began) {
            self.recorder.reconcile_sides();
            let at = self.recorder.tick(millis);
            self.recorder.score(team, points, player.visit, at);
        }
    }

    /// Milliseconds since play began.
    fn millis(&self, now: LogClock) -> u64 {
        let began = self.began.unwrap_or(now);
        now.position().saturating_sub(began.position())
    }

    /// Whether every line that belongs to the game has been read.
    fn is_complete(&self) -> bool {
        let has_points = |player: &Ut99Player| player.visit.is_none() || player.points.is_some();
        let all = self.is_team_game() || self.players.values().all(has_points);
        self.utstats && all && self.has_results()
    }

    /// Whether the game has ended and its results have been read. The teams' scores come last.
    fn has_results(&self) -> bool {
        let has_points = |player: &Ut99Player| !player.there || player.points.is_some();
        self.lasted.is_some()
            && match self.is_team_game() {
                true => self.scores().is_some(),
                false => !self.utstats || self.players.values().all(has_points),
            }
    }

    /// Treats the game as unfinished.
    fn forget_end(&mut self) {
        self.lasted = None;
    }

    /// The final scores up to the highest team with a player, if all of them have been read.
    fn scores(&self) -> Option<Vec<f64>> {
        let teams = self.players.values().filter_map(|player| player.team);
        let last = teams.max().map_or(1, usize::from).max(1);
        self.results.iter().take(last + 1).copied().collect()
    }

    fn is_team_game(&self) -> bool {
        self.teams
            .unwrap_or(self.results.iter().any(Option::is_some))
    }

    /// Builds the record, or returns why there is none.
    fn finish(mut self, server: &str) -> Result<MatchRecord, Skip> {
        let began = self.began.ok_or(Skip::WarmUp)?;
        let lasted = self.lasted.ok_or(Skip::Unfinished)?;
        if self.aborted {
            return Err(Skip::Aborted);
        }
        let scores = match self.is_team_game() {
            true => self.scores().ok_or(Skip::NoResult)?,
            false => Vec::new(),
        };
        self.recorder.reconcile(&scores);
        for player in self.players.values() {
            if let Some(visit) = player.visit {
                self.recorder.player(visit).points = player.points;
            }
        }
        let announced = self.announced.position();
        let (start, clock) = began.start(self.date.map(|date| (date, announced)));
        let record = MatchRecord {
            server: server.to_owned(),
            start,
            clock,
            map: self.map,
            game_type: self.class,
            mutators: self.mutators.into_iter().collect(),
            scores,
            ..MatchRecord::default()
        };
        record::complete(&self.recorder, record, lasted)
    }
}

impl Ut99Game {
    /// Handles `game key value`, a setting of the game.
    fn describe(&mut self, mut fields: TabFields<'_>, now: LogClock) -> LineResult<()> {
        let key = fields.next()?;
        match key {
            b"realstart" => self.begin(now),
            b"GameClass" => self.class = text::name(fields.next()?),
            b"TeamGame" => self.teams = Some(fields.is_true()?),
            b"GoodMutator" => {
                let name = text::name(fields.next()?);
                if !name.is_empty() && self.mutators.len() < MAX_PLAYERS {
                    self.mutators.insert(name);
                }
            }
            b"insta" | b"JumpMatch" | b"MegaSpeed" if fields.is_true()? => {
                self.mutators.insert(text::name(key));
            }
            b"GameSpeed" => {
                let speed = text::name(fields.next()?);
                if text::real(speed.as_bytes()) != Some(100.0) {
                    self.mutators.insert(format!("GameSpeed={speed}"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Handles `player what …`. Depending on `what`, the player's number comes first or last.
    fn player(&mut self, mut fields: TabFields<'_>, now: LogClock) -> LineResult<()> {
        match fields.next()? {
            what @ (b"Connect" | b"Rename") => {
                let (name, number) = (fields.next()?, fields.player()?);
                self.learn(number, now, what == b"Connect", |player| {
                    name.clone_into(&mut player.name);
                });
            }
            b"IsABot" => {
                let (number, bot) = (fields.player()?, fields.is_true()?);
                self.learn(number, now, false, |player| player.bot = bot);
            }
            b"Team" | b"Teamchange" => {
                let (number, team) = (fields.player()?, fields.team(TEAMS)?);
                self.learn(number, now, true, |player| player.team = team);
            }
            b"Disconnect" => {
                let number = fields.player()?;
                self.learn(number, now, true, |player| player.there = false);
            }
            _ => {}
        }
        Ok(())
    }

    /// Changes the data of a player, who is added if new. `moved` says whether the player may have
    /// changed teams, joined or left.
    fn learn(
        &mut self,
        number: u32,
        now: LogClock,
        moved: bool,
        change: impl FnOnce(&mut Ut99Player),
    ) {
        if self.players.len() >= MAX_PLAYERS && !self.players.contains_key(&number) {
            return;
        }
        let millis = self.millis(now);
        let player = self.players.entry(number).or_insert_with(|| Ut99Player {
            there: true,
            ..Ut99Player::default()
        });
        let before = (player.there, player.team);
        change(player);
        if let Some(visit) = player.visit {
            self.recorder.rename(visit, player.key(), player.name());
        }
        let moved = moved && (player.visit.is_none() || before != (player.there, player.team));
        if self.began.is_some() && moved {
            assign(player, &mut self.recorder, millis);
        }
    }
}

/// What the game calls a player without a name.
const UNNAMED: &str = "Player";

/// One player number. The game gives each out once.
#[derive(Default)]
struct Ut99Player {
    /// Whether the player is on the server.
    there: bool,
    bot: bool,
    pub name: Vec<u8>,
    pub team: Option<u8>,
    visit: Option<usize>,
    points: Option<f64>,
}

impl Ut99Player {
    fn key(&self) -> PlayerKey {
        text::key_by_name(self.bot, self.name())
    }

    fn name(&self) -> String {
        text::name_or(&self.name, UNNAMED)
    }
}

/// Moves a player to their present team in the record; to none once they have left.
fn assign(player: &mut Ut99Player, recorder: &mut MatchRecorder, millis: u64) {
    let team = player.there.then_some(player.team.unwrap_or(UNKNOWN_TEAM));
    player.visit = recorder.assign(player.visit, team, millis, || (player.key(), player.name()));
}

#[cfg(test)]
mod tests;
