//! `evenkeel match`: lists and shows stored matches, and decides whether matches count.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use comfy_table::Cell;

use super::{
    CliError, CommonArgs,
    ingest::parse_date,
    match_chances,
    match_list::{self, ListArgs},
    open,
    table::{name_cell, printable, table},
};
use crate::{
    domain::{Kind, MatchRecord, Outcome, Participant, PlayerKey, Timestamp, counted},
    service::Service,
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
    Show {
        /// The id of the match, as END replies it and the views list it
        #[arg(value_name = "N", value_parser = parse_id)]
        id: i64,
        #[command(flatten)]
        common: CommonArgs,
    },
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
    /// All matches of the player with this identity, and of the identities that count as theirs
    #[arg(long, value_name = "ID", conflicts_with = "ids")]
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
        MatchCommand::Show { id, common } => {
            let service = open(&common.load()?, false).await?;
            show(&service, *id).await?;
            service.close().await;
            Ok(())
        }
        MatchCommand::Void(selection) => set_void(selection, true).await,
        MatchCommand::Unvoid(selection) => set_void(selection, false).await,
    }
}

fn parse_id(text: &str) -> Result<i64, String> {
    let id = text.parse().ok().filter(|id| *id > 0);
    id.ok_or_else(|| "expected the number of a match".to_owned())
}

fn unknown(id: i64) -> CliError {
    CliError::Input(format!("there is no match {id}"))
}

async fn set_void(selection: &SelectionArgs, void: bool) -> Result<(), CliError> {
    if selection.ids.is_empty() && selection.player.is_none() {
        let why = "which matches? Give their numbers, or --player and the identity of a player";
        return Err(CliError::Usage(why.to_owned()));
    }
    let service = open(&selection.common.load()?, false).await?;
    let ids = select(&service, selection).await?;
    let changed = service.store().set_void(&ids, void).await?;
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
            if service.store().start_of(id).await?.is_none() {
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
    let key = PlayerKey {
        kind,
        id: player.clone(),
    };
    let since = selection.from.unwrap_or(Timestamp(i64::MIN));
    let ids = service.store().matches_of(&key, since).await?;
    if ids.is_empty() {
        let player = printable(player);
        let since = match selection.from {
            Some(from) => format!(" that ended on {from} or later"),
            None => String::new(),
        };
        return Err(CliError::Input(format!(
            "{kind} {player} has played in none of the matches{since}"
        )));
    }
    Ok(ids)
}

async fn show(service: &Service, id: i64) -> Result<(), CliError> {
    let stored = service.store().match_with_id(id).await?;
    let record = stored.ok_or_else(|| unknown(id))?.record;
    let ruling = service.store().rulings(&[id]).await?.pop();
    let told = service.store().page_match(id).await?;
    let mut out = io::stdout().lock();
    let minutes = record.millis() as f64 / 60_000.0;
    let server = match record.server.as_str() {
        "" => "an unnamed server".to_owned(),
        name => printable(name),
    };
    writeln!(
        out,
        "match {id}: {} on {}, {server}, {} (UTC), {minutes:.1} minutes",
        printable(&record.game_type),
        match record.map.as_str() {
            "" => "an unnamed map".to_owned(),
            map => printable(map),
        },
        record.start
    )?;
    if !record.mutators.is_empty() {
        writeln!(out, "mutators: {}", printable(&record.mutators.join(", ")))?;
    }
    let scores: Vec<String> = record.scores.iter().map(f64::to_string).collect();
    match (record.outcome, scores.is_empty()) {
        (outcome, true) => writeln!(out, "no teams, {}", word(outcome))?,
        (outcome, false) => writeln!(out, "{}, {}", scores.join(":"), word(outcome))?,
    }
    match ruling {
        None => writeln!(out, "no weights have been derived from it yet")?,
        Some(None) => writeln!(out, "rated")?,
        Some(Some(reason)) => writeln!(out, "not rated: {reason}")?,
    }
    let heads = [
        "team", "name", "id", ">minutes", ">points", ">kills", ">deaths", "outcome",
    ];
    let mut players = table(&heads);
    for participant in &record.participants {
        players.add_row(cells(&record, participant));
    }
    writeln!(out, "{players}")?;
    if let Some(told) = &told {
        match_chances::write(&mut out, told, &record)?;
    }
    Ok(())
}

fn word(outcome: Outcome) -> String {
    match outcome {
        Outcome::Won(team) => format!("team {team} won"),
        Outcome::Draw => "a draw".to_owned(),
        Outcome::Undecided => "undecided".to_owned(),
        Outcome::Abandoned => "abandoned".to_owned(),
    }
}

fn cells(record: &MatchRecord, participant: &Participant) -> [Cell; 8] {
    let mut teams: Vec<String> = Vec::new();
    for stay in &participant.presence {
        let team = stay.team.to_string();
        if record.has_teams() && teams.last() != Some(&team) {
            teams.push(team);
        }
    }
    let millis: u64 = participant.presence.iter().map(|p| p.span.millis()).sum();
    let points = participant.points.map_or(String::new(), |p| p.to_string());
    let id = match participant.key.kind {
        Kind::Human => Cell::new(printable(&participant.key.id)),
        Kind::Bot => Cell::new("bot"),
    };
    [
        Cell::new(teams.join(" ")),
        name_cell(&participant.name),
        id,
        Cell::new(format!("{:.1}", millis as f64 / 60_000.0)),
        Cell::new(points),
        Cell::new(participant.kills),
        Cell::new(participant.deaths),
        Cell::new(own_outcome(record.outcome, participant)),
    ]
}

/// The outcome for one player: that of the team they were on for longest.
fn own_outcome(outcome: Outcome, participant: &Participant) -> &'static str {
    let Outcome::Won(winner) = outcome else {
        return match outcome {
            Outcome::Draw => "draw",
            Outcome::Abandoned => "abandoned",
            Outcome::Undecided | Outcome::Won(_) => "",
        };
    };
    let on = |team: u8| {
        let stays = participant.presence.iter().filter(|p| p.team == team);
        let last = stays.clone().map(|p| p.span.to).max();
        (stays.map(|p| p.span.millis()).sum::<u64>(), last)
    };
    let teams = participant.presence.iter().map(|p| p.team);
    match teams.max_by_key(|&team| on(team)) {
        None => "",
        Some(team) if team == winner => "won",
        Some(_) => "lost",
    }
}
