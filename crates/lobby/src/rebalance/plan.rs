//! The search for the plans that make the teams most even, and the parties that are split for one: only those because
//! of which a team would be empty or outnumbered, and as few as possible.

use evenkeel_model::{Move, Naming, SAME_CHANCE, WinModel, chance_of_weaker, evenness_of_chance};
use evenkeel_partition::{EQUAL, HumanInGame, TeamSums, torn_note};

use super::{Advice, Rebalance, RebalanceSettings};
use crate::moves::{self, Aim, MoveSearch, Score, Step, Unit};

/// The most plans to try. If there are more plans of up to three moves, only plans of fewer moves
/// are all tried. A million plans take ten milliseconds. 64 humans on two teams have 43,745 plans
/// of at most three moves, which take half a millisecond.
const MAX_TRIED: u128 = 1_000_000;
/// The most moves of a plan for which all plans are tried.
const MAX_EXACT: usize = 3;

/// A set of units and their new teams.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MovePlan {
    /// Number of humans who move.
    pub(super) moves: usize,
    /// How even the teams are after the moves, 0 to 1, bots included.
    pub(super) evenness: f64,
    /// How good the teams are after the moves.
    pub(super) score: Score,
    pub(super) steps: Vec<Step>,
}

impl MovePlan {
    /// Whether the teams are better than after `other`.
    fn beats(&self, other: &Self) -> bool {
        self.score.beats(&other.score, Aim::Evenness)
    }
}

/// Finds plans for one game. Of equal plans it takes the first one; the seed shuffles the units, so that this is a random
/// one.
#[derive(Clone, Debug)]
pub(super) struct Planner {
    pub(super) sums: TeamSums,
    pub(super) units: Vec<Unit>,
    /// By how many humans the teams should differ at most.
    pub(super) limit: usize,
    /// By how many humans a plan may let them differ: by `limit`, or as many as now.
    most: usize,
}

impl Planner {
    /// A planner for these teams, which may differ by `limit` humans, or by as many as they do now.
    pub(super) fn new(sums: TeamSums, units: Vec<Unit>, limit: usize) -> Self {
        let most = limit.max(sums.spread());
        Self {
            sums,
            units,
            limit,
            most,
        }
    }

    /// The number of moves up to which all plans can be tried within [`MAX_TRIED`].
    pub(super) fn exact_up_to(&self, max_moves: usize) -> usize {
        let (n, others) = (self.units.len(), self.sums.sides().len() - 1);
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

    /// The best plan with no moves, with one, and so on, up to the first that is even enough. The
    /// plan without moves is always included; other numbers of moves may have no plan.
    pub(super) fn ladder(&self, exact: usize, settings: &RebalanceSettings) -> Vec<MovePlan> {
        let mut ladder =
            vec![self.plan(Score::of(&self.sums, self.limit, Aim::Evenness), Vec::new())];
        let done = |ladder: &[MovePlan]| {
            ladder
                .iter()
                .any(|plan| plan.evenness >= settings.enough.get())
        };
        for moves in 1..=exact {
            if done(&ladder) {
                return ladder;
            }
            let mut search = self.search();
            search.exactly(0, moves);
            ladder.extend(self.found(search));
        }
        while !done(&ladder) {
            let last = ladder.iter().reduce(|a, b| if b.beats(a) { b } else { a });
            let Some(next) =
                last.and_then(|last| self.extended(last, settings.max_moves.as_usize()))
            else {
                break;
            };
            ladder.push(next);
        }
        ladder
    }

    fn search(&self) -> MoveSearch<'_> {
        let limits = (self.limit, self.most);
        MoveSearch::new(self.sums.clone(), &self.units, Aim::Evenness, limits)
    }

    fn found(&self, search: MoveSearch<'_>) -> Option<MovePlan> {
        let (score, steps) = search.found()?;
        Some(self.plan(score, steps))
    }

    fn plan(&self, score: Score, steps: Vec<Step>) -> MovePlan {
        MovePlan {
            moves: moves::people(&self.units, &steps).count(),
            evenness: self.sums.evenness_of(score.monotone),
            score,
            steps,
        }
    }

    /// The plan of these steps; `None` if the teams may not become of these sizes.
    pub(super) fn of_steps(&self, steps: Vec<Step>) -> Option<MovePlan> {
        let after = moves::after(&self.sums, &self.units, &steps);
        let score = Score::within(&after, (self.limit, self.most), Aim::Evenness)?;
        Some(self.plan(score, steps))
    }

    /// `plan` plus the move or swap that makes the teams the most even; `None` if there is none
    /// within `max_moves`. O(units² · teams).
    fn extended(&self, plan: &MovePlan, max_moves: usize) -> Option<MovePlan> {
        let room = max_moves.checked_sub(plan.moves).filter(|&room| room > 0)?;
        let free = |&index: &usize| {
            let planned = plan.steps.iter().any(|&(unit, _)| unit == index);
            !planned && self.units[index].members.len() <= room
        };
        let free: Vec<usize> = (0..self.units.len()).filter(free).collect();
        let mut search = self.search().after(&plan.steps);
        search.move_or_swap(&free, room);
        self.found(search).filter(|next| next.beats(plan))
    }

    /// The teams after `plan`.
    pub(super) fn after(&self, plan: &MovePlan) -> TeamSums {
        moves::after(&self.sums, &self.units, &plan.steps)
    }

    /// The ratio after `plan`, with bots added or removed.
    pub(super) fn ratio(&self, plan: &MovePlan) -> f64 {
        self.after(plan).ratio_after_bot_fill()
    }

    /// The humans that a plan moves, by index, with their new teams.
    pub(super) fn people<'a>(&'a self, plan: &'a MovePlan) -> impl Iterator<Item = (usize, usize)> {
        moves::people(&self.units, &plan.steps)
    }
}

/// How many standard deviations an improvement must be from none. With a whole one, hardly any lobby of
/// recorded matches got advice; with a half, a third of the advice turned out badly, as without this
/// demand (`cargo bench --bench even`).
const SURE: f64 = 0.75;

/// An edge of less than so many standard deviations is as good as none: who is ahead is hardly better known than by lot.
/// Each swap that went on from there was as often wrong as right (the same bench, on the first half of Tribes); from 0.3
/// to 0.6 it hardly matters.
const OPEN: f64 = 0.5;

/// The evenness from which on the chances are even as far as anybody knows: from 48 % and 52 %, or where the edge is lost in
/// the deviation of it. Four against one is no such edge: that counts only where no team is two players short (`is_full`).
pub(super) fn even(win_model: &WinModel, is_full: bool) -> f64 {
    let nearly = evenness_of_chance(0.5 - SAME_CHANCE);
    match is_full {
        true => nearly.min(win_model.link.evenness(OPEN * win_model.deviation)),
        false => nearly,
    }
}

impl Planner {
    /// Whether a plan makes the chances more even beyond doubt: by more than players notice, beyond what BALANCE gives up
    /// to draw the sides, and also if the strengths of all players are as far from their estimates as they usually are.
    ///
    /// Let e be the edge now, e' that after the moves, and δ = e − e' what the moves change. The game is
    /// more even with them if δ has the direction of e, and e + e' does, too: without the players who
    /// move, the same team is still ahead. Each of the two must be more than [`SURE`] standard deviations
    /// from 0. What the numbers of players change is not in doubt. A plan that leaves fewer humans too
    /// many needs no proof, nor does one where nothing predicts chances.
    pub(super) fn is_sure(&self, plan: &MovePlan) -> bool {
        let (alone, over) = (
            self.sums.evenness_after_bot_fill(),
            self.sums.excess(self.limit),
        );
        if self.sums.win_model().is_none() || plan.score.over < over {
            return true;
        }
        let gain = chance_of_weaker(plan.evenness) - chance_of_weaker(alone);
        let after = self.after(plan);
        let edges = self.sums.edge_of_first().zip(after.edge_of_first());
        let (Some((before, after)), Some(win_model)) = (edges, self.sums.win_model()) else {
            return gain > SAME_CHANCE; // more than two teams
        };
        if gain <= SAME_CHANCE + win_model.price_of_sides(self.sums.humans()) {
            return false;
        }
        let units = plan.steps.iter().map(|&(unit, _)| &self.units[unit]);
        let variance: f64 = units.map(|unit| unit.counted.variance).sum();
        let moved = 2.0 * win_model.per_strength_at(self.sums.players()) * libm::sqrt(variance);
        let ahead = before.signum();
        let (middle, change) = (ahead * (before + after) / 2.0, ahead * (before - after));
        middle >= SURE * win_model.deviation && change >= SURE * moved
    }
}

/// The most sets of parties that are tried. With up to eight parties these are all sets of three.
const MAX_SETS: usize = 92;

/// How many teams have nobody, and how many humans too many there are on teams that outnumber the smallest by more than
/// allowed.
type Lack = (usize, usize);

impl Rebalance {
    /// The advice that splits no party if that leaves no team empty or outnumbered for which others would move. Otherwise
    /// splits as few parties as bring as many humans where they are missing as if there were no party.
    pub(super) fn advise_parties(&self, seed: u64) -> Advice {
        let whole = self.advise(&[], seed);
        let lack = self.lack(&whole);
        let rests = !whole.moves.is_empty() || whole.evenness_alone() >= self.enough(&[]);
        let parties = self.parties();
        if parties.is_empty() || lack == (0, 0) && rests {
            return whole;
        }
        let free = self.advise(&parties, seed);
        let torn = self.torn_by(&free);
        let least = self.lack(&free);
        if least < lack {
            return self.torn_least(&torn, least, seed).unwrap_or(free);
        }
        let because = whole.moves.is_empty() && !free.moves.is_empty();
        let members = |party: &&str| self.members(party).map(|human| human.id.clone()).collect();
        Advice {
            whole: torn.iter().filter(|_| because).map(members).collect(),
            ..whole
        }
    }

    /// The most even advice that splits the fewest parties that leave no more than the `least` lack; `None` if none is
    /// found. `torn` are those that would be split if there were no party: of as many parties, these are tried first, and
    /// others only if that is not enough. At most [`MAX_SETS`] searches.
    fn torn_least(&self, torn: &[&str], least: Lack, seed: u64) -> Option<Advice> {
        let mut order = torn.to_vec();
        let all = self.parties().into_iter();
        order.extend(all.filter(|party| !torn.contains(party)));
        let mut left = MAX_SETS;
        for count in 1..=torn.len() {
            let mut best: Option<Advice> = None;
            for set in sets(count, order.len()) {
                let has_others = set[count - 1] >= torn.len();
                if left == 0 || best.is_some() && has_others {
                    break;
                }
                left -= 1;
                let split: Vec<&str> = set.iter().map(|&at| order[at]).collect();
                let advice = self.advise(&split, seed);
                let even = advice.evenness_after();
                let more = |best: &Advice| even > best.evenness_after() + EQUAL;
                if self.lack(&advice) <= least && best.as_ref().is_none_or(more) {
                    best = Some(advice);
                }
            }
            if best.is_some() {
                return best;
            }
        }
        None
    }

    /// The parties of which several members are in the game, in the order in which the first of each joined.
    fn parties(&self) -> Vec<&str> {
        let mut parties: Vec<&str> = Vec::new();
        for (who, human) in self.view.humans.iter().enumerate() {
            let party = human.party.as_deref().filter(|_| self.view.in_party(who));
            parties.extend(party.filter(|party| !parties.contains(party)));
        }
        parties
    }

    fn members(&self, party: &str) -> impl Iterator<Item = &HumanInGame> {
        let humans = self.view.humans.iter();
        humans.filter(move |human| human.party.as_deref() == Some(party))
    }

    /// The parties that this advice splits: members who are together now, also those who are on no team yet, are not
    /// together then.
    fn torn_by(&self, advice: &Advice) -> Vec<&str> {
        self.torn_by_moves(|| advice.steps())
    }

    /// The parties that these moves split.
    pub(super) fn torn_by_moves<'m, I>(&self, steps: impl Fn() -> I) -> Vec<&str>
    where
        I: Iterator<Item = &'m Move>,
    {
        let then = |human: &HumanInGame| team_after(human, steps());
        let is_torn = |party: &&str| {
            let apart = |one: &HumanInGame| {
                let mut mates = self.members(party).filter(|mate| mate.team == one.team);
                mates.any(|mate| then(mate) != then(one))
            };
            self.members(party).any(apart)
        };
        self.parties().into_iter().filter(is_torn).collect()
    }

    /// What the teams lack once this advice is followed.
    fn lack(&self, advice: &Advice) -> Lack {
        let mut after = self.view.clone();
        for human in &mut after.humans {
            human.team = team_after(human, advice.steps());
        }
        let after = after.sums();
        (after.empty_teams(), after.excess(self.limit()))
    }

    /// One line for each party that this advice splits, and for each because of which nobody moves.
    pub(super) fn party_notes(&self, advice: &Advice, naming: &Naming) -> Vec<String> {
        let torn = self.torn_by(advice).into_iter().map(|party| {
            let member = |human: &HumanInGame| team_after(human, advice.steps());
            let members = self.members(party);
            let members: Vec<_> = members
                .map(|human| (naming.player(&human.id), member(human)))
                .collect();
            torn_note(&members, "a team would be empty or outnumbered")
        });
        let whole = advice.whole.iter().map(|party| {
            let names = naming.players(party);
            format!(
                "nobody moves, because the party of {names} stays together: a party is split only for a team that is \
                 empty or outnumbered"
            )
        });
        torn.chain(whole).collect()
    }
}

/// All sets of `count` numbers below `end`, those of smaller numbers first. There is at least one.
fn sets(count: usize, end: usize) -> impl Iterator<Item = Vec<usize>> {
    std::iter::successors(Some((0..count).collect()), move |set: &Vec<usize>| {
        let room = |at: &usize| set[*at] + 1 < set.get(at + 1).copied().unwrap_or(end);
        let at = (0..count).find(room)?;
        let mut next = set.clone();
        next[at] += 1;
        (0..at).for_each(|below| next[below] = below);
        Some(next)
    })
}

/// The team of a human after these moves.
fn team_after<'m>(human: &HumanInGame, mut steps: impl Iterator<Item = &'m Move>) -> Option<u8> {
    let step = steps.find(|step| step.id.text() == human.id);
    step.map_or(human.team, |step| Some(step.to))
}

impl Advice {
    /// How even the teams are if nobody moves.
    fn evenness_alone(&self) -> f64 {
        let by_chance = self
            .evenness
            .as_ref()
            .and_then(|known| known.ladder.first());
        by_chance.copied().unwrap_or(self.ladder[0].1)
    }

    /// How even the teams become.
    fn evenness_after(&self) -> f64 {
        self.evenness
            .as_ref()
            .map_or(self.after, |known| known.after)
    }
}
