//! `evenkeel player find`: players by a part of a name or identity, and the one player whom a text names.

use std::io::{self, Write};

use clap::Args;
use comfy_table::Cell;
use serde::Serialize;

use super::has_matches;
use crate::{
    cli::{
        CliError, CommonArgs,
        table::{name_cell, printable, table},
    },
    domain::{Kind, PlayerKey, plain_name},
    service::Service,
    store::FoundPlayer,
};

/// Of players with the same name, this many are named in an error.
const NAMED: i64 = 20;

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
    let found = store.find_players(&args.text, kind, args.limit).await?;
    let lines: Vec<FoundLine> = found.into_iter().map(FoundLine::from).collect();
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &lines)?;
        writeln!(out)?;
        return Ok(());
    }
    if lines.is_empty() {
        let text = printable(&args.text);
        writeln!(out, "no player has \"{text}\" in a name or identity")?;
        return Ok(());
    }
    let mut players = table(&["name", "", "handle", "id", ">rated matches", "last seen"]);
    for line in &lines {
        players.add_row([
            name_cell(&plain_name(&line.name)),
            Cell::new(line.kind),
            name_cell(line.handle.as_deref().unwrap_or("-")),
            name_cell(&line.id),
            Cell::new(line.games),
            Cell::new(line.last_seen.as_deref().unwrap_or("-")),
        ]);
    }
    writeln!(out, "{players}")?;
    Ok(())
}

/// The player whom a text names: by the identity, else by the handle or the latest name, if only one has it. A text that
/// names nobody is taken as an identity.
pub(super) async fn named(service: &Service, key: PlayerKey) -> Result<PlayerKey, CliError> {
    if has_matches(service, &key).await? {
        return Ok(key);
    }
    let found = service.store().find_players(&key.id, Some(key.kind), NAMED);
    let name = plain_name(&key.id).to_lowercase();
    let is_named = |one: &FoundPlayer| {
        let has_name = plain_name(&one.name).to_lowercase() == name;
        has_name || one.handle.as_ref() == Some(&key.id)
    };
    let named: Vec<FoundPlayer> = found.await?.into_iter().filter(is_named).collect();
    match &named[..] {
        [] => Ok(key),
        [one] => Ok(one.key.clone()),
        several => {
            let ids = several.iter().map(|one| printable(&one.key.id));
            let ids: Vec<String> = ids.collect();
            Err(CliError::Input(format!(
                "{} players are called {}: give one of the identities {}",
                ids.len(),
                printable(&key.id),
                ids.join(", ")
            )))
        }
    }
}
