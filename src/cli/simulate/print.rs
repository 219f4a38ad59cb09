//! The tables of the figures of each policy.

use std::io::{self, Write};

use crate::{
    cli::table::{Table, or_dash},
    simulate::{Estimate, PolicyLine, PolicyReport},
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
    let even = Table::of(&report.policies)
        .text("policy", |line| line.policy.name())
        .num("score difference", |line| shown(&line.difference, 2))
        .num("less the first's", |line| {
            shown(&line.difference_to_first, 2)
        })
        .num("shutouts", |line| shown(&line.shutouts, 3))
        .num("within one goal", |line| shown(&line.close, 3))
        .num("stronger team's chance of a goal", |line| {
            shown(&line.favourite, 3)
        })
        .num("log loss, coin 0.693", |line| shown(&line.log_loss, 3));
    writeln!(out, "{even}")?;
    let learned = Table::of(&report.policies)
        .text("policy", |line| line.policy.name())
        .num("Spearman, humans", |line| shown(&line.spearman_humans, 3))
        .num("Spearman, bots", |line| shown(&line.spearman_bots, 3))
        .num("moves per player and hour", |line| {
            shown(&line.moves_per_player_hour, 2)
        });
    writeln!(out, "{learned}")?;
    print_twins(out, report)
}

/// Writes the weights of quitters or farmers beside those of equally strong humans who are not.
/// Without either, writes nothing.
fn print_twins(out: &mut impl Write, report: &PolicyReport<'_>) -> io::Result<()> {
    let [first, others] = match (report.world.quitters, report.world.farmers) {
        (0, 0) => return Ok(()),
        (_, 0) => ["weight of quitters", "of those as strong who stay"],
        _ => [
            "weight of farmers",
            "of those as strong who play for the team",
        ],
    };
    let figures = |line: &PolicyLine| match report.world.farmers {
        0 => [line.quitters, line.stayers, line.quitters_less_stayers],
        _ => [
            line.farmers,
            line.team_players,
            line.farmers_less_team_players,
        ],
    };
    let weights = Table::of(&report.policies)
        .text("policy", |line| line.policy.name())
        .num(first, |line| shown(&figures(line)[0], 2))
        .num(others, |line| shown(&figures(line)[1], 2))
        .num("difference", |line| shown(&figures(line)[2], 2))
        .num("of all humans", |line| shown(&line.all_humans, 2));
    writeln!(out, "{weights}")
}

/// An estimate, to this number of decimal places.
fn shown(estimate: &Option<Estimate>, places: usize) -> String {
    or_dash(estimate.map(|estimate| estimate.show(places)))
}
