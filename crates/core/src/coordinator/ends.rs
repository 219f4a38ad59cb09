//! Handles time-outs, and takes matches from their instances.

use super::{Act, Coordinator, MAX_TRIES, Stage, Why, settings::millis, state::Due};
use crate::domain::{MatchId, Timestamp};

impl Coordinator {
    /// Moves the time forward to `now` and does everything that is due. An earlier time changes
    /// nothing.
    pub fn at(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        while let Some((at, _)) = self.due.first()
            && *at <= self.now
            && let Some((_, due)) = self.due.pop_first()
        {
            match due {
                Due::Match(id) => self.match_is_due(id),
                Due::Coming(id) => self.coming_is_due(id),
                Due::Instance(name) => self.instance_is_due(&name),
                Due::Rested | Due::Retry => self.stale = true,
            }
        }
    }

    fn match_is_due(&mut self, id: MatchId) {
        let Some(hosted) = self.matches.get(&id) else {
            return;
        };
        match hosted.stage {
            Stage::Reserved => self.fail(id, Why::NoInstance),
            Stage::Opening | Stage::Ready => {
                self.close(id, Why::Silent);
                self.leave(id, Why::Silent);
            }
            Stage::Joining => {
                self.close(id, Why::NotStarted);
                self.fail(id, Why::NotStarted);
            }
            Stage::Playing => {
                let why = match hosted.parted {
                    Some(_) => Why::Lost,
                    None => Why::TooLong,
                };
                self.close(id, why);
                self.fail(id, why);
            }
            Stage::Over | Stage::Failed => self.forget(id),
        }
    }

    /// An instance was silent for too long, or has not come back.
    fn instance_is_due(&mut self, name: &str) {
        let Some(instance) = self.instances.get(name) else {
            return;
        };
        let settings = &self.settings;
        let at = match instance.away {
            None => instance
                .heard
                .plus_millis(millis(settings.heartbeat_seconds)),
            Some(away) => away.plus_millis(millis(settings.return_seconds)),
        };
        if at > self.now {
            self.due.insert((at, Due::Instance(name.to_owned())));
        } else if instance.away.is_none() {
            self.lost(name);
        } else {
            self.remove(name);
        }
    }

    /// Removes an instance. Its matches whose play has not begun go to other instances.
    fn remove(&mut self, name: &str) {
        let Some(instance) = self.instances.get(name) else {
            return;
        };
        for id in instance.matches.clone() {
            let stage = self.matches.get(&id).map(|hosted| hosted.stage);
            if stage.is_some_and(Stage::is_before_start) {
                self.close(id, Why::Lost);
                self.leave(id, Why::Lost);
            }
        }
        self.instances.remove(name);
        self.instance_changed(name);
    }

    /// Sends CLOSE to the instance of a match: now, or when the instance connects again.
    pub(super) fn close(&mut self, id: MatchId, why: Why) {
        let Some(name) = self.matches.get(&id).and_then(|one| one.instance.clone()) else {
            return;
        };
        self.close_at(&name, id, why);
    }

    /// Sends CLOSE for a match to this instance: now, or when the instance connects.
    pub(super) fn close_at(&mut self, name: &str, id: MatchId, why: Why) {
        let instance = name.to_owned();
        let connected = self.instances.get(name).filter(|one| one.away.is_none());
        match connected {
            Some(_) => self.acts.push(Act::Close { instance, id, why }),
            None => {
                let owed = self.owed.entry(instance.clone()).or_default();
                owed.insert(id, why);
                self.newly_owed.push((instance, id, why));
            }
        }
    }

    /// Takes a match whose play has not begun from its instance. The match then waits for another
    /// instance, or fails if it has no time or no tries left.
    pub(super) fn leave(&mut self, id: MatchId, why: Why) {
        let Some(hosted) = self.matches.get(&id) else {
            return;
        };
        let (called, tries) = (hosted.stage.is_called(), hosted.tries);
        let instance = hosted.instance.clone();
        self.free(id);
        if let Some(name) = instance
            && let Some(instance) = self.instances.get_mut(&name)
        {
            let until = self.now.plus_millis(millis(self.settings.rest_seconds));
            instance.rests_until = until;
            self.due.insert((until, Due::Rested));
        }
        // A match whose players were called had an instance in time, so its wait begins again.
        let until = match (called, self.wanted.get(&id)) {
            (true, Some(wanted)) => self.now.plus_millis(wanted.wait),
            _ => hosted_until(self, id),
        };
        self.enter(id, Stage::Reserved, why);
        self.change(id, |hosted| {
            hosted.until = until;
            (hosted.instance, hosted.address, hosted.game) = (None, None, None);
            hosted.passes.clear();
            hosted.passes_until = None;
            hosted.present.clear();
        });
        if tries >= MAX_TRIES || until <= self.now {
            self.fail(id, why);
        } else if called {
            self.acts.push(Act::Seek(id));
        }
        self.stale = true;
    }

    /// Ends a match. If its play has not begun, its tickets go back.
    pub(super) fn fail(&mut self, id: MatchId, why: Why) {
        let stage = self.matches.get(&id).map(|hosted| hosted.stage);
        self.free(id);
        self.enter(id, Stage::Failed, why);
        if stage != Some(Stage::Playing) {
            self.acts.push(Act::Requeue(id, why));
        }
    }

    /// Frees the slot of a match.
    pub(super) fn free(&mut self, id: MatchId) {
        let Some(name) = self.matches.get(&id).and_then(|one| one.instance.clone()) else {
            return;
        };
        if let Some(instance) = self.instances.get_mut(&name)
            && instance.matches.remove(&id)
        {
            self.stale = true;
            self.instance_changed(&name);
        }
    }
}

/// Until when a match may wait for an instance.
fn hosted_until(coordinator: &Coordinator, id: MatchId) -> Timestamp {
    let hosted = coordinator.matches.get(&id);
    hosted.map_or(coordinator.now, |hosted| hosted.until)
}
