//! Handles what happens in a game, its scores and its end: sends requests to the daemon.

use evenkeel_ingest::GameEvent;
use evenkeel_model::{Kind, PlayerKey};
use evenkeel_protocol::Request;

use super::{
    FollowedServer,
    roster::{RosterUpdate, ServerRoster},
    server::{FollowedGame, RoundSides},
};
use crate::{
    Act,
    balancing_window::BalancingWindow,
    progress::{ConnectionKey, GamePhase, LoggedPlayer, LoggedSetup},
};

impl FollowedServer {
    /// A game begins: its map is loaded, or the server begins the same one again.
    pub(crate) fn begin(&mut self, setup: LoggedSetup) {
        if self.phase() == Some(GamePhase::Over) {
            self.end();
        }
        // If players stay between two games, a game that began without a connection is not followed.
        let follows = (self.link.connected || !self.between_games) && !self.link.outdated;
        let at = self.phase_clock();
        self.game = Some(FollowedGame::new(setup, at, follows));
        self.chat.game_began(self.now);
        self.announce();
    }

    /// The server leaves its map. The log names every player of the next map again. A game that has not
    /// ended is abandoned when the next one begins.
    pub(crate) fn leave_map(&mut self) {
        self.roster = ServerRoster::default();
        self.game = None;
        self.doubt = None;
    }

    /// A warm-up begins; it lasts until play starts.
    pub(crate) fn warm_up(&mut self) {
        let at = self.phase_clock();
        if let Some(game) = &mut self.game {
            game.logged.enter(GamePhase::WarmUp, at);
            self.window = BalancingWindow::new(self.now);
        }
    }

    /// Play starts. Announces the game again if its setup has changed since the announcement, or if play
    /// has started before: what was played until now does not count.
    pub(crate) fn start(&mut self, setup: LoggedSetup) {
        let before = [GamePhase::Opening, GamePhase::WarmUp];
        let announced = self.game.as_ref().is_some_and(|game| {
            game.logged.setup == setup && before.contains(&game.logged.phase())
        });
        if !announced {
            self.begin(setup);
        }
        let at = self.phase_clock();
        let Some(game) = &mut self.game else { return };
        game.logged.enter(GamePhase::Playing, at);
        game.forget_scores();
        let entries = self.roster.entries();
        game.met = entries.map(|(_, entry)| entry.id.clone()).collect();
        if game.complete {
            self.link.outbox(&mut self.acts).send(Request::Start);
        }
    }

    /// Play has started again in the same game: those who join now are no late arrivals.
    pub(crate) fn start_again(&mut self) {
        let at = self.phase_clock();
        if let Some(game) = &mut self.game {
            game.logged.enter(GamePhase::Playing, at);
        }
    }

    /// The map is closed. A game that has not ended is abandoned.
    pub(crate) fn close_map(&mut self) {
        self.roster.forget_entries();
        let at = self.phase_clock();
        if let Some(game) = &mut self.game {
            game.logged.enter(GamePhase::Ended, at);
        }
    }

    /// A round of the running game starts.
    pub(crate) fn round_started(&mut self) {
        if let Some(watch) = self.game.as_mut().and_then(|game| game.watch.as_mut()) {
            watch.round_started(self.now);
        }
    }

    /// A round of the running game ends; the teams may exchange their sides before the next one.
    pub(crate) fn round_ended(&mut self) {
        self.settle_sides(u64::MAX);
        if let Some(game) = &mut self.game
            && game.logged.phase() == GamePhase::Playing
            && game.logged.setup.teams
            && game.watch.is_none()
        {
            game.watch = Some(RoundSides::new(&self.roster));
        }
    }

    /// Decides whether the teams have exchanged their sides, once the sides of a round are final.
    pub(super) fn settle_sides(&mut self, now: u64) {
        let Some(game) = &mut self.game else { return };
        let Some(watch) = game.watch.take_if(|watch| watch.is_due(now)) else {
            return;
        };
        if watch.is_exchange(&self.roster) {
            game.exchange();
        }
        self.update_all();
    }

    /// The log names the player on a connection, who may be new, changed or the same.
    pub(crate) fn player_named(&mut self, connection: ConnectionKey, player: LoggedPlayer) {
        let before = self
            .roster
            .get(&connection)
            .map(|seat| seat.player.key.clone());
        let now = player.key.clone();
        self.roster.set(connection.clone(), player);
        self.update(&connection, true);
        let keys: Vec<_> = before.filter(|key| *key != now).into_iter().collect();
        self.update_namesakes(&connection, keys.iter().chain([&now]));
    }

    /// Updates the other players who have one of these identities: whether it is theirs depends on who else is there.
    fn update_namesakes<'a>(
        &mut self,
        connection: &ConnectionKey,
        keys: impl Iterator<Item = &'a PlayerKey>,
    ) {
        for key in keys {
            for other in self.roster.with_key(key) {
                if other != *connection {
                    self.update(&other, false);
                }
            }
        }
    }

    /// The player on a connection has left the server.
    fn player_left(&mut self, connection: &ConnectionKey) {
        if let Some(number) = connection.0 {
            self.chat.left(number as usize);
        }
        let key = self
            .roster
            .get(connection)
            .map(|seat| seat.player.key.clone());
        if let Some(leave) = self.roster.remove(connection) {
            self.link.outbox(&mut self.acts).send(leave);
            self.window.change(self.now);
        }
        self.update_namesakes(connection, key.iter());
    }

    /// Replaces the players who are on the server, and sends the daemon what has changed.
    pub(crate) fn sync(&mut self, players: Vec<(ConnectionKey, LoggedPlayer)>) {
        let (changed, leaves) = self.roster.replace(players);
        if !leaves.is_empty() {
            self.window.change(self.now);
        }
        for leave in leaves {
            self.link.outbox(&mut self.acts).send(leave);
        }
        for connection in changed {
            self.update(&connection, true);
        }
    }

    /// Updates the daemon's roster for all connections.
    pub(super) fn update_all(&mut self) {
        for connection in self.roster.connections() {
            self.update(&connection, false);
        }
    }

    /// Updates the daemon's roster for one connection. `live` is whether a line of the log is the reason;
    /// it is false if the whole roster is sent.
    pub(super) fn update(&mut self, connection: &ConnectionKey, live: bool) {
        let at = self.phase_clock();
        let Some(game) = self.game.as_ref().filter(|_| self.link.connected) else {
            return;
        };
        let Some(seat) = self.roster.get(connection) else {
            return;
        };
        let (over, ended) = (GamePhase::Over, GamePhase::Ended);
        let phase = game.logged.phase();
        if phase == over || (phase == ended && !self.between_games) {
            return;
        }
        let new = seat.entry.is_none();
        let human = seat.player.key.kind == Kind::Human;
        let late = live && game.logged.is_late(at) && game.complete && game.logged.setup.teams;
        let unplaced = self.settings.auto_balance && late && new && human;
        if self.refresh(connection, unplaced) {
            if new {
                self.place_or_keep(connection, unplaced);
            }
            self.window.change(self.now);
        }
    }

    /// Sends the daemon what has changed of one player. Returns whether anything has.
    fn refresh(&mut self, connection: &ConnectionKey, unplaced: bool) -> bool {
        let (Some(game), Some(seat)) = (&mut self.game, self.roster.get(connection)) else {
            return false;
        };
        let side = seat.player.side.filter(|_| game.logged.setup.teams);
        let team = side.map(|side| game.team_of(side));
        let player = &seat.player;
        let update = RosterUpdate {
            key: self.roster.identity(connection, player).id,
            name: player.name.clone(),
            plays: player.plays(game.logged.setup.teams),
            joined: player.key.kind == Kind::Human || self.settings.bots_as_players,
            role: player.role.clone(),
            team,
            unplaced,
            keep_team: game.watch.is_some(),
        };
        if let Some(team) = team {
            game.announce_team(team, &mut self.link.outbox(&mut self.acts));
        }
        let requests = self.roster.update(connection, update);
        let changed = !requests.is_empty();
        self.acts.extend(requests.into_iter().map(Act::Send));
        changed
    }

    /// Sends the daemon the teams on which the players actually are.
    pub(super) fn send_real_teams(&mut self) {
        for entry in self.roster.entries_mut() {
            entry.placing = false;
        }
        let finished = [GamePhase::Over, GamePhase::Ended];
        let is_finished = self.phase().is_none_or(|phase| finished.contains(&phase));
        if is_finished && !self.between_games {
            return;
        }
        for connection in self.roster.connections() {
            let changed =
                self.roster.entry(&connection).is_some() && self.refresh(&connection, false);
            // Where players choose their teams anew in each game, a correction counts as their change.
            if changed && !self.between_games {
                self.window.change(self.now);
            }
        }
    }

    /// Handles a player who is new in the daemon's roster. `unplaced` is whether the player was sent without
    /// a team: the daemon then chooses one, unless the player was in this game before.
    fn place_or_keep(&mut self, connection: &ConnectionKey, unplaced: bool) {
        let seat = self.roster.get(connection);
        let side = seat.and_then(|seat| seat.player.side);
        let team = side.map(|side| self.team_of(side));
        let (Some(game), Some(entry)) = (&mut self.game, self.roster.entry_mut(connection)) else {
            return;
        };
        let first = game.met.insert(entry.id.clone());
        let id = entry.ident();
        match team {
            _ if unplaced && first => {
                entry.placing = true;
                self.doubt = Some(self.now);
                self.send(Request::Place(id));
            }
            // The player has come back to a team of their choice, and keeps it.
            Some(team) if unplaced => {
                entry.team = Some(team);
                self.send(Request::Move { id, team });
            }
            _ => {}
        }
    }

    /// Counts a death, and a kill if an enemy is the killer.
    pub(super) fn killed(&mut self, victim: &ConnectionKey, killer: Option<&ConnectionKey>) {
        if let Some(death) = self.kill(victim, killer) {
            self.count(death);
        }
    }

    /// The request that counts a death, and a kill if an enemy is the killer; `None` if the daemon does not know the victim.
    pub(crate) fn kill(
        &self,
        victim: &ConnectionKey,
        killer: Option<&ConnectionKey>,
    ) -> Option<Request> {
        let game = self.game.as_ref()?;
        let seat = self.roster.get(victim)?;
        let entry = seat.entry.as_ref()?;
        let killer = killer.and_then(|killer| self.roster.get(killer));
        let side = seat.player.side;
        let enemy = killer.filter(|killer| !game.logged.setup.teams || killer.player.side != side);
        // Who kills nobody else has died, and nothing more.
        let by = enemy.and_then(|killer| killer.entry.as_ref());
        Some(Request::Kill {
            killer: by.unwrap_or(entry).ident(),
            victim: entry.ident(),
        })
    }

    /// Sends what counts only in play.
    pub(crate) fn count(&mut self, request: Request) {
        let game = self.game.as_ref();
        if game.is_some_and(|game| game.is_followed()) {
            self.link.outbox(&mut self.acts).send(request);
        }
    }

    /// A player has died. With auto-balance, the daemon may then move the player.
    pub(crate) fn death(&mut self, victim: &ConnectionKey) {
        let game = self.game.as_ref();
        if self.settings.auto_balance
            && game.is_some_and(|game| game.is_followed())
            && let Some(entry) = self.roster.entry(victim).filter(|entry| entry.joined)
        {
            self.link
                .outbox(&mut self.acts)
                .send(Request::Death(entry.ident()));
        }
    }
}

impl FollowedServer {
    /// Handles what the log shows of the clients in play, and of the results.
    pub(crate) fn take(&mut self, event: GameEvent) {
        match event {
            GameEvent::Left(client) => self.player_left(&ConnectionKey::of(client)),
            GameEvent::Over => self.over(),
            GameEvent::Ended => self.end(),
            GameEvent::Death {
                victim,
                by,
                enemy,
                moved,
            } => {
                let victim = ConnectionKey::of(victim);
                let killer = by.filter(|_| enemy).map(ConnectionKey::of);
                self.killed(&victim, killer.as_ref());
                if !moved {
                    self.death(&victim);
                }
            }
            GameEvent::Score { team, points, by } => {
                self.side_score(team, points, by.map(ConnectionKey::of).as_ref());
            }
            GameEvent::Total { team, points } if self.is_playing() => {
                self.finals(vec![(team, points)]);
            }
            GameEvent::Result(scores) if self.is_over() => {
                let game = self.game.as_mut();
                if game.is_some_and(|game| game.logged.note_result()) {
                    let scores = (0..).zip(scores);
                    let stated = scores.filter_map(|(team, score)| Some((team, score?)));
                    self.finals(stated.collect());
                }
            }
            GameEvent::Points { client, points } if self.is_over() && points.is_finite() => {
                self.points(client, points);
            }
            _ => {}
        }
    }

    /// Ends the game if all results have been logged, or are overdue.
    pub(crate) fn end_if_results_are_known(&mut self) {
        let game = self.game.as_ref().filter(|_| self.is_over());
        let known = game.is_some_and(|game| {
            let known = self.roster.seats().filter(|(_, seat)| seat.entry.is_some());
            let numbers = known.filter_map(|(connection, _)| connection.0);
            let numbers = numbers.map(|number| number as usize);
            game.logged.has_results(numbers)
        });
        if known || self.is_overdue() {
            self.end();
        }
    }

    /// The score of a side has changed by `points`, because of a player if the log names one.
    fn side_score(&mut self, side: u8, points: f64, by: Option<&ConnectionKey>) {
        if let Some(game) = &mut self.game
            && game.logged.phase() == GamePhase::Playing
        {
            let entry = by.and_then(|by| self.roster.entry(by));
            let by = entry.map(|entry| entry.id.as_str());
            let team = game.team_of(side);
            game.score(team, points, by, &mut self.link.outbox(&mut self.acts));
        }
    }

    /// The log states the score of a side.
    pub(crate) fn total(&mut self, side: u8, total: f64) {
        if let Some(game) = &mut self.game {
            game.total(side, total, &mut self.link.outbox(&mut self.acts));
        }
    }

    /// The log states the final scores of the sides.
    pub(crate) fn finals(&mut self, finals: Vec<(u8, f64)>) {
        if let Some(game) = &mut self.game {
            game.finals(finals, &mut self.link.outbox(&mut self.acts));
        }
    }

    /// The log states a client's final points.
    fn points(&mut self, client: usize, points: f64) {
        let entry = self.roster.entry(&ConnectionKey::of(client));
        if let (Some(entry), Some(game)) = (entry, &mut self.game)
            && game.logged.note_points(client)
            && game.complete
        {
            let id = entry.ident();
            let mut out = self.link.outbox(&mut self.acts);
            out.send(Request::Points { id, points });
        }
    }

    /// Play has ended. The log states the results next.
    pub(crate) fn over(&mut self) {
        self.settle_sides(u64::MAX);
        let at = self.phase_clock();
        if let Some(game) = &mut self.game
            && game.logged.phase() == GamePhase::Playing
        {
            game.logged.enter(GamePhase::Over, at);
        }
    }

    /// Whether the results are overdue.
    pub(crate) fn is_overdue(&self) -> bool {
        let at = self.phase_clock();
        let game = self.game.as_ref();
        game.is_some_and(|game| game.logged.is_overdue(at))
    }

    /// Ends the game if its results are overdue, and decides whether the teams have exchanged their sides.
    pub(super) fn settle_results(&mut self) {
        if self.is_overdue() {
            self.end();
        }
        self.settle_sides(self.now);
    }

    /// All results have been read, or are overdue.
    pub(crate) fn end(&mut self) {
        let at = self.phase_clock();
        let Some(game) = &mut self.game else { return };
        if !matches!(game.logged.phase(), GamePhase::Playing | GamePhase::Over) {
            return;
        }
        game.logged.enter(GamePhase::Ended, at);
        let complete = game.complete;
        if !(complete && game.met.is_empty()) {
            self.link.end(complete, &mut self.acts);
        }
        if self.between_games {
            self.window = BalancingWindow::new(self.now);
            self.update_all();
        }
    }
}
