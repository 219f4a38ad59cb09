//! A session's game in its journal: what is noted, what is written, and what an earlier daemon has left.

use std::borrow::Cow;

use super::SessionState;
use crate::{
    lobby::journal::{EndAnswer, Entry, JournalSnapshot},
    session::{Clock, backlog::Backlog},
};

impl SessionState {
    /// Goes on with a game of an earlier daemon, at this millisecond of the session.
    pub(in crate::session) fn go_on(&mut self, reasons: Vec<String>, now: u64, clock: &dyn Clock) {
        let signed = |millis: u64| i64::try_from(millis).unwrap_or(i64::MAX);
        self.reasons = reasons;
        self.shift = signed(now) - signed(clock.millis());
    }

    /// Counts milliseconds from now on as another session has done.
    pub(in crate::session) fn go_on_as(&mut self, other: &Self) {
        self.shift = other.shift;
    }

    /// Adds an entry to the journal, after entries for what the lobby's decisions have changed.
    pub(in crate::session) fn note(&mut self, entry: &Entry<'_>) {
        self.live.changed();
        self.note_trail();
        self.journal.push(self.lobby.now(), entry);
    }

    fn note_trail(&mut self) {
        let journal = &mut self.journal;
        self.lobby
            .drain_trail(|at, command| journal.push(at, &Entry::Command(Cow::Owned(command))));
    }

    /// Shows the game to spectators, and writes to the journal what has happened since the last time. A
    /// game that is over and whose match is not on disk yet is journaled entry by entry, without a new
    /// snapshot.
    pub(in crate::session) fn write_journal(
        &mut self,
        backlog: &Backlog,
        clock: &dyn Clock,
        server: Option<&str>,
    ) {
        self.show_changes(clock, server);
        if !self.journal.is_on() || self.lobby.game().is_err() {
            return;
        }
        self.note_trail();
        if std::mem::take(&mut self.new_reasons) {
            let reasons = Entry::Reasons(Cow::Borrowed(&self.reasons));
            self.journal.push(self.lobby.now(), &reasons);
        }
        self.waiting.retain(|game| backlog.keeps(*game));
        let long = self.journal.write(clock, self.ended.is_some());
        if long && self.waiting.is_empty() && !self.ending {
            let mut journal = std::mem::take(&mut self.journal);
            let (at, snapshot) = self.snapshot(clock, server);
            journal.begin(at, snapshot, clock.millis());
            self.journal = journal;
        }
    }

    /// The state now, with the session's millisecond.
    fn snapshot(&self, clock: &dyn Clock, server: Option<&str>) -> (u64, JournalSnapshot<'_>) {
        let end = self.ended.as_ref().map(|ended| EndAnswer {
            id: ended.id,
            unrated: ended.unrated.clone(),
            delivered: self.delivered,
        });
        let snapshot = JournalSnapshot {
            server: server.map(|server| Cow::Owned(server.to_owned())),
            number: self.game,
            date: clock.now(),
            epoch: self.epoch,
            end,
            reasons: Cow::Borrowed(&self.reasons),
            lobby: Cow::Borrowed(&self.lobby),
            held: self.held.as_ref().map(Cow::Borrowed),
        };
        (self.millis(clock), snapshot)
    }
}
