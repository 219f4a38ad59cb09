//! The end of a batch: one write, the answers, the news.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::{
    Connections, InstanceLink, QueuesError,
    links::notice,
    shared::PartitionHandle,
    task::{LAZY, Task, draw_pass},
};
use crate::{
    matchmaking::lifecycle::{Change, Effects, Happened, Lifecycle},
    model::record::MatchId,
    protocol::push::HostNotice,
    store::{DecidedRequest, NewHostNotice, QueueWrite, StoreError},
};

impl Task<'_> {
    /// Writes what must be written, sends the answers of the batch, and then what follows from it.
    pub(super) async fn commit(&mut self, connections: &mut Connections) -> Result<(), StoreError> {
        if self.life.have_tickets_changed() {
            self.rounds.changed();
        }
        let is_late = self.written.elapsed() >= LAZY;
        let mut effects = self.life.take_effects(is_late, draw_pass);
        let messages = std::mem::take(&mut effects.send).into_iter();
        let messages = messages.filter_map(|one| notice(&connections.links, &self.life, one));
        let notices: Vec<(InstanceLink, HostNotice)> = messages.collect();
        for (client, answer) in self.answers.extract_if(.., |(client, _)| client.is_there()) {
            client.send(answer);
        }
        let decided = connections.remote.outbox.take();
        if let Err(error) = self.write(&effects, &decided, &notices).await {
            return Err(self.fail(error, connections));
        }
        if !self.held.is_held() {
            return Err(self.fail(self.lost(), connections));
        }
        for (client, answer) in self.answers.drain(..) {
            client.send(answer);
        }
        for happened in &effects.count {
            log(happened);
        }
        for id in effects.allocate {
            allocate(self.partition, &self.life, id);
        }
        for (link, notice) in &notices {
            link.send(notice);
        }
        let mut listeners = self.shared.listeners.lock();
        listeners.send_changes(&mut self.life);
        drop(listeners);
        if !effects.write.is_empty() {
            self.shared.changed.notify_waiters();
        }
        Ok(())
    }

    /// Writes the changes, and what other daemons are to read of this batch together with them.
    async fn write(
        &mut self,
        effects: &Effects,
        decided: &[DecidedRequest],
        notices: &[(InstanceLink, HostNotice)],
    ) -> Result<(), StoreError> {
        let notices: Vec<_> = notices.iter().filter_map(written).collect();
        let waits = self.new_waits();
        let is_empty = effects.write.is_empty() && decided.is_empty() && notices.is_empty();
        if is_empty && waits.is_empty() {
            return Ok(());
        }
        let book = self.shared.learning.behaviour();
        let no_shows = book.no_shows(&effects.no_shows(), self.life.now());
        let write = QueueWrite {
            lease: self.held.lease(),
            partition: self.slot,
            changes: &effects.write,
            no_shows: &no_shows,
            decided,
            notices: &notices,
            waits: &waits,
            wakes: self.wakes_others(effects, decided, &notices),
        };
        let version = self.shared.store.queues().write_queues(write).await?;
        if let Some(version) = version {
            book.is_written(&no_shows, version);
        }
        self.shared.metrics.written(effects);
        self.written = Instant::now();
        for one in decided {
            self.open.remove(&(one.daemon.clone(), one.key));
        }
        self.published.0.extend(waits);
        Ok(())
    }

    /// Whether other daemons wait for what is written.
    fn wakes_others(
        &self,
        effects: &Effects,
        decided: &[DecidedRequest],
        notices: &[NewHostNotice],
    ) -> bool {
        let is_state = |change: &Change| matches!(change, Change::Became { .. });
        let fleet = self.shared.fleet.as_ref();
        let has_others = fleet.is_some_and(|fleet| fleet.has_others());
        let is_answer = |one: &DecidedRequest| one.answer.is_some();
        has_others
            && (effects.write.iter().any(is_state)
                || decided.iter().any(is_answer)
                || !notices.is_empty())
    }

    /// The median waits that have changed since they were published, if that was long enough ago.
    fn new_waits(&mut self) -> Vec<(String, i64)> {
        let (published, at) = &mut self.published;
        if self.shared.fleet.is_none() || at.is_some_and(|at| at.elapsed() < LAZY) {
            return Vec::new();
        }
        *at = Some(Instant::now());
        let own = self.shared.names_of(&self.partition.name).into_iter();
        let medians: BTreeMap<String, i64> = own
            .filter_map(|name| self.life.median_wait(&name).map(|median| (name, median)))
            .collect();
        let is_new = |(name, median): &(String, i64)| published.get(name) != Some(median);
        medians.into_iter().filter(is_new).collect()
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
            // The requests of other daemons are still there.
            if !client.is_there() {
                client.send(Err(why.clone()));
            }
        }
        to.remote.write_failed();
        error
    }
}

/// What is written of a notice to a connection of another daemon.
fn written((link, notice): &(InstanceLink, HostNotice)) -> Option<NewHostNotice> {
    let daemon = link.daemon()?.to_owned();
    match serde_json::to_string(notice) {
        Ok(body) => Some(NewHostNotice {
            daemon,
            link: link.number() as i64,
            body,
        }),
        Err(error) => {
            tracing::error!(%error, "a notice cannot be written");
            None
        }
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

/// Asks the allocator for the game server of a match.
fn allocate(handle: &PartitionHandle, life: &Lifecycle, id: MatchId) {
    if let (Some(allocator), Some(hosted)) = (&handle.shared.allocator, life.hosted(id)) {
        let request = allocator
            .settings()
            .request(id, &hosted.queue, &hosted.wanted);
        allocator.ask(id, request, handle.calls.clone());
    }
}
