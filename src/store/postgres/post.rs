//! Letters: the messages that the daemons of one database send each other through its tables, and which daemons are
//! alive.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use sqlx::PgPool;

use super::changes::Announcements;
use crate::store::{
    Changes, StoreError,
    db::{Connection, Dialect, Pool, scalar, sql, tuple, values},
    sql::rows::with_given,
};

/// The channel of the notifications.
const CHANNEL: &str = "evenkeel_post";
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
#[derive(Debug)]
pub struct Post {
    apart: Pool,
    readers: Pool,
    listeners: PgPool,
}

impl Post {
    pub(super) fn new(apart: Pool, readers: Pool, listeners: PgPool) -> Self {
        Self {
            apart,
            readers,
            listeners,
        }
    }

    /// Notes that a daemon counts as alive for this long. Removes daemons whose time is over, and the
    /// letters to them.
    /// Returns whether it was alive until now, and the names of all daemons that are alive.
    pub async fn is_alive(
        &self,
        daemon: &str,
        lasts: Duration,
    ) -> Result<(bool, BTreeSet<String>), StoreError> {
        let lasts = i64::try_from(lasts.as_millis()).unwrap_or(i64::MAX);
        let mut tx = self.apart.begin().await?;
        let gone = "WITH gone AS (DELETE FROM daemons WHERE ends_at <= now_millis() RETURNING name)
                    DELETE FROM mail WHERE recipient IN (SELECT name FROM gone)";
        sql(gone).execute(&mut tx).await?;
        let was_alive = "SELECT EXISTS (SELECT 1 FROM daemons WHERE name = $1)";
        let was_alive = scalar(was_alive).bind(daemon).fetch_one(&mut tx).await?;
        let alive = "INSERT INTO daemons (name, ends_at) VALUES ($1, now_millis() + $2)
                     ON CONFLICT (name) DO UPDATE SET ends_at = excluded.ends_at";
        let alive = sql(alive).bind(daemon).bind(lasts);
        alive.execute(&mut tx).await?;
        let all = scalar("SELECT name FROM daemons")
            .fetch_all(&mut tx)
            .await?;
        tx.commit().await?;
        Ok((was_alive, all.into_iter().collect()))
    }

    /// Removes a daemon that ends.
    pub async fn is_gone(&self, daemon: &str) -> Result<(), StoreError> {
        let gone = "WITH gone AS (DELETE FROM daemons WHERE name = $1)
                    DELETE FROM mail WHERE recipient = $1";
        sql(gone).bind(daemon).execute(&self.apart).await.map(drop)
    }

    /// Sends letters, all or none, and wakes the recipients. Returns the number of each; `None` if too many
    /// letters wait for its recipient, or if the letter is too long.
    pub async fn send(&self, letters: &[NewLetter]) -> Result<Vec<Option<i64>>, StoreError> {
        let mut tx = self.apart.begin().await?;
        let numbers = send_in(&mut tx, letters).await?;
        tx.commit().await?;
        Ok(numbers)
    }

    /// The first letters for a recipient, in the order of their numbers.
    pub async fn letters(&self, to: &str, most: u32) -> Result<Vec<Letter>, StoreError> {
        let letters =
            "SELECT number, sender, body, EXISTS (SELECT 1 FROM daemons WHERE name = sender)
                       FROM mail WHERE recipient = $1 ORDER BY number LIMIT $2";
        let query = tuple(letters).bind(to).bind(most);
        let rows: Vec<(i64, String, String, bool)> = query.fetch_all(&self.readers).await?;
        let letter = |(number, from, body, is_answered)| Letter {
            number,
            from,
            is_answered,
            body,
        };
        Ok(rows.into_iter().map(letter).collect())
    }

    /// Removes letters. Returns the numbers of those that were still there.
    pub async fn discard(&self, numbers: &[i64]) -> Result<BTreeSet<i64>, StoreError> {
        discard_in(&mut self.apart.acquire().await?, numbers).await
    }

    /// A stream that wakes the caller whenever any daemon has sent letters to any recipient.
    pub async fn wakes(&self) -> Result<Box<dyn Changes>, StoreError> {
        let wakes = Announcements::new(&self.listeners, CHANNEL).await?;
        Ok(Box::new(wakes))
    }
}

/// Sends letters when this transaction is committed.
async fn send_in(
    tx: &mut Connection,
    letters: &[NewLetter],
) -> Result<Vec<Option<i64>>, StoreError> {
    let is_short = |letter: &&NewLetter| letter.body.len() <= MAX_LETTER;
    let rows = letters.iter().filter(is_short);
    let rows = rows.map(|letter| values![&letter.to, &letter.from, &letter.body, MAX_LETTERS]);
    let send = "INSERT INTO mail (recipient, sender, body)
         SELECT given.recipient, given.sender, given.body FROM {given}
         WHERE (SELECT count(*) FROM (SELECT 1 FROM mail m WHERE m.recipient = given.recipient LIMIT given.most) few)
               < given.most
         RETURNING number, recipient";
    let columns = "recipient TEXT, sender TEXT, body TEXT, most BIGINT";
    let mut sent = BTreeMap::<String, VecDeque<i64>>::new();
    for row in with_given(tx, columns, send, rows).await? {
        let numbers = sent.entry(row.get("recipient")?).or_default();
        numbers.push_back(row.get("number")?);
    }
    if !letters.is_empty() {
        let wake = sql("SELECT pg_notify($1, '')").bind(CHANNEL);
        wake.execute(tx).await?;
    }
    let number = |letter: &NewLetter| match is_short(&letter) {
        true => sent.get_mut(&letter.to)?.pop_front(),
        false => None,
    };
    Ok(letters.iter().map(number).collect())
}

/// Removes letters, and returns the numbers of those that were still there.
async fn discard_in(tx: &mut Connection, numbers: &[i64]) -> Result<BTreeSet<i64>, StoreError> {
    let discard =
        "DELETE FROM mail WHERE number IN (SELECT given.number FROM {given}) RETURNING number";
    let numbers = numbers.iter().map(|number| values![number]);
    let gone = with_given(tx, "number BIGINT", discard, numbers).await?;
    gone.iter().map(|row| row.get("number")).collect()
}

/// Discards letters and sends others when this transaction is committed. SQLite has no letters: one daemon runs all
/// queues of a file.
pub(in crate::store) async fn exchange(
    tx: &mut Connection,
    handled: &[i64],
    letters: &[NewLetter],
) -> Result<(), StoreError> {
    if tx.dialect() == Dialect::Sqlite {
        return Ok(());
    }
    discard_in(tx, handled).await?;
    send_in(tx, letters).await.map(drop)
}
