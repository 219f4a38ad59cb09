//! What a simulation has found.
//!
//! - How close a match of a simulation is.
//! - What the rules picked for the matches of a simulation, such as their maps, and how often players had the same as
//!   in their last match.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    WaitingParty,
    crowd::{Crowd, RecentMatches},
    waits::{CategoryWaits, WaitLabels},
};
use crate::matchmaking::{PlannedMatch, Queue, RuleReport, Ticket};

/// What became of the tickets. Each ticket that was queued is in one of the other counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TicketCounts {
    /// Tickets that were submitted.
    pub queued: u64,
    /// Tickets that had a match.
    pub matched: u64,
    /// Tickets that were cancelled, since their players had no more patience.
    pub cancelled: u64,
    /// Tickets that left because a player declined a match.
    pub declined: u64,
    /// Tickets that waited until the end of their time to live.
    pub expired: u64,
    /// Tickets that wait at the end, or are asked whether they accept a match.
    pub left: u64,
}

/// The matches with teams of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeShare {
    /// Number of players of a team.
    pub size: usize,
    /// Number of matches.
    pub matches: u64,
    /// The share of all matched players who are in them.
    pub players: f64,
}

/// What a rule found in all matches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleShare {
    /// The name of the rule.
    pub rule: String,
    /// Whether it holds in every match that is formed.
    pub hard: bool,
    /// Number of matches that violate it, evaluated from scratch.
    pub violated: u64,
    /// What the violations cost, per match.
    pub cost: f64,
}

/// The quantiles of a number over all matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MatchQuantiles {
    /// The number that half of the matches do not exceed.
    pub p50: f64,
    /// The number that 95 % of the matches do not exceed.
    pub p95: f64,
    /// The largest number of any match.
    pub most: f64,
}

impl MatchQuantiles {
    pub(super) fn of(mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (share * numbers.len() as f64).ceil() as usize;
            numbers.get(rank.max(1) - 1).copied().unwrap_or(0.0)
        };
        Self {
            p50: at(0.5),
            p95: at(0.95),
            most: at(1.0),
        }
    }
}

/// How close the matches were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MatchCloseness {
    /// The largest minus the smallest sum of a team, of the attribute by which the queue makes teams
    /// even.
    pub gap: MatchQuantiles,
    /// How far from even the chance of the strongest of the teams is, by Elo's formula on the teams' mean
    /// strengths.
    pub chance: MatchQuantiles,
}

/// For plots: within how many seconds which share of the waits ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitCurve {
    /// What the tickets have in common.
    pub category: String,
    /// Seconds and shares, both ascending.
    pub points: Vec<(f64, f64)>,
}

/// The outcome of a simulation. It depends on the queue, the settings and the effort alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimulationReport {
    /// The name of the queue.
    pub queue: String,
    /// Number of players online.
    pub online: usize,
    /// How long it went on, in seconds of virtual time.
    pub seconds: f64,
    /// The seed of all random numbers.
    pub seed: u64,
    /// What became of the tickets.
    pub tickets: TicketCounts,
    /// Number of players of all tickets.
    pub players: u64,
    /// Number of rounds.
    pub rounds: u64,
    /// Number of tickets that waited when a round began, on average.
    pub waiting: f64,
    /// Number of matches.
    pub matches: u64,
    /// Proposals dropped because a ticket left the queue during the search.
    pub dropped: u64,
    /// Matches that ended because a player declined.
    pub dissolved: u64,
    /// The share of matched players whose match had full teams.
    pub full: f64,
    /// The matches by the size of their teams, the largest first.
    pub sizes: Vec<SizeShare>,
    /// What the violations of the rules that are not hard cost together, over all matches.
    pub penalty: MatchQuantiles,
    /// What each rule found.
    pub rules: Vec<RuleShare>,
    /// What the rules picked for the matches, such as their maps.
    pub picks: Vec<PickShares>,
    /// How close the matches were.
    pub closeness: MatchCloseness,
    /// The waits of all tickets, then by category.
    pub waits: Vec<CategoryWaits>,
    /// The pairs of categories with the longest waits, by their 95th percentile.
    pub worst: Vec<CategoryWaits>,
    /// The distributions of the waits of all tickets, then by number of players.
    pub curves: Vec<WaitCurve>,
}

/// What is counted while a simulation runs.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    pub counts: TicketCounts,
    pub players: u64,
    pub rounds: u64,
    pub waiting: u64,
    pub matches: u64,
    pub dropped: u64,
    pub dissolved: u64,
    pub labels: WaitLabels,
    pub picked: PickCounts,
    sizes: BTreeMap<usize, (u64, u64)>,
    rules: Vec<RuleShare>,
    penalties: Vec<f64>,
    gaps: Vec<f64>,
    chances: Vec<f64>,
}

/// What is known of a match when it is formed.
#[derive(Clone, Debug)]
pub(super) struct MatchFindings {
    pub size: usize,
    pub penalty: f64,
    pub gap: f64,
    pub chance: f64,
    pub picks: BTreeMap<String, String>,
    pub rules: Vec<RuleReport>,
}

impl Tallies {
    /// Counts a match with this number of players.
    pub fn add_match(&mut self, players: usize, found: MatchFindings) {
        self.matches += 1;
        let size = self.sizes.entry(found.size).or_default();
        *size = (size.0 + 1, size.1 + players as u64);
        self.penalties.push(found.penalty);
        self.gaps.push(found.gap);
        self.chances.push(found.chance);
        for (at, report) in found.rules.into_iter().enumerate() {
            if self.rules.len() <= at {
                let RuleReport { rule, hard, .. } = report;
                self.rules.push(RuleShare {
                    rule,
                    hard,
                    violated: 0,
                    cost: 0.0,
                });
            }
            if let Some(rule) = self.rules.get_mut(at) {
                rule.violated += u64::from(report.violation > 0.0);
                rule.cost += report.cost;
            }
        }
    }

    /// The report, without what only the simulation knows.
    pub fn report(self, full_size: usize) -> SimulationReport {
        let seated: u64 = self.sizes.values().map(|(_, players)| players).sum();
        let share = |players: u64| players as f64 / seated.max(1) as f64;
        let size = |(size, (matches, players)): (&usize, &(u64, u64))| SizeShare {
            size: *size,
            matches: *matches,
            players: share(*players),
        };
        let mut rules = self.rules;
        rules
            .iter_mut()
            .for_each(|rule| rule.cost /= self.matches.max(1) as f64);
        let mut waits = vec![self.labels.all()];
        waits.extend(self.labels.waits());
        let curve = |(category, points)| WaitCurve { category, points };
        SimulationReport {
            queue: String::new(),
            online: 0,
            seconds: 0.0,
            seed: 0,
            tickets: self.counts,
            players: self.players,
            rounds: self.rounds,
            waiting: self.waiting as f64 / self.rounds.max(1) as f64,
            matches: self.matches,
            dropped: self.dropped,
            dissolved: self.dissolved,
            full: share(
                self.sizes
                    .get(&full_size)
                    .map_or(0, |(_, players)| *players),
            ),
            sizes: self.sizes.iter().rev().map(size).collect(),
            penalty: MatchQuantiles::of(self.penalties),
            rules,
            picks: self.picked.shares(),
            closeness: MatchCloseness {
                gap: MatchQuantiles::of(self.gaps),
                chance: MatchQuantiles::of(self.chances),
            },
            waits,
            worst: self.labels.worst(5),
            curves: self.labels.curves().into_iter().map(curve).collect(),
        }
    }
}

/// The largest minus the smallest sum of a team, of the attribute by which the queue makes teams even.
pub(super) fn gap(queue: &Queue, tickets: &[Ticket], found: &PlannedMatch) -> f64 {
    let players = |place: &usize| tickets.get(*place).into_iter().flat_map(|t| &t.players);
    let number = |player| queue.number_to_even(player);
    let teams = found.teams.iter();
    ends(teams.map(|team| team.iter().flat_map(players).map(number).sum()))
}

/// How far the best team's chance against the worst is from even, by Elo's formula on the means of the
/// players' ratings; `teams` has their strengths.
pub(super) fn chance(teams: impl Iterator<Item = Vec<f64>>) -> f64 {
    let mean = |team: Vec<f64>| {
        let players = team.len().max(1) as f64;
        team.into_iter().map(Crowd::rating).sum::<f64>() / players
    };
    1.0 / (1.0 + libm::pow(10.0, -ends(teams.map(mean)) / 400.0)) - 0.5
}

/// The largest minus the smallest number.
fn ends(numbers: impl Iterator<Item = f64>) -> f64 {
    let ends = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, number| {
        (number.min(ends.0), number.max(ends.1))
    });
    (ends.1 - ends.0).max(0.0)
}

/// How often each word was picked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PickShares {
    /// What was picked: `map` or `mode`.
    pub pick: String,
    /// The words, the most frequent first.
    pub words: Vec<WordShare>,
    /// Of the players who had a match before, the share for whom the same was picked as in that.
    pub again: f64,
}

/// How often a word was picked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WordShare {
    /// The word, such as the name of a map.
    pub word: String,
    /// Number of matches.
    pub matches: u64,
    /// The share of all matches.
    pub share: f64,
}

/// The counts while a simulation runs, by what was picked.
#[derive(Debug, Default)]
pub(super) struct PickCounts(BTreeMap<String, SimulatedCounts>);

#[derive(Debug, Default)]
struct SimulatedCounts {
    words: BTreeMap<String, u64>,
    /// The players of matches who had one before, and those of them who had the same word in that.
    players: u64,
    again: u64,
}

impl PickCounts {
    /// Counts a match, of players whose last matches are in the past.
    pub fn add(
        &mut self,
        seats: &[(Ticket, WaitingParty)],
        picks: &BTreeMap<String, String>,
        past: &RecentMatches,
    ) {
        for (pick, word) in picks {
            let counts = self.0.entry(pick.clone()).or_default();
            *counts.words.entry(word.clone()).or_default() += 1;
            for (ticket, waiting) in seats {
                let Some(last) = past.last(waiting.party) else {
                    continue;
                };
                let players = ticket.players.len() as u64;
                counts.players += players;
                if last.get(pick) == Some(word) {
                    counts.again += players;
                }
            }
        }
    }

    /// The shares of all matches.
    pub fn shares(self) -> Vec<PickShares> {
        let shares = self.0.into_iter().map(|(pick, counts)| {
            let all: u64 = counts.words.values().sum();
            let share = |(word, matches): (String, u64)| WordShare {
                word,
                matches,
                share: matches as f64 / all.max(1) as f64,
            };
            let mut words: Vec<WordShare> = counts.words.into_iter().map(share).collect();
            words.sort_by_key(|word| std::cmp::Reverse(word.matches));
            PickShares {
                pick,
                words,
                again: counts.again as f64 / counts.players.max(1) as f64,
            }
        });
        shares.collect()
    }
}
