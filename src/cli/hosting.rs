//! `evenkeel hosting`: instances and the matches that they host, for operators; and the agent that makes a game server
//! an instance.

use std::io::{self, Write};

use clap::{Args, Subcommand};

use super::{
    CliError, CommonArgs, open, print_json,
    queue::NO_QUEUE,
    sidecar::{AgentArgs, TeeworldsAgentArgs, run_agent, run_teeworlds_agent},
    table::{Table, or_dash, printable},
};
use crate::config::Config;

/// Show the instances and the matches that they host, or make a game server an instance
///
/// An instance is a game server that hosts matches of queues.
#[derive(Debug, Args)]
pub(super) struct HostingArgs {
    #[command(subcommand)]
    command: HostingCommand,
}

#[derive(Debug, Subcommand)]
enum HostingCommand {
    Instances(InstancesArgs),
    Matches(MatchesArgs),
    Drain(DrainArgs),
    Idtech3(Box<AgentArgs>),
    Teeworlds(Box<TeeworldsAgentArgs>),
}

/// List the instances: game servers that can host matches of queues
#[derive(Debug, Args)]
struct InstancesArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// List the matches that instances host or have hosted in the last day, the latest first
#[derive(Debug, Args)]
struct MatchesArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    /// List at most N
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    common: CommonArgs,
}

/// Send no further matches to an instance, for maintenance; those that it hosts go on
///
/// This ends when the instance has gone, or with --off.
#[derive(Debug, Args)]
struct DrainArgs {
    /// The name that the instance gives in HELLO
    #[arg(value_name = "NAME")]
    name: String,
    /// Send matches to it again
    #[arg(long)]
    off: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run(args: HostingArgs) -> Result<(), CliError> {
    match args.command {
        HostingCommand::Instances(args) => instances(&args).await,
        HostingCommand::Matches(args) => matches(&args).await,
        HostingCommand::Drain(args) => drain(&args).await,
        HostingCommand::Idtech3(args) => run_agent(*args).await,
        HostingCommand::Teeworlds(args) => run_teeworlds_agent(*args).await,
    }
}

async fn instances(args: &InstancesArgs) -> Result<(), CliError> {
    let config = args.common.load()?;
    let service = open(&config, false).await?;
    let rows = service.store().queues().instance_rows(i64::MAX).await?;
    service.close().await;
    if args.json {
        return print_json(&rows);
    }
    let none = format!("no instance has connected{}", without_queues(&config));
    Table::of(&rows)
        .text("instance", |row| &row.name)
        .text("address", |row| or_dash(row.address.as_ref()))
        .text("region", |row| or_dash(row.region.as_ref()))
        .num("used", |row| row.used)
        .num("slots", |row| row.slots)
        .num("load", |row| format!("{:.2}", row.load.unwrap_or_default()))
        .text("state", |row| &row.state)
        .print_or(&none)
}

/// That there are no queues either, if there are none.
fn without_queues(config: &Config) -> String {
    match config.queue.is_empty() {
        true => format!(", and {NO_QUEUE}"),
        false => String::new(),
    }
}

async fn drain(args: &DrainArgs) -> Result<(), CliError> {
    let name = &args.name;
    let service = open(&args.common.load()?, false).await?;
    let known = service
        .store()
        .queues()
        .set_draining(name, !args.off)
        .await?;
    service.close().await;
    if !known {
        let name = printable(name);
        return Err(CliError::input(format!("there is no instance {name}")));
    }
    let what = match args.off {
        true => "gets matches again",
        false => "gets no further matches",
    };
    writeln!(io::stdout().lock(), "{} {what}", printable(name))?;
    Ok(())
}

async fn matches(args: &MatchesArgs) -> Result<(), CliError> {
    let config = args.common.load()?;
    let service = open(&config, false).await?;
    let rows = service.store().queues().hosted_rows(args.limit).await?;
    service.close().await;
    if args.json {
        return print_json(&rows);
    }
    let none = "no instance has hosted a match in the last day";
    let none = format!("{none}{}", without_queues(&config));
    Table::of(&rows)
        .num("match", |row| row.id)
        .text("queue", |row| &row.queue)
        .text("state", |row| &row.state)
        .text("since", |row| row.since)
        .text("instance", |row| or_dash(row.instance.as_ref()))
        .num("tries", |row| row.tries.unwrap_or_default())
        .num("players", |row| row.players)
        .text("why", |row| row.why.as_deref().unwrap_or_default())
        .text("outcome", |row| or_dash(row.outcome.as_ref()))
        .print_or(&none)
}
