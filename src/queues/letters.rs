//! The letters of other daemons to the one that runs the queues.

use super::{
    call::{Call, ReplyTo},
    command::Command,
    connections::Connections,
    fleet::{Remote, ToHolder},
    instance_command::InstanceCommand,
    task::Task,
};
use crate::store::Letter;

/// The most letters that are handled together.
const BATCH: u32 = 256;

impl Task<'_> {
    /// Reads the first letters and handles them. Returns whether there may be more. If they cannot be read now,
    /// they are read later.
    pub(super) async fn read_letters(&mut self, connections: &mut Connections) -> bool {
        let (Some(post), true) = (self.shared.store.post(), self.handled.is_empty()) else {
            return false;
        };
        let letters = match post.letters(&self.held.lease().name, BATCH).await {
            Ok(letters) => letters,
            Err(error) => {
                tracing::debug!(%error, "the letters of other daemons cannot be read");
                return false;
            }
        };
        let may_be_more = letters.len() == BATCH as usize;
        for letter in letters {
            self.handled.push(letter.number);
            self.read(letter, connections);
        }
        may_be_more
    }

    /// Handles a letter. Calls of a daemon that has ended are left undone: nobody was answered.
    fn read(&mut self, letter: Letter, connections: &mut Connections) {
        let Letter { from, body, .. } = letter;
        if !letter.is_answered {
            return;
        }
        let remote = &mut connections.remote;
        remote.is_there(&from);
        match serde_json::from_str(&body) {
            Ok(ToHolder::Call(_, Command::Host(command))) if is_known(&command, &from, remote) => {}
            Ok(ToHolder::Call(call, command)) => {
                let command = self.bound(command, &from, remote);
                let outbox = remote.outbox.clone();
                let answer = ReplyTo::There {
                    daemon: from,
                    call,
                    outbox,
                };
                self.handle([Call { command, answer }], connections);
            }
            Ok(ToHolder::Listens(owners)) => remote.listens(&self.life, &from, owners),
            Ok(ToHolder::Deaf(owners)) => remote.is_deaf(&from, &owners),
            Ok(ToHolder::Heard(receipts)) => remote.heard(&mut self.life, &receipts),
            Ok(ToHolder::Links { heard, closed }) => {
                remote.report(&from, &heard, &closed, self.shared.clock.millis());
            }
            Err(error) => tracing::warn!(%error, from, "a letter cannot be read"),
        }
    }

    /// The call with a link to the connection at the other daemon.
    fn bound(&self, mut command: Command, daemon: &str, remote: &mut Remote) -> Command {
        if let Command::Host(
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

    /// Has the answers to other daemons and the changes for their clients written together with what they report.
    pub(super) fn write_to_daemons(&mut self, remote: &mut Remote) {
        for (client, answer) in self.answers.extract_if(.., |(client, _)| client.is_there()) {
            client.send(answer);
        }
        remote.push_changes(&self.held.lease().name, &self.life);
    }

    /// Notices daemons that have ended.
    pub(super) fn watch_daemons(&mut self, connections: &mut Connections) {
        let Some(office) = &self.shared.office else {
            return;
        };
        connections.remote.forget(&self.life);
        connections
            .remote
            .keep(&office.alive(), self.shared.leases.lasts);
    }
}

/// Whether a daemon registers a connection again that it has registered with this holder before. The instance is
/// not asked for the same match twice.
fn is_known(command: &InstanceCommand, daemon: &str, remote: &Remote) -> bool {
    command
        .link()
        .is_some_and(|link| remote.has_link(daemon, link.number()))
}
