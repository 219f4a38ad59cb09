//! One request over HTTP at the [`Gate`]: who sends it, what it may do, and how much of that is left. A client has
//! the same limits over HTTP as by lines, and shares them between both.

use std::{net::IpAddr, sync::Arc, time::Duration};

use super::gate::{Gate, GateState};
use crate::{
    model::{Right, Secret},
    protocol::Charge,
    server::access::{AddressKey, Allowance, Grant},
};

/// The sender of a request.
#[derive(Debug)]
pub struct Caller {
    gate: Arc<Gate>,
    state: Arc<GateState>,
    /// The client that it has proven to be; `None` without a token.
    grant: Option<Grant>,
    allowance: Option<Arc<Allowance>>,
}

impl Gate {
    /// The configured client with this token, if it may call from this address.
    pub fn bearer(self: &Arc<Self>, secret: &Secret, from: IpAddr) -> Option<Caller> {
        let state = self.state();
        let grant = state.policy.bearer(secret, from)?;
        Some(self.caller(state, grant))
    }

    /// The configured client that has once shown a token with this mark, if it still has that token and may call from
    /// this address.
    pub fn recall(self: &Arc<Self>, name: &str, mark: &[u8; 32], from: IpAddr) -> Option<Caller> {
        let state = self.state();
        let grant = state.policy.recall(name, mark, from)?;
        Some(self.caller(state, grant))
    }

    fn caller(self: &Arc<Self>, state: Arc<GateState>, grant: Grant) -> Caller {
        let client = grant.client.as_ref();
        Caller {
            allowance: client.and_then(|client| state.allowance(client)),
            gate: self.clone(),
            grant: Some(grant),
            state,
        }
    }

    /// A caller without a token. All from one address share its limits, those of this machine, too.
    pub fn stranger(self: &Arc<Self>, from: IpAddr) -> Caller {
        let key = AddressKey::of(from);
        let allowance = {
            let mut addresses = self.addresses.lock();
            let allowance = addresses.enter(key, 0, self.now());
            addresses.leave(key);
            allowance
        };
        Caller {
            gate: self.clone(),
            state: self.state(),
            grant: None,
            allowance,
        }
    }

    /// Counts a wrong token from this address. Returns how long its sender has to wait for the answer, so that
    /// guessing takes long. A right token never waits.
    ///
    /// # Errors
    /// Fails with the wait if it is too long, because others from there wait already.
    pub fn wrong_token(&self, from: IpAddr) -> Result<Duration, Duration> {
        let key = (AddressKey::of(from), None);
        let mut slowdown = self.slowdown.lock();
        let wait = slowdown.attempt(&key, self.now());
        let failures = slowdown.failed(&key, self.now());
        if failures.is_power_of_two() {
            tracing::warn!(%from, failures, "a wrong token over HTTP");
        }
        wait
    }
}

impl Caller {
    /// The configured name of the client; `None` without a token.
    pub fn name(&self) -> Option<&str> {
        let client = self.grant.as_ref()?.client.as_ref()?;
        Some(&client.name)
    }

    /// Whether it has this right.
    pub fn has(&self, right: Right) -> bool {
        let grant = self.grant.as_ref();
        grant.is_some_and(|grant| grant.rights.has(right))
    }

    /// Whether it may use the queues for this player.
    pub fn speaks_for(&self, player: &str) -> bool {
        let grant = self.grant.as_ref();
        let client = grant.and_then(|grant| grant.client.as_ref());
        client.is_some_and(|client| client.players.contains(player))
    }

    /// Counts `number` lines, decisions or reports against the limits.
    ///
    /// # Errors
    /// Fails with the time after which it may be tried again.
    pub fn count(&self, charge: Charge, number: usize) -> Result<(), Duration> {
        let Some(allowance) = &self.allowance else {
            return Ok(());
        };
        let (rates, now) = (&self.state.rates, self.gate.now());
        let (bucket, rate) = match charge {
            Charge::Line => (&allowance.lines, rates.lines),
            Charge::Decision => (&allowance.decisions, rates.decisions),
            Charge::Report => (&allowance.reports, rates.reports),
        };
        let Some(rate) = rate.filter(|_| number > 0) else {
            return Ok(());
        };
        bucket.take(now, rate)?;
        for _ in 1..number {
            // What is taken beyond the limit, later requests wait for.
            bucket.charge(now, rate);
        }
        Ok(())
    }
}
