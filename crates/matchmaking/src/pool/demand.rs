//! Demands: how many players of a kind the hard rules demand on each team, such as one captain. Where the
//! tickets have too few of them, no match of these tickets meets the rules, so no search is needed.

use super::Pool;
use crate::bits::Bits;

/// What one hard rule demands of every match.
#[derive(Debug)]
pub(super) struct RuleDemand {
    /// The place of the rule.
    rule: usize,
    /// Number of players whom it demands on each team.
    each: usize,
    /// The tickets that have such players.
    suppliers: Bits,
}

/// A demand that some tickets cannot meet, whatever the teams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lacking {
    /// The place of the rule that demands it.
    pub rule: usize,
    /// Number of players whom the rule demands on each team.
    pub each: usize,
    /// Number of players whom it demands in a match.
    pub needed: usize,
    /// Number of such players whom the tickets can provide. Of one ticket at most `each` count, since it
    /// is on one team.
    pub provided: usize,
}

impl RuleDemand {
    /// The demands of all hard rules of a pool.
    pub fn of(pool: &Pool<'_>) -> Vec<Self> {
        let rules = pool.queue.rules().iter().zip(&pool.prepared).enumerate();
        let demanding = rules.filter(|(_, (rule, prepared))| rule.hard && prepared.demand() > 0);
        let demand = demanding.map(|(at, (_, prepared))| {
            let tickets = 0..pool.len() as u32;
            let suppliers = tickets.filter(|ticket| prepared.supply(*ticket) > 0);
            Self {
                rule: at,
                each: prepared.demand(),
                suppliers: Bits::of(&suppliers.collect::<Vec<_>>(), pool.len()),
            }
        });
        demand.collect()
    }
}

impl Pool<'_> {
    /// The first demand that these tickets cannot meet; `None` if they can meet each of them.
    ///
    /// Each team of a match has as many players as the rule demands. They come from tickets of this
    /// team alone, so the tickets of a match provide at least `needed` players as [`Lacking`] counts
    /// them. With fewer there is no match.
    pub fn lacking(&self, tickets: &Bits) -> Option<Lacking> {
        self.demands
            .iter()
            .find_map(|demand| self.lacks(demand, tickets))
    }

    fn lacks(&self, demand: &RuleDemand, tickets: &Bits) -> Option<Lacking> {
        let needed = demand.each * self.queue.settings().teams.as_usize();
        if demand.suppliers.len_with(tickets) >= needed {
            return None; // each of them provides at least one player
        }
        let prepared = self.prepared.get(demand.rule)?;
        let suppliers = demand.suppliers.and(tickets);
        let each = suppliers
            .iter()
            .map(|ticket| prepared.supply(ticket).min(demand.each));
        let provided = each.sum();
        (provided < needed).then_some(Lacking {
            rule: demand.rule,
            each: demand.each,
            needed,
            provided,
        })
    }
}
