//! `evenkeel queue replay`: finds a match of the queue again.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{Args, value_parser};
use serde_json::json;

use super::match_tickets::line;
use crate::{
    cli::{CliError, CommonArgs, open, print_json, table::printable},
    queues::{Threads, replay},
};

/// Find a match of the queue again, in the tickets that waited then
///
/// The daemon stores with each match what its search saw: the tickets, their waits, what was known of
/// the players, the configuration of the queue and the seed. Prints the match as `queue match` does, then
/// what each rule finds in it. The exit code is 1 if the search finds other teams, another mode or another map.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// The id of the match, as in MATCHED
    #[arg(value_name = "MATCH")]
    id: i64,
    /// Search on N threads; this changes nothing but the time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &ReplayArgs) -> Result<ExitCode, CliError> {
    let config = args.common.load()?;
    let service = open(&config, false).await?;
    let found = service.store().queues().formed_match(args.id).await;
    service.close().await;
    let missing = || {
        let why = "there is no such match of the queue, or a day has passed since";
        CliError::input(format!("{}: {why}", args.id))
    };
    let found = found?.ok_or_else(missing)?;
    let now = config.queue.get(&found.formed.queue);
    let replayed = replay(&found, now, Threads(args.threads.into()))
        .map_err(|why| CliError::input(format!("match {}: {why}", args.id)))?;
    let planned = replayed.found.as_ref();
    let planned = planned.map(|planned| line(args.id, planned, &replayed.tickets));
    let (code, what) = match (replayed.same_teams, replayed.same_picks) {
        (true, true) => (ExitCode::SUCCESS, "the same teams"),
        (true, false) => (ExitCode::FAILURE, "the same teams with another mode or map"),
        (false, _) => (ExitCode::FAILURE, "other teams"),
    };
    if args.json {
        print_json(&json!({
            "match": args.id,
            "queue": found.formed.queue,
            "formed": found.formed.formed_at.to_string(),
            "seed": found.formed.proposal.seed,
            "same_teams": replayed.same_teams,
            "same_picks": replayed.same_picks,
            "found": planned,
            "notes": replayed.notes,
            "why": replayed.why,
        }))?;
        return Ok(code);
    }
    let mut out = io::stdout().lock();
    if let Some(planned) = planned {
        writeln!(out, "{planned}")?;
    }
    writeln!(
        out,
        "match {} of {}, formed at {}, seed {}: {what}",
        args.id,
        printable(&found.formed.queue),
        found.formed.formed_at,
        found.formed.proposal.seed,
    )?;
    for text in replayed.notes.iter().chain(&replayed.why) {
        writeln!(out, "{}", printable(text))?;
    }
    Ok(code)
}
