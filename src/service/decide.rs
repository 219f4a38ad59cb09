//! Choosing teams: off the async threads, on as many cores as there are, and in time.

use std::time::{Duration, Instant};

use super::{Service, ServiceError};
use crate::{
    domain::Ident,
    lobby::Limits,
    partition::{self, Problem, ProblemError},
};

/// What an admin decides about choosing teams.
#[derive(Clone, Debug)]
pub struct BalanceSettings {
    /// How many candidates, and how one is picked.
    pub partition: partition::Settings,
    /// How uneven in numbers teams may be.
    pub limits: Limits,
    /// What somebody unknown weighs.
    pub default_weight: f64,
    /// What a bot weighs where no bot is known.
    pub default_bot_weight: f64,
    /// For waiting and choosing together.
    pub deadline: Duration,
}

/// The teams chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Balanced {
    /// Smaller team over larger, 0 to 1.
    pub ratio: f64,
    /// The predicted chance that team 0 wins, where the rating system tells one.
    pub chance: Option<f64>,
    /// The seed of the pick.
    pub seed: u64,
    /// Each human's team, in JOIN order.
    pub humans: Vec<(Ident, u8)>,
    /// Bots per team.
    pub bots: Vec<u32>,
}

/// Why a decision was taken, a line each: names as they were sent, but nothing that ends a line.
pub(super) fn reasons(explanation: &partition::Explanation) -> Vec<String> {
    let clean = |line: &str| line.replace(|c: char| c.is_control(), "?");
    explanation.to_string().lines().map(clean).collect()
}

impl Service {
    /// Solves a problem on a thread of its own, when a core is free, and gives up at the deadline.
    pub(super) async fn solve(
        &self,
        problem: Problem,
        top: Option<usize>,
        seed: u64,
    ) -> Result<partition::Solution, ServiceError> {
        let deadline = Instant::now() + self.settings.balance.deadline;
        let waiting = self.cores.clone().acquire_owned();
        let core = tokio::time::timeout_at(deadline.into(), waiting).await;
        let Ok(Ok(core)) = core else {
            return Err(ServiceError::Overloaded);
        };
        let mut settings = self.settings.balance.partition.clone();
        settings.top = top.unwrap_or(settings.top);
        let solved = tokio::task::spawn_blocking(move || {
            let _core = core;
            let mut out_of_time = || Instant::now() >= deadline;
            partition::solve(&problem, &settings, seed, &mut out_of_time)
        });
        Ok(solved.await??)
    }
}

impl From<ProblemError> for ServiceError {
    fn from(error: ProblemError) -> Self {
        ServiceError::BadArgument(error.to_string())
    }
}
