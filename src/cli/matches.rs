//! `evenkeel match`: lists stored matches, shows one with what was predicted of its teams, and decides whether
//! matches count.

use std::{
    io::{self, Write},
    net::IpAddr,
};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::{
    CliError, CommonArgs,
    identity::named,
    ingest::parse_date,
    name_or_id, open, print_json,
    table::{Table, or_dash, printable},
};
use crate::{
    model::{
        Kind, MatchRecord, Outcome, Participant, Timestamp,
        access::Holder,
        match_chances::{TeamChange, versus},
        names::plain_name,
        record::score_text,
        text::counted,
    },
    server::{Service, access::AddressKey},
    store::{MatchLine, MatchSeat, PageMatch, Player},
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
    Show(ShowMatchArgs),
    /// Make matches void: those with these ids, all of a player who cheated, or all of a client that lied
    Void(SelectionArgs),
    /// Let void matches count again
    Unvoid(SelectionArgs),
    /// Let matches count that are not rated because their client brought too many new rulesets or players
    Admit(AdmitArgs),
}

#[derive(Debug, Args)]
struct AdmitArgs {
    /// Those of this client, by its name in [[clients]]
    #[arg(
        long,
        value_name = "NAME",
        required_unless_present = "address",
        conflicts_with = "address"
    )]
    client: Option<String>,
    /// Those that came from this address, without a client
    #[arg(long, value_name = "ADDRESS")]
    address: Option<IpAddr>,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Debug, Args)]
struct SelectionArgs {
    /// The ids of the matches
    #[arg(value_name = "N", value_parser = parse_id)]
    ids: Vec<i64>,
    /// All matches of this player, under all identities that count as theirs. PLAYER is an identity, a handle, or a
    /// name that only one player has
    #[arg(long, value_name = "PLAYER", group = "whose", conflicts_with = "ids")]
    player: Option<String>,
    /// All matches that this client has brought, by the name that `match show` states, whatever server they name. A NAME
    /// that ends with * stands for all that begin like it
    #[arg(long, value_name = "NAME", group = "whose", conflicts_with_all = ["ids", "player"])]
    client: Option<String>,
    /// Only the player's matches that ended on this date or later, or the client's that came then, as 2026-11-20 or
    /// 2026-11-20T15:30:00, UTC
    #[arg(long, value_name = "DATE", requires = "whose", conflicts_with = "ids", value_parser = parse_date)]
    from: Option<Timestamp>,
    /// The player is a bot
    #[arg(long, requires = "player", conflicts_with = "ids")]
    bot: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run(args: MatchArgs) -> Result<(), CliError> {
    match &args.command {
        MatchCommand::List(args) => run_match_list(args).await,
        MatchCommand::Show(args) => run_match_show(args).await,
        MatchCommand::Void(selection) => set_void(selection, true).await,
        MatchCommand::Unvoid(selection) => set_void(selection, false).await,
        MatchCommand::Admit(args) => admit(args).await,
    }
}

async fn admit(args: &AdmitArgs) -> Result<(), CliError> {
    let address = args.address.map(|address| AddressKey::of(address).ip());
    let client = args
        .client
        .as_deref()
        .map(|name| Holder::Client(name.into()));
    let Some(owner) = client.or(address.map(Holder::Address)) else {
        return Err(CliError::usage("whose matches? Give --client or --address"));
    };
    let service = open(&args.common.load()?, false).await?;
    let corrections = service.store().corrections();
    let admitted = corrections.admit(&owner).await?;
    if admitted == 0 {
        let held = corrections.held_back().await?;
        service.close().await;
        let held = held.iter().map(|(owner, count)| {
            let (owner, matches) = (owner.to_string(), counted(count.unsigned_abs(), "match"));
            format!("{} ({matches})", printable(&owner))
        });
        let held: Vec<String> = held.collect();
        let others = match held.is_empty() {
            true => "no match is".to_owned(),
            false => format!("only those of {} are", held.join(", ")),
        };
        let owner = owner.to_string();
        let owner = printable(&owner);
        return Err(CliError::input(format!(
            "no match of {owner} is held back as too-many-new; {others}"
        )));
    }
    service.learning().refresh().await?;
    service.close().await;
    let are = if admitted == 1 { "counts" } else { "count" };
    writeln!(io::stdout(), "{} {are} now", counted(admitted, "match"))?;
    Ok(())
}

async fn set_void(selection: &SelectionArgs, void: bool) -> Result<(), CliError> {
    if selection.ids.is_empty() && selection.player.is_none() && selection.client.is_none() {
        let why = "which matches? Give their numbers, --player and the identity of a player, or --client and its name";
        return Err(CliError::usage(why));
    }
    let service = open(&selection.common.load()?, false).await?;
    let ids = select(&service, selection).await?;
    let mut changed = 0;
    // A match that ends meanwhile does not wait for all of them.
    for some in ids.chunks(AT_A_TIME) {
        changed += service.store().corrections().set_void(some, void).await?;
    }
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

/// How many matches become void in one transaction.
const AT_A_TIME: usize = 1_000;

/// The ids of the selected matches, each once.
async fn select(service: &Service, selection: &SelectionArgs) -> Result<Vec<i64>, CliError> {
    if let Some(client) = &selection.client {
        let since = selection.from.unwrap_or(Timestamp(i64::MIN));
        let ids = service.store().matches().brought_by(client, since).await?;
        return match ids.is_empty() {
            true => Err(CliError::input(format!(
                "client {} has brought no match{}",
                printable(client),
                since_when(selection.from, "came")
            ))),
            false => Ok(ids),
        };
    }
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
        let since = since_when(selection.from, "ended");
        return Err(CliError::input(format!(
            "{kind} {player} has played in none of the matches{since}"
        )));
    }
    Ok(ids)
}

fn since_when(from: Option<Timestamp>, what: &str) -> String {
    from.map_or(String::new(), |from| {
        format!(" that {what} on {from} or later")
    })
}

/// Writes the forecast, and the chances as picked, as started, and after each change of the teams.
pub(super) fn write_chances(
    out: &mut impl Write,
    shown: &PageMatch,
    record: &MatchRecord,
) -> io::Result<()> {
    if let Some(forecast) = shown.line.forecast.filter(|_| record.scores.len() == 2) {
        writeln!(
            out,
            "forecast: team 0 wins with {}, with everybody who played, each for as long as they did",
            percent(forecast)
        )?;
    }
    let summary = &shown.line.chances;
    let picked = summary
        .picked
        .iter()
        .map(|teams| (None, "as picked".to_owned(), teams));
    let started = summary
        .started
        .iter()
        .map(|teams| (Some(0), "as started".to_owned(), teams));
    let changes = shown.changes.iter();
    let changes =
        changes.map(|change| (Some(change.at), chance_text(change, record), &change.teams));
    let rows: Vec<_> = picked.chain(started).chain(changes).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let teams = rows
        .iter()
        .map(|(.., of)| of.win.len().max(of.humans.len()));
    let teams = teams.max().unwrap_or(0);
    let minutes = |at: Option<u64>| at.map(|at| format!("{:.1}", at as f64 / 60_000.0));
    let mut table = Table::of(&rows)
        .num("minutes", |(at, ..)| minutes(*at).unwrap_or_default())
        .text("teams", |(_, text, _)| text)
        .num("players", |(.., of)| of.sizes())
        .num("bots", |(.., of)| versus(&of.bots));
    for team in 0..teams {
        table = table.num(&format!("team {team}"), |(.., of)| {
            of.win
                .get(team)
                .map_or(String::new(), |&chance| percent(chance))
        });
    }
    writeln!(out, "{table}")
}

/// A change in words.
fn chance_text(change: &TeamChange, record: &MatchRecord) -> String {
    let who = change
        .who
        .and_then(|who| record.participants.get(who as usize));
    let name = who.map_or_else(|| "a player".to_owned(), |who| who.name.clone());
    match change.words() {
        (Some(before), after) => format!("{before}{name}{after}"),
        (None, all) => all,
    }
}

fn percent(chance: f64) -> String {
    format!("{:.1} %", 100.0 * chance)
}

/// How many matches of a player are read at a time.
const READ: usize = 500;

/// The arguments of `match list`.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only matches of this ruleset, as `evenkeel weights` prints it
    #[arg(long, value_name = "RULESET")]
    game: Option<String>,
    /// Only matches of this player: an identity, a handle, or a name that only one player has
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// The player is a bot
    #[arg(long, requires = "player")]
    bot: bool,
    /// The most matches to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    limit: u16,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// Prints the matches, the last one first.
async fn run_match_list(args: &ListArgs) -> Result<(), CliError> {
    let service = open(&args.common.load()?, false).await?;
    let game = args.game.as_deref();
    let latest = match &args.player {
        Some(player) => of_player(args, player, &service).await?,
        None => {
            service
                .store()
                .matches()
                .latest_matches(game, args.limit.into())
                .await?
        }
    };
    service.close().await;
    if args.json {
        return print_json(&latest);
    }
    let of = args.game.as_deref().map(printable);
    let of = of.map_or(String::new(), |game| format!(" of {game}"));
    let none = format!("there is no match{of}");
    let scores = |line: &MatchLine| score_text(&line.scores);
    Table::of(&latest)
        .num("id", |line| line.id)
        .text("ended (UTC)", |line| line.ended)
        .num("minutes", |line| format!("{:.1}", line.minutes()))
        .text("ruleset", |line| or_dash(line.ruleset.as_ref()))
        .text("map", |line| plain_name(&line.map))
        .text("server", |line| plain_name(&line.server))
        .num("humans", |line| line.humans)
        .num("bots", |line| line.bots)
        .text("score", scores)
        .text("rated", |line| line.unrated.as_deref().unwrap_or("yes"))
        .print_or(&none)
}

/// The latest matches of a player.
async fn of_player(
    args: &ListArgs,
    player: &str,
    service: &Service,
) -> Result<Vec<MatchLine>, CliError> {
    let kind = if args.bot { Kind::Bot } else { Kind::Human };
    let key = named(service, kind, player).await?;
    let store = service.store();
    let ids = store
        .matches()
        .matches_of(&key, Timestamp(i64::MIN))
        .await?;
    let most = usize::from(args.limit);
    let wanted = |line: &MatchLine| args.game.is_none() || line.ruleset == args.game;
    let mut latest = Vec::new();
    for some in ids.rchunks(READ) {
        let lines = store.matches().match_lines(some).await?.into_iter().rev();
        latest.extend(lines.filter(wanted));
        if latest.len() >= most {
            break;
        }
    }
    latest.truncate(most);
    Ok(latest)
}

/// Show who played in a match, how it ended, and whether it is rated
#[derive(Debug, Args)]
pub(super) struct ShowMatchArgs {
    /// The id of the match, as END replies it and the views list it
    #[arg(value_name = "N", value_parser = parse_id)]
    id: i64,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// Reads the number of a match.
fn parse_id(text: &str) -> Result<i64, String> {
    let id = text.parse().ok().filter(|id| *id > 0);
    id.ok_or_else(|| "expected the number of a match".to_owned())
}

/// There is no such match.
pub(super) fn unknown(id: i64) -> CliError {
    CliError::input(format!("there is no match {id}"))
}

/// A match with its parts. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct ShownMatch<'a> {
    #[serde(flatten)]
    line: &'a MatchLine,
    game_type: &'a str,
    /// Which client has brought it; empty if it is not known.
    client: &'a str,
    mutators: &'a [String],
    /// Whether it is rated; `None` if no weights have been derived from it yet.
    rated: Option<bool>,
    players: Vec<ShownPlayer>,
    /// The changes of the teams during play; `who` is the place in `players`.
    changes: &'a [TeamChange],
}

/// A player of the match.
#[derive(Debug, Serialize)]
struct ShownPlayer {
    #[serde(flatten)]
    seat: MatchSeat,
    /// `won`, `lost`, `draw` or `abandoned`, for the team that the player was on for longest; or empty.
    outcome: &'static str,
}

async fn run_match_show(args: &ShowMatchArgs) -> Result<(), CliError> {
    let id = args.id;
    let service = open(&args.common.load()?, false).await?;
    let stored = service.store().matches().match_with_id(id).await?;
    let record = stored.ok_or_else(|| unknown(id))?.record;
    let ruling = service.store().learned().rulings(&[id]).await?.pop();
    let shown = service.store().matches().page_match(id).await?;
    let shown = shown.ok_or_else(|| unknown(id))?;
    service.close().await;
    match args.json {
        true => print_match(&shown, &record, ruling),
        false => Ok(write_text(
            &mut io::stdout().lock(),
            &shown,
            &record,
            ruling,
        )?),
    }
}

fn print_match(
    shown: &PageMatch,
    record: &MatchRecord,
    ruling: Option<Option<String>>,
) -> Result<(), CliError> {
    let player = |one| ShownPlayer::new(record, one);
    print_json(&ShownMatch {
        line: &shown.line,
        game_type: &record.game_type,
        client: &record.client,
        mutators: &record.mutators,
        rated: ruling.map(|unrated| unrated.is_none()),
        players: record.participants.iter().map(player).collect(),
        changes: &shown.changes,
    })
}

impl ShownPlayer {
    fn new(record: &MatchRecord, participant: &Participant) -> Self {
        let key = &participant.key;
        let name = name_or_id(&participant.name, &key.id).to_owned();
        let player = Player {
            id: Some(key.id.clone()),
            ..Player::new(None, Some(name), key.kind)
        };
        Self {
            seat: MatchSeat::new(player, participant),
            outcome: own_outcome(record.outcome, participant),
        }
    }
}

fn write_text(
    out: &mut impl Write,
    shown: &PageMatch,
    record: &MatchRecord,
    ruling: Option<Option<String>>,
) -> io::Result<()> {
    let id = shown.line.id;
    let lasted = record.millis() as f64 / 60_000.0;
    let server = match record.server.as_str() {
        "" => "an unnamed server".to_owned(),
        name => printable(name),
    };
    writeln!(
        out,
        "match {id}: {} on {}, {server}, {} (UTC), {lasted:.1} minutes",
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
    if !record.client.is_empty() {
        writeln!(out, "brought by {}", printable(&record.client))?;
    }
    let outcome = word(record.outcome);
    match (record.has_teams(), record.unscored) {
        (false, _) => writeln!(out, "no teams, {outcome}")?,
        (true, true) => writeln!(out, "no scores, {outcome}")?,
        (true, false) => writeln!(out, "{}, {outcome}", score_text(&record.known_scores()))?,
    }
    match ruling {
        None => writeln!(out, "no weights have been derived from it yet")?,
        Some(None) => writeln!(out, "rated")?,
        Some(Some(reason)) => writeln!(out, "not rated: {reason}")?,
    }
    let on = |one: &Participant| {
        let teams: Vec<String> = teams(record, one).iter().map(u8::to_string).collect();
        teams.join(" ")
    };
    let id = |one: &Participant| match one.key.kind {
        Kind::Human => one.key.id.clone(),
        Kind::Bot => "bot".to_owned(),
    };
    let players = Table::of(&record.participants)
        .text("team", on)
        .text("name", |one| &one.name)
        .text("id", id)
        .num("minutes", |one| format!("{:.1}", minutes(one)))
        .num("points", |one| {
            one.points.map_or(String::new(), |p| p.to_string())
        })
        .num("kills", |one| one.kills)
        .num("deaths", |one| one.deaths)
        .text("outcome", |one| own_outcome(record.outcome, one));
    writeln!(out, "{players}")?;
    write_chances(out, shown, record)
}

fn word(outcome: Outcome) -> String {
    match outcome {
        Outcome::Won(team) => format!("team {team} won"),
        Outcome::Draw => "a draw".to_owned(),
        Outcome::Undecided => "undecided".to_owned(),
        Outcome::Abandoned => "abandoned".to_owned(),
    }
}

/// The teams that a participant was on, in order.
fn teams(record: &MatchRecord, participant: &Participant) -> Vec<u8> {
    let stays = participant.presence.iter().filter(|_| record.has_teams());
    let mut teams: Vec<u8> = stays.map(|stay| stay.team).collect();
    teams.dedup();
    teams
}

/// How long a participant played.
fn minutes(participant: &Participant) -> f64 {
    participant.millis() as f64 / 60_000.0
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
    match participant.main_team() {
        None => "",
        Some(team) if team == winner => "won",
        Some(_) => "lost",
    }
}
