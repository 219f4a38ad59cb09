//! `evenkeel weights`: who is known under a ruleset, and how strong.

use std::io::{self, Write};

use clap::Args;
use comfy_table::Cell;
use serde::Serialize;

use super::{
    CliError, Place, open,
    table::{name_cell, printable, table},
};
use crate::{domain::Kind, store::WeightRow};

/// List the weights of one game type and set of mutators, strongest first
#[derive(Debug, Args)]
pub(super) struct WeightsArgs {
    /// The game type, as the game names it, or an alias
    #[arg(long, value_name = "TYPE")]
    game: String,
    /// A mutator that is active; may be repeated, and those that do not affect play do not count
    #[arg(long = "mutator", value_name = "NAME")]
    mutators: Vec<String>,
    /// Bots instead of humans
    #[arg(long)]
    bots: bool,
    /// As a JSON array
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// As CSV with a header
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    place: Place,
}

/// One line of the list.
#[derive(Debug, Serialize)]
struct Line<'a> {
    place: usize,
    name: &'a str,
    id: &'a str,
    weight: f64,
    deviation: f64,
    games: u32,
    last_seen: String,
}

pub(super) async fn run(args: WeightsArgs) -> Result<(), CliError> {
    let config = args.place.load()?;
    let service = open(&config, false).await?;
    let ruleset = service
        .learning()
        .rulebook()
        .ruleset(&args.game, &args.mutators)
        .to_string();
    let kind = if args.bots { Kind::Bot } else { Kind::Human };
    let rows = service.store().weights(&ruleset, kind).await?;
    let lines: Vec<Line<'_>> = lines(&rows);
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &lines)?;
        writeln!(out)?;
    } else if args.csv {
        write_csv(&mut out, &lines)?;
    } else if lines.is_empty() {
        writeln!(out, "no {kind}s are known under {}", printable(&ruleset))?;
        list_rulesets(&mut out, &service.store().rulesets().await?)?;
    } else {
        write_table(&mut out, &ruleset, &lines)?;
    }
    service.close().await;
    Ok(())
}

/// Numbers them; equal weights share a place.
fn lines(rows: &[WeightRow]) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let place = match lines.last() {
            Some(above) if above.weight == row.weight => above.place,
            _ => index + 1,
        };
        lines.push(Line {
            place,
            name: &row.name,
            id: &row.key.id,
            weight: row.weight,
            deviation: row.deviation,
            games: row.games,
            last_seen: row.last_seen.to_string(),
        });
    }
    lines
}

fn write_table(out: &mut impl Write, ruleset: &str, lines: &[Line<'_>]) -> io::Result<()> {
    let mut table = table(&[">", "name", "id", ">weight", ">±", ">games", "last seen"]);
    for line in lines {
        table.add_row([
            Cell::new(line.place),
            name_cell(line.name),
            name_cell(line.id),
            Cell::new(format!("{:.3}", line.weight)),
            Cell::new(format!("{:.3}", line.deviation)),
            Cell::new(line.games),
            Cell::new(&line.last_seen),
        ]);
    }
    writeln!(out, "{}\n{table}", printable(ruleset))
}

/// With a header even when there is nothing below it.
fn write_csv(out: &mut impl Write, lines: &[Line<'_>]) -> Result<(), CliError> {
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(out);
    writer.write_record([
        "place",
        "name",
        "id",
        "weight",
        "deviation",
        "games",
        "last_seen",
    ])?;
    for line in lines {
        writer.serialize(line)?;
    }
    writer.flush()?;
    Ok(())
}

/// What the operator might have meant.
fn list_rulesets(out: &mut impl Write, known: &[String]) -> io::Result<()> {
    if known.is_empty() {
        return writeln!(out, "nothing has been learned yet; see `evenkeel ingest`");
    }
    known
        .iter()
        .try_for_each(|ruleset| writeln!(out, "  known: {}", printable(ruleset)))
}
