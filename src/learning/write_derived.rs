//! Writes what was learned to the database.

use super::{
    Learning, LearningError,
    changes::Written,
    derive::on_blocking_thread,
    learned::{Learned, Slot},
    look::Look,
    writer::WriteGuard,
};
use crate::{
    rating::divisions::DivisionName,
    store::{DerivedFrom, DerivedRows, DivisionRow, Recount},
};

impl Learning {
    /// Notes which weights the database contains, if this process writes them and they are those of this state.
    pub(super) fn know_written(&self, look: &Look, learned: &Learned) {
        let is_its = look.before == Some(look.made_from(learned));
        let mut written = self.written.lock();
        if written.is_none() && is_its && look.guard.is_some() {
            *written = look.before.clone().map(|from| Written {
                from,
                knowledge: learned.knowledge.clone(),
            });
        }
    }

    /// Writes the derived data of the state in `slot`, which is `from` these matches: all of it or what is new. Returns `false`
    /// if that has to begin again, because another process has replaced it meanwhile, or has the lease now.
    ///
    /// While many rows are written, this process goes on learning, and writes what is new afterwards.
    pub(super) async fn write<'a>(
        &'a self,
        mut slot: Slot<'a>,
        look: &Look,
        from: &DerivedFrom,
        guard: &WriteGuard,
    ) -> Result<(Slot<'a>, bool), LearningError> {
        let Some((_, learned)) = slot.as_mut() else {
            return Ok((slot, false));
        };
        let derived = self.rows(learned, look, from).await?;
        let knowledge = learned.knowledge.clone();
        let is_long = !derived.is_few();
        let writing = is_long.then(|| self.writes.begin());
        let locked = (!is_long).then_some(slot);
        let written = self
            .store
            .learned()
            .replace_derived(&derived, look.all, guard.lease());
        let written = written.await;
        let mut slot = match locked {
            Some(slot) => slot,
            None => self.learned.lock().await,
        };
        drop(writing);
        let Some((_, learned)) = slot.as_mut().filter(|(key, _)| *key == look.key) else {
            return Ok((slot, false));
        };
        let is_written = match written {
            Err(error) if !self.has_lost_lease(&error) => {
                learned.take_back(derived.rulings, is_long);
                return Err(error.into());
            }
            written => written.unwrap_or(false),
        };
        let is_whole = is_written && learned.at.matches == from.matches;
        if is_written {
            learned.is_replayed &= !is_whole;
            let from = from.clone();
            *self.written.lock() = Some(Written { from, knowledge });
        }
        if !is_whole {
            learned.take_back(derived.rulings, is_long);
        }
        Ok((slot, is_whole))
    }

    /// The rows to write.
    async fn rows(
        &self,
        learned: &mut Learned,
        look: &Look,
        from: &DerivedFrom,
    ) -> Result<DerivedRows, LearningError> {
        let known = self.written.lock().take().filter(|_| !look.all);
        let (knowledge, goes_on) = (learned.knowledge.clone(), !learned.is_replayed);
        let new = move || knowledge.new_weights(known.as_ref(), goes_on);
        let weights = on_blocking_thread(new).await?;
        self.store
            .corrections()
            .add_accounts(&learned.accounts, look.all)
            .await?;
        learned.accounts.clear();
        Ok(DerivedRows {
            from: from.clone(),
            rulings: std::mem::take(&mut learned.pending),
            weights,
            divisions: self.division_rows(),
            seasons: self.settings.history.seasons.clone(),
            recount: Recount {
                correction: look.correction(learned),
                at: (self.clock)(),
                changes: look.overrides.changes,
            },
        })
    }

    /// The configured divisions, as the database stores them.
    fn division_rows(&self) -> Vec<DivisionRow> {
        let settings = &self.settings.history.divisions;
        let row = |name: &DivisionName| DivisionRow {
            name: name.as_str().to_owned(),
            decay_after_days: settings.decay_after_days.get(),
            decay_days: settings.decay_days.get(),
        };
        settings.names.iter().map(row).collect()
    }
}
