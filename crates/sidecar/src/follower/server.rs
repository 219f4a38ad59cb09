//! What a follower knows of its game server, its players and the daemon: an engine tells it what the log shows. The state
//! of the game is its phase, the score that the daemon has been sent, whether the teams have exchanged their sides, and how
//! long the server waits for players at the beginning.

use std::collections::BTreeSet;

use evenkeel_ingest::live::{Calendar, TEAMS, source::SideTotals};
use evenkeel_model::{
    Kind, Timestamp,
    in_game::{Move, Streak},
    recorder::is_exchange,
};
use evenkeel_protocol::Request;

use super::{FollowerSettings, roster::ServerRoster};
use crate::{
    Act,
    balancing_window::BalancingWindow,
    chat::{Chat, ChatCommand, ChatGame, ChatPlayer},
    link::{DaemonLink, Outbox, ServerName, plain_ident},
    progress::{ConnectionKey, GamePhase, LoggedGame, LoggedSetup},
};

/// A game server whose games are followed.
pub struct FollowedServer {
    pub(super) settings: FollowerSettings,
    /// Where the game server is, for HELLO.
    pub(super) source: Option<String>,
    /// Whether the daemon is sent what happens in play. Otherwise it stores no match.
    pub(super) reports: bool,
    /// Whether the daemon is sent who comes and goes between two games.
    pub(super) between_games: bool,
    pub(super) link: DaemonLink,
    pub(super) roster: ServerRoster,
    pub(super) game: Option<FollowedGame>,
    pub(super) window: BalancingWindow,
    /// When the daemon last chose a team during play. Until the sidecar has sent the actual teams again,
    /// the daemon's roster can differ from them.
    pub(super) doubt: Option<u64>,
    pub(super) chat: Chat,
    /// Whether players have voted to balance the teams, and the daemon has not replied yet.
    pub(super) voted: bool,
    /// A streak for which teams were not chosen anew yet.
    pub(super) streak: Option<Streak>,
    /// Whether the daemon has been asked for other teams between two rounds, and has not replied yet.
    pub(super) mixing: bool,
    /// The moves with which an offer has ended, and that are not ordered yet.
    pub(super) to_move: Vec<Move>,
    /// The time of the last line on the log's own clock, if the phases of games are measured by it.
    log_clock: Option<u64>,
    /// The caller's clock in milliseconds.
    pub(super) now: u64,
    /// What the caller has to do.
    pub(super) acts: Vec<Act>,
}

impl FollowedServer {
    pub(super) fn new(
        settings: FollowerSettings,
        team_names: &'static [&'static str],
        between_games: bool,
    ) -> Self {
        Self {
            chat: Chat::new(settings.chat, team_names),
            settings,
            source: None,
            reports: true,
            between_games,
            link: DaemonLink::default(),
            roster: ServerRoster::default(),
            game: None,
            window: BalancingWindow::default(),
            doubt: None,
            voted: false,
            streak: None,
            mixing: false,
            to_move: Vec::new(),
            log_clock: None,
            now: 0,
            acts: Vec::new(),
        }
    }

    pub(super) fn connected(&mut self) {
        let (settings, now) = (&self.settings, self.now);
        let name = ServerName {
            server: &settings.server,
            token: settings.token.as_deref(),
            source: self.source.as_deref().filter(|_| self.reports),
        };
        let wishes = [false, self.asks(), settings.auto_balance];
        self.link.open(&name, wishes, now, &mut self.acts);
        self.chat.connected(self.now);
        self.voted = false;
        self.to_move.clear();
        (self.streak, self.mixing) = (None, false);
        if settings.bots_as_players {
            // All bots are sent as players, so the daemon must not add any.
            self.send(Request::MinPlayers(0));
        }
        self.interrupt();
        if let Some(game) = &mut self.game {
            game.resume();
        }
        self.announce();
    }

    /// Whether players are asked before one is moved in play: if they can vote for moves at all.
    pub(super) fn asks(&self) -> bool {
        self.settings.chat.on && self.settings.chat.vote.is_some()
    }

    pub(super) fn disconnected(&mut self) {
        self.link.connected = false;
        self.chat.forget_offer();
        self.interrupt();
    }

    /// Handles the start or the end of a connection to the daemon, whose roster is empty then.
    fn interrupt(&mut self) {
        self.roster.forget_entries();
        if let Some(game) = &mut self.game {
            game.interrupt();
        }
    }

    /// Sends the game and its whole roster, which the daemon does not have.
    pub(super) fn announce(&mut self) {
        self.window = BalancingWindow::new(self.now);
        self.doubt = None;
        self.roster.forget_entries();
        let Some(game) = &mut self.game else { return };
        game.announce(&mut self.link.outbox(&mut self.acts));
        self.update_all();
    }

    /// Sends the daemon a request; there is a connection.
    pub(super) fn send(&mut self, request: Request) {
        self.acts.push(Act::Send(request));
    }

    /// Makes the game server print what the log does not state on its own.
    pub(crate) fn ask(&mut self, commands: &[&str]) {
        let commands = commands.iter().map(|command| (*command).to_owned());
        self.acts.push(Act::Console(commands.collect()));
    }

    /// Shows a line to the operator.
    pub(crate) fn report(&mut self, text: &str) {
        self.acts.push(Act::Report(text.to_owned()));
    }

    /// Measures the phases of games by the log's own clock, in milliseconds, which this line has read.
    pub(crate) fn read_clock(&mut self, at: u64) {
        self.log_clock = Some(at);
    }

    /// The caller's clock in milliseconds.
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The time by which the phases of games are measured.
    pub(super) fn phase_clock(&self) -> u64 {
        self.log_clock.unwrap_or(self.now)
    }

    pub(super) fn phase(&self) -> Option<GamePhase> {
        self.game.as_ref().map(|game| game.logged.phase())
    }

    /// Whether play is running.
    pub(crate) fn is_playing(&self) -> bool {
        self.phase() == Some(GamePhase::Playing)
    }

    /// Whether play has ended and results may follow.
    pub(crate) fn is_over(&self) -> bool {
        self.phase() == Some(GamePhase::Over)
    }

    /// Whether the map is loaded and nothing has been played.
    pub(crate) fn is_opening(&self) -> bool {
        self.phase() == Some(GamePhase::Opening)
    }

    /// Whether a game has been announced, and has not ended.
    pub(crate) fn has_game(&self) -> bool {
        let running = |phase| !matches!(phase, GamePhase::Over | GamePhase::Ended);
        self.phase().is_some_and(running)
    }

    /// Whether any player takes part.
    pub(crate) fn has_players(&self) -> bool {
        let teams = self
            .game
            .as_ref()
            .is_some_and(|game| game.logged.setup.teams);
        let mut seats = self.roster.seats();
        seats.any(|(_, seat)| seat.player.plays(teams))
    }

    /// The identities that the daemon has been sent with JOIN, sorted.
    pub(super) fn joined(&self) -> Vec<String> {
        let joined = self.roster.entries().filter(|(_, entry)| entry.joined);
        let mut joined: Vec<String> = joined.map(|(_, entry)| entry.id.clone()).collect();
        joined.sort();
        joined
    }

    /// The team of a side of the map, or the side of a team.
    pub(super) fn team_of(&self, side: u8) -> u8 {
        self.game.as_ref().map_or(side, |game| game.team_of(side))
    }

    /// The player with this number has written a command.
    pub(crate) fn hear(&mut self, number: usize, command: ChatCommand) {
        if self.link.connected {
            self.chat.hear(number, command, self.now);
        }
    }

    /// Lets time pass for the chat. Returns whether a vote to balance the teams has passed.
    pub(super) fn tick_chat(&mut self) -> bool {
        let players = self.chat_players();
        let team_game = self.game.as_ref().filter(|game| game.logged.setup.teams);
        let phase = team_game.map(|game| game.logged.phase());
        let game = ChatGame {
            players: &players,
            can_balance: matches!(phase, Some(GamePhase::WarmUp | GamePhase::Playing)),
        };
        self.chat.tick(&game, self.now, &mut self.acts)
    }

    pub(super) fn chat_players(&self) -> Vec<ChatPlayer> {
        let teams = self
            .game
            .as_ref()
            .is_some_and(|game| game.logged.setup.teams);
        let seats = self.roster.seats();
        let player = seats.filter_map(|(_, seat)| {
            let player = &seat.player;
            Some(ChatPlayer {
                number: player.number? as usize,
                id: match &seat.entry {
                    Some(entry) => entry.id.clone(),
                    None => plain_ident(&player.key.id).text().to_owned(),
                },
                name: player.name.clone(),
                team: player.side.filter(|_| teams).map(|side| self.team_of(side)),
                human: player.key.kind == Kind::Human,
            })
        });
        player.collect()
    }
}

/// A game that the log describes.
pub(super) struct FollowedGame {
    pub(super) logged: LoggedGame,
    /// Whether the daemon has been sent the game from its beginning, so that it can store the match.
    pub(super) complete: bool,
    /// The number of teams that the daemon knows of.
    teams: u8,
    /// The scores that have been sent to the daemon.
    sent: [f64; TEAMS],
    totals: SideTotals,
    /// Whether the teams are on each other's sides.
    exchanged: bool,
    /// The sides at the end of the last round, until the sides of the next one are final.
    pub(super) watch: Option<RoundSides>,
    /// The identities that were on the server when play began, or joined later.
    pub(super) met: BTreeSet<String>,
}

impl FollowedGame {
    pub(super) fn new(setup: LoggedSetup, now: u64, complete: bool) -> Self {
        Self {
            logged: LoggedGame::new(setup, now),
            complete,
            teams: 2,
            sent: [0.0; TEAMS],
            totals: SideTotals::default(),
            exchanged: false,
            watch: None,
            met: BTreeSet::new(),
        }
    }

    /// Handles the start or the end of a connection to the daemon. The daemon has lost what it was sent of
    /// a running game, so the game is no longer complete.
    pub(super) fn interrupt(&mut self) {
        self.complete &= matches!(self.logged.phase(), GamePhase::Opening | GamePhase::WarmUp);
    }

    /// The daemon is sent the game from here on. In a warm-up that is all of it that counts.
    pub(super) fn resume(&mut self) {
        self.complete |= self.logged.phase() == GamePhase::WarmUp;
    }

    /// Whether events are sent to the daemon now.
    pub(super) fn is_followed(&self) -> bool {
        self.complete && self.logged.phase() == GamePhase::Playing
    }

    /// Whether the score counts now.
    fn counts(&self) -> bool {
        matches!(self.logged.phase(), GamePhase::Playing | GamePhase::Over)
    }

    /// Sends what the daemon needs before the roster: the game type, mutators and map.
    pub(super) fn announce(&mut self, out: &mut Outbox<'_>) {
        self.teams = 2;
        let setup = &self.logged.setup;
        out.announce(&setup.game_type, &setup.mutators, &setup.map);
    }

    /// Sends the number of teams if the daemon does not know of this one yet.
    pub(super) fn announce_team(&mut self, team: u8, out: &mut Outbox<'_>) {
        if team >= self.teams && usize::from(team) < TEAMS {
            self.teams = team + 1;
            out.send(Request::Teams(self.teams));
        }
    }

    /// Play starts: the daemon counts scores from here.
    pub(super) fn forget_scores(&mut self) {
        self.sent = [0.0; TEAMS];
    }

    /// The team of the players on a side of the map. The same rule gives the side of a team.
    pub(super) fn team_of(&self, side: u8) -> u8 {
        match side {
            0 | 1 if self.exchanged => 1 - side,
            side => side,
        }
    }

    /// The teams exchange their sides.
    pub(super) fn exchange(&mut self) {
        self.exchanged = !self.exchanged;
        self.totals.exchange();
    }

    /// Handles a line that states the total score of a side.
    pub(super) fn total(&mut self, side: u8, total: f64, out: &mut Outbox<'_>) {
        if usize::from(side) >= TEAMS || !self.counts() {
            return;
        }
        for (side, points) in self.totals.state(side, total) {
            self.score(self.team_of(side), points, None, out);
        }
    }

    /// Handles the final scores in the log: sends the daemon the differences to those sent before.
    pub(super) fn finals(&mut self, mut finals: Vec<(u8, f64)>, out: &mut Outbox<'_>) {
        if self.totals.lost(&finals).is_some() {
            return; // those that were sent count
        }
        self.totals.finals(&mut finals);
        for (side, score) in finals {
            let team = self.team_of(side);
            if let Some(sent) = self.sent.get(usize::from(team)) {
                self.score(team, score - sent, None, out);
            }
        }
    }

    /// Handles a change of a team's score. `by` is the identity of the player who caused it.
    pub(super) fn score(&mut self, team: u8, points: f64, by: Option<&str>, out: &mut Outbox<'_>) {
        if points == 0.0 || !points.is_finite() || !self.counts() || !self.logged.setup.teams {
            return;
        }
        let Some(sent) = self.sent.get_mut(usize::from(team)) else {
            return;
        };
        *sent += points;
        if self.complete {
            let by = by.map(plain_ident);
            out.send(Request::Score { team, points, by });
        }
    }
}

/// How long after the start of a round players may still change sides, in milliseconds.
const SETTLED: u64 = 3_000;

/// The players and their sides at the end of a round.
#[derive(Debug)]
pub(super) struct RoundSides {
    before: Vec<(ConnectionKey, u8)>,
    /// When the sides of the next round are final; `None` before that round starts.
    due: Option<u64>,
}

impl RoundSides {
    /// Begins with the sides at the end of a round.
    pub(super) fn new(roster: &ServerRoster) -> Self {
        let seats = roster.seats();
        let sides = seats.filter_map(|(connection, seat)| {
            let side = seat.player.side.filter(|&side| side < 2)?;
            Some((connection.clone(), side))
        });
        Self {
            before: sides.collect(),
            due: None,
        }
    }

    /// Handles the start of the next round.
    pub(super) fn round_started(&mut self, now: u64) {
        self.due.get_or_insert(now.saturating_add(SETTLED));
    }

    /// Whether the next round has not started.
    pub(super) fn is_between_rounds(&self) -> bool {
        self.due.is_none()
    }

    /// Whether the sides of the next round are final.
    pub(super) fn is_due(&self, now: u64) -> bool {
        self.due.is_some_and(|due| now >= due)
    }

    /// Whether the teams have exchanged their sides.
    pub(super) fn is_exchange(&self, roster: &ServerRoster) -> bool {
        let now = |connection| roster.get(connection)?.player.side;
        let before = self.before.iter();
        is_exchange(before.filter_map(|(connection, old)| Some((*old, now(connection)?))))
    }
}

/// The time since a log began. The dates in the log state it; between two lines, the caller's clock
/// continues it.
#[derive(Debug, Default)]
pub(crate) struct LogTime {
    calendar: Calendar,
    /// The time of the last line, in milliseconds since the log began.
    last: u64,
    /// When the last line was read, by the caller's clock.
    read: u64,
}

impl LogTime {
    /// Notes that a line has been read, which may have a date.
    pub(crate) fn read(&mut self, date: Option<Timestamp>, now: u64) {
        if let Some(date) = date {
            self.calendar.read(date, || true);
        }
        (self.last, self.read) = (self.at(now).max(self.calendar.position()), now);
    }

    /// Milliseconds since the log began.
    pub(crate) fn at(&self, now: u64) -> u64 {
        self.last.saturating_add(now.saturating_sub(self.read))
    }
}

/// How long the server waits for players at the beginning of a game. The sidecar may choose teams in this
/// time, although the log can show rounds already.
#[derive(Debug)]
pub(crate) struct OpeningTime {
    time: LogTime,
    /// How long the server waits after the first player has joined, in milliseconds.
    length: u64,
    /// When the first player joined, in milliseconds since the log began.
    since: Option<u64>,
    /// Whether play starts when the server no longer waits.
    pub(crate) pending: bool,
}

impl OpeningTime {
    pub(crate) fn new(length: u64) -> Self {
        Self {
            time: LogTime::default(),
            length,
            since: None,
            pending: false,
        }
    }

    /// Begins again for the next map.
    pub(crate) fn reset(&mut self) {
        (self.since, self.pending) = (None, false);
    }

    /// Notes that a line has been read, which may have a date.
    pub(crate) fn read(&mut self, date: Option<Timestamp>, now: u64) {
        self.time.read(date, now);
    }

    /// The time between the first and the last date in the log, in milliseconds.
    pub(crate) fn log_position(&self) -> u64 {
        self.time.calendar.position()
    }

    /// Whether the server still waits.
    pub(crate) fn waits(&self, now: u64) -> bool {
        let at = self.time.at(now);
        let over = |since: u64| at >= since.saturating_add(self.length);
        self.length > 0 && !self.since.is_some_and(over)
    }

    /// Whether play starts now, because the server no longer waits. Returns true only once. The wait starts once
    /// players are on the server.
    pub(crate) fn is_due(&mut self, server: &FollowedServer) -> bool {
        if server.has_players() {
            let at = self.time.at(server.now());
            self.since.get_or_insert(at);
        }
        let due = self.pending && !self.waits(server.now());
        self.pending &= !due;
        due
    }
}
