//! Teams that were chosen before: whether they stay, and why they were chosen.

use super::{Balance, BalanceAnswer, Repeat};
use crate::partition::{self, EQUAL, Explanation, Problem, ProblemSpec};

impl Balance {
    /// The teams that the last BALANCE chose, if this question repeats it and no pin forbids them. If the game has come
    /// again, those who have come since are placed.
    pub(super) fn as_they_are(
        &self,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> Option<partition::Solution> {
        if self.repeat == Repeat::Nothing {
            return None;
        }
        let mut pinned = self.problem.clone();
        for human in &mut pinned.humans {
            let current = match human.current {
                None if self.repeat == Repeat::Again => continue,
                current => current?,
            };
            if human.pin.is_some_and(|pin| pin != current) {
                return None;
            }
            human.pin = Some(current);
        }
        // A party that the last BALANCE split stays split.
        let together = |party: &Vec<usize>| {
            let team = |who: &usize| pinned.humans[*who].pin;
            party.iter().all(|who| team(who) == team(&party[0]))
        };
        let parties = std::mem::take(&mut pinned.parties).into_iter();
        let (kept, torn) = parties.partition(together);
        pinned.parties = kept;
        let key = |&who: &usize| pinned.humans[who].key.clone();
        let given_up = |party: &Vec<usize>| party.iter().map(key).collect();
        let given_up = torn.iter().map(given_up).collect();
        let problem = Problem::new(pinned).ok()?;
        let mut stay = partition::solve(&problem, &self.settings, seed, out_of_time).ok()?;
        stay.explanation.given_up = given_up;
        Some(stay)
    }

    /// The problem, in which humans who are on one team with somebody whom they avoid are on no team now: else
    /// no team less even than the current ones would be a candidate, and they could not get away.
    pub(super) fn without_unwanted_company(&self) -> ProblemSpec {
        let mut problem = self.problem.clone();
        for &(one, other) in &self.problem.avoid {
            let team = |who: usize| self.problem.humans[who].current;
            if one < problem.humans.len()
                && other < problem.humans.len()
                && team(one) == team(other)
            {
                problem.humans[one].current = None;
            }
        }
        problem
    }

    /// Whether the teams of the last BALANCE stay, and not these others. Those of a game that has come again stay
    /// unless people have gone, so that the others are more even in number.
    pub(super) fn stays(&self, present: &partition::Solution, other: &partition::Solution) -> bool {
        match self.repeat {
            Repeat::Again => self.spread(&present.team_of) <= self.spread(&other.team_of),
            _ => self.is_as_good(present, other),
        }
    }

    /// The difference in humans between the largest and the smallest team.
    fn spread(&self, team_of: &[u8]) -> usize {
        let teams = 0..self.problem.teams;
        let sizes = teams.map(|t| team_of.iter().filter(|on| usize::from(**on) == t).count());
        let (least, most) = sizes.fold((usize::MAX, 0), |(a, b), size| (a.min(size), b.max(size)));
        most.saturating_sub(least)
    }

    /// Whether the present teams are as even as the others, and grant as many wishes.
    fn is_as_good(&self, present: &partition::Solution, other: &partition::Solution) -> bool {
        let here = self.wishes_broken(&present.team_of);
        let there = self.wishes_broken(&other.team_of);
        let least = match self.problem.doubt {
            Some(_) => other.evenness().min(other.least),
            None => other.evenness(),
        };
        present.evenness() + EQUAL >= least && (0..3).all(|kind| here[kind] <= there[kind])
    }

    /// The explanation of teams that were chosen before, and the number of parties that are not together
    /// in them. Takes a few milliseconds at most; `None` if the teams do not fit the question.
    pub fn explanation_of(&self, answer: &BalanceAnswer) -> Option<(Explanation, usize)> {
        let team_of = &answer.team_of[..];
        let mut chosen = self.without_unwanted_company();
        if chosen.humans.len() != team_of.len() {
            return None;
        }
        for (human, team) in chosen.humans.iter_mut().zip(team_of) {
            human.pin = Some(usize::from(*team));
        }
        let inside = |&who: &usize| who < team_of.len();
        let together = |party: &Vec<usize>| {
            let whole = party.iter().all(inside);
            whole && party.iter().all(|&who| team_of[who] == team_of[party[0]])
        };
        let parties = chosen.parties.len();
        chosen.parties.retain(together);
        let torn = parties - chosen.parties.len() + self.torn.len();
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
        let mut explanation = solution.explanation;
        self.tell(&mut explanation, (answer.ratio, answer.chance));
        (solution.team_of == team_of).then_some((explanation, torn))
    }

    /// How many members of parties are not with their party's first, how many humans are on one
    /// team with somebody whom they avoid, and how many are not on the side for which they wish.
    fn wishes_broken(&self, team_of: &[u8]) -> [usize; 3] {
        let apart = |party: &Vec<usize>| {
            let members = party.iter();
            members
                .filter(|&&who| team_of[who] != team_of[party[0]])
                .count()
        };
        let together = |&&(one, other): &&(usize, usize)| team_of[one] == team_of[other];
        let humans = self.problem.humans.iter().zip(team_of);
        let elsewhere =
            humans.filter(|(human, team)| human.wish.is_some_and(|w| w != usize::from(**team)));
        [
            self.problem.parties.iter().map(apart).sum(),
            self.problem.avoid.iter().filter(together).count(),
            elsewhere.count(),
        ]
    }
}
