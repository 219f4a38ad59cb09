//! Writes what was learned to the database.

use tokio::time::Instant;

use super::{
    Learning, LearningError, derive::on_blocking_thread, learned::Learned, look::Look,
    parts::Written, writer::WriteGuard,
};
use crate::{
    rating::divisions::DivisionName,
    store::{DerivedRows, DivisionRow, Recount},
};

impl Learning {
    /// Notes which weights the database contains, if this process writes them and they are those of this state.
    pub(super) fn know_written(&self, look: &Look, learned: &Learned) {
        let is_its = look.before == Some(look.made_from(learned));
        let mut written = self.written.lock();
        if written.is_none() && is_its && !look.is_behind && look.guard.is_some() {
            *written = look.before.clone().map(|from| Written {
                from,
                count: learned.knowledge.count(),
                knowledge: learned.knowledge.clone(),
            });
        }
    }

    /// Writes the derived data: all of it or what is new, with the weights or without. Returns `false` if another
    /// process has replaced it meanwhile, or has the lease now.
    pub(super) async fn write(
        &self,
        learned: &mut Learned,
        look: &Look,
        weighs: bool,
        guard: &WriteGuard,
    ) -> Result<bool, LearningError> {
        let since = Instant::now();
        let (from, all) = (look.made_from(learned), look.all);
        let known = self.written.lock().take();
        let (mut weights, mut count) = (None, 0);
        if weighs {
            let known = known.clone().filter(|_| !all);
            let knowledge = learned.knowledge.clone();
            let new = move || knowledge.new_weights(known.as_ref());
            let (new, all) = on_blocking_thread(new).await?;
            (weights, count) = (Some(new), all);
        }
        self.store.add_accounts(&learned.accounts, all).await?;
        let derived = DerivedRows {
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
        };
        let written = self.store.replace_derived(&derived, all, guard.lease());
        let written = written.await;
        learned.pending = derived.rulings;
        match written {
            Err(error) if self.has_lost_lease(&error) => return Ok(false),
            Ok(true) => {}
            failed => return Ok(failed?),
        }
        learned.is_replayed = false;
        learned.accounts.clear();
        *self.written.lock() = match derived.weights {
            Some(_) => {
                self.pace.weights_written(count, since);
                let knowledge = learned.knowledge.clone();
                Some(Written {
                    from,
                    knowledge,
                    count,
                })
            }
            None => {
                self.pace.weights.note_behind();
                known.map(|known| Written { from, ..known })
            }
        };
        Ok(true)
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
