//! Clients of the queues: each submits, cancels, accepts and asks at any daemon, and listens at another one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use super::line::{DAEMONS, Line, World, pause};
use crate::common::draw::Draw;

/// Players of a client, and how many tickets it has at a time.
const PLAYERS: usize = 16;
const OPEN: usize = 8;

/// What a client was told.
#[derive(Default)]
pub struct Announced {
    /// The players of each ticket whose SUBMIT was answered.
    pub submitted: BTreeMap<String, Vec<String>>,
    /// Tickets that were answered CANCELLED, and those that were in a match of a queue without instances.
    pub cancelled: BTreeSet<String>,
    pub matched: BTreeMap<String, i64>,
}

/// A ticket that is not final yet.
struct Ticket {
    id: String,
    queue: &'static str,
    players: Vec<String>,
    answered: bool,
    /// The match that its players have accepted.
    accepted: String,
}

/// The client's side of its tickets.
pub struct Lobby<'a> {
    world: &'a Arc<World>,
    name: String,
    draw: Draw,
    open: Vec<Ticket>,
    announced: Announced,
    number: usize,
}

impl<'a> Lobby<'a> {
    pub fn new(world: &'a Arc<World>, number: usize, seed: u64) -> Self {
        Self {
            world,
            name: format!("lobby{number}"),
            draw: Draw(seed),
            open: Vec::new(),
            announced: Announced::default(),
            number: 0,
        }
    }

    /// Submits tickets until the test ends, and then waits until all are final that can be.
    pub fn run(mut self) -> Announced {
        let mut ends: Option<Instant> = None;
        loop {
            if self.world.is_ending() {
                let since = *ends.get_or_insert_with(Instant::now);
                if self.open.is_empty() || since.elapsed() > Duration::from_secs(60) {
                    return self.announced;
                }
            } else if self.open.len() < OPEN {
                self.begin();
            }
            if !self.open.is_empty() {
                let at = self.draw.below(self.open.len());
                if self.step(at) {
                    self.open.swap_remove(at);
                }
            }
            pause(20);
        }
    }

    /// A new ticket of players who are in no other one.
    fn begin(&mut self) {
        let busy: BTreeSet<&String> = self.open.iter().flat_map(|one| &one.players).collect();
        let all = (0..PLAYERS).map(|player| format!("{}_{player}", self.name));
        let mut free: Vec<String> = all.filter(|player| !busy.contains(player)).collect();
        self.draw.shuffle(&mut free);
        let (queue, size) = match self.draw.below(4) {
            0 => ("open", 1),
            1 => ("duel", 1),
            2 => ("checked", 1),
            _ => ("checked", 2),
        };
        free.truncate(size);
        if free.len() == size {
            self.number += 1;
            self.open.push(Ticket {
                id: format!("t{}", self.number),
                queue,
                players: free,
                answered: false,
                accepted: String::new(),
            });
        }
    }

    /// Does the next thing with a ticket. Returns whether it is final, or never came to be.
    fn step(&mut self, at: usize) -> bool {
        let ticket = &self.open[at];
        if !ticket.answered {
            return self.submit(at);
        }
        let often = if self.world.is_ending() { 10 } else { 60 };
        let leaves = self.draw.below(often) == 0;
        let verb = if leaves { "CANCEL" } else { "TICKET" };
        let Some(reply) = self.once(&[format!("{verb} {}", self.open[at].id)]) else {
            return false;
        };
        let ticket = &mut self.open[at];
        let words: Vec<&str> = reply.split(' ').collect();
        match words[..] {
            ["CANCELLED", ..] => {
                self.announced.cancelled.insert(ticket.id.clone());
                true
            }
            ["MATCHED", id, _] => {
                // A hosted match may still move to another instance, or not be played at all.
                if ticket.queue != "duel" {
                    let id = id.parse().unwrap();
                    self.announced.matched.insert(ticket.id.clone(), id);
                }
                true
            }
            ["EXPIRED", _] => panic!("{reply}: no ticket is so old"),
            ["PROPOSED", id, ..] if ticket.accepted != id => {
                ticket.accepted = id.to_owned();
                let declines = self.draw.below(30) == 0;
                let verb = if declines { "DECLINE" } else { "ACCEPT" };
                let answers: Vec<String> = ticket
                    .players
                    .iter()
                    .map(|player| format!("{verb} {id} {player}"))
                    .collect();
                if self
                    .once(&[answers, vec!["PING".to_owned()]].concat())
                    .is_none()
                {
                    // It may not have arrived: it is sent again.
                    self.open[at].accepted = String::new();
                }
                false
            }
            _ => false,
        }
    }

    fn submit(&mut self, at: usize) -> bool {
        let ticket = &self.open[at];
        let mut lines = vec![format!("ENQUEUE {} {}", ticket.queue, ticket.id)];
        let seats = ticket.players.iter();
        lines.extend(seats.map(|player| format!("SEAT {player}")));
        lines.push("SUBMIT".to_owned());
        let Some(reply) = self.once(&lines) else {
            return false;
        };
        let ticket = &mut self.open[at];
        // The player is still in a match. The ticket does not exist.
        if reply.starts_with("ERROR not-allowed") {
            return true;
        }
        if !reply.starts_with("ERROR ") {
            ticket.answered = true;
            let players = ticket.players.clone();
            self.announced.submitted.insert(ticket.id.clone(), players);
        }
        false
    }

    /// Sends lines to any daemon, and returns the last reply; `None` if the connection breaks.
    fn once(&mut self, lines: &[String]) -> Option<String> {
        let daemon = self.draw.below(DAEMONS);
        let (mut line, _) = Line::open(self.world, daemon, &self.name).ok()?;
        line.ask(&lines.join("\n")).ok()
    }
}

/// Listens at any daemon until the test has ended. Returns the matches that were pushed, by ticket.
pub fn listen(world: &Arc<World>, number: usize, seed: u64) -> BTreeMap<String, BTreeSet<i64>> {
    let mut draw = Draw(seed);
    let mut heard: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    while !world.has_ended() {
        let name = format!("lobby{number}");
        let Ok((mut line, _)) = Line::open(world, draw.below(DAEMONS), &name) else {
            pause(100);
            continue;
        };
        let mut next = line.tell("LISTEN");
        while next.is_ok() && !world.has_ended() {
            for push in line.pushes.drain(..) {
                let words: Vec<&str> = push.split(' ').collect();
                if let ["MATCHED", id, ticket, ..] = words[..] {
                    let ids = heard.entry(ticket.to_owned()).or_default();
                    ids.insert(id.parse().unwrap());
                }
            }
            pause(50);
            next = line.tell("PING");
        }
    }
    heard
}
