//! A lobby of eight of the bots: the teams picked for it, and all possible divisions.

use super::{CliError, RULESET};
use crate::{
    config::Config,
    learning::Standings,
    model::{Kind, LineupPlayer, Outlook, PlayerKey, Ruleset, SAME_CHANCE},
    partition::{
        self, ChanceModel, GameView, HumanInGame, Objective, Problem, ProblemSpec, Solution,
    },
    server::Service,
    store::WeightRow,
};

/// The eight players: two of each skill except the middle one, in no particular order.
const PLAYERS: [&str; 8] = [
    "Jenna", "Sarge", "Penguin", "Tony", "Neko", "Grunt", "Beret", "Rai",
];

/// The map, which is not one of those that the matches were played on.
const MAP: &str = "";

/// The seed of the pick.
const SEED: u64 = 2;

/// A lobby with the teams picked for it.
pub(super) struct PickedTeams {
    pub(super) problem: Problem,
    pub(super) solution: Solution,
    /// The predicted chance that team 0 of the picked teams wins.
    pub(super) chance: f64,
    /// For each way to put four players on each team, the chance that the stronger team wins; ascending.
    pub(super) all: Vec<f64>,
}

impl PickedTeams {
    /// Picks teams as the daemon does with the default configuration: by the chances that follow from the
    /// strengths just learned.
    ///
    /// # Errors
    /// Fails if the lobby is not a valid problem.
    pub(super) fn choose(
        service: &Service,
        config: &Config,
        weights: &[WeightRow],
    ) -> Result<Self, CliError> {
        let balance = &config.balance;
        let weight = |name: &str| {
            let row = weights.iter().find(|row| row.key.id == name);
            row.map_or(balance.default_weight.get(), |row| row.weight)
        };
        let rulebook = service.learning().rulebook();
        let ruleset = rulebook.ruleset(RULESET, &[] as &[String]);
        let standings = service.learning().standings();
        let mut settings = balance.partition.clone();
        let spec = ProblemSpec {
            view: GameView {
                humans: PLAYERS
                    .map(|name| HumanInGame::new(name, weight(name)))
                    .to_vec(),
                chance: model(&standings, &ruleset),
                ..GameView::default()
            },
            doubt: Some(SAME_CHANCE),
            ..ProblemSpec::default()
        };
        if spec.view.chance.is_none() {
            settings.objective = Objective::Ratio;
        }
        let problem = Problem::new(spec).map_err(CliError::input)?;
        // Eight players take microseconds, so no time limit is needed.
        let solution =
            partition::solve(&problem, &settings, SEED, &mut || false).map_err(CliError::input)?;
        let chance = |team_of: &[u8]| {
            let teams = [0, 1].map(|team| members(team_of, team));
            standings.chance(&ruleset, MAP, &teams).unwrap_or(0.5)
        };
        let mut all: Vec<f64> = divisions()
            .map(|team_of| chance(&team_of))
            .map(|chance| chance.max(1.0 - chance))
            .collect();
        all.sort_by(f64::total_cmp);
        Ok(Self {
            chance: chance(&solution.team_of),
            problem,
            solution,
            all,
        })
    }
}

/// The strengths of the players; `None` if nothing has been learned that predicts a chance.
fn model(standings: &Standings, ruleset: &Ruleset) -> Option<ChanceModel> {
    let view = standings.view(ruleset);
    let teams = [0, 1].map(|team| members(&[0, 1, 0, 1, 0, 1, 0, 1], team));
    let outlook = standings.reading(ruleset, MAP, &teams)?.outlook;
    let strength = |name| view.strength(Kind::Bot, name).unwrap_or(0.0);
    Some(outlook)
        .filter(Outlook::is_sound)
        .map(|outlook| ChanceModel {
            outlook,
            humans: PLAYERS.map(strength).to_vec(),
            bots: Vec::new(),
            next_bot: 0.0,
            doubts: Vec::new(),
            party_multiplier: Vec::new(),
        })
}

/// The keys of the bots on a team.
fn members(team_of: &[u8], team: u8) -> Vec<LineupPlayer> {
    let on_it = PLAYERS.iter().zip(team_of).filter(|(_, on)| **on == team);
    let key = |name: &&str| PlayerKey {
        kind: Kind::Bot,
        id: (*name).to_owned(),
    };
    on_it.map(|(name, _)| key(name).into()).collect()
}

/// All ways to put four players on each team. Those that differ only in which team is which count twice,
/// because one side of a map can be easier to win on.
fn divisions() -> impl Iterator<Item = [u8; PLAYERS.len()]> {
    let half = PLAYERS.len() as u32 / 2;
    let masks = (0u32..1 << PLAYERS.len()).filter(move |mask| mask.count_ones() == half);
    masks.map(|mask| std::array::from_fn(|player| u8::from(mask >> player & 1 == 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_players_are_divided_in_70_ways() {
        assert_eq!(divisions().count(), 70);
        for team_of in divisions() {
            assert_eq!([0, 1].map(|team| members(&team_of, team).len()), [4, 4]);
        }
    }
}
