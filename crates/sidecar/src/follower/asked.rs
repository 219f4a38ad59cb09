//! Handles the daemon's offers: the chat asks the players, and whoever is to move then is moved, also during play.

use super::Follower;
use crate::{chat::ChatGame, engine::Engine};
use evenkeel_protocol::{GameNotice, Push, Request};

impl<E: Engine> Follower<E> {
    pub(super) fn take_push(&mut self, push: &Push) {
        let server = &mut self.server;
        let Some(notice) = GameNotice::read(push) else {
            return;
        };
        match notice {
            GameNotice::Streak(streak) if server.settings.auto_balance => {
                server.streak = Some(streak);
            }
            GameNotice::Streak(_) => {}
            _ if !server.asks() => {}
            GameNotice::Offer(step, seconds) => server.chat.offered(step, seconds, server.now),
            GameNotice::Withdrawn(id, why) => server.chat.withdrawn(&id, why),
            GameNotice::Move(step) => server.to_move.push(step),
        }
    }

    /// Orders the moves with which an offer has ended, all at once.
    pub(super) fn make_offered_moves(&mut self) {
        let moves = std::mem::take(&mut self.server.to_move);
        if moves.is_empty() {
            return;
        }
        let players = self.server.chat_players();
        let game = ChatGame {
            players: &players,
            can_balance: true,
        };
        self.server.chat.tell_of_moves(&moves, &game);
        let orders = self.orders_of(moves.iter().map(|step| (&step.id, step.to)));
        self.command(orders);
        self.server.send(Request::Explain);
    }
}
