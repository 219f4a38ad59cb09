//! `evaluate --fresh`: how soon the systems predict better than a coin.

use std::io::{self, Write};

use serde::Serialize;

use super::{BASE_RATE, EvaluateArgs, EvaluatedHistory, plan};
use crate::{
    cli::{
        CliError, print_json,
        progress::Progress,
        table::{Table, printable},
    },
    model::{Rulebook, counted},
    rating::SystemName,
    rating::history::{
        CONFIDENCE, Comparison, FIRST_MATCHES, FirstMatches, FreshLine, fresh, fresh_steps,
    },
};

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
pub(super) fn run(
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
    let mut progress = Progress::new(steps as u64, template);
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
        summary: own.map_or_else(String::new, summary),
        systems: lines.iter().map(FreshSystem::new).collect(),
    })
}

/// Prints the reports as tables, or as JSON.
pub(super) fn print(reports: &[FreshReport], json: bool) -> Result<(), CliError> {
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
fn summary(line: &FreshLine) -> String {
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
        let level = Comparison::Level.as_str();
        let word = Some(self.comparison).filter(|word| *word != level);
        let word = word.map_or_else(String::new, |word| format!("{word} "));
        format!("{word}{:.4}", self.log_loss)
    }
}
