//! REBALANCE: the fewest moves that mend a game.
//!
//! Those on no team yet are placed first. If that and the bots leave the teams even enough, nobody
//! moves. Otherwise the best plan of one move is found, the best of two, and the best of three, by
//! trying them all; beyond three, the swap or move that helps most is added while it helps (as the
//! NS2 page does from the first). The shortest plan that makes the game even enough is taken; when
//! none does, the one that is worth its moves.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Held, Question, Snapshot,
    arrivals::Arrivals,
    snapshot::lower_share,
    strength::{EQUAL, Strength},
};
use crate::domain::{
    Ident, Move, Stream, StreamPurpose,
    units::{Count, MaxDifference, Share, UpToADay},
};

mod plan;

use plan::{Atom, Plan, Planner};

/// What an admin decides about moving people.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RebalanceSettings {
    /// The most moves of one advice; a swap is two.
    pub max_moves: Count<0, 16>,
    /// The ratio that is even enough.
    pub enough: Share,
    /// What ratio a move must be worth where that isn't reached.
    pub min_gain: Share,
    /// For how long a player who was moved is not moved again.
    pub cooldown_seconds: UpToADay,
    /// Only the latest to arrive on each team may move.
    pub newest_first: bool,
    /// The best third of each team, by points, stays.
    pub spare_top: bool,
    /// By how many humans a team may outnumber another. No plan makes a larger
    /// difference than there is.
    pub max_difference: MaxDifference,
}

impl Default for RebalanceSettings {
    /// Two swaps, at most; even enough is where ADVANTAGE has nothing to do (1 / 1.05); a hundredth
    /// of ratio is the least that a move should be worth its annoyance. Nobody is moved twice within
    /// five minutes. The difference is BALANCE's.
    fn default() -> Self {
        Self {
            max_moves: const { Count::of(4) },
            enough: const { Share::of(0.95) },
            min_gain: const { Share::of(0.01) },
            cooldown_seconds: const { UpToADay::of(300) },
            newest_first: false,
            spare_top: false,
            max_difference: const { MaxDifference::of(1) },
        }
    }
}

/// The question of REBALANCE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rebalance {
    /// The game.
    pub snapshot: Snapshot,
    /// How.
    pub settings: RebalanceSettings,
}

/// The advice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// Where those on no team yet should go.
    pub placed: Vec<Move>,
    /// Who should move.
    pub moves: Vec<Move>,
    /// The ratio as the game stands.
    pub before: f64,
    /// The ratio once all that is done and the bots have followed.
    pub after: f64,
    /// The best ratio of a plan of so many moves, none first: what was chosen from.
    pub ladder: Vec<(usize, f64)>,
    /// Up to how many moves all plans were tried.
    pub exact: usize,
    /// Who may not be moved, and why.
    pub held: Vec<(String, Held)>,
}

impl Advice {
    /// Everybody with somewhere to go, those on no team yet first.
    pub fn steps(&self) -> impl Iterator<Item = &Move> {
        self.placed.iter().chain(&self.moves)
    }
}

impl Question for Rebalance {
    type Answer = Advice;

    fn is_sound(&self) -> bool {
        self.snapshot.is_sound()
    }

    fn answer(&self, seed: u64) -> Advice {
        let Self { snapshot, settings } = self;
        let now = Strength::of(snapshot);
        let limit = settings.max_difference.get().unwrap_or(usize::MAX);
        let arrived = Arrivals::of(snapshot, &[], limit).place(&now);
        let mut settled = snapshot.clone();
        for &(who, team) in &arrived.teams {
            settled.humans[who].team = Some(team);
        }
        let (mut atoms, held) = self.atoms();
        Stream::new(seed, StreamPurpose::Rebalance).shuffle(&mut atoms);
        let planner = Planner::new(Strength::of(&settled), atoms, limit);
        let exact = planner.exact_up_to(settings.max_moves.as_usize());
        let ladder = planner.ladder(exact, settings);
        // With somebody new on a team, the ratio as it stands is nothing to be kept.
        let floor = if arrived.teams.is_empty() {
            now.ratio_now()
        } else {
            0.0
        };
        let plan = choose(&ladder, settings, floor);
        let step = |who: usize, to: usize| Move {
            id: Ident::from_text(&snapshot.humans[who].id),
            from: snapshot.humans[who].team,
            to: to as u8,
        };
        let placed = arrived.teams.iter();
        Advice {
            placed: placed
                .map(|&(who, team)| step(who, usize::from(team)))
                .collect(),
            moves: planner
                .people(plan)
                .map(|(who, team)| step(who, team))
                .collect(),
            before: now.ratio_now(),
            after: planner.ratio(plan),
            ladder: ladder.iter().map(|plan| (plan.moves, plan.ratio)).collect(),
            exact,
            held: held
                .into_iter()
                .map(|(who, why)| (snapshot.humans[who].id.clone(), why))
                .collect(),
        }
    }

    fn explain(&self, answer: &Advice, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "ratio {:.6} as it stands, {:.6} after {} moves; {:.6} is even enough",
            answer.before,
            answer.after,
            answer.moves.len(),
            self.settings.enough.get()
        )?;
        for step in &answer.placed {
            writeln!(f, "on no team yet: {step}")?;
        }
        for step in &answer.moves {
            writeln!(f, "move {step}")?;
        }
        for (moves, ratio) in &answer.ladder {
            let how = if *moves <= answer.exact {
                "all tried"
            } else {
                "the most helpful added"
            };
            writeln!(f, "with {moves} moves: ratio {ratio:.6} ({how})")?;
        }
        for (who, why) in &answer.held {
            writeln!(f, "not moved: {who}, {why}")?;
        }
        self.snapshot.write_conduct(f)
    }
}

impl Rebalance {
    /// What can be moved: a human alone, or all of a party that stand together. And who can't be.
    fn atoms(&self) -> (Vec<Atom>, Vec<(usize, Held)>) {
        let humans = &self.snapshot.humans;
        let held = self.held();
        let mut atoms: Vec<Atom> = Vec::new();
        for (who, human) in humans.iter().enumerate() {
            let Some(team) = human.team else { continue };
            let mates = || {
                self.snapshot
                    .mates(who)
                    .filter(|&mate| humans[mate].team == Some(team))
            };
            let together: Vec<usize> = std::iter::once(who).chain(mates()).collect();
            // A party is counted once, and stays when anybody in it must.
            let first = together.iter().all(|&mate| mate >= who);
            if first && !together.iter().any(|&mate| held[mate].is_some()) {
                atoms.push(Atom {
                    weight: together.iter().map(|&mate| humans[mate].weight).sum(),
                    from: usize::from(team),
                    members: together,
                });
            }
        }
        let held = held.into_iter().enumerate();
        let held = held.filter_map(|(who, why)| Some((who, why?)));
        (atoms, held.collect())
    }

    /// For each human, why they are not to be moved.
    fn held(&self) -> Vec<Option<Held>> {
        let humans = &self.snapshot.humans;
        let pinned = |pin: Option<u8>| pin.map(|_| Held::Pinned);
        let mut held: Vec<Option<Held>> = (humans.iter())
            .map(|human| pinned(human.pin).or(human.held))
            .collect();
        for team in 0..self.snapshot.teams {
            let free = |held: &[Option<Held>]| -> Vec<usize> {
                let on_team = (0..humans.len()).filter(|&who| humans[who].team == Some(team));
                on_team.filter(|&who| held[who].is_none()).collect()
            };
            if self.settings.spare_top {
                let free = free(&held);
                let points = free.iter().map(|&who| (who, humans[who].points));
                let lower = lower_share(points.collect(), 0.67);
                let top = free.iter().filter(|who| !lower.contains(who));
                top.for_each(|&who| held[who] = Some(Held::Top));
            }
            if self.settings.newest_first {
                let free = free(&held);
                let older = free
                    .len()
                    .saturating_sub(self.settings.max_moves.as_usize());
                free[..older]
                    .iter()
                    .for_each(|&who| held[who] = Some(Held::CameFirst));
            }
        }
        held
    }
}

/// The shortest plan that is even enough, otherwise the one that is most worth its moves; nobody
/// moves for less than `floor` or than what comes by itself.
fn choose<'a>(ladder: &'a [Plan], settings: &RebalanceSettings, floor: f64) -> &'a Plan {
    let alone = &ladder[0];
    let worth = |plan: &Plan| plan.ratio - settings.min_gain.get() * plan.moves as f64;
    if alone.ratio >= settings.enough.get() {
        return alone;
    }
    let better = |plan: &&Plan| plan.ratio > alone.ratio + EQUAL && plan.ratio > floor + EQUAL;
    let mends = ladder
        .iter()
        .filter(better)
        .find(|plan| plan.ratio >= settings.enough.get());
    let most_worth = || {
        let worthy = ladder
            .iter()
            .filter(better)
            .filter(|plan| worth(plan) > alone.ratio);
        worthy.reduce(|a, b| if worth(b) > worth(a) + EQUAL { b } else { a })
    };
    mends.or_else(most_worth).unwrap_or(alone)
}

#[cfg(test)]
mod tests;
