//! Follows the games of one server and moves its players, for any engine: an engine's folder turns
//! log lines into calls of `GameFollower`, which decides.
//!
//! `events` handles what happens in a game until its results, `results` its scores and its end, and
//! `decide` the daemon's replies. `game` is the state of the game, `roster` the players. `sides`
//! recognises teams that exchange their sides, and `opening` is the time in which a server waits for
//! players. `orders` formats console commands, from the operator's templates (`template`).
//!
//! A *side* is a side of the map, as the log names it; a *team* is a team of the daemon. They are
//! the same until the teams exchange their sides.

mod decide;
mod events;
mod game;
mod opening;
mod orders;
#[cfg(test)]
pub(super) mod play;
mod results;
mod roster;
mod settings;
mod sides;
mod template;

pub use settings::Settings;
pub use template::CommandTemplate;

pub(super) use game::FollowedSetup;
pub(super) use opening::{LogTime, OpeningTime};
pub(super) use roster::{ConnectionKey, LoggedPlayer};
pub(super) use template::TeamWord;

use super::{
    Act,
    link::DaemonLink,
    lull::{Lull, LullStep},
};
use crate::protocol::Request;
use game::FollowedGame;
use roster::ServerRoster;

/// The time that a move during play may take, in milliseconds. After it, the sidecar sends the
/// daemon the player's actual team.
const DOUBT: u64 = 5_000;

/// The part of a sidecar that does not depend on the engine. `now` is the caller's clock in
/// milliseconds.
pub(super) struct GameFollower {
    settings: Settings,
    /// How commands name the sides.
    pub(super) words: fn(u8) -> TeamWord,
    link: DaemonLink,
    roster: ServerRoster,
    game: Option<FollowedGame>,
    lull: Lull,
    /// When the daemon last chose a team during play. Until the sidecar has sent the actual teams again,
    /// the daemon's roster can differ from them.
    doubt: Option<u64>,
}

impl GameFollower {
    /// A follower that has read no log and has no connection.
    pub(super) fn new(settings: Settings, words: fn(u8) -> TeamWord) -> Self {
        Self {
            settings,
            words,
            link: DaemonLink::default(),
            roster: ServerRoster::default(),
            game: None,
            lull: Lull::default(),
            doubt: None,
        }
    }

    pub(super) fn connected(&mut self, now: u64, acts: &mut Vec<Act>) {
        let settings = &self.settings;
        self.link
            .open(&settings.server, settings.token.as_deref(), now, acts);
        if settings.bots_as_players {
            // All bots are sent as players, so the daemon must not add any.
            acts.push(Act::Send(Request::MinPlayers(0)));
        }
        self.interrupt();
        self.announce(now, acts);
    }

    pub(super) fn disconnected(&mut self) {
        self.link.connected = false;
        self.interrupt();
    }

    /// Whether any player takes part.
    pub(super) fn has_players(&self) -> bool {
        self.roster.seats().any(|(_, seat)| seat.player.plays)
    }

    /// Handles the start or the end of a connection to the daemon, whose roster is empty then.
    fn interrupt(&mut self) {
        self.roster.forget_entries();
        if let Some(game) = &mut self.game {
            game.progress.interrupt();
        }
    }

    /// Sends the game and its whole roster, which the daemon does not have.
    fn announce(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.lull = Lull::new(now);
        self.doubt = None;
        self.roster.forget_entries();
        let Some(game) = &mut self.game else { return };
        game.announce(&mut self.link.outbox(acts));
        for connection in self.roster.connections() {
            self.update(&connection, false, now, acts);
        }
    }

    pub(super) fn tick(&mut self, now: u64, acts: &mut Vec<Act>) {
        if self
            .game
            .as_ref()
            .is_some_and(|game| game.progress.is_overdue(now))
        {
            self.end(now, acts);
        }
        self.settle_sides(now, acts);
        if !self.link.connected {
            return;
        }
        if self
            .doubt
            .is_some_and(|since| now >= since.saturating_add(DOUBT))
        {
            self.doubt = None;
            self.send_real_teams(now, acts);
        }
        if self.is_lull() {
            self.act_in_lull(now, acts);
        }
        self.link.keep_alive(now, acts);
    }

    /// In a lull, requests teams or orders the moves to the chosen ones.
    fn act_in_lull(&mut self, now: u64, acts: &mut Vec<Act>) {
        let joined = self.roster.entries().filter(|(_, entry)| entry.joined);
        let mut present: Vec<String> = joined.map(|(_, entry)| entry.id.clone()).collect();
        present.sort();
        match self.lull.step(&present, self.settings.settle, now) {
            LullStep::Wait => {}
            LullStep::Ask { first: true } => {
                let (top, seed) = (None, None);
                acts.push(Act::Send(Request::Balance { top, seed }));
                self.lull.ask(present);
            }
            LullStep::Ask { first: false } => {
                self.send_real_teams(now, acts);
                acts.push(Act::Send(Request::Rebalance { seed: None }));
                acts.push(Act::Send(Request::Bots));
                self.lull.ask(present);
            }
            LullStep::Compare => self.compare(now, acts),
        }
    }
}
