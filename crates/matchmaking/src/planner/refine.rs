//! After the searches of a round: tickets that are left get a place.
//!
//! Searches begin with the tickets that fit the fewest others, so an older ticket can be left while a
//! younger one has a place. At first each ticket that is left, the oldest first, takes the place of a
//! younger one with the same signature, if the match still meets every hard rule and costs no more.
//! Of several it takes the place of that which fits the most others, since the tickets that are left
//! then find more matches among themselves.
//!
//! At last some matches are formed again. One try takes a ticket that is left and some matches with many
//! tickets that fit it, and forms as many matches or one more of all their tickets and those that are left.
//! The result is kept if there are more matches or the ticket has its place now, and if every ticket that lost
//! its place is younger than the one whose turn it was. So the oldest ticket is never passed over for the sake
//! of more matches.

use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel_model::random::{Stream, StreamPurpose, seeded_hash};

use super::{BATCH, Cores, Effort, PlanRound};
use crate::{
    OneCore,
    columns::Bits,
    pool::Pool,
    search::{Budget, MatchProposal, MatchSearch, collect},
};

/// The most matches that one try forms again.
const MOST: usize = 3;
/// How many tickets are tried as the seed of each match that is formed again.
const SEEDS: usize = 3;

/// A ticket that is left, and the places of the matches to form again.
struct Refinement {
    ticket: u32,
    matches: Vec<usize>,
    random: u64,
}

impl PlanRound<'_> {
    /// Makes `tries` tries, a batch of [`BATCH`] at a time, on different matches.
    pub(super) fn refine(&mut self, tries: usize, cores: &dyn Cores, cancelled: &AtomicBool) {
        let mut stream = Stream::new(seeded_hash(self.seed, *b"refine"), StreamPurpose::Match);
        let mut turn: Vec<u32> = Vec::new();
        for _ in 0..tries.div_ceil(BATCH) {
            let mut batch: Vec<Refinement> = Vec::new();
            while batch.len() < BATCH {
                if turn.is_empty() {
                    turn = self.free.iter().collect();
                    turn.reverse();
                }
                let Some(ticket) = turn.pop() else {
                    return;
                };
                if self.free.contains(ticket) {
                    batch.push(self.draw(ticket, &batch, &mut stream));
                }
            }
            if cancelled.load(Ordering::Relaxed) {
                return;
            }
            let (pool, free, matches) = (self.pool, &self.free, &self.matches);
            let budget = Effort::refining();
            let job = |at: usize| {
                let this = batch.get(at)?;
                reform(pool, this, free, matches, budget, cancelled)
            };
            let results = collect(cores, batch.len(), &job);
            for (this, formed) in batch.iter().zip(results) {
                self.keep(this, formed);
            }
        }
    }

    /// Draws the matches of a try: those with the most tickets that fit, with some noise.
    fn draw(&self, ticket: u32, others: &[Refinement], stream: &mut Stream) -> Refinement {
        let all = self
            .pool
            .combinations(
                ticket,
                &self.pool.all(),
                self.pool.waited(ticket),
                self.seed,
            )
            .all;
        let fitting = all.get(stream.index(all.len()));
        let fits = |ticket: u32| fitting.is_some_and(|fitting| fitting.tickets.contains(ticket));
        let mut ranked: Vec<(f64, usize)> = Vec::new();
        for (at, found) in self.matches.iter().enumerate() {
            let taken = others.iter().any(|other| other.matches.contains(&at));
            let fitting = found.tickets().filter(|ticket| fits(*ticket)).count();
            if fitting > 0 && !taken {
                let share = fitting as f64 / found.tickets().count().max(1) as f64;
                ranked.push((share + stream.unit(), at));
            }
        }
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        ranked.truncate(1 + stream.index(MOST));
        let matches = ranked.into_iter().map(|(_, at)| at).collect();
        let random = seeded_hash(stream.below(u128::from(u64::MAX)) as u64, *b"try");
        Refinement {
            ticket,
            matches,
            random,
        }
    }

    /// Replaces the matches of a try by those that were formed, if that is better.
    fn keep(&mut self, this: &Refinement, formed: Option<Vec<MatchProposal>>) {
        let Some(formed) = formed else {
            return;
        };
        let mut free = self.free.clone();
        let mut old: Vec<u32> = Vec::new();
        for found in this.matches.iter().map(|at| &self.matches[*at]) {
            old.extend(found.tickets());
        }
        old.iter().for_each(|ticket| free.insert(*ticket));
        // An earlier try of the batch may have taken tickets that were left.
        if !formed
            .iter()
            .flat_map(MatchProposal::tickets)
            .all(|ticket| free.contains(ticket))
        {
            return;
        }
        formed
            .iter()
            .flat_map(MatchProposal::tickets)
            .for_each(|ticket| free.remove(ticket));
        let dropped = || old.iter().filter(|ticket| free.contains(**ticket));
        let fair = dropped().all(|ticket| *ticket > this.ticket);
        let more = formed.len() > this.matches.len();
        if !fair || !more && dropped().next().is_none() {
            return;
        }
        self.free = free;
        let mut formed = formed.into_iter();
        for &at in &this.matches {
            if let (Some(slot), Some(found)) = (self.matches.get_mut(at), formed.next()) {
                *slot = found;
            }
        }
        self.matches.extend(formed);
    }
}

/// Forms as many matches as before or one more; `None` if that fails.
fn reform(
    pool: &Pool<'_>,
    this: &Refinement,
    free: &Bits,
    matches: &[MatchProposal],
    budget: Budget,
    cancelled: &AtomicBool,
) -> Option<Vec<MatchProposal>> {
    let mut free = free.clone();
    let old = this.matches.iter().map(|at| &matches[*at]);
    let mut seeds: Vec<u32> = old.flat_map(MatchProposal::tickets).collect();
    seeds.iter().for_each(|ticket| free.insert(*ticket));
    let mut formed = Vec::new();
    let first = MatchSearch::new(pool, this.ticket, &free, budget, this.random)
        .run(&OneCore, cancelled)
        .ok()?;
    first.tickets().for_each(|ticket| free.remove(ticket));
    formed.push(first);
    seeds.sort_by(|one, other| pool.by_selectivity(*one, *other));
    let mut tried = 0;
    for seed in seeds {
        if formed.len() > this.matches.len() || tried >= SEEDS {
            break;
        }
        if !free.contains(seed) {
            continue;
        }
        match MatchSearch::new(pool, seed, &free, budget, this.random).run(&OneCore, cancelled) {
            Ok(found) => {
                found.tickets().for_each(|ticket| free.remove(ticket));
                formed.push(found);
                tried = 0;
            }
            Err(_) => tried += 1,
        }
    }
    (formed.len() >= this.matches.len()).then_some(formed)
}

/// How many places are tried for one ticket.
const TRIES: usize = 64;

/// Who has a place.
struct Seats {
    /// The match of each ticket.
    of: Vec<Option<usize>>,
    /// By signature, the tickets that have a place, those that fit the most others first.
    alike: Vec<Vec<u32>>,
}

impl PlanRound<'_> {
    /// Lets the tickets that are left take the places of younger ones, which then have another turn.
    pub(super) fn exchange(&mut self, cores: &dyn Cores, cancelled: &AtomicBool) {
        let mut seats = self.seats();
        let left: Vec<u32> = self.free.iter().collect();
        for older in left {
            if cancelled.load(Ordering::Relaxed) {
                break;
            }
            self.seat(older, &mut seats);
        }
        self.again(cores, cancelled);
    }

    fn seats(&self) -> Seats {
        let pool = self.pool;
        let mut seats = Seats {
            of: vec![None; pool.len()],
            alike: vec![Vec::new(); pool.mirrors.count()],
        };
        for (at, found) in self.matches.iter().enumerate() {
            for ticket in found.tickets() {
                seats.of[ticket as usize] = Some(at);
                seats.alike[pool.mirrors.get(ticket) as usize].push(ticket);
            }
        }
        for alike in &mut seats.alike {
            alike.sort_by(|one, other| pool.by_selectivity(*other, *one));
        }
        seats
    }

    /// Gives a ticket that is left the place of a younger one, if one fits.
    fn seat(&mut self, older: u32, seats: &mut Seats) {
        let (pool, of) = (self.pool, &mut seats.of);
        let alike = &mut seats.alike[pool.mirrors.get(older) as usize];
        let all = alike.iter().copied().enumerate();
        let mut younger = all.filter(|(_, ticket)| *ticket > older).take(TRIES);
        let found = younger.find_map(|(place, younger)| {
            let at = of[younger as usize]?;
            let found = self.matches[at].with(pool, older, younger)?;
            Some((place, younger, at, found))
        });
        let Some((place, younger, at, found)) = found else {
            return;
        };
        alike.remove(place);
        let place = alike.partition_point(|ticket| pool.by_selectivity(older, *ticket).is_lt());
        alike.insert(place, older);
        of[older as usize] = Some(at);
        of[younger as usize] = None;
        self.free.remove(older);
        self.free.insert(younger);
        self.matches[at] = found;
    }
}
