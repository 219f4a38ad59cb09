//! The connections that have sent LISTEN, by the name of their client.

use std::collections::BTreeMap;

use super::view::{Seen, notices};
use crate::{
    lifecycle::Lifecycle,
    protocol::Notice,
    session::{Mailbox, MailboxError},
};

/// The listening connections of all names.
#[derive(Debug, Default)]
pub(super) struct Listeners(BTreeMap<String, Vec<Mailbox>>);

impl Listeners {
    pub fn add(&mut self, owner: String, mailbox: Mailbox) {
        self.0.entry(owner).or_default().push(mailbox);
    }

    /// The names for which connections listen.
    pub fn owners(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Sends a change of a ticket of this client to the connections that listen for it.
    ///
    /// # Errors
    /// Fails if none takes it: their clients read too slowly, or they have ended.
    pub fn hear(&mut self, owner: &str, notices: &[Notice]) -> Result<(), MailboxError> {
        let mut heard = Err(MailboxError::Closed);
        let Some(mailboxes) = self.0.get_mut(owner) else {
            return heard;
        };
        mailboxes.retain(|mailbox| {
            let lines = notices.iter().flat_map(Notice::lines).collect();
            let now = mailbox.push_all(lines);
            let is_open = now != Err(MailboxError::Closed);
            if heard.is_err() && is_open {
                heard = now;
            }
            is_open
        });
        if mailboxes.is_empty() {
            self.0.remove(owner);
        }
        heard
    }

    /// Sends all changes of tickets, which are on disk, to the connections that listen for their client. A
    /// change that no connection takes is kept, and is sent the next time.
    pub fn send_changes(&mut self, life: &mut Lifecycle) {
        let unsent = |owner: &&String| !life.unsent(owner).is_empty();
        let owners: Vec<String> = self.0.keys().filter(unsent).cloned().collect();
        for owner in owners {
            for number in life.unsent(&owner) {
                let Some(record) = life.ticket(number) else {
                    continue;
                };
                let notices = notices(&Seen::of(life, record));
                if self.hear(&owner, &notices).is_err() {
                    break;
                }
                life.sent(number);
            }
        }
    }
}
