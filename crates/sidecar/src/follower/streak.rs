//! After a streak, teams are chosen anew: in the next balancing window, or between two rounds.

use super::{Follower, sides::RoundSides};
use crate::engine::Engine;
use evenkeel_model::{Contest, Streak};
use evenkeel_protocol::Request;

impl<E: Engine> Follower<E> {
    /// Asks for other teams if there was a streak, and this is a lull with at least two players: a balancing window in
    /// which nobody has come or gone for a while, or the time between two rounds.
    pub(super) fn end_streak(&mut self) {
        let window = self.is_balancing_window();
        let server = &mut self.server;
        let watch = server.game.as_ref().and_then(|game| game.watch.as_ref());
        let between = watch.is_some_and(RoundSides::is_between_rounds);
        let quiet = match window {
            true => server.window.is_settled(server.settings.settle, server.now),
            false => between && server.is_playing(),
        };
        let present = server.joined();
        if !quiet || present.len() < 2 {
            return;
        }
        let Some(streak) = server.streak.take() else {
            return;
        };
        server.chat.announce(&why(&streak, E::TEAM_NAMES));
        let (top, seed) = (None, None);
        server.send(Request::Balance { top, seed });
        match window {
            true => server.window.ask(present),
            false => server.mixing = true,
        }
    }
}

/// Why teams are chosen anew, for all players.
fn why(Streak { team, wins, of }: &Streak, names: &[&str]) -> String {
    let who = match (of, names.get(usize::from(*team))) {
        (Contest::Rounds, Some(name)) => (*name).to_owned(),
        (Contest::Rounds, None) => format!("team {team}"),
        (Contest::Matches, _) => "the same people".to_owned(),
    };
    let verb = if *of == Contest::Rounds {
        "has"
    } else {
        "have"
    };
    format!("{who} {verb} won {wins} {of} in a row by far, so teams are chosen anew")
}
