//! `evenkeel match show`: one stored match.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::{
    CliError, CommonArgs, match_chances,
    match_list::ListedMatch,
    open, print_json,
    table::{Table, printable},
};
use crate::{
    model::{ChanceSummary, Kind, MatchRecord, Outcome, Participant, TeamChange, score_text},
    store::PageMatch,
};

/// Show who played in a match, how it ended, and whether it is rated
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
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
pub(super) fn parse_id(text: &str) -> Result<i64, String> {
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
    line: ListedMatch,
    game_type: &'a str,
    /// Which client has brought it; empty if it is not known.
    client: &'a str,
    mutators: &'a [String],
    /// Whether it is rated; `None` if no weights have been derived from it yet.
    rated: Option<bool>,
    players: Vec<ShownPlayer<'a>>,
    chances: &'a ChanceSummary,
    /// The changes of the teams during play; `who` is the place in `players`.
    changes: &'a [TeamChange],
}

/// A player of the match.
#[derive(Debug, Serialize)]
struct ShownPlayer<'a> {
    kind: &'static str,
    name: &'a str,
    id: &'a str,
    /// The teams that the player was on, in order.
    teams: Vec<u8>,
    minutes: f64,
    points: Option<f64>,
    kills: u32,
    deaths: u32,
    /// `won`, `lost`, `draw` or `abandoned`, for the team that the player was on for longest; or empty.
    outcome: &'static str,
}

pub(super) async fn run(args: &ShowArgs) -> Result<(), CliError> {
    let id = args.id;
    let service = open(&args.common.load()?, false).await?;
    let stored = service.store().matches().match_with_id(id).await?;
    let record = stored.ok_or_else(|| unknown(id))?.record;
    let ruling = service.store().learned().rulings(&[id]).await?.pop();
    let told = service.store().matches().page_match(id).await?;
    let told = told.ok_or_else(|| unknown(id))?;
    service.close().await;
    match args.json {
        true => print_match(&told, &record, ruling),
        false => Ok(write_text(
            &mut io::stdout().lock(),
            &told,
            &record,
            ruling,
        )?),
    }
}

fn print_match(
    told: &PageMatch,
    record: &MatchRecord,
    ruling: Option<Option<String>>,
) -> Result<(), CliError> {
    let player = |one| ShownPlayer::new(record, one);
    print_json(&ShownMatch {
        line: told.line.clone().into(),
        game_type: &record.game_type,
        client: &record.client,
        mutators: &record.mutators,
        rated: ruling.map(|unrated| unrated.is_none()),
        players: record.participants.iter().map(player).collect(),
        chances: &told.line.chances,
        changes: &told.changes,
    })
}

impl<'a> ShownPlayer<'a> {
    fn new(record: &MatchRecord, participant: &'a Participant) -> Self {
        Self {
            kind: participant.key.kind.as_str(),
            name: &participant.name,
            id: &participant.key.id,
            teams: teams(record, participant),
            minutes: minutes(participant),
            points: participant.points,
            kills: participant.kills,
            deaths: participant.deaths,
            outcome: own_outcome(record.outcome, participant),
        }
    }
}

fn write_text(
    out: &mut impl Write,
    told: &PageMatch,
    record: &MatchRecord,
    ruling: Option<Option<String>>,
) -> io::Result<()> {
    let id = told.line.id;
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
    match_chances::write(out, told, record)
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
