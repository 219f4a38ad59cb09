//! `evenkeel replay-decision`: a stored decision, taken again.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Args;

use super::{CliError, CommonArgs, open, table::printable};

/// Take a stored decision again, and say whether it comes out the same
///
/// Decisions of running games (BALANCE, PLACE, ADVANTAGE, REBALANCE, auto-balance) are stored with all
/// that they were made from. The view `decision_report` lists them. Exit code 1 when one comes out
/// otherwise.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// The decision's id
    #[arg(value_name = "ID")]
    id: i64,
}

pub(super) async fn run(args: ReplayArgs) -> Result<ExitCode, CliError> {
    let config = args.common.load()?;
    let service = open(&config, false).await?;
    let replayed = service.sessions().replay(args.id).await?;
    service.close().await;
    let missing = || CliError::Input(format!("there is no decision {}, or no longer", args.id));
    let replayed = replayed.ok_or_else(missing)?;
    let (code, what) = match (replayed.same, replayed.cut_short) {
        (true, _) => (ExitCode::SUCCESS, "the same answer"),
        (false, true) => (
            ExitCode::FAILURE,
            "another answer; there was too little time for an exact one then",
        ),
        (false, false) => (ExitCode::FAILURE, "another answer"),
    };
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
