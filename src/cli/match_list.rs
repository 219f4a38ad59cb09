//! `evenkeel match list`: the latest matches.

use std::io::{self, Write};

use clap::Args;
use comfy_table::Cell;
use serde::Serialize;

use super::{
    CliError, CommonArgs, open,
    table::{name_cell, printable, table},
};
use crate::{domain::plain_name, store::MatchLine};

/// The arguments of `match list`.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only matches of this ruleset, as `evenkeel weights` prints it
    #[arg(long, value_name = "RULESET")]
    game: Option<String>,
    /// The most matches to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(i64).range(1..=1_000))]
    limit: i64,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// One match. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct ListedMatch {
    id: i64,
    ended: String,
    minutes: f64,
    ruleset: Option<String>,
    map: String,
    server: String,
    scores: Vec<f64>,
    outcome: String,
    winner: Option<u8>,
    humans: i64,
    bots: i64,
    /// The chance of team 0, as predicted before the match was learned from.
    forecast: Option<f64>,
    /// Why it is not rated.
    unrated: Option<String>,
}

impl From<MatchLine> for ListedMatch {
    fn from(line: MatchLine) -> Self {
        let millis = line.ended.0.saturating_sub(line.started.0);
        Self {
            id: line.id,
            ended: line.ended.to_string(),
            minutes: millis as f64 / 60_000.0,
            ruleset: line.ruleset,
            map: line.map,
            server: line.server,
            scores: line.scores,
            outcome: line.outcome,
            winner: line.winner,
            humans: line.humans,
            bots: line.bots,
            forecast: line.forecast,
            unrated: line.unrated,
        }
    }
}

/// Prints the matches, the last one first.
pub(super) async fn run(args: &ListArgs) -> Result<(), CliError> {
    let service = open(&args.common.load()?, false).await?;
    let store = service.store();
    let latest = store.latest_matches(args.game.as_deref(), args.limit);
    let lines: Vec<ListedMatch> = latest.await?.into_iter().map(ListedMatch::from).collect();
    service.close().await;
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &lines)?;
        writeln!(out)?;
        return Ok(());
    }
    if lines.is_empty() {
        let of = args.game.as_deref().map(printable);
        let of = of.map_or(String::new(), |game| format!(" of {game}"));
        writeln!(out, "there is no match{of}")?;
        return Ok(());
    }
    let heads = [
        ">id",
        "ended (UTC)",
        ">minutes",
        "ruleset",
        "map",
        "server",
        ">humans",
        ">bots",
        "score",
        "rated",
    ];
    let mut matches = table(&heads);
    for line in &lines {
        let scores: Vec<String> = line.scores.iter().map(f64::to_string).collect();
        matches.add_row([
            Cell::new(line.id),
            Cell::new(&line.ended),
            Cell::new(format!("{:.1}", line.minutes)),
            name_cell(line.ruleset.as_deref().unwrap_or("-")),
            name_cell(&plain_name(&line.map)),
            name_cell(&plain_name(&line.server)),
            Cell::new(line.humans),
            Cell::new(line.bots),
            Cell::new(scores.join(":")),
            Cell::new(line.unrated.as_deref().unwrap_or("yes")),
        ]);
    }
    writeln!(out, "{matches}")?;
    Ok(())
}
