//! `!rank`: asks the daemon for the rank of one player at a time, and answers the player.
//!
//! The chat sends PING after RANK. If PONG comes without an answer to RANK before it, the daemon refuses
//! to show ranks.

use super::{Chat, ChatGame, answers};
use crate::{Act, link::plain_ident};
use evenkeel_protocol::{Reply, Request};

/// How long the daemon's answer may take, in milliseconds.
pub(super) const PATIENCE: u64 = 5_000;

/// A question for a rank that the daemon has not answered completely.
#[derive(Debug)]
pub(super) struct RankQuestion {
    /// The client that asked; `None` if it has left.
    pub(super) number: Option<usize>,
    /// Whether the answer has come, so that only PONG is missing.
    answered: bool,
    /// When the chat gives up waiting.
    until: u64,
}

impl Chat {
    /// Asks the daemon for a rank, unless it has refused to show ranks.
    pub(super) fn ask_for_rank(
        &mut self,
        number: usize,
        game: &ChatGame<'_>,
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        self.question = Some(RankQuestion {
            number: Some(number),
            answered: false,
            until: now.saturating_add(PATIENCE),
        });
        match game.id_of(number).filter(|_| !self.refuses_ranks) {
            Some(id) => {
                let requests = [Request::Rank(plain_ident(id)), Request::Ping];
                acts.extend(requests.map(Act::Send));
            }
            None => self.close_question(),
        }
    }

    /// Ends a question that the daemon has not answered in time.
    pub(super) fn end_overdue_question(&mut self, now: u64) {
        if self.question.as_ref().is_some_and(|open| now >= open.until) {
            self.close_question();
        }
    }

    /// Handles PONG, which ends the question.
    pub(super) fn end_question(&mut self) {
        self.refuses_ranks |= self.question.as_ref().is_some_and(|open| !open.answered);
        self.close_question();
    }

    /// Writes the daemon's reply to the player who asked, unless the player has an answer already.
    pub(super) fn answer_rank(&mut self, reply: &Reply) {
        let Some(question) = self.question.as_mut().filter(|open| !open.answered) else {
            return;
        };
        question.answered = true;
        if let Some(number) = question.number {
            self.write_to(number, vec![answers::rank(reply)]);
        }
    }

    /// Ends the question. Without an answer, the player reads that there are no ranks.
    fn close_question(&mut self) {
        self.answer_rank(&Reply::Pong);
        self.question = None;
    }
}
