//! What the instances and the allocator are sent of hosted matches.

use rand::{TryRng, rngs::SysRng};

use super::{Link, Shared, links::Links, partition_handle::PartitionHandle};
use crate::{
    domain::{MAX_TEAMS, MatchId, to_hex},
    lifecycle::{HostRefused, Lifecycle, Match, Message, Seat},
    matchmaking::Host,
    protocol::{HostNotice, HostSeat, HostSession},
    session::HostedGame,
};

/// What the instance or the game that a message is for is sent, and its connection. If that is lost, nothing is sent:
/// an instance that comes back is sent its matches again.
pub(super) fn notice(
    links: &Links,
    life: &Lifecycle,
    message: Message,
) -> Option<(Link, HostNotice)> {
    Some(match message {
        Message::Open { instance, id } => {
            let session = session(life, id)?;
            (links.of_instance(&instance)?, HostNotice::Session(session))
        }
        Message::Close { instance, id, why } => {
            let why = why.as_str().to_owned();
            (links.of_instance(&instance)?, HostNotice::Close { id, why })
        }
        Message::Admit(id, players) => {
            let mut seats = life
                .formed(id)
                .map_or(Vec::new(), |formed| seats(life, formed));
            seats.retain(|seat| players.contains(&seat.player));
            (links.of_game(id)?, HostNotice::Admit(seats))
        }
        Message::Dismiss(id, players) => (links.of_game(id)?, HostNotice::Dismiss(players)),
    })
}

/// Asks the allocator for the game server of a match.
pub(super) fn allocate(handle: &PartitionHandle, life: &Lifecycle, id: MatchId) {
    if let (Some(allocator), Some(hosted)) = (&handle.shared.allocator, life.hosted(id)) {
        let request = allocator
            .settings()
            .request(id, &hosted.queue, &hosted.wanted);
        allocator.ask(id, request, handle.calls.clone());
    }
}

/// What an instance is sent of a match that it is to host.
fn session(life: &Lifecycle, id: MatchId) -> Option<HostSession> {
    let formed = life.formed(id)?;
    Some(HostSession {
        id,
        queue: formed.queue.clone(),
        mode: formed.proposal.mode.clone(),
        map: formed.proposal.map.clone(),
        seats: seats(life, formed),
    })
}

/// The players of a match, as its instance is sent them.
fn seats(life: &Lifecycle, formed: &Match) -> Vec<HostSeat> {
    let seat = |seat: &Seat| {
        let ticket = life.ticket(seat.ticket);
        let is_party = ticket.is_some_and(|ticket| ticket.ticket.players.len() > 1);
        let pass = life.pass(formed.id, &seat.player);
        HostSeat {
            player: seat.player.clone(),
            team: seat.team,
            pass: pass.cloned().unwrap_or_default(),
            party: is_party.then(|| seat.ticket.to_string()),
        }
    };
    formed.seats.iter().map(seat).collect()
}

/// The game that an instance opens for a match.
///
/// # Errors
/// Fails if the instance does not host the match.
pub(super) fn game(
    shared: &Shared,
    life: &Lifecycle,
    name: &str,
    id: MatchId,
) -> Result<HostedGame, HostRefused> {
    let hosted = life.at_instance(name, id)?;
    let formed = life.formed(id).ok_or(HostRefused::NotYours)?;
    let queue = shared.queue(&hosted.queue).ok_or(HostRefused::NoQueue)?;
    let proposal = &formed.proposal;
    let human = |seat: HostSeat| (seat.player, seat.team, seat.party);
    let teams = u8::try_from(proposal.teams.len().min(MAX_TEAMS)).unwrap_or(2);
    let why = format!(
        "match {id} of queue {}, with a penalty of {:.3}",
        hosted.queue, proposal.penalty
    );
    let chance = proposal
        .chance
        .map(|chance| format!("the predicted chance that team 0 wins is {chance:.6}"));
    Ok(HostedGame {
        ruleset: queue.settings().ruleset.clone(),
        map: proposal.map.clone(),
        teams: teams.max(2),
        humans: seats(life, formed).into_iter().map(human).collect(),
        reasons: std::iter::once(why).chain(chance).collect(),
    })
}

/// A pass of 128 random bits.
pub(super) fn draw_pass() -> String {
    let mut bytes = [0u8; 16];
    match SysRng.try_fill_bytes(&mut bytes) {
        Ok(()) => to_hex(&bytes),
        // Without randomness there is no secret: a pass that no instance accepts is better.
        Err(_) => String::new(),
    }
}

impl Shared {
    /// Whether any queue needs instances.
    pub(super) fn has_hosts(&self) -> bool {
        let queues = self.queues();
        let mut queues = queues.values();
        queues.any(|queue| queue.settings().host == Host::Required)
    }
}
