//! Handles what happens in a game: sends requests to the daemon.

use super::{
    GameFollower,
    game::{FollowedGame, FollowedSetup},
    roster::{ConnectionKey, LoggedPlayer, SeatUpdate, ServerRoster},
    sides::RoundSides,
};
use crate::{
    domain::{Kind, Verdict},
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

    /// The server leaves its map: everybody who plays on the next one appears in the log again. A game
    /// that has not ended is abandoned when the next one begins.
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

    /// The players warm up until play starts.
    pub(in crate::sidecar) fn warm_up(&mut self, now: u64) {
        if let Some(game) = &mut self.game {
            game.progress.enter(GamePhase::WarmUp, now);
            self.lull = Lull::new(now);
        }
    }

    /// Play starts. The game is announced again if its setup has changed since, or if play has started
    /// before: what was played until now does not count.
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

    /// The players on the server are these now.
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

    /// Updates the daemon's roster for one connection. `live` is false if the whole roster is sent,
    /// and not because of a line in the log.
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
        if let Some(entry) = self.roster.entry_mut(connection).filter(|_| new) {
            let first = game.met.insert(entry.id.clone());
            let id = entry.ident();
            match (unplaced, first, team) {
                (true, true, _) => {
                    entry.placing = true;
                    self.doubt = Some(now);
                    acts.push(Act::Send(Request::Place(id)));
                }
                // The player was in this game before, and is back on a team of their choice.
                (true, false, Some(team)) => {
                    entry.team = Some(team);
                    acts.push(Act::Send(Request::Move { id, team }));
                }
                _ => {}
            }
        }
        self.lull.change(now);
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

    /// A player changed the score of their side.
    pub(in crate::sidecar) fn score(
        &mut self,
        by: &ConnectionKey,
        points: f64,
        acts: &mut Vec<Act>,
    ) {
        let Some(seat) = self.roster.get(by) else {
            return;
        };
        if let (Some(game), Some(side)) = (&mut self.game, seat.player.side)
            && game.progress.phase() == GamePhase::Playing
        {
            let by = seat.entry.as_ref().map(|entry| entry.id.as_str());
            let team = game.team_of(side);
            game.score(team, points, by, &mut self.link.outbox(acts));
        }
    }

    /// The log states the score of a side.
    pub(in crate::sidecar) fn total(&mut self, side: u8, total: f64, acts: &mut Vec<Act>) {
        if let Some(game) = &mut self.game {
            game.total(side, total, &mut self.link.outbox(acts));
        }
    }

    /// The log states the final scores of the sides.
    pub(in crate::sidecar) fn finals(&mut self, finals: Vec<(u8, f64)>, acts: &mut Vec<Act>) {
        if let Some(game) = &mut self.game {
            game.finals(finals, &mut self.link.outbox(acts));
        }
    }

    /// The log states the final scores of the sides, `a:b`, as Counter-Strike does.
    pub(in crate::sidecar) fn result(&mut self, scores: [f64; 2], acts: &mut Vec<Act>) {
        if let Some(game) = &mut self.game {
            game.result(scores, &mut self.link.outbox(acts));
        }
    }

    /// The log states a player's final points.
    pub(in crate::sidecar) fn points(
        &mut self,
        of: &ConnectionKey,
        points: f64,
        acts: &mut Vec<Act>,
    ) {
        let complete = self
            .game
            .as_ref()
            .is_some_and(|game| game.progress.is_complete());
        if let Some(entry) = self.roster.entry(of)
            && self.is_over()
            && complete
            && points.is_finite()
        {
            let id = entry.ident();
            self.link.outbox(acts).send(Request::Points { id, points });
        }
    }

    /// Play is over; the results follow.
    pub(in crate::sidecar) fn over(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.settle_sides(u64::MAX, acts);
        if let Some(game) = &mut self.game
            && game.progress.phase() == GamePhase::Playing
        {
            game.progress.enter(GamePhase::Over, now);
        }
    }

    /// All results have been read, or are overdue.
    pub(in crate::sidecar) fn end(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(game) = &mut self.game else { return };
        if !matches!(game.progress.phase(), GamePhase::Playing | GamePhase::Over) {
            return;
        }
        game.progress.enter(GamePhase::Ended, now);
        if self.link.connected && game.progress.is_complete() {
            acts.push(Act::Send(Request::End(Verdict::Scores)));
        } else {
            let text = "the daemon has seen only a part of the game that ended: ingest its log";
            acts.push(Act::Report(text.to_owned()));
        }
    }
}
