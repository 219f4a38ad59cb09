//! What other daemons ask the one that runs a partition.

use super::{
    ClientCall, Connections, ReplyTo,
    command::ClientCommand,
    fleet::{Asked, Asker, Remote},
    links::InstanceCommand,
    task::Task,
};
use crate::store::{Request, TicketKey};

/// The most requests that are handled together.
const BATCH: usize = 256;

impl Task<'_> {
    /// Reads the first requests and handles them. Returns whether there may be more. If they cannot be read now,
    /// they are read later.
    pub(super) async fn read_requests(&mut self, connections: &mut Connections) -> bool {
        if self.shared.fleet.is_none() {
            return false;
        }
        let (partition, most) = (&self.partition.name, BATCH + self.open.len());
        let requests = match self.shared.store.queues().requests(partition, most).await {
            Ok(requests) => requests,
            Err(error) => {
                tracing::debug!(%error, "the requests of other daemons cannot be read");
                return false;
            }
        };
        let may_be_more = requests.len() == most;
        for request in requests {
            if self.open.insert((request.daemon.clone(), request.key)) {
                self.read(request, connections);
            }
        }
        may_be_more
    }

    /// Handles a request. Those of a daemon that has ended are left undone: nobody was answered.
    fn read(&mut self, request: Request, connections: &mut Connections) {
        let Request {
            daemon,
            key,
            body,
            is_alive,
        } = request;
        let remote = &mut connections.remote;
        let asker = |is_binding| Asker {
            daemon: daemon.clone(),
            key,
            is_binding,
        };
        if !is_alive {
            return remote.outbox.drop(asker(false));
        }
        remote.is_there(&daemon);
        match serde_json::from_str(&body) {
            Ok(Asked::Call(ClientCommand::Host(command)))
                if is_known(&command, &daemon, remote) =>
            {
                remote.outbox.drop(asker(false));
            }
            Ok(Asked::Call(command)) => {
                let command = self.bound(command, &daemon, remote);
                let answer = ReplyTo::There(asker(command.changes()), remote.outbox.clone());
                self.handle([ClientCall { command, answer }], connections);
            }
            Ok(Asked::Links { heard, closed }) => {
                remote.report(&daemon, &heard, &closed, self.shared.clock.millis());
                remote.outbox.drop(asker(false));
            }
            Err(error) => {
                tracing::warn!(%error, daemon, "a request cannot be read");
                remote.outbox.drop(asker(false));
            }
        }
    }

    /// The call with a link to the connection at the other daemon.
    fn bound(
        &self,
        mut command: ClientCommand,
        daemon: &str,
        remote: &mut Remote,
    ) -> ClientCommand {
        if let ClientCommand::Host(
            InstanceCommand::Join(_, link)
            | InstanceCommand::Opened { link, .. }
            | InstanceCommand::Ready {
                opens: Some((_, link)),
                ..
            },
        ) = &mut command
        {
            let now = self.shared.clock.millis();
            *link = remote.link(daemon, link.number(), now);
        }
        command
    }

    /// Notes what this daemon has sent its clients while another one ran the partition.
    pub(super) fn note_told_here(&mut self) {
        let Some(fleet) = &self.shared.fleet else {
            return;
        };
        let owners = self.shared.listeners.lock().owners();
        for owner in owners {
            for number in self.life.unsent(&owner) {
                let key = self.life.ticket(number).map(TicketKey::from);
                if key.is_some_and(|key| fleet.was_announced(key)) {
                    self.life.sent(number);
                }
            }
        }
    }

    /// Notes what other daemons have sent to a client that begins to listen here.
    pub(super) async fn note_announced(&mut self, owner: &str) {
        let unsent = self.life.unsent(owner).into_iter();
        let unsent = unsent.filter_map(|number| self.life.ticket(number));
        let keys: Vec<TicketKey> = unsent.map(TicketKey::from).collect();
        if keys.is_empty() || self.shared.fleet.is_none() {
            return;
        }
        match self.shared.store.queues().announced(&keys).await {
            Ok(announced) => announced
                .into_iter()
                .for_each(|number| self.life.sent(number)),
            Err(error) => tracing::debug!(%error, owner, "a client may be sent something again"),
        }
    }

    /// Notices daemons that have ended.
    pub(super) fn watch_daemons(&mut self, connections: &mut Connections) {
        if let Some(fleet) = &self.shared.fleet {
            connections
                .remote
                .keep(&fleet.alive(), self.shared.leases.lasts);
        }
    }
}

/// Whether a daemon registers a connection again that it has registered with this holder before. The instance is
/// not asked for the same match twice.
fn is_known(command: &InstanceCommand, daemon: &str, remote: &Remote) -> bool {
    command
        .link()
        .is_some_and(|link| remote.has_link(daemon, link.number()))
}
