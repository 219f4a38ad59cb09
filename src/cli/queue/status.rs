//! `evenkeel queue status`: how many tickets of the last day are in which state.

use clap::Args;
use serde_json::json;

use super::NO_QUEUE;
use crate::{
    cli::{
        CliError, CommonArgs, open, print_json,
        table::{Table, or_dash},
    },
    store::QueueRow,
};

/// The states of tickets, in the order of [`QueueRow::tickets`].
const STATES: [&str; 6] = [
    "queued",
    "proposed",
    "hosted",
    "matched",
    "cancelled",
    "expired",
];

/// Show how many tickets of the last day are in which state
#[derive(Debug, Args)]
pub(in crate::cli) struct StatusArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run(args: &StatusArgs) -> Result<(), CliError> {
    let config = args.common.load()?;
    let service = open(&config, false).await?;
    let rows = service.store().queues().queue_rows().await?;
    service.close().await;
    if args.json {
        return print_json(&rows.iter().map(row_json).collect::<Vec<_>>());
    }
    let none = match config.queue.is_empty() {
        true => NO_QUEUE,
        false => "nobody has been in a queue in the last day",
    };
    let mut table = Table::of(&rows).text("queue", |row| &row.name);
    for (at, state) in STATES.iter().enumerate() {
        table = table.num(state, |row| row.tickets[at]);
    }
    table
        .num("players waiting", |row| row.players)
        .text("oldest", |row| or_dash(row.oldest))
        .print_or(none)
}

fn row_json(row: &QueueRow) -> serde_json::Value {
    let mut line = json!({
        "queue": row.name,
        "players_waiting": row.players,
        "oldest": row.oldest.map(|at| at.to_string()),
    });
    for (state, count) in STATES.iter().zip(row.tickets) {
        line[*state] = count.into();
    }
    line
}
