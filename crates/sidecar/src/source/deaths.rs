//! Deaths that may be taken back: a server of Counter-Strike can restore an earlier round, and what was played since then
//! does not count.

use crate::{follower::FollowedServer, logged::ConnectionKey};
use evenkeel_protocol::Request;

/// How long a suicide waits, in milliseconds: with a restore of Counter-Strike, everybody dies a moment before the line that
/// says so, whose time may be that of the next second.
const RESTORE_LAG: u64 = 2_000;
/// The most suicides that wait. A real server has fewer players.
const MOST_SUICIDES: usize = 128;
/// The most deaths of a match that wait for its end. A real match has fewer.
const MOST_DEATHS: usize = 20_000;

/// The deaths of one round.
#[derive(Debug)]
struct Round {
    /// The scores with which it began.
    scores: [f64; 2],
    deaths: Vec<Request>,
}

/// The deaths that the daemon has not been sent yet.
#[derive(Debug, Default)]
pub(super) struct HeldDeaths {
    /// Suicides after which nobody was moved yet, each with its time in the log and that of the sidecar: they may be those of
    /// a restore.
    suicides: Vec<(u64, u64, ConnectionKey)>,
    /// The rounds of the match, which has a line for its end.
    rounds: Vec<Round>,
    count: usize,
}

impl HeldDeaths {
    /// Forgets everything: what was played before does not count.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Holds a death until the match is over.
    pub(super) fn hold(&mut self, death: Request, server: &mut FollowedServer) {
        match self.rounds.last_mut() {
            Some(round) if self.count < MOST_DEATHS => {
                self.count += 1;
                round.deaths.push(death);
            }
            _ => server.count(death),
        }
    }

    /// A round begins with these scores.
    pub(super) fn round_started(&mut self, scores: [f64; 2]) {
        if self.rounds.len() < MOST_DEATHS {
            let deaths = Vec::new();
            self.rounds.push(Round { scores, deaths });
        }
    }

    /// An earlier round is restored: the one that was `running` does not count.
    pub(super) fn reloaded(&mut self, running: bool) {
        self.suicides.clear();
        if running && let Some(last) = self.rounds.len().checked_sub(1) {
            self.take_back(last);
        }
    }

    /// The round that began with these scores is played again.
    pub(super) fn restored(&mut self, scores: [f64; 2]) {
        let began = |round: &Round| round.scores == scores;
        if let Some(at) = self.rounds.iter().rposition(began) {
            self.take_back(at);
        }
    }

    /// Takes back what was played since this round began.
    fn take_back(&mut self, at: usize) {
        self.rounds.truncate(at + 1);
        if let Some(round) = self.rounds.last_mut() {
            round.deaths.clear();
        }
        self.count = self.rounds.iter().map(|round| round.deaths.len()).sum();
    }

    /// The match is over: sends its deaths.
    pub(super) fn send(&mut self, server: &mut FollowedServer) {
        for death in self.rounds.drain(..).flat_map(|round| round.deaths) {
            server.count(death);
        }
        self.count = 0;
    }

    /// Holds a suicide, after which somebody may be moved.
    pub(super) fn suicide(
        &mut self,
        victim: ConnectionKey,
        in_log: u64,
        server: &mut FollowedServer,
    ) {
        match self.suicides.len() < MOST_SUICIDES {
            true => self.suicides.push((in_log, server.now(), victim)),
            false => server.death(&victim),
        }
    }

    /// Sends the suicides that no restore has taken back in time.
    pub(super) fn pass(&mut self, in_log: u64, server: &mut FollowedServer) {
        let now = server.now();
        let lasts = |(logged, read, _): &(u64, u64, ConnectionKey)| {
            let passed = in_log
                .saturating_sub(*logged)
                .max(now.saturating_sub(*read));
            passed < RESTORE_LAG
        };
        let (wait, due): (Vec<_>, Vec<_>) = self.suicides.drain(..).partition(lasts);
        self.suicides = wait;
        for (_, _, victim) in due {
            server.death(&victim);
        }
    }
}
