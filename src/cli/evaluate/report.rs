//! The report of one history: tables, or JSON.

use std::io::{self, Write};

use comfy_table::Cell;
use serde::Serialize;

use super::{BASE_RATE, EvaluateArgs};
use crate::{
    cli::table::{printable, table},
    domain::counted,
    history::{Evaluation, Line, Subset},
    rating::SystemName,
};

/// The evaluation of one history. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct HistoryReport {
    history: String,
    matches: usize,
    unrated: usize,
    undecided: usize,
    pub(super) against: &'static str,
    pub(super) all: Vec<SystemScores>,
    experienced: Vec<SystemScores>,
    /// The system that `rating.system = "auto"` uses in each ruleset.
    best: Vec<BestSystem>,
}

/// The measures of one system, or of the base rate.
#[derive(Debug, Serialize)]
pub(super) struct SystemScores {
    /// A system's name, or `base rate`, which predicts the share of earlier matches that team 0 won.
    pub(super) system: &'static str,
    matches: usize,
    accuracy: f64,
    log_loss: f64,
    brier: f64,
    calibration_error: f64,
    /// The 95 % bootstrap interval of the log loss minus that of the system compared with.
    against: Option<[f64; 2]>,
    micros_per_match: Option<f64>,
    /// For each bin of predicted chances: their mean, how often team 0 won, and the number of matches.
    pub(super) calibration: Vec<(f64, f64, u32)>,
}

/// The system with the lowest log loss in one ruleset.
#[derive(Debug, Serialize)]
pub(super) struct BestSystem {
    ruleset: String,
    system: &'static str,
    log_loss: f64,
    matches: usize,
}

impl HistoryReport {
    pub(super) fn new(history: &str, result: &Evaluation, args: &EvaluateArgs) -> Self {
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

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
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
