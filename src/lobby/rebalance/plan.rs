//! The search for plans: which atoms change sides.

use super::RebalanceSettings;
use crate::lobby::strength::{EQUAL, Strength};

/// Plans to try before exactness is given up. The usual 64 humans on two teams have 43,745 of at
/// most three moves, half a millisecond; this many take ten.
const MAX_TRIED: u128 = 1_000_000;
/// Plans of more moves than this are never tried all.
const MAX_EXACT: usize = 3;

/// What moves as one: a human, or a party that stands together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Atom {
    /// Humans, by index; each is a move.
    pub(super) members: Vec<usize>,
    /// What they weigh together.
    pub(super) weight: f64,
    /// Their team.
    pub(super) from: usize,
}

/// Atoms and their new teams.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// Humans moved.
    pub(super) moves: usize,
    /// The ratio then, bots included.
    pub(super) ratio: f64,
    spread: usize,
    steps: Vec<(usize, usize)>,
}

/// Finds plans for a game.
#[derive(Clone, Debug)]
pub(super) struct Planner {
    strength: Strength,
    atoms: Vec<Atom>,
    /// By how many humans the teams may differ.
    limit: usize,
}

impl Planner {
    /// For teams of this strength. The plans may differ by `limit` humans, or as much as now.
    pub(super) fn new(strength: Strength, atoms: Vec<Atom>, limit: usize) -> Self {
        let limit = limit.max(strength.spread());
        Self {
            strength,
            atoms,
            limit,
        }
    }

    /// Up to how many moves trying all plans is affordable.
    pub(super) fn exact_up_to(&self, max_moves: usize) -> usize {
        let (n, others) = (self.atoms.len(), self.strength.sides().len() - 1);
        let mut plans: u128 = 1;
        let mut tried = 0;
        for moves in 1..=MAX_EXACT.min(max_moves) {
            // C(n, moves) · others^moves
            plans = plans * (n.saturating_sub(moves - 1) as u128) * others as u128 / moves as u128;
            tried += plans;
            if tried > MAX_TRIED {
                return moves - 1;
            }
        }
        MAX_EXACT.min(max_moves)
    }

    /// The best plan of no move, of one, and so on, up to the first that is even enough; some
    /// numbers of moves may have none. The first is always there.
    pub(super) fn ladder(&self, exact: usize, settings: &RebalanceSettings) -> Vec<Plan> {
        let mut ladder = vec![Plan {
            moves: 0,
            ratio: self.strength.ratio_settled(),
            spread: self.strength.spread(),
            steps: Vec::new(),
        }];
        let done = |ladder: &[Plan]| {
            ladder
                .iter()
                .any(|plan| plan.ratio >= settings.enough.get())
        };
        for moves in 1..=exact {
            if done(&ladder) {
                return ladder;
            }
            ladder.extend(self.best_of(moves));
        }
        while !done(&ladder) {
            let last = ladder
                .iter()
                .reduce(|a, b| if b.ratio > a.ratio { b } else { a });
            let Some(next) =
                last.and_then(|last| self.extended(last, settings.max_moves.as_usize()))
            else {
                break;
            };
            ladder.push(next);
        }
        ladder
    }

    /// The most even plan of exactly `moves` moves: O((atoms · teams)^moves).
    fn best_of(&self, moves: usize) -> Option<Plan> {
        let mut search = Search {
            planner: self,
            strength: self.strength.clone(),
            trial: Vec::with_capacity(moves),
            best: None,
        };
        search.try_from(0, moves);
        search.best.map(|best| Plan { moves, ..best })
    }

    /// `plan` and the one move or swap more that makes it the most even, if any does and it stays
    /// within `max_moves`: O(atoms² · teams).
    fn extended(&self, plan: &Plan, max_moves: usize) -> Option<Plan> {
        let room = max_moves.checked_sub(plan.moves).filter(|&room| room > 0)?;
        let free = |&index: &usize| {
            let planned = plan.steps.iter().any(|&(atom, _)| atom == index);
            !planned && self.atoms[index].members.len() <= room
        };
        let free: Vec<usize> = (0..self.atoms.len()).filter(free).collect();
        let mut search = Search {
            planner: self,
            strength: self.after(plan),
            trial: plan.steps.clone(),
            best: None,
        };
        for (at, &one) in free.iter().enumerate() {
            let from = self.atoms[one].from;
            for to in (0..self.strength.sides().len()).filter(|&to| to != from) {
                search.step(one, to, |search| {
                    search.consider();
                    let size = self.atoms[one].members.len();
                    let back = free[at + 1..].iter().filter(|&&other| {
                        let other = &self.atoms[other];
                        other.from == to && other.members.len() + size <= room
                    });
                    for &other in back {
                        search.step(other, from, Search::consider);
                    }
                });
            }
        }
        let best = search.best.filter(|best| best.ratio > plan.ratio + EQUAL)?;
        let moves = best
            .steps
            .iter()
            .map(|&(atom, _)| self.atoms[atom].members.len());
        Some(Plan {
            moves: moves.sum(),
            ..best
        })
    }

    /// The teams once `plan` is carried out.
    fn after(&self, plan: &Plan) -> Strength {
        let mut strength = self.strength.clone();
        for &(atom, to) in &plan.steps {
            let Atom {
                members,
                weight,
                from,
            } = &self.atoms[atom];
            strength.remove(*from, members.len(), *weight);
            strength.add(to, members.len(), *weight);
        }
        strength
    }

    /// The ratio once `plan` is carried out.
    pub(super) fn ratio(&self, plan: &Plan) -> f64 {
        self.after(plan).ratio_settled()
    }

    /// The humans that a plan moves, and where to.
    pub(super) fn people<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = (usize, usize)> {
        plan.steps.iter().flat_map(|&(atom, to)| {
            let members = self.atoms[atom].members.iter();
            members.map(move |&who| (who, to))
        })
    }
}

/// A walk through plans.
struct Search<'a> {
    planner: &'a Planner,
    strength: Strength,
    trial: Vec<(usize, usize)>,
    best: Option<Plan>,
}

impl Search<'_> {
    /// Tries every way to spend exactly `moves` more moves on atoms from `start` on.
    fn try_from(&mut self, start: usize, moves: usize) {
        if moves == 0 {
            return self.consider();
        }
        let planner = self.planner;
        for (index, atom) in planner.atoms.iter().enumerate().skip(start) {
            let Some(rest) = moves.checked_sub(atom.members.len()) else {
                continue;
            };
            for to in (0..self.strength.sides().len()).filter(|&to| to != atom.from) {
                self.step(index, to, |search| search.try_from(index + 1, rest));
            }
        }
    }

    /// Does `then` with one atom more on team `to`, and undoes it to the bit.
    fn step(&mut self, index: usize, to: usize, then: impl FnOnce(&mut Self)) {
        let atom = &self.planner.atoms[index];
        let size = atom.members.len();
        let left = self.strength.remove(atom.from, size, atom.weight);
        let joined = self.strength.add(to, size, atom.weight);
        self.trial.push((index, to));
        then(self);
        self.trial.pop();
        self.strength.restore(to, joined);
        self.strength.restore(atom.from, left);
    }

    /// Keeps the plan tried if it is legal and better than the best: more even, or as even with
    /// fewer outnumbered. The first of equals stays; the atoms come in an order by the seed.
    fn consider(&mut self) {
        let spread = self.strength.spread();
        if spread > self.planner.limit {
            return;
        }
        let ratio = self.strength.ratio_settled();
        let better = self.best.as_ref().is_none_or(|best| {
            ratio > best.ratio + EQUAL || (ratio > best.ratio - EQUAL && spread < best.spread)
        });
        if better {
            self.best = Some(Plan {
                moves: 0,
                ratio,
                spread,
                steps: self.trial.clone(),
            });
        }
    }
}
