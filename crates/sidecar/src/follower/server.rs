//! What a follower knows of its game server, its players and the daemon. An engine tells it what the log shows.

use super::{FollowerSettings, game::FollowedGame, roster::ServerRoster};
use crate::{
    Act,
    balancing_window::BalancingWindow,
    chat::{Chat, ChatCommand, ChatGame, ChatPlayer},
    link::{DaemonLink, ServerName, plain_ident},
    progress::GamePhase,
};
use evenkeel_model::{
    Kind,
    in_game::{Move, Streak},
};
use evenkeel_protocol::Request;

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
