//! `evenkeel match`: lists and shows stored matches, and decides whether matches count.

use std::io::{self, Write};

use clap::{Args, Subcommand};

use super::{
    CliError, CommonArgs,
    identity::named,
    ingest::parse_date,
    match_list::{self, ListArgs},
    match_show::{self, ShowArgs, parse_id, unknown},
    open,
    table::printable,
};
use crate::{
    model::{Kind, Timestamp, counted},
    server::Service,
};

/// List or show matches, or leave matches out of the weights
///
/// A void match is kept, but not rated: all weights are derived again as if it had not been played. A running
/// daemon uses the new weights within seconds.
#[derive(Debug, Args)]
pub(super) struct MatchArgs {
    #[command(subcommand)]
    command: MatchCommand,
}

#[derive(Debug, Subcommand)]
enum MatchCommand {
    /// List the latest matches, the last one first
    List(ListArgs),
    /// Show who played in a match, how it ended, and whether it is rated
    Show(ShowArgs),
    /// Make matches void: those with these ids, or all matches of a player who cheated
    Void(SelectionArgs),
    /// Let void matches count again
    Unvoid(SelectionArgs),
}

#[derive(Debug, Args)]
struct SelectionArgs {
    /// The ids of the matches
    #[arg(value_name = "N", value_parser = parse_id)]
    ids: Vec<i64>,
    /// All matches of this player, under all identities that count as theirs. PLAYER is an identity, a handle, or a
    /// name that only one player has
    #[arg(long, value_name = "PLAYER", conflicts_with = "ids")]
    player: Option<String>,
    /// Only the player's matches that ended on this date or later, as 2026-11-20 or 2026-11-20T15:30:00, UTC
    #[arg(long, value_name = "DATE", requires = "player", conflicts_with = "ids", value_parser = parse_date)]
    from: Option<Timestamp>,
    /// The player is a bot
    #[arg(long, requires = "player", conflicts_with = "ids")]
    bot: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run(args: MatchArgs) -> Result<(), CliError> {
    match &args.command {
        MatchCommand::List(args) => match_list::run(args).await,
        MatchCommand::Show(args) => match_show::run(args).await,
        MatchCommand::Void(selection) => set_void(selection, true).await,
        MatchCommand::Unvoid(selection) => set_void(selection, false).await,
    }
}

async fn set_void(selection: &SelectionArgs, void: bool) -> Result<(), CliError> {
    if selection.ids.is_empty() && selection.player.is_none() {
        let why = "which matches? Give their numbers, or --player and the identity of a player";
        return Err(CliError::usage(why));
    }
    let service = open(&selection.common.load()?, false).await?;
    let ids = select(&service, selection).await?;
    let changed = service.store().corrections().set_void(&ids, void).await?;
    service.learning().refresh().await?;
    service.close().await;
    let state = if void { "void" } else { "valid again" };
    let matches = counted(changed, "match");
    let are = if changed == 1 { "is" } else { "are" };
    let mut out = io::stdout().lock();
    writeln!(out, "{matches} {are} {state}")?;
    let same = u64::try_from(ids.len()).unwrap_or(u64::MAX) - changed;
    if same > 0 {
        let before = if void { "void" } else { "valid" };
        let were = if same == 1 { "was" } else { "were" };
        let matches = counted(same, "match");
        writeln!(out, "{matches} {were} {before} before")?;
    }
    Ok(())
}

/// The ids of the selected matches, each once.
async fn select(service: &Service, selection: &SelectionArgs) -> Result<Vec<i64>, CliError> {
    let Some(player) = &selection.player else {
        let mut ids = selection.ids.clone();
        ids.sort_unstable();
        ids.dedup();
        for &id in &ids {
            if service.store().matches().start_of(id).await?.is_none() {
                return Err(unknown(id));
            }
        }
        return Ok(ids);
    };
    let kind = if selection.bot {
        Kind::Bot
    } else {
        Kind::Human
    };
    let key = named(service, kind, player).await?;
    let since = selection.from.unwrap_or(Timestamp(i64::MIN));
    let ids = service.store().matches().matches_of(&key, since).await?;
    if ids.is_empty() {
        let player = printable(player);
        let since = match selection.from {
            Some(from) => format!(" that ended on {from} or later"),
            None => String::new(),
        };
        return Err(CliError::input(format!(
            "{kind} {player} has played in none of the matches{since}"
        )));
    }
    Ok(ids)
}
