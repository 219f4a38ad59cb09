//! What is decided about wishes for a team, found by looking at all splits.

use super::*;
use evenkeel_model::chance_of_weaker;

/// What the room decides about wishes, found by looking at all splits.
pub(super) struct Oracle {
    /// Each legal split, with its evenness and the number of wishes that it grants.
    pub(super) splits: Vec<(Vec<u8>, f64, usize)>,
    pub(super) without: f64,
    pub(super) free: f64,
    budget: f64,
}

impl Oracle {
    pub(super) fn of(spec: &ProblemSpec, given_up: &[Vec<String>], budget: f64) -> Self {
        let (n, teams) = (spec.view.humans.len(), spec.teams());
        let mut splits = Vec::new();
        for code in 0..teams.pow(n as u32) {
            let team = |human: usize| (code / teams.pow(human as u32) % teams) as u8;
            let team_of: Vec<u8> = (0..n).map(team).collect();
            if let Some(evenness) = evenness(spec, given_up, &team_of) {
                let satisfied = (0..n).filter(|&h| spec.view.humans[h].wish == Some(team_of[h]));
                let satisfied = satisfied.count();
                splits.push((team_of, evenness, satisfied));
            }
        }
        let without = splits.iter().map(|(_, even, _)| *even).fold(0.0, f64::max);
        let free = spec.tolerance.map_or(without, |limit| limit.least(without));
        Self {
            splits,
            without,
            free,
            budget,
        }
    }

    pub(super) fn cost(&self, evenness: f64) -> f64 {
        match evenness > self.free - 1e-9 {
            true => 0.0,
            false => chance_of_weaker(self.without) - chance_of_weaker(evenness),
        }
    }

    /// The best evenness of the splits that pass.
    fn best(&self, passes: impl Fn(&[u8], usize) -> bool) -> Option<f64> {
        let splits = self.splits.iter();
        let passing = splits.filter(|(team_of, _, satisfied)| passes(team_of, *satisfied));
        passing
            .map(|(_, evenness, _)| *evenness)
            .max_by(f64::total_cmp)
    }

    /// The number of wishes that are satisfied, and the best evenness with that number.
    pub(super) fn satisfied(&self, wishes: usize, worth: f64) -> (usize, f64) {
        let level = |least: usize| Some((least, self.best(|_, satisfied| satisfied >= least)?));
        let levels = (0..=wishes).filter_map(level);
        let cheap = levels.filter(|(_, even)| self.cost(*even) < self.budget + 1e-9);
        let gain = |(satisfied, even): &(usize, f64)| *satisfied as f64 * worth - self.cost(*even);
        let better =
            |a: (usize, f64), b: (usize, f64)| if gain(&b) + 1e-9 >= gain(&a) { b } else { a };
        cheap.reduce(better).unwrap_or((0, self.without))
    }
}

/// The ratio of the teams' sums; `None` if the split is illegal or tears a party that was not given up.
fn evenness(spec: &ProblemSpec, given_up: &[Vec<String>], team_of: &[u8]) -> Option<f64> {
    let (n, teams) = (spec.view.humans.len(), spec.teams());
    let on = |team: usize| (0..n).filter(move |&h| usize::from(team_of[h]) == team);
    let counts: Vec<usize> = (0..teams).map(|team| on(team).count()).collect();
    let (most, least) = (*counts.iter().max()?, *counts.iter().min()?);
    let share = ((spec.max_share * n as f64) as usize).max(n.div_ceil(teams));
    let uneven = usize::from(!n.is_multiple_of(teams));
    let difference = spec.max_difference.map_or(n, |limit| limit.max(uneven));
    let key = |&h: &usize| spec.view.humans[h].id.clone();
    let whole = |party: &Vec<usize>| {
        let together = party.iter().all(|&h| team_of[h] == team_of[party[0]]);
        together || given_up.contains(&party.iter().map(key).collect())
    };
    let pinned = |h: usize| spec.view.humans[h].pin.is_none_or(|pin| pin == team_of[h]);
    let legal = most <= share && most - least <= difference;
    if !(legal && (0..n).all(pinned) && spec.parties.iter().all(whole)) {
        return None;
    }
    let bots = spec.view.fill.players() as usize;
    let size = bots.div_ceil(teams).max(most);
    let sum = |team: usize| {
        let own: f64 = on(team).map(|h| spec.view.humans[h].weight).sum();
        own + spec.view.next_bot * (size - counts[team]) as f64
    };
    let sums = (0..teams).map(sum);
    let (low, high) = sums.fold((f64::MAX, 0.0f64), |(a, b), sum| (a.min(sum), b.max(sum)));
    Some(if high > 0.0 { low / high } else { 1.0 })
}

/// Checks who is told that their wish was refused, and why.
pub(super) fn check_reasons(
    spec: &ProblemSpec,
    solution: &Solution,
    oracle: &Oracle,
) -> Result<(), TestCaseError> {
    let Some(announced) = &solution.wishes else {
        return Ok(());
    };
    let at = |who: usize| solution.team_of[who];
    let has = |who: usize| spec.view.humans[who].wish == Some(at(who));
    let humans = 0..spec.view.humans.len();
    let refused = humans
        .clone()
        .filter(|&who| spec.view.humans[who].wish.is_some() && !has(who));
    let keys: Vec<&String> = refused.map(|who| &spec.view.humans[who].id).collect();
    prop_assert_eq!(
        announced
            .refused
            .iter()
            .map(|one| &one.who)
            .collect::<Vec<_>>(),
        keys
    );
    prop_assert_eq!(
        announced.satisfied,
        humans.clone().filter(|&who| has(who)).count()
    );
    for one in &announced.refused {
        let who = humans
            .clone()
            .find(|&who| spec.view.humans[who].id == one.who)
            .unwrap();
        let with = |team_of: &[u8], _: usize| {
            let mut kept = humans.clone().filter(|&other| has(other));
            team_of[who] == one.team && kept.all(|other| team_of[other] == solution.team_of[other])
        };
        // Friends of a party that was given up may happen to be together, and count as one then.
        let together = |party: &&Vec<usize>| party.iter().all(|&h| at(h) == at(party[0]));
        let party = spec
            .parties
            .iter()
            .find(|party| party.contains(&who) && together(party));
        let friends = || {
            party
                .into_iter()
                .flatten()
                .copied()
                .filter(|&friend| friend != who)
        };
        let best = oracle.best(with);
        match one.why {
            WishRefusal::Pinned => {
                prop_assert!(spec.view.humans[who].pin.is_some_and(|pin| pin != one.team))
            }
            WishRefusal::Party => {
                let held = |friend: usize| has(friend) || spec.view.humans[friend].pin.is_some();
                prop_assert!(friends().any(held));
            }
            WishRefusal::NoRoom => prop_assert!(best.is_none() || party.is_some()),
            WishRefusal::Uneven { evenness } => {
                let near = best.is_some_and(|best| (best - evenness).abs() < 1e-9);
                prop_assert!(near || party.is_some(), "{best:?} {evenness}");
            }
            WishRefusal::Unknown => prop_assert!(false, "there was time"),
        }
    }
    Ok(())
}
