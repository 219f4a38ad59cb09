//! The tables of the figures of each policy.

use std::io::{self, Write};

use comfy_table::Cell;

use crate::{
    cli::table::table,
    simulate::{Estimate, PolicyReport},
};

/// Writes the report as tables.
pub(super) fn print(out: &mut impl Write, report: &PolicyReport<'_>) -> io::Result<()> {
    let count = report.seasons.first().map_or(0, Vec::len);
    writeln!(
        out,
        "{count} seasons of {} games each in the world {}, seed {}, rating system {}; measured: the second half of each season, with 95 % intervals over seasons",
        report.games,
        report.world.kind.name(),
        report.seed,
        report.rating_system
    )?;
    let mut even = table(&[
        "policy",
        ">score difference",
        ">less the first's",
        ">shutouts",
        ">within one goal",
        ">stronger team's chance of a goal",
        ">log loss, coin 0.693",
    ]);
    for line in &report.policies {
        even.add_row([
            Cell::new(line.policy.name()),
            shown(&line.difference, 2),
            shown(&line.difference_to_first, 2),
            shown(&line.shutouts, 3),
            shown(&line.close, 3),
            shown(&line.favourite, 3),
            shown(&line.log_loss, 3),
        ]);
    }
    writeln!(out, "{even}")?;
    let mut learned = table(&[
        "policy",
        ">Spearman, humans",
        ">Spearman, bots",
        ">moves per player and hour",
    ]);
    for line in &report.policies {
        learned.add_row([
            Cell::new(line.policy.name()),
            shown(&line.spearman_humans, 3),
            shown(&line.spearman_bots, 3),
            shown(&line.moves_per_player_hour, 2),
        ]);
    }
    writeln!(out, "{learned}")?;
    print_twins(out, report)
}

/// Writes the weights of quitters or farmers beside those of equally strong humans who are not.
/// Without either, writes nothing.
fn print_twins(out: &mut impl Write, report: &PolicyReport<'_>) -> io::Result<()> {
    let [first, others] = match (report.world.quitters, report.world.farmers) {
        (0, 0) => return Ok(()),
        (_, 0) => [">weight of quitters", ">of those as strong who stay"],
        _ => [
            ">weight of farmers",
            ">of those as strong who play for the team",
        ],
    };
    let mut weights = table(&["policy", first, others, ">difference", ">of all humans"]);
    for line in &report.policies {
        let figures = match report.world.farmers {
            0 => [line.quitters, line.stayers, line.quitters_less_stayers],
            _ => [
                line.farmers,
                line.team_players,
                line.farmers_less_team_players,
            ],
        };
        let [first, others, less] = figures.map(|estimate| shown(&estimate, 2));
        let all = shown(&line.all_humans, 2);
        weights.add_row([Cell::new(line.policy.name()), first, others, less, all]);
    }
    writeln!(out, "{weights}")
}

/// A table's cell with an estimate, to this number of decimal places.
fn shown(estimate: &Option<Estimate>, places: usize) -> Cell {
    Cell::new(estimate.map_or_else(|| "-".to_owned(), |e| e.show(places)))
}
