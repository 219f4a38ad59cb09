//! Handles what happens in a game until its results: sends requests to the daemon.

use super::{
    GameFollower,
    game::{FollowedGame, FollowedSetup},
    roster::{ConnectionKey, LoggedPlayer, SeatUpdate, ServerRoster},
    sides::RoundSides,
};
use crate::{
    domain::Kind,
    protocol::Request,
    sidecar::{Act, lull::Lull, progress::GamePhase},
};

impl GameFollower {
    /// A game begins: its map is loaded, or the server begins the same one again.
    pub(in crate::sidecar) fn begin(
        &mut self,
        setup: FollowedSetup,
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        if self.phase() == Some(GamePhase::Over) {
            self.end(now, acts);
        }
        self.game = Some(FollowedGame::new(setup, now, !self.link.outdated));
        self.announce(now, acts);
    }

    /// The server leaves its map. The log names every player of the next map again. A game that has not
    /// ended is abandoned when the next one begins.
    pub(in crate::sidecar) fn leave_map(&mut self) {
        self.roster = ServerRoster::default();
        self.game = None;
        self.doubt = None;
    }

    fn phase(&self) -> Option<GamePhase> {
        self.game.as_ref().map(|game| game.progress.phase())
    }

    /// Whether play is running.
    pub(in crate::sidecar) fn is_playing(&self) -> bool {
        self.phase() == Some(GamePhase::Playing)
    }

    /// Whether play has ended and results may follow.
    pub(in crate::sidecar) fn is_over(&self) -> bool {
        self.phase() == Some(GamePhase::Over)
    }

    /// Whether the map is loaded and nothing has been played.
    pub(in crate::sidecar) fn is_opening(&self) -> bool {
        self.phase() == Some(GamePhase::Opening)
    }

    /// A warm-up begins; it lasts until play starts.
    pub(in crate::sidecar) fn warm_up(&mut self, now: u64) {
        if let Some(game) = &mut self.game {
            game.progress.enter(GamePhase::WarmUp, now);
            self.lull = Lull::new(now);
        }
    }

    /// Play starts. Announces the game again if its setup has changed since the announcement, or if play
    /// has started before: what was played until now does not count.
    pub(in crate::sidecar) fn start(
        &mut self,
        setup: FollowedSetup,
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        let before = [GamePhase::Opening, GamePhase::WarmUp];
        let announced = self
            .game
            .as_ref()
            .is_some_and(|game| game.setup == setup && before.contains(&game.progress.phase()));
        if !announced {
            self.begin(setup, now, acts);
        }
        let Some(game) = &mut self.game else { return };
        game.progress.enter(GamePhase::Playing, now);
        let entries = self.roster.entries();
        game.met = entries.map(|(_, entry)| entry.id.clone()).collect();
        if game.progress.is_complete() {
            self.link.outbox(acts).send(Request::Start);
        }
    }

    /// A round of the running game starts.
    pub(in crate::sidecar) fn round_started(&mut self, now: u64) {
        if let Some(watch) = self.game.as_mut().and_then(|game| game.watch.as_mut()) {
            watch.round_started(now);
        }
    }

    /// A round of the running game ends; the teams may exchange their sides before the next one.
    pub(in crate::sidecar) fn round_ended(&mut self, acts: &mut Vec<Act>) {
        self.settle_sides(u64::MAX, acts);
        if let Some(game) = &mut self.game
            && game.progress.phase() == GamePhase::Playing
            && game.setup.teams
            && game.watch.is_none()
        {
            game.watch = Some(RoundSides::new(&self.roster));
        }
    }

    /// Decides whether the teams have exchanged their sides, once the sides of a round are final.
    pub(super) fn settle_sides(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(game) = &mut self.game else { return };
        let Some(watch) = game.watch.take_if(|watch| watch.is_due(now)) else {
            return;
        };
        if watch.is_exchange(&self.roster) {
            game.exchange();
        }
        for connection in self.roster.connections() {
            self.update(&connection, false, now, acts);
        }
    }

    /// Replaces the players who are on the server, and sends the daemon what has changed.
    pub(in crate::sidecar) fn sync(
        &mut self,
        players: Vec<(ConnectionKey, LoggedPlayer)>,
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        let (changed, leaves) = self.roster.replace(players);
        if !leaves.is_empty() {
            self.lull.change(now);
        }
        for leave in leaves {
            self.link.outbox(acts).send(leave);
        }
        for connection in changed {
            self.update(&connection, true, now, acts);
        }
    }

    /// Updates the daemon's roster for one connection. `live` is whether a line of the log is the reason;
    /// it is false if the whole roster is sent.
    pub(super) fn update(
        &mut self,
        connection: &ConnectionKey,
        live: bool,
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        let Some(game) = self.game.as_mut().filter(|_| self.link.connected) else {
            return;
        };
        let Some(seat) = self.roster.get(connection) else {
            return;
        };
        if matches!(game.progress.phase(), GamePhase::Over | GamePhase::Ended) {
            return;
        }
        let side = seat.player.side.filter(|_| game.setup.teams);
        let team = side.map(|side| game.team_of(side));
        let new = seat.entry.is_none();
        let human = seat.player.key.kind == Kind::Human;
        let late =
            live && game.progress.is_late(now) && game.progress.is_complete() && game.setup.teams;
        let unplaced = self.settings.auto_balance && late && new && human;
        let update = SeatUpdate {
            team,
            bots_as_players: self.settings.bots_as_players,
            unplaced,
            keep_team: game.watch.is_some(),
        };
        if let Some(team) = team {
            game.announce_team(team, &mut self.link.outbox(acts));
        }
        let requests = self.roster.update(connection, update);
        if requests.is_empty() {
            return;
        }
        acts.extend(requests.into_iter().map(Act::Send));
        if new {
            self.place_or_keep(connection, unplaced, team, now, acts);
        }
        self.lull.change(now);
    }

    /// Handles a player who is new in the daemon's roster. `unplaced` is whether the player was sent without
    /// a team: the daemon then chooses one, unless the player was in this game before.
    fn place_or_keep(
        &mut self,
        connection: &ConnectionKey,
        unplaced: bool,
        team: Option<u8>,
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        let (Some(game), Some(entry)) = (&mut self.game, self.roster.entry_mut(connection)) else {
            return;
        };
        let first = game.met.insert(entry.id.clone());
        let id = entry.ident();
        match (unplaced, first, team) {
            (true, true, _) => {
                entry.placing = true;
                self.doubt = Some(now);
                acts.push(Act::Send(Request::Place(id)));
            }
            // The player has come back to a team of their choice, and keeps it.
            (true, false, Some(team)) => {
                entry.team = Some(team);
                acts.push(Act::Send(Request::Move { id, team }));
            }
            _ => {}
        }
    }

    /// A player killed another one, or died otherwise (without `killer`).
    pub(in crate::sidecar) fn kill(
        &mut self,
        killer: Option<&ConnectionKey>,
        victim: &ConnectionKey,
        acts: &mut Vec<Act>,
    ) {
        let Some(game) = self
            .game
            .as_ref()
            .filter(|game| game.progress.is_followed())
        else {
            return;
        };
        let Some(victim) = self.roster.get(victim) else {
            return;
        };
        let killer = killer.and_then(|killer| self.roster.get(killer));
        let mut out = self.link.outbox(acts);
        if let (Some(killer), Some(entry)) = (killer, &victim.entry)
            && let Some(by) = &killer.entry
            && (!game.setup.teams || killer.player.side != victim.player.side)
        {
            out.send(Request::Kill {
                killer: by.ident(),
                victim: entry.ident(),
            });
        }
        if let Some(entry) = victim.entry.as_ref().filter(|entry| entry.joined)
            && self.settings.auto_balance
        {
            out.send(Request::Death(entry.ident()));
        }
    }
}
