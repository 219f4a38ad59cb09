//! `evenkeel queue`: matches from a file of tickets, a check of the queues of a configuration, their
//! simulation, the state of the daemon's queues, and their matches found again.

mod check;
mod load;
mod match_tickets;
mod replay;
mod simulate;
mod status;
mod tickets;

use std::{path::Path, process::ExitCode};

use clap::{Args, Subcommand};

use super::{CliError, block_on, load_config};
use crate::matchmaking::Queue;

/// What is printed instead of an empty table.
pub(super) const NO_QUEUE: &str = "no queue is configured: see [queue] in the manual";

/// Form matches from a file of tickets, check or simulate the queues of a configuration, or show who
/// waits
#[derive(Debug, Args)]
pub(super) struct QueueArgs {
    #[command(subcommand)]
    command: QueueCommand,
}

#[derive(Debug, Subcommand)]
enum QueueCommand {
    Match(match_tickets::MatchArgs),
    Check(check::CheckArgs),
    Load(load::LoadArgs),
    Status(status::StatusArgs),
    Simulate(Box<simulate::SimulateArgs>),
    Replay(replay::ReplayArgs),
}

pub(super) fn run(args: &QueueArgs) -> Result<ExitCode, CliError> {
    match &args.command {
        QueueCommand::Match(args) => match_tickets::run(args).map(|()| ExitCode::SUCCESS),
        QueueCommand::Check(args) => check::run(args),
        QueueCommand::Replay(args) => block_on(replay::run(args)),
        QueueCommand::Load(args) => load::run(args).map(|()| ExitCode::SUCCESS),
        QueueCommand::Status(args) => block_on(status::run(args)).map(|()| ExitCode::SUCCESS),
        QueueCommand::Simulate(args) => simulate::run(args).map(|()| ExitCode::SUCCESS),
    }
}

/// The queue of this name in a configuration file.
fn configured(file: &Path, name: &str) -> Result<Queue, CliError> {
    let settings = load_config(file)?.queue.remove(name);
    let none = || CliError::input(format!("{}: no queue {name}", file.display()));
    Queue::new(name, settings.ok_or_else(none)?).map_err(CliError::input)
}
