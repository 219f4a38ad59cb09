//! One UT2004 game, from its announcement to its end.

use std::collections::{BTreeMap, BTreeSet};

use super::super::builder::{MatchBuilder, MatchHeader, UNKNOWN_TEAM};
use super::super::{Skip, clock::LogClock, text};
use super::{Fields, Read};
use crate::domain::{Kind, MatchRecord, PlayerKey, Timestamp};

/// More numbers than a server gives out during one game.
const MAX_PLAYERS: usize = 10_000;

/// What the game calls a player without a name.
const UNNAMED: &str = "Player";

/// How the game marks a bot's name.
const BOT: &[u8] = b"[BOT]";

/// One player number. The game gives each out once, counting up, so a lower one joined earlier.
#[derive(Default)]
struct Player {
    connected: bool,
    bot: bool,
    /// The hash a server knows a player by (`GetPlayerIDHash`), which OLStats tells.
    hash: Vec<u8>,
    /// What the statistics know a player by.
    login: Vec<u8>,
    name: Vec<u8>,
    team: Option<u8>,
    /// When they joined play.
    joined: u64,
    visit: Option<usize>,
    points: f64,
}

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
    builder: MatchBuilder,
    /// One more than the highest team told of.
    teams: usize,
    /// Whoever did something last, and when: what a team's points that follow were given for.
    actor: Option<(u32, LogClock)>,
}

impl Game {
    /// Reads `NG date time tz map title author GameClass GameName [Mutators=…]`.
    pub(super) fn read(line: u64, mut fields: Fields<'_>, now: LogClock) -> Read<Self> {
        let date = text::date_time(fields.next()?);
        let (_zone, map, _title, _author) = (
            fields.next()?,
            fields.next()?,
            fields.next()?,
            fields.next()?,
        );
        let class = fields.next()?;
        let mutators = fields.0.find_map(|field| field.strip_prefix(b"Mutators="));
        let mutators: BTreeSet<String> = mutators
            .unwrap_or_default()
            .split(|&b| b == b'|')
            .map(text::name)
            .filter(|name| !name.is_empty())
            .collect();
        Ok(Self {
            line,
            map: text::name(map),
            class: text::name(class),
            mutators: mutators.into_iter().collect(),
            date,
            announced: now,
            began: None,
            players: BTreeMap::new(),
            builder: MatchBuilder::default(),
            teams: 0,
            actor: None,
        })
    }

    pub(super) fn event(&mut self, verb: &[u8], mut fields: Fields<'_>, now: LogClock) -> Read<()> {
        match verb {
            b"SG" => self.start(now),
            b"C" => self.connect(fields, now)?,
            b"D" => self.disconnect(fields.player()?, now),
            b"PS" => {
                let player = fields.player()?;
                let (_address, _speed, hash) = (fields.next()?, fields.next()?, fields.next()?);
                self.learn(player, |player| hash.clone_into(&mut player.hash));
            }
            b"BI" => self.is_bot(fields.player()?),
            b"G" => self.game_event(fields, now)?,
            b"K" | b"TK" => self.kill(verb == b"TK", fields, now)?,
            b"S" => self.points(fields, now)?,
            b"T" => self.team_points(fields, now)?,
            _ => {}
        }
        Ok(())
    }

    /// Play begins, for everybody who is there.
    fn start(&mut self, now: LogClock) {
        self.began = Some(now);
        self.builder = MatchBuilder::default();
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

    /// `C num id …`: the stock log's id is the hash of the CD key, the name at the statistics site
    /// and its encrypted password; OLStats gives a bot's name instead.
    fn connect(&mut self, mut fields: Fields<'_>, now: LogClock) -> Read<()> {
        let (number, login) = (fields.player()?, fields.next()?);
        let site_name = fields.next().unwrap_or_default();
        self.disconnect(number, now);
        let number = number.ok_or("nobody connects")?;
        if self.players.len() >= MAX_PLAYERS {
            return Err("too many players");
        }
        let named = is_hash(login) || login.is_empty();
        let mut player = Player {
            connected: true,
            login: if named { login.to_owned() } else { Vec::new() },
            name: if named { site_name } else { login }.to_owned(),
            joined: self.millis(now),
            ..Player::default()
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

    /// `G event num what`
    fn game_event(&mut self, mut fields: Fields<'_>, now: LogClock) -> Read<()> {
        let event = fields.next()?;
        match event {
            b"NameChange" => {
                let (number, name) = (fields.player()?, fields.next()?);
                let name = match name.strip_prefix(BOT) {
                    Some(name) => {
                        self.is_bot(number);
                        name
                    }
                    None => name,
                };
                self.learn(number, |player| name.clone_into(&mut player.name));
            }
            b"TeamChange" => self.team_change(fields.player()?, fields.team()?, now),
            _ if event.starts_with(b"flag_") => self.act(fields.player()?, now),
            _ => {}
        }
        Ok(())
    }

    /// At login the team told is the one given. Later it is the one asked for, but the line is only
    /// written when a player did change: out of two teams, to the one they were not on.
    fn team_change(&mut self, number: Option<u32>, told: Option<u8>, now: LogClock) {
        let Some(told) = told else { return };
        self.teams = self.teams.max(usize::from(told) + 1);
        let two_teams = self.teams <= 2;
        let Some(mut player) = number.and_then(|number| self.players.remove(&number)) else {
            return;
        };
        match player.team {
            None => {
                player.team = Some(told);
                if let Some(visit) = player.visit {
                    self.builder.correct_team(visit, told);
                }
            }
            Some(team) => {
                player.team = Some(if two_teams { 1 - team } else { told });
                self.seat(&mut player, now);
            }
        }
        self.players.extend(number.map(|number| (number, player)));
    }

    /// A bot is told of only just before it does something, but it was there before: since those
    /// with lower numbers joined, or since play began.
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
        if let Some(visit) = player.visit {
            self.builder.extend_back(visit, since);
        }
        self.learn(Some(number), |_| {});
    }

    /// `K killer|-1 damage victim weapon`, `TK` where they were on one team.
    fn kill(&mut self, team_kill: bool, mut fields: Fields<'_>, now: LogClock) -> Read<()> {
        let (killer, _damage, victim) = (fields.player()?, fields.next()?, fields.player()?);
        self.act(killer, now);
        if let Some(visit) = self.visit(victim) {
            self.builder.death(visit);
        }
        if killer != victim
            && !team_kill
            && let Some(visit) = self.visit(killer)
        {
            self.builder.kill(visit);
        }
        Ok(())
    }

    /// `S num points what`
    fn points(&mut self, mut fields: Fields<'_>, now: LogClock) -> Read<()> {
        let (number, points) = (fields.player()?, fields.points()?);
        self.act(number, now);
        if self.began.is_some()
            && let Some(player) = number.and_then(|number| self.players.get_mut(&number))
        {
            player.points += points;
            if let Some(visit) = player.visit {
                *self.builder.points(visit) = Some(player.points);
            }
        }
        Ok(())
    }

    /// `T team points what`
    fn team_points(&mut self, mut fields: Fields<'_>, now: LogClock) -> Read<()> {
        let (team, points) = (fields.team()?, fields.points()?);
        let team = team.ok_or("there is no such team")?;
        self.teams = self.teams.max(usize::from(team) + 1);
        if self.began.is_some() {
            let by = self.actor.filter(|(_, at)| at.position() == now.position());
            let by = by.and_then(|(number, _)| self.players.get(&number));
            let by = by.filter(|player| player.team == Some(team));
            let by = by.and_then(|player| player.visit);
            let at = self.builder.tick(self.millis(now));
            self.builder.score(team, points, by, at);
        }
        Ok(())
    }

    fn act(&mut self, number: Option<u32>, now: LogClock) {
        self.actor = number.map(|number| (number, now)).or(self.actor);
    }

    /// Something new is known of a player.
    fn learn(&mut self, number: Option<u32>, what: impl FnOnce(&mut Player)) {
        if let Some(player) = number.and_then(|number| self.players.get_mut(&number)) {
            what(player);
            if let Some(visit) = player.visit {
                self.builder.rename(visit, player.key(), player.name());
            }
        }
    }

    /// Puts a player where they are now.
    fn seat(&mut self, player: &mut Player, now: LogClock) {
        if self.began.is_none() {
            return;
        }
        let team = player
            .connected
            .then_some(player.team.unwrap_or(UNKNOWN_TEAM));
        let (mut visit, millis) = (player.visit, self.millis(now));
        self.builder
            .place(&mut visit, team, millis, || (player.key(), player.name()));
        player.visit = visit;
    }

    fn visit(&self, number: Option<u32>) -> Option<usize> {
        number.and_then(|number| self.players.get(&number)?.visit)
    }

    /// Since play began.
    fn millis(&self, now: LogClock) -> u64 {
        let began = self.began.unwrap_or(now);
        now.position().saturating_sub(began.position())
    }

    /// Why there is no record, where the log never tells an end.
    pub(super) fn unfinished(&self) -> Skip {
        match self.began {
            Some(_) => Skip::Unfinished,
            None => Skip::WarmUp,
        }
    }

    /// The record of the game, which ended just now, or why there is none.
    pub(super) fn finish(mut self, server: &str, now: LogClock) -> Result<MatchRecord, Skip> {
        let began = self.began.ok_or(Skip::WarmUp)?;
        let lasted = self.builder.end(self.millis(now));
        let scores = if is_team_game(&self.class, self.teams > 0) {
            self.builder.sums(self.teams.max(2))
        } else {
            Vec::new()
        };
        let announced = self.announced.position();
        let (start, clock) = began.start(self.date.map(|date| (date, announced)));
        let header = MatchHeader {
            server: server.to_owned(),
            start,
            clock,
            map: self.map,
            game_type: self.class,
            mutators: self.mutators,
            scores,
        };
        self.builder.build(header, lasted)
    }
}

impl Player {
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

/// Whether a class of game is played in teams: by its name where that is known, otherwise by
/// whether teams were told of.
fn is_team_game(class: &str, teams_told: bool) -> bool {
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
    teams_told || named(&known)
}
