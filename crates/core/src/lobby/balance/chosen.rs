//! Teams that were chosen before: whether they stay, and why they were chosen.

use super::{Balance, BalanceAnswer, Repeat};
use crate::partition::{self, Explanation, Problem, ProblemError, ProblemSpec};

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
        for human in &mut stand.humans {
            match (human.current, human.pin) {
                (Some(current), Some(pin)) if current != pin => return None,
                (current, pin) => human.pin = pin.or(current),
            }
        }
        // A party that the last BALANCE split stays split.
        stand.tear(|stand, party| {
            let team = |who: &usize| stand.humans[*who].pin;
            party.iter().all(|who| team(who) == team(&party[0]))
        });
        Problem::new(stand.clone()).is_ok().then_some(stand)
    }

    /// Places those who have come since.
    pub(super) fn with_newcomers(
        &self,
        stand: &ProblemSpec,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> Result<partition::Solution, ProblemError> {
        let problem = Problem::new(stand.clone())?;
        let mut solution = partition::solve(&problem, &self.settings, seed, out_of_time)?;
        let open = Problem::new(self.problem.clone())?;
        solution.explain_wishes(&open, &self.settings, seed, out_of_time);
        let key = |&who: &usize| stand.humans[who].key.clone();
        let torn = stand
            .torn
            .iter()
            .filter(|party| !self.problem.torn.contains(party));
        let given_up = &mut solution.explanation.given_up;
        given_up.extend(torn.map(|party| party.iter().map(key).collect()));
        Ok(solution)
    }

    /// The explanation of teams that were chosen before, and the number of parties that are not together
    /// in them. Takes a few milliseconds at most; `None` if the teams do not fit the question.
    pub fn explanation_of(&self, answer: &BalanceAnswer) -> Option<(Explanation, usize)> {
        let team_of = &answer.team_of[..];
        let mut chosen = self.problem.clone();
        if chosen.humans.len() != team_of.len() || chosen.check().is_err() {
            return None;
        }
        for (human, team) in chosen.humans.iter_mut().zip(team_of) {
            human.pin = Some(usize::from(*team));
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
        if let Ok(open) = Problem::new(self.problem.clone()) {
            solution.explain_wishes(&open, &self.settings, 0, &mut out_of_time);
        }
        (solution.team_of == team_of).then_some((solution.explanation, torn))
    }
}
