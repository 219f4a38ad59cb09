//! `evenkeel experiment`: what an experiment on this server shows, and whether its arms follow from its key. And what
//! `evenkeel simulate --experiment` prints: how often experiments are wrong, and how soon they end.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use evenkeel_experiment::{
    ArmShare,
    season::{ExperimentSeasons, fixed_size},
    verdict::LEVEL,
};
use serde::Serialize;

use super::{
    CliError, CommonArgs, open, print_json,
    table::{Table, or_dash, printable},
};
use crate::{
    experiments::{ExperimentReport, VerifiedArms, points},
    model::text::counted,
    server::Service,
};

/// Show the experiments of this server, or compute their arms again
#[derive(Debug, Args)]
pub(super) struct ExperimentArgs {
    #[command(subcommand)]
    command: ExperimentCommand,
}

#[derive(Debug, Subcommand)]
enum ExperimentCommand {
    /// Say which of the two policies does better
    Status(StatusArgs),
    /// Compute each arm again from the key, and compare
    Verify(StatusArgs),
}

#[derive(Debug, Args)]
struct StatusArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run(args: ExperimentArgs) -> Result<(), CliError> {
    let (ExperimentCommand::Status(own) | ExperimentCommand::Verify(own)) = &args.command;
    let config = own.common.load()?;
    let service = open(&config, false).await?;
    let done = match args.command {
        ExperimentCommand::Status(_) => status(&service, own.json).await,
        ExperimentCommand::Verify(_) => verify(&service, own.json).await,
    };
    service.close().await;
    done
}

async fn status(service: &Service, json: bool) -> Result<(), CliError> {
    let reports = ExperimentReport::latest(service.store()).await?;
    if json {
        return print_json(&reports);
    }
    let mut out = io::stdout().lock();
    if reports.is_empty() {
        writeln!(
            out,
            "there is no experiment: the section [experiment] begins one"
        )?;
    }
    for report in &reports {
        write(&mut out, report)?;
    }
    Ok(())
}

fn write(out: &mut impl Write, of: &ExperimentReport) -> io::Result<()> {
    let until = match (&of.ended, &of.why_ended) {
        (Some(at), Some(why)) => format!("ended {at}: {why}"),
        _ => "going on".to_owned(),
    };
    let (number, ruleset) = (of.experiment, printable(&of.ruleset));
    writeln!(
        out,
        "experiment {number}, {ruleset}, since {}, {until}",
        of.began
    )?;
    writeln!(out, "{}", of.verdict)?;
    let arms = Table::of(&of.arms)
        .text("policy", |arm| &arm.name)
        .num("games", |arm| arm.games)
        .num("matches", |arm| arm.matches)
        .num("abandoned", |arm| arm.abandoned)
        .num("changed by hand", |arm| arm.changed);
    writeln!(out, "{arms}")?;
    let shown = |mean: Option<f64>| or_dash(mean.map(|mean| format!("{:.1} %", 100.0 * mean)));
    let outcomes = Table::of(&of.outcomes)
        .text("matches that", |own| own.outcome.predicate())
        .num("a", |own| shown(own.means[0]))
        .num("b", |own| shown(own.means[1]))
        .num("b minus a, from", |own| points(own.interval[0]))
        .num("to", |own| points(own.interval[1]));
    writeln!(out, "{outcomes}")?;
    match &of.key {
        Some(key) => writeln!(out, "commitment {}, key {key}", of.commitment),
        None => writeln!(out, "commitment {}", of.commitment),
    }
}

async fn verify(service: &Service, json: bool) -> Result<(), CliError> {
    let all = VerifiedArms::of(service.store()).await?;
    if json {
        print_json(&all)?;
    } else {
        let mut out = io::stdout().lock();
        for one in &all {
            let (number, games) = (one.experiment, counted(one.games as usize, "game"));
            let what = match one.others.as_slice() {
                [] => "every arm is the one that follows from the key".to_owned(),
                others => format!(
                    "{} of them do not follow from the key: {}",
                    others.len(),
                    others.join(", ")
                ),
            };
            writeln!(out, "experiment {number}, {games} of servers: {what}")?;
        }
    }
    match all.iter().find(|one| !one.others.is_empty()) {
        None => Ok(()),
        Some(one) => Err(CliError::input(format!(
            "arms of experiment {} were changed",
            one.experiment
        ))),
    }
}

/// The shares of one outcome that are tried: no difference.
const NULLS: [f64; 3] = [0.05, 0.22, 0.5];
/// The shares before and after that are tried.
const DIFFERENCES: [(f64, f64); 2] = [(0.22, 0.05), (0.19, 0.10)];
/// The most matches of a season.
const MATCHES: u32 = 2_000;

#[derive(Debug, Serialize)]
struct SimulatedExperiments {
    seasons: u32,
    matches: u32,
    null: Vec<NullSeasons>,
    differences: Vec<FoundDifference>,
}

/// Seasons in which both policies do the same.
#[derive(Debug, Serialize)]
struct NullSeasons {
    rate: f64,
    alarms: u32,
}

/// Seasons in which one policy does better.
#[derive(Debug, Serialize)]
struct FoundDifference {
    a: f64,
    b: f64,
    stopped: u32,
    median: Option<u32>,
    four_fifths: Option<u32>,
    /// The matches that a test needs which looks once, with a power of 80 %.
    fixed: u64,
}

/// Plays seasons of experiments, and prints how often they gave a false alarm, and after how many matches they ended.
pub(super) fn simulate(seasons: u32, seed: u64, json: bool) -> Result<(), CliError> {
    let plan = ExperimentSeasons {
        seasons,
        matches: MATCHES,
        share: ArmShare::HALF,
        level: LEVEL,
        seed,
    };
    let wrong = |error: evenkeel_experiment::ExperimentError| CliError::input(error);
    let mut report = SimulatedExperiments {
        seasons,
        matches: MATCHES,
        null: Vec::new(),
        differences: Vec::new(),
    };
    for rate in NULLS {
        let alarms = plan.null_alarms(rate).map_err(wrong)?;
        report.null.push(NullSeasons { rate, alarms });
    }
    for (a, b) in DIFFERENCES {
        let times = plan.stopping(a, b).map_err(wrong)?;
        report.differences.push(FoundDifference {
            a,
            b,
            stopped: times.stopped,
            median: times.median,
            four_fifths: times.four_fifths,
            fixed: fixed_size(a, b).map_err(wrong)?,
        });
    }
    if json {
        return print_json(&report);
    }
    let mut out = io::stdout().lock();
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let null = Table::of(&report.null)
        .num("one-sided under both policies", |own| percent(own.rate))
        .num("seasons with a false alarm", |own| own.alarms);
    writeln!(
        out,
        "{seasons} seasons of {MATCHES} matches, with a look after each match\n{null}"
    )?;
    let found = Table::of(&report.differences)
        .num("one-sided under a", |own| percent(own.a))
        .num("under b", |own| percent(own.b))
        .num("seasons that stopped", |own| own.stopped)
        .num("matches of half of them", |own| or_dash(own.median))
        .num("of four fifths", |own| or_dash(own.four_fifths))
        .num("of a test that looks once", |own| own.fixed);
    Ok(writeln!(out, "{found}")?)
}
