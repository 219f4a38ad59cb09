//! `evenkeel player find`: players by a part of a name or identity.

use clap::Args;
use serde::Serialize;

use crate::{
    cli::{
        CliError, CommonArgs, print_json,
        table::{Table, or_dash, printable},
    },
    model::{Kind, plain_name},
    server::Service,
    store::FoundPlayer,
};

/// The arguments of `player find`.
#[derive(Debug, Args)]
pub(super) struct FindArgs {
    /// A part of a name, now or before, or of an identity; or the handle of the pages
    text: String,
    /// Only bots
    #[arg(long)]
    bot: bool,
    /// The most players to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(i64).range(1..=1_000))]
    limit: i64,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// One player. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct FoundLine {
    kind: &'static str,
    name: String,
    handle: Option<String>,
    id: String,
    games: i64,
    last_seen: Option<String>,
}

impl From<FoundPlayer> for FoundLine {
    fn from(found: FoundPlayer) -> Self {
        Self {
            kind: found.key.kind.as_str(),
            name: found.name,
            handle: found.handle,
            id: found.key.id,
            games: found.games,
            last_seen: found.last_seen.map(|at| at.to_string()),
        }
    }
}

/// Prints the players who are found, those with most matches first.
pub(super) async fn run(args: &FindArgs, service: &Service) -> Result<(), CliError> {
    let kind = args.bot.then_some(Kind::Bot);
    let store = service.store();
    let found = store
        .matches()
        .find_players(&args.text, kind, args.limit)
        .await?;
    let lines: Vec<FoundLine> = found.into_iter().map(FoundLine::from).collect();
    if args.json {
        return print_json(&lines);
    }
    let text = printable(&args.text);
    let none = format!("no player has \"{text}\" in a name or identity");
    Table::of(&lines)
        .text("name", |line| plain_name(&line.name))
        .text("", |line| line.kind)
        .text("handle", |line| or_dash(line.handle.as_ref()))
        .text("id", |line| &line.id)
        .num("rated matches", |line| line.games)
        .text("last seen", |line| or_dash(line.last_seen.as_ref()))
        .print_or(&none)
}
