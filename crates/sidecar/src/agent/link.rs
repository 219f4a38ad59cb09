//! The agent's connection to the daemon: what was sent on it, and which request an error refuses.

use std::collections::VecDeque;

use super::{Act, AgentSettings};
use crate::link::{DaemonLink, HEARTBEAT, ServerName};
use evenkeel_protocol::{HostRequest, Request};

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
