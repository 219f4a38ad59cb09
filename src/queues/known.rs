//! What is known of the players of a round: the attributes that begin with `@`, whom they met, and the
//! chances of teams.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use super::{QueuesError, Shared};
use crate::{
    domain::{Kind, LineupPlayer, Outlook, PlayerKey, Ruleset, Timestamp},
    learning::{BehaviourBook, Learning, Standings, View},
    lifecycle::{Lifecycle, Match, Submission},
    matchmaking::{Known, PLAYER_MATCHES, PlannedMatch, QUEUE_MATCHES, Queue, Ticket},
};

/// The most matches of a player that count as the last ones.
const MATCHES: usize = 32;
/// The attribute that reports about a player add up to.
const BEHAVIOUR: &str = "@behaviour";
/// The milliseconds of a day.
const DAY: f64 = 86_400_000.0;

/// What a round knows of players.
pub(super) struct PlayerFacts {
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

impl PlayerFacts {
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
    pub fn known(&self, id: &str) -> Known {
        let mut known = Known::default();
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
    pub fn outlook(&self, queue: &Queue, tickets: &[Ticket]) -> Option<Outlook> {
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
        Some(reading.outlook).filter(Outlook::is_sound)
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
    shared: &Shared,
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
    let facts = PlayerFacts::alone(&queue, &shared.learning, now);
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
