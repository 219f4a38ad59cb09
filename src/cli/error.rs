//! Why a command failed, and the exit code for it.

use std::{error::Error, fmt, io, path::Path};

use tokio::task::JoinError;

use crate::{
    client::drivers::DriverError,
    config::ConfigError,
    daemon::DaemonError,
    learning::LearningError,
    logs::LogError,
    model::PatternError,
    server::ServiceError,
    session::SessionError,
    simulate::SimulateError,
    store::{BackupError, StoreError, TransferError},
    webhooks::DeliveryError,
};

/// Why a command failed.
#[derive(Debug)]
pub(super) struct CliError {
    why: Box<dyn Error + Send + Sync>,
    /// 2 for the flags, 3 for the configuration, 4 for the input, 5 for the database, 6 for what may pass by itself, 1
    /// for anything else. Clap itself exits with 2 if the flags are invalid, too.
    code: u8,
    is_broken_pipe: bool,
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl CliError {
    fn new(code: u8, why: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let why = why.into();
        let cause = why.source().and_then(|cause| cause.downcast_ref());
        Self {
            code: cause
                .filter(|cause| is_full(cause))
                .map_or(code, |_| PASSING),
            why,
            is_broken_pipe: false,
        }
    }

    /// The flags are wrong.
    pub(super) fn usage(why: &str) -> Self {
        Self::new(2, why)
    }

    /// The configuration is wrong.
    pub(super) fn settings(why: impl ToString) -> Self {
        Self::new(3, why.to_string())
    }

    /// A file or an argument is wrong.
    pub(super) fn input(why: impl ToString) -> Self {
        Self::new(4, why.to_string())
    }

    /// A file cannot be read or written.
    pub(super) fn in_file(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |error| {
            let code = if is_full(&error) { PASSING } else { 4 };
            Self::new(code, format!("{}: {error}", path.display()))
        }
    }

    /// The database is damaged.
    pub(super) fn damaged(why: String) -> Self {
        Self::new(5, why)
    }

    /// Something else has failed.
    pub(super) fn failed(why: impl ToString) -> Self {
        Self::new(1, why.to_string())
    }

    /// The message, followed by the causes that it does not contain.
    pub(super) fn message(&self) -> String {
        let mut message = without_codes(&self.to_string());
        let mut cause = self.why.source();
        while let Some(inner) = cause {
            let text = without_codes(&inner.to_string());
            if !message.contains(&text) {
                message.push_str(&format!(": {text}"));
            }
            cause = inner.source();
        }
        message
    }

    /// Whether the reader of stdout has closed it, as `head` does.
    pub(super) fn is_broken_pipe(&self) -> bool {
        self.is_broken_pipe
    }

    /// The exit code.
    pub(super) fn exit_code(&self) -> u8 {
        self.code
    }

    fn of_output(
        code: u8,
        kind: Option<io::ErrorKind>,
        error: impl Error + Send + Sync + 'static,
    ) -> Self {
        Self {
            why: error.into(),
            code,
            is_broken_pipe: kind == Some(io::ErrorKind::BrokenPipe),
        }
    }
}

/// The exit code if the same command can succeed later, although nobody has changed anything: the database was locked or
/// away, or the disk was full.
const PASSING: u8 = 6;

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::StorageFull
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let code = if is_full(&error) { PASSING } else { 1 };
        Self::of_output(code, Some(error.kind()), error)
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> Self {
        Self::of_output(1, error.io_error_kind(), error)
    }
}

impl From<csv::Error> for CliError {
    fn from(error: csv::Error) -> Self {
        let kind = match error.kind() {
            csv::ErrorKind::Io(error) => Some(error.kind()),
            _ => None,
        };
        Self::of_output(1, kind, error)
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::new(if error.is_passing() { PASSING } else { 5 }, error)
    }
}

/// Gives each type of error the exit code of its own variants, or of one of them; a variant with an error of another type
/// has that one's.
macro_rules! exit_codes {
    ($($error:ident: $code:literal $(, $variant:ident)* $(| $own:ident: $own_code:literal)?;)*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                match error {
                    $($error::$variant(inner) => inner.into(),)*
                    $(error @ $error::$own(_) => Self::new($own_code, error),)?
                    error => Self::new($code, error),
                }
            }
        }
    )*};
}

exit_codes! {
    BackupError: 4, Store, Ended;
    ConfigError: 3;
    DaemonError: 1, Config, Deliveries, Learning, Logs, Service, Store | Tls: 3;
    DeliveryError: 3, Store;
    DriverError: 4, Io;
    JoinError: 1;
    LearningError: 1, Store, Pattern;
    LogError: 4, Store, Task;
    PatternError: 3;
    ServiceError: 1, Learning, Pattern;
    SessionError: 1, Store;
    SimulateError: 1, Service, Learning, Session, Store, Io;
    TransferError: 4, Store;
}

/// A message without the numbers that the operating system and SQLite give to errors, and without the words that the
/// library of databases puts before each.
fn without_codes(message: &str) -> String {
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
