//! What operators do with a database as a whole: they copy it, and check that nothing in it is damaged.

use std::path::{Path, PathBuf};

use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};
use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection as _, Row as _, SqliteConnection,
    sqlite::SqliteConnectOptions,
};

use crate::{
    model::text::to_hex,
    store::{
        StoreError,
        schema::missing_rows,
        sqlite::{APPLICATION_ID, application_id},
    },
};

/// The derived tables.
const DERIVED: [&str; 6] = [
    "rulings",
    "performances",
    "weights",
    "divisions",
    "seasons",
    "persons",
];
/// The most faults of one kind that are reported.
const FAULTS: usize = 100;

/// The file of a database, for backups and checks. It is only read, and never migrated, so that a new program can copy
/// the database of an old one before it changes it.
#[derive(Clone, Debug)]
pub struct SqliteFile {
    path: PathBuf,
    options: SqliteConnectOptions,
}

impl SqliteFile {
    /// Finds the database.
    ///
    /// # Errors
    /// Fails if it is missing, damaged, of another program, or cannot be opened.
    pub async fn open(path: &Path, busy: std::time::Duration) -> Result<Self, StoreError> {
        super::refuse_missing(path)?;
        super::files::look(path)?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .read_only(true)
            .busy_timeout(busy);
        let file = Self {
            path: path.to_owned(),
            options,
        };
        let fail = |error| StoreError::new(&path.display(), error);
        let connection = file.connect().await;
        let mut connection = connection.map_err(|error| super::explain(path, error))?;
        let id = application_id(&mut connection).await.map_err(fail)?;
        match id == APPLICATION_ID {
            true => Ok(file),
            false => Err(StoreError::Foreign {
                place: path.display().to_string(),
            }),
        }
    }

    async fn connect(&self) -> Result<SqliteConnection, StoreError> {
        let connection = self.options.connect().await;
        connection.map_err(|error| StoreError::new(&self.path.display(), error))
    }
}

impl SqliteFile {
    /// Writes a copy of the database, as it is at this moment, to a new file. Meanwhile others read and write
    /// the database without waiting.
    ///
    /// # Errors
    /// Fails if the file exists already, or if the database or the disk fails.
    pub async fn back_up(&self, to: &Path) -> Result<(), StoreError> {
        let mut connection = self.connect().await?;
        copy(&mut connection, to).await?;
        connection.close().await?;
        Ok(())
    }

    /// What is damaged in the file, one sentence each: pages, indexes, and rows that belong to others which are
    /// missing.
    ///
    /// # Errors
    /// Fails if the database cannot be read at all.
    pub async fn faults(&self) -> Result<Vec<String>, StoreError> {
        let mut connection = self.connect().await?;
        let check = format!("PRAGMA integrity_check({FAULTS})");
        let check = sqlx::query_scalar(AssertSqlSafe(check));
        let mut faults: Vec<String> = check.fetch_all(&mut connection).await?;
        faults.retain(|fault| fault != "ok");
        let missing = "SELECT \"table\", \"parent\", count(*) FROM pragma_foreign_key_check
                       GROUP BY 1, 2 LIMIT ?";
        let missing = sqlx::query(missing).bind(i64::try_from(FAULTS).unwrap_or(i64::MAX));
        for row in missing.fetch_all(&mut connection).await? {
            let (table, parent): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            faults.push(missing_rows(row.try_get(2)?, &table, &parent));
        }
        Ok(faults)
    }

    /// The number of rows in each table, by name.
    pub async fn counts(&self) -> Result<Vec<(String, i64)>, StoreError> {
        let mut connection = self.connect().await?;
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table'
                      AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> '_sqlx_migrations' ORDER BY name";
        let tables: Vec<String> = sqlx::query_scalar(tables)
            .fetch_all(&mut connection)
            .await?;
        let mut counts = Vec::with_capacity(tables.len());
        for table in tables {
            let count = format!("SELECT count(*) FROM {}", quoted(&table));
            let count = sqlx::query_scalar(AssertSqlSafe(count));
            let rows = count.fetch_one(&mut connection).await?;
            counts.push((table, rows));
        }
        Ok(counts)
    }

    /// A hash of the content of each derived table, by name. Equal content has equal hashes, to the last bit
    /// of every number.
    pub async fn derived_hashes(&self) -> Result<Vec<(String, String)>, StoreError> {
        let mut connection = self.connect().await?;
        let mut hashes = Vec::with_capacity(DERIVED.len());
        for table in DERIVED {
            let hash = hash(&mut connection, table).await?;
            hashes.push((table.to_owned(), hash));
        }
        Ok(hashes)
    }

    /// How many changes to players the file contains, and when it last forgot one.
    pub async fn forgotten(&self) -> Result<Forgotten, StoreError> {
        let mut connection = self.connect().await?;
        let query = sqlx::query_as(
            "SELECT a.number, b.number, EXISTS (SELECT 1 FROM forgotten_lately WHERE player IS NOT NULL)
             FROM state a JOIN state b ON b.name = 'forgotten' WHERE a.name = 'player_changes'",
        );
        let (changes, latest, goes_on) = query.fetch_one(&mut connection).await?;
        Ok(Forgotten {
            changes,
            latest,
            goes_on,
        })
    }
}

/// Writes all that a connection sees to a new file.
pub(super) async fn copy(connection: &mut SqliteConnection, to: &Path) -> Result<(), StoreError> {
    let text = to.to_str().ok_or_else(|| {
        StoreError::BadValue(format!("a path that is not UTF-8: {}", to.display()))
    })?;
    let copy = sqlx::query("VACUUM INTO ?").bind(text);
    copy.execute(connection).await?;
    Ok(())
}

/// Counts an operator's changes to players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The number of changes so far.
    pub changes: i64,
    /// The number of changes after the latest one that made the database forget a player; 0 if none has.
    pub latest: i64,
    /// Whether the database still contains a player whom it is forgetting.
    pub goes_on: bool,
}

impl Forgotten {
    /// Whether an older copy of the same database contains a player whom this one has forgotten since.
    pub fn outdates(&self, copy: Self) -> bool {
        copy.changes < self.latest || (copy.goes_on && !self.goes_on)
    }
}

/// A hash of all rows of a table. `quote` writes each number so that it can be read back to the last bit.
async fn hash(connection: &mut SqliteConnection, table: &str) -> Result<String, StoreError> {
    let columns: Vec<String> =
        sqlx::query_scalar("SELECT name FROM pragma_table_info(?) ORDER BY name")
            .bind(table)
            .fetch_all(&mut *connection)
            .await?;
    let quote = |column: &String| match (table, column.as_str()) {
        // The numbers of persons depend on the order in which matches came; their handles do not.
        ("persons", "person") => "''".to_owned(),
        ("performances", "person") => {
            "quote((SELECT handle FROM persons p WHERE p.person = performances.person))".to_owned()
        }
        _ => format!("quote({})", quoted(column)),
    };
    let row = columns
        .iter()
        .map(quote)
        .collect::<Vec<_>>()
        .join(" || ',' || ");
    let rows = format!("SELECT {row} AS line FROM {} ORDER BY line", quoted(table));
    let mut lines = sqlx::query_scalar::<_, String>(AssertSqlSafe(rows)).fetch(&mut *connection);
    let mut hash = Sha256::new();
    while let Some(line) = lines.try_next().await? {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    Ok(to_hex(&hash.finalize()))
}

/// A name in quotation marks, for SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
