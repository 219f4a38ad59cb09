//! The command line: one file per subcommand, or one for several that change together. A command reads its
//! configuration, opens what it needs, calls the other rooms and prints the result; it contains no decisions of its
//! own.
//!
//! This file has what all commands share, also the safe forms of text: one JSON value for `--json`, paths in commands
//! that people copy into a shell, and text in CSV files. Names come from players, and a spreadsheet runs a cell that
//! begins like a formula.

#![allow(
    clippy::disallowed_methods,
    reason = "commands report how long they take, and have no other clock"
)]

mod balance;
mod config;
mod database;
mod demo;
mod evaluate;
mod experiment;
mod hosting;
mod identity;
mod ingest;
mod manual;
mod matches;
mod output_file;
mod player;
mod queue;
mod replay;
mod serve;
mod sidecar;
mod simulate;
mod status;
mod table;
mod webhook;
mod weights;

use std::{
    borrow::Cow,
    error::Error,
    fmt,
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Parser, Subcommand};
use serde::Serialize;
use tokio::task::JoinError;

use crate::{
    cli::{config::load_config, output_file::OutputFile},
    client::drivers::DriverError,
    config::{Config, ConfigError, LogFormat, LogSection},
    daemon::{self, DaemonError},
    experiments::ExperimentFault,
    files::is_full,
    learning::LearningError,
    logs::{Archive, LogError},
    model::{
        names::{escaped_json, is_hidden},
        rulebook::PatternError,
    },
    server::{Service, ServiceError},
    session::SessionError,
    simulate::SimulateError,
    store::{BackupError, StoreError, TransferError},
    webhooks::DeliveryError,
};

/// Pick even teams for any multiplayer game server, with weights learned from finished games
#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    Demo(demo::DemoArgs),
    Serve(serve::ServeArgs),
    Ingest(ingest::IngestArgs),
    Follow(ingest::FollowArgs),
    Export(database::ExportArgs),
    Balance(Box<balance::BalanceArgs>),
    Weights(weights::WeightsArgs),
    Rebuild(database::RebuildArgs),
    Backup(database::BackupArgs),
    Check(database::CheckDatabaseArgs),
    MigrateStore(database::MigrateStoreArgs),
    Status(status::DaemonStatusArgs),
    Evaluate(evaluate::EvaluateArgs),
    Experiment(experiment::ExperimentArgs),
    Match(matches::MatchArgs),
    Player(player::PlayerArgs),
    Queue(queue::QueueArgs),
    Hosting(hosting::HostingArgs),
    ReplayDecision(replay::ReplayArgs),
    Simulate(simulate::SimulateArgs),
    Config(config::ConfigArgs),
    Sidecar(sidecar::SidecarArgs),
    Man(manual::ManArgs),
    Completions(manual::CompletionsArgs),
    Token(config::TokenArgs),
    Webhook(webhook::WebhookArgs),
}

/// The flags of every command that reads the configuration.
#[derive(Clone, Debug, Args)]
struct SettingsArgs {
    /// Read the configuration from FILE [default: /etc/evenkeel/evenkeel.toml if it exists; otherwise every
    /// key has its default]
    #[arg(long, value_name = "FILE", env = "EVENKEEL_CONFIG")]
    config: Option<PathBuf>,
    /// Use everything in FOLDER: the configuration evenkeel.toml, if it is there, and the database, which is
    /// evenkeel.db unless the configuration names another
    #[arg(long, value_name = "FOLDER", conflicts_with = "config")]
    dir: Option<PathBuf>,
}

/// The flags of every command that opens the database.
#[derive(Clone, Debug, Args)]
struct CommonArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Use the SQLite database FILE instead of the one that the configuration names. Without --config and --dir,
    /// every key of the configuration then has its default
    #[arg(long, value_name = "FILE", env = "EVENKEEL_DB")]
    db: Option<PathBuf>,
}

/// Runs the parsed command. A failure is printed on stderr, with its causes, and gives an exit code
/// from 1 to 5.
pub fn run(cli: Cli) -> ExitCode {
    match dispatch(cli.command) {
        Ok(code) => code,
        // `evenkeel weights … | head` succeeds.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "evenkeel: {}", error.message());
            ExitCode::from(error.exit_code())
        }
    }
}

fn dispatch(command: CliCommand) -> Result<ExitCode, CliError> {
    let done = |()| ExitCode::SUCCESS;
    match command {
        CliCommand::Balance(args) => balance::run(&args).map(done),
        CliCommand::Config(args) => config::run(&args).map(done),
        CliCommand::Man(args) => manual::man(&args).map(done),
        CliCommand::Completions(args) => manual::completions(&args).map(done),
        CliCommand::Token(args) => config::run_token(&args).map(done),
        CliCommand::Queue(args) => queue::run(&args),
        CliCommand::Webhook(args) => webhook::run(&args),
        CliCommand::Hosting(args) => block_on(hosting::run(args)).map(done),
        CliCommand::Demo(args) => block_on(demo::run(args)),
        CliCommand::Serve(args) => block_on(serve::run(args)).map(done),
        CliCommand::Ingest(args) => block_on(ingest::run(args)),
        CliCommand::Follow(args) => block_on(ingest::run_follow(args)).map(done),
        CliCommand::Export(args) => block_on(database::run_export(args)).map(done),
        CliCommand::Weights(args) => block_on(weights::run(args)).map(done),
        CliCommand::Backup(args) => block_on(database::run(args)).map(done),
        CliCommand::Status(args) => status::run(&args),
        CliCommand::Check(args) => block_on(database::run_check(args)).map(done),
        CliCommand::MigrateStore(args) => block_on(database::run_migrate_store(args)).map(done),
        CliCommand::Rebuild(args) => block_on(database::run_rebuild(args)).map(done),
        CliCommand::Evaluate(args) => block_on(evaluate::run(args)).map(done),
        CliCommand::Experiment(args) => block_on(experiment::run(args)).map(done),
        CliCommand::Match(args) => block_on(matches::run(args)).map(done),
        CliCommand::Player(args) => block_on(player::run(args)).map(done),
        CliCommand::Sidecar(args) => block_on(sidecar::run(args)).map(done),
        CliCommand::ReplayDecision(args) => block_on(replay::run(args)),
        CliCommand::Simulate(args) => block_on(simulate::run(args)).map(done),
    }
}

/// Runs a command on a runtime of its own.
fn block_on<T>(command: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(command);
    // Do not wait for a search for teams that is still running on a blocking thread.
    runtime.shutdown_background();
    result
}

/// The SQLite file of a command that has no other database to work on.
fn sqlite_file(config: &Config) -> Result<PathBuf, CliError> {
    match &config.store.url {
        None => Ok(config.store.database.clone()),
        Some(_) => Err(CliError::input(
            "this command is for SQLite files; for PostgreSQL use pg_dump and pg_amcheck",
        )),
    }
}

/// Opens the archive of logs, if one is configured.
fn archive(config: &Config) -> Result<Option<Arc<Archive>>, CliError> {
    Ok(daemon::open_archive(config)?)
}

/// Sends the log of this process to stderr.
fn log_to_stderr(log: &LogSection) -> Result<(), CliError> {
    let filter = tracing_subscriber::EnvFilter::try_new(&log.filter)
        .map_err(|error| CliError::settings(format!("log.filter: {error}")))?;
    // Names come from untrusted players: both formats escape control sequences.
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        // A full disk must not end the program because its log cannot be written either.
        .log_internal_errors(false);
    match log.format {
        LogFormat::Text => {
            let is_terminal = io::IsTerminal::is_terminal(&io::stderr());
            lines.with_ansi(is_terminal).init();
        }
        LogFormat::Json => {
            let lines = lines.json().with_ansi(false);
            lines.with_writer(|| EscapedLog(io::stderr())).init();
        }
    }
    Ok(())
}

/// A log of JSON, of which each write is one or more whole lines.
struct EscapedLog<W>(W);

impl<W: Write> Write for EscapedLog<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.0.write_all(escaped_json(text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Opens the database and the service over it. A missing database is an error unless `create` is
/// set.
async fn open(config: &Config, create: bool) -> Result<Service, CliError> {
    let service = daemon::open_service(config, create).await?;
    let leases = service.leases().clone();
    service.learning().leave_to_daemons(leases);
    Ok(service)
}

/// Random bytes of the system.
fn random<const N: usize>() -> Result<[u8; N], CliError> {
    crate::random::bytes().map_err(|error| CliError::failed(format!("no random numbers: {error}")))
}

/// The name of a player for operators, who see identities: the identity of somebody without a name.
fn name_or_id<'a>(name: &'a str, id: &'a str) -> &'a str {
    if name.is_empty() { id } else { name }
}

/// Parses a number from `least` to `most`.
fn between(text: &str, least: f64, most: f64) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    let fits = (least..=most).contains(&number);
    fits.then_some(number)
        .ok_or_else(|| format!("must be {least} to {most}"))
}

/// Opens a file that a command reads; `-` is standard input.
fn open_input(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(match path.as_os_str() == "-" {
        true => Box::new(io::stdin()),
        false => Box::new(File::open(path)?),
    })
}

/// Why a command failed.
#[derive(Debug)]
struct CliError {
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
    fn usage(why: &str) -> Self {
        Self::new(2, why)
    }

    /// The configuration is wrong.
    fn settings(why: impl ToString) -> Self {
        Self::new(3, why.to_string())
    }

    /// A file or an argument is wrong.
    fn input(why: impl ToString) -> Self {
        Self::new(4, why.to_string())
    }

    /// A file cannot be read or written.
    fn in_file(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |error| {
            let code = if is_full(&error) { PASSING } else { 4 };
            Self::new(code, format!("{}: {error}", path.display()))
        }
    }

    /// The database is damaged.
    fn damaged(why: String) -> Self {
        Self::new(5, why)
    }

    /// Something else has failed.
    fn failed(why: impl ToString) -> Self {
        Self::new(1, why.to_string())
    }

    /// The message, followed by the causes that it does not contain.
    fn message(&self) -> String {
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
    fn is_broken_pipe(&self) -> bool {
        self.is_broken_pipe
    }

    /// The exit code.
    fn exit_code(&self) -> u8 {
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
    ($($error:ident: $code:literal $(, $variant:ident)* $(| $own:ident: $own_code:literal)*;)*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                match error {
                    $($error::$variant(inner) => inner.into(),)*
                    $(error @ $error::$own(_) => Self::new($own_code, error),)*
                    error => Self::new($code, error),
                }
            }
        }
    )*};
}

exit_codes! {
    BackupError: 4, Store, Ended;
    ConfigError: 3;
    DaemonError: 1, Config, Deliveries, Logs, Service, Store | Descriptors: 3 | Tls: 3;
    DeliveryError: 3, Store;
    DriverError: 4, Io;
    ExperimentFault: 5, Store;
    JoinError: 1;
    LearningError: 1, Store, Pattern;
    LogError: 4, Store, Task;
    PatternError: 3;
    ServiceError: 1, Learning, Pattern;
    SessionError: 1, Store;
    SimulateError: 1, Service, Session, Store, Io;
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

/// Prints one JSON value on the standard output, on lines that people can read.
fn print_json(value: &(impl Serialize + ?Sized)) -> Result<(), CliError> {
    let text = escaped_json(serde_json::to_string_pretty(value)?);
    Ok(writeln!(io::stdout(), "{text}")?)
}

/// Prints one JSON value on one line of the standard output: a value of a stream.
fn print_json_line(value: &(impl Serialize + ?Sized)) -> Result<(), CliError> {
    let text = escaped_json(serde_json::to_string(value)?);
    Ok(writeln!(io::stdout(), "{text}")?)
}

/// A path as one word of a shell: in quotes where that is needed.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:,@%=".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.into_owned(),
        // Nothing has a meaning between single quotes, and a single quote cannot stand there.
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// The characters with which formulas begin, also in the width of East Asian letters, which some spreadsheets take for
/// the same.
const FORMULAS: [char; 8] = [
    '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// The text so that no spreadsheet takes it for a formula: with `'` before it if it begins with one of the characters
/// with which formulas begin, or has one behind spaces or characters that cannot be seen. NUL, at which some programs end
/// a line, becomes U+FFFD.
fn csv_cell(text: &str) -> Cow<'_, str> {
    let seen = text.trim_start_matches(|c: char| c.is_whitespace() || is_hidden(c));
    let is_formula = seen.starts_with(FORMULAS) || text.starts_with(['\t', '\r', '\n', '\0']);
    match is_formula || text.contains('\0') {
        true => {
            let mark = if is_formula { "'" } else { "" };
            Cow::Owned(format!("{mark}{}", text.replace('\0', "\u{fffd}")))
        }
        false => Cow::Borrowed(text),
    }
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

    #[test]
    fn a_path_is_one_word() {
        for (path, word) in [
            ("/srv/even-keel/a.db", "/srv/even-keel/a.db"),
            ("größe", "größe"),
            ("my first", "'my first'"),
            ("", "''"),
            ("$HOME", "'$HOME'"),
            ("a'b; rm", r"'a'\''b; rm'"),
            ("*", "'*'"),
            ("~x", "'~x'"),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }

    #[test]
    fn a_name_is_no_formula() {
        for name in [
            "=cmd|' /C calc'!A0",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "\u{ff1d}1+1",
            "\u{ff20}SUM(A1)",
            " =1",
            "\u{200b}=1",
            "\u{feff}\u{202e}\u{ad}\u{ff0b}1",
        ] {
            assert_eq!(csv_cell(name), format!("'{name}"));
        }
        assert_eq!(csv_cell("\0=1\0"), "'\u{fffd}=1\u{fffd}");
        assert_eq!(csv_cell("a\0b"), "a\u{fffd}b");
        for name in ["ann", "a=1", "", "'x", "5:3", "\u{200b}ann", " a=1"] {
            assert_eq!(csv_cell(name), name);
        }
    }
}
