//! What the demo prints: numbered sections of at most 100 columns.

use std::{
    collections::BTreeSet,
    env,
    io::{self, Write},
};

use super::{DATABASE, Kept, RULESET, held_out::HeldOut, teams::PickedTeams};
use crate::{
    cli::{quoted::quoted, table::Table},
    model::{MatchRecord, SAME_CHANCE},
    partition::{HumanInGame, WhatIf},
    store::WeightRow,
};

/// The skill that each bot had on the server, 1 to 5. The matches do not contain it.
const SKILL: [(&str, u8); 14] = [
    ("Sarge", 5),
    ("Grunt", 5),
    ("Neko", 4),
    ("Tony", 4),
    ("Major", 4),
    ("Kyonshi", 3),
    ("Ayumi", 3),
    ("Liz", 3),
    ("Penguin", 2),
    ("Rai", 2),
    ("Merman", 2),
    ("Gargoyle", 1),
    ("Beret", 1),
    ("Jenna", 1),
];

pub(super) fn leaderboard(
    out: &mut impl Write,
    matches: &[MatchRecord],
    weights: &[WeightRow],
) -> io::Result<()> {
    let maps: BTreeSet<&str> = matches.iter().map(|record| record.map.as_str()).collect();
    let (count, bots, maps) = (matches.len(), weights.len(), maps.len());
    writeln!(
        out,
        "\
1. Evenkeel learns from finished matches

The program comes with {count} recorded capture-the-flag matches: 4 against 4, to five captures, played
by {bots} bots on {maps} maps of a real OpenArena server. This table shows the weights that Evenkeel
learns from them for the ruleset {RULESET}: 0 to 100 (an unknown player has 50), with standard
deviations (±). \"Skill\" is the setting of each bot on the server, 1 to 5; Evenkeel does not see it.
"
    )?;
    let skill = |row: &WeightRow| {
        let skill = SKILL.iter().find(|(name, _)| *name == row.name);
        skill.map_or(String::new(), |(_, skill)| skill.to_string())
    };
    let rows: Vec<(usize, &WeightRow)> = (1..).zip(weights).collect();
    let table = Table::of(&rows)
        .num("", |(place, _)| place)
        .text("name", |(_, row)| &row.name)
        .num("weight", |(_, row)| format!("{:.1}", row.weight))
        .num("±", |(_, row)| format!("{:.1}", row.deviation))
        .num("matches", |(_, row)| row.games)
        .num("skill", |(_, row)| skill(row));
    writeln!(out, "{table}\n")
}

pub(super) fn teams(out: &mut impl Write, lobby: &PickedTeams) -> io::Result<()> {
    let spec = lobby.problem.spec();
    let members = |team: u8| {
        let on_it = spec.view.humans.iter().zip(&lobby.solution.team_of);
        let mut on_it: Vec<_> = on_it.filter(|(_, on)| **on == team).collect();
        on_it.sort_by(|(a, _), (b, _)| b.weight.total_cmp(&a.weight));
        on_it.into_iter().map(|(player, _)| player)
    };
    writeln!(
        out,
        "\
2. It picks teams

Eight of the bots join a game, as if they were humans, and Evenkeel picks two teams. It does the
same for humans, whose weights are learned separately.
"
    )?;
    let player = |player: &HumanInGame| (player.id.clone(), player.weight);
    let sum = |team: usize| {
        let sum = lobby.solution.sums.get(team).copied();
        ("sum".to_owned(), sum.unwrap_or(0.0))
    };
    let rows = members(0).zip(members(1));
    let rows = rows.map(|(one, other)| (player(one), player(other)));
    let rows: Vec<_> = rows.chain([(sum(0), sum(1))]).collect();
    let table = Table::of(&rows)
        .text("team 0", |((name, _), _)| name)
        .num("weight", |((_, weight), _)| format!("{weight:.1}"))
        .text("team 1", |(_, (name, _))| name)
        .num("weight", |(_, (_, weight))| format!("{weight:.1}"));
    writeln!(out, "{table}\n")
}

pub(super) fn reasons(out: &mut impl Write, lobby: &PickedTeams) -> io::Result<()> {
    let (solution, all) = (&lobby.solution, &lobby.all);
    let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
    let [best, worst] = [all.first(), all.last()].map(|chance| chance.copied().unwrap_or(0.5));
    let percent = |chance: f64| format!("{:.0} %", 100.0 * chance);
    writeln!(
        out,
        "\
3. It says why

- The rating system gives team 0 a chance of {} to win. With teams drawn at random, it gives the
  stronger team {} on average, and {} in the worst case.
- There are {} ways to put four of them on each team. In the most even one, the stronger team has
  a chance of {:.1} %. Chances within {:.0} points of 50 % count as even, because no forecast is more
  exact than that. {} Evenkeel picks one at random, so that the teams are
  not the same every time; the demo's random seed is fixed.
- The weaker team has {:.1} % of the stronger one's strength: a ratio of {:.3}.",
        percent(lobby.chance),
        percent(mean),
        percent(worst),
        solution.considered,
        100.0 * best,
        100.0 * SAME_CHANCE,
        match solution.candidates.len() {
            1 => "Only one way is that even.".to_owned(),
            count => format!("{count} ways are that even."),
        },
        100.0 * solution.ratio,
        solution.ratio,
    )?;
    let evenness = |what: &&WhatIf| what.figures.evenness;
    let what_if = solution.trials.iter();
    let most = what_if.min_by(|a, b| evenness(a).total_cmp(&evenness(b)));
    if let Some((what, chance)) = most.and_then(|what| Some((what, what.figures.chance?))) {
        writeln!(
            out,
            "- {} matters most: if {} alone changed to team {}, team 0 would have a chance of {}.",
            what.who,
            what.who,
            what.other,
            percent(chance)
        )?;
    }
    writeln!(out)
}

pub(super) fn predictions(out: &mut impl Write, forecast: &HeldOut) -> io::Result<()> {
    let HeldOut {
        learned,
        matches,
        right,
        log_loss,
    } = forecast;
    writeln!(
        out,
        "\
4. It predicts matches that it has not seen

Evenkeel starts again without weights. It learns from the first {learned} matches, and then predicts each
of the last {matches} before it learns from that match.
"
    )?;
    let half = *matches as f64 / 2.0;
    let rows = [
        (
            "winner predicted",
            format!("{right} of {matches}"),
            format!("{half} of {matches}"),
        ),
        (
            "log loss (lower is better)",
            format!("{log_loss:.3}"),
            format!("{:.3}", std::f64::consts::LN_2),
        ),
    ];
    let table = Table::of(&rows)
        .text("", |(what, ..)| what)
        .num("Evenkeel", |(_, own, _)| own)
        .num("a coin", |(.., coin)| coin);
    writeln!(
        out,
        "{table}\n\nA coin is right in {right} or more of {matches} matches in {} of 100 tries. {matches} matches are few:\n\
         `evenkeel evaluate` measures the same, with intervals, on your own matches.\n",
        tries(forecast.by_luck())
    )
}

/// The number of tries out of 100, with as many decimals as are needed to show more than 0.
fn tries(chance: f64) -> String {
    let hundred = 100.0 * chance;
    match hundred {
        h if h >= 1.0 => format!("{h:.0}"),
        h if h >= 0.1 => format!("{h:.1}"),
        _ => "fewer than 0.1".to_owned(),
    }
}

pub(super) fn next(out: &mut impl Write, kept: Option<&Kept>) -> io::Result<()> {
    let program = program();
    writeln!(out, "5. What to run next\n")?;
    match kept {
        Some(kept) => writeln!(
            out,
            "\
The database and its configuration are in
  {}
  {}
Start the daemon on them:
  {program} serve --dir {}
Then look at its pages in a browser, and ask it from another terminal:
  http://127.0.0.1:7998/
  printf 'GAME {RULESET}\\nBOT Sarge\\nBOT Jenna\\nMEANBOT\\nQUIT\\n' | nc 127.0.0.1 7997
",
            kept.database.display(),
            kept.config.display(),
            quoted(&kept.folder),
        )?,
        None => writeln!(
            out,
            "\
Show the same, and keep the database and a configuration, to see them as pages in a browser:
  {program} demo --keep try
Start the daemon with a new database:
  {program} serve
",
        )?,
    }
    writeln!(
        out,
        "\
Learn from the logs of your own game servers:
  {program} ingest games.log

How to connect a game server is described in docs/how-to/connect.md."
    )
}

/// What to type to run this program as it runs now: cargo sets variables for a program that it starts.
fn program() -> &'static str {
    match env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME")) {
        true if cfg!(debug_assertions) => "cargo run --",
        true => "cargo run --release --",
        false => "evenkeel",
    }
}

/// The configuration for `evenkeel serve` with the kept database.
///
/// # Errors
/// Fails if the path is not UTF-8, which TOML requires.
pub(super) fn config() -> String {
    format!(
        "\
# Made by `evenkeel demo --keep`. All other keys have their defaults: see `evenkeel config default --all`.

[store]
# 60 recorded OpenArena matches, and what was learned from them. The path is relative to the folder of this file, which
# can be copied and moved.
database = \"{DATABASE}\"
"
    )
}
