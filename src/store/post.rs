//! Letters: the messages that the daemons of one database send each other through its tables.

use std::{collections::BTreeSet, time::Duration};

use async_trait::async_trait;

use super::{Changes, StoreError};

/// The longest text of a letter, in bytes.
pub const MAX_LETTER: usize = 1 << 20;
/// The most letters that wait for one recipient.
pub const MAX_LETTERS: i64 = 20_000;

/// A letter that has no number yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLetter {
    /// The recipient: the name of a daemon, or of a lease for the daemon that holds it at that time.
    pub to: String,
    /// The name of the daemon that sends it.
    pub from: String,
    /// The text of the letter.
    pub body: String,
}

/// A letter that waits for its recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its number, in the order in which one daemon has sent its letters.
    pub number: i64,
    /// The name of the daemon that has sent it.
    pub from: String,
    /// Whether that daemon is alive, so that it can get an answer.
    pub is_answered: bool,
    /// The text of the letter.
    pub body: String,
}

/// The letters and the daemons of a database that several daemons may share. A letter stays until its recipient
/// has discarded it. Times count by the clock of the database.
#[async_trait]
pub trait Post: Send + Sync {
    /// Notes that a daemon counts as alive for this long. Removes daemons whose time is over, and the
    /// letters to them.
    /// Returns whether it was alive until now, and the names of all daemons that are alive.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn is_alive(
        &self,
        daemon: &str,
        lasts: Duration,
    ) -> Result<(bool, BTreeSet<String>), StoreError>;

    /// Removes a daemon that ends.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn is_gone(&self, daemon: &str) -> Result<(), StoreError>;

    /// Sends letters, all or none, and wakes the recipients. Returns the number of each; `None` if too many
    /// letters wait for its recipient, or if the letter is too long.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn send(&self, letters: &[NewLetter]) -> Result<Vec<Option<i64>>, StoreError>;

    /// The first letters for a recipient, in the order of their numbers.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn letters(&self, to: &str, most: u32) -> Result<Vec<Letter>, StoreError>;

    /// Removes letters. Returns the numbers of those that were still there.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn discard(&self, numbers: &[i64]) -> Result<BTreeSet<i64>, StoreError>;

    /// A stream that wakes the caller whenever any daemon has sent letters to any recipient.
    ///
    /// # Errors
    /// Fails if no connection is free.
    async fn wakes(&self) -> Result<Box<dyn Changes>, StoreError>;
}
