//! `evenkeel weights`: lists the players of a ruleset with their weights.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::{
    CliError, CommonArgs, csv_cell, open, print_json,
    table::{Table, or_dash, printable},
};
use crate::{learning::BoardLine, model::Kind, rating::worth};

/// List the weights of the players of one ruleset, in the order of their places
///
/// Places are those of the pages: by the weight minus one deviation. A weight is 0 to 100, and 50 is the average of those who play. `±` is its standard deviation.
/// Without --game, the rulesets that have weights are listed.
#[derive(Debug, Args)]
pub(super) struct WeightsArgs {
    /// The ruleset, as this command prints it; or a game type, as the game server names it or by an alias from the
    /// configuration, with its mutators
    #[arg(long, value_name = "RULESET")]
    game: Option<String>,
    /// A mutator that is active; may be repeated. Mutators that do not affect play are ignored
    #[arg(long = "mutator", value_name = "NAME", requires = "game")]
    mutators: Vec<String>,
    /// List bots instead of humans
    #[arg(long)]
    bots: bool,
    /// Print JSON: with --game, an object with the players and what ten points are worth; without, an array
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV with a header line. A name or id that a spreadsheet would take for a formula has `'` before it
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// The players of a ruleset, for `--json`.
#[derive(Debug, Serialize)]
struct RankedPlayers<'a> {
    ruleset: &'a str,
    /// The chance of a team of four to win against another if one of its players has ten points more than the
    /// others, by the configured rating system; `None` for systems without strengths.
    ten_points: Option<f64>,
    players: &'a [BoardLine],
}

pub(super) async fn run(args: WeightsArgs) -> Result<(), CliError> {
    let config = args.common.load()?;
    let service = open(&config, false).await?;
    let known = service.store().learned().rulesets().await?;
    let Some(game) = &args.game else {
        service.close().await;
        return write_rulesets(&args, &known);
    };
    // Text that equals a printed ruleset means that ruleset, even if it could also be read as the
    // name of a game type.
    let printed = known.iter().find(|&ruleset| {
        args.mutators.is_empty() && (ruleset == game || printable(ruleset) == *game)
    });
    let ruleset = match printed {
        Some(ruleset) => ruleset.clone(),
        None => {
            let rulebook = service.learning().rulebook();
            rulebook.ruleset(game, &args.mutators).to_string()
        }
    };
    let kind = if args.bots { Kind::Bot } else { Kind::Human };
    let players = service.learning().stored_board(&ruleset, kind).await?;
    let mut out = io::stdout().lock();
    if args.json {
        let all = RankedPlayers {
            ruleset: &ruleset,
            ten_points: worth(&config.history().rating, 10.0),
            players: &players,
        };
        print_json(&all)?;
    } else if args.csv {
        write_csv(&mut out, &players)?;
    } else if players.is_empty() {
        let (other, hint) = match kind {
            Kind::Human => (Kind::Bot, "add --bots"),
            Kind::Bot => (Kind::Human, "leave out --bots"),
        };
        let others = service
            .store()
            .learned()
            .weights(&ruleset, other)
            .await?
            .len();
        let of_others = match others {
            0 => String::new(),
            1 => format!("; 1 {other} has: {hint}"),
            others => format!("; {others} {other}s have: {hint}"),
        };
        writeln!(
            out,
            "no {kind}s have a weight under {}{of_others}",
            printable(&ruleset)
        )?;
        list_rulesets(&mut out, &known)?;
    } else {
        write_table(&mut out, &ruleset, &players)?;
    }
    service.close().await;
    Ok(())
}

fn write_table(out: &mut impl Write, ruleset: &str, players: &[BoardLine]) -> io::Result<()> {
    let thousandths = |number: Option<f64>| format!("{:.3}", number.unwrap_or_default());
    let table = Table::of(players)
        .num("place", |line| or_dash(line.place))
        .text("name", |line| &line.player.raw)
        .text("id", |line| &line.key.id)
        .num("weight", |line| thousandths(line.weight))
        .num("±", |line| thousandths(line.deviation))
        .num("games", |line| line.games)
        .text("last seen", |line| line.last_seen);
    writeln!(out, "{}\n{table}", printable(ruleset))
}

/// Writes the header, and a line for each player; only the header for an empty list.
fn write_csv(out: &mut impl Write, players: &[BoardLine]) -> Result<(), CliError> {
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
    for line in players {
        writer.serialize((
            line.place,
            csv_cell(&line.player.raw),
            csv_cell(&line.key.id),
            line.weight,
            line.deviation,
            line.games,
            line.last_seen.to_string(),
        ))?;
    }
    writer.flush()?;
    Ok(())
}

/// Prints the rulesets that have weights, in the format that the flags select.
fn write_rulesets(args: &WeightsArgs, known: &[String]) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    if args.json {
        print_json(known)?;
    } else if args.csv {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["ruleset"])?;
        for ruleset in known {
            writer.write_record([&*csv_cell(ruleset)])?;
        }
        writer.flush()?;
    } else {
        list_rulesets(&mut out, known)?;
    }
    Ok(())
}

/// Lists the rulesets that have weights, to help an operator who misspelled one.
fn list_rulesets(out: &mut impl Write, known: &[String]) -> io::Result<()> {
    if known.is_empty() {
        return writeln!(
            out,
            "there are no weights yet; `evenkeel ingest` learns them from logs"
        );
    }
    known
        .iter()
        .try_for_each(|ruleset| writeln!(out, "  ruleset with weights: {}", printable(ruleset)))
}
