//! Why a command failed, and the exit code for it.

use std::{io, path::PathBuf};

use crate::{
    config::ConfigError,
    daemon::DaemonError,
    deliveries::DeliveryError,
    drivers::DriverError,
    learning::LearningError,
    logs::LogError,
    server::ServiceError,
    session::SessionError,
    simulate::SimulateError,
    store::{BackupError, StoreError, TransferError},
};

/// Why a command failed; [`CliError::exit_code`] maps it to the exit code.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error("{}: {source}", path.display())]
    Config { path: PathBuf, source: ConfigError },
    #[error(transparent)]
    ConfigValue(#[from] ConfigError),
    #[error("configuration file {}: {why}", path.display())]
    ConfigFile { path: PathBuf, why: String },
    #[error(
        "there is no database at {}, but there is one in the current folder, {}: a relative path in a \
         configuration file is relative to the folder of that file. Move the database there, or set [store] \
         database to its whole path", database.display(), here.display()
    )]
    OtherDatabase { database: PathBuf, here: PathBuf },
    #[error("--db names an SQLite file and store.url a PostgreSQL database; only one can be used")]
    TwoDatabases,
    #[error("log.filter: {0}")]
    LogFilter(#[from] tracing_subscriber::filter::ParseError),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Input(String),
    #[error("{0}")]
    Damaged(String),
    #[error("{0}")]
    Unreachable(String),
    #[error(transparent)]
    Delivery(DeliveryError),
    #[error(transparent)]
    Daemon(DaemonError),
    #[error(transparent)]
    Service(#[from] ServiceError),
    #[error(transparent)]
    Learning(#[from] LearningError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("cannot draw the plot: {0}")]
    Plot(String),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

impl From<LogError> for CliError {
    fn from(error: LogError) -> Self {
        match error {
            LogError::File { path, source } => Self::File { path, source },
            LogError::Store(error) => Self::Store(error),
            LogError::Task(error) => Self::Task(error),
            other => Self::Input(other.to_string()),
        }
    }
}

impl From<BackupError> for CliError {
    fn from(error: BackupError) -> Self {
        match error {
            BackupError::File { path, source } => Self::File { path, source },
            error @ BackupError::Exists(_) => Self::Input(error.to_string()),
            BackupError::Store(error) => Self::Store(error),
            BackupError::Ended(error) => Self::Task(error),
        }
    }
}

impl From<TransferError> for CliError {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Store(error) => Self::Store(error),
            other => Self::Input(other.to_string()),
        }
    }
}

impl From<DeliveryError> for CliError {
    fn from(error: DeliveryError) -> Self {
        match error {
            DeliveryError::Store(error) => Self::Store(error),
            other => Self::Delivery(other),
        }
    }
}

impl From<DaemonError> for CliError {
    fn from(error: DaemonError) -> Self {
        match error {
            DaemonError::Config(error) => Self::ConfigValue(error),
            DaemonError::Store(error) => Self::Store(error),
            DaemonError::Service(error) => Self::Service(error),
            DaemonError::Learning(error) => Self::Learning(error),
            DaemonError::Logs(error) => error.into(),
            DaemonError::Deliveries(error) => error.into(),
            other => Self::Daemon(other),
        }
    }
}

impl From<SimulateError> for CliError {
    fn from(error: SimulateError) -> Self {
        match error {
            SimulateError::Service(error) => Self::Service(error),
            SimulateError::Learning(error) => Self::Learning(error),
            SimulateError::Session(error) => Self::Session(error),
            SimulateError::Store(error) => Self::Store(error),
            SimulateError::Io(error) => Self::Io(error),
            SimulateError::Task(error) => Self::Task(error),
        }
    }
}

impl From<DriverError> for CliError {
    fn from(error: DriverError) -> Self {
        match error {
            DriverError::File { path, source } => Self::File { path, source },
            DriverError::Input(why) => Self::Input(why),
            DriverError::Io(error) => Self::Io(error),
        }
    }
}

impl CliError {
    /// Whether the reader of stdout has closed it, as `head` does.
    pub fn is_broken_pipe(&self) -> bool {
        let kind = match self {
            CliError::Io(error) => Some(error.kind()),
            CliError::Json(error) => error.io_error_kind(),
            CliError::Csv(error) => match error.kind() {
                csv::ErrorKind::Io(error) => Some(error.kind()),
                _ => None,
            },
            _ => None,
        };
        kind == Some(io::ErrorKind::BrokenPipe)
    }

    /// The exit code: 2 for the flags, 3 for the configuration, 4 for the input, 5 for the database, 6 for what may pass
    /// by itself, 1 for anything else. Clap itself exits with 2 if the flags are invalid, too.
    pub fn exit_code(&self) -> u8 {
        if self.is_passing() {
            return 6;
        }
        match self {
            CliError::Usage(_) => 2,
            CliError::Config { .. }
            | CliError::ConfigFile { .. }
            | CliError::OtherDatabase { .. }
            | CliError::ConfigValue(_)
            | CliError::TwoDatabases
            | CliError::LogFilter(_)
            | CliError::Delivery(_) => 3,
            CliError::Daemon(DaemonError::Tls(_)) => 3,
            CliError::Service(
                ServiceError::Pattern(_) | ServiceError::Learning(LearningError::Pattern(_)),
            ) => 3,
            CliError::Learning(LearningError::Pattern(_)) => 3,
            CliError::File { .. } | CliError::Input(_) => 4,
            CliError::Damaged(_) => 5,
            error if error.of_store().is_some() => 5,
            _ => 1,
        }
    }

    /// Whether the same command can succeed later, although nobody has changed anything: the database was locked or
    /// away, or the disk was full.
    fn is_passing(&self) -> bool {
        let full = |error: &io::Error| error.kind() == io::ErrorKind::StorageFull;
        match self {
            CliError::File { source, .. } | CliError::Io(source) => full(source),
            error => error.of_store().is_some_and(StoreError::is_passing),
        }
    }

    /// The error of the database that this one is.
    fn of_store(&self) -> Option<&StoreError> {
        match self {
            CliError::Store(error)
            | CliError::Service(ServiceError::Learning(LearningError::Store(error)))
            | CliError::Learning(LearningError::Store(error))
            | CliError::Session(SessionError::Store(error)) => Some(error),
            _ => None,
        }
    }
}

/// A message without the numbers that the operating system and SQLite give to errors, and without the words that the
/// library of databases puts before each.
pub(super) fn without_codes(message: &str) -> String {
    let mut text = message.replace("error returned from database: ", "");
    text = text.replace("error communicating with database: ", "");
    for (start, end) in [(" (os error ", ")"), ("(code: ", ") ")] {
        while let Some(at) = text.find(start) {
            let rest = &text[at + start.len()..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 || !rest[digits..].starts_with(end) {
                break;
            }
            text.replace_range(at..at + start.len() + digits + end.len(), "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_left_out_of_messages() {
        for (message, shown) in [
            (
                "a.db: Permission denied (os error 13)",
                "a.db: Permission denied",
            ),
            (
                "error returned from database: (code: 26) file is not a database",
                "file is not a database",
            ),
            ("x (os error 2): y (os error 13)", "x: y"),
            (
                "named (os error x) by a player",
                "named (os error x) by a player",
            ),
        ] {
            assert_eq!(without_codes(message), shown);
        }
    }
}
