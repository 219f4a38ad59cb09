//! What the database contains before a fold, and whether it was made with this process's settings.

use super::{Learning, LearningError, learned::Learned, writer::WriteGuard};
use crate::store::{Correction, DerivedFrom, OperatorOverrides, RecountCause};

/// What the database contains before a fold, and what this process may write after it.
pub(super) struct Look {
    pub(super) overrides: OperatorOverrides,
    /// The key of this process's settings and of the overrides.
    pub(super) key: String,
    /// Number of stored matches.
    pub(super) stored: i64,
    /// What the derived tables were made from.
    pub(super) before: Option<DerivedFrom>,
    /// Whether they were made with another configuration, or not made at all.
    pub(super) is_other: bool,
    /// The permission to write; `None` while another daemon has it.
    pub(super) guard: Option<WriteGuard>,
    /// Whether all matches are folded again, and everything is written.
    pub(super) all: bool,
}

impl Look {
    /// Whether this process has to write what was learned from these matches.
    pub(super) fn is_due(&self, from: &DerivedFrom) -> bool {
        (self.all || self.before.as_ref() != Some(from)) && self.guard.is_some()
    }

    /// Whether the state lacks matches that are earlier than its last one.
    pub(super) fn lacks_earlier(&self, learned: &Learned) -> bool {
        let late = self.stored - learned.at.matches;
        if late > 0 {
            tracing::debug!(
                late,
                "matches are earlier than the last one, and are folded in their place"
            );
        }
        late > 0
    }

    /// What was corrected since the derived tables were written, as far as it is known before the matches in them are
    /// compared with those of the state.
    pub(super) fn correction(&self, learned: &Learned) -> Correction {
        let Some(before) = &self.before else {
            return Correction::None;
        };
        let (Some((old, counted)), Some((new, _))) = (parts(&before.settings), parts(&self.key))
        else {
            return Correction::None;
        };
        let corrected = self.overrides.corrected;
        match corrected.filter(|(change, _)| *change > counted) {
            _ if old != new => Correction::Known(RecountCause::Settings),
            Some((_, cause)) => Correction::Known(cause),
            None if learned.is_replayed => Correction::IfLate,
            None => Correction::None,
        }
    }

    /// The same for a state of another key, and what the tables are made from, which are still those of that state; `None` if
    /// they are not, or if somebody was forgotten since.
    pub(super) fn of_served(&self, key: &str) -> Option<(Self, DerivedFrom)> {
        let before = self
            .before
            .clone()
            .filter(|before| before.settings == key)?;
        let changes = before
            .changes()
            .filter(|known| self.overrides.forgotten <= *known)?;
        let look = Self {
            overrides: OperatorOverrides {
                changes,
                ..OperatorOverrides::default()
            },
            key: key.to_owned(),
            stored: self.stored,
            before: Some(before.clone()),
            is_other: false,
            guard: self.guard.clone(),
            all: false,
        };
        Some((look, before))
    }

    /// Drops the rulings of a state that is `from` these matches: they are on disk, or another daemon writes them.
    /// That one may end before, or learn from as many matches, but not from the same ones.
    pub(super) fn forget_rulings(
        &self,
        learned: &mut Learned,
        from: &DerivedFrom,
        is_written: bool,
    ) {
        let is_the_writers = self.guard.is_some() && self.before.as_ref() == Some(from);
        let are_on_disk = is_written || (is_the_writers && !self.lacks_rulings(learned));
        learned.ruled = are_on_disk.then(|| from.clone());
        learned.has_all_rulings &= learned.pending.is_empty();
        learned.pending.clear();
    }

    /// Whether rulings may be missing on disk that this state does not have any more.
    pub(super) fn lacks_rulings(&self, learned: &Learned) -> bool {
        !learned.has_all_rulings && (learned.ruled.is_none() || learned.ruled != self.before)
    }

    /// Whether the state can go on, which has this key. Else all matches are to be folded again.
    pub(super) fn continues(&self, key: &str, learned: &Learned) -> bool {
        key == self.key && (!self.all || learned.has_all_rulings)
    }

    /// How many matches a state may have that is gone on from: who writes the rulings needs those on its matches in the
    /// database. `None` if any number will do.
    pub(super) fn most(&self) -> Option<i64> {
        let ruled = self.before.as_ref().filter(|_| !self.is_other);
        let most = ruled.map_or(0, |ruled| ruled.matches);
        self.guard.is_some().then_some(most)
    }
}

impl Learning {
    /// Reads what the database contains, before the matches are folded. `rebuilds` is whether everything is to be derived again.
    pub(super) async fn look(&self, rebuilds: bool) -> Result<Look, LearningError> {
        let overrides = self.store.corrections().overrides().await?;
        let key = self.key(&overrides);
        let (stored, _) = self.store.matches().extent().await?;
        let before = self.store.learned().derived_from().await?;
        // If the rulings on disk come from another configuration, all of them are replaced, so all matches are
        // folded again.
        let is_other = before.as_ref().is_none_or(|before| before.settings != key);
        // While many rows are written, nothing else is.
        let guard = self.guard().filter(|_| !self.writes.goes_on());
        let all = rebuilds || (is_other && guard.is_some());
        Ok(Look {
            overrides,
            key,
            stored,
            before,
            is_other,
            guard,
            all,
        })
    }

    /// The key of everything that weights depend on besides the matches: the settings and the
    /// operator's overrides.
    pub(super) fn key(&self, overrides: &OperatorOverrides) -> String {
        format!("{} {}", self.settings_key, overrides.changes)
    }
}

/// The settings of a key, and the number of changes of the overrides.
fn parts(key: &str) -> Option<(&str, i64)> {
    let (settings, changes) = key.split_once(' ')?;
    Some((settings, changes.parse().ok()?))
}
