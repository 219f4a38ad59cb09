//! Reads what a split is worth: which splits can be picked, and what is reported of them.

use std::cmp::Reverse;

use super::{
    GameView, HumanInGame, Problem, Settings, TeamSums,
    balance::Evenness,
    engine::EngineAnswer,
    instance::{AtomInstance, Labels, TeamTally},
    pick::{Candidate, Figures, WhatIf},
    settings::{Engine, Objective, Stay, Terms},
    sums::{Counted, EQUAL},
    view::ChanceModel,
};
use evenkeel_model::win_model::{TeamLoad, chance_of_weaker, evenness_of_chance};

/// By how much the rounding of evenness can differ.
const ROUNDING: f64 = 1e-12;

/// Which parties are kept, and the splits that keep them.
pub(super) struct KeptParties {
    pub instance: AtomInstance,
    pub answer: EngineAnswer,
    /// Indices of the parties given up, in the order of giving up.
    pub given_up: Vec<usize>,
    /// The best evenness without any party, if it was computed.
    pub without: Option<f64>,
    /// The least evenness that satisfied wishes for a team may cost; 0 if nobody has one.
    pub least_even: f64,
}

impl KeptParties {
    /// Whether teams grant as many wishes as the splits do.
    pub(super) fn can_be(&self, team_of: &[u8]) -> bool {
        let split = self.instance.split_of_humans(team_of);
        split.is_some_and(|split| self.instance.satisfied(&split) >= self.instance.least_satisfied)
    }
}

/// Computes what is reported of splits: the ratio of the weights and, if there are strengths, the
/// chance.
pub(super) struct SplitReader<'a> {
    problem: &'a Problem,
    settings: &'a Settings,
    choice: &'a KeptParties,
    pub(super) model: Option<&'a ChanceModel>,
    scorer: Scorer<'a>,
}

/// The splits that can be picked.
pub(super) struct Candidates {
    /// The most even first.
    pub(super) list: Vec<Candidate>,
    /// The evenness from which on a split may be picked.
    pub(super) least: f64,
    /// Whether less even splits are among them so that nobody is always on the same side of the map.
    pub(super) drawn: bool,
}

/// Who is on the same side of the map in all splits that count as equal.
#[derive(Default)]
struct Turns {
    /// These humans, each with their side.
    always: Vec<(usize, u8)>,
    /// The evenness from which on splits may be picked in which one of them is on the other side.
    least: f64,
}

impl Turns {
    /// Whether a split may be picked because it puts one of them on the other side.
    fn admit(&self, candidate: &Candidate) -> bool {
        let mut always = self.always.iter();
        candidate.figures.evenness >= self.least
            && always.any(|&(human, side)| candidate.team_of[human] != side)
    }
}

impl<'a> SplitReader<'a> {
    pub(super) fn new(
        problem: &'a Problem,
        settings: &'a Settings,
        choice: &'a KeptParties,
    ) -> Self {
        let by_chance = settings.objective == Objective::Chance;
        Self {
            problem,
            settings,
            choice,
            model: problem.spec().view.chance.as_ref().filter(|_| by_chance),
            scorer: Scorer::new(problem, &choice.instance),
        }
    }

    /// Whether the figures are more exact than what the engines compare: they compare splits by strengths in a game of
    /// average size, with the bots that are there in teams of average size, and without friends who happen to be on one
    /// team although their party is not kept.
    pub(super) fn is_exact(&self) -> bool {
        let spec = self.problem.spec();
        let apart = !self.choice.given_up.is_empty() || !spec.torn.is_empty();
        let friends = apart && !self.settings.party_multiplier.is_empty();
        self.model.is_some() || !self.problem.bots().is_empty() || friends
    }

    /// Whether it is proven that no legal split is more even than the best one found. A search that reaches the bound of
    /// its own sums stops at the first split that does: where the figures are more exact than these sums, another one can
    /// be more even.
    pub(super) fn is_proven(&self) -> bool {
        let answer = &self.choice.answer;
        answer.exact && !(self.is_exact() && answer.engine == Engine::Search)
    }

    /// What counts in the comparison of teams as the game counts it, where these are weights: friends on one team count
    /// more, also without the rest of their party.
    fn tally(&self, team_of: &[u8]) -> TeamTally {
        let (spec, instance) = (self.problem.spec(), &self.choice.instance);
        let mut tally = instance.tally(team_of);
        let more = |members: &mut dyn Iterator<Item = usize>| {
            let alone = members.map(|who| instance.weights[who]);
            let (count, alone) = alone.fold((0, 0), |(count, sum), one| (count + 1, sum + one));
            (alone as f64 * (self.settings.multiplier(count) - 1.0)).round() as i64
        };
        let as_one = |(at, party): (usize, &'a Vec<usize>)| {
            let kept = party.len() > 1 && !self.choice.given_up.contains(&at);
            let team = team_of[*party.first()?];
            (kept && party.iter().all(|&who| team_of[who] == team)).then_some((team, party))
        };
        let as_one: Vec<_> = (spec.parties.iter().enumerate())
            .filter_map(as_one)
            .collect();
        for party in spec.friends() {
            for (team, sum) in (0u8..).zip(&mut tally.sums) {
                *sum += more(&mut party.iter().copied().filter(|&who| team_of[who] == team));
                let counted = as_one
                    .iter()
                    .filter(|(on, part)| *on == team && party.contains(&part[0]));
                *sum -= counted
                    .map(|(_, part)| more(&mut part.iter().copied()))
                    .sum::<i64>();
            }
        }
        tally
    }

    /// Each team's weight, bots included.
    pub(super) fn sums(&self, team_of: &[u8]) -> Vec<f64> {
        match self.model {
            Some(known) => {
                let sums = self.problem.sums(known, self.settings, team_of);
                sums.after_bot_fill().collect()
            }
            None => {
                let sums = self.tally(team_of).sums.into_iter();
                sums.map(|sum| self.choice.instance.grid.value(sum))
                    .collect()
            }
        }
    }

    /// What is reported of a split, given each human's team. `balance` is how even it is as the engine
    /// has found; it is computed here if it is not known.
    pub(super) fn figures(&self, team_of: &[u8], balance: Option<Evenness>) -> Figures {
        let instance = &self.choice.instance;
        if let Some(known) = self.model {
            let sums = self.problem.sums(known, self.settings, team_of);
            return Figures {
                ratio: sums.ratio_after_bot_fill(),
                gap: instance.tally(team_of).gap(instance),
                evenness: sums.evenness_after_bot_fill(),
                chance: sums.chance_of_first(),
            };
        }
        let tally = self.tally(team_of);
        let balance = balance.filter(|_| !self.is_exact());
        let balance = balance.unwrap_or_else(|| instance.measure.of(tally.counted(instance)));
        Figures {
            ratio: tally.ratio(),
            gap: tally.gap(instance),
            evenness: balance.evenness(),
            chance: None,
        }
    }

    /// A candidate with these teams.
    pub(super) fn candidate(&self, balance: Option<Evenness>, team_of: Vec<u8>) -> Candidate {
        let figures = self.figures(&team_of, balance);
        let mut terms = self.scorer.terms(&team_of, figures.evenness);
        if self.equal_within().is_some() {
            terms.ratio_gap = 0.0;
        }
        Candidate::new(team_of, figures, terms, &self.settings.factors)
    }

    fn equal_within(&self) -> Option<f64> {
        let equal_within = self.problem.spec().equal_within;
        equal_within.filter(|_| self.model.is_some())
    }

    /// The teams that are there already, if they are to be picked instead of `other`. Splits are as even as others from `least` on.
    pub(super) fn stays(&self, other: &Candidate, least: f64) -> Option<Candidate> {
        let spec = self.problem.spec();
        let teams = self.settings.stay.teams()?;
        let on_one = |(human, team): (&HumanInGame, &u8)| {
            *team < spec.view.teams && human.pin.is_none_or(|pin| pin == *team)
        };
        let fit =
            teams.len() == spec.view.humans.len() && spec.view.humans.iter().zip(teams).all(on_one);
        if !fit || !self.problem.counts().are_legal(teams) {
            return None;
        }
        let present = self.candidate(None, teams.to_vec());
        let least = match self.equal_within() {
            Some(_) => other.figures.evenness.min(least),
            None => other.figures.evenness,
        };
        let broken = |terms: &Terms| [terms.broken_parties, terms.avoided_pairs, terms.wishes];
        let (here, there) = (broken(&present.terms), broken(&other.terms));
        let as_good = present.figures.evenness + EQUAL >= least
            && here.iter().zip(there).all(|(here, there)| *here <= there);
        (as_good || matches!(self.settings.stay, Stay::Always(_))).then_some(present)
    }

    /// The splits found, except those less even than the current teams or than tolerated.
    pub(super) fn candidates(
        &self,
        settings: &Settings,
        seed: u64,
        current: Option<&(Evenness, Vec<u8>)>,
    ) -> Candidates {
        let KeptParties {
            instance, answer, ..
        } = self.choice;
        let equal_within = self.equal_within();
        let labels = Labels::new(self.problem, instance, seed);
        let candidate = |balance: Evenness, mut team_of: Vec<u8>| {
            labels.assign(&mut team_of);
            self.candidate(Some(balance), team_of)
        };
        let splits = answer.splits.iter();
        let exact = self.is_exact();
        let kept = splits.filter(|(b, _)| {
            equal_within.is_some() || exact || current.is_none_or(|(now, _)| b >= now)
        });
        let mut list: Vec<Candidate> = kept
            .map(|(b, split)| candidate(*b, instance.teams_of_humans(split)))
            .collect();
        if exact && equal_within.is_none() {
            let now = current.map(|(balance, team_of)| self.figures(team_of, Some(*balance)));
            let now = now.map_or(0.0, |now| now.evenness - ROUNDING);
            list.retain(|candidate| candidate.figures.evenness >= now);
            list.sort_by(|a, b| b.figures.evenness.total_cmp(&a.figures.evenness));
            list.truncate(settings.top.as_usize());
        }
        let best = list.iter().map(|candidate| candidate.figures.evenness);
        let best = best.fold(0.0, f64::max);
        let least = match self.as_even_as(best) {
            // What is best of all that was found in time can be picked in any case.
            Some(least) => least.max(self.choice.least_even).min(best) - ROUNDING,
            None => 0.0,
        };
        let turns = self.turns(&list, best, least);
        list.retain(|candidate| candidate.figures.evenness >= least || turns.admit(candidate));
        let evenness = list.iter().map(|candidate| candidate.figures.evenness);
        let (equal, least) = (least, evenness.fold(least, f64::min));
        if settings.wanted.is_some() {
            // Who asks for other teams does not want any that break more wishes.
            let avoided = list.iter().map(|candidate| candidate.terms.avoided_pairs);
            let fewest = avoided.fold(f64::INFINITY, f64::min);
            list.retain(|candidate| candidate.terms.avoided_pairs <= fewest);
        }
        // A search that is not exact can miss the current teams.
        if let (Some((balance, team_of)), true) = (current, list.is_empty()) {
            list.push(candidate(*balance, team_of.clone()));
        }
        let drawn = least < equal;
        Candidates { list, least, drawn }
    }

    /// Who would always be on the same side of the map, and how little evenness another side may have. `best` is the
    /// evenness of the best candidate, `least` that from which on they count as equal.
    fn turns(&self, list: &[Candidate], best: f64, least: f64) -> Turns {
        let spec = self.problem.spec();
        let model = self
            .model
            .filter(|_| spec.equal_within.is_some() && spec.view.teams == 2);
        let humans = spec.view.humans.len();
        let price = model.map_or(0.0, |model| model.win_model.price_of_sides(humans));
        let mut equal = list
            .iter()
            .filter(|candidate| candidate.figures.evenness >= least);
        // Wishes for a team have their own price.
        let Some(first) = equal.next().filter(|_| price > 0.0 && spec.wishes() == 0) else {
            return Turns::default();
        };
        let sides = (0..).zip(first.team_of.iter().copied());
        let mut always: Vec<(usize, u8)> = sides.collect();
        equal.for_each(|other| always.retain(|&(human, side)| other.team_of[human] == side));
        let chance = (chance_of_weaker(best) - price).max(0.0);
        Turns {
            always,
            least: evenness_of_chance(chance) - ROUNDING,
        }
    }

    /// The evenness from which on splits count as equal to one with the evenness `best`; `None` if there is no limit.
    pub(super) fn as_even_as(&self, best: f64) -> Option<f64> {
        let spec = self.problem.spec();
        match (self.equal_within(), spec.tolerance) {
            (Some(equal_within), _) => Some(least(best, equal_within)),
            (None, tolerance) => tolerance.map(|tolerance| tolerance.least(best)),
        }
    }

    /// For each human, the figures if they alone changed teams. O(humans² × teams).
    pub(super) fn trials(&self, team_of: &[u8]) -> Vec<WhatIf> {
        let spec = self.problem.spec();
        let mut moved = team_of.to_vec();
        let mut trials = Vec::with_capacity(team_of.len());
        for (human, &team) in team_of.iter().enumerate() {
            let others = (0..spec.view.teams).filter(|&other| other != team);
            let best = others.map(|other| {
                moved[human] = other;
                (self.figures(&moved, None), Reverse(other))
            });
            let best = best.max_by(|(a, one), (b, other)| {
                (a.evenness.total_cmp(&b.evenness)).then_with(|| one.cmp(other))
            });
            if let Some((figures, Reverse(other))) = best {
                let who = spec.view.humans[human].id.clone();
                trials.push(WhatIf {
                    who,
                    team,
                    other,
                    figures,
                });
            }
            moved[human] = team;
        }
        trials
    }
}

impl ChanceModel {
    /// The edge for each unit of strength in a game of these players. With more than two teams, each
    /// pair of teams is compared as if they played alone.
    pub(super) fn per_strength(&self, problem: &Problem) -> f64 {
        let size = team_size(problem);
        self.win_model.per_strength_at(2 * size)
    }

    /// The strength that counts for a place that no human has: that of a bot, or where no bots come, what a
    /// team of players of the lobby's mean strength loses by having one player less.
    pub(super) fn of_place(&self, problem: &Problem) -> f64 {
        if problem.spec().view.filling().on {
            return self.next_bot;
        }
        let size = team_size(problem).max(1);
        let mean = self.mean(problem);
        let [fewer, all] = [size - 1, size].map(|heads| TeamLoad::alike(heads, mean));
        let less = self.win_model.heads(fewer, all);
        less / self.win_model.per_strength_at(2 * size - 1)
    }

    /// The mean strength of the humans and of the bots that are there; 0 if there is nobody.
    fn mean(&self, problem: &Problem) -> f64 {
        let teams = problem.bots().iter();
        let bots: usize = teams.clone().map(|team| team.bots).sum();
        let players = self.humans.len() + bots;
        let of_bots = teams.map(|team| team.of_bots.strength);
        let mut all: Vec<f64> = self.humans.iter().copied().chain(of_bots).collect();
        all.sort_by(f64::total_cmp); // the order of the humans must not matter, not even to the last bit
        all.iter().sum::<f64>() / players.max(1) as f64
    }
}

/// The number of players on an average team, rounded up.
fn team_size(problem: &Problem) -> usize {
    let counts = problem.counts();
    let even = counts.humans.div_ceil(counts.teams);
    match problem.spec().view.filling().on {
        true => counts.floor.max(even),
        false => even + problem.bots_there(0).max(problem.bots_there(1)),
    }
}

impl Problem {
    /// The sums of a split's teams as the game counts them, given each human's team: friends on one team count more,
    /// also without the rest of their party. O(humans).
    pub(super) fn sums(
        &self,
        model: &ChanceModel,
        settings: &Settings,
        team_of: &[u8],
    ) -> TeamSums {
        let counted = |weight: f64, strength: f64| Counted {
            weight,
            strength,
            ..Counted::default()
        };
        let (spec, view) = (self.spec(), &self.spec().view);
        let next = counted(view.weight_of_place(), model.next_bot);
        let mut sums = TeamSums::new(spec.teams(), view.filling(), next, Some(model.win_model));
        for (team, there) in self.bots().iter().enumerate() {
            sums.add_bots(team, there.bots, there.of_bots);
        }
        let humans = view.humans.iter().zip(&model.humans);
        for ((human, strength), &team) in humans.zip(team_of) {
            sums.add(usize::from(team), 1, counted(human.weight, *strength));
        }
        for party in spec.friends() {
            for team in 0..spec.teams() {
                let on = |who: &usize| usize::from(team_of[*who]) == team;
                let here = || party.iter().copied().filter(on);
                let count = here().count();
                if count > 1 {
                    let alone =
                        here().map(|who| counted(view.humans[who].weight, model.humans[who]));
                    let alone: Counted = alone.sum();
                    let weight = alone.weight * (settings.multiplier(count) - 1.0);
                    let strength = model.together(here()) - alone.strength;
                    sums.add(team, 0, counted(weight, strength));
                }
            }
        }
        sums
    }
}

/// The evenness from which on a split may be picked if that of the best split is `best`. Chances within `equal_within` of one
/// half count as even. If there are none, those count as equal to the best whose odds are no further from its odds: near
/// one half these are chances within `equal_within` of it, and fewer in a game that is one-sided anyway.
pub(super) fn least(best: f64, equal_within: f64) -> f64 {
    let even = (0.5 - equal_within) / (0.5 + equal_within);
    if best >= even { even } else { best * even }
}

/// Measures the terms of splits of one problem.
pub(super) struct Scorer<'a> {
    problem: &'a Problem,
    /// Humans sorted by key, so that sums round the same whatever the caller's order.
    order: Vec<usize>,
    /// Weights relative to the largest one, or strengths relative to the range of weights; the bots'
    /// is the last entry.
    shares: Vec<f64>,
    /// The pairs to keep apart, each once.
    avoid: Vec<(usize, usize)>,
}

impl<'a> Scorer<'a> {
    pub(crate) fn new(problem: &'a Problem, instance: &AtomInstance) -> Self {
        let spec = problem.spec();
        let mut avoid: Vec<_> = spec
            .avoid
            .iter()
            .map(|&(a, b)| (a.min(b), a.max(b)))
            .collect();
        avoid.sort_unstable();
        avoid.dedup();
        Self {
            problem,
            order: instance
                .atoms
                .iter()
                .flat_map(|atom| &atom.members)
                .copied()
                .collect(),
            shares: shares(&spec.view),
            avoid,
        }
    }

    /// The terms of a split, given each human's team. O(humans + pairs to avoid).
    pub(crate) fn terms(&self, team_of: &[u8], evenness: f64) -> Terms {
        let spec = self.problem.spec();
        let [best_gap, worst_gap, spread_gap] = self.gaps(team_of);
        let together = |&(a, b): &(usize, usize)| team_of[a] == team_of[b];
        let broken = |party: &&Vec<usize>| party.iter().any(|&h| team_of[h] != team_of[party[0]]);
        let elsewhere = |&(human, team): &(&super::HumanInGame, &u8)| {
            human.wish.is_some_and(|wish| wish != *team)
        };
        let moves = |&(human, team): &(&super::HumanInGame, &u8)| {
            human.team.is_some_and(|now| now != *team)
        };
        Terms {
            ratio_gap: 1.0 - evenness,
            best_gap,
            worst_gap,
            spread_gap,
            broken_parties: spec.parties.iter().filter(broken).count() as f64,
            avoided_pairs: self.avoid.iter().filter(|pair| together(pair)).count() as f64,
            moved: spec.view.humans.iter().zip(team_of).filter(moves).count() as f64,
            repeated: self.repeated(team_of),
            weak_again: self.weak_again(team_of),
            newcomers: self.newcomers(team_of),
            wishes: spec
                .view
                .humans
                .iter()
                .zip(team_of)
                .filter(elsewhere)
                .count() as f64,
            uncertain: self.uncertain(team_of),
        }
    }

    /// The share of the turns at the weaker side that have been taken by those who are on it again.
    fn weak_again(&self, team_of: &[u8]) -> f64 {
        let spec = self.problem.spec();
        let Some(weaker) = spec.weaker_side() else {
            return 0.0;
        };
        let turns = || {
            self.order
                .iter()
                .map(|&human| spec.view.humans[human].weak_sides)
        };
        let all: f64 = turns().sum();
        let again = self.order.iter().zip(turns());
        let again = again.filter(|(human, _)| team_of[**human] == weaker);
        let again: f64 = again.map(|(_, turns)| turns).sum();
        if all > 0.0 { again / all } else { 0.0 }
    }

    /// By how many more than one the teams differ in humans of whom nothing is known.
    fn newcomers(&self, team_of: &[u8]) -> f64 {
        let spec = self.problem.spec();
        let mut unknown = [0u32; super::MAX_TEAMS];
        for (human, &team) in spec.view.humans.iter().zip(team_of) {
            unknown[usize::from(team)] += u32::from(human.newcomer);
        }
        let unknown = unknown[..spec.teams()].iter().copied();
        let most = unknown.clone().max().unwrap_or(0);
        let fewest = unknown.min().unwrap_or(0);
        f64::from((most - fewest).saturating_sub(1))
    }

    /// By how much the teams differ in the sums of variances, as a share of all.
    fn uncertain(&self, team_of: &[u8]) -> f64 {
        let spec = self.problem.spec();
        let Some(known) = &spec.view.chance else {
            return 0.0;
        };
        let mut sums = [0.0; super::MAX_TEAMS];
        for &human in &self.order {
            let deviation = known.deviations.get(human).copied().unwrap_or(0.0);
            sums[usize::from(team_of[human])] += deviation * deviation;
        }
        let sums = &sums[..spec.teams()];
        let (least, most) = (sums.iter()).fold((f64::MAX, 0.0f64), |(least, most), sum| {
            (least.min(*sum), most.max(*sum))
        });
        let all: f64 = sums.iter().sum();
        if all > 0.0 { (most - least) / all } else { 0.0 }
    }

    /// The largest minus the smallest over the teams, of their best weights, of their lowest, and of their
    /// deviations.
    fn gaps(&self, team_of: &[u8]) -> [f64; 3] {
        let teams = self.problem.spec().view.teams;
        let bot = self.shares[self.shares.len() - 1];
        // Strengths below a usual player's are negative: no number is the least that a team's best can have.
        let nobody = (f64::MAX, f64::MIN);
        let [mut best, mut worst, mut spread] = [nobody; 3];
        let widen = |range: (f64, f64), value: f64| (range.0.min(value), range.1.max(value));
        for team in 0..teams {
            let shares = || {
                let members = self
                    .order
                    .iter()
                    .filter(move |&&human| team_of[human] == team);
                members.map(|&human| self.shares[human])
            };
            let count = shares().count().max(1) as f64;
            let mean = shares().sum::<f64>() / count;
            let variance = shares().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
            best = widen(best, shares().reduce(f64::max).unwrap_or(bot));
            worst = widen(worst, shares().reduce(f64::min).unwrap_or(bot));
            spread = widen(spread, variance.sqrt());
        }
        [best, worst, spread].map(|(least, most)| most - least)
    }

    /// The share of pairs from the last game that are together again.
    fn repeated(&self, team_of: &[u8]) -> f64 {
        let mut then = [0u32; super::MAX_TEAMS];
        let mut again = [[0u32; super::MAX_TEAMS]; super::MAX_TEAMS];
        for (human, &team) in self.problem.spec().view.humans.iter().zip(team_of) {
            if let Some(last) = human.last {
                then[usize::from(last)] += 1;
                again[usize::from(last)][usize::from(team)] += 1;
            }
        }
        let pairs = |count: &u32| count * count.saturating_sub(1) / 2;
        let all: u32 = then.iter().map(pairs).sum();
        let kept: u32 = again.iter().flatten().map(pairs).sum();
        f64::from(kept) / f64::from(all.max(1))
    }
}

/// What each human, and then a bot, counts beside the largest weight or the range of weights.
fn shares(view: &GameView) -> Vec<f64> {
    if let Some(model) = &view.chance {
        let range = model.win_model.range();
        let all = model.humans.iter().chain([&model.next_bot]);
        return all.map(|strength| strength / range).collect();
    }
    let weights = || {
        let humans = view.humans.iter().map(|human| human.weight);
        humans.chain([view.weight_of_place()])
    };
    let largest = weights().fold(0.0, f64::max);
    let share = |weight: f64| if largest > 0.0 { weight / largest } else { 0.0 };
    weights().map(share).collect()
}
