//! The report of `evenkeel evaluate`: how well each rating system predicts a history, as tables, sentences or JSON.
//!
//! With `--fresh`, it says how soon the systems predict better than a coin.

use std::io::{self, Write};

use serde::Serialize;

use super::{BASE_RATE, EvaluateArgs, EvaluatedHistory, plan};
use crate::{
    cli::{
        CliError, print_json,
        table::{ProgressLine, Table, printable},
    },
    model::{Rulebook, counted},
    rating::SystemName,
    rating::history::{
        CONFIDENCE, Evaluation, FEWEST_COMPARED, FIRST_MATCHES, FirstMatches, FreshLine, Subset,
        SystemComparison, SystemLine, fresh, fresh_steps,
    },
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
            let row = |line: &SystemLine| SystemScores::new(line, result, against);
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
                row.comparison.map_or("", SystemComparison::as_str)
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

/// The measures of one system, or of the base rate.
#[derive(Debug, Default, Serialize)]
pub(super) struct SystemScores {
    /// A system's name, or `base rate`, which predicts the share of earlier matches that team 0 won.
    pub(super) system: &'static str,
    pub(super) matches: usize,
    pub(super) accuracy: f64,
    pub(super) log_loss: f64,
    pub(super) brier: f64,
    pub(super) calibration_error: f64,
    /// The 95 % bootstrap interval of the log loss minus that of the system compared with.
    pub(super) against: Option<[f64; 2]>,
    /// `better`, `worse` or `level` beside the system compared with. `None` for that system, and for too
    /// few matches.
    #[serde(serialize_with = "as_word")]
    pub(super) comparison: Option<SystemComparison>,
    pub(super) micros_per_match: Option<f64>,
    /// For each bin of predicted chances: their mean, how often team 0 won, and the number of matches.
    pub(super) calibration: Vec<(f64, f64, u32)>,
}

impl SystemScores {
    /// Whether every predicted chance is one half.
    fn is_coin(&self) -> bool {
        let even = |&(chance, _, _): &(f64, f64, u32)| chance == 0.5;
        self.matches > 0 && self.accuracy == 0.5 && self.calibration.iter().all(even)
    }

    /// The measures of a line of a table, beside the system `against`.
    pub(super) fn new(line: &SystemLine, result: &Evaluation, against: SystemName) -> Self {
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
            comparison: line.comparison().filter(|_| line.system != Some(against)),
            micros_per_match: seconds.map(|s| s * 1e6 / result.matches.max(1) as f64),
            calibration: bins
                .map(|bin| (bin.chance, bin.frequency, bin.count))
                .collect(),
        }
    }
}

/// Serialises a comparison as its word, or as null.
fn as_word<S: serde::Serializer>(
    comparison: &Option<SystemComparison>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    comparison
        .map(SystemComparison::as_str)
        .serialize(serializer)
}

/// Which system predicts best, and how the system named `against` compares with each of the others.
/// `rows` has a row for each system, and one for the base rate.
pub(super) fn summary(rows: &[SystemScores], against: &str) -> String {
    let matches = rows.first().map_or(0, |row| row.matches);
    if matches < FEWEST_COMPARED {
        return format!(
            "Too few matches to compare the systems: {}, and at least {FEWEST_COMPARED} are needed.",
            counted(matches, "decided match")
        );
    }
    let systems: Vec<&SystemScores> = rows.iter().filter(|r| r.system != BASE_RATE).collect();
    let others = systems.iter().filter(|row| row.system != against).count();
    let best = best(&systems, against);
    if others == 0 {
        return format!("{best} has nothing to be compared with.");
    }
    // A comparison is that of the other system: where it is better, `against` is worse, and the reverse.
    let named = |comparison| {
        let alike = systems.iter().filter(|r| r.comparison == Some(comparison));
        alike.map(|row| row.system).collect::<Vec<_>>()
    };
    let ahead = match named(SystemComparison::Worse).len() {
        0 => "none".to_owned(),
        ahead => ahead.to_string(),
    };
    let mut text = format!(
        "{best} predicts best. Beyond chance ({:.0} % confidence), {against} is better than {ahead} of {others} systems",
        100.0 * CONFIDENCE
    );
    for (relation, comparison) in [
        ("level with", SystemComparison::Level),
        ("worse than", SystemComparison::Better),
    ] {
        let systems = named(comparison);
        if !systems.is_empty() {
            text += &format!(", {relation} {}", list(&systems));
        }
    }
    text + "."
}

/// The system with the lowest log loss; `against` if several have it.
fn best<'a>(systems: &[&SystemScores], against: &'a str) -> &'a str {
    let own = systems.iter().find(|row| row.system == against);
    let own = own.map_or(f64::INFINITY, |row| row.log_loss);
    let lower = systems.iter().filter(|row| row.log_loss < own);
    let lowest = lower.min_by(|a, b| a.log_loss.total_cmp(&b.log_loss));
    lowest.map_or(against, |row| row.system)
}

/// "a", "a and b", "a, b and c".
fn list(parts: &[&str]) -> String {
    let mut text = String::new();
    for (place, part) in parts.iter().enumerate() {
        text += match place {
            0 => "",
            last if last + 1 == parts.len() => " and ",
            _ => ", ",
        };
        text += part;
    }
    text
}

/// The fresh starts of one history. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct FreshReport {
    history: String,
    matches: usize,
    /// The history is begun anew after every `every` matches.
    every: usize,
    starts: usize,
    /// The share of resampled differences that each interval contains.
    confidence: f64,
    systems: Vec<FreshSystem>,
    /// What the table shows of the configured system, in a sentence.
    summary: String,
}

/// The first matches of one system, or of the base rate.
#[derive(Debug, Serialize)]
struct FreshSystem {
    system: &'static str,
    first: Vec<FirstScores>,
    /// The number of matches with a winner after which it predicts better than a coin.
    beats_coin_after: Option<usize>,
}

/// The predictions of the first matches after each start.
#[derive(Debug, Serialize)]
struct FirstScores {
    /// The number of matches with a winner after each start.
    matches: usize,
    /// The number of starts that have as many.
    starts: usize,
    log_loss: f64,
    /// The 95 % bootstrap interval of the log loss minus a coin's.
    beside_coin: [f64; 2],
    /// `better`, `worse` or `level` beside a coin.
    comparison: &'static str,
}

/// Evaluates the fresh starts of a history.
pub(super) fn run_fresh(
    args: &EvaluateArgs,
    history: &mut EvaluatedHistory,
    every: usize,
) -> Result<FreshReport, CliError> {
    let config = args.common.settings()?;
    let rulebook =
        Rulebook::new(&config.rulebook()).map_err(crate::learning::LearningError::from)?;
    let (plan, settings) = (plan(args, history), config.history());
    let template = "{wide_bar} {pos}/{len} matches, {eta} to go";
    let steps = fresh_steps(history.matches.len(), every);
    let mut progress = ProgressLine::new(steps as u64, template);
    let mut done = |done| progress.set(done as u64);
    let result = history
        .with_matches(|_, matches| fresh(matches, every, &rulebook, &settings, &plan, &mut done))?;
    progress.done();
    let lines = result.table();
    let configured = settings.rating.system.name();
    let own = lines.iter().find(|line| line.system == Some(configured));
    let own = own.or_else(|| lines.iter().find(|line| line.system.is_some()));
    Ok(FreshReport {
        history: history.name.clone(),
        matches: history.matches.len(),
        every,
        starts: result.starts,
        confidence: CONFIDENCE,
        summary: own.map_or_else(String::new, fresh_summary),
        systems: lines.iter().map(FreshSystem::new).collect(),
    })
}

/// Prints the reports as tables, or as JSON.
pub(super) fn print_fresh(reports: &[FreshReport], json: bool) -> Result<(), CliError> {
    if json {
        return print_json(reports);
    }
    let mut out = io::stdout().lock();
    for report in reports {
        report.write(&mut out)?;
    }
    Ok(())
}

/// After how many matches a system predicts better than a coin.
fn fresh_summary(line: &FreshLine) -> String {
    let system = line.system.map_or(BASE_RATE, SystemName::as_str);
    let sure = format!("beyond chance ({:.0} % confidence)", 100.0 * CONFIDENCE);
    let most = FIRST_MATCHES.iter().zip(&line.first).rev();
    let most = most.filter_map(|(number, first)| first.and(Some(number)));
    match (line.beats_coin_after, most.max()) {
        (_, None) => format!(
            "Too few matches: no start has {} with a winner.",
            counted(FIRST_MATCHES[0], "match")
        ),
        (Some(0), _) => format!(
            "{system} predicts better than a coin from the first 50 matches on, {sure}: its weights are of use from the \
             beginning."
        ),
        (Some(after), _) => format!(
            "{system} predicts better than a coin after {after} matches, {sure}: from then on, its weights are of use."
        ),
        (None, Some(most)) => format!(
            "{system} does not predict better than a coin within {most} matches, {sure}: nothing shows that its weights \
             are of use by then."
        ),
    }
}

impl FreshReport {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Self {
            history,
            matches,
            every,
            starts,
            ..
        } = self;
        writeln!(
            out,
            "{}: {}, begun anew every {every}: {}; a coin has a log loss of 0.6931",
            printable(history),
            counted(*matches, "match"),
            counted(*starts, "start"),
        )?;
        let beats = |system: &FreshSystem| match system.beats_coin_after {
            None => "-".to_owned(),
            Some(0) => "at once".to_owned(),
            Some(after) => counted(after, "match"),
        };
        let mut table = Table::of(&self.systems).text("log loss", |system| system.system);
        for number in FIRST_MATCHES {
            let of = |system: &FreshSystem| system.of(number).map_or(0, |first| first.starts);
            let starts = counted(self.systems.first().map_or(0, of), "start");
            table = table.num(&format!("first {number} (of {starts})"), |system| {
                system.of(number).map(FirstScores::text).unwrap_or_default()
            });
        }
        let table = table.num("beats a coin after", beats);
        writeln!(out, "{table}\n{}", self.summary)
    }
}

impl FreshSystem {
    fn new(line: &FreshLine) -> Self {
        let measured = FIRST_MATCHES.into_iter().zip(line.first);
        let measured = measured.filter_map(|(number, first)| Some((number, first?)));
        Self {
            system: line.system.map_or(BASE_RATE, SystemName::as_str),
            first: measured
                .map(|(matches, first)| FirstScores::new(matches, &first))
                .collect(),
            beats_coin_after: line.beats_coin_after,
        }
    }

    fn of(&self, matches: usize) -> Option<&FirstScores> {
        self.first.iter().find(|first| first.matches == matches)
    }
}

impl FirstScores {
    fn new(matches: usize, first: &FirstMatches) -> Self {
        Self {
            matches,
            starts: first.starts,
            log_loss: first.log_loss,
            beside_coin: [first.beside_coin.low, first.beside_coin.high],
            comparison: first.comparison().as_str(),
        }
    }

    /// The log loss, and how it compares with a coin's unless that may be chance.
    fn text(&self) -> String {
        let level = SystemComparison::Level.as_str();
        let word = Some(self.comparison).filter(|word| *word != level);
        let word = word.map_or_else(String::new, |word| format!("{word} "));
        format!("{word}{:.4}", self.log_loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(
        system: &'static str,
        log_loss: f64,
        comparison: Option<SystemComparison>,
    ) -> SystemScores {
        SystemScores {
            system,
            matches: 100,
            log_loss,
            comparison,
            ..SystemScores::default()
        }
    }

    #[test]
    fn it_names_what_is_level_and_what_is_better() {
        let mut rows = vec![
            row(BASE_RATE, 0.69, Some(SystemComparison::Worse)),
            row("joint", 0.60, None),
            row("elo", 0.63, Some(SystemComparison::Worse)),
            row("hive", 0.64, Some(SystemComparison::Worse)),
            row("glicko2", 0.61, Some(SystemComparison::Level)),
        ];
        assert_eq!(
            summary(&rows, "joint"),
            "joint predicts best. Beyond chance (95 % confidence), joint is better than 2 of 3 systems, level \
             with glicko2."
        );
        rows.push(row("presence", 0.58, Some(SystemComparison::Better)));
        rows.push(row("trueskill", 0.60, Some(SystemComparison::Level)));
        assert_eq!(
            summary(&rows, "joint"),
            "presence predicts best. Beyond chance (95 % confidence), joint is better than 2 of 5 systems, level \
             with glicko2 and trueskill, worse than presence."
        );
    }

    #[test]
    fn it_compares_neither_few_matches_nor_a_system_alone() {
        let mut rows = vec![row(BASE_RATE, 0.69, None), row("joint", 0.70, None)];
        assert_eq!(
            summary(&rows, "joint"),
            "joint has nothing to be compared with."
        );
        rows[0].matches = 1;
        assert_eq!(
            summary(&rows, "joint"),
            "Too few matches to compare the systems: 1 decided match, and at least 30 are needed."
        );
        assert!(summary(&[], "joint").contains("0 decided matches"));
    }
}
