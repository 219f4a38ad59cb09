//! A queue in virtual time: people who queue, wait, play and queue again, and the rounds of the
//! planner between them.
//!
//! The simulation has no clock: it moves from event to event. It does not search either. The caller
//! moves on to the [next round](Simulation::next_round), gives what it [works on](Simulation::round) to
//! the planner as the daemon does, and hands over what that has [found](Simulation::found). Rounds
//! begin as in the daemon. What a round has found takes effect after a third of the time until the
//! next: a daemon whose searches take longer waits longer before the next.
//!
//! A party is in one of four states: away (playing or resting), in the queue, asked whether it
//! accepts, or away for good, once the time of the simulation is over.

mod agenda;
mod closeness;
mod crowd;
mod labels;
mod line;
mod past;
mod picked;
mod ready;
mod report;
mod settings;
#[cfg(test)]
mod tests;
mod visits;
mod waits;

use std::collections::BTreeMap;

use crate::{
    matchmaking::{
        AGAIN_MILLIS, Effort, Plan, PlanInput, PlannedMatch, Queue, REST, Ticket, TicketError,
    },
    model::seeded_hash,
};
use agenda::{Agenda, CrowdEvent};
use crowd::Crowd;
use line::{WaitingLine, WaitingParty};
use past::Past;
pub use picked::PickShares;
use ready::AskedMatch;
use report::{Findings, Tallies};
pub use report::{MatchQuantiles, SimulationReport};
pub use settings::SimulationSettings;
pub use waits::CategoryWaits;

/// A simulation of one queue.
pub struct Simulation<'q> {
    queue: &'q Queue,
    settings: SimulationSettings,
    crowd: Crowd<'q>,
    agenda: Agenda,
    /// The time in milliseconds.
    now: u64,
    end: u64,
    line: WaitingLine,
    /// Number of tickets that each party has submitted.
    visits: Vec<u32>,
    /// When the last round began.
    began: Option<u64>,
    /// Whether tickets have come or gone since then.
    stale: bool,
    found: Vec<SimulatedMatch>,
    /// The matches that not all players have accepted yet.
    asked: BTreeMap<u64, AskedMatch>,
    /// The last matches of the players.
    past: Past,
    tallies: Tallies,
    /// Why the queue has refused a ticket, if it has.
    refused: Option<TicketError>,
}

/// A proposal of the last round.
struct SimulatedMatch {
    /// The parties, each with the number of its ticket.
    parties: Vec<(usize, u32)>,
    findings: Findings,
}

impl<'q> Simulation<'q> {
    /// Draws the players. At the beginning all of them are away; they arrive evenly over the length of
    /// a match.
    pub fn new(queue: &'q Queue, settings: SimulationSettings) -> Self {
        let settings = settings.bounded();
        let crowd = Crowd::new(queue, settings);
        let mut agenda = Agenda::default();
        for party in 0..crowd.len() {
            let until = settings.battle + settings.rest;
            agenda.add(
                millis(until * crowd.visit(party, 0).unit()),
                CrowdEvent::Arrive(party),
            );
        }
        Self {
            queue,
            settings,
            visits: vec![0; crowd.len()],
            crowd,
            agenda,
            now: 0,
            end: millis(settings.length),
            line: WaitingLine::default(),
            began: None,
            stale: false,
            found: Vec::new(),
            asked: BTreeMap::new(),
            past: Past::new(queue),
            tallies: Tallies::default(),
            refused: None,
        }
    }

    /// Moves the time to the beginning of the next round. Returns whether there is one before the end.
    ///
    /// # Errors
    /// Fails if the queue refuses a ticket.
    pub fn next_round(&mut self) -> Result<bool, TicketError> {
        loop {
            let round = self.round_at().filter(|at| *at < self.end);
            let event = self.agenda.next_at().filter(|at| *at < self.end);
            match (round, event) {
                (Some(round), event) if event.is_none_or(|event| event > round) => {
                    self.now = round;
                    self.began = Some(round);
                    self.stale = false;
                    self.line.refresh(round);
                    self.tallies.rounds += 1;
                    self.tallies.waiting += self.line.tickets().len() as u64;
                    return Ok(true);
                }
                (None, None) => return Ok(false),
                _ => {}
            }
            if let Some((at, event)) = self.agenda.take() {
                self.now = at;
                self.happen(event);
            }
            if let Some(error) = self.refused.take() {
                return Err(error);
            }
        }
    }

    /// When the next round begins, if any ticket waits.
    fn round_at(&self) -> Option<u64> {
        if self.line.tickets().is_empty() {
            return None;
        }
        let spacing = self.settings.spacing_millis;
        let spacing = if self.stale {
            spacing
        } else {
            spacing.max(AGAIN_MILLIS)
        };
        let next = self.began.map_or(0, |began| began + spacing);
        Some(next.max(self.now))
    }

    /// What the planner works on in the round.
    pub fn round(&self, effort: Effort) -> PlanInput<'_> {
        PlanInput {
            seed: seeded_hash(self.settings.seed, self.tallies.rounds.to_le_bytes()),
            effort,
            played: self.past.played(),
            ..PlanInput::new(self.queue, self.line.tickets())
        }
    }

    /// How long a round may take before the daemon would begin the next one later, in seconds.
    pub fn allowed(&self) -> f64 {
        self.settings.spacing_millis as f64 / 1_000.0 / f64::from(REST)
    }

    /// The virtual time, in seconds.
    pub fn now(&self) -> f64 {
        self.now as f64 / 1_000.0
    }

    /// Takes what the planner has found for the round's tickets.
    pub fn found(&mut self, plan: &Plan) {
        let found = plan.matches.iter().map(|found| self.proposal(found));
        self.found = found.collect();
        if !self.found.is_empty() {
            let search = self.settings.spacing_millis / u64::from(REST);
            self.agenda.add(self.now + search, CrowdEvent::Commit);
        }
    }

    fn proposal(&self, found: &PlannedMatch) -> SimulatedMatch {
        let tickets = self.line.tickets();
        let places = || found.teams.iter().flatten();
        let parties = places().filter_map(|place| self.line.at(*place));
        let strengths = found.teams.iter().map(|team| {
            let parties = team.iter().filter_map(|place| self.line.at(*place));
            parties
                .flat_map(|waiting| self.crowd.strengths(waiting.party))
                .collect()
        });
        SimulatedMatch {
            parties: parties
                .map(|waiting| (waiting.party, waiting.visit))
                .collect(),
            findings: Findings {
                size: found.size,
                penalty: found.penalty,
                picks: found.picks.clone(),
                gap: closeness::gap(self.queue, tickets, found),
                chance: closeness::chance(strengths),
                rules: self.queue.explain(tickets, found),
            },
        }
    }

    fn happen(&mut self, event: CrowdEvent) {
        match event {
            CrowdEvent::Arrive(party) => self.arrive(party),
            CrowdEvent::GiveUp(party, visit) => self.give_up(party, visit),
            CrowdEvent::Commit => self.commit(),
            CrowdEvent::Decline(id, party) => self.decline(id, party),
            CrowdEvent::Accept(id) => self.accept(id),
        }
    }

    /// Forms the matches that the last round has found.
    fn commit(&mut self) {
        for found in std::mem::take(&mut self.found) {
            let waits = |&(party, visit): &(usize, u32)| {
                self.line
                    .get(party)
                    .is_some_and(|waiting| waiting.visit == visit)
            };
            if !found.parties.iter().all(waits) {
                self.tallies.dropped += 1;
                continue;
            }
            self.stale = true;
            let parties = found.parties.iter();
            let seats = parties
                .filter_map(|(party, _)| self.line.remove(*party))
                .collect();
            match self.queue.settings().ready_check.get() {
                0 => self.play(seats, found.findings),
                seconds => self.ask(seats, found.findings, seconds),
            }
        }
    }

    /// Begins a match.
    fn play(&mut self, seats: Vec<(Ticket, WaitingParty)>, findings: Findings) {
        let players: usize = seats.iter().map(|(ticket, _)| ticket.players.len()).sum();
        let picks = &findings.picks;
        self.tallies.picked.add(&seats, picks, &self.past);
        self.past.add(&seats, picks);
        self.tallies.add_match(players, findings);
        for (_, waiting) in seats {
            self.tallies.counts.matched += 1;
            self.leave(&waiting, true);
        }
    }

    /// What the simulation has found until now.
    pub fn report(mut self) -> SimulationReport {
        let asked: usize = self.asked.values().map(|asked| asked.seats.len()).sum();
        self.tallies.counts.left = (self.line.tickets().len() + asked) as u64;
        let full = self.queue.settings().size.as_usize();
        SimulationReport {
            queue: self.queue.name().to_owned(),
            online: self.settings.online,
            seconds: self.settings.length,
            seed: self.settings.seed,
            ..self.tallies.report(full)
        }
    }
}

fn millis(seconds: f64) -> u64 {
    (seconds * 1_000.0).round() as u64
}
