//! `evenkeel evaluate`: measures how well each rating system would have predicted the stored matches.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::Instant,
};

use clap::{Args, builder::PossibleValuesParser};
use comfy_table::Cell;
use plotters::prelude::*;
use serde::Serialize;

use super::{
    CliError, CommonArgs,
    ingest::line_of,
    load_config, open,
    progress::{Progress, print_error_line},
    table::{printable, table},
};
use crate::{
    domain::{MatchRecord, Rulebook, counted},
    history::{self, Evaluation, Line, Plan, Subset},
    logs::{IngestEvent, read_matches},
    rating::SystemName,
};

/// The predictor that uses only how often the first team has won before.
const BASE_RATE: &str = "base rate";

/// Compare how well the rating systems predict the stored matches, or those of files
///
/// In order of time, each system predicts a match and then learns from it. The measures cover the
/// decided matches of two teams after the first 20 %; a second table covers those in which every
/// player had at least 5 games before.
///
/// A prediction of exactly 50 % counts as half right. A system with an accuracy of 50.0 % and a log
/// loss of 0.6931 predicted no better than a coin; if all systems have these values, none has found
/// anything to learn in these matches.
#[derive(Debug, Args)]
pub(super) struct EvaluateArgs {
    /// Logs or JSONL histories to read instead of the database; each file is evaluated separately
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Evaluate only this system; may be repeated
    #[arg(long = "system", value_name = "SYSTEM", value_parser = systems())]
    systems: Vec<String>,
    /// Compare the log loss of every system with that of SYSTEM
    #[arg(long, value_name = "SYSTEM", value_parser = systems(), default_value = "joint")]
    against: String,
    /// Exchange the two teams of each match or not, at random with this seed, for histories whose
    /// team numbers mean nothing; with FILE= only in that file. May be repeated
    #[arg(long, value_name = "[FILE=]SEED", value_parser = parse_exchange)]
    exchange: Vec<Exchange>,
    /// Seed of the bootstrap that the confidence intervals come from
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the predictions behind the first table as CSV: for each match and system the chance that the
    /// first team wins, and 1 or 0 for whether it did
    #[arg(long, value_name = "FILE.csv")]
    predictions: Option<PathBuf>,
    /// Draw the calibration of the system that --against names, for the first history
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    common: CommonArgs,
}

/// An `--exchange`: the seed, and the file that it applies to; without a file, it applies to all.
#[derive(Clone, Debug)]
struct Exchange {
    file: Option<PathBuf>,
    seed: u64,
}

fn parse_exchange(text: &str) -> Result<Exchange, String> {
    let (file, seed) = match text.rsplit_once('=') {
        Some((file, seed)) => (Some(PathBuf::from(file)), seed),
        None => (None, text),
    };
    let seed = seed
        .parse()
        .map_err(|_| "expected SEED or FILE=SEED".to_owned())?;
    Ok(Exchange { file, seed })
}

impl EvaluateArgs {
    /// The seed for exchanging the teams of one history: that of the file, else that of all files.
    fn exchange(&self, file: Option<&PathBuf>) -> Option<u64> {
        let of = |wanted: Option<&PathBuf>| {
            let mut all = self.exchange.iter().rev();
            all.find(|exchange| exchange.file.as_ref() == wanted)
        };
        let own = file.and_then(|file| of(Some(file)));
        Some(own.or_else(|| of(None))?.seed)
    }

    /// Fails if an `--exchange` names a file that is not evaluated.
    fn check_exchange(&self) -> Result<(), CliError> {
        let files = self.exchange.iter().filter_map(|e| e.file.as_ref());
        match files.into_iter().find(|file| !self.files.contains(file)) {
            Some(file) => Err(CliError::Input(format!(
                "--exchange {}: this file is not evaluated",
                file.display()
            ))),
            None => Ok(()),
        }
    }
}

fn systems() -> PossibleValuesParser {
    PossibleValuesParser::new(SystemName::ALL.map(SystemName::as_str))
}

/// The matches of one source, in order of time.
struct History {
    name: String,
    /// Each with its id in the database, or with its number in the file's order of time, from 1.
    matches: Vec<(i64, MatchRecord)>,
    exchange: Option<u64>,
}

pub(super) async fn run(args: EvaluateArgs) -> Result<(), CliError> {
    args.check_exchange()?;
    let histories = histories(&args).await?;
    let mut reports = Vec::new();
    let mut predictions = args.predictions.as_deref().map(create_csv).transpose()?;
    for history in &histories {
        let result = evaluate(&args, history)?;
        if let Some(csv) = &mut predictions {
            write_predictions(csv, history, &result)?;
        }
        reports.push(HistoryReport::new(&history.name, &result, &args));
    }
    if let Some(mut csv) = predictions {
        csv.flush()?;
    }
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &reports)?;
        writeln!(out)?;
    } else {
        reports
            .iter()
            .try_for_each(|report| report.write(&mut out))?;
    }
    if let (Some(path), Some(report)) = (&args.plot, reports.first()) {
        plot(path, report).map_err(|error| CliError::Plot(error.to_string()))?;
    }
    Ok(())
}

/// Reads the files, or the database if there are none. Prints faults of a file to stderr.
async fn histories(args: &EvaluateArgs) -> Result<Vec<History>, CliError> {
    if args.files.is_empty() {
        let service = open(&args.common.load()?, false).await?;
        let stored = service.learning().stored_matches().await?;
        service.close().await;
        return Ok(vec![History {
            name: "the stored matches".to_owned(),
            matches: stored.into_iter().map(|m| (m.id, m.record)).collect(),
            exchange: args.exchange(None),
        }]);
    }
    let history = |file: &PathBuf| {
        let mut hear = |event: IngestEvent<'_>| {
            if let Some(line) = line_of(file, &event) {
                print_error_line(&line);
            }
        };
        Ok(History {
            name: file.display().to_string(),
            matches: (1..).zip(read_matches(file, &mut hear)?).collect(),
            exchange: args.exchange(Some(file)),
        })
    };
    args.files.iter().map(history).collect()
}

fn create_csv(path: &Path) -> Result<csv::Writer<std::fs::File>, CliError> {
    let file = std::fs::File::create(path).map_err(|source| CliError::File {
        path: path.to_owned(),
        source,
    })?;
    let mut csv = csv::Writer::from_writer(file);
    csv.write_record(["history", "match", "ended", "system", "chance", "outcome"])?;
    Ok(csv)
}

/// Writes a line for each match and system: the chance that the first team wins, and whether it
/// did.
fn write_predictions(
    csv: &mut csv::Writer<std::fs::File>,
    history: &History,
    result: &Evaluation,
) -> Result<(), CliError> {
    for prediction in result.predictions() {
        let Some((id, record)) = history.matches.get(prediction.number) else {
            continue;
        };
        csv.write_record([
            history.name.as_str(),
            &id.to_string(),
            &record.end.to_string(),
            prediction.system.map_or(BASE_RATE, SystemName::as_str),
            &prediction.forecast.chance.to_string(),
            if prediction.forecast.won { "1" } else { "0" },
        ])?;
    }
    Ok(())
}

fn evaluate(args: &EvaluateArgs, history: &History) -> Result<Evaluation, CliError> {
    let config = load_config(args.common.config.as_ref())?;
    let rulebook =
        Rulebook::new(&config.rulebook()).map_err(crate::learning::LearningError::from)?;
    let named = args
        .systems
        .iter()
        .filter_map(|name| SystemName::parse(name));
    let mut plan = Plan {
        exchange: history.exchange,
        seed: args.seed,
        ..Plan::default()
    };
    if !args.systems.is_empty() {
        plan.systems = named.collect();
        // Evaluate the system that the others are compared with, too.
        let against = SystemName::parse(&args.against).unwrap_or_default();
        if !plan.systems.contains(&against) {
            plan.systems.push(against);
        }
    }
    let template = "{wide_bar} {pos}/{len} matches, {eta} to go";
    let mut progress = Progress::new(history.matches.len() as u64, template);
    let began = Instant::now();
    let result = history::evaluate(
        history.matches.iter().map(|(_, record)| record),
        &rulebook,
        &config.history(),
        &plan,
        &mut || began.elapsed().as_secs_f64(),
        &mut |done| progress.set(done as u64),
    );
    progress.done();
    Ok(result)
}

/// The evaluation of one history. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct HistoryReport {
    history: String,
    matches: usize,
    unrated: usize,
    undecided: usize,
    against: &'static str,
    all: Vec<SystemScores>,
    experienced: Vec<SystemScores>,
    /// The system that `rating.system = "auto"` uses in each ruleset.
    best: Vec<BestSystem>,
}

/// The measures of one system, or of the base rate.
#[derive(Debug, Serialize)]
struct SystemScores {
    /// A system's name, or `base rate`, which predicts the share of earlier matches that team 0 won.
    system: &'static str,
    matches: usize,
    accuracy: f64,
    log_loss: f64,
    brier: f64,
    calibration_error: f64,
    /// The 95 % bootstrap interval of the log loss minus that of the system compared with.
    against: Option<[f64; 2]>,
    micros_per_match: Option<f64>,
    /// For each bin of predicted chances: their mean, how often team 0 won, and the number of matches.
    calibration: Vec<(f64, f64, u32)>,
}

/// The system with the lowest log loss in one ruleset.
#[derive(Debug, Serialize)]
struct BestSystem {
    ruleset: String,
    system: &'static str,
    log_loss: f64,
    matches: usize,
}

impl HistoryReport {
    fn new(history: &str, result: &Evaluation, args: &EvaluateArgs) -> Self {
        let against = SystemName::parse(&args.against).unwrap_or_default();
        let rows = |subset| {
            let table = result.table(None, subset, Some(against));
            table
                .iter()
                .map(|line| SystemScores::new(line, result))
                .collect()
        };
        let best = |ruleset: &crate::domain::Ruleset| {
            let (system, line) = result.best(ruleset)?;
            Some(BestSystem {
                ruleset: ruleset.to_string(),
                system: system.as_str(),
                log_loss: line.metrics.log_loss,
                matches: line.metrics.matches,
            })
        };
        Self {
            history: history.to_owned(),
            matches: result.matches,
            unrated: result.unrated,
            undecided: result.undecided,
            against: against.as_str(),
            all: rows(Subset::All),
            experienced: rows(Subset::Experienced),
            best: result.rulesets.iter().filter_map(best).collect(),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Self {
            history,
            matches,
            unrated,
            undecided,
            ..
        } = self;
        let rated = "not rated, undecided after the first 20 %";
        writeln!(
            out,
            "{}: {} ({unrated}, {undecided} {rated})",
            printable(history),
            counted(*matches, "match")
        )?;
        for (subset, rows) in [("all", &self.all), ("all with 5 games", &self.experienced)] {
            let difference = format!("log loss − {}, 95 %", self.against);
            let heads = [
                subset,
                ">matches",
                ">accuracy",
                ">log loss",
                ">Brier",
                ">calibration",
                &difference,
                ">µs/match",
            ];
            let mut table = table(&heads);
            for row in rows {
                table.add_row(row.cells());
            }
            writeln!(out, "{table}")?;
        }
        self.explain_coins(out)?;
        for best in &self.best {
            let BestSystem {
                ruleset,
                system,
                log_loss,
                matches,
            } = best;
            let ruleset = printable(ruleset);
            writeln!(
                out,
                "{ruleset}: auto uses {system}, log loss {log_loss:.4} over {}",
                counted(*matches, "match")
            )?;
        }
        Ok(())
    }
}

impl HistoryReport {
    /// If all predictions were 50 %, explains the accuracy of 50.0 %.
    fn explain_coins(&self, out: &mut impl Write) -> io::Result<()> {
        let coins = self.all.iter().filter(|row| row.is_coin());
        let coins: Vec<&str> = coins.map(|row| row.system).collect();
        if coins.is_empty() {
            return Ok(());
        }
        writeln!(
            out,
            "50.0 % and 0.6931 are the figures of a coin: {} predicted 50 % for every match, because there is nothing \
             to learn from these matches, or none of their players had played before",
            coins.join(", ")
        )
    }
}

impl SystemScores {
    /// Whether every predicted chance is one half.
    fn is_coin(&self) -> bool {
        let even = |&(chance, _, _): &(f64, f64, u32)| chance == 0.5;
        self.matches > 0 && self.accuracy == 0.5 && self.calibration.iter().all(even)
    }

    fn new(line: &Line, result: &Evaluation) -> Self {
        let position = line
            .system
            .and_then(|s| result.systems.iter().position(|own| *own == s));
        let seconds = position.and_then(|position| result.seconds.get(position));
        let metrics = &line.metrics;
        let bins = metrics.bins.iter().filter(|bin| bin.count > 0);
        Self {
            system: line.system.map_or(BASE_RATE, SystemName::as_str),
            matches: metrics.matches,
            accuracy: metrics.accuracy,
            log_loss: metrics.log_loss,
            brier: metrics.brier,
            calibration_error: metrics.calibration_error,
            against: line
                .against
                .as_ref()
                .map(|interval| [interval.low, interval.high]),
            micros_per_match: seconds.map(|s| s * 1e6 / result.matches.max(1) as f64),
            calibration: bins
                .map(|bin| (bin.chance, bin.frequency, bin.count))
                .collect(),
        }
    }

    fn cells(&self) -> [Cell; 8] {
        let against = self
            .against
            .map(|[low, high]| format!("{low:+.4} … {high:+.4}"));
        [
            Cell::new(self.system),
            Cell::new(self.matches),
            Cell::new(format!("{:.1} %", self.accuracy * 100.0)),
            Cell::new(format!("{:.4}", self.log_loss)),
            Cell::new(format!("{:.4}", self.brier)),
            Cell::new(format!("{:.4}", self.calibration_error)),
            Cell::new(against.unwrap_or_default()),
            Cell::new(
                self.micros_per_match
                    .map_or_else(String::new, |micros| format!("{micros:.1}")),
            ),
        ]
    }
}

/// Draws the predicted chance against the frequency of wins, with the diagonal of a perfect predictor. The
/// area of a point grows with the number of predictions.
fn plot(path: &Path, report: &HistoryReport) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::new(path, (480, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let caption = format!("calibration of {}", report.against);
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
    chart
        .configure_mesh()
        .x_desc("predicted chance")
        .y_desc("how often it happened")
        .draw()?;
    chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], BLACK.mix(0.4)))?;
    let row = report.all.iter().find(|row| row.system == report.against);
    let points = row.map_or(&[][..], |row| &row.calibration);
    let most = points.iter().map(|point| point.2).max().unwrap_or(1).max(1);
    let dots = points.iter().map(|&(chance, frequency, count)| {
        let size = 2.0 + 8.0 * (f64::from(count) / f64::from(most)).sqrt();
        Circle::new((chance, frequency), size as i32, BLUE.filled())
    });
    chart.draw_series(dots)?;
    root.present()?;
    Ok(())
}
