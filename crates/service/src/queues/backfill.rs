//! Backfill in a round: the matches in play that seek players, what the search sees of them, and the
//! tickets that it has found for them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    pool::RoundFacts,
    pool::{RoundPool, Waiting},
};
use crate::{
    matchmaking::lifecycle::{Filling, Lifecycle, Match, TicketNumber},
    matchmaking::{
        Queue, Ticket, TicketSpec,
        backfill::{Addition, OpenMatch},
        planner::{PlanInput, RuleReport},
    },
    model::record::MatchId,
};

/// The most matches whose seats are filled in one round; the oldest come first.
const MATCHES: usize = 64;

/// What a ticket states, and which of its players are in the match.
type Present = (Arc<TicketSpec>, BTreeSet<String>);

/// A match in play that seeks players, when a round begins.
#[derive(Clone, Debug)]
pub(super) struct Seeking {
    id: MatchId,
    /// The [version](Match::version) of its players.
    version: u64,
    /// The tickets of each team.
    teams: Vec<BTreeMap<TicketNumber, Present>>,
    free: Vec<usize>,
    heads: Vec<usize>,
    size: usize,
    /// How long its oldest ticket had waited when it was formed, in seconds.
    waited: f64,
    picks: BTreeMap<String, String>,
    /// Everybody who has ever been in the match, and those whom its game server has sent away.
    known: BTreeSet<String>,
    /// The region of its instance.
    region: Option<String>,
}

/// The matches of a queue that seek players, without those with a player of whom more will be known in a moment.
pub(super) fn seeking(life: &Lifecycle, queue: &Queue, facts: &RoundFacts) -> Vec<Seeking> {
    if !queue.settings().backfill {
        return Vec::new();
    }
    let all = life.seeking().into_iter();
    let own = all.filter(|(hosted, _)| hosted.queue == queue.name());
    own.take(MATCHES)
        .filter_map(|(hosted, free)| Seeking::new(life, hosted, free))
        .filter(|seeking| !facts.awaits(seeking.players()))
        .collect()
}

impl Seeking {
    /// The players who came with a ticket.
    fn players(&self) -> impl Iterator<Item = &String> {
        let tickets = self.teams.iter().flat_map(BTreeMap::values);
        tickets.flat_map(|(_, players)| players)
    }

    fn new(life: &Lifecycle, hosted: &Match, free: Vec<usize>) -> Option<Self> {
        let formed = life.formed(hosted.id)?;
        let tickets: BTreeMap<&str, TicketNumber> = formed
            .seats
            .iter()
            .map(|seat| (seat.player.as_str(), seat.ticket))
            .collect();
        let mut teams = vec![BTreeMap::new(); free.len()];
        let mut heads = vec![0; free.len()];
        let coming = hosted.expected.iter();
        let coming = coming.map(|(player, coming)| (player.as_str(), coming.team));
        let present = hosted.present_players();
        let present = present.filter_map(|(player, team)| Some((player, team?)));
        for (player, team) in present.chain(coming) {
            let Some(heads) = heads.get_mut(usize::from(team)) else {
                continue;
            };
            *heads += 1;
            let ticket = tickets.get(player).and_then(|ticket| life.ticket(*ticket));
            if let (Some(record), Some(team)) = (ticket, teams.get_mut(usize::from(team))) {
                let stated = || (record.ticket.spec.clone(), BTreeSet::new());
                team.entry(record.number)
                    .or_insert_with(stated)
                    .1
                    .insert(player.to_owned());
            }
        }
        let first = formed.seats.iter().filter(|seat| !seat.later);
        let first = first.filter_map(|seat| life.ticket(seat.ticket));
        let waited = first.map(|ticket| formed.formed_at.0.saturating_sub(ticket.submitted_at.0));
        let proposal = &formed.proposal;
        let picks = [("mode", &proposal.mode), ("map", &proposal.map)];
        let picks = picks
            .into_iter()
            .filter_map(|(name, word)| Some((name.to_owned(), word.clone()?)));
        let instance = hosted.instance.as_deref();
        let known = formed.seats.iter().map(|seat| &seat.player);
        Some(Self {
            id: hosted.id,
            version: hosted.version,
            teams,
            free,
            heads,
            size: proposal.size as usize,
            waited: waited.max().unwrap_or(0).max(0) as f64 / 1_000.0,
            picks: picks.collect(),
            known: known.chain(hosted.sent_away.iter()).cloned().collect(),
            region: instance.and_then(|name| life.region(name)),
        })
    }

    /// What the search sees of the match.
    fn open(&self, queue: &Queue, pool: &RoundPool, facts: &RoundFacts) -> OpenMatch {
        let present = |(spec, players): &Present| -> Option<Ticket> {
            let mut ticket = queue.ticket(spec, &mut |id| facts.known(id)).ok()?;
            ticket.players.retain(|player| players.contains(&player.id));
            Some(ticket)
        };
        let team = |team: &BTreeMap<_, _>| team.values().filter_map(present).collect();
        let joins = |ticket: &Ticket| {
            let fresh = ticket
                .players
                .iter()
                .all(|one| !self.known.contains(&one.id));
            fresh && self.is_near(queue, ticket)
        };
        let places = pool.tickets.iter().enumerate();
        let barred = places
            .filter(|(_, ticket)| !joins(ticket))
            .map(|(at, _)| at);
        OpenMatch {
            teams: self.teams.iter().map(team).collect(),
            free: self.free.clone(),
            heads: self.heads.clone(),
            size: self.size,
            waited: self.waited,
            picks: self.picks.clone(),
            barred: barred.collect(),
        }
    }

    /// Whether the instance is near enough to all players of a ticket.
    fn is_near(&self, queue: &Queue, ticket: &Ticket) -> bool {
        let latency = queue.settings().latency.as_ref();
        let limit = latency.and_then(|latency| Some((&latency.of, latency.at_most?.get())));
        let Some((of, limit)) = limit else {
            return true;
        };
        let Some(region) = &self.region else {
            return false;
        };
        let near = |number: Option<f64>| number.is_some_and(|number| number <= limit);
        let mut players = ticket.players.iter();
        players.all(|player| near(queue.map_entry(player, of, region)))
    }
}

/// Finds tickets for the matches, and takes them out of `waiting`.
pub(super) fn fill(
    queue: &Arc<Queue>,
    seeking: &[Seeking],
    waiting: &mut Vec<Waiting>,
    facts: &RoundFacts,
    seed: u64,
) -> Vec<Filling> {
    if seeking.is_empty() || waiting.is_empty() {
        return Vec::new();
    }
    let pool = RoundPool::new(queue, waiting, facts);
    let matches: Vec<OpenMatch> = seeking
        .iter()
        .map(|one| one.open(queue, &pool, facts))
        .collect();
    let input = PlanInput {
        win_model: pool.win_model,
        seed,
        ..PlanInput::new(queue, &pool.tickets)
    };
    let mut fillings = Vec::new();
    for (one, additions) in seeking.iter().zip(input.backfill(&matches)) {
        let mut filling = Filling {
            id: one.id,
            version: one.version,
            seats: Vec::new(),
            why: Vec::new(),
        };
        for addition in &additions {
            add(&mut filling, &pool, addition);
        }
        if !filling.seats.is_empty() {
            fillings.push(filling);
        }
    }
    let seated = fillings.iter().flat_map(|one| &one.seats);
    let taken: BTreeSet<TicketNumber> = seated.map(|(number, _)| *number).collect();
    waiting.retain(|one| !taken.contains(&one.number));
    fillings
}

/// Adds the tickets of an addition, and what the search found.
fn add(filling: &mut Filling, pool: &RoundPool, addition: &Addition) {
    let mut joined = Vec::new();
    for &(place, team) in &addition.seats {
        let number = pool.numbers.get(place).copied();
        if let (Some(number), Ok(team)) = (number, u8::try_from(team)) {
            filling.seats.push((number, team));
            let waited = pool.tickets.get(place).map_or(0.0, |ticket| ticket.waited);
            joined.push(format!(
                "a ticket that waited {waited:.1} s joins team {team}"
            ));
        }
    }
    let penalty = addition.penalty;
    filling.why.push(format!(
        "backfill: {}; penalty {penalty:.3}",
        joined.join(", ")
    ));
    let broken = addition
        .reports
        .iter()
        .filter(|report| report.violation > 0.0);
    let size = |report: &&RuleReport| !report.sentence.starts_with("the teams have");
    filling.why.extend(
        broken
            .filter(size)
            .map(|report| format!("backfill: {}", report.line())),
    );
}
