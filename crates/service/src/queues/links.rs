//! The connections of instances: those that sent INSTANCE, those with the game of a match, what each asks of the task
//! of the queues, and what it is sent.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    matchmaking::lifecycle::{Allocation, InstanceOffer, Lifecycle, Match, MatchSeat, Message},
    model::{Timestamp, record::MatchId},
    protocol::push::{HostNotice, HostSeat, HostSession},
    session::Mailbox,
};

/// The players who are on the way to the match in play of a connection. Clones refer to the same players.
#[derive(Clone, Debug, Default)]
pub struct ExpectedPlayers(Arc<Mutex<BTreeMap<String, HostSeat>>>);

impl ExpectedPlayers {
    /// Takes the seat of a player who is on the way.
    pub fn take(&self, player: &str) -> Option<HostSeat> {
        self.0.lock().remove(player)
    }

    fn note(&self, notice: &HostNotice) {
        match notice {
            HostNotice::Admit(seats) => self
                .0
                .lock()
                .extend(seats.iter().map(|seat| (seat.player.clone(), seat.clone()))),
            HostNotice::Dismiss(players) => {
                self.0.lock().retain(|player, _| !players.contains(player));
            }
            HostNotice::Session(_) | HostNotice::Close { .. } => {}
        }
    }
}

/// A connection of an instance to another daemon.
#[derive(Clone, Debug)]
pub(super) struct RemoteLink {
    pub daemon: String,
    pub is_open: Arc<AtomicBool>,
    /// The clock's millisecond of its last line.
    pub heard: Arc<AtomicU64>,
}

/// Sends to one connection of an instance, and knows whether the connection is open. Sending never waits.
#[derive(Clone, Debug)]
pub struct InstanceLink {
    /// Distinguishes the links of this process, also where another daemon knows one of them.
    number: u64,
    end: LinkEnd,
    /// The clock's millisecond of the last line from the connection.
    heard: Arc<AtomicU64>,
}

#[derive(Clone, Debug)]
enum LinkEnd {
    /// A connection to this daemon.
    Here(Mailbox, ExpectedPlayers),
    /// A connection to another daemon.
    There(RemoteLink),
    /// A connection to another daemon of which only the number is known. It counts as closed.
    Unknown,
}

impl InstanceLink {
    /// A link to the connection that sends what is in the mailbox. The connection stores in `heard` when it received
    /// its last line.
    pub fn new(mailbox: Mailbox, expected: ExpectedPlayers, heard: Arc<AtomicU64>) -> Self {
        static LINKS: AtomicU64 = AtomicU64::new(1);
        Self {
            number: LINKS.fetch_add(1, Ordering::Relaxed),
            end: LinkEnd::Here(mailbox, expected),
            heard,
        }
    }

    /// A link to a connection of another daemon, which knows it by this number.
    pub(super) fn there(number: u64, remote: RemoteLink) -> Self {
        Self {
            number,
            heard: remote.heard.clone(),
            end: LinkEnd::There(remote),
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The other daemon, if the connection is to another one: what it is sent has to be written.
    pub(super) fn daemon(&self) -> Option<&str> {
        match &self.end {
            LinkEnd::There(there) => Some(&there.daemon),
            LinkEnd::Here(..) | LinkEnd::Unknown => None,
        }
    }

    /// Sends a notice to a connection of this daemon.
    pub(super) fn send(&self, notice: &HostNotice) {
        match &self.end {
            LinkEnd::Here(mailbox, expected) => {
                expected.note(notice);
                if let Err(error) = mailbox.push_all(notice.lines()) {
                    tracing::warn!(%error, "an instance is not sent a match");
                }
            }
            LinkEnd::There(_) | LinkEnd::Unknown => {}
        }
    }

    pub(super) fn is_open(&self) -> bool {
        match &self.end {
            LinkEnd::Here(mailbox, _) => mailbox.is_open(),
            LinkEnd::There(there) => there.is_open.load(Ordering::Relaxed),
            LinkEnd::Unknown => false,
        }
    }

    /// The clock's millisecond of the last line.
    pub(super) fn heard(&self) -> u64 {
        self.heard.load(Ordering::Relaxed)
    }
}

/// To other daemons, a link is its number.
impl Serialize for InstanceLink {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(self.number)
    }
}

/// A link of another daemon, by its number alone: nothing can be sent to it.
impl<'de> Deserialize<'de> for InstanceLink {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self {
            number: u64::deserialize(from)?,
            end: LinkEnd::Unknown,
            heard: Arc::default(),
        })
    }
}

/// What an instance asks for, or reports of a match. The first text is the instance's name.
#[derive(Debug, Serialize, Deserialize)]
pub enum InstanceCommand {
    /// It connects, or changes what it offers. Fails if there are too many instances.
    Join(Box<InstanceOffer>, InstanceLink),
    /// How busy it is, and the partition of its offer. Fails if the instance is not known.
    Load(String, f64, Option<String>),
    /// It refuses to host a match. The daemon looks for another one; see
    /// [`Lifecycle::refused`](crate::matchmaking::lifecycle::Lifecycle::refused).
    Refuse(String, MatchId),
    /// It is ready to host a match, and the players are called; see
    /// [`Lifecycle::ready`](crate::matchmaking::lifecycle::Lifecycle::ready).
    Ready {
        /// The instance.
        name: String,
        /// The match.
        id: MatchId,
        /// Where players connect; `None` for the address of the offer.
        address: Option<String>,
        /// The number of the game that this connection opens for the match, if it opens one.
        opens: Option<(i64, InstanceLink)>,
    },
    /// A connection has the game of a match; see
    /// [`Lifecycle::opened`](crate::matchmaking::lifecycle::Lifecycle::opened).
    Opened {
        /// The instance.
        name: String,
        /// The match.
        id: MatchId,
        /// The number of the game.
        game: i64,
        /// The connection.
        link: InstanceLink,
        /// Whether the connection is about to put the game into its session.
        plans: bool,
    },
    /// Play begins in a match, which no other instance gets from now on; see
    /// [`Lifecycle::began`](crate::matchmaking::lifecycle::Lifecycle::began).
    Began(String, MatchId),
    /// A match has ended, and is recorded. If this cannot be written, the daemon that runs the queue finds the recorded
    /// match later, and ends it.
    Ended(MatchId),
    /// The game server has begun another game instead of that of the match.
    GaveUp(MatchId),
    /// The allocator has answered.
    Allocated {
        /// The match that asked.
        id: MatchId,
        /// The answer.
        allocation: Allocation,
        /// 0 to 1, at random: spreads the times at which matches ask again.
        jitter: f64,
    },
    /// All players of the game of a match in play. Others may queue again.
    Roster {
        /// The instance.
        name: String,
        /// The match.
        id: MatchId,
        /// The players, each with the team.
        players: Vec<(String, Option<u8>)>,
    },
    /// The number of a team's seats that players of the queue are to fill; see
    /// [`Lifecycle::seek_players`](crate::matchmaking::lifecycle::Lifecycle::seek_players).
    Seek {
        /// The instance.
        name: String,
        /// The match in play.
        id: MatchId,
        /// The team.
        team: u8,
        /// The number of seats.
        seats: u32,
    },
    /// The game server sends a player away who is on the way to its match in play.
    SendAway {
        /// The instance.
        name: String,
        /// The match in play.
        id: MatchId,
        /// The player.
        player: String,
    },
    /// A player of a match whose play has not begun is there.
    Arrived {
        /// The instance.
        name: String,
        /// The match.
        id: MatchId,
        /// The player.
        player: String,
    },
}

impl InstanceCommand {
    /// The connection that an instance registers with this.
    pub(super) fn link(&self) -> Option<&InstanceLink> {
        match self {
            Self::Join(_, link) | Self::Opened { link, .. } => Some(link),
            Self::Ready { opens, .. } => opens.as_ref().map(|(_, link)| link),
            _ => None,
        }
    }
}

/// The connections of all instances.
#[derive(Debug, Default)]
pub(super) struct InstanceLinks {
    instances: BTreeMap<String, (InstanceOffer, InstanceLink)>,
    games: BTreeMap<MatchId, OpenGame>,
}

/// The connection that has the game of a match.
#[derive(Debug)]
struct OpenGame {
    instance: String,
    game: i64,
    link: InstanceLink,
}

impl InstanceLinks {
    /// An instance has connected.
    pub fn join(&mut self, offer: InstanceOffer, link: InstanceLink) {
        self.instances.insert(offer.name.clone(), (offer, link));
    }

    /// A connection of an instance has the game of a match, which has this number.
    pub fn host(&mut self, id: MatchId, instance: String, game: i64, link: InstanceLink) {
        let open = OpenGame {
            instance,
            game,
            link,
        };
        self.games.insert(id, open);
    }

    /// Forgets the connections that are closed.
    pub fn prune(&mut self) {
        self.instances.retain(|_, (_, link)| link.is_open());
        self.games.retain(|_, open| open.link.is_open());
    }

    /// What the instances with open connections have last asked for, as they would ask for it again.
    pub fn asked(&self) -> impl Iterator<Item = InstanceCommand> {
        let joined = self.instances.values().map(|(offer, link)| {
            let offer = Box::new(offer.clone());
            InstanceCommand::Join(offer, link.clone())
        });
        let opened = self.games.iter().map(|(id, open)| InstanceCommand::Opened {
            name: open.instance.clone(),
            id: *id,
            game: open.game,
            link: open.link.clone(),
            plans: false,
        });
        joined.chain(opened)
    }

    /// Reports which connections are open, after a restart.
    pub fn rejoin(&mut self, life: &mut Lifecycle) {
        self.prune();
        for command in self.asked() {
            let done = match command {
                InstanceCommand::Join(offer, _) => life.joined(*offer),
                InstanceCommand::Opened { name, id, game, .. } => life.opened(&name, id, game),
                _ => Ok(()),
            };
            if let Err(error) = done {
                tracing::debug!(%error, "an instance does not host what it did");
            }
        }
    }

    /// Reports when the instances sent their last lines. `time` turns milliseconds of the
    /// clock into a time.
    pub fn hear(&self, life: &mut Lifecycle, time: impl Fn(u64) -> Timestamp) {
        for (name, (_, link)) in &self.instances {
            if link.is_open() {
                life.alive(name, time(link.heard()));
            }
        }
    }

    /// Reports which connections are lost, and when the others sent their last line.
    /// `time` turns milliseconds of the clock into a time.
    pub fn watch(&mut self, life: &mut Lifecycle, time: impl Fn(u64) -> Timestamp) {
        self.instances.retain(|name, (offer, link)| {
            let open = link.is_open();
            let heard = time(link.heard());
            match open {
                // The instance was removed after a long silence, and a line has come since.
                true if !life.knows(name) && life.is_recent(heard) => {
                    let joined = life.joined(offer.clone());
                    tracing::debug!(name, ?joined, "an instance is back");
                }
                true => life.alive(name, heard),
                false => life.lost(name),
            }
            open
        });
        self.games.retain(|id, open_game| {
            let over = life
                .hosted(*id)
                .is_none_or(|hosted| hosted.stage.is_final());
            let open = open_game.link.is_open();
            if !open && !over {
                life.parted(*id);
            }
            open && !over
        });
    }

    /// The connection that has the game of a match, if there is one.
    pub fn of_game(&self, id: MatchId) -> Option<InstanceLink> {
        self.games.get(&id).map(|open| open.link.clone())
    }

    /// The connection of an instance, if it is connected.
    pub fn of_instance(&self, instance: &str) -> Option<InstanceLink> {
        self.instances.get(instance).map(|(_, link)| link.clone())
    }
}

/// What the instance or the game that a message is for is sent, and its connection. If that is lost, nothing is sent:
/// an instance that comes back is sent its matches again.
pub(super) fn notice(
    links: &InstanceLinks,
    life: &Lifecycle,
    message: Message,
) -> Option<(InstanceLink, HostNotice)> {
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
pub(super) fn seats(life: &Lifecycle, formed: &Match) -> Vec<HostSeat> {
    let seat = |seat: &MatchSeat| {
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

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };

    use super::*;
    use crate::{queues::ExpectedPlayers, session::Mailbox};

    #[test]
    fn a_line_that_came_while_the_daemon_stalled_counts() {
        let mut life = Lifecycle::default();
        let name = "a".to_owned();
        let offer = InstanceOffer {
            name,
            slots: 1,
            ..InstanceOffer::default()
        };
        life.joined(offer.clone()).unwrap();
        let heard = Arc::new(AtomicU64::new(0));
        let mut links = InstanceLinks::default();
        let (mailbox, _receiver) = Mailbox::new();
        let link = InstanceLink::new(mailbox, ExpectedPlayers::default(), heard.clone());
        links.join(offer, link);
        // Nothing happens for a minute, in which the instance has sent a line.
        heard.store(55_000, Ordering::Relaxed);
        let time = |millis: u64| Timestamp(millis as i64);
        links.hear(&mut life, time);
        life.at(Timestamp(60_000));
        assert!(life.instances().all(|one| one.away.is_none()));
        // Without a line, it is silent for too long half a minute after the last one.
        links.hear(&mut life, time);
        life.at(Timestamp(84_999));
        assert!(life.instances().all(|one| one.away.is_none()));
        life.at(Timestamp(85_000));
        assert!(life.instances().all(|one| one.away.is_some()));
    }
}
