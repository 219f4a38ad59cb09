//! `evenkeel player suspects`: players who are perhaps another account of a known player.

use clap::Args;
use serde::Serialize;

use super::CommonArgs;
use crate::{
    cli::{CliError, print_json, table::Table},
    rating::history::{SUSPECT_THRESHOLD, Suspect},
    server::Service,
};

/// The arguments of `player suspects`.
#[derive(Debug, Args)]
pub(super) struct SuspectsArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// One suspect. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct SuspectLine {
    ruleset: String,
    name: String,
    id: String,
    weight: f64,
    games: u32,
    statistic: f64,
    reason: String,
}

impl From<Suspect> for SuspectLine {
    fn from(suspect: Suspect) -> Self {
        let Suspect {
            games, statistic, ..
        } = suspect;
        Self {
            ruleset: suspect.ruleset.to_string(),
            name: suspect.name,
            id: suspect.key.id,
            weight: suspect.weight,
            games,
            statistic,
            reason: format!(
                "{statistic:.1} deviations above what newcomers show in {games} matches; \
                 {SUSPECT_THRESHOLD:.1} are listed"
            ),
        }
    }
}

/// Prints the suspects, the most striking of each ruleset first.
pub(super) async fn run(args: &SuspectsArgs, service: &Service) -> Result<(), CliError> {
    let suspects = service.learning().suspects().await?;
    let lines: Vec<SuspectLine> = suspects.into_iter().map(SuspectLine::from).collect();
    if args.json {
        return print_json(&lines);
    }
    let none = "no player with few matches plays far above a newcomer";
    Table::of(&lines)
        .text("ruleset", |line| &line.ruleset)
        .text("name", |line| &line.name)
        .text("id", |line| &line.id)
        .num("weight", |line| format!("{:.3}", line.weight))
        .num("games", |line| line.games)
        .text("reason", |line| &line.reason)
        .print_or(none)
}
