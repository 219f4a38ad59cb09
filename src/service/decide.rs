//! Choosing teams: off the async threads, on as many cores as there are, and in time.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{Service, ServiceError, View};
use crate::{
    domain::Ident,
    lobby::{Human, Lobby},
    partition::{self, Bots, Problem, ProblemError, ProblemSpec},
};

/// What an admin decides about choosing teams.
#[derive(Clone, Debug)]
pub struct BalanceSettings {
    /// How many candidates, and how one is picked.
    pub partition: partition::Settings,
    /// The largest share of the humans on one team.
    pub max_share: f64,
    /// The largest difference of human counts, `None` for any.
    pub max_difference: Option<usize>,
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

/// The lobby as a problem: everybody with the weight they have in this game.
pub(super) fn problem(
    lobby: &Lobby,
    weights: &View,
    mean_bot: f64,
    settings: &BalanceSettings,
) -> Result<Problem, ServiceError> {
    let roster = lobby.game()?.roster.humans();
    let index: BTreeMap<&str, usize> = roster
        .iter()
        .enumerate()
        .map(|(at, human)| (human.id.text(), at))
        .collect();
    let human = |human: &Human| partition::Human {
        key: human.id.text().to_owned(),
        weight: weights
            .human(human.id.text())
            .unwrap_or(settings.default_weight),
        pin: human.pin.map(usize::from),
        current: human.team.map(usize::from),
        last: lobby.last_team(&human.id).map(usize::from),
    };
    let mut parties: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut avoid = Vec::new();
    for (at, human) in roster.iter().enumerate() {
        if let Some(party) = &human.party {
            parties.entry(party).or_default().push(at);
        }
        let others = human.avoid.iter().filter_map(|id| index.get(id.as_str()));
        avoid.extend(
            others
                .filter(|&&other| other != at)
                .map(|&other| (at, other)),
        );
    }
    let (min, max) = lobby.level()?;
    let bots = Bots {
        weight: mean_bot,
        min: min as usize,
        max: max as usize,
        target: lobby.wish() as usize,
    };
    Ok(Problem::new(ProblemSpec {
        humans: roster.iter().map(human).collect(),
        teams: usize::from(lobby.teams()),
        bots,
        max_share: settings.max_share,
        max_difference: settings.max_difference,
        parties: parties
            .into_values()
            .filter(|members| members.len() > 1)
            .collect(),
        avoid,
    })?)
}
