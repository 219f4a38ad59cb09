//! The ways to choose teams in a simulated game.

use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::Serialize;

use super::{odds::World, world::below};
use crate::{
    config::{Config, RulesPreset},
    lobby::{Command, Update},
    model::Ident,
    partition::Objective,
    session::{Session, SessionError},
};

/// A way to choose teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Policy {
    /// Shuffle the humans into teams of equal size; late arrivals join the smaller team
    Random,
    /// Assign the humans to the teams in turn, strongest first; late arrivals join the smaller team
    Alternate,
    /// Use BALANCE, and PLACE for late arrivals
    Exact,
    /// Use BALANCE and PLACE, and let auto-balance move humans who die
    AutoBalance,
    /// Use BALANCE and PLACE, and make the moves that REBALANCE advises every minute
    Rebalance,
    /// Use BALANCE and PLACE with the true strengths: the benefit of perfect learning
    Known,
}

impl Policy {
    pub(crate) const ALL: [Self; 6] = [
        Self::Random,
        Self::Alternate,
        Self::Exact,
        Self::AutoBalance,
        Self::Rebalance,
        Self::Known,
    ];

    /// The name of the policy in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Alternate => "alternate by weight",
            Self::Exact => "exact",
            Self::AutoBalance => "exact, auto-balance",
            Self::Rebalance => "exact, REBALANCE",
            Self::Known => "exact, all known",
        }
    }

    /// The configuration, with auto-balance only where it is part of the policy, and bots only where
    /// there are some. Where all strengths are known, the objective is the one that is exact in this world.
    pub(super) fn configure(self, config: &Config, world: World, bots: usize) -> Config {
        let mut config = config.clone();
        config.lobby.bots &= bots > 0;
        if self == Self::Known {
            config.balance.partition.objective = match world {
                World::Ratio => Objective::Ratio,
                World::Logistic => Objective::Chance,
            };
        }
        let rules = &mut config.auto_balance.rules;
        *rules = match (self, *rules) {
            (Self::AutoBalance, RulesPreset::Off) => RulesPreset::SectorsEdge,
            (Self::AutoBalance, rules) => rules,
            _ => RulesPreset::Off,
        };
        config
    }

    /// Whether BALANCE and PLACE choose the teams.
    fn asks(self) -> bool {
        !matches!(self, Self::Random | Self::Alternate)
    }

    /// Chooses teams for these humans, who have joined, and returns the teams in the same order.
    pub(super) async fn choose(
        self,
        session: &mut Session,
        ids: &[Ident],
        seed: u64,
    ) -> Result<Vec<u8>, SessionError> {
        if self.asks() {
            let balanced = session.balance(None, Some(seed)).await?;
            return Ok(balanced.humans.into_iter().map(|(_, team)| team).collect());
        }
        let order = match self {
            Self::Alternate => {
                // Unknown humans have equal weights, so shuffle them first.
                let weight = |at: usize, session: &mut Session| {
                    Ok::<_, SessionError>((at, session.player(&ids[at])?.unwrap_or(50.0)))
                };
                let order = shuffled(ids.len(), seed).into_iter();
                let weights = order.map(|at| weight(at, session));
                let mut weights = weights.collect::<Result<Vec<_>, _>>()?;
                weights.sort_by(|(_, a), (_, b)| b.total_cmp(a));
                weights.into_iter().map(|(at, _)| at).collect()
            }
            _ => shuffled(ids.len(), seed),
        };
        let mut teams = vec![0; ids.len()];
        for (rank, at) in order.into_iter().enumerate() {
            teams[at] = (rank % 2) as u8;
            session.apply(&Command::Move {
                id: ids[at].clone(),
                team: teams[at],
            })?;
        }
        Ok(teams)
    }

    /// Chooses the team of a late arrival; `sizes` are the numbers of humans on the teams.
    pub(super) fn place(
        self,
        session: &mut Session,
        id: &Ident,
        sizes: [usize; 2],
        seed: u64,
    ) -> Result<u8, SessionError> {
        if self.asks() {
            session.apply(&join(id, None))?;
            return Ok(session.place(id, Some(seed))?.team);
        }
        let team = match sizes[0].cmp(&sizes[1]) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Greater => 1,
            std::cmp::Ordering::Equal => (seed % 2) as u8,
        };
        session.apply(&join(id, Some(team)))?;
        Ok(team)
    }
}

/// JOIN, with or without a team.
pub(super) fn join(id: &Ident, team: Option<u8>) -> Command {
    Command::Join {
        id: id.clone(),
        update: Update {
            team,
            ..Update::default()
        },
    }
}

fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut draw = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, below(&mut draw, last + 1));
    }
    order
}
