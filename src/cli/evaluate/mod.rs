//! `evenkeel evaluate`: measures how well each rating system would have predicted the stored matches.

mod report;

use std::{
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::{Args, builder::PossibleValuesParser};
use plotters::prelude::*;

use super::{
    CliError, CommonArgs, OutputFile,
    ingest::line_of,
    open, print_json,
    table::{ProgressLine, print_error_line},
};
use crate::{
    logs::{MatchFile, read_matches_to_file},
    model::{MatchRecord, Rulebook},
    rating::SystemName,
    rating::history::{self, Evaluation, EvaluationPlan},
    store::StoredMatch,
};

use report::{FreshReport, HistoryReport};

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
///
/// Each system is compared with the one that --against names, on the same matches. The table has a 95 %
/// interval of the difference of their log losses, by a bootstrap of blocks of consecutive matches, since
/// neighbouring matches are correlated. If the interval contains 0, the systems are "level"; otherwise
/// this one is "better" or "worse". The line below a table sums this up. 95 % holds for each system by itself.
///
/// With --fresh, the systems begin the history anew every 200 matches, as if a new community played these matches, and
/// are compared with a coin. That shows after how many matches their weights are of use.
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
    exchange: Vec<ExchangeArg>,
    /// Begin the history anew every MATCHES matches, and show the log loss of the first 50, 100 and 200 matches with a
    /// winner after each start, and after how many of them each system predicts better than a coin
    #[arg(
        long,
        value_name = "MATCHES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "200",
        value_parser = clap::value_parser!(u32).range(10..),
        conflicts_with_all = ["against", "predictions", "plot"]
    )]
    fresh: Option<u32>,
    /// Seed of the bootstrap that the confidence intervals come from
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the predictions behind the first table to FILE as CSV: for each match and system the chance that the
    /// first team wins, and 1 or 0 for whether it did
    #[arg(long, value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Draw the calibration of the system that --against names to FILE as SVG, for the first history
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    common: CommonArgs,
}

/// An `--exchange`: the seed, and the file that it applies to; without a file, it applies to all.
#[derive(Clone, Debug)]
struct ExchangeArg {
    file: Option<PathBuf>,
    seed: u64,
}

fn parse_exchange(text: &str) -> Result<ExchangeArg, String> {
    let (file, seed) = match text.rsplit_once('=') {
        Some((file, seed)) => (Some(PathBuf::from(file)), seed),
        None => (None, text),
    };
    let seed = seed
        .parse()
        .map_err(|_| "expected SEED or FILE=SEED".to_owned())?;
    Ok(ExchangeArg { file, seed })
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
            Some(file) => Err(CliError::input(format!(
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
struct EvaluatedHistory {
    name: String,
    matches: MatchFile,
    /// The id of each match in the database, or its number in the file's order of time, from 1.
    ids: Vec<i64>,
    exchange: Option<u64>,
}

impl EvaluatedHistory {
    /// Passes the number of the matches and the matches to `work`. Memory holds one match at a time.
    fn with_matches<T>(
        &mut self,
        work: impl FnOnce(usize, &mut dyn Iterator<Item = MatchRecord>) -> T,
    ) -> Result<T, CliError> {
        let (count, mut failed) = (self.matches.len(), None);
        let read = self.matches.read()?;
        let mut read = read.map_while(|record| record.map_err(|error| failed = Some(error)).ok());
        let done = work(count, &mut read);
        drop(read);
        failed.map_or(Ok(done), |error| Err(error.into()))
    }
}

pub(super) async fn run(args: EvaluateArgs) -> Result<(), CliError> {
    args.check_exchange()?;
    let mut histories = histories(&args).await?;
    if let Some(every) = args.fresh {
        let every = every as usize;
        let report = |history| report::run_fresh(&args, history, every);
        let reports: Vec<FreshReport> =
            histories.iter_mut().map(report).collect::<Result<_, _>>()?;
        return report::print_fresh(&reports, args.json);
    }
    let mut reports = Vec::new();
    let mut predictions = args.predictions.as_deref().map(create_csv).transpose()?;
    for history in &mut histories {
        let result = evaluate(&args, history)?;
        if let Some(csv) = &mut predictions {
            write_predictions(csv, history, &result)?;
        }
        reports.push(HistoryReport::new(&history.name, &result, &args));
    }
    if let (Some(csv), Some(path)) = (predictions, &args.predictions) {
        let file = csv
            .into_inner()
            .map_err(|error| io::Error::other(error.to_string()));
        file.and_then(OutputFile::commit)
            .map_err(CliError::in_file(path))?;
    }
    let mut out = io::stdout().lock();
    if args.json {
        print_json(&reports)?;
    } else {
        reports
            .iter()
            .try_for_each(|report| report.write(&mut out))?;
    }
    if let (Some(path), Some(report)) = (&args.plot, reports.first()) {
        plot(path, report)
            .map_err(|error| CliError::failed(format!("cannot draw the plot: {error}")))?;
    }
    Ok(())
}

/// Reads the files, or the database if there are none. Prints faults of a file to stderr.
async fn histories(args: &EvaluateArgs) -> Result<Vec<EvaluatedHistory>, CliError> {
    if args.files.is_empty() {
        let service = open(&args.common.load()?, false).await?;
        let (mut matches, mut ids) = (MatchFile::new()?, Vec::new());
        let add = |stored: StoredMatch| -> Result<(), CliError> {
            ids.push(stored.id);
            Ok(matches.add(&stored.record, stored.fingerprint)?)
        };
        service.learning().each_match(add).await?;
        service.close().await;
        return Ok(vec![EvaluatedHistory {
            name: "the stored matches".to_owned(),
            matches,
            ids,
            exchange: args.exchange(None),
        }]);
    }
    let mut histories = Vec::with_capacity(args.files.len());
    for file in &args.files {
        let path = file.clone();
        let reading = tokio::task::spawn_blocking(move || {
            read_matches_to_file(&path, &mut |event| {
                if let Some(line) = line_of(&path, &event, false) {
                    print_error_line(&line);
                }
            })
        });
        let matches = reading.await??;
        histories.push(EvaluatedHistory {
            name: file.display().to_string(),
            ids: (1..).take(matches.len()).collect(),
            matches,
            exchange: args.exchange(Some(file)),
        });
    }
    Ok(histories)
}

fn create_csv(path: &Path) -> Result<csv::Writer<OutputFile>, CliError> {
    let file = OutputFile::create(path).map_err(CliError::in_file(path))?;
    let mut csv = csv::Writer::from_writer(file);
    csv.write_record(["history", "match", "ended", "system", "chance", "outcome"])?;
    Ok(csv)
}

/// Writes a line for each match and system: the chance that the first team wins, and whether it
/// did.
fn write_predictions(
    csv: &mut csv::Writer<OutputFile>,
    history: &EvaluatedHistory,
    result: &Evaluation,
) -> Result<(), CliError> {
    let matches: Vec<_> = history.ids.iter().zip(history.matches.ends()).collect();
    for prediction in result.predictions() {
        let Some((id, end)) = matches.get(prediction.number) else {
            continue;
        };
        csv.write_record([
            history.name.as_str(),
            &id.to_string(),
            &end.to_string(),
            prediction.system.map_or(BASE_RATE, SystemName::as_str),
            &prediction.forecast.chance.to_string(),
            if prediction.forecast.won { "1" } else { "0" },
        ])?;
    }
    Ok(())
}

/// The plan for a history, with the systems that were chosen.
fn plan(args: &EvaluateArgs, history: &EvaluatedHistory) -> EvaluationPlan {
    let mut plan = EvaluationPlan {
        exchange: history.exchange,
        seed: args.seed,
        ..EvaluationPlan::default()
    };
    if !args.systems.is_empty() {
        let named = args.systems.iter();
        plan.systems = named.filter_map(|name| SystemName::parse(name)).collect();
    }
    plan
}

fn evaluate(args: &EvaluateArgs, history: &mut EvaluatedHistory) -> Result<Evaluation, CliError> {
    let config = args.common.settings()?;
    let rulebook =
        Rulebook::new(&config.rulebook()).map_err(crate::learning::LearningError::from)?;
    let mut plan = plan(args, history);
    if !args.systems.is_empty() {
        // Evaluate the system that the others are compared with, too.
        let against = SystemName::parse(&args.against).unwrap_or_default();
        if !plan.systems.contains(&against) {
            plan.systems.push(against);
        }
    }
    let template = "{wide_bar} {pos}/{len} matches, {eta} to go";
    let mut progress = ProgressLine::new(history.matches.len() as u64, template);
    let began = Instant::now();
    let result = history.with_matches(|count, matches| {
        history::evaluate(
            matches,
            count,
            &rulebook,
            &config.history(),
            &plan,
            &mut || began.elapsed().as_secs_f64(),
            &mut |done| progress.set(done as u64),
        )
    })?;
    progress.done();
    Ok(result)
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
