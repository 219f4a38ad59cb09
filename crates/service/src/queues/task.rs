//! The task that owns all tickets: it takes a batch of calls, does what each of them says, writes once, then sends
//! the answers and the news. It keeps the ids of the matches that a queue forms next.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep},
};

use super::{
    ClientCall, Configured, Connections, QueueShared, QueuesError, ReplyTo, WaitClock,
    command::{ClientAnswer, ClientCommand, Outcome},
    explain::Explanations,
    links::{InstanceCommand, InstanceLinks, seats},
    metrics::LOOK,
    pool::admit,
    rounds::{FoundMatches, QueueRounds},
    shared::PartitionHandle,
    view::{SeenTicket, queue_line, ticket_reply},
};
use crate::{
    learning::leases::{HeldLease, SharedSettings},
    matchmaking::Queue,
    matchmaking::lifecycle::{
        Allocation, HostRefused, Lifecycle, Submission, TicketNumber, TicketRecord, TicketRefused,
    },
    model::{
        Timestamp,
        record::{MAX_TEAMS, MatchId},
        text::to_hex,
    },
    protocol::push::HostSeat,
    random,
    session::HostedGame,
    store::{Store, StoreError},
};

/// How often the task looks at what is due.
const TICK: Duration = Duration::from_millis(50);
/// How long changes that can wait are held back.
pub(super) const LAZY: Duration = Duration::from_secs(1);
/// The most calls of one batch.
const BATCH: usize = 1_024;

/// All state of the queues, and what one batch of calls has changed.
pub(super) struct Task<'a> {
    pub(super) shared: &'a Arc<QueueShared>,
    pub(super) partition: &'a PartitionHandle,
    /// The number that stands for the partition in the database.
    pub(super) slot: i64,
    clock: &'a WaitClock,
    pub(super) held: &'a HeldLease,
    pub(super) life: Lifecycle,
    pub(super) rounds: QueueRounds,
    pub(super) explanations: Explanations,
    ids: MatchIds,
    /// The answers of this batch, which are sent once its changes are on disk.
    pub(super) answers: Vec<(ReplyTo, Outcome)>,
    /// The requests of other daemons that were read, and whose answers are not written.
    pub(super) open: BTreeSet<(String, i64)>,
    /// Changes when there may be requests of other daemons.
    wakes: Option<watch::Receiver<()>>,
    /// The median waits that were published last, and when.
    pub(super) published: (BTreeMap<String, i64>, Option<Instant>),
    /// When changes were last written.
    pub(super) written: Instant,
    /// When it was last looked up when the instances sent their last lines.
    heard: Timestamp,
    /// When the connections of instances were last looked at.
    watched: Option<Instant>,
    /// When the reports about behaviour were last looked at.
    reported: Option<Instant>,
    /// When the database was last asked which instances drain, and which matches in play are recorded.
    polled: Option<Instant>,
    /// When the metrics last took over who waits.
    looked: Option<Instant>,
    /// The settings that are noted beside the lease.
    noted: SharedSettings,
}

/// Why a task has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskEnd {
    /// The queues are stopped.
    Stopped,
    /// The lease is lost.
    Lost,
    /// The partition is left to another daemon.
    Left,
}

impl<'a> Task<'a> {
    /// The task of a partition that was read.
    pub fn new(
        partition: &'a PartitionHandle,
        slot: i64,
        clock: &'a WaitClock,
        held: &'a HeldLease,
        life: Lifecycle,
    ) -> Self {
        let shared = &partition.shared;
        Self {
            shared,
            partition,
            slot,
            clock,
            held,
            life,
            rounds: QueueRounds::new(&shared.metrics),
            explanations: Explanations::default(),
            ids: MatchIds::default(),
            answers: Vec::new(),
            open: BTreeSet::new(),
            wakes: shared.fleet.as_ref().map(|fleet| fleet.wakes()),
            published: Default::default(),
            written: Instant::now(),
            heard: Timestamp::default(),
            watched: None,
            reported: None,
            polled: None,
            looked: None,
            noted: shared.settings_of(&partition.name),
        }
    }

    /// Runs until the queues are stopped, or the partition is left to another daemon.
    ///
    /// # Errors
    /// Fails if a write does, or if the lease is lost.
    pub async fn run(
        &mut self,
        calls: &mut mpsc::Receiver<ClientCall>,
        connections: &mut Connections,
    ) -> Result<TaskEnd, StoreError> {
        connections.links.rejoin(&mut self.life);
        self.note_told_here();
        let shared = self.shared;
        let mut requests = true;
        let mut batch = Vec::new();
        loop {
            let found = tokio::select! {
                biased;
                () = shared.stop.cancelled() => break,
                () = self.held.lost() => return Err(self.fail(self.lost(), connections)),
                found = self.rounds.next() => found,
                () = woken(&mut self.wakes) => { requests = true; None },
                _ = calls.recv_many(&mut batch, BATCH) => None,
                () = std::future::ready(()), if requests => None,
                () = sleep(TICK) => None,
            };
            let now = self.clock.now(shared);
            self.pass(now, connections);
            self.watch(connections).await;
            for call in &batch {
                if let ClientCommand::Listen(owner) = &call.command {
                    self.note_announced(owner).await;
                }
            }
            self.handle(batch.drain(..), connections);
            if std::mem::take(&mut requests) {
                requests = self.read_requests(connections).await;
            }
            let found = match found {
                Some(found) => self.form(found).await,
                None => Ok(()),
            };
            match found {
                Ok(()) => self.commit(connections).await?,
                Err(error) => return Err(self.fail(error, connections)),
            }
            self.rounds.begin(shared, &self.life);
            self.explanations.begin(shared, &self.life);
            if self.looked.is_none_or(|at| at.elapsed() >= LOOK) {
                self.looked = Some(Instant::now());
                if self.is_left() {
                    self.write_all(connections).await?;
                    return Ok(TaskEnd::Left);
                }
                self.note_settings().await;
                let own = shared.names_of(&self.partition.name);
                shared.metrics.look(&self.partition.name, &own, &self.life);
            }
        }
        calls.close();
        while let Some(call) = calls.recv().await {
            self.handle([call], connections);
        }
        self.write_all(connections).await?;
        Ok(TaskEnd::Stopped)
    }

    /// Notes settings that have changed beside the lease.
    async fn note_settings(&mut self) {
        let now = self.shared.settings_of(&self.partition.name);
        if now == self.noted {
            return;
        }
        let lease = self.held.lease();
        match self.shared.store.describe_lease(lease, &now.text()).await {
            Ok(()) => self.noted = now,
            Err(error) => tracing::debug!(%error, "the settings of the queues are not noted"),
        }
    }

    /// Writes also what can wait.
    async fn write_all(&mut self, connections: &mut Connections) -> Result<(), StoreError> {
        self.written = self.written.checked_sub(LAZY).unwrap_or(self.written);
        self.commit(connections).await
    }

    /// Whether another daemon that is alive is to run the partition instead.
    fn is_left(&self) -> bool {
        let (shared, partition) = (self.shared, &self.partition.name);
        let Some(fleet) = &shared.fleet else {
            return false;
        };
        let (partitions, daemons) = (shared.partitions(), fleet.alive().len());
        let has_queues = partitions.contains(partition);
        has_queues && shared.tasks.is_one_too_many(partitions.len(), daemons)
    }

    /// Moves the time forward. An instance that has sent a line is not silent, even if
    /// the daemon could not look at it for longer than a heartbeat: its line counts first.
    fn pass(&mut self, now: Timestamp, connections: &Connections) {
        if now >= self.heard.plus_millis(TICK.as_millis() as i64) {
            self.heard = now;
            let links = &connections.links;
            links.hear(&mut self.life, |millis| self.clock.time(millis));
        }
        self.life.at(now);
    }

    /// Looks at the connections of instances, and at what operators have changed.
    async fn watch(&mut self, connections: &mut Connections) {
        if self.watched.is_some_and(|at| at.elapsed() < TICK) {
            return;
        }
        self.watched = Some(Instant::now());
        self.watch_behaviour().await;
        self.watch_daemons(connections);
        connections
            .links
            .watch(&mut self.life, |millis| self.clock.time(millis));
        let has_instances = self.life.instances().next().is_some();
        if has_instances && self.polled.is_none_or(|at| at.elapsed() >= LAZY) {
            self.polled = Some(Instant::now());
            self.watch_results().await;
            match self.shared.store.queues().draining().await {
                Ok(names) => {
                    if self.life.drain(&names) {
                        tracing::info!(?names, "these instances get no further matches");
                    }
                }
                Err(error) => tracing::debug!(%error, "cannot read which instances drain"),
            }
        }
    }

    /// Ends the matches whose results another daemon has recorded without reporting it.
    async fn watch_results(&mut self) {
        if self.shared.fleet.is_none() {
            return;
        }
        match self.shared.store.queues().recorded(self.slot).await {
            Ok(ended) => {
                for id in ended {
                    self.life.ended(id);
                }
            }
            Err(error) => tracing::debug!(%error, "cannot read which matches are recorded"),
        }
    }

    /// Notices reports about behaviour that other processes have changed.
    async fn watch_behaviour(&mut self) {
        if self.reported.is_none_or(|at| at.elapsed() >= LAZY) {
            self.reported = Some(Instant::now());
            if let Err(error) = self.shared.learning.behaviour().refresh().await {
                tracing::debug!(%error, "cannot read the reports about behaviour");
            }
        }
    }

    /// Forms the matches that a round has found.
    async fn form(&mut self, found: FoundMatches) -> Result<(), StoreError> {
        let FoundMatches {
            queue,
            proposals,
            fillings,
            searched: _,
        } = found;
        let now = self.shared.queue(queue.name());
        if now.is_none_or(|now| !Arc::ptr_eq(&now, &queue)) {
            return Ok(()); // found under another configuration
        }
        for filling in fillings {
            let id = filling.id;
            let joined = self.life.fill(filling, draw_pass);
            tracing::debug!(match_id = id, joined, "players for free seats");
        }
        let Ok(count @ 1..) = u32::try_from(proposals.len()) else {
            return Ok(());
        };
        let first = self.ids.take(&self.shared.store, count).await?;
        let queue = queue.name();
        let formed = self.life.propose(queue, proposals, first);
        tracing::debug!(queue, found = count, formed, "a round has ended");
        Ok(())
    }
}

/// Waits until there may be requests; for ever if there never are any. Cancel safe.
async fn woken(wakes: &mut Option<watch::Receiver<()>>) {
    if let Some(wakes) = wakes
        && wakes.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

impl Task<'_> {
    /// Handles calls. Their answers are sent once the changes of the batch are on disk.
    pub(super) fn handle(
        &mut self,
        calls: impl IntoIterator<Item = ClientCall>,
        connections: &mut Connections,
    ) {
        for ClientCall { command, answer } in calls {
            let outcome = match command {
                ClientCommand::Explain(owner, id) => {
                    self.explanations.ask(owner, id, answer);
                    continue;
                }
                ClientCommand::Host(command) => self.host(command, &mut connections.links),
                command => self.answer(command),
            };
            self.answers.push((answer, outcome));
        }
    }

    fn answer(&mut self, command: ClientCommand) -> Result<ClientAnswer, QueuesError> {
        Ok(match command {
            ClientCommand::List => {
                let own = self.shared.names_of(&self.partition.name);
                let line = |name: &String| queue_line(&self.life, name);
                ClientAnswer::List(own.iter().map(line).collect())
            }
            ClientCommand::Submit(queue, submission) => {
                self.still_accepts(queue.as_ref(), &submission)?;
                if self.life.find(&submission.owner, &submission.id).is_err() {
                    admit(self.shared, &submission, self.life.now())?;
                }
                let number = self.life.submit(submission);
                if let Err(TicketRefused::Full { .. }) = number {
                    self.shared.metrics.refused();
                }
                let number = number?;
                self.ticket(number)?
            }
            ClientCommand::Cancel(owner, id) => {
                let number = self.life.cancel(&owner, &id)?;
                self.ticket(number)?
            }
            ClientCommand::Ticket(owner, id) => {
                let number = self.life.find(&owner, &id)?;
                self.ticket(number)?
            }
            ClientCommand::Answer {
                owner,
                id,
                player,
                accepts,
            } => {
                match accepts {
                    true => self.life.accept(&owner, id, &player)?,
                    false => self.life.decline(&owner, id, &player)?,
                }
                ClientAnswer::Done
            }
            ClientCommand::Configure(queues) => {
                self.shared.metrics.configure(queues.keys());
                self.configure(queues);
                ClientAnswer::Done
            }
            ClientCommand::Listen(..) | ClientCommand::Explain(..) | ClientCommand::Host(_) => {
                ClientAnswer::Done
            }
        })
    }

    /// Refuses a ticket that another configuration of its queue has checked and the present one does not
    /// accept.
    fn still_accepts(
        &self,
        queue: Option<&Arc<Queue>>,
        ticket: &Submission,
    ) -> Result<(), QueuesError> {
        let is_same = match self.shared.queue(&ticket.queue) {
            Some(now) => queue.is_some_and(|queue| Arc::ptr_eq(&now, queue)),
            None => true,
        };
        match is_same || self.shared.accepts(ticket) {
            true => Ok(()),
            false => Err(QueuesError::Reconfigured),
        }
    }

    /// Goes on with other queues. Rounds that run with an old configuration of a queue find nothing.
    fn configure(&mut self, queues: Configured) {
        let before = self.life.waiting();
        *self.shared.queues.write() = Arc::new(queues);
        let shared = self.shared;
        let fits = |record: &TicketRecord| shared.accepts(&record.ticket);
        self.life
            .configure(shared.terms(&self.partition.name), fits);
        self.rounds.changed();
        tracing::info!(
            queues = shared.queues().len(),
            partition = self.partition.name,
            tickets = self.life.waiting(),
            left = before.saturating_sub(self.life.waiting()),
            "the queues are configured again"
        );
    }

    /// What an instance asks for.
    fn host(
        &mut self,
        command: InstanceCommand,
        links: &mut InstanceLinks,
    ) -> Result<ClientAnswer, QueuesError> {
        let life = &mut self.life;
        match command {
            InstanceCommand::Join(offer, link) => {
                life.joined((*offer).clone())?;
                links.join(*offer, link);
            }
            InstanceCommand::Load(name, load, _) => life.load(&name, load)?,
            InstanceCommand::Refuse(name, id) => life.refused(&name, id)?,
            InstanceCommand::Ready {
                name,
                id,
                address,
                opens,
            } => {
                let answer = self.game(opens.is_some(), &name, id)?;
                self.life.ready(&name, id, address.as_deref())?;
                if let Some((game, link)) = opens {
                    self.life.opened(&name, id, game)?;
                    links.host(id, name, game, link);
                }
                return Ok(answer);
            }
            InstanceCommand::Opened {
                name,
                id,
                game,
                link,
                plans,
            } => {
                let answer = self.game(plans, &name, id)?;
                self.life.opened(&name, id, game)?;
                links.host(id, name, game, link);
                return Ok(answer);
            }
            InstanceCommand::Began(name, id) => life.began(&name, id)?,
            InstanceCommand::Ended(id) => life.ended(id),
            InstanceCommand::GaveUp(id) => life.gave_up(id),
            InstanceCommand::Arrived { name, id, player } => life.arrived(&name, id, &player),
            InstanceCommand::Allocated {
                id,
                allocation,
                jitter,
            } => self.allocated(id, &allocation, jitter),
            InstanceCommand::Roster { name, id, players } => life.report_roster(&name, id, players),
            InstanceCommand::Seek {
                name,
                id,
                team,
                seats,
            } => {
                let seek = life.seek_players(&name, id, team, seats);
                self.rounds.changed();
                return Ok(ClientAnswer::Seats(seek?));
            }
            InstanceCommand::SendAway { name, id, player } => {
                let was_coming = life.send_away(&name, id, &player);
                return Ok(ClientAnswer::WasComing(was_coming));
            }
        }
        Ok(ClientAnswer::Done)
    }

    /// Handles an answer of the allocator.
    fn allocated(&mut self, id: MatchId, allocation: &Allocation, jitter: f64) {
        let is_used = self.life.answered(id, allocation, jitter);
        if let (false, Allocation::Done(server)) = (is_used, allocation) {
            let (name, unused) = (&server.name, self.life.unused());
            tracing::warn!(match_id = id, name, unused, "a game server is not needed");
        }
    }

    /// The game that an instance opens for a match, if it is `wanted`.
    fn game(&self, wanted: bool, name: &str, id: MatchId) -> Result<ClientAnswer, QueuesError> {
        if !wanted {
            return Ok(ClientAnswer::Done);
        }
        let game = game(self.shared, &self.life, name, id)?;
        Ok(ClientAnswer::Game(Box::new(game)))
    }

    fn ticket(&self, number: TicketNumber) -> Result<ClientAnswer, QueuesError> {
        let record = self.life.ticket(number).ok_or(TicketRefused::NoTicket)?;
        let reply = ticket_reply(&SeenTicket::of(&self.life, record));
        Ok(ClientAnswer::Ticket(reply))
    }
}

/// The game that an instance opens for a match.
///
/// # Errors
/// Fails if the instance does not host the match.
pub(super) fn game(
    shared: &QueueShared,
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
    // Without randomness there is no secret: a pass that no instance accepts is better.
    random::bytes::<16>().map_or_else(|_| String::new(), |bytes| to_hex(&bytes))
}

/// The most ids that are reserved ahead.
const MOST: u32 = 1_024;
/// Ids that lasted for longer than this were enough.
const BUSY: Duration = Duration::from_secs(10);

/// Ids of matches that are reserved in the database and not used yet. A busy queue reserves ever more of them together,
/// and so seldom asks; a quiet one leaves no gap between its matches.
#[derive(Debug, Default)]
pub(super) struct MatchIds {
    free: Range<MatchId>,
    block: u32,
    reserved: Option<Instant>,
}

impl MatchIds {
    /// The first of `count` consecutive ids, which no other match gets.
    pub async fn take(&mut self, store: &Store, count: u32) -> Result<MatchId, StoreError> {
        if self.free.end - self.free.start < i64::from(count) {
            let ahead = self.ahead(Instant::now());
            self.block = ahead.max(count);
            let first = store.queues().reserve_matches(self.block).await?;
            self.free = first..first + i64::from(self.block);
        }
        let first = self.free.start;
        self.free.start += i64::from(count);
        Ok(first)
    }

    /// How many ids are reserved although nobody needs them yet.
    fn ahead(&mut self, now: Instant) -> u32 {
        let before = self.reserved.replace(now);
        match before.is_some_and(|before| now.duration_since(before) < BUSY) {
            true => self.block.saturating_mul(2).min(MOST),
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_busy_queue_reserves_ahead() {
        let (mut ids, began) = (MatchIds::default(), Instant::now());
        let mut ahead = |seconds| {
            let ahead = ids.ahead(began + Duration::from_secs(seconds));
            ids.block = ahead.max(3);
            ahead
        };
        assert_eq!([0, 60, 61, 62].map(&mut ahead), [0, 0, 6, 12]);
        assert_eq!([80, 81].map(&mut ahead), [0, 6]);
        assert_eq!((82..100).map(&mut ahead).max(), Some(MOST));
    }
}
