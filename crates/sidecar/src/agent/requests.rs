//! What the daemon sends: replies, errors, and the matches that it wants hosted.

use super::{Act, Agent, AgentMatch, HostEngine, hosted::AgentStage, link::Refusable};
use crate::link::recorded_text;
use evenkeel_model::Ident;
use evenkeel_protocol::{
    Code, HostNotice, HostRequest, HostSession, Push, Refusal, Reply, Request,
};

impl<E: HostEngine> Agent<E> {
    pub(super) fn take_reply(&mut self, reply: Reply, now: u64, acts: &mut Vec<Act>) {
        match reply {
            Reply::Hello { resumed, .. } => {
                self.link.greet();
                self.has_game = resumed == Some(true);
                if self.stage() == Some(AgentStage::Playing) && !self.has_game {
                    self.report("the daemon has lost the game: ingest its log", acts);
                    self.leave(now, acts);
                }
                self.start_again(acts);
            }
            Reply::Pong => self.answered(),
            Reply::End { id, unrated } => {
                acts.push(Act::Report(recorded_text(id, unrated)));
                if self.stage() == Some(AgentStage::Over) {
                    self.leave(now.saturating_add(self.settings.intermission), acts);
                }
            }
            Reply::Error(refusal) => self.refused(&refusal, now, acts),
            _ => {}
        }
    }

    /// A daemon that is killed may have noted that play begins, and not have the START. In play, it refuses another one.
    fn start_again(&mut self, acts: &mut Vec<Act>) {
        if let Some(hosted) = &self.hosted
            && hosted.stage == AgentStage::Playing
            && hosted.start_unanswered
        {
            let again = Refusable::StartAgain(hosted.id);
            self.link.send_checked(Request::Start, again, acts);
        }
    }

    /// Handles PONG, which says that a request was answered.
    fn answered(&mut self) {
        if let Some(Refusable::Start(id) | Refusable::StartAgain(id)) = self.link.pong()
            && let Some(hosted) = self.hosted.as_mut().filter(|hosted| hosted.id == id)
        {
            hosted.start_unanswered = false;
        }
    }

    /// Handles an error: drops the match if the daemon does not want it hosted here any more.
    fn refused(&mut self, refusal: &Refusal, now: u64, acts: &mut Vec<Act>) {
        self.report(&format!("the daemon refused a request: {refusal}"), acts);
        let current = self.hosted.as_ref().map(|hosted| hosted.id);
        match self.link.refused() {
            Refusable::Ready(id) | Refusable::Start(id) if current == Some(id) => {
                self.leave(now, acts);
            }
            // A match that is only kept so far is recorded later: END is sent again.
            Refusable::End(id) if current == Some(id) && refusal.code != Code::Internal => {
                self.leave(now.saturating_add(self.settings.intermission), acts);
            }
            _ => {}
        }
    }

    pub(super) fn take_push(&mut self, push: &Push, now: u64, acts: &mut Vec<Act>) {
        match self.pushes.push(push) {
            Ok(Some(HostNotice::Session(session))) => self.take_session(session, now, acts),
            Ok(Some(HostNotice::Close { id, why })) => {
                let current = self.hosted.as_ref().map(|hosted| hosted.id);
                if current == Some(id) && self.stage() != Some(AgentStage::Over) {
                    self.report(&format!("match {id} is closed: {why}"), acts);
                    self.leave(now, acts);
                }
            }
            Ok(_) => {}
            Err(refusal) => self.report(&format!("the daemon sent nonsense: {refusal}"), acts),
        }
    }

    fn take_session(&mut self, session: HostSession, now: u64, acts: &mut Vec<Act>) {
        self.confirm_by = None;
        let id = session.id;
        if let Some(hosted) = self.hosted.as_mut().filter(|hosted| hosted.id == id) {
            // START has not reached the daemon, or nothing has that was sent on the last connection.
            if hosted.is_kept() {
                acts.push(Act::Keep(None));
            }
            hosted.renew(session, &self.settings);
            hosted.reopen();
            hosted.confirmed = true;
            return;
        }
        if let Some(hosted) = &self.hosted {
            let text = format!("match {} is dropped for match {id}", hosted.id);
            self.report(&text, acts);
            self.leave(now, acts);
        }
        match AgentMatch::of(session, &self.settings, self.seen.map()) {
            Ok(hosted) => {
                let (players, map) = (hosted.seats.len(), &hosted.map);
                let text = format!("match {id}: {players} players on {map}");
                self.report(&text, acts);
                self.seen.forget_players();
                (self.hosted, self.clear_at) = (Some(hosted), None);
            }
            Err(reason) => self.send_refusal(id, &reason, acts),
        }
    }

    /// Gives the match to another instance, before START.
    pub(super) fn refuse(&mut self, reason: &str, now: u64, acts: &mut Vec<Act>) {
        if let Some(hosted) = &self.hosted {
            self.send_refusal(hosted.id, reason, acts);
            self.leave(now, acts);
        }
    }

    pub(super) fn send_refusal(&mut self, id: i64, reason: &str, acts: &mut Vec<Act>) {
        self.report(&format!("match {id} is refused: {reason}"), acts);
        let reason = Ident::from_text(reason);
        let refuse = HostRequest::Refuse { id, reason };
        self.link.send(Request::Host(refuse), acts);
    }
}
