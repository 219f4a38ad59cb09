//! What is done when it is due.

use super::{Lifecycle, Reason, Stage, State, Why, clocks::Due, millis};
use evenkeel_model::{Timestamp, record::MatchId};

impl Lifecycle {
    /// Moves the time forward to `now` and does everything that is due: tickets expire, ready checks end, matches
    /// leave instances that do not answer, and what was kept for a day is removed. An earlier time changes
    /// nothing.
    pub fn at(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        while let Some((at, _)) = self.due.first()
            && *at <= self.now
            && let Some((_, due)) = self.due.pop_first()
        {
            match due {
                Due::Match(id) => self.match_is_due(id),
                Due::Ticket(number) => match self.tickets.get(&number).map(|one| one.state) {
                    Some(State::Queued) => self.become_state(number, State::Expired, Reason::None),
                    Some(state) if state.is_final() => self.forget(number),
                    _ => {}
                },
                Due::Instance(name) => self.instance_is_due(&name),
                Due::Expected(id) => self.expected_are_due(id),
                Due::Allocate => self.stale = true,
            }
        }
    }

    fn match_is_due(&mut self, id: MatchId) {
        let Some(one) = self.matches.get(id) else {
            return;
        };
        match one.stage {
            Stage::Proposed => self.check_is_over(id),
            Stage::Formed => {}
            Stage::Reserved => self.fail(id, Why::NoInstance),
            Stage::Opening | Stage::Ready => {
                self.close(id, Why::Silent);
                self.leave_instance(id, Why::Silent);
            }
            Stage::Joining => {
                self.close(id, Why::NotStarted);
                self.fail(id, Why::NotStarted);
            }
            Stage::Playing => {
                let why = match one.parted {
                    Some(_) => Why::Lost,
                    None => Why::TooLong,
                };
                self.close(id, why);
                self.fail(id, why);
            }
            Stage::Over | Stage::Failed => self.forget_hosting(id),
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
            self.remove_instance(name);
        }
    }
}
