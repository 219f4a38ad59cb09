//! Unreal Tournament 2004: the game's own statistics log, and that of OLStats, which contains more.
//!
//! A line has fields between tabs: seconds, a verb, and its arguments. `NG` announces a game, `SG`
//! begins play (everything before is warm-up), and `EG` ends it; the result is known by then. The stock
//! log omits every line whose subject is a bot, OLStats does not. The parser reads lines and
//! separates the games of a log; `Ut2004Game` follows one game, from its announcement to its end.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_model::{Kind, MatchRecord, MatchRecorder, PlayerKey, Timestamp, record::MAX_TEAMS};

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
    name: "ut2004",
    detect,
    is_beneath: None,
    parser: |context| Box::new(Parser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: false,
    dates: DateZone::Local,
    in_halves: false,
};

/// The start of the line by which an OLStats log can be recognised; it comes before the first line
/// that has a time.
const OLSTATS: &[u8] = b"OLStats";

/// Events that the parser reads, and those that no record needs.
const KNOWN: [&[u8]; 15] = [
    b"NG", b"SI", b"SG", b"C", b"PS", b"PP", b"BI", b"D", b"G", b"S", b"T", b"K", b"TK", b"P",
    b"EG",
];

/// The kind of event of a line that the parser does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = text::seconds(line)?;
    let verb = rest.split(|&b| b == b'\t').next()?;
    (!KNOWN.contains(&verb)).then_some(verb)
}

fn detect(head: &[u8]) -> bool {
    mostly(head, |line| {
        if line.is_empty() || line.starts_with(OLSTATS) {
            return None;
        }
        let Some((_, rest)) = text::seconds(line) else {
            return Some(false);
        };
        let verb = rest.split(|&b| b == b'\t').next()?;
        // UT99's format has times and tabs as well, but its verbs are whole words.
        Some(KNOWN.contains(&verb))
    })
}

type Parser = TabParser<Ut2004Game>;

impl Parser {
    /// Skips the game being read: its end is missing.
    fn abandon(&mut self, items: &mut Vec<LogItem>) {
        self.stray.close(false, items);
        if let Some(game) = self.game.take() {
            let (line, reason) = (game.line, game.unfinished());
            items.push(LogItem::skipped(line, reason));
        }
    }

    fn event(
        &mut self,
        line: LogLine<'_>,
        rest: &[u8],
        items: &mut Vec<LogItem>,
    ) -> LineResult<()> {
        let mut fields = TabFields::of(rest);
        match fields.next()? {
            b"NG" => {
                self.abandon(items);
                let game = Ut2004Game::read(line.number, fields, self.clock)?;
                self.game = Some(Box::new(game));
            }
            b"EG" => self.end(line, fields, items)?,
            verb => match &mut self.game {
                Some(game) => game.event(verb, fields, self.clock)?,
                None if matches!(verb, b"K" | b"TK" | b"S" | b"T" | b"G") => {
                    self.stray.note(line.number);
                }
                None => {}
            },
        }
        Ok(())
    }

    fn end(
        &mut self,
        line: LogLine<'_>,
        mut fields: TabFields<'_>,
        items: &mut Vec<LogItem>,
    ) -> LineResult<()> {
        let reason = fields.next()?;
        if !line.whole && fields.next().is_err() && !is_end(reason) {
            return Err(CUT_LINE);
        }
        match self.game.take() {
            Some(game) => {
                let at = game.line;
                let outcome = if is_abort(reason) {
                    Err(Skip::Aborted)
                } else {
                    game.finish(&self.server, self.clock)
                };
                items.push(LogItem::of_game(at, outcome));
            }
            None => self.stray.note(line.number),
        }
        self.stray.close(true, items);
        Ok(())
    }
}

/// Whether a game that ended for this reason was played to its end. Mods have more such reasons.
/// The ones here are known to be complete words.
fn is_end(reason: &[u8]) -> bool {
    let ends: [&[u8]; 5] = [
        b"fraglimit",
        b"timelimit",
        b"teamscorelimit",
        b"lastman",
        b"scorelimit",
    ];
    ends.iter().any(|end| end.eq_ignore_ascii_case(reason))
}

/// Whether a game that ended for this reason was broken off.
fn is_abort(reason: &[u8]) -> bool {
    let aborts: [&[u8]; 7] = [
        b"",
        b"mapchange",
        b"serverquit",
        b"serverrestart",
        b"restart",
        b"quit",
        b"abort",
    ];
    aborts
        .iter()
        .any(|abort| abort.eq_ignore_ascii_case(reason))
}

impl LogParser for Parser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.is_empty() || line.bytes.starts_with(OLSTATS) {
            return;
        }
        let read = match text::seconds(line.bytes) {
            None => Err(NO_TIME),
            // The only line that may be read without its end is the last one of a game: see `end`.
            Some((_, rest)) if !line.whole && !rest.starts_with(b"EG\t") => Err(CUT_LINE),
            Some((at, rest)) => {
                if self.clock.read(at) && !rest.starts_with(b"NG\t") {
                    self.abandon(items);
                }
                self.event(line, rest, items)
            }
        };
        if let Err(why) = read {
            items.push(LogItem::malformed(line, why));
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        self.abandon(items);
    }

    fn elapsed(&self) -> u64 {
        self.clock.position()
    }
}

/// The recorder for a game of this class: in Assault the teams may change sides between rounds.
fn new_recorder(class: &str) -> MatchRecorder {
    MatchRecorder::with_sides_if(class.to_lowercase().contains("asgameinfo"))
}

/// Whether a class of game is a team game. For known classes, the name decides; for others, whether
/// the log mentions teams.
fn is_team_game(class: &str, has_teams: bool) -> bool {
    let class = class.to_lowercase();
    let named = |words: &[&str]| words.iter().any(|word| class.contains(word));
    if named(&["xdeathmatch", "xlastmanstanding", "xmutantgame", "invasion"]) {
        return false;
    }
    let known = [
        "xteamgame",
        "ctf",
        "bombingrun",
        "doubledom",
        "onsonslaught",
        "asgameinfo",
    ];
    has_teams || named(&known)
}

/// The most player numbers in one game. A real server uses fewer.
const MAX_PLAYERS: usize = 10_000;

/// How the game marks a bot's name.
const BOT: &[u8] = b"[BOT]";

struct Ut2004Game {
    /// The line on which it was announced.
    line: u64,
    map: String,
    class: String,
    mutators: Vec<String>,
    /// When it was announced, by the calendar and by the log's clock.
    date: Option<Timestamp>,
    announced: LogClock,
    /// When play began.
    began: Option<LogClock>,
    players: BTreeMap<u32, Ut2004Player>,
    recorder: MatchRecorder,
    /// One more than the highest team number seen.
    teams: usize,
    /// The player who acted last, and when. Points that the team gets at the same time are credited
    /// to this player.
    actor: Option<(u32, LogClock)>,
}

impl Ut2004Game {
    /// Reads `NG date time tz map title author GameClass GameName [Mutators=…]`.
    fn read(line: u64, mut fields: TabFields<'_>, now: LogClock) -> LineResult<Self> {
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

    fn event(&mut self, verb: &[u8], mut fields: TabFields<'_>, now: LogClock) -> LineResult<()> {
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
    fn game_event(&mut self, mut fields: TabFields<'_>, now: LogClock) -> LineResult<()> {
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
    fn kill(
        &mut self,
        team_kill: bool,
        mut fields: TabFields<'_>,
        now: LogClock,
    ) -> LineResult<()> {
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
    fn points(&mut self, mut fields: TabFields<'_>, now: LogClock) -> LineResult<()> {
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
    fn team_points(&mut self, mut fields: TabFields<'_>, now: LogClock) -> LineResult<()> {
        let (team, points) = (fields.team(MAX_TEAMS)?, fields.points()?);
        let team = team.ok_or("there is no such team")?;
        self.teams = self.teams.max(usize::from(team) + 1);
        if self.began.is_some() {
            let by = self.actor.filter(|(_, at)| at.position() == now.position());
            let by = by.and_then(|(number, _)| self.players.get(&number));
            let by = by.filter(|player| player.team == Some(team));
            let by = by.and_then(|player| player.visit);
            self.recorder.reconcile_sides();
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
    fn unfinished(&self) -> Skip {
        match self.began {
            Some(_) => Skip::Unfinished,
            None => Skip::WarmUp,
        }
    }

    /// Ends the game now and builds its record, or returns why there is none.
    fn finish(mut self, server: &str, now: LogClock) -> Result<MatchRecord, Skip> {
        let began = self.began.ok_or(Skip::WarmUp)?;
        self.recorder.reconcile_sides();
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

impl Ut2004Game {
    /// Handles `C number id name …`. In the stock log the id is a hash of the CD key and of the
    /// name and password at the statistics site. For a bot, OLStats writes its name instead.
    fn connect(&mut self, mut fields: TabFields<'_>, now: LogClock) -> LineResult<()> {
        let (number, login) = (fields.player_or_none()?, fields.next()?);
        let site_name = fields.next().unwrap_or_default();
        self.disconnect(number, now);
        let number = number.ok_or("a player's number is missing")?;
        if self.players.len() >= MAX_PLAYERS {
            return Err("too many players");
        }
        let named = is_hash(login) || login.is_empty();
        let mut player = Ut2004Player {
            connected: true,
            login: if named { login.to_owned() } else { Vec::new() },
            name: if named { site_name } else { login }.to_owned(),
            joined: self.millis(now),
            ..Ut2004Player::default()
        };
        self.seat(&mut player, now);
        self.players.insert(number, player);
        Ok(())
    }

    fn disconnect(&mut self, number: Option<u32>, now: LogClock) {
        let Some(mut player) = number.and_then(|number| self.players.remove(&number)) else {
            return;
        };
        player.connected = false;
        self.seat(&mut player, now);
    }

    /// Handles a line about a player's team. At login it contains the team that the player got.
    /// Later it contains the team that the player requested, and is written only if the player did
    /// change teams; in a game of two teams, the new team is then the other one.
    fn team_change(&mut self, number: Option<u32>, team: Option<u8>, now: LogClock) {
        let Some(stated) = team else { return };
        self.teams = self.teams.max(usize::from(stated) + 1);
        let two_teams = self.teams <= 2;
        let Some(mut player) = number.and_then(|number| self.players.remove(&number)) else {
            return;
        };
        match player.team {
            None => {
                player.team = Some(stated);
                if let Some(visit) = player.visit
                    && let Some((team, _)) = &mut self.recorder.player(visit).current
                {
                    *team = stated;
                }
            }
            Some(team) => {
                player.team = Some(if two_teams { 1 - team } else { stated });
                self.seat(&mut player, now);
            }
        }
        self.players.extend(number.map(|number| (number, player)));
    }

    /// Marks a player as a bot. The log mentions a bot only when it first does something. It has
    /// been there since the last human with a lower number joined, or since play began.
    fn is_bot(&mut self, number: Option<u32>) {
        let Some(number) = number else { return };
        if self.players.get(&number).is_none_or(|player| player.bot) {
            return;
        }
        let earlier = self.players.range(..number);
        let humans = earlier.filter(|(_, player)| !player.bot);
        let since = humans.map(|(_, player)| player.joined).max().unwrap_or(0);
        let Some(player) = self.players.get_mut(&number) else {
            return;
        };
        player.bot = true;
        if let Some(visit) = player.visit
            && let Some((_, from)) = &mut self.recorder.player(visit).current
        {
            *from = since.min(*from);
        }
        self.learn(Some(number), |_| {});
    }

    /// Changes the data of a player.
    fn learn(&mut self, number: Option<u32>, change: impl FnOnce(&mut Ut2004Player)) {
        if let Some(player) = number.and_then(|number| self.players.get_mut(&number)) {
            change(player);
            if let Some(visit) = player.visit {
                self.recorder.rename(visit, player.key(), player.name());
            }
        }
    }

    /// Moves a player to their present team in the record; to none once they have left.
    fn seat(&mut self, player: &mut Ut2004Player, now: LogClock) {
        if self.began.is_none() {
            return;
        }
        let team = player
            .connected
            .then_some(player.team.unwrap_or(UNKNOWN_TEAM));
        let (visit, millis) = (player.visit, self.millis(now));
        let named = || (player.key(), player.name());
        player.visit = self.recorder.assign(visit, team, millis, named);
    }
}

/// What the game calls a player without a name.
const UNNAMED: &str = "Player";

/// One player number. The game gives each out once, counting up, so that a lower one joined earlier.
#[derive(Default)]
struct Ut2004Player {
    connected: bool,
    bot: bool,
    /// The hash by which the server knows the player (`GetPlayerIDHash`); only OLStats writes it.
    hash: Vec<u8>,
    /// The hash by which the statistics site knows the player.
    login: Vec<u8>,
    pub name: Vec<u8>,
    pub team: Option<u8>,
    /// When the player joined, in milliseconds since play began.
    joined: u64,
    visit: Option<usize>,
    points: f64,
}

impl Ut2004Player {
    fn key(&self) -> PlayerKey {
        let kind = if self.bot { Kind::Bot } else { Kind::Human };
        let strong = [&self.hash, &self.login].into_iter().find(|id| is_hash(id));
        let id = match strong {
            _ if self.bot => self.name(),
            Some(hash) => text::name(hash),
            None => text::weak_identity(&self.name()),
        };
        PlayerKey { kind, id }
    }

    fn name(&self) -> String {
        text::name_or(&self.name, UNNAMED)
    }
}

/// 32 hexadecimal digits, not all zero.
fn is_hash(id: &[u8]) -> bool {
    id.len() == 32 && id.iter().all(u8::is_ascii_hexdigit) && id.iter().any(|&b| b != b'0')
}

#[cfg(test)]
mod tests;
