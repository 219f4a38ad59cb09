//! The connections of instances: the one that sent INSTANCE, and those that have the games of matches.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use crate::{
    coordinator::{Act, Coordinator, Offer},
    domain::{MatchId, Timestamp},
};

/// What an instance is sent without having asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostNews {
    /// The instance is asked to host a match.
    Open(Box<Opening>),
    /// The game of a match in play gets these players.
    Admit(Vec<OpenSeat>),
    /// These players, whom the game was to get, do not come.
    Dismiss(Vec<String>),
    /// The instance does not host a match any more.
    Close {
        /// The id of the match.
        id: MatchId,
        /// Why it hosts the match no longer, as one word of the protocol.
        why: &'static str,
    },
}

/// A match that an instance is asked to host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The id of the match.
    pub id: MatchId,
    /// The queue that formed it.
    pub queue: String,
    /// The mode of the match, if it has one.
    pub mode: Option<String>,
    /// The map of the match, if it has one.
    pub map: Option<String>,
    /// All players, with their teams and passes.
    pub seats: Vec<OpenSeat>,
}

/// A player of a match that an instance is asked to host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSeat {
    /// The player's identity.
    pub player: String,
    /// The team, counted from 0.
    pub team: u8,
    /// The pass that the player shows; empty if passes are void.
    pub pass: String,
    /// The player's party, if it has other players.
    pub party: Option<String>,
}

/// Sends to one connection of an instance, and knows whether the connection is open. Sending never waits.
#[derive(Clone)]
pub struct Link {
    send: Arc<dyn Fn(&HostNews) + Send + Sync>,
    is_open: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The clock's millisecond of the last line from the connection.
    heard: Arc<AtomicU64>,
}

impl Link {
    /// A link that calls `send` to send, and `is_open` to find out whether its connection is open. The
    /// connection stores in `heard` when it received its last line.
    pub fn new(
        send: impl Fn(&HostNews) + Send + Sync + 'static,
        is_open: impl Fn() -> bool + Send + Sync + 'static,
        heard: Arc<AtomicU64>,
    ) -> Self {
        Self {
            send: Arc::new(send),
            is_open: Arc::new(is_open),
            heard,
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link")
    }
}

/// The connections of all instances.
#[derive(Debug, Default)]
pub(super) struct Links {
    instances: BTreeMap<String, (Offer, Link)>,
    games: BTreeMap<MatchId, Link>,
}

impl Links {
    /// An instance has connected.
    pub fn join(&mut self, offer: Offer, link: Link) {
        self.instances.insert(offer.name.clone(), (offer, link));
    }

    /// A connection has the game of a match.
    pub fn host(&mut self, id: MatchId, link: Link) {
        self.games.insert(id, link);
    }

    /// Reports to the coordinator when the instances sent their last lines. `time` turns milliseconds of the
    /// clock into a time.
    pub fn hear(&self, coordinator: &mut Coordinator, time: impl Fn(u64) -> Timestamp) {
        for (name, (_, link)) in &self.instances {
            if (link.is_open)() {
                coordinator.alive(name, time(link.heard.load(Ordering::Relaxed)));
            }
        }
    }

    /// Reports to the coordinator which connections are lost, and when the others sent their last line.
    /// `time` turns milliseconds of the clock into a time.
    pub fn watch(&mut self, coordinator: &mut Coordinator, time: impl Fn(u64) -> Timestamp) {
        self.instances.retain(|name, (offer, link)| {
            let open = (link.is_open)();
            let heard = time(link.heard.load(Ordering::Relaxed));
            match open {
                // The coordinator removed the instance after a long silence, and a line has come since.
                true if !coordinator.knows(name) && coordinator.is_recent(heard) => {
                    let joined = coordinator.joined(offer.clone());
                    tracing::debug!(name, ?joined, "an instance is back");
                }
                true => coordinator.alive(name, heard),
                false => coordinator.lost(name),
            }
            open
        });
        self.games.retain(|id, link| {
            let over = coordinator
                .hosted(*id)
                .is_none_or(|hosted| hosted.stage.is_final());
            let open = (link.is_open)();
            if !open && !over {
                coordinator.parted(*id);
            }
            open && !over
        });
    }

    /// Sends news to the connection that has the game of a match, if there is one.
    pub fn send_to_game(&self, id: MatchId, news: &HostNews) {
        if let Some(link) = self.games.get(&id) {
            (link.send)(news);
        }
    }

    /// Sends an act to its instance. If the connection is lost, nothing is sent: an instance that comes back
    /// is sent its matches again.
    pub fn send(&self, act: &Act, opening: impl Fn(MatchId) -> Option<Opening>) {
        let (instance, news) = match act {
            Act::Open { instance, id } => match opening(*id) {
                Some(opening) => (instance, HostNews::Open(Box::new(opening))),
                None => return,
            },
            Act::Close { instance, id, why } => {
                let why = why.as_str();
                (instance, HostNews::Close { id: *id, why })
            }
            _ => return,
        };
        if let Some((_, link)) = self.instances.get(instance) {
            (link.send)(&news);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coordinator::CoordinatorSettings;

    #[test]
    fn a_line_that_came_while_the_daemon_stalled_counts() {
        let mut coordinator = Coordinator::new(CoordinatorSettings::default(), Timestamp(0));
        let name = "a".to_owned();
        let offer = Offer {
            name,
            slots: 1,
            ..Offer::default()
        };
        coordinator.joined(offer.clone()).unwrap();
        let heard = Arc::new(AtomicU64::new(0));
        let mut links = Links::default();
        links.join(offer, Link::new(|_| {}, || true, heard.clone()));
        // Nothing happens for a minute, in which the instance has sent a line.
        heard.store(55_000, Ordering::Relaxed);
        let time = |millis: u64| Timestamp(millis as i64);
        links.hear(&mut coordinator, time);
        coordinator.at(Timestamp(60_000));
        assert!(coordinator.instances().all(|one| one.away.is_none()));
        // Without a line, it is silent for too long half a minute after the last one.
        links.hear(&mut coordinator, time);
        coordinator.at(Timestamp(84_999));
        assert!(coordinator.instances().all(|one| one.away.is_none()));
        coordinator.at(Timestamp(85_000));
        assert!(coordinator.instances().all(|one| one.away.is_some()));
    }
}
