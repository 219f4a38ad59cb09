//! All instances and hosted matches, and how they are looked up and changed.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Act, Change, CoordinatorSettings, Hosted, Instance, KEEP_MILLIS, Stage, Wanted, Why,
    asking::Asking, settings::millis,
};
use crate::domain::{MatchId, Timestamp};

/// Something that happens at a time unless something else happens before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// An instance was silent for too long, or has not come back in time.
    Instance(String),
    /// A match has been in its state for too long.
    Match(MatchId),
    /// Players who were sent to a match in play have not come.
    Coming(MatchId),
    /// An instance has rested, so that matches may go to it again.
    Rested,
    /// A match may ask the allocator again.
    Retry,
}

/// The instances, and the matches that they host.
#[derive(Debug, Default)]
pub struct Coordinator {
    pub(super) settings: CoordinatorSettings,
    pub(super) instances: BTreeMap<String, Instance>,
    pub(super) matches: BTreeMap<MatchId, Hosted>,
    /// What each match in no final state needs of an instance.
    pub(super) wanted: BTreeMap<MatchId, Wanted>,
    /// Matches in no final state.
    pub(super) live: BTreeSet<MatchId>,
    /// Matches that wait for an instance.
    pub(super) reserved: BTreeSet<MatchId>,
    /// How each of them has asked the allocator, if there is one.
    pub(super) asking: BTreeMap<MatchId, Asking>,
    /// How many game servers were allocated and could not be used.
    pub(super) unused: u64,
    /// Matches for which an absent instance must be sent CLOSE when it comes back, and why.
    pub(super) owed: BTreeMap<String, BTreeMap<MatchId, Why>>,
    /// What has been added to `owed` since the last call of [`take_changes`](Self::take_changes).
    pub(super) newly_owed: Vec<(String, MatchId, Why)>,
    /// What has been removed from it since then.
    pub(super) settled: Vec<(String, MatchId)>,
    pub(super) due: BTreeSet<(Timestamp, Due)>,
    pub(super) now: Timestamp,
    /// Whether a reserved match may find an instance now.
    pub(super) stale: bool,
    pub(super) acts: Vec<Act>,
    dirty: BTreeSet<MatchId>,
    forgotten: Vec<MatchId>,
    dirty_instances: BTreeSet<String>,
    must_write: bool,
}

impl Coordinator {
    /// A coordinator without instances and matches.
    pub fn new(settings: CoordinatorSettings, now: Timestamp) -> Self {
        Self {
            settings,
            now,
            ..Self::default()
        }
    }

    /// The match with this id, while it is kept.
    pub fn hosted(&self, id: MatchId) -> Option<&Hosted> {
        self.matches.get(&id)
    }

    /// What a match in no final state needs of an instance.
    pub fn wanted(&self, id: MatchId) -> Option<&Wanted> {
        self.wanted.get(&id)
    }

    /// All matches that are kept.
    pub fn matches(&self) -> impl Iterator<Item = &Hosted> {
        self.matches.values()
    }

    /// All instances, by name.
    pub fn instances(&self) -> impl Iterator<Item = &Instance> {
        self.instances.values()
    }

    /// Whether there is an instance of this name, connected or not.
    pub fn knows(&self, instance: &str) -> bool {
        self.instances.contains_key(instance)
    }

    /// Whether an instance that was heard at this time is not silent for too long.
    pub fn is_recent(&self, heard: Timestamp) -> bool {
        self.now < heard.plus_millis(millis(self.settings.heartbeat_seconds))
    }

    /// The passes of a match's players, if its instance was asked to host it and they are valid.
    pub fn passes(&self, id: MatchId) -> Option<&BTreeMap<String, String>> {
        let hosted = self.matches.get(&id)?;
        let valid = hosted.passes_until.is_none_or(|until| self.now < until);
        valid.then_some(&hosted.passes)
    }

    /// What has to be done since the last call, in order. Finds instances for the matches that wait.
    pub fn take_acts(&mut self) -> Vec<Act> {
        if std::mem::take(&mut self.stale) {
            self.allocate();
        }
        let acts = std::mem::take(&mut self.acts);
        // The instance may have refused the match after the act was added.
        let holds = |act: &Act| match act {
            Act::Open { instance, id } => {
                let hosted = self.at_instance(instance, *id);
                hosted.is_ok_and(|hosted| hosted.stage.is_before_start())
            }
            _ => true,
        };
        acts.into_iter().filter(holds).collect()
    }

    /// The changes since the last call.
    pub fn take_changes(&mut self) -> Vec<Change> {
        self.must_write = false;
        let dirty = std::mem::take(&mut self.dirty);
        let instances = std::mem::take(&mut self.dirty_instances);
        let hosted = dirty
            .into_iter()
            .filter_map(|id| Some(Change::Hosted(Box::new(self.matches.get(&id)?.clone()))));
        let instance = |name: String| match self.instances.get(&name) {
            Some(instance) => Change::Instance(Box::new(instance.clone())),
            None => Change::Gone(name),
        };
        let mut changes: Vec<Change> = hosted.collect();
        changes.extend(self.forgotten.drain(..).map(Change::Forgotten));
        changes.extend(instances.into_iter().map(instance));
        changes.extend(
            self.newly_owed
                .drain(..)
                .map(|(instance, id, why)| Change::Owed { instance, id, why }),
        );
        // What was owed and settled in the same batch is settled.
        let settled = self.settled.drain(..);
        changes.extend(settled.map(|(instance, id)| Change::Settled { instance, id }));
        changes
    }

    /// Whether any of the changes must be written before the acts are carried out.
    pub fn must_write(&self) -> bool {
        self.must_write
    }

    /// Whether there are changes.
    pub fn has_changed(&self) -> bool {
        !(self.dirty.is_empty()
            && self.dirty_instances.is_empty()
            && self.forgotten.is_empty()
            && self.newly_owed.is_empty()
            && self.settled.is_empty())
    }

    /// Sets the passes of a match's players. The instance is sent them together with the match.
    pub fn issue(&mut self, id: MatchId, passes: BTreeMap<String, String>) {
        self.change(id, |hosted| hosted.passes = passes);
    }

    /// Changes a match, and with it its time-out and what has to be written.
    pub(super) fn change(&mut self, id: MatchId, change: impl FnOnce(&mut Hosted)) {
        let Some(mut hosted) = self.matches.remove(&id) else {
            return;
        };
        self.due
            .remove(&(self.deadline_of(&hosted), Due::Match(id)));
        change(&mut hosted);
        self.due.insert((self.deadline_of(&hosted), Due::Match(id)));
        match hosted.stage {
            Stage::Reserved => self.reserved.insert(id),
            _ => {
                self.asking.remove(&id);
                self.reserved.remove(&id)
            }
        };
        match hosted.stage.is_final() {
            true => {
                self.live.remove(&id);
                self.wanted.remove(&id);
            }
            false => {
                self.live.insert(id);
            }
        }
        self.matches.insert(id, hosted);
        self.dirty.insert(id);
        self.must_write = true;
    }

    /// Puts a match into a state now.
    pub(super) fn enter(&mut self, id: MatchId, stage: Stage, why: Why) {
        let now = self.now;
        let coming = self
            .matches
            .get(&id)
            .map(|hosted| !hosted.coming.is_empty());
        if stage.is_final() && coming == Some(true) {
            self.acts.push(Act::Dismiss(id));
        }
        self.change(id, |hosted| {
            (hosted.stage, hosted.since, hosted.why) = (stage, now, why);
            hosted.parted = None;
            if stage.is_final() {
                hosted.passes.clear();
                hosted.passes_until = None;
                hosted.asked.clear();
                hosted.coming.clear();
                hosted.sent_away.clear();
            }
        });
    }

    /// When the state of a match times out.
    fn deadline_of(&self, hosted: &Hosted) -> Timestamp {
        let settings = &self.settings;
        let after = |limit| hosted.since.plus_millis(limit);
        match (hosted.stage, hosted.parted) {
            (Stage::Reserved, _) => hosted.until,
            (Stage::Opening | Stage::Ready, _) => after(millis(settings.open_seconds)),
            (Stage::Joining, _) => after(millis(settings.join_seconds)),
            (Stage::Playing, Some(parted)) => parted.plus_millis(settings.resume_millis()),
            (Stage::Playing, None) => after(millis(settings.play_seconds)),
            (Stage::Over | Stage::Failed, _) => after(KEEP_MILLIS),
        }
    }

    /// Adds a match that is not known yet.
    pub(super) fn insert(&mut self, hosted: Hosted) {
        let id = hosted.id;
        self.matches.insert(id, hosted);
        self.change(id, |_| {});
    }

    /// Removes a match that has been in a final state for long enough.
    pub(super) fn forget(&mut self, id: MatchId) {
        if let Some(hosted) = self.matches.remove(&id) {
            self.due
                .remove(&(self.deadline_of(&hosted), Due::Match(id)));
            self.forgotten.push(id);
            self.dirty.remove(&id);
            let owing = self.owed.iter().filter(|(_, owed)| owed.contains_key(&id));
            for name in owing.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
                self.settle(&name, id);
            }
        }
    }

    /// An instance need not be sent CLOSE for a match any more.
    pub(super) fn settle(&mut self, name: &str, id: MatchId) {
        if let Some(owed) = self.owed.get_mut(name)
            && owed.remove(&id).is_some()
        {
            self.settled.push((name.to_owned(), id));
            if owed.is_empty() {
                self.owed.remove(name);
            }
        }
    }

    /// Notes that what is stored of an instance has changed.
    pub(super) fn instance_changed(&mut self, name: &str) {
        self.dirty_instances.insert(name.to_owned());
    }

    /// Marks everything as written, after a restore.
    pub(super) fn is_clean(&mut self) {
        self.dirty.clear();
        self.dirty_instances.clear();
        self.must_write = false;
    }
}
