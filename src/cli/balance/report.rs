//! The chosen teams, as tables and as JSON.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    cli::table::{Table, printable},
    model::{amount, counted},
    partition::{self, HumanInGame, Problem, Solution},
};

/// The chosen teams, and what they were chosen from.
pub(super) struct Chosen<'a> {
    pub(super) problem: &'a Problem,
    pub(super) settings: &'a partition::Settings,
    pub(super) solution: &'a Solution,
    pub(super) seed: u64,
}

/// The whole result, for `--json`.
#[derive(Debug, Serialize)]
pub(super) struct BalanceReport<'a> {
    seed: u64,
    /// The chance of team 0 to win; `None` if none was predicted.
    chance: Option<f64>,
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
    /// The parties on the team that count more than their members do alone; missing if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parties: Vec<PartyOnTeam<'a>>,
    sum: f64,
}

#[derive(Debug, Serialize)]
struct PartyOnTeam<'a> {
    players: Vec<&'a str>,
    /// What each member's weight counts.
    multiplier: f64,
    /// What the party adds to the sum.
    more: f64,
}

#[derive(Debug, Serialize)]
struct PlayerInTeam<'a> {
    name: &'a str,
    weight: f64,
}

pub(super) fn whole<'a>(chosen: &Chosen<'a>, relaxed: &'a [String]) -> BalanceReport<'a> {
    let solution = chosen.solution;
    let teams = 0..solution.sums.len();
    let teams = teams.map(|team| chosen.team(team)).collect();
    BalanceReport {
        seed: chosen.seed,
        chance: solution.chance,
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
    chosen: &Chosen<'_>,
    relaxed: &[String],
    explain: bool,
) -> io::Result<()> {
    let (solution, seed) = (chosen.solution, chosen.seed);
    for number in 0..solution.sums.len() {
        let team = chosen.team(number);
        let players = team.players.iter();
        let mut rows: Vec<(f64, String)> = players
            .map(|player| (player.weight, player.name.to_owned()))
            .collect();
        if team.bots > 0 {
            let (bots, weight) = (counted(team.bots, "bot"), amount(team.bot_weight));
            let what = format!("{bots} of {weight}");
            rows.push((team.bots as f64 * team.bot_weight, what));
        }
        for party in &team.parties {
            let what = format!(
                "more: {} together, times {}",
                party.players.join(", "),
                amount(party.multiplier)
            );
            rows.push((party.more, what));
        }
        let (players, bots) = (
            counted(team.players.len(), "player"),
            counted(team.bots, "bot"),
        );
        rows.push((team.sum, format!("sum: {players} and {bots}")));
        let table = Table::of(&rows)
            .num(&format!("team {number}"), |(weight, _)| amount(*weight))
            .text("", |(_, what)| what);
        writeln!(out, "{table}")?;
    }
    let how = if solution.exact {
        "exact"
    } else {
        "the best found in time"
    };
    let (candidates, engine) = (solution.candidates.len(), solution.engine);
    let even = solution.headline();
    if let Some(sums) = solution.decided_by() {
        writeln!(out, "{sums}")?;
    }
    let of = match candidates {
        1 => "the best".to_owned(),
        _ if chosen.settings.power.get().is_infinite() => format!("the best of {candidates}"),
        _ => format!("one of the {candidates} best"),
    };
    writeln!(out, "{even}, {of} ({how}, {engine}), seed {seed}")?;
    for line in relaxed {
        writeln!(out, "{}", printable(line))?;
    }
    if explain {
        for line in solution.to_string().lines() {
            writeln!(out, "{}", printable(line))?;
        }
    }
    Ok(())
}

impl<'a> Chosen<'a> {
    fn team(&self, team: usize) -> TeamInReport<'a> {
        let (spec, solution) = (self.problem.spec(), self.solution);
        let on_it = (spec.view.humans.iter())
            .zip(&solution.team_of)
            .filter(|(_, on)| usize::from(**on) == team);
        let player = |(human, _): (&'a HumanInGame, &u8)| PlayerInTeam {
            name: &human.id,
            weight: human.weight,
        };
        let mut players: Vec<PlayerInTeam<'a>> = on_it.map(player).collect();
        players.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        TeamInReport {
            team,
            players,
            bots: solution.bots[team],
            bot_weight: spec.view.weight_of_place(),
            parties: self.parties(team),
            sum: solution.sums[team],
        }
    }

    /// The friends who are together on a team and count more than they do alone.
    fn parties(&self, team: usize) -> Vec<PartyOnTeam<'a>> {
        let spec = self.problem.spec();
        let party = |members: &Vec<usize>| {
            let here = members.iter().copied();
            let here = here.filter(|&who| usize::from(self.solution.team_of[who]) == team);
            let humans: Vec<&'a HumanInGame> = here.map(|who| &spec.view.humans[who]).collect();
            let multiplier = self.settings.multiplier(humans.len());
            let alone: f64 = humans.iter().map(|human| human.weight).sum();
            (multiplier > 1.0).then(|| PartyOnTeam {
                players: humans.iter().map(|human| human.id.as_str()).collect(),
                multiplier,
                more: (multiplier - 1.0) * alone,
            })
        };
        spec.parties.iter().filter_map(party).collect()
    }
}
