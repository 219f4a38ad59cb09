//! The end of a batch: one write, the answers, the news.

use tokio::time::Instant;

use super::{
    QueuesError,
    connections::Connections,
    fleet::Remote,
    task::{LAZY, Task},
};
use crate::{
    coordinator::Act,
    store::{QueueWrite, StoreError},
};

impl Task<'_> {
    /// Writes what must be written, sends the answers of the batch, and then the news.
    pub(super) async fn settle(&mut self, connections: &mut Connections) -> Result<(), StoreError> {
        self.hosting.act(self.shared, &mut self.life);
        let coordinator = &self.hosting.coordinator;
        let has_changed = self.life.has_changed() || coordinator.has_changed();
        let is_late = has_changed && self.written.elapsed() >= LAZY;
        let must_write = self.life.must_write() || coordinator.must_write();
        if self.life.must_write() {
            self.rounds.changed();
        }
        self.write_to_daemons(&mut connections.remote);
        let has_mail = !(self.handled.is_empty() && connections.remote.outbox.is_empty());
        if (must_write || is_late || has_mail)
            && let Err(error) = self.write(&connections.remote).await
        {
            return Err(self.fail(error, connections));
        }
        if !self.held.is_held() {
            return Err(self.fail(self.lost(), connections));
        }
        for (client, answer) in self.answers.drain(..) {
            client.send(answer);
        }
        for act in self.hosting.take_unsent() {
            if let Act::Allocate(id) = act {
                self.hosting.allocate(self.part, id);
            }
            let session = |id| self.hosting.session(&self.life, id);
            match self.hosting.game_notice(&self.life, &act) {
                Some((id, notice)) => connections.links.send_to_game(id, &notice),
                None => connections.links.send(&act, session),
            }
        }
        let mut listeners = self.shared.listeners.lock();
        listeners.send_changes(&mut self.life, &self.hosting.coordinator);
        drop(listeners);
        if has_changed {
            self.shared.changed.notify_waiters();
        }
        Ok(())
    }

    pub(super) async fn write(&mut self, remote: &Remote) -> Result<(), StoreError> {
        let name = self.shared.office.as_ref().map(|office| &*office.name);
        let letters = remote.outbox.take(name.unwrap_or_default());
        let handled = std::mem::take(&mut self.handled);
        let changes = self.life.take_changes();
        let hosting = self.hosting.coordinator.take_changes();
        let book = self.shared.learning.behaviour();
        let no_shows = book.no_shows(&self.hosting.take_no_shows(), self.life.now());
        let has_mail = !(letters.is_empty() && handled.is_empty());
        if has_mail || !(changes.is_empty() && hosting.is_empty() && no_shows.days.is_empty()) {
            let store = &self.shared.store;
            let write = QueueWrite {
                lease: self.held.lease(),
                partition: self.slot,
                tickets: &changes,
                hosting: &hosting,
                no_shows: &no_shows,
                handled: &handled,
                letters: &letters,
            };
            let version = store.write_queues(write).await?;
            if let Some(version) = version {
                book.is_written(&no_shows, version);
            }
            let waits = self.life.take_waits();
            self.shared.metrics.written(&changes, waits);
        }
        self.written = Instant::now();
        Ok(())
    }

    pub(super) fn lost(&self) -> StoreError {
        StoreError::LeaseLost(self.held.lease().name.clone())
    }

    /// Answers the batch with the failure of its write.
    pub(super) fn fail(&mut self, error: StoreError, to: &mut Connections) -> StoreError {
        let why = match error.is_lease_lost() {
            true => QueuesError::Moved,
            false => QueuesError::NotWritten,
        };
        for (client, _) in self.answers.drain(..) {
            // The letters of other daemons are still there.
            if !client.is_there() {
                client.send(Err(why.clone()));
            }
        }
        to.remote.write_failed();
        error
    }
}
