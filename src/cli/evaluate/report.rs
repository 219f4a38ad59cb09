//! The report of one history: tables, or JSON.

use std::io::{self, Write};

use serde::Serialize;

use super::{EvaluateArgs, scores::SystemScores, summary::summary};
use crate::{
    cli::table::{Table, printable},
    model::counted,
    rating::SystemName,
    rating::history::{CONFIDENCE, Comparison, Evaluation, Line, Subset},
};

/// The evaluation of one history. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct HistoryReport {
    history: String,
    matches: usize,
    unrated: usize,
    undecided: usize,
    pub(super) against: &'static str,
    /// The share of resampled differences that each interval contains.
    confidence: f64,
    pub(super) all: Vec<SystemScores>,
    /// What `all` shows of the system compared with, in a sentence.
    summary: String,
    experienced: Vec<SystemScores>,
    /// What `experienced` shows of the system compared with, in a sentence.
    experienced_summary: String,
    /// The system that `rating.system = "auto"` uses in each ruleset.
    best: Vec<BestSystem>,
}

/// The system that predicts one ruleset best.
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
        let rows = |subset| -> Vec<SystemScores> {
            let table = result.table(None, subset, Some(against));
            let row = |line: &Line| SystemScores::new(line, result, against);
            table.iter().map(row).collect()
        };
        let (all, experienced) = (rows(Subset::All), rows(Subset::Experienced));
        let best = |ruleset: &crate::model::Ruleset| {
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
            confidence: CONFIDENCE,
            summary: summary(&all, against.as_str()),
            all,
            experienced_summary: summary(&experienced, against.as_str()),
            experienced,
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
        let rated = match unrated {
            0 => "all rated".to_owned(),
            _ => format!("{unrated} not rated"),
        };
        let none = match undecided {
            0 => String::new(),
            _ => format!(" ({undecided} had none)"),
        };
        let predicted = self.all.first().map_or(0, |row| row.matches);
        writeln!(
            out,
            "{}: {}, {rated}; predicted: {predicted}, those after the first 20 % that had a winner{none}",
            printable(history),
            counted(*matches, "match"),
        )?;
        for (subset, rows, summary) in [
            ("all", &self.all, &self.summary),
            (
                "all with 5 games",
                &self.experienced,
                &self.experienced_summary,
            ),
        ] {
            let table = self.table(subset, rows);
            writeln!(out, "{table}\n{summary}")?;
        }
        self.explain_coins(out)?;
        self.best.iter().try_for_each(|best| best.write(out))
    }
}

impl HistoryReport {
    fn table<'a>(&self, subset: &str, rows: &'a [SystemScores]) -> Table<'a, SystemScores> {
        let percent = 100.0 * self.confidence;
        let difference = format!("log loss − {}, {percent:.0} %", self.against);
        let interval = |[low, high]: [f64; 2]| format!("{low:+.4} … {high:+.4}");
        let micros = |micros: f64| format!("{micros:.1}");
        Table::of(rows)
            .text(subset, |row| row.system)
            .num("matches", |row| row.matches)
            .num("accuracy", |row| format!("{:.1} %", row.accuracy * 100.0))
            .num("log loss", |row| format!("{:.4}", row.log_loss))
            .num("Brier", |row| format!("{:.4}", row.brier))
            .num("calibration", |row| format!("{:.4}", row.calibration_error))
            .text(&difference, |row| {
                row.against.map(interval).unwrap_or_default()
            })
            .text(&format!("beside {}", self.against), |row| {
                row.comparison.map_or("", Comparison::as_str)
            })
            .num("µs/match", |row| {
                row.micros_per_match.map(micros).unwrap_or_default()
            })
    }
}

impl BestSystem {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (ruleset, matches) = (printable(&self.ruleset), counted(self.matches, "match"));
        let (system, log_loss) = (&self.system, self.log_loss);
        writeln!(
            out,
            "{ruleset}: auto uses {system}, log loss {log_loss:.4} over {matches}"
        )
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
