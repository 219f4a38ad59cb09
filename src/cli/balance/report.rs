//! The chosen teams, as tables and as JSON.

use std::io::{self, Write};

use comfy_table::Cell;
use serde::Serialize;

use crate::{
    cli::table::{name_cell, printable, table},
    domain::counted,
    partition::{Problem, Solution},
};

/// The whole result, for `--json`.
#[derive(Debug, Serialize)]
pub(super) struct BalanceReport<'a> {
    seed: u64,
    ratio: f64,
    /// Wishes that could not be granted; missing if there are none.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    relaxed: &'a [String],
    teams: Vec<TeamInReport<'a>>,
    solution: &'a Solution,
}

#[derive(Debug, Serialize)]
struct TeamInReport<'a> {
    team: usize,
    players: Vec<PlayerInTeam<'a>>,
    bots: usize,
    bot_weight: f64,
    sum: f64,
}

#[derive(Debug, Serialize)]
struct PlayerInTeam<'a> {
    name: &'a str,
    weight: f64,
}

pub(super) fn whole<'a>(
    problem: &'a Problem,
    solution: &'a Solution,
    seed: u64,
    relaxed: &'a [String],
) -> BalanceReport<'a> {
    let teams = (0..solution.sums.len())
        .map(|team| self::team(problem, solution, team))
        .collect();
    BalanceReport {
        seed,
        ratio: solution.ratio,
        relaxed,
        teams,
        solution,
    }
}

/// Writes one table per team, the strongest team first, how the teams were chosen, and the wishes that could
/// not be granted.
pub(super) fn write(
    out: &mut impl Write,
    problem: &Problem,
    solution: &Solution,
    seed: u64,
    relaxed: &[String],
    explain: bool,
) -> io::Result<()> {
    for number in 0..solution.sums.len() {
        let team = team(problem, solution, number);
        let mut table = table(&[&format!(">team {number}"), ""]);
        for player in &team.players {
            table.add_row([Cell::new(round(player.weight)), name_cell(player.name)]);
        }
        if team.bots > 0 {
            let bots = round(team.bots as f64 * team.bot_weight);
            let what = format!(
                "{} of {}",
                counted(team.bots, "bot"),
                round(team.bot_weight)
            );
            table.add_row([Cell::new(bots), Cell::new(what)]);
        }
        let (players, bots) = (
            counted(team.players.len(), "player"),
            counted(team.bots, "bot"),
        );
        let what = format!("sum: {players} and {bots}");
        table.add_row([Cell::new(round(team.sum)), Cell::new(what)]);
        writeln!(out, "{table}")?;
    }
    let how = if solution.exact {
        "exact"
    } else {
        "the best found in time"
    };
    let (candidates, engine) = (solution.candidates.len(), solution.engine);
    let ratio = solution.ratio;
    let of = match candidates {
        1 => "the best".to_owned(),
        _ => format!("one of the {candidates} best"),
    };
    writeln!(out, "ratio {ratio:.6}, {of} ({how}, {engine}), seed {seed}")?;
    for line in relaxed {
        writeln!(out, "{}", printable(line))?;
    }
    if explain {
        for line in solution.explanation.to_string().lines() {
            writeln!(out, "{}", printable(line))?;
        }
    }
    Ok(())
}

fn team<'a>(problem: &'a Problem, solution: &Solution, team: usize) -> TeamInReport<'a> {
    let spec = problem.spec();
    let on_it = spec
        .humans
        .iter()
        .zip(&solution.team_of)
        .filter(|(_, on)| usize::from(**on) == team);
    let player = |(human, _): (&'a crate::partition::WeightedHuman, &u8)| PlayerInTeam {
        name: &human.key,
        weight: human.weight,
    };
    let mut players: Vec<PlayerInTeam<'a>> = on_it.map(player).collect();
    players.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    TeamInReport {
        team,
        players,
        bots: solution.bots[team],
        bot_weight: spec.bots.weight,
        sum: solution.sums[team],
    }
}

/// Formats a number with up to three decimals, without trailing zeros.
fn round(weight: f64) -> String {
    let text = format!("{weight:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
