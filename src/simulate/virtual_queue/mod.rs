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
//!
//! - The settings of a simulation, and what happens next in it.
//! - The ready check of a simulated queue.
//! - The tickets that wait, side by side with what the simulation knows of them.
//! - The way of one ticket: its party queues, gives up or has had its match, and comes back later.

mod crowd;
mod report;
#[cfg(test)]
mod tests;
mod waits;

pub use report::{MatchQuantiles, SimulationReport};
pub use waits::CategoryWaits;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, HashMap},
    time::Duration,
};

use crate::{
    matchmaking::{
        Effort, Plan, Queue, Ticket,
        attribute::MAX_WORDS,
        draw::{exponential, log_normal},
        planner::{PlanInput, PlannedMatch},
        queue::RoundSpacing,
        ticket::TicketError,
    },
    model::random::seeded_hash,
    simulate::{
        Load,
        virtual_queue::{
            crowd::{Crowd, RecentMatches},
            report::{MatchFindings, Tallies},
        },
    },
};

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
    past: RecentMatches,
    tallies: Tallies,
    /// Why the queue has refused a ticket, if it has.
    refused: Option<TicketError>,
}

/// A proposal of the last round.
struct SimulatedMatch {
    /// The parties, each with the number of its ticket.
    parties: Vec<(usize, u32)>,
    findings: MatchFindings,
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
            past: RecentMatches::new(queue),
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
        // What a search costs depends on the machine, and nothing here does.
        let spacing = self.settings.spacing().after(self.stale, Duration::ZERO);
        let spacing = spacing.as_millis() as u64;
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

    /// The virtual time, in seconds.
    pub fn now(&self) -> f64 {
        self.now as f64 / 1_000.0
    }

    /// Takes what the planner has found for the round's tickets.
    pub fn found(&mut self, plan: &Plan) {
        let found = plan.matches.iter().map(|found| self.proposal(found));
        self.found = found.collect();
        if !self.found.is_empty() {
            let search = self.settings.spacing().free_search().as_millis() as u64;
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
            findings: MatchFindings {
                size: found.size,
                penalty: found.penalty,
                picks: found.picks.clone(),
                gap: report::gap(self.queue, tickets, found),
                chance: report::chance(strengths),
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
    fn play(&mut self, seats: Vec<(Ticket, WaitingParty)>, findings: MatchFindings) {
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

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CrowdEvent {
    /// A party queues.
    Arrive(usize),
    /// The patience of a party's so-and-so-many-th ticket ends, or its time to live.
    GiveUp(usize, u32),
    /// The search of a round has ended.
    Commit,
    /// A player of a party declines a match.
    Decline(u64, usize),
    /// The last player accepts a match.
    Accept(u64),
}

/// Events in the order of their times; those of one time in the order in which they were added.
#[derive(Debug, Default)]
struct Agenda {
    events: BinaryHeap<Reverse<(u64, u64, CrowdEvent)>>,
    added: u64,
}

impl Agenda {
    /// Adds an event at a time in milliseconds.
    pub fn add(&mut self, at: u64, event: CrowdEvent) {
        self.events.push(Reverse((at, self.added, event)));
        self.added += 1;
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<u64> {
        self.events.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the next event, with its time.
    pub fn take(&mut self) -> Option<(u64, CrowdEvent)> {
        let Reverse((at, _, event)) = self.events.pop()?;
        Some((at, event))
    }
}

/// A match that not all players have accepted yet.
struct AskedMatch {
    pub seats: Vec<(Ticket, WaitingParty)>,
    findings: MatchFindings,
}

impl Simulation<'_> {
    /// Asks all players of a match. The first who declines, or is too late, ends it.
    fn ask(&mut self, seats: Vec<(Ticket, WaitingParty)>, findings: MatchFindings, seconds: u32) {
        let id = self.tallies.matches + self.tallies.dissolved + self.asked.len() as u64;
        let (mut last, mut declined) = (0.0_f64, None::<(f64, usize)>);
        for (ticket, waiting) in &seats {
            // The numbers of the ticket and of this match.
            let mut stream = self
                .crowd
                .visit(waiting.party, waiting.visit ^ (id as u32) << 8);
            for _ in &ticket.players {
                let answer = exponential(self.settings.answer, &mut stream);
                let at = answer.min(f64::from(seconds));
                let declines = stream.unit() < self.settings.declines;
                if (declines || answer > at) && declined.is_none_or(|(first, _)| at < first) {
                    declined = Some((at, waiting.party));
                }
                last = last.max(at);
            }
        }
        let (after, event) = match declined {
            Some((at, party)) => (at, CrowdEvent::Decline(id, party)),
            None => (last, CrowdEvent::Accept(id)),
        };
        self.agenda.add(self.now + millis(after), event);
        self.asked.insert(id, AskedMatch { seats, findings });
    }

    /// Ends a match that a party does not want: its ticket leaves, the others go back with the time that
    /// they have waited.
    fn decline(&mut self, id: u64, party: usize) {
        let Some(asked) = self.asked.remove(&id) else {
            return;
        };
        self.tallies.dissolved += 1;
        for (ticket, waiting) in asked.seats {
            if waiting.party == party {
                self.tallies.counts.declined += 1;
                self.leave(&waiting, false);
            } else {
                self.enter(ticket, waiting);
            }
        }
    }

    /// Begins a match that all players have accepted.
    fn accept(&mut self, id: u64) {
        if let Some(asked) = self.asked.remove(&id) {
            self.play(asked.seats, asked.findings);
        }
    }
}

/// A ticket of the simulation.
#[derive(Clone, Debug)]
struct WaitingParty {
    pub party: usize,
    /// How many tickets the party has submitted, this one included.
    pub visit: u32,
    /// When it was submitted, in milliseconds.
    pub since: u64,
    /// When its players give up, in milliseconds.
    pub until: u64,
    /// Whether they give up because the ticket expires.
    pub expires: bool,
    /// The categories that it belongs to.
    pub labels: Vec<u16>,
}

/// The tickets that wait.
#[derive(Debug, Default)]
struct WaitingLine {
    tickets: Vec<Ticket>,
    waiting: Vec<WaitingParty>,
    places: HashMap<usize, usize>,
}

impl WaitingLine {
    /// Adds a ticket.
    pub fn add(&mut self, ticket: Ticket, waiting: WaitingParty) {
        self.places.insert(waiting.party, self.tickets.len());
        self.tickets.push(ticket);
        self.waiting.push(waiting);
    }

    /// Removes a party's ticket, if it waits.
    pub fn remove(&mut self, party: usize) -> Option<(Ticket, WaitingParty)> {
        let place = self.places.remove(&party)?;
        let removed = (
            self.tickets.swap_remove(place),
            self.waiting.swap_remove(place),
        );
        if let Some(moved) = self.waiting.get(place) {
            self.places.insert(moved.party, place);
        }
        Some(removed)
    }

    /// A party's ticket, if it waits.
    pub fn get(&self, party: usize) -> Option<&WaitingParty> {
        self.waiting.get(*self.places.get(&party)?)
    }

    /// The ticket at a place of [`tickets`](Self::tickets).
    pub fn at(&self, place: usize) -> Option<&WaitingParty> {
        self.waiting.get(place)
    }

    /// The tickets with their waits until `now`, in milliseconds.
    pub fn refresh(&mut self, now: u64) {
        for (ticket, waiting) in self.tickets.iter_mut().zip(&self.waiting) {
            ticket.waited = (now - waiting.since.min(now)) as f64 / 1_000.0;
        }
    }

    /// The tickets, as of the last [`refresh`](Self::refresh).
    pub fn tickets(&self) -> &[Ticket] {
        &self.tickets
    }
}

impl Simulation<'_> {
    fn arrive(&mut self, party: usize) {
        let Some(visit) = self.visits.get_mut(party) else {
            return;
        };
        *visit += 1;
        let visit = *visit;
        let mut stream = self.crowd.visit(party, visit);
        let ticket = match self.crowd.ticket(party, visit, &self.past, &mut stream) {
            Ok(ticket) => ticket,
            Err(error) => {
                self.refused = Some(error);
                return;
            }
        };
        let settings = &self.settings;
        let patience = log_normal(settings.patience, settings.patience_spread, &mut stream);
        let ttl = f64::from(self.queue.settings().ttl.get());
        let waiting = WaitingParty {
            party,
            visit,
            since: self.now,
            until: self.now + millis(patience.min(ttl)),
            expires: ttl <= patience,
            labels: self.tallies.labels.of(self.queue, &ticket),
        };
        self.tallies.counts.queued += 1;
        self.tallies.players += ticket.players.len() as u64;
        self.enter(ticket, waiting);
    }

    /// Puts a ticket into the queue, for the first time or again.
    fn enter(&mut self, ticket: Ticket, waiting: WaitingParty) {
        self.stale = true;
        self.agenda.add(
            waiting.until.max(self.now),
            CrowdEvent::GiveUp(waiting.party, waiting.visit),
        );
        self.line.add(ticket, waiting);
    }

    fn give_up(&mut self, party: usize, visit: u32) {
        let waits = self
            .line
            .get(party)
            .is_some_and(|waiting| waiting.visit == visit);
        if !waits {
            return; // it has a match, or is asked whether it accepts one
        }
        if let Some((_, waiting)) = self.line.remove(party) {
            self.stale = true;
            let counts = &mut self.tallies.counts;
            match waiting.expires {
                true => counts.expired += 1,
                false => counts.cancelled += 1,
            }
            self.leave(&waiting, false);
        }
    }

    /// Counts a ticket that is final now, and lets its party come back later: after a match, or after
    /// something else that takes as long.
    fn leave(&mut self, waiting: &WaitingParty, is_matched: bool) {
        let waited = self.now - waiting.since.min(self.now);
        let decile = self.crowd.decile(waiting.party);
        self.tallies
            .labels
            .count(&waiting.labels, decile, waited, is_matched);
        let settings = &self.settings;
        // The next ticket's numbers have another stream, and this one's first numbers are used.
        let mut stream = self.crowd.visit(waiting.party, !waiting.visit);
        let early = 1.0 + settings.battle_spread * (2.0 * stream.unit() - 1.0);
        let away = settings.battle * early + exponential(settings.rest, &mut stream);
        self.agenda.add(
            self.now + millis(away).max(1),
            CrowdEvent::Arrive(waiting.party),
        );
    }
}

/// Who is online in a simulation, what they do, and for how long. Times are in seconds unless the
/// name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationSettings {
    /// Number of players online.
    pub online: usize,
    /// How long the simulation goes on.
    pub length: f64,
    /// How long a match lasts for a player, on average.
    pub battle: f64,
    /// How much shorter or longer a match is for some players, as a share of `battle`: who is out
    /// early leaves early. The lengths are uniform.
    pub battle_spread: f64,
    /// How long players rest between two matches, on average; the times are exponential.
    pub rest: f64,
    /// How long half of the tickets would wait at most before they are cancelled.
    pub patience: f64,
    /// The standard deviation of the logarithm of that time, which is normal.
    pub patience_spread: f64,
    /// The share of players who decline a match, where the queue has a ready check.
    pub declines: f64,
    /// How long players take to answer the ready check, on average; the times are exponential. A
    /// player who is too late has declined.
    pub answer: f64,
    /// The mean of the players' weights.
    pub weight_mean: f64,
    /// Their standard deviation.
    pub weight_deviation: f64,
    /// What players state in their tickets.
    pub load: Load,
    /// The shortest time between the beginnings of two rounds, in milliseconds.
    pub spacing_millis: u64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self {
            online: 5_000,
            length: 3_600.0,
            battle: 300.0,
            battle_spread: 0.3,
            rest: 0.0,
            patience: 240.0,
            patience_spread: 0.5,
            declines: 0.03,
            answer: 5.0,
            weight_mean: 50.0,
            weight_deviation: 15.0,
            load: Load::default(),
            spacing_millis: RoundSpacing::default().least.as_millis() as u64,
            seed: 1,
        }
    }
}

impl SimulationSettings {
    /// When rounds begin: by the daemon's rule.
    pub fn spacing(&self) -> RoundSpacing {
        RoundSpacing {
            least: Duration::from_millis(self.spacing_millis),
        }
    }

    /// The nearest settings that can be simulated: no share is above 1, no number is negative or
    /// infinite.
    fn bounded(mut self) -> Self {
        let bound = |number: &mut f64, least: f64, most: f64| {
            *number = if number.is_nan() {
                least
            } else {
                number.clamp(least, most)
            };
        };
        self.online = self.online.clamp(1, 1_000_000);
        bound(&mut self.length, 1.0, DAY);
        bound(&mut self.battle, 1.0, DAY);
        bound(&mut self.battle_spread, 0.0, 1.0);
        bound(&mut self.rest, 0.0, DAY);
        bound(&mut self.patience, 1.0, DAY);
        bound(&mut self.patience_spread, 0.0, 5.0);
        bound(&mut self.declines, 0.0, 1.0);
        bound(&mut self.answer, 0.0, DAY);
        bound(&mut self.weight_mean, 0.0, 100.0);
        bound(&mut self.weight_deviation, 0.0, 100.0);
        let load = &mut self.load;
        bound(&mut load.threes, 0.0, 1.0);
        bound(&mut load.pairs, 0.0, 1.0 - load.threes);
        bound(&mut load.tier_mean, -1e6, 1e6);
        bound(&mut load.tier_deviation, 0.0, 1e6);
        load.vehicles = load.vehicles.clamp(1, 100_000);
        load.maps = load.maps.clamp(1, MAX_WORDS);
        self.spacing_millis = self.spacing_millis.clamp(1, 3_600_000);
        self
    }
}

/// A day in seconds.
const DAY: f64 = 86_400.0;
