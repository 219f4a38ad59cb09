//! The ways to choose teams in a simulated game. One of them knows all strengths: a second lobby shows what BALANCE
//! and PLACE choose with perfect knowledge.

use std::{collections::HashMap, time::Instant};

use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde::Serialize;

use super::world::{self, TrueStrengths, World, WorldSettings, below, wins_per_goal};
use crate::{
    config::{Config, RulesPreset},
    lobby::{BotWeight, Command, Lobby, Update, Weights},
    model::{Company, Crowding, Ident, LineupPlayer, Link, WinModel},
    partition::Objective,
    session::{BalanceSettings, Session, SessionError},
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

/// A lobby that is told what the session's is, and answers by the true strengths.
pub(super) struct KnownLobby {
    lobby: Lobby,
    balance: BalanceSettings,
    truth: Truth,
}

impl KnownLobby {
    pub(super) fn new(
        config: &Config,
        settings: &WorldSettings,
        people: &TrueStrengths,
    ) -> Result<Self, SessionError> {
        let mut lobby = Lobby::new(config.lobby());
        lobby.apply(&Command::DeclareBots { acts: true }, 0)?;
        Ok(Self {
            lobby,
            balance: config.balance.clone(),
            truth: Truth::of(settings, people),
        })
    }

    /// Passes on a command that the session gets at this millisecond.
    pub(super) fn send(&mut self, command: &Command, now: u64) -> Result<(), SessionError> {
        Ok(self.lobby.apply(command, now)?)
    }

    /// Answers BALANCE: the teams of the humans, in the order in which they joined.
    pub(super) fn balance(&mut self, seed: u64) -> Result<Vec<u8>, SessionError> {
        let BalanceSettings {
            partition,
            limits,
            deadline_ms,
            ..
        } = &self.balance;
        let deadline = Instant::now() + deadline_ms.duration();
        let question = self
            .lobby
            .balance(&self.truth, *limits, partition.clone())?;
        let decided = question.decide(seed, &mut || Instant::now() >= deadline)?;
        let balanced = self.lobby.follow(&decided, &self.truth)?;
        Ok(balanced.humans.into_iter().map(|(_, team)| team).collect())
    }

    /// Answers PLACE.
    pub(super) fn place(&mut self, id: &Ident, seed: u64) -> Result<u8, SessionError> {
        Ok(self.lobby.place(id, &self.truth, seed)?.answer.team)
    }
}

/// The true strengths, in place of learned ones.
struct Truth {
    humans: HashMap<String, BotWeight>,
    bots: HashMap<String, BotWeight>,
    mean_bot: BotWeight,
    /// How strengths become chances to win; `None` where the ratio of the weights says it exactly.
    win_model: Option<WinModel>,
}

impl Truth {
    fn of(settings: &WorldSettings, people: &TrueStrengths) -> Self {
        let all = people.humans.iter().chain(&people.bots);
        let most = all.copied().fold(f64::NEG_INFINITY, f64::max);
        // The strongest player weighs 100.
        let known = |strength: f64| BotWeight {
            weight: 100.0 * libm::exp(strength - most),
            strength,
            in_mean: true,
        };
        let table = |name: fn(usize) -> Ident, strengths: &[f64]| {
            let named = strengths.iter().enumerate();
            let named = named.map(|(at, &strength)| (name(at).text().to_owned(), known(strength)));
            named.collect()
        };
        let mean = |of: fn(&BotWeight) -> f64| {
            let bots = people.bots.iter().map(|&strength| of(&known(strength)));
            bots.sum::<f64>() / people.bots.len().max(1) as f64
        };
        Self {
            humans: table(world::human, &people.humans),
            bots: table(world::bot, &people.bots),
            mean_bot: BotWeight {
                weight: mean(|bot| bot.weight),
                strength: mean(|bot| bot.strength),
                in_mean: true,
            },
            win_model: win_model(settings),
        }
    }
}

/// The true win model of the logistic world: its log odds of a goal, converted to log odds to win. That is
/// exact to the first order; as both grow together, it orders splits exactly.
fn win_model(settings: &WorldSettings) -> Option<WinModel> {
    /// The strength of a unit: the usual standard deviation between humans. It only scales what it
    /// costs if the teams' best players or their spreads differ.
    const UNIT: f64 = 0.5;
    let wins = wins_per_goal(settings.goals_per_game());
    let win_model = WinModel {
        link: Link::Logistic,
        per_strength: wins * settings.sharpness,
        players: 1.0, // of any number
        crowding: Crowding::None,
        per_head: 0.0,
        per_log_size: wins,
        side: 0.0,
        unit: UNIT,
        deviation: 0.0,
        company: Company::default(),
    };
    // It is not sound if strengths decide nothing: with `--sharpness 0`.
    let is_logistic = settings.kind == World::Logistic;
    Some(win_model).filter(|win_model| is_logistic && win_model.is_sound())
}

impl Weights for Truth {
    fn human(&self, id: &str) -> f64 {
        self.humans.get(id).map_or(0.0, |human| human.weight)
    }

    fn bot(&self, name: &str) -> Option<BotWeight> {
        self.bots.get(name).copied()
    }

    fn mean_bot(&self) -> (f64, usize) {
        (self.mean_bot.weight, self.bots.len())
    }

    fn human_strength(&self, id: &str) -> f64 {
        self.humans.get(id).map_or(0.0, |human| human.strength)
    }

    fn human_deviation(&self, _id: &str) -> Option<f64> {
        Some(0.0)
    }

    fn mean_bot_strength(&self) -> f64 {
        self.mean_bot.strength
    }

    fn win_model(&self, _teams: &[Vec<LineupPlayer>]) -> Option<WinModel> {
        self.win_model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::TeamLoad, simulate::season::world::WorldSide};

    fn logistic() -> WorldSettings {
        WorldSettings {
            kind: World::Logistic,
            sharpness: World::Logistic.usual_sharpness(),
            ..WorldSettings::default()
        }
    }

    #[test]
    fn the_win_model_orders_splits_as_the_world_does() {
        let settings = logistic();
        let win_model = win_model(&settings).unwrap();
        let edge = |strengths: [f64; 2], heads: [usize; 2]| {
            let load = |at: usize| TeamLoad {
                heads: heads[at],
                strength: strengths[at],
            };
            win_model.edge_of_first(load(0), load(1))
        };
        let goal = |strengths: [f64; 2], heads: [usize; 2]| {
            let side = |at: usize| {
                let mut side = WorldSide::default();
                (0..heads[at]).for_each(|_| side.add(strengths[at] / heads[at] as f64, 1.0));
                side
            };
            settings
                .kind
                .next_goal(settings.sharpness, [side(0), side(1)])
        };
        let wins = wins_per_goal(settings.goals_per_game());
        for strengths in [[0.0, 0.0], [1.0, -0.5], [-3.0, 2.0], [9.0, 0.0]] {
            for heads in [[5, 5], [4, 5], [3, 1]] {
                let chance = goal(strengths, heads);
                let log_odds = (chance / (1.0 - chance)).ln();
                assert!((edge(strengths, heads) - wins * log_odds).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn no_strength_is_too_large_for_the_truth() {
        let settings = logistic();
        let people = TrueStrengths {
            humans: vec![-4.0, 6.0],
            bots: vec![0.5, -0.1],
        };
        let truth = Truth::of(&settings, &people);
        let strength = |at: usize| truth.human_strength(world::human(at).text());
        assert_eq!([strength(0), strength(1)], [-4.0, 6.0]);
        assert_eq!(truth.bot(world::bot(1).text()).unwrap().strength, -0.1);
        assert!((truth.mean_bot_strength() - 0.2).abs() < 1e-12);
        assert!(truth.win_model(&[]).is_some());
        let ratio = Truth::of(&WorldSettings::default(), &people);
        assert_eq!(ratio.win_model(&[]), None);
        let weight = |at: usize| ratio.human(world::human(at).text());
        assert_eq!(weight(1), 100.0);
        assert!((weight(1) / weight(0)).ln() - 10.0 < 1e-9);
        let none = WorldSettings {
            sharpness: 0.0,
            ..settings
        };
        assert_eq!(win_model(&none), None);
    }
}
