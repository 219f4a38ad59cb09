//! Why wishes for a team were not granted.

use super::{
    Problem, Refusal, RefusedWish, Settings, Wishes,
    clock::StepClock,
    engine::EngineAnswer,
    granted::WishTrial,
    instance::{Atom, Instance},
    party::KeptParties,
};

/// What became of the wishes in these teams; `None` if nobody has one. Takes one search for each wish that was not granted,
/// and one without wishes.
pub(super) fn explain(
    problem: &Problem,
    settings: &Settings,
    seed: u64,
    team_of: &[u8],
    out_of_time: &mut dyn FnMut() -> bool,
) -> Option<Wishes> {
    let spec = problem.spec();
    if spec.wishes() == 0 || team_of.len() != spec.view.humans.len() {
        return None;
    }
    let together = |party: &Vec<usize>| party.iter().all(|&one| team_of[one] == team_of[party[0]]);
    let parties = || spec.parties.iter();
    let kept: Vec<bool> = parties()
        .map(|party| party.len() > 1 && together(party))
        .collect();
    let given_up = (0..kept.len()).filter(|&party| spec.parties[party].len() > 1 && !kept[party]);
    let choice = KeptParties {
        instance: Instance::new(problem, settings, &kept, seed),
        answer: EngineAnswer::none(),
        given_up: given_up.collect(),
        without: None,
        least_even: 0.0,
    };
    let mut clock = StepClock::new(out_of_time);
    let reasons = Reasons {
        trial: WishTrial::new(problem, settings, seed, &choice),
        choice: &choice,
        team_of,
    };
    let humans = spec.view.humans.iter().zip(team_of).enumerate();
    let mut refused = Vec::new();
    let mut granted = 0;
    for (who, (human, &team)) in humans {
        match human.wish {
            Some(wish) if wish == team => granted += 1,
            Some(wish) => refused.push(RefusedWish {
                who: human.id.clone(),
                team: wish,
                why: match human.pin {
                    Some(_) => Refusal::Pinned,
                    None => reasons.of(who, wish, &mut clock),
                },
            }),
            None => {}
        }
    }
    let known = refused
        .iter()
        .any(|one| matches!(one.why, Refusal::Uneven { .. }));
    Some(Wishes {
        granted,
        without: known.then(|| reasons.best(&mut clock, |_| {})).flatten(),
        refused,
    })
}

struct Reasons<'a> {
    trial: WishTrial<'a>,
    choice: &'a KeptParties,
    team_of: &'a [u8],
}

impl Reasons<'_> {
    /// Why a human is not on the team for which they wish.
    fn of(&self, who: usize, wish: u8, clock: &mut StepClock) -> Refusal {
        let mine = |atom: &Atom| atom.members.contains(&who);
        let Some(atom) = self.choice.instance.atoms.iter().find(|atom| mine(atom)) else {
            return Refusal::Unknown;
        };
        let pinned = atom.team.is_some();
        if pinned || self.granted_to(atom) > 0 {
            return Refusal::Party;
        }
        if clock.over() {
            return Refusal::Unknown;
        }
        let granting = |instance: &mut Instance| {
            for atom in &mut instance.atoms {
                if mine(atom) {
                    atom.team = Some(wish);
                } else if self.granted_to(atom) > 0 {
                    atom.team = Some(self.team_of[atom.members[0]]);
                }
            }
        };
        match self.best(clock, granting) {
            Some(evenness) => Refusal::Uneven { evenness },
            None if clock.over() => Refusal::Unknown,
            None => Refusal::NoRoom,
        }
    }

    /// How many members of an atom are where they wish to be.
    fn granted_to(&self, atom: &Atom) -> u8 {
        atom.wishes[usize::from(self.team_of[atom.members[0]])]
    }

    /// The best evenness after this change to the instance; `None` if no legal split was found.
    fn best(&self, clock: &mut StepClock, change: impl FnOnce(&mut Instance)) -> Option<f64> {
        let answer = self.trial.solve(clock, change).ok()?;
        self.trial.best(&answer)
    }
}
