//! Writes the backlog, and gives up parked games in time.

use std::sync::Arc;

use tokio::time::sleep;
use tracing::Instrument;

use super::{SessionError, Sessions, backlog::INTERVAL};
use crate::lobby::Finished;

impl Sessions {
    /// Writes the backlog, and records parked games whose grace period is over, until dropped.
    /// Retries a failed write every second; logs the first failure, and the success after it.
    pub async fn run_background(self: &Arc<Self>) {
        let mut failing = false;
        loop {
            self.backlog.changed().await;
            self.give_up_expired();
            match self.write_backlog().await {
                Ok(()) => {
                    if std::mem::take(&mut failing) {
                        tracing::info!("the database can be written again");
                    }
                }
                Err(error) => {
                    if !std::mem::replace(&mut failing, true) {
                        tracing::warn!(%error, "cannot write matches and decisions now; trying every second");
                    }
                    sleep(INTERVAL).await;
                }
            }
        }
    }

    /// Writes the whole backlog now.
    ///
    /// # Errors
    /// Fails if the database does; the entries stay in the backlog.
    pub async fn write_backlog(self: &Arc<Self>) -> Result<(), SessionError> {
        // Run in a task of its own, which completes even if the caller is dropped: a committed
        // entry must also leave the backlog.
        let sessions = self.clone();
        let written = async move {
            let _one_at_a_time = sessions.backlog.writing.lock().await;
            sessions.write_matches().await?;
            sessions.write_decisions().await
        };
        self.tasks().spawn(written.in_current_span()).await?
    }

    async fn write_matches(&self) -> Result<(), SessionError> {
        while let Some(pending) = self.backlog.first() {
            let written = self.write_match(&pending.finished, pending.game);
            written.instrument(pending.span).await?;
            if let (Some(journal), Some(journals)) = (self.backlog.pop(), self.journals()) {
                journals.remove(&journal);
            }
        }
        Ok(())
    }

    /// Records a match. If the match itself is the reason why it cannot be recorded, it is dropped
    /// and logged.
    async fn write_match(&self, finished: &Finished, game: i64) -> Result<(), SessionError> {
        match self.record_game(finished, game).await {
            Ok(_) => {}
            Err(error) if error.is_of_record() => {
                self.metrics.lost.count();
                tracing::error!(%error, "a match cannot be recorded and is lost");
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn write_decisions(&self) -> Result<(), SessionError> {
        loop {
            let (batch, dropped) = self.backlog.decisions();
            if dropped > 0 {
                self.metrics.lost.add(dropped);
                tracing::warn!(dropped, "decisions are lost: the database is too slow");
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.store.decisions().write_decisions(&batch).await?;
            self.backlog.remove_decisions(batch.len());
        }
    }
}
