//! The end of a batch: one write, the answers, the news.

use tokio::time::Instant;

use super::{
    QueuesError,
    connections::Connections,
    fleet::Remote,
    hosting::{allocate, draw_pass, send},
    task::{LAZY, Task},
};
use crate::{
    lifecycle::{Happened, Ready},
    store::{QueueWrite, StoreError},
};

impl Task<'_> {
    /// Writes what must be written, sends the answers of the batch, and then what follows from it.
    pub(super) async fn commit(&mut self, connections: &mut Connections) -> Result<(), StoreError> {
        if self.life.have_tickets_changed() {
            self.rounds.changed();
        }
        let is_late = self.written.elapsed() >= LAZY;
        let ready = self.life.take_ready(is_late, draw_pass);
        self.write_to_daemons(&mut connections.remote);
        if let Err(error) = self.write(&ready, &connections.remote).await {
            return Err(self.fail(error, connections));
        }
        if !self.held.is_held() {
            return Err(self.fail(self.lost(), connections));
        }
        for (client, answer) in self.answers.drain(..) {
            client.send(answer);
        }
        for happened in &ready.count {
            log(happened);
        }
        for id in ready.allocate {
            allocate(self.partition, &self.life, id);
        }
        for message in ready.send {
            send(&connections.links, &self.life, message);
        }
        let mut listeners = self.shared.listeners.lock();
        listeners.send_changes(&mut self.life);
        drop(listeners);
        if !ready.write.is_empty() {
            self.shared.changed.notify_waiters();
        }
        Ok(())
    }

    /// Writes the changes, and the letters of this batch together with them.
    async fn write(&mut self, ready: &Ready, remote: &Remote) -> Result<(), StoreError> {
        let name = self.shared.office.as_ref().map(|office| &*office.name);
        let letters = remote.outbox.take(name.unwrap_or_default());
        let handled = std::mem::take(&mut self.handled);
        if ready.write.is_empty() && letters.is_empty() && handled.is_empty() {
            return Ok(());
        }
        let book = self.shared.learning.behaviour();
        let no_shows = book.no_shows(&ready.no_shows(), self.life.now());
        let write = QueueWrite {
            lease: self.held.lease(),
            partition: self.slot,
            changes: &ready.write,
            no_shows: &no_shows,
            handled: &handled,
            letters: &letters,
        };
        let version = self.shared.store.write_queues(write).await?;
        if let Some(version) = version {
            book.is_written(&no_shows, version);
        }
        self.shared.metrics.written(ready);
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

fn log(happened: &Happened) {
    match happened {
        Happened::Waited(..) => {}
        Happened::NotHosted { id, why, absent } => {
            let (why, gone) = (why.as_str(), absent.len());
            tracing::info!(match_id = id, why, gone, "a match is not hosted");
        }
        Happened::NoShow { id, players } => {
            tracing::info!(match_id = id, ?players, "players have not come");
        }
        Happened::Released { id, players } => {
            tracing::info!(match_id = id, ?players, "players need not come");
        }
    }
}
