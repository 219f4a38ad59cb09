//! Backfill: the choice of tickets for the free seats of a match in play.
//!
//! The players who are in the match stay where they are. The tickets that wait are tried in the order of
//! their waits: each alone on each team with free seats, and then together with younger ones, because two
//! tickets can meet a rule that mirrors teams where one cannot. An addition is allowed if
//!
//! - no hard rule is violated more than without it;
//! - once no seat is free any more, all hard rules that the full roster can satisfy hold;
//! - the penalty is accepted, or is lower than without the addition;
//! - the sizes of the teams do not become more different, unless the smaller teams seek nobody.
//!
//! Of the first eight additions, those whose oldest ticket has waited at least half as long as the
//! first one's compete. The one with which the hard rules are violated least is taken; of equal ones, that
//! with the most even teams; of those, that with the oldest ticket. So a ticket that fits is passed over
//! only for others that have waited nearly as long, and not for ever.

mod fill;
mod game;
mod trial;

use std::collections::{BTreeMap, BTreeSet};

use super::{PlanInput, RuleReport, Ticket, pool::Pool};
use game::Game;

/// A match in play that seeks players.
#[derive(Clone, Debug, Default)]
pub struct OpenMatch {
    /// The tickets of each team with those of their players who are in the match, or on their way to it.
    pub teams: Vec<Vec<Ticket>>,
    /// Number of seats of each team that are to be filled.
    pub free: Vec<usize>,
    /// Number of players on each team, with those who are not of the queue.
    pub heads: Vec<usize>,
    /// Number of players of a full team.
    pub size: usize,
    /// How long its oldest ticket had waited when the match was formed, in seconds.
    pub waited: f64,
    /// What the rules picked for the match, such as its `mode` and its `map`.
    pub picks: BTreeMap<String, String>,
    /// The places of tickets that must not join.
    pub barred: BTreeSet<usize>,
}

/// Tickets that join a match in play.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    /// The place of each ticket in the caller's list, and its team.
    pub seats: Vec<(usize, usize)>,
    /// What the violations of rules that are not hard cost together, with these tickets.
    pub penalty: f64,
    /// What each rule finds in the teams with these tickets, computed from scratch.
    pub reports: Vec<RuleReport>,
}

impl PlanInput<'_> {
    /// Finds tickets for the free seats of each match. Returns the additions of each match in order; no ticket is in
    /// two of them.
    pub fn backfill(&self, matches: &[OpenMatch]) -> Vec<Vec<Addition>> {
        let mut all: Vec<Ticket> = self.tickets.to_vec();
        let mut seated = Vec::new();
        for open in matches {
            let mut teams = Vec::new();
            for team in &open.teams {
                let from = all.len();
                // They come after the tickets that wait in the pool's order.
                all.extend(team.iter().cloned().map(|ticket| Ticket {
                    waited: -1.0,
                    ..ticket
                }));
                teams.push(from..all.len());
            }
            seated.push(teams);
        }
        let pool = Pool::new(self.queue, &all, self.outlook);
        let mut numbers = vec![0u32; all.len()];
        for (number, place) in (0u32..).zip(&pool.places) {
            numbers[*place] = number;
        }
        let mut taken = BTreeSet::new();
        let mut found = Vec::new();
        for (open, seated) in matches.iter().zip(seated) {
            let team = |places: &std::ops::Range<usize>| numbers[places.clone()].to_vec();
            let mut game = Game {
                pool: &pool,
                open,
                waiting: self.tickets.len(),
                teams: seated.iter().map(team).collect(),
                free: open.free.clone(),
                heads: open.heads.clone(),
            };
            found.push(game.fill(&mut taken));
        }
        found
    }
}
