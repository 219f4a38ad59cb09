//! The agent's connection to the daemon: what was sent on it, and what the daemon sends: replies, errors, and the
//! matches that it wants hosted.

use std::collections::VecDeque;

use evenkeel_model::ident::Ident;
use evenkeel_protocol::{
    Code, Push, Refusal, Reply, Request,
    push::{HostNotice, HostSession},
    request::HostRequest,
};

use super::{Act, Agent, AgentMatch, AgentSettings, HostEngine, hosted::AgentStage};
use crate::link::{DaemonLink, HEARTBEAT, ServerName, recorded_text};

/// The request that an error before the next PONG refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusable {
    /// A request without which the agent can go on.
    Other,
    /// INSTANCE.
    Instance,
    /// READY of this match.
    Ready(i64),
    /// START of this match.
    Start(i64),
    /// START of this match, which the daemon may have had before its connection was lost.
    StartAgain(i64),
    /// END of this match.
    End(i64),
}

/// The connection to the daemon. A PING follows every request whose refusal matters, and precedes it
/// if other requests were sent since the last one. So an error belongs to that request if it comes
/// before its PONG.
#[derive(Debug, Default)]
pub(super) struct AgentLink {
    link: DaemonLink,
    /// Whether the daemon has answered HELLO.
    greeted: bool,
    /// Whether INSTANCE was sent.
    pub(super) offered: bool,
    /// What each PONG that is still to come stands for.
    pongs: VecDeque<Refusable>,
    /// Whether a request was sent after the last PING.
    unpinged: bool,
    /// The load that was sent last.
    busy: Option<bool>,
}

impl AgentLink {
    /// Starts a connection: sends HELLO.
    pub(super) fn open(&mut self, settings: &AgentSettings, now: u64, acts: &mut Vec<Act>) {
        *self = Self::default();
        let name = ServerName {
            server: &settings.server,
            token: settings.token.as_deref(),
            // It hosts matches, and reports no others.
            source: None,
        };
        self.link.open(&name, [true, false, false], now, acts);
    }

    pub(super) fn close(&mut self) {
        *self = Self::default();
    }

    /// Handles the reply to HELLO.
    pub(super) fn greet(&mut self) {
        self.greeted = self.link.connected;
    }

    /// Whether requests can be sent.
    pub(super) fn is_up(&self) -> bool {
        self.greeted
    }

    /// Sends a request, if there is a connection.
    pub(super) fn send(&mut self, request: Request, acts: &mut Vec<Act>) {
        if self.greeted {
            self.unpinged = true;
            acts.push(Act::Send(request));
        }
    }

    /// Sends a request whose refusal matters.
    pub(super) fn send_checked(
        &mut self,
        request: Request,
        refusable: Refusable,
        acts: &mut Vec<Act>,
    ) {
        if !self.greeted {
            return;
        }
        if self.unpinged {
            self.ping(Refusable::Other, acts);
        }
        acts.push(Act::Send(request));
        self.ping(refusable, acts);
    }

    /// States once whether the instance hosts a match now.
    pub(super) fn state_load(&mut self, busy: bool, acts: &mut Vec<Act>) {
        if self.offered && self.busy.replace(busy) != Some(busy) {
            let load = HostRequest::Load(if busy { 1.0 } else { 0.0 });
            self.send(Request::Host(load), acts);
        }
    }

    fn ping(&mut self, refusable: Refusable, acts: &mut Vec<Act>) {
        self.pongs.push_back(refusable);
        self.unpinged = false;
        acts.push(Act::Send(Request::Ping));
    }

    /// Handles PONG. Returns the request that is answered with it.
    pub(super) fn pong(&mut self) -> Option<Refusable> {
        self.pongs.pop_front()
    }

    /// The request that an error refuses.
    pub(super) fn refused(&self) -> Refusable {
        self.pongs.front().copied().unwrap_or(Refusable::Other)
    }

    /// Sends PING if nothing was sent for a while; requests in `acts` count as sent.
    pub(super) fn keep_alive(&mut self, now: u64, acts: &mut Vec<Act>) {
        if self.greeted && self.link.is_silent(HEARTBEAT, now, acts) {
            self.ping(Refusable::Other, acts);
        }
    }
}

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
