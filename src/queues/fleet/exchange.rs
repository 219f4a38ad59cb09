//! Sends the letters of a daemon, and handles those that it receives.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};

use super::{PostOffice, Push, ToDaemon, ToHolder, message::letter, office::Outgoing};
use crate::{
    queues::{QueuesError, Shared},
    session::MailboxError,
    store::{Changes, Letter, NewLetter, Post, StoreError},
};

/// The most letters that are sent or received together.
const BATCH: u32 = 256;
/// How often letters are looked for that no notification has announced, and connections of instances are reported.
const LOOK: Duration = Duration::from_secs(1);
/// How often calls are looked for whose time is over.
const TICK: Duration = Duration::from_millis(200);
/// The delay before a database that failed is tried again.
const RETRY: Duration = Duration::from_millis(500);

impl PostOffice {
    /// Sends and receives letters until the queues are stopped. A database that fails is tried again.
    pub async fn run(&self, shared: &Shared) {
        let (Some(post), Some(mut outgoing)) = (shared.store.post(), self.receiver.lock().take())
        else {
            return;
        };
        while !shared.stop.is_cancelled() {
            if let Err(error) = self.exchange(shared, post, &mut outgoing).await {
                tracing::warn!(%error, "letters to other daemons cannot be exchanged");
                self.fail_late();
                let retry = sleep(RETRY);
                shared.stop.run_until_cancelled(retry).await;
            }
        }
        if let Err(error) = post.is_gone(&self.name).await {
            tracing::debug!(%error, "this daemon is missed only later");
        }
    }

    async fn exchange(
        &self,
        shared: &Shared,
        post: &Post,
        outgoing: &mut mpsc::Receiver<Outgoing>,
    ) -> Result<(), StoreError> {
        self.give_sign(post).await?;
        let mut wakes: Box<dyn Changes> = post.wakes().await?;
        let (mut signed, mut looked) = (Instant::now(), Instant::now());
        let mut batch = Vec::new();
        while !shared.stop.is_cancelled() {
            let mut woken = tokio::select! {
                () = shared.stop.cancelled() => return Ok(()),
                _ = outgoing.recv_many(&mut batch, BATCH as usize) => false,
                woken = wakes.next() => woken.map(|()| true)?,
                () = sleep(TICK) => false,
            };
            if signed.elapsed() >= self.lasts / 3 {
                signed = Instant::now();
                self.give_sign(post).await?;
            }
            if looked.elapsed() >= LOOK {
                (looked, woken) = (Instant::now(), true);
                self.report_links(shared.clock.millis());
            }
            if !batch.is_empty() {
                self.send(post, std::mem::take(&mut batch)).await?;
            }
            if woken {
                self.wake.send_replace(());
                self.receive(shared, post).await?;
            }
            self.withdraw(post).await?;
        }
        Ok(())
    }

    /// Notes in the database that this daemon is alive.
    async fn give_sign(&self, post: &Post) -> Result<(), StoreError> {
        let (was_alive, all) = post.is_alive(&self.name, self.lasts).await?;
        let is_first = std::mem::replace(&mut *self.alive.write(), all).is_empty();
        if !(was_alive || is_first) {
            self.is_forgotten();
        }
        Ok(())
    }

    /// Reports the connections of instances.
    pub(super) fn report_links(&self, now: u64) {
        let mut reports: BTreeMap<String, (Vec<_>, Vec<_>)> = BTreeMap::new();
        self.links.lock().retain(|number, (lease, link)| {
            let (heard, closed) = reports.entry(lease.clone()).or_default();
            let is_open = link.is_open();
            match is_open {
                true => heard.push((*number, now.saturating_sub(link.heard()))),
                false => closed.push(*number),
            }
            is_open
        });
        for (lease, (heard, closed)) in reports {
            self.post(&lease, ToHolder::Links { heard, closed }, None);
        }
    }

    pub(super) async fn send(&self, post: &Post, batch: Vec<Outgoing>) -> Result<(), StoreError> {
        let (mut calls, mut letters) = (Vec::new(), Vec::<NewLetter>::new());
        for Outgoing { to, message, call } in batch {
            if let Some(letter) = letter(to, &self.name, &message) {
                calls.push(call);
                letters.push(letter);
            }
        }
        let sent = post.send(&letters).await;
        let mut pending = self.pending.lock();
        let numbers = match &sent {
            Ok(numbers) => numbers.clone(),
            Err(_) => vec![None; calls.len()],
        };
        let why = match sent {
            Ok(_) => QueuesError::Busy,
            Err(_) => QueuesError::NotWritten,
        };
        for (call, number) in calls.into_iter().zip(numbers) {
            match (call, number) {
                (Some(call), Some(number)) => pending.posted(call, number),
                (Some(call), None) => pending.answer(call, Err(why.clone())),
                (None, Some(_)) => {}
                (None, None) => self.is_forgotten(),
            }
        }
        sent.map(drop)
    }

    /// Handles the letters to this daemon, and then discards them: one that is handled twice does no harm.
    pub(super) async fn receive(&self, shared: &Shared, post: &Post) -> Result<(), StoreError> {
        loop {
            let letters = post.letters(&self.name, BATCH).await?;
            if letters.is_empty() {
                return Ok(());
            }
            let (mut receipts, mut deaf) = (BTreeMap::<_, Vec<_>>::new(), BTreeSet::new());
            for letter in &letters {
                if let Some(push) = self.handle(letter) {
                    let lease = push.lease.clone();
                    match shared.listeners.lock().hear(&push.owner, &push.notices) {
                        Ok(()) => receipts.entry(lease).or_default().push(push.receipt),
                        Err(MailboxError::Full) => {}
                        Err(MailboxError::Closed) => drop(deaf.insert((lease, push.owner))),
                    }
                }
            }
            for (lease, receipts) in receipts {
                self.post(&lease, ToHolder::Heard(receipts), None);
            }
            for (lease, owner) in deaf {
                self.post(&lease, ToHolder::Deaf(vec![owner]), None);
            }
            let numbers: Vec<i64> = letters.iter().map(|letter| letter.number).collect();
            post.discard(&numbers).await?;
            if numbers.len() < BATCH as usize {
                return Ok(());
            }
        }
    }

    /// Handles a letter, unless it is for the clients that listen.
    fn handle(&self, letter: &Letter) -> Option<Box<Push>> {
        match serde_json::from_str(&letter.body) {
            Ok(ToDaemon::Answer(call, outcome)) => self.pending.lock().answer(call, outcome),
            Ok(ToDaemon::Push(push)) => return Some(push),
            Ok(ToDaemon::Notice(number, notice)) => {
                let link = self.links.lock().get(&number).map(|(_, link)| link.clone());
                if let Some(link) = link {
                    link.send(&notice);
                }
            }
            Err(error) => tracing::warn!(%error, from = letter.from, "a letter cannot be read"),
        }
        None
    }

    /// Withdraws the calls that nobody has answered in time.
    pub(super) async fn withdraw(&self, post: &Post) -> Result<(), StoreError> {
        let now = self.millis();
        let late = self.pending.lock().late(now);
        if late.is_empty() {
            return Ok(());
        }
        let letters: Vec<i64> = late.iter().filter_map(|(_, letter)| *letter).collect();
        let waited = post.discard(&letters).await?;
        let mut pending = self.pending.lock();
        for (call, letter) in late {
            let was_handled = letter.is_some_and(|letter| !waited.contains(&letter));
            pending.withdraw(call, was_handled, now);
        }
        Ok(())
    }

    /// While the database is away, calls whose time is over are not known to be undone.
    pub(super) fn fail_late(&self) {
        let mut pending = self.pending.lock();
        for (call, _) in pending.late(self.millis()) {
            pending.answer(call, Err(QueuesError::NotWritten));
        }
    }
}
