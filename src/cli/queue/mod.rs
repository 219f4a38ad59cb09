//! `evenkeel queue`: matches from a file of tickets, and a check of the queues of a configuration.

mod check;
mod load;
mod match_tickets;
mod threads;
mod tickets;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::CliError;

/// Form matches from a file of tickets, or check the queues of a configuration
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
}

pub(super) fn run(args: &QueueArgs) -> Result<ExitCode, CliError> {
    match &args.command {
        QueueCommand::Match(args) => match_tickets::run(args).map(|()| ExitCode::SUCCESS),
        QueueCommand::Check(args) => check::run(args),
        QueueCommand::Load(args) => load::run(args).map(|()| ExitCode::SUCCESS),
    }
}
