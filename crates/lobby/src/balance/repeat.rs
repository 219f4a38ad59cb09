//! BALANCE that is asked for once more: whether its teams stay, and why they were chosen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Balance, BalanceAnswer};
use evenkeel_partition::{
    self as partition, HumanInGame, Problem, ProblemError, ProblemSpec, Settings, Solution,
    settings::Stay,
};

/// What a question has in common with the last BALANCE of the same game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// Other humans play, or some are not on the teams that it chose.
    #[default]
    Nothing,
    /// The same humans play, on the teams that it chose.
    Roster,
    /// The same humans, and all other inputs of the choice are the same, too.
    Everything,
    /// The game has come again: those who have stayed are on the chosen teams, others have come or gone.
    Again,
}

/// What a game remembers of the last BALANCE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastBalance {
    /// The digest of the problem, with the chosen teams as the current ones.
    problem: [u8; 16],
    /// The team of each human, by the human's key.
    chosen: BTreeMap<String, Option<u8>>,
    weaker_side: Option<u8>,
}

impl LastBalance {
    /// The problem that BALANCE solved, with the chosen teams as the current ones.
    pub fn of(problem: &ProblemSpec) -> Self {
        let humans = problem.view.humans.iter();
        Self {
            problem: digest(problem),
            chosen: humans.map(|one| (one.id.clone(), one.team)).collect(),
            weaker_side: problem.weaker_side(),
        }
    }

    /// The humans for whom it has chosen teams.
    pub(crate) fn humans(&self) -> impl Iterator<Item = &str> {
        self.chosen.keys().map(String::as_str)
    }

    /// The team that it has chosen for a human.
    pub(crate) fn team(&self, id: &str) -> Option<u8> {
        self.chosen.get(id).copied().flatten()
    }

    /// Whether these are the same humans, each on the chosen team.
    pub(crate) fn holds<'a>(
        &self,
        mut humans: impl ExactSizeIterator<Item = (&'a str, Option<u8>)>,
    ) -> bool {
        // Ids are unique, so equally many humans with known ids are the same humans.
        let same = humans.len() == self.chosen.len();
        same && humans.all(|(id, team)| {
            let chosen = self.chosen.get(id).copied().flatten();
            chosen.is_some() && chosen == team
        })
    }

    /// The team on the weaker side of the map, if the problem had one.
    pub(crate) fn weaker_side(&self) -> Option<u8> {
        self.weaker_side
    }
}

impl Repeat {
    /// Compares a problem with the last one. A human who has come back and is on no team is put on the chosen team, if
    /// the same humans play and all others are on theirs. If the game has come `again`, the same holds of those who have
    /// stayed, and all others are on no team yet.
    pub(super) fn of(last: &LastBalance, problem: &mut ProblemSpec, again: bool) -> Self {
        if last.problem == digest(problem) {
            return Self::Everything;
        }
        let chosen = &last.chosen;
        let stays = |human: &HumanInGame| {
            let team = chosen.get(&human.id);
            team.is_some_and(|team| human.team.is_none() || human.team == *team)
        };
        // Keys are unique, so equally many humans with known keys are the same humans.
        let same =
            problem.view.humans.len() == chosen.len() && problem.view.humans.iter().all(stays);
        let is_known = |human: &HumanInGame| chosen.contains_key(&human.id);
        let stand = again
            && problem.view.humans.iter().any(is_known)
            && problem
                .view
                .humans
                .iter()
                .all(|one| !is_known(one) || stays(one));
        if !same && !stand {
            return Self::Nothing;
        }
        for human in &mut problem.view.humans {
            human.team = chosen.get(&human.id).copied().flatten();
        }
        if same { Self::Roster } else { Self::Again }
    }
}

impl Balance {
    /// If the game has come again: the problem in which those who have stayed are on the teams that the last BALANCE
    /// chose, and only others are placed. `None` if a pin forbids that, or if people have gone, so that other teams are
    /// more even in number.
    pub(super) fn those_who_stay(&self) -> Option<ProblemSpec> {
        if self.repeat != Repeat::Again {
            return None;
        }
        let mut stand = self.problem.clone();
        stand.max_difference = Some(self.problem.least_difference());
        for human in &mut stand.view.humans {
            match (human.team, human.pin) {
                (Some(current), Some(pin)) if current != pin => return None,
                (current, pin) => human.pin = pin.or(current),
            }
        }
        // A party that the last BALANCE split stays split.
        stand.tear(|stand, party| {
            let team = |who: &usize| stand.view.humans[*who].pin;
            party.iter().all(|who| team(who) == team(&party[0]))
        });
        Problem::new(stand.clone()).is_ok().then_some(stand)
    }

    /// The problem, in which humans who are on one team with somebody whom they avoid are on no team now: else
    /// no team less even than the current ones would be a candidate, and they could not get away.
    pub(super) fn without_unwanted_company(&self) -> ProblemSpec {
        let mut problem = self.problem.clone();
        for &(one, other) in &self.problem.avoid {
            let team = |who: usize| self.problem.view.humans.get(who).map(|human| human.team);
            if team(one) == team(other)
                && let Some(human) = problem.view.humans.get_mut(one)
            {
                human.team = None;
            }
        }
        problem
    }

    /// The settings of the choice, in which the teams that the last BALANCE chose stay if this question repeats it.
    pub(super) fn with_stay(&self) -> Settings {
        let stay = match (self.repeat, self.problem.present()) {
            (Repeat::Roster, Some(present)) => Stay::IfAsGood(present),
            (Repeat::Everything, Some(present)) => Stay::Always(present),
            _ => Stay::Never,
        };
        Settings {
            stay,
            ..self.settings.clone()
        }
    }

    /// Places those who have come since.
    pub(super) fn with_newcomers(
        &self,
        stand: &ProblemSpec,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> Result<Solution, ProblemError> {
        let problem = Problem::new(stand.clone())?;
        let mut solution = partition::solve(&problem, &self.settings, seed, out_of_time)?;
        let open = Problem::new(self.without_unwanted_company())?;
        solution.explain_wishes(&open, &self.settings, seed, out_of_time);
        let key = |&who: &usize| stand.view.humans[who].id.clone();
        let torn = stand
            .torn
            .iter()
            .filter(|party| !self.problem.torn.contains(party));
        let given_up = &mut solution.given_up;
        given_up.extend(torn.map(|party| party.iter().map(key).collect()));
        Ok(solution)
    }

    /// Teams that were chosen before as a solution, which has the reasons, and the number of parties that are not
    /// together in them. Takes a few milliseconds at most; `None` if the teams do not fit the question.
    pub fn solution_of(&self, answer: &BalanceAnswer) -> Option<(Solution, usize)> {
        let team_of = &answer.team_of[..];
        let mut chosen = self.without_unwanted_company();
        if chosen.view.humans.len() != team_of.len() || chosen.check().is_err() {
            return None;
        }
        for (human, team) in chosen.view.humans.iter_mut().zip(team_of) {
            human.pin = Some(*team);
        }
        let torn = chosen.tear(|_, party| {
            let mut members = party.iter();
            members.all(|&who| team_of[who] == team_of[party[0]])
        });
        let torn = torn + self.problem.torn.len();
        let problem = Problem::new(chosen).ok()?;
        let mut steps = 100;
        let mut out_of_time = || {
            steps -= 1;
            steps < 0
        };
        let mut solution = partition::solve(&problem, &self.settings, 0, &mut out_of_time).ok()?;
        if let Ok(open) = Problem::new(self.without_unwanted_company()) {
            solution.explain_wishes(&open, &self.settings, 0, &mut out_of_time);
        }
        (solution.team_of == team_of).then_some((solution, torn))
    }
}

/// A digest that only a problem with the same choice of teams has: it leaves out what other decisions alone depend on.
fn digest(problem: &ProblemSpec) -> [u8; 16] {
    let mut same = problem.clone();
    let view = &mut same.view;
    let bots = view.teams_with_bots().into_iter();
    let bots: Vec<_> = bots
        .map(|team| (team.bots, team.of_bots.weight, team.of_bots.strength))
        .collect();
    view.next_bot = view.weight_of_place();
    (view.bots, view.scores, view.points_reported) = (Vec::new(), Vec::new(), false);
    view.chance.iter_mut().for_each(|model| model.bots.clear());
    for human in &mut view.humans {
        *human = HumanInGame {
            id: std::mem::take(&mut human.id),
            weight: human.weight,
            team: human.team,
            pin: human.pin,
            wish: human.wish,
            last: human.last,
            newcomer: human.newcomer,
            weak_sides: human.weak_sides,
            ..HumanInGame::default() // `problem` has the parties, and the pairs to avoid
        };
    }
    let json = serde_json::to_vec(&(same, bots)).unwrap_or_default();
    let mut short = [0; 16];
    short.copy_from_slice(&Sha256::digest(&json)[..16]);
    short
}
