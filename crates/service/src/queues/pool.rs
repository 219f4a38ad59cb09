//! The tickets of a round with what is known of their players: the attributes that begin with `@`, whom they met, and the
//! chances of teams; and the form in which that is stored.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{QueueShared, QueuesError};
use crate::{
    learning::{BehaviourBook, Learning, Standings, View},
    matchmaking::lifecycle::{Lifecycle, Match, SearchedPool, Submission, TicketNumber},
    matchmaking::{
        Effort, KnownAttributes, Queue, QueueSettings, Ticket, TicketSpec,
        planner::{PLAYER_MATCHES, QUEUE_MATCHES},
        planner::{PlanInput, PlannedMatch},
    },
    model::{Kind, PlayerKey, Ruleset, Timestamp, WinModel, win_model::LineupPlayer},
    store::FoundMatch,
};

/// The most matches of a player that count as the last ones.
const MATCHES: usize = 32;
/// The attribute that reports about a player add up to.
const BEHAVIOUR: &str = "@behaviour";
/// The milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// What a round knows of players.
pub(super) struct RoundFacts {
    pub ruleset: Ruleset,
    now: Timestamp,
    /// The `@` attributes that the queue's rules read.
    names: BTreeSet<String>,
    standings: Arc<Standings>,
    view: Arc<View>,
    behaviour: Arc<BehaviourBook>,
    met: HashMap<String, Vec<Vec<String>>>,
    /// The maps of the last matches of those who wait.
    maps: HashMap<String, Vec<String>>,
    /// The maps of the last matches of the queue.
    pub played: Vec<String>,
}

impl RoundFacts {
    /// The facts of now. Players have met, and have played maps, in matches of any queue of the last day.
    pub fn new(queue: &Queue, learning: &Learning, life: &Lifecycle) -> Self {
        let met = match queue.met_matches() {
            0 => HashMap::new(),
            last => met(life, last.min(MATCHES)),
        };
        let (maps, played) = match queue.remembers_maps() {
            true => played(life, queue.name()),
            false => Default::default(),
        };
        Self {
            met,
            maps,
            played,
            ..Self::alone(queue, learning, life.now())
        }
    }

    /// The facts of now about each player, without what they have played.
    fn alone(queue: &Queue, learning: &Learning, now: Timestamp) -> Self {
        let mut names = queue.settings().ruleset.split('+');
        let game_type = names.next().unwrap_or_default();
        let mutators: Vec<&str> = names.collect();
        let ruleset = learning.rulebook().ruleset(game_type, &mutators);
        let standings = learning.standings_at(now);
        let names = queue.known_names().into_iter().chain(["@strength"]);
        Self {
            now,
            names: names.map(str::to_owned).collect(),
            view: standings.view(&ruleset),
            ruleset,
            standings,
            behaviour: learning.behaviour().clone(),
            met: HashMap::new(),
            maps: HashMap::new(),
            played: Vec::new(),
        }
    }

    /// Whether the stored matches may tell more of one of these players, from which it is only now derived.
    pub fn awaits<'a>(&self, players: impl IntoIterator<Item = &'a String>) -> bool {
        let reads = |name: &str| self.names.contains(name);
        let mut players = players.into_iter();
        players.any(|id| self.view.awaits_any_fact(id, reads))
    }

    /// What is known of a player. What is not known is left out, and so is what no rule reads.
    pub fn known(&self, id: &str) -> KnownAttributes {
        let mut known = KnownAttributes::default();
        let reads = |name: &str| self.names.contains(name);
        if let Some(facts) = self.view.facts(id) {
            let age = |first: Timestamp| self.now.0.saturating_sub(first.0).max(0) as f64 / DAY;
            let numbers = [
                ("@weight", Some(facts.weight)),
                ("@strength", Some(facts.strength)),
                ("@deviation", Some(facts.deviation)),
                ("@games", Some(f64::from(facts.games))),
                ("@hours", Some(facts.hours)),
                ("@known_since", facts.first_seen.map(age)),
                ("@division", facts.division.map(f64::from)),
            ];
            let read = numbers.into_iter().filter(|(name, _)| reads(name));
            let read = read.filter_map(|(name, n)| Some((name.to_owned(), n?)));
            known.numbers.extend(read);
        }
        if reads(BEHAVIOUR) {
            let score = Some(self.behaviour.score(id, self.now)).filter(|score| *score != 0.0);
            known
                .numbers
                .extend(score.map(|score| (BEHAVIOUR.to_owned(), score)));
        }
        known.met = self.met.get(id).cloned().unwrap_or_default();
        known.maps = self.maps.get(id).cloned().unwrap_or_default();
        known
    }

    /// How the rating system turns strengths into chances in matches of these tickets; `None` before
    /// the first rated match, and for more than two teams.
    ///
    /// It is made for teams of the players who have waited longest, and holds for others of that size.
    pub fn win_model(&self, queue: &Queue, tickets: &[Ticket]) -> Option<WinModel> {
        let settings = queue.settings();
        if settings.teams.as_usize() != 2 {
            return None;
        }
        let mut oldest: Vec<&Ticket> = tickets.iter().collect();
        oldest.sort_by(|one, other| other.waited.total_cmp(&one.waited));
        let players = oldest.into_iter().flat_map(|ticket| &ticket.players);
        let mut teams = vec![Vec::new(); 2];
        for (at, player) in players.take(2 * settings.size.as_usize()).enumerate() {
            if let Some(team) = teams.get_mut(at % 2) {
                team.push(lineup_player(&player.id, None));
            }
        }
        let reading = self.standings.reading(&self.ruleset, "", &teams)?;
        Some(reading.win_model).filter(WinModel::is_sound)
    }

    /// The chance that team 0 wins, as the rating system predicts it.
    pub fn chance(&self, found: &PlannedMatch, tickets: &[Ticket]) -> Option<f64> {
        let players = |&at: &usize| {
            let ticket = tickets.get(at);
            let is_party = ticket.is_some_and(|ticket| ticket.players.len() > 1);
            let players = ticket.into_iter().flat_map(|ticket| &ticket.players);
            let party = u32::try_from(at).ok().filter(|_| is_party);
            players.map(move |player| lineup_player(&player.id, party))
        };
        let teams = found.teams.iter();
        let teams: Vec<Vec<_>> = teams
            .map(|team| team.iter().flat_map(players).collect())
            .collect();
        let map = found.picks.get("map").map_or("", String::as_str);
        let chance = self.standings.chance(&self.ruleset, map, &teams);
        chance.filter(|chance| (0.0..=1.0).contains(chance))
    }
}

/// Refuses a ticket with a player who can be in no match of its queue by what is known now, or of whom it is
/// not known yet.
pub(super) fn admit(
    shared: &QueueShared,
    ticket: &Submission,
    now: Timestamp,
) -> Result<(), QueuesError> {
    let queue = shared
        .queue(&ticket.queue)
        .filter(|queue| queue.is_restricted());
    let Some(queue) = queue else {
        return Ok(());
    };
    if shared.learning.is_starting() {
        return Err(QueuesError::NotReady);
    }
    let facts = RoundFacts::alone(&queue, &shared.learning, now);
    if facts.awaits(&ticket.players) {
        return Err(QueuesError::NotReady);
    }
    let checked = queue.ticket(&ticket.spec, &mut |id| facts.known(id))?;
    Ok(queue.admit(&checked)?)
}

fn lineup_player(id: &str, party: Option<u32>) -> LineupPlayer {
    LineupPlayer {
        key: PlayerKey {
            kind: Kind::Human,
            id: id.to_owned(),
        },
        party,
        commands: false,
    }
}

/// The maps of the last matches of each player who waits in a queue, and of the queue itself, the latest match
/// first.
fn played(life: &Lifecycle, queue: &str) -> (HashMap<String, Vec<String>>, Vec<String>) {
    let maps = |matches: &mut dyn Iterator<Item = &Match>, most: usize| -> Vec<String> {
        let last = matches.take(most);
        last.filter_map(|formed| formed.proposal.map.clone())
            .collect()
    };
    let waiting = life.queued(queue).flat_map(|record| &record.ticket.players);
    let players = waiting.map(|player| {
        let last = maps(&mut life.latest_of_player(player), PLAYER_MATCHES);
        (player.clone(), last)
    });
    let players = players.filter(|(_, maps)| !maps.is_empty());
    let last = maps(&mut life.latest_of_queue(queue), QUEUE_MATCHES);
    (players.collect(), last)
}

/// The other players of each player's last matches, the latest match first.
fn met(life: &Lifecycle, last: usize) -> HashMap<String, Vec<Vec<String>>> {
    let mut met: HashMap<String, Vec<Vec<String>>> = HashMap::new();
    for formed in life.latest_matches() {
        for seat in &formed.seats {
            let matches = met.entry(seat.player.clone()).or_default();
            if matches.len() < last {
                let others = formed
                    .seats
                    .iter()
                    .filter(|other| other.player != seat.player);
                matches.push(others.map(|other| other.player.clone()).collect());
            }
        }
    }
    met
}

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
    pub win_model: Option<WinModel>,
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
    pub fn new(queue: &Queue, waiting: &[Waiting], facts: &RoundFacts) -> Self {
        let mut pool = Self {
            numbers: Vec::with_capacity(waiting.len()),
            tickets: Vec::with_capacity(waiting.len()),
            win_model: None,
            played: facts.played.clone(),
        };
        for one in waiting {
            pool.add(queue, one, &mut |id| facts.known(id));
        }
        pool.win_model = facts.win_model(queue, &pool.tickets);
        pool
    }

    fn add(
        &mut self,
        queue: &Queue,
        one: &Waiting,
        known: &mut dyn FnMut(&str) -> KnownAttributes,
    ) {
        if let Ok(mut ticket) = queue.ticket(&one.spec, known) {
            ticket.waited = one.waited as f64 / 1_000.0;
            self.numbers.push(one.number);
            self.tickets.push(ticket);
        }
    }

    /// What the planner works on.
    pub fn input<'a>(&'a self, queue: &'a Queue, seed: u64, effort: Effort) -> PlanInput<'a> {
        PlanInput {
            win_model: self.win_model,
            played: &self.played,
            seed,
            effort,
            ..PlanInput::new(queue, &self.tickets)
        }
    }

    /// The form in which it is stored; `None` if that is too large.
    pub fn stored(&self, input: &PlanInput<'_>, at: Timestamp) -> Option<SearchedPool> {
        let empty = |player: &KnownAttributes| *player == KnownAttributes::default();
        let mut players = BTreeMap::new();
        for (number, ticket) in self.numbers.iter().zip(&self.tickets) {
            let known = ticket.players.iter().map(|player| &player.known);
            let known: Vec<&KnownAttributes> = known.collect();
            if !known.iter().all(|player| empty(player)) {
                players.insert(*number, known);
            }
        }
        let played = self.played.clone();
        let known = serde_json::to_string(&StoredFacts { players, played }).ok()?;
        let win_model = self.win_model.as_ref().map(serde_json::to_string);
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
            win_model: win_model.transpose().ok()?,
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
        let known: Result<StoredFacts<KnownAttributes>, _> = serde_json::from_str(&pool.known);
        let StoredFacts {
            mut players,
            played,
        } = known.map_err(|_| damaged("what was known of the players"))?;
        let win_model = pool.win_model.as_deref().map(serde_json::from_str);
        let mut restored = Self {
            numbers: Vec::new(),
            tickets: Vec::new(),
            win_model: win_model
                .transpose()
                .map_err(|_| damaged("the win model"))?,
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
        if numbers.len() + count >= crate::matchmaking::lifecycle::MAX_WAITING {
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
