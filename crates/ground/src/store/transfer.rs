//! Moves a whole database to a new one, of the same kind or of the other: by the parts that `evenkeel export --operator`
//! writes and `evenkeel ingest` reads.
//!
//! Until the end, nobody else writes to the source. What is written to the target is one transaction: it gets all, or
//! stays new. Before that is committed, the target is read, and must give the same text. At the end, the source is
//! marked as moved: each later write to it fails, also one of a process that has opened it before.

use std::{path::Path, sync::Arc, time::Duration};

use sha2::{Digest, Sha256};
use tokio::sync::mpsc;

use crate::{
    files::FileMode,
    store::{
        Backend, ContentPart, DatabaseUrl, OperatorLine, PartSource, Store, StoreError,
        db::{Dialect, PooledConnection, scalar},
        operator_lines::rows::{export, import, refuse_used},
        postgres,
        sqlite::{self, Held},
        state,
    },
};

/// The state that says where the content of this database was moved to.
const MOVED: &str = "moved";
/// The name of the lease on SQLite, where all leases of a database are held by one process.
const LEASE: &str = "transfer";
/// How many parts wait to be written.
const WAITING: usize = 1_024;
/// The longest time of a part of an answer that needs a whole table.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// Why a database cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A daemon uses one of the databases.
    #[error("a daemon uses {place}: stop it, and all others of this database, and try again")]
    InUse {
        /// The path or the address of the database.
        place: String,
    },
    /// Source and target are the same database.
    #[error("FROM and TO are the same database")]
    Same,
    /// The target refuses what the source contains.
    #[error(
        "{place} refuses line {line} of what `evenkeel export --operator` writes of the other one: {why}"
    )]
    Refused {
        /// The path or the address of the target.
        place: String,
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with the line.
        why: String,
    },
    /// The target gives something else than was written to it.
    #[error(
        "{place} does not give back line {line} of what `evenkeel export --operator` writes of the other one"
    )]
    Differs {
        /// The path or the address of the target.
        place: String,
        /// The number of the first line that differs, from 1.
        line: u64,
    },
    /// One of the databases failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Two databases, of which the first was moved to the second. No daemon can use them until this is dropped.
#[derive(Debug)]
pub struct Transferred {
    /// The source, which can only be read.
    pub from: Arc<Store>,
    /// The target.
    pub to: Arc<Store>,
    /// Number of matches that were moved.
    pub matches: u64,
    _claims: [Option<Arc<Held>>; 2],
}

/// Moves the content of a database to a new one, which is created with `mode` if it is a file that does not exist. `patience` is
/// how long this waits for other processes. `progress` gets the number of matches that are written, and that of all.
///
/// # Errors
/// Fails if a daemon uses one of the databases, if the target is not new or does not take everything, or if a database
/// does. The target is new then, and the source can be used as before. Only if this is killed, or the target fails to
/// commit, after the source got its mark, the source keeps it: the same call begins again, and [`take_back`] removes it.
pub async fn transfer(
    from: &DatabaseUrl,
    to: &DatabaseUrl,
    patience: Duration,
    mode: FileMode,
    mut progress: impl FnMut(u64, u64),
) -> Result<Transferred, TransferError> {
    if is_one(from, to) {
        return Err(TransferError::Same);
    }
    let source = Arc::new(open(from, false, patience, mode).await?);
    let source_claim = claim(&source, from).await?;
    let moved = source.moved_to().await?;
    if let Some(other) = moved.clone().filter(|other| *other != absolute(to)) {
        let (place, to) = (from.to_string(), other);
        return Err(StoreError::Moved { place, to }.into());
    }
    let target = Arc::new(open(to, true, patience, mode).await?);
    let claims = [source_claim, claim(&target, to).await?];
    let mut writer = target.begin_alone().await?;
    let new = refuse_used(&mut writer).await;
    new.map_err(|error| StoreError::at(to, error))?;
    if moved.is_some() {
        source.forget_move().await?; // nothing has arrived
    }
    let mut lock = source.begin_alone().await?;
    let mut reader = source.readers.snapshot().await?;
    for tx in [&mut *lock, &mut reader, &mut *writer] {
        hold(tx).await?;
    }
    let total = u64::try_from(source.matches().extent().await?.0).unwrap_or(0);
    let matches = copy(&mut reader, &mut writer, to, |done| progress(done, total)).await?;
    drop(reader);
    // PostgreSQL does not keep a daemon from starting meanwhile.
    if lock.dialect() == Dialect::Postgres {
        claim(&source, from).await?;
    }
    // The source first: at no time can both be used.
    state::set(&mut lock, MOVED, None, Some(&absolute(to))).await?;
    source.commit(lock).await?;
    target.commit(writer).await?;
    Ok(Transferred {
        from: source,
        to: target,
        matches,
        _claims: claims,
    })
}

/// Makes a database usable again that was moved to another one. Returns where its content is now; `None` if it was
/// not moved.
pub async fn take_back(
    place: &DatabaseUrl,
    patience: Duration,
) -> Result<Option<String>, TransferError> {
    let store = open(place, false, patience, FileMode::default()).await?;
    let moved = store.moved_to().await?;
    if moved.is_some() {
        store.forget_move().await?;
    }
    store.close().await;
    Ok(moved)
}

/// Opens a database, also if it was moved to another one.
pub(super) async fn open(
    place: &DatabaseUrl,
    create: bool,
    patience: Duration,
    mode: FileMode,
) -> Result<Store, StoreError> {
    match place {
        DatabaseUrl::File(path) => sqlite::open(path, create, patience, mode).await,
        DatabaseUrl::Server(url, settings) => {
            postgres::open(url, *settings, create, patience).await
        }
    }
}

impl Store {
    /// Where the content of this database was moved to; `None` if it was not.
    pub(super) async fn moved_to(&self) -> Result<Option<String>, StoreError> {
        state::text(&self.readers, MOVED).await
    }

    async fn forget_move(&self) -> Result<(), StoreError> {
        state::remove(&mut self.writer.acquire().await?, MOVED).await
    }
}

/// A place in a form that is valid in any folder.
fn absolute(place: &DatabaseUrl) -> String {
    match place {
        DatabaseUrl::File(path) => match std::path::absolute(path) {
            Ok(path) => path.display().to_string(),
            Err(_) => place.to_string(),
        },
        DatabaseUrl::Server(..) => place.to_string(),
    }
}

/// Whether both places are the same database. Two servers count as the same only if their names are equal.
fn is_one(from: &DatabaseUrl, to: &DatabaseUrl) -> bool {
    match (from, to) {
        (DatabaseUrl::File(from), DatabaseUrl::File(to)) => {
            let file = |path: &Path| path.canonicalize().ok();
            file(from).is_some_and(|path| file(to) == Some(path))
        }
        _ => from.to_string() == to.to_string(),
    }
}

/// Claims a database for this process, so that no daemon can run its queues.
///
/// On PostgreSQL, nothing keeps a daemon from starting later, but it cannot write while the database is locked.
async fn claim(store: &Store, place: &DatabaseUrl) -> Result<Option<Arc<Held>>, TransferError> {
    let (held, is_free) = match &store.backend {
        Backend::Sqlite(file) => {
            let held = file.lock_lease(LEASE)?;
            (held.clone(), held.is_some())
        }
        Backend::Postgres(_) => {
            let free = "SELECT NOT EXISTS (SELECT 1 FROM leases WHERE ends_at > clock())";
            (None, scalar(free).fetch_one(&store.readers).await?)
        }
    };
    match is_free {
        true => Ok(held),
        false => Err(TransferError::InUse {
            place: place.to_string(),
        }),
    }
}

/// Keeps a server from ending this transaction while the other database works, or a statement that reads a whole table.
async fn hold(tx: &mut PooledConnection) -> Result<(), StoreError> {
    if tx.dialect() == Dialect::Postgres {
        tx.be_patient(PATIENCE);
        let hold =
            "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL statement_timeout = 0";
        tx.execute_text(hold).await?;
    }
    Ok(())
}

/// Writes all that `reader` sees to the target, and compares what that gives back. Returns the number of matches.
async fn copy(
    reader: &mut PooledConnection,
    writer: &mut PooledConnection,
    to: &DatabaseUrl,
    progress: impl FnMut(u64),
) -> Result<u64, TransferError> {
    let dialect = writer.dialect();
    let (sender, receiver) = mpsc::channel(WAITING);
    let mut sums = Vec::new();
    let sent = &mut sums;
    let sending = export(reader, async move |part| {
        let part = fitting(dialect, part);
        sent.push(PartDigest::of(dialect, &part)?);
        // If nobody receives, the other side has failed, and says why.
        let _ = sender.send(part).await;
        Ok::<(), TransferError>(())
    });
    let mut arriving = Arriving {
        receiver,
        place: to.to_string(),
        line: 1,
        matches: 0,
        progress,
    };
    let ((), matches) = tokio::try_join!(sending, import(writer, &mut arriving))?;
    let (mut sent, mut line) = (sums.into_iter(), 1);
    let differs = |line| TransferError::Differs {
        place: to.to_string(),
        line,
    };
    let compared = export(writer, async |part| {
        let sum = PartDigest::of(dialect, &part)?;
        if sent.next() != Some(sum) {
            return Err(differs(line));
        }
        line += lines(&part);
        Ok(())
    });
    compared.await?;
    match sent.next() {
        Some(_) => Err(differs(line)),
        None => Ok(matches),
    }
}

/// The part as a database of this kind gives it back.
fn fitting(dialect: Dialect, mut part: ContentPart) -> ContentPart {
    match &mut part {
        ContentPart::Match(one) => one.1 = dialect.storable(&one.1).into_owned(),
        // A database that was filled is not new any more.
        ContentPart::Line(OperatorLine::Numbers(numbers)) => {
            numbers.changes = numbers.changes.max(1)
        }
        ContentPart::Line(_) => {}
    }
    part
}

/// How many lines of an export a part is.
fn lines(part: &ContentPart) -> u64 {
    match part {
        ContentPart::Line(_) => 1,
        ContentPart::Match(_) => 2,
    }
}

/// The beginning of the SHA-256 of a part's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PartDigest([u8; 8]);

impl PartDigest {
    /// That of the text with U+FFFD in place of NUL, if the target stores it so.
    fn of(dialect: Dialect, part: &ContentPart) -> Result<Self, StoreError> {
        let text = part.text();
        let mut text = text.map_err(|error| StoreError::BadValue(error.to_string()))?;
        if dialect == Dialect::Postgres {
            text = text.replace("\\u0000", "\u{fffd}");
        }
        let hash: [u8; 32] = Sha256::digest(text).into();
        let [a, b, c, d, e, f, g, h, ..] = hash;
        Ok(Self([a, b, c, d, e, f, g, h]))
    }
}

/// The parts of the source as they come.
struct Arriving<F> {
    receiver: mpsc::Receiver<ContentPart>,
    /// The target.
    place: String,
    /// The number of the next line, from 1.
    line: u64,
    matches: u64,
    progress: F,
}

impl<F: FnMut(u64)> PartSource for Arriving<F> {
    type Error = TransferError;

    async fn next(&mut self) -> Result<Option<(u64, ContentPart)>, TransferError> {
        let Some(part) = self.receiver.recv().await else {
            return Ok(None);
        };
        let line = self.line;
        self.line += lines(&part);
        if let ContentPart::Match(_) = part {
            self.matches += 1;
            (self.progress)(self.matches);
        }
        Ok(Some((line, part)))
    }

    fn refused(&self, line: u64, why: &str) -> TransferError {
        TransferError::Refused {
            place: self.place.clone(),
            line,
            why: why.to_owned(),
        }
    }
}
