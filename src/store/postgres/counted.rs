//! Counts the matches without reading all of them each time.

use parking_lot::Mutex;

use crate::store::{
    StoreError,
    db::{Connection, tuple},
};

/// How many matches the transactions before one have recorded. All of those have ended, so no further match is theirs:
/// matches that are committed late are among those of later transactions, which are counted each time.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The first transaction whose matches are not counted.
    before: i64,
    matches: i64,
    /// How often stored matches had been changed, perhaps removed, by then.
    changes: i64,
}

/// What this process knows of the number of matches.
#[derive(Debug, Default)]
pub(in crate::store) struct Counted(Mutex<Option<Known>>);

impl Counted {
    /// The number of matches that this connection sees, and the highest id.
    pub async fn extent(&self, on: &mut Connection) -> Result<(i64, i64), StoreError> {
        let known = *self.0.lock();
        if let Some(known) = known {
            let seen = count(on, Some(&known)).await?;
            if seen.known.changes == known.changes {
                return Ok(self.note(seen));
            }
        }
        Ok(self.note(count(on, None).await?))
    }

    /// Keeps what was counted, and returns the extent.
    fn note(&self, seen: Seen) -> (i64, i64) {
        let Seen {
            known,
            open,
            highest,
        } = seen;
        let matches = known.matches + open;
        *self.0.lock() = Some(known);
        (matches, highest)
    }
}

/// What one query has counted.
struct Seen {
    known: Known,
    /// How many matches later transactions have recorded, some of which are still open.
    open: i64,
    highest: i64,
}

/// Counts the matches that are not known yet.
async fn count(on: &mut Connection, known: Option<&Known>) -> Result<Seen, StoreError> {
    // Matches of older versions have no transaction. After a crash, a server gives the numbers of transactions that
    // left nothing on disk once more, so the first one that is not counted comes just after one that has a match.
    let new = match known {
        Some(Known { before, .. }) => format!("WHERE xid >= {before}"),
        None => String::new(),
    };
    let query = tuple(format!(
        "SELECT before, (SELECT count(*) FROM matches {new}), (SELECT count(*) FROM matches WHERE xid >= before),
             (SELECT number FROM state WHERE name = 'player_changes'), (SELECT coalesce(max(id), 0) FROM matches)
         FROM (SELECT coalesce(max(xid), 0) + 1 AS before FROM matches
                WHERE xid < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT)) AS ended"
    ));
    let (before, new, open, changes, highest): (i64, i64, i64, i64, i64) =
        query.once().fetch_one(on).await?;
    let matches = known.map_or(0, |known| known.matches) + new - open;
    let known = Known {
        before,
        matches,
        changes,
    };
    Ok(Seen {
        known,
        open,
        highest,
    })
}
