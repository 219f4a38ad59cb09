//! How well each rating system predicts the published sets of finished games in `../shared`: `cargo
//! bench --bench accuracy`. Not a test, because it takes too long.

#![allow(
    clippy::disallowed_methods,
    reason = "the duration of each evaluation is printed"
)]

use std::{fs, io, path::Path, time::Instant};

use evenkeel::{
    domain::{Fingerprint, MatchRecord, Rulebook, RulebookSpec},
    history::{Evaluation, FEWEST_COMPARED, Plan, Settings, Subset, evaluate},
    logs::{LogError, read_matches},
    rating::SystemName,
};

/// A history, whether its sides have a meaning, and the log loss that `joint` is to reach.
struct Set {
    name: &'static str,
    sides: bool,
    target: Option<f64>,
}

/// The recorded histories: files in `../shared/data/matches`.
const HISTORIES: [Set; 4] = [
    Set::new("tribes_pug", false, Some(0.614)),
    Set::new("tagpro", false, Some(0.637)),
    Set::new("ns2_gather", true, Some(0.623)),
    Set::new("beach_points", false, Some(0.465)),
];

/// The recorded logs: folders in `../shared/data/logs`, each of which is a history.
const LOGS: [Set; 6] = [
    Set::new("openarena", true, Some(0.42)),
    Set::new("nexuiz", true, None),
    Set::new("quake3", true, None),
    Set::new("source", true, None),
    Set::new("ut2004", true, None),
    Set::new("ut99", true, None),
];

/// The numbers of decided matches, from the very first one on, over which the log loss of a new
/// community is printed.
const FIRST: [usize; 4] = [50, 100, 200, 400];
/// The matches from one fresh start to the next. What the first matches of a history show is mostly
/// chance, so the history is also begun anew again and again.
const APART: usize = 200;

impl Set {
    const fn new(name: &'static str, sides: bool, target: Option<f64>) -> Self {
        Self {
            name,
            sides,
            target,
        }
    }

    /// Evaluates the history, unless it cannot be read or is too short.
    fn run(&self, matches: Result<Vec<MatchRecord>, LogError>) {
        let name = self.name;
        let Ok(rulebook) = Rulebook::new(&RulebookSpec::default()) else {
            return;
        };
        match matches {
            Err(why) => println!("\n{name} is left out: {why}"),
            Ok(matches) if matches.len() < FEWEST_COMPARED => println!(
                "\n{name} is left out: it has {} matches, and fewer than {FEWEST_COMPARED} show nothing",
                matches.len()
            ),
            Ok(matches) => self.report(&matches, &rulebook),
        }
    }

    fn report(&self, matches: &[MatchRecord], rulebook: &Rulebook) {
        let plan = Plan {
            exchange: (!self.sides).then_some(1),
            ..Plan::default()
        };
        let begun = Instant::now();
        let run = |plan: &Plan, matches: &[MatchRecord]| {
            let mut timer = || begun.elapsed().as_secs_f64();
            let settings = Settings::default();
            let matches = matches.iter();
            evaluate(matches, rulebook, &settings, plan, &mut timer, &mut |_| ())
        };
        let evaluation = run(&plan, matches);
        println!("\n{}", self.name);
        if let Some(target) = self.target {
            println!("log loss to be reached {target}");
        }
        for subset in [Subset::All, Subset::Experienced] {
            print(&evaluation, subset);
        }
        let from_first = Plan {
            warm_up: 0.0,
            ..plan.clone()
        };
        println!("the first decided matches, from the very first one on:");
        let evaluation = run(&from_first, matches);
        print_first(&[evaluation]);
        let starts = (0..matches.len()).step_by(APART);
        let parts = starts.map(|at| &matches[at..matches.len().min(at + 2 * APART)]);
        let evaluations: Vec<Evaluation> = parts.map(|part| run(&from_first, part)).collect();
        println!("the same, as the mean over fresh starts every {APART} matches:");
        print_first(&evaluations);
        print_without(matches, rulebook, &plan);
    }
}

fn main() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    for set in &HISTORIES {
        let file = data.join("matches").join(set.name).with_extension("jsonl");
        set.run(read_matches(&file, &mut |_| ()));
    }
    for set in &LOGS {
        set.run(read_folder(&data.join("logs").join(set.name)));
    }
}

/// The matches of all logs in a folder, in order of time, each once.
fn read_folder(folder: &Path) -> Result<Vec<MatchRecord>, LogError> {
    let failed = |source: io::Error| LogError::File {
        path: folder.to_owned(),
        source,
    };
    let mut matches = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|end| end == "log") {
            matches.extend(read_matches(&path, &mut |_| ())?);
        }
    }
    matches.sort_by_cached_key(|record| (record.end, Fingerprint::of(record)));
    matches.dedup();
    Ok(matches)
}

/// Prints what `joint` loses without sides, without time shares, and without points.
fn print_without(matches: &[MatchRecord], rulebook: &Rulebook, plan: &Plan) {
    println!("joint without");
    let settings = Settings::default();
    let no_sides = Settings {
        sides: false,
        ..Settings::default()
    };
    let shares: Vec<MatchRecord> = matches.iter().map(without_shares).collect();
    let points: Vec<MatchRecord> = matches.iter().map(without_points).collect();
    for (what, matches, settings) in [
        ("anything less", matches, &settings),
        ("sides", matches, &no_sides),
        ("time shares", &shares, &settings),
        ("points", &points, &settings),
    ] {
        let loss = joint(matches, rulebook, settings, plan);
        println!("  {what:14} log loss {loss:.4}");
    }
}

/// Prints the log loss of each system over the first matches, as the mean over the evaluations that
/// have so many; their number is in brackets.
fn print_first(evaluations: &[Evaluation]) {
    let long_enough = |number: usize| {
        let enough =
            |e: &&Evaluation| e.predictions().filter(|p| p.system.is_none()).count() >= number;
        evaluations.iter().filter(enough).collect::<Vec<_>>()
    };
    let columns = FIRST.map(|number| (number, long_enough(number)));
    print!("  {:12}", "");
    for (number, evaluations) in &columns {
        print!("  {:>9}", format!("{number} ({})", evaluations.len()));
    }
    println!();
    let systems = SystemName::ALL.into_iter().map(Some);
    for system in std::iter::once(None).chain(systems) {
        print!("  {:12}", system.map_or("base rate", SystemName::as_str));
        for (number, evaluations) in &columns {
            let losses = evaluations.iter().map(|e| first_loss(e, system, *number));
            match evaluations.len() {
                0 => print!("  {:9}", ""),
                count => print!("  {:9.4}", losses.sum::<f64>() / count as f64),
            }
        }
        println!();
    }
}

/// The log loss of a system over so many predictions, from the first one on.
fn first_loss(evaluation: &Evaluation, system: Option<SystemName>, number: usize) -> f64 {
    let own = evaluation.predictions().filter(|p| p.system == system);
    own.take(number).map(|p| p.forecast.log_loss()).sum::<f64>() / number as f64
}

/// The record with all players present from start to end.
fn without_shares(record: &MatchRecord) -> MatchRecord {
    let mut record = record.clone();
    let end = record.millis();
    for stay in record.participants.iter_mut().flat_map(|p| &mut p.presence) {
        stay.span.to = end;
    }
    record
}

/// The record with its outcome only.
fn without_points(record: &MatchRecord) -> MatchRecord {
    let mut record = record.clone();
    record.scores.fill(0.0);
    record
}

fn joint(matches: &[MatchRecord], rulebook: &Rulebook, settings: &Settings, plan: &Plan) -> f64 {
    let plan = Plan {
        systems: vec![SystemName::Joint],
        ..plan.clone()
    };
    let nothing = &mut |_| ();
    let evaluation = evaluate(
        matches.iter(),
        rulebook,
        settings,
        &plan,
        &mut || 0.0,
        nothing,
    );
    let table = evaluation.table(None, Subset::All, None);
    table.last().map_or(0.0, |line| line.metrics.log_loss)
}

fn print(evaluation: &Evaluation, subset: Subset) {
    let counted = match subset {
        Subset::All => "all after the first fifth",
        Subset::Experienced => "those where everyone is experienced",
    };
    println!("{counted}, and the interval of the log loss against joint:");
    let table = evaluation.table(None, subset, Some(SystemName::Joint));
    for (place, line) in table.iter().enumerate() {
        let m = &line.metrics;
        let system = line.system.map_or("base rate", |s| s.as_str());
        let against = line
            .against
            .map(|i| format!("{:+.4} {:+.4}", i.low, i.high));
        let comparison = line.comparison().map_or("", |c| c.as_str());
        let seconds = place.checked_sub(1).map_or(0.0, |p| evaluation.seconds[p]);
        println!(
            "  {system:12} n {:4}  log loss {:.4} ({}) {comparison:6}  accuracy {:.3}  Brier {:.4}  calibration {:.3}  {:.1} µs",
            m.matches,
            m.log_loss,
            against.unwrap_or_default(),
            m.accuracy,
            m.brier,
            m.calibration_error,
            1e6 * seconds / evaluation.matches as f64,
        );
    }
}
