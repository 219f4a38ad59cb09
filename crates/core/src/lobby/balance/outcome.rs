//! The outcome of BALANCE: a game with the chosen teams, and how even they are.

use super::Balance;
use crate::{
    domain::{Ident, TeamChances},
    lobby::{
        Command, Decided, LastBalance, Lobby, LobbyError, Weights,
        bots::to_u32,
        decide::{bot_of_lineup, human_of_lineup},
        weights::counted_bot,
    },
};

/// The teams of a game after BALANCE, for the reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Balanced {
    /// The smaller team's weight over the larger's, 0 to 1.
    pub ratio: f64,
    /// The predicted chance that team 0 wins, 0 to 1; `None` without a prediction.
    pub chance: Option<f64>,
    /// The seed of the choice.
    pub seed: u64,
    /// Each human's team, in JOIN order.
    pub humans: Vec<(Ident, u8)>,
    /// The number of bots to add to each team.
    pub bots: Vec<u32>,
}

impl Lobby {
    /// Puts the humans on the teams that BALANCE chose. Where chances have decided, the chance that is told is the one
    /// by which these teams were chosen.
    ///
    /// # Errors
    /// Fails if there is no game, if it has no teams, or fewer teams than the answer.
    pub fn follow(
        &mut self,
        decided: &Decided<Balance>,
        weights: &dyn Weights,
    ) -> Result<Balanced, LobbyError> {
        let (seed, team_of) = (decided.seed, decided.answer.team_of.clone());
        self.change(Command::Assign { team_of })?;
        self.watch(weights);
        let mut problem = decided.question.problem.clone();
        for (human, &team) in problem.view.humans.iter_mut().zip(&decided.answer.team_of) {
            human.team = Some(team);
        }
        self.change(Command::Balanced(LastBalance::of(&problem)))?;
        let bots = self.bots()?.per_team;
        let mut told = self.team_chances(weights, &self.expected_bots()?)?;
        // A team without players has no chance that could be predicted.
        let predicted = decided.answer.chance.filter(|_| !told.win.is_empty());
        if let Some(chance) = predicted {
            told.win = vec![chance, 1.0 - chance];
        }
        let chance = told.of_first();
        self.change(Command::Chances(told))?;
        let roster = &self.team_game()?.roster;
        let placed = roster.humans().iter().zip(&decided.answer.team_of);
        Ok(Balanced {
            ratio: decided.answer.ratio,
            chance,
            seed,
            humans: placed
                .map(|(human, &team)| (human.id.clone(), team))
                .collect(),
            bots,
        })
    }

    /// The bots on each team, once those that are expected have come and the others gone; where none are
    /// expected, those that are there.
    fn expected_bots(&self) -> Result<Vec<u32>, LobbyError> {
        if self.expected_fill()?.on {
            return Ok(self.bots()?.per_team);
        }
        Ok(self.team_game()?.team_sizes(self.teams()).bots)
    }

    /// The sizes of the teams, and the chance of each to win, with bots that are on a team and stay, and with
    /// average ones for those that will be added. The lineup has the names of the most typical known bots for these,
    /// one for each team in turn. `bots` is the number of bots on each team then.
    pub(in crate::lobby) fn team_chances(
        &self,
        weights: &dyn Weights,
        bots: &[u32],
    ) -> Result<TeamChances, LobbyError> {
        let roster = &self.game()?.roster;
        let mut teams = vec![Vec::new(); bots.len()];
        let mut strengths = vec![0.0; bots.len()];
        let mut view = self.view(weights)?;
        view.chance = self.chance_model(weights, &self.lineup()?)?;
        for (at, human) in roster.humans().iter().enumerate() {
            let team = human.team.map(usize::from);
            let Some(team) = team.filter(|&team| team < teams.len()) else {
                continue;
            };
            teams[team].push(human_of_lineup(roster, human));
            strengths[team] += view.counted(at).strength;
        }
        let humans = teams.iter().map(|team| to_u32(team.len())).collect();
        let mut missing: Vec<usize> = bots.iter().map(|bots| *bots as usize).collect();
        for bot in roster.bots() {
            let team = usize::from(bot.team);
            if let Some(left) = missing.get_mut(team).filter(|left| **left > 0) {
                *left -= 1;
                teams[team].push(bot_of_lineup(bot.name.text()));
                strengths[team] += counted_bot(weights, bot.name.text()).strength;
            }
        }
        // As BALANCE counts them.
        let next = self.next_bot(weights)?.strength;
        let mut typical = self.typical_bots(weights)?;
        for place in 0..missing.iter().copied().max().unwrap_or(0) {
            for team in (0..teams.len()).filter(|&team| missing[team] > place) {
                let name = typical.next().unwrap_or("");
                strengths[team] += next;
                teams[team].push(bot_of_lineup(name));
            }
        }
        let mut told = TeamChances {
            win: weights.chances(&teams, &strengths),
            humans,
            bots: bots.to_vec(),
        };
        if !told.is_sound() {
            told.win.clear();
        }
        Ok(told)
    }
}
