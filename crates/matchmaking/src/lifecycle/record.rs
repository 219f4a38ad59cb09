//! What is known of a ticket, of a match and of an instance, until they are forgotten.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use evenkeel_model::{Timestamp, record::MatchId};
use serde::{Deserialize, Serialize};

use crate::{TicketSpec, settings::Latency};

/// Teams that a search has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposal {
    /// The tickets of each team.
    pub teams: Vec<Vec<TicketNumber>>,
    /// Number of players that each team should have.
    pub size: u32,
    /// The mode of the match, if a rule picks one.
    pub mode: Option<String>,
    /// The map of the match, if a rule picks one.
    pub map: Option<String>,
    /// What the violations of rules that are not hard cost together.
    pub penalty: f64,
    /// The predicted chance that team 0 wins.
    pub chance: Option<f64>,
    /// The seed of the round.
    pub seed: u64,
    /// When the round began, until which the waits of these tickets count.
    pub searched_at: Timestamp,
    /// The ruleset whose rating system predicts the chance.
    pub ruleset: String,
    /// What each rule found, one line each. In memory, a match does not keep them.
    pub why: Vec<String>,
    /// What the round searched among; `None` if that is too large to store. In memory, a match does not
    /// keep it.
    pub pool: Option<Arc<SearchedPool>>,
}

/// What a round searched among: with the contents of the tickets, enough to find its matches again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchedPool {
    /// The name of the queue.
    pub queue: String,
    /// The configuration of the queue, as JSON.
    pub settings: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// How much was searched.
    pub effort: u32,
    /// The version of the program.
    pub version: String,
    /// When the round began, until which the waits of the tickets count.
    pub searched_at: Timestamp,
    /// The numbers of the tickets, as in `3-7 9`.
    pub tickets: String,
    /// What was known of their players, as JSON.
    pub known: String,
    /// How the rating system turns strengths into chances, as JSON; `None` before its first rated match.
    pub win_model: Option<String>,
}

/// The state of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Its players can accept or decline it.
    Proposed,
    /// It is final, and needs no instance.
    #[default]
    Formed,
    /// It waits for a free slot.
    Reserved,
    /// An instance was asked to host it.
    Opening,
    /// The instance can host it, and the players were called.
    Ready,
    /// A connection of the instance has the game, and players arrive.
    Joining,
    /// Play has begun.
    Playing,
    /// END has come. Final.
    Over,
    /// It will not be played, or its game was broken off. Final.
    Failed,
}

impl Stage {
    /// The states of matches that an instance hosts or hosted, or that wait for one, in order.
    pub const HOSTED: [Self; 7] = [
        Self::Reserved,
        Self::Opening,
        Self::Ready,
        Self::Joining,
        Self::Playing,
        Self::Over,
        Self::Failed,
    ];

    /// The word for it in the database and for operators.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Formed => "formed",
            Self::Reserved => "reserved",
            Self::Opening => "opening",
            Self::Ready => "ready",
            Self::Joining => "joining",
            Self::Playing => "playing",
            Self::Over => "over",
            Self::Failed => "failed",
        }
    }

    /// Whether the match needs an instance, or needed one.
    pub(crate) fn is_hosted(self) -> bool {
        self >= Self::Reserved
    }

    /// Whether a hosted match never leaves this state.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Over | Self::Failed)
    }

    /// Whether a hosted match may still change.
    pub(super) fn is_live(self) -> bool {
        self.is_hosted() && !self.is_final()
    }

    /// Whether the match is at an instance and START has not come.
    pub(crate) fn is_before_start(self) -> bool {
        matches!(self, Self::Opening | Self::Ready | Self::Joining)
    }

    /// Whether the players were called to the instance.
    pub fn is_called(self) -> bool {
        matches!(self, Self::Ready | Self::Joining | Self::Playing)
    }

    /// The state of the tickets that the match was formed of, and that are still in it.
    pub(super) fn of_tickets(self, id: MatchId) -> State {
        match self {
            Self::Proposed => State::Proposed(id),
            Self::Reserved | Self::Opening => State::Hosted(id),
            Self::Ready | Self::Joining => State::Called(id),
            Self::Formed | Self::Playing | Self::Over | Self::Failed => State::Matched(id),
        }
    }
}

/// Why a match has left an instance, or has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// Nothing has gone wrong.
    #[default]
    None,
    /// The instance refused it.
    Refused,
    /// The instance, or its game, did not answer in time.
    Silent,
    /// The connection of the instance was lost.
    Lost,
    /// No instance was free in time.
    NoInstance,
    /// The game did not begin in time.
    NotStarted,
    /// The game did not end in time.
    TooLong,
    /// The game server began another game instead.
    GivenUp,
    /// The tickets of the match are gone.
    Withdrawn,
}

impl Why {
    /// All reasons.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Refused,
        Self::Silent,
        Self::Lost,
        Self::NoInstance,
        Self::NotStarted,
        Self::TooLong,
        Self::GivenUp,
        Self::Withdrawn,
    ];

    /// The word for it, on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Refused => "refused",
            Self::Silent => "silent",
            Self::Lost => "lost",
            Self::NoInstance => "no-instance",
            Self::NotStarted => "not-started",
            Self::TooLong => "too-long",
            Self::GivenUp => "given-up",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// A player's place in a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchSeat {
    /// The player's identity.
    pub player: String,
    /// The player's ticket.
    pub ticket: TicketNumber,
    /// The team, counted from 0.
    pub team: u8,
    /// Whether the player has joined the match in play.
    pub later: bool,
}

/// A match of a queue, and of its hosting if it needs an instance.
///
/// It has seats as long as any of its tickets is kept, and its hosting is kept for a day after it has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Match {
    /// What names the match on the wire, and in the database once it is recorded.
    pub id: MatchId,
    /// The queue that formed it.
    pub queue: String,
    /// The state that the match is in.
    pub stage: Stage,
    /// What the search found.
    pub proposal: Proposal,
    /// All players, team by team; then those who have joined in play.
    pub seats: Vec<MatchSeat>,
    /// When it was formed.
    pub formed_at: Timestamp,
    /// Until when its players can accept it; `None` once all have, or if they need not.
    pub open_until: Option<Timestamp>,
    /// The players who have accepted it.
    pub accepted: BTreeSet<String>,
    /// The id of the stored pool that it was found in; `None` if that was too large.
    pub pool_id: Option<MatchId>,
    /// When a hosted match got its state.
    pub since: Timestamp,
    /// Until when it may wait for an instance.
    pub wait_until: Timestamp,
    /// What it needs of an instance. Not stored: its tickets and its queue tell it again.
    pub wanted: WantedInstance,
    /// The instance that hosts it, or did so last.
    pub instance: Option<String>,
    /// Where its players connect.
    pub address: Option<String>,
    /// The number of the game in its session.
    pub game: Option<i64>,
    /// How many instances were asked to host it.
    pub tries: u32,
    /// Why it left its last instance, or has failed.
    pub why: Why,
    /// The pass of each player, while passes are valid.
    pub passes: BTreeMap<String, String>,
    /// Until when the passes are valid, once the players were called.
    pub passes_until: Option<Timestamp>,
    /// When its game lost its connection during play; `None` while it has one.
    pub parted: Option<Timestamp>,
    /// The number of seats of each team that players of the queue are to fill, in play.
    pub asked: BTreeMap<u8, u32>,
    /// The players who were sent to the match in play and have not come.
    pub expected: BTreeMap<String, ExpectedPlayer>,
    /// Expected players whom the game server has sent away: they are not sent to the match again.
    pub sent_away: BTreeSet<String>,
    /// All players of the game with their teams, in play; `None` before the game server has reported them.
    pub roster: Option<Vec<(String, Option<u8>)>>,
    /// A number that changes with the players and with those who are expected. Not stored.
    pub version: u64,
    /// The players whom the instance has reported before START. Not stored.
    pub present: BTreeSet<String>,
}

impl Match {
    /// The numbers of the match's tickets.
    pub fn tickets(&self) -> BTreeSet<TicketNumber> {
        self.seats.iter().map(|seat| seat.ticket).collect()
    }

    /// Whether a ticket has joined the match in play.
    pub fn is_later(&self, ticket: TicketNumber) -> bool {
        let mut seats = self.seats.iter();
        seats.any(|seat| seat.later && seat.ticket == ticket)
    }

    /// The pass of a player, as long as it is valid.
    pub fn pass(&self, player: &str, now: Timestamp) -> Option<&String> {
        let is_valid = self.passes_until.is_none_or(|until| now < until);
        let is_expected = self.expected.contains_key(player);
        let passes = (is_valid || is_expected).then_some(&self.passes)?;
        passes.get(player)
    }

    /// Whether any of its tickets is kept.
    pub(super) fn has_seats(&self) -> bool {
        !self.seats.is_empty()
    }

    /// Whether a ticket in this state is in the match, in its present state.
    pub(super) fn agrees(&self, ticket: TicketNumber, state: State) -> bool {
        let mut seats = self.seats.iter().filter(|seat| seat.ticket == ticket);
        let of_first = self.stage.of_tickets(self.id);
        seats.next().is_some_and(|seat| {
            let is_expected = seat.later && !self.stage.is_final();
            state == of_first || is_expected && state == State::Called(self.id)
        })
    }

    /// Those who play in it: the players whom its game server has reported, or else those of its tickets.
    pub(super) fn players(&self) -> Vec<String> {
        match &self.roster {
            Some(roster) => roster.iter().map(|(player, _)| player.clone()).collect(),
            None => self.seats.iter().map(|seat| seat.player.clone()).collect(),
        }
    }

    /// Number of players on a team, of those whom the game server has reported.
    pub(super) fn heads(&self, team: u8) -> u32 {
        let on = self.present_players().filter(|(_, on)| *on == Some(team));
        u32::try_from(on.count()).unwrap_or(u32::MAX)
    }

    /// Number of players who are expected on a team.
    pub(super) fn expected_on(&self, team: u8) -> u32 {
        let to = self.expected.values().filter(|one| one.team == team);
        u32::try_from(to.count()).unwrap_or(u32::MAX)
    }

    /// The players whom the game server has reported in play, each with the team.
    pub fn present_players(&self) -> impl Iterator<Item = (&str, Option<u8>)> {
        let players = self.roster.iter().flatten();
        players.map(|(player, team)| (player.as_str(), *team))
    }

    /// Whether a player is in the game, or is expected there.
    pub fn has(&self, player: &str) -> bool {
        self.expected.contains_key(player) || self.present_players().any(|(id, _)| id == player)
    }

    /// Whether the game server has reported that all players have left.
    pub(super) fn is_deserted(&self) -> bool {
        self.roster.as_ref().is_some_and(Vec::is_empty)
    }
}

/// A player who was sent to a match in play and has not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedPlayer {
    /// The team with the free seat.
    pub team: u8,
    /// Until when the player may come. While the game has no connection, the player cannot come, and this
    /// time does not count.
    pub until: Timestamp,
    /// The number of the player's ticket, whose players are sent and released together.
    pub ticket: TicketNumber,
}

/// The number of a ticket: the order in which tickets were submitted, and thereby its place.
pub type TicketNumber = i64;

/// What applies to the tickets of a queue and to the matches formed of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueTerms {
    /// How long a ticket waits before it expires, in milliseconds.
    pub ttl: i64,
    /// How long players have to accept a match, in milliseconds; 0 for no ready check.
    pub ready_check: i64,
    /// A player may be in one waiting ticket among the queues with the same group.
    pub group: String,
    /// Whether a match of the queue needs an instance that hosts it.
    pub hosted: bool,
    /// How long a match waits for an instance, in milliseconds.
    pub host_wait: i64,
    /// The latency that players state to each region, and the worst one at which they play.
    pub latency: Option<Latency>,
    /// Number of teams of a match.
    pub teams: u8,
    /// Whether players of the queue fill free seats of its matches in play.
    pub backfill: bool,
}

/// A ticket as it is submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// The name of the client, which the ticket belongs to.
    pub owner: String,
    /// The client's own id of the ticket, unique for the name.
    pub id: String,
    /// The name of the queue.
    pub queue: String,
    /// The ids of the ticket's players.
    pub players: Vec<String>,
    /// Everything that was stated.
    pub spec: Arc<TicketSpec>,
}

/// A player who is in a ticket that has not ended, and in no other ticket of the group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueuedPlayer {
    /// The group of the ticket's queue; empty for the queues of a partition that name none.
    pub group: String,
    /// The id of the player.
    pub player: String,
    /// The number of the ticket.
    pub ticket: TicketNumber,
}

/// The state of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for a match.
    Queued,
    /// It is in a match that its players have not all accepted.
    Proposed(MatchId),
    /// It is in a match for which an instance is sought.
    Hosted(MatchId),
    /// Its players were called to the instance of their match, whose play has not begun.
    Called(MatchId),
    /// It is in a match: one that needs no instance, or whose play has begun. Final.
    Matched(MatchId),
    /// It has left the queue. Final.
    Cancelled,
    /// It has waited for as long as its queue allows. Final.
    Expired,
}

impl State {
    /// Whether the ticket never leaves this state.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Matched(_) | Self::Cancelled | Self::Expired)
    }

    /// Whether the ticket is in a match that needs an instance, and whose play has not begun.
    pub(crate) fn is_hosted(self) -> bool {
        matches!(self, Self::Hosted(_) | Self::Called(_))
    }

    /// The match that the ticket is in.
    pub fn match_id(self) -> Option<MatchId> {
        match self {
            Self::Proposed(id) | Self::Hosted(id) | Self::Called(id) | Self::Matched(id) => {
                Some(id)
            }
            Self::Queued | Self::Cancelled | Self::Expired => None,
        }
    }
}

/// Why a ticket has gone back to the queue or has left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// Nothing out of the ordinary.
    #[default]
    None,
    /// A player declined the match.
    Declined,
    /// A player did not accept the match in time.
    Unanswered,
    /// A ticket of the match was cancelled.
    Cancelled,
    /// The configuration no longer has the queue, or the queue no longer accepts the ticket.
    Reconfigured,
    /// No instance was found for the match in time, or its game did not begin.
    Unhosted,
    /// A player did not come to the instance.
    NoShow,
    /// The match has ended before its new player came.
    Ended,
    /// The match in play has no free seat for its new player any more.
    Released,
}

impl Reason {
    /// All reasons, in the order of their declaration.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Declined,
        Self::Unanswered,
        Self::Cancelled,
        Self::Reconfigured,
        Self::Unhosted,
        Self::NoShow,
        Self::Ended,
        Self::Released,
    ];

    /// The word for it, on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Declined => "declined",
            Self::Unanswered => "unanswered",
            Self::Cancelled => "cancelled",
            Self::Reconfigured => "reconfigured",
            Self::Unhosted => "unhosted",
            Self::NoShow => "no-show",
            Self::Ended => "ended",
            Self::Released => "released",
        }
    }
}

/// A ticket, and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct TicketRecord {
    /// The number of the ticket.
    pub number: TicketNumber,
    /// What was submitted.
    pub ticket: Submission,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// The state that the ticket is in.
    pub state: State,
    /// Why it has that state.
    pub reason: Reason,
    /// When it got that state.
    pub changed_at: Timestamp,
    /// Whether the client has been sent that state.
    pub is_sent: bool,
}

/// What an instance offers, as INSTANCE states it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceOffer {
    /// The name of the game server.
    pub name: String,
    /// Where players connect, such as `203.0.113.7:27960`.
    pub address: String,
    /// The region, a word for which players state their latency.
    pub region: Option<String>,
    /// How many matches it hosts at once.
    pub slots: u32,
    /// The modes that it serves; all if there are none.
    pub modes: BTreeSet<String>,
    /// The maps that it has; all if there are none.
    pub maps: BTreeSet<String>,
    /// The partition of the queues whose matches it hosts; `None` for the main one.
    pub partition: Option<String>,
}

impl InstanceOffer {
    /// The machine: the address without the port.
    pub fn machine(&self) -> &str {
        match self.address.rsplit_once(':') {
            Some((machine, _)) => machine,
            None => &self.address,
        }
    }
}

/// A game server that can host matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// What it offers.
    pub offer: InstanceOffer,
    /// How busy it states to be, 0 to 1.
    pub load: f64,
    /// When it sent its last line.
    pub heard: Timestamp,
    /// When its connection was lost; `None` while it is connected.
    pub away: Option<Timestamp>,
    /// Whether it gets no further matches.
    pub drains: bool,
    /// The matches that it hosts or was asked to host.
    pub matches: BTreeSet<MatchId>,
    /// Until when it gets no match, because it has refused one or has not answered.
    pub(super) rests_until: Timestamp,
}

impl Instance {
    /// An instance that has just joined.
    pub(super) fn new(offer: InstanceOffer, now: Timestamp) -> Self {
        Self {
            offer,
            load: 0.0,
            heard: now,
            away: None,
            drains: false,
            matches: BTreeSet::new(),
            rests_until: now,
        }
    }

    /// Whether it can be asked to host one more match now.
    pub(super) fn is_free(&self, now: Timestamp) -> bool {
        let connected = self.away.is_none() && !self.drains;
        connected && self.rests_until <= now && self.matches.len() < self.offer.slots as usize
    }

    /// How busy it is: what it states, or the part of its slots in use if that is more.
    pub(super) fn busy(&self) -> f64 {
        let used = self.matches.len() as f64 / f64::from(self.offer.slots.max(1));
        self.load.max(used)
    }
}

/// What a match needs of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedInstance {
    /// The mode of the match, if it has one.
    pub mode: Option<String>,
    /// The map of the match, if it has one.
    pub map: Option<String>,
    /// The worst latency of its players in each region that all of them state.
    pub latencies: BTreeMap<String, f64>,
    /// The worst latency that a player may have. `None` if any latency will do, also an unknown one.
    pub ceiling: Option<f64>,
    /// How long the match waits for an instance, in milliseconds.
    pub wait: i64,
    /// Number of its teams.
    pub teams: u8,
    /// Number of players of a full team.
    pub size: u32,
}

impl WantedInstance {
    /// Whether an instance serves the mode and the map of the match, and is near enough to its players.
    pub(super) fn fits(&self, instance: &Instance) -> bool {
        let offer = &instance.offer;
        let has = |all: &BTreeSet<String>, one: &Option<String>| {
            all.is_empty() || one.as_ref().is_none_or(|one| all.contains(one))
        };
        let near = self.ceiling.is_none_or(|ceiling| {
            self.latency(instance)
                .is_some_and(|latency| latency <= ceiling)
        });
        has(&offer.modes, &self.mode) && has(&offer.maps, &self.map) && near
    }

    /// The worst latency of the players at an instance; `None` if it is unknown.
    pub(super) fn latency(&self, instance: &Instance) -> Option<f64> {
        let region = instance.offer.region.as_ref()?;
        self.latencies.get(region).copied()
    }
}
