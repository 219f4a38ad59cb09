//! The tickets of a round with everything that its searches see, and the form in which that is stored.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use serde::{Deserialize, Serialize};

use super::known::PlayerFacts;
use crate::{
    domain::{Outlook, Timestamp},
    lifecycle::{SearchedPool, TicketNumber},
    matchmaking::{Effort, Known, PlanInput, Queue, QueueSettings, Ticket, TicketSpec},
    store::FoundMatch,
};

/// The longest text of the numbers of a pool's tickets that is stored, in bytes.
const MAX_NUMBERS: usize = 16 * 1024;
/// The longest text of what is known of a pool's players that is stored, in bytes.
const MAX_KNOWN: usize = 256 * 1024;

/// A ticket that waits when a round begins.
#[derive(Clone)]
pub(super) struct Waiting {
    pub number: TicketNumber,
    pub waited: i64,
    pub spec: Arc<TicketSpec>,
}

/// The tickets of a round, and what its searches see of them.
pub(super) struct RoundPool {
    pub numbers: Vec<TicketNumber>,
    pub tickets: Vec<Ticket>,
    pub outlook: Option<Outlook>,
    /// The maps of the queue's last matches, the latest match first.
    pub played: Vec<String>,
}

/// What is stored of what was known when a round began.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFacts<P> {
    /// What was known of each ticket's players, as far as anything was.
    players: BTreeMap<TicketNumber, Vec<P>>,
    /// The maps of the queue's last matches, the latest match first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    played: Vec<String>,
}

impl RoundPool {
    /// The tickets that wait, without those that the queue no longer accepts.
    pub fn new(queue: &Queue, waiting: &[Waiting], facts: &PlayerFacts) -> Self {
        let mut pool = Self {
            numbers: Vec::with_capacity(waiting.len()),
            tickets: Vec::with_capacity(waiting.len()),
            outlook: None,
            played: facts.played.clone(),
        };
        for one in waiting {
            pool.add(queue, one, &mut |id| facts.known(id));
        }
        pool.outlook = facts.outlook(queue, &pool.tickets);
        pool
    }

    fn add(&mut self, queue: &Queue, one: &Waiting, known: &mut dyn FnMut(&str) -> Known) {
        if let Ok(mut ticket) = queue.ticket(&one.spec, known) {
            ticket.waited = one.waited as f64 / 1_000.0;
            self.numbers.push(one.number);
            self.tickets.push(ticket);
        }
    }

    /// What the planner works on.
    pub fn input<'a>(&'a self, queue: &'a Queue, seed: u64, effort: Effort) -> PlanInput<'a> {
        PlanInput {
            outlook: self.outlook,
            played: &self.played,
            seed,
            effort,
            ..PlanInput::new(queue, &self.tickets)
        }
    }

    /// The form in which it is stored; `None` if that is too large.
    pub fn stored(&self, input: &PlanInput<'_>, at: Timestamp) -> Option<SearchedPool> {
        let empty = |player: &Known| *player == Known::default();
        let mut players = BTreeMap::new();
        for (number, ticket) in self.numbers.iter().zip(&self.tickets) {
            let known = ticket.players.iter().map(|player| &player.known);
            let known: Vec<&Known> = known.collect();
            if !known.iter().all(|player| empty(player)) {
                players.insert(*number, known);
            }
        }
        let played = self.played.clone();
        let known = serde_json::to_string(&StoredFacts { players, played }).ok()?;
        let outlook = self.outlook.as_ref().map(serde_json::to_string);
        let tickets = runs(&self.numbers);
        if tickets.len() > MAX_NUMBERS || known.len() > MAX_KNOWN {
            return None;
        }
        Some(SearchedPool {
            queue: input.queue.name().to_owned(),
            settings: serde_json::to_string(input.queue.settings()).ok()?,
            seed: input.seed,
            effort: input.effort.get(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            searched_at: at,
            tickets,
            known,
            outlook: outlook.transpose().ok()?,
        })
    }

    /// The queue and the pool that a stored form describes; else what is missing, as a sentence.
    pub fn restored(found: &FoundMatch) -> Result<(Queue, Self), String> {
        let Some(pool) = &found.pool else {
            return Err(
                "its pool is not stored: it was too large, or newer pools have replaced it"
                    .to_owned(),
            );
        };
        let damaged = |what: &str| format!("its pool is damaged: {what}");
        let settings: QueueSettings = serde_json::from_str(&pool.settings)
            .map_err(|_| damaged("the settings of the queue"))?;
        let queue =
            Queue::new(&pool.queue, settings).map_err(|error| damaged(&error.to_string()))?;
        let known: Result<StoredFacts<Known>, _> = serde_json::from_str(&pool.known);
        let StoredFacts {
            mut players,
            played,
        } = known.map_err(|_| damaged("what was known of the players"))?;
        let outlook = pool.outlook.as_deref().map(serde_json::from_str);
        let mut restored = Self {
            numbers: Vec::new(),
            tickets: Vec::new(),
            outlook: outlook.transpose().map_err(|_| damaged("the outlook"))?,
            played,
        };
        let numbers =
            numbers(&pool.tickets).ok_or_else(|| damaged("the numbers of the tickets"))?;
        let stored: BTreeMap<TicketNumber, _> = found
            .tickets
            .iter()
            .map(|record| (record.number, record))
            .collect();
        for number in &numbers {
            let Some(record) = stored.get(number) else {
                continue;
            };
            let waited = pool.searched_at.0.saturating_sub(record.submitted_at.0);
            let one = Waiting {
                number: *number,
                waited: waited.max(0),
                spec: record.ticket.spec.clone(),
            };
            let mut known = players.remove(number).unwrap_or_default().into_iter();
            restored.add(&queue, &one, &mut |_| known.next().unwrap_or_default());
        }
        match restored.numbers.len() == numbers.len() {
            true => Ok((queue, restored)),
            false => Err(format!(
                "its pool is gone: {} of its {} tickets are no longer stored",
                numbers.len() - restored.numbers.len(),
                numbers.len()
            )),
        }
    }
}

/// The numbers as text, with runs shortened: `3-7 9`.
fn runs(numbers: &[TicketNumber]) -> String {
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
    }
    text
}

/// The numbers of a text such as `3-7 9`; `None` if it is no such text, or has too many.
fn numbers(text: &str) -> Option<Vec<TicketNumber>> {
    let mut numbers = Vec::new();
    for run in text.split_whitespace() {
        let (first, last) = run.split_once('-').unwrap_or((run, run));
        let (first, last): (TicketNumber, TicketNumber) = (first.parse().ok()?, last.parse().ok()?);
        let count = usize::try_from(last.checked_sub(first)?).ok()?;
        if numbers.len() + count >= crate::lifecycle::MAX_WAITING {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_tickets_are_short_and_are_read_back() {
        for (numbered, text) in [
            (&[][..], ""),
            (&[3, 4, 5, 7, 9, 10], "3-5 7 9-10"),
            (&[0], "0"),
        ] {
            assert_eq!(runs(numbered), text);
            assert_eq!(numbers(text).unwrap(), numbered);
        }
        for wrong in ["x", "5-3", "1-", "0-999999999999", "-3"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}
