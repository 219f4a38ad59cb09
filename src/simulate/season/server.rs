//! A simulated game server, which sends its session commands.

use std::sync::Arc;

use super::{
    known::KnownLobby,
    policy::{Policy, join},
    world::{TrueStrengths, WorldSettings},
};
use crate::{
    lobby::Command,
    model::{Ident, LeaveReason},
    session::{Clock, HandClock, Session, SessionError},
};

/// The result of one game.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameOutcome {
    pub(super) scores: [f64; 2],
    /// The stronger team's chance to score the next goal, as the mean over the game; ½ is even.
    pub(super) favourite: f64,
    /// The chance that team 0 wins, given that the game is not a tie, by the true strengths at the
    /// start.
    pub(super) chance: f64,
    /// Number of humans moved during play.
    pub(super) moves: usize,
    /// The time that humans played, in milliseconds, summed over all.
    pub(super) played: u64,
}

/// A simulated game server during a game.
pub(super) struct SimServer<'a> {
    pub(super) session: &'a mut Session,
    pub(super) clock: &'a Arc<HandClock>,
    pub(super) policy: Policy,
    /// Chooses the teams if all strengths are known.
    pub(super) known: Option<&'a mut KnownLobby>,
    pub(super) settings: &'a WorldSettings,
    pub(super) people: &'a TrueStrengths,
    /// The reason that LEAVE states for humans who leave because their team is behind.
    pub(super) quit_reason: LeaveReason,
}

impl SimServer<'_> {
    pub(super) fn tell(&mut self, command: &Command) -> Result<(), SessionError> {
        self.session.apply(command)?;
        if let Some(known) = &mut self.known {
            known.tell(command, self.clock.millis())?;
        }
        Ok(())
    }

    /// Chooses teams for the humans of a new game, who have joined.
    pub(super) async fn choose(
        &mut self,
        ids: &[Ident],
        seed: u64,
    ) -> Result<Vec<u8>, SessionError> {
        let Some(known) = &mut self.known else {
            return self.policy.choose(self.session, ids, seed).await;
        };
        let teams = known.balance(seed)?;
        for (id, &team) in ids.iter().zip(&teams) {
            let id = id.clone();
            self.session.apply(&Command::Move { id, team })?;
        }
        Ok(teams)
    }

    /// Chooses the team of a late arrival; `sizes` are the numbers of humans on the teams.
    pub(super) fn place(
        &mut self,
        id: &Ident,
        sizes: [usize; 2],
        seed: u64,
    ) -> Result<u8, SessionError> {
        let Some(known) = &mut self.known else {
            return self.policy.place(self.session, id, sizes, seed);
        };
        known.tell(&join(id, None), self.clock.millis())?;
        let team = known.place(id, seed)?;
        self.session.apply(&join(id, Some(team)))?;
        Ok(team)
    }
}
