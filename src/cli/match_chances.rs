//! What was predicted of the teams of a match, for `evenkeel match show`.

use std::io::{self, Write};

use super::table::Table;
use crate::{
    model::{MatchRecord, TeamChange, versus},
    store::PageMatch,
};

/// Writes the forecast, and the chances as picked, as started, and after each change of the teams.
pub(super) fn write(
    out: &mut impl Write,
    told: &PageMatch,
    record: &MatchRecord,
) -> io::Result<()> {
    if let Some(forecast) = told.line.forecast.filter(|_| record.scores.len() == 2) {
        writeln!(
            out,
            "forecast: team 0 wins with {}, with everybody who played, each for as long as they did",
            percent(forecast)
        )?;
    }
    let summary = &told.line.chances;
    let picked = summary
        .picked
        .iter()
        .map(|teams| (None, "as picked".to_owned(), teams));
    let started = summary
        .started
        .iter()
        .map(|teams| (Some(0), "as started".to_owned(), teams));
    let changes = told.changes.iter();
    let changes = changes.map(|change| (Some(change.at), text(change, record), &change.teams));
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
fn text(change: &TeamChange, record: &MatchRecord) -> String {
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
