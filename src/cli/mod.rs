//! The command line: one file per subcommand. A command reads its configuration, opens what it
//! needs, calls the other rooms and prints the result; it contains no decisions of its own.

#![allow(
    clippy::disallowed_methods,
    reason = "commands report how long they take, and have no other clock"
)]

mod backup;
mod balance;
mod check;
mod config;
mod config_file;
mod config_show;
mod csv_cell;
mod demo;
mod error;
mod evaluate;
mod export;
mod follow;
mod hosting;
mod identity;
mod import;
mod ingest;
mod json;
mod manual;
mod match_chances;
mod match_list;
mod match_show;
mod matches;
mod migrate_store;
mod output_file;
mod player;
mod progress;
mod queue;
mod quoted;
mod rebuild;
mod replay;
mod serve;
mod sidecar;
mod simulate;
mod status;
mod table;
mod token;
mod webhook;
mod weights;

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Parser, Subcommand};
use rand::{TryRng, rngs::SysRng};

use crate::{
    config::{Config, LogFormat, LogSection},
    daemon,
    logs::Archive,
    server::Service,
};

use config_file::load_config;
use error::CliError;
use json::{print_json, print_json_line};
use output_file::OutputFile;

/// Pick even teams for any multiplayer game server, with weights learned from finished games
#[derive(Debug, Parser)]
#[command(name = "evenkeel", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Serve(serve::ServeArgs),
    Ingest(ingest::IngestArgs),
    Follow(follow::FollowArgs),
    Export(export::ExportArgs),
    Balance(Box<balance::BalanceArgs>),
    Weights(weights::WeightsArgs),
    Rebuild(rebuild::RebuildArgs),
    Backup(backup::BackupArgs),
    Check(check::CheckArgs),
    MigrateStore(migrate_store::MigrateStoreArgs),
    Status(status::DaemonStatusArgs),
    Evaluate(evaluate::EvaluateArgs),
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
    Token(token::TokenArgs),
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

fn dispatch(command: Command) -> Result<ExitCode, CliError> {
    let done = |()| ExitCode::SUCCESS;
    match command {
        Command::Balance(args) => balance::run(&args).map(done),
        Command::Config(args) => config::run(&args).map(done),
        Command::Man(args) => manual::man(&args).map(done),
        Command::Completions(args) => manual::completions(&args).map(done),
        Command::Token(args) => token::run(&args).map(done),
        Command::Queue(args) => queue::run(&args),
        Command::Webhook(args) => webhook::run(&args),
        Command::Hosting(args) => block_on(hosting::run(args)).map(done),
        Command::Demo(args) => block_on(demo::run(args)),
        Command::Serve(args) => block_on(serve::run(args)).map(done),
        Command::Ingest(args) => block_on(ingest::run(args)),
        Command::Follow(args) => block_on(follow::run(args)).map(done),
        Command::Export(args) => block_on(export::run(args)).map(done),
        Command::Weights(args) => block_on(weights::run(args)).map(done),
        Command::Backup(args) => block_on(backup::run(args)).map(done),
        Command::Status(args) => status::run(&args),
        Command::Check(args) => block_on(check::run(args)).map(done),
        Command::MigrateStore(args) => block_on(migrate_store::run(args)).map(done),
        Command::Rebuild(args) => block_on(rebuild::run(args)).map(done),
        Command::Evaluate(args) => block_on(evaluate::run(args)).map(done),
        Command::Match(args) => block_on(matches::run(args)).map(done),
        Command::Player(args) => block_on(player::run(args)).map(done),
        Command::Sidecar(args) => block_on(sidecar::run(args)).map(done),
        Command::ReplayDecision(args) => block_on(replay::run(args)),
        Command::Simulate(args) => block_on(simulate::run(args)).map(done),
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
        LogFormat::Json => lines.json().with_ansi(false).init(),
    }
    Ok(())
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
    let mut bytes = [0; N];
    let filled = SysRng.try_fill_bytes(&mut bytes);
    filled.map_err(|error| CliError::failed(format!("no random numbers: {error}")))?;
    Ok(bytes)
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
