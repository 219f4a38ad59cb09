//! One round: the tickets of a queue go into the planner, and proposals come out.

use std::{
    fmt::Write,
    sync::{Arc, atomic::AtomicBool},
};

use super::known::Facts;
use crate::{
    domain::{Kind, LineupPlayer, PlayerKey, Timestamp},
    matchmaking::{Effort, OneCore, PlannedMatch, Queue, Ticket, TicketSpec, plan},
    tickets::{Proposal, TicketNumber},
};

/// The longest text of a round's tickets that is stored with a match, in bytes.
const MAX_POOL: usize = 16 * 1024;

/// A ticket that waits when a round begins.
pub(super) struct Waiting {
    pub number: TicketNumber,
    pub waited: i64,
    pub content: String,
}

/// A round that has not begun.
pub(super) struct Round {
    pub queue: Arc<Queue>,
    pub waiting: Vec<Waiting>,
    pub facts: Facts,
    pub seed: u64,
    pub at: Timestamp,
    pub cancelled: Arc<AtomicBool>,
}

/// What a round has found.
pub(super) struct Found {
    pub queue: String,
    pub proposals: Vec<Proposal>,
    /// The other tickets, each with the reason.
    pub left: Vec<(TicketNumber, String)>,
}

impl Round {
    /// Searches. Takes up to seconds of a core.
    pub fn run(self) -> Found {
        let mut numbers = Vec::with_capacity(self.waiting.len());
        let mut tickets = Vec::with_capacity(self.waiting.len());
        for waiting in &self.waiting {
            if let Some(ticket) = self.ticket(waiting) {
                numbers.push(waiting.number);
                tickets.push(ticket);
            }
        }
        let effort = Effort::default();
        let plan = plan(
            &self.queue,
            &tickets,
            self.seed,
            effort,
            &OneCore,
            &self.cancelled,
        );
        let pool = pool(&numbers);
        let number = |at: &usize| numbers.get(*at).copied();
        let proposal = |found: &PlannedMatch| Proposal {
            teams: found
                .teams
                .iter()
                .map(|team| team.iter().filter_map(number).collect())
                .collect(),
            size: u32::try_from(found.size).unwrap_or(u32::MAX),
            mode: found.picks.get("mode").cloned(),
            map: found.picks.get("map").cloned(),
            penalty: found.penalty,
            chance: self.chance(found, &tickets),
            seed: self.seed,
            pool: pool.clone(),
            searched_at: self.at,
        };
        let left = plan
            .left
            .iter()
            .filter_map(|left| Some((number(&left.ticket)?, left.reason.clone())));
        Found {
            queue: self.queue.name().to_owned(),
            proposals: plan.matches.iter().map(proposal).collect(),
            left: left.collect(),
        }
    }

    fn ticket(&self, waiting: &Waiting) -> Option<Ticket> {
        let mut spec: TicketSpec = serde_json::from_str(&waiting.content).ok()?;
        spec.waited = waiting.waited as f64 / 1_000.0;
        self.queue.ticket(spec, &mut |id| self.facts.known(id)).ok()
    }

    /// The chance that team 0 wins.
    fn chance(&self, found: &PlannedMatch, tickets: &[Ticket]) -> Option<f64> {
        let players = |&at: &usize| {
            let ticket = tickets.get(at);
            let is_party = ticket.is_some_and(|ticket| ticket.players.len() > 1);
            let players = ticket.into_iter().flat_map(|ticket| &ticket.players);
            players.map(move |player| LineupPlayer {
                key: PlayerKey {
                    kind: Kind::Human,
                    id: player.id.clone(),
                },
                party: u32::try_from(at).ok().filter(|_| is_party),
                commands: false,
            })
        };
        let teams: Vec<Vec<_>> = found
            .teams
            .iter()
            .map(|team| team.iter().flat_map(players).collect())
            .collect();
        let map = found.picks.get("map").map_or("", String::as_str);
        let chance = self
            .facts
            .standings
            .chance(&self.facts.ruleset, map, &teams);
        chance.filter(|chance| (0.0..=1.0).contains(chance))
    }
}

/// The numbers as text, with runs shortened: `3-7 9`. Empty if that is too long.
fn pool(numbers: &[TicketNumber]) -> String {
    let mut text = String::new();
    for run in numbers.chunk_by(|one, next| one.saturating_add(1) == *next) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            continue;
        };
        let space = if text.is_empty() { "" } else { " " };
        let _ = match first == last {
            true => write!(text, "{space}{first}"),
            false => write!(text, "{space}{first}-{last}"),
        };
        if text.len() > MAX_POOL {
            return String::new();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_tickets_are_short() {
        assert_eq!(pool(&[]), "");
        assert_eq!(pool(&[3, 4, 5, 7, 9, 10]), "3-5 7 9-10");
        let odd: Vec<TicketNumber> = (0..20_000).map(|n| 2 * n).collect();
        assert_eq!(pool(&odd), "");
    }
}
