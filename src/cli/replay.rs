//! `evenkeel replay-decision`: makes a stored decision again.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Args;
use serde_json::json;

use super::{CliError, CommonArgs, open, print_json, table::printable};

/// Make a stored decision again, and compare the answers
///
/// Decisions of running games (BALANCE, PLACE, ADVANTAGE, REBALANCE, auto-balance) are stored with
/// all of their input. The table `decisions` lists them. The exit code is 1 if the answer
/// differs.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// The id of the decision
    #[arg(value_name = "ID")]
    id: i64,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: ReplayArgs) -> Result<ExitCode, CliError> {
    let config = args.common.load()?;
    let service = open(&config, false).await?;
    let replayed = service.sessions().replay(args.id).await?;
    service.close().await;
    let missing = || {
        CliError::input(format!(
            "there is no decision {}, or it has been deleted",
            args.id
        ))
    };
    let replayed = replayed.ok_or_else(missing)?;
    let (code, what) = match (replayed.same, replayed.cut_short) {
        (true, _) => (ExitCode::SUCCESS, "the same answer"),
        (false, true) => (
            ExitCode::FAILURE,
            "a different answer; the stored one ran out of time before it was exact",
        ),
        (false, false) => (ExitCode::FAILURE, "a different answer"),
    };
    if args.json {
        print_json(&json!({
            "decision": args.id,
            "kind": replayed.kind,
            "server": replayed.server,
            "at": replayed.made_at.to_string(),
            "seed": replayed.seed,
            "same": replayed.same,
            "cut_short": replayed.cut_short,
            "why": replayed.why,
        }))?;
        return Ok(code);
    }
    let mut out = io::stdout().lock();
    let of = match replayed.server.as_str() {
        "" => String::new(),
        server => format!(" of {}", printable(server)),
    };
    writeln!(
        out,
        "decision {}: {}{of} at {}, seed {}: {what}",
        args.id, replayed.kind, replayed.made_at, replayed.seed
    )?;
    for line in &replayed.why {
        writeln!(out, "{}", printable(line))?;
    }
    Ok(code)
}
