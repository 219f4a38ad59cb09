//! The queues of the configuration: tickets come in, rounds of searches run, matches come out.
//!
//! The queues are divided into partitions, of which most configurations have one. One task owns all tickets of a
//! partition ([`Lifecycle`](crate::matchmaking::lifecycle::Lifecycle)). It handles calls in batches: it applies all calls that have
//! arrived, writes what they changed in one transaction, and only then sends the answers and the news,
//! so that whatever a client has been sent is on disk. If a write fails, the task reads the state from
//! the disk again, where nothing has changed. Rounds search on blocking threads, one at a time for each
//! queue; a ticket can be cancelled meanwhile, which drops the proposals that contain it.
//!
//! The same task owns the instances and their matches, so that a ticket and its match change in one transaction.
//! Instances are sent what concerns them after it.
//!
//! One daemon of a database runs the queues of a partition: the one that holds its lease
//! ([`leases`](crate::learning::leases)). Each write checks the lease in its transaction. The others wait until the lease is
//! free; on PostgreSQL, their clients and instances are served all the same, by rows that the holder reads (`fleet`).
//!
//! Waits count by a clock that never goes back: the time of day at the start, plus the time that has
//! passed since. Setting the machine's clock while the daemon runs changes no wait.
//!
//! Entry points: [`Queues::new`], [`Queues::run`], and the calls of clients.

mod allocator;
mod backfill;
mod command;
mod commit;
mod explain;
mod fleet;
mod lease_loop;
mod links;
mod metrics;
mod pool;
mod requests;
mod rounds;
mod shared;
mod task;
mod view;

pub use allocator::{Allocator, AllocatorError};
pub use command::Draft;
pub use links::{ExpectedPlayers, InstanceCommand, InstanceLink};
pub use metrics::{HostingLevels, QueueLevels, QueueMetrics};
pub use rounds::{ReplayedSearch, SearchTime, replay};
pub use shared::{RoundCores, Threads};

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{Notify, oneshot},
    task::JoinSet,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    learning::{Learning, leases::LeaseSettings},
    matchmaking::lifecycle::{CoordinatorSettings, HostRefused, TicketRefused},
    matchmaking::{
        Queue, QueueError, QueueSettings, settings::MAIN_PARTITION, ticket::TicketError,
    },
    model::{Timestamp, record::MatchId},
    protocol::reply::{QueueLine, TicketReply},
    session::{Clock, HolderOf, Mailbox},
    store::{Store, StoreError},
};

use command::{ClientAnswer, ClientCommand, Outcome};
use fleet::{Asker, DecisionOutbox, Fleet, Remote};
use links::InstanceLinks;
use shared::{PartitionHandle, PartitionTasks, QueueShared};

/// How long [`Queues::ticket_once`] waits at most until it looks again.
const LOOK: Duration = Duration::from_secs(1);

/// The queues, and the way to the task that runs them.
#[derive(Debug)]
pub struct Queues {
    shared: Arc<QueueShared>,
}

impl Queues {
    /// The queues of a configuration, over an open store. With [`Provider::Agones`](crate::matchmaking::lifecycle::Provider),
    /// matches need the allocator.
    ///
    /// # Errors
    /// Fails if the settings of a queue contradict each other.
    pub fn new(
        settings: BTreeMap<String, QueueSettings>,
        store: Arc<Store>,
        learning: Arc<Learning>,
        clock: Arc<dyn Clock>,
        hosting: CoordinatorSettings,
        allocator: Option<Allocator>,
        leases: LeaseSettings,
    ) -> Result<Self, QueueError> {
        let queues = configured(settings, &BTreeMap::new())?;
        let metrics = Arc::new(QueueMetrics::default());
        metrics.configure(queues.keys());
        let tasks = PartitionTasks::default();
        for queue in queues.values() {
            tasks.add(&queue.settings().partition);
        }
        if queues.is_empty() {
            tasks.add(MAIN_PARTITION);
        }
        let fleet = store.is_shared().then(|| Fleet::new(&leases));
        Ok(Self {
            shared: Arc::new(QueueShared {
                queues: RwLock::new(Arc::new(queues)),
                store,
                learning,
                clock,
                hosting,
                listeners: Mutex::default(),
                changed: Notify::new(),
                fleet,
                leases,
                cores: RwLock::new(Arc::new(Threads::of_rounds())),
                allocator: allocator.map(Arc::new),
                tasks,
                stop: CancellationToken::new(),
                metrics,
                holders: OnceLock::new(),
            }),
        })
    }

    /// Says whose share of the room for tickets the name of a client means. Only the first call counts.
    pub fn share_by(&self, holder_of: HolderOf) {
        let _ = self.shared.holders.set(holder_of);
    }

    /// Runs the searches of all later rounds on these cores, instead of on threads of their own. A search
    /// that panics there costs no ticket: its round is skipped.
    pub fn search_on(&self, cores: RoundCores) {
        *self.shared.cores.write() = cores;
    }

    /// What is counted about the queues.
    pub fn metrics(&self) -> &QueueMetrics {
        &self.shared.metrics
    }

    /// Runs the queues until [`stop`](Self::stop). Only the first call does anything.
    pub async fn run(&self) {
        let shared = &self.shared;
        // Those that no queue is in any more may have tickets.
        match shared.store.queues().partitions().await {
            Ok(names) => names.iter().for_each(|name| shared.tasks.add(name)),
            Err(error) => tracing::error!(%error, "the partitions cannot be read"),
        }
        let mut tasks = JoinSet::new();
        for (handle, calls) in PartitionHandle::begin(shared) {
            tasks.spawn(lease_loop::run(handle, calls));
        }
        let fleet = async {
            if let Some(fleet) = &shared.fleet {
                tokio::join!(fleet.run(shared), fleet.announce(shared));
            }
        };
        tokio::join!(tasks.join_all(), fleet);
    }

    /// Ends [`run`](Self::run) once all calls that have been made are answered. Searches that still run
    /// are cancelled; their tickets stay in the queue.
    pub fn stop(&self) {
        self.shared.stop.cancel();
    }

    /// Replaces the configuration of all queues. Tickets of queues that are gone, and tickets that their
    /// queue no longer accepts, leave it; the others keep their places and their waits. When this returns,
    /// that is on disk.
    ///
    /// # Errors
    /// Fails if the settings of a queue contradict each other, and changes nothing then.
    pub async fn configure(
        &self,
        settings: BTreeMap<String, QueueSettings>,
    ) -> Result<(), ConfigureError> {
        let queues = configured(settings, &self.shared.queues())?;
        let known = self.shared.tasks.names();
        let partitions = queues.values().map(|queue| &queue.settings().partition);
        let mut unknown = partitions.filter(|name| !known.contains(name));
        if let Some(partition) = unknown.next() {
            return Err(ConfigureError::Partition(partition.clone()));
        }
        self.ask_all(|| ClientCommand::Configure(queues.clone()))
            .await?;
        Ok(())
    }

    /// The queue with this name.
    fn queue(&self, name: &str) -> Option<Arc<Queue>> {
        self.shared.queue(name)
    }

    async fn ask_ticket(&self, command: ClientCommand) -> Result<TicketReply, QueuesError> {
        match self.ask(command).await? {
            ClientAnswer::Ticket(reply) => Ok(reply),
            _ => Err(QueuesError::Stopped),
        }
    }

    /// The names of all queues in order, each with the names of its rules.
    pub fn names(&self) -> Vec<(String, Vec<String>)> {
        let names = |(name, queue): (&String, &Arc<Queue>)| {
            let rules = queue.rule_names().map(str::to_owned).collect();
            (name.clone(), rules)
        };
        self.shared.queues().iter().map(names).collect()
    }

    /// All queues, by name.
    ///
    /// # Errors
    /// Fails if the queues do not run.
    pub async fn list(&self) -> Result<Vec<QueueLine>, QueuesError> {
        let mut queues = Vec::new();
        for answer in self.ask_all(|| ClientCommand::List).await? {
            match answer {
                ClientAnswer::List(own) => queues.extend(own),
                _ => return Err(QueuesError::Stopped),
            }
        }
        queues.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(queues)
    }

    /// Puts a ticket into its queue. When this returns, the ticket is on disk.
    ///
    /// # Errors
    /// Fails if the queue's declarations do not allow the ticket, or for the reasons of
    /// [`Lifecycle::submit`](crate::matchmaking::lifecycle::Lifecycle::submit).
    pub async fn submit(&self, owner: &str, draft: &Draft) -> Result<TicketReply, QueuesError> {
        let (queue, submission) = draft.submission(owner)?;
        self.ask_ticket(ClientCommand::Submit(Some(queue), submission))
            .await
    }

    /// Takes a ticket out of its queue, and returns its state: a match may have been faster.
    ///
    /// # Errors
    /// Fails if the name has no such ticket.
    pub async fn cancel(&self, owner: &str, id: &str) -> Result<TicketReply, QueuesError> {
        self.ask_ticket(ClientCommand::Cancel(owner.to_owned(), id.to_owned()))
            .await
    }

    /// The state of a ticket.
    ///
    /// # Errors
    /// Fails if the name has no such ticket.
    pub async fn ticket(&self, owner: &str, id: &str) -> Result<TicketReply, QueuesError> {
        let command = ClientCommand::Ticket(owner.to_owned(), id.to_owned());
        match self.ask(command).await? {
            ClientAnswer::Ticket(reply) => Ok(reply),
            ClientAnswer::Stored => self.stored_ticket(owner, id).await,
            _ => Err(QueuesError::Stopped),
        }
    }

    /// The state of a ticket once `differs` is true of it, or at `until`, whichever comes first.
    ///
    /// # Errors
    /// Fails if the name has no such ticket.
    pub async fn ticket_once(
        &self,
        owner: &str,
        id: &str,
        until: Instant,
        differs: &(dyn Fn(&TicketReply) -> bool + Sync),
    ) -> Result<TicketReply, QueuesError> {
        loop {
            let mut changed = std::pin::pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            let reply = self.ticket(owner, id).await?;
            let left = until.saturating_duration_since(Instant::now());
            if differs(&reply) || left.is_zero() {
                return Ok(reply);
            }
            // Another daemon of the database may run the queue.
            let _ = timeout(left.min(LOOK), changed).await;
        }
    }

    /// Notes that a player accepts a match, or declines it.
    ///
    /// # Errors
    /// Fails for the reasons of [`Lifecycle::accept`](crate::matchmaking::lifecycle::Lifecycle::accept) and
    /// [`Lifecycle::decline`](crate::matchmaking::lifecycle::Lifecycle::decline).
    pub async fn answer(
        &self,
        owner: &str,
        id: MatchId,
        player: &str,
        accepts: bool,
    ) -> Result<(), QueuesError> {
        let (owner, player) = (owner.to_owned(), player.to_owned());
        let command = ClientCommand::Answer {
            owner,
            id,
            player,
            accepts,
        };
        self.ask(command).await.map(drop)
    }

    /// Sends the connection from now on every change of the name's tickets, and the changes that no connection of the
    /// name has taken.
    ///
    /// # Errors
    /// Fails if the queues do not run.
    pub async fn listen(&self, owner: &str, mailbox: Mailbox) -> Result<(), QueuesError> {
        let listen = || ClientCommand::Listen(owner.to_owned());
        self.ask_all(listen).await?;
        let listeners = &self.shared.listeners;
        listeners.lock().add(owner.to_owned(), mailbox);
        if let Some(fleet) = &self.shared.fleet {
            fleet.wake();
        }
        Ok(())
    }

    /// Why a ticket still waits, one sentence each.
    ///
    /// # Errors
    /// Fails if the name has no such ticket.
    pub async fn explain(&self, owner: &str, id: &str) -> Result<Vec<String>, QueuesError> {
        match self
            .ask(ClientCommand::Explain(owner.to_owned(), id.to_owned()))
            .await?
        {
            ClientAnswer::Reasons(reasons) => Ok(reasons),
            _ => Err(QueuesError::Stopped),
        }
    }
}

/// How the partition of a call is found.
#[derive(Debug, PartialEq)]
enum PartitionRoute {
    /// It is named.
    Named(String),
    /// It is that of the client's ticket with this id; if there is none, the named one.
    Ticket(String, String, Option<String>),
    /// It is that of a match.
    Match(MatchId),
    /// It is that of the client's ticket with this id, or else of the match.
    Either(String, String),
}

impl PartitionRoute {
    fn of(command: &ClientCommand) -> Self {
        let named = |name: Option<&str>| Self::Named(name.unwrap_or(MAIN_PARTITION).to_owned());
        match command {
            ClientCommand::Submit(queue, ticket) => {
                let partition = queue.as_ref().map(|one| one.settings().partition.clone());
                Self::Ticket(ticket.owner.clone(), ticket.id.clone(), partition)
            }
            ClientCommand::Cancel(owner, id) | ClientCommand::Ticket(owner, id) => {
                Self::Ticket(owner.clone(), id.clone(), None)
            }
            ClientCommand::Explain(owner, id) => Self::Either(owner.clone(), id.clone()),
            ClientCommand::Answer { id, .. } => Self::Match(*id),
            ClientCommand::List | ClientCommand::Listen(_) | ClientCommand::Configure(_) => {
                named(None)
            }
            ClientCommand::Host(command) => match command {
                InstanceCommand::Join(offer, _) => named(offer.partition.as_deref()),
                InstanceCommand::Load(_, _, partition) => named(partition.as_deref()),
                InstanceCommand::Refuse(_, id)
                | InstanceCommand::Began(_, id)
                | InstanceCommand::Ended(id)
                | InstanceCommand::GaveUp(id)
                | InstanceCommand::Ready { id, .. }
                | InstanceCommand::Opened { id, .. }
                | InstanceCommand::Allocated { id, .. }
                | InstanceCommand::Roster { id, .. }
                | InstanceCommand::Seek { id, .. }
                | InstanceCommand::SendAway { id, .. }
                | InstanceCommand::Arrived { id, .. } => Self::Match(*id),
            },
        }
    }
}

impl Queues {
    /// Asks the partition that the call is for.
    async fn ask(&self, command: ClientCommand) -> Outcome {
        let tasks = &self.shared.tasks;
        if let ClientCommand::Host(InstanceCommand::Join(offer, _)) = &command {
            let partition = offer.partition.as_deref().unwrap_or(MAIN_PARTITION);
            let all = self.shared.partitions();
            if !(all.is_empty() || all.contains(partition)) {
                return Err(QueuesError::NoPartition(partition.to_owned()));
            }
        }
        let partition = match (tasks.only(), PartitionRoute::of(&command)) {
            // An instance may ask for another partition than the only one.
            (Some(only), place) if !matches!(place, PartitionRoute::Named(_)) => Some(only),
            (_, place) => self.find(place).await.map_err(|error| {
                tracing::error!(%error, "the partition of a call cannot be read");
                QueuesError::NotRead
            })?,
        };
        match partition.filter(|name| tasks.calls(name).is_some()) {
            Some(partition) => self.ask_partition(&partition, command).await,
            None => nowhere(&command),
        }
    }

    /// Asks every partition, and returns the answers in the order of their names.
    ///
    /// # Errors
    /// Fails if one of them does. Others may have changed something then.
    async fn ask_all(
        &self,
        command: impl Fn() -> ClientCommand,
    ) -> Result<Vec<ClientAnswer>, QueuesError> {
        let mut answers = Vec::new();
        for partition in self.shared.tasks.names() {
            answers.push(self.ask_partition(&partition, command()).await?);
        }
        Ok(answers)
    }

    async fn ask_partition(&self, partition: &str, command: ClientCommand) -> Outcome {
        let calls = self.shared.tasks.calls(partition);
        let calls = calls.ok_or(QueuesError::Stopped)?;
        let (answer, answered) = oneshot::channel();
        let answer = ReplyTo::Here(answer);
        let sent = calls.send(ClientCall { command, answer }).await;
        sent.map_err(|_| QueuesError::Stopped)?;
        answered.await.map_err(|_| QueuesError::Stopped)?
    }

    /// Looks in the database where tickets, matches and games are.
    async fn find(&self, place: PartitionRoute) -> Result<Option<String>, StoreError> {
        let store = &self.shared.store;
        match place {
            PartitionRoute::Named(name) => Ok(Some(name)),
            PartitionRoute::Match(id) => store.queues().partition_of_match(id).await,
            PartitionRoute::Ticket(owner, id, other) => {
                let found = store.queues().partition_of_ticket(&owner, &id).await?;
                Ok(found.or(other))
            }
            PartitionRoute::Either(owner, id) => {
                let found = store.queues().partition_of_ticket(&owner, &id).await?;
                match (found, id.parse()) {
                    (None, Ok(id)) => store.queues().partition_of_match(id).await,
                    (found, _) => Ok(found),
                }
            }
        }
    }
}

/// The answer to a call about what is in no partition.
fn nowhere(command: &ClientCommand) -> Outcome {
    Err(match command {
        ClientCommand::Answer { .. } => TicketRefused::NoCheck.into(),
        ClientCommand::Host(InstanceCommand::Ended(_) | InstanceCommand::GaveUp(_)) => {
            return Ok(ClientAnswer::Done);
        }
        ClientCommand::Host(InstanceCommand::Join(offer, _)) => {
            let partition = offer.partition.clone();
            QueuesError::NoPartition(partition.unwrap_or_else(|| MAIN_PARTITION.to_owned()))
        }
        ClientCommand::Host(_) => HostRefused::NotYours.into(),
        ClientCommand::Submit(_, ticket) => TicketRefused::NoQueue(ticket.queue.clone()).into(),
        _ => TicketRefused::NoTicket.into(),
    })
}

/// Why a new configuration has not replaced the old one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigureError {
    /// The settings of a queue contradict each other.
    #[error(transparent)]
    Settings(#[from] QueueError),
    /// A queue is in a partition that the daemon does not know since its start.
    #[error("the partition {0} is new: restart the daemon")]
    Partition(String),
    /// The change could not be made.
    #[error(transparent)]
    Call(#[from] QueuesError),
}

/// Why a call failed. It has changed nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum QueuesError {
    /// The event was refused.
    #[error(transparent)]
    Refused(#[from] TicketRefused),
    /// The queue's declarations do not allow the ticket.
    #[error(transparent)]
    Ticket(#[from] TicketError),
    /// The event of an instance was refused.
    #[error(transparent)]
    Host(#[from] HostRefused),
    /// A ticket has too many players or attributes to be read.
    #[error("the ticket is too large")]
    TooLarge,
    /// The change could not be written; the log has the details.
    #[error("the change could not be written")]
    NotWritten,
    /// The configuration of the queue has changed, and no longer accepts the ticket.
    #[error("the configuration of the queue has changed: begin the ticket again")]
    Reconfigured,
    /// What the queue has to know of the players is being derived from the stored matches.
    #[error("what the queue has to know of the players is being derived: try again")]
    NotReady,
    /// What is asked for could not be read; the log has the details.
    #[error("the database cannot be read: try again")]
    NotRead,
    /// Too many explanations are asked for at once.
    #[error("too many explanations are asked for at once")]
    Busy,
    /// The daemon has lost the lease of the queues, and another one takes over.
    #[error("another daemon takes over the queues: try again")]
    Moved,
    /// Another daemon of this database runs the queues.
    #[error("another daemon runs the queues of this database")]
    Elsewhere,
    /// The daemon that runs the queues has other settings for this queue, or does not have it.
    #[error("another daemon runs the queues of this database, with other settings for {0}")]
    OtherSettings(String),
    /// No queue is in the partition that an instance names.
    #[error("no queue is in the partition {0}")]
    NoPartition(String),
    /// The daemon is stopping.
    #[error("the queues have stopped")]
    Stopped,
}

impl QueuesError {
    /// Whether a hard rule of the queue keeps a player of the ticket out. The same ticket may be accepted
    /// later, once the player has played more.
    pub fn is_barred(&self) -> bool {
        matches!(self, Self::Ticket(TicketError::Barred { .. }))
    }
}

/// The configured queues, by name.
type Configured = BTreeMap<String, Arc<Queue>>;

/// Checks the settings of all queues. Those that are as before keep their searches.
fn configured(
    settings: BTreeMap<String, QueueSettings>,
    before: &Configured,
) -> Result<Configured, QueueError> {
    let queue = |(name, settings): (String, QueueSettings)| {
        let same = before.get(&name).filter(|old| *old.settings() == settings);
        let queue = match same {
            Some(old) => old.clone(),
            None => Arc::new(Queue::new(&name, settings)?),
        };
        Ok((name, queue))
    };
    settings.into_iter().map(queue).collect()
}

/// The connections that are sent what happens. They outlast a write that fails.
#[derive(Debug, Default)]
struct Connections {
    /// The instances.
    pub links: InstanceLinks,
    /// What is connected to other daemons.
    pub remote: Remote,
}

/// The time by which waits count: the time of day at the start, plus the time that has passed since.
///
/// The daemons of one database continue each other's waits. So the time of day at the start is that of the database's
/// clock, where the database has one of its own.
#[derive(Clone, Copy, Debug)]
struct WaitClock {
    start: Timestamp,
    /// The clock's millisecond at the start.
    millis: u64,
}

impl WaitClock {
    /// Starts now.
    pub fn new(shared: &QueueShared) -> Self {
        Self {
            start: shared.clock.now(),
            millis: shared.clock.millis(),
        }
    }

    /// The clock of a daemon that begins to run a partition now.
    pub async fn of_database(self, shared: &QueueShared) -> Result<Self, StoreError> {
        if !shared.clock.may_be_wrong() {
            return Ok(self);
        }
        let start = shared.store.clock().await?;
        let millis = shared.clock.millis();
        Ok(start.map_or(self, |start| Self { start, millis }))
    }

    /// The time now.
    pub fn now(&self, shared: &QueueShared) -> Timestamp {
        self.time(shared.clock.millis())
    }

    /// The time of a millisecond of the clock.
    pub fn time(&self, millis: u64) -> Timestamp {
        let passed = millis.saturating_sub(self.millis);
        self.start
            .plus_millis(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}

/// A client's call.
#[derive(Debug)]
struct ClientCall {
    pub command: ClientCommand,
    pub answer: ReplyTo,
}

/// Where the answer to a call goes.
#[derive(Debug)]
enum ReplyTo {
    /// To a client of this daemon.
    Here(oneshot::Sender<Outcome>),
    /// To another daemon, with the next write.
    There(Asker, DecisionOutbox),
}

impl ReplyTo {
    /// Sends the answer, or has it sent with the next write.
    pub fn send(self, outcome: Outcome) {
        match self {
            Self::Here(answer) => drop(answer.send(outcome)),
            Self::There(asker, outbox) => outbox.add(asker, &outcome),
        }
    }

    /// Whether the answer goes to another daemon.
    pub fn is_there(&self) -> bool {
        matches!(self, Self::There(..))
    }
}
